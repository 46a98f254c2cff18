/*
 * client/local/claim.h: locks the rows of a small transaction in shared memory, at its commit (wire/claims.h).
 */
#ifndef WC_CLIENT_LOCAL_CLAIM_H
#define WC_CLIENT_LOCAL_CLAIM_H

#include "postgres.h"

#include "base/slice.h"

/*
 * Locks the rows of these operations exclusively, until the transaction has been applied, or has no place any more.
 * False: nothing is locked, as another transaction has one of the rows (or perhaps so), or the operations are too many, or
 * of other kinds; the engine has to be asked.  Waits for nothing.
 */
extern bool wc_claim_rows(uint64 xid, uint16 place, WcSlice operations);

/* The same operations; the engine will be asked after all.  Never fails. */
extern void wc_claim_give_back(uint64 xid, uint16 place, WcSlice operations);

#endif
