/*
 * test/unit/test_storage.c: the content of the store: snapshots, flushes, compactions, files, estimates.
 */
#include "enginekit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/store/internal.h"
#include "engine/store/state.h"
#include "engine/write/step.h"

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

static const char *
scan_snapshot(Kit *kit, WcSnapshot *snapshot, uint32_t versions)
{
	WcReadPoint at = kit_point(kit, false);
	WcScan		scan;

	at.snapshot = snapshot;
	wc_scan_init(&scan, kit->table);
	scan.versions = versions;
	return kit_scan_with(kit, &scan, &at);
}

static void
test_snapshot_survives_compaction(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcSnapshot *snapshot;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 2);
		kit_put(&kit, "r", 1, "a", 10, "1");
		kit_put(&kit, "r", 1, "a", 20, "2");
		kit_put(&kit, "s", 1, "a", 10, "s");
		kit_commit(&kit);
		snapshot = wc_snapshot_take(kit.engine);
		assert_non_null(snapshot);
		for (int i = 0; i < 3; i++)
		{
			char		value[8];

			snprintf(value, sizeof(value), "new%d", i);
			kit_put(&kit, "r", 1, "a", 30 + i, value);
			kit_delete(&kit, WC_DELETE_FAMILY, "s", 1, "", KIT_LATEST);
			kit_commit(&kit);
			kit_flush(&kit);
			kit_compact(&kit, i % 2 == 0);
			assert_string_equal(scan_snapshot(&kit, snapshot, 2), "r{f:a=2 f:a=1} s{f:a=s}");
		}
		assert_string_equal(scan_snapshot(&kit, NULL, 2), "r{f:a=new2 f:a=new1}");
		wc_snapshot_release(kit.engine, snapshot);
		kit_compact(&kit, true);
		assert_string_equal(scan_snapshot(&kit, NULL, 2), "r{f:a=new2 f:a=new1}");
		kit_close(&kit);
	}
}

/* Readers that begin while nothing is written share a snapshot; each keeps it. */
static void
test_readers_of_one_moment(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcSnapshot *first,
				   *second,
				   *later;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		kit_put(&kit, "r", 1, "a", 10, "1");
		kit_commit(&kit);
		first = wc_snapshot_take(kit.engine);
		second = wc_snapshot_take(kit.engine);
		kit_put(&kit, "r", 1, "a", 20, "2");
		kit_commit(&kit);
		later = wc_snapshot_take(kit.engine);
		wc_snapshot_release(kit.engine, first);
		kit_flush(&kit);
		kit_compact(&kit, true);
		assert_string_equal(scan_snapshot(&kit, second, 1), "r{f:a=1}");
		assert_string_equal(scan_snapshot(&kit, later, 1), "r{f:a=2}");
		wc_snapshot_release(kit.engine, later);
		assert_string_equal(scan_snapshot(&kit, second, 1), "r{f:a=1}");
		wc_snapshot_release(kit.engine, second);
		kit_close(&kit);
	}
}

/* Nor does what the last reader saw keep anything when he has gone. */
static void
test_nothing_is_kept_for_nobody(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		uint64_t	kept;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		kit_put(&kit, "r", 1, "a", 10, "1");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");
		kit_put(&kit, "r", 1, "a", 20, "2");
		kit_commit(&kit);
		assert_int_equal(rocksdb_property_int(wc_engine_rocks(kit.engine), "rocksdb.num-snapshots", &kept), 0);
		assert_int_equal(kept, 0);
		kit_close(&kit);
	}
}

/* A put under a marker shows once a major compaction has purged the marker. */
static void
test_major_compaction_purges_markers(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 3);
		kit_put(&kit, "r", 1, "a", 10, "1");
		kit_delete(&kit, WC_DELETE_COLUMN, "r", 1, "a", 50);
		kit_commit(&kit);
		kit_flush(&kit);
		kit_compact(&kit, false);
		kit_put(&kit, "r", 1, "a", 20, "masked");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "");
		kit_flush(&kit);
		kit_compact(&kit, true);
		assert_string_equal(kit_scan(&kit, false), "");
		kit_put(&kit, "r", 1, "a", 20, "now");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=now}");
		kit_close(&kit);
	}
}

static const char *
raw(Kit *kit)
{
	WcReadPoint at = kit_point(kit, false);
	WcScan		scan;

	wc_scan_init(&scan, kit->table);
	scan.raw = true;
	scan.versions = 100;
	scan.want_ts = true;
	return kit_scan_with(kit, &scan, &at);
}

