/*
 * client/txn/txn.h: the session's transaction, for client/ alone.
 */
#ifndef WC_CLIENT_TXN_TXN_H
#define WC_CLIENT_TXN_TXN_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "storage/lock.h"

#include "client/driver.h"
#include "client/settings.h"
#include "model/extent.h"

/* --- drivers.c ------------------------------------------------------------------ */

struct WcClientStore
{
	Oid			server;			/* InvalidOid: the embedded engine */
	const WcDriver *driver;
};

extern WcClientStore wc_embedded_store;

/* Connects. */
extern void wc_xact_join(void);

/*
 * The changes that the driver of tables outside the embedded engine keeps; all do nothing until the session uses
 * such a table.  See WcDriverKept.
 */
static inline const WcDriverKept *
wc_kept(void)
{
	return wc_remote_driver != NULL ? wc_remote_driver->kept : NULL;
}

static inline WcKeptMark
wc_kept_mark(void)
{
	return wc_kept() != NULL ? wc_kept()->mark() : (WcKeptMark) {0};
}

static inline bool
wc_kept_any(void)
{
	WcKeptMark	mark = wc_kept_mark();

	return mark.kept > 0 || mark.streamed > 0 || mark.tables > 0;
}

/* Changes of tables outside the embedded engine are about to be sent, or have been sent. */
extern void wc_note_sending(void);

/* How often that was noted, in all sessions; 0: this session uses no such table. */
extern uint64 wc_sent_elsewhere(void);

/* --- snapshot.c ----------------------------------------------------------------- */

/* The number of the last snapshot: later ones are younger. */
extern uint64 wc_snapshot_last(void);

/* The driver's number of the snapshot, 0 for the newest state. */
extern uint64 wc_snapshot_number(const WcClientSnapshot *snapshot);

/* wc_sent_elsewhere when the snapshot was made. */
extern uint64 wc_snapshot_sent_elsewhere(const WcClientSnapshot *snapshot);

/* The newest state, without a wait: the caller makes sure that no needed commit is missing. */
extern WcClientSnapshot *wc_snapshot_newest(void);

/* wc_snapshots_query_end: a query that read by this PostgreSQL snapshot (NULL: a utility statement)
 * has ended; the query's descriptor still has the snapshot registered.  top: the client's statement has ended,
 * too.  wc_snapshots_any: are there snapshots? */
extern bool wc_snapshots_any(void);
extern void wc_snapshots_query_end(Snapshot snapshot, bool top);
extern void wc_snapshots_subxact_start(void);
extern void wc_snapshots_subxact_abort(void);
extern void wc_snapshots_forget(void);	/* end of the transaction */

/* Has the transaction (REPEATABLE READ or above) its snapshot? */
extern bool wc_snapshot_of_transaction_taken(void);

/* The driver's number of this snapshot; 0: there is none, or the transaction is READ COMMITTED. */
extern uint64 wc_snapshot_of_transaction(void);

/* Takes the engine's snapshot for PostgreSQL's without connecting, if the engine is ready. */
extern void wc_snapshot_enter(Snapshot snapshot);

/*
 * The same, for a query that begins, or a transaction with its first query: both snapshots show the same transactions.
 * To that end PostgreSQL's snapshot may be replaced by a newer one, in place, unless it has been read by.  False: the engine is not
 * ready; then the function may be called again.
 */
extern bool wc_snapshot_enter_exactly(Snapshot snapshot);

/* Called while there is no engine: PostgreSQL's snapshot is older than any that the engine will take.  For such a snapshot
 * wc_snapshot_check raises an error; it is called before the embedded engine reads by a snapshot. */
extern void wc_snapshot_mark_early(Snapshot snapshot);
extern void wc_snapshot_check(const WcClientSnapshot *snapshot);

/* Takes it, too, and lets other processes find it: workers of the query, or, if exported (to the end of the
 * transaction), sessions that import the snapshot.  False: the engine is not ready, or the session uses
 * too many snapshots. */
extern bool wc_snapshot_share(Snapshot snapshot, bool exported);

/* Makes the snapshot that a process has exported, if it has shared it, the transaction's snapshot. */
extern void wc_snapshot_import(Snapshot snapshot, uint32 process);

/* In a parallel worker: notes the query's snapshot, by which the leader reads. */
extern void wc_snapshot_of_leader(Snapshot snapshot);

/* --- serial.c ------------------------------------------------------------------- */

/*
 * Under SERIALIZABLE, tells PostgreSQL what the transaction reads and writes in the embedded engine's tables;
 * else these functions do nothing.  Called before a scan reads, when rows have been put into the batch, and before
 * rows of a scan (or all rows of a table) are changed.  They raise 40001 if the transaction cannot be serialized.
 */
