/*
 * test/unit/test_rpc.c: sessions served in this process, over memory from malloc:
 * the test is the backend, and says and sees what one would.
 */
#include "enginekit.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/internal.h"
#include "rpc/rpc.h"
#include "wire/frame.h"
#include "wire/message.h"
#include "wire/segment.h"

/* How long a test waits for what must come; only a failing one takes as long. */
#define PATIENCE_S 60

/* A latch: what the server's threads set. */
typedef struct Bell
{
	pthread_mutex_t mutex;
	pthread_cond_t rung;
	bool		set;
} Bell;

typedef struct Backend
{
	WcSegment  *segment;
	WcRingEnd	out;
	WcRingEnd	in;
	WcFrameReader reader;
	WcBuf		message;
	uint64_t	last_id;
	Bell		bell;
} Backend;

typedef struct Site
{
	Kit			kit;
	WcServer   *server;
	WcBusy		busy;
	WcGetCache *getcache;
	_Atomic uint64_t generation;
	_Atomic uint64_t writes;
	Bell		finished;
} Site;

/* --- waiting ----------------------------------------------------------------*/

static void
bell_init(Bell *bell)
{
	pthread_mutex_init(&bell->mutex, NULL);
	pthread_cond_init(&bell->rung, NULL);
	bell->set = false;
}

static void
ring_bell(void *arg)
{
	Bell	   *bell = arg;

	pthread_mutex_lock(&bell->mutex);
	bell->set = true;
	pthread_cond_signal(&bell->rung);
	pthread_mutex_unlock(&bell->mutex);
}

static void
await_bell(Bell *bell)
{
	struct timespec until;
	int			rc = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&bell->mutex);
	while (!bell->set && rc == 0)
		rc = pthread_cond_timedwait(&bell->rung, &bell->mutex, &until);
	bell->set = false;
	pthread_mutex_unlock(&bell->mutex);
	if (rc != 0)
		fail_msg("nobody woke the backend");
}

/* --- server -----------------------------------------------------------------*/

static void
site_open(Site *site, int sessions_max)
{
	WcServerOptions options;

	memset(site, 0, sizeof(*site));
	kit_open(&site->kit);
	bell_init(&site->finished);
	site->getcache = kit_getcache(1 << 20, sessions_max);
	options = (WcServerOptions) {
		.engine = site->kit.engine,.sessions_max = sessions_max,.cores = 1,
		.busy = &site->busy,.getcache = site->getcache,.catalog_generation = &site->generation,
		.writes = &site->writes,.finished = {ring_bell, &site->finished}
	};
	assert_ok(&site->kit, wc_server_start(&options, &site->server, &site->kit.err));
}

static void
reap(Site *site)
{
	Backend    *b;

	while ((b = wc_server_reap(site->server)) != NULL)
	{
		wc_frame_reader_free(&b->reader);
		wc_buf_free(&b->message);
		free(b->segment);
		free(b);
	}
}

/* The server has been stopped. */
static void
site_leave(Site *site)
{
	reap(site);
	assert_int_equal(wc_server_sessions(site->server), 0);
	wc_server_free(site->server);
	free(site->getcache);
	kit_close(&site->kit);
}

static void
site_close(Site *site)
{
	wc_server_stop(site->server, "the test is over");
	site_leave(site);
}

/* --- backend ----------------------------------------------------------------*/

static Backend *
backend_make(void)
{
	Backend    *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->segment = aligned_alloc(64, (wc_segment_size() + 63) & ~(size_t) 63);
	assert_non_null(b->segment);
	wc_segment_init(b->segment);
	b->out = wc_segment_requests(b->segment);
	b->in = wc_segment_responses(b->segment);
	wc_frame_reader_init(&b->reader);
	bell_init(&b->bell);
	return b;
}

static WcStatus
attach(Site *site, Backend *b)
{
	return wc_server_attach(site->server, b->segment, wc_segment_size(), (WcWake) {ring_bell, &b->bell}, b,
							&site->kit.err);
}

static WcBuf *
message(Backend *b)
{
	wc_frame_begin(&b->message);
	return &b->message;
}

