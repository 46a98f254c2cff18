/*
 * test/unit/test_copyrows.c: rows that wc_storescan_copy_rows writes are the rows that the scanner writes one by one.
 */
#include "enginekit.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A commit of some rows: puts, some of them with old timestamps or large values, and delete markers. */
static void
put_random_rows(Kit *kit)
{
	for (uint32_t n = 1 + below(20); n > 0; n--)
	{
		const char *row = kit_key((int) below(60));
		char		name[2] = {(char) ('a' + below(4)), '\0'};
		char		value[1024] = {0};

		memset(value, 'v', below(12) == 0 ? sizeof(value) - 1 : below(8));
		if (below(12) == 0)
		{
			bool		column = below(2) == 0;

			kit_delete(kit, column ? WC_DELETE_COLUMN : WC_DELETE_FAMILY, row, 1, column ? name : "", KIT_LATEST);
		}
		else
			kit_put(kit, row, 1, name, below(6) == 0 ? 1 + below(1000) : KIT_LATEST, value);
		if (below(10) == 0)
			kit_put(kit, row, 2, "x", KIT_LATEST, "1");
	}
	kit_commit(kit);
}

/* With a limit of columns the scanner writes each row itself; this limit leaves out none. */
static void
assert_copied_as_one_by_one(Kit *kit, WcScan *scan, size_t bytes)
{
	WcReadPoint at = kit_point(kit, false);
	char	   *copied = strdup(kit_scan_in_blocks(kit, scan, &at, bytes));

	scan->column_limit = UINT32_MAX;
	assert_string_equal(copied, kit_scan_in_blocks(kit, scan, &at, bytes));
	scan->column_limit = 0;
	free(copied);
}

static void
scan_randomly(Kit *kit)
{
	WcColumn	named[] = {{.family = 1, .qualifier = wc_slice_cstr("b")}, {.family = 1, .qualifier = wc_slice_cstr("d")}};
	WcColumn	whole = {.family = 1, .kind = WC_COLUMN_FAMILY};
	uint32_t	family = 1;
	char		bounds[4][16];
	WcRange		ranges[2];
	WcScan		scan;

	wc_scan_init(&scan, kit->table);
	scan.rows_by_existence = true;
	scan.nfamilies = 1;
	scan.families = &family;
	scan.ncolumns = below(3);
	scan.columns = below(3) == 0 ? &whole : named;
	if (scan.columns == &whole && scan.ncolumns > 1)
		scan.ncolumns = 1;
	for (int i = 0; i < 4; i++)
		snprintf(bounds[i], sizeof(bounds[i]), "%s", kit_key(i * 15 + (int) below(15)));
	for (int i = 0; i < 2; i++)
		ranges[i] = (WcRange) {.start = kit_s(bounds[2 * i]),.stop = kit_s(bounds[2 * i + 1]),.start_inclusive = below(2) == 0,.stop_inclusive = below(2) == 0};
	scan.nranges = below(3);
	scan.ranges = ranges;
	scan.reversed = below(3) == 0;
	scan.row_limit = below(2) == 0 ? below(40) : 0;
	scan.row_offset = below(4) == 0 ? below(20) : 0;
	scan.batch_rows = below(3) == 0 ? 1 + below(7) : 0;
	assert_copied_as_one_by_one(kit, &scan, below(2) == 0 ? 1 + below(3000) : WC_BLOCK_FIRST);
}

/* ttl_us: of the families; the clock goes on by some microseconds a commit. */
static void
random_scans(uint8_t packing, int64_t ttl_us)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;
	Kit			kit;

	attrs.packing = packing;
	attrs.ttl_us = ttl_us;
	kit_open(&kit);
	kit_create_attrs(&kit, "t", &attrs);
	for (int round = 0; round < 100; round++)
	{
		put_random_rows(&kit);
		kit_now += below(10);
		if (below(20) == 0)
			kit_flush(&kit);
		if (below(40) == 0)
			kit_compact(&kit, below(2) == 0);
		for (int i = 0; i < 4; i++)
			scan_randomly(&kit);
	}
	kit_close(&kit);
}

static void
rows_are_copied_as_they_are_written_one_by_one(void **state)
{
	random_scans(WC_PACKING_ROW, 0);
	random_scans(WC_PACKING_ROW, 200);
	random_scans(WC_PACKING_CELL, 0);
	random_scans(WC_PACKING_CELL, 200);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_copied_as_they_are_written_one_by_one)
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
