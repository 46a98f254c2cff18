/*
 * test/unit/test_rangefill.c: rows of a range that was asked for, and of what is around it (rpc/lock/rangefill.h): what a
 * session finds of them is what the engine would answer.
 */
#include "rangefillkit.h"

static void
a_range_that_was_asked_for_is_found(void **state)
{
	Place	   *p = *state;
	Range		r;

	load(p, 0, 2000, "1");
	assert_false(finds(p, rows(p, &r, 300, 350)));
	assert_in_range(ask(p, &r), 1, 4);
	for (int i = 0; i < 4; i++)
	{
		r.range.start_inclusive = i % 2 == 0;
		r.range.stop_inclusive = i / 2 == 0;
		assert_finds(p, &r);
	}
	assert_finds(p, rows(p, &r, 310, 311));
	assert_finds(p, rows(p, &r, 310, 310));
	assert_finds(p, range_of(p, &r, "r00310 is no row", "r0034"));
	assert_false(finds(p, rows(p, &r, 299, 350)));

	/* a session whose epoch has ended before does not find it */
	assert_false(find_in(p, rows(p, &r, 300, 350), wc_getcache_epoch(p->getcache) - 1));
}

static void
a_range_of_several_stretches_is_found(void **state)
{
	Place	   *p = *state;
	Range		r;

	load(p, 0, 1000, "1");
	assert_in_range(ask(p, rows(p, &r, 200, 700)), 3, 8);
	assert_finds(p, &r);
	assert_finds(p, rows(p, &r, 201, 699));
}

/* The session asks for the range, and the first rows of a stretch are read. */
static void
begin(Place *p, const Range *r)
{
	wc_rangefill_asked(&p->fill, KIT_DATABASE, &r->scan, given(p, answer_of(p, r)));
	for (int i = 0; i < 2; i++)
		wc_rangefill_next(&p->fill);
	assert_true(wc_rangefill_left(&p->fill));
	assert_false(finds(p, r));
}

static void
a_stretch_that_is_being_read_comes_before_the_next_range(void **state)
{
	Place	   *p = *state;
	Range		first;
	Range		second;

	load(p, 0, 1000, "1");
	rows(p, &first, 200, 220);
	rows(p, &second, 600, 620);
	begin(p, &first);
	(void) ask(p, &second);
	assert_finds(p, &first);
	assert_false(finds(p, &second));
	(void) ask(p, &second);
	assert_finds(p, &second);

	/* unless it cannot be kept any more */
	wc_rangecache_reset(p->cache);
	begin(p, &first);
	load(p, 900, 901, "2");
	(void) ask(p, &second);
	assert_false(finds(p, &first));
	assert_finds(p, &second);
}

static void
a_stretch_that_is_being_read_can_be_given_up(void **state)
{
	Place	   *p = *state;
	Range		r;

	load(p, 0, 1000, "1");
	begin(p, rows(p, &r, 200, 220));
	wc_rangefill_end(&p->fill);
	assert_false(wc_rangefill_left(&p->fill));
	assert_false(finds(p, &r));
	begin(p, &r);
	assert_int_equal(make_all(p), 1);
	assert_finds(p, &r);

	/* after many requests */
	begin(p, rows(p, &r, 600, 620));
	for (int i = 0; i < 100; i++)
		wc_rangefill_wait(&p->fill);
	assert_true(wc_rangefill_left(&p->fill));
	wc_rangefill_wait(&p->fill);
	assert_false(wc_rangefill_left(&p->fill));

	/* the session ends */
	begin(p, rows(p, &r, 600, 620));
}

/* A long range is not read to its end for one request. */
static void
one_request_reads_a_few_stretches(void **state)
{
	Place	   *p = *state;
	Range		r;

	load(p, 0, 6000, "1");
	assert_int_equal(ask(p, rows(p, &r, 0, 6000)), 16);
	assert_true(finds_row(p, 0));
	assert_false(finds_row(p, 5900));
	assert_int_equal(ask(p, &r), 16);
}

