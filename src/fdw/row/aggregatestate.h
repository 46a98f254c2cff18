/*
 * fdw/row/aggregatestate.h: transition states of PostgreSQL's aggregates, as a partial Aggregate node would return them.
 *
 * They are palloc'd in CurrentMemoryContext.
 */
#ifndef WC_FDW_ROW_AGGREGATESTATE_H
#define WC_FDW_ROW_AGGREGATESTATE_H

#include "postgres.h"

#include "base/limits.h"
#include "fdw/plan/private.h"

__extension__ typedef __int128 WcSum;

/* Of `count` values, at least one, with this sum: integers (SUM, COUNT_AND_SUM, NUMERIC). */
extern Datum wc_state_of_sum(WcStateKind kind, int64 count, WcSum sum);

/* The same of decimal numbers (DECIMAL); the sum is in units of the last of WC_SUM_SCALE places, and is shown with `scale` places. */
extern Datum wc_state_of_decimals(int64 count, WcSum sum, int scale);

/* The same of floats (SINGLE, DOUBLE, DOUBLES); squares: of their deviations from the mean. */
extern Datum wc_state_of_floats(WcStateKind kind, int64 count, double sum, double squares);

/* Of one value of this type, for all kinds but COUNT. */
extern Datum wc_state_of_value(WcStateKind kind, Oid type, Datum value);

#endif
