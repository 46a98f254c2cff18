/*
 * test/unit/test_deadruns.c: scans that jump over runs of dead rows return the same rows as without jumping.
 *
 * This file defines write(), for the whole program, to look at a store's runs when RocksDB writes its log.
 */
#include "enginekit.h"
#include "random.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/store/deadruns.h"
#include "engine/store/internal.h"

#define ROWS		400
#define SNAPSHOTS	6

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

/* --- runs alone ------------------------------------------------------------------------- */

static WcSnapshot
seen_at(int64_t last_ts, uint64_t seq)
{
	return (WcSnapshot) {.last_ts = last_ts,.seq = seq};
}

/* Where a scan goes on from the row; "": there is no run for it. */
static const char *
find(WcDeadRuns *d, const char *row, int64_t last_ts, uint64_t seq)
{
	static char text[32];
	WcSnapshot	s = seen_at(last_ts, seq);
	WcBuf		to = WC_BUF_INIT;

	text[0] = '\0';
	if (wc_deadruns_find(d, kit_s(row), &s, false, &to))
		snprintf(text, sizeof(text), "%.*s", (int) to.len, (const char *) to.data);
	wc_buf_free(&to);
	return text;
}

static void
add(WcDeadRuns *d, const char *start, const char *end, int64_t last_ts, uint64_t seq)
{
	WcSnapshot	s = seen_at(last_ts, seq);

	wc_deadruns_add(d, kit_s(start), kit_s(end), &s, false);
}

static void
runs_hold_for_newer_snapshots(void **state)
{
	WcDeadRuns	d;
	WcSnapshot	s = seen_at(11, 5);
	WcBuf		to = WC_BUF_INIT;

	(void) state;
	wc_deadruns_init(&d);
	add(&d, "b", "d", 10, 5);
	assert_string_equal(find(&d, "b", 10, 5), "");	/* nobody noted writes before */
	wc_deadruns_watch(&d);
	add(&d, "b", "d", 10, 5);
	assert_string_equal(find(&d, "b", 10, 5), "d");
	assert_string_equal(find(&d, "c", 11, WC_SNAPSHOT_SEQ_UNKNOWN), "d");
	assert_string_equal(find(&d, "c", 10, WC_SNAPSHOT_SEQ_UNKNOWN), "");
	assert_string_equal(find(&d, "c", 10, 4), "");
	assert_string_equal(find(&d, "c", 9, 9), "");
	assert_string_equal(find(&d, "a", 11, 5), "");
	assert_string_equal(find(&d, "d", 11, 5), "");
	assert_true(wc_deadruns_find(&d, kit_s("c"), &s, true, &to));
	assert_true(wc_slice_eq(wc_buf_slice(&to), kit_s("b")));

	/* runs that touch become one, which holds for snapshots that both hold for */
	add(&d, "d", "f", 12, 7);
	assert_string_equal(find(&d, "b", 11, 5), "");
	assert_string_equal(find(&d, "b", 12, 7), "f");
	add(&d, "a", "c", 12, WC_SNAPSHOT_SEQ_UNKNOWN);
	assert_string_equal(find(&d, "a", 12, 7), "");
	assert_string_equal(find(&d, "a", 13, 8), "f");
	wc_deadruns_forget(&d, 13);
	assert_string_equal(find(&d, "b", 14, 9), "");
	add(&d, "a", "c", 12, 7);
	assert_string_equal(find(&d, "b", 14, 9), "");

	/* a scan with the last commit's snapshot may have begun before the runs were forgotten */
	add(&d, "a", "c", 13, 8);
	assert_string_equal(find(&d, "b", 14, 9), "");
	add(&d, "a", "c", 14, 9);
	assert_string_equal(find(&d, "b", 14, 9), "c");
	wc_buf_free(&to);
	wc_deadruns_destroy(&d);
}

