/*
 * client/rowlock.c: rows locked to the end of the (sub)transaction.
 *
 * The engine knows which transaction has locked which row, and never waits.  The functions here
 * wait for that transaction, in PostgreSQL's lock manager.  Backends that wait for the same row
 * queue as they do for a row of a heap table: the first waits for the holder of the row lock, and
 * holds an advisory lock that stands for the row; the others wait for the advisory lock.
 */
#include "postgres.h"

#include "access/subtrans.h"
#include "access/transam.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

#include "channel/shmem.h"
#include "channel/flight.h"
#include "client/state.h"

/* Class of the advisory locks that are the queue for a row. */
#define LOCK_CLASS		0x5744

/* Time between two requests for a lock whose holder is about to end: for the first ENDING_SHORT waits, and later. */
#define ENDING_WAIT_MS	1
#define ENDING_LONG_MS	10
#define ENDING_SHORT	20

/* How often NOWAIT and SKIP LOCKED wait for a holder that is about to end. */
#define ENDING_MAX		100

/* The last HELD_MAX locked rows with keys of at most HELD_KEY_MAX bytes are remembered. */
#define HELD_MAX		16
#define HELD_KEY_MAX	256
#define HELD_FAMILIES	4

/* A row that the transaction has locked in a mode that excludes other writers. */
typedef struct Held
{
	uint32		table_id;
	bool		absent;			/* the row did not exist when it was locked, and no operation on it has been written since */
	bool		seen;			/* the row exists in these families at the snapshot `same_as` */
	WcRowLockMode mode;			/* the lock's */
	uint64		same_as;		/* the number of a snapshot: no other transaction has changed the row since; 0: of none it is known */
	uint32		nfamilies;		/* in these families, none: in all */
	uint32		families[HELD_FAMILIES];
	size_t		len;
	uint8		key[HELD_KEY_MAX];
} Held;

static bool locked;				/* this transaction has, or may have, row locks */
static Held held[HELD_MAX];
static int	nheld;
static int	next_held;			/* the oldest entry, once all are in use */

bool
wc_rows_locked(void)
{
	return locked;
}

void
wc_rows_note_locked(void)
{
	locked = true;
}

void
wc_rows_forget(void)
{
	locked = false;
	nheld = next_held = 0;
}

void
wc_rows_forget_held(void)
{
	nheld = next_held = 0;
}

static Held *
find_held(uint32 table_id, WcSlice row)
{
	for (int i = 0; i < nheld; i++)
	{
		if (held[i].table_id == table_id && wc_slice_eq(wc_slice(held[i].key, held[i].len), row))
			return &held[i];
	}
	return NULL;
}

/* Remembers the row.  If the subtransaction that locked it is rolled back, later operations on the row are, too. */
static void
note_held(uint32 table_id, WcSlice row, bool absent)
{
	Held	   *h = find_held(table_id, row);

	if (h == NULL)
	{
		if (row.len > HELD_KEY_MAX)
			return;
		h = &held[nheld < HELD_MAX ? nheld++ : next_held++ % HELD_MAX];
		h->table_id = table_id;
		h->len = row.len;
		memcpy(h->key, row.data, row.len);
	}
	h->absent = absent;
	h->same_as = 0;
}

/* The row has been locked, and has not changed since the request's snapshot: while it is locked, that stays so. */
static void
note_same(const WcRowLockRequest *request, WcSlice row)
{
	Held	   *h = find_held(request->table->id, row);

	if (h == NULL || request->snapshot == NULL || request->nfamilies > HELD_FAMILIES)
		return;
	h->mode = request->mode;
	h->seen = request->seen;
	h->same_as = wc_snapshot_number(request->snapshot);
	h->nfamilies = request->nfamilies;
	for (uint32 i = 0; i < request->nfamilies; i++)
		h->families[i] = request->families[i];
}

