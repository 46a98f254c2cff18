/*
 * fdw/plan/warn.h: widecol.warn_full_scan.
 */
#ifndef WC_FDW_PLAN_WARN_H
#define WC_FDW_PLAN_WARN_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/condition/qual.h"
#include "fdw/plan/cost.h"
#include "fdw/relation/relation.h"

/*
 * The warning for a scan with these conditions that returns `rows`; NIL: none.  The List can be part of a plan.  Made
 * only while the setting is on.
 */
extern List *wc_warning_plan(RelOptInfo *rel, WcRelation *wrel, const WcQuals *quals,
							 const WcTableSize *size, double rows);

/* Raises the warning, if the setting is on. */
extern void wc_warning_raise(List *warning);

#endif
