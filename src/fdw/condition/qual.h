/*
 * fdw/condition/qual.h: which clauses of a query become start and stop rows.
 */
#ifndef WC_FDW_CONDITION_QUAL_H
#define WC_FDW_CONDITION_QUAL_H

#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/pathnodes.h"

#include "fdw/condition/keycond.h"
#include "fdw/relation/relation.h"

/* What was found in a list of clauses (RestrictInfos). */
typedef struct WcQuals
{
	List	   *conds;			/* WcKeyCond *, by part, those on the raw key last */
	List	   *cell_conds;		/* WcKeyCond *, on family, qualifier, ts of layout 'cell' */
	List	   *filters;		/* expressions that the engine decides row by row (filter.h) */
	List	   *filtered;		/* RestrictInfos behind filters */
	List	   *pushed;			/* RestrictInfos behind conds */
	List	   *exact;			/* RestrictInfos that need not be looked at any more */
	List	   *local;			/* RestrictInfos to be evaluated on each row */
	List	   *unranged;		/* RestrictInfos that the ranges alone do not decide: local, filtered, on cells */
	Bitmapset  *equal;			/* key parts that have one value in every row */
	bool		point;			/* every range is one row: a Get */
	bool		never;			/* a key part is said to be NULL: no row can satisfy that */
	bool		mixed_types;	/* rows of other record types may be in the ranges (recordtype.h) */
	bool		one_bucket;		/* of a salted key: all rows are in one */
	double		nranges;		/* estimated number of ranges */
	double		rows;			/* in the ranges, as the engine says (wc_cost_key_rows); -1: not asked */
	Relids		outer_relids;	/* relations whose values the conditions need */
} WcQuals;

/*
 * Has this key part two values only?  Then a condition on the part behind it is
 * one range for each, though there is none on this one.
 */
static inline bool
wc_part_is_small(const WcRelation *wrel, int part)
{
	const WcCodec *codec = &wrel->columns[wrel->keys[part]].codec;

	return codec->spec.type == BOOLOID && codec->equality_exact;
}

/*
 * Finds conditions on leading key parts (= on parts, then a range on the next),
 * on further ones that tell the bucket of a salted key, and on the raw key.  Comparison values are whatever is neither volatile nor
 * from rel itself; they are evaluated when the scan starts.
 */
extern void wc_quals_find(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, List *clauses, WcQuals *out);

/* Of what the engine would decide row by row, lets that be evaluated here which needs
 * values of other relations. */
extern void wc_quals_unfilter_joins(PlannerInfo *root, RelOptInfo *rel, WcQuals *quals);

#endif
