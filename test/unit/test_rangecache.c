/*
 * test/unit/test_rangecache.c: rows of short ranges in shared memory (wire/shared/rangecache.h): what is found is what the table
 * has, in the epoch and at the time of the query.
 */
#include "rangekit.h"

/* --- one stretch --------------------------------------------------------------------*/

static void
rows_of_a_range_are_found(void **state)
{
	(void) state;
	assert_null(find("[b,d]"));
	keep("b", "b=1 c=2 d=3 e=4", "f");
	assert_string_equal(find("[b,d]"), "b=1 c=2 d=3 ");
	assert_string_equal(find("[c,e]"), "c=2 d=3 e=4 ");
	assert_string_equal(find("[c,c]"), "c=2 ");
	assert_string_equal(find_reversed("[b,d]"), "d=3 c=2 b=1 ");
	assert_string_equal(find_reversed("[c,e]"), "e=4 d=3 c=2 ");
	assert_string_equal(find_reversed("[c,c]"), "c=2 ");
}

static void
bounds_are_inclusive_or_exclusive(void **state)
{
	(void) state;
	keep("b", "b=1 c=2 d=3 e=4", "f");
	assert_string_equal(find("(b,d]"), "c=2 d=3 ");
	assert_string_equal(find("[b,d)"), "b=1 c=2 ");
	assert_string_equal(find("(b,d)"), "c=2 ");
	assert_string_equal(find_reversed("(b,d]"), "d=3 c=2 ");
	assert_string_equal(find_reversed("[b,d)"), "c=2 b=1 ");
	assert_string_equal(find_reversed("(b,d)"), "c=2 ");
}

static void
bounds_lie_between_rows(void **state)
{
	(void) state;
	keep("b", "b=1 c=2 d=3 e=4", "f");
	assert_string_equal(find("[b1,d1]"), "c=2 d=3 ");
	assert_string_equal(find("(b1,d1)"), "c=2 d=3 ");
	assert_string_equal(find_reversed("[b1,d1]"), "d=3 c=2 ");
	assert_string_equal(find_reversed("(b1,d1)"), "d=3 c=2 ");
	assert_string_equal(find("[c1,c2]"), "");
	assert_string_equal(find_reversed("[c1,c2]"), "");
	assert_string_equal(find("[e1,e2]"), "");
	assert_string_equal(find_reversed("[e1,e2]"), "");
}

static void
ranges_without_rows_are_found(void **state)
{
	(void) state;
	keep("b", "b=1 c=2 d=3", "f");
	assert_string_equal(find("(c,c]"), "");
	assert_string_equal(find("[c,c)"), "");
	assert_string_equal(find("(c,c)"), "");
	assert_string_equal(find_reversed("(c,c]"), "");
	assert_string_equal(find_reversed("[c,c)"), "");
	assert_string_equal(find_reversed("(c,c)"), "");
	assert_string_equal(find("[d,c]"), "");
	assert_string_equal(find_reversed("[d,c]"), "");
}

/* A stretch has the place of its start, and not that of its end. */
static void
what_is_beyond_the_edges_is_not_found(void **state)
{
	(void) state;
	keep("b", "b=1 e=4", "f");
	assert_string_equal(find("[b,f)"), "b=1 e=4 ");
	assert_string_equal(find("(b,f)"), "e=4 ");
	assert_string_equal(find_reversed("[b,f)"), "e=4 b=1 ");
	assert_null(find("[b,f]"));
	assert_null(find_reversed("[b,f]"));
	assert_null(find("[f,f]"));
	assert_null(find_reversed("[f,f]"));
	assert_null(find("[a,c]"));
	assert_null(find_reversed("[a,c]"));
	assert_null(find("(a,c]"));
	assert_null(find("[,c]"));
	assert_null(find_reversed("[,c]"));
	assert_null(find("[c,]"));
	assert_null(find_reversed("[c,]"));
	assert_null(find("[,]"));
	assert_null(find("[a,a]"));
	assert_null(find("[g,h]"));
	assert_null(find_reversed("[g,h]"));
}

