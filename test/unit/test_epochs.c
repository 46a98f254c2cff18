/*
 * test/unit/test_epochs.c: sessions that use answers in shared memory and requests to the engine read the same state
 * (rpc/lock/epochs.h), and a write makes the answers invalid.
 */
#include "enginekit.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/store/state.h"
#include "rpc/session/session.h"

#define READERS 4

typedef struct Site
{
	Kit			kit;
	WcGetCache *cache;
	WcEpochs   *epochs;
} Site;

static int
set_up(void **state)
{
	Site	   *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->cache = kit_getcache(16 << 20, READERS);
	s->epochs = kit_open_with_epochs(&s->kit, s->cache);
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
	free(s);
	return 0;
}

static void
put(Site *s, const char *row, const char *value)
{
	kit_put(&s->kit, row, 1, "a", KIT_LATEST, value);
}

static void
put_now(Site *s, const char *row, const char *value)
{
	put(s, row, value);
	kit_commit(&s->kit);
}

/* The engine's answer to a reader in this epoch. */
static const char *
scan_in(Site *s, uint64_t epoch)
{
	WcReadPoint at = kit_point(&s->kit, false);
	const char *seen;
	WcScan		scan;

	wc_scan_init(&scan, s->kit.table);
	assert_ok(&s->kit, wc_epochs_snapshot(s->epochs, epoch, &at.snapshot, &s->kit.err));
	seen = kit_scan_with(&s->kit, &scan, &at);
	wc_snapshot_release(s->kit.engine, at.snapshot);
	return seen;
}

static void
keep(Site *s, const char *row)
{
	wc_epochs_keep(s->epochs, wc_getcache_epoch(s->cache), s->kit.table, kit_s(row), kit_s("get"), kit_s("answer"), 0,
				   INT64_MAX);
}

static bool
is_kept(Site *s, const char *row)
{
	WcBuf		answer = WC_BUF_INIT;
	bool		kept = wc_getcache_find(s->cache, wc_getcache_epoch(s->cache), s->kit.table, kit_s(row), kit_s("get"),
										0, &answer) == WC_GET_FOUND;

	wc_buf_free(&answer);
	return kept;
}

/* --- snapshots ----------------------------------------------------------------*/

static void
an_epoch_stays_as_it_was(void **state)
{
	Site	   *s = *state;
	uint64_t	first;
	uint64_t	second;

	put_now(s, "r", "1");
	first = wc_getcache_enter(s->cache, 0, 0);
	assert_string_equal(scan_in(s, first), "r{f:a=1}");
	put_now(s, "r", "2");
	second = wc_getcache_enter(s->cache, 1, 0);
	assert_true(second > first);
	put_now(s, "r", "3");
	kit_flush(&s->kit);
	kit_compact(&s->kit, true);
	assert_string_equal(scan_in(s, first), "r{f:a=1}");
	assert_string_equal(scan_in(s, second), "r{f:a=2}");
	assert_string_equal(scan_in(s, wc_getcache_epoch(s->cache)), "r{f:a=3}");
}

/* A reader that asks the engine for the first time long after it has entered its epoch. */
static void
an_epoch_is_kept_before_anybody_asks(void **state)
{
	Site	   *s = *state;
	uint64_t	epoch;

	put_now(s, "r", "1");
	epoch = wc_getcache_enter(s->cache, READERS - 1, 0);
	for (int i = 2; i < 9; i++)
	{
		char		value[8];

		snprintf(value, sizeof(value), "%d", i);
		put_now(s, "r", value);
	}
	assert_string_equal(scan_in(s, epoch), "r{f:a=1}");
}

/* A reader that enters an epoch by another reader's mark, long after the epoch has ended. */
static void
an_epoch_is_shared(void **state)
{
	Site	   *s = *state;
	uint64_t	epoch;

	put_now(s, "r", "1");
	epoch = wc_getcache_enter(s->cache, 0, 1);
	wc_getcache_mark(s->cache, 0, 1, 4711);
	put_now(s, "r", "2");
	put_now(s, "r", "3");
	assert_int_equal(wc_getcache_enter_marked(s->cache, 1, 0, 0, 4711), epoch);
	wc_getcache_leave(s->cache, 0, 1);
	put_now(s, "r", "4");
	assert_true(wc_epochs_tidy(s->epochs));
	assert_string_equal(scan_in(s, epoch), "r{f:a=1}");
	wc_getcache_leave(s->cache, 1, 0);
	assert_false(wc_epochs_tidy(s->epochs));
}

