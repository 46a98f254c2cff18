/*
 * test/unit/test_bloom.c: reads use the bloom filters that can help them: RocksDB's counters of this thread show
 * it.  The results of reads never depend on bloom filters.
 */
#include "enginekit.h"

#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 200

static rocksdb_perfcontext_t *perf;

/* So often a filter (of files, of the memtable) said "not here" since the last call. */
static uint64_t
refusals(bool files)
{
	uint64_t	n = rocksdb_perfcontext_metric(perf, files ? rocksdb_bloom_sst_miss_count : rocksdb_bloom_memtable_miss_count);

	rocksdb_perfcontext_reset(perf);
	return n;
}

/* Rows r000, r002 ... with f:a. */
static void
fill(Kit *kit, uint8_t packing, uint8_t bloomfilter)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;

	kit_open(kit);
	kit->scans_once = true;	/* the tests count reads */
	attrs.packing = packing;
	attrs.bloomfilter = bloomfilter;
	kit_create_attrs(kit, "t", &attrs);
	for (int i = 0; i < 2 * ROWS; i += 2)
	{
		char		row[16];

		snprintf(row, sizeof(row), "r%03d", i);
		kit_put(kit, row, 1, "a", KIT_LATEST, "v");
	}
	kit_commit(kit);
}

/* Gets of rows r<first>, r<first + 2> ...: how many cells they find. */
static int
get_rows(Kit *kit, int first, const char *qualifier)
{
	WcReadPoint at = kit_point(kit, false);
	WcColumn	column = {.family = 1,.kind = WC_COLUMN_FAMILY};
	int			found = 0;

	if (qualifier != NULL)
	{
		column.kind = WC_COLUMN_EXACT;
		column.qualifier = kit_s(qualifier);
	}
	for (int i = first; i < 2 * ROWS; i += 2)
	{
		WcRange		range = {.start_inclusive = true,.stop_inclusive = true};
		WcScan		scan;
		char		row[16];

		snprintf(row, sizeof(row), "r%03d", i);
		range.start = range.stop = kit_s(row);
		wc_scan_init(&scan, kit->table);
		scan.nranges = 1;
		scan.ranges = &range;
		scan.ncolumns = 1;
		scan.columns = &column;
		found += strlen(kit_scan_with(kit, &scan, &at)) > 0;
	}
	return found;
}

/* Absent rows: a filter of rows keeps nearly all Gets out of the files, and out
 * of the memtable before there are files; without one nothing is refused. */
static void
test_absent_rows(void **state)
{
	static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

	for (int p = 0; p < 2; p++)
	{
		Kit			kit;

		fill(&kit, packings[p], WC_BLOOM_ROW);
		for (int flushed = 0; flushed < 2; flushed++)
		{
			(void) refusals(flushed);
			assert_int_equal(get_rows(&kit, 1, NULL), 0);
			assert_in_range(refusals(flushed), ROWS * 9 / 10, ROWS * 3);
			assert_int_equal(get_rows(&kit, 0, NULL), ROWS);
			kit_flush(&kit);
		}
		kit_close(&kit);

		fill(&kit, packings[p], WC_BLOOM_NONE);
		kit_flush(&kit);
		(void) refusals(true);
		assert_int_equal(get_rows(&kit, 1, NULL), 0);
		assert_int_equal(get_rows(&kit, 0, NULL), ROWS);
		assert_int_equal(refusals(true), 0);
		kit_close(&kit);
	}
}

/* Absent columns of rows that are there, and apart: only a filter of rows and columns knows. */
static void
test_absent_columns(void **state)
{
	Kit			kit;

	kit_row_together_max = 1;

	fill(&kit, WC_PACKING_CELL, WC_BLOOM_ROW);
	kit_flush(&kit);
	(void) refusals(true);
	assert_int_equal(get_rows(&kit, 0, "b"), 0);
	assert_int_equal(refusals(true), 0);
	kit_close(&kit);

	fill(&kit, WC_PACKING_CELL, WC_BLOOM_ROWCOL);
	for (int flushed = 0; flushed < 2; flushed++)
	{
		/* the column, and the family's markers, are both not there */
		(void) refusals(flushed);
		assert_int_equal(get_rows(&kit, 0, "b"), 0);
		assert_in_range(refusals(flushed), 2 * ROWS * 9 / 10, 2 * ROWS * 3);
		assert_int_equal(get_rows(&kit, 1, "a"), 0);
		assert_in_range(refusals(flushed), 2 * ROWS * 9 / 10, 2 * ROWS * 3);
		assert_int_equal(get_rows(&kit, 0, "a"), ROWS);
		/* of rows it knows their heads */
		(void) refusals(flushed);
		assert_int_equal(get_rows(&kit, 0, NULL), ROWS);
		assert_int_equal(refusals(flushed), 0);
		assert_int_equal(get_rows(&kit, 1, NULL), 0);
		assert_in_range(refusals(flushed), ROWS * 9 / 10, 2 * ROWS);
		kit_flush(&kit);
	}
	kit_close(&kit);
	kit_row_together_max = 0;
}

