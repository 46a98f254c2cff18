/*
 * test/unit/test_families.c: column families are made and dropped while other threads write.
 */
#include "enginekit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/store/state.h"

#define WAIT_TRIES 10000		/* a millisecond apart */

/* Column families that RocksDB has besides the catalog's. */
static size_t
count_families(const Kit *kit)
{
	rocksdb_options_t *options = rocksdb_options_create();
	char	   *error = NULL;
	size_t		n;
	char	  **names = rocksdb_list_column_families(options, kit->dir, &n, &error);

	assert_null(error);
	rocksdb_list_column_families_destroy(names, n);
	rocksdb_options_destroy(options);
	return n - 1;
}

static void
wait_for_families(const Kit *kit, size_t n)
{
	for (int i = 0; i < WAIT_TRIES && count_families(kit) != n; i++)
		usleep(1000);
	assert_int_equal(count_families(kit), n);
}

static WcStatus
try_truncate(Kit *kit)
{
	assert_ok(kit, wc_batch_truncate_table(&kit->builder, kit->cid, kit->table, &kit->err));
	return kit_try_commit(kit);
}

static void
drop_table(Kit *kit)
{
	assert_ok(kit, wc_batch_drop_table(&kit->builder, kit->cid, kit->table, &kit->err));
	kit_commit(kit);
}

/* While somebody holds the writers' lock. */
static void
test_beside_writers(void **state)
{
	Kit			kit;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	assert_ok(&kit, kit_send(&kit));
	pthread_mutex_lock(&kit.engine->write_mutex);
	assert_ok(&kit, wc_engine_prepare(kit.engine, 1, kit.txn, &kit.err));
	assert_int_equal(count_families(&kit), 2);
	pthread_mutex_unlock(&kit.engine->write_mutex);
	kit_put(&kit, "r", 1, "q", KIT_LATEST, "v");
	kit_commit(&kit);
	assert_int_equal(count_families(&kit), 2);
	assert_string_equal(kit_scan(&kit, false), "r{f:q=v}");

	drop_table(&kit);
	assert_ok(&kit, wc_engine_sync(kit.engine, &kit.err));
	pthread_mutex_lock(&kit.engine->write_mutex);
	wait_for_families(&kit, 0);
	pthread_mutex_unlock(&kit.engine->write_mutex);
	kit_close(&kit);
}

/* Column families of an aborted transaction are dropped, and can be made again at once. */
static void
test_aborted(void **state)
{
	Kit			kit;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_put(&kit, "r", 1, "q", KIT_LATEST, "v");
	kit_commit(&kit);
	for (uint64_t xid = 1; xid < 20; xid++)
	{
		assert_ok(&kit, wc_batch_truncate_table(&kit.builder, kit.cid, kit.table, &kit.err));
		assert_ok(&kit, kit_send(&kit));
		assert_ok(&kit, wc_engine_prepare(kit.engine, xid, kit.txn, &kit.err));
		assert_int_equal(count_families(&kit), 4);
		wc_engine_forget(kit.engine, xid + 100);
		wc_engine_forget(kit.engine, xid);
		wc_txn_reset(kit.txn);
		assert_string_equal(kit_scan(&kit, false), "r{f:q=v}");
	}
	wait_for_families(&kit, 2);
	assert_int_equal(try_truncate(&kit), WC_OK);
	assert_string_equal(kit_scan(&kit, false), "");
	assert_ok(&kit, wc_engine_sync(kit.engine, &kit.err));
	wait_for_families(&kit, 2);
	kit_close(&kit);
}

/* A commit may need less than was made for it: by its turn, the name is taken. */
static void
test_void(void **state)
{
	Kit			kit;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_commit(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	assert_ok(&kit, kit_apply(&kit));
	assert_int_equal(wc_engine_void_operations(kit.engine), 1);
	wait_for_families(&kit, 2);
	kit_close(&kit);
}

/* Two transactions prepare the same change; both commit, whichever comes first. */
static void
test_prepared_twice(void **state)
{
	for (int first = 0; first < 2; first++)
	{
		Kit			kit;
		WcTxn	   *txns[2];
		WcCommit	commit = {.time_us = kit_now};
		int64_t		ts;

		kit_open(&kit);
		kit_create(&kit, "t", WC_PACKING_ROW, 1);
		kit_put(&kit, "r", 1, "q", KIT_LATEST, "v");
		kit_commit(&kit);
		for (int i = 0; i < 2; i++)
		{
			assert_ok(&kit, wc_txn_create(KIT_DATABASE, 1 << 20, &txns[i], &kit.err));
			assert_ok(&kit, wc_batch_truncate_table(&kit.builder, kit.cid, kit.table, &kit.err));
			assert_ok(&kit, wc_txn_append(txns[i], 0, wc_buf_slice(&kit.ops), &kit.err));
			wc_buf_reset(&kit.ops, SIZE_MAX);
			assert_ok(&kit, wc_engine_prepare(kit.engine, (uint64_t) i + 1, txns[i], &kit.err));
		}
		commit.xid = (uint64_t) first + 1;
		commit.position = wc_engine_applied_position(kit.engine) + 1;
		assert_ok(&kit, wc_engine_apply(kit.engine, &commit, txns[first], &ts, &kit.err));
		kit_put(&kit, "s", 1, "q", KIT_LATEST, "v");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "s{f:q=v}");
		commit.xid = (uint64_t) 2 - (uint64_t) first;
		commit.position = wc_engine_applied_position(kit.engine) + 1;
		assert_ok(&kit, wc_engine_apply(kit.engine, &commit, txns[1 - first], &ts, &kit.err));
		assert_string_equal(kit_scan(&kit, false), "");
		assert_ok(&kit, wc_engine_sync(kit.engine, &kit.err));
		wait_for_families(&kit, 2);
		for (int i = 0; i < 2; i++)
			wc_txn_destroy(txns[i]);
		kit_close(&kit);
	}
}

