/*
 * test/unit/test_written.c: notes of rows that SERIALIZABLE transactions have written.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "wire/shared/written.h"

#define S(literal)	wc_slice(literal, sizeof(literal) - 1)

static int
set_up(void **state)
{
	void	   *memory = calloc(1, wc_written_size(3, 2));

	assert_non_null(memory);
	*state = wc_written_init(memory, 3, 2);
	return seed(state);
}

static int
tear_down(void **state)
{
	free(*state);
	return 0;
}

/* Does a search of table 1 for one range find a writer other than transaction 1? */
static bool
finds(const WcWritten *w, const WcRange *range, uint64_t since)
{
	WcWrittenSearch search = {.table_id = 1,.nranges = 1,.ranges = range,.since = since,.own = 1,.at = WC_WRITTEN_NEWEST};
	uint64_t	writers[WC_WRITERS_MAX];

	return wc_written_find(w, &search, writers) > 0;
}

static WcRange
point(WcSlice row)
{
	return (WcRange) {row, row, true, true};
}

static void
other_writers_of_a_row_are_found(void **state)
{
	WcWritten  *w = *state;
	WcRange		a = point(S("a"));
	WcRange		b = point(S("b"));
	WcRange		all = {.start_inclusive = true};

	assert_false(finds(w, &all, 0));
	wc_written_row(w, 1, 1, S("b"));	/* its own */
	wc_written_row(w, 7, 2, S("b"));	/* another table's */
	assert_false(finds(w, &all, 0));
	wc_written_row(w, 7, 1, S("a"));
	assert_true(finds(w, &a, 7));
	assert_true(finds(w, &all, 7));
	assert_false(finds(w, &b, 7));
	assert_false(finds(w, &a, 8));	/* before the reader's time */

	/* a transaction with a smaller id may write later */
	wc_written_row(w, 9, 1, S("x"));
	wc_written_row(w, 8, 1, S("b"));
	assert_true(finds(w, &b, 8));
	wc_written_table(w, 10, 1);
	assert_true(finds(w, &b, 10));
}

static void
transactions_without_notes_have_smaller_ids(void **state)
{
	WcWritten  *w = *state;

	assert_int_equal(wc_written_first(w, 11), 11);
	assert_int_equal(wc_written_first(w, 12), 11);
	wc_written_row(w, 12, 1, S("a"));
	assert_int_equal(wc_written_first(w, 13), 11);
}

static void
a_first_note_before_all_readers_tells_its_id(void **state)
{
	WcWritten  *w = *state;

	wc_written_row(w, 7, 1, S("a"));
	wc_written_row(w, 6, 1, S("a"));
	assert_int_equal(wc_written_first(w, 11), 7);
}

static void
a_first_note_with_a_smaller_id_counts(void **state)
{
	WcWritten  *w = *state;

	assert_int_equal(wc_written_first(w, 11), 11);
	wc_written_row(w, 10, 1, S("a"));
	assert_int_equal(wc_written_first(w, 13), 10);
}

/* Keys around the number of bytes that a note has. */
static WcSlice
random_key(uint8_t *bytes)
{
	size_t		len = below(3) == 0 ? 1 + below(4) : 22 + below(5);

	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t) (i < 2 || i > 21 ? "\0ab\xff"[below(4)] : 'k');
	return wc_slice(bytes, len);
}

static void
no_row_of_a_range_is_missed(void **state)
{
	WcWritten  *w = *state;
	uint32_t	nfound = 0;
	uint32_t	ninside = 0;

	for (uint64_t i = 2; i < 50000; i++)
	{
		uint8_t		bytes[3][32];
		WcSlice		row = random_key(bytes[0]);
		WcRange		r = {random_key(bytes[1]), random_key(bytes[2]), below(2) == 0, below(2) == 0};
		bool		inside;
		bool		found;

		if (below(4) == 0)
			r = point(below(2) == 0 ? row : r.start);
		inside = wc_range_contains(&r, row);
		wc_written_row(w, i, 1, row);
		found = finds(w, &r, i);
		assert_true(found || !inside);
		assert_true(inside || !found || row.len > 24);
		nfound += found;
		ninside += inside;
	}
	assert_true(ninside > 5000 && nfound - ninside < nfound / 4);
}

