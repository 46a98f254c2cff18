/*
 * test/unit/test_offset.c: pages of a scan: the rows that row_offset and row_limit count, and the cost of skipping.
 */
#include "enginekit.h"

#include <stdio.h>
#include <string.h>

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

/* Rows r0 .. r9: of the odd ones "b" in f, of every third "x" in g, of r5 a marker only. */
static void
fill(Kit *kit, uint8_t packing)
{
	kit_open(kit);
	kit_create(kit, "t", packing, 1);
	for (int i = 0; i < 10; i++)
	{
		char		row[8];

		snprintf(row, sizeof(row), "r%d", i);
		kit_put(kit, row, 1, "a", KIT_LATEST, "v");
		if (i % 2 == 1)
			kit_put(kit, row, 1, "b", KIT_LATEST, "v");
		if (i % 3 == 0)
			kit_put(kit, row, 2, "x", KIT_LATEST, "v");
	}
	kit_commit(kit);
	kit_delete(kit, WC_DELETE_FAMILY, "r5", 1, "", KIT_LATEST);
	kit_commit(kit);
}

/* Rows that are there, without cells. */
static WcScan
existing_rows(const Kit *kit, uint64_t offset, uint64_t limit)
{
	WcScan		s;

	wc_scan_init(&s, kit->table);
	s.rows_by_existence = true;
	s.row_offset = offset;
	s.row_limit = limit;
	return s;
}

static void
test_rows_that_are_there_count(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcColumn	column = {.family = 1, .qualifier = wc_slice_cstr("b")};
		uint32_t	families[] = {2};

		fill(&kit, *p);
		s = existing_rows(&kit, 4, 3);
		assert_string_equal(kit_scan_as(&kit, true, &s), "r4{} r6{} r7{}");
		s.reversed = true;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r4{} r3{} r2{}");
		s = existing_rows(&kit, 8, 0);
		assert_string_equal(kit_scan_as(&kit, true, &s), "r9{}");
		s.row_offset = 9;
		assert_string_equal(kit_scan_as(&kit, true, &s), "");
		s.row_offset = UINT64_MAX;
		s.row_limit = UINT64_MAX;
		assert_string_equal(kit_scan_as(&kit, true, &s), "");

		/* whether the wanted column is in them or not */
		s = existing_rows(&kit, 6, 3);
		s.ncolumns = 1;
		s.columns = &column;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r7{f:b=v} r8{} r9{f:b=v}");
		s.nfamilies = 1;
		s.families = families;
		s.row_offset = 1;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r3{f:b=v} r6{} r9{f:b=v}");

		/* HBase's rule: rows with a cell to return */
		s.rows_by_existence = false;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r3{f:b=v} r7{f:b=v} r9{f:b=v}");
		kit_close(&kit);
	}
}

static void
test_ranges(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcRange		ranges[] = {{wc_slice_cstr("r1"), wc_slice_cstr("r3"), false, true},
		{wc_slice_cstr("r4"), wc_slice_cstr("r6"), true, true},
		{wc_slice_cstr("r8"), wc_slice_cstr(""), true, false}};
		WcRange		points[] = {{wc_slice_cstr("r1"), wc_slice_cstr("r1"), true, true},
		{wc_slice_cstr("r5"), wc_slice_cstr("r5"), true, true},
		{wc_slice_cstr("r7"), wc_slice_cstr("r7"), true, true},
		{wc_slice_cstr("r9"), wc_slice_cstr("r9"), true, true}};

		fill(&kit, *p);
		s = existing_rows(&kit, 3, 2);
		s.nranges = 3;
		s.ranges = ranges;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r6{} r8{}");
		s.reversed = true;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r4{} r3{}");
		s = existing_rows(&kit, 1, 0);
		s.nranges = 4;
		s.ranges = points;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r7{} r9{}");
		s.row_offset = 3;
		assert_string_equal(kit_scan_as(&kit, true, &s), "");
		kit_close(&kit);
	}
}

static void
test_own_writes(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;

		fill(&kit, *p);
		kit_put(&kit, "r00", 1, "a", KIT_LATEST, "own");
		kit_put(&kit, "r5", 2, "x", KIT_LATEST, "own");
		kit_delete(&kit, WC_DELETE_FAMILY, "r1", 1, "", KIT_LATEST);
		kit_delete(&kit, WC_DELETE_FAMILY, "r2", 1, "", KIT_LATEST);
		assert_ok(&kit, kit_send(&kit));
		kit.cid = 2;
		kit_put(&kit, "r01", 1, "a", KIT_LATEST, "later");
		assert_ok(&kit, kit_send(&kit));
		s = existing_rows(&kit, 2, 3);
		assert_string_equal(kit_scan_as(&kit, true, &s), "r3{} r4{} r5{}");
		s.reversed = true;
		s.row_offset = 6;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r3{} r00{} r0{}");
		kit_close(&kit);
	}
}

