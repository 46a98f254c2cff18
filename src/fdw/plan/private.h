/*
 * fdw/plan/private.h: the data that a plan carries to its scan.
 *
 * PostgreSQL copies, caches and prints plans, so plan.c's results are encoded as Lists of numbers (fdw_private).  The
 * values of the conditions are expressions in fdw_exprs, where PostgreSQL replaces those that a nested-loop join
 * supplies.
 */
#ifndef WC_FDW_PLAN_PRIVATE_H
#define WC_FDW_PLAN_PRIVATE_H

#include "postgres.h"

#include "nodes/bitmapset.h"
#include "nodes/primnodes.h"

#include "fdw/condition/member.h"
#include "model/aggregation.h"

/* The state that a scan returns for an aggregate: the transition state that PostgreSQL's partial aggregate
 * would have. */
typedef enum WcStateKind
{
	WC_STATE_COUNT,				/* bigint */
	WC_STATE_VALUE,				/* the column's own type */
	WC_STATE_SUM,				/* bigint, of smallint and integer */
	WC_STATE_COUNT_AND_SUM,		/* bigint[2], for averages of these */
	WC_STATE_NUMERIC,			/* bytea as int8_avg_serialize makes it, of bigint */
	WC_STATE_DECIMAL,			/* bytea as numeric_avg_serialize makes it */
	WC_STATE_DOUBLE,			/* double precision */
	WC_STATE_SINGLE,			/* real */
	WC_STATE_DOUBLES			/* double precision[3]: number, sum, squares of deviations */
} WcStateKind;

typedef struct WcAggregatePlan
{
	WcAggregateKind kind;
	int			att;			/* attnum - 1; ROWS: -1 */
	WcStateKind state;
	WcMember	member;			/* if qualifier.len > 0: the member of att, a map; not in the encoded plan (grouped.c) */
} WcAggregatePlan;

typedef struct WcScanPlan
{
	List	   *conds;			/* WcKeyCond * (keycond.h), by part; ORs last */
	List	   *cell_conds;		/* WcKeyCond *, on cells; none is a ROW or an OR */
	List	   *map_keys;		/* WcMapKeys * (mapkeys.h): of maps that need not be read whole */
	int			map_values;		/* decoded: index in exprs of the first of their keys */
	int			nvalues;		/* decoded: number of exprs that are values; those after them are filters */
	List	   *filters;		/* expressions that wc_filter_push (filter.h) returned; all must hold */
	Bitmapset  *deciding;		/* filters whose clauses the plan's qual does not contain: bit their index in filters */
	Bitmapset  *attrs;			/* wanted columns, bit attnum - 1 */
	Bitmapset  *recheck_attrs;	/* columns that fdw_recheck_quals need, bit attnum - 1 */
	Bitmapset  *untouched;		/* maps among attrs whose values are not used (untouched.h) */
	bool		mixed_types;	/* the scan may meet rows of other record types, and passes over them */
	bool		reversed;		/* walk the key order backwards */
	bool		ordered;		/* nodes above rely on the order */
	bool		never;			/* no row can satisfy the conditions */
	bool		merged;			/* salted key: ordered by the key after the salt */
	int			rows_hint;		/* rows likely to be read, 0: unknown */
	int			row_limit;		/* rows that are enough for the Limit node above; 0: no limit */
	Expr	   *limit;			/* the query's LIMIT and OFFSET if there is no Limit node (limit.h); NULL: not given */
	Expr	   *offset;
	List	   *warning;		/* for wc_warning_raise, when the scan starts */
	int			lock_mode;		/* WcRowLockMode in which the scan locks rows that it returns; 0: it locks none */
	int			nbarriers;		/* so many first clauses of the plan's qual hide rows from the user */
	int			ndecided_barriers;	/* the same of fdw_recheck_quals */
	bool		grouped;		/* rows are groups of rows (aggregate.h) */
	bool		groups_ordered; /* groups come in the order of their columns */
	List	   *groups;			/* integers: attnum - 1 of the columns that make groups; of members of maps the place in the tuple, from 0 */
	List	   *aggregates;		/* each (kind, att, state), see WcAggregatePlan; in the tuple after the columns, before members */
	int			distinct_parts;	/* of the rows with the same so many first parts of the key one is enough; 0: all are wanted */
	bool		alone;			/* the query reads nothing but this table: it has no other, and no functions that could read one */
	int			lookahead;		/* number of the node that knows the next keys (lookahead.h); -1: none */
} WcScanPlan;

/* Encodes all but expressions, for fdw_private. */
extern List *wc_scan_plan_encode(const WcScanPlan *plan);

/* Decodes one of plan->aggregates. */
extern WcAggregatePlan wc_scan_plan_aggregate(const List *encoded);

/* All expressions of the plan, in the order of its fdw_exprs. */
extern List *wc_scan_plan_exprs(const WcScanPlan *plan);

/* Decodes a plan; exprs is the plan's fdw_exprs (the conditions point into it). */
extern void wc_scan_plan_decode(List *fdw_private, List *exprs, WcScanPlan *plan);

#endif
