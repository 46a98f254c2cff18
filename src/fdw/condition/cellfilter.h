/*
 * fdw/condition/cellfilter.h: columns and timestamps of a Scan from conditions on cells (layout 'cell') and their
 * current values.
 */
#ifndef WC_FDW_CONDITION_CELLFILTER_H
#define WC_FDW_CONDITION_CELLFILTER_H

#include "postgres.h"

#include "fdw/condition/keycond.h"
#include "fdw/relation/relation.h"
#include "model/scan.h"

typedef struct WcCellFilter
{
	bool		empty;			/* no cell can satisfy the conditions */
	bool		exact;			/* false: the clauses of `exact` conditions must be rechecked as well */
	int64		ts_min;			/* inclusive */
	int64		ts_max;			/* exclusive; WC_TS_LATEST: unbounded */
	uint32		ncolumns;		/* 0: all */
	WcColumn   *columns;
} WcCellFilter;

/* As wc_bounds_compute (fdw/condition/bound.h), for conditions on cells.  The columns and their bytes are in
 * the arena. */
extern void wc_cellfilter_compute(const WcRelation *wrel, const List *conds, const Datum *values, const bool *nulls,
								  WcArena *arena, WcCellFilter *out);

#endif
