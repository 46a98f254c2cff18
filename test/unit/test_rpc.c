/*
 * test/unit/test_rpc.c: sessions: their reads, their waits, their ends.
 */
#include "rpckit.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/store/internal.h"

/* --- tests ------------------------------------------------------------------*/

static void
what_one_session_commits_another_reads(void **state)
{
	Site		site;
	Backend    *a,
			   *b;
	uint64_t	generation;
	uint64_t	writes;

	site_open(&site, 10);
	a = connect_backend(&site);
	b = connect_backend(&site);
	generation = atomic_load(&site.generation);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	put_rows(&site, 0, 10);
	send_batch(&site, a, 1 << 30);

	/* the writer alone sees it before */
	assert_int_equal(scan_all(a, site.kit.table, 0, WC_BLOCK_FIRST).rows, 10);
	send_open(b, site.kit.table, 0, 0, WC_BLOCK_FIRST);
	assert_int_equal(answered_error(b, &site.kit.err), WC_NO_TABLE);

	send_commit(a);
	commit_accepted(&site, a);
	assert_true(atomic_load(&site.generation) > generation);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 10);

	/* nothing about the catalog has changed: caches stay good */
	generation = atomic_load(&site.generation);
	writes = atomic_load(&site.writes);
	put_rows(&site, 10, 3);
	commit(&site, a);
	assert_true(atomic_load(&site.generation) == generation);
	assert_int_equal(atomic_load(&site.writes) - writes, 3);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 13);
	site_close(&site);
}

static void
await_sleep(Backend *b)
{
	while (atomic_load(&b->segment->engine_sleeping) == 0)
		sched_yield();
}

/* A site, a session, and a table with one row. */
static Backend *
site_open_with_row(Site *site)
{
	Backend    *b;

	site_open(site, 10);
	b = connect_backend(site);
	kit_create(&site->kit, "t", WC_PACKING_ROW, 1);
	put_rows(site, 0, 1);
	commit(site, b);
	return b;
}

/* The backend wakes the session's thread before it sends a request, or sends none after all: then the thread sleeps again. */
static void
a_thread_may_be_woken_early(void **state)
{
	Site		site;
	Backend    *b = site_open_with_row(&site);

	for (int i = 0; i < 3; i++)
	{
		await_sleep(b);
		wc_segment_wake_engine(b->segment);
		if (i != 1)
			assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 1);
	}
	await_sleep(b);
	site_close(&site);
}

static void
a_small_answer_closes_its_scanner(void **state)
{
	Site		site;
	Backend    *b = site_open_with_row(&site);

	/* the number is free again without CLOSE */
	for (int i = 0; i < 3; i++)
	{
		Count		count = {0};

		send_open(b, site.kit.table, 0, 0, WC_BLOCK_FIRST);
		(void) answer(b);
		count_block(b, &count);
		assert_true(count.last);
		assert_int_equal(count.rows, 1);
	}
	site_close(&site);
}

static void
blocks_follow_each_other(void **state)
{
	Site		site;
	Backend    *b;
	Count		count = {0};

	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_CELL, 1);
	put_rows(&site, 0, 20000);
	commit(&site, b);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).cells, 20000);

	/* one left in the midst: its number is taken until CLOSE, which wakes nobody */
	send_open(b, site.kit.table, 3, 0, WC_BLOCK_FIRST);
	(void) answer(b);
	count_block(b, &count);
	assert_false(count.last);
	send_open(b, site.kit.table, 3, 0, WC_BLOCK_FIRST);
	assert_int_equal(answered_error(b, &site.kit.err), WC_CORRUPT);
	send_number(b, WC_MSG_CLOSE, 3, false);
	send_open(b, site.kit.table, 3, 0, WC_BLOCK_FIRST);
	assert_int_equal(answer(b), WC_MSG_BLOCK);
	site_close(&site);
}

/* Larger than both rings, in and out. */
static void
a_large_cell_streams_both_ways(void **state)
{
	Site		site;
	Backend    *b;
	size_t		len = 5 * 1024 * 1024 + 3;
	char	   *value = malloc(len + 1);
	Count		count;

	assert_non_null(value);
	memset(value, 'v', len);
	value[len] = '\0';
	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_CELL, 1);
	kit_put(&site.kit, "r", 1, "q", KIT_LATEST, value);
	commit(&site, b);
	count = scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST);
	assert_int_equal(count.cells, 1);
	assert_int_equal(count.bytes, len);
	free(value);
	site_close(&site);
}

