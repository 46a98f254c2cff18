/*
 * fdw/plan/aggregate.h: scans whose rows are groups of rows, aggregated in the engine.
 */
#ifndef WC_FDW_PLAN_AGGREGATE_H
#define WC_FDW_PLAN_AGGREGATE_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/plan/private.h"
#include "fdw/relation/relation.h"

/* The path of the rows that are aggregated if the path is from widecolGetForeignGroupPaths; else the path
 * itself. */
extern ForeignPath *wc_aggregate_rows(ForeignPath *path);

/*
 * For a path of widecolGetForeignGroupPaths: returns the scan's columns for fdw_scan_tlist: all columns of the table,
 * then the transition states of the aggregates in tlist.  Sets in plan these aggregates and groups, and adds the
 * columns that are needed when the engine cannot aggregate a row.
 */
extern List *wc_aggregate_plan(PlannerInfo *root, const ForeignPath *path, const WcRelation *wrel, List *tlist,
							   WcScanPlan *plan);

#endif
