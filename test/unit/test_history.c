/*
 * test/unit/test_history.c: reads as of a time: their results, and that a read is refused if cells of that time are
 * missing.
 */
#include "enginekit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)
#define REFUSED "error: invalid argument"

/* A commit at this time. */
static void
commit_at(Kit *kit, int64_t time)
{
	kit_now = time;
	kit_commit(kit);
	assert_int_equal(kit->commit_ts, time);
}

static void
put_at(Kit *kit, int64_t time, const char *row, const char *value)
{
	kit_put(kit, row, 1, "a", KIT_LATEST, value);
	commit_at(kit, time);
}

static void
delete_at(Kit *kit, WcCellType type, int64_t time, const char *row, int64_t ts)
{
	kit_delete(kit, type, row, 1, type == WC_DELETE_FAMILY ? "" : "a", ts);
	commit_at(kit, time);
}

static void
flush_at(Kit *kit, int64_t time)
{
	WcReadPoint at = kit_point(kit, false);

	kit_now = time;
	assert_ok(kit, wc_engine_flush(kit->engine, kit->table, &at, &kit->err));
}

static const char *
as_of_at(Kit *kit, const WcReadPoint *at, int64_t time)
{
	WcColumn	family = {.family = 1,.kind = WC_COLUMN_FAMILY};
	WcScan		scan;

	wc_scan_init(&scan, kit->table);
	scan.ncolumns = 1;
	scan.columns = &family;
	scan.as_of_ts = time;
	return kit_scan_with(kit, &scan, at);
}

static const char *
as_of(Kit *kit, int64_t time)
{
	WcReadPoint at = kit_point(kit, false);

	return as_of_at(kit, &at, time);
}

/* Since when family "f" remembers, as everybody is told. */
static int64_t
history_from_us(Kit *kit)
{
	WcBuf		list = WC_BUF_INIT;
	WcArena		arena = WC_ARENA_INIT;
	WcTableDesc desc;
	WcDecoder	d;
	int64_t		from = -1;

	assert_ok(kit, wc_engine_list_tables(kit->engine, KIT_DATABASE, NULL, &list, &kit->err));
	d = wc_decoder(wc_buf_slice(&list));
	for (uint64_t n = wc_decode_varint(&d); n > 0; n--)
	{
		assert_ok(kit, wc_table_desc_decode(wc_decode_bytes(&d), &arena, &desc, &kit->err));
		if (desc.id == kit->table)
			from = desc.families[0].history_from_us;
	}
	wc_arena_free(&arena);
	wc_buf_free(&list);
	return from;
}

static void
open_with(Kit *kit, uint8_t packing, uint32_t versions, uint8_t keep_deleted, int64_t ttl_us)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;

	attrs.packing = packing;
	attrs.versions = versions;
	attrs.keep_deleted = keep_deleted;
	attrs.ttl_us = ttl_us;
	kit_now = 1000000;
	kit_open(kit);
	kit_create_attrs(kit, "t", &attrs);
	kit_commit(kit);
}

/* --- reads as of a time -------------------------------------------------------*/

static void
test_versions(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		open_with(&kit, *p, 3, WC_KEEP_DELETED_FALSE, 0);
		put_at(&kit, 2000000, "r", "one");
		put_at(&kit, 3000000, "r", "two");
		put_at(&kit, 3500000, "s", "other");
		put_at(&kit, 4000000, "r", "three");
		assert_string_equal(as_of(&kit, 1999999), "");
		assert_string_equal(as_of(&kit, 2000000), "r{f:a=one}");
		assert_string_equal(as_of(&kit, 2999999), "r{f:a=one}");
		assert_string_equal(as_of(&kit, 3000000), "r{f:a=two}");
		assert_string_equal(as_of(&kit, 3700000), "r{f:a=two} s{f:a=other}");
		assert_string_equal(as_of(&kit, INT64_MAX - 1), "r{f:a=three} s{f:a=other}");
		assert_int_equal(history_from_us(&kit), 0);
		kit_close(&kit);
	}
}

