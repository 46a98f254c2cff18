/*
 * fdw/plan/private.h: what a plan carries to its scan.
 *
 * Plans are copied, cached and printed by PostgreSQL, so what plan.c found is
 * laid into Lists of numbers (fdw_private); the values of the conditions are
 * expressions and travel in fdw_exprs, where PostgreSQL replaces what a
 * nested-loop join supplies.
 */
#ifndef WC_FDW_PLAN_PRIVATE_H
#define WC_FDW_PLAN_PRIVATE_H

#include "postgres.h"

#include "nodes/bitmapset.h"
#include "nodes/primnodes.h"

#include "model/aggregation.h"

/* What a scan gives of an aggregate: the transition state that PostgreSQL's partial aggregate
 * would have. */
typedef enum WcStateKind
{
	WC_STATE_COUNT,				/* bigint */
	WC_STATE_VALUE,				/* the column's own */
	WC_STATE_SUM,				/* bigint, of small and plain integers */
	WC_STATE_COUNT_AND_SUM,		/* bigint[2], for their averages */
	WC_STATE_NUMERIC			/* bytea: what int8_avg_serialize makes, of bigint */
} WcStateKind;

typedef struct WcAggregatePlan
{
	WcAggregateKind kind;
	int			att;			/* attnum - 1; ROWS: -1 */
	WcStateKind state;
} WcAggregatePlan;

typedef struct WcScanPlan
{
	List	   *conds;			/* WcKeyCond * (keycond.h), by part; ORs last */
	List	   *cell_conds;		/* WcKeyCond *, on cells; none is a ROW or an OR */
	List	   *map_keys;		/* WcMapKeys * (mapkeys.h): of maps that need not be read whole */
	int			map_values;		/* decoded: where in exprs the first of their keys is */
	int			nvalues;		/* decoded: exprs that are values: those behind them are filters */
	List	   *filters;		/* expressions that wc_filter_push (filter.h) gave: all must hold */
	Bitmapset  *attrs;			/* wanted columns, bit attnum - 1 */
	Bitmapset  *recheck_attrs;	/* the same, when fdw_recheck_quals have to be evaluated */
	Bitmapset  *untouched;		/* of attrs, maps of which no value is looked at (untouched.h) */
	bool		mixed_types;	/* rows of other record types may come and are passed over */
	bool		reversed;		/* walk the key order backwards */
	bool		ordered;		/* what is above relies on the order */
	bool		never;			/* no row can satisfy the conditions */
	bool		merged;			/* of a salted key: by what is behind the salt */
	int			rows_hint;		/* rows likely to be read, 0: unknown */
	int			row_limit;		/* rows that are enough, 0: no limit; there is a Limit node above */
	Expr	   *limit;			/* the query's LIMIT and OFFSET, when there is none (limit.h); NULL: not given */
	Expr	   *offset;
	List	   *warning;		/* for wc_warning_raise, when the scan starts */
	int			lock_mode;		/* WcRowLockMode with which rows are locked as they are given, 0: they are not */
	int			nbarriers;		/* the first so many of the plan's qual hide rows from the user */
	int			ndecided_barriers;	/* of fdw_recheck_quals likewise */
	bool		grouped;		/* rows are groups of rows (aggregate.h) */
	bool		groups_ordered; /* in the order of the groups' columns */
	List	   *groups;			/* integers: the columns that make groups, attnum - 1 */
	List	   *aggregates;		/* each (kind, att, state), see WcAggregatePlan; in the tuple behind the table's columns */
	int			lookahead;		/* number of the node that knows the next keys (lookahead.h), -1: none */
} WcScanPlan;

/* All but expressions. */
extern List *wc_scan_plan_encode(const WcScanPlan *plan);

/* One of plan->aggregates. */
extern WcAggregatePlan wc_scan_plan_aggregate(const List *encoded);

/* All expressions of the plan, in the order of its fdw_exprs. */
extern List *wc_scan_plan_exprs(const WcScanPlan *plan);

/* The reverse; exprs is the plan's fdw_exprs (the conditions point into it). */
extern void wc_scan_plan_decode(List *fdw_private, List *exprs, WcScanPlan *plan);

#endif
