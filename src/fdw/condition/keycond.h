/*
 * fdw/condition/keycond.h: a condition on the key, or on cells.
 *
 * Made of clauses when a query is planned; the values are expressions still, and
 * become start and stop rows, or columns and times, when the scan runs.
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

/* The expressions of all conditions, in order, those of arms included.  The list is
 * new, what is in it is the conditions' own. */
extern List *wc_key_conds_exprs(const List *conds);

#endif