/* The first of 16 lanes' rows are skipped in the order in which they would be given. */
static void
test_lanes(void **state)
{
	EACH_PACKING(p)
	{
		enum
		{
			LANES = 16, ROWS = 320
		};
		Kit			kit;
		WcScan		s;
		WcRange		ranges[LANES];
		char		starts[LANES][2];
		char		stops[LANES][2];

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 0; i < ROWS; i++)
		{
			char		row[16];

			snprintf(row, sizeof(row), "%c%04d", 'a' + (i * 7) % LANES, i);
			kit_put(&kit, row, 1, "a", KIT_LATEST, "v");
		}
		kit_commit(&kit);
		for (int i = 0; i < LANES; i++)
		{
			snprintf(starts[i], sizeof(starts[i]), "%c", 'a' + i);
			snprintf(stops[i], sizeof(stops[i]), "%c", 'b' + i);
			ranges[i] = (WcRange) {wc_slice_cstr(starts[i]), wc_slice_cstr(stops[i]), true, false};
		}
		s = existing_rows(&kit, 202, 3);
		s.nranges = LANES;
		s.ranges = ranges;
		s.merged = true;
		assert_string_equal(kit_scan_as(&kit, true, &s), "g0202{} n0203{} e0204{}");
		s.reversed = true;
		assert_string_equal(kit_scan_as(&kit, true, &s), "d0117{} m0116{} f0115{}");
		kit_close(&kit);
	}
}

/* The cells of r0: a, x; r1: a, b; r2: a; r3: a, b, x; r4: a; r6: a, x ... */
static void
test_cells_count(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcColumn	column = {.family = 2, .kind = WC_COLUMN_FAMILY};

		fill(&kit, *p);
		wc_scan_init(&s, kit.table);
		s.count_cells = true;
		s.row_limit = 4;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r0{f:a=v g:x=v} r1{f:a=v f:b=v}");
		s.row_offset = 3;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r1{f:b=v} r2{f:a=v} r3{f:a=v f:b=v}");
		s.row_offset = 7;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r3{g:x=v} r4{f:a=v} r6{f:a=v g:x=v}");
		s.reversed = true;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r6{g:x=v} r4{f:a=v} r3{f:a=v f:b=v}");
		s.reversed = false;
		s.row_limit = 0;
		s.row_offset = 13;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r8{f:a=v} r9{f:a=v f:b=v g:x=v}");
		s.row_offset = 17;
		assert_string_equal(kit_scan_as(&kit, true, &s), "");

		/* of those that are wanted, and that the limits of a family leave */
		s.row_offset = 1;
		s.row_limit = 2;
		s.ncolumns = 1;
		s.columns = &column;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r3{g:x=v} r6{g:x=v}");
		s.ncolumns = 0;
		s.column_offset = 1;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r3{f:b=v} r7{f:b=v}");
		s.column_offset = 0;
		s.column_limit = 1;
		assert_string_equal(kit_scan_as(&kit, true, &s), "r0{g:x=v} r1{f:a=v}");
		kit_close(&kit);
	}
}

/* --- its cost ---------------------------------------------------------------*/

#define ROWS 2000

static void
fill_many(Kit *kit, uint8_t packing)
{
	kit_open(kit);
	kit_create(kit, "t", packing, 1);
	for (int i = 0; i < ROWS; i++)
	{
		char		row[16];

		snprintf(row, sizeof(row), "%06d", i);
		for (int c = 0; c < 8; c++)
			kit_put(kit, row, 1, (char[]) {(char) ('a' + c), '\0'}, KIT_LATEST, "v");
	}
	kit_commit(kit);
}

/* Takes the first block and forgets it. */
static WcStatus
first_block(Kit *kit, const WcScan *s, WcScanStats *stats, const atomic_bool *cancel)
{
	WcReadPoint at = kit_point(kit, false);
	WcBuf		block = WC_BUF_INIT;
	WcScanner  *scanner;
	WcStatus	status;

	at.cancel = cancel;
	assert_ok(kit, wc_scanner_open(wc_engine_storage(kit->engine), s, &at, &scanner, &kit->err));
	status = wc_scanner_next(scanner, &block, 4096, 0, &kit->err);
	wc_scanner_stats(scanner, stats);
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	return status;
}

/* Packing row tells that a row is there without a cell, packing cell with one. */
static void
test_skipped_rows_are_not_read(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcScanStats stats;

		fill_many(&kit, *p);
		s = existing_rows(&kit, ROWS - 2, 0);
		s.ncolumns = 1;
		s.columns = &(WcColumn) {.family = 1, .kind = WC_COLUMN_FAMILY};
		assert_int_equal(first_block(&kit, &s, &stats, NULL), WC_END);
		assert_int_equal(stats.rows_returned, 2);
		assert_int_equal(stats.cells_returned, 16);
		assert_int_equal(stats.rows_examined, ROWS);
		if (*p == WC_PACKING_ROW)
			assert_int_equal(stats.cells_examined, 16);
		kit_close(&kit);
	}
}

static void
test_skipping_can_be_cancelled(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcScanStats stats;
		atomic_bool cancel = true;

		fill_many(&kit, *p);
		s = existing_rows(&kit, ROWS - 1, 0);
		assert_int_equal(first_block(&kit, &s, &stats, &cancel), WC_CANCELLED);
		assert_true(stats.rows_examined < ROWS);
		kit_close(&kit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_that_are_there_count),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_own_writes),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_cells_count),
		cmocka_unit_test(test_skipped_rows_are_not_read),
		cmocka_unit_test(test_skipping_can_be_cancelled)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
