/*
 * read/txn/txn.h: the batch of one open transaction.
 *
 * The batch is one stream of bytes (model/batch.h), which comes in pieces.  Each piece has the offset at which it begins:
 * earlier bytes from there on were rolled back.  A piece may end within an operation.
 *
 * Operations are kept as they came, in chunks that never move, with an entry for each.  For the transaction's own reads
 * the entries of row operations are also kept in sorted runs, which are made when they are first needed and merged like a
 * binary counter, so that n writes with reads in between cost n log n.  A view is the batch as one scanner sees it: it
 * keeps its runs, and does not see operations that are appended later.  One thread.
 */
#ifndef WC_READ_TXN_TXN_H
#define WC_READ_TXN_TXN_H

#include "base/buf.h"
#include "model/batch.h"
#include "read/storage.h"

/* bytes_max: the most bytes that it may have (WC_TOO_LARGE beyond), rolled-back bytes included that open views still
 * read. */
extern WcStatus wc_txn_create(uint32_t database, uint64_t bytes_max, WcTxn **txn, WcError *err) WC_WARN_UNUSED;
extern void wc_txn_limit(WcTxn *txn, uint64_t bytes_max);	/* from now on */
extern void wc_txn_destroy(WcTxn *txn);	/* open scanners must be closed before this and reset */
extern void wc_txn_reset(WcTxn *txn);	/* empties it */

/*
 * Files for large transactions.  After wc_txn_spill_into, when a transaction has `memory` bytes in memory and no view is
 * open, its row operations are written, sorted, to a file without a name in the directory.  wc_txnwalk reads them there.
 * A view reads all of them back into memory, where they stay until the transaction is reset.
 */
typedef struct WcTxnSpill
{
	const char *directory;
	uint64_t	memory;			/* bytes */
} WcTxnSpill;

/* It must outlive the transaction. */
extern void wc_txn_spill_into(WcTxn *txn, const WcTxnSpill *spill);

/* Cuts the stream to `at` bytes and appends a copy of these.  After an error nothing is appended; the first `at` bytes
 * stay, if there is memory.  WC_CORRUPT: at is greater than the stream's length. */
