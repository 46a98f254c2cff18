/*
 * client/state.h: what the files of client/ tell each other about the
 * transaction.  Nobody else includes it.
 */
#ifndef WC_CLIENT_STATE_H
#define WC_CLIENT_STATE_H

#include "client/driver.h"

#include "datatype/timestamp.h"
#include "storage/lock.h"

struct WcClientStore
{
	Oid			server;			/* the embedded engine's: InvalidOid */
	const WcDriver *driver;
};

extern WcClientStore *wc_store_embedded(void);	/* table.c */

/* xact.c: connects. */
extern void wc_xact_join(void);

/* snapshot.c: the driver's number for it, 0 for the newest state. */
extern uint64 wc_snapshot_number(const WcClientSnapshot *snapshot);

/* The newest state, as it is: who reads by it has seen to it that nothing is missing. */
extern WcClientSnapshot *wc_snapshot_newest(void);

/* A query that read by this PostgreSQL snapshot (NULL: a utility statement) has ended;
 * its descriptor still has it registered.  top: and so has the client's statement. */
extern bool wc_snapshots_any(void);
extern void wc_snapshots_query_end(Snapshot snapshot, bool top);
extern void wc_snapshots_subxact_start(void);
extern void wc_snapshots_subxact_abort(void);
extern void wc_snapshots_forget(void);	/* end of the transaction */

/* Has the transaction (REPEATABLE READ or above) its snapshot? */
extern bool wc_snapshot_of_transaction_taken(void);

/* The driver's number for it; 0: there is none, or the transaction is READ COMMITTED. */
extern uint64 wc_snapshot_of_transaction(void);

/* Takes the engine's snapshot for PostgreSQL's without connecting, if the engine is ready. */
extern void wc_snapshot_enter(Snapshot snapshot);

/* And lets others find it: workers of the query, or (to the end of the transaction) who
 * imports what is exported.  False: the engine is not ready, or the session shares, and
 * reads by, too many. */
extern bool wc_snapshot_share(Snapshot snapshot, bool exported);

/* The transaction's is what a process has exported, if that has shared it. */
extern void wc_snapshot_import(Snapshot snapshot, uint32 process);

/* In a parallel worker: the query's snapshot, by which its leader reads. */
extern void wc_snapshot_of_leader(Snapshot snapshot);

/* mutator.c: the batch.  A mark is a place in it that it can be cut back to: the bytes
 * before it. */
typedef uint64 WcBatchMark;

extern WcBatchMark wc_batch_mark(void);
extern void wc_batch_cut(WcBatchMark mark); /* never fails */
extern void wc_batch_send(void);	/* the driver gets all of it, and no more */
extern bool wc_batch_empty(void);
extern void wc_batch_forget(void);	/* end of the transaction; never fails */
extern void wc_batch_forget_locks(void);	/* locks may have been released */

/*
 * Is nothing of the batch to be locked or looked at when it is committed?  All rows were locked before
 * they were written, and none can have become too large, or have been there against the
 * operation's will.  wc_batch_must_be_checked: an answer said that one may.
 */
extern bool wc_batch_is_settled(void);
extern void wc_batch_must_be_checked(void);

/* The log gets the rest of the batch, which the driver does not need any more. */
extern void wc_batch_log(void);

/* rowlock.c: has the transaction locked rows? */
extern bool wc_rows_locked(void);
extern void wc_rows_note_locked(void);
extern void wc_rows_forget(void);	/* end of the transaction; never fails */

/*
 * Is the operation on a row that the transaction is known to have locked (as a change to the row
 * has to), and that was not there, if the operation wants that?  It is remembered of the last
 * rows, until a subtransaction is rolled back: wc_rows_forget_held, which never fails.
 */
extern bool wc_rows_hold(const WcOp *op);
extern void wc_rows_forget_held(void);

/* The row has been locked in mode NO KEY UPDATE or EXCLUSIVE. */
extern void wc_rows_note_held(uint32 table_id, WcSlice row);

/* The current (sub)transaction, which gets an id if it has none, as the one that locks. */
extern WcDriverLocker wc_row_locker(WcRowLockMode mode);

/* A wait for one holder after another, zeroed at first. */
typedef struct WcHolderWait
{
	int			looks;			/* in turn at one that was about to end */
	TimestampTz since;			/* the first of them */
} WcHolderWait;

/* Waits, interruptibly, until it is worth asking the engine again. */
extern void wc_holder_wait(WcHolderWait *wait, uint64 holder);

/* Has that transaction, which has a row, not ended yet? */
extern bool wc_row_holder_runs(uint64 holder);

/* The same in the queue for a row. */
typedef struct WcRowWait
{
	WcHolderWait holder;
	bool		queued;
	LOCKTAG		tag;
	LOCKMODE	mode;
} WcRowWait;

/* True: ask again.  False: the row is locked, and the policy is LockWaitSkip; with
 * LockWaitError that is raised. */
extern bool wc_row_wait(WcRowWait *wait, const WcTableDesc *table, WcSlice row, WcRowLockMode mode,
						LockWaitPolicy policy, uint64 holder, bool has_weaker);

/* The row has been locked, or is not wanted any more: zeroes it.  (An error ends the wait
 * as well.) */
extern void wc_row_wait_over(WcRowWait *wait);

/* scanner.c: opens a Get at the newest state of a row that is locked first, as the driver's scan_take
 * does; NULL: another transaction is in the way. */
extern WcClientScan *wc_scan_take(const WcScan *scan, const WcDriverLocker *locker, CommandId cid, MemoryContext context,
								  WcTakeResult *result);

/* mutator.c: the writer's lock on the table, once a transaction. */
extern void wc_lock_for_writing(const WcTableDesc *table);

/* The builder, for operations that concern no rows. */
extern WcBatchBuilder *wc_batch_builder(void);

/* The same for a statement of which PostgreSQL itself says whether it may write. */
extern WcBatchBuilder *wc_batch_open(void);

/* table.c: own catalog changes were made or undone. */
extern void wc_catalog_changed(void);

/* The table as it is now; NULL when its name is not its any more.  Perhaps a round trip.  Belongs to
 * a cache: valid until the next call of wc_client. */
extern const WcTableDesc *wc_table_now(const WcTableDesc *table);

#endif
