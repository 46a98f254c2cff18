/*
 * client/rowlock.c: rows locked to the end of the (sub)transaction.
 *
 * The engine knows who has which row, and never waits; waiting is done here, for
 * the transaction that has it, in PostgreSQL's lock manager.  Those who wait for one row
 * queue up as they do for a row of a heap table: the first waits for the holder, and
 * holds a lock that stands for the row, which the others wait for.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "storage/procarray.h"

#include "channel/shmem.h"
#include "channel/flight.h"
#include "client/state.h"

/* Of advisory locks: in the queue for a row. */
#define LOCK_CLASS		0x5744

/* Between two looks at a lock whose holder is about to end: at first, and later. */
#define ENDING_WAIT_MS	1
#define ENDING_LONG_MS	10
#define ENDING_SHORT	20

/* Who does not want to wait still does, so often, for a holder that is about to end. */
#define ENDING_MAX		100

static bool locked;				/* this transaction has, or may have, row locks */

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
}

/* --- waiting ------------------------------------------------------------------------ */

/* Is it a transaction that can be waited for?  Else it has ended, or will at once: the
 * engine is about to hear of that. */
static bool
is_running(uint64 holder)
{
	TransactionId xid = XidFromFullTransactionId(FullTransactionIdFromU64(holder));

	return !TransactionIdIsCurrentTransactionId(xid) && TransactionIdIsInProgress(xid);
}

/* A wait that the lock manager does not see has lock_timeout all the same. */
static void
wait_for_end(WcHolderWait *wait)
{
	TimestampTz now = GetCurrentTimestamp();

	/* it is committed, and not applied yet */
	wc_following_wake();
	if (wait->looks == 0)
		wait->since = now;
	else if (LockTimeout > 0 && TimestampDifferenceExceeds(wait->since, now, LockTimeout))
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("canceling statement due to lock timeout")));
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 wait->looks < ENDING_SHORT ? ENDING_WAIT_MS : ENDING_LONG_MS,
					 wc_shmem_wait_event(WC_WAIT_ROW_LOCK));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	wait->looks++;
}

void
wc_holder_wait(WcHolderWait *wait, uint64 holder)
{
	if (!is_running(holder))
	{
		wait_for_end(wait);
		return;
	}
	wait->looks = 0;
	XactLockTableWait(XidFromFullTransactionId(FullTransactionIdFromU64(holder)), NULL, NULL, XLTW_None);
}

/* As heap tables' tuples are locked: these conflict as the modes do. */
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

/* One that has the row in a weaker mode does not queue: others before it may wait for
 * this very transaction. */
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

/* One request for some of the rows: how many of them were locked. */
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
	}
	if (m.serializable && result->nlocked > 0 && rows[result->nlocked - 1].changed)
		wc_client_raise_changed_row(request->table, rows[result->nlocked - 1].row);
	return result->nlocked;
}

void
wc_client_lock_rows(const WcRowLockRequest *request, WcRowLock *rows, int nrows)
{
	WcRowWait	wait = {0};
	WcDriverLocker locker;
	int			batch = WC_LOCK_BATCH;
	int			done = 0;

	wc_client_require_writable();
	wc_lock_for_writing(request->table);
	wc_xact_join();
	if (request->only_absent || request->snapshot != NULL)
		wc_batch_send();		/* own writes may make a row be there */
	locker = wc_row_locker(request->mode);
	locked = true;
	while (done < nrows)
	{
		WcLockResult result;
		uint32		n = ask(request, &locker, rows + done, Min(nrows - done, batch), &result);

		/* behind a row that somebody has there may be others */
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

void
wc_client_lock_row(const WcTableDesc *table, WcSlice row)
{
	WcRowLockRequest request = {.table = table,.mode = WC_LOCK_EXCLUSIVE,.wait_policy = LockWaitBlock};
	WcRowLock	lock = {.row = row};

	wc_client_lock_rows(&request, &lock, 1);
}
