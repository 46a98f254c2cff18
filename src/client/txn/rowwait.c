/*
 * client/txn/rowwait.c: waits for a transaction that has locked a row.
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
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

#include "channel/flight.h"
#include "channel/shmem.h"
#include "client/txn/txn.h"

/* Class of the advisory locks that are the queue for a row. */
#define LOCK_CLASS		0x5744

/* Time between two requests for a lock whose holder is about to end: for the first ENDING_SHORT waits, and later. */
#define ENDING_WAIT_MS	1
#define ENDING_LONG_MS	10
#define ENDING_SHORT	20

/* The same for a holder that may give up the row, for the first ENDING_SHORT waits: it decides within the time that a read takes. */
#define BRIEF_WAIT_US	100

/* How often NOWAIT and SKIP LOCKED wait for a holder that is about to end. */
#define ENDING_MAX		100

bool
wc_row_holder_runs(uint64 holder)
{
	TransactionId xid = XidFromFullTransactionId(FullTransactionIdFromU64(holder));

	return (holder & WC_HOLDER_BRIEF) == 0 && !TransactionIdIsCurrentTransactionId(xid) && TransactionIdIsInProgress(xid);
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

/* Waits for a holder that has ended in PostgreSQL, or may give up the row.  lock_timeout limits this wait too, though the
 * lock manager does not know of it. */
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
	if ((holder & WC_HOLDER_BRIEF) != 0 && wait->looks < ENDING_SHORT)
	{
		pg_usleep(BRIEF_WAIT_US);
		CHECK_FOR_INTERRUPTS();
	}
	/* false: the holder was most likely rolled back; or it is a subtransaction, of which the transaction is not known any more */
	else if (!wc_following_await_briefly(top_of(holder), wait->looks < ENDING_SHORT ? ENDING_WAIT_MS : ENDING_LONG_MS))
		wc_following_sleep(wait->looks < ENDING_SHORT ? ENDING_WAIT_MS : ENDING_LONG_MS);
	wait->looks++;
}

void
wc_holder_wait(WcHolderWait *wait, uint64 holder)
{
	if (!wc_row_holder_runs(holder))
	{
		wait_for_end(wait, holder);
		return;
	}
	wait->looks = 0;
	XactLockTableWait(XidFromFullTransactionId(FullTransactionIdFromU64(holder)), NULL, NULL, XLTW_None);
	/* the holder keeps the row locked until it is applied */
	if (!wait->takes_over)
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
	if (policy != LockWaitBlock && (wc_row_holder_runs(holder) || wait->holder.looks >= ENDING_MAX))
		return false;
	if (policy == LockWaitBlock && !wait->queued && !has_weaker && wc_row_holder_runs(holder))
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

WcDriverLocker
wc_row_locker(WcRowLockMode mode)
{
	WcDriverLocker locker = {
		.xid = U64FromFullTransactionId(GetCurrentFullTransactionId()),.subid = GetCurrentSubTransactionId(),
		.owner = U64FromFullTransactionId(GetTopFullTransactionId()),.mode = mode
	};

	return locker;
}
