/*
 * test/unit/test_scanner.c: scanners by their interface: blocks, limits, existing rows, refusals.  (test/model tests the
 * results of scans.)
 */
#include "enginekit.h"

#include <stdio.h>
#include <stdlib.h>
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
	kit_put(kit, "r2", 2, "x", KIT_LATEST, "3");
	kit_put(kit, "r3", 1, "b", KIT_LATEST, "4");
	kit_put(kit, "r4", 1, "a", KIT_LATEST, "5");
	kit_put(kit, "r4", 1, "b", KIT_LATEST, "6");
	kit_commit(kit);
}

/* --- which rows are there --------------------------------------------------*/

static void
test_rows_by_cells(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcColumn	columns[] = {{.family = 1, .qualifier = wc_slice_cstr("a")},
		{.family = 2, .kind = WC_COLUMN_FAMILY}};

		fill(&kit, *p);
		wc_scan_init(&s, kit.table);
		s.ncolumns = 1;
		s.columns = columns;
		assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:a=1} r4{f:a=5}");
		s.ncolumns = 2;
		assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:a=1 g:x=2} r2{g:x=3} r4{f:a=5}");
		s.reversed = true;
		assert_string_equal(kit_scan_as(&kit, false, &s), "r4{f:a=5} r2{g:x=3} r1{f:a=1 g:x=2}");
		kit_close(&kit);
	}
}

static void
test_rows_by_existence(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcColumn	column = {.family = 1, .qualifier = wc_slice_cstr("a")};
		uint32_t	families[] = {1};

		fill(&kit, *p);
		wc_scan_init(&s, kit.table);
		s.rows_by_existence = true;
		assert_string_equal(kit_scan_as(&kit, false, &s), "r1{} r2{} r3{} r4{}");
		s.nfamilies = 1;
		s.families = families;
		assert_string_equal(kit_scan_as(&kit, false, &s), "r1{} r3{} r4{}");
		s.ncolumns = 1;
		s.columns = &column;
		assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:a=1} r3{} r4{f:a=5}");
		s.nfamilies = 0;
		assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:a=1} r2{} r3{} r4{f:a=5}");
		/* cells of a family that does not decide do not make a row */
		column.family = 2;
		column.qualifier = wc_slice_cstr("x");
		s.nfamilies = 1;
		assert_string_equal(kit_scan_as(&kit, false, &s), "r1{g:x=2} r3{} r4{}");

		/* markers alone are no row */
		kit_delete(&kit, WC_DELETE_FAMILY, "r3", 1, "", KIT_LATEST);
		kit_delete(&kit, WC_DELETE_COLUMN, "r4", 1, "a", KIT_LATEST);
		kit_commit(&kit);
		s.ncolumns = 0;
		assert_string_equal(kit_scan_as(&kit, false, &s), "r1{} r4{}");
		kit_close(&kit);
	}
}

/* To find out that a row exists, the scan seeks it once more; its key must stay where it is. */
static void
test_existence_of_long_keys(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcColumn	column = {.family = 1, .qualifier = wc_slice_cstr("b")};
		uint32_t	family = 1;

		kit_open(&kit);
		for (size_t len = 1; len < 1200; len += 13)
		{
			WcScan		s;
			char		name[16];
			char		row[1200] = "";
			char		want[1300];

			snprintf(name, sizeof(name), "t%zu", len);
			memset(row, 'x', len);
			kit_create(&kit, name, *p, 1);
			kit_put(&kit, row, 1, "a", KIT_LATEST, "1");
			kit_delete(&kit, WC_DELETE_COLUMN, row, 1, "b", KIT_LATEST);
			kit_commit(&kit);
			wc_scan_init(&s, kit.table);
			s.rows_by_existence = true;
			s.nfamilies = 1;
			s.families = &family;
			s.ncolumns = 1;
			s.columns = &column;
			snprintf(want, sizeof(want), "%s{}", row);
			assert_string_equal(kit_scan_as(&kit, false, &s), want);
		}
		kit_close(&kit);
	}
}