/* A session that has not said how many rows it wants may want few of them. */
static void
a_long_range_without_a_limit_is_not_found(void **state)
{
	Place	   *p = *state;
	Range		r;

	load(p, 0, 1500, "1");
	(void) ask(p, rows(p, &r, 0, 1400));
	(void) ask(p, &r);
	assert_true(finds(p, rows(p, &r, 100, 1000)));
	assert_false(finds(p, rows(p, &r, 100, 1200)));
	r.scan.row_limit = 1050;
	assert_true(finds(p, &r));
}

/* Of the rows behind the limit nothing is known, but for those of the last row's stretch. */
static void
a_limit_ends_the_reading(void **state)
{
	Place	   *p = *state;
	Range		r;

	load(p, 0, 2000, "1");
	range_of(p, &r, key_of(500), "");
	r.scan.row_limit = 20;
	assert_in_range(ask(p, &r), 1, 3);
	assert_finds(p, rows(p, &r, 500, 520));
	assert_false(finds_row(p, 499));
	assert_false(finds_row(p, 1100));
	range_of(p, &r, key_of(500), "");
	assert_false(finds(p, &r));

	range_of(p, &r, "", key_of(1500));
	r.scan.row_limit = 20;
	r.scan.reversed = true;
	r.range.stop_inclusive = true;
	assert_in_range(ask(p, &r), 1, 3);
	assert_true(finds(p, &r));
	assert_finds(p, rows(p, &r, 1481, 1501));
	assert_false(finds_row(p, 1480));
}

/* There were fewer rows than the limit: the whole range is kept. */
static void
a_limit_that_is_not_reached_ends_nothing(void **state)
{
	Place	   *p = *state;
	Range		r;

	load(p, 0, 2000, "1");
	range_of(p, &r, key_of(1950), "");
	r.scan.row_limit = 100;
	(void) ask(p, &r);
	assert_finds(p, &r);

	range_of(p, &r, "", key_of(40));
	r.scan.row_limit = 100;
	r.scan.reversed = true;
	(void) ask(p, &r);
	assert_finds(p, &r);
}

static void
a_small_table_is_kept_as_a_whole(void **state)
{
	Place	   *p = *state;
	Range		r;

	load(p, 0, 20, "1");
	assert_in_range(ask(p, range_of(p, &r, "", "")), 1, 3);
	assert_finds(p, &r);
	assert_finds(p, range_of(p, &r, "", key_of(7)));
	assert_finds(p, range_of(p, &r, key_of(7), ""));
	assert_finds(p, range_of(p, &r, "zzz", ""));
	assert_finds(p, range_of(p, &r, "", "a"));
	r.scan.table_id++;
	assert_false(find_in(p, &r, UINT64_MAX));
}

/* From a place without a row, and to one. */
static void
bounds_need_not_be_rows(void **state)
{
	Place	   *p = *state;
	Range		r;

	load(p, 0, 1000, "1");
	(void) ask(p, range_of(p, &r, "r005", "r0055"));
	assert_finds(p, &r);
	(void) ask(p, range_of(p, &r, "a", "b"));
	assert_finds(p, &r);
	assert_finds(p, range_of(p, &r, "a", key_of(0)));
	(void) ask(p, range_of(p, &r, "x", "y"));
	assert_finds(p, &r);
	assert_finds(p, range_of(p, &r, "x", ""));
}

/* Also the row with which the next stretch begins: of such rows, every few begin one. */
static void
the_last_row_belongs_to_the_range(void **state)
{
	Place	   *p = *state;
	Range		r;
	char		value[12000];

	fill_with(value, sizeof(value), 'v');
	load(p, 0, 40, value);
	for (int i = 2; i < 39; i++)
	{
		wc_rangecache_reset(p->cache);
		rows(p, &r, i - 2, i);
		r.range.stop_inclusive = true;
		assert_true(ask(p, &r) > 0);
		assert_true(finds(p, &r));

		wc_rangecache_reset(p->cache);
		rows(p, &r, i - 2, 39);
		r.scan.row_limit = 3;
		assert_true(ask(p, &r) > 0);
		assert_true(finds(p, &r));
	}
}