/* Reads of named columns of one row, for which each column is sought on its own. */
static void
test_named_columns(void **state)
{
	static const char *const names[] = {"b", "", "a", "x", "b"};
	WcFamilyAttrs attrs = wc_family_attrs_default;
	WcColumn	columns[5] = {{0}};
	WcRange		range = {.start = kit_s("r"),.stop = kit_s("r"),.start_inclusive = true,.stop_inclusive = true};
	WcReadPoint at;
	WcScan		scan;
	Kit			kit;

	kit_open(&kit);
	attrs.packing = WC_PACKING_CELL;
	attrs.bloomfilter = WC_BLOOM_ROWCOL;
	attrs.versions = 3;
	kit_create_attrs(&kit, "t", &attrs);
	for (int i = 0; i < 5; i++)
	{
		columns[i].family = 1;
		columns[i].kind = WC_COLUMN_EXACT;
		columns[i].qualifier = kit_s(names[i]);
	}
	wc_scan_init(&scan, kit.table);
	scan.nranges = 1;
	scan.ranges = &range;
	scan.ncolumns = 5;
	scan.columns = columns;
	scan.versions = 2;
	for (int ts = 10; ts <= 40; ts += 10)
	{
		char		value[8];

		snprintf(value, sizeof(value), "%d", ts);
		kit_put(&kit, "r", 1, "a", ts, value);
		kit_put(&kit, "r", 1, "aa", ts, value);
		kit_put(&kit, "r", 1, "b", ts, value);
		kit_put(&kit, "r", 1, "", ts, value);
		kit_put(&kit, "s", 1, "x", ts, value);
		kit_commit(&kit);
		if (ts % 20 == 0)
			kit_flush(&kit);
	}
	at = kit_point(&kit, false);
	assert_string_equal(kit_scan_with(&kit, &scan, &at), "r{f:=40 f:=30 f:a=40 f:a=30 f:b=40 f:b=30}");

	/* a family's marker, which is in the column without a name, hides in all */
	kit_delete(&kit, WC_DELETE_FAMILY_VERSION, "r", 1, "", 40);
	kit_delete(&kit, WC_DELETE_COLUMN, "r", 1, "b", 35);
	kit_delete(&kit, WC_DELETE_FAMILY, "r", 1, "", 20);
	kit_commit(&kit);
	for (int flushed = 0; flushed < 2; flushed++)
	{
		assert_string_equal(kit_scan_with(&kit, &scan, &at), "r{f:=30 f:a=30}");
		kit_flush(&kit);
	}

	/* with a transaction's own writes, in rows that have nothing stored too */
	kit_put(&kit, "r", 1, "x", 5, "hidden");
	kit_put(&kit, "r", 1, "x", 50, "own");
	kit_put(&kit, "r", 1, "y", 50, "other");
	assert_int_equal(kit_send(&kit), WC_OK);
	kit.cid++;
	at = kit_point(&kit, true);
	assert_string_equal(kit_scan_with(&kit, &scan, &at), "r{f:=30 f:a=30 f:x=own}");
	range.start = range.stop = kit_s("q");
	assert_string_equal(kit_scan_with(&kit, &scan, &at), "");
	kit_put(&kit, "q", 1, "b", 50, "new");
	assert_int_equal(kit_send(&kit), WC_OK);
	kit.cid++;
	at = kit_point(&kit, true);
	assert_string_equal(kit_scan_with(&kit, &scan, &at), "q{f:b=new}");
	kit_close(&kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_absent_rows),
		cmocka_unit_test(test_absent_columns),
		cmocka_unit_test(test_named_columns)
	};
	int			failed;

	rocksdb_set_perf_level(rocksdb_enable_count);
	perf = rocksdb_perfcontext_create();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rocksdb_perfcontext_destroy(perf);
	return failed;
}
