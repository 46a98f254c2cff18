/*
 * test/unit/test_rangeroom.c: which stretches of rows the cache of ranges (wire/shared/rangecache.h) wants, and for which it has
 * room.
 */
#include "rangekit.h"

/* --- what is worth while ---------------------------------------------------------------*/

static int
wanted(int times)
{
	int			n = 0;

	for (int i = 0; i < times; i++)
		n += wc_rangecache_wants(cache, TABLE, kit_s(SHAPE));
	return n;
}

static void
ranges_are_wanted_as_long_as_they_are_found(void **state)
{
	int			n;

	(void) state;
	assert_int_equal(wanted(64), 64);
	n = wanted(3200);
	assert_true(n >= 50 && n <= 200);

	/* what is found allows more; what is not found does not */
	keep("b", "b=1", "d");
	assert_null(look(query(), "[x,y]"));
	assert_true(wanted(20) <= 2);
	for (int i = 0; i < 5; i++)
		assert_non_null(look(query(), "[b,c]"));
	assert_int_equal(wanted(10), 10);
	assert_true(wanted(1000) < 100);

	/* but not for ever */
	for (int i = 0; i < 1500; i++)
		assert_non_null(look(query(), "[b,c]"));
	n = wanted(2000);
	assert_true(n >= 256 && n <= 400);

	/* a search that ends at a row of which nothing is known has found nothing */
	commit_to(TABLE, "b");
	for (int i = 0; i < 1500; i++)
		assert_null(look(query(), "[b,c]"));
	n = wanted(2000);
	assert_true(n <= 2000 / 32 + 1);
	known = (const char *const[]) {"b=2", NULL};
	for (int i = 0; i < 5; i++)
		assert_non_null(look(query(), "[b,c]"));
	assert_int_equal(wanted(10), 10);

	/* each shape for itself */
	assert_true(wc_rangecache_wants(cache, TABLE, kit_s("other")));
	assert_true(wc_rangecache_wants(cache, OTHER, kit_s(SHAPE)));
}

static void
rows_are_covered_until_they_are_written(void **state)
{
	(void) state;
	assert_null(covering("b"));
	keep("b", "b=1", "d");
	keep("d", "", "f");
	keep("x", "", "");
	assert_null(covering("a"));
	assert_null(covering(""));
	assert_string_equal(covering("b"), "d");
	assert_string_equal(covering("c"), "d");
	assert_string_equal(covering("d"), "f");
	assert_null(covering("f"));
	assert_null(covering("w"));
	assert_string_equal(covering("x"), "");
	assert_string_equal(covering("zzz"), "");
	commit_to(TABLE, "c");
	assert_null(covering("b"));
	assert_string_equal(covering("d"), "f");
	commit_to_table(TABLE);
	assert_null(covering("d"));
	assert_null(covering("x"));
	keep("", "", "b");
	assert_string_equal(covering(""), "b");
}

static void
a_new_engine_knows_nothing(void **state)
{
	(void) state;
	for (int i = 0; i < 3; i++)
	{
		keep("b", "b=1", "d");
		keep_of(OTHER, SHAPE, "b", "b=1", "d");
		assert_non_null(find("[b,c]"));
		commit_to(TABLE, "x");
		wc_rangecache_reset(cache);
		assert_null(find("[b,c]"));
		assert_null(find_of(OTHER, SHAPE, "[b,c]"));
		assert_null(covering("b"));
		assert_false(wc_rangecache_uses(cache, TABLE));
		assert_true(wc_rangecache_wants(cache, TABLE, kit_s(SHAPE)));
		assert_null(find("[b,c]"));
		epoch = 1;				/* it counts anew */
	}
}

/* --- shapes --------------------------------------------------------------------------*/

/* There are 64 directories of shapes, with this memory. */
static void
the_shape_that_is_found_least_makes_room(void **state)
{
	char		shape[16];
	char		row[16];

	(void) state;
	set_up_anew(64 * MIB);
	for (int i = 0; i < 64; i++)
	{
		snprintf(shape, sizeof(shape), "shape %d", i);
		snprintf(row, sizeof(row), "b=%d", i);
		keep_of(TABLE, shape, "b", row, "d");
	}
	for (int i = 0; i < 64; i++)
	{
		snprintf(shape, sizeof(shape), "shape %d", i);
		snprintf(row, sizeof(row), "b=%d ", i);
		if (i != 17)
			assert_string_equal(find_of(TABLE, shape, "[b,c]"), row);
	}
	keep_of(TABLE, "shape 64", "b", "b=64", "d");
	assert_string_equal(find_of(TABLE, "shape 64", "[b,c]"), "b=64 ");
	for (int i = 0; i < 64; i++)
	{
		snprintf(shape, sizeof(shape), "shape %d", i);
		snprintf(row, sizeof(row), "b=%d ", i);
		if (i != 17)
			assert_string_equal(find_of(TABLE, shape, "[b,c]"), row);
		else
			assert_null(find_of(TABLE, shape, "[b,c]"));
	}

	/* when it comes again, it has nothing of before */
	assert_true(wc_rangecache_wants(cache, TABLE, kit_s("shape 17")));
	assert_null(find_of(TABLE, "shape 17", "[b,c]"));
	keep_of(TABLE, "shape 17", "b", "b=again", "d");
	assert_string_equal(find_of(TABLE, "shape 17", "[b,c]"), "b=again ");
}

