/*
 * fdw/plan/untouched.h: maps that an UPDATE reads and leaves as they are.
 */
#ifndef WC_FDW_PLAN_UNTOUCHED_H
#define WC_FDW_PLAN_UNTOUCHED_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/relation/relation.h"

/*
 * Map columns, bit attnum - 1, whose values are not used: for an UPDATE, PostgreSQL reads the whole old row, whatever
 * the statement assigns.  Cells that no map can show need not stop such an UPDATE.
 */
extern Bitmapset *wc_untouched_maps(PlannerInfo *root, RelOptInfo *rel, const WcRelation *wrel);

#endif