static bool
same_families(const Held *h, uint32 nfamilies, const uint32 *families)
{
	if (h->nfamilies != nfamilies)
		return false;
	for (uint32 i = 0; i < nfamilies; i++)
	{
		if (h->families[i] != families[i])
			return false;
	}
	return true;
}

/* Would the engine answer that the transaction has locked the row before, and that it has not changed?  LockRows, for
 * example, has locked the row that DELETE ... USING locks again. */
static bool
is_held_same(const WcRowLockRequest *request, WcSlice row)
{
	const Held *h;

	if (request->only_absent || request->snapshot == NULL || (request->tell_rewritten && !wc_batch_empty()))
		return false;
	h = find_held(request->table->id, row);
	return h != NULL && h->same_as != 0 && h->same_as == wc_snapshot_number(request->snapshot) && h->mode >= request->mode &&
		same_families(h, request->nfamilies, request->families);
}

bool
wc_rows_known(const WcScan *scan, uint64 snapshot)
{
	const Held *h;

	if (nheld == 0 || snapshot == 0 || scan->nranges != 1 || !wc_range_is_point(&scan->ranges[0]) ||
		!scan->rows_by_existence || scan->raw || scan->ncolumns != 0 || scan->filter != NULL || scan->aggregation != NULL ||
		scan->row_offset != 0 || scan->ts_min != 0 || scan->ts_max != WC_TS_LATEST || scan->as_of_ts != WC_TS_LATEST ||
		scan->measured)
		return false;
	h = find_held(scan->table_id, scan->ranges[0].start);
	return h != NULL && h->seen && h->same_as == snapshot && same_families(h, scan->nfamilies, scan->families);
}

void
wc_rows_note_held(uint32 table_id, WcSlice row)
{
	note_held(table_id, row, false);
}

bool
wc_client_holds_rows(void)
{
	return nheld > 0;
}

WcClientSnapshot *
wc_client_snapshot_of_held(const WcTableDesc *table, WcSlice row)
{
	return find_held(table->id, row) != NULL ? wc_snapshot_newest() : NULL;
}

bool
wc_rows_hold(const WcOp *op)
{
	Held	   *h = op->kind == WC_OP_ROW ? find_held(op->table_id, op->row) : NULL;
	bool		settled = h != NULL && (h->absent || (op->flags & WC_ROW_MUST_BE_ABSENT) == 0);

	if (h != NULL)
		h->absent = false;
	return settled;
}

/* --- waiting ------------------------------------------------------------------------ */

/* Is the holder a running transaction, other than this one?  Else the holder has ended, and the
 * engine will learn of this soon. */
static bool
is_running(uint64 holder)
{
	TransactionId xid = XidFromFullTransactionId(FullTransactionIdFromU64(holder));

	return !TransactionIdIsCurrentTransactionId(xid) && TransactionIdIsInProgress(xid);
}

/* The holder's top-level transaction, if it is known: PostgreSQL keeps it for transactions that
 * a snapshot of this backend may still show as running. */
static uint64
top_of(uint64 holder)
{
	TransactionId xid = XidFromFullTransactionId(FullTransactionIdFromU64(holder));

	if (!TransactionIdIsValid(TransactionXmin) || TransactionIdPrecedes(xid, TransactionXmin))
		return holder;
	return holder - (uint32) (xid - SubTransGetTopmostTransaction(xid));
}

/* Waits for a holder that has ended in PostgreSQL.  lock_timeout limits this wait too, though the lock manager
 * does not know of it. */
static void
wait_for_end(WcHolderWait *wait, uint64 holder)
{
	TimestampTz now = GetCurrentTimestamp();

	if (wait->looks == 0)
		wait->since = now;
	else if (LockTimeout > 0 && TimestampDifferenceExceeds(wait->since, now, LockTimeout))
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("canceling statement due to lock timeout")));
	/* true: the holder has a place in flight, as it has committed and is not applied yet; else it was most likely rolled back */
	if (!wc_following_await_briefly(top_of(holder), wait->looks < ENDING_SHORT ? ENDING_WAIT_MS : ENDING_LONG_MS))
	{
		wc_following_wake();
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 wait->looks < ENDING_SHORT ? ENDING_WAIT_MS : ENDING_LONG_MS,
						 wc_shmem_wait_event(WC_WAIT_ROW_LOCK));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	wait->looks++;
}

