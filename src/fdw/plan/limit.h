/*
 * fdw/plan/limit.h: scans that apply the query's LIMIT and OFFSET.
 */
#ifndef WC_FDW_PLAN_LIMIT_H
#define WC_FDW_PLAN_LIMIT_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

#include "fdw/plan/private.h"

/* The place of the mark in a path's fdw_private, after plan.c's numbers: 1, or 0 if another mark follows. */
#define WC_PATH_LIMITED 4

/* Has the query's target list a volatile function, also in subqueries?  Then it is visible for which rows it is evaluated. */
extern bool wc_target_is_volatile(PlannerInfo *root);

/* Sets the query's expressions in the plan if the path applies LIMIT and OFFSET. */
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

/* Evaluates both: the rows to skip, and the rows to return after these (WC_NO_LIMIT: all).  Raises 2201X for a
 * negative OFFSET and 2201W for a negative LIMIT, as PostgreSQL does. */
extern void wc_limit_evaluate(const WcLimit *limit, ExprContext *econtext, uint64 *to_skip, uint64 *to_give);

#endif