static void
ranges_without_rows_are_found(void **state)
{
	Place	   *p = *state;
	Range		r;

	/* an empty table */
	assert_int_equal(ask(p, range_of(p, &r, "k", "l")), 1);
	assert_finds(p, &r);
	assert_finds(p, range_of(p, &r, "m", ""));
	load(p, 0, 1000, "1");
	assert_false(finds(p, &r));

	/* between two rows, and of two bounds that are in the wrong order */
	assert_int_equal(ask(p, range_of(p, &r, "r00500a", "r00500b")), 1);
	assert_finds(p, &r);
	assert_int_equal(ask(p, rows(p, &r, 800, 700)), 1);
	assert_true(finds(p, &r));
	r.scan.reversed = true;
	assert_int_equal(ask(p, &r), 1);
	(void) finds(p, &r);
}

/* Rows of a few KB, in one cell or in many. */
static void
wide_rows_are_found(void **state)
{
	Place	   *p = *state;
	Range		r;
	char		value[7000];

	for (int ncells = 1; ncells <= 100; ncells *= 10)
	{
		for (int bytes = 2000; bytes <= 6000; bytes += 2000)
		{
			char		name[32];

			snprintf(name, sizeof(name), "t%d_%d", ncells, bytes);
			kit_create(&p->kit, name, WC_PACKING_ROW, 1);
			fill_with(value, (size_t) (bytes / ncells + 1), 'v');
			for (int i = 0; i < 40; i++)
			{
				for (int k = 0; k < ncells; k++)
				{
					char		qualifier[8];

					snprintf(qualifier, sizeof(qualifier), "q%02d", k);
					kit_put(&p->kit, key_of(i), 1, qualifier, KIT_LATEST, value);
				}
			}
			kit_commit(&p->kit);
			(void) ask(p, rows(p, &r, 10, 30));
			if (!finds(p, &r))
				fail_msg("rows of %d cells and %d bytes are not found", ncells, bytes);
			assert_finds(p, &r);
		}
	}
}

/* Rows of which few have room in a stretch: each that was asked for is found, as are pages of nearly as many bytes as an answer has. */
static void
rows_that_fill_answers_are_found(void **state)
{
	static const struct
	{
		int			ncells;
		size_t		bytes;		/* of each */
		int			page;
	}			ROWS[] = {{1, 1100, 100}, {1, 12000, 9}, {1000, 4, 7}, {4000, 4, 1}, {1, 60000, 1}};
	Place	   *p = *state;
	Range		r;
	static char value[60001];

	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
	{
		char		name[32];

		snprintf(name, sizeof(name), "large%zu", i);
		kit_create(&p->kit, name, WC_PACKING_ROW, 1);
		fill_with(value, ROWS[i].bytes + 1, 'v');
		for (int row = 0; row < ROWS[i].page + 24; row++)
		{
			for (int k = 0; k < ROWS[i].ncells; k++)
			{
				char		qualifier[16];

				snprintf(qualifier, sizeof(qualifier), "%04d", k);
				kit_put(&p->kit, key_of(row), 1, qualifier, KIT_LATEST, value);
			}
		}
		kit_commit(&p->kit);
		for (int from = 0; from < 20; from++)
		{
			if (!finds_row(p, from))
			{
				(void) ask(p, rows(p, &r, from, from + 1));
				assert_true(finds_row(p, from));
			}
			rows(p, &r, from, 9999);
			r.scan.row_limit = (uint64_t) ROWS[i].page;
			(void) ask(p, &r);
			if (!finds(p, &r))
				fail_msg("a page of %d rows of %d cells of %zu bytes is not found", ROWS[i].page, ROWS[i].ncells, ROWS[i].bytes);
		}
	}
}

