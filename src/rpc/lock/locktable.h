/*
 * rpc/lock/locktable.h: which transaction has locked which rows, and how.
 *
 * No function here waits.  If another transaction has locked the row, the functions return that transaction's id, and
 * the backend waits for the transaction in PostgreSQL's lock manager, where the deadlock detector sees the wait.  A lock
 * is held to the end of its transaction, or of the subtransaction that took it if that is rolled back.  Transactions
 * are identified by their ids, not by sessions: any thread that learns that a transaction has ended releases its locks.
 *
 * Memory is bounded.  When an owner has WC_ROW_LOCKS_TABLE locks in one table (and each time as many more), they become
 * one lock of the whole table, if no other owner has a lock in it.  An owner with WC_ROW_LOCKS_MAX locks, or
 * WC_ROW_LOCK_BYTES_MAX bytes of keys, must wait for the other owners in the table; until it has locked the table, an
 * owner that has no lock in this table yet waits for it.
 */
#ifndef WC_RPC_LOCK_LOCKTABLE_H
#define WC_RPC_LOCK_LOCKTABLE_H

#include "base/lockmode.h"
#include "base/slice.h"
#include "base/status.h"
#include "base/threads.h"
#include "wire/claims.h"

typedef struct WcLockTable WcLockTable;
typedef struct WcLockShare WcLockShare;

/* All that one transaction has locked.  One thread at a time is in it (wc_lock_enter) and
 * may use it. */
typedef struct WcLockOwner
{
	uint64_t	xid;			/* the full id of the transaction, not of a subtransaction */
	WcLockShare *shares;		/* one for each table, the youngest first */
	uint64_t	nlocks;			/* of rows, at most WC_ROW_LOCKS_MAX */
	uint64_t	bytes;			/* of their row keys, at most WC_ROW_LOCK_BYTES_MAX */
	bool		wanting;		/* it waits for a lock of this whole table: */
	uint32_t	wants;

	/* the lock table's */
	struct WcLockOwner *next;
	uint32_t	users;			/* threads that have entered it, or wait to */
	WcMutex		mutex;
} WcLockOwner;

typedef struct WcLockRequest
{
	uint32_t	table_id;
	WcRowLockMode mode;			/* to lock in */
	WcRowLockMode enough;		/* a lock of this or a stronger mode that the owner has already will do; <= mode */
	uint64_t	xid;			/* the (sub)transaction's full id, for others to wait for */
	uint32_t	subid;			/* the subtransaction; they grow */
} WcLockRequest;

/* The owner of a conflicting lock. */
typedef struct WcLockHolder
{
	uint64_t	xid;			/* 0: there is no conflict, and the owner has the lock */
	bool		has_weaker;		/* the owner has the row in a weaker mode */
	bool		held;			/* the owner had locked this row before, and needs no more */
	bool		added;			/* the owner has got a lock of this row that it had not before */
} WcLockHolder;

/*
 * Rows that backends have claimed are locked too: the holder of such a lock is the claim's transaction.  claims,
 * flight: valid as long as the lock table; both NULL: there are no claims.  NULL: out of memory.
 */
extern WcLockTable *wc_locktable_create(WcClaims *claims, const WcFlight *flight);

/* Frees the table, when no thread uses it any more. */
extern void wc_locktable_free(WcLockTable *table);

/* The owner that transaction has, or gets; NULL: out of memory.  Waits while another thread is
 * in it. */
extern WcLockOwner *wc_lock_enter(WcLockTable *table, uint64_t xid);

/* Returns its xid, or 0 if it has, and wants, no locks: then it is forgotten. */
extern uint64_t wc_lock_leave(WcLockTable *table, WcLockOwner *owner);

/*
 * Locks a row.  When another owner is in the way nothing is changed, and *holder is that owner.  WC_NO_MEMORY.
 * Any thread.
 */
extern WcStatus wc_lock_acquire(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request,
								WcSlice row, WcLockHolder *holder, WcError *err) WC_WARN_UNUSED;

/* Releases the lock that wc_lock_acquire has just added for this owner, table and row. */
extern void wc_lock_give_back(WcLockTable *table, WcLockOwner *owner, uint32_t table_id, WcSlice row);

/* Looks for the holder of a lock that conflicts with this request; changes nothing.  Any thread. */
extern void wc_lock_look(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request, WcSlice row,
						 WcLockHolder *holder);

/* Locks a whole table (request->table_id), exclusively, if no other owner has or wants
 * any lock in it: *got.  WC_NO_MEMORY. */
extern WcStatus wc_lock_acquire_table(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request,
									  bool *got, WcError *err) WC_WARN_UNUSED;

/*
 * Calls fn for each lock of the owner, which the caller has entered (wc_lock_enter).  An empty row means the whole table;
 * then fn is not called for rows of this table.  fn may be called for a row in several modes, and may take long.  If fn
 * does not return WC_OK, its result ends the calls.
 */
typedef WcStatus (*WcLockVisitor) (void *arg, uint32_t table_id, WcRowLockMode mode, WcSlice row, WcError *err);
extern WcStatus wc_lock_visit(const WcLockOwner *owner, WcLockVisitor fn, void *arg, WcError *err) WC_WARN_UNUSED;

/* Releases owner's locks that were taken with this subid or a greater one.  (A lock of a
 * whole table has the subid of the oldest lock that it replaced.)  0: all. */
extern void wc_lock_release(WcLockTable *table, WcLockOwner *owner, uint32_t subid);

/* The same, of the owner that transaction has, if it has one.  Not wait: false, and nothing is
 * released, when a thread is in it. */
extern bool wc_lock_release_of(WcLockTable *table, uint64_t xid, uint32_t subid, bool wait);

#endif
