/*
 * wire/shared/claims.h: rows that backends lock themselves, in memory that all processes share.
 *
 * Row locks are in the engine's lock table (rpc/lock/locktable.h).  A backend that locks few rows need not ask the engine: it
 * claims the rows here.
 *
 * A commit's claim locks a row that the transaction has written without locking it before.  It is an exclusive lock.  It is
 * valid as long as its transaction has its place in flight (flight.h): from shortly before the commit record is written
 * until the commit has been applied.  So a claim needs no release: without the place it is not valid.
 *
 * A transaction that has committed, and is not applied yet, leaves its slot to the commit's claim of the next small one: commits
 * are applied in the order of the log, so the later claim outlasts the earlier one.
 *
 * A process's claim locks a row when a statement changes the row or locks it, in one of the four modes, until the
 * transaction ends.  When the transaction commits, it becomes a commit's claim.  It may take the slot from a commit's claim, too, if the
 * process knows the row as the commit leaves it (unapplied.h); then the engine does not know the row so, until the commit is applied.
 *
 * Rows share slots, by a hash.  The engine counts its locks of each slot, and looks at the slot's claim
 * when it adds a lock; a backend claims a slot, and looks at the count.  Both accesses are sequentially consistent,
 * so that one of the two sees the other.  A conflict of two rows that share a slot only costs time: a commit's claim does not last
 * long, and with a process's claim are the keys of its rows, which the engine compares.
 *
 * All accesses are atomic, and no function waits.  wire/README has the bytes.
 */
#ifndef WC_WIRE_SHARED_CLAIMS_H
#define WC_WIRE_SHARED_CLAIMS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lockmode.h"
#include "base/slice.h"
#include "wire/shared/flight.h"

typedef struct WcClaims WcClaims;

/* A commit claims at most so many rows besides those of its process's claims. */
#define WC_CLAIMS_MAX	64

/* A process claims at most so many rows, with keys of at most so many bytes. */
#define WC_CLAIMS_HELD_MAX		32
#define WC_CLAIMS_HELD_KEY_MAX	128

/* Bytes of memory for processes with numbers below nprocesses. */
extern size_t wc_claims_size(uint32_t nprocesses);

/* Lays out fresh, zeroed memory of that size, aligned to 64 bytes.  seed: any number, so that keys cannot be
 * chosen to collide. */
extern WcClaims *wc_claims_init(void *memory, uint64_t seed, uint32_t nprocesses);

/* The row's hash; in two steps, of which the first is the same for all rows of a table. */
extern uint64_t wc_claims_hash_table(const WcClaims *claims, uint32_t table_id);
extern uint64_t wc_claims_hash_row(uint64_t table_hash, WcSlice row);

/* --- backends, at a commit ---------------------------------------------------------- */

/* Rows can be claimed as long as this number stays the same; 0: no row can be claimed now. */
extern uint64_t wc_claims_opening(const WcClaims *claims);

/* Of a transaction with more bytes of changes a claim does not follow one that is still valid. */
#define WC_CLAIMS_FOLLOW_BYTES	8192

/* A claim that was made, and the claim before it in the slot; for wc_claims_give_back. */
typedef struct WcClaim
{
	uint64_t	mine;
	uint64_t	before;
	uint32_t	slot;
} WcClaim;

/* Could the row be claimed at this moment?  bytes: of all of the transaction's changes. */
extern bool wc_claims_is_free(const WcClaims *claims, const WcFlight *flight, uint64_t opening, uint32_t table_id, WcSlice row,
							  uint64_t bytes);

/*
 * Claims a row of a table for the transaction that has this place, and says in *claim how to give it back; if the
 * transaction has the slot already, there is nothing to give back.  False, and nothing is changed: the row, or a row that
 * shares its slot, is locked or claimed; or the table is closed; or the opening has changed.
 */
