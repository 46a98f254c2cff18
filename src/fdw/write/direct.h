/*
 * fdw/write/direct.h: DELETE and UPDATE that the engine does by itself: the planner's part for direct.c.
 */
#ifndef WC_FDW_WRITE_DIRECT_H
#define WC_FDW_WRITE_DIRECT_H

#include "postgres.h"

#include "nodes/plannodes.h"

#include "fdw/relation/relation.h"

/* The data that a plan carries, last in its fdw_private. */
typedef struct WcDirectPlan
{
	bool		set_processed;	/* its rows count for the command tag */
	bool		members;		/* UPDATE: the one column in SET is a map, and gets the members of expr as well */
	List	   *columns;		/* UPDATE: attnum - 1 of the columns in SET, in any order */
	List	   *exprs;			/* their values; last in fdw_exprs */
} WcDirectPlan;

extern void wc_direct_plan_decode(const ForeignScan *scan, WcDirectPlan *plan);

#endif
