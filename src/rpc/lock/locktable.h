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
#include "wire/shared/claims.h"

typedef struct WcLockTable WcLockTable;
typedef struct WcLockShare WcLockShare;

/* All that one transaction has locked.  Only the thread that has entered it (wc_lock_enter) may use it: one at a
 * time. */
typedef struct WcLockOwner
{
	uint64_t	xid;			/* the full id of the transaction, not of a subtransaction */
	WcLockShare *shares;		/* one for each table, the youngest first */
	uint64_t	nlocks;			/* of rows, at most WC_ROW_LOCKS_MAX */
	uint64_t	bytes;			/* of their row keys, at most WC_ROW_LOCK_BYTES_MAX */
	bool		wanting;		/* it waits for a lock of a whole table: */
	uint32_t	wants;			/* the id of this table */
	bool		brief;			/* it may have locks that are not kept yet (wc_lock_keep) */

	/* the lock table's */
	struct WcLockOwner *next;
	uint32_t	users;			/* threads that have entered it, or wait to */
	WcMutex		mutex;
} WcLockOwner;

typedef struct WcLockRequest
{
	uint32_t	table_id;
	WcRowLockMode mode;			/* to lock in */
	WcRowLockMode enough;		/* if the owner has a lock of this or a stronger mode, it needs no other; <= mode */
	uint64_t	xid;			/* the full id of the (sub)transaction, for which other transactions wait */
	uint32_t	subid;			/* the subtransaction; a later one has a greater id */
	bool		brief;			/* a new lock of a row may be given back (wc_lock_give_back): until wc_lock_keep it is brief */

	/*
	 * The owner gets this row and never the whole table in its place, however many it has locked: its locks are restored
	 * as they were, while the locks of other owners in the table may not be there yet.
	 */
	bool		restored;
} WcLockRequest;

/* The owner of a conflicting lock. */
typedef struct WcLockHolder
{
	uint64_t	xid;			/* 0: there is no conflict, and the owner has the lock; perhaps with WC_HOLDER_BRIEF */
	bool		has_weaker;		/* the owner has the row in a weaker mode */
	bool		held;			/* the owner had locked this row before, in a mode that is enough */
	bool		added;			/* the call has added a lock of this row */
} WcLockHolder;

/*
 * Rows that backends have claimed are locked too: the holder of such a lock is the claim's transaction.  claims,
 * flight: valid as long as the lock table.  NULL: out of memory.
 */
extern WcLockTable *wc_locktable_create(WcClaims *claims, const WcFlight *flight);

/* Frees the table, which no thread uses any more. */
extern void wc_locktable_free(WcLockTable *table);

/* Enters the owner of this transaction; makes one if there is none.  NULL: out of memory.  Waits while another
 * thread is in it. */
extern WcLockOwner *wc_lock_enter(WcLockTable *table, uint64_t xid);

/* Leaves the owner, which keeps its locks.  Returns its xid; or 0 if it neither has locks nor waits for one: then it is freed. */
extern uint64_t wc_lock_leave(WcLockTable *table, WcLockOwner *owner);

/*
 * Locks a row.  If another owner has a conflicting lock, nothing is changed, and *holder names that owner.
 * WC_NO_MEMORY.  Any thread.
 */
extern WcStatus wc_lock_acquire(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request,
								WcSlice row, WcLockHolder *holder, WcError *err) WC_WARN_UNUSED;

/* So many rows can be locked with one call. */
#define WC_LOCK_GROUP	64

/*
 * Locks rows in their order, up to the first one with a conflict: *nlocked of them, then *holder is as wc_lock_acquire sets
 * it for the next row.  Bit i of *added: the call has added a lock of row i.  Faster than one call a row.  WC_NO_MEMORY.
 */
extern WcStatus wc_lock_acquire_rows(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request,
									 const WcSlice *rows, size_t n, size_t *nlocked, uint64_t *added, WcLockHolder *holder,
									 WcError *err) WC_WARN_UNUSED;

/*
 * No lock that the owner has now will be given back.  Others that find a brief lock do not wait for the end of its transaction, as
 * with a brief claim (wire/shared/claims.h), but look again after a moment.
 */
extern void wc_lock_keep(WcLockOwner *owner);

/* Releases the lock of this row that the last call of wc_lock_acquire or wc_lock_acquire_rows for this owner has added;
 * a lock of the whole table, which may have replaced it, stays. */
extern void wc_lock_give_back(WcLockTable *table, WcLockOwner *owner, uint32_t table_id, WcSlice row);

/* Looks for the holder of a lock that conflicts with this request; changes nothing.  Any thread. */
extern void wc_lock_look(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request, WcSlice row,
						 WcLockHolder *holder);

/* Locks a whole table (request->table_id) exclusively, if no other owner has a lock in it or waits for the whole
 * table.  *got: it is locked.  WC_NO_MEMORY. */
extern WcStatus wc_lock_acquire_table(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request,
									  bool *got, WcError *err) WC_WARN_UNUSED;

/*
 * Calls fn for each lock of the owner, which the caller has entered (wc_lock_enter).  An empty row means the whole table;
 * then fn is not called for rows of this table.  fn may be called for a row in several modes, and may take long.  If fn
 * does not return WC_OK, its result ends the calls.
 */
typedef WcStatus (*WcLockVisitor) (void *arg, uint32_t table_id, WcRowLockMode mode, WcSlice row, WcError *err);
extern WcStatus wc_lock_visit(const WcLockOwner *owner, WcLockVisitor fn, void *arg, WcError *err) WC_WARN_UNUSED;

/* Releases the owner's locks with this subid or a greater one.  (A lock of a whole table has the subid of the oldest
 * lock that it replaced.)  0: all. */
extern void wc_lock_release(WcLockTable *table, WcLockOwner *owner, uint32_t subid);

/* The same for the owner of this transaction, if there is one.  If another thread is in it: with `wait`, waits for the
 * thread; else releases nothing and returns false. */
extern bool wc_lock_release_of(WcLockTable *table, uint64_t xid, uint32_t subid, bool wait);

#endif
