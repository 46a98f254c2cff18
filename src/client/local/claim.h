/*
 * client/local/claim.h: locks the rows of a small transaction in shared memory, at its commit (wire/claims.h).
 */
#ifndef WC_CLIENT_LOCAL_CLAIM_H
#define WC_CLIENT_LOCAL_CLAIM_H

#include "postgres.h"

#include "base/slice.h"

/*
 * Locks the rows of these operations exclusively, as long as the transaction has its place in flight: until it has been
 * applied, or was rolled back.  False: nothing is locked, and the caller has to ask the engine, because another
 * transaction has (or may have) locked one of the rows, or the operations are too many, or of other kinds.  Never waits.
 */
extern bool wc_claim_rows(uint64 xid, uint16 place, WcSlice operations);

/* Takes back the transaction's locks, if it has any: before the caller asks the engine instead, and when the transaction is
 * rolled back, before it frees its place.  Never fails. */
extern void wc_claim_give_back(void);

/* The transaction has committed. */
extern void wc_claim_forget(void);

#endif