static void
a_snapshot_stands_still_until_released(void **state)
{
	Site		site;
	Backend    *b;

	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	put_rows(&site, 0, 5);
	commit(&site, b);

	assert_int_equal(scan_all(b, site.kit.table, 7, WC_BLOCK_FIRST).rows, 5);
	{
		Backend    *other = connect_backend(&site);

		put_rows(&site, 5, 5);
		commit(&site, other);
	}
	assert_int_equal(scan_all(b, site.kit.table, 7, WC_BLOCK_FIRST).rows, 5);
	assert_int_equal(scan_all(b, site.kit.table, 8, WC_BLOCK_FIRST).rows, 10);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 10);

	/* released, the number is new */
	send_number(b, WC_MSG_SNAPSHOT_RELEASE, 7, false);
	assert_int_equal(scan_all(b, site.kit.table, 7, WC_BLOCK_FIRST).rows, 10);
	site_close(&site);
}

static uint64_t
snapshots_of(Site *site)
{
	uint64_t	n;

	assert_int_equal(rocksdb_property_int(wc_engine_rocks(site->kit.engine), "rocksdb.num-snapshots", &n), 0);
	return n;
}

static void
await_no_snapshots(Site *site)
{
	const time_t until = time(NULL) + PATIENCE_S;

	while (snapshots_of(site) > 0)
	{
		if (time(NULL) > until)
			fail_msg("snapshots are not released");
		sched_yield();
	}
}

/* A session that does nothing more keeps nothing. */
static void
snapshots_are_released_without_a_message(void **state)
{
	Site		site;
	Backend    *b;
	Backend    *other;

	site_open(&site, 10);
	b = connect_backend(&site);
	other = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	put_rows(&site, 0, 5);
	commit(&site, b);

	assert_int_equal(scan_all(b, site.kit.table, 7, WC_BLOCK_FIRST).rows, 5);
	put_rows(&site, 5, 5);
	commit(&site, other);
	assert_int_equal(scan_all(b, site.kit.table, 8, WC_BLOCK_FIRST).rows, 10);
	atomic_store(&b->segment->released_upto, 7);
	assert_int_equal(scan_all(b, site.kit.table, 8, WC_BLOCK_FIRST).rows, 10);
	assert_int_equal(snapshots_of(&site), 1);
	assert_int_equal(scan_all(b, site.kit.table, 7, WC_BLOCK_FIRST).rows, 10);

	atomic_store(&b->segment->released_upto, 8);
	put_rows(&site, 10, 1);
	commit(&site, other);
	await_no_snapshots(&site);
	site_close(&site);
}

/* Locks the row; returns the holder, or 0: it is locked now. */
static uint64_t
lock_row(Backend *b, const char *row)
{
	WcSlice		key = wc_slice_cstr(row);
	WcLockMessage m = {.table_id = 1,.mode = WC_LOCK_EXCLUSIVE,.owner = b->xid,.xid = b->xid,.subid = 1,.nrows = 1,.rows = &key};
	WcLockResult result;
	WcError		err;

	wc_message_lock_encode(message(b), &m);
	send_frame(b, WC_MSG_LOCK, 0);
	assert_int_equal(answer(b), WC_MSG_OK);
	assert_int_equal(wc_message_locked_decode(wc_buf_slice(&b->reader.body), &m, &result, &err), WC_OK);
	return result.holder;
}

/* A row is locked from LOCK to the end of the transaction, however it ends, and
 * not given up before. */
