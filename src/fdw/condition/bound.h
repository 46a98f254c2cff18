/*
 * fdw/condition/bound.h: row ranges from conditions and their current values.
 */
#ifndef WC_FDW_CONDITION_BOUND_H
#define WC_FDW_CONDITION_BOUND_H

#include "postgres.h"

#include "fdw/condition/keycond.h"
#include "fdw/relation/relation.h"

typedef struct WcBounds
{
	WcRange    *ranges;			/* ascending, disjoint; nranges 0 and not `empty`: the whole table */
	uint32		nranges;
	bool		empty;			/* no row can satisfy the conditions */
	bool		exact;			/* false: the clauses of `exact` conditions must be rechecked as well */
	bool		point;			/* one range of one row */
} WcBounds;

/*
 * values and nulls are those of the conditions' expressions, in the order of wc_key_conds_exprs.  Ranges and their
 * bytes are in the arena. scratch is overwritten.
 */
extern void wc_bounds_compute(WcRelation *wrel, const List *conds, const Datum *values, const bool *nulls,
							  WcArena *arena, WcBuf *scratch, WcBounds *out);

/* Splits ranges that span several buckets of a salted key at the buckets' first rows, for a merged scan (the
 * whole table then has a range for each bucket). */
extern void wc_bounds_by_bucket(const WcRelation *wrel, WcArena *arena, WcBounds *bounds);

#endif
