/*
 * fdw/condition/keycond.h: a condition on the key, or on cells.
 *
 * The planner makes conditions from clauses.  Their values are still expressions; when the scan runs, they become start
 * and stop rows, or columns and timestamps.
 */
#ifndef WC_FDW_CONDITION_KEYCOND_H
#define WC_FDW_CONDITION_KEYCOND_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "rowkey/rowkey.h"

typedef enum WcCondKind
{
	WC_COND_OP,					/* part op value */
	WC_COND_ANY,				/* part = ANY (array) */
	WC_COND_LIKE,				/* part LIKE pattern */
	WC_COND_ROW,				/* (part, part + 1, ...) op (value, value, ...) */
	WC_COND_OR					/* one arm holds; an arm is a list of conditions that must all hold */
} WcCondKind;

/* In place of a part: the condition is on the whole key, as bytes. */
#define WC_COND_RAW_KEY (-1)

/* In place of a part: the condition is an OR, whose arms may be on several parts. */
#define WC_COND_NO_PART (-2)

/* In place of a part: the condition is on cells, not on the key (layout 'cell'). */
#define WC_COND_FAMILY (-3)
#define WC_COND_QUALIFIER (-4)
#define WC_COND_TS (-5)

/* One condition from which start and stop rows, or columns, are made. */
typedef struct WcKeyCond
{
	WcCondKind	kind;
	int			part;			/* 0-based key part; ROW: the first; or one of the constants above */
	WcKeyOp		op;				/* OP, ROW */
	bool		exact;			/* its clause is not rechecked unless a range had to be widened */
	List	   *values;			/* expressions: one; ROW: one for each part */
	List	   *types;			/* Oids: the values' base types; ANY: the elements' base types */
	List	   *arms;			/* OR: Lists of WcKeyCond *, none of them an OR; the OR itself has no values */
} WcKeyCond;

/* The expressions of all conditions, in order, including those of arms.  The list is new; the expressions
 * belong to the conditions. */
extern List *wc_key_conds_exprs(const List *conds);

#endif