static void
a_write_cuts_runs(void **state)
{
	char		long_key[100];
	WcDeadRuns	d;

	(void) state;
	memset(long_key, 'x', sizeof(long_key) - 1);
	long_key[sizeof(long_key) - 1] = '\0';
	wc_deadruns_init(&d);
	wc_deadruns_note(&d, kit_s("q"), 10);
	wc_deadruns_watch(&d);
	add(&d, "b", "f", 9, 1);
	assert_string_equal(find(&d, "b", 20, 9), "");	/* some row was written at 10 */
	add(&d, "b", "f", 10, 1);
	wc_deadruns_note(&d, kit_s("d"), 11);
	assert_string_equal(find(&d, "b", 20, 9), "d");
	assert_string_equal(find(&d, "d", 20, 9), "");
	assert_string_equal(find(&d, "e", 20, 9), "");
	wc_deadruns_note(&d, kit_s("b"), 12);
	assert_string_equal(find(&d, "b", 20, 9), "");

	/* an older snapshot does not show the writes since */
	add(&d, "d", "f", 10, 1);
	assert_string_equal(find(&d, "e", 20, 9), "");
	add(&d, "c", "f", 10, 1);
	assert_string_equal(find(&d, "c", 20, 9), "d");
	assert_string_equal(find(&d, "e", 20, 9), "");
	add(&d, "bb", "d", 10, 1);
	assert_string_equal(find(&d, "c", 20, 9), "d");
	add(&d, "b", "f", 12, 1);
	assert_string_equal(find(&d, "b", 20, 9), "f");

	/* one of a row with a long key; more than are kept */
	wc_deadruns_note(&d, kit_s(long_key), 13);
	add(&d, "g", "h", 12, 1);
	assert_string_equal(find(&d, "g", 20, 9), "");
	add(&d, "g", "h", 13, 1);
	assert_string_equal(find(&d, "g", 20, 9), "h");
	for (int i = 0; i < 300; i++)
		wc_deadruns_note(&d, kit_s("z"), 14 + i);
	add(&d, "k", "l", 20, 1);
	assert_string_equal(find(&d, "k", 1000, 9), "");
	add(&d, "k", "l", 313, 1);
	assert_string_equal(find(&d, "k", 1000, 9), "l");

	/* without scans writes are not noted for ever */
	for (int i = 0; i < 10000; i++)
		wc_deadruns_note(&d, kit_s("z"), 314 + i);
	assert_false(atomic_load(&d.active));
	assert_string_equal(find(&d, "k", 20000, 9), "");
	wc_deadruns_watch(&d);
	add(&d, "k", "l", 10312, 1);
	assert_string_equal(find(&d, "k", 20000, 9), "");
	add(&d, "k", "l", 10313, 1);
	assert_string_equal(find(&d, "k", 20000, 9), "l");
	wc_deadruns_destroy(&d);
}

/* Of a run that a reversed scan has met, what is behind the written row stays. */
static void
a_write_cuts_a_run_of_a_reversed_scan(void **state)
{
	WcDeadRuns	d;
	WcSnapshot	s = seen_at(10, 1);
	WcSnapshot	then = seen_at(20, 9);
	WcBuf		to = WC_BUF_INIT;

	(void) state;
	wc_deadruns_init(&d);
	wc_deadruns_watch(&d);
	wc_deadruns_add(&d, kit_s("b"), kit_s("f"), &s, true);
	wc_deadruns_note(&d, kit_s("b"), 11);
	wc_deadruns_note(&d, kit_s("c"), 12);
	assert_false(wc_deadruns_find(&d, kit_s("c"), &then, true, &to));
	assert_true(wc_deadruns_find(&d, kit_s("e"), &then, true, &to));
	assert_true(wc_slice_eq(wc_buf_slice(&to), wc_slice("c", 2)));	/* with its zero: the row c is behind */

	/* found by an older snapshot, which does not show the two rows */
	wc_deadruns_forget(&d, 9);
	wc_deadruns_add(&d, kit_s("b"), kit_s("f"), &s, true);
	assert_false(wc_deadruns_find(&d, kit_s("c"), &then, true, &to));
	assert_true(wc_deadruns_find(&d, kit_s("e"), &then, true, &to));
	assert_true(wc_slice_eq(wc_buf_slice(&to), wc_slice("c", 2)));

	/* from here on it is one of scans that go forward */
	assert_string_equal(find(&d, "d", 20, 9), "f");
	wc_deadruns_note(&d, kit_s("e"), 13);
	assert_string_equal(find(&d, "d", 20, 9), "e");
	assert_string_equal(find(&d, "ee", 20, 9), "");
	assert_true(wc_deadruns_find(&d, kit_s("d"), &then, true, &to));
	wc_deadruns_note(&d, kit_s("dzz"), 14);
	assert_string_equal(find(&d, "d", 20, 9), "");
	wc_buf_free(&to);
	wc_deadruns_destroy(&d);
}