static void
limits_end_the_search(void **state)
{
	(void) state;
	keep("b", "b=1 c=2 d=3 e=4", "f");
	assert_string_equal(find_some("[b,f)", false, 1), "b=1 ");
	assert_string_equal(find_some("[b,f)", true, 1), "e=4 ");
	assert_string_equal(find_some("[b,f)", false, 3), "b=1 c=2 d=3 ");
	assert_string_equal(find_some("[b,f)", false, 5), "b=1 c=2 d=3 e=4 ");

	/* what comes behind the last row does not matter */
	assert_string_equal(find_some("[c,]", false, 3), "c=2 d=3 e=4 ");
	assert_null(find_some("[c,]", false, 4));
	assert_string_equal(find_some("(b,z]", false, 2), "c=2 d=3 ");
	assert_string_equal(find_some("[,d]", true, 3), "d=3 c=2 b=1 ");
	assert_null(find_some("[,d]", true, 4));
	assert_string_equal(find_some("[a,d)", true, 2), "c=2 b=1 ");
}

static void
rows_to_the_end_of_the_table(void **state)
{
	(void) state;
	keep("c", "c=1 d=2", "");
	assert_string_equal(find("[c,]"), "c=1 d=2 ");
	assert_string_equal(find("(c,)"), "d=2 ");
	assert_string_equal(find_reversed("[c,]"), "d=2 c=1 ");
	assert_string_equal(find_reversed("(c,)"), "d=2 ");
	assert_string_equal(find("[c,zzz]"), "c=1 d=2 ");
	assert_string_equal(find_reversed("[d,zzz)"), "d=2 ");
	assert_string_equal(find("[x,]"), "");
	assert_string_equal(find_some("[,]", true, 2), "d=2 c=1 ");
	assert_null(find_some("[,]", true, 3));
	assert_null(find("[,]"));
}

static void
rows_from_the_start_of_the_table(void **state)
{
	(void) state;
	keep("", "a=1 b=2", "c");
	assert_string_equal(find("[,b]"), "a=1 b=2 ");
	assert_string_equal(find("(,b)"), "a=1 ");
	assert_string_equal(find_reversed("[,b]"), "b=2 a=1 ");
	assert_string_equal(find_reversed("[,c)"), "b=2 a=1 ");
	assert_string_equal(find("[0,b]"), "a=1 b=2 ");
	assert_string_equal(find_some("[,]", false, 2), "a=1 b=2 ");
	assert_null(find_some("[,]", false, 3));
	assert_null(find_reversed("[,]"));
	assert_null(find_reversed("[,c]"));
}

static void
the_whole_table(void **state)
{
	(void) state;
	keep("", "a=1 b=2", "");
	assert_string_equal(find("[,]"), "a=1 b=2 ");
	assert_string_equal(find("(,)"), "a=1 b=2 ");
	assert_string_equal(find_reversed("[,]"), "b=2 a=1 ");
	assert_string_equal(find_reversed("(,)"), "b=2 a=1 ");
	assert_string_equal(find("(a,]"), "b=2 ");
	commit_to(TABLE, "zz");
	assert_null(find("[,]"));
	keep("", "", "");
	assert_string_equal(find("[,]"), "");
	assert_string_equal(find_reversed("[,]"), "");
}