/* Sleeps until there is something to read, or room; as connection.c does. */
static bool
sleep_until(Backend *b, uint32_t room)
{
	WcSegment  *s = b->segment;

	for (;;)
	{
		bool		gone = atomic_load(&s->state) == WC_SEGMENT_GONE;

		if (wc_ring_available(&b->in) > 0 || (room > 0 && wc_ring_room(&b->out) >= room))
			return true;
		if (gone)
			return false;
		atomic_store(&s->backend_wants, room);
		atomic_store(&s->backend_sleeping, 1);
		if (wc_ring_available(&b->in) == 0 && (room == 0 || wc_ring_room(&b->out) < room) &&
			atomic_load(&s->state) != WC_SEGMENT_GONE)
			await_bell(&b->bell);
		atomic_store(&s->backend_sleeping, 0);
		atomic_store(&s->backend_wants, 0);
	}
}

/* wake false: lies there until something else wakes the session's thread. */
static uint64_t
send_waking(Backend *b, uint8_t type, uint8_t flags, bool wake)
{
	WcError		err;
	size_t		sent = 0;

	assert_int_equal(wc_frame_finish(&b->message, type, flags, ++b->last_id, &err), WC_OK);
	while (sent < b->message.len)
	{
		size_t		n = wc_ring_write(&b->out, b->message.data + sent, b->message.len - sent);

		sent += n;
		wc_ring_publish(&b->out);
		if (wake || sent < b->message.len)
			wc_segment_wake_engine(b->segment);
		if (sent < b->message.len)
			assert_true(sleep_until(b, 1));
	}
	return b->last_id;
}

static uint64_t
send_frame(Backend *b, uint8_t type, uint8_t flags)
{
	return send_waking(b, type, flags, true);
}

/* The next frame; false when the session is gone instead. */
static bool
receive(Backend *b)
{
	WcError		err;
	WcStatus	status;

	while ((status = wc_frame_read(&b->reader, &b->in, &err)) == WC_END)
	{
		wc_segment_gave_room(b->segment, (uint32_t) (WC_RESPONSE_RING - (b->in.seen - b->in.pos)));
		if (!sleep_until(b, 0))
			return false;
	}
	wc_segment_gave_room(b->segment, (uint32_t) (WC_RESPONSE_RING - (b->in.seen - b->in.pos)));
	assert_int_equal(status, WC_OK);
	return true;
}

/* The answer to the newest request: its type. */
static uint8_t
answer(Backend *b)
{
	assert_true(receive(b));
	assert_int_equal(b->reader.header.id, b->last_id);
	return b->reader.header.type;
}

static WcStatus
answered_error(Backend *b, WcError *err)
{
	assert_int_equal(answer(b), WC_MSG_ERROR);
	wc_message_error_decode(wc_buf_slice(&b->reader.body), err);
	return err->status;
}

static void
send_number(Backend *b, uint8_t type, uint64_t number, bool wake)
{
	wc_message_numbers_encode(message(b), &number, 1);
	send_waking(b, type, 0, wake);
}

/* The operations that the kit has collected. */
static void
send_batch(Site *site, Backend *b, uint64_t bytes_max)
{
	WcBuf	   *m = message(b);

	wc_buf_append_varint(m, bytes_max);
	wc_buf_append_slice(m, wc_buf_slice(&site->kit.ops));
	wc_buf_reset(&site->kit.ops, SIZE_MAX);
	send_frame(b, WC_MSG_BATCH, 0);
}

static void
send_commit(Backend *b, bool sync)
{
	uint64_t	xid = 0;

	wc_message_numbers_encode(message(b), &xid, 1);
	send_frame(b, WC_MSG_COMMIT, sync ? WC_FLAG_SYNC : 0);
}

static void
commit(Site *site, Backend *b)
{
	send_batch(site, b, 1 << 30);
	send_commit(b, true);
	assert_int_equal(answer(b), WC_MSG_OK);
}

static Backend *
connect_backend(Site *site)
{
	Backend    *b = backend_make();
	WcHelloMessage hello = {WC_PROTOCOL_VERSION, KIT_DATABASE};

	assert_ok(&site->kit, attach(site, b));
	assert_int_equal(atomic_load(&b->segment->state), WC_SEGMENT_SERVED);
	wc_message_hello_encode(message(b), &hello);
	send_frame(b, WC_MSG_HELLO, 0);
	assert_int_equal(answer(b), WC_MSG_OK);
	return b;
}

static void
send_open(Backend *b, uint32_t table, uint32_t number, uint64_t snapshot, uint32_t target)
{
	WcOpenMessage m = {.scan_no = number,.snapshot = snapshot,.cid = 1000,.target = target};
	WcScan		scan;

	wc_scan_init(&scan, table);
	wc_message_open_encode(message(b), &m, &scan);
	send_frame(b, WC_MSG_OPEN, 0);
}

