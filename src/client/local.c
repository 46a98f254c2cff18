/*
 * client/local.c: the driver of the embedded engine.
 *
 * Messages that need no answer and nobody waits for (CLOSE, SNAPSHOT_RELEASE,
 * UNLOCK) are noted where they arise, which may be in the midst of an
 * abort, and sent in front of the next message.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "channel/flight.h"
#include "channel/shmem.h"
#include "client/gets.h"
#include "client/local.h"

/* Buffers kept for the scans to come. */
#define SPARE_BUFFERS 4

/* Between two looks whether a commit has been written. */
#define COMMIT_WAIT_US 50

/* A scan of no more rows than this, by their keys or by its limit, is brief. */
#define BRIEF_LOOKUPS 8
#define BRIEF_ROWS 100

typedef struct Deferred
{
	uint32	   *closes;			/* room for every scan number given so far */
	int			ncloses;
	int			closes_cap;
	uint64	   *releases;		/* room for every snapshot in use */
	int			nreleases;
	int			releases_cap;
	SubTransactionId unlock;	/* 0: nothing */
} Deferred;

static dlist_head scans = DLIST_STATIC_INIT(scans);
static uint32 nscans;			/* in the list */
static uint32 *free_numbers;	/* as many as have been given at most */
static int	nfree_numbers;
static uint32 next_number;

static uint64 *known_snapshots; /* numbers the engine may hold */
static int	nsnapshots;
static int	snapshots_cap;

static uint64 unwanted;			/* newest request of scans closed before its answer came; 0: none */
static Deferred deferred;
static uint64 handed_over;		/* the transaction whose row locks the engine keeps until the log says how it ended; 0: none */
static bool in_use;				/* the transaction has something in the engine */
static bool has_locks;			/* row locks among it */
static bool has_batch;			/* operations */
static bool has_ids;			/* ids of tables that are not made yet */
static WcBuf spare[SPARE_BUFFERS];
static int	nspare;

/* --- buffers ---------------------------------------------------------------*/

static WcBuf
take_buffer(void)
{
	WcBuf		none = WC_BUF_INIT;

	return nspare > 0 ? spare[--nspare] : none;
}

static void
give_buffer(WcBuf *buf)
{
	if (buf->data == NULL)
		return;
	if (nspare < SPARE_BUFFERS && buf->cap <= WC_FRAME_KEEP)
	{
		wc_buf_reset(buf, WC_FRAME_KEEP);
		spare[nspare++] = *buf;
	}
	else
		wc_buf_free(buf);
	buf->data = NULL;
	buf->len = buf->cap = 0;
}

/* Gives the frame's body away for the memory of to, which is reused. */
static void
swap_body(WcFrameReader *frame, WcBuf *to)
{
	WcBuf		body = frame->body;

	frame->body = *to;
	*to = body;
}

/* --- what is sent later ----------------------------------------------------*/

static bool
send_number(uint8 type, uint64 number, bool lazily)
{
	wc_message_numbers_encode(wc_connection_message(), &number, 1);
	if (wc_connection_try_send(type, 0))
		return true;
	if (lazily)
		return false;
	(void) wc_connection_send(type, 0, WC_SEND_NOW);
	return true;
}

/* When nobody wants any of the answers that the engine still owes, it need not work
 * for them.  It answers in order: what a scan waits for may have been done. */
static void
cancel_unwanted(void)
{
	dlist_iter	iter;

	if (unwanted == 0)
		return;
	dlist_foreach(iter, &scans)
	{
		WcDriverScan *scan = dlist_container(WcDriverScan, node, iter.cur);

		if (scan->pending != 0 && !wc_connection_answered(scan->pending))
			return;
	}
	if (!wc_connection_answered(unwanted))
		wc_connection_cancel();
	unwanted = 0;
}

/* lazily: as much as there is room for, never failing. */
static void
send_deferred(bool lazily)
{
	cancel_unwanted();
	if (deferred.unlock != InvalidSubTransactionId)
	{
		if (!send_number(WC_MSG_UNLOCK, deferred.unlock, lazily))
			return;
		deferred.unlock = InvalidSubTransactionId;
	}
	while (deferred.ncloses > 0)
	{
		if (!send_number(WC_MSG_CLOSE, deferred.closes[deferred.ncloses - 1], lazily))
			return;
		deferred.ncloses--;
	}
	while (deferred.nreleases > 0)
	{
		if (!send_number(WC_MSG_SNAPSHOT_RELEASE, deferred.releases[deferred.nreleases - 1], lazily))
			return;
		deferred.nreleases--;
	}
}