/* Keys that fill words, and do not; each is a prefix of the next. */
static void
keys_of_all_lengths(void **state)
{
	uint8_t		room[40];
	Rows		r = {0};
	WcStretch	s = {.rows = r.rows,.nrows = sizeof(room),.epoch = epoch,.valid_until_us = INT64_MAX};

	(void) state;
	memset(room, 0, sizeof(room));
	for (size_t i = 0; i < sizeof(room); i++)
	{
		r.text[i] = (char) ('0' + i);
		r.rows[i] = (WcStretchRow) {wc_slice(room, i + 1), wc_slice(r.text, i)};
	}
	assert_true(add_to(TABLE, SHAPE, &s));
	for (size_t i = 0; i < sizeof(room); i++)
	{
		WcSlice		key = r.rows[i].key;
		WcRange		range = {key, key, true, true};
		WcRangeQuery q = query();

		q.range = &range;
		for (int reversed = 0; reversed < 2; reversed++)
		{
			q.reversed = reversed;
			wc_buf_reset(&found, SIZE_MAX);
			assert_true(wc_rangecache_find(cache, &q, &found));
			assert_int_equal(found.len, i);
			assert_true(wc_slice_eq(wc_buf_slice(&found), r.rows[i].bytes));
		}
	}
}

/* --- several stretches --------------------------------------------------------------*/

static void
a_range_lies_in_several_stretches(void **state)
{
	(void) state;
	keep("c", "c=1 d=2", "e");
	keep("g", "h=5", "i");
	keep("e", "e=3 f=4", "g");
	assert_string_equal(find("[c,i)"), "c=1 d=2 e=3 f=4 h=5 ");
	assert_string_equal(find("[d,e]"), "d=2 e=3 ");
	assert_string_equal(find("[d,e)"), "d=2 ");
	assert_string_equal(find("(d,g)"), "e=3 f=4 ");
	assert_string_equal(find("(f,h]"), "h=5 ");
	assert_string_equal(find("[g,g]"), "");
	assert_string_equal(find_reversed("[c,i)"), "h=5 f=4 e=3 d=2 c=1 ");
	assert_string_equal(find_reversed("[d,e]"), "e=3 d=2 ");
	assert_string_equal(find_reversed("(c,e)"), "d=2 ");
	assert_string_equal(find_reversed("[d,g)"), "f=4 e=3 d=2 ");
	assert_string_equal(find_reversed("(d,g]"), "f=4 e=3 ");
	assert_string_equal(find_some("[d,z]", false, 4), "d=2 e=3 f=4 h=5 ");
	assert_null(find_some("[d,z]", false, 5));
	assert_string_equal(find_some("[a,h]", true, 5), "h=5 f=4 e=3 d=2 c=1 ");
	assert_null(find_some("[a,h]", true, 6));
}

static void
stretches_without_rows_are_passed(void **state)
{
	(void) state;
	keep("", "", "b");
	keep("b", "b=1", "c");
	keep("c", "", "d");
	keep("d", "", "e");
	keep("e", "e=2", "f");
	keep("f", "", "");
	assert_string_equal(find("[,]"), "b=1 e=2 ");
	assert_string_equal(find_reversed("[,]"), "e=2 b=1 ");
	assert_string_equal(find("[a,c]"), "b=1 ");
	assert_string_equal(find("[c,e)"), "");
	assert_string_equal(find_reversed("[c,e)"), "");
	assert_string_equal(find_reversed("[a,d]"), "b=1 ");
	assert_string_equal(find_some("[c,]", false, 1), "e=2 ");
}

static void
a_range_with_a_gap_is_not_found(void **state)
{
	(void) state;
	keep("b", "b=1", "d");
	keep("d1", "e=2", "f");
	assert_null(find("[b,e]"));
	assert_null(find_reversed("[b,e]"));
	assert_null(find("[d,e]"));
	assert_string_equal(find("[d1,e]"), "e=2 ");
	assert_string_equal(find("[b,d)"), "b=1 ");
	assert_string_equal(find_some("[b,e]", false, 1), "b=1 ");
	assert_string_equal(find_some("[b,e]", true, 1), "e=2 ");
	keep("d", "d=0", "d1");
	assert_string_equal(find("[b,e]"), "b=1 d=0 e=2 ");
	assert_string_equal(find_reversed("[b,e]"), "e=2 d=0 b=1 ");
}

