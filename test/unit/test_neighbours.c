/*
 * test/unit/test_neighbours.c: answers to Gets of the rows behind one that was asked for (rpc/lock/neighbours.h): each is what
 * the engine would answer, and their number and time are limited.
 */
#include "enginekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/store/state.h"
#include "model/cellblock.h"
#include "random.h"
#include "rpc/lock/epochs.h"
#include "rpc/lock/neighbours.h"

typedef struct Site
{
	Kit			kit;
	WcGetCache *cache;
	WcEpochs   *epochs;
	WcNeighbours neighbours;
	WcBuf		get;
	WcBuf		found;
	WcBuf		answer;
} Site;

/* Keys of several lengths, each valid for a few calls. */
static const char *
key_of(int i)
{
	static char keys[4][16];
	static int	turn;

	turn = (turn + 1) % 4;
	snprintf(keys[turn], sizeof(keys[turn]), "r%05d%.*s", i, i % 4, "xyz");
	return keys[turn];
}

static void
begin(Site *s, size_t cache_bytes)
{
	s->cache = kit_getcache(cache_bytes, 1);
	s->epochs = kit_open_with_epochs(&s->kit, s->cache);
	wc_neighbours_init(&s->neighbours, s->kit.engine, wc_epochs_cache(s->epochs));
}

static void
end(Site *s)
{
	wc_neighbours_free(&s->neighbours);
	wc_epochs_free(s->epochs);
	kit_close(&s->kit);
	free(s->cache);
}

static int
set_up(void **state)
{
	Site	   *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	begin(s, 4 << 20);
	*state = s;
	return 0;
}

static int
tear_down(void **state)
{
	Site	   *s = *state;

	end(s);
	wc_buf_free(&s->get);
	wc_buf_free(&s->found);
	wc_buf_free(&s->answer);
	free(s);
	return 0;
}

static void
encode(Site *s, const KitGet *get)
{
	wc_buf_reset(&s->get, SIZE_MAX);
	wc_scan_encode(&s->get, &get->scan);
}

static void
get_of(Site *s, KitGet *get, WcSlice row)
{
	kit_get(get, s->kit.table, row);
	encode(s, get);
}

/* What the engine answers. */
static WcSlice
answer_of(Site *s, const KitGet *get)
{
	WcReadPoint at = {.database = KIT_DATABASE};
	WcScanner  *scanner;

	assert_ok(&s->kit, wc_scanner_open(wc_engine_storage(s->kit.engine), &get->scan, &at, &scanner, &s->kit.err));
	wc_buf_reset(&s->answer, SIZE_MAX);
	assert_int_equal(wc_scanner_next(scanner, &s->answer, WC_BLOCK_MAX, 0, &s->kit.err), WC_END);
	wc_scanner_close(scanner);
	return wc_buf_slice(&s->answer);
}

static bool
find(Site *s, const KitGet *get)
{
	return kit_find_kept(s->cache, get, wc_buf_slice(&s->get), &s->found);
}

/* Reads all that is left; returns the number of rows, and 1 if it finds the table's end. */
static int
read_all(Site *s)
{
	int			n = 0;

	for (; wc_neighbours_left(&s->neighbours); n++)
		wc_neighbours_next(&s->neighbours);
	return n;
}

static int
ask(Site *s, const char *row)
{
	KitGet		get;

	get_of(s, &get, kit_s(row));
	wc_neighbours_asked(&s->neighbours, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), 100);
	return read_all(s);
}

static bool
kept(Site *s, const char *row)
{
	KitGet		get;

	get_of(s, &get, kit_s(row));
	return find(s, &get);
}

static void
load(Site *s, int from, int to, const char *value)
{
	for (int i = from; i < to; i++)
		kit_put(&s->kit, key_of(i), 1, "a", KIT_LATEST, value);
	kit_commit(&s->kit);
}

static void
the_next_rows_are_answered(void **state)
{
	Site	   *s = *state;
	KitGet		get;

	load(s, 0, 200, "1");
	assert_int_equal(ask(s, key_of(50)), 64);
	assert_false(kept(s, key_of(49)));
	assert_false(kept(s, key_of(50))); /* its answer is kept by those who have made it */
	for (int i = 51; i <= 114; i++)
	{
		get_of(s, &get, kit_s(key_of(i)));
		assert_true(find(s, &get));
		assert_true(wc_slice_eq(wc_buf_slice(&s->found), answer_of(s, &get)));
	}
	assert_false(kept(s, key_of(115)));
	assert_int_equal(ask(s, key_of(190)), 9 + 1);
	assert_true(kept(s, key_of(199)));
	assert_int_equal(ask(s, key_of(199)), 1);
	assert_int_equal(ask(s, "zzz"), 1);
}