WcBuf *
wc_local_begin(void)
{
	send_deferred(false);
	return wc_connection_message();
}

static void
forget_deferred(void)
{
	deferred.ncloses = 0;
	deferred.nreleases = 0;
	deferred.unlock = InvalidSubTransactionId;
}

static void *
grow(void *array, int *cap, int need, size_t size)
{
	int			to = Max(*cap, 16);

	if (need <= *cap)
		return array;
	while (to < need)
		to *= 2;
	if (array == NULL)
		array = MemoryContextAlloc(TopMemoryContext, to * size);
	else
		array = repalloc(array, to * size);
	*cap = to;
	return array;
}

/* --- scans -----------------------------------------------------------------*/

/* A number, with room to note later that it is free and to be closed. */
static uint32
take_number(void)
{
	static int	free_cap;

	if (nfree_numbers > 0)
		return free_numbers[--nfree_numbers];
	if (next_number >= WC_SCANNERS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many open scans of stored tables in one session (limit %d)", WC_SCANNERS_MAX)));
	free_numbers = grow(free_numbers, &free_cap, (int) next_number + 1, sizeof(uint32));
	deferred.closes = grow(deferred.closes, &deferred.closes_cap, (int) next_number + 1, sizeof(uint32));
	return next_number++;
}

static void
set_stats(WcClientScanStats *stats, const WcScanReport *report)
{
	stats->rows = report->rows_returned;
	stats->cells_examined = report->cells_examined;
	stats->seeks = report->seeks;
	stats->rows_examined = report->rows_examined;
	stats->cache_hits = report->cache_hits;
	stats->blocks_read = report->blocks_read;
	stats->rows_filtered = report->rows_filtered;
}

/* The engine holds nothing for the scan any more. */
static void
forget_scan(WcDriverScan *scan)
{
	if (!scan->open)
		return;
	scan->open = false;
	scan->pending = 0;
	dlist_delete(&scan->node);
	nscans--;
	free_numbers[nfree_numbers++] = scan->number;
}

/* An answer for the scan has come: keep it until it is wanted. */
static void
stash(WcDriverScan *scan, WcFrameReader *frame)
{
	const WcFrameHeader header = frame->header;
	WcSlice		payload;
	WcScanReport report;
	WcStatus	status = WC_OK;
	WcError		err;

	swap_body(frame, &scan->stash);
	payload = wc_buf_slice(&scan->stash);
	scan->pending = 0;
	scan->stashed = true;
	scan->stash_failed = header.type != WC_MSG_BLOCK;

	if (frame->dropped)
		status = wc_error(&err, WC_NO_MEMORY, "out of memory for an answer of %u bytes", header.length);
	else if (!scan->stash_failed && (header.flags & WC_FLAG_LAST) != 0)
	{
		status = wc_scan_report_take(&payload, &report, &err);
		if (status == WC_OK)
		{
			set_stats(&scan->stats, &report);
			scan->complete = true;
			forget_scan(scan);	/* the engine has closed it by itself */
		}
	}
	if (status != WC_OK)
	{
		wc_buf_reset(&scan->stash, WC_FRAME_KEEP);
		wc_message_error_encode(&scan->stash, &err);
		scan->stash_failed = true;
	}
	scan->stash_len = payload.len;
}

void
wc_local_stray(WcFrameReader *frame)
{
	dlist_iter	iter;

	dlist_foreach(iter, &scans)
	{
		WcDriverScan *scan = dlist_container(WcDriverScan, node, iter.cur);

		if (scan->pending == frame->header.id)
		{
			stash(scan, frame);
			return;
		}
	}
	/* else nobody wants it any more */
}

static void
local_scan_close(WcDriverScan *scan)
{
	if (scan->open)
	{
		unwanted = Max(unwanted, scan->pending);
		deferred.closes[deferred.ncloses++] = scan->number;
		forget_scan(scan);
		send_deferred(true);
	}
	scan->stashed = false;
	give_buffer(&scan->block);
	give_buffer(&scan->stash);
}

/* Waits until an answer for the scan is in its stash. */
static void
await_block(WcDriverScan *scan)
{
	while (!scan->stashed)
	{
		WcFrameReader *frame = wc_connection_receive(scan->pending, WC_RECEIVE_INTERRUPTIBLE);

		if (frame == NULL)
			wc_connection_raise_gone();
		wc_local_stray(frame);
	}
}

/* Makes the stashed block the one to be consumed; raises if it is an error. */
static void
accept_block(WcDriverScan *scan)
{
	WcBuf		block = scan->block;
	WcError		err;

	scan->stashed = false;
	if (scan->stash_failed)
	{
		wc_message_error_decode(wc_buf_slice(&scan->stash), &err);
		wc_raise(&err);
	}
	scan->block = scan->stash;
	scan->block_len = scan->stash_len;
	scan->stash = block;
	scan->batches++;
	scan->stats.batches = scan->batches;
}

static void
ask_next(WcDriverScan *scan)
{
	WcNextMessage next = {scan->number, (uint32) scan->target};

	send_deferred(false);
	wc_message_next_encode(wc_connection_message(), &next);
	scan->pending = wc_connection_send(WC_MSG_NEXT, 0, WC_SEND_NOW);
	scan->target = Min(scan->target * 4, WC_BLOCK_MAX);
}

static size_t
first_target(uint64 rows_hint)
{
	if (rows_hint <= 100)
		return WC_BLOCK_FIRST;
	return rows_hint >= 1000 ? WC_BLOCK_MAX : WC_BLOCK_MAX / 4;
}

/* A few rows by their keys? */
static bool
is_lookup(const WcScan *scan)
{
	if (scan->nranges == 0 || scan->nranges > BRIEF_LOOKUPS)
		return false;
	for (uint32 i = 0; i < scan->nranges; i++)
	{
		if (!wc_range_is_point(&scan->ranges[i]))
			return false;
	}
	return true;
}

/* That, or a few that it need not look for? */
static bool
is_brief(const WcDriverOpen *open)
{
	return is_lookup(open->scan) ||
		(open->rows_hint > 0 && open->rows_hint <= BRIEF_ROWS && open->scan->filter == NULL && open->scan->row_offset == 0);
}

static bool local_snapshot_enter(uint64 number, bool wait);
static void note_snapshot(uint64 number);

/* If the answer is in shared memory, it is as if it had come from the engine. */
static WcGetFound
find_answer(WcDriverScan *scan, const WcDriverOpen *open)
{
	static WcBuf get = WC_BUF_INIT;
	WcGetFound	found = WC_GET_ABSENT;

	if (!wc_gets_may_share(open) || wc_gets_epoch(open->snapshot) == 0)
		return WC_GET_ABSENT;
	wc_buf_reset(&get, WC_FRAME_KEEP);
	wc_scan_encode(&get, open->scan);
	scan->stash = take_buffer();
	if (!get.failed)
		found = wc_gets_find(open, wc_buf_slice(&get), &scan->stash);
	if (found == WC_GET_FOUND)
	{
		scan->stash_len = scan->stash.len;
		scan->stashed = scan->complete = true;
	}
	else
		give_buffer(&scan->stash);
	return found;
}

/* The engine is about to be asked for the scan's first block. */
static WcOpenMessage
begin_scan(WcDriverScan *scan, const WcDriverOpen *open)
{
	WcOpenMessage m = {0};

	send_deferred(false);
	m.scan_no = scan->number = take_number();
	dlist_push_head(&scans, &scan->node);
	nscans++;
	scan->open = true;
	scan->block = take_buffer();
	scan->stash = take_buffer();
	scan->target = first_target(open->rows_hint);
	in_use = true;

	m.snapshot = open->snapshot;
	m.epoch = wc_gets_epoch(open->snapshot);
	m.cid = open->cid;
	m.clock_offset_us = open->clock_offset_us;
	m.target = (uint32) scan->target;
	return m;
}

static void
local_scan_open(WcDriverScan *scan, const WcDriverOpen *open)
{
	WcOpenMessage m;
	WcGetFound	found;

	memset(scan, 0, sizeof(*scan));
	if (open->snapshot != 0)
		(void) local_snapshot_enter(open->snapshot, false);
	found = find_answer(scan, open);
	if (found == WC_GET_FOUND)
		return;
	if (open->snapshot != 0)
		note_snapshot(open->snapshot);
	m = begin_scan(scan, open);
	wc_message_open_encode(wc_connection_message(), &m, open->scan);
	scan->pending = wc_connection_send(WC_MSG_OPEN, found == WC_GET_WANTED ? WC_FLAG_KEEP : 0,
									   is_brief(open) ? WC_SEND_BRIEF : WC_SEND_NOW);
	scan->target = Min(scan->target * 4, WC_BLOCK_MAX);
}

static bool
local_scan_take(WcDriverScan *scan, const WcDriverOpen *open, const WcDriverLocker *locker, WcTakeResult *result)
{
	WcTakeMessage m = {.owner = locker->owner,.xid = locker->xid,.subid = locker->subid,.mode = (uint8) locker->mode};
	bool		had_locks = has_locks;
	WcFrameReader *frame;

	memset(scan, 0, sizeof(*scan));
	memset(result, 0, sizeof(*result));
	m.open = begin_scan(scan, open);
	has_locks = true;
	wc_message_take_encode(wc_connection_message(), &m, open->scan);
	scan->pending = wc_connection_send(WC_MSG_TAKE, 0, WC_SEND_BRIEF);
	scan->target = Min(scan->target * 4, WC_BLOCK_MAX);
	frame = wc_local_await(scan->pending);
	if (frame->header.type == WC_MSG_OK && !frame->dropped)
	{
		WcError		err;
		uint64_t	numbers[2];

		forget_scan(scan);
		give_buffer(&scan->block);
		give_buffer(&scan->stash);
		has_locks = had_locks;
		if (wc_message_numbers_decode(wc_buf_slice(&frame->body), numbers, 2, &err) != WC_OK)
			wc_raise(&err);
		result->holder = numbers[0];
		result->has_weaker = numbers[1] != 0;
		result->there = (frame->header.flags & WC_FLAG_THERE) != 0;
		return false;
	}
	result->taken = (frame->header.flags & WC_FLAG_TAKEN) != 0;
	result->check = (frame->header.flags & WC_FLAG_CHECK) != 0;
	stash(scan, frame);			/* an error, too: scan_next raises it */
	if (!scan->stash_failed)
		has_locks = had_locks || result->taken;
	return true;
}

static bool
local_scan_next(WcDriverScan *scan)
{
	if (!scan->stashed)
	{
		if (scan->complete)
			return false;
		if (!scan->open)
			wc_connection_raise_gone();
		if (scan->pending == 0)
			ask_next(scan);
		await_block(scan);
	}
	accept_block(scan);

	/* While this one is consumed the engine prepares the next.  Behind the first
	 * it waits: often no more is wanted. */
	if (scan->open && scan->pending == 0 && scan->batches > 1)
		ask_next(scan);
	return true;
}

static uint32
local_scans_open(void)
{
	return nscans;
}

static void
local_scan_stats(WcDriverScan *scan)
{
	uint64_t	number = scan->number;
	WcFrameReader *frame;
	WcScanReport report;
	WcSlice		payload;
	WcError		err;

	if (scan->complete || !scan->open)
		return;
	wc_message_numbers_encode(wc_local_begin(), &number, 1);
	frame = wc_local_await(wc_connection_send(WC_MSG_STATS, 0, WC_SEND_NOW));

	/* Its last block was on the way: that has brought them.  Or an error, of which
	 * nobody will hear: it has none. */
	if (scan->complete || (scan->stashed && scan->stash_failed))
		return;
	payload = wc_local_payload(frame);
	if (wc_scan_report_take(&payload, &report, &err) != WC_OK)
		wc_raise(&err);
	set_stats(&scan->stats, &report);
}

/* --- snapshots -------------------------------------------------------------*/

static bool
engine_knows(uint64 snapshot)
{
	for (int i = nsnapshots; i > 0; i--)
	{
		if (known_snapshots[i - 1] == snapshot)
			return true;
	}
	return false;
}

static void
note_snapshot(uint64 number)
{
	if (engine_knows(number))
		return;
	known_snapshots = grow(known_snapshots, &snapshots_cap, nsnapshots + 1, sizeof(uint64));
	deferred.releases = grow(deferred.releases, &deferred.releases_cap,
							 nsnapshots + deferred.nreleases + 1, sizeof(uint64));
	known_snapshots[nsnapshots++] = number;
}

static bool
local_ready(void)
{
	return atomic_load(&wc_shmem()->state) == WC_ENGINE_READY;
}

static bool
local_snapshot_enter(uint64 number, bool wait)
{
	while (wc_gets_epoch(number) == 0)
	{
		if (engine_knows(number) || !local_ready())
			return false;
		if (wc_gets_enter(number))
			return true;
		if (!wait || wc_gets_full())
			return false;
		CHECK_FOR_INTERRUPTS();
		pg_usleep(COMMIT_WAIT_US);
	}
	return true;
}

static void
local_snapshot_take(uint64 number)
{
	uint64_t	n = number;

	if (local_snapshot_enter(number, false))
		return;					/* being in its epoch keeps it */
	if (engine_knows(number))
		return;
	note_snapshot(number);
	wc_message_numbers_encode(wc_local_begin(), &n, 1);
	in_use = true;
	(void) wc_local_ask(WC_MSG_SNAPSHOT, WC_SEND_STAY);
}

static void
local_snapshot_release(uint64 number)
{
	wc_gets_leave(number);
	for (int i = nsnapshots; i > 0; i--)
	{
		if (known_snapshots[i - 1] != number)
			continue;
		known_snapshots[i - 1] = known_snapshots[--nsnapshots];
		if (nsnapshots == 0 && deferred.nreleases == 0 && wc_connection_release_snapshots(number))
			return;
		deferred.releases[deferred.nreleases++] = number;
		send_deferred(true);
		return;
	}
}

/* --- the transaction -------------------------------------------------------*/

void
wc_local_note_ids(void)
{
	in_use = true;
	has_ids = true;
}

static void forget_requests(void);

/*
 * Does the transaction need something that only the engine had which it was connected
 * to?  Under READ COMMITTED, one that has read, or has not sent yet what it has
 * written, does not, and goes on with another engine.
 */
static bool
needs_same_engine(void)
{
	return !dlist_is_empty(&scans) || nsnapshots > 0 || has_batch || has_locks || has_ids;
}

/* Epochs that were entered before stay: the engine says if one is not there any more. */
static void
local_connect(void)
{
	if (wc_connection_live())
		return;
	if (needs_same_engine())
		wc_connection_raise_lost();
	wc_connection_set_stray(wc_local_stray);
	forget_requests();
	wc_connection_open();
}

static bool
local_in_use(void)
{
	return in_use;
}

static void
local_write(uint64 at, WcSlice bytes, uint64 bytes_max, bool more)
{
	WcBatchMessage m = {.bytes_max = bytes_max,.at = at};

	in_use = true;
	has_batch = at + bytes.len > 0;
	wc_message_batch_encode(wc_local_begin(), &m);
	(void) wc_connection_send_with(WC_MSG_BATCH, 0, bytes, more ? WC_SEND_LAZILY : WC_SEND_STAY);
}

static void
take_changes(WcFrameReader *frame, WcDriverTake take)
{
	WcChangesMessage m;
	WcError		err;

	if (frame->dropped)
		wc_error(&err, WC_NO_MEMORY, "out of memory for %u bytes of changes", frame->header.length);
	else if (wc_message_changes_decode(wc_buf_slice(&frame->body), &m, &err) == WC_OK)
	{
		take(m.at, m.bytes);
		return;
	}
	wc_raise(&err);
}

/* Waits for the answer, and takes what comes before it. */
static WcFrameReader *
await_changes(uint64 id, WcDriverTake take)
{
	WcFrameReader *volatile frame;

	PG_TRY();
	{
		while ((frame = wc_local_await(id))->header.type == WC_MSG_CHANGES)
		{
			take_changes(frame, take);
			CHECK_FOR_INTERRUPTS();
		}
	}
	PG_CATCH();
	{
		wc_connection_give_up(id);
		PG_RE_THROW();
	}
	PG_END_TRY();
	return frame;
}

static void
local_modify(const WcClientModify *modify, const WcDriverOpen *open, const WcDriverLocker *locker, bool serializable,
			 uint64 bytes_max, WcDriverTake take, WcModifyResult *result, WcClientScanStats *stats)
{
	bool		had_locks = has_locks;
	bool		had_batch = has_batch;
	WcModifyMessage m = {0};
	WcFrameReader *frame;
	WcSlice		answer;
	WcError		err;

	if (open->snapshot != 0)
		note_snapshot(open->snapshot);
	m.snapshot = open->snapshot;
	m.epoch = wc_gets_epoch(open->snapshot);
	m.cid = open->cid;
	m.clock_offset_us = open->clock_offset_us;
	m.write_cid = modify->write_cid;
	m.bytes_max = bytes_max;
	m.owner = locker->owner;
	m.xid = locker->xid;
	m.subid = locker->subid;
	m.mode = (uint8) locker->mode;
	m.serializable = serializable;
	m.keys = modify->keys;
	m.items = modify->items;
	m.items_bare = modify->items_bare;
	wc_message_modify_encode(wc_local_begin(), &m, open->scan);
	in_use = true;
	has_batch = has_locks = true;
	frame = await_changes(wc_connection_send(WC_MSG_MODIFY, open->lock_first ? WC_FLAG_FIRST : 0, is_brief(open) ? WC_SEND_BRIEF : WC_SEND_NOW), take);
	answer = wc_local_payload(frame);
	if (wc_message_modified_decode(answer, result, &err) != WC_OK)
		wc_raise(&err);
	result->check = (frame->header.flags & WC_FLAG_CHECK) != 0;
	result->there = (frame->header.flags & WC_FLAG_THERE) != 0;
	if (result->changes.len > 0)
		take(result->length - result->changes.len, result->changes);
	set_stats(stats, &result->report);
	stats->batches = 1;
	has_locks = had_locks || stats->rows > 0;
	has_batch = had_batch || result->length > 0;
}

/* The engine has nothing of the transaction any more. */
static void
forget_requests(void)
{
	while (!dlist_is_empty(&scans))
	{
		WcDriverScan *scan = dlist_container(WcDriverScan, node, dlist_head_node(&scans));

		forget_scan(scan);
		give_buffer(&scan->block);
		give_buffer(&scan->stash);
		scan->stashed = false;
	}
	nsnapshots = 0;
	unwanted = 0;
	forget_deferred();
	in_use = false;
	has_locks = has_batch = has_ids = false;
}

static void
forget_transaction(void)
{
	wc_gets_leave_all();
	forget_requests();
}

static void
local_lock_rows(WcLockMessage *m, WcLockResult *result)
{
	WcFrameReader *frame;
	WcError		err;

	if (m->snapshot != 0)
		note_snapshot(m->snapshot);
	m->epoch = wc_gets_epoch(m->snapshot);
	wc_message_lock_encode(wc_local_begin(), m);
	in_use = true;
	has_locks = true;
	frame = wc_local_await(wc_connection_send(WC_MSG_LOCK, 0, WC_SEND_STAY));
	if (wc_message_locked_decode(wc_local_payload(frame), m, result, &err) != WC_OK)
		wc_raise(&err);
	result->check = (frame->header.flags & WC_FLAG_CHECK) != 0;
}

/* Others may be waiting for these rows: the engine is woken. */
static void
local_unlock(SubTransactionId subid)
{
	uint64_t	number;

	if (deferred.unlock == InvalidSubTransactionId || deferred.unlock > subid)
		deferred.unlock = subid;
	if (!has_locks || !wc_connection_live())
		return;
	number = deferred.unlock;
	wc_message_numbers_encode(wc_connection_message(), &number, 1);
	if (wc_connection_post(WC_MSG_UNLOCK, 0) != 0)
		deferred.unlock = InvalidSubTransactionId;
}

/* take: of what is sent before the answer; NULL: there is nothing. */
static uint64
ask_to_take(uint8 type, uint64 xid, uint64 length, uint64 snapshot, WcDriverTake take)
{
	WcCommitMessage m = {.xid = xid,.length = length,.epoch = wc_gets_epoch(snapshot)};
	uint64_t	number;
	WcSlice		answer;
	WcError		err;

	/* One of which nobody knows yet what it shows has shown nothing. */
	if (m.epoch != 0 || engine_knows(snapshot))
	{
		m.snapshot = snapshot;
		note_snapshot(snapshot);
	}
	wc_message_commit_encode(wc_local_begin(), &m);
	in_use = has_locks = true;
	handed_over = xid;			/* perhaps, if this is interrupted */
	if (take != NULL)
		answer = wc_local_payload(await_changes(wc_connection_send(type, 0, WC_SEND_STAY), take));
	else
		answer = wc_local_ask(type, WC_SEND_STAY);
	if (wc_message_numbers_decode(answer, &number, 1, &err) != WC_OK)
		wc_raise(&err);
	if (number == 0)
		forget_transaction();
	return number;
}

static uint64
local_precommit(uint64 xid, uint64 length, uint64 snapshot)
{
	return ask_to_take(WC_MSG_PRECOMMIT, xid, length, snapshot, NULL);
}

static uint64
local_prepare(uint64 xid, uint64 length, uint64 snapshot, WcDriverTake take)
{
	return ask_to_take(WC_MSG_PREPARE, xid, length, snapshot, take);
}

/* The message may wait for the next one: who reads the log gives up the locks, whatever the session
 * thread knows. */
static bool
local_hand_over(uint64 xid)
{
	if (wc_connection_generation() != wc_flight_generation(wc_places()))
		wc_connection_raise_lost();
	send_deferred(true);
	if (deferred.unlock != InvalidSubTransactionId || !send_number(WC_MSG_HANDED, xid, true))
		return false;
	handed_over = xid;
	forget_transaction();
	return true;
}

/* If this cannot be sent now, the engine learns it from the log. */
static void
give_up_handed_over(void)
{
	uint64_t	xid = handed_over;

	handed_over = 0;
	if (xid == 0 || !wc_connection_live())
		return;
	wc_message_numbers_encode(wc_connection_message(), &xid, 1);
	(void) wc_connection_post(WC_MSG_ABORTED, 0);
}

static void
local_abort(void)
{
	give_up_handed_over();
	wc_gets_leave_all();
	if (!in_use)
		return;
	wc_connection_abandon();
	forget_transaction();
}

static void
local_finish(void)
{
	handed_over = 0;
	wc_gets_leave_all();
	if (!in_use)
		return;

	/* Normally all is closed and released, and most of that has been sent. */
	if (!dlist_is_empty(&scans) || nsnapshots > 0 || has_locks || has_batch)
	{
		local_abort();
		return;
	}
	send_deferred(true);
	in_use = false;
	has_ids = false;
}

static uint64
local_catalog_generation(void)
{
	WcShmem    *shmem = wc_shmem();

	return shmem != NULL ? atomic_load(&shmem->catalog_generation) : 0;
}

static uint64
local_writes(void)
{
	WcShmem    *shmem = wc_shmem();

	return shmem != NULL ? atomic_load(&shmem->writes) : 0;
}

const WcDriver wc_local_driver = {
	.name = "rocksdb",
	.features = WC_FEATURE_REVERSED | WC_FEATURE_OFFSET | WC_FEATURE_SNAPSHOT | WC_FEATURE_TRANSACTION |
	WC_FEATURE_OWN_WRITES | WC_FEATURE_RAW | WC_FEATURE_ESTIMATE | WC_FEATURE_SAMPLE |
	WC_FEATURE_MODIFY | WC_FEATURE_SPLIT,
	.connect = local_connect,
	.ready = local_ready,
	.in_use = local_in_use,
	.catalog_generation = local_catalog_generation,
	.writes = local_writes,
	.describe = wc_local_describe,
	.list_tables = wc_local_list_tables,
	.list_namespaces = wc_local_list_namespaces,
	.new_table_id = wc_local_new_table_id,
	.scan_open = local_scan_open,
	.scan_take = local_scan_take,
	.scan_next = local_scan_next,
	.scans_open = local_scans_open,
	.scan_stats = local_scan_stats,
	.scan_close = local_scan_close,
	.snapshot_enter = local_snapshot_enter,
	.snapshot_mark = wc_gets_mark,
	.snapshot_enter_marked = wc_gets_enter_marked,
	.snapshot_take = local_snapshot_take,
	.snapshot_release = local_snapshot_release,
	.write = local_write,
	.modify = local_modify,
	.lock_rows = local_lock_rows,
	.unlock = local_unlock,
	.precommit = local_precommit,
	.hand_over = local_hand_over,
	.prepare = local_prepare,
	.abort = local_abort,
	.finish = local_finish,
	.work = wc_local_work,
	.compacting = wc_local_compacting,
	.check_store = wc_local_check_store,
	.estimate = wc_local_estimate,
	.split = wc_local_split,
	.sample = wc_local_sample,
	.statistics = wc_local_statistics,
};