bool
wc_row_holder_runs(uint64 holder)
{
	return is_running(holder);
}

void
wc_holder_wait(WcHolderWait *wait, uint64 holder)
{
	if (!is_running(holder))
	{
		wait_for_end(wait, holder);
		return;
	}
	wait->looks = 0;
	XactLockTableWait(XidFromFullTransactionId(FullTransactionIdFromU64(holder)), NULL, NULL, XLTW_None);
	/* the holder keeps the row locked until it is applied */
	(void) wc_following_await_briefly(top_of(holder), ENDING_LONG_MS);
}

/* The lock mode in the queue, as for tuples of heap tables: these modes conflict as the row locks' modes do. */
static LOCKMODE
queue_mode(WcRowLockMode mode)
{
	switch (mode)
	{
		case WC_LOCK_KEY_SHARE:
			return AccessShareLock;
		case WC_LOCK_SHARE:
			return RowShareLock;
		case WC_LOCK_NO_KEY_UPDATE:
			return ExclusiveLock;
		case WC_LOCK_EXCLUSIVE:
			break;
	}
	return AccessExclusiveLock;
}

/* A transaction that has the row in a weaker mode must not queue: others before it in the queue may wait
 * for this transaction. */
static void
queue_up(WcRowWait *wait, const WcTableDesc *table, WcSlice row, WcRowLockMode mode)
{
	SET_LOCKTAG_ADVISORY(wait->tag, MyDatabaseId, table->id, hash_bytes(row.data, (int) row.len), LOCK_CLASS);
	wait->mode = queue_mode(mode);
	(void) LockAcquire(&wait->tag, wait->mode, false, false);
	wait->queued = true;
}

bool
wc_row_wait(WcRowWait *wait, const WcTableDesc *table, WcSlice row, WcRowLockMode mode, LockWaitPolicy policy,
			uint64 holder, bool has_weaker)
{
	if (policy != LockWaitBlock && (is_running(holder) || wait->holder.looks >= ENDING_MAX))
		return false;
	if (policy == LockWaitBlock && !wait->queued && !has_weaker && is_running(holder))
		queue_up(wait, table, row, mode);
	wc_holder_wait(&wait->holder, holder);
	return true;
}

void
wc_row_wait_over(WcRowWait *wait)
{
	if (wait->queued)
		(void) LockRelease(&wait->tag, wait->mode, false);
	memset(wait, 0, sizeof(*wait));
}

/* --- locking ------------------------------------------------------------------------ */

WcDriverLocker
wc_row_locker(WcRowLockMode mode)
{
	WcDriverLocker locker = {
		.xid = U64FromFullTransactionId(GetCurrentFullTransactionId()),.subid = GetCurrentSubTransactionId(),
		.owner = U64FromFullTransactionId(GetTopFullTransactionId()),.mode = mode
	};

	return locker;
}