static void
test_ttl_of_rows(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcFamilyAttrs attrs = wc_family_attrs_default;
		WcReadPoint at;
		WcScan		s;
		int64_t		now = kit_now;

		attrs.packing = *p;
		attrs.ttl_us = 10 * WC_USEC_PER_SEC;
		kit_now = 1000 * WC_USEC_PER_SEC;
		kit_open(&kit);
		kit_create_attrs(&kit, "t", &attrs);
		kit_put(&kit, "old", 1, "a", KIT_LATEST, "1");
		kit_commit(&kit);
		kit_now += 8 * WC_USEC_PER_SEC;
		kit_put(&kit, "young", 1, "a", KIT_LATEST, "2");
		kit_commit(&kit);
		at = kit_point(&kit, false);
		wc_scan_init(&s, kit.table);
		assert_string_equal(kit_scan_with(&kit, &s, &at), "old{f:a=1} young{f:a=2}");
		at.clock_offset_us = 5 * WC_USEC_PER_SEC;
		assert_string_equal(kit_scan_with(&kit, &s, &at), "young{f:a=2}");
		s.rows_by_existence = true;
		assert_string_equal(kit_scan_with(&kit, &s, &at), "young{}");
		at.clock_offset_us = 20 * WC_USEC_PER_SEC;
		assert_string_equal(kit_scan_with(&kit, &s, &at), "");
		kit_close(&kit);
		kit_now = now;
	}
}

/* --- blocks ---------------------------------------------------------------*/

/* A point read's first block says that it was all; so does a row limit's. */
static void
test_end_is_said_at_once(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcRange		point = {wc_slice_cstr("r1"), wc_slice_cstr("r1"), true, true};
		WcRange		absent = {wc_slice_cstr("r11"), wc_slice_cstr("r11"), true, true};
		WcBuf		block = WC_BUF_INIT;
		WcBlockReader reader;
		WcScanner  *scanner;

		fill(&kit, *p);
		wc_scan_init(&s, kit.table);
		s.nranges = 1;
		s.ranges = &point;
		assert_int_equal(kit_first_block(&kit, &s, 4096, 0, &reader, &block, &scanner), WC_END);
		assert_true(reader.end);
		wc_scanner_close(scanner);
		s.ranges = &absent;
		block.len = 0;
		assert_int_equal(kit_first_block(&kit, &s, 4096, 0, &reader, &block, &scanner), WC_END);
		assert_true(reader.end);
		wc_scanner_close(scanner);
		wc_scan_init(&s, kit.table);
		s.row_limit = 2;
		block.len = 0;
		assert_int_equal(kit_first_block(&kit, &s, 4096, 2, &reader, &block, &scanner), WC_END);
		wc_scanner_close(scanner);
		block.len = 0;
		s.row_limit = 0;
		assert_int_equal(kit_first_block(&kit, &s, 4096, 2, &reader, &block, &scanner), WC_OK);
		assert_false(reader.end);
		wc_scanner_close(scanner);
		wc_buf_free(&block);
		kit_close(&kit);
	}
}

#define POINTS 100

/* Many single rows: some are missing, some large; forward, reversed, with own writes. */
static void
test_many_single_rows(void **state)
{
	static char large[70001];

	memset(large, 'x', sizeof(large) - 1);
	EACH_PACKING(p)
	{
		Kit			kit;
		char		keys[POINTS][8];
		WcRange		ranges[POINTS];

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 0; i < POINTS; i++)
		{
			snprintf(keys[i], sizeof(keys[i]), "r%02d", i);
			if (i % 3 != 0)
				kit_put(&kit, keys[i], 1, "a", KIT_LATEST, i % 10 == 4 ? large : keys[i]);
		}
		kit_commit(&kit);
		kit_put(&kit, "r33", 1, "a", KIT_LATEST, "own");
		kit_delete(&kit, WC_DELETE_FAMILY, "r35", 1, "", KIT_LATEST);
		assert_ok(&kit, kit_send(&kit));
		kit.cid++;
		for (int variant = 0; variant < 8; variant++)
		{
			bool		reversed = (variant & 1) != 0;
			bool		own = (variant & 2) != 0;
			int			stride = (variant & 4) != 0 ? 2 : 1;
			uint32_t	n = 0;
			WcReadPoint at = kit_point(&kit, own);
			WcScanner  *scanner;
			WcBuf		block = WC_BUF_INIT;
			WcStatus	status;
			int			expected = reversed ? POINTS - 1 : 0;
			int			rows = 0;
			WcScan		s;

			for (int i = (stride - 1) & 1; i < POINTS; i += stride)
				ranges[n++] = (WcRange) {kit_s(keys[i]), kit_s(keys[i]), true, true};
			wc_scan_init(&s, kit.table);
			s.ranges = ranges;
			s.nranges = n;
			s.reversed = reversed;
			assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &s, &at, &scanner, &kit.err));
			do
			{
				WcBlockReader reader;
				WcBlockEntry entry;
				WcSlice		row;
				WcCell		cell;
				uint32_t	colno;

				block.len = 0;
				status = wc_scanner_next(scanner, &block, 5000, 0, &kit.err);
				assert_true(status == WC_OK || status == WC_END);
				assert_ok(&kit, wc_block_open(&reader, wc_buf_slice(&block), &kit.err));
				while ((entry = wc_block_next(&reader, &row, &cell, &colno)) != WC_BLOCK_DONE)
				{
					if (entry == WC_BLOCK_ROW)
					{
						int			i = atoi((const char[]){(char) row.data[1], (char) row.data[2], 0});

						/* every row in its turn, but for those that are not there */
						for (; expected != i; expected += reversed ? -1 : 1)
							assert_true((stride == 2 && expected % 2 == 0) ||
										(expected % 3 == 0 && !(own && expected == 33)) || (own && expected == 35));
						expected += reversed ? -1 : 1;
						rows++;
					}
					else
					{
						int			i = expected + (reversed ? 1 : -1);

						assert_int_equal(entry, WC_BLOCK_CELL);
						assert_int_equal(cell.value.len, i % 10 == 4 ? 70000 : 3);
					}
				}
			} while (status == WC_OK);
			/* of its own one is new, one is gone */
			assert_int_equal(rows, stride == 2 ? 33 : 66);
			wc_scanner_close(scanner);
			wc_buf_free(&block);
		}
		kit_close(&kit);
	}
}

