/*
 * client/local/claim.h: locks rows in shared memory (wire/shared/claims.h).
 */
#ifndef WC_CLIENT_LOCAL_CLAIM_H
#define WC_CLIENT_LOCAL_CLAIM_H

#include "postgres.h"

#include "client/driver.h"
#include "wire/shared/claims.h"

/*
 * A statement locks the row.  *added: it was not locked so before, and wc_claim_end must follow.  False: nothing is locked.  Then
 * *ended is the transaction whose commit has locked the row, and may not be applied, or 0; and wc_claim_later must follow,
 * or wc_claim_take_over.
 */
extern bool wc_claim_row(const WcDriverLocker *locker, uint32 table_id, WcSlice row, bool *added, uint64 *ended);

/* Locks the row though the commit may not be applied, if it still has the row locked: the caller knows the row as the commit leaves it. */
extern bool wc_claim_take_over(const WcDriverLocker *locker, uint32 table_id, WcSlice row, uint64 ended, bool *added);

/*
 * Waits, interruptibly and 20 ms at most, for the commit, if any, and locks the row then.  False: *holder is the transaction that has
 * locked the row (wc_claims_locked_by); or it is 0, and the caller has to ask the engine: another transaction may have locked the
 * row, or this is a subtransaction, of which the rollback would have to unlock the row.
 */
extern bool wc_claim_later(const WcDriverLocker *locker, uint32 table_id, WcSlice row, uint64 ended, bool *added, uint64 *holder);

/*
 * Waits, interruptibly, until the commits are applied from which the transaction has taken over rows: before the engine, or an
 * answer in shared memory, may show such a row.  False: the engine could not start, so nothing is applied: a request to it will
 * return the error, and the caller must not use an answer in shared memory.
 */
extern bool wc_claim_settle(void);

/* Keeps the row that was locked last locked until the transaction ends, or unlocks it; never fails. */
extern void wc_claim_end(bool keep);

/* The number of rows that statements have locked here, and the n-th of them, from 0. */
extern uint32 wc_claim_nrows(void);
extern void wc_claim_nth(uint32 n, WcHeldRow *held);

/*
 * At the commit: locks the rows of these operations exclusively, and those that statements have locked, as long as the
 * transaction has its place in flight: until it has been applied, or was rolled back.  False: nothing is locked but what
 * statements have locked, and the caller has to ask the engine, because another transaction has (or may have) locked one
 * of the rows, or the operations are too many, or of other kinds.  Never waits.
 */
extern bool wc_claim_rows(uint64 xid, uint16 place, WcSlice operations);

/* Behind wc_claim_rows: wc_claims_is_first. */
extern bool wc_claim_is_first(uint32 table_id, WcSlice row);

/* Takes back what wc_claim_rows has locked, if anything: before the caller asks the engine instead, and when the transaction is
 * rolled back, before it frees its place.  Never fails. */
extern void wc_claim_give_back(void);

/* The transaction has ended: unlocks what statements have locked.  Never fails. */
extern void wc_claim_forget(void);

#endif