/* Packing cell: flush sees the memstore, compactions see files. */
static void
test_memstore(void **state)
{
	Kit			kit;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_put(&kit, "r", 1, "a", 10, "1");
	kit_put(&kit, "r", 1, "a", 20, "2");
	kit_commit(&kit);

	/* a major compaction does not see them, however often */
	kit_compact(&kit, true);
	kit_compact(&kit, true);
	kit_compact(&kit, false);
	assert_string_equal(raw(&kit), "r{f:a@20=2 f:a@10=1}");
	kit_delete(&kit, WC_DELETE, "r", 1, "a", 20);
	kit_commit(&kit);
	assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");

	/* a flush does, and keeps the marker */
	kit_put(&kit, "r", 1, "a", 15, "15");
	kit_commit(&kit);
	kit_flush(&kit);
	assert_string_equal(raw(&kit), "r{f:a@20/Delete f:a@15=15}");
	kit_compact(&kit, false);
	assert_string_equal(raw(&kit), "r{f:a@20/Delete f:a@15=15}");
	kit_compact(&kit, true);
	assert_string_equal(raw(&kit), "r{f:a@15=15}");

	/* versions of two files: cut off where they meet */
	kit_put(&kit, "r", 1, "a", 16, "16");
	kit_commit(&kit);
	kit_flush(&kit);
	assert_string_equal(raw(&kit), "r{f:a@16=16 f:a@15=15}");
	kit_compact(&kit, false);
	assert_string_equal(raw(&kit), "r{f:a@16=16}");

	/* a put in the memstore outlives the marker that masks it */
	kit_delete(&kit, WC_DELETE_COLUMN, "r", 1, "a", 100);
	kit_commit(&kit);
	kit_flush(&kit);
	kit_put(&kit, "r", 1, "a", 50, "below");
	kit_commit(&kit);
	assert_string_equal(kit_scan(&kit, false), "");
	kit_compact(&kit, true);
	assert_string_equal(kit_scan(&kit, false), "r{f:a=below}");
	kit_close(&kit);
}

/* RocksDB compacts on its own behind so many flushes; that may not show. */
static void
test_background_compaction_does_not_show(void **state)
{
	Kit			kit;
	char		value[8];

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 3);
	for (int i = 0; i < 12; i++)
	{
		snprintf(value, sizeof(value), "v%d", i);
		kit_put(&kit, "r", 1, "a", i, value);
		kit_commit(&kit);
		kit_flush(&kit);
	}
	for (int i = 11; i > 0; i--)
	{
		kit_delete(&kit, WC_DELETE, "r", 1, "a", i);
		kit_commit(&kit);
	}
	assert_string_equal(kit_scan(&kit, false), "r{f:a=v0}");
	kit_close(&kit);
}

static void
test_ttl_leaves_the_disk(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcFamilyAttrs attrs = wc_family_attrs_default;
		const WcRange everything = {.start_inclusive = true};
		uint64_t	bytes;
		uint64_t	rows;

		kit_open(&kit);
		attrs.packing = *p;
		attrs.ttl_us = 1000;
		kit_create_attrs(&kit, "t", &attrs);
		for (int i = 0; i < 500; i++)
		{
			char		row[16];

			snprintf(row, sizeof(row), "r%03d", i);
			kit_put(&kit, row, 1, "a", KIT_LATEST, "value");
		}
		kit_commit(&kit);
		assert_ok(&kit, wc_engine_estimate(kit.engine, kit.table, &everything, NULL, 0, &bytes, &rows, &kit.err));
		assert_true(rows > 100 && rows < 2500);
		kit_flush(&kit);
		assert_ok(&kit, wc_engine_estimate(kit.engine, kit.table, &everything, NULL, 0, &bytes, &rows, &kit.err));
		assert_true(rows > 100 && rows < 2500 && bytes > 0);
		kit_now += 100000;
		kit_compact(&kit, false);
		assert_ok(&kit, wc_engine_estimate(kit.engine, kit.table, &everything, NULL, 0, &bytes, &rows, &kit.err));
		assert_int_equal(rows, 0);
		assert_int_equal(bytes, 0);
		assert_string_equal(kit_scan(&kit, false), "");
		kit_close(&kit);
	}
}

static void
test_estimate_ranges(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcRange		range = {.start = kit_s("r100"),.start_inclusive = true,.stop = kit_s("r110")};
		uint64_t	bytes;
		uint64_t	rows;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 0; i < 1000; i++)
		{
			char		row[16];

			snprintf(row, sizeof(row), "r%03d", i);
			kit_put(&kit, row, 1, "a", KIT_LATEST, "value");
			kit_put(&kit, row, 1, "b", KIT_LATEST, "value");
		}
		kit_commit(&kit);
		assert_ok(&kit, wc_engine_estimate(kit.engine, kit.table, &range, NULL, 0, &bytes, &rows, &kit.err));
		assert_int_equal(rows, 10);
		range.start_inclusive = false;
		range.stop_inclusive = true;
		range.stop = kit_s("r105");
		assert_ok(&kit, wc_engine_estimate(kit.engine, kit.table, &range, NULL, 0, &bytes, &rows, &kit.err));
		assert_int_equal(rows, 5);
		kit_close(&kit);
	}
}