static void
an_epoch_that_nobody_reads_in_goes(void **state)
{
	Site	   *s = *state;
	uint64_t	epoch;
	WcSnapshot *snapshot;

	put_now(s, "r", "1");
	epoch = wc_getcache_enter(s->cache, 0, 0);
	put_now(s, "r", "2");
	wc_getcache_leave(s->cache, 0, 0);

	/* a reference to the snapshot stays valid; later requests for the epoch fail */
	wc_epochs_tidy(s->epochs);
	assert_int_equal(wc_epochs_snapshot(s->epochs, epoch, &snapshot, &s->kit.err), WC_CONFLICT);
	assert_null(snapshot);

	epoch = wc_getcache_enter(s->cache, 0, 0);
	put_now(s, "r", "3");
	wc_getcache_leave(s->cache, 0, 0);
	put_now(s, "r", "4");
	assert_int_equal(wc_epochs_snapshot(s->epochs, epoch, &snapshot, &s->kit.err), WC_CONFLICT);
}

static uint64_t
snapshots_of_rocksdb(Site *s)
{
	uint64_t	n;

	assert_int_equal(rocksdb_property_int(wc_engine_rocks(s->kit.engine), "rocksdb.num-snapshots", &n), 0);
	return n;
}

/* It keeps what there was, and no longer than it is read in. */
static void
an_epoch_keeps_a_snapshot_while_it_is_read_in(void **state)
{
	Site	   *s = *state;

	put_now(s, "r", "1");
	(void) wc_getcache_enter(s->cache, 0, 0);
	put_now(s, "r", "2");
	assert_true(wc_epochs_tidy(s->epochs));
	assert_int_equal(snapshots_of_rocksdb(s), 1);
	wc_getcache_leave(s->cache, 0, 0);
	assert_false(wc_epochs_tidy(s->epochs));
	assert_int_equal(snapshots_of_rocksdb(s), 0);
}

/*
 * A major compaction purges the marker in a file; cells in memory that only this marker masked become visible, but not
 * in epochs that readers entered before.
 */
static void
an_epoch_does_not_see_a_later_compaction(void **state)
{
	Site	   *s = *state;
	uint64_t	epoch;

	kit_create(&s->kit, "cells", WC_PACKING_CELL, 1);
	kit_commit(&s->kit);
	kit_delete(&s->kit, WC_DELETE_FAMILY, "r", 1, "", 1000);
	kit_commit(&s->kit);
	kit_flush(&s->kit);
	kit_put(&s->kit, "r", 1, "a", 500, "below");
	kit_commit(&s->kit);
	epoch = wc_getcache_enter(s->cache, 0, 0);
	kit_compact(&s->kit, true);
	assert_string_equal(scan_in(s, epoch), "");
	assert_string_equal(scan_in(s, wc_getcache_epoch(s->cache)), "r{f:a=below}");
}

/* What no backend says: the epoch of a snapshot is another, or long over. */
static void
a_session_keeps_to_its_epoch(void **state)
{
	Site	   *s = *state;
	atomic_bool cancel = false;
	WcLockTable *locktable = wc_locktable_create(NULL, NULL);
	uint64_t	epoch = wc_getcache_enter(s->cache, 0, 0);
	WcSnapshot *snapshot;
	WcSnapshot *again;
	WcSession	session;

	wc_session_init(&session, s->kit.engine, s->epochs, locktable, &cancel);
	assert_ok(&s->kit, wc_session_snapshot(&session, 1, epoch, &snapshot, &s->kit.err));
	put_now(s, "r", "1");
	assert_ok(&s->kit, wc_session_snapshot(&session, 1, epoch, &again, &s->kit.err));
	assert_ptr_equal(again, snapshot);
	assert_int_equal(wc_session_snapshot(&session, 1, 0, &again, &s->kit.err), WC_CORRUPT);
	assert_int_equal(wc_session_snapshot(&session, 1, epoch + 1, &again, &s->kit.err), WC_CORRUPT);
	assert_int_equal(wc_session_snapshot(&session, 2, epoch - 1, &again, &s->kit.err), WC_CONFLICT);
	assert_int_equal(session.nsnapshots, 1);
	wc_session_free(&session);
	wc_locktable_free(locktable);
}