/* Sends one request for some of the rows; returns how many of them were locked. */
static uint32
ask(const WcRowLockRequest *request, const WcDriverLocker *locker, WcRowLock *rows, uint32 nrows, WcLockResult *result)
{
	WcLockMessage m = {
		.table_id = request->table->id,.mode = (uint8) request->mode,.only_absent = request->only_absent,
		.serializable = request->snapshot != NULL && !request->may_change && IsolationUsesXactSnapshot(),
		.tell_rewritten = request->tell_rewritten && !wc_batch_empty(),
		.owner = locker->owner,.xid = locker->xid,.subid = locker->subid,.cid = request->tell_rewritten ? request->cid : InvalidCommandId,
		.clock_offset_us = wc_client_clock_offset_us(),
		.nfamilies = request->nfamilies,.families = request->families,.nrows = nrows
	};
	WcSlice    *keys = palloc(sizeof(WcSlice) * nrows);

	for (uint32 i = 0; i < nrows; i++)
		keys[i] = rows[i].row;
	m.rows = keys;
	if (request->snapshot != NULL)
		m.snapshot = wc_snapshot_number(request->snapshot);
	wc_driver()->lock_rows(&m, result);
	pfree(keys);
	for (uint32 i = 0; i < result->nlocked; i++)
	{
		rows[i].locked = true;
		rows[i].changed = (result->rows[i] & WC_LOCKED_CHANGED) != 0;
		rows[i].rewritten = (result->rows[i] & WC_LOCKED_REWRITTEN) != 0;
		rows[i].gone = (result->rows[i] & WC_LOCKED_GONE) != 0;
		rows[i].exists = (result->rows[i] & WC_LOCKED_EXISTS) != 0;
		if (nrows <= HELD_MAX && request->mode >= WC_LOCK_NO_KEY_UPDATE && !rows[i].gone && !rows[i].exists)
		{
			note_held(request->table->id, rows[i].row, request->only_absent);
			if (!rows[i].changed && !request->only_absent)
				note_same(request, rows[i].row);
		}
	}
	if (result->check)
		wc_batch_must_be_checked();
	if (m.serializable && result->nlocked > 0 && rows[result->nlocked - 1].changed)
		wc_client_raise_changed_row(request->table, rows[result->nlocked - 1].row);
	return result->nlocked;
}

static void
lock_all(const WcRowLockRequest *request, WcRowLock *rows, int nrows)
{
	WcDriverLocker locker = wc_row_locker(request->mode);
	WcRowWait	wait = {0};
	int			batch = WC_LOCK_BATCH;
	int			done = 0;

	locked = true;
	while (done < nrows)
	{
		WcLockResult result;
		uint32		n = ask(request, &locker, rows + done, Min(nrows - done, batch), &result);

		/* after a row that another transaction has locked, there may be more such rows */
		batch = result.holder != 0 ? 1 : Min(2 * batch, WC_LOCK_BATCH);

		done += n;
		if (n > 0)
			wc_row_wait_over(&wait);
		if (result.holder == 0)
			continue;
		rows[done].waited = true;
		if (!wc_row_wait(&wait, request->table, rows[done].row, request->mode, request->wait_policy,
						 result.holder, result.has_weaker))
		{
			wc_row_wait_over(&wait);
			rows[done] = (WcRowLock) {.row = rows[done].row};
			done++;
		}
	}
	wc_row_wait_over(&wait);
}

/* --- tables outside the embedded engine ---------------------------------------------- */

/* Has the row a visible cell in the families, own writes included? */
static bool
exists_elsewhere(const WcRowLockRequest *request, WcSlice row)
{
	WcRange		range = {.start = row,.stop = row,.start_inclusive = true,.stop_inclusive = true};
	WcColumn	column = {.family = request->table->families[0].id,.kind = WC_COLUMN_EXACT};
	WcClientScan *client_scan;
	WcScan		scan;
	WcSlice		found;
	bool		exists;

	wc_scan_init(&scan, request->table->id);
	scan.nranges = 1;
	scan.ranges = &range;
	scan.rows_by_existence = true;
	scan.nfamilies = request->nfamilies;
	scan.families = (uint32_t *) request->families;
	scan.row_limit = 1;
	scan.key_only = true;
	scan.ncolumns = 1;			/* a scan names a column; the row need not have it */
	scan.columns = &column;
	client_scan = wc_client_scan_open(&scan, wc_snapshot_newest(), GetCurrentCommandId(false) + 1, 1, CurrentMemoryContext);
	exists = wc_client_next_row(client_scan, &found);
	wc_client_scan_close(client_scan);
	return exists;
}

/*
 * The engine locks the rows, under the id that all sessions have for the table, and knows nothing of the rows.  A row
 * may have changed since the snapshot if this session has waited for it, or if any session has sent
 * changes since.
 */