/* Counts rows and cells of the block that has come; its cells' bytes, too. */
typedef struct Count
{
	int			rows;
	int			cells;
	size_t		bytes;
	bool		last;
} Count;

static void
count_block(Backend *b, Count *count)
{
	WcSlice		block = wc_buf_slice(&b->reader.body);
	WcScanReport report;
	WcBlockReader r;
	WcBlockEntry entry;
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;
	WcError		err;

	assert_int_equal(b->reader.header.type, WC_MSG_BLOCK);
	count->last = (b->reader.header.flags & WC_FLAG_LAST) != 0;
	if (count->last)
		assert_int_equal(wc_scan_report_take(&block, &report, &err), WC_OK);
	assert_int_equal(wc_block_open(&r, block, &err), WC_OK);
	while ((entry = wc_block_next(&r, &row, &cell, &colno)) != WC_BLOCK_DONE)
	{
		assert_int_not_equal(entry, WC_BLOCK_CORRUPT);
		if (entry == WC_BLOCK_ROW)
			count->rows++;
		else
		{
			count->cells++;
			count->bytes += cell.value.len;
		}
	}
	if (count->last)
		assert_int_equal(report.rows_returned, count->rows);
}

/* A whole scan, block after block. */
static Count
scan_all(Backend *b, uint32_t table, uint64_t snapshot, uint32_t target)
{
	Count		count = {0};
	WcNextMessage next = {0, target};

	send_open(b, table, 0, snapshot, target);
	for (;;)
	{
		(void) answer(b);
		count_block(b, &count);
		if (count.last)
			return count;
		wc_message_next_encode(message(b), &next);
		send_frame(b, WC_MSG_NEXT, 0);
	}
}

static void
put_rows(Site *site, int from, int n)
{
	for (int i = from; i < from + n; i++)
	{
		char		row[16];

		snprintf(row, sizeof(row), "r%07d", i);
		kit_put(&site->kit, row, 1, "q", KIT_LATEST, "value");
	}
}

/* A backend's exit. */
static void
leave(Backend *b)
{
	atomic_store(&b->segment->closing, 1);
	atomic_store(&b->segment->cancel, true);
	wc_segment_wake_engine(b->segment);
}

static void
await_sessions(Site *site, int n)
{
	while (wc_server_sessions(site->server) > n)
	{
		await_bell(&site->finished);
		reap(site);
	}
}

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

	send_commit(a, true);
	assert_int_equal(answer(a), WC_MSG_OK);
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
a_small_answer_closes_its_scanner(void **state)
{
	Site		site;
	Backend    *b;

	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	put_rows(&site, 0, 1);
	commit(&site, b);

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

static void
rollback_cuts_the_batch(void **state)
{
	Site		site;
	Backend    *b;

	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	commit(&site, b);

	put_rows(&site, 0, 4);
	send_batch(&site, b, 1 << 30);
	put_rows(&site, 4, 4);
	send_batch(&site, b, 1 << 30);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 8);
	send_number(b, WC_MSG_ROLLBACK_TO, 6, false);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 6);
	message(b);
	send_frame(b, WC_MSG_ABORT, 0);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 0);

	put_rows(&site, 0, 3);
	send_batch(&site, b, 1 << 30);
	send_commit(b, false);
	assert_int_equal(answer(b), WC_MSG_OK);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 3);
	site_close(&site);
}

/* BATCH has no answer: what was wrong with it is every answer until it is undone. */
static void
a_failed_batch_is_remembered(void **state)
{
	Site		site;
	Backend    *b;

	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	commit(&site, b);

	put_rows(&site, 0, 2);
	send_batch(&site, b, 200);
	put_rows(&site, 2, 100);
	send_batch(&site, b, 200);
	send_open(b, site.kit.table, 0, 0, WC_BLOCK_FIRST);
	assert_int_equal(answered_error(b, &site.kit.err), WC_TOO_LARGE);
	send_commit(b, true);
	assert_int_equal(answered_error(b, &site.kit.err), WC_TOO_LARGE);

	/* a savepoint behind what is missing does not bring it back */
	send_number(b, WC_MSG_ROLLBACK_TO, 50, true);
	send_commit(b, true);
	assert_int_equal(answered_error(b, &site.kit.err), WC_TOO_LARGE);

	/* one in front of it does without it */
	send_number(b, WC_MSG_ROLLBACK_TO, 2, true);
	send_commit(b, true);
	assert_int_equal(answer(b), WC_MSG_OK);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 2);
	site_close(&site);
}

