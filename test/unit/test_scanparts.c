/*
 * test/unit/test_scanparts.c: long scans that several threads read (read/scan/scanparts.h).
 *
 * That they return what one thread returns is also tested by each kit_scan of other tests, and by test_groups.c.
 */
#include "enginekit.h"

#include <stdio.h>

/* Two threads find what one finds, count it once, and can be cancelled. */
static void
test_two_threads_find_the_same(void **state)
{
	WcColumn	column = {.family = 1,.qualifier = wc_slice_cstr("a")};
	WcFilterColumn filtered = {.column = 0,.width = 1};
	WcSlice		value = wc_slice_cstr("1");
	WcFilterNode node = {.kind = WC_FILTER_EQ,.values = &value};
	WcFilter	filter = {.ncolumns = 1,.columns = &filtered,.nnodes = 1,.nodes = &node};
	WcScan		scan;
	Kit			kit;

	(void) state;
	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	for (int i = 0; i < 20000; i++)
	{
		char		row[16];

		snprintf(row, sizeof(row), "r%05d", i);
		kit_put(&kit, row, 1, "a", KIT_LATEST, i % 100 == 3 ? "1" : "0");
	}
	kit_commit(&kit);
	wc_scan_init(&scan, kit.table);
	scan.ncolumns = 1;
	scan.columns = &column;
	scan.rows_by_existence = true;
	scan.filter = &filter;
	scan.measured = true;
	for (int i = 0; i < 4; i++)
	{
		atomic_bool cancel = false;
		WcReadPoint at = kit_point(&kit, false);
		WcScanner  *scanner;
		WcScanStats stats;
		WcBuf		block = WC_BUF_INIT;
		WcStatus	status;

		at.cancel = &cancel;
		scan.reversed = (i & 1) != 0;
		assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &scan, &at, &scanner, &kit.err));
		kit_share(&kit, scanner, &scan, 1000);
		do
		{
			block.len = 0;
			status = wc_scanner_next(scanner, &block, 100, 0, &kit.err);
			wc_scanner_stats(scanner, &stats);
			if (stats.rows_examined > 1000)
				atomic_store(&cancel, i >= 2);
		} while (status == WC_OK);
		assert_int_equal(status, i >= 2 ? WC_CANCELLED : WC_END);
		if (i < 2)
		{
			assert_int_equal(stats.rows_returned, 200);
			assert_int_equal(stats.rows_examined, 20000);
			assert_int_equal(stats.rows_filtered, 19800);
			assert_int_equal(kit.nshared, i + 1);
		}
		wc_scanner_close(scanner);
		wc_buf_free(&block);
	}
	kit_close(&kit);
}

/* Rows that are all returned: their order, and rows that go on in the next block. */
static void
test_rows_come_in_order(void **state)
{
	static const size_t sizes[] = {1, 50, 4000, 100000};
	static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

	(void) state;
	for (int p = 0; p < 2; p++)
	{
		WcScan		scan;
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", packings[p], 1);
		for (int i = 0; i < 400; i++)
		{
			char		row[16];

			snprintf(row, sizeof(row), "r%03d", i * 7 % 400);
			kit_put(&kit, row, 1, "a", KIT_LATEST, row);
			kit_put(&kit, row, 1, "b", KIT_LATEST, "some bytes");
			kit_put(&kit, row, 2, "c", KIT_LATEST, row);
		}
		kit_commit(&kit);
		wc_scan_init(&scan, kit.table);
		for (int i = 0; i < 8; i++)
		{
			WcReadPoint at = kit_point(&kit, false);
			const char *text;

			scan.reversed = i >= 4;
			/* read by one thread, then by two: the same (enginekit.c) */
			text = kit_scan_in_blocks(&kit, &scan, &at, sizes[i % 4]);
			assert_int_equal(strncmp(text, scan.reversed ? "r399{" : "r000{", 5), 0);
		}
		assert_int_equal(kit.nshared, 8);
		kit_close(&kit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_threads_find_the_same),
		cmocka_unit_test(test_rows_come_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