/* --- answers ------------------------------------------------------------------*/

static void
answers_go_with_their_rows(void **state)
{
	Site	   *s = *state;

	put_now(s, "r", "1");
	keep(s, "r");
	keep(s, "q");
	assert_true(is_kept(s, "r"));
	put_now(s, "r", "2");
	assert_false(is_kept(s, "r"));
	assert_true(is_kept(s, "q"));

	/* a row of which nothing was there, and one that is deleted */
	put_now(s, "q", "1");
	assert_false(is_kept(s, "q"));
	keep(s, "q");
	kit_delete(&s->kit, WC_DELETE_FAMILY, "q", 1, "", KIT_LATEST);
	kit_commit(&s->kit);
	assert_false(is_kept(s, "q"));
}

static void
answers_go_with_their_tables(void **state)
{
	Site	   *s = *state;
	uint32_t	table = s->kit.table;

	keep(s, "r");
	kit_create(&s->kit, "another", WC_PACKING_ROW, 1);
	kit_commit(&s->kit);
	s->kit.table = table;
	assert_true(is_kept(s, "r"));
	assert_ok(&s->kit, wc_batch_truncate_table(&s->kit.builder, s->kit.cid, table, &s->kit.err));
	kit_commit(&s->kit);
	assert_false(is_kept(s, "r"));
}

/* A commit of n rows. */
static void
put_rows(Site *s, int n)
{
	for (int i = 0; i < n; i++)
	{
		char		row[16];

		snprintf(row, sizeof(row), "row %05d", i);
		put(s, row, "1");
	}
	kit_commit(&s->kit);
}

/* A large commit takes the answers to its rows, a very large one all of the table's. */
static void
answers_go_with_many_rows(void **state)
{
	Site	   *s = *state;

	keep(s, "row 00007");
	keep(s, "row 01499");
	keep(s, "another");
	put_rows(s, 1500);
	assert_false(is_kept(s, "row 00007"));
	assert_false(is_kept(s, "row 01499"));
	assert_true(is_kept(s, "another"));

	keep(s, "row 00007");
	put_rows(s, 5000);
	assert_false(is_kept(s, "row 00007"));
	assert_false(is_kept(s, "another"));

	/* no row was kept before: the first one that is kept is valid */
	put_rows(s, 1500);
	keep(s, "row 00007");
	assert_true(is_kept(s, "row 00007"));
	put_rows(s, 1500);
	assert_false(is_kept(s, "row 00007"));
}

/* A compaction takes the answers to the rows in which it forgets cells. */
static void
answers_go_with_rows_of_steps(Site *s)
{
	put_now(s, "few", "1");
	put_now(s, "changed", "1");
	kit_delete(&s->kit, WC_DELETE_COLUMN, "changed", 1, "b", KIT_LATEST);
	kit_commit(&s->kit);
	kit_delete(&s->kit, WC_DELETE_FAMILY, "deleted", 1, "", KIT_LATEST);
	kit_commit(&s->kit);
	kit_flush(&s->kit);
	keep(s, "few");
	keep(s, "changed");
	keep(s, "deleted");
	kit_compact(&s->kit, true);
	assert_true(is_kept(s, "few"));
	assert_false(is_kept(s, "changed"));
	assert_false(is_kept(s, "deleted"));
}

static void
answers_go_with_a_step(void **state)
{
	Site	   *s = *state;

	answers_go_with_rows_of_steps(s);
	kit_create(&s->kit, "packed", WC_PACKING_ROW, 1);
	kit_commit(&s->kit);
	answers_go_with_rows_of_steps(s);
}

/* --- time ----------------------------------------------------------------------*/

typedef struct Get
{
	WcSnapshot *snapshot;
	WcScanner  *scanner;
	WcBuf		block;
} Get;

