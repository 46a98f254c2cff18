/*
 * test/unit/test_lostlog.c: the machine loses power, and of RocksDB's log a file is lost whole, and the next one is not.
 *
 * RocksDB begins a file of its log before it syncs the one before.  This file defines fdatasync for the whole program, so that
 * syncs of the log can be held in between.
 */
#include "enginekit.h"

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_bool held;

static bool
is_log(int fd)
{
	char		link[64];
	char		path[512];
	ssize_t		n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	return n > 4 && memcmp(path + n - 4, ".log", 4) == 0;
}

extern int fdatasync(int fd);

int
fdatasync(int fd)
{
	while (is_log(fd) && atomic_load(&held))
		(void) usleep(1000);
	return ((int (*) (int)) dlsym(RTLD_NEXT, "fdatasync")) (fd);
}

/* Finds the files of the log, in their order; returns how many there are. */
static size_t
find_logs(const char *dir, glob_t *found)
{
	char		pattern[128];

	snprintf(pattern, sizeof(pattern), "%s/*.log", dir);
	return glob(pattern, 0, NULL, found) == 0 ? found->gl_pathc : 0;
}

static size_t
count_logs(const char *dir)
{
	glob_t		found = {0};
	size_t		n = find_logs(dir, &found);

	globfree(&found);
	return n;
}

/* --- the loss ---------------------------------------------------------------- */

typedef struct Flushing
{
	WcEngine   *engine;
	uint32_t	table;
	WcReadPoint at;
	pthread_t	thread;
} Flushing;

static Flushing flushing;

static void *
flush_table(void *arg)
{
	Flushing   *f = arg;
	WcError		err;

	return wc_engine_flush(f->engine, f->table, &f->at, &err) == WC_OK ? f : NULL;
}

/* What happens to the first of two files: its bytes, as they come to the disk. */
typedef enum Loss
{
	ALL,
	ALL_BUT_THE_SIZE,
	NOTHING
} Loss;

static Loss loss;

static void
lose(const char *dir)
{
	glob_t		found = {0};
	struct stat st;
	void	   *flushed;

	assert_int_equal(find_logs(dir, &found), 2);
	assert_int_equal(stat(found.gl_pathv[0], &st), 0);
	assert_true(st.st_size > 0);
	if (loss != NOTHING)
		assert_int_equal(truncate(found.gl_pathv[0], 0), 0);
	if (loss == ALL_BUT_THE_SIZE)
		assert_int_equal(truncate(found.gl_pathv[0], st.st_size), 0);
	globfree(&found);
	atomic_store(&held, false);
	assert_int_equal(pthread_join(flushing.thread, &flushed), 0);
	assert_non_null(flushed);
}

static void
put(Kit *kit, uint32_t table, const char *row)
{
	kit->table = table;
	kit_put(kit, row, 1, "a", KIT_LATEST, "x");
	kit_commit(kit);
}

/*
 * The store must not take the writes of the second file for all that there were before: it goes back to the position before the
 * first one, and the commits since come from PostgreSQL's log.
 */
static void
the_first_file_is_lost(void **state)
{
	for (loss = ALL; loss <= NOTHING; loss++)
	{
		Kit			kit;
		uint32_t	t;
		uint32_t	u;
		uint64_t	before;
		uint64_t	last;

		kit_open(&kit);
		kit_create(&kit, "t", WC_PACKING_ROW, 1);
		kit_commit(&kit);
		t = kit.table;
		kit_create(&kit, "u", WC_PACKING_ROW, 1);
		kit_commit(&kit);
		u = kit.table;
		kit_reopen(&kit);		/* all is in table files, and a log begins */
		before = wc_engine_applied_position(kit.engine);
		put(&kit, u, "r1");
		put(&kit, t, "r1");
		assert_int_equal(count_logs(kit.dir), 1);
		atomic_store(&held, true);
		flushing = (Flushing) {.engine = kit.engine,.table = u,.at = kit_point(&kit, false)};
		assert_int_equal(pthread_create(&flushing.thread, NULL, flush_table, &flushing), 0);
		while (count_logs(kit.dir) < 2)
			(void) usleep(1000);
		put(&kit, t, "r2");
		last = wc_engine_applied_position(kit.engine);
		kit_crash_with(&kit, lose);
		kit.table = t;
		assert_int_equal(wc_engine_applied_position(kit.engine), loss == NOTHING ? last : before);
		assert_string_equal(kit_scan(&kit, false), loss == NOTHING ? "r1{f:a=x} r2{f:a=x}" : "");
		kit_close(&kit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_file_is_lost)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
