/*
 * client/rowlock.c: rows locked to the end of the transaction.
 *
 * The engine knows who has which row, and never waits; waiting is done here, for
 * the transaction that has it, in PostgreSQL's lock manager.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"

#include "channel/shmem.h"
#include "client/state.h"

/* Between two looks at a lock whose transaction has just ended. */
#define ENDED_WAIT_MS 1

static bool locked;				/* this transaction has, or may have, row locks */

bool
wc_rows_locked(void)
{
	return locked;
}

void
wc_rows_forget(void)
{
	locked = false;
}

/* Returns when the transaction has ended. */
static void
wait_for(uint64 holder)
{
	TransactionId xid = XidFromFullTransactionId(FullTransactionIdFromU64(holder));

	if (!TransactionIdIsCurrentTransactionId(xid) && TransactionIdIsInProgress(xid))
	{
		XactLockTableWait(xid, NULL, NULL, XLTW_None);
		return;
	}

	/* The engine has not heard of its end yet, but soon will. */
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ENDED_WAIT_MS,
					 wc_shmem_wait_event(WC_WAIT_ROW_LOCK));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

void
wc_client_lock_row(const WcTableDesc *table, WcSlice row)
{
	uint64		xid;
	uint64		holder;

	wc_client_require_writable();
	wc_lock_for_writing(table);
	wc_xact_join();
	xid = U64FromFullTransactionId(GetTopFullTransactionId());
	locked = true;
	while ((holder = wc_driver()->lock_row(table->id, xid, row)) != 0)
		wait_for(holder);
}
