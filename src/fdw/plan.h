/*
 * fdw/plan.h: what planning a scan leaves for planning a join.
 */
#ifndef WC_FDW_PLAN_H
#define WC_FDW_PLAN_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/relation.h"

/* The foreign table of a base relation that is ours and whose paths have been
 * made; NULL: it is not. */
extern const WcRelation *wc_plan_relation(const RelOptInfo *rel);

#endif
