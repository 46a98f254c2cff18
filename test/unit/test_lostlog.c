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

/* What the engine writes to its log while the store is opened, which is standard error in unit tests. */
static char messages[8192];
static int	real_stderr;
static FILE *captured;

static void
capture(void)
{
	fflush(stderr);
	captured = tmpfile();
	assert_non_null(captured);
	real_stderr = dup(STDERR_FILENO);
	assert_true(dup2(fileno(captured), STDERR_FILENO) >= 0);
}

static void
end_capture(void)
{
	size_t		n;

	fflush(stderr);
	assert_true(dup2(real_stderr, STDERR_FILENO) >= 0);
	close(real_stderr);
	rewind(captured);
	n = fread(messages, 1, sizeof(messages) - 1, captured);
	messages[n] = 0;
	fclose(captured);
	fputs(messages, stderr);
}

/* --- the loss ---------------------------------------------------------------- */

typedef struct Flushing
{
	WcEngine   *engine;
	uint32_t	table;
	WcReadPoint at;
	pthread_t	thread;
} Flushing;

static Flushing flushing[2];

static void *
flush_table(void *arg)
{
	Flushing   *f = arg;
	WcError		err;

	return wc_engine_flush(f->engine, f->table, &f->at, &err) == WC_OK ? f : NULL;
}

/* Begins a flush, which ends when syncs are not held any more; another file of the log begins. */
static void
begin_flush(Kit *kit, Flushing *f, uint32_t table)
{
	size_t		n = count_logs(kit->dir);

	*f = (Flushing) {.engine = kit->engine,.table = table,.at = kit_point(kit, false)};
	assert_int_equal(pthread_create(&f->thread, NULL, flush_table, f), 0);
	while (count_logs(kit->dir) == n)
		(void) usleep(1000);
}

/* What happens to the first of three files: its bytes, as they come to the disk. */
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

	assert_int_equal(find_logs(dir, &found), 3);
	assert_int_equal(stat(found.gl_pathv[0], &st), 0);
	assert_true(st.st_size > 0);
	if (loss != NOTHING)
		assert_int_equal(truncate(found.gl_pathv[0], 0), 0);
	if (loss == ALL_BUT_THE_SIZE)
		assert_int_equal(truncate(found.gl_pathv[0], st.st_size), 0);
	globfree(&found);
	atomic_store(&held, false);
	for (int i = 0; i < 2; i++)
	{
		assert_int_equal(pthread_join(flushing[i].thread, &flushed), 0);
		assert_non_null(flushed);
	}
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
		begin_flush(&kit, &flushing[0], u);
		put(&kit, t, "r2");
		begin_flush(&kit, &flushing[1], t);
		put(&kit, t, "r3");
		last = wc_engine_applied_position(kit.engine);
		capture();
		kit_crash_with(&kit, lose);
		end_capture();
		kit.table = t;
		assert_int_equal(wc_engine_applied_position(kit.engine), loss == NOTHING ? last : before);
		assert_string_equal(kit_scan(&kit, false), loss == NOTHING ? "r1{f:a=x} r2{f:a=x} r3{f:a=x}" : "");
		assert_int_equal(strstr(messages, "lacks writes before its file") != NULL, loss != NOTHING);
		assert_null(strstr(messages, "WARNING"));
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