/* --- scans -------------------------------------------------------------------------------- */

static WcScan
table_scan(const Kit *kit)
{
	WcScan		scan;

	wc_scan_init(&scan, kit->table);
	return scan;
}

static void
change(Kit *kit, int row, bool live)
{
	if (live)
		kit_put(kit, kit_key(row), 1, "a", KIT_LATEST, "1");
	else
		kit_delete(kit, WC_DELETE_FAMILY, kit_key(row), 1, "", KIT_LATEST);
}

/* Rows that a scan for the first living row looks at. */
static uint64_t
examined(Kit *kit, bool reversed, bool own)
{
	WcStorage  *storage = wc_engine_storage(kit->engine);
	WcReadPoint at = kit_point(kit, own);
	WcScan		scan = table_scan(kit);
	WcScanner  *scanner;
	WcBuf		block = WC_BUF_INIT;
	WcSnapshot *snapshot = wc_snapshot_take(kit->engine);
	uint64_t	n;

	at.snapshot = snapshot;
	scan.row_limit = 1;
	scan.reversed = reversed;
	assert_ok(kit, wc_scanner_open(storage, &scan, &at, &scanner, &kit->err));
	assert_int_not_equal(wc_scanner_next(scanner, &block, 1 << 16, 0, &kit->err), WC_CORRUPT);
	n = wc_scanner_rows(scanner).rows_examined;
	wc_scanner_close(scanner);
	wc_snapshot_release(kit->engine, snapshot);
	wc_buf_free(&block);
	return n;
}

/* What the scan shows of the newest state.  It has a snapshot, as all scans that jump. */
static const char *
shown(Kit *kit, const WcScan *scan)
{
	WcReadPoint at = kit_point(kit, false);
	WcSnapshot *snapshot = wc_snapshot_take(kit->engine);
	const char *text;

	at.snapshot = snapshot;
	text = kit_scan_with(kit, scan, &at);
	wc_snapshot_release(kit->engine, snapshot);
	return text;
}

static void
jump_over_dead_rows(uint8_t packing)
{
	Kit			kit;

	kit_open(&kit);
	kit_create(&kit, "t", packing, 1);
	for (int i = 0; i < ROWS; i++)
		change(&kit, i, true);
	kit_commit(&kit);
	for (int i = 0; i < ROWS; i++)
	{
		if (i < 100 || i >= ROWS - 100)
			change(&kit, i, false);
	}
	kit_commit(&kit);
	assert_int_equal(examined(&kit, false, false), 101);
	assert_in_range(examined(&kit, false, false), 1, 2);
	assert_int_equal(examined(&kit, true, false), 101);
	assert_in_range(examined(&kit, true, false), 1, 2);

	/* rows that come back one after another are the first ones that a reversed scan looks at */
	for (int i = 0; i < 10; i++)
	{
		change(&kit, ROWS - 100 + i, true);
		kit_commit(&kit);
		assert_in_range(examined(&kit, true, false), 1, 3);
	}

	/* the run grows by the rows that are deleted after it */
	for (int i = 100; i < 130; i++)
		change(&kit, i, false);
	kit_commit(&kit);
	assert_in_range(examined(&kit, false, false), 30, 32);
	assert_in_range(examined(&kit, false, false), 1, 2);

	/* an own write in the run, then committed; scans see it, and jump over the rows before it */
	change(&kit, 70, true);
	assert_ok(&kit, kit_send(&kit));
	kit.cid++;
	assert_in_range(examined(&kit, false, true), 1, 3);
	kit_commit(&kit);
	assert_in_range(examined(&kit, false, false), 1, 3);
	kit_close(&kit);
}

static void
scans_jump_over_dead_rows(void **state)
{
	(void) state;
	EACH_PACKING(packing)
		jump_over_dead_rows(*packing);
}