static void
locks_end_with_their_transaction(void **state)
{
	Site		site;
	Backend    *a,
			   *b;

	site_open(&site, 10);
	a = connect_backend(&site);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_CELL, 1);
	commit(&site, a);

	assert_int_equal(lock_row(a, "r"), 0);
	assert_int_equal(lock_row(b, "r"), a->xid);
	put_rows(&site, 0, 1);
	commit(&site, a);
	assert_int_equal(lock_row(b, "r"), 0);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 1);

	/* neither a rollback to a savepoint nor a failed commit is the end */
	put_rows(&site, 1, 1);
	send_batch(&site, b, 1 << 30);
	b->length = 0;
	assert_ok(&site.kit, wc_batch_drop_table(&site.kit.builder, 1, 99, &site.kit.err));
	send_batch(&site, b, 1 << 30);
	send_commit(b);
	assert_int_equal(answered_error(b, &site.kit.err), WC_NO_TABLE);
	assert_int_equal(lock_row(a, "r"), b->xid);
	abort_transaction(b);
	assert_int_equal(lock_row(b, "other"), 0);	/* so the ABORT before it is done */
	assert_int_equal(lock_row(a, "r"), 0);
	site_close(&site);
}

static uint64_t running;		/* a transaction, PostgreSQL would say */

static bool
is_over(uint64_t xid)
{
	return xid != running;
}

/* A session may end before its transaction: then that is asked for. */
static void
locks_outlive_their_session(void **state)
{
	Site		site;
	Backend    *a,
			   *b,
			   *c;
	uint64_t	of_b,
				of_c;

	site_open(&site, 10);
	a = connect_backend(&site);
	b = connect_backend(&site);
	c = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_CELL, 1);
	commit(&site, a);
	assert_int_equal(wc_server_look_at_locks(site.server, is_over), 0);

	assert_int_equal(lock_row(b, "b's"), 0);
	assert_int_equal(lock_row(c, "c's"), 0);
	running = of_b = b->xid;
	of_c = c->xid;
	leave(b);
	leave(c);
	await_sessions(&site, 1);
	assert_int_equal(lock_row(a, "c's"), of_c);
	assert_int_equal(wc_server_look_at_locks(site.server, is_over), 1);
	assert_int_equal(lock_row(a, "c's"), 0);
	assert_int_equal(lock_row(a, "b's"), of_b);
	running = 0;
	assert_int_equal(wc_server_look_at_locks(site.server, is_over), 0);
	assert_int_equal(lock_row(a, "b's"), 0);

	/* the remaining locks end with the server */
	leave(a);
	await_sessions(&site, 0);
	site_close(&site);
}

static void
a_cancelled_request_is_not_worked_on(void **state)
{
	Site		site;
	Backend    *b;

	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	put_rows(&site, 0, 3);
	commit(&site, b);

	wc_segment_cancel_upto(b->segment, b->last_id + 1);
	send_open(b, site.kit.table, 0, 0, WC_BLOCK_FIRST);
	assert_int_equal(answered_error(b, &site.kit.err), WC_CANCELLED);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 3);

	/* nothing is lost: the transaction can be committed after it */
	put_rows(&site, 3, 1);
	send_batch(&site, b, 1 << 30);
	wc_segment_cancel_upto(b->segment, b->last_id + 1);
	send_commit(b);
	assert_int_equal(answered_error(b, &site.kit.err), WC_CANCELLED);
	send_commit(b);
	commit_accepted(&site, b);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 4);
	site_close(&site);
}

/* Giving up on an answer that has begun to come: it comes whole, and what follows
 * is understood. */
static void
a_large_answer_is_not_cut_off(void **state)
{
	Site		site;
	Backend    *b;
	size_t		len = 8 * WC_RESPONSE_RING;
	char	   *value = malloc(len + 1);
	Count		count = {0};
	uint64_t	opened;

	assert_non_null(value);
	memset(value, 'v', len);
	value[len] = '\0';
	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_CELL, 1);
	kit_put(&site.kit, "r", 1, "q", KIT_LATEST, value);
	commit(&site, b);

	send_open(b, site.kit.table, 0, 0, WC_BLOCK_FIRST);
	opened = b->last_id;
	while (atomic_load(&b->segment->answering) != opened || wc_ring_available(&b->in) < WC_RESPONSE_RING)
		sched_yield();
	wc_segment_cancel_upto(b->segment, opened);
	message(b);
	send_frame(b, WC_MSG_ABORT, 0);
	assert_true(receive(b));
	assert_int_equal(b->reader.header.id, opened);
	count_block(b, &count);
	assert_int_equal(count.bytes, len);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).bytes, len);
	free(value);
	site_close(&site);
}