/* The newer stretch counts, and the older ones vanish, all of them. */
static void
a_stretch_replaces_those_it_overlaps(void **state)
{
	(void) state;
	keep("b", "b=1 c=1", "d");
	keep("d", "d=1 e=1", "f");
	keep("f", "f=1 g=1", "h");
	keep("h", "h=1", "i");
	keep("c", "c=2 d=2 e=2 f=2", "g");
	assert_string_equal(find("[c,f]"), "c=2 d=2 e=2 f=2 ");
	assert_string_equal(find("[h,i)"), "h=1 ");
	assert_null(find("[b,b]"));
	assert_null(find("[g,g]"));
	assert_null(find("[c,g]"));

	/* the same place, a part of it, and more than it */
	keep("c", "c=3 d=3 e=3 f=3", "g");
	assert_string_equal(find("[c,g)"), "c=3 d=3 e=3 f=3 ");
	keep("c", "c=4", "d");
	assert_string_equal(find("[c,d)"), "c=4 ");
	assert_null(find("[d,d]"));
	keep("d", "d=5 e=5 f=5", "g");
	keep("e", "e=6", "e1");
	assert_string_equal(find("[c,d)"), "c=4 ");
	assert_string_equal(find("[e,e]"), "e=6 ");
	assert_null(find("[d,e]"));
	assert_null(find("[e,f]"));
	keep("b", "b=7 c=7", "");
	assert_string_equal(find("[b,]"), "b=7 c=7 ");
	keep("", "a=8", "c");
	assert_string_equal(find("[,c)"), "a=8 ");
	assert_null(find("[c,c]"));
	keep("", "a=9", "");
	assert_string_equal(find("[,]"), "a=9 ");

	/* neighbours do not overlap */
	keep("", "a=1", "b");
	keep("c", "c=1", "");
	keep("b", "b=1", "c");
	assert_string_equal(find("[,]"), "a=1 b=1 c=1 ");
}

/* So many that the search stops. */
static void
too_many_stretches_are_not_found(void **state)
{
	char		range[16];

	(void) state;
	for (int i = 0; i < 65; i++)
	{
		char		row[8];

		snprintf(row, sizeof(row), "%s=", kit_key(i));
		keep(kit_key(i), row, kit_key(i + 1));
	}
	snprintf(range, sizeof(range), "[%s,%s)", kit_key(0), kit_key(64));
	assert_int_equal(strlen(find(range)), 64 * strlen("r000= "));
	assert_int_equal(strlen(find_reversed(range)), 64 * strlen("r000= "));
	snprintf(range, sizeof(range), "[%s,%s)", kit_key(0), kit_key(65));
	assert_null(find(range));
	assert_null(find_reversed(range));
	assert_int_equal(strlen(find_some(range, false, 60)), 60 * strlen("r000= "));
}

/* --- times and epochs -----------------------------------------------------------------*/

static void
a_stretch_holds_from_one_time_to_another(void **state)
{
	Rows		r;
	WcStretch	s = stretch_of(&r, "b", "b=1", "d");

	(void) state;
	s.valid_from_us = NOW;
	s.valid_until_us = NOW + 10;
	assert_true(add_to(TABLE, SHAPE, &s));
	assert_null(find_at(NOW - 1, "[b,c]"));
	assert_string_equal(find_at(NOW, "[b,c]"), "b=1 ");
	assert_string_equal(find_at(NOW + 9, "[b,c]"), "b=1 ");
	assert_null(find_at(NOW + 10, "[b,c]"));
	assert_null(covering_at(NOW - 1, "b"));
	assert_string_equal(covering_at(NOW, "b"), "d");
	assert_string_equal(covering_at(NOW + 9, "b"), "d");
	assert_null(covering_at(NOW + 10, "b"));

	/* all stretches of a range have to hold */
	keep("d", "d=2", "e");
	assert_string_equal(find_at(NOW, "[b,d]"), "b=1 d=2 ");
	assert_null(find_at(NOW + 10, "[b,d]"));
	assert_string_equal(find_at(NOW + 10, "[d,d]"), "d=2 ");

	/* a clock may have been before 1970 */
	s.valid_from_us = -5;
	s.valid_until_us = -3;
	assert_true(add_to(TABLE, SHAPE, &s));
	assert_string_equal(find_at(-4, "[b,c]"), "b=1 ");
	assert_null(find_at(-6, "[b,c]"));
	assert_null(find_at(0, "[b,c]"));
}

