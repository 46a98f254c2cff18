/*
 * engine/write/rowfinder.h: finds what is stored of the rows of a commit, one after the other.
 *
 * Rows are asked for in ascending order, while nobody writes to the store.  A Get each is
 * what few rows cost.  Where a commit inserts many rows that are not stored, the finder
 * looks now and then how far the next stored row is (a gap); where it changes many rows that
 * lie beside each other, it walks an iterator along.  One thread.
 */
#ifndef WC_ENGINE_WRITE_ROWFINDER_H
#define WC_ENGINE_WRITE_ROWFINDER_H

#include "engine/store/store.h"

typedef struct WcRowFinder
{
	WcStore    *store;			/* the caller's */
	bool		empty;			/* nothing is stored */

	/* Rows from the last one asked for to gap_end are known not to be stored. */
	bool		gap;
	bool		gap_unbounded;
	WcBuf		gap_end;
	uint32_t	gap_rows;		/* that fell into it */
	uint32_t	misses;
	uint32_t	misses_budget;

	rocksdb_iterator_t *iterator;	/* NULL: not needed so far */
	rocksdb_readoptions_t *total_order; /* packing cell: of the iterator */
	WcBuf		key;			/* packing cell: of a row, or the row of a key */

	/* Packing row. */
	rocksdb_pinnableslice_t *pinned;	/* what a Get found */
	bool		walking;		/* the iterator is at the last row asked for, or behind it */
	uint32_t	hits;			/* rows found by Gets, and by walking */
	uint32_t	hits_budget;	/* so many of the former before it walks */
} WcRowFinder;

extern void wc_rowfinder_init(WcRowFinder *finder, WcStore *store, bool empty);
extern void wc_rowfinder_free(WcRowFinder *finder);

/* Is the row known not to be stored? */
extern bool wc_rowfinder_in_gap(WcRowFinder *finder, WcSlice row);

/* The caller has found out that the row is not stored.  (Then it may be worth to look how far
 * that goes on.) */
extern WcStatus wc_rowfinder_missed(WcRowFinder *finder, WcSlice row, WcError *err) WC_WARN_UNUSED;

/* Packing row: the row's value, valid until the next row is asked for, or let go. */
extern WcStatus wc_rowfinder_find(WcRowFinder *finder, WcSlice row, bool *found, WcSlice *value, WcError *err) WC_WARN_UNUSED;
extern void wc_rowfinder_let_go(WcRowFinder *finder);

#endif
