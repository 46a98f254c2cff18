/*
 * test/unit/test_distinct.c: scans that return one row of those whose keys begin with the same parts.
 */
#include "enginekit.h"

#include <stdio.h>
#include <string.h>

#include "rowkey/keycheck.h"

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

/* Keys are a letter, a digit and the rest; salted: behind a byte. */
static const WcPartShape shapes[] = {
	{.kind = WC_PART_FIXED,.length = 1}, {.kind = WC_PART_FIXED,.length = 1}, {.kind = WC_PART_REST}
};
static const bool salting[] = {false, true, false};
static const WcContentCheck contents[3];

static void
describe(const Kit *kit, WcScan *scan, uint32_t nparts, bool salted, WcBuf *keys)
{
	WcKeyCheck	check = {.layout = {.nparts = 3,.parts = shapes},.contents = contents};

	if (salted)
		check.layout.salt = (WcSalt) {.buckets = 2,.parts = salting};
	wc_buf_init(keys, 1000);
	wc_keycheck_encode(keys, &check);
	wc_scan_init(scan, kit->table);
	scan->rows_by_existence = true;
	scan->distinct_parts = nparts;
	scan->distinct_keys = wc_buf_slice(keys);
}

static void
fill(Kit *kit, uint8_t packing)
{
	static const char *const rows[] = {"a0x", "a0y", "a1x", "a1y", "b0x", "b2x", "b2y", "c0", "c0x", "\xFF\xFF" "a", "\xFF\xFF" "b"};

	kit_open(kit);
	kit_create(kit, "t", packing, 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		kit_put(kit, rows[i], (uint32_t) i % 2 + 1, "q", KIT_LATEST, rows[i]);
	kit_commit(kit);
}

static void
one_row_of_each(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcBuf		keys;

		fill(&kit, *p);
		describe(&kit, &s, 1, false, &keys);
		assert_string_equal(kit_scan_as(&kit, false, &s), "a0x{} b0x{} c0{} \xFF\xFF" "a{}");
		s.reversed = true;
		assert_string_equal(kit_scan_as(&kit, false, &s), "\xFF\xFF" "b{} c0x{} b2y{} a1y{}");
		s.distinct_parts = 2;
		assert_string_equal(kit_scan_as(&kit, false, &s), "\xFF\xFF" "b{} c0x{} b2y{} b0x{} a1y{} a0y{}");
		s.reversed = false;
		assert_string_equal(kit_scan_as(&kit, false, &s), "a0x{} a1x{} b0x{} b2x{} c0{} \xFF\xFF" "a{}");
		s.row_offset = 1;
		s.row_limit = 3;
		assert_string_equal(kit_scan_as(&kit, false, &s), "a1x{} b0x{} b2x{}");
		s.reversed = true;
		assert_string_equal(kit_scan_as(&kit, false, &s), "c0x{} b2y{} b0x{}");

		/* a block for each row */
		s.row_offset = s.row_limit = 0;
		s.batch_rows = 1;
		assert_string_equal(kit_scan_as(&kit, false, &s), "\xFF\xFF" "b{} c0x{} b2y{} b0x{} a1y{} a0y{}");
		wc_buf_free(&keys);
		kit_close(&kit);
	}
}

static void
in_ranges(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcBuf		keys;
		WcRange		ranges[] = {
			{wc_slice_cstr("a0y"), wc_slice_cstr("a1x"), true, true},
			{wc_slice_cstr("a1x"), wc_slice_cstr("b2x"), false, true},
			{wc_slice_cstr("b2y"), wc_slice_cstr("c0"), true, true}
		};
		WcRange		points[] = {
			{wc_slice_cstr("a0x"), wc_slice_cstr("a0x"), true, true}, {wc_slice_cstr("a0y"), wc_slice_cstr("a0y"), true, true}
		};

		fill(&kit, *p);
		describe(&kit, &s, 1, false, &keys);
		s.nranges = 3;
		s.ranges = ranges;
		assert_string_equal(kit_scan_as(&kit, false, &s), "a0y{} b0x{} c0{}");
		s.reversed = true;
		assert_string_equal(kit_scan_as(&kit, false, &s), "c0{} b2y{} a1y{}");
		/* rows that are looked up one by one come all */
		s.nranges = 2;
		s.ranges = points;
		assert_string_equal(kit_scan_as(&kit, false, &s), "a0y{} a0x{}");
		wc_buf_free(&keys);
		kit_close(&kit);
	}
}

