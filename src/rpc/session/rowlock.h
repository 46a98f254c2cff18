/*
 * rpc/session/rowlock.h: a session locks rows, and learns what became of them.
 *
 * A row is locked first and looked at then: whoever wrote it before held its lock until
 * the commit was applied, so that all it wrote is seen.
 */
#ifndef WC_RPC_SESSION_ROWLOCK_H
#define WC_RPC_SESSION_ROWLOCK_H

#include "rpc/session/session.h"
#include "wire/message.h"

/*
 * Locks the message's rows in their order, up to the first that another transaction has, or,
 * if it is serializable, the first that has changed.
 * then: the read point of the message's snapshot (NULL: none is named), with the
 * session's writes.  said has room for a byte a row.  After an error some rows may be
 * locked.
 */
extern WcStatus wc_rowlock_rows(WcSession *s, const WcLockMessage *m, const WcReadPoint *then, uint8_t *said,
								WcLockResult *result, WcError *err) WC_WARN_UNUSED;

/* Has a row that is locked other cells in these families (none: in all) than the read
 * point's snapshot shows?  Own writes do not count. */
extern WcStatus wc_rowlock_changed(WcSession *s, uint32_t table_id, const uint32_t *families, uint32_t nfamilies,
								   WcSlice row, const WcReadPoint *then, bool *changed, WcError *err) WC_WARN_UNUSED;

/* Does the row hold a visible cell in these families (none: in all) in the newest state, with
 * the read point's own writes? */
extern WcStatus wc_rowlock_exists(WcSession *s, uint32_t table_id, const uint32_t *families, uint32_t nfamilies,
								  WcSlice row, const WcReadPoint *then, bool *exists, WcError *err) WC_WARN_UNUSED;

/* Does a Get give its row at the newest state, with the read point's own writes?  (Also one that it
 * leaves undecided.) */
extern WcStatus wc_rowlock_gives(WcSession *s, const WcScan *get, const WcReadPoint *then, bool *gives, WcError *err) WC_WARN_UNUSED;

/*
 * Locks what the session's transaction, whose id is xid, has written and not locked yet.
 * *holder: 0, or who has a row (as in WcLockResult): then it is to be called again; what is
 * locked so far stays locked.
 *
 * then: NULL, or a read point with a snapshot.  Then WC_CONFLICT, with the row, if a row
 * that is locked here has, in the families that are written, other cells than the snapshot
 * shows.  Rows that were locked before were looked at then.
 *
 * cancel: looked at once in WC_CANCEL_CELLS rows (WC_CANCELLED), or NULL.
 */
extern WcStatus wc_rowlock_commit(WcSession *s, WcTxn *txn, uint64_t xid, const WcReadPoint *then,
								  const atomic_bool *cancel, uint64_t *holder, WcError *err) WC_WARN_UNUSED;

/*
 * All that the transaction has locked, as LOCK operations (model/batch.h), in pieces of whole
 * ones.  Each is given to take, which may wait and whose error ends it; they begin at `at`.
 */
typedef WcStatus (*WcRowLockTaker) (void *arg, uint64_t at, WcSlice ops, WcError *err);
extern WcStatus wc_rowlock_list(WcSession *s, uint64_t xid, uint64_t at, WcRowLockTaker take, void *arg, WcError *err) WC_WARN_UNUSED;

/*
 * Locks again what the LOCK operations among the batch's say, for a prepared transaction that had
 * them from an engine before.  WC_CORRUPT: another transaction has one of these rows.
 */
extern WcStatus wc_rowlock_restore(WcLockTable *locktable, uint64_t xid, WcSlice batch, WcError *err) WC_WARN_UNUSED;

#endif