static void
older_epochs_do_not_see_it(void **state)
{
	(void) state;
	commit_to(TABLE, "x");
	keep("b", "b=1", "d");
	assert_null(find_in(epoch - 1, "[b,c]"));
	assert_string_equal(find_in(epoch, "[b,c]"), "b=1 ");
	assert_string_equal(find_in(epoch + 100, "[b,c]"), "b=1 ");
	assert_string_equal(find_in(UINT64_MAX, "[b,c]"), "b=1 ");

	/* all stretches of a range have to be as old */
	commit_to(TABLE, "x");
	keep("d", "d=2", "e");
	assert_null(find_in(epoch - 1, "[b,d]"));
	assert_string_equal(find_in(epoch, "[b,d]"), "b=1 d=2 ");
	assert_string_equal(find_in(epoch - 1, "[b,d)"), "b=1 ");
}

/* What other rows' commits have begun does not end it. */
static void
commits_to_other_rows_leave_a_stretch(void **state)
{
	(void) state;
	keep("b", "b=1 c=2", "d");
	commit_to(TABLE, "a");
	commit_to(TABLE, "azz");
	commit_to(TABLE, "d");
	commit_to(TABLE, "e");
	commit_to(TABLE, "");
	assert_string_equal(find("[b,d)"), "b=1 c=2 ");
	for (uint64_t e = 1; e <= epoch; e++)
		assert_string_equal(find_in(e, "[b,d)"), "b=1 c=2 ");
}

static void
a_new_row_ends_the_stretch_that_would_have_it(void **state)
{
	static const char *const ROWS[] = {"b", "b1", "cz"};

	(void) state;
	known = (const char *const[]) {"b=5", "b1=5", "cz=5", NULL};
	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
	{
		uint64_t	before = epoch;
		const char *is;

		keep("", "a=0", "b");
		keep("b", "bb=1 c=2", "d");
		keep("d", "d=3", "");
		commit_to(TABLE, ROWS[i]);
		assert_null(find("[b,d)"));
		assert_null(find("[c,c]"));
		assert_null(find("[,]"));
		assert_null(find_reversed("[,]"));
		assert_string_equal(find("[,b)"), "a=0 ");
		assert_string_equal(find("[d,]"), "d=3 ");

		/* it need not be found any more where it still holds; but nothing else */
		is = find_in(before, "[b,d)");
		if (is != NULL)
			assert_string_equal(is, "bb=1 c=2 ");
		keep("b", "b=2 c=2", "d");
		assert_string_equal(find("[b,d)"), "b=2 c=2 ");
		assert_null(find_in(before, "[b,d)"));
	}
}

/* Whatever the Scan returns of it. */
static void
check_written_row(const char *text, const char *rows)
{
	const char *const texts[] = {text, NULL};
	WcRangeQuery q;

	known = text != NULL ? texts : NULL;
	q = query();
	if (rows == NULL)
		assert_null(find("[b,e)"));
	else
		assert_string_equal(find("[b,e)"), rows);
	q.epoch = epoch - 1;
	assert_string_equal(look(q, "[b,e)"), "b=1 c=2 d=3 ");
	assert_string_equal(find("[b,c)"), "b=1 ");
	assert_string_equal(find("(c,e)"), "d=3 ");
	assert_string_equal(find_some("(c,e)", true, 1), "d=3 ");
	known = NULL;
}