/* Columns that are named come once each, in the order of their names, wherever blocks end. */
static void
test_named_columns_over_blocks(void **state)
{
	static const char *const names[] = {"c", "x", "a", "e", "b", "aa"};

	EACH_PACKING(p)
	{
		for (size_t target = 0; target < 40; target++)
		{
			Kit			kit;
			WcColumn	columns[6];
			WcScan		s;
			WcReadPoint at;

			kit_open(&kit);
			kit_create(&kit, "t", *p, 1);
			for (int row = 0; row < 3; row++)
			{
				for (int i = 0; i < 5; i++)
					if (row != 1 || i % 2 == 0)
						kit_put(&kit, row == 0 ? "q" : row == 1 ? "r" : "s", 1, (const char *[]){"a", "b", "c", "d", "e"}[i],
								KIT_LATEST, (const char *[]){"1", "22", "", "4", "55555"}[i]);
			}
			kit_commit(&kit);
			for (int i = 0; i < 6; i++)
				columns[i] = (WcColumn){.family = 1,.kind = WC_COLUMN_EXACT,.qualifier = kit_s(names[i])};
			at = kit_point(&kit, false);
			wc_scan_init(&s, kit.table);
			s.rows_by_existence = target % 2 == 0;
			s.columns = columns;
			s.ncolumns = 6;
			assert_string_equal(kit_scan_in_blocks(&kit, &s, &at, target),
								"q{f:a=1 f:b=22 f:c= f:e=55555} r{f:a=1 f:c= f:e=55555} s{f:a=1 f:b=22 f:c= f:e=55555}");
			kit_close(&kit);
		}
	}
}

