/*
 * model/extent.h: roughly which rows a transaction has written, or a scan reads.
 *
 * Tables are bits, which tables share by their ids; keys are their first eight bytes.  So two extents with a row in common
 * overlap; two without one may overlap, too.
 */
#ifndef WC_MODEL_EXTENT_H
#define WC_MODEL_EXTENT_H

#include <stdbool.h>

#include "base/slice.h"
#include "model/scan.h"

#define WC_EXTENT_KEY	8

typedef struct WcExtent
{
	uint64_t	tables;			/* 0: no row */
	uint64_t	least;			/* the least and the greatest key, both with rows */
	uint64_t	greatest;
} WcExtent;

#define WC_EXTENT_NONE	((WcExtent) {0, UINT64_MAX, 0})
#define WC_EXTENT_ALL	((WcExtent) {UINT64_MAX, 0, UINT64_MAX})

extern void wc_extent_add(WcExtent *extent, const WcExtent *other);
extern void wc_extent_add_row(WcExtent *extent, uint32_t table_id, WcSlice row);

/* Adds all rows that the operations of a batch (model/batch.h) write; if they change the catalog, or are no batch, all rows there are. */
extern void wc_extent_add_batch(WcExtent *extent, WcSlice operations);

/* Of the scan's ranges. */
extern WcExtent wc_extent_of_scan(const WcScan *scan);

/* Cuts the range from the first row on that is in the extent, in the scan's direction.  bytes: memory for the new bound.  False: the
 * range may begin with such a row. */
extern bool wc_extent_cut_range(const WcExtent *extent, bool reversed, WcRange *range, uint8_t bytes[WC_EXTENT_KEY]);

static inline bool
wc_extents_overlap(const WcExtent *a, const WcExtent *b)
{
	return (a->tables & b->tables) != 0 && a->least <= b->greatest && b->least <= a->greatest;
}

#endif