static void
a_written_row_is_looked_for_elsewhere(void **state)
{
	(void) state;
	keep("b", "b=1 c=2 d=3", "e");
	assert_string_equal(covering("b"), "e");
	commit_to(TABLE, "c");
	check_written_row(NULL, NULL);
	assert_int_equal(nasked, 0);
	check_written_row("b=7", NULL);
	assert_true(nasked > 0);
	check_written_row("c=7", "b=1 c=7 d=3 ");
	check_written_row("c", "b=1 d=3 ");

	/* it is kept anew with the next answer */
	assert_null(covering("b"));
	assert_null(covering("d"));
	keep("b", "b=1 c=8 d=3", "e");
	assert_string_equal(covering("b"), "e");
	nasked = 0;
	known = (const char *const[]) {"c=7", NULL};
	assert_string_equal(find("[b,e)"), "b=1 c=8 d=3 ");
	assert_int_equal(nasked, 0);
}

static void
written_rows_count_as_what_they_are(void **state)
{
	(void) state;
	keep("", "b=1 c=2 d=3", "e");
	keep("e", "e=4 f=5", "");
	commit_to(TABLE, "c");
	commit_to(TABLE, "e");
	known = (const char *const[]) {"c", "e=44", NULL};
	assert_string_equal(find_some("[,]", false, 2), "b=1 d=3 ");
	assert_string_equal(find_some("[,]", false, 3), "b=1 d=3 e=44 ");
	assert_string_equal(find_some("[,]", true, 3), "f=5 e=44 d=3 ");
	assert_string_equal(find_some("[,f)", true, 9), "e=44 d=3 b=1 ");
	assert_string_equal(find("[,]"), "b=1 d=3 e=44 f=5 ");

	/* a row that is written again has been different all the time since the first one */
	commit_to(TABLE, "e");
	assert_string_equal(find_in(epoch - 1, "[e,f]"), "e=44 f=5 ");
	assert_string_equal(find_in(epoch - 2, "[e,f]"), "e=4 f=5 ");
}

static void
written_rows_with_long_keys_are_not_looked_for(void **state)
{
	static char key[WC_STRETCH_KEY_MAX + 2];
	WcStretchRow row = {kit_s(key), kit_s("long ")};
	WcStretch	s = {.start = kit_s("a"),.end = kit_s("b"),.rows = &row,.nrows = 1,.epoch = epoch,.valid_until_us = INT64_MAX};

	(void) state;
	memset(key, 'a', sizeof(key) - 1);
	row.key = kit_s(key);
	assert_true(add_to(TABLE, SHAPE, &s));
	assert_string_equal(find("[a,b)"), "long ");
	commit_to(TABLE, key);
	known = (const char *const[]) {key, NULL};
	assert_null(find("[a,b)"));
	assert_int_equal(nasked, 0);
}

/* Commits to a row while another one is looked for. */
static bool
commit_meanwhile(void *arg, WcSlice key, WcBuf *out, uint32_t *n)
{
	(void) key;
	commit_to(TABLE, arg);
	wc_buf_append(out, "c=7 ", 4);
	*n = 1;
	return true;
}

static void
check_one_state(const char *row, bool reversed)
{
	WcRangeQuery q = query();

	q.written_row = commit_meanwhile;
	q.arg = (void *) row;
	q.reversed = reversed;
	for (int newest = 0; newest < 2; newest++)
	{
		keep("b", "b=1 c=2", "d");
		keep("d", "d=3 e=4", "f");
		commit_to(TABLE, "c");
		q.epoch = newest ? UINT64_MAX : epoch;
		if (newest)
			assert_null(look(q, "[b,f)"));
		else if (strlen(row) == 1)	/* else the stretch has ended */
			assert_string_equal(look(q, "[b,f)"), reversed ? "e=4 d=3 c=7 b=1 " : "b=1 c=7 d=3 e=4 ");
	}
}

static void
the_newest_state_is_one_state(void **state)
{
	(void) state;
	check_one_state("b", false);
	check_one_state("bb", false);
	check_one_state("ee", false);
	check_one_state("d", true);
	check_one_state("e", true);
	check_one_state("dd", true);
	check_one_state("bb", true);
}

