/*
 * fdw/condition/cellfilter.h: conditions on cells (layout 'cell') and the values they have
 * now, to columns and timestamps of a Scan.
 */
#ifndef WC_FDW_CONDITION_CELLFILTER_H
#define WC_FDW_CONDITION_CELLFILTER_H

#include "postgres.h"

#include "fdw/condition/keycond.h"
#include "fdw/relation/relation.h"
#include "model/scan.h"

typedef struct WcCellFilter
{
	bool		empty;			/* nothing can satisfy the conditions */
	bool		exact;			/* false: also the clauses of `exact` conditions must be rechecked */
	int64		ts_min;			/* inclusive */
	int64		ts_max;			/* exclusive; WC_TS_LATEST: unbounded */
	uint32		ncolumns;		/* 0: all */
	WcColumn   *columns;
} WcCellFilter;

/* As wc_bounds_compute (fdw/condition/bound.h), for conditions on cells.  Columns and their
 * bytes are in the arena. */
extern void wc_cellfilter_compute(const WcRelation *wrel, const List *conds, const Datum *values, const bool *nulls,
								  WcArena *arena, WcCellFilter *out);

#endif