/* What is too large is not kept; what is before it may be. */
static void
rows_that_are_too_large_are_not_kept(void **state)
{
	Place	   *p = *state;
	Range		r;
	char	   *value = malloc(WC_STRETCH_BYTES_MAX + 100);

	assert_non_null(value);
	fill_with(value, WC_STRETCH_BYTES_MAX + 100, 'v');
	load(p, 0, 100, "1");
	load(p, 50, 51, value);
	(void) ask(p, rows(p, &r, 45, 55));
	assert_false(finds(p, &r));
	assert_false(finds_row(p, 50));
	(void) ask(p, rows(p, &r, 50, 51));
	assert_false(finds(p, &r));

	/* the rows behind it are kept as ever */
	(void) ask(p, rows(p, &r, 51, 60));
	assert_finds(p, &r);
	free(value);
}

/* Rows that fit one by one, and not together: a stretch ends before the one that does not fit. */
static void
large_rows_are_kept_one_by_one(void **state)
{
	Place	   *p = *state;
	Range		r;
	char	   *value = malloc(60000);

	assert_non_null(value);
	fill_with(value, 60000, 'v');
	load(p, 0, 10, value);
	(void) ask(p, rows(p, &r, 3, 6));
	assert_finds(p, &r);
	free(value);
}

static void
large_rows_behind_small_ones_are_kept(void **state)
{
	Place	   *p = *state;
	Range		r;
	char	   *value = malloc(80000);

	assert_non_null(value);
	fill_with(value, 80000, 'v');
	load(p, 0, 10, "1");
	for (int i = 3; i < 6; i++)
		load(p, i, i + 1, value);
	(void) ask(p, rows(p, &r, 0, 8));
	assert_finds(p, &r);
	free(value);
}

/* Two such rows do not fit into one stretch: it ends before the second. */
static void
large_rows_among_many_small_ones_are_kept(void **state)
{
	Place	   *p = *state;
	Range		r;
	char	   *value = malloc(80000);

	assert_non_null(value);
	fill_with(value, 80000, 'v');
	load(p, 0, 200, "1");
	load(p, 100, 102, value);
	(void) ask(p, rows(p, &r, 50, 150));
	assert_finds(p, &r);
	free(value);
}

static void
long_keys_are_found(void **state)
{
	Place	   *p = *state;
	Range		r;
	char		key[1500];

	for (int i = 0; i < 20; i++)
	{
		fill_with(key, sizeof(key), (char) ('a' + i));
		kit_put(&p->kit, key, 1, "a", KIT_LATEST, "1");
	}
	kit_commit(&p->kit);
	(void) ask(p, range_of(p, &r, "", ""));
	(void) finds(p, &r);
	fill_with(key, sizeof(key), 'c');
	(void) ask(p, range_of(p, &r, key, ""));
	assert_false(finds(p, &r));
	(void) ask(p, range_of(p, &r, "c", "d"));
	(void) finds(p, &r);
}

static void
ranges_are_joined(void **state)
{
	Place	   *p = *state;
	Range		r;
	int			n;

	load(p, 0, 2000, "1");
	n = ask(p, rows(p, &r, 500, 900));

	/* what is kept is not read again */
	assert_int_equal(ask(p, &r), n);
	assert_true(ask(p, rows(p, &r, 600, 700)) < n);
	assert_finds(p, rows(p, &r, 500, 900));

	/* from the middle on, and then from before */
	(void) ask(p, rows(p, &r, 800, 1200));
	assert_finds(p, &r);
	assert_finds(p, rows(p, &r, 500, 1200));
	(void) ask(p, rows(p, &r, 400, 600));
	assert_finds(p, &r);
	assert_finds(p, rows(p, &r, 400, 1200));
	assert_false(finds_row(p, 399));
}

