/*
 * fdw/condition/rangeset.h: a growing set of row ranges.
 *
 * The array is palloc'd in CurrentMemoryContext; the bytes of the bounds belong
 * to whoever adds them.
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

/* set becomes what is in both; both are made normal (rowkey/range.h). */
extern void wc_rangeset_intersect(WcArena *arena, WcRangeSet *set, WcRangeSet *other);

#endif
