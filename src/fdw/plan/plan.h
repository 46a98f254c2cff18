/*
 * fdw/plan/plan.h: what planning a scan leaves for planning what is above it.
 */
#ifndef WC_FDW_PLAN_PLAN_H
#define WC_FDW_PLAN_PLAN_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/relation/relation.h"

/* The foreign table of a base relation that is ours and whose paths have been
 * made; NULL: it is not. */
extern WcRelation *wc_plan_relation(const RelOptInfo *rel);

/* The same of a partition as well, or of another member of an inheritance tree. */
extern WcRelation *wc_plan_member(const RelOptInfo *rel);

/* Of such a relation: does the engine decide all of its own conditions, so that it
 * returns the rows that are wanted and no others? */
extern bool wc_plan_decides_rows(const RelOptInfo *rel);

/* Of such a relation: is every range one row? */
extern bool wc_plan_is_point(const RelOptInfo *rel);

/* Few rows, and all of them wanted: for an asynchronous Append. */
extern bool wc_plan_path_is_small(const ForeignPath *path);

#endif