/* A row whose cells are not one key-value ends a run, dead or not; scans jump on both of its sides. */
static void
a_wide_row_ends_a_run(void **state)
{
	static char wide[70 * 1024];
	Kit			kit;

	(void) state;
	memset(wide, 'w', sizeof(wide) - 1);
	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	for (int i = 0; i < ROWS; i++)
		change(&kit, i, true);
	kit_put(&kit, kit_key(200), 1, "w", KIT_LATEST, wide);
	kit_commit(&kit);
	for (int i = 1; i < ROWS - 1; i++)
		change(&kit, i, false);
	kit_commit(&kit);
	for (int i = 0; i < 2; i++)
	{
		for (int reversed = 0; reversed < 2; reversed++)
		{
			WcScan		scan = table_scan(&kit);

			scan.reversed = reversed == 1;
			assert_string_equal(shown(&kit, &scan),
								scan.reversed ? "r399{f:a=1} r000{f:a=1}" : "r000{f:a=1} r399{f:a=1}");
		}
	}

	/* the living rows, the wide one, and a few of each run */
	change(&kit, 0, false);
	kit_commit(&kit);
	(void) examined(&kit, false, false);
	assert_in_range(examined(&kit, false, false), 1, 8);
	kit_close(&kit);
}

/* A row exists by any of its columns, also those that the scan does not return: the scan reads it twice for that, also
 * if it is the second dead row, and a run that was noted begins there.  The living row behind the run has a longer key. */
static void
rows_that_are_looked_at_twice_are_not_left_behind(void **state)
{
	(void) state;
	EACH_PACKING(packing)
	{
		for (int reversed = 0; reversed < 2; reversed++)
		{
			Kit			kit;
			WcScan		scan;
			WcColumn	column = {.family = 1,.qualifier = kit_s("b")};

			kit_open(&kit);
			kit_create(&kit, "t", *packing, 1);
			for (int i = 0; i < ROWS; i++)
				change(&kit, i, true);
			kit_put(&kit, reversed ? "r099z" : "r300z", 1, "a", KIT_LATEST, "1");
			kit_commit(&kit);
			for (int i = 100 + !reversed; i <= 300 - reversed; i++)
				change(&kit, i, false);
			kit_commit(&kit);
			scan = table_scan(&kit);
			(void) shown(&kit, &scan);
			change(&kit, reversed ? 300 : 100, false);
			kit_commit(&kit);
			scan.ranges = &(WcRange) {.start = kit_s("r098"),.start_inclusive = true,.stop = kit_s("r302")};
			scan.nranges = 1;
			scan.ncolumns = 1;
			scan.columns = &column;
			scan.rows_by_existence = true;
			scan.reversed = reversed == 1;
			for (int i = 0; i < 2; i++)
				assert_string_equal(shown(&kit, &scan),
									reversed ? "r301{} r099z{} r099{} r098{}" : "r098{} r099{} r300z{} r301{}");
			kit_close(&kit);
		}
	}
}

/* Scans whose time range ends before the marker show what they showed before. */
static void
scans_of_earlier_times_do_not_jump(void **state)
{
	(void) state;
	for (int keep = 0; keep < 2; keep++)
	{
		Kit			kit;
		WcScan		scan;
		WcFamilyAttrs attrs;
		char		before[ROWS * 16];

		kit_open(&kit);
		attrs = wc_family_attrs_default;
		attrs.packing = WC_PACKING_CELL;
		attrs.keep_deleted = keep == 1 ? WC_KEEP_DELETED_TRUE : WC_KEEP_DELETED_FALSE;
		kit_create_attrs(&kit, "t", &attrs);
		for (int i = 0; i < 100; i++)
			kit_put(&kit, kit_key(i), 1, "a", 10, "1");
		kit_commit(&kit);
		for (int i = 0; i < 100; i++)
			kit_delete(&kit, WC_DELETE_FAMILY, kit_key(i), 1, "", 20);
		kit_commit(&kit);
		scan = table_scan(&kit);
		scan.ts_max = 15;
		snprintf(before, sizeof(before), "%s", shown(&kit, &scan));
		assert_int_equal(examined(&kit, false, false), 100);
		assert_in_range(examined(&kit, false, false), 0, 1);
		assert_string_equal(shown(&kit, &scan), before);
		assert_int_equal(strlen(before) > 0, keep);
		kit_close(&kit);
	}
}

