/*
 * test/unit/test_health.c: a store whose disk is full for a moment takes writes again, or says that it must be opened again.
 *
 * This file defines write(), for the whole program: a log, or another file, in one store's directory has no room, and table
 * files in another's wait; what is logged of damage is kept.  Both stores share RocksDB's threads: one for flushes.
 */
#include "enginekit.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/rocks/rocks.h"
#include "engine/store/files.h"
#include "engine/store/state.h"
#include "engine/store/store.h"

#define WAIT_MS 60000
#define TXN_MEMORY 2000			/* larger commits are files that RocksDB takes in */

static char full[64];			/* the directory whose logs have no room */
static char slow[64];			/* the directory whose table files wait */
static atomic_bool is_full;
static atomic_bool is_slow;
static atomic_bool waits;		/* a write does */

/* In the first directory. */
static atomic_size_t log_room;	/* bytes that a full log takes nevertheless */
static atomic_bool tables_are_full;
static atomic_size_t table_room;	/* bytes that full table files take nevertheless */
static atomic_bool list_is_full;	/* of files: the manifest */
static atomic_bool list_is_slow;
static atomic_bool list_waits;

static char damage[1024];		/* what was logged of a damaged file */
static atomic_bool is_damaged;	/* it is there */

static void
nap(void)
{
	static const struct timespec moment = {0, 200000};

	nanosleep(&moment, NULL);
}

static bool
is_file(int fd, const char *dir, const char *part)
{
	char		link[64];
	char		path[256];
	ssize_t		n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return strncmp(path, dir, strlen(dir)) == 0 && strstr(path + strlen(dir), part) != NULL;
}

/* Does a write of so many bytes, or of the first of them, fit? */
static bool
takes(atomic_size_t *room, size_t *len)
{
	if (*len > *room)
		*len = *room;
	*room -= *len;
	return *len > 0;
}

static void
keep_damage(const void *data, size_t len)
{
	if (len < sizeof(damage) && memmem(data, len, "has a damaged file", strlen("has a damaged file")) != NULL)
	{
		memcpy(damage, data, len);
		is_damaged = true;
	}
}

ssize_t
write(int fd, const void *data, size_t len)
{
	if (fd == STDERR_FILENO && !is_damaged)
		keep_damage(data, len);
	if (is_slow && is_file(fd, slow, ".sst"))
	{
		waits = true;
		while (is_slow)
			nap();
	}
	if (list_is_slow && is_file(fd, full, "MANIFEST"))
	{
		list_waits = true;
		while (list_is_slow)
			nap();
	}
	if ((is_full && is_file(fd, full, ".log") && !takes(&log_room, &len)) ||
		(tables_are_full && is_file(fd, full, ".sst") && !takes(&table_room, &len)) ||
		(list_is_full && is_file(fd, full, "MANIFEST")))
	{
		errno = ENOSPC;
		return -1;
	}
	return ((ssize_t (*) (int, const void *, size_t)) dlsym(RTLD_NEXT, "write")) (fd, data, len);
}

static void *
flush(void *arg)
{
	Kit		   *kit = arg;
	rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
	char	   *error = NULL;

	rocksdb_flush_cf(kit->engine->db, options, kit_store(kit, 1)->cf, &error);
	rocksdb_free(error);		/* that nothing can be written */
	rocksdb_flushoptions_destroy(options);
	return NULL;
}

static uint64_t
immutable(Kit *kit)
{
	return wc_rocks_property(kit->engine->db, kit_store(kit, 1)->cf, "rocksdb.num-immutable-mem-table");
}

static void
put(Kit *kit, int i)
{
	kit_put(kit, kit_key(i), 1, "a", KIT_LATEST, "1");
}

