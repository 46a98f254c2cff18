/*
 * fdw/plan/distinct.h: scans that return one row of those whose keys begin with the same parts.
 */
#ifndef WC_FDW_PLAN_DISTINCT_H
#define WC_FDW_PLAN_DISTINCT_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/plan/private.h"

/* Sets plan->distinct_parts if the path is from widecolGetForeignDistinctPaths. */
extern void wc_distinct_plan(const ForeignPath *path, WcScanPlan *plan);

#endif
