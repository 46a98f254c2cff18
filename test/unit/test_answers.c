/*
 * test/unit/test_answers.c: answers to Gets of rows that were just written (rpc/lock/answers.h): a session finds what the
 * engine would answer, and only for tables that are read.
 */
#include "enginekit.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/cellblock.h"
#include "rpc/lock/epochs.h"
#include "rpc/log/applier.h"

typedef struct Site
{
	Kit			kit;
	WcGetCache *cache;
	WcEpochs   *epochs;
	WcAnswers  *answers;
	WcBuf		get;
	WcBuf		found;
} Site;

static int
set_up(void **state)
{
	Site	   *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->cache = kit_getcache(1 << 20, 1);
	s->epochs = kit_open_with_epochs(&s->kit, s->cache);
	s->answers = wc_epochs_answers(s->epochs);
	*state = s;
	return 0;
}

static int
tear_down(void **state)
{
	Site	   *s = *state;

	wc_epochs_free(s->epochs);
	kit_close(&s->kit);
	free(s->cache);
	wc_buf_free(&s->get);
	wc_buf_free(&s->found);
	free(s);
	return 0;
}

/* A Get of the row's column "a" of family f, in a table; its bytes are in s->get. */
static void
get_of(Site *s, KitGet *get, uint32_t table, WcSlice row)
{
	static WcColumn column;

	column = (WcColumn) {.family = 1,.kind = WC_COLUMN_EXACT,.qualifier = kit_s("a")};
	kit_get(get, table, row);
	get->scan.ncolumns = 1;
	get->scan.columns = &column;
	wc_buf_reset(&s->get, SIZE_MAX);
	wc_scan_encode(&s->get, &get->scan);
}

/* A session has asked the engine for the row. */
static void
ask(Site *s, const char *row)
{
	KitGet		get;

	get_of(s, &get, s->kit.table, kit_s(row));
	wc_answers_asked(s->answers, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), 100);
}

static void
put(Site *s, const char *row, const char *value)
{
	kit_put(&s->kit, row, 1, "a", KIT_LATEST, value);
	kit_put(&s->kit, row, 2, "b", KIT_LATEST, "not wanted");
	kit_commit(&s->kit);
}

static int
make_all(Site *s)
{
	int			n = 0;

	while (wc_answers_make(s->answers))
		n++;
	return n;
}

static bool
find(Site *s, WcSlice row)
{
	KitGet		get;

	get_of(s, &get, s->kit.table, row);
	return kit_find_kept(s->cache, &get, wc_buf_slice(&s->get), &s->found);
}

/* The value that the kept answer has, "" if the answer has no row; NULL: no answer is kept. */
static const char *
value_of(Site *s, const char *row)
{
	static char text[16];
	WcBlockReader reader;
	WcSlice		key;
	WcCell		cell;
	uint32_t	colno;

	if (!find(s, kit_s(row)))
		return NULL;
	assert_int_equal(wc_block_open(&reader, wc_buf_slice(&s->found), &s->kit.err), WC_OK);
	if (wc_block_next(&reader, &key, &cell, &colno) != WC_BLOCK_ROW)
		return "";
	assert_true(wc_slice_eq(key, kit_s(row)));
	assert_int_equal(wc_block_next(&reader, &key, &cell, &colno), WC_BLOCK_CELL);
	snprintf(text, sizeof(text), "%.*s", (int) cell.value.len, (const char *) cell.value.data);
	assert_int_not_equal(wc_block_next(&reader, &key, &cell, &colno), WC_BLOCK_CELL);
	return text;
}

/* One session's Get is enough for any number of rows, if sessions find most of the answers. */
static void
answers_that_are_found_allow_others(void **state)
{
	Site	   *s = *state;

	ask(s, "another");
	for (int i = 0; i < 1000; i++)
	{
		char		row[16];

		snprintf(row, sizeof(row), "%d", i);
		put(s, row, "1");
		assert_int_equal(make_all(s), 1);
		if (i % 4 == 0)
			assert_string_equal(value_of(s, row), "1");
	}
	for (int i = 0; i < 300; i++)
	{
		put(s, "unread", "1");
		(void) make_all(s);
	}
	put(s, "unread", "2");
	assert_int_equal(make_all(s), 0);

	/* an answer is counted once */
	for (int i = 996; i < 1000 * 3; i++)
		assert_string_equal(value_of(s, "996"), "1");
	put(s, "unread", "3");
	assert_int_equal(make_all(s), 0);
}

/* What sessions would find that have waited for a commit; each commit writes the row that is its transaction's number. */
typedef struct Waiting
{
	Site	   *s;
	int			nfound;			/* until `applied` counts the commit, only the applier's thread uses it */
	atomic_int	applied;
} Waiting;

static void
on_begin(void *arg, uint64_t xid)
{
	(void) arg;
	(void) xid;
}