static void
lock_elsewhere(const WcRowLockRequest *request, WcRowLock *rows, int nrows)
{
	WcTableDesc table = *request->table;
	WcRowLockRequest plain = {.table = &table,.mode = request->mode,.wait_policy = request->wait_policy};
	bool		compare = request->snapshot != NULL && !IsolationUsesXactSnapshot();

	wc_xact_join();
	table.id = wc_kept()->lock_id(request->table->id);
	lock_all(&plain, rows, nrows);
	for (int i = 0; i < nrows; i++)
	{
		if (!rows[i].locked)
			continue;
		rows[i].changed = compare &&
			(rows[i].waited || wc_snapshot_sent_elsewhere(request->snapshot) != wc_sent_elsewhere());
		if (request->only_absent)
			rows[i].exists = exists_elsewhere(request, rows[i].row);
	}
}

void
wc_lock_changed_rows(uint32 lock_id, const WcSlice *keys, int nrows)
{
	WcTableDesc table = {.id = lock_id};
	WcRowLockRequest request = {.table = &table,.mode = WC_LOCK_NO_KEY_UPDATE,.wait_policy = LockWaitBlock};
	WcRowLock  *rows = palloc0(sizeof(WcRowLock) * nrows);

	wc_xact_join();
	for (int i = 0; i < nrows; i++)
		rows[i].row = keys[i];
	lock_all(&request, rows, nrows);
	pfree(rows);
}

/* --- both --------------------------------------------------------------------------- */

void
wc_client_lock_rows(const WcRowLockRequest *request, WcRowLock *rows, int nrows)
{
	wc_client_require_writable();
	if (request->table->id >= WC_REMOTE_TABLE)
	{
		lock_elsewhere(request, rows, nrows);
		return;
	}
	wc_lock_for_writing(request->table);
	wc_xact_join();
	if (nrows == 1 && is_held_same(request, rows->row))
	{
		rows->locked = true;
		return;
	}
	if (request->snapshot == NULL)
		wc_following_await_catalog(MyDatabaseId);
	if (request->only_absent || request->snapshot != NULL)
		wc_batch_send();		/* a row may exist by own writes only */
	lock_all(request, rows, nrows);
}

bool
wc_client_takes(const WcTableDesc *table)
{
	return (wc_driver_of(table->id)->features & WC_FEATURE_TAKE) != 0;
}

/* Waits as wc_client_modify_row does. */
WcClientScan *
wc_client_scan_take(const WcTableDesc *table, const WcScan *scan, WcRowLockMode mode, CommandId cid, MemoryContext context)
{
	WcDriverLocker locker;
	WcRowWait	wait = {0};
	WcClientScan *taken;
	WcTakeResult result;

	Assert(!IsolationUsesXactSnapshot());
	wc_client_require_writable();
	wc_lock_for_writing(table);
	wc_xact_join();
	wc_following_await_catalog(MyDatabaseId);
	wc_batch_send();
	locker = wc_row_locker(mode);
	locked = true;
	while ((taken = wc_scan_take(scan, &locker, cid, context, &result)) == NULL &&
		   (result.there || !is_running(result.holder)))
		(void) wc_row_wait(&wait, table, scan->ranges[0].start, mode, LockWaitBlock, result.holder, result.has_weaker);
	wc_row_wait_over(&wait);
	if (taken == NULL)
		return NULL;
	if (result.check)
		wc_batch_must_be_checked();
	if (result.taken && mode >= WC_LOCK_NO_KEY_UPDATE)
		note_held(table->id, scan->ranges[0].start, false);
	return taken;
}

void
wc_client_lock_row(const WcTableDesc *table, WcSlice row)
{
	WcRowLockRequest request = {.table = table,.mode = WC_LOCK_EXCLUSIVE,.wait_policy = LockWaitBlock};
	WcRowLock	lock = {.row = row};

	wc_client_lock_rows(&request, &lock, 1);
}