/* Of rows that are nothing but puts the newest of each column is read, as of rows with markers. */
static void
test_superseded_cells(void **state)
{
	static const WcColumnKind kinds[] = {WC_COLUMN_EXACT, WC_COLUMN_EXACT, WC_COLUMN_PREFIX};
	static const char *const names[] = {"c", "b", "c"};

	EACH_PACKING(p)
	{
		for (int versions = 1; versions <= 3; versions++)
		{
			Kit			kit;
			WcColumn	columns[3];
			WcScan		s;
			WcReadPoint at;

			kit_open(&kit);
			kit_create(&kit, "t", *p, (uint32_t) versions);
			for (int i = 0; i < 3; i++)
			{
				const char *value = (const char *[]){"old", "", "new"}[i];

				/* nothing decides in p; in m do markers; l has older timestamps that come later */
				kit_put(&kit, "p", 1, "b", KIT_LATEST, value);
				kit_put(&kit, "p", 1, "c", KIT_LATEST, value);
				kit_put(&kit, "m", 1, "b", KIT_LATEST, value);
				kit_put(&kit, "m", 1, "c", KIT_LATEST, value);
				kit_put(&kit, "l", 1, "b", 30 - i, value);
				if (i == 1)
					kit_delete(&kit, WC_DELETE_COLUMN, "m", 1, "b", KIT_LATEST);
				if (i == 0)
					for (int k = 0; k < 3; k++)
						kit_put(&kit, "p", 1, (const char *[]){"", "a", "d"}[k], KIT_LATEST, "once");
				kit_commit(&kit);
			}
			kit_delete(&kit, WC_DELETE_COLUMN, "m", 1, "c", KIT_LATEST);
			kit_put(&kit, "p", 1, "cc", KIT_LATEST, "last");
			kit_commit(&kit);

			at = kit_point(&kit, false);
			for (int flushed = 0; flushed < 2; flushed++)
			{
				for (size_t target = 0; target < 30; target++)
				{
					wc_scan_init(&s, kit.table);
					assert_string_equal(kit_scan_in_blocks(&kit, &s, &at, target),
										"l{f:b=old} m{f:b=new} p{f:=once f:a=once f:b=new f:c=new f:cc=last f:d=once}");
					for (int i = 0; i < 3; i++)
						columns[i] = (WcColumn){.family = 1,.kind = kinds[i],.qualifier = kit_s(names[i])};
					s.columns = columns;
					s.ncolumns = 2;
					s.rows_by_existence = target % 2 == 0;
					assert_string_equal(kit_scan_in_blocks(&kit, &s, &at, target), "l{f:b=old} m{f:b=new} p{f:b=new f:c=new}");
					s.columns = &columns[1];
					assert_string_equal(kit_scan_in_blocks(&kit, &s, &at, target), "l{f:b=old} m{f:b=new} p{f:b=new f:c=new f:cc=last}");
				}
				wc_scan_init(&s, kit.table);
				s.column_offset = 2;
				s.column_limit = 2;
				assert_string_equal(kit_scan_as(&kit, false, &s), "p{f:b=new f:c=new}");
				s.column_offset = 0;
				s.column_limit = 0;
				s.ts_max = 30;
				/* with one version the store need not have it any more */
				if (versions > 1)
					assert_string_equal(kit_scan_as(&kit, false, &s), "l{f:b=}");
				kit_flush(&kit);
			}
			kit_close(&kit);
		}
	}
}

/* A row that is larger than a block goes on in the next, cell by cell. */
static void
test_row_over_blocks(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		char		value[2001];
		WcScan		s;
		WcReadPoint at;
		WcScanner  *scanner;
		WcBuf		block = WC_BUF_INIT;
		int			ncells = 0;
		int			nrows = 0;
		WcStatus	status;

		memset(value, 'v', 2000);
		value[2000] = '\0';
		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 0; i < 10; i++)
		{
			char		qualifier[16];

			snprintf(qualifier, sizeof(qualifier), "q%d", i);
			kit_put(&kit, "r", 1 + (uint32_t) i % 2, qualifier, KIT_LATEST, value);
		}
		kit_commit(&kit);
		at = kit_point(&kit, false);
		wc_scan_init(&s, kit.table);
		assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &s, &at, &scanner, &kit.err));
		do
		{
			WcBlockReader reader;
			WcBlockEntry entry;
			WcSlice		row;
			WcCell		cell;
			uint32_t	colno;

			block.len = 0;
			status = wc_scanner_next(scanner, &block, 3000, 0, &kit.err);
			assert_true(block.len < 6000);
			assert_ok(&kit, wc_block_open(&reader, wc_buf_slice(&block), &kit.err));
			assert_int_equal(reader.continues, ncells > 0 && ncells < 10);
			assert_int_equal(reader.open, ncells + 2 < 10);
			while ((entry = wc_block_next(&reader, &row, &cell, &colno)) != WC_BLOCK_DONE)
			{
				assert_int_not_equal(entry, WC_BLOCK_CORRUPT);
				if (entry == WC_BLOCK_CELL)
					assert_int_equal(cell.value.len, 2000);
				nrows += entry == WC_BLOCK_ROW;
				ncells += entry == WC_BLOCK_CELL;
			}
		} while (status == WC_OK);
		assert_int_equal(status, WC_END);
		assert_int_equal(nrows, 1);
		assert_int_equal(ncells, 10);
		wc_scanner_close(scanner);
		wc_buf_free(&block);
		kit_close(&kit);
	}
}

/* --- what a scan does not do ------------------------------------------------*/