static void
two_shapes_take_turns_in_one_directory(void **state)
{
	(void) state;
	set_up_anew(MIB);
	for (int i = 0; i < 3000; i++)
	{
		const char *shape = i % 2 == 0 ? "even" : "odd";
		const char *other = i % 2 == 0 ? "odd" : "even";
		char		row[16];

		snprintf(row, sizeof(row), "b=%d ", i);
		row[strlen(row) - 1] = '\0';
		keep_of(TABLE, shape, "b", row, "d");
		assert_null(find_of(TABLE, other, "[b,c]"));
		row[strlen(row)] = ' ';
		assert_string_equal(find_of(TABLE, shape, "[b,c]"), row);
	}
	commit_to(TABLE, "b");
	assert_null(find_of(TABLE, "odd", "[b,c]"));
}

/* --- room ----------------------------------------------------------------------------*/

static void
keys_that_are_too_long_are_refused(void **state)
{
	static char low[WC_STRETCH_KEY_MAX + 2];
	static char high[WC_STRETCH_KEY_MAX + 2];
	Rows		r;
	WcStretch	s = stretch_of(&r, "", "b=1", "");

	(void) state;
	memset(low, 'a', WC_STRETCH_KEY_MAX + 1);
	memset(high, 'c', WC_STRETCH_KEY_MAX + 1);
	s.start = wc_slice(low, WC_STRETCH_KEY_MAX + 1);
	assert_false(add_to(TABLE, SHAPE, &s));
	s.start.len--;
	s.end = wc_slice(high, WC_STRETCH_KEY_MAX + 1);
	assert_false(add_to(TABLE, SHAPE, &s));
	assert_null(find("[b,b]"));
	s.end.len--;
	assert_true(add_to(TABLE, SHAPE, &s));
	assert_string_equal(find("[b,b]"), "b=1 ");
	assert_null(find("[b,]"));
	high[WC_STRETCH_KEY_MAX] = '\0';
	assert_string_equal(covering("b"), high);

	/* such ends are passed */
	s = stretch_of(&r, high, "d=1", "");
	assert_true(add_to(TABLE, SHAPE, &s));
	assert_string_equal(find("[b,]"), "b=1 d=1 ");
	assert_string_equal(find_reversed("[b,]"), "d=1 b=1 ");

	/* a row's key and a range's bounds may be longer */
	low[WC_STRETCH_KEY_MAX] = 'a';
	s = stretch_of(&r, "a", "a=1", "b");
	r.rows[0].key = wc_slice(low, WC_STRETCH_KEY_MAX + 1);
	assert_true(add_to(TABLE, SHAPE, &s));
	assert_string_equal(find("[a,b)"), "a=1 ");
	commit_to(TABLE, low);
	assert_null(find("[a,b)"));
}

/* Keeps a stretch with one row of so many bytes. */
static bool
keep_large(const char *start, const char *end, size_t bytes)
{
	uint8_t    *row = malloc(bytes);
	WcStretchRow r = {kit_s(start), wc_slice(row, bytes)};
	WcStretch	s = {kit_s(start), kit_s(end), &r, 1, epoch, 0, INT64_MAX};
	bool		kept;

	assert_non_null(row);
	memset(row, start[0], bytes);
	kept = add_to(TABLE, SHAPE, &s);
	free(row);
	return kept;
}

static void
stretches_that_are_too_large_are_refused(void **state)
{
	(void) state;
	set_up_anew(MIB);
	keep("b", "b=1", "c");
	assert_false(keep_large("b", "c", WC_STRETCH_BYTES_MAX));
	assert_false(keep_large("b", "c", 100 * WC_STRETCH_BYTES_MAX));
	assert_string_equal(find("[b,c)"), "b=1 ");
	assert_true(keep_large("b", "c", WC_STRETCH_BYTES_MAX - 500));
	assert_int_equal(strlen(find("[b,c)")), WC_STRETCH_BYTES_MAX - 500);
}

