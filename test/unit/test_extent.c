/*
 * test/unit/test_extent.c: extents of rows and ranges, with random keys.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/batch.h"
#include "model/extent.h"
#include "random.h"

/* Short keys of few different bytes, so that prefixes, equal keys and the edges of numbers are frequent. */
static WcSlice
random_key(uint8_t *bytes)
{
	static const uint8_t some[] = {0, 1, 0x7F, 0xFE, 0xFF};
	size_t		len = 1 + below(10);

	for (size_t i = 0; i < len; i++)
		bytes[i] = i < 7 && below(3) > 0 ? bytes[0] : some[below(5)];
	return wc_slice(bytes, len);
}

typedef struct Case
{
	uint8_t		keys[3][16];
	WcSlice		row;
	WcRange		range;
} Case;

/* Either bound may be missing; of two keys the lesser one is the start. */
static void
make(Case *c)
{
	WcSlice		a = random_key(c->keys[0]);
	WcSlice		b = random_key(c->keys[1]);
	bool		swap = wc_slice_cmp(a, b) > 0;

	c->row = random_key(c->keys[2]);
	c->range = (WcRange) {swap ? b : a, swap ? a : b, below(2) == 0, below(2) == 0};
	if (below(5) == 0)
		c->range.start.len = 0;
	if (below(5) == 0)
		c->range.stop.len = 0;
}

static bool
has(const WcRange *range, WcSlice row)
{
	int			above = range->start.len > 0 ? wc_slice_cmp(row, range->start) : 1;
	int			below_stop = range->stop.len > 0 ? wc_slice_cmp(range->stop, row) : 1;

	return (above > 0 || (above == 0 && range->start_inclusive)) &&
		(below_stop > 0 || (below_stop == 0 && range->stop_inclusive));
}

#define ROUNDS 200000

static void
a_row_of_a_range_overlaps_it(void **state)
{
	int			inside = 0;

	(void) state;
	for (int i = 0; i < ROUNDS; i++)
	{
		Case		c;
		WcExtent	row = WC_EXTENT_NONE;
		WcScan		scan = {.table_id = 7,.nranges = 1,.ranges = &c.range};
		WcExtent	read;

		make(&c);
		read = wc_extent_of_scan(&scan);
		wc_extent_add_row(&row, 7, c.row);
		if (has(&c.range, c.row))
		{
			inside++;
			assert_true(wc_extents_overlap(&row, &read));
			assert_true(wc_extents_overlap(&read, &row));
		}
	}
	assert_true(inside > ROUNDS / 10);
}

static void
other_tables_and_far_keys_do_not_overlap(void **state)
{
	WcExtent	row = WC_EXTENT_NONE;
	WcExtent	none = WC_EXTENT_NONE;
	WcRange		range = {wc_slice("b", 1), wc_slice("c", 1), true, false};
	WcScan		scan = {.table_id = 7,.nranges = 1,.ranges = &range};
	WcExtent	read = wc_extent_of_scan(&scan);

	(void) state;
	assert_false(wc_extents_overlap(&none, &read));
	assert_false(wc_extents_overlap(&read, &none));
	wc_extent_add_row(&row, 8, wc_slice("bb", 2));
	assert_false(wc_extents_overlap(&row, &read));
	row = WC_EXTENT_NONE;
	wc_extent_add_row(&row, 7, wc_slice("a", 1));
	assert_false(wc_extents_overlap(&row, &read));
	wc_extent_add_row(&row, 7, wc_slice("d", 1));
	assert_true(wc_extents_overlap(&row, &read));	/* between the two is room for others */
	scan.nranges = 0;
	read = wc_extent_of_scan(&scan);
	assert_true(wc_extents_overlap(&row, &read));
}

/* What is cut off begins with the first row that has been written; nothing else is lost from the front. */
static void
a_cut_range_has_no_written_row(void **state)
{
	int			cuts = 0;

	(void) state;
	for (int i = 0; i < ROUNDS; i++)
	{
		uint8_t		bytes[16];
		uint8_t		bound[WC_EXTENT_KEY];
		bool		reversed = below(2) == 0;
		WcExtent	written = WC_EXTENT_NONE;
		WcExtent	lost = WC_EXTENT_NONE;
		WcSlice		one = random_key(bytes);
		WcRange		cut;
		Case		c;

		make(&c);
		wc_extent_add_row(&written, 7, one);
		cut = c.range;
		if (!wc_extent_cut_range(&written, reversed, &cut, bound))
			continue;
		cuts++;
		assert_false(has(&cut, one));
		if (has(&cut, c.row))
			assert_true(has(&c.range, c.row));
		else if (has(&c.range, c.row))
		{
			wc_extent_add_row(&lost, 7, c.row);
			assert_true(reversed ? lost.least <= written.least : lost.least >= written.least);
		}
	}
	assert_true(cuts > ROUNDS / 10);
}

static void
a_batch_has_the_extent_of_its_rows(void **state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcBatchBuilder b;
	WcExtent	written = WC_EXTENT_NONE;
	WcExtent	expected = WC_EXTENT_NONE;
	WcError		err;

	(void) state;
	wc_batch_init(&b, &buf);
	for (int i = 0; i < 2; i++)
	{
		WcSlice		row = wc_slice(i == 0 ? "mm" : "aaaaaaaaaa", i == 0 ? 2 : 10);

		assert_int_equal(wc_batch_row_begin(&b, 3, 0, row, 0, NULL, 0, &err), WC_OK);
		assert_int_equal(wc_batch_put(&b, 1, wc_slice("q", 1), WC_TS_LATEST, 0, wc_slice("v", 1), &err), WC_OK);
		assert_int_equal(wc_batch_row_end(&b, &err), WC_OK);
		wc_extent_add_row(&expected, 3, row);
	}
	assert_int_equal(wc_batch_lock(&b, 9, WC_LOCK_EXCLUSIVE, wc_slice("z", 1), &err), WC_OK);
	wc_extent_add_batch(&written, wc_buf_slice(&buf));
	assert_memory_equal(&written, &expected, sizeof(written));

	/* cut within an operation */
	written = WC_EXTENT_NONE;
	wc_extent_add_batch(&written, wc_slice(buf.data, buf.len - 1));
	assert_memory_equal(&written, &WC_EXTENT_ALL, sizeof(written));

	/* a change of the catalog is not of one row */
	assert_int_equal(wc_batch_truncate_table(&b, 0, 3, &err), WC_OK);
	written = WC_EXTENT_NONE;
	wc_extent_add_batch(&written, wc_buf_slice(&buf));
	assert_memory_equal(&written, &WC_EXTENT_ALL, sizeof(written));
	wc_buf_free(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_row_of_a_range_overlaps_it, seed),
		cmocka_unit_test(other_tables_and_far_keys_do_not_overlap),
		cmocka_unit_test_setup(a_cut_range_has_no_written_row, seed),
		cmocka_unit_test(a_batch_has_the_extent_of_its_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
