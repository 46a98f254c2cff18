/*
 * fdw/condition/bound.h: conditions and the values they have now, to row ranges.
 */
#ifndef WC_FDW_CONDITION_BOUND_H
#define WC_FDW_CONDITION_BOUND_H

#include "postgres.h"

#include "fdw/condition/keycond.h"
#include "fdw/relation/relation.h"

typedef struct WcBounds
{
	WcRange    *ranges;			/* ascending, disjoint; none and not `empty`: the whole table */
	uint32		nranges;
	bool		empty;			/* nothing can satisfy the conditions */
	bool		exact;			/* false: also the clauses of `exact` conditions must be rechecked */
	bool		point;			/* one range, which is one row */
} WcBounds;

/*
 * values and nulls belong to the conditions' expressions, one after the other
 * (wc_key_conds_exprs).  Ranges and their bytes are in the arena; scratch is
 * used and left with anything in it.
 */
extern void wc_bounds_compute(WcRelation *wrel, const List *conds, const Datum *values, const bool *nulls,
							  WcArena *arena, WcBuf *scratch, WcBounds *out);

/* Parts ranges that go over several buckets of a salted key, for a merged scan
 * (the whole table has a range for each bucket then). */
extern void wc_bounds_by_bucket(const WcRelation *wrel, WcArena *arena, WcBounds *bounds);

#endif