/* One version: packing row forgets the old one at once, packing cell when storage does. */
static void
test_superseded(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcReadPoint at;

		open_with(&kit, *p, 1, WC_KEEP_DELETED_FALSE, 0);
		at = kit_point(&kit, false);
		put_at(&kit, 2000000, "r", "one");
		put_at(&kit, 3000000, "r", "two");
		put_at(&kit, 4000000, "s", "new rows make nobody forget");
		if (*p == WC_PACKING_CELL)
		{
			assert_int_equal(history_from_us(&kit), 0);
			assert_string_equal(as_of(&kit, 2500000), "r{f:a=one}");
			kit_now = 5000000;
			assert_ok(&kit, wc_engine_flush(kit.engine, kit.table, &at, &kit.err));
		}
		assert_int_equal(history_from_us(&kit), 3000000);
		assert_string_equal(as_of(&kit, 2999999), REFUSED);
		assert_string_equal(kit.err.message, "stored table \"t\" cannot be seen as of 1970-01-01 00:00:02.999999+00");
		assert_string_equal(kit.err.detail, "The history of family \"f\" begins at 1970-01-01 00:00:03.000000+00.");
		assert_string_equal(as_of(&kit, 3000000), "r{f:a=two}");

		/* so it is after a restart, and a crash */
		kit_reopen(&kit);
		assert_int_equal(history_from_us(&kit), 3000000);
		assert_string_equal(as_of(&kit, 2999999), REFUSED);
		kit_crash(&kit);
		assert_int_equal(history_from_us(&kit), 3000000);
		assert_string_equal(as_of(&kit, 2999999), REFUSED);
		kit_close(&kit);
	}
}

static void
test_deleted(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		open_with(&kit, *p, 3, WC_KEEP_DELETED_FALSE, 0);
		put_at(&kit, 2000000, "r", "one");
		put_at(&kit, 2500000, "s", "stays");
		delete_at(&kit, WC_DELETE_COLUMN, 3000000, "r", KIT_LATEST);
		assert_int_equal(history_from_us(&kit), 3000000);
		assert_string_equal(as_of(&kit, 2700000), REFUSED);
		assert_string_equal(as_of(&kit, 3000000), "s{f:a=stays}");
		kit_close(&kit);
	}
}

static void
test_deleted_and_kept(void **state)
{
	static const uint8_t modes[] = {WC_KEEP_DELETED_TRUE, WC_KEEP_DELETED_TTL};

	EACH_PACKING(p)
	{
		for (int i = 0; i < 2; i++)
		{
			Kit			kit;

			open_with(&kit, *p, 3, modes[i], modes[i] == WC_KEEP_DELETED_TTL ? 100000000 : 0);
			put_at(&kit, 2000000, "r", "one");
			delete_at(&kit, WC_DELETE_FAMILY, 3000000, "r", KIT_LATEST);
			put_at(&kit, 4000000, "r", "again");
			delete_at(&kit, WC_DELETE_COLUMN, 5000000, "r", KIT_LATEST);
			assert_int_equal(history_from_us(&kit), 0);
			assert_string_equal(as_of(&kit, 2999999), "r{f:a=one}");
			assert_string_equal(as_of(&kit, 3000000), "");
			assert_string_equal(as_of(&kit, 4500000), "r{f:a=again}");
			assert_string_equal(as_of(&kit, 6000000), "");

			/* deleting one version has it gone since it was written */
			delete_at(&kit, WC_DELETE, 6000000, "r", 4000000);
			assert_string_equal(as_of(&kit, 4500000), REFUSED);
			assert_string_equal(as_of(&kit, 6000000), "");
			kit_close(&kit);
		}
	}
}

