/*
 * fdw/condition/rangeset.h: a growing set of row ranges.
 *
 * The array is palloc'd in CurrentMemoryContext; the caller owns the bytes of the bounds that it adds.
 */
#ifndef WC_FDW_CONDITION_RANGESET_H
#define WC_FDW_CONDITION_RANGESET_H

#include "postgres.h"

#include "model/scan.h"

typedef struct WcRangeSet
{
	WcRange    *ranges;
	uint32		n;
	uint32		max;
} WcRangeSet;

/* A copy of a row key, or of its beginning, in the arena. */
extern WcSlice wc_rangeset_keep(WcArena *arena, WcSlice key);

extern void wc_rangeset_add(WcRangeSet *set, const WcRange *range);

/* set becomes the intersection of both; both are normalised (rowkey/range.h). */
extern void wc_rangeset_intersect(WcArena *arena, WcRangeSet *set, WcRangeSet *other);

#endif