static void
test_cancel(void **state)
{
	Kit			kit;
	atomic_bool cancel = true;
	WcReadPoint at;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
	kit_commit(&kit);
	at = kit_point(&kit, false);
	at.cancel = &cancel;
	assert_int_equal(wc_engine_compact(kit.engine, kit.table, true, &at, &kit.err), WC_CANCELLED);
	assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");
	kit_close(&kit);
}

/* Files of flushed memtables in the store's directory. */
static int
count_files(const Kit *kit)
{
	DIR		   *dir = opendir(kit->dir);
	int			n = 0;

	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
	{
		const char *dot = strrchr(entry->d_name, '.');

		n += dot != NULL && strcmp(dot, ".sst") == 0;
	}
	closedir(dir);
	return n;
}

/* Many tables with little in them do not use up the memory for writes. */
static void
test_many_tables(void **state)
{
	Kit			kit;
	char		name[16];
	int			before;

	kit_open(&kit);
	before = count_files(&kit);
	for (int i = 0; i < 100; i++)
	{
		snprintf(name, sizeof(name), "t%d", i);
		kit_create(&kit, name, i % 2 == 0 ? WC_PACKING_ROW : WC_PACKING_CELL, 1);
		kit_put(&kit, "r", 1, "q", 100, name);
		kit_commit(&kit);
	}
	assert_int_equal(count_files(&kit), before);
	assert_string_equal(kit_scan(&kit, false), "r{f:q=t99}");
	kit_close(&kit);
}

/* --- storage that a commit drops -------------------------------------------- */

static WcStatus
truncate_table(Kit *kit)
{
	assert_ok(kit, wc_batch_truncate_table(&kit->builder, kit->cid, kit->table, &kit->err));
	return kit_try_commit(kit);
}

/* Two versions too many in a memtable, so that a pass over it has something to do. */
static void
put_superseded(Kit *kit)
{
	for (int i = 0; i < 3; i++)
	{
		kit_put(kit, "r", 1, "a", KIT_LATEST, "x");
		kit_commit(kit);
	}
}

/* A flush and a compaction go step by step, and a commit comes in between.  A
 * write to a dropped column family would end all writing in RocksDB. */
static void
test_pass_over_dropped_storage(void **state)
{
	static const uint8_t kinds[] = {WC_STEP_FLUSH, WC_STEP_COMPACT, WC_STEP_MAJOR};

	for (int i = 0; i < 3; i++)
	{
		Kit			kit;
		WcTable    *table;
		WcPassOptions options = {.kind = kinds[i],.until_ts = INT64_MAX,.dated_until_ts = INT64_MAX,.now_us = 2000000};
		WcPass	   *pass;
		const WcStep *step;

		kit_open(&kit);
		kit_create(&kit, "t", WC_PACKING_CELL, 1);
		put_superseded(&kit);
		table = wc_catalog_table(kit.engine, kit.table);
		assert_ok(&kit, wc_pass_create(wc_table_store(table, 1), &options, &pass, &kit.err));
		assert_ok(&kit, wc_pass_next(pass, &step, &kit.err));
		assert_int_equal(wc_pass_work(pass)->sifted.changed, 1);
		assert_ok(&kit, truncate_table(&kit));
		assert_ok(&kit, wc_step_apply(kit.engine, step, wc_pass_work(pass), NULL, &kit.err));
		assert_int_equal(wc_pass_next(pass, &step, &kit.err), WC_END);
		wc_pass_free(pass);
		wc_table_unref(table);

		put_superseded(&kit);
		kit_flush(&kit);
		assert_string_equal(scan_snapshot(&kit, NULL, 9), "r{f:a=x}");
		kit_close(&kit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_snapshot_survives_compaction),
		cmocka_unit_test(test_readers_of_one_moment),
		cmocka_unit_test(test_nothing_is_kept_for_nobody),
		cmocka_unit_test(test_major_compaction_purges_markers),
		cmocka_unit_test(test_memstore),
		cmocka_unit_test(test_background_compaction_does_not_show),
		cmocka_unit_test(test_ttl_leaves_the_disk),
		cmocka_unit_test(test_estimate_ranges),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_many_tables),
		cmocka_unit_test(test_pass_over_dropped_storage)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
