/*
 * client/local/local.c: the driver of the embedded engine.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "channel/flight.h"
#include "channel/shmem.h"
#include "client/local/claim.h"
#include "client/local/gets.h"
#include "client/local/local.h"

/* the transaction whose row locks the engine keeps until the log says how it ended; 0: none */
static uint64 handed_over;

/* --- the transaction -------------------------------------------------------*/

static void forget_requests(void);

/*
 * Does the transaction need state that only the engine had to which it was connected?
 * Under READ COMMITTED, a transaction that has only read, or has not sent its operations
 * yet, needs none, and continues with another engine.
 */
static bool
needs_same_engine(void)
{
	return wc_local_scans_open() > 0 || wc_local_snapshots() > 0 || wc_local_txn.has_batch || wc_local_txn.has_locks ||
		wc_local_txn.has_ids;
}

/* Entered epochs are kept: the engine answers with an error if an epoch does not exist any more. */
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

static void
local_write(uint64 at, WcSlice bytes, uint64 bytes_max, bool more)
{
	WcBatchMessage m = {.bytes_max = bytes_max,.at = at};

	wc_local_txn.in_use = true;
	wc_local_txn.has_batch = at + bytes.len > 0;
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

/* Waits for the answer, and passes the CHANGES before it to take. */
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
	bool		had_locks = wc_local_txn.has_locks;
	bool		had_batch = wc_local_txn.has_batch;
	WcModifyMessage m = {0};
	WcFrameReader *frame;
	WcSlice		answer;
	WcError		err;

	(void) wc_claim_settle();
	if (open->snapshot != 0)
		wc_local_note_snapshot(open->snapshot);
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
	m.kind = (uint8) modify->kind;
	m.keys = modify->keys;
	m.items = modify->items;
	m.items_bare = modify->items_bare;
	wc_message_modify_encode(wc_local_begin(), &m, open->scan);
	wc_local_txn.in_use = true;
	wc_local_txn.has_batch = wc_local_txn.has_locks = true;
	frame = await_changes(wc_connection_send(WC_MSG_MODIFY, (open->lock_first ? WC_FLAG_FIRST : 0) | (open->keep ? WC_FLAG_AHEAD : 0),
											 wc_local_is_brief(open) ? WC_SEND_BRIEF : WC_SEND_NOW), take);
	answer = wc_local_payload(frame);
	if (wc_message_modified_decode(answer, result, &err) != WC_OK)
		wc_raise(&err);
	result->check = (frame->header.flags & WC_FLAG_CHECK) != 0;
	result->there = (frame->header.flags & WC_FLAG_THERE) != 0;
	if (result->changes.len > 0)
		take(result->length - result->changes.len, result->changes);
	wc_local_set_stats(stats, &result->report);
	stats->batches = 1;
	wc_local_txn.has_locks = had_locks || stats->rows > 0;
	wc_local_txn.has_batch = had_batch || result->length > 0;
}

/* Forgets the transaction's state in the engine, which has none any more. */
static void
forget_requests(void)
{
	wc_local_forget_scans();
	wc_local_forget_messages();
	wc_local_txn.in_use = false;
	wc_local_txn.has_locks = wc_local_txn.has_batch = wc_local_txn.has_ids = wc_local_txn.must_check = false;
}

static void
forget_transaction(void)
{
	wc_gets_leave_all();
	forget_requests();
}

