/*
 * fdw/plan/plan.h: paths of a scan.
 */
#ifndef WC_FDW_PLAN_PLAN_H
#define WC_FDW_PLAN_PLAN_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* Does the path suit an asynchronous Append: all of its rows wanted, and few unless a cluster has them? */
extern bool wc_plan_path_suits_async(const ForeignPath *path);

#endif