static void
rollback(Kit *kit)
{
	wc_txn_destroy(kit->txn);
	assert_ok(kit, wc_txn_create(KIT_DATABASE, 1 << 30, &kit->txn, &kit->err));
}

/* What the scan shows with the transaction's own writes; a filter that lets everything through keeps it from jumping. */
static const char *
shown_with_own(Kit *kit, WcScan scan, WcSnapshot *snapshot, bool jumps)
{
	WcReadPoint at = kit_point(kit, true);

	at.snapshot = snapshot;
	scan.filter_text = kit_s(jumps ? "" : "RowFilter(!=, 'binary:zzz')");
	return kit_scan_with(kit, &scan, &at);
}

/* A marker in a row that is jumped over hides an own put of an earlier time. */
static void
own_puts_behind_markers_stay_hidden(void **state)
{
	(void) state;
	EACH_PACKING(packing)
	{
		for (int reversed = 0; reversed < 2; reversed++)
		{
			WcSnapshot *snapshot;
			WcScan		scan;
			Kit			kit;

			kit_open(&kit);
			kit_create(&kit, "t", *packing, 1);
			for (int i = 1; i < 201; i++)
				change(&kit, i, true);
			kit_commit(&kit);
			for (int i = 1; i < 201; i++)
				change(&kit, i, false);
			kit_commit(&kit);
			scan = table_scan(&kit);
			scan.reversed = reversed == 1;
			assert_string_equal(shown(&kit, &scan), "");
			for (int i = 50; i < 60; i++)
				kit_put(&kit, kit_key(i), 1, "a", 7, "hidden");
			kit_put(&kit, "r055x", 1, "a", 7, "early");
			kit_put(&kit, kit_key(56), 1, "a", KIT_LATEST, "late");
			kit_put(&kit, "r000", 1, "a", 7, "early");
			kit_put(&kit, "r201", 1, "a", 7, "early");
			assert_ok(&kit, kit_send(&kit));
			kit.cid++;
			snapshot = wc_snapshot_take(kit.engine);
			assert_string_equal(shown_with_own(&kit, scan, snapshot, true),
								reversed ? "r201{f:a=early} r056{f:a=late} r055x{f:a=early} r000{f:a=early}" :
								"r000{f:a=early} r055x{f:a=early} r056{f:a=late} r201{f:a=early}");
			wc_snapshot_release(kit.engine, snapshot);
			assert_in_range(examined(&kit, reversed == 1, true), 1, 3);
			rollback(&kit);
			kit_close(&kit);
		}
	}
}

/* A filter of HBase's language may end the scan at the key of a dead row. */
static void
filters_get_the_keys_of_dead_rows(void **state)
{
	(void) state;
	EACH_PACKING(packing)
	{
		Kit			kit;
		WcScan		scan;

		kit_open(&kit);
		kit_create(&kit, "t", *packing, 1);
		for (int i = 0; i <= 100; i++)
			change(&kit, i, true);
		kit_commit(&kit);
		for (int i = 0; i < 100; i++)
			change(&kit, i, false);
		kit_commit(&kit);
		scan = table_scan(&kit);
		scan.filter_text = kit_s("WHILE RowFilter(!=, 'binary:r050')");
		assert_string_equal(shown(&kit, &scan), "");
		assert_int_equal(examined(&kit, false, false), 101);
		assert_in_range(examined(&kit, false, false), 1, 2);
		assert_string_equal(shown(&kit, &scan), "");
		kit_close(&kit);
	}
}

/* --- random histories ------------------------------------------------------------------------ */

typedef struct View
{
	WcSnapshot *snapshot;
	bool		live[ROWS];
} View;

#define RANGES_MAX	4

/* Ranges of rows, ascending, with rows between them. */
typedef struct Ranges
{
	WcRange		ranges[RANGES_MAX];
	char		keys[RANGES_MAX][2][8];
	uint32_t	n;
	bool		wanted[ROWS];	/* is the row in a range? */
} Ranges;