static void
a_commit_ends_the_stretches_of_its_table(void **state)
{
	(void) state;
	keep("b", "b=1", "d");
	keep("d", "d=1", "");
	keep_of(TABLE, "other", "b", "b=2", "d");
	keep_of(OTHER, SHAPE, "b", "b=3", "d");
	keep_of(SHARING, SHAPE, "b", "b=4", "d");
	commit_to_table(TABLE);
	assert_null(find("[b,c]"));
	assert_null(find("[d,]"));
	assert_null(find_of(TABLE, "other", "[b,c]"));
	assert_string_equal(find_of(OTHER, SHAPE, "[b,c]"), "b=3 ");
	assert_string_equal(find_of(SHARING, SHAPE, "[b,c]"), "b=4 ");
	keep("b", "b=5", "d");
	assert_string_equal(find("[b,c]"), "b=5 ");
	assert_null(find("[d,]"));
}

/* What was read before a commit comes too late after it, whichever row the commit has written. */
static void
stretches_read_before_a_commit_are_refused(void **state)
{
	Rows		r;
	WcStretch	s = stretch_of(&r, "b", "b=1", "d");

	(void) state;
	assert_true(add_to(TABLE, SHAPE, &s));
	commit_to(TABLE, "x");
	assert_false(add_to(TABLE, SHAPE, &s));
	assert_string_equal(find("[b,c]"), "b=1 ");
	s.epoch = epoch;
	assert_true(add_to(TABLE, SHAPE, &s));

	/* from the moment on at which it is noted */
	assert_true(wc_rangecache_note(cache, TABLE, epoch + 1));
	assert_false(add_to(TABLE, SHAPE, &s));
	s.epoch = ++epoch;
	assert_true(add_to(TABLE, SHAPE, &s));
	commit_to_table(TABLE);
	assert_false(add_to(TABLE, SHAPE, &s));
	assert_null(find("[b,c]"));
	s.epoch = epoch;
	assert_true(add_to(TABLE, SHAPE, &s));

	/* of another table the stamp may be the same one; of most it is not */
	commit_to(OTHER, "b");
	assert_true(add_to(TABLE, SHAPE, &s));
	commit_to(SHARING, "b");
	assert_false(add_to(TABLE, SHAPE, &s));
	assert_string_equal(find("[b,c]"), "b=1 ");
	s.epoch = epoch;
	assert_true(add_to(TABLE, SHAPE, &s));

	/* a table that had no stretches until then was noted all the same */
	commit_to(OTHER, "b");
	assert_false(add_to(OTHER, SHAPE, &s));
	s.epoch = epoch;
	assert_true(add_to(OTHER, SHAPE, &s));
}

/* --- tables and shapes ----------------------------------------------------------------*/

static void
shapes_and_tables_have_stretches_of_their_own(void **state)
{
	(void) state;
	keep("b", "b=1", "d");
	keep_of(TABLE, "other", "b", "b=2", "d");
	keep_of(OTHER, SHAPE, "b", "b=3", "d");
	assert_string_equal(find("[b,c]"), "b=1 ");
	assert_string_equal(find_of(TABLE, "other", "[b,c]"), "b=2 ");
	assert_string_equal(find_of(OTHER, SHAPE, "[b,c]"), "b=3 ");
	assert_null(find_of(OTHER, "other", "[b,c]"));
	assert_null(find_of(TABLE, "shap", "[b,c]"));
	assert_null(find_of(TABLE, "shape ", "[b,c]"));
	assert_null(find_of(TABLE, "", "[b,c]"));
	assert_null(find_of(SHARING, SHAPE, "[b,c]"));

	/* a commit concerns all shapes of its table, and no other table */
	commit_to(TABLE, "b");
	assert_null(find("[b,c]"));
	assert_null(find_of(TABLE, "other", "[b,c]"));
	assert_string_equal(find_of(OTHER, SHAPE, "[b,c]"), "b=3 ");
	keep_of(SHARING, "", "b", "b=4", "d");
	commit_to(TABLE, "b");
	assert_string_equal(find_of(SHARING, "", "[b,c]"), "b=4 ");
	commit_to(SHARING, "b");
	assert_null(find_of(SHARING, "", "[b,c]"));
}

