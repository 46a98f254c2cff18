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

#include "rowkey/rowkey.h"

typedef enum WcCondKind
{
	WC_COND_OP,					/* part op value */
	WC_COND_ANY,				/* part = ANY (array) */
	WC_COND_LIKE,				/* part LIKE pattern */
	WC_COND_ROW,				/* (part, part + 1, ...) op (value, value, ...) */
	WC_COND_OR					/* one of the arms, each of them conditions that must all hold */
} WcCondKind;

/* In place of a part: the condition is on the whole key, as bytes. */
#define WC_COND_RAW_KEY (-1)

/* The same of an OR, whose arms may be on several. */
#define WC_COND_NO_PART (-2)

/* The same of conditions on cells, not on the key (layout 'cell'). */
#define WC_COND_FAMILY (-3)
#define WC_COND_QUALIFIER (-4)
#define WC_COND_TS (-5)

/* One condition that start and stop rows are made from. */
typedef struct WcKeyCond
{
	WcCondKind	kind;
	int			part;			/* 0-based key part, ROW: the first; or one of the above */
	WcKeyOp		op;				/* OP, ROW */
	bool		exact;			/* its clause is not rechecked unless a range had to be widened */
	List	   *values;			/* expressions: one, ROW: one a part */
	List	   *types;			/* Oids: the values' base types, ANY: the elements' */
	List	   *arms;			/* OR: Lists of WcKeyCond *, none of them an OR; no values of its own */
} WcKeyCond;

typedef struct WcScanPlan
{
	List	   *conds;			/* WcKeyCond *, by part; ORs last */
	List	   *cell_conds;		/* WcKeyCond *, on cells; none is a ROW or an OR */
	List	   *map_keys;		/* WcMapKeys * (mapkeys.h): of maps that need not be read whole */
	int			map_values;		/* decoded: where in exprs the first of their keys is */
	int			nvalues;		/* decoded: exprs that are values: those behind them are filters */
	List	   *filters;		/* expressions that wc_filter_push (filter.h) gave: all must hold */
	Bitmapset  *attrs;			/* wanted columns, bit attnum - 1 */
	Bitmapset  *recheck_attrs;	/* the same, when fdw_recheck_quals have to be evaluated */
	bool		mixed_types;	/* rows of other record types may come and are passed over */
	bool		reversed;		/* walk the key order backwards */
	bool		merged;			/* of a salted key: by what is behind the salt */
	int			rows_hint;		/* rows likely to be read, 0: unknown */
	int			row_limit;		/* rows that are enough, 0: no limit; there is a Limit node above */
	Expr	   *limit;			/* the query's LIMIT and OFFSET, when there is none (limit.h); NULL: not given */
	Expr	   *offset;
	List	   *warning;		/* for wc_warning_raise, when the scan starts */
	int			lookahead;		/* number of the node that knows the next keys (lookahead.h), -1: none */
} WcScanPlan;

/* All but expressions. */
extern List *wc_scan_plan_encode(const WcScanPlan *plan);

/* All expressions of the plan, in the order of its fdw_exprs. */
extern List *wc_scan_plan_exprs(const WcScanPlan *plan);

/* The expressions of all conditions, in order, those of arms included. */
extern List *wc_key_conds_exprs(const List *conds);

/* The reverse; exprs is the plan's fdw_exprs (the conditions point into it). */
extern void wc_scan_plan_decode(List *fdw_private, List *exprs, WcScanPlan *plan);

#endif
