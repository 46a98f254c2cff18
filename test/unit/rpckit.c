/*
 * test/unit/rpckit.c: sessions served in this process, over memory from malloc.
 */
#include "rpckit.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

WcRangeCache *
make_rangecache(uint64_t bytes)
{
	size_t		size = (wc_rangecache_size(bytes) + 63) & ~(size_t) 63;
	void	   *memory = aligned_alloc(64, size);

	assert_non_null(memory);
	memset(memory, 0, size);
	return wc_rangecache_init(memory, bytes);
}

void
site_open(Site *site, int sessions_max)
{
	WcServerOptions options;

	memset(site, 0, sizeof(*site));
	kit_open(&site->kit);
	bell_init(&site->finished);
	site->getcache = kit_getcache(1 << 20, sessions_max);
	site->rangecache = make_rangecache(2 << 20);
	kitlog_open(&site->log, &site->kit);
	options = (WcServerOptions) {
		.engine = site->kit.engine,.sessions_max = sessions_max,.cores = 1,
		.busy = &site->busy,.getcache = site->getcache,.rangecache = site->rangecache,
		.catalog_generation = &site->generation,.writes = &site->writes,.finished = {ring_bell, &site->finished},
		.log = &site->log.options
	};
	assert_ok(&site->kit, wc_server_start(&options, &site->server, &site->kit.err));
	site->log.server = site->server;
}

static void
reap(Site *site)
{
	Backend    *b;

	while ((b = wc_server_reap(site->server)) != NULL)
	{
		wc_frame_reader_free(&b->reader);
		wc_buf_free(&b->message);
		wc_buf_free(&b->batch);
		free(b->segment);
		free(b);
		site->nsessions--;
	}
}

/* The server has been stopped. */
void
site_leave(Site *site)
{
	reap(site);
	assert_int_equal(site->nsessions, 0);
	wc_server_free(site->server);
	kitlog_close(&site->log);
	free(site->getcache);
	free(site->rangecache);
	kit_close(&site->kit);
}

void
site_close(Site *site)
{
	wc_server_stop(site->server, "the test is over");
	site_leave(site);
}

/* --- backend ----------------------------------------------------------------*/

Backend *
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

WcStatus
attach(Site *site, Backend *b)
{
	WcStatus	status = wc_server_attach(site->server, b->segment, wc_segment_size(), (WcPeer) {0}, (WcWake) {ring_bell, &b->bell},
										  b, &site->kit.err);

	if (status == WC_OK)
		site->nsessions++;
	return status;
}

WcBuf *
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

uint64_t
send_frame(Backend *b, uint8_t type, uint8_t flags)
{
	return send_waking(b, type, flags, true);
}

/* The next frame; false when the session is gone instead. */
bool
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
uint8_t
answer(Backend *b)
{
	assert_true(receive(b));
	assert_int_equal(b->reader.header.id, b->last_id);
	return b->reader.header.type;
}

WcStatus
answered_error(Backend *b, WcError *err)
{
	assert_int_equal(answer(b), WC_MSG_ERROR);
	wc_message_error_decode(wc_buf_slice(&b->reader.body), err);
	return err->status;
}

void
send_number(Backend *b, uint8_t type, uint64_t number, bool wake)
{
	wc_message_numbers_encode(message(b), &number, 1);
	send_waking(b, type, 0, wake);
}

void
send_piece(Backend *b, uint64_t at, WcSlice bytes, uint64_t bytes_max, bool wake)
{
	WcBatchMessage m = {.bytes_max = bytes_max,.at = at};
	WcBuf	   *out = message(b);

	wc_message_batch_encode(out, &m);
	wc_buf_append_slice(out, bytes);
	send_waking(b, WC_MSG_BATCH, 0, wake);
	b->batch.len = at < b->batch.len ? at : b->batch.len;
	wc_buf_append_slice(&b->batch, bytes);
	b->length = at + bytes.len;
}

/* The operations that the kit has collected. */
void
send_batch(Site *site, Backend *b, uint64_t bytes_max)
{
	send_piece(b, b->length, wc_buf_slice(&site->kit.ops), bytes_max, true);
	wc_buf_reset(&site->kit.ops, SIZE_MAX);
}

/* Rolls back the bytes from the offset on, without waking the engine. */
void
send_cut(Backend *b, uint64_t offset)
{
	send_piece(b, offset, wc_slice(NULL, 0), 1 << 30, false);
}

void
send_commit(Backend *b)
{
	WcCommitMessage m = {.xid = b->xid,.length = b->length};

	wc_message_commit_encode(message(b), &m);
	send_frame(b, WC_MSG_PRECOMMIT, 0);
}

void
commit_accepted(Site *site, Backend *b)
{
	uint64_t	holder;

	assert_int_equal(answer(b), WC_MSG_OK);
	assert_ok(&site->kit, wc_message_numbers_decode(wc_buf_slice(&b->reader.body), &holder, 1, &site->kit.err));
	assert_int_equal(holder, 0);
	b->batch.len = b->length;
	assert_true(kitlog_commit(&site->log, b->xid, wc_buf_slice(&b->batch), &site->kit.err));
	b->length = 0;
	b->xid++;
}

void
commit(Site *site, Backend *b)
{
	send_batch(site, b, 1 << 30);
	send_commit(b);
	commit_accepted(site, b);
}

void
abort_transaction(Backend *b)
{
	message(b);
	send_frame(b, WC_MSG_ABORT, 0);
	b->length = 0;
	b->xid++;
}

Backend *
connect_backend(Site *site)
{
	Backend    *b = backend_make();
	WcHelloMessage hello = {WC_PROTOCOL_VERSION, KIT_DATABASE};

	b->xid = ++site->nbackends * 1000;
	assert_ok(&site->kit, attach(site, b));
	assert_int_equal(atomic_load(&b->segment->state), WC_SEGMENT_SERVED);
	wc_message_hello_encode(message(b), &hello);
	send_frame(b, WC_MSG_HELLO, 0);
	assert_int_equal(answer(b), WC_MSG_OK);
	return b;
}

void
send_open(Backend *b, uint32_t table, uint32_t number, uint64_t snapshot, uint32_t target)
{
	WcOpenMessage m = {.scan_no = number,.snapshot = snapshot,.cid = 1000,.target = target};
	WcScan		scan;

	wc_scan_init(&scan, table);
	wc_message_open_encode(message(b), &m, &scan);
	send_frame(b, WC_MSG_OPEN, 0);
}

/* Counts the rows and cells of the received block. */
void
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
void
send_next(Backend *b, uint32_t number, uint32_t target)
{
	WcNextMessage next = {number, target};

	wc_message_next_encode(message(b), &next);
	send_frame(b, WC_MSG_NEXT, 0);
}

Count
scan_all(Backend *b, uint32_t table, uint64_t snapshot, uint32_t target)
{
	Count		count = {0};

	send_open(b, table, 0, snapshot, target);
	for (;;)
	{
		(void) answer(b);
		count_block(b, &count);
		if (count.last)
			return count;
		send_next(b, 0, target);
	}
}

void
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
void
leave(Backend *b)
{
	atomic_store(&b->segment->closing, 1);
	atomic_store(&b->segment->cancel, true);
	wc_segment_wake_engine(b->segment);
}

void
await_sessions(Site *site, int n)
{
	while (site->nsessions > n)
	{
		await_bell(&site->finished);
		reap(site);
	}
}
