/*
 * rpc/log/pending.h: logged changes of transactions that have not ended yet.
 *
 * The follower appends each BATCH of the log to the stream of its transaction.  It takes the stream out when the
 * transaction commits, and drops the stream when the transaction aborts.  A mark (wc_engine_mark) writes the streams'
 * bytes into the store and frees their memory: a mark is due when they use much memory.  One thread at a time.
 */
#ifndef WC_RPC_LOG_PENDING_H
#define WC_RPC_LOG_PENDING_H

#include "base/buf.h"
#include "engine/engine.h"
#include "model/logrecord.h"
#include "read/txn/txn.h"

typedef struct WcPending WcPending;

/* Called for each table that a transaction makes, when its CREATE_TABLE has arrived completely; perhaps more
 * than once, and whether or not the transaction commits. */
typedef struct WcPendingTables
{
	void		(*made) (void *arg, uint32_t table_id);
	void	   *arg;
} WcPendingTables;

extern WcStatus wc_pending_create(const WcPendingTables *tables, WcPending **pending, WcError *err) WC_WARN_UNUSED;
extern void wc_pending_free(WcPending *pending);

/*
 * Cuts the transaction's stream at batch->at and appends batch->bytes.  WC_CORRUPT: the
 * stream ends before `at`, or is of another database; WC_NO_MEMORY.  After an error the stream is as before.  No number of
 * bytes is too large: the log has them, and an engine that refused them could not follow the log any further.
 */
extern WcStatus wc_pending_append(WcPending *pending, const WcLogRecord *batch, WcError *err) WC_WARN_UNUSED;

/* A transaction's whole stream: pieces that marks have written into the store, and the bytes after them.  Each piece ends
 * where the next piece (or `bytes`) begins, even if the piece is longer. */
typedef struct WcPendingBatch
{
	uint64_t	xid;
	uint32_t	database;
	uint16_t	place;			/* in flight, as its last BATCH names it; WC_RECORD_NO_PLACE: none does */
	uint8_t		flags;			/* of all its BATCHes; WC_PENDING_PREPARED */
	uint64_t   *pieces;			/* offsets in the stream at which they begin, ascending */
	size_t		npieces;
	uint64_t	at;				/* offset in the stream at which `bytes` begin */
	WcBuf		bytes;
} WcPendingBatch;

/* Takes the stream out; false: there is none.  Its pieces stay in the store until the next mark (wc_pending_mark), which
 * deletes them. */
extern bool wc_pending_take(WcPending *pending, uint64_t xid, WcPendingBatch *batch);
extern void wc_pendingbatch_free(WcPendingBatch *batch);

/* The number of its bytes. */
extern uint64_t wc_pendingbatch_length(const WcPendingBatch *batch);

/* Reads the stream from its beginning, in parts of at most WC_BATCH_CHUNK bytes, which may end amid an operation; at: the
 * part's offset.  Any thread, when the marks that have made its pieces are written. */
typedef WcStatus (*WcPendingReader) (void *arg, uint64_t at, WcSlice bytes, WcError *err);
extern WcStatus wc_pendingbatch_read(const WcPendingBatch *batch, WcEngine *engine, WcPendingReader take, void *arg,
									 WcError *err) WC_WARN_UNUSED;

/* Makes the transaction of the stream.  Any thread, likewise. */
extern WcStatus wc_pendingbatch_txn(const WcPendingBatch *batch, WcEngine *engine, WcTxn **txn, WcError *err) WC_WARN_UNUSED;

/* Forgets the transaction's stream, if it has one. */
extern void wc_pending_drop(WcPending *pending, uint64_t xid);

/*
 * Forgets the streams of all transactions before `next` that are not among these n (ascending), and calls dropped (may be
 * NULL) for each; returns their number.
 */
extern uint64_t wc_pending_drop_others(WcPending *pending, uint64_t next, const uint64_t *xids, size_t n,
									   void (*dropped) (void *arg, uint64_t xid), void *arg);

/* Has the transaction a stream? */
extern bool wc_pending_has(const WcPending *pending, uint64_t xid);

/* The transaction has been prepared.  *place: its last BATCH's place in flight.  False: the transaction has no stream. */
extern bool wc_pending_prepare(WcPending *pending, uint64_t xid, uint16_t *place);

/* Returns the streams one after another, in no order; NULL: no more.  *node is NULL before the first call.  Between the
 * calls no stream may be appended to, marked or taken out. */
extern const WcPendingBatch *wc_pending_next(const WcPending *pending, const void **node);

/*
 * The pieces that a mark must write into the store, and delete there.  *mark points into the streams until the next call
 * of any function.  For a stream that has been prepared since the last mark, and has no new bytes, the mark writes an
 * empty piece with the stream's flags.  wc_pending_marked: the mark will be written before any stream that is taken out
 * from now on is read.
 */
extern WcStatus wc_pending_mark(WcPending *pending, WcPendingMark *mark, WcError *err) WC_WARN_UNUSED;
extern void wc_pending_marked(WcPending *pending);

/* Loads a piece that a mark has put into the store.  When the engine starts, it is called for all pieces, those of a stream
 * in their order. */
extern WcStatus wc_pending_load(WcPending *pending, const WcPendingBytes *piece, WcError *err) WC_WARN_UNUSED;

/* The number of streams that are prepared, and the bytes of all streams that are in memory. */
extern uint64_t wc_pending_nprepared(const WcPending *pending);
extern uint64_t wc_pending_memory(const WcPending *pending);

#endif
