/*
 * rpc/pending.h: what transactions have logged that have not ended yet.
 *
 * The follower appends the BATCHes of the log, each to the stream of its transaction,
 * and takes a stream out when the transaction commits, or drops it.  All is kept in
 * memory, of which there is a limit.  One thread at a time.
 */
#ifndef WC_RPC_PENDING_H
#define WC_RPC_PENDING_H

#include "base/buf.h"
#include "engine/engine.h"
#include "model/logrecord.h"

typedef struct WcPending WcPending;

/* Who is told of each table that a transaction makes, when its CREATE_TABLE has come whole; perhaps
 * more than once, and whatever becomes of the transaction. */
typedef struct WcPendingTables
{
	void		(*made) (void *arg, uint32_t table_id);
	void	   *arg;
} WcPendingTables;

/* bytes_max: most bytes of all streams together; the memory that they take may be twice
 * that. */
extern WcStatus wc_pending_create(uint64_t bytes_max, const WcPendingTables *tables, WcPending **pending,
								  WcError *err) WC_WARN_UNUSED;
extern void wc_pending_free(WcPending *pending);

/*
 * Cuts the transaction's stream at batch->at and appends batch->bytes.  WC_CORRUPT: the
 * stream ends before `at`, or is of another database; WC_TOO_LARGE, WC_NO_MEMORY: no room.
 * After an error the stream is as before.
 */
extern WcStatus wc_pending_append(WcPending *pending, const WcLogRecord *batch, WcError *err) WC_WARN_UNUSED;

/* A transaction's whole stream. */
typedef struct WcPendingBatch
{
	uint32_t	database;
	uint16_t	place;			/* that its last BATCH named; WC_RECORD_NO_PLACE: none did */
	uint8_t		flags;			/* of all its BATCHes; WC_PENDING_PREPARED */
	WcBuf		bytes;			/* the taker's to free */
} WcPendingBatch;

/* Takes the stream out; false: there is none. */
extern bool wc_pending_take(WcPending *pending, uint64_t xid, WcPendingBatch *batch);

/* Forgets the stream, of which there may be none. */
extern void wc_pending_drop(WcPending *pending, uint64_t xid);

/*
 * Forgets the streams of all transactions before `next` that are not among these n, which
 * ascend, and calls dropped (may be NULL) for each; returns how many.
 */
extern uint64_t wc_pending_drop_others(WcPending *pending, uint64_t next, const uint64_t *xids, size_t n,
									   void (*dropped) (void *arg, uint64_t xid), void *arg);

/* The transaction has been prepared: it may stay for long.  *place: that its last BATCH named.
 * False: there is no stream of it. */
extern bool wc_pending_prepare(WcPending *pending, uint64_t xid, uint16_t *place);

/* The streams, one after another in no order: *node NULL at first; false: no more.  *stream points
 * into it.  None may be appended to or taken out meanwhile. */
extern bool wc_pending_next(const WcPending *pending, const void **node, WcPendingBytes *stream);

/* All streams, for a mark: *list has *n entries that point into them, and is the caller's to
 * free.  kept: as wc_pending_marked has found it. */
extern WcStatus wc_pending_list(const WcPending *pending, WcPendingBytes **list, size_t *n, WcError *err) WC_WARN_UNUSED;

/* A mark that has all streams as they are will be written, or has been read. */
extern void wc_pending_marked(WcPending *pending);

/* Transactions, those of them that are prepared, and bytes of their streams. */
extern uint64_t wc_pending_count(const WcPending *pending);
extern uint64_t wc_pending_nprepared(const WcPending *pending);
extern uint64_t wc_pending_bytes(const WcPending *pending);

#endif
