/*
 * engine/write/rowfinder.h: finds the stored cells of the rows of a commit, one row after the other.
 *
 * The caller asks for rows in ascending order, while no other thread writes to the store.  For few rows the finder
 * does one Get for each.  If a commit inserts many rows that are not stored, the finder seeks the next stored row from
 * time to time: rows before it need no Get.  If a commit changes many neighbouring rows, the finder walks with an
 * iterator.  One thread.
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
	rocksdb_pinnableslice_t *pinned;	/* the value that a Get found */
	WcBuf		recent;			/* or a copy of the one that was written last */
	bool		walking;		/* the iterator is at the last wanted row, or after it */
	uint32_t	hits;			/* rows found by Gets, and by walking */
	uint32_t	hits_budget;	/* number of such rows before a walk begins */
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
