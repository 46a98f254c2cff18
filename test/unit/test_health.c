/*
 * test/unit/test_health.c: a store whose disk is full for a moment takes writes again, or says that it must be opened again.
 *
 * This file defines write(), for the whole program: a log in one store's directory has no room, and table files in
 * another's wait.  Both stores share RocksDB's threads: one for flushes.
 */
#include "enginekit.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/rocks/rocks.h"
#include "engine/store/state.h"
#include "engine/store/store.h"

#define WAIT_MS 60000

static char full[64];			/* the directory whose logs have no room */
static char slow[64];			/* the directory whose table files wait */
static atomic_bool is_full;
static atomic_bool is_slow;
static atomic_bool waits;		/* a write does */

static void
nap(void)
{
	static const struct timespec moment = {0, 200000};

	nanosleep(&moment, NULL);
}

static bool
is_file(int fd, const char *dir, const char *suffix)
{
	char		link[64];
	char		path[256];
	ssize_t		n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return strncmp(path, dir, strlen(dir)) == 0 && n > 4 && strcmp(path + n - 4, suffix) == 0;
}

ssize_t
write(int fd, const void *data, size_t len)
{
	if (is_slow && is_file(fd, slow, ".sst"))
	{
		waits = true;
		while (is_slow)
			nap();
	}
	if (is_full && is_file(fd, full, ".log"))
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closed_while_resuming),
		cmocka_unit_test(test_takes_writes_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
