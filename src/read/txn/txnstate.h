/*
 * read/txn/txnstate.h: the open transaction, for the files of read/txn.
 */
#ifndef WC_READ_TXN_TXNSTATE_H
#define WC_READ_TXN_TXNSTATE_H

#include "read/txn/txn.h"

/* Bytes of whole operations that follow each other in the stream. */
typedef struct WcTxnChunk
{
	struct WcTxnChunk *before;
	uint64_t	offset;			/* in the stream, of its first byte */
	uint64_t	number;			/* the younger the greater */
	size_t		len;
	size_t		kept;			/* bytes behind these that were cut off, and views may look at */
	size_t		cap;
	uint8_t		data[];
} WcTxnChunk;

/* An open view.  It looks at chunks up to a number, as they were when it was opened. */
typedef struct WcTxnViewLink
{
	struct WcTxnViewLink *older;
	struct WcTxnViewLink *younger;
	uint64_t	upto;
} WcTxnViewLink;

/* The bytes of whole operations.  Bytes that are cut off are kept as long as a view can read them. */
typedef struct WcTxnBytes
{
	WcTxnChunk *last;			/* NULL: none */
	WcTxnChunk *cut;			/* chunks that were cut off, in any order */
	uint64_t	kept;			/* bytes that were cut off and are kept */
	uint64_t	last_number;	/* given to a chunk */
	WcTxnViewLink *views;		/* the youngest */
} WcTxnBytes;

/* An operation on the catalog. */
typedef struct WcTxnCatalogOp
{
	WcSlice		bytes;
	uint64_t	offset;
	uint32_t	cid;
	bool		own;			/* the bytes are in memory of their own: those around them have been spilled */
} WcTxnCatalogOp;

/* Entries of consecutive operations, sorted. */
typedef struct WcTxnRun
{
	uint32_t	refs;
	uint64_t	last;			/* the greatest of their offsets */
	size_t		n;
	WcTxnEntry	entries[];
} WcTxnRun;

/* Row operations that are in the spill file: those of a part of the stream, sorted. */
typedef struct WcTxnSpilled
{
	uint64_t	from;			/* the part of the stream: it begins and ends between operations */
	uint64_t	to;				/* operations behind it were rolled back */
	uint64_t	at;				/* in the file */
	uint64_t	bytes;			/* there */
	size_t		n;				/* operations, without those that were rolled back */
} WcTxnSpilled;

struct WcTxn
{
	uint32_t	database;
	uint64_t	bytes_max;

	const WcTxnSpill *spill;	/* NULL: nothing is spilled */
	bool		loaded;			/* the spilled operations were read back: until the reset all operations stay in memory */
	int			spill_fd;		/* of a file without a name; valid if there is one in spills */
	WcTxnSpilled *spills;		/* parts that follow each other, from the stream's beginning */
	size_t		nspills;
	size_t		spills_cap;
	size_t		nspilled;		/* row operations in them */

	uint64_t	whole;			/* length of the complete operations of the stream, which are in `bytes` */
	WcBuf		part;			/* the bytes after them: an incomplete operation */
	WcTxnBytes	bytes;
	WcTxnEntry *entries;		/* row operations, in order */
	size_t		nentries;
	size_t		entries_cap;
	WcTxnCatalogOp *catalog;	/* the others, in order */
	size_t		ncatalog;
	size_t		catalog_cap;
	WcTxnTable *tables;
	size_t		ntables;
	size_t		tables_cap;

	uint32_t   *order;			/* of sorted_n entries, after sorted_cuts; NULL: as they are */
	size_t		sorted_n;
	uint64_t	sorted_cuts;

	WcTxnRun  **runs;			/* oldest first; each at least twice as long as the next */
	size_t		nruns;
	size_t		runs_cap;
	size_t		nindexed;		/* entries that are in runs */

	struct WcOwnRows *own_rows; /* NULL: none */
	uint64_t	nresolved;		/* see wc_txn_resolved */
	uint64_t	cuts;			/* number of cuts that have removed operations */
};

/* --- txnbytes.c ------------------------------------------------------------*/

/* Room for n bytes at the end of the stream, which is at offset; NULL: out of memory.  wc_txnbytes_add: n bytes have been
 * written there. */
