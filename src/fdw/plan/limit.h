/*
 * fdw/plan/limit.h: scans that take the query's LIMIT and OFFSET over.
 */
#ifndef WC_FDW_PLAN_LIMIT_H
#define WC_FDW_PLAN_LIMIT_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

#include "fdw/plan/private.h"

/* Of a path's fdw_private, behind what plan.c puts there. */
#define WC_PATH_LIMITED 4

/* Does the path take them over?  Then the plan gets the query's expressions. */
extern void wc_limit_plan(PlannerInfo *root, const ForeignPath *path, WcScanPlan *plan);

/* A LIMIT and an OFFSET while the query runs. */
typedef struct WcLimit
{
	ExprState  *limit;			/* NULL: none */
	ExprState  *offset;
} WcLimit;

#define WC_NO_LIMIT UINT64_MAX

/* In CurrentMemoryContext; NULL: the plan has neither. */
extern WcLimit *wc_limit_prepare(const WcScanPlan *plan, PlanState *ps);

/* What they are now: rows to skip, and to give behind them (WC_NO_LIMIT: all).
 * 2201W and 2201X for negative ones, as PostgreSQL says it. */
extern void wc_limit_evaluate(const WcLimit *limit, ExprContext *econtext, uint64 *to_skip, uint64 *to_give);

#endif