static void
random_ranges(Ranges *r)
{
	int			from = below(3) == 0 ? 0 : (int) below(ROWS);

	memset(r, 0, sizeof(*r));
	while (r->n == 0 || (r->n < RANGES_MAX && from < ROWS && below(3) > 0))
	{
		WcRange    *range = &r->ranges[r->n];
		int			last = below(3) == 0 ? ROWS - 1 : from + (int) below((uint32_t) (ROWS - from));

		snprintf(r->keys[r->n][0], sizeof(r->keys[r->n][0]), "%s", kit_key(from));
		snprintf(r->keys[r->n][1], sizeof(r->keys[r->n][1]), "%s", kit_key(last));
		*range = (WcRange) {.start_inclusive = true,.stop_inclusive = true};
		range->start = kit_s(r->keys[r->n][0]);
		range->stop = kit_s(r->keys[r->n][1]);
		memset(&r->wanted[from], true, (size_t) (last - from + 1));
		r->n++;
		from = last + 2 + (int) below(ROWS / 8);
	}
}

/* The living rows in the ranges, as the kit's text. */
static const char *
expected(const bool live[ROWS], const Ranges *ranges, const WcScan *scan)
{
	static char text[ROWS * 16];
	size_t		len = 0;

	text[0] = '\0';
	for (int i = 0; i < ROWS; i++)
	{
		int			row = scan->reversed ? ROWS - 1 - i : i;

		if (live[row] && ranges->wanted[row])
			len += (size_t) snprintf(text + len, sizeof(text) - len, "%s%s{%s}", len > 0 ? " " : "", kit_key(row),
									 scan->rows_by_existence ? "" : "f:a=1");
	}
	return text;
}

static void
check_view(Kit *kit, const View *view)
{
	WcReadPoint at = kit_point(kit, false);
	WcScan		scan = table_scan(kit);
	WcColumn	column = {.family = 1,.qualifier = kit_s("b")};
	Ranges		ranges;

	random_ranges(&ranges);
	at.snapshot = view->snapshot;
	scan.nranges = ranges.n;
	scan.ranges = ranges.ranges;
	scan.reversed = below(2) == 0;
	scan.rows_by_existence = below(3) == 0;
	if (scan.rows_by_existence)
	{
		/* a column that is not returned makes the row exist */
		scan.columns = &column;
		scan.ncolumns = below(2);
	}
	assert_string_equal(kit_scan_with(kit, &scan, &at), expected(view->live, &ranges, &scan));
}

/* Removes what is between braces. */
static void
without_cells(char *text)
{
	char	   *to = text;
	bool		inside = false;

	for (const char *from = text; *from != '\0'; from++)
	{
		inside = inside && *from != '}';
		if (!inside)
			*to++ = *from;
		inside = inside || *from == '{';
	}
	*to = '\0';
}

/* Own writes: puts, now and of earlier times, and deletes, also of rows beside the others. */
static void
check_own(Kit *kit, const View *view)
{
	char		without[ROWS * 32];
	WcScan		scan = table_scan(kit);
	WcColumn	column = {.family = 1,.qualifier = kit_s("b")};
	Ranges		ranges;

	for (uint32_t n = 1 + below(20); n > 0; n--)
	{
		const char *row = kit_key((int) below(ROWS));
		char		beside[16];
		uint32_t	what = below(4);

		snprintf(beside, sizeof(beside), "%s%s", row, below(3) == 0 ? "x" : "");
		if (what == 0)
			kit_delete(kit, WC_DELETE_FAMILY, beside, 1, "", KIT_LATEST);
		else
			kit_put(kit, beside, 1, "a", what == 1 ? KIT_LATEST : 1 + (int64_t) below(5), "own");
	}
	assert_ok(kit, kit_send(kit));
	kit->cid++;
	random_ranges(&ranges);
	scan.nranges = 1;			/* of more, a filter of HBase's language is refused */
	scan.ranges = ranges.ranges;
	scan.reversed = below(2) == 0;
	snprintf(without, sizeof(without), "%s", shown_with_own(kit, scan, view->snapshot, false));
	scan.rows_by_existence = below(3) == 0;
	if (scan.rows_by_existence)
	{
		scan.columns = &column;
		scan.ncolumns = below(2);
	}
	if (scan.rows_by_existence)
		without_cells(without);
	assert_string_equal(shown_with_own(kit, scan, view->snapshot, true), without);
	rollback(kit);
}