/* Reads as of a time count times to live as of that time, while expired cells are stored. */
static void
test_expired(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcReadPoint at;

		open_with(&kit, *p, 1, WC_KEEP_DELETED_FALSE, 1000000);
		at = kit_point(&kit, false);
		put_at(&kit, 2000000, "r", "mayfly");
		kit_now = 9000000;
		assert_string_equal(kit_scan(&kit, false), "");
		assert_string_equal(as_of(&kit, 2500000), "r{f:a=mayfly}");
		assert_string_equal(as_of(&kit, 3000000), "r{f:a=mayfly}");
		assert_string_equal(as_of(&kit, 3000001), "");
		assert_string_equal(as_of(&kit, 10000000), "");
		assert_int_equal(history_from_us(&kit), 0);
		assert_ok(&kit, wc_engine_flush(kit.engine, kit.table, &at, &kit.err));
		assert_ok(&kit, wc_engine_compact(kit.engine, kit.table, true, &at, &kit.err));
		/* it was there until it was over */
		assert_int_equal(history_from_us(&kit), 3000001);
		assert_string_equal(as_of(&kit, 2500000), REFUSED);
		assert_string_equal(as_of(&kit, 3000001), "");
		kit_close(&kit);
	}
}

/* A compaction that finds nothing to forget makes nobody forget; one that does, does. */
static void
test_compaction(void **state)
{
	EACH_PACKING(p)
	{
		for (int major = 0; major <= 1; major++)
		{
			Kit			kit;
			WcReadPoint at;

			open_with(&kit, *p, 2, WC_KEEP_DELETED_FALSE, 0);
			at = kit_point(&kit, false);
			put_at(&kit, 2000000, "r", "one");
			put_at(&kit, 3000000, "r", "two");
			kit_now = 5000000;
			assert_ok(&kit, wc_engine_flush(kit.engine, kit.table, &at, &kit.err));
			assert_ok(&kit, wc_engine_compact(kit.engine, kit.table, major == 1, &at, &kit.err));
			assert_int_equal(history_from_us(&kit), 0);
			assert_string_equal(as_of(&kit, 2500000), "r{f:a=one}");
			kit_reopen(&kit);
			at = kit_point(&kit, false);
			assert_int_equal(history_from_us(&kit), 0);

			put_at(&kit, 6000000, "r", "three");
			kit_now = 7000000;
			assert_ok(&kit, wc_engine_flush(kit.engine, kit.table, &at, &kit.err));
			assert_ok(&kit, wc_engine_compact(kit.engine, kit.table, major == 1, &at, &kit.err));
			assert_int_equal(history_from_us(&kit), 6000000);
			assert_string_equal(as_of(&kit, 2500000), REFUSED);
			assert_string_equal(as_of(&kit, 6000000), "r{f:a=three}");
			kit_crash(&kit);
			assert_int_equal(history_from_us(&kit), 6000000);
			kit_close(&kit);
		}
	}
}

/* RocksDB's own compactions forget nothing. */
static void
test_background_compaction(void **state)
{
	Kit			kit;
	int64_t		time = 1000000;
	char		value[16];

	open_with(&kit, WC_PACKING_CELL, 1, WC_KEEP_DELETED_FALSE, 0);
	for (int i = 1; i < 40; i++)
	{
		int64_t		before = time + 50000000;

		time += 100000000;
		snprintf(value, sizeof(value), "%d", i);
		put_at(&kit, time, "r", value);
		flush_at(&kit, time);
		if (i == 1)
			continue;
		(void) as_of(&kit, before);
		snprintf(value, sizeof(value), "=%d}", i - 1);
		assert_string_equal(strchr(kit.text, '='), value);
	}
	assert_int_equal(history_from_us(&kit), 0);
	kit_close(&kit);
}