/* Other columns of the same rows are another matter. */
static void
each_shape_is_kept_for_itself(void **state)
{
	Place	   *p = *state;
	Range		r;
	Range		others;
	WcColumn	column = {.family = 2,.kind = WC_COLUMN_EXACT,.qualifier = kit_s("b")};

	for (int i = 0; i < 100; i++)
	{
		kit_put(&p->kit, key_of(i), 1, "a", KIT_LATEST, "1");
		if (i % 3 == 0)
			kit_put(&p->kit, key_of(i), 2, "b", KIT_LATEST, "2");
	}
	kit_commit(&p->kit);
	(void) ask(p, range_of(p, &r, "", ""));
	assert_finds(p, &r);
	range_of(p, &others, "", "");
	others.scan.ncolumns = 1;
	others.scan.columns = &column;
	assert_false(finds(p, &others));
	(void) ask(p, &others);
	assert_finds(p, &others);
	others.scan.rows_by_existence = true;
	assert_false(finds(p, &others));
	(void) ask(p, &others);
	assert_finds(p, &others);
	others.scan.want_ts = true;
	(void) ask(p, &others);
	assert_finds(p, &others);
	assert_finds(p, &r);
}

/* Only the stretch of the row that is written, or would be there, is not found any more. */
static void
a_commit_ends_the_stretch_of_its_row(void **state)
{
	static const char *const others[] = {"r00400xx", "r00400", NULL};
	Place	   *p = *state;
	Range		r;

	load(p, 0, 1000, "1");
	for (int round = 0; round < 3; round++)
	{
		int			first = 0;
		int			last;
		const char *row = others[round] != NULL ? others[round] : key_of(400);

		(void) ask(p, rows(p, &r, 200, 700));
		assert_finds(p, &r);
		if (round == 1)
			kit_delete(&p->kit, WC_DELETE_FAMILY, row, 1, "", KIT_LATEST);
		else
			kit_put(&p->kit, row, 1, "a", KIT_LATEST, "2");
		kit_commit(&p->kit);
		assert_false(finds(p, &r));
		for (first = 200; finds_row(p, first); first++)
			;
		for (last = 699; finds_row(p, last); last--)
			;
		assert_true(first <= 400 && last >= 399 && last >= first);
		assert_true(last - first < 350);
		for (int i = first; i <= last; i++)
			assert_false(finds_row(p, i));

		/* the rest is not read again */
		assert_in_range(ask(p, &r), 1, 8);
		assert_finds(p, &r);
	}
}

static void
a_commit_of_other_tables_ends_nothing(void **state)
{
	Place	   *p = *state;
	Range		r;
	uint32_t	table = p->kit.table;

	load(p, 0, 100, "1");
	(void) ask(p, rows(p, &r, 10, 50));
	kit_create(&p->kit, "other", WC_PACKING_ROW, 1);
	kit_commit(&p->kit);
	load(p, 0, 100, "2");
	p->kit.table = table;
	assert_finds(p, rows(p, &r, 10, 50));

	/* rows that a commit writes between two steps are not kept as they were */
	load(p, 200, 1000, "1");
	wc_rangefill_asked(&p->fill, KIT_DATABASE, &rows(p, &r, 300, 900)->scan, given(p, answer_of(p, &r)));
	for (int i = 300; wc_rangefill_left(&p->fill); i += 50)
	{
		wc_rangefill_next(&p->fill);
		load(p, i, i + 1, "2");
		for (int k = 300; k < 900; k += 7)
			(void) finds_row(p, k);
	}
}

/* Many rows in one commit, told one by one or not. */
static void
a_large_commit_ends_the_stretches_of_its_rows(void **state)
{
	Place	   *p = *state;
	Range		r;

	load(p, 0, 2000, "1");
	(void) ask(p, rows(p, &r, 0, 200));
	assert_finds(p, &r);
	load(p, 1000, 2100, "2");
	(void) finds(p, &r);
	load(p, 100, 1300, "3");
	for (int i = 0; i < 100; i++)
		(void) finds_row(p, i);
	for (int i = 100; i < 1300; i++)
		assert_false(finds_row(p, i));
	(void) ask(p, &r);
	assert_finds(p, &r);
}