static void
change_rows(Kit *kit, bool live[ROWS])
{
	int			first = (int) below(ROWS);
	int			n = below(3) == 0 ? (int) below(250) : 1;
	bool		to = n == 1 && below(2) == 0;

	for (int i = first; i < first + n && i < ROWS; i++)
	{
		change(kit, i, to);
		live[i] = to;
	}
	kit_commit(kit);
}

static void
walk(uint8_t packing, int steps)
{
	static View views[SNAPSHOTS];
	static bool live[ROWS];
	Kit			kit;

	memset(views, 0, sizeof(views));
	memset(live, 0, sizeof(live));
	kit_open(&kit);
	kit_create(&kit, "t", packing, 1);
	kit_commit(&kit);
	for (int i = 0; i < steps; i++)
	{
		View	   *view = &views[below(SNAPSHOTS)];
		uint32_t	what = below(20);

		if (what == 0)
			kit_flush(&kit);
		else if (what < 8)
			change_rows(&kit, live);
		else if (what < 11 || view->snapshot == NULL)
		{
			wc_snapshot_release(kit.engine, view->snapshot);
			view->snapshot = wc_snapshot_take(kit.engine);
			memcpy(view->live, live, sizeof(live));
		}
		else if (what < 17)
			check_view(&kit, view);
		else
			check_own(&kit, view);
	}
	for (int i = 0; i < SNAPSHOTS; i++)
		wc_snapshot_release(kit.engine, views[i].snapshot);
	kit_close(&kit);
}

static void
random_histories(void **state)
{
	(void) state;
	for (int i = 0; i < 4; i++)
		walk(i % 2 ? WC_PACKING_ROW : WC_PACKING_CELL, 700);
}

/* --- a step ------------------------------------------------------------------------------------- */

static _Thread_local WcStore *watched;	/* NULL: none */
static int	nwritten;			/* writes of this thread while it watches a store */
static bool has_run;			/* at the first of them: does the store have a run at its first row? */

ssize_t
write(int fd, const void *data, size_t len)
{
	if (watched != NULL && fd != STDERR_FILENO && nwritten++ == 0)
		has_run = find(&watched->dead, kit_key(0), INT64_MAX, WC_SNAPSHOT_SEQ_UNKNOWN)[0] != '\0';
	return ((ssize_t (*) (int, const void *, size_t)) dlsym(RTLD_NEXT, "write")) (fd, data, len);
}

/* Scans that see what a step has written find no run from before. */
static void
runs_are_forgotten_before_a_step_is_written(void **state)
{
	Kit			kit;
	WcStep		step;

	(void) state;
	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	for (int i = 0; i < ROWS; i++)
		change(&kit, i, true);
	kit_commit(&kit);
	for (int i = 0; i < ROWS - 1; i++)
		change(&kit, i, false);
	kit_commit(&kit);
	for (int i = 0; i < 2; i++)
		(void) examined(&kit, false, false);
	watched = kit_store(&kit, 1);
	assert_string_not_equal(find(&watched->dead, kit_key(0), INT64_MAX, WC_SNAPSHOT_SEQ_UNKNOWN), "");
	step = (WcStep) {
		.kind = WC_STEP_COMPACT,.last = true,.table_id = kit.table,.family_id = 1,.generation = watched->generation,
		.now_us = kit_now,.until_ts = INT64_MAX,.dated_until_ts = INT64_MAX,.earliest_put_ts = INT64_MIN
	};
	assert_ok(&kit, wc_engine_step(kit.engine, 0, &step, &kit.err));
	watched = NULL;
	assert_int_not_equal(nwritten, 0);
	assert_false(has_run);
	kit_close(&kit);
}

/* --- beside a writer ---------------------------------------------------------------------------- */

typedef struct Beside
{
	Kit			kit;
	atomic_int	low;			/* the first living row is at least this one */
	atomic_int	high;			/* and at most this one */
	atomic_int	next;			/* rows before it were deleted */
	atomic_int	returns;		/* counts a row that comes back, and again before it goes */
	atomic_bool stop;
} Beside;