static void
many_writers_are_found_in_parts(void **state)
{
	WcWritten  *w = *state;
	WcWrittenSearch search = {.table_id = 1,.since = 100,.own = 1,.at = WC_WRITTEN_NEWEST};
	uint64_t	writers[WC_WRITERS_MAX];
	bool		met[300] = {false};
	uint32_t	n;

	for (uint64_t xid = 50; xid < 300; xid++)
	{
		wc_written_row(w, xid, 1, S("a"));
		wc_written_row(w, xid, 1, S("b"));
	}
	do
	{
		n = wc_written_find(w, &search, writers);
		for (uint32_t i = 0; i < n; i++)
			met[writers[i]] = true;
		wc_written_row(w, 400, 1, S("late"));	/* not for this reader, which has locked before */
	} while (n == WC_WRITERS_MAX);
	for (uint64_t xid = 0; xid < 300; xid++)
		assert_int_equal(met[xid], xid >= 100);
}

/* Of transactions with this id and greater ones. */
static bool
is_forgotten(const WcWritten *w, uint64_t since)
{
	return wc_written_forgotten(w, &(WcWrittenSearch) {.since = since});
}

static void
what_is_overwritten_is_known_to_be_missing(void **state)
{
	WcWritten  *w = *state;
	WcRange		first = point(S("first"));

	wc_written_row(w, 5, 1, S("first"));
	for (uint64_t i = 1; i < WC_WRITTEN_MAX; i++)
		wc_written_row(w, 5 + i, 1, S("row"));
	assert_true(finds(w, &first, 5));
	assert_false(is_forgotten(w, 5));
	wc_written_row(w, 5 + WC_WRITTEN_MAX, 1, S("row"));
	assert_false(finds(w, &first, 5));
	assert_true(is_forgotten(w, 5));
	assert_false(is_forgotten(w, 7));
}

static uint64_t running;

static bool
runs(uint64_t xid)
{
	return xid == running;
}

/* A reader that asks before it takes its snapshot need not know the notes of transactions that had ended by then. */
static void
notes_before_all_that_run_do_not_matter(void **state)
{
	WcWritten  *w = *state;
	WcRange		row = point(S("row"));
	WcWrittenSearch search = {.table_id = 1,.nranges = 1,.ranges = &row,.own = 1};
	uint64_t	writers[WC_WRITERS_MAX];

	wc_written_begin(w, 0);
	wc_written_row(w, 5, 1, S("row"));
	assert_int_equal(wc_written_floor(w, runs), 0);
	wc_written_end(w, 0);
	assert_int_equal(wc_written_floor(w, runs), 1);
	wc_written_begin(w, 2);
	wc_written_row(w, 6, 1, S("row"));
	wc_written_begin(w, 2);
	wc_written_row(w, 6, 1, S("row"));
	wc_written_begin(w, 1);
	wc_written_row(w, 7, 1, S("row"));
	search.floor = wc_written_floor(w, runs);
	assert_int_equal(search.floor, 1);
	search.at = WC_WRITTEN_NEWEST;
	assert_int_equal(wc_written_find(w, &search, writers), 2);

	/* prepared transactions run on; there is room for two */
	running = 6;
	wc_written_prepare(w, 2, 6, runs);
	wc_written_end(w, 2);
	assert_int_equal(wc_written_floor(w, runs), 1);
	wc_written_prepare(w, 0, 8, runs);	/* it has made no note */
	running = 0;
	assert_int_equal(wc_written_floor(w, runs), 3);
	wc_written_end(w, 1);
	assert_int_equal(wc_written_floor(w, runs), 4);

	for (uint64_t i = 4; i < WC_WRITTEN_MAX + 1; i++)
		wc_written_row(w, 8, 1, S("other"));
	assert_false(wc_written_forgotten(w, &search));
	wc_written_row(w, 8, 1, S("other"));
	assert_true(wc_written_forgotten(w, &search));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(other_writers_of_a_row_are_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(transactions_without_notes_have_smaller_ids, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_first_note_before_all_readers_tells_its_id, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_first_note_with_a_smaller_id_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_row_of_a_range_is_missed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_writers_are_found_in_parts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_overwritten_is_known_to_be_missing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(notes_before_all_that_run_do_not_matter, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
