/*
 * fdw/plan/aggregate.h: scans whose rows are groups of rows, aggregated in the engine.
 */
#ifndef WC_FDW_PLAN_AGGREGATE_H
#define WC_FDW_PLAN_AGGREGATE_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/plan/private.h"
#include "fdw/relation/relation.h"

/*
 * A path of groups of a relation's rows that have the same values in the target of `top`, a path of the relation, once or several times each;
 * for queries that do not mind how often.  above: NIL, or the expressions of an Agg node above; then the path's target has the columns by
 * which the query groups, and the columns and members that these expressions need, and no others.  NULL: the engine cannot make the groups.
 */
extern Path *wc_aggregate_distinct_path(PlannerInfo *root, const RelOptInfo *rel, RelOptInfo *output_rel, Path *top, List *above);

/* The columns of `from` by which the query groups, and the columns, and members of maps, that the expressions above
 * need. */
extern PathTarget *wc_aggregate_input_target(PlannerInfo *root, const WcRelation *wrel, Index relid,
											 const PathTarget *from, List *above);

/* The path of the rows that are aggregated if the path is from widecolGetForeignGroupPaths or
 * widecolGetForeignMemberPaths; else the path itself. */
extern ForeignPath *wc_aggregate_rows(ForeignPath *path);

/*
 * For a path of widecolGetForeignGroupPaths: returns the scan's columns for fdw_scan_tlist: all columns of the table,
 * then the transition states of the aggregates in tlist.  Sets in plan these aggregates and groups, and adds the
 * columns that are needed when the engine cannot aggregate a row.
 */
extern List *wc_aggregate_plan(PlannerInfo *root, const ForeignPath *path, const WcRelation *wrel, List *tlist,
							   WcScanPlan *plan);

#endif