/* Rows that are rejected, undecided or deleted hide no others. */
static void
after_a_wanted_row_only(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcBuf		keys;
		WcColumn	columns[] = {{.family = 1,.qualifier = wc_slice_cstr("n")}};
		WcFilterColumn column = {.form = WC_FORM_SIGNED,.width = 2};
		WcSlice		value = wc_slice_cstr("\x80\x03");
		WcFilterNode nodes[] = {{.kind = WC_FILTER_EQ,.n = 1,.values = &value}};
		WcFilter	filter = {.ncolumns = 1,.columns = &column,.nnodes = 1,.nodes = nodes,.shown = 0};
		static const char *const cells[] = {
			"a0a", "\x01\x01", "a0b", "\x01\x03", "b0a", "\x01", "b0b", "\x01\x02", "b0c", "\x01\x01",
			"c0a", "\x01\x03", "c0b", "\x01", "d0a", "\x01\x03"
		};

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i += 2)
			kit_put(&kit, cells[i], 1, "n", KIT_LATEST, cells[i + 1]);
		kit_commit(&kit);
		describe(&kit, &s, 1, false, &keys);
		s.ncolumns = 1;
		s.columns = columns;
		value = wc_slice_cstr("\x81\x03");
		s.filter = &filter;
		assert_string_equal(kit_scan_as(&kit, false, &s), "a0b{} b0a{f:n=\x01} c0a{} d0a{}");
		s.reversed = true;
		assert_string_equal(kit_scan_as(&kit, false, &s), "d0a{} c0b{f:n=\x01} c0a{} b0a{f:n=\x01} a0b{}");
		s.reversed = false;
		s.row_offset = 2;
		s.row_limit = 1;
		assert_string_equal(kit_scan_as(&kit, false, &s), "b0a+1{f:n=\x01} c0a{} d0a{}");

		wc_buf_free(&keys);
		describe(&kit, &s, 1, false, &keys);
		kit_delete(&kit, WC_DELETE_FAMILY, "a0a", 1, "", KIT_LATEST);
		kit_commit(&kit);
		assert_string_equal(kit_scan_as(&kit, false, &s), "a0b{} b0a{} c0a{} d0a{}");
		wc_buf_free(&keys);
		kit_close(&kit);
	}
}

static void
own_writes(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcBuf		keys;

		fill(&kit, *p);
		kit_put(&kit, "a00", 1, "q", KIT_LATEST, "own");
		kit_put(&kit, "aa0", 1, "q", KIT_LATEST, "own");
		kit_put(&kit, "d00", 2, "q", KIT_LATEST, "own");
		kit_delete(&kit, WC_DELETE_FAMILY, "b0x", 1, "", KIT_LATEST);
		kit_delete(&kit, WC_DELETE_FAMILY, "b0x", 2, "", KIT_LATEST);
		assert_ok(&kit, kit_send(&kit));
		kit.cid++;
		describe(&kit, &s, 1, false, &keys);
		assert_string_equal(kit_scan_as(&kit, true, &s), "a00{} b2x{} c0{} d00{} \xFF\xFF" "a{}");
		assert_string_equal(kit_scan_as(&kit, false, &s), "a0x{} b0x{} c0{} \xFF\xFF" "a{}");
		s.reversed = true;
		assert_string_equal(kit_scan_as(&kit, true, &s), "\xFF\xFF" "b{} d00{} c0x{} b2y{} aa0{}");
		wc_buf_free(&keys);
		kit_close(&kit);
	}
}

/* Keys that have not these parts: the rows come, and those behind them. */
static void
keys_of_other_forms(void **state)
{
	Kit			kit;
	WcScan		s;
	WcBuf		keys;

	fill(&kit, WC_PACKING_ROW);
	kit_put(&kit, "a", 1, "q", KIT_LATEST, "short");
	kit_commit(&kit);
	describe(&kit, &s, 2, false, &keys);
	assert_string_equal(kit_scan_as(&kit, false, &s), "a{} a0x{} a1x{} b0x{} b2x{} c0{} \xFF\xFF" "a{}");
	s.distinct_parts = 3;
	assert_string_equal(kit_scan_as(&kit, false, &s), "error: invalid argument");
	s.distinct_parts = 1;
	s.distinct_keys.len--;
	assert_string_equal(kit_scan_as(&kit, false, &s), "error: corrupt");
	wc_buf_free(&keys);
	kit_close(&kit);
}