static void
alter(Place *p, const char *name, uint32_t versions)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;
	WcFamilyDesc families[2];
	WcTableDesc desc = {
		.id = p->kit.table,.database = KIT_DATABASE,.ns = kit_s("default"),.name = kit_s(name),.nfamilies = 2,
		.families = families,.next_family_id = 3
	};

	attrs.packing = WC_PACKING_ROW;
	attrs.versions = versions;
	families[0] = (WcFamilyDesc) {.id = 1,.name = kit_s("f"),.attrs = attrs};
	families[1] = (WcFamilyDesc) {.id = 2,.name = kit_s("g"),.attrs = attrs};
	assert_ok(&p->kit, wc_batch_alter_table(&p->kit.builder, p->kit.cid, &desc, &p->kit.err));
	kit_commit(&p->kit);
}

static void
changes_of_the_table_end_all_of_it(void **state)
{
	Place	   *p = *state;
	Range		r;

	kit_create(&p->kit, "v", WC_PACKING_ROW, 3);
	kit_commit(&p->kit);
	load(p, 0, 100, "1");
	load(p, 0, 100, "2");
	rows(p, &r, 10, 60);
	r.scan.versions = 3;
	(void) ask(p, &r);
	assert_finds(p, &r);
	alter(p, "v", 1);
	assert_false(finds(p, &r));
	(void) ask(p, &r);
	assert_finds(p, &r);

	assert_ok(&p->kit, wc_batch_truncate_table(&p->kit.builder, p->kit.cid, p->kit.table, &p->kit.err));
	kit_commit(&p->kit);
	assert_false(finds(p, &r));
	(void) ask(p, &r);
	assert_finds(p, &r);
	assert_int_equal(p->found.len, 1);

	/* asked for, and then dropped */
	load(p, 0, 100, "3");
	wc_rangefill_asked(&p->fill, KIT_DATABASE, &r.scan, given(p, answer_of(p, &r)));
	assert_true(wc_rangefill_left(&p->fill));
	assert_ok(&p->kit, wc_batch_drop_table(&p->kit.builder, p->kit.cid, p->kit.table, &p->kit.err));
	kit_commit(&p->kit);
	wc_rangefill_next(&p->fill);
	assert_false(wc_rangefill_left(&p->fill));
	assert_false(find_in(p, &r, UINT64_MAX));
}

static void
create_short_lived(Place *p, const char *name)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;

	attrs.packing = WC_PACKING_ROW;
	attrs.ttl_us = 1000000;
	kit_create_attrs(&p->kit, name, &attrs);
	kit_commit(&p->kit);
}

static void
stretches_end_with_their_cells(void **state)
{
	Place	   *p = *state;
	Range		r;

	create_short_lived(p, "short");
	load(p, 0, 50, "1");
	kit_now += 500000;
	load(p, 50, 100, "1");
	(void) ask(p, range_of(p, &r, "", ""));
	assert_finds(p, &r);
	kit_now += 400000;
	assert_finds(p, &r);
	kit_now += 200000;
	assert_false(finds(p, &r));

	/* a clock that was set back */
	kit_now -= 400000;
	assert_finds(p, &r);
	kit_now -= 400000;
	assert_false(finds(p, &r));
	kit_now += 600000;
}

/* Stretches that have ended by themselves are read again when they are asked for. */
static void
expired_stretches_are_read_again(void **state)
{
	Place	   *p = *state;
	Range		r;

	create_short_lived(p, "expired");
	load(p, 0, 50, "1");
	kit_now += 500000;
	load(p, 50, 100, "1");
	(void) ask(p, range_of(p, &r, "", ""));
	assert_finds(p, &r);
	kit_now += 600000;
	assert_false(finds(p, &r));
	(void) ask(p, &r);
	assert_finds(p, &r);

	/* and those that were read by a clock that has been set back since */
	kit_now -= 400000;
	assert_false(finds(p, &r));
	(void) ask(p, &r);
	assert_finds(p, &r);
	kit_now += 1000000;
}

