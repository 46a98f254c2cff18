/*
 * client/local/locallock.c: row locks of the embedded engine, for its driver (local.c): in shared memory, or by a request.
 */
#include "postgres.h"

#include "channel/flight.h"
#include "channel/shmem.h"
#include "client/local/claim.h"
#include "client/local/gets.h"
#include "client/local/local.h"

void
wc_local_lock_rows(WcLockMessage *m, WcLockResult *result)
{
	WcFrameReader *frame;
	WcError		err;

	if (m->snapshot != 0)
		wc_local_note_snapshot(m->snapshot);
	m->epoch = wc_gets_epoch(m->snapshot);
	wc_message_lock_encode(wc_local_begin(), m);
	wc_local_txn.in_use = true;
	wc_local_txn.has_locks = true;
	frame = wc_local_await(wc_connection_send(WC_MSG_LOCK, 0, WC_SEND_STAY));
	if (wc_message_locked_decode(wc_local_payload(frame), m, result, &err) != WC_OK)
		wc_raise(&err);
	result->check = (frame->header.flags & WC_FLAG_CHECK) != 0;
}

/* --- rows that statements have locked in shared memory -------------------------------- */

/* Sends one request for the n-th row and those behind it that are of the same table and mode, which it marks by a table of 0.  False:
 * not all of them are locked; *holder is why. */
static bool
move_like(uint64 xid, WcHeldRow *held, uint32 n, uint32 nheld, uint64 *holder)
{
	WcSlice		rows[WC_CLAIMS_HELD_MAX];
	WcLockResult result;
	WcLockMessage m = {
		.table_id = held[n].table_id,.mode = (uint8) held[n].mode,.owner = xid,.xid = xid,.subid = TopSubTransactionId,
		.cid = InvalidCommandId,.rows = rows
	};

	for (uint32 i = n; i < nheld; i++)
	{
		if (held[i].table_id != m.table_id || held[i].mode != (WcRowLockMode) m.mode)
			continue;
		rows[m.nrows++] = wc_slice(held[i].row, held[i].len);
		held[i].table_id = 0;
	}
	wc_local_lock_rows(&m, &result);
	wc_local_txn.must_check |= result.check;
	*holder = result.holder;
	return result.nlocked == m.nrows;
}

bool
wc_local_move_claims(uint64 xid, uint64 *holder)
{
	WcHeldRow	held[WC_CLAIMS_HELD_MAX];
	uint32		n = wc_claim_nrows();

	*holder = 0;
	for (uint32 i = 0; i < n; i++)
		wc_claim_nth(i, &held[i]);
	for (uint32 i = 0; i < n; i++)
	{
		if (held[i].table_id != 0 && !move_like(xid, held, i, n, holder))
			return false;
	}
	wc_claim_forget();
	return true;
}

/* Locks the row in shared memory (claim.h).  When there is no room for it, the engine gets all rows before it. */
static bool
claim_row(const WcDriverLocker *locker, uint32 table_id, WcSlice row, bool *added, uint64 *holder)
{
	uint64		why;

	if (wc_claim_nrows() == WC_CLAIMS_HELD_MAX && locker->xid == locker->owner)
		(void) wc_local_move_claims(locker->owner, &why);	/* if not all, the engine is asked for this row, too */
	return wc_claim_row(locker, table_id, row, added, holder);
}

/* A buffer for an answer in shared memory, which the next call reuses. */
static WcBuf claimed = WC_BUF_INIT;

/* Finds the answer that the claim needs; it is then in `claimed`. */
static WcGetFound
find_claimed(const WcScan *scan, const WcDriverClaim *claim)
{
	WcGetFound	found;

	if (claim->shows != NULL && wc_gets_find_any(scan, claim, &claimed))
		return WC_GET_FOUND;
	wc_buf_reset(&claimed, WC_FRAME_KEEP);
	found = wc_gets_find_now(scan, &claimed);
	/* it has come just now, or has been rejected */
	return found == WC_GET_FOUND && claim->shows != NULL ? WC_GET_ABSENT : found;
}

bool
wc_local_claim(const WcDriverOpen *open, const WcDriverLocker *locker, WcDriverClaim *claim)
{
	const WcScan *scan = open->scan;
	WcGetFound	found;

	claim->added = claim->wanted = false;
	claim->holder = 0;
	if (!wc_gets_may_find(open))
		return false;
	wc_getcache_prefetch(wc_shmem_getcache(), scan->table_id, scan->ranges[0].start);
	if (!claim->held && !claim_row(locker, scan->table_id, scan->ranges[0].start, &claim->added, &claim->holder) &&
		claim->holder == 0)
		return false;
	found = find_claimed(scan, claim);
	claim->answer = wc_buf_slice(&claimed);
	claim->wanted = found == WC_GET_WANTED;
	if (found == WC_GET_FOUND)
		return claim->holder == 0;
	claim->holder = 0;
	if (claim->added)
		wc_claim_end(false);
	return false;
}

/* A commit that has changed the row has either been applied when the claim is made, and set the row's stamp, or keeps the row
 * from being claimed. */
bool
wc_local_claim_same(uint64 snapshot, uint32 table_id, WcSlice row, const WcDriverLocker *locker, uint64 *holder)
{
	bool		added;
	bool		same;

	*holder = 0;
	if (wc_gets_epoch(snapshot) == 0 || !claim_row(locker, table_id, row, &added, holder))
		return false;
	same = wc_gets_is_unchanged(snapshot, table_id, row);
	if (added)
		wc_claim_end(same);
	return same;
}