/* Does a commit have to name the rows? */
static void
tables_with_stretches_are_known(void **state)
{
	(void) state;
	assert_false(wc_rangecache_uses(cache, TABLE));
	assert_false(wc_rangecache_note(cache, TABLE, ++epoch));
	keep("b", "b=1", "d");
	assert_true(wc_rangecache_uses(cache, TABLE));
	assert_true(wc_rangecache_note(cache, TABLE, ++epoch));
	assert_false(wc_rangecache_note(cache, OTHER, epoch));
	commit_to_table(TABLE);
	assert_false(wc_rangecache_uses(cache, TABLE));

	/* nor is one forgotten that has the same stamp */
	keep("b", "b=1", "d");
	keep_of(SHARING, SHAPE, "b", "b=2", "d");
	commit_to_table(SHARING);
	assert_true(wc_rangecache_note(cache, TABLE, ++epoch));
	commit_to_table(TABLE);
	assert_false(wc_rangecache_note(cache, TABLE, ++epoch));
	assert_false(wc_rangecache_note(cache, SHARING, epoch));
}

static void
a_stretch_has_a_shape_that_was_wanted(void **state)
{
	Rows		r;
	WcStretch	s = stretch_of(&r, "b", "b=1", "d");

	(void) state;
	assert_false(wc_rangecache_add(cache, TABLE, kit_s(SHAPE), &s, epoch));
	assert_true(wc_rangecache_wants(cache, TABLE, kit_s(SHAPE)));
	assert_true(wc_rangecache_add(cache, TABLE, kit_s(SHAPE), &s, epoch));
	assert_false(wc_rangecache_add(cache, OTHER, kit_s(SHAPE), &s, epoch));
}

static void
shapes_that_are_too_long_are_not_wanted(void **state)
{
	char		shape[514] = {0};
	Rows		r;
	WcStretch	s = stretch_of(&r, "b", "b=1", "d");

	(void) state;
	memset(shape, 's', 513);
	assert_false(wc_rangecache_wants(cache, TABLE, kit_s(shape)));
	assert_false(add_to(TABLE, shape, &s));
	assert_null(find_of(TABLE, shape, "[b,c]"));
	shape[512] = '\0';
	assert_true(wc_rangecache_wants(cache, TABLE, kit_s(shape)));
	assert_true(add_to(TABLE, shape, &s));
	assert_string_equal(find_of(TABLE, shape, "[b,c]"), "b=1 ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_of_a_range_are_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bounds_are_inclusive_or_exclusive, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bounds_lie_between_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ranges_without_rows_are_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_beyond_the_edges_is_not_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(limits_end_the_search, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_to_the_end_of_the_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_from_the_start_of_the_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_whole_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keys_of_all_lengths, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_range_lies_in_several_stretches, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stretches_without_rows_are_passed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_range_with_a_gap_is_not_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_stretch_replaces_those_it_overlaps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(too_many_stretches_are_not_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_stretch_holds_from_one_time_to_another, set_up, tear_down),
		cmocka_unit_test_setup_teardown(older_epochs_do_not_see_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(commits_to_other_rows_leave_a_stretch, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_new_row_ends_the_stretch_that_would_have_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_written_row_is_looked_for_elsewhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(written_rows_count_as_what_they_are, set_up, tear_down),
		cmocka_unit_test_setup_teardown(written_rows_with_long_keys_are_not_looked_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_newest_state_is_one_state, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_commit_ends_the_stretches_of_its_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stretches_read_before_a_commit_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(shapes_and_tables_have_stretches_of_their_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tables_with_stretches_are_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_stretch_has_a_shape_that_was_wanted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(shapes_that_are_too_long_are_not_wanted, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
