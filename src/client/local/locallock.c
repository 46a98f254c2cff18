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

	(void) wc_claim_settle();
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

/* When there is no room for a further row in shared memory, the engine gets all rows before it. */
static void
make_room(const WcDriverLocker *locker)
{
	uint64		why;

	if (wc_claim_nrows() == WC_CLAIMS_HELD_MAX && locker->xid == locker->owner)
		(void) wc_local_move_claims(locker->owner, &why);	/* if not all, the engine is asked for this row, too */
}

bool
wc_local_is_timely(uint32 table_id, WcSlice row)
{
	return wc_claims_is_timely(wc_claims(), wc_places(), table_id, row);
}

void
wc_local_leave_row(uint64 xid, uint32 table_id, WcSlice row, uint32 follows, WcSlice get, WcSlice answer)
{
	if (follows == 0 && !wc_claim_is_first(table_id, row))
		return;
	wc_unapplied_put(wc_unapplied(), wc_claims_hash_row(wc_claims_hash_table(wc_claims(), table_id), row), xid, Max(follows, 1), get, answer);
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

/* Locks the row, perhaps with the answer from a commit that is not applied yet, which is then in `claimed`. */
static bool
claim_row(const WcDriverLocker *locker, const WcScan *scan, WcDriverClaim *claim)
{
	WcSlice		row = scan->ranges[0].start;
	uint64		ended;

	make_room(locker);
	if (wc_claim_row(locker, scan->table_id, row, &claim->added, &ended))
		return true;
	if (ended != 0 && wc_gets_find_unapplied(scan, ended, claim, &claimed))
	{
		if (claim->follows <= WC_UNAPPLIED_FOLLOWS_MAX && wc_claim_take_over(locker, scan->table_id, row, ended, &claim->added))
		{
			wc_getcache_count(wc_shmem_getcache(), wc_shmem_my_process(), true);
			return true;
		}
		claim->taken_over = NULL;
		claim->follows = 0;
	}
	return wc_claim_later(locker, scan->table_id, row, ended, &claim->added, &claim->holder);
}

bool
wc_local_claim(const WcDriverOpen *open, const WcDriverLocker *locker, WcDriverClaim *claim)
{
	const WcScan *scan = open->scan;
	WcGetFound	found;

	claim->added = claim->wanted = claim->there = false;
	claim->holder = 0;
	claim->taken_over = NULL;
	claim->follows = 0;
	if (!wc_gets_may_find(open))
		return false;
	wc_getcache_prefetch(wc_shmem_getcache(), scan->table_id, scan->ranges[0].start);
	if (!claim->held && !claim_row(locker, scan, claim) && claim->holder == 0)
		return false;
	if (claim->holder == 0 && !claim->added && !wc_claim_settle())
		return false;			/* the transaction has had it */
	found = claim->taken_over != NULL ? WC_GET_FOUND : find_claimed(scan, claim);
	claim->answer = wc_buf_slice(&claimed);
	claim->wanted = found == WC_GET_WANTED;
	if (found == WC_GET_FOUND)
		return claim->holder == 0;
	claim->there = claim->holder != 0 && scan->rows_by_existence && scan->filter == NULL && scan->filter_text.len == 0 &&
		wc_claims_has_process(wc_claims(), wc_places(), scan->table_id, scan->ranges[0].start);
	if (claim->there)
		return false;
	claim->holder = 0;
	if (claim->added)
		wc_claim_end(false);
	return false;
}

/* A commit that ends later takes the slot from this one: it need not be seen. */
bool
wc_local_find_unapplied(const WcDriverOpen *open, WcDriverClaim *claim)
{
	const WcScan *scan = open->scan;
	uint64		ended;

	if (!wc_gets_may_find(open))
		return false;
	ended = wc_claims_ended(wc_claims(), wc_places(), scan->table_id, scan->ranges[0].start);
	if (ended == 0 || !wc_gets_find_unapplied(scan, ended, claim, &claimed))
		return false;
	wc_getcache_count(wc_shmem_getcache(), wc_shmem_my_process(), true);
	claim->answer = wc_buf_slice(&claimed);
	return true;
}

/* A commit that has changed the row has either been applied when the claim is made, and set the row's stamp, or keeps the row
 * from being claimed. */
bool
wc_local_claim_same(uint64 snapshot, uint32 table_id, WcSlice row, const WcDriverLocker *locker, uint64 *holder)
{
	uint64		ended;
	bool		added;
	bool		same;

	*holder = 0;
	if (wc_gets_epoch(snapshot) == 0)
		return false;
	make_room(locker);
	if (!wc_claim_row(locker, table_id, row, &added, &ended) && !wc_claim_later(locker, table_id, row, ended, &added, holder))
		return false;
	if (!added && !wc_claim_settle())
		return false;			/* as above */
	same = wc_gets_is_unchanged(snapshot, table_id, row);
	if (added)
		wc_claim_end(same);
	return same;
}