extern uint8_t *wc_txnbytes_place(WcTxnBytes *b, uint64_t offset, size_t n);
extern void wc_txnbytes_add(WcTxnBytes *b, size_t n);

/* Keeps the bytes before the offset. */
extern void wc_txnbytes_cut(WcTxnBytes *b, uint64_t offset);

/* Removes all bytes; no view may be open.  memory: keeps some memory for later. */
extern void wc_txnbytes_reset(WcTxnBytes *b, bool memory);

/* From now on the view may read the present bytes; it does not read them any more. */
extern void wc_txnbytes_view_opened(WcTxnBytes *b, WcTxnViewLink *view);
extern void wc_txnbytes_view_closed(WcTxnBytes *b, WcTxnViewLink *view);

/* --- txnlist.c --------------------------------------------------------------*/

/* The prefix by which entries of this row are compared first. */
extern uint64_t wc_txnentry_prefix(WcSlice row);

/* An operation that begins at an offset of the stream. */
extern WcTxnEntry wc_txnentry_of(const WcOp *op, uint64_t offset);

/* The counters of a table; NULL: out of memory. */
extern WcTxnTable *wc_txn_table(WcTxn *txn, uint32_t table_id);

/* Adds the operation that follows txn->whole to the lists and the counters; its bytes stay where they are.  LOCK operations
 * change nothing: an engine that locks rows again after a restart reads them.  False: out of memory. */
extern bool wc_txn_add_op(WcTxn *txn, const WcOp *op);

/* Removes operations in memory that begin at the offset or after it from the lists and the counters; only those
 * on the catalog. */
extern void wc_txn_drop_entries(WcTxn *txn, uint64_t offset);
extern void wc_txn_drop_catalog(WcTxn *txn, uint64_t offset);

/* --- txnruns.c -------------------------------------------------------------*/

/* Makes a run of the operations that were appended since the last run, and merges runs so that their sizes stay
 * geometric. */
extern WcStatus wc_txn_index_tail(WcTxn *txn, WcError *err) WC_WARN_UNUSED;

/* Forgets all runs but the first n. */
extern void wc_txn_drop_runs(WcTxn *txn, size_t n);

/* Takes operations from this offset on out of the runs. */
extern WcStatus wc_txn_cut_runs(WcTxn *txn, uint64_t offset, WcError *err) WC_WARN_UNUSED;

/* Gives back a reference. */
extern void wc_txnrun_unref(WcTxnRun *run);

/* The error: no memory for runs. */
extern WcStatus wc_txnrun_memory(WcError *err);

/* --- txnspill.c ------------------------------------------------------------*/

/* The offset at which the part of the stream in memory begins. */
static inline uint64_t
wc_txn_spilled_upto(const WcTxn *txn)
{
	return txn->nspills > 0 ? txn->spills[txn->nspills - 1].to : 0;
}

/* Moves the operations in memory to the file, if they are many and no view is open. */
extern WcStatus wc_txn_spill_if_large(WcTxn *txn, WcError *err) WC_WARN_UNUSED;

/* Keeps the operations before the offset, which is in the file. */
extern WcStatus wc_txn_cut_spilled(WcTxn *txn, uint64_t offset, WcError *err) WC_WARN_UNUSED;

/* Forgets all that was spilled. */
extern void wc_txn_drop_spilled(WcTxn *txn);

/* Reads the operations of one part one after the other.  Zeroed, with txn and spill set, it is at the
 * part's beginning. */
typedef struct WcSpillReader
{
	const WcTxn *txn;
	const WcTxnSpilled *spill;
	uint64_t	read;			/* bytes of the part that have been read from the file */
	uint8_t    *buf;			/* malloc'ed: wc_spillreader_free */
	size_t		cap;
	size_t		len;
	size_t		at;				/* of the next operation */
} WcSpillReader;

/* The next one that was not rolled back; its bytes are valid until the next call.  WC_END: no more. */
extern WcStatus wc_spillreader_next(WcSpillReader *reader, WcTxnEntry *entry, WcError *err) WC_WARN_UNUSED;
extern void wc_spillreader_free(WcSpillReader *reader);

/* --- txnload.c -------------------------------------------------------------*/

/* Reads the whole file back into memory. */
extern WcStatus wc_txn_load(WcTxn *txn, WcError *err) WC_WARN_UNUSED;

#endif