/* The disk is full when a flush of the store is scheduled, and RocksDB's thread is still at work on another store. */
static void
fill_disk(Kit *kit, Kit *other)
{
	pthread_t	threads[2];
	WcStatus	status;

	waits = false;
	is_slow = true;
	assert_int_equal(pthread_create(&threads[0], NULL, flush, other), 0);
	while (!waits)
		nap();
	assert_int_equal(pthread_create(&threads[1], NULL, flush, kit), 0);
	while (immutable(kit) == 0)
		nap();
	is_full = true;
	put(kit, 999);
	status = kit_apply(kit);
	is_slow = false;
	is_full = false;
	assert_int_equal(status, WC_NO_SPACE);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void
takes_writes_again(Kit *kit, int row)
{
	WcStatus	status = WC_NO_SPACE;

	for (int ms = 0; ms < WAIT_MS && status != WC_OK; ms++)
	{
		static const struct timespec pause = {0, 1000000};

		nanosleep(&pause, NULL);
		if (wc_engine_must_restart(kit->engine))
			kit_reopen(kit);
		put(kit, row);
		status = kit_apply(kit);
	}
	assert_int_equal(status, WC_OK);
}

static void
open_with_row(Kit *kit)
{
	kit_open(kit);
	kit_create(kit, "t", WC_PACKING_ROW, 1);
	kit_commit(kit);
	put(kit, 1);
	kit_commit(kit);
}

static void
open_both(Kit *kit, Kit *other)
{
	open_with_row(kit);
	open_with_row(other);
	strcpy(full, kit->dir);
	strcpy(slow, other->dir);
}

static void
test_closed_while_resuming(void **state)
{
	Kit			kit;
	Kit			other;

	open_both(&kit, &other);
	fill_disk(&kit, &other);
	kit_reopen(&kit);
	assert_string_equal(kit_scan(&kit, false), "r001{f:a=1}");
	kit_close(&kit);
	kit_close(&other);
}

static void
test_takes_writes_again(void **state)
{
	Kit			kit;
	Kit			other;

	open_both(&kit, &other);
	fill_disk(&kit, &other);
	takes_writes_again(&kit, 2);
	assert_string_equal(kit_scan(&kit, false), "r001{f:a=1} r002{f:a=1}");
	kit_close(&kit);
	kit_close(&other);
}

/* RocksDB 7.8 would abort if it had to take in files after the disk was full. */
static void
test_large_commit(void **state)
{
	char		large[TXN_MEMORY];
	WcStatus	status;
	Kit			kit;

	kit_txn_memory = TXN_MEMORY;
	open_with_row(&kit);
	strcpy(full, kit.dir);
	is_full = true;
	put(&kit, 2);
	assert_int_equal(kit_apply(&kit), WC_NO_SPACE);
	is_full = false;
	takes_writes_again(&kit, 2);

	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	kit_put(&kit, kit_key(3), 1, "a", KIT_LATEST, large);
	put(&kit, 4);
	status = kit_try_commit(&kit);
	if (!wc_rocksplus_takes_in_when_resumed())
	{
		assert_int_equal(status, WC_NO_SPACE);
		assert_true(wc_engine_must_restart(kit.engine));
		kit_reopen(&kit);
		kit_put(&kit, kit_key(3), 1, "a", KIT_LATEST, large);
		put(&kit, 4);
		status = kit_try_commit(&kit);
	}
	assert_ok(&kit, status);
	kit_delete(&kit, WC_DELETE_FAMILY, kit_key(3), 1, "", KIT_LATEST);
	kit_commit(&kit);
	assert_string_equal(kit_scan(&kit, false), "r001{f:a=1} r002{f:a=1} r004{f:a=1}");
	kit_close(&kit);
	kit_txn_memory = 0;
}

/* A thread flushes the table, and waits until is_slow is false. */
static void
begin_slow_flush(Kit *kit, pthread_t *thread)
{
	strcpy(slow, kit->dir);
	waits = false;
	is_slow = true;
	assert_int_equal(pthread_create(thread, NULL, flush, kit), 0);
	while (!waits)
		nap();
}

/* A write to the log fails in the middle, and then the flush of a family that is not written to later. */
static void
test_log_ends_in_a_write(void **state)
{
	pthread_t	thread;
	Kit			kit;

	open_with_row(&kit);
	strcpy(full, kit.dir);
	begin_slow_flush(&kit, &thread);
	log_room = 10;
	is_full = true;
	put(&kit, 2);
	assert_int_equal(kit_apply(&kit), WC_NO_SPACE);
	is_full = false;
	tables_are_full = true;
	is_slow = false;
	assert_int_equal(pthread_join(thread, NULL), 0);
	tables_are_full = false;
	takes_writes_again(&kit, 2);
	kit_crash(&kit);
	assert_string_equal(kit_scan(&kit, false), "r001{f:a=1} r002{f:a=1}");
	kit_close(&kit);
}

/* Letters that cannot be compressed. */
static char *
make_value(size_t len)
{
	char	   *value = malloc(len + 1);
	unsigned	seed = 1;

	assert_non_null(value);
	for (size_t i = 0; i < len; i++)
		value[i] = (char) ('a' + rand_r(&seed) % 26);
	value[len] = '\0';
	return value;
}

static void
free_disk(const char *dir)
{
	is_full = tables_are_full = false;
	log_room = table_room = 0;
}

/*
 * A write to the log fails behind its first `written` bytes.  There is room for a small table file, so that resuming flushes the
 * catalog, and not the table; then the process ends.
 */
static void
crash_while_resuming(size_t written)
{
	char	   *value = make_value(20000);
	char	   *large = make_value(3 << 20);	/* more than RocksDB writes at once */
	char		expected[20100];
	Kit			kit;

	open_with_row(&kit);
	kit_put(&kit, kit_key(2), 1, "a", KIT_LATEST, value);
	kit_commit(&kit);
	strcpy(full, kit.dir);
	table_room = 10000;
	tables_are_full = true;
	log_room = written;
	is_full = true;
	kit_put(&kit, kit_key(3), 1, "a", KIT_LATEST, large);
	assert_int_equal(kit_apply(&kit), WC_NO_SPACE);
	while (wc_rocks_property(kit.engine->db, kit.engine->meta, "rocksdb.num-entries-active-mem-table") > 0 ||
		   wc_rocks_property(kit.engine->db, kit.engine->meta, "rocksdb.num-immutable-mem-table") > 0)
		nap();
	kit_crash_with(&kit, free_disk);
	snprintf(expected, sizeof(expected), "r001{f:a=1} r002{f:a=%s}", value);
	assert_string_equal(kit_scan(&kit, false), expected);
	kit_close(&kit);
	free(value);
	free(large);
}

static void
test_crash_while_resuming(void **state)
{
	crash_while_resuming(0);
	crash_while_resuming(10);	/* in the first of several writes to the file */
	crash_while_resuming(5 << 19);	/* in a later one */
}

static void *
create(void *arg)
{
	Kit		   *kit = arg;

	kit_create(kit, "second", WC_PACKING_ROW, 1);
	(void) kit_try_commit(kit);
	return NULL;
}

/* RocksDB 7.8 would abort if it were resumed while another thread begins a new list of files. */
static void
test_families_are_made(void **state)
{
	static const struct timespec pause = {1, 500000000};	/* a flush that has failed waits for a second */
	pthread_t	threads[2];
	Kit			kit;

	open_with_row(&kit);
	strcpy(full, kit.dir);
	begin_slow_flush(&kit, &threads[0]);
	list_is_full = true;
	kit_create(&kit, "first", WC_PACKING_ROW, 1);
	assert_int_equal(kit_try_commit(&kit), WC_NO_SPACE);
	list_is_full = false;
	list_is_slow = true;
	assert_int_equal(pthread_create(&threads[1], NULL, create, &kit), 0);
	while (!list_waits)
		nap();
	tables_are_full = true;
	is_slow = false;
	assert_int_equal(pthread_join(threads[0], NULL), 0);
	tables_are_full = false;
	nanosleep(&pause, NULL);
	list_is_slow = false;
	assert_int_equal(pthread_join(threads[1], NULL), 0);
	kit_close(&kit);
}

/* Table files that have the value "marked" have other bytes there. */
static void
damage_tables(const char *dir)
{
	char		command[160];

	snprintf(command, sizeof(command), "sed -i s/marked/MARKED/ %s/*.sst", dir);
	assert_int_equal(system(command), 0);
}

/* RocksDB reports a compaction as completed before it tells the error.  Another one would fail, too, again and again. */
static void
test_a_damaged_family_is_named(void **state)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;
	Kit			kit;

	(void) state;
	kit_open(&kit);
	attrs.packing = WC_PACKING_CELL;
	attrs.compression = WC_COMPRESSION_NONE;
	kit_create_attrs(&kit, "t", &attrs);
	for (int i = 0; i < 2; i++)
	{
		kit_put(&kit, "r", 1, "a", 10 + i, "marked");
		kit_commit(&kit);
		assert_ok(&kit, wc_files_flush(kit_store(&kit, 1), NULL, &kit.err));
	}
	kit_crash_with(&kit, damage_tables);
	assert_int_equal(wc_files_compact(kit_store(&kit, 1), wc_slice(NULL, 0), wc_slice(NULL, 0), NULL, NULL, NULL, &kit.err), WC_CORRUPT);
	for (int ms = 0; ms < WAIT_MS && !is_damaged; ms++)
	{
		static const struct timespec pause = {0, 1000000};

		nanosleep(&pause, NULL);
	}
	assert_non_null(strstr(damage, "family \"f\" of stored table \"t\" has a damaged file"));

	/* other families are not to blame */
	kit_put(&kit, "r", 2, "a", KIT_LATEST, "1");
	kit_commit(&kit);
	kit_close(&kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closed_while_resuming),
		cmocka_unit_test(test_takes_writes_again),
		cmocka_unit_test(test_large_commit),
		cmocka_unit_test(test_families_are_made),
		cmocka_unit_test(test_log_ends_in_a_write),
		cmocka_unit_test(test_crash_while_resuming),
		cmocka_unit_test(test_a_damaged_family_is_named)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