/* Who has the row: 0 when we have it now. */
static uint64_t
lock_row(Backend *b, uint64_t xid, const char *row)
{
	WcSlice		key = wc_slice_cstr(row);
	WcLockMessage m = {.table_id = 1,.mode = WC_LOCK_EXCLUSIVE,.xid = xid,.subid = 1,.nrows = 1,.rows = &key};
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

	assert_int_equal(lock_row(a, 11, "r"), 0);
	assert_int_equal(lock_row(b, 22, "r"), 11);
	put_rows(&site, 0, 1);
	commit(&site, a);
	assert_int_equal(lock_row(b, 22, "r"), 0);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 1);

	/* neither ROLLBACK_TO nor a failed commit is the end */
	put_rows(&site, 1, 1);
	send_batch(&site, b, 1 << 30);
	send_number(b, WC_MSG_ROLLBACK_TO, 0, true);
	kit_put(&site.kit, "r", 99, "q", KIT_LATEST, "in no family");
	send_batch(&site, b, 1 << 30);
	send_commit(b, true);
	assert_int_equal(answered_error(b, &site.kit.err), WC_NO_FAMILY);
	assert_int_equal(lock_row(a, 12, "r"), 22);
	message(b);
	send_frame(b, WC_MSG_ABORT, 0);
	assert_int_equal(lock_row(b, 23, "other"), 0);	/* so the ABORT before it is done */
	assert_int_equal(lock_row(a, 12, "r"), 0);

	leave(b);					/* gives all up */
	await_sessions(&site, 1);
	assert_int_equal(lock_row(a, 12, "other"), 0);
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

	/* a commit is never cancelled */
	put_rows(&site, 3, 1);
	wc_segment_cancel_upto(b->segment, b->last_id + 2);
	commit(&site, b);
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

	/* what it had not committed is not there */
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
	Backend    *b;
	uint32_t	table;
	int			number;
	const char *wrong;
} Writer;

static void *
writer_main(void *arg)
{
	Writer	   *w = arg;
	WcBuf		ops = WC_BUF_INIT;
	WcBatchBuilder builder;
	WcError		err;

	for (int i = 0; i < COMMITS && w->wrong == NULL; i++)
	{
		char		row[32];
		WcBuf	   *m;

		wc_buf_reset(&ops, SIZE_MAX);
		wc_batch_init(&builder, &ops);
		snprintf(row, sizeof(row), "w%d-%d", w->number, i);
		if (wc_batch_row_begin(&builder, w->table, 1, kit_s(row), 0, NULL, 0, &err) != WC_OK ||
			wc_batch_put(&builder, 1, kit_s("q"), KIT_LATEST, 0, kit_s("v"), &err) != WC_OK ||
			wc_batch_row_end(&builder, &err) != WC_OK)
			w->wrong = "cannot build";
		m = message(w->b);
		wc_buf_append_varint(m, 1 << 20);
		wc_buf_append_slice(m, wc_buf_slice(&ops));
		send_waking(w->b, WC_MSG_BATCH, 0, false);
		send_commit(w->b, i % 2 == 0);
		if (!receive(w->b) || w->b->reader.header.type != WC_MSG_OK)
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
		writers[i] = (Writer) {connect_backend(&site), site.kit.table, i, NULL};
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_one_session_commits_another_reads),
		cmocka_unit_test(a_small_answer_closes_its_scanner),
		cmocka_unit_test(blocks_follow_each_other),
		cmocka_unit_test(a_large_cell_streams_both_ways),
		cmocka_unit_test(a_snapshot_stands_still_until_released),
		cmocka_unit_test(snapshots_are_released_without_a_message),
		cmocka_unit_test(rollback_cuts_the_batch),
		cmocka_unit_test(a_failed_batch_is_remembered),
		cmocka_unit_test(locks_end_with_their_transaction),
		cmocka_unit_test(a_cancelled_request_is_not_worked_on),
		cmocka_unit_test(a_large_answer_is_not_cut_off),
		cmocka_unit_test(a_backend_that_leaves_leaves_nothing),
		cmocka_unit_test(the_engine_says_that_it_goes),
		cmocka_unit_test(one_session_too_many_is_told_so),
		cmocka_unit_test(nonsense_ends_only_its_session),
		cmocka_unit_test(commits_of_many_sessions_are_all_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