/* The only cell of a row in an epoch. */
static WcCell
get_row(Site *s, uint64_t epoch, const char *row, Get *get)
{
	WcRange		range = {kit_s(row), kit_s(row), true, true};
	WcReadPoint at = {.database = KIT_DATABASE};
	WcBlockReader reader;
	WcScan		scan;
	WcSlice		key;
	WcCell		cell;
	uint32_t	colno;
	WcError		err;

	memset(get, 0, sizeof(*get));
	assert_int_equal(wc_epochs_snapshot(s->epochs, epoch, &get->snapshot, &err), WC_OK);
	at.snapshot = get->snapshot;
	wc_scan_init(&scan, s->kit.table);
	scan.nranges = 1;
	scan.ranges = &range;
	assert_int_equal(wc_scanner_open(wc_engine_storage(s->kit.engine), &scan, &at, &get->scanner, &err), WC_OK);
	assert_int_equal(wc_scanner_next(get->scanner, &get->block, WC_BLOCK_FIRST, 0, &err), WC_END);
	assert_int_equal(wc_block_open(&reader, wc_buf_slice(&get->block), &err), WC_OK);
	assert_int_equal(wc_block_next(&reader, &key, &cell, &colno), WC_BLOCK_ROW);
	assert_int_equal(wc_block_next(&reader, &key, &cell, &colno), WC_BLOCK_CELL);
	return cell;
}

static void
get_close(Site *s, Get *get)
{
	wc_scanner_close(get->scanner);
	wc_snapshot_release(s->kit.engine, get->snapshot);
	wc_buf_free(&get->block);
}

static int64_t
valid_until_us(Site *s, const char *row)
{
	int64_t		until;
	Get			get;

	(void) get_row(s, wc_getcache_epoch(s->cache), row, &get);
	until = wc_scanner_valid_until_us(get.scanner);
	get_close(s, &get);
	return until;
}

static void
put_with_ttl(Site *s, const char *row, int64_t ttl_us)
{
	Kit		   *kit = &s->kit;

	assert_ok(kit, wc_batch_row_begin(&kit->builder, kit->table, kit->cid, kit_s(row), 0, NULL, 0, &kit->err));
	assert_ok(kit, wc_batch_put(&kit->builder, 1, kit_s("a"), KIT_LATEST, ttl_us, kit_s("1"), &kit->err));
	assert_ok(kit, wc_batch_row_end(&kit->builder, &kit->err));
	kit_commit(kit);
}

static void
create(Site *s, const char *name, uint8_t packing, int64_t ttl_us, uint32_t min_versions)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;

	attrs.packing = packing;
	attrs.ttl_us = ttl_us;
	attrs.min_versions = min_versions;
	kit_create_attrs(&s->kit, name, &attrs);
	kit_commit(&s->kit);
}

static void
what_ends_by_itself_is_told(void **state)
{
	Site	   *s = *state;

	create(s, "plain", WC_PACKING_ROW, 0, 0);
	put_with_ttl(s, "r", 0);
	put_with_ttl(s, "short", 1000000000);
	assert_true(valid_until_us(s, "r") == INT64_MAX);
	assert_true(valid_until_us(s, "short") == s->kit.commit_ts + 1000000000 + 1);

	create(s, "short", WC_PACKING_ROW, 2000000000, 0);
	put_with_ttl(s, "r", 0);
	assert_true(valid_until_us(s, "r") == s->kit.commit_ts + 2000000000 + 1);
	put_with_ttl(s, "s", 1000000000);
	assert_true(valid_until_us(s, "s") == s->kit.commit_ts + 1000000000 + 1);

	/* until then it is the same, and then not */
	kit_now = s->kit.commit_ts + 1000000000;
	assert_string_equal(kit_scan(&s->kit, false), "r{f:a=1} s{f:a=1}");
	kit_now++;
	assert_string_equal(kit_scan(&s->kit, false), "r{f:a=1}");

	/* one version stays for ever */
	create(s, "one", WC_PACKING_ROW, 2000000000, 1);
	put_with_ttl(s, "r", 0);
	kit_now += 3000000000;
	assert_string_equal(kit_scan(&s->kit, false), "r{f:a=1}");
	assert_true(valid_until_us(s, "r") > kit_now);
}

/* Nor does packing cell change without a write, whatever RocksDB compacts. */
static void
packing_cell_promises_as_much(void **state)
{
	Site	   *s = *state;

	create(s, "cells", WC_PACKING_CELL, 2000000000, 0);
	put_with_ttl(s, "r", 0);
	assert_true(valid_until_us(s, "r") == s->kit.commit_ts + 2000000000 + 1);
	create(s, "for_ever", WC_PACKING_CELL, 0, 0);
	put_with_ttl(s, "r", 0);
	assert_true(valid_until_us(s, "r") == INT64_MAX);
}