static void
ranges_that_are_too_large_are_not_found(void **state)
{
	const size_t large = WC_STRETCH_BYTES_MAX - 1000;

	(void) state;
	assert_true(keep_large("b", "c", large));
	assert_true(keep_large("c", "d", large));
	assert_true(keep_large("d", "e", large));
	assert_int_equal(strlen(find("[b,d)")), 2 * large);
	assert_int_equal(strlen(find("[c,e)")), 2 * large);
	assert_null(find("[b,e)"));
	assert_null(find_reversed("[b,e)"));
	assert_int_equal(strlen(find_some("[b,e)", true, 2)), 2 * large);
}

/* A shape has a stretch for 8 KiB of the memory at most. */
static void
of_too_many_stretches_the_oldest_go(void **state)
{
	const int	room = (int) (MIB / 8192);

	(void) state;
	set_up_anew(MIB);
	for (int i = 0; i < 3 * room; i++)
	{
		/* in no order of the keys */
		int			k = i * 37 % (3 * room);
		char		row[8];

		snprintf(row, sizeof(row), "%s=", kit_key(k));
		keep(kit_key(k), row, kit_key(k + 1));
	}
	for (int i = 0; i < 3 * room; i++)
	{
		int			k = i * 37 % (3 * room);
		char		range[16];

		snprintf(range, sizeof(range), "[%s,%s)", kit_key(k), kit_key(k + 1));
		assert_int_equal(find(range) != NULL, i >= 2 * room);
	}
}

/* The memory is overwritten again and again.  A stretch's row says in each byte who it is. */
static void
older_stretches_are_overwritten(void **state)
{
	enum
	{
		N = 50
	};
	size_t		lens[N] = {0};
	int			nfound = 0;

	(void) state;
	set_up_anew(MIB);
	for (int i = 0; i < 1500; i++)
	{
		char		start[2] = {(char) ('A' + i * 7 % N), '\0'};
		char		end[2] = {(char) (start[0] + 1), '\0'};
		int			k = start[0] - 'A';
		size_t		len = 1 + below(60000);
		char		range[8];

		assert_true(keep_large(start, end, len));
		lens[k] = len;
		for (int back = 0; back < N; back++)
		{
			int			other = (k + N - back * 7 % N) % N;
			char		c = (char) ('A' + other);
			WcRangeQuery q = query();
			WcRange		r = {wc_slice(&c, 1), wc_slice(&c, 1), true, true};

			if (back > 5 && below(20) > 0)
				continue;
			q.range = &r;
			found.len = 0;
			if (!wc_rangecache_find(cache, &q, &found))
			{
				/* these have room in any case */
				assert_true(back > 5 || i < back);
				continue;
			}
			nfound++;
			assert_int_equal(found.len, lens[other]);
			for (size_t at = 0; at < found.len; at += 1 + found.len / 7)
				assert_int_equal(found.data[at], c);
			assert_int_equal(found.data[found.len - 1], c);
		}
		snprintf(range, sizeof(range), "[%s,%s)", start, end);
		assert_int_equal(strlen(find(range)), len);
	}
	assert_true(nfound > 1500 * 6);
}

static void
without_memory_nothing_is_kept(void **state)
{
	static const uint64_t SIZES[] = {0, 1, 8192, MIB - 1};
	WcBuf		end = WC_BUF_INIT;

	(void) state;
	for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++)
	{
		Rows		r;
		WcStretch	s;

		set_up_anew(SIZES[i]);
		s = stretch_of(&r, "b", "b=1", "d");
		assert_false(wc_rangecache_wants(cache, TABLE, kit_s(SHAPE)));
		assert_false(add_to(TABLE, SHAPE, &s));
		assert_null(find("[b,c]"));
		assert_null(find_reversed("[,]"));
		assert_false(wc_rangecache_covers(cache, TABLE, kit_s(SHAPE), kit_s("b"), NOW, &end));
		assert_false(wc_rangecache_uses(cache, TABLE));
		assert_false(wc_rangecache_note(cache, TABLE, ++epoch));
		wc_rangecache_touch_row(cache, TABLE, kit_s("b"), epoch);
		wc_rangecache_touch_table(cache, TABLE, epoch);
		wc_rangecache_reset(cache);
		assert_null(find("[b,c]"));
	}
	wc_buf_free(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ranges_are_wanted_as_long_as_they_are_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_are_covered_until_they_are_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_new_engine_knows_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_shape_that_is_found_least_makes_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(two_shapes_take_turns_in_one_directory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keys_that_are_too_long_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stretches_that_are_too_large_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ranges_that_are_too_large_are_not_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_too_many_stretches_the_oldest_go, set_up, tear_down),
		cmocka_unit_test_setup_teardown(older_stretches_are_overwritten, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_memory_nothing_is_kept, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
