/*
 * fdw/condition/filter.h: conditions on columns that the engine decides row by row.
 *
 * Those on value columns, and those on key columns that are not decided by the ranges
 * that are read.
 *
 * The planner asks wc_filter_push of each clause; what that gives travels in the
 * plan as an expression.  A scan makes a WcFilterMaker of these, and of that, with
 * the values that the expressions have now, the filter of a Scan (model/filter.h).
 */
#ifndef WC_FDW_CONDITION_FILTER_H
#define WC_FDW_CONDITION_FILTER_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

#include "fdw/condition/member.h"
#include "fdw/relation/relation.h"
#include "model/filter.h"

/* What bytes of a column's cells can decide. */
typedef struct WcForm
{
	WcFilterColumn column;		/* but for its position */
	bool		equality;
	bool		order;			/* text: under "C" */
	bool		prefix;			/* LIKE 'x%' */
} WcForm;

/* Of the column's cells, or of the part of the row key that it is; of cells that this codec reads. */
extern WcForm wc_form_of_column(const WcRelation *wrel, int att);
extern WcForm wc_form_of_cell(const WcCodec *codec);

/* One comparison in a clause. */
typedef enum WcLeafKind
{
	WC_LEAF_OP,					/* column op value */
	WC_LEAF_ANY,				/* column = ANY (value) */
	WC_LEAF_LIKE,				/* column LIKE value */
	WC_LEAF_NULL,				/* column IS NULL */
	WC_LEAF_DISTINCT,			/* column IS DISTINCT FROM value */
	WC_LEAF_BOOL				/* column */
} WcLeafKind;

typedef struct WcLeaf
{
	WcLeafKind	kind;
	bool		negated;
	int			att;			/* attnum - 1 */
	WcMember	member;			/* the column is this member of att, a map; qualifier.len 0: it is att */
	WcCodec    *codec;			/* of the values that are compared */
	WcKeyOp		op;				/* OP */
	Node	   *value;
	Oid			type;			/* of value, ANY: of its elements */
	Node	   *column;			/* the column as it stands in the clause */
	Oid			collation;		/* LIKE: the clause's */
} WcLeaf;

/* Is the expression a comparison of a column of relid that its bytes decide?  With whatever
 * is not from relid. */
extern bool wc_filter_leaf(const WcRelation *wrel, Index relid, Node *clause, WcLeaf *leaf);

/* The codec of the cells, or of the part of the row key, that hold this column's values;
 * NULL: neither does. */
extern WcCodec *wc_filter_codec(WcRelation *wrel, int att);

/* Is the column looked at as a part of the row key, and not as a cell? */
extern bool wc_filter_in_key(const WcRelation *wrel, int att);

/*
 * What of a clause the engine can decide, as an expression that is true wherever the clause
 * is; NULL: nothing.  *exact: it is the clause, which then need not be looked at
 * any more, unless wc_filter_make says otherwise.
 */
extern Expr *wc_filter_push(const WcRelation *wrel, Index relid, Node *clause, bool *exact);

typedef struct WcFilterMaker WcFilterMaker;

/* exprs: what wc_filter_push gave, as in the plan (they must all hold).  In CurrentMemoryContext. */
extern WcFilterMaker *wc_filter_maker_create(WcRelation *wrel, Index relid, List *exprs, PlanState *parent);

/* The members of maps that the filter looks at: List of WcMember *. */
extern const List *wc_filter_members(const WcFilterMaker *maker);

typedef struct WcMadeFilter
{
	bool		empty;			/* no row can satisfy it */
	bool		exact;			/* false: clauses that were said to be decided must be evaluated */
	WcFilter   *filter;			/* NULL: nothing to filter; columns of cells have attnum - 1 for a position, the
								 * n-th member natts + n */
} WcMadeFilter;

/* Evaluates the values (in the current memory context) and makes the filter, in the arena;
 * scratch is emptied. */
extern void wc_filter_make(WcFilterMaker *maker, ExprContext *econtext, WcArena *arena, WcBuf *scratch,
						   WcMadeFilter *out);

/* Do the expressions hold for the row in econtext's scan slot? */
extern bool wc_filter_holds(WcFilterMaker *maker, ExprContext *econtext);

#endif