/* --- at once -------------------------------------------------------------------*/

/*
 * A writer that gives two rows the same number in one commit, and readers that read
 * one row in shared memory and all rows in the engine.
 */
typedef struct Race
{
	Site	   *site;
	_Atomic int acknowledged;
	atomic_bool over;
	_Atomic int rounds;
} Race;

typedef struct Runner
{
	Race	   *race;
	uint32_t	reader;
} Runner;

static int
number_of(WcSlice value)
{
	char		text[16] = {0};

	assert_true(value.len < sizeof(text));
	memcpy(text, value.data, value.len);
	return atoi(text);
}

/* The cell of a row in the engine, which is kept as its answer. */
static int
read_engine(Site *s, uint64_t epoch, const char *row)
{
	Get			get;
	WcCell		cell = get_row(s, epoch, row, &get);
	int			number = number_of(cell.value);

	assert_true(wc_scanner_valid_until_us(get.scanner) == INT64_MAX);
	wc_epochs_keep(s->epochs, epoch, s->kit.table, kit_s(row), kit_s("get"), cell.value,
				   wc_scanner_valid_from_us(get.scanner), INT64_MAX);
	get_close(s, &get);
	return number;
}

static int
read_row(Site *s, uint64_t epoch, const char *row)
{
	WcBuf		answer = WC_BUF_INIT;
	int			number;

	if (wc_getcache_find(s->cache, epoch, s->kit.table, kit_s(row), kit_s("get"), 0, &answer) == WC_GET_FOUND)
		number = number_of(wc_buf_slice(&answer));
	else
		number = read_engine(s, epoch, row);
	wc_buf_free(&answer);
	return number;
}

static void *
run_reader(void *arg)
{
	const Runner *r = arg;
	Site	   *s = r->race->site;

	while (!r->race->over)
	{
		int			least = r->race->acknowledged;
		uint64_t	epoch = wc_getcache_enter(s->cache, r->reader, 0);
		int			left;

		if (epoch == 0)
		{
			sched_yield();
			continue;
		}
		left = read_row(s, epoch, "left");
		sched_yield();
		assert_int_equal(read_row(s, epoch, "right"), left);
		sched_yield();
		assert_int_equal(read_row(s, epoch, "left"), left);
		assert_true(left >= least);
		wc_getcache_leave(s->cache, r->reader, 0);
		r->race->rounds++;
	}
	return NULL;
}

static void
put_number(Site *s, const char *row, int number)
{
	char		value[16];

	snprintf(value, sizeof(value), "%d", number);
	put(s, row, value);
}

static void
readers_see_whole_commits_and_the_newest(void **state)
{
	Race		race = {.site = *state};
	Runner		runners[READERS - 1];
	pthread_t	threads[READERS - 1];

	put_number(race.site, "left", 0);
	put_number(race.site, "right", 0);
	kit_commit(&race.site->kit);
	for (uint32_t i = 0; i < READERS - 1; i++)
	{
		runners[i] = (Runner) {.race = &race,.reader = i};
		assert_int_equal(pthread_create(&threads[i], NULL, run_reader, &runners[i]), 0);
	}
	for (int n = 1; n < 500 || race.rounds < 100; n++)
	{
		put_number(race.site, "left", n);
		put_number(race.site, "right", n);
		kit_commit(&race.site->kit);
		race.acknowledged = n;
		sched_yield();
	}
	race.over = true;
	for (int i = 0; i < READERS - 1; i++)
		pthread_join(threads[i], NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_epoch_stays_as_it_was, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_epoch_is_kept_before_anybody_asks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_epoch_is_shared, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_epoch_that_nobody_reads_in_goes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_epoch_keeps_a_snapshot_while_it_is_read_in, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_epoch_does_not_see_a_later_compaction, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_session_keeps_to_its_epoch, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_go_with_their_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_go_with_their_tables, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_go_with_many_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_go_with_a_step, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_ends_by_itself_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(packing_cell_promises_as_much, set_up, tear_down),
		cmocka_unit_test_setup_teardown(readers_see_whole_commits_and_the_newest, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
