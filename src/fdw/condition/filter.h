/*
 * fdw/condition/filter.h: conditions on columns that the engine decides row by row.
 *
 * These are conditions on value columns, and conditions on key columns that the ranges do not decide.
 *
 * The planner calls wc_filter_push for each clause; the plan carries the expressions that it returns.  A scan makes a
 * WcFilterMaker from these expressions.  From that and the current values in the expressions, wc_filter_make makes the
 * filter of a Scan (model/filter.h).
 */
#ifndef WC_FDW_CONDITION_FILTER_H
#define WC_FDW_CONDITION_FILTER_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

#include "fdw/condition/member.h"
#include "fdw/relation/relation.h"
#include "model/filter.h"

/* The comparisons that the bytes of a column's cells can decide. */
typedef struct WcForm
{
	WcFilterColumn column;		/* without its position */
	bool		equality;
	bool		order;			/* text: under "C" */
	bool		prefix;			/* LIKE 'x%' */
} WcForm;

/* The form of the column's cells or, if the column is read from the row key, of its part; the form of cells
 * that this codec reads. */
extern WcForm wc_form_of_column(const WcRelation *wrel, int att);
extern WcForm wc_form_of_cell(const WcCodec *codec);

/* The codec of the cells, or of the part of the row key, that hold this column's values; NULL: the column has
 * neither. */
extern WcCodec *wc_filter_codec(WcRelation *wrel, int att);

/* Do filters read the column from the row key, and not from a cell? */
extern bool wc_filter_in_key(const WcRelation *wrel, int att);

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
	WcMember	member;			/* if qualifier.len > 0: the column is this member of att, a map */
	WcCodec    *codec;			/* of the values that are compared */
	WcKeyOp		op;				/* WC_LEAF_OP: the comparison */
	Node	   *value;
	Oid			type;			/* of value; ANY: of its elements */
	Node	   *column;			/* the column as it stands in the clause */
	Oid			collation;		/* LIKE: the clause's collation */
} WcLeaf;

/* Is the clause a comparison of a column of relid that the column's bytes decide?  The value that the column is
 * compared with must not need a row of relid. */
extern bool wc_filter_leaf(const WcRelation *wrel, Index relid, Node *clause, WcLeaf *leaf);

/*
 * Returns the part of a clause that the engine can decide: an expression that is true wherever the clause is true;
 * NULL: nothing.  *exact: the expression is equivalent to the clause, which then need not be evaluated unless
 * wc_filter_make returns `exact` false.
 */
extern Expr *wc_filter_push(const WcRelation *wrel, Index relid, Node *clause, bool *exact);

/* The same of the conditions on parts of the key alone: b = 1 OR b = 2 of b = 1 AND v > 3 OR b = 2. */
extern Expr *wc_filter_push_keys(const WcRelation *wrel, Index relid, Node *clause);

/*
 * Of an expression that wc_filter_push has returned: does a store that compares the bytes of cells, and nothing else, decide
 * it, or a part of it (driver hbase, filter.c there)?
 */
extern bool wc_filter_is_of_bytes(const WcRelation *wrel, Index relid, Node *clause);

typedef struct WcFilterMaker WcFilterMaker;

/*
 * exprs: expressions that wc_filter_push returned, as in the plan; all must hold.  deciding: those of exprs whose
 * clauses the scan does not evaluate.  lenient: cells that cannot be decoded are NULL; the engine cannot tell which, so
 * filters then contain conditions on the row key only.  Allocates in CurrentMemoryContext.
 */
extern WcFilterMaker *wc_filter_maker_create(WcRelation *wrel, Index relid, List *exprs, List *deciding, bool lenient,
											 PlanState *parent);

/* The members of maps that the filter reads: List of WcMember *. */
extern const List *wc_filter_members(const WcFilterMaker *maker);

typedef struct WcMadeFilter
{
	bool		empty;			/* no row can satisfy the filter */
	bool		exact;			/* false: clauses that wc_filter_push called exact must be evaluated */
	WcFilter   *filter;			/* NULL: nothing to filter; columns of cells have attnum - 1 for a position, the
								 * n-th member natts + n */
} WcMadeFilter;

/* Evaluates the values in the current memory context and makes the filter in the arena. scratch is overwritten. */
extern void wc_filter_make(WcFilterMaker *maker, ExprContext *econtext, WcArena *arena, WcBuf *scratch,
						   WcMadeFilter *out);

/* Do the deciding expressions hold for the row in econtext's scan slot? */
extern bool wc_filter_holds(WcFilterMaker *maker, ExprContext *econtext);

#endif