static bool
is_wanted(Place *p, const Range *r)
{
	wc_rangefill_asked(&p->fill, KIT_DATABASE, &r->scan, given(p, answer_of(p, r)));
	return wc_rangefill_left(&p->fill);
}

static void
scans_that_are_not_filled(void **state)
{
	Place	   *p = *state;
	Range		r;
	WcAggregate aggregate = {.kind = WC_AGGREGATE_ROWS};
	WcAggregation aggregation = {.naggregates = 1,.aggregates = &aggregate};
	WcRangeFill none;

	load(p, 0, 10, "1");
	rows(p, &r, 2, 5);
	assert_true(is_wanted(p, &r));
#define assert_unwanted(change) \
	do { \
		rows(p, &r, 2, 5); \
		change; \
		assert_false(is_wanted(p, &r)); \
	} while (0)
	assert_unwanted(r.scan.filter_text = kit_s("PageFilter(1)"));
	assert_unwanted(r.scan.row_offset = 1);
	assert_unwanted(r.scan.merged = true);
	assert_unwanted(r.scan.raw = true);
	assert_unwanted(r.scan.measured = true);
	assert_unwanted(r.scan.as_of_ts = kit_now);
	assert_unwanted(r.scan.count_cells = true; r.scan.row_limit = 2);
	assert_unwanted(r.scan.rows_by_existence = true; r.scan.aggregation = &aggregation);
#undef assert_unwanted

	/* nor anything without memory for it */
	rows(p, &r, 2, 5);
	wc_rangefill_init(&none, p->kit.engine, NULL, p->getcache);
	wc_rangefill_asked(&none, KIT_DATABASE, &r.scan, given(p, answer_of(p, &r)));
	assert_false(wc_rangefill_left(&none));
	wc_rangefill_free(&none);
}

/* How a Scan's answer is divided does not matter. */
static void
batches_of_rows_do_not_matter(void **state)
{
	Place	   *p = *state;
	Range		r;

	load(p, 0, 100, "1");
	rows(p, &r, 20, 50);
	r.scan.batch_rows = 3;
	(void) ask(p, &r);
	assert_finds(p, &r);
	assert_finds(p, rows(p, &r, 20, 50));
}

/* A few deleted rows are passed over; many are not. */
static void
deleted_rows_do_not_take_long(void **state)
{
	Place	   *p = *state;
	Range		r;

	load(p, 0, 12000, "1");
	for (int i = 0; i < 100; i++)
		kit_delete(&p->kit, WC_DELETE_FAMILY, key_of(i % 2 == 0 ? i : 100 + i), 1, "", KIT_LATEST);
	for (int i = 1000; i < 11900; i++)
		kit_delete(&p->kit, WC_DELETE_FAMILY, key_of(i), 1, "", KIT_LATEST);
	kit_commit(&p->kit);
	(void) ask(p, rows(p, &r, 0, 200));
	assert_finds(p, &r);
	/* a scan to the end would note that they are gone, and later ones would not read them */
	assert_in_range(ask_with(p, rows(p, &r, 990, 11990), wc_slice("", 1)), 1, 2);
	assert_false(finds(p, &r));
	assert_false(finds_row(p, 2000));
	(void) ask(p, range_of(p, &r, key_of(11990), ""));
	assert_finds(p, &r);
}

/* Statistics count what sessions read. */
static void
read_statistics(Place *p, WcBuf *out)
{
	wc_buf_reset(out, SIZE_MAX);
	assert_ok(&p->kit, wc_engine_table_statistics(p->kit.engine, KIT_DATABASE, out, &p->kit.err));
}