extern bool wc_claims_take(WcClaims *claims, const WcFlight *flight, uint64_t opening, uint32_t table_id, WcSlice row,
						   uint64_t bytes, uint16_t place, uint64_t xid, WcClaim *claim);

/*
 * Takes back a claim: before the transaction asks the engine instead, or before a transaction that is rolled back frees its
 * place.  The claim before is in force again, if it is still valid.  Not after the commit.
 */
extern void wc_claims_give_back(WcClaims *claims, const WcClaim *claim);

/*
 * Of a row among those that these claims have locked: are all earlier commits that have written it applied, and does no cell of the
 * table have a later timestamp than this commit will have?  Then the transaction's puts are the newest cells of their columns.  False if in
 * doubt; if the transaction had locked the row before it committed, for example.
 */
extern bool wc_claims_is_first(const WcClaims *claims, uint64_t opening, uint32_t table_id, WcSlice row, const WcClaim *taken,
							   int ntaken);

/* --- a process, when a statement reads a row --------------------------------------------- */

/*
 * Is the row locked by no transaction that may have ended?  Then all transactions that had ended before the call, and have
 * written the row, are applied.  False if in doubt: other rows share the slot, and of the engine's locks only the number
 * is known.
 */
extern bool wc_claims_is_quiet(const WcClaims *claims, const WcFlight *flight, uint32_t table_id, WcSlice row);

/* Would a put without a timestamp be the newest cell of its column, if it were committed now?  No cell or delete marker of the row has a
 * later timestamp, also not of a commit that has ended and is not applied.  False if in doubt. */
extern bool wc_claims_is_timely(const WcClaims *claims, const WcFlight *flight, uint32_t table_id, WcSlice row);

/* --- a process, when a statement locks a row (processclaims.c) --------------------------- */

/*
 * Locks the row for the transaction until wc_claims_drop_all, also if the transaction has locked the row so before.  *added: it
 * has not.  False, and nothing is changed: another transaction may have locked the row, or a row that shares its slot; or this
 * one has it in a weaker mode; or the table is closed, no row can be claimed now, the process has no room for the row, or
 * the process's number is too large for a claim.  xid: of the top-level transaction, the same in all calls up to
 * wc_claims_drop_all.  behind: the row may be locked by the claim of the commit of this transaction, which has ended; 0: it must
 * not be locked.
 */
extern bool wc_claims_hold(WcClaims *claims, const WcFlight *flight, uint32_t process, uint64_t xid, uint32_t table_id,
						   WcSlice row, WcRowLockMode mode, uint64_t behind, bool *added);

/* The commits that the process's claims are behind are applied. */
extern void wc_claims_settle(WcClaims *claims, uint32_t process);

/*
 * The full id of another transaction than `except` whose claim keeps the row from being locked in this mode, perhaps with
 * WC_HOLDER_BRIEF; 0: there is none, or the engine has locks in the slot, or no row can be claimed now.  It may run, or be a
 * commit's that is not applied.
 */
extern uint64_t wc_claims_locked_by(const WcClaims *claims, const WcFlight *flight, uint32_t table_id, WcSlice row,
									WcRowLockMode mode, uint64_t except);

/* Is there a process's claim of this row, not of another one that shares its slot?  Then the row exists in its committed state (a cell in
 * the families that the claim's statement reads), or the claim is brief. */
extern bool wc_claims_has_process(const WcClaims *claims, const WcFlight *flight, uint32_t table_id, WcSlice row);

/*
 * The transaction that keeps the process from locking the row, if other sessions see this transaction as ended: then the row can
 * be locked when the transaction has been applied.  0: there is none, or the engine has locks in the slot.
 */
extern uint64_t wc_claims_ended(const WcClaims *claims, const WcFlight *flight, uint32_t table_id, WcSlice row);

/*
 * Of the row that was locked last, and of which `added` was true: keeps it locked until the transaction ends, or unlocks it.  Before,
 * transactions that want the row look again after a moment (WC_HOLDER_BRIEF).
 */