/* take: receives the CHANGES that are sent before the answer; NULL: there are none. */
static uint64
ask_to_take(uint8 type, uint64 xid, uint64 length, uint64 snapshot, WcDriverTake take)
{
	WcCommitMessage m = {.xid = xid,.length = length,.epoch = wc_gets_epoch(snapshot)};
	uint64_t	number;
	WcSlice		answer;
	WcError		err;

	(void) wc_claim_settle();

	/* A snapshot that was never taken has shown nothing to the transaction. */
	if (m.epoch != 0 || wc_local_knows_snapshot(snapshot))
	{
		m.snapshot = snapshot;
		wc_local_note_snapshot(snapshot);
	}
	wc_message_commit_encode(wc_local_begin(), &m);
	wc_local_txn.in_use = wc_local_txn.has_locks = true;
	handed_over = xid;			/* the engine may have it even if the wait is interrupted */
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

/*
 * Before PRECOMMIT the engine locks the rows that the process has claimed, in the claims' modes.  PRECOMMIT locks each written row that the
 * engine has no lock of in mode EXCLUSIVE, and EXCLUSIVE waits for other transactions' locks FOR KEY SHARE.
 */
static uint64
local_precommit(uint64 xid, uint64 length, uint64 snapshot)
{
	uint64		holder;

	(void) wc_claim_settle();
	if (!wc_local_move_claims(xid, &holder) && holder != 0)
		return holder;
	return ask_to_take(WC_MSG_PRECOMMIT, xid, length, snapshot, NULL);
}

static uint64
local_prepare(uint64 xid, uint64 length, uint64 snapshot, WcDriverTake take)
{
	uint64		holder;

	/* a prepared transaction's locks outlive the session */
	if (!wc_local_move_claims(xid, &holder))
		elog(ERROR, "a row that this transaction has locked is locked by transaction " UINT64_FORMAT, holder);
	return ask_to_take(WC_MSG_PREPARE, xid, length, snapshot, take);
}

/* The message may wait for the next one: the intake, which reads the log, releases the locks without the
 * session's thread. */
static bool
hand_over_locks(uint64 xid)
{
	if (wc_connection_generation() != wc_flight_generation(wc_places()))
		wc_connection_raise_lost();
	if (!wc_local_send_handed(xid))
		return false;
	handed_over = xid;
	forget_transaction();
	return true;
}

/* If hand_over_locks raises an error, the abort gives the claims back (wc_stream_leave_place). */
static bool
local_hand_over(uint64 xid, uint16 place, WcSlice rest)
{
	if (wc_local_txn.must_check || !wc_claim_rows(xid, place, rest))
		return false;
	if ((!wc_local_txn.has_locks && !wc_local_txn.has_batch) || hand_over_locks(xid))
		return true;
	wc_claim_give_back();
	return false;
}

/* If the message cannot be sent now, the engine learns of the abort from the log. */
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
	if (!wc_local_txn.in_use)
		return;
	wc_connection_abandon();
	forget_transaction();
}

static void
local_finish(void)
{
	handed_over = 0;
	wc_gets_leave_all();
	if (!wc_local_txn.in_use)
		return;

	/* Normally all scans are closed, all snapshots released, and most of these messages sent. */
	if (wc_local_scans_open() > 0 || wc_local_snapshots() > 0 || wc_local_txn.has_locks || wc_local_txn.has_batch)
	{
		local_abort();
		return;
	}
	wc_local_send_deferred(true);
	wc_local_txn.in_use = false;
	wc_local_txn.has_ids = false;
}

static uint64
local_catalog_generation(Oid server)
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
	.version = WC_DRIVER_VERSION,
	.features = WC_FEATURE_OFFSET | WC_FEATURE_OWN_WRITES | WC_FEATURE_ESTIMATE | WC_FEATURE_SAMPLE | WC_FEATURE_MODIFY |
	WC_FEATURE_SPLIT | WC_FEATURE_GROUPS | WC_FEATURE_TAKE | WC_FEATURE_DISTINCT,
	.connect = local_connect,
	.ready = wc_local_ready,
	.catalog_generation = local_catalog_generation,
	.writes = local_writes,
	.describe = wc_local_describe,
	.list_tables = wc_local_list_tables,
	.list_namespaces = wc_local_list_namespaces,
	.new_table_id = wc_local_new_table_id,
	.scan_open = wc_local_scan_open,
	.is_quiet = wc_local_is_quiet,
	.find_unapplied = wc_local_find_unapplied,
	.claim = wc_local_claim,
	.claim_end = wc_claim_end,
	.claim_same = wc_local_claim_same,
	.is_timely = wc_local_is_timely,
	.leave_row = wc_local_leave_row,
	.scan_take = wc_local_scan_take,
	.scan_next = wc_local_scan_next,
	.scans_open = wc_local_scans_open,
	.scan_stats = wc_local_scan_stats,
	.scan_close = wc_local_scan_close,
	.snapshot_enter = wc_local_snapshot_enter,
	.snapshot_mark = wc_gets_mark,
	.snapshot_enter_marked = wc_gets_enter_marked,
	.snapshot_take = wc_local_snapshot_take,
	.snapshot_release = wc_local_snapshot_release,
	.write = local_write,
	.rouse = wc_connection_rouse,
	.modify = local_modify,
	.lock_rows = wc_local_lock_rows,
	.unlock = wc_local_unlock,
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