/* It holds a scanner, a snapshot, a batch, and has not read an answer. */
static void
a_backend_that_leaves_leaves_nothing(void **state)
{
	Site		site;
	Backend    *b;
	size_t		len = 4 * WC_RESPONSE_RING;
	char	   *value = malloc(len + 1);

	assert_non_null(value);
	memset(value, 'v', len);
	value[len] = '\0';
	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_CELL, 1);
	put_rows(&site, 0, 20000);
	kit_put(&site.kit, "a", 1, "q", KIT_LATEST, value);
	commit(&site, b);
	put_rows(&site, 20000, 10);
	send_batch(&site, b, 1 << 30);
	send_open(b, site.kit.table, 1, 1, WC_BLOCK_FIRST);	/* its first block does not fit in the ring */
	leave(b);
	await_sessions(&site, 0);

	/* its uncommitted writes are gone */
	b = connect_backend(&site);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_MAX).rows, 20001);
	free(value);
	site_close(&site);
}

static void
the_engine_says_that_it_goes(void **state)
{
	Site		site;
	Backend    *b;

	site_open(&site, 10);
	b = connect_backend(&site);
	wc_server_stop(site.server, "the test is over");
	assert_false(receive(b));
	assert_int_equal(b->segment->gone_status, WC_SHUTDOWN);
	assert_string_equal(b->segment->gone_text, "the test is over");
	site_leave(&site);
}

static void
one_session_too_many_is_told_so(void **state)
{
	Site		site;
	Backend    *b,
			   *first;

	site_open(&site, 2);
	first = connect_backend(&site);
	(void) connect_backend(&site);
	b = backend_make();
	assert_int_equal(attach(&site, b), WC_TOO_LARGE);
	assert_int_equal(atomic_load(&b->segment->state), WC_SEGMENT_GONE);
	assert_string_equal(b->segment->gone_text, site.kit.err.message);
	free(b->segment);
	free(b);

	/* one goes, another may come */
	leave(first);
	await_sessions(&site, 1);
	(void) connect_backend(&site);
	site_close(&site);
}

static void
nonsense_ends_only_its_session(void **state)
{
	Site		site;
	Backend    *b,
			   *other;
	WcFrameHeader header = {.length = UINT32_MAX,.type = WC_MSG_OPEN,.id = 99};
	WcHelloMessage hello = {WC_PROTOCOL_VERSION, KIT_DATABASE + 1};

	site_open(&site, 10);
	other = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	put_rows(&site, 0, 1);
	commit(&site, other);

	/* an unknown request, a payload that does not parse: an error each */
	b = connect_backend(&site);
	message(b);
	send_frame(b, 63, 0);
	assert_int_equal(answered_error(b, &site.kit.err), WC_CORRUPT);
	wc_buf_append_u8(message(b), 0xFF);
	send_frame(b, WC_MSG_OPEN, 0);
	assert_int_equal(answered_error(b, &site.kit.err), WC_CORRUPT);

	/* a second database, to which the table does not belong */
	wc_message_hello_encode(message(b), &hello);
	send_frame(b, WC_MSG_HELLO, 0);
	assert_int_equal(answered_error(b, &site.kit.err), WC_CORRUPT);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 1);

	/* a header that makes no sense: nothing behind it can be understood */
	wc_ring_write(&b->out, &header, sizeof(header));
	wc_ring_publish(&b->out);
	wc_segment_wake_engine(b->segment);
	assert_false(receive(b));
	assert_int_equal(b->segment->gone_status, WC_CORRUPT);
	await_sessions(&site, 1);
	assert_int_equal(scan_all(other, site.kit.table, 0, WC_BLOCK_FIRST).rows, 1);
	site_close(&site);
}

/* --- many at once -----------------------------------------------------------*/

#define WRITERS 4
#define COMMITS 25

typedef struct Writer
{
	Site	   *site;
	Backend    *b;
	uint32_t	table;
	int			number;
	const char *wrong;
} Writer;