/* Each bucket has its own first row. */
static void
in_buckets(void **state)
{
	static const char *const rows[] = {"\1a0x", "\1a0y", "\1b0x", "\1b0y", "\2a1x", "\2a1y", "\2c1x", "\2c1y"};

	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcBuf		keys;
		WcRange		ranges[] = {
			{wc_slice_cstr("\1"), wc_slice_cstr("\2"), true, false}, {wc_slice_cstr("\2"), wc_slice_cstr("\3"), true, false}
		};

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			kit_put(&kit, rows[i], 1, "q", KIT_LATEST, rows[i]);
		kit_commit(&kit);
		describe(&kit, &s, 1, true, &keys);
		assert_string_equal(kit_scan_as(&kit, false, &s), "\1a0x{} \1b0x{} \2a1x{} \2c1x{}");
		s.merged = true;
		s.nranges = 2;
		s.ranges = ranges;
		assert_string_equal(kit_scan_as(&kit, false, &s), "\1a0x{} \2a1x{} \1b0x{} \2c1x{}");
		s.reversed = true;
		assert_string_equal(kit_scan_as(&kit, false, &s), "\2c1y{} \1b0y{} \2a1y{} \1a0y{}");
		wc_buf_free(&keys);
		kit_close(&kit);
	}
}

/* --- how many rows are read ----------------------------------------------------------- */

static WcScanStats
work(Kit *kit, const WcScan *scan, uint64_t returned)
{
	WcReadPoint at = kit_point(kit, false);
	WcBuf		block = WC_BUF_INIT;
	WcScanner  *scanner;
	WcScanStats stats;
	WcStatus	status;

	assert_ok(kit, wc_scanner_open(wc_engine_storage(kit->engine), scan, &at, &scanner, &kit->err));
	do
	{
		block.len = 0;
		status = wc_scanner_next(scanner, &block, 1000, 0, &kit->err);
	} while (status == WC_OK);
	assert_int_equal(status, WC_END);
	wc_scanner_stats(scanner, &stats);
	assert_int_equal(stats.rows_returned, returned);
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	return stats;
}

/* Behind many rows the scan seeks; it does not seek behind few. */
static void
seeks_if_worth_it(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcBuf		keys;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 0; i < 5 * 10 * 100; i++)
		{
			char		key[16];

			snprintf(key, sizeof(key), "%c%d%02d", 'a' + i / 1000, i / 100 % 10, i % 100);
			kit_put(&kit, key, 1, "q", KIT_LATEST, "v");
			if (i % 100 == 3)
			{
				snprintf(key, sizeof(key), "%c%dx", 'g' + i / 1000, i / 100 % 10);
				kit_put(&kit, key, 1, "q", KIT_LATEST, "v");
			}
		}
		kit_commit(&kit);
		describe(&kit, &s, 2, false, &keys);
		for (int reversed = 0; reversed <= 1; reversed++)
		{
			WcRange		range = {.start = wc_slice_cstr("g")};
			WcScanStats stats;

			s.reversed = reversed == 1;
			s.nranges = 0;
			stats = work(&kit, &s, 100);
			if (stats.rows_examined > 300 || stats.seeks > 60)
				fail_msg("%d rows examined with %d seeks", (int) stats.rows_examined, (int) stats.seeks);
			s.nranges = 1;
			s.ranges = &range;
			stats = work(&kit, &s, 50);
			if (stats.rows_examined > 50 || stats.seeks > 5)
				fail_msg("%d rows examined with %d seeks", (int) stats.rows_examined, (int) stats.seeks);
		}
		wc_buf_free(&keys);
		kit_close(&kit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_row_of_each),
		cmocka_unit_test(in_ranges),
		cmocka_unit_test(after_a_wanted_row_only),
		cmocka_unit_test(own_writes),
		cmocka_unit_test(keys_of_other_forms),
		cmocka_unit_test(in_buckets),
		cmocka_unit_test(seeks_if_worth_it),
	};

	return cmocka_run_group_tests_name("distinct", tests, NULL, NULL);
}