/* Between two rows the thread may do something else, for which the reading is paused, also while others write. */
static void
a_pause_changes_nothing(void **state)
{
	Site	   *s = *state;
	KitGet		get;

	load(s, 0, 100, "1");
	get_of(s, &get, kit_s(key_of(10)));
	wc_neighbours_asked(&s->neighbours, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), 100);
	wc_neighbours_pause(&s->neighbours);
	for (int i = 11; i <= 74; i++)
	{
		assert_true(wc_neighbours_left(&s->neighbours));
		wc_neighbours_next(&s->neighbours);
		assert_true(kept(s, key_of(i)) || i % 5 == 1);
		if (i % 3 == 0)
			wc_neighbours_pause(&s->neighbours);
		if (i % 5 == 0)
			load(s, i + 1, i + 2, "2"); /* the row that is read next, perhaps as it was before */
	}
	assert_false(wc_neighbours_left(&s->neighbours));
	for (int i = 11; i <= 74; i++)
	{
		get_of(s, &get, kit_s(key_of(i)));
		if (find(s, &get))
			assert_true(wc_slice_eq(wc_buf_slice(&s->found), answer_of(s, &get)));
		else
			assert_int_equal(i % 5, 1);
	}
}

static void
rows_that_are_kept_end_the_reading(void **state)
{
	Site	   *s = *state;

	load(s, 0, 200, "1");
	assert_int_equal(ask(s, key_of(50)), 64);
	assert_int_equal(ask(s, key_of(60)), 4);
	assert_int_equal(ask(s, key_of(48)), 6);
	load(s, 60, 61, "2");
	assert_int_equal(ask(s, key_of(58)), 6);
	assert_true(kept(s, key_of(60)));
}

/* The session asks for a row; how many rows are read though its next request has come? */
static int
ask_and_go_on(Site *s, int i)
{
	KitGet		get;
	int			n = 0;

	get_of(s, &get, kit_s(key_of(i)));
	wc_neighbours_asked(&s->neighbours, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), 100);
	for (; wc_neighbours_eager(&s->neighbours); n++)
		wc_neighbours_next(&s->neighbours);
	wc_neighbours_pause(&s->neighbours);
	return n;
}

/* Asks for the rows from i on that are not kept, as a loop over keys does, until `to`. */
static int
loop_over(Site *s, int i, int to, int *nasked)
{
	int			most = 0;

	for (*nasked = 0; i < to; i++)
	{
		int			n;

		if (kept(s, key_of(i)))
			continue;
		n = ask_and_go_on(s, i);
		most = n > most ? n : most;
		++*nasked;
	}
	return most;
}

static void
rows_in_order_are_read_ahead(void **state)
{
	Site	   *s = *state;
	int			nasked;

	load(s, 0, 3000, "1");
	assert_int_equal(loop_over(s, 100, 1100, &nasked), 64);
	assert_in_range(nasked, 1000 / 65, 1000 / 65 + 10);
	assert_true(kept(s, key_of(1100)));

	/* which ends with the order */
	assert_int_equal(ask_and_go_on(s, 2000), 0);
	assert_int_equal(ask_and_go_on(s, 1900), 0);
	assert_int_equal(loop_over(s, 1910, 1999, &nasked), 64);
}

/* Rows that are far from each other, in the order of their keys: the rows between are read in vain, less and less often. */
static void
rows_far_from_each_other_are_not(void **state)
{
	Site	   *s = *state;
	int			nread = 0;

	load(s, 0, 3000, "1");
	for (int i = 0; i < 3000; i += 10)
		nread += ask_and_go_on(s, i);
	assert_in_range(nread, 1, 8 * 8);
}

/* The next request has come while the rows are read, and is for one of them. */
static void
a_row_that_is_being_read_does_not_end_the_order(void **state)
{
	Site	   *s = *state;
	int			i = 0;

	load(s, 0, 400, "1");
	while (ask_and_go_on(s, i) == 0)
		i++;
	assert_in_range(i, 1, 10);
	for (int j = 1; j <= 4; j++)
	{
		assert_true(kept(s, key_of(i + j)));
		assert_int_equal(ask_and_go_on(s, i + j), 0);
	}
	for (int j = 5; j <= 8; j++)
		assert_true(kept(s, key_of(i + j)));
	assert_int_equal(ask_and_go_on(s, i + 9), 16);
}

/* Memory that has been full has answers that sessions have asked for. */
static void
no_answer_is_pushed_out(void **state)
{
	Site	   *s = *state;
	int			n = 0;

	end(s);
	begin(s, 64 << 10);
	load(s, 0, 5000, "1");
	for (int i = 0; i < 5000; i += 10)
		(void) ask(s, key_of(i));
	for (int i = 0; i < 5000; i++)
		n += kept(s, key_of(i));
	assert_in_range(n, 100, 1000);
	for (int i = 0; i < 5000; i += 10)
		(void) ask(s, key_of(i));
	for (int i = 0; i < 5000; i++)
		n -= kept(s, key_of(i));
	assert_int_equal(n, 0);
}