static void
on_applied(void *arg, uint64_t xid, uint16_t place, uint64_t position)
{
	Waiting    *w = arg;
	char		row[16];

	(void) place;
	(void) position;
	snprintf(row, sizeof(row), "%d", (int) xid);
	w->nfound += find(w->s, kit_s(row));
	atomic_fetch_add(&w->applied, 1);
}

/* Also if the commits come faster than they are applied. */
static void
rows_are_answered_before_their_commits_are_shown(void **state)
{
	Site	   *s = *state;
	Kit		   *kit = &s->kit;
	Waiting		w = {.s = s};
	WcApplied	applied = {.begin = on_begin,.fn = on_applied,.arg = &w};
	uint64_t	position = wc_engine_applied_position(kit->engine);
	_Atomic uint64_t generation = 0;
	_Atomic uint64_t writes = 0;
	WcApplier  *applier;

	ask(s, "another");
	ask(s, "another");
	assert_ok(kit, wc_applier_start(&(WcApplierOptions)
	{
		.engine = kit->engine,.epochs = s->epochs,
		.catalog_generation = &generation,.writes = &writes,.applied = applied
	}, &applier, &kit->err));
	for (int i = 1; i <= 40; i++)
	{
		WcCommit	commit = {.position = position + (uint64_t) i,.time_us = kit_now,.xid = (uint64_t) i};
		WcTxn	   *txn;
		char		row[16];

		snprintf(row, sizeof(row), "%d", i);
		kit_put(kit, row, 1, "a", KIT_LATEST, "value");
		assert_ok(kit, wc_txn_create(KIT_DATABASE, 1 << 20, &txn, &kit->err));
		assert_ok(kit, wc_txn_append(txn, 0, wc_buf_slice(&kit->ops), &kit->err));
		wc_buf_reset(&kit->ops, SIZE_MAX);
		assert_ok(kit, wc_applier_post(applier, &commit, txn, 0, &kit->err));
		while (i % 10 == 0 && atomic_load(&w.applied) < i)
			usleep(100);
	}
	wc_applier_stop(applier);
	assert_int_equal(w.nfound, 40);
}

/* New rows, changed rows and rows that are gone, in the form of a Get of another row. */
static void
written_rows_are_answered(void **state)
{
	Site	   *s = *state;

	put(s, "gone", "1");
	ask(s, "another");
	put(s, "new", "2");
	kit_delete(&s->kit, WC_DELETE_FAMILY, "gone", 1, "", KIT_LATEST);
	kit_commit(&s->kit);
	assert_null(value_of(s, "new"));
	assert_int_equal(make_all(s), 2);
	assert_string_equal(value_of(s, "new"), "2");
	assert_string_equal(value_of(s, "gone"), "");
	assert_null(value_of(s, "another"));

	put(s, "new", "3");
	assert_null(value_of(s, "new"));
	put(s, "new", "4");
	(void) make_all(s);
	assert_string_equal(value_of(s, "new"), "4");
}

static void
tables_that_nobody_asks_for_are_left_out(void **state)
{
	Site	   *s = *state;
	uint32_t	asked = s->kit.table;

	put(s, "r", "1");
	assert_int_equal(make_all(s), 0);
	ask(s, "r");
	kit_create(&s->kit, "another", WC_PACKING_ROW, 1);
	kit_commit(&s->kit);
	put(s, "r", "2");
	assert_int_equal(make_all(s), 0);
	s->kit.table = asked;
	put(s, "r", "3");
	assert_int_equal(make_all(s), 1);
	assert_string_equal(value_of(s, "r"), "3");
}

/* A Get allows the answers of a few rows: for a session that writes, and reads no more, no answers are made. */
static void
the_answers_end_with_the_gets(void **state)
{
	Site	   *s = *state;
	char		row[16];
	int			made = 0;

	ask(s, "r");
	for (int i = 0; i < 20; i++)
	{
		snprintf(row, sizeof(row), "r%d", i);
		put(s, row, "1");
		made += make_all(s);
	}
	assert_int_equal(made, 8);
	assert_string_equal(value_of(s, "r7"), "1");
	assert_null(value_of(s, "r8"));
	ask(s, "r8");
	put(s, "r8", "2");
	assert_int_equal(make_all(s), 1);
}

/* What a commit has left is not read again, and the answer that need not be made is left for another row. */
static void
answers_that_are_there_are_not_made(void **state)
{
	Site	   *s = *state;
	KitGet		get;

	ask(s, "r");
	for (int i = 0; i < 20; i++)
	{
		put(s, "r", "1");
		get_of(s, &get, s->kit.table, kit_s("r"));
		wc_getcache_add(s->cache, WC_GET_LEFT, wc_getcache_epoch(s->cache), s->kit.table, kit_s("r"), wc_buf_slice(&s->get),
						kit_s("left"), 0, INT64_MAX);
		assert_int_equal(make_all(s), 1);
		assert_true(find(s, kit_s("r")));
		assert_true(wc_slice_eq(wc_buf_slice(&s->found), kit_s("left")));
	}
	put(s, "another", "1");
	assert_int_equal(make_all(s), 1);
	assert_string_equal(value_of(s, "another"), "1");
}

