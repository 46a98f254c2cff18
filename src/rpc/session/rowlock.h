/*
 * rpc/session/rowlock.h: locks rows for a session, and tells whether they have changed.
 *
 * A row is locked first and read then: a transaction that wrote the row before kept it locked until the commit was
 * applied, so the read sees everything that it wrote.
 */
#ifndef WC_RPC_SESSION_ROWLOCK_H
#define WC_RPC_SESSION_ROWLOCK_H

#include "rpc/session/session.h"
#include "wire/message/message.h"

/*
 * Locks the message's rows in their order, up to the first row that another transaction has locked in a conflicting mode;
 * if the message is serializable, up to the first row that has changed.  then: a read point with the session's writes and
 * the message's snapshot (snapshot NULL: the message names none).  said has room for a byte a row.  After an error some
 * rows may be locked.
 */
extern WcStatus wc_rowlock_rows(WcSession *s, const WcLockMessage *m, const WcReadPoint *then, uint8_t *said,
								WcLockResult *result, WcError *err) WC_WARN_UNUSED;

/* Has a row, which the session has locked, other cells in these families (none: in all) than the read point's snapshot
 * shows?  Own writes do not count. */
extern WcStatus wc_rowlock_changed(WcSession *s, uint32_t table_id, const uint32_t *families, uint32_t nfamilies,
								   WcSlice row, const WcReadPoint *then, bool *changed, WcError *err) WC_WARN_UNUSED;

/* Has the row a visible cell in these families (none: in all) in the newest state, with the read point's own writes? */
extern WcStatus wc_rowlock_exists(WcSession *s, uint32_t table_id, const uint32_t *families, uint32_t nfamilies,
								  WcSlice row, const WcReadPoint *then, bool *exists, WcError *err) WC_WARN_UNUSED;

/* Does a Get return its row in the newest state, with the read point's own writes?  (Also a row that its filter cannot
 * decide.) */
extern WcStatus wc_rowlock_gives(WcSession *s, const WcScan *get, const WcReadPoint *then, bool *gives, WcError *err) WC_WARN_UNUSED;

/*
 * Locks the rows that the session's transaction, whose id is xid, has written and not locked yet.  *holder: 0, or the
 * transaction that has locked a row (as in WcLockResult): then the caller waits and calls again; rows that are locked
 * already stay locked.
 *
 * lasts: the transaction does not end soon (PREPARE), so a table is not locked as a whole in place of a few thousand rows.
 *
 * then: NULL, or a read point with a snapshot.  With a snapshot, WC_CONFLICT, with the row, if a row that is locked here
 * has other cells than the snapshot shows, in the written families.  (Rows that were locked before were checked then.)
 *
 * cancel (or NULL): checked once in WC_CANCEL_CELLS rows (WC_CANCELLED).
 */
extern WcStatus wc_rowlock_commit(WcSession *s, WcTxn *txn, uint64_t xid, bool lasts, const WcReadPoint *then,
								  const atomic_bool *cancel, uint64_t *holder, WcError *err) WC_WARN_UNUSED;

/*
 * The locks of the transaction, as LOCK operations (model/batch.h), in pieces of complete operations.  Calls take for
 * each piece, with its offset; the first piece begins at `at`.  take may wait; its error ends the function.
 */
typedef WcStatus (*WcRowLockTaker) (void *arg, uint64_t at, WcSlice ops, WcError *err);
extern WcStatus wc_rowlock_list(WcSession *s, uint64_t xid, uint64_t at, WcRowLockTaker take, void *arg, WcError *err) WC_WARN_UNUSED;

/*
 * Locks the rows that the LOCK operations in the batch name, for a prepared transaction that had locked them in the engine
 * before.  WC_CORRUPT: another transaction has locked one of these rows.
 */
extern WcStatus wc_rowlock_restore(WcLockTable *locktable, uint64_t xid, WcSlice batch, WcError *err) WC_WARN_UNUSED;

#endif