static void
gets_that_are_not_answered_in_advance(void **state)
{
	Site	   *s = *state;
	KitGet		get;

	load(s, 0, 10, "1");
	get_of(s, &get, kit_s(key_of(1)));
	get.scan.filter_text = kit_s("PageFilter(1)");
	wc_neighbours_asked(&s->neighbours, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), 100);
	get.scan.filter_text = kit_s("");
	wc_neighbours_asked(&s->neighbours, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), WC_GETCACHE_ENTRY_MAX);
	get.scan.row_offset = 1;
	wc_neighbours_asked(&s->neighbours, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), 100);
	get.scan.row_offset = 0;
	get.range.stop = kit_s(key_of(2));
	wc_neighbours_asked(&s->neighbours, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), 100);
	assert_int_equal(read_all(s), 0);
}

/* One row that is too large to be kept is left out; several end the reading. */
static void
large_rows_are_left_out(void **state)
{
	Site	   *s = *state;
	char		value[WC_GETCACHE_ENTRY_MAX];

	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	load(s, 0, 100, "1");
	load(s, 5, 6, value);
	load(s, 20, 40, value);
	assert_int_equal(ask(s, key_of(2)), 17 + 4);
	assert_true(kept(s, key_of(4)));
	assert_false(kept(s, key_of(5)));
	assert_true(kept(s, key_of(6)));
	assert_true(kept(s, key_of(19)));
	assert_false(kept(s, key_of(40)));
}

/* Nobody waits for the answers: many deleted rows are not passed over for them. */
static void
the_reading_does_not_take_long(void **state)
{
	Site	   *s = *state;

	load(s, 0, 5000, "1");
	for (int i = 10; i < 4990; i++)
		kit_delete(&s->kit, WC_DELETE_FAMILY, key_of(i), 1, "", KIT_LATEST);
	kit_commit(&s->kit);
	assert_int_equal(ask(s, key_of(5)), 5);
	assert_true(kept(s, key_of(9)));
	assert_false(kept(s, key_of(4990)));
	assert_int_equal(ask(s, key_of(4985)), 10 + 1);
}

/* Nor are many keys that RocksDB has deleted: until they are compacted, an iterator passes over them within one call. */
static void
deleted_keys_are_not_passed_over(void **state)
{
	Site	   *s = *state;
	rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();

	load(s, 0, 5000, "1");
	kit_flush(&s->kit);
	for (int i = 10; i < 4990; i++)
	{
		char	   *error = NULL;

		rocksdb_delete_cf(s->kit.engine->db, options, kit_store(&s->kit, 1)->cf, key_of(i), strlen(key_of(i)), &error);
		assert_null(error);
	}
	rocksdb_writeoptions_destroy(options);
	assert_int_equal(ask(s, key_of(5)), 5);
	assert_true(kept(s, key_of(9)));
	assert_false(kept(s, key_of(4990)));
	assert_int_equal(ask(s, key_of(4985)), 10 + 1);
	assert_true(kept(s, key_of(4990)));
}

static void
answers_end_with_their_cells(void **state)
{
	Site	   *s = *state;
	WcFamilyAttrs attrs = wc_family_attrs_default;

	attrs.packing = WC_PACKING_ROW;
	attrs.ttl_us = 1000000;
	kit_create_attrs(&s->kit, "short", &attrs);
	kit_commit(&s->kit);
	load(s, 0, 10, "1");
	assert_int_equal(ask(s, key_of(5)), 4 + 1);
	assert_true(kept(s, key_of(9)));
	kit_now += 2000000;
	assert_false(kept(s, key_of(9)));
}

static void
a_table_that_is_dropped_is_no_error(void **state)
{
	Site	   *s = *state;
	KitGet		get;

	load(s, 0, 10, "1");
	get_of(s, &get, kit_s(key_of(1)));
	wc_neighbours_asked(&s->neighbours, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), 100);
	assert_ok(&s->kit, wc_batch_drop_table(&s->kit.builder, s->kit.cid, s->kit.table, &s->kit.err));
	kit_commit(&s->kit);
	assert_int_equal(read_all(s), 1);
}

/* Statistics count what sessions read. */
static void
the_rows_are_not_counted(void **state)
{
	Site	   *s = *state;
	WcBuf		before = WC_BUF_INIT;
	WcBuf		after = WC_BUF_INIT;

	load(s, 0, 100, "1");
	assert_ok(&s->kit, wc_engine_table_statistics(s->kit.engine, KIT_DATABASE, &before, &s->kit.err));
	assert_int_equal(ask(s, key_of(5)), 64);
	assert_ok(&s->kit, wc_engine_table_statistics(s->kit.engine, KIT_DATABASE, &after, &s->kit.err));
	assert_true(wc_slice_eq(wc_buf_slice(&before), wc_buf_slice(&after)));
	wc_buf_free(&before);
	wc_buf_free(&after);
}

