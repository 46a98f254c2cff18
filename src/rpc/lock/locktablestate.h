/*
 * rpc/lock/locktablestate.h: the struct of a lock table, for locktable.c and lockowner.c.
 */
#ifndef WC_RPC_LOCK_LOCKTABLESTATE_H
#define WC_RPC_LOCK_LOCKTABLESTATE_H

#include "base/hash.h"
#include "rpc/lock/locktable.h"
#include "wire/claims.h"

#define WC_LOCK_PARTS	16
#define WC_LOCK_CHAINS	64		/* of tables, or of owners, in a part */

typedef struct WcLock WcLock;
typedef struct WcTableLocks WcTableLocks;

typedef struct WcLockPart
{
	WcMutex		mutex;
	WcTableLocks *tables[WC_LOCK_CHAINS] WC_GUARDED_BY(&mutex);
	WcLock	  **buckets WC_GUARDED_BY(&mutex); /* a power of two of them */
	size_t		nbuckets WC_GUARDED_BY(&mutex);
	size_t		nlocks WC_GUARDED_BY(&mutex);
} WcLockPart;

/* Owners by their ids. */
typedef struct WcLockOwnerPart
{
	WcMutex		mutex;
	WcLockOwner *owners[WC_LOCK_CHAINS] WC_GUARDED_BY(&mutex);
} WcLockOwnerPart;

struct WcLockTable
{
	WcClaims   *claims;			/* rows that backends have claimed */
	const WcFlight *flight;		/* NULL: claims is the table's own, and no backend claims rows in it */
	WcLockPart	parts[WC_LOCK_PARTS];
	WcLockOwnerPart owner_parts[WC_LOCK_PARTS];
};

#endif