static void
test_refusals(void **state)
{
	Kit			kit;
	WcScan		s;
	WcColumn	column = {.family = 9, .kind = WC_COLUMN_FAMILY};
	uint32_t	family = 9;

	fill(&kit, WC_PACKING_CELL);
	wc_scan_init(&s, kit.table + 1);
	assert_string_equal(kit_scan_as(&kit, false, &s), "error: no such table");
	wc_scan_init(&s, kit.table);
	s.ncolumns = 1;
	s.columns = &column;
	assert_string_equal(kit_scan_as(&kit, false, &s), "error: no such family");
	s.ncolumns = 0;
	s.rows_by_existence = true;
	s.nfamilies = 1;
	s.families = &family;
	assert_string_equal(kit_scan_as(&kit, false, &s), "error: no such family");
	kit_close(&kit);
}

static void
test_cancel(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		atomic_bool cancel = false;
		WcReadPoint at;
		WcScan		s;
		WcScanner  *scanner;
		WcBuf		block = WC_BUF_INIT;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 0; i < 4 * WC_CANCEL_CELLS; i++)
		{
			char		row[16];

			snprintf(row, sizeof(row), "%06d", i);
			kit_put(&kit, row, 1, "a", KIT_LATEST, "v");
		}
		kit_commit(&kit);
		at = kit_point(&kit, false);
		at.cancel = &cancel;
		wc_scan_init(&s, kit.table);
		assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &s, &at, &scanner, &kit.err));
		assert_int_equal(wc_scanner_next(scanner, &block, 100, 0, &kit.err), WC_OK);
		atomic_store(&cancel, true);
		assert_int_equal(wc_scanner_next(scanner, &block, SIZE_MAX, 0, &kit.err), WC_CANCELLED);
		wc_scanner_close(scanner);
		wc_buf_free(&block);
		kit_close(&kit);
	}
}

/* Asking whether rows are there reads no cells where the packing allows; a point
 * read is one seek; a scan with a limit looks at no more than it needs. */
static void
test_work_done(void **state)
{
	Kit			kit;
	WcScan		s;
	WcRange		point = {wc_slice_cstr("r1"), wc_slice_cstr("r1"), true, true};
	WcColumn	column = {.family = 1, .kind = WC_COLUMN_FAMILY};
	WcBuf		block = WC_BUF_INIT;
	WcBlockReader reader;
	WcScanner  *scanner;
	WcScanStats stats;

	fill(&kit, WC_PACKING_ROW);
	wc_scan_init(&s, kit.table);
	s.rows_by_existence = true;
	assert_int_equal(kit_first_block(&kit, &s, 4096, 0, &reader, &block, &scanner), WC_END);
	wc_scanner_stats(scanner, &stats);
	assert_int_equal(stats.rows_returned, 4);
	assert_int_equal(stats.cells_returned, 0);
	assert_int_equal(stats.cells_examined, 0);
	wc_scanner_close(scanner);

	wc_scan_init(&s, kit.table);
	s.nranges = 1;
	s.ranges = &point;
	s.ncolumns = 1;
	s.columns = &column;
	block.len = 0;
	assert_int_equal(kit_first_block(&kit, &s, 4096, 0, &reader, &block, &scanner), WC_END);
	wc_scanner_stats(scanner, &stats);
	assert_int_equal(stats.rows_returned, 1);
	assert_int_equal(stats.cells_returned, 1);
	assert_int_equal(stats.seeks, 1);
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	kit_close(&kit);
}

/* Rows that are deleted are looked at, too; blocks are counted of all scans. */
static void
test_measured(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcReadPoint at;
		WcBuf		block = WC_BUF_INIT;
		WcBlockReader reader;
		WcScanner  *scanner;
		WcScanStats stats[3];
		WcError		err;

		fill(&kit, *p);
		kit_delete(&kit, WC_DELETE_FAMILY, "r3", 1, "", KIT_LATEST);
		kit_commit(&kit);
		at = kit_point(&kit, false);
		assert_int_equal(wc_engine_flush(kit.engine, kit.table, &at, &err), WC_OK);
		for (int i = 0; i < 3; i++)
		{
			wc_scan_init(&s, kit.table);
			s.measured = i > 0;
			block.len = 0;
			assert_int_equal(kit_first_block(&kit, &s, 4096, 0, &reader, &block, &scanner), WC_END);
			wc_scanner_stats(scanner, &stats[i]);
			wc_scanner_close(scanner);
			assert_int_equal(stats[i].rows_returned, 3);
			assert_int_equal(stats[i].rows_examined, 4);
		}
		assert_true(stats[0].cache_hits + stats[0].blocks_read > 0);
		assert_true(stats[1].cache_hits + stats[1].blocks_read > 0);
		assert_true(stats[2].cache_hits > 0);
		assert_int_equal(stats[2].blocks_read, 0);
		wc_buf_free(&block);
		kit_close(&kit);
	}
}