static WcFamilyAttrs
random_attrs(void)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;

	attrs.packing = below(2) == 0 ? WC_PACKING_ROW : WC_PACKING_CELL;
	attrs.versions = 1 + below(3);
	if (below(3) == 0)
		attrs.ttl_us = 1000000 * (1 + (int64_t) below(20));
	return attrs;
}

static void
random_commit(Site *s)
{
	for (uint32_t n = 1 + below(8); n > 0; n--)
	{
		const char *row = key_of((int) below(300));
		char		qualifier[4];

		snprintf(qualifier, sizeof(qualifier), "q%u", below(4));
		if (below(4) > 0)
			kit_put(&s->kit, row, 1, qualifier, KIT_LATEST, below(2) == 0 ? "short" : "a value that is longer than a few bytes");
		else if (below(2) == 0)
			kit_delete(&s->kit, WC_DELETE_COLUMN, row, 1, qualifier, KIT_LATEST);
		else
			kit_delete(&s->kit, WC_DELETE_FAMILY, row, 1, "", KIT_LATEST);
	}
	kit_commit(&s->kit);
}

static void
random_get(Site *s, KitGet *get, WcColumn *column)
{
	get_of(s, get, kit_s(key_of((int) below(300))));
	get->scan.versions = 1 + below(2);
	get->scan.want_ts = below(2) == 0;
	get->scan.key_only = below(4) == 0;
	get->scan.rows_by_existence = below(2) == 0;
	*column = (WcColumn) {.family = 1,.kind = below(2) == 0 ? WC_COLUMN_EXACT : WC_COLUMN_FAMILY,.qualifier = kit_s("q1")};
	if (column->kind == WC_COLUMN_FAMILY)
		column->qualifier = kit_s("");
	if (get->scan.rows_by_existence || below(2) == 0)
	{
		get->scan.ncolumns = 1;
		get->scan.columns = column;
	}
	if (below(4) == 0)
		get->scan.row_limit = 1 + below(2);
	if (below(4) == 0)
		get->scan.row_offset = below(3);
	get->scan.reversed = below(6) == 0;
	get->scan.merged = below(4) == 0;
	if (!get->scan.rows_by_existence)
	{
		get->scan.count_cells = below(6) == 0;
		get->scan.column_limit = below(4) == 0 ? 1 : 0;
		get->scan.column_offset = below(4) == 0 ? 1 : 0;
	}
	assert_ok(&s->kit, wc_scan_check(&get->scan, &s->kit.err));
	encode(s, get);
}

/* Whatever is found is what the engine answers. */
static void
random_histories(void **state)
{
	Site	   *s = *state;
	unsigned	nfound = 0;

	for (int round = 0; round < 12; round++)
	{
		WcFamilyAttrs attrs = random_attrs();
		char		name[16];

		snprintf(name, sizeof(name), "t%d", round);
		kit_create_attrs(&s->kit, name, &attrs);
		kit_commit(&s->kit);
		for (int step = 0; step < 200; step++)
		{
			KitGet		get;
			WcColumn	column;

			random_commit(s);
			if (below(20) == 0)
				kit_flush(&s->kit);
			kit_now += below(200000);
			random_get(s, &get, &column);
			wc_neighbours_asked(&s->neighbours, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), 100);
			for (uint32_t n = below(80); n > 0 && wc_neighbours_left(&s->neighbours); n--)
			{
				wc_neighbours_next(&s->neighbours);
				if (below(10) == 0)
					random_commit(s);
				if (below(10) == 0)
					wc_neighbours_pause(&s->neighbours);
			}
			wc_neighbours_pause(&s->neighbours);
			for (int i = 0; i < 300; i++)
			{
				get.range.start = get.range.stop = kit_s(key_of(i));
				encode(s, &get);
				if (!find(s, &get))
					continue;
				nfound++;
				assert_true(wc_slice_eq(wc_buf_slice(&s->found), answer_of(s, &get)));
			}
		}
	}
	assert_true(nfound > 10000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_next_rows_are_answered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_pause_changes_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_that_are_kept_end_the_reading, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_in_order_are_read_ahead, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_far_from_each_other_are_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_row_that_is_being_read_does_not_end_the_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_answer_is_pushed_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(gets_that_are_not_answered_in_advance, set_up, tear_down),
		cmocka_unit_test_setup_teardown(large_rows_are_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_reading_does_not_take_long, set_up, tear_down),
		cmocka_unit_test_setup_teardown(deleted_keys_are_not_passed_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_end_with_their_cells, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_table_that_is_dropped_is_no_error, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_rows_are_not_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(random_histories, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