/* Gets of other forms: they say nothing of the next Get, or of no row. */
static void
gets_with_a_filter_are_left_out(void **state)
{
	Site	   *s = *state;
	KitGet		get;

	get_of(s, &get, s->kit.table, kit_s("r"));
	get.scan.filter_text = kit_s("PageFilter(1)");
	wc_answers_asked(s->answers, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), 100);
	get.scan.filter_text = kit_s("");
	get.range.stop = kit_s("s");
	wc_answers_asked(s->answers, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), 100);
	put(s, "r", "1");
	assert_int_equal(make_all(s), 0);
}

/* Who writes rows without reading them asks only whether they exist. */
static void
gets_without_values_are_kept_apart(void **state)
{
	Site	   *s = *state;
	KitGet		get;

	ask(s, "r");
	get_of(s, &get, s->kit.table, kit_s("r"));
	get.scan.key_only = true;
	wc_buf_reset(&s->get, SIZE_MAX);
	wc_scan_encode(&s->get, &get.scan);
	wc_answers_asked(s->answers, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), 0);
	put(s, "r", "1");
	assert_int_equal(make_all(s), 2);
	assert_true(kit_find_kept(s->cache, &get, wc_buf_slice(&s->get), &s->found));
	assert_string_equal(value_of(s, "r"), "1");
}

/* Gets whose answers are not kept: rows like theirs are too large as well. */
static void
large_answers_are_left_out(void **state)
{
	Site	   *s = *state;
	KitGet		get;

	get_of(s, &get, s->kit.table, kit_s("r"));
	wc_answers_asked(s->answers, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), WC_GETCACHE_ENTRY_MAX - s->get.len + 1);
	put(s, "r", "1");
	assert_int_equal(make_all(s), 0);
	wc_answers_asked(s->answers, KIT_DATABASE, &get.scan, wc_buf_slice(&s->get), WC_GETCACHE_ENTRY_MAX - s->get.len);
	put(s, "r", "2");
	assert_int_equal(make_all(s), 1);
}

static void
long_keys_and_many_rows_are_left_out(void **state)
{
	Site	   *s = *state;
	char		row[300];

	for (int i = 0; i < 10; i++)
		ask(s, "r");
	memset(row, 'r', sizeof(row));
	row[257] = '\0';
	put(s, row, "1");
	assert_int_equal(make_all(s), 0);
	row[256] = '\0';
	put(s, row, "1");
	assert_int_equal(make_all(s), 1);
	assert_true(find(s, kit_s(row)));

	for (int i = 0; i < 40; i++)
	{
		snprintf(row, sizeof(row), "r%d", i);
		kit_put(&s->kit, row, 1, "a", KIT_LATEST, "1");
	}
	kit_commit(&s->kit);
	assert_int_equal(make_all(s), 32);
	for (int i = 0; i < 5000; i++)
	{
		snprintf(row, sizeof(row), "r%d", i);
		kit_put(&s->kit, row, 1, "a", KIT_LATEST, "2");
	}
	kit_commit(&s->kit);
	assert_int_equal(make_all(s), 0);
}

/* An answer in advance holds as long as one that was asked for. */
static void
answers_end_with_their_cells(void **state)
{
	Site	   *s = *state;
	WcFamilyAttrs attrs = wc_family_attrs_default;

	attrs.packing = WC_PACKING_ROW;
	attrs.ttl_us = 1000000;
	kit_create_attrs(&s->kit, "short", &attrs);
	kit_commit(&s->kit);
	ask(s, "another");
	put(s, "r", "1");
	assert_int_equal(make_all(s), 1);
	assert_string_equal(value_of(s, "r"), "1");
	kit_now += 2000000;
	assert_null(value_of(s, "r"));
}

static void
a_table_that_is_dropped_is_no_error(void **state)
{
	Site	   *s = *state;
	uint32_t	table = s->kit.table;

	ask(s, "r");
	put(s, "r", "1");
	assert_ok(&s->kit, wc_batch_drop_table(&s->kit.builder, s->kit.cid, table, &s->kit.err));
	kit_commit(&s->kit);
	assert_int_equal(make_all(s), 1);
	assert_null(value_of(s, "r"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers_that_are_found_allow_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_are_answered_before_their_commits_are_shown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(written_rows_are_answered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tables_that_nobody_asks_for_are_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_answers_end_with_the_gets, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_that_are_there_are_not_made, set_up, tear_down),
		cmocka_unit_test_setup_teardown(gets_with_a_filter_are_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(gets_without_values_are_kept_apart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(large_answers_are_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(long_keys_and_many_rows_are_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_end_with_their_cells, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_table_that_is_dropped_is_no_error, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