static WcFamilyAttrs
attrs_of(Kit *kit)
{
	WcTable    *table = wc_catalog_table(kit->engine, kit->table);
	WcFamilyAttrs attrs = wc_store_attrs(wc_table_store(table, 1));

	wc_table_unref(table);
	return attrs;
}

/* Changes the limit of open files; returns the one before. */
static rlim_t
limit_open_files(rlim_t n)
{
	struct rlimit limit;
	rlim_t		before;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	before = limit.rlim_cur;
	limit.rlim_cur = n;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return before;
}

/* Each of a table's many families altered, twice, and the table dropped meanwhile: all of it
 * beside writers, in a process that may open fewer files than there are families. */
static void
test_alter(void **state)
{
	Kit			kit;
	WcFamilyDesc families[WC_FAMILIES_MAX];
	char		names[WC_FAMILIES_MAX][8];
	WcTableDesc desc = {
		.database = KIT_DATABASE,.ns = kit_s("default"),.name = kit_s("wide"),.nfamilies = WC_FAMILIES_MAX,
		.families = families,.next_family_id = WC_FAMILIES_MAX + 1
	};
	rlim_t		open_files = limit_open_files(WC_FAMILIES_MAX / 2);

	kit_open(&kit);
	desc.id = kit.table = wc_engine_new_table_id(kit.engine);
	for (uint32_t i = 0; i < WC_FAMILIES_MAX; i++)
	{
		snprintf(names[i], sizeof(names[i]), "f%03u", i);
		families[i] = (WcFamilyDesc) {.id = i + 1,.name = kit_s(names[i]),.attrs = wc_family_attrs_default};
		families[i].attrs.packing = WC_PACKING_ROW;
	}
	assert_ok(&kit, wc_batch_create_table(&kit.builder, kit.cid, &desc, &kit.err));
	kit_commit(&kit);
	assert_int_equal(count_families(&kit), WC_FAMILIES_MAX);
	for (uint32_t blocksize = 4096; blocksize <= 8192; blocksize *= 2)
	{
		for (uint32_t i = 0; i < WC_FAMILIES_MAX; i++)
			families[i].attrs.blocksize = blocksize;
		assert_ok(&kit, wc_batch_alter_table(&kit.builder, kit.cid, &desc, &kit.err));
		kit_put(&kit, "r", 1, "q", KIT_LATEST, "v");
		kit_commit(&kit);
		assert_int_equal(attrs_of(&kit).blocksize, blocksize);
	}
	assert_string_equal(kit_scan(&kit, false), "r{f:q=v}");
	drop_table(&kit);
	assert_ok(&kit, wc_engine_sync(kit.engine, &kit.err));
	wait_for_families(&kit, 0);
	kit_close(&kit);
	limit_open_files(open_files);
}

/* RocksDB's file of options, which holds writers up, is not there; nor is it needed. */
static void
test_no_options_file(void **state)
{
	Kit			kit;
	DIR		   *dir;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_put(&kit, "r", 1, "q", KIT_LATEST, "v");
	kit_commit(&kit);
	kit_reopen(&kit);
	assert_string_equal(kit_scan(&kit, false), "r{f:q=v}");
	dir = opendir(kit.dir);
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		assert_int_not_equal(strncmp(entry->d_name, "OPTIONS", 7), 0);
	closedir(dir);
	kit_close(&kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beside_writers),
		cmocka_unit_test(test_aborted),
		cmocka_unit_test(test_void),
		cmocka_unit_test(test_prepared_twice),
		cmocka_unit_test(test_alter),
		cmocka_unit_test(test_no_options_file)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
