/*
 * client/local/claim.c: locks rows in shared memory.
 */
#include "postgres.h"

#include "channel/flight.h"
#include "channel/shmem.h"
#include "client/local/claim.h"
#include "model/batch.h"

/* So long at most a statement waits for a commit before it asks the engine for the row. */
#define APPLY_WAIT_MS 20

/* The claims of the commit. */
static WcClaim taken[WC_CLAIMS_MAX + WC_CLAIMS_HELD_MAX];
static int ntaken;
static uint64 opening;			/* while they were made */

static bool holds;				/* statements have locked rows */

/* The commits, perhaps not applied, from which the transaction has taken over rows. */
static uint64 behind[WC_CLAIMS_HELD_MAX];
static int	nbehind;

/* --- statements --------------------------------------------------------------------- */

static bool
hold(const WcDriverLocker *locker, uint32 table_id, WcSlice row, uint64 ended, bool *added)
{
	if (!wc_claims_hold(wc_claims(), wc_places(), wc_shmem_my_process(), locker->owner, table_id, row, locker->mode, ended, added))
		return false;
	holds = true;
	return true;
}

bool
wc_claim_row(const WcDriverLocker *locker, uint32 table_id, WcSlice row, bool *added, uint64 *ended)
{
	*added = false;
	*ended = 0;
	if (locker->xid != locker->owner)
		return false;
	if (hold(locker, table_id, row, 0, added))
		return true;
	*ended = wc_claims_ended(wc_claims(), wc_places(), table_id, row);
	return false;
}

bool
wc_claim_take_over(const WcDriverLocker *locker, uint32 table_id, WcSlice row, uint64 ended, bool *added)
{
	if (nbehind == WC_CLAIMS_HELD_MAX || !hold(locker, table_id, row, ended, added))
		return false;
	behind[nbehind++] = ended;
	return true;
}

bool
wc_claim_settle(void)
{
	if (nbehind == 0)
		return true;
	while (nbehind > 0)
	{
		if (!wc_following_await_briefly(behind[nbehind - 1], APPLY_WAIT_MS))
			nbehind--;
		else if (atomic_load(&wc_shmem()->state) == WC_ENGINE_FAILED)
			return false;
	}
	wc_claims_settle(wc_claims(), wc_shmem_my_process());
	return true;
}

/* The engine would wait for the commit, too, and as long as it has a lock of the row, others have to ask it. */
bool
wc_claim_later(const WcDriverLocker *locker, uint32 table_id, WcSlice row, uint64 ended, bool *added, uint64 *holder)
{
	*added = false;
	*holder = 0;
	if (locker->xid != locker->owner)
		return false;
	if (ended != 0)
	{
		(void) wc_following_await_briefly(ended, APPLY_WAIT_MS);
		if (hold(locker, table_id, row, 0, added))
			return true;
	}
	*holder = wc_claims_locked_by(wc_claims(), wc_places(), table_id, row, locker->mode, locker->owner);
	return false;
}

void
wc_claim_end(bool keep)
{
	if (keep)
		wc_claims_keep_last(wc_claims(), wc_shmem_my_process());
	else
		wc_claims_drop_last(wc_claims(), wc_shmem_my_process());
}

uint32
wc_claim_nrows(void)
{
	return holds ? wc_claims_nheld(wc_claims(), wc_shmem_my_process()) : 0;
}

void
wc_claim_nth(uint32 n, WcHeldRow *held)
{
	wc_claims_held(wc_claims(), wc_shmem_my_process(), n, held);
}

/* --- the commit --------------------------------------------------------------------- */

/* True if all rows are free at this moment.  It only reads: a claim that is taken and given back would send other
 * transactions to the engine. */
static bool
are_free(WcSlice operations)
{
	WcDecoder	d = wc_decoder(operations);
	int			n = 0;
	WcOp		op;
	WcStatus	status;

	while ((status = wc_batch_next_op(&d, &op, NULL)) == WC_OK)
	{
		if (op.kind != WC_OP_ROW || (op.flags & WC_ROW_MUST_BE_ABSENT) != 0 || ++n > WC_CLAIMS_MAX ||
			!wc_claims_is_free(wc_claims(), wc_places(), opening, op.table_id, op.row, operations.len))
			return false;
	}
	return status == WC_END;
}

bool
wc_claim_rows(uint64 xid, uint16 place, WcSlice operations)
{
	WcDecoder	d = wc_decoder(operations);
	WcOp		op;

	opening = wc_claims_opening(wc_claims());
	if (operations.len > 0 && (opening == 0 || !are_free(operations)))
		return false;
	for (uint32 n = wc_claim_nrows(); n > 0; n--)
		wc_claims_promote(wc_claims(), wc_shmem_my_process(), n - 1, place, xid, &taken[ntaken++]);
	while (wc_batch_next_op(&d, &op, NULL) == WC_OK)
	{
		if (!wc_claims_take(wc_claims(), wc_places(), opening, op.table_id, op.row, operations.len, place, xid, &taken[ntaken]))
		{
			wc_claim_give_back();
			return false;
		}
		ntaken++;
	}
	return true;
}

bool
wc_claim_is_first(uint32 table_id, WcSlice row)
{
	return wc_claims_is_first(wc_claims(), opening, table_id, row, taken, ntaken);
}

void
wc_claim_give_back(void)
{
	while (ntaken > 0)
		wc_claims_give_back(wc_claims(), &taken[--ntaken]);
}

void
wc_claim_forget(void)
{
	ntaken = nbehind = 0;
	if (holds)
		wc_claims_drop_all(wc_claims(), wc_shmem_my_process());
	holds = false;
}
