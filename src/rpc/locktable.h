/*
 * rpc/locktable.h: which transaction has locked which row.
 *
 * Nobody waits here: who asks for a row that another transaction has is told
 * that transaction's id, and waits for it where PostgreSQL's deadlock detector
 * looks.  A lock is held to the end of its transaction, whatever became of the
 * subtransaction that took it.
 */
#ifndef WC_RPC_LOCKTABLE_H
#define WC_RPC_LOCKTABLE_H

#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

typedef struct WcLockTable WcLockTable;
typedef struct WcLock WcLock;

/* All that one session's transaction has locked; zeroed at first.  Belongs to
 * the session's thread, and stays where it is while it holds locks. */
typedef struct WcLockOwner
{
	WcLock	   *locks;			/* the youngest first */
	uint64_t	nlocks;			/* at most WC_ROW_LOCKS_MAX */
	uint64_t	bytes;			/* of their row keys, at most WC_ROW_LOCK_BYTES_MAX */
} WcLockOwner;

/* NULL: out of memory. */
extern WcLockTable *wc_locktable_create(void);

/* Nobody holds a lock any more. */
extern void wc_locktable_free(WcLockTable *table);

/*
 * Locks a row for owner, whose transaction has the (full) id xid, not 0.
 * *holder: 0 when owner has it now, or had it already; else the id of the
 * transaction that has it, and nothing is changed.  WC_TOO_LARGE, WC_NO_MEMORY.
 * Any thread.
 */
extern WcStatus wc_lock_acquire(WcLockTable *table, WcLockOwner *owner, uint64_t xid, uint32_t table_id,
								WcSlice row, uint64_t *holder, WcError *err) WC_WARN_UNUSED;

/* Releases all of owner's locks. Any thread. */
extern void wc_lock_release_all(WcLockTable *table, WcLockOwner *owner);

#endif
