/*
 * fdw/condition/qual.h: the clauses of a query that become start and stop rows.
 */
#ifndef WC_FDW_CONDITION_QUAL_H
#define WC_FDW_CONDITION_QUAL_H

#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/pathnodes.h"

#include "fdw/condition/keycond.h"
#include "fdw/relation/relation.h"

/* The conditions found in a list of clauses (RestrictInfos). */
typedef struct WcQuals
{
	List	   *clauses;		/* RestrictInfos: all clauses, then the constants */
	List	   *constants;		/* RestrictInfos: wc_recordtype_clauses */
	List	   *conds;			/* WcKeyCond *, by part, those on the raw key last */
	List	   *cell_conds;		/* WcKeyCond *, on family, qualifier, ts of layout 'cell' */
	List	   *filters;		/* expressions that the engine decides row by row (filter.h) */
	List	   *filtered;		/* RestrictInfos that filters were made from */
	List	   *pushed;			/* RestrictInfos that conds were made from */
	List	   *exact;			/* RestrictInfos that need not be evaluated on each row, in the order of clauses */
	List	   *local;			/* RestrictInfos to be evaluated on each row, in the order of clauses */
	List	   *unranged;		/* RestrictInfos that the ranges alone do not decide: local, filtered, on cells */
	Bitmapset  *equal;			/* key parts that have one value in every row */
	bool		point;			/* every range is one row: a Get */
	bool		never;			/* a clause says that a key part is NULL: no row can satisfy it */
	bool		mixed_types;	/* rows of other record types may be in the ranges (recordtype.h) */
	bool		one_bucket;		/* salted key: all rows are in one bucket */
	double		nranges;		/* estimated number of ranges */
	double		rows;			/* rows in the ranges, as estimated by the engine (wc_cost_key_rows); -1: not asked */
	Relids		outer_relids;	/* relations whose values the conditions need */
} WcQuals;

/*
 * Does this key part have only two values?  Then a condition on the next part is one range for each of them, even
 * without a condition on this part.
 */
static inline bool
wc_part_is_small(const WcRelation *wrel, int part)
{
	const WcCodec *codec = &wrel->columns[wrel->keys[part]].codec;

	return codec->spec.type == BOOLOID && codec->equality_exact;
}

/*
 * Finds conditions on leading key parts (= on parts, then a range on the next), conditions on further parts that
 * determine the bucket of a salted key, and conditions on the raw key.  A comparison value is any expression that is
 * neither volatile nor from rel itself; it is evaluated when the scan starts.
 */
extern void wc_quals_find(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, List *clauses, WcQuals *out);

/* Does the parameter get its value from an InitPlan, which runs once, when the value is first needed? */
extern bool wc_param_is_from_init_plan(const PlannerInfo *root, int param);

/* Moves clauses whose filters need values of other relations to local. */
extern void wc_quals_unfilter_joins(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, WcQuals *quals);

#endif