static void *
writer_main(void *arg)
{
	const uint32_t families[] = {1};
	Writer	   *w = arg;
	WcBuf		ops = WC_BUF_INIT;
	WcBatchBuilder builder;
	WcError		err;

	for (int i = 0; i < COMMITS && w->wrong == NULL; i++)
	{
		char		row[32];

		wc_buf_reset(&ops, SIZE_MAX);
		wc_batch_init(&builder, &ops);
		snprintf(row, sizeof(row), "w%d-%d", w->number, i);
		/* every third is checked, beside the commits of others */
		if (wc_batch_row_begin(&builder, w->table, 1, kit_s(row), i % 3 == 0 ? WC_ROW_MUST_BE_ABSENT : 0, families, 1,
							   &err) != WC_OK ||
			wc_batch_put(&builder, 1, kit_s("q"), KIT_LATEST, 0, kit_s("v"), &err) != WC_OK ||
			wc_batch_row_end(&builder, &err) != WC_OK)
			w->wrong = "cannot build";
		send_piece(w->b, 0, wc_buf_slice(&ops), 1 << 20, false);
		send_commit(w->b);
		if (!receive(w->b) || w->b->reader.header.type != WC_MSG_OK)
			w->wrong = "not accepted";
		else if (!kitlog_commit(&w->site->log, w->b->xid++, wc_buf_slice(&ops), &err))
			w->wrong = "not committed";
	}
	wc_buf_free(&ops);
	return NULL;
}

static void
commits_of_many_sessions_are_all_there(void **state)
{
	Site		site;
	Writer		writers[WRITERS];
	pthread_t	threads[WRITERS];
	Backend    *b;

	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	commit(&site, b);
	for (int i = 0; i < WRITERS; i++)
		writers[i] = (Writer) {&site, connect_backend(&site), site.kit.table, i, NULL};
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, writer_main, &writers[i]), 0);
	for (int i = 0; i < WRITERS; i++)
	{
		pthread_join(threads[i], NULL);
		assert_null(writers[i].wrong);
	}
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, WRITERS * COMMITS);
	site_close(&site);
}

/* The rows of a view of statistics: how many; of the engine's, the one row. */
static int
ask_statistics(Backend *b, WcStatisticsView view, WcEngineStatistics *engine)
{
	static const size_t ntexts[] = {0, WC_ENGINE_TEXTS, WC_FAMILY_TEXTS, WC_SESSION_TEXTS, WC_PROGRESS_TEXTS};
	static const size_t nnumbers[] = {0, WC_STATISTICS_NUMBERS(WcEngineStatistics), WC_STATISTICS_NUMBERS(WcFamilyStatistics),
	WC_STATISTICS_NUMBERS(WcSessionStatistics), WC_STATISTICS_NUMBERS(WcProgress)};
	WcSlice		texts[WC_STATISTICS_TEXTS_MAX];
	uint64_t	numbers[WC_STATISTICS_NUMBERS_MAX];
	WcDecoder	d;
	int			n = 0;

	send_number(b, WC_MSG_STATISTICS, view, true);
	assert_int_equal(answer(b), WC_MSG_OK);
	d = wc_decoder(wc_buf_slice(&b->reader.body));
	if (view == WC_STATISTICS_RESET)
		assert_true(wc_decoder_done(&d));
	else
	{
		while (wc_statistics_next(&d, texts, ntexts[view], numbers, nnumbers[view]))
			n++;
		assert_true(wc_decoder_done(&d));
	}
	if (view == WC_STATISTICS_ENGINE)
		memcpy(engine, numbers, sizeof(*engine));
	return n;
}

