/*
 * rpc/session/session.h: one session's state in the engine: scanners by number, snapshots by number, the open
 * transaction's batch and its row locks.
 *
 * Belongs to the session's thread.
 */
#ifndef WC_RPC_SESSION_SESSION_H
#define WC_RPC_SESSION_SESSION_H

#include "engine/engine.h"
#include "read/scan/scanner.h"
#include "read/txn/txn.h"
#include "rpc/session/activity.h"
#include "rpc/lock/epochs.h"
#include "rpc/lock/locktable.h"
#include "rpc/session/slow.h"

/* Snapshots of one session at a time: one a running statement or cursor. */
#define WC_SNAPSHOTS_MAX 65536

typedef struct WcNamedSnapshot
{
	uint64_t	number;
	uint64_t	epoch;			/* the snapshot's; 0: not known */
	WcSnapshot *snapshot;
} WcNamedSnapshot;

typedef struct WcSession
{
	WcEngine   *engine;
	WcEpochs   *epochs;
	uint32_t	database;		/* 0: no HELLO yet */
	const atomic_bool *cancel;

	WcScanner **scanners;		/* by number; NULL where none is */
	int64_t    *spent_us;		/* likewise: the time that the thread has worked for the scan */
	uint32_t	scanners_cap;
	uint32_t	nscanners;

	WcNamedSnapshot *snapshots;
	uint32_t	snapshots_cap;
	uint32_t	nsnapshots;

	WcTxn	   *txn;			/* kept, empty, from one transaction to the next */
	bool		txn_failed;		/* bytes after its end are missing; txn_error has the reason */
	WcError		txn_error;

	WcLockTable *locktable;		/* of all sessions */
	uint64_t	xid;			/* its transaction's id, if the transaction has row locks; else 0 */

	WcActivity	activity;		/* other threads read it */
	WcSlowLog	slow;
} WcSession;

/* After each request: publishes the session's resources for the statistics. */
extern void wc_session_show(WcSession *s);

extern void wc_session_init(WcSession *s, WcEngine *engine, WcEpochs *epochs, WcLockTable *locktable,
							const atomic_bool *cancel);

/* Closes everything.  The transaction, if there is one, keeps its locks: it may continue without this session. */
extern void wc_session_free(WcSession *s);

/* Closes scanners, releases snapshots, empties the batch, then releases the row locks: the next owner of a lock sees the
 * applied changes. */
extern void wc_session_end_transaction(WcSession *s);

/* Enters the owner of this transaction's locks; WC_CORRUPT if the session's transaction has another id.
 * wc_session_leave leaves the owner. */
extern WcStatus wc_session_enter(WcSession *s, uint64_t xid, WcLockOwner **owner, WcError *err) WC_WARN_UNUSED;
extern void wc_session_leave(WcSession *s, WcLockOwner *owner);

/* Releases the locks that the transaction has taken in this subtransaction and later ones. */
extern void wc_session_unlock(WcSession *s, uint32_t subid);

/* Does the session hold a resource that the backend may release without waking the thread? */
extern bool wc_session_holds(const WcSession *s);

/* Releases the snapshots with this number or a smaller one, if no scanner is open: it may read at one of them. */
extern void wc_session_snapshots_release(WcSession *s, uint64_t upto);

/* The snapshot with this number.  If the number is new, takes the snapshot of this epoch, or (epoch 0) of now.  All calls
 * with a number have the same epoch.  Number 0 gives NULL. */
extern WcStatus wc_session_snapshot(WcSession *s, uint64_t number, uint64_t epoch,
									WcSnapshot **snapshot, WcError *err) WC_WARN_UNUSED;
extern void wc_session_snapshot_release(WcSession *s, uint64_t number);

/* Opens a scanner under a number that is free. */
extern WcStatus wc_session_scanner_open(WcSession *s, uint32_t number, const WcScan *scan,
										const WcReadPoint *at, WcScanner **scanner, WcError *err) WC_WARN_UNUSED;

/* The scanner with this number; NULL: there is none. */
extern WcScanner *wc_session_scanner(WcSession *s, uint32_t number);
extern void wc_session_scanner_close(WcSession *s, uint32_t number);

/* Adds to the time that the thread has worked for an open scanner. */
extern void wc_session_scanner_spent(WcSession *s, uint32_t number, int64_t spent_us);

/* Cuts the batch to `at` bytes and appends these; the batch may have bytes_max bytes.  An error is kept in txn_error, until
 * a piece begins before the missing bytes. */
extern void wc_session_write(WcSession *s, uint64_t at, WcSlice bytes, uint64_t bytes_max);

/* Makes the batch, unless it exists.  Fails with txn_error if bytes are missing in it. */
extern WcStatus wc_session_begin_write(WcSession *s, uint64_t bytes_max, WcError *err) WC_WARN_UNUSED;

/* The number of bytes of the batch. */
extern uint64_t wc_session_length(const WcSession *s);

/* The transaction if it has written anything, else NULL. */
extern WcTxn *wc_session_txn(WcSession *s);

#endif