extern void wc_claims_keep_last(WcClaims *claims, uint32_t process);
extern void wc_claims_drop_last(WcClaims *claims, uint32_t process);

/* Unlocks all rows: the transaction has ended, or has them locked in other ways. */
extern void wc_claims_drop_all(WcClaims *claims, uint32_t process);

/* The number of rows that the process has locked, and the n-th of them, from 0; the key is copied to `row`. */
typedef struct WcHeldRow
{
	uint32_t	table_id;
	WcRowLockMode mode;
	uint32_t	len;
	uint8_t		row[WC_CLAIMS_HELD_KEY_MAX];
} WcHeldRow;

extern uint32_t wc_claims_nheld(const WcClaims *claims, uint32_t process);
extern void wc_claims_held(const WcClaims *claims, uint32_t process, uint32_t n, WcHeldRow *held);

/* Makes a commit's claim of the process's claim of its n-th row, and says how to give it back: then the process's claim
 * is in force again. */
extern void wc_claims_promote(WcClaims *claims, uint32_t process, uint32_t n, uint16_t place, uint64_t xid, WcClaim *claim);

/* --- the engine; any thread ----------------------------------------------------------- */

/* At its start: there are no locks, no table is closed, and no row can be claimed.  Claims stay. */
extern void wc_claims_reset(WcClaims *claims);

/* From now on rows can be claimed; opening: not 0, and another number each time. */
extern void wc_claims_open(WcClaims *claims, uint64_t opening);

/* No row can be claimed any more; before the engine loses its locks. */
extern void wc_claims_shut(WcClaims *claims);

/* A lock of a row with this hash is added, or released. */
extern void wc_claims_count(WcClaims *claims, uint64_t hash);
extern void wc_claims_uncount(WcClaims *claims, uint64_t hash);

/* Reads the hash's slot into the processor's cache. */
extern void wc_claims_prefetch(const WcClaims *claims, uint64_t hash);

/* In the id of a holder: the transaction may give up the row soon, while it runs.  To wait for its end could be a deadlock: it
 * may want the row again, and wait behind others. */
#define WC_HOLDER_BRIEF (UINT64_C(1) << 63)

/* The full id of another transaction than `except` whose claim keeps the row from being locked in this mode, perhaps with
 * WC_HOLDER_BRIEF; 0: there is none.  hash: the row's. */
extern uint64_t wc_claims_holder(const WcClaims *claims, const WcFlight *flight, uint64_t hash, uint32_t table_id, WcSlice row,
								 WcRowLockMode mode, uint64_t except);

/* Rows of the table (and of those that share its counter, one of 1,024) cannot be claimed, until it has been opened as
 * often as it was closed. */
extern void wc_claims_close_table(WcClaims *claims, uint32_t table_id);
extern void wc_claims_open_table(WcClaims *claims, uint32_t table_id);

/* The table (and those that share its word, one of 1,024) may have cells, or delete markers, with later timestamps than the commits to
 * come; until wc_claims_reset. */
extern void wc_claims_note_ahead(WcClaims *claims, uint32_t table_id);

/* A transaction other than `except` that has claimed a row of the table, or a commit's of a table whose id has the same lower 8
 * bits; 0: none.  Perhaps with WC_HOLDER_BRIEF.  Looks at all slots. */
extern uint64_t wc_claims_holder_in(const WcClaims *claims, const WcFlight *flight, uint32_t table_id, uint64_t except);

/* --- the engine, of processes (processclaims.c) ------------------------------------------ */

/* Has a statement of the transaction xid claimed the row?  Has one claimed any row of the table?  (Looks at all processes.) */
extern bool wc_claims_has_row(const WcClaims *claims, const WcFlight *flight, uint64_t hash, uint32_t table_id, WcSlice row,
							  uint64_t xid);
extern bool wc_claims_has_table(const WcClaims *claims, uint32_t table_id, uint64_t xid);

#endif