extern void wc_serial_read(const WcScan *scan);
extern void wc_serial_write_ops(WcSlice ops);
extern void wc_serial_write_scan(const WcScan *scan);
extern void wc_serial_write_table(uint32 table_id);
extern void wc_serial_begin(void);	/* before the transaction's snapshot is taken, anew perhaps: asks which notes will matter to it */
extern void wc_serial_begun(void);	/* and when it has been taken */
extern void wc_serial_prepare(void);	/* before the transaction is prepared */
extern void wc_serial_forget(void); /* the transaction has ended for other snapshots, too; never fails */

/* --- held.c: rows that the transaction has locked ------------------------------- */

/* Has the transaction locked rows? */
extern bool wc_rows_locked(void);
extern void wc_rows_note_locked(void);
extern void wc_rows_forget(void);	/* end of the transaction; never fails */

/*
 * Is the operation on a row that is remembered as locked (in a mode for changes), and as absent, if the
 * operation wants the row to be absent?  The last locked rows are remembered, until a
 * subtransaction is rolled back: wc_rows_forget_held, which never fails.
 */
extern bool wc_rows_hold(const WcOp *op);
extern void wc_rows_forget_held(void);

/* The last so many locked rows are remembered. */
#define WC_ROWS_HELD_MAX 16

/* The row has been locked in this mode, NO KEY UPDATE or EXCLUSIVE.  absent: it did not exist. */
extern void wc_rows_note_held(uint32 table_id, WcSlice row, WcRowLockMode mode, bool absent);

/* Is the row remembered as locked in this mode, or a stronger one? */
extern bool wc_rows_held(uint32 table_id, WcSlice row, WcRowLockMode mode);

/* And it has not changed since the request's snapshot: while it is locked, that stays so. */
extern void wc_rows_note_same(const WcRowLockRequest *request, WcSlice row);

/* Would the engine answer that the transaction has locked the row before, and that it has not changed?  LockRows, for
 * example, has locked the row that DELETE ... USING locks again.  If the request asks for rewritten rows, the transaction
 * must have written nothing. */
extern bool wc_rows_held_same(const WcRowLockRequest *request, WcSlice row);

/* Is this a Get that wants no column, of a row that the transaction has locked, and of which it knows that it exists at the
 * snapshot with this number?  It must not have written the row. */
extern bool wc_rows_known(const WcScan *scan, uint64 snapshot);

/* --- provisional.c -------------------------------------------------------------- */

extern void wc_provisional_forget(void);	/* end of the transaction; never fails */

/* --- written.c: rows that the transaction has written -------------------------- */

/* So many rows are remembered, in up to 4 MB; with more, any row may have been written. */
#define WC_WRITTEN_ROWS_MAX	131072

extern void wc_written_add(uint32 table_id, WcSlice row);

/* Any row may have been written from now on.  wc_written_has_any: is that so? */
extern void wc_written_add_any(void);
extern bool wc_written_has_any(void);

/* False is certain. */
extern bool wc_written_may_have(uint32 table_id, WcSlice row);
extern void wc_written_forget(void);

/* --- own.c: rows that the transaction has locked and changed --------------------- */

/* Keeps the answer to a Get of a row that the transaction has locked for changes, and has not written.  follows: as in
 * WcDriverClaim. */
extern void wc_own_note(const WcTableDesc *table, const WcScan *get, WcSlice answer, uint32 follows);

/* Does the answer to the Get answer the scan, too, of the same row?  And: appends the answer to the scan.  False: it cannot be
 * done. */
extern bool wc_own_answers(const WcScan *get, const WcScan *scan);
extern bool wc_own_convert(const WcScan *get, WcSlice answer, const WcScan *scan, WcBuf *block);

/*
 * Are there any?  And: the transaction's next operation; early: it is one of the first, and if it makes a whole row, that may be kept,
 * too.  Sessions read by wc_batch_find_own and wc_batch_own_shows, which see to it that own.c knows all operations.
 */
extern bool wc_own_any(void);
extern void wc_own_change(const WcOp *op, bool early);

/* This Get, of some row, reads all columns that operations of the transaction put or clear to make a row of the table.  They are
 * forgotten when a part of the transaction is rolled back.  wc_own_begin: the next transaction begins.  These two never fail. */
extern void wc_own_note_whole_row(const WcTableDesc *table, const WcScan *get);
extern void wc_own_forget_whole_rows(void);
extern void wc_own_begin(void);

/*
 * Appends the answer to the Get at a snapshot, by its number (0: the newest state), with own operations of commands before cid.
 * False: the session does not know it.
 */
extern bool wc_own_find(const WcScan *get, uint64 snapshot, CommandId cid, WcBuf *block);

/* Does `shows` accept an answer to some Get of the row, in the newest state? */
extern bool wc_own_shows(uint32 table_id, WcSlice row, CommandId cid,
						 bool (*shows) (const void *arg, const WcScan *get, WcSlice answer), const void *arg);