/* Timestamps that were given are the times of their cells. */
static void
test_given_timestamps(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		open_with(&kit, *p, 2, WC_KEEP_DELETED_TRUE, 0);
		kit_put(&kit, "r", 1, "a", 10, "ten");
		kit_put(&kit, "r", 1, "a", 20, "twenty");
		kit_put(&kit, "r", 1, "a", 5000000, "future");
		commit_at(&kit, 2000000);
		delete_at(&kit, WC_DELETE_COLUMN, 3000000, "r", 20);
		if (*p == WC_PACKING_CELL)
		{
			assert_string_equal(as_of(&kit, 15), "r{f:a=ten}");
			assert_string_equal(as_of(&kit, 20), "");
		}
		else
		{
			/* the third version has pushed out the first: not before it */
			assert_int_equal(history_from_us(&kit), 5000000);
			assert_string_equal(as_of(&kit, 15), REFUSED);
		}
		assert_string_equal(as_of(&kit, 5000000), "r{f:a=future}");
		kit_close(&kit);
	}
}

/* --- readers at the same time --------------------------------------------------*/

/* What a snapshot sees is not forgotten for it. */
static void
test_snapshot(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcReadPoint newest;
		WcReadPoint old;

		open_with(&kit, *p, 1, WC_KEEP_DELETED_FALSE, 0);
		newest = old = kit_point(&kit, false);
		put_at(&kit, 2000000, "r", "one");
		old.snapshot = wc_snapshot_take(kit.engine);
		put_at(&kit, 3000000, "r", "two");
		delete_at(&kit, WC_DELETE_FAMILY, 4000000, "r", KIT_LATEST);
		kit_now = 5000000;
		assert_ok(&kit, wc_engine_flush(kit.engine, kit.table, &newest, &kit.err));
		assert_ok(&kit, wc_engine_compact(kit.engine, kit.table, true, &newest, &kit.err));
		assert_string_equal(as_of_at(&kit, &newest, 2500000), REFUSED);
		assert_string_equal(as_of_at(&kit, &old, 2500000), "r{f:a=one}");
		wc_snapshot_release(kit.engine, old.snapshot);
		kit_close(&kit);
	}
}

/* A transaction's own writes were never so. */
static void
test_own_writes(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcReadPoint at;

		open_with(&kit, *p, 1, WC_KEEP_DELETED_FALSE, 0);
		put_at(&kit, 2000000, "r", "one");
		kit_put(&kit, "r", 1, "a", 2100000, "own");
		kit_delete(&kit, WC_DELETE_FAMILY, "r", 1, "", KIT_LATEST);
		assert_ok(&kit, kit_send(&kit));
		kit.cid++;
		at = kit_point(&kit, true);
		assert_string_equal(as_of_at(&kit, &at, 2500000), "r{f:a=one}");
		assert_string_equal(kit_scan(&kit, true), "r{f:a=own}");

		assert_ok(&kit, wc_batch_truncate_table(&kit.builder, kit.cid, kit.table, &kit.err));
		assert_ok(&kit, kit_send(&kit));
		kit.cid++;
		at = kit_point(&kit, true);
		assert_string_equal(as_of_at(&kit, &at, 2500000), REFUSED);
		assert_string_equal(kit.err.detail, "This transaction has truncated it.");
		commit_at(&kit, 3000000);
		assert_string_equal(as_of(&kit, 2500000), REFUSED);
		assert_string_equal(as_of(&kit, kit.commit_ts), "");
		kit_close(&kit);
	}
}