static int
least(int a, int b)
{
	return a < b ? a : b;
}

/* Readers of a queue find its first row, as it was at their snapshot. */
static void *
read_front(void *arg)
{
	Beside	   *b = arg;
	WcStorage  *storage = wc_engine_storage(b->kit.engine);

	while (!atomic_load(&b->stop))
	{
		int			returns = atomic_load(&b->returns);
		int			low = atomic_load(&b->low);
		int			high = atomic_load(&b->high);
		WcSnapshot *snapshot = wc_snapshot_take(b->kit.engine);
		WcReadPoint at = {.database = KIT_DATABASE,.snapshot = snapshot,.cid = UINT32_MAX};
		WcScan		scan = table_scan(&b->kit);
		WcBuf		block = WC_BUF_INIT;
		WcBlockReader reader;
		WcScanner  *scanner;
		WcSlice		row;
		WcCell		cell;
		uint32_t	colno;
		WcError		err;
		char		text[8] = "";

		scan.row_limit = 1;
		assert_int_equal(wc_scanner_open(storage, &scan, &at, &scanner, &err), WC_OK);
		assert_int_not_equal(wc_scanner_next(scanner, &block, 1 << 16, 0, &err), WC_CORRUPT);
		assert_int_equal(wc_block_open(&reader, wc_buf_slice(&block), &err), WC_OK);
		assert_int_equal(wc_block_next(&reader, &row, &cell, &colno), WC_BLOCK_ROW);
		snprintf(text, sizeof(text), "%.*s", (int) row.len, (const char *) row.data);
		/* a row may have come back, and gone again, between the two looks */
		low = least(low, atomic_load(&b->low));
		low = atomic_load(&b->returns) == returns ? low : 0;
		high = -least(-high, -atomic_load(&b->high));
		assert_in_range(atoi(text + 1), low, high);
		wc_scanner_close(scanner);
		wc_snapshot_release(b->kit.engine, snapshot);
		wc_buf_free(&block);
	}
	return NULL;
}

/* Deletes the first living row; the next one is behind all that were deleted. */
static void
take_row(Beside *b, int row)
{
	int			next = -least(-(row + 1), -atomic_load(&b->next));

	change(&b->kit, row, false);
	atomic_store(&b->high, next);
	kit_commit(&b->kit);
	atomic_store(&b->low, next);
	atomic_store(&b->next, next);
}

static void
a_queue_is_read_beside_its_writer(void **state)
{
	static Beside b;
	pthread_t	threads[2];

	(void) state;
	kit_open(&b.kit);
	kit_create(&b.kit, "t", WC_PACKING_ROW, 1);
	for (int i = 0; i < 999; i++)
		change(&b.kit, i, true);
	kit_commit(&b.kit);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_front, &b), 0);
	for (int i = 0; i < 900; i++)
	{
		take_row(&b, i);
		if (i % 100 != 99)
			continue;
		/* a row comes back, far behind the front, and goes again */
		change(&b.kit, i - 50, true);
		atomic_fetch_add(&b.returns, 1);
		atomic_store(&b.low, i - 50);
		kit_commit(&b.kit);
		atomic_store(&b.high, i - 50);
		atomic_fetch_add(&b.returns, 1);
		take_row(&b, i - 50);
	}
	atomic_store(&b.stop, true);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	kit_close(&b.kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_hold_for_newer_snapshots),
		cmocka_unit_test(a_write_cuts_runs),
		cmocka_unit_test(a_write_cuts_a_run_of_a_reversed_scan),
		cmocka_unit_test(scans_jump_over_dead_rows),
		cmocka_unit_test(a_wide_row_ends_a_run),
		cmocka_unit_test(rows_that_are_looked_at_twice_are_not_left_behind),
		cmocka_unit_test(scans_of_earlier_times_do_not_jump),
		cmocka_unit_test(own_puts_behind_markers_stay_hidden),
		cmocka_unit_test(filters_get_the_keys_of_dead_rows),
		cmocka_unit_test(random_histories),
		cmocka_unit_test(runs_are_forgotten_before_a_step_is_written),
		cmocka_unit_test(a_queue_is_read_beside_its_writer),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