/* Merged lanes: each family is sought once a lane, and no row is looked at but
 * those that are given. */
static void
test_page_over_lanes(void **state)
{
	EACH_PACKING(p)
	{
		enum
		{
			LANES = 16, ROWS = 50, PAGE = 10
		};
		Kit			kit;
		WcScan		s;
		WcRange		ranges[LANES];
		char		starts[LANES][8];
		char		stops[LANES][2];
		WcBuf		block = WC_BUF_INIT;
		WcBlockReader reader;
		WcScanner  *scanner;
		WcScanStats stats;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 0; i < LANES * ROWS; i++)
		{
			char		row[16];

			snprintf(row, sizeof(row), "%c%04d", 'a' + (i * 7) % LANES, i);
			kit_put(&kit, row, 1, "a", KIT_LATEST, "v");
		}
		kit_commit(&kit);
		for (int i = 0; i < LANES; i++)
		{
			snprintf(starts[i], sizeof(starts[i]), "%c0123", 'a' + i);
			snprintf(stops[i], sizeof(stops[i]), "%c", 'b' + i);
			ranges[i] = (WcRange) {wc_slice_cstr(starts[i]), wc_slice_cstr(stops[i]), false, false};
		}
		for (int reversed = 0; reversed <= 1; reversed++)
		{
			WcSlice		row;
			WcCell		cell;
			uint32_t	colno;

			wc_scan_init(&s, kit.table);
			s.nranges = LANES;
			s.ranges = ranges;
			s.merged = true;
			s.reversed = reversed == 1;
			s.row_limit = PAGE;
			block.len = 0;
			assert_int_equal(kit_first_block(&kit, &s, 4096, 0, &reader, &block, &scanner), WC_END);
			for (int i = 0; i < PAGE; i++)
			{
				char		number[8];

				assert_int_equal(wc_block_next(&reader, &row, &cell, &colno), WC_BLOCK_ROW);
				snprintf(number, sizeof(number), "%04d", reversed ? LANES * ROWS - 1 - i : 124 + i);
				assert_int_equal(row.len, 5);
				assert_memory_equal(row.data + 1, number, 4);
				assert_int_equal(wc_block_next(&reader, &row, &cell, &colno), WC_BLOCK_CELL);
			}
			assert_int_equal(wc_block_next(&reader, &row, &cell, &colno), WC_BLOCK_DONE);
			wc_scanner_stats(scanner, &stats);
			assert_int_equal(stats.rows_returned, PAGE);
			assert_int_equal(stats.cells_examined, PAGE);
			/* two families; backward, packing "cell" seeks each row's first cell as well */
			assert_true(stats.seeks <= (*p == WC_PACKING_CELL && reversed ? 2 : 1) * (2 * LANES + PAGE));
			wc_scanner_close(scanner);
		}
		wc_buf_free(&block);
		kit_close(&kit);
	}
}

/* A scanner sees the rows as they were when it was opened, without later commands of its own transaction. */
static void
test_reads_a_moment(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcReadPoint at;
		WcScanner  *scanner;
		WcBuf		block = WC_BUF_INIT;
		WcBlockReader reader;
		WcSlice		row;
		WcCell		cell;
		uint32_t	colno;
		int			nrows = 0;
		WcBlockEntry entry;
		WcStatus	status;

		fill(&kit, *p);
		kit_put(&kit, "r0", 1, "a", KIT_LATEST, "own");
		assert_ok(&kit, kit_send(&kit));
		kit.cid = 2;
		at = kit_point(&kit, true);
		wc_scan_init(&s, kit.table);
		assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &s, &at, &scanner, &kit.err));
		for (int i = 0; i < 10; i++)
		{
			char		name[16];

			snprintf(name, sizeof(name), "r0%d", i);
			kit_put(&kit, name, 1, "a", KIT_LATEST, "later");
		}
		assert_ok(&kit, kit_send(&kit));
		do
		{
			block.len = 0;
			status = wc_scanner_next(scanner, &block, 10, 0, &kit.err);
			assert_ok(&kit, wc_block_open(&reader, wc_buf_slice(&block), &kit.err));
			while ((entry = wc_block_next(&reader, &row, &cell, &colno)) != WC_BLOCK_DONE)
				nrows += entry == WC_BLOCK_ROW;
		} while (status == WC_OK);
		assert_int_equal(status, WC_END);
		assert_int_equal(nrows, 5);
		wc_scanner_close(scanner);
		wc_buf_free(&block);
		kit_close(&kit);
	}
}