/* The time range of the scan itself, and rows by existence. */
static void
test_with_other_conditions(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		scan;
		WcReadPoint at;
		uint32_t	family = 1;

		open_with(&kit, *p, 3, WC_KEEP_DELETED_FALSE, 0);
		at = kit_point(&kit, false);
		put_at(&kit, 2000000, "r", "one");
		put_at(&kit, 3000000, "r", "two");
		put_at(&kit, 4000000, "s", "later");
		wc_scan_init(&scan, kit.table);
		scan.as_of_ts = 3500000;
		scan.versions = 9;
		assert_string_equal(kit_scan_with(&kit, &scan, &at), "r{f:a=two f:a=one}");
		scan.ts_max = 3000000;
		assert_string_equal(kit_scan_with(&kit, &scan, &at), "r{f:a=one}");
		scan.ts_min = scan.ts_max = 3900000;
		assert_string_equal(kit_scan_with(&kit, &scan, &at), "");
		wc_scan_init(&scan, kit.table);
		scan.as_of_ts = 3500000;
		scan.rows_by_existence = true;
		scan.nfamilies = 1;
		scan.families = &family;
		assert_string_equal(kit_scan_with(&kit, &scan, &at), "r{}");
		kit_close(&kit);
	}
}

/* --- attributes and tables ------------------------------------------------------*/

static void
alter(Kit *kit, const WcFamilyAttrs *attrs)
{
	WcFamilyDesc families[2] = {
		{.id = 1,.generation = 1,.name = kit_s("f"),.attrs = *attrs},
		{.id = 2,.generation = 1,.name = kit_s("g"),.attrs = *attrs}
	};
	WcTableDesc desc = {
		.id = kit->table,.database = KIT_DATABASE,.ns = kit_s("default"),.name = kit_s("t"),
		.nfamilies = 2,.families = families,.next_family_id = 3
	};

	assert_ok(kit, wc_batch_alter_table(&kit->builder, kit->cid, &desc, &kit->err));
}

static void
test_attributes(void **state)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;
	Kit			kit;

	attrs.packing = WC_PACKING_CELL;
	attrs.versions = 3;
	open_with(&kit, attrs.packing, attrs.versions, attrs.keep_deleted, 0);
	put_at(&kit, 2000000, "r", "one");
	put_at(&kit, 2500000, "r", "two");
	attrs.versions = 5;
	attrs.keep_deleted = WC_KEEP_DELETED_TRUE;
	attrs.blocksize = 4096;
	alter(&kit, &attrs);
	commit_at(&kit, 3000000);
	assert_int_equal(history_from_us(&kit), 0);
	attrs.ttl_us = 100000;
	alter(&kit, &attrs);
	commit_at(&kit, 4000000);
	assert_int_equal(history_from_us(&kit), 4000000);
	attrs.ttl_us = 0;
	attrs.versions = 4;
	alter(&kit, &attrs);
	commit_at(&kit, 5000000);
	assert_int_equal(history_from_us(&kit), 5000000);
	attrs.keep_deleted = WC_KEEP_DELETED_FALSE;
	alter(&kit, &attrs);
	commit_at(&kit, 6000000);
	assert_int_equal(history_from_us(&kit), 6000000);
	kit_reopen(&kit);
	assert_int_equal(history_from_us(&kit), 6000000);
	kit_close(&kit);
}

/* A table that is made anew begins without a past. */
static void
test_dropped(void **state)
{
	Kit			kit;
	uint32_t	first;

	open_with(&kit, WC_PACKING_ROW, 1, WC_KEEP_DELETED_FALSE, 0);
	put_at(&kit, 2000000, "r", "one");
	put_at(&kit, 3000000, "r", "two");
	assert_int_equal(history_from_us(&kit), 3000000);
	first = kit.table;
	assert_ok(&kit, wc_batch_drop_table(&kit.builder, kit.cid, first, &kit.err));
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "new");
	commit_at(&kit, 4000000);
	assert_int_not_equal(first, kit.table);
	assert_int_equal(history_from_us(&kit), 0);
	kit_reopen(&kit);
	assert_int_equal(history_from_us(&kit), 0);
	assert_string_equal(as_of(&kit, 3500000), "");
	kit_close(&kit);
}

