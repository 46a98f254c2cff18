/*
 * rpc/following.h: from the log to the store.
 *
 * The follower (the engine's main thread) hands in what the log says, record by record.  A
 * transaction's BATCHes are gathered (pending.h); at its commit they go to the applier, which
 * does not make the follower wait.  Row locks that a transaction has when it begins to commit
 * are handed over to here, and given up when the log has said how it ended, and what it
 * wrote has been applied: so who gets them next sees it.
 *
 * All functions are the follower's, but for the first two of the locks.
 */
#ifndef WC_RPC_FOLLOWING_H
#define WC_RPC_FOLLOWING_H

#include "model/logrecord.h"
#include "rpc/applier.h"
#include "rpc/locktable.h"
#include "rpc/rpc.h"

typedef struct WcFollowing WcFollowing;

/* log: of a server that follows the log.  The applier is started with wc_following_applied. */
extern WcStatus wc_following_create(WcEngine *engine, WcLockTable *locktable, const WcLogOptions *log,
									WcFollowing **following, WcError *err) WC_WARN_UNUSED;

/* The applier must have been stopped. */
extern void wc_following_free(WcFollowing *following);

/* Where commits go from now on. */
extern void wc_following_begin(WcFollowing *following, WcApplier *applier);

/* For wc_applier_start. */
extern WcApplied wc_following_applied(WcFollowing *following);

/* --- row locks: session threads --------------------------------------------- */

/* The locks of a transaction that begins to commit: they are given up when the log has said
 * how it ended.  The session has none any more.  WC_NO_MEMORY: they are still the session's. */
extern WcStatus wc_following_hand_over(WcFollowing *following, uint64_t xid, WcLockOwner *locks,
									   WcError *err) WC_WARN_UNUSED;

/* The transaction was aborted before it could be committed: gives its locks up. */
extern void wc_following_aborted(WcFollowing *following, uint64_t xid);

/* --- what the log says -------------------------------------------------------- */

/* Loads what the store's last mark carries; *read_from: where reading begins (0: there is none). */
extern WcStatus wc_following_load(WcFollowing *following, uint64_t *read_from, WcError *err) WC_WARN_UNUSED;

extern WcStatus wc_following_batch(WcFollowing *following, const WcLogRecord *batch, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_following_commit(WcFollowing *following, uint64_t xid, uint64_t position, int64_t time_us,
									WcError *err) WC_WARN_UNUSED;
extern void wc_following_abort(WcFollowing *following, uint64_t xid);

/* No transaction before this one runs, or ever will; prepared ones count as running. */
extern void wc_following_running(WcFollowing *following, uint64_t oldest_xid);

/* Hands in a mark at the position up to which the log has been read. */
extern WcStatus wc_following_mark(WcFollowing *following, uint64_t read_from, WcError *err) WC_WARN_UNUSED;

#endif