/* Waits until neither a flush nor a compaction changes them any more. */
static void
read_quiet_statistics(Place *p, WcBuf *out)
{
	WcBuf		last = WC_BUF_INIT;
	int64_t		until = wc_clock_monotonic_us() + PATIENCE_S * WC_USEC_PER_SEC;

	kit_flush(&p->kit);
	do
	{
		if (wc_clock_monotonic_us() > until)
			fail_msg("the statistics go on changing");
		read_statistics(p, &last);
		usleep(100 * 1000);
		read_statistics(p, out);
	} while (!wc_slice_eq(wc_buf_slice(&last), wc_buf_slice(out)));
	wc_buf_free(&last);
}

static void
the_rows_are_not_counted(void **state)
{
	Place	   *p = *state;
	Range		r;
	WcBuf		before = WC_BUF_INIT;
	WcBuf		after = WC_BUF_INIT;

	load(p, 0, 500, "1");
	rows(p, &r, 100, 300);
	wc_rangefill_asked(&p->fill, KIT_DATABASE, &r.scan, given(p, answer_of(p, &r)));
	read_quiet_statistics(p, &before);
	while (wc_rangefill_left(&p->fill))
		wc_rangefill_next(&p->fill);
	read_statistics(p, &after);
	assert_true(wc_slice_eq(wc_buf_slice(&before), wc_buf_slice(&after)));
	wc_buf_free(&before);
	wc_buf_free(&after);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_range_that_was_asked_for_is_found, set_up),
		cmocka_unit_test_setup(a_range_of_several_stretches_is_found, set_up),
		cmocka_unit_test_setup(a_stretch_that_is_being_read_comes_before_the_next_range, set_up),
		cmocka_unit_test_setup(a_stretch_that_is_being_read_can_be_given_up, set_up),
		cmocka_unit_test_setup(one_request_reads_a_few_stretches, set_up),
		cmocka_unit_test_setup(a_long_range_without_a_limit_is_not_found, set_up),
		cmocka_unit_test_setup(a_limit_ends_the_reading, set_up),
		cmocka_unit_test_setup(a_limit_that_is_not_reached_ends_nothing, set_up),
		cmocka_unit_test_setup(a_small_table_is_kept_as_a_whole, set_up),
		cmocka_unit_test_setup(bounds_need_not_be_rows, set_up),
		cmocka_unit_test_setup(the_last_row_belongs_to_the_range, set_up),
		cmocka_unit_test_setup(ranges_without_rows_are_found, set_up),
		cmocka_unit_test_setup(wide_rows_are_found, set_up),
		cmocka_unit_test_setup(rows_that_fill_answers_are_found, set_up),
		cmocka_unit_test_setup(rows_that_are_too_large_are_not_kept, set_up),
		cmocka_unit_test_setup(large_rows_are_kept_one_by_one, set_up),
		cmocka_unit_test_setup(large_rows_behind_small_ones_are_kept, set_up),
		cmocka_unit_test_setup(large_rows_among_many_small_ones_are_kept, set_up),
		cmocka_unit_test_setup(long_keys_are_found, set_up),
		cmocka_unit_test_setup(ranges_are_joined, set_up),
		cmocka_unit_test_setup(each_shape_is_kept_for_itself, set_up),
		cmocka_unit_test_setup(a_commit_ends_the_stretch_of_its_row, set_up),
		cmocka_unit_test_setup(a_commit_of_other_tables_ends_nothing, set_up),
		cmocka_unit_test_setup(a_large_commit_ends_the_stretches_of_its_rows, set_up),
		cmocka_unit_test_setup(changes_of_the_table_end_all_of_it, set_up),
		cmocka_unit_test_setup(stretches_end_with_their_cells, set_up),
		cmocka_unit_test_setup(expired_stretches_are_read_again, set_up),
		cmocka_unit_test_setup(scans_that_are_not_filled, set_up),
		cmocka_unit_test_setup(batches_of_rows_do_not_matter, set_up),
		cmocka_unit_test_setup(deleted_rows_do_not_take_long, set_up),
		cmocka_unit_test_setup(the_rows_are_not_counted, set_up),
	};

	return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