/* --- the filter on timestamps ------------------------------------------------*/

/* Versions 10 .. 40 of two columns (one has no name), three kept; a marker
 * of the family hides the older cells of all columns. */
static void
fill_versions(Kit *kit, uint8_t packing, uint32_t versions)
{
	kit_open(kit);
	kit_create(kit, "t", packing, versions);
	for (int64_t ts = 10; ts <= 40; ts += 10)
	{
		char		value[2] = {(char) ('0' + ts / 10), 0};

		kit_put(kit, "r1", 1, "", ts, value);
		kit_put(kit, "r1", 1, "a", ts, value);
	}
	kit_put(kit, "r1", 2, "z", 25, "z");
	kit_put(kit, "r2", 1, "b", 15, "b");
	kit_delete(kit, WC_DELETE_FAMILY, "r2", 1, "", 12);
	kit_put(kit, "r2", 1, "c", 11, "hidden");
	kit_commit(kit);
}

static const char *
scan_filtered(Kit *kit, int64_t min, int64_t max, uint32_t versions)
{
	WcScan		s;

	wc_scan_init(&s, kit->table);
	s.versions = versions;
	s.want_ts = true;
	s.filter_ts_min = min;
	s.filter_ts_max = max;
	return kit_scan_as(kit, false, &s);
}

static void
test_filter_on_timestamps(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;

		fill_versions(&kit, *p, 3);
		assert_string_equal(scan_filtered(&kit, 0, KIT_LATEST, 9),
							"r1{f:@40=4 f:@30=3 f:@20=2 f:a@40=4 f:a@30=3 f:a@20=2 g:z@25=z} r2{f:b@15=b}");
		assert_string_equal(scan_filtered(&kit, 20, 30, 9), "r1{f:@20=2 f:a@20=2 g:z@25=z}");
		assert_string_equal(scan_filtered(&kit, 30, KIT_LATEST, 9), "r1{f:@40=4 f:@30=3 f:a@40=4 f:a@30=3}");
		assert_string_equal(scan_filtered(&kit, 0, 20, 9), "r2{f:b@15=b}");

		/* the fourth version is hidden by three others, whether these pass or not */
		assert_string_equal(scan_filtered(&kit, 10, 11, 9), "");
		/* and of one version that is the newest */
		assert_string_equal(scan_filtered(&kit, 20, 31, 1), "r1{g:z@25=z}");
		assert_string_equal(scan_filtered(&kit, 20, 20, 9), "");

		/* limits count what passes */
		wc_scan_init(&s, kit.table);
		s.versions = 9;
		s.filter_ts_max = 40;
		s.column_limit = 1;
		s.row_limit = 1;
		assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:=3 g:z=z}");
		s.column_offset = 1;
		assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:=2}");
		kit_close(&kit);
	}
}

static void
test_filter_on_timestamps_of_rows_with_one_version(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScan		s;
		WcColumn	column = {.family = 1, .qualifier = wc_slice_cstr("a")};

		fill(&kit, *p);
		kit_put(&kit, "r5", 1, "a", 77, "7");
		kit_put(&kit, "r5", 1, "b", 88, "8");
		kit_commit(&kit);
		assert_string_equal(scan_filtered(&kit, 77, 78, 1), "r5{f:a@77=7}");
		assert_string_equal(scan_filtered(&kit, 0, 100, 1), "r5{f:a@77=7 f:b@88=8}");
		wc_scan_init(&s, kit.table);
		s.ncolumns = 1;
		s.columns = &column;
		s.filter_ts_min = 78;
		assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:a=1} r4{f:a=5}");
		kit_close(&kit);
	}
}

static void
test_filter_on_timestamps_of_raw_scans(void **state)
{
	Kit			kit;
	WcScan		s;

	fill_versions(&kit, WC_PACKING_CELL, 3);
	wc_scan_init(&s, kit.table);
	s.raw = true;
	s.want_ts = true;
	s.versions = 9;
	s.filter_ts_max = 20;
	assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:@10=1 f:a@10=1} r2{f:@12/DeleteFamily f:b@15=b f:c@11=hidden}");
	s.filter_ts_min = 12;
	assert_string_equal(kit_scan_as(&kit, false, &s), "r2{f:@12/DeleteFamily f:b@15=b}");
	kit_close(&kit);
}