extern WcStatus wc_txn_append(WcTxn *txn, uint64_t at, WcSlice bytes, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_txn_cut(WcTxn *txn, uint64_t offset, WcError *err) WC_WARN_UNUSED;

extern uint64_t wc_txn_length(const WcTxn *txn);	/* in bytes */
extern uint64_t wc_txn_count(const WcTxn *txn);	/* whole operations that change something */
extern bool wc_txn_is_whole(const WcTxn *txn);	/* it does not end amid an operation */

/* Does it have anything for this table?  (Cheap; lets scanners skip the merge.) */
extern bool wc_txn_touches(WcTxn *txn, uint32_t table_id, uint32_t cid);

/* A row operation. */
typedef struct WcTxnEntry
{
	uint64_t	prefix;			/* first 8 bytes of row, zero-filled, big-endian */
	const uint8_t *row;
	const uint8_t *bytes;		/* the whole operation */
	uint64_t	offset;			/* where it begins in the stream */
	uint32_t	row_len;
	uint32_t	len;			/* of bytes */
	uint32_t	table_id;
	uint32_t	cid;
} WcTxnEntry;

static inline WcSlice
wc_txnentry_row(const WcTxnEntry *entry)
{
	return wc_slice(entry->row, entry->row_len);
}

/* By table, row, offset. */
extern int	wc_txnentry_cmp(const WcTxnEntry *a, const WcTxnEntry *b);

static inline bool
wc_txnentry_same_row(const WcTxnEntry *a, const WcTxnEntry *b)
{
	return a->table_id == b->table_id && a->prefix == b->prefix &&
		wc_slice_eq(wc_txnentry_row(a), wc_txnentry_row(b));
}

/* Operations that its own reads have resolved so far, each as often as they did; to add some. */
extern uint64_t wc_txn_resolved(const WcTxn *txn);
extern void wc_txn_note_resolved(WcTxn *txn, uint64_t n);
extern uint32_t wc_txn_database(const WcTxn *txn);

/* --- the catalog's operations, in order ----------------------------------- */
extern size_t wc_txn_ncatalog(const WcTxn *txn);
extern WcStatus wc_txn_catalog_op(const WcTxn *txn, size_t i, WcOp *op, uint64_t *offset, WcError *err) WC_WARN_UNUSED;

/* --- everything, for the commit -------------------------------------------
 * The row operations in memory and the order (by table, row and offset) in which to take
 * them.  Order is NULL when they are in that order already.  Valid until the
 * transaction is changed, and made once until then.
 */
typedef struct WcTxnSorted
{
	const WcTxnEntry *entries;
	const uint32_t *order;
	size_t		n;
} WcTxnSorted;

extern WcStatus wc_txn_sorted(WcTxn *txn, WcTxnSorted *sorted, WcError *err) WC_WARN_UNUSED;

/* The row operations in memory in the order in which they were made; valid as long. */
extern const WcTxnEntry *wc_txn_entries(const WcTxn *txn, size_t *n);

/* Row operations, wherever they are. */
extern uint64_t wc_txn_nrows(const WcTxn *txn);

/*
 * Goes through the row operations row by row, by table and row, those of a row in the order in which they
 * were made; reads those that were spilled from the file.  The transaction must not be changed meanwhile.
 */
typedef struct WcTxnWalk WcTxnWalk;

extern WcStatus wc_txnwalk_open(WcTxn *txn, WcTxnWalk **walk, WcError *err) WC_WARN_UNUSED;
extern void wc_txnwalk_close(WcTxnWalk *walk);	/* NULL is allowed */

/* The next row's operations, n > 0 of them, valid until the next call.  WC_END: no more. */
extern WcStatus wc_txnwalk_next(WcTxnWalk *walk, const WcTxnEntry *const **ops, size_t *n, WcError *err) WC_WARN_UNUSED;

/* A table that row operations were made on. */
typedef struct WcTxnTable
{
	uint32_t	id;
	uint32_t	min_cid;		/* or smaller: not raised by a rollback */
	uint64_t	nops;			/* 0: they were rolled back */
	uint64_t	bytes;			/* of them */
	bool		absent;			/* rows must be absent; or had to, before a rollback */
} WcTxnTable;

extern const WcTxnTable *wc_txn_tables(const WcTxn *txn, size_t *n);

static inline const WcTxnEntry *
wc_txnsorted_at(const WcTxnSorted *sorted, size_t i)
{
	return &sorted->entries[sorted->order ? sorted->order[i] : i];
}

/* --- views ----------------------------------------------------------------*/
typedef struct WcTxnView WcTxnView;

/* Row operations on the table with a smaller cid, behind the last of the
 * operations (with a smaller cid) that emptied or made the table.  bounds: rows
 * outside are left out; NULL: none are. */
extern WcStatus wc_txnview_open(WcTxn *txn, uint32_t table_id, uint32_t cid, const WcRange *bounds, bool reversed,
								WcTxnView **view, WcError *err) WC_WARN_UNUSED;
extern void wc_txnview_close(WcTxnView *view);

/* Moves to the first row at or after `row` in scan order (after it when not inclusive); an empty row: the very first. */
extern void wc_txnview_seek(WcTxnView *view, WcSlice row, bool inclusive);

/* The next row, also if the view sees no entry of it; WC_END: no more. */
extern WcStatus wc_txnview_row(const WcTxnView *view, WcSlice *row) WC_WARN_UNUSED;

/*
 * Returns that row's entries from this offset on, in order, valid until the next call, and moves to the next row.
 * *passed_cid: the least command whose entries (from the offset on) the view does not see, since the command is not
 * earlier than the view's; UINT32_MAX: none.
 */
extern WcStatus wc_txnview_take(WcTxnView *view, WcSlice row, uint64_t offset, const WcTxnEntry *const **entries, size_t *n,
								uint32_t *passed_cid, WcError *err) WC_WARN_UNUSED;

/* Operations that begin before it are void for the view. */
extern uint64_t wc_txnview_void_before(const WcTxnView *view);

/* Grows with the bytes that a view may look at: one with a smaller number must not look at
 * what one with a greater number has found. */
extern uint64_t wc_txnview_upto(const WcTxnView *view);

/*
 * What the read point's transaction has written to one family of a table (as the
 * scanner's picture has it), resolved over the family's store, as a cell source.
 * base_hidden: over nothing.  The picture must outlive the source.
 */
extern WcStatus wc_cellsource_txn(WcStorage *storage, const WcTable *table, uint32_t family, const WcReadPoint *at,
								  bool base_hidden, const WcRange *bounds, bool reversed,
								  WcCellSource **src, WcError *err) WC_WARN_UNUSED;

#endif
