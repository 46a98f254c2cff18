/*
 * fdw/write/direct.h: DELETE and UPDATE that change rows where they are: planning's part
 * for direct.c.
 */
#ifndef WC_FDW_WRITE_DIRECT_H
#define WC_FDW_WRITE_DIRECT_H

#include "postgres.h"

#include "nodes/plannodes.h"

#include "fdw/relation/relation.h"

/* What a plan carries, last in its fdw_private. */
typedef struct WcDirectPlan
{
	bool		set_processed;	/* its rows count for the command tag */
	List	   *columns;		/* UPDATE: attnum - 1 of what is set, ascending or not */
	List	   *exprs;			/* to what; last in fdw_exprs */
} WcDirectPlan;

extern void wc_direct_plan_decode(const ForeignScan *scan, WcDirectPlan *plan);

#endif
