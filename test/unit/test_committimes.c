/*
 * test/unit/test_committimes.c: blocks that tell whether a row has nothing but puts with the timestamps of commits.
 */
#include "enginekit.h"

#include <string.h>

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

static void
fill(Kit *kit, uint8_t packing)
{
	kit_open(kit);
	kit_create(kit, "t", packing, 1);
	kit_put(kit, "r1", 1, "a", KIT_LATEST, "1");
	kit_put(kit, "r1", 2, "x", KIT_LATEST, "2");
	kit_put(kit, "r4", 1, "a", KIT_LATEST, "5");
	kit_put(kit, "r4", 1, "b", KIT_LATEST, "6");
	kit_commit(kit);
}

static bool
has_commit_times(Kit *kit, const WcScan *s)
{
	WcBuf		block = WC_BUF_INIT;
	WcBlockReader reader;
	WcScanner  *scanner;
	bool		has;

	(void) kit_first_block(kit, s, 1000, 0, &reader, &block, &scanner);
	has = reader.commit_times;
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	return has;
}

/* A put that is written next, without a timestamp, is visible for certain if the row has nothing but such puts. */
static void
a_block_tells_that_a_row_has_commit_times(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcColumn	column = {.family = 1, .qualifier = wc_slice_cstr("a")};
		uint32_t	families[] = {1};
		WcRange		row = {wc_slice_cstr("r1"), wc_slice_cstr("r1"), true, true};
		WcRange		both[] = {row, {wc_slice_cstr("r4"), wc_slice_cstr("r4"), true, true}};

		fill(&kit, *p);
		wc_scan_init(&s, kit.table);
		s.rows_by_existence = true;
		s.ncolumns = 1;
		s.columns = &column;
		s.nranges = 1;
		s.ranges = &row;
		assert_true(has_commit_times(&kit, &s));
		kit_put(&kit, "r1", 1, "a", KIT_LATEST, "later");
		kit_commit(&kit);
		assert_true(has_commit_times(&kit, &s));

		/* it may be that not all of them were read */
		s.nranges = 2;
		s.ranges = both;
		assert_false(has_commit_times(&kit, &s));
		s.nranges = 0;
		assert_false(has_commit_times(&kit, &s));

		/* a family without cells in the row may have delete markers there */
		s.nranges = 1;
		s.ranges = &both[1];
		assert_false(has_commit_times(&kit, &s));
		s.nfamilies = 1;
		s.families = families;
		assert_true(has_commit_times(&kit, &s));

		kit_put(&kit, "r4", 1, "c", 1000, "dated");
		kit_commit(&kit);
		assert_false(has_commit_times(&kit, &s));
		s.ranges = &row;
		assert_true(has_commit_times(&kit, &s));
		kit_delete(&kit, WC_DELETE_COLUMN, "r1", 1, "b", INT64_MAX / 2);
		kit_commit(&kit);
		assert_false(has_commit_times(&kit, &s));
		kit_close(&kit);
	}
}

/* The end of one row, and another row, are no such block. */
static void
a_block_that_continues_a_row_tells_no_times(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcColumn	columns[] = {{.family = 1, .qualifier = wc_slice_cstr("a")}, {.family = 1, .qualifier = wc_slice_cstr("b")}};
		uint32_t	families[] = {1};
		WcRange		both[] = {{wc_slice_cstr("r1"), wc_slice_cstr("r1"), true, true}, {wc_slice_cstr("r4"), wc_slice_cstr("r4"), true, true}};
		char		value[301] = {0};
		WcBuf		block = WC_BUF_INIT;
		WcBlockReader reader;
		WcScanner  *scanner;

		fill(&kit, *p);
		memset(value, 'v', 300);
		kit_put(&kit, "r1", 1, "a", KIT_LATEST, value);
		kit_put(&kit, "r1", 1, "b", KIT_LATEST, "1");
		kit_commit(&kit);
		wc_scan_init(&s, kit.table);
		s.rows_by_existence = true;
		s.nfamilies = 1;
		s.families = families;
		s.ncolumns = 2;
		s.columns = columns;
		s.nranges = 2;
		s.ranges = both;
		assert_int_equal(kit_first_block(&kit, &s, 100, 0, &reader, &block, &scanner), WC_OK);
		assert_true(reader.open && !reader.commit_times);
		wc_buf_reset(&block, SIZE_MAX);
		assert_int_equal(wc_scanner_next(scanner, &block, 100, 0, &kit.err), WC_END);
		assert_ok(&kit, wc_block_open(&reader, wc_buf_slice(&block), &kit.err));
		assert_true(reader.continues && !reader.commit_times);
		wc_scanner_close(scanner);
		wc_buf_free(&block);
		kit_close(&kit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_tells_that_a_row_has_commit_times),
		cmocka_unit_test(a_block_that_continues_a_row_tells_no_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
