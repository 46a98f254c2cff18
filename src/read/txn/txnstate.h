/*
 * read/txn/txnstate.h: the open transaction, for txn.c and txnview.c.
 */
#ifndef WC_READ_TXN_TXNSTATE_H
#define WC_READ_TXN_TXNSTATE_H

#include "read/txn/txn.h"

typedef struct WcTxnChunk
{
	uint8_t    *data;
	size_t		len;
	size_t		cap;
} WcTxnChunk;

/* An operation on the catalog. */
typedef struct WcTxnCatalogOp
{
	WcSlice		bytes;
	uint32_t	cid;
	uint32_t	opno;
} WcTxnCatalogOp;

/* Entries of consecutive operations, sorted. */
typedef struct WcTxnRun
{
	uint32_t	refs;
	size_t		n;
	WcTxnEntry	entries[];
} WcTxnRun;

struct WcTxn
{
	uint32_t	database;
	uint64_t	bytes_max;
	uint64_t	bytes;			/* of all operations */
	uint64_t	nops;

	WcTxnChunk *chunks;			/* the operations' bytes, in order */
	size_t		nchunks;
	size_t		chunks_cap;
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
	size_t		nviews;			/* open */

	struct WcOwnRows *own_rows; /* NULL: none */
	uint64_t	nresolved;		/* see wc_txn_resolved */
	uint64_t	cuts;			/* how often operations were taken away */
};

/* Forgets all runs but the first n. */
extern void wc_txn_drop_runs(WcTxn *txn, size_t n);

/* Takes operations from place nops on out of the runs. */
extern WcStatus wc_txn_cut_runs(WcTxn *txn, uint64_t nops, WcError *err) WC_WARN_UNUSED;

#endif
