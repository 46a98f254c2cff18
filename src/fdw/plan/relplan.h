/*
 * fdw/plan/relplan.h: what planning a scan has found out about its relation, for its paths and the nodes above it.
 */
#ifndef WC_FDW_PLAN_RELPLAN_H
#define WC_FDW_PLAN_RELPLAN_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/condition/qual.h"
#include "fdw/plan/cost.h"
#include "fdw/relation/relation.h"

/* Kept in RelOptInfo.fdw_private, from widecolGetForeignRelSize on, for relplan.c and plan.c alone. */
typedef struct WcRelPlan
{
	WcRelation *wrel;
	WcTableSize size;
	WcQuals		quals;			/* of the relation's own clauses */
} WcRelPlan;

/* The foreign table of a base relation that is ours and whose paths have been made; NULL: any other relation. */
extern WcRelation *wc_plan_relation(const RelOptInfo *rel);

/* The same, also for a partition or another member of an inheritance tree. */
extern WcRelation *wc_plan_member(const RelOptInfo *rel);

/* For such a relation: does the engine decide all of its own conditions, so that it returns exactly the wanted
 * rows? */
extern bool wc_plan_decides_rows(const RelOptInfo *rel);

/* The relation's own path below projections, without values from other relations; NULL: it is another path. */
extern ForeignPath *wc_plan_own_path(Path *path, const RelOptInfo *rel);

/* The relation's own conditions. */
extern const WcQuals *wc_plan_quals(const RelOptInfo *rel);

/* May a path of this relation alone, or one made of it, stand below the query's GROUP BY, aggregates or DISTINCT? */
extern bool wc_plan_may_stand_below(const PlannerInfo *root, const RelOptInfo *rel, const WcRelation *wrel);

/* For fdw_scan_tlist: the table's columns in their places, so that expressions find them there; and one more column. */
extern List *wc_plan_all_columns(PlannerInfo *root, Index relid);
extern List *wc_plan_add_column(List *scan_tlist, Expr *expr);

/*
 * Adds a path of the query's GROUP BY and aggregates, which PostgreSQL computes from the rows of this path.  split: whether
 * the rows have transition states; or whether the result has, then it is a partial path.  ngroups 0: to be estimated.
 */
extern void wc_plan_add_grouping(PlannerInfo *root, RelOptInfo *output_rel, Path *rows, AggSplit split, double ngroups,
								 const GroupPathExtraData *extra);

#endif
