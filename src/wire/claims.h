/*
 * wire/claims.h: rows that a commit locks itself, in memory that all processes share.
 *
 * Row locks are in the engine's lock table (rpc/lock/locktable.h).  A transaction that has written few rows, and
 * has not locked them before, need not ask the engine for these locks when it commits: its backend claims the rows here.
 * A claim is an exclusive lock.  It is valid as long as its transaction has its place in flight (flight.h): from shortly
 * before the commit record is written until the commit has been applied.  So a claim needs no release: without the
 * place it is not valid.
 *
 * A transaction that has committed, and is not applied yet, leaves its slot to the next small one: commits are applied in the
 * order of the log, so the later claim outlasts the earlier one.
 *
 * Rows share slots, by a hash.  The engine counts its locks of each slot, and looks at the slot's claim
 * when it adds a lock; a backend claims a slot, and looks at the count.  Both accesses are sequentially consistent,
 * so that one of the two sees the other.  A conflict of two rows that share a slot only costs time.
 *
 * All accesses are atomic, and no function waits.  wire/README has the bytes.
 */
#ifndef WC_WIRE_CLAIMS_H
#define WC_WIRE_CLAIMS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "wire/flight.h"

typedef struct WcClaims WcClaims;

/* A transaction claims at most so many rows. */
#define WC_CLAIMS_MAX	64

extern size_t wc_claims_size(void);

/* Lays out fresh, zeroed memory of that size, aligned to 64 bytes.  seed: any number, so that keys cannot be
 * chosen to collide. */
extern WcClaims *wc_claims_init(void *memory, uint64_t seed);

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

/* The full id of the transaction that has claimed this hash's slot; 0: none, or the transaction `except`. */
extern uint64_t wc_claims_holder(const WcClaims *claims, const WcFlight *flight, uint64_t hash, uint64_t except);

/* Rows of the table (and of those that share its counter, one of 1,024) cannot be claimed, until it has been opened as
 * often as it was closed. */
extern void wc_claims_close_table(WcClaims *claims, uint32_t table_id);
extern void wc_claims_open_table(WcClaims *claims, uint32_t table_id);

/* A transaction other than `except` that has claimed a row of the table, or of a table whose id has the same lower 8
 * bits; 0: none.  Looks at all slots. */
extern uint64_t wc_claims_holder_in(const WcClaims *claims, const WcFlight *flight, uint32_t table_id, uint64_t except);

#endif
