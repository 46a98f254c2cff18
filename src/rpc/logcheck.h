/*
 * rpc/logcheck.h: is what the log says of a transaction what the applier was given?
 *
 * For widecol.debug_log.  The applier notes a digest of each batch that it has applied; the
 * follower hands in what it reads, gathers streams (rpc/pending.h), and at a commit compares.
 * A difference is an error in the server's log, and counted.
 *
 * wc_logcheck_applied is called by the applier's thread, all else by the follower's.
 */
#ifndef WC_RPC_LOGCHECK_H
#define WC_RPC_LOGCHECK_H

#include "model/logrecord.h"
#include "read/storage.h"

typedef struct WcLogCheck WcLogCheck;

/* Since it was made, but for the last two, which are of now. */
typedef struct WcLogCheckCounts
{
	uint64_t	batches;		/* BATCH records read */
	uint64_t	batch_bytes;	/* of streams, in them */
	uint64_t	commits;		/* of transactions that had logged */
	uint64_t	aborts;			/* likewise, crashes included */
	uint64_t	compared;		/* commits that were compared */
	uint64_t	differ;			/* and that differed */
	uint64_t	skipped;		/* could not be compared: no memory, or too large; there is an error in the log */
	uint64_t	pending;		/* transactions that have logged and not ended */
	uint64_t	pending_bytes;
} WcLogCheckCounts;

/* compare: false if nothing is applied here, so that streams are gathered only.
 * bytes_max: most bytes of all streams. */
extern WcStatus wc_logcheck_create(bool compare, uint64_t bytes_max, WcLogCheck **check, WcError *err) WC_WARN_UNUSED;
extern void wc_logcheck_free(WcLogCheck *check);

/* The applier has applied all of txn, and its backend does not know yet. */
extern void wc_logcheck_applied(WcLogCheck *check, uint64_t xid, const WcTxn *txn);

/* The follower has read ... */
extern void wc_logcheck_batch(WcLogCheck *check, const WcLogRecord *batch);

/* True: it has logged a stream; *place: what its last BATCH names. */
extern bool wc_logcheck_commit(WcLogCheck *check, uint64_t xid, uint16_t *place);
extern void wc_logcheck_abort(WcLogCheck *check, uint64_t xid);

/* ... that no transaction before this one runs, or ever will. */
extern void wc_logcheck_running(WcLogCheck *check, uint64_t oldest_xid);

extern void wc_logcheck_counts(const WcLogCheck *check, WcLogCheckCounts *counts);

#endif