/* A flush that drops an expired marker does not look for the cells in files that it masks. */
static void
test_marker_without_its_put(void **state)
{
	static const WcCellType markers[] = {WC_DELETE, WC_DELETE_COLUMN, WC_DELETE_FAMILY};

	for (int i = 0; i < 3; i++)
	{
		Kit			kit;

		open_with(&kit, WC_PACKING_CELL, 2, WC_KEEP_DELETED_TTL, 500000000);
		put_at(&kit, 10000000, "r", "one");
		flush_at(&kit, 20000000);
		delete_at(&kit, markers[i], 30000000, "r", 10000000);
		assert_string_equal(as_of(&kit, 400000000), "");
		flush_at(&kit, 600000000);
		assert_string_equal(as_of(&kit, 400000000), REFUSED);
		assert_string_equal(as_of(&kit, history_from_us(&kit)), "");
		kit_close(&kit);
	}
}

/* If single versions were deleted, dropped cells may have been visible until then. */
static void
test_single_deletes(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		open_with(&kit, *p, 2, WC_KEEP_DELETED_TRUE, 0);
		put_at(&kit, 2000000, "r", "one");
		put_at(&kit, 3000000, "r", "two");
		delete_at(&kit, WC_DELETE, 4000000, "r", 3000000);
		assert_string_equal(as_of(&kit, 5000000), "r{f:a=one}");

		/* a restart alone forgets nothing */
		kit_now = 9000000;
		kit_reopen(&kit);
		assert_int_equal(history_from_us(&kit), 4000000);
		assert_string_equal(as_of(&kit, 5000000), "r{f:a=one}");

		put_at(&kit, 10000000, "r", "three");
		flush_at(&kit, 12000000);
		if (*p == WC_PACKING_CELL)
			assert_int_equal(history_from_us(&kit), 12000001);
		else
			assert_int_equal(history_from_us(&kit), 10000000);
		assert_string_equal(as_of(&kit, 9000000), REFUSED);
		kit_reopen(&kit);
		assert_string_equal(as_of(&kit, 9000000), REFUSED);
		assert_string_equal(as_of(&kit, 12000001), "r{f:a=three}");
		kit_close(&kit);
	}
}

/* --- the clock -------------------------------------------------------------------*/

/* Commits increase whatever the clock does, and so does what one sees as of them. */
static void
test_clock_steps_back(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		int64_t		first;

		open_with(&kit, *p, 3, WC_KEEP_DELETED_FALSE, 0);
		put_at(&kit, 90000000, "r", "one");
		first = kit.commit_ts;
		kit_now = 50000000;
		kit_put(&kit, "r", 1, "a", KIT_LATEST, "two");
		kit_commit(&kit);
		assert_int_equal(kit.commit_ts, first + 1);
		kit_now = 40000000;
		kit_reopen(&kit);
		kit_put(&kit, "r", 1, "a", KIT_LATEST, "three");
		kit_commit(&kit);
		assert_int_equal(kit.commit_ts, first + 2);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=three}");
		assert_string_equal(as_of(&kit, first), "r{f:a=one}");
		assert_string_equal(as_of(&kit, first + 1), "r{f:a=two}");
		assert_string_equal(as_of(&kit, first + 2), "r{f:a=three}");

		/* what the clock says counts again when it is right again */
		kit_now = 95000000;
		kit_put(&kit, "r", 1, "a", KIT_LATEST, "four");
		kit_commit(&kit);
		assert_int_equal(kit.commit_ts, 95000000);
		kit_close(&kit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_superseded),
		cmocka_unit_test(test_deleted),
		cmocka_unit_test(test_deleted_and_kept),
		cmocka_unit_test(test_expired),
		cmocka_unit_test(test_compaction),
		cmocka_unit_test(test_background_compaction),
		cmocka_unit_test(test_given_timestamps),
		cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_own_writes),
		cmocka_unit_test(test_with_other_conditions),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_marker_without_its_put),
		cmocka_unit_test(test_single_deletes),
		cmocka_unit_test(test_clock_steps_back)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
