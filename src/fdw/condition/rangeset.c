/*
 * fdw/condition/rangeset.c: a growing set of row ranges.
 */
#include "postgres.h"

#include "client/client.h"
#include "fdw/condition/rangeset.h"
#include "rowkey/range.h"

WcSlice
wc_rangeset_keep(WcArena *arena, WcSlice key)
{
	WcSlice		copy = wc_arena_copy(arena, key);

	if (copy.data == NULL && key.len > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed on a row key of %zu bytes.", key.len)));
	return copy;
}

void
wc_rangeset_add(WcRangeSet *set, const WcRange *range)
{
	if (set->n == set->max)
	{
		set->max = Max(set->max * 2, 4);
		set->ranges = set->ranges == NULL ? palloc(set->max * sizeof(WcRange)) :
			repalloc(set->ranges, set->max * sizeof(WcRange));
	}
	set->ranges[set->n++] = *range;
}

void
wc_rangeset_intersect(WcArena *arena, WcRangeSet *set, WcRangeSet *other)
{
	WcError		err;
	WcRange    *both;
	uint32_t	nboth;

	set->n = wc_ranges_normalise(set->ranges, set->n);
	other->n = wc_ranges_normalise(other->ranges, other->n);
	if (wc_ranges_intersect(set->ranges, set->n, other->ranges, other->n, arena, &both, &nboth, &err) != WC_OK)
		wc_raise(&err);
	set->n = 0;
	for (uint32_t i = 0; i < nboth; i++)
		wc_rangeset_add(set, &both[i]);
}