/* --- versions beyond those that the family keeps ------------------------------*/

static void
test_uncapped(void **state)
{
	EACH_PACKING(p)
	{
		bool		cells = *p == WC_PACKING_CELL;	/* packing row has dropped the others when they were written */
		Kit			kit;
		WcScan		s;

		fill_versions(&kit, *p, 1);
		wc_scan_init(&s, kit.table);
		s.versions = 9;
		s.want_ts = true;
		assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:@40=4 f:a@40=4 g:z@25=z} r2{f:b@15=b}");
		s.uncapped = true;
		assert_string_equal(kit_scan_as(&kit, false, &s), cells ?
							"r1{f:@40=4 f:@30=3 f:@20=2 f:@10=1 f:a@40=4 f:a@30=3 f:a@20=2 f:a@10=1 g:z@25=z} r2{f:b@15=b}" :
							"r1{f:@40=4 f:a@40=4 g:z@25=z} r2{f:b@15=b}");
		s.versions = 2;
		assert_string_equal(kit_scan_as(&kit, false, &s), cells ?
							"r1{f:@40=4 f:@30=3 f:a@40=4 f:a@30=3 g:z@25=z} r2{f:b@15=b}" :
							"r1{f:@40=4 f:a@40=4 g:z@25=z} r2{f:b@15=b}");
		kit_close(&kit);
	}
}

/* Blocks end between rows, unless a row is long beside the block. */
static void
rows_are_not_cut(void **state)
{
	for (size_t p = 0; p < 2; p++)
	{
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", packings[p], 1);
		for (int i = 0; i < 120; i++)
		{
			char		row[8];
			char		value[601] = {0};

			/* ten cells of 10 bytes, and in some rows one of 600 */
			snprintf(row, sizeof(row), "r%03d", i);
			memset(value, 'v', i % 40 == 39 ? 600 : 10);
			for (char q = 'a'; q < 'k'; q++)
				kit_put(&kit, row, 1, (char[]) {q, 0}, KIT_LATEST, q == 'a' ? value : "0123456789");
		}
		kit_commit(&kit);
		for (size_t target = 1000; target <= 64000; target *= 8)
		{
			WcScan		scan;
			WcReadPoint at = kit_point(&kit, false);
			WcScanner  *scanner;
			WcBlockReader reader;
			WcBuf		block = WC_BUF_INIT;
			WcStatus	status;
			int			ncut = 0;

			wc_scan_init(&scan, kit.table);
			assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &scan, &at, &scanner, &kit.err));
			do
			{
				wc_buf_reset(&block, SIZE_MAX);
				status = wc_scanner_next(scanner, &block, target, 0, &kit.err);
				assert_true(status == WC_OK || status == WC_END);
				assert_in_range(block.len, 1, target + target / 4 + 620);
				assert_ok(&kit, wc_block_open(&reader, wc_buf_slice(&block), &kit.err));
				ncut += reader.open;
			} while (status == WC_OK);
			assert_in_range(ncut, 0, target == 1000 ? 3 : 0);
			wc_scanner_close(scanner);
			wc_buf_free(&block);
		}
		kit_close(&kit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_not_cut),
		cmocka_unit_test(test_rows_by_cells),
		cmocka_unit_test(test_rows_by_existence),
		cmocka_unit_test(test_existence_of_long_keys),
		cmocka_unit_test(test_ttl_of_rows),
		cmocka_unit_test(test_end_is_said_at_once),
		cmocka_unit_test(test_many_single_rows),
		cmocka_unit_test(test_named_columns_over_blocks),
		cmocka_unit_test(test_superseded_cells),
		cmocka_unit_test(test_row_over_blocks),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_work_done),
		cmocka_unit_test(test_measured),
		cmocka_unit_test(test_page_over_lanes),
		cmocka_unit_test(test_reads_a_moment),
		cmocka_unit_test(test_filter_on_timestamps),
		cmocka_unit_test(test_filter_on_timestamps_of_rows_with_one_version),
		cmocka_unit_test(test_filter_on_timestamps_of_raw_scans),
		cmocka_unit_test(test_uncapped)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