/* At the commit: other transactions may take over the rows as they are now, before the commit is applied. */
extern void wc_own_leave(uint64 xid);

/* Rows may have been unlocked, or operations rolled back; never fails. */
extern void wc_own_forget(void);

/* --- batch.c -------------------------------------------------------------------- */

/* A mark is an offset to which the batch can be cut back: the number of
 * bytes before it. */
typedef uint64 WcBatchMark;

extern WcBatchMark wc_batch_mark(void);
extern void wc_batch_cut(WcBatchMark mark); /* never fails */
extern void wc_batch_send(void);	/* the driver's copy becomes the same as the batch */
extern bool wc_batch_empty(void);

/* May the driver's copy have operations that were rolled back?  They are cut with the next piece that is sent. */
extern bool wc_batch_is_stale(void);

/* May the transaction have written the row?  False is certain. */
extern bool wc_batch_may_write(uint32 table_id, WcSlice row);

/* wc_own_find and wc_own_shows, when own.c knows all operations so far. */
extern bool wc_batch_find_own(const WcScan *get, uint64 snapshot, CommandId cid, WcBuf *block);
extern bool wc_batch_own_shows(uint32 table_id, WcSlice row, CommandId cid,
							   bool (*shows) (const void *arg, const WcScan *get, WcSlice answer), const void *arg);

/* Of all rows that the transaction has written. */
extern WcExtent wc_batch_extent(void);
extern void wc_batch_forget(void);	/* end of the transaction; never fails */

/*
 * Can the batch be committed without a check of its rows?  No row can have become too large.  *rest: the operations on
 * rows that may not have been locked before they were written, valid until the next write; the other rows were, and no row
 * that another operation wants to be absent can have existed.  wc_batch_must_be_checked: an answer said that
 * a row needs a check.
 */
extern bool wc_batch_unsettled(WcSlice *rest);
extern void wc_batch_must_be_checked(void);

/* Writes the rest of the batch into the log, but not to the driver, which does not need it any more. */
extern void wc_batch_log(void);

/* 54000: the transaction has so many bytes of changes, too many. */
extern void wc_batch_too_large(uint64 bytes) pg_attribute_noreturn();

/* widecol.max_transaction_size in bytes. */
static inline uint64
wc_batch_bytes_max(void)
{
	return (uint64) wc_max_transaction_mb * 1024 * 1024;
}

/* The batch's builder, for operations that concern no rows. */
extern WcBatchBuilder *wc_batch_builder(void);

/* The same for a statement that PostgreSQL itself refuses where it may not write. */
extern WcBatchBuilder *wc_batch_open(void);

/* The same for operations on rows of this table, when the caller has checked that the session may write. */
extern WcBatchBuilder *wc_batch_begin_rows(uint32 table_id);

/* The operations that were begun last are complete. */
extern void wc_batch_done(void);

/*
 * The driver makes operations itself: call wc_batch_making, then wc_batch_take_made for each piece of them (the stream's
 * next bytes), and wc_batch_made.  Without the last call the next piece begins before what the driver may have made meanwhile.
 */
extern void wc_batch_making(void);
extern void wc_batch_take_made(uint64 at, WcSlice bytes);
extern void wc_batch_made(void);

/* --- rowwait.c ------------------------------------------------------------------ */

/* The current (sub)transaction as the locker; it gets an id if it has none. */
extern WcDriverLocker wc_row_locker(WcRowLockMode mode);

/* A wait for one lock holder after another, zeroed at first. */
typedef struct WcHolderWait
{
	int			looks;			/* waits in turn for a holder that was about to end */
	TimestampTz since;			/* time of the first of these waits */
	bool		takes_over;		/* the holder's row may be taken over before its commit is applied */
} WcHolderWait;

/* Waits, interruptibly, until the caller should ask the engine again. */
extern void wc_holder_wait(WcHolderWait *wait, uint64 holder);

/* Is the holder of a row lock a running transaction, other than this one?  Else it has ended, and the engine will learn of
 * this soon; or it may give up the row soon (WC_HOLDER_BRIEF). */
extern bool wc_row_holder_runs(uint64 holder);

/* A wait for the holders of one row, with a place in the queue for the row. */
typedef struct WcRowWait
{
	WcHolderWait holder;
	bool		queued;
	LOCKTAG		tag;
	LOCKMODE	mode;
} WcRowWait;

/* True: ask again.  False: another transaction keeps the row locked, and the policy is LockWaitSkip or
 * LockWaitError. */
extern bool wc_row_wait(WcRowWait *wait, const WcTableDesc *table, WcSlice row, WcRowLockMode mode,
						LockWaitPolicy policy, uint64 holder, bool has_weaker);

/* Ends the wait when the row has been locked, or is not wanted any more: leaves the queue and zeroes *wait.
 * (An error ends the wait as well.) */
extern void wc_row_wait_over(WcRowWait *wait);

#endif