static void
statistics_are_asked_for_beside_commits(void **state)
{
	Site		site;
	Writer		writers[WRITERS];
	pthread_t	threads[WRITERS];
	WcEngineStatistics engine;
	Backend    *b;

	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	commit(&site, b);
	for (int i = 0; i < WRITERS; i++)
		writers[i] = (Writer) {&site, connect_backend(&site), site.kit.table, i, NULL};
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, writer_main, &writers[i]), 0);
	do
	{
		assert_int_equal(ask_statistics(b, WC_STATISTICS_SESSIONS, NULL), WRITERS + 1);
		assert_int_equal(ask_statistics(b, WC_STATISTICS_TABLES, NULL), 2);
		(void) ask_statistics(b, WC_STATISTICS_PROGRESS, NULL);
		assert_int_equal(ask_statistics(b, WC_STATISTICS_ENGINE, &engine), 1);
	} while (engine.commits < WRITERS * COMMITS + 1);
	for (int i = 0; i < WRITERS; i++)
	{
		pthread_join(threads[i], NULL);
		assert_null(writers[i].wrong);
	}
	assert_int_equal(ask_statistics(b, WC_STATISTICS_ENGINE, &engine), 1);
	assert_int_equal(engine.commits, WRITERS * COMMITS + 1);
	assert_int_equal(engine.operations, WRITERS * COMMITS + 1);
	assert_int_equal(engine.sessions, WRITERS + 1);
	assert_true(engine.requests > WRITERS * COMMITS);
	assert_int_equal(engine.backlog_commits, 0);
	assert_int_equal(engine.snapshots, 0);

	/* what a session that has ended has done stays counted */
	leave(writers[0].b);
	await_sessions(&site, WRITERS);
	assert_int_equal(ask_statistics(b, WC_STATISTICS_ENGINE, &engine), 1);
	assert_int_equal(engine.sessions, WRITERS);
	assert_true(engine.requests > WRITERS * COMMITS);

	assert_int_equal(ask_statistics(b, WC_STATISTICS_RESET, NULL), 0);
	assert_int_equal(ask_statistics(b, WC_STATISTICS_ENGINE, &engine), 1);
	assert_int_equal(engine.commits + engine.operations, 0);
	assert_true(engine.requests < 5);
	send_number(b, WC_MSG_STATISTICS, 6, true);
	assert_int_equal(answered_error(b, &site.kit.err), WC_CORRUPT);
	site_close(&site);
}

/* At snapshot 0 the scanner keeps a snapshot of its own as long as it is open, and the statistics show it. */
static void
an_open_scan_has_one_state(void **state)
{
	Site		site;
	WcEngineStatistics engine;
	Backend    *b;
	Backend    *other;
	Count		count = {0};

	site_open(&site, 10);
	b = connect_backend(&site);
	other = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	put_rows(&site, 0, 2000);
	commit(&site, b);
	send_open(b, site.kit.table, 0, 0, WC_BLOCK_FIRST);
	(void) answer(b);
	count_block(b, &count);
	assert_false(count.last);
	put_rows(&site, 2000, 2000);
	commit(&site, other);
	assert_int_equal(ask_statistics(other, WC_STATISTICS_ENGINE, &engine), 1);
	assert_int_equal(engine.snapshots, 1);
	assert_true(engine.snapshot_us > 0);
	while (!count.last)
	{
		send_next(b, 0, WC_BLOCK_MAX);
		(void) answer(b);
		count_block(b, &count);
	}
	assert_int_equal(count.rows, 2000);
	assert_int_equal(ask_statistics(other, WC_STATISTICS_ENGINE, &engine), 1);
	assert_int_equal(engine.snapshots, 0);
	site_close(&site);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_one_session_commits_another_reads),
		cmocka_unit_test(a_thread_may_be_woken_early),
		cmocka_unit_test(a_small_answer_closes_its_scanner),
		cmocka_unit_test(an_open_scan_has_one_state),
		cmocka_unit_test(blocks_follow_each_other),
		cmocka_unit_test(a_large_cell_streams_both_ways),
		cmocka_unit_test(a_snapshot_stands_still_until_released),
		cmocka_unit_test(snapshots_are_released_without_a_message),
		cmocka_unit_test(locks_end_with_their_transaction),
		cmocka_unit_test(locks_outlive_their_session),
		cmocka_unit_test(a_cancelled_request_is_not_worked_on),
		cmocka_unit_test(a_large_answer_is_not_cut_off),
		cmocka_unit_test(a_backend_that_leaves_leaves_nothing),
		cmocka_unit_test(the_engine_says_that_it_goes),
		cmocka_unit_test(one_session_too_many_is_told_so),
		cmocka_unit_test(nonsense_ends_only_its_session),
		cmocka_unit_test(commits_of_many_sessions_are_all_there),
		cmocka_unit_test(statistics_are_asked_for_beside_commits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
