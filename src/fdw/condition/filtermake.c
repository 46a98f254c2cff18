/*
 * fdw/condition/filtermake.c: filters of a Scan, from expressions and their current values.
 *
 * Some comparisons turn out not to be expressible: a value that the column's bytes cannot be compared with, a pattern
 * that is not a prefix, a filter that is too large.  The filter then lets through all rows that such a comparison
 * could, and the scan evaluates the clauses.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "fdw/condition/filter.h"
#include "fdw/condition/like.h"
#include "fdw/relation/keycontent.h"

/* The most nodes, and levels of nodes, that a comparison becomes; and the most that an IS UNKNOWN adds, which
 * contains its argument twice. */
#define LEAF_NODES 5
#define LEAF_DEPTH 4
#define TEST_NODES 7
#define TEST_DEPTH 5

/* A node of an expression: the tree from which each scan makes its filter. */
typedef struct Term
{
	NodeTag		tag;			/* T_BoolExpr, T_BooleanTest; T_Invalid: a comparison */
	BoolExprType boolop;
	BoolTestType test;
	List	   *args;			/* Term * */
	WcLeaf		leaf;
	uint32		column;			/* position in the maker's columns */
	ExprState  *value;			/* NULL: the value is constant */
} Term;

struct WcFilterMaker
{
	WcRelation *wrel;
	Index		relid;
	PlanState  *parent;
	bool		lenient;
	List	   *terms;			/* Term *, all must hold */
	List	   *deciding;		/* expressions of terms whose clauses the scan does not evaluate */
	ExprState  *qual;			/* of deciding, made at its first use */
	uint32		room;			/* the most nodes that the terms become */
	uint32		ncolumns;
	WcFilterColumn *columns;
	uint32		max_columns;
	int		   *atts;			/* [ncolumns]: attnum - 1; of members natts + their index */
	List	   *members;		/* WcMember * */
	Bitmapset  *parts;			/* parts of the row key that are among the columns */
};

/* --- expressions to terms -------------------------------------------------------- */

/* The member's number as a column: natts and its index in members, to which it is added if it is new. */
static int
number_member(WcFilterMaker *maker, const WcMember *member)
{
	WcMember   *copy;
	ListCell   *lc;

	foreach(lc, maker->members)
	{
		const WcMember *other = lfirst(lc);

		if (other->att == member->att && other->type == member->type && wc_slice_eq(other->qualifier, member->qualifier))
			return maker->wrel->natts + foreach_current_index(lc);
	}
	copy = palloc(sizeof(WcMember));
	*copy = *member;
	maker->members = lappend(maker->members, copy);
	return maker->wrel->natts + list_length(maker->members) - 1;
}

static uint32
add_column(WcFilterMaker *maker, const WcLeaf *leaf)
{
	bool		is_member = leaf->member.qualifier.len > 0;
	int			att = is_member ? number_member(maker, &leaf->member) : leaf->att;
	uint32		i = 0;

	while (i < maker->ncolumns && maker->atts[i] != att)
		i++;
	if (i == maker->max_columns)
	{
		maker->max_columns *= 2;
		maker->columns = repalloc(maker->columns, sizeof(WcFilterColumn) * maker->max_columns);
		maker->atts = repalloc(maker->atts, sizeof(int) * maker->max_columns);
	}
	if (i == maker->ncolumns)
	{
		maker->atts[i] = att;
		maker->columns[i] = is_member ? wc_form_of_cell(leaf->codec).column : wc_form_of_column(maker->wrel, att).column;
		maker->columns[i].column = (uint32) att;
		if (maker->columns[i].in_key)
		{
			maker->columns[i].column = (uint32) maker->wrel->columns[att].key_no;
			maker->parts = bms_add_member(maker->parts, maker->wrel->columns[att].key_no);
		}
		maker->ncolumns++;
	}
	return i;
}

/* Makes a term; adds to *room the most nodes that it becomes. */
static Term *
make_term(WcFilterMaker *maker, Node *expr, uint32 *room)
{
	Term	   *term = palloc0(sizeof(Term));
	ListCell   *lc;

	check_stack_depth();
	term->tag = nodeTag(expr);
	if (term->tag == T_BoolExpr)
	{
		term->boolop = ((BoolExpr *) expr)->boolop;
		foreach(lc, ((BoolExpr *) expr)->args)
			term->args = lappend(term->args, make_term(maker, lfirst(lc), room));
		*room = Min(*room + 1, WC_FILTER_NODES_MAX);
		return term;
	}
	if (term->tag == T_BooleanTest)
	{
		uint32		arg = 0;

		term->test = ((BooleanTest *) expr)->booltesttype;
		term->args = list_make1(make_term(maker, (Node *) ((BooleanTest *) expr)->arg, &arg));
		*room = Min(*room + TEST_NODES + 2 * arg, WC_FILTER_NODES_MAX);
		return term;
	}
	term->tag = T_Invalid;
	if (!wc_filter_leaf(maker->wrel, maker->relid, expr, &term->leaf))
		elog(ERROR, "a planned condition of foreign table \"%s\" is not one that the engine can decide",
			 maker->wrel->relname);
	term->column = add_column(maker, &term->leaf);
	if (term->leaf.value != NULL && !IsA(term->leaf.value, Const))
		term->value = ExecInitExpr((Expr *) term->leaf.value, maker->parent);
	*room = Min(*room + LEAF_NODES, WC_FILTER_NODES_MAX);
	return term;
}

WcFilterMaker *
wc_filter_maker_create(WcRelation *wrel, Index relid, List *exprs, List *deciding, bool lenient, PlanState *parent)
{
	WcFilterMaker *maker = palloc0(sizeof(WcFilterMaker));
	ListCell   *lc;

	maker->wrel = wrel;
	maker->relid = relid;
	maker->parent = parent;
	maker->lenient = lenient;
	maker->deciding = deciding;
	maker->max_columns = (uint32) wrel->natts + 1;
	maker->columns = palloc0(sizeof(WcFilterColumn) * maker->max_columns);
	maker->atts = palloc0(sizeof(int) * maker->max_columns);
	foreach(lc, exprs)
		maker->terms = lappend(maker->terms, make_term(maker, lfirst(lc), &maker->room));
	maker->room = Min(maker->room + 1, WC_FILTER_NODES_MAX);
	return maker;
}

const List *
wc_filter_members(const WcFilterMaker *maker)
{
	return maker->members;
}

/* --- terms to nodes ---------------------------------------------------------------- */

typedef enum Made
{
	FAILED,						/* not expressible: no node was added */
	WEAKER,						/* true where the term is true, and elsewhere */
	EXACT
} Made;

typedef struct Making
{
	WcFilterMaker *maker;
	ExprContext *econtext;
	WcArena    *arena;
	WcFilterNode *nodes;		/* [maker->room] */
	uint32		nnodes;
	uint32		nvalues;
	Size		bytes;
	WcBuf	   *scratch;		/* one value */
	int			depth;
} Making;

/* NULL: too many nodes or levels. */
static WcFilterNode *
add_node(Making *m, WcFilterKind kind, uint32 n)
{
	WcFilterNode *node;

	if (m->nnodes == m->maker->room || m->depth > WC_FILTER_DEPTH_MAX)
		return NULL;
	node = &m->nodes[m->nnodes++];
	node->kind = (uint8) kind;
	node->n = n;
	return node;
}

static Made
add_plain(Making *m, WcFilterKind kind, uint32 n)
{
	return add_node(m, kind, n) != NULL ? EXACT : FAILED;
}

/* Adds a comparison with n keys. */
static Made
add_comparison(Making *m, const Term *term, WcFilterKind kind, const WcSlice *keys, uint32 n)
{
	WcFilterNode *node;

	m->nvalues += n;
	for (uint32 i = 0; i < n; i++)
		m->bytes += keys[i].len;
	if (m->nvalues > WC_FILTER_VALUES_MAX || m->bytes > WC_FILTER_BYTES_MAX)
		return FAILED;
	node = add_node(m, kind, n);
	if (node == NULL)
		return FAILED;
	node->column = term->column;
	node->values = wc_arena_alloc(m->arena, sizeof(WcSlice) * (n + 1));
	if (node->values == NULL)
		wc_raise_no_memory();
	if (n > 0)
		memcpy(node->values, keys, sizeof(WcSlice) * n);
	return EXACT;
}

/* Adds a condition that is true of every value, or of none. */
static Made
add_constant(Making *m, const Term *term, bool value)
{
	if (value && add_node(m, WC_FILTER_NOT, 0) == NULL)
		return FAILED;
	return add_comparison(m, term, WC_FILTER_IN, NULL, 0);
}

/* Microseconds since 1970; the greatest for a time beyond the last timestamp. */
static int64
us_of_time(TimestampTz time)
{
	int64		us;

	if (pg_add_s64_overflow(time, (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY, &us))
		return PG_INT64_MAX;
	return us;
}

/* Appends a value that timestamps of cells are compared with, as the bytes of microseconds since 1970.  False:
 * timestamps are not compared with this type. */
static bool
append_written(Making *m, const WcLeaf *leaf, Datum value)
{
	int64		us;
	int			overflow;		/* then the time is infinite, which is as good here */

	switch (leaf->type)
	{
		case INT2OID:
			us = DatumGetInt16(value);
			break;
		case INT4OID:
			us = DatumGetInt32(value);
			break;
		case INT8OID:
			us = DatumGetInt64(value);
			break;
		case TIMESTAMPTZOID:
			us = us_of_time(DatumGetTimestampTz(value));
			break;
		case DATEOID:
			us = us_of_time(date2timestamptz_opt_overflow(DatumGetDateADT(value), &overflow));
			break;
		case TIMESTAMPOID:
			us = us_of_time(timestamp2timestamptz_opt_overflow(DatumGetTimestamp(value), &overflow));
			break;
		default:
			return false;
	}
	wc_buf_append_u64(m->scratch, (uint64) us);
	return true;
}

/* Makes the key that a value is compared as; false: the comparison is not expressible. */
static bool
make_key(Making *m, const Term *term, Datum value, WcFit *fit, WcSlice *key)
{
	uint8		scratch[WC_FILTER_KEY_MAX];

	wc_buf_reset(m->scratch, WC_FILTER_BYTES_MAX);
	if (m->maker->columns[term->column].form == WC_FORM_WRITTEN)
		*fit = append_written(m, &term->leaf, value) ? WC_FIT_EXACT : WC_FIT_UNKNOWN;
	else
		*fit = wc_codec_encode_bound(term->leaf.codec, term->leaf.type, value, m->scratch);
	if (*fit != WC_FIT_EXACT && *fit != WC_FIT_ABOVE)
		return *fit != WC_FIT_UNKNOWN;
	if (!wc_filter_key(&m->maker->columns[term->column], wc_buf_slice(m->scratch), scratch, key) ||
		key->len > WC_FILTER_BYTES_MAX)
		return false;
	*key = wc_arena_copy(m->arena, *key);
	if (key->len > 0 && key->data == NULL)
		wc_raise_no_memory();
	return true;
}

static WcFilterKind
kind_of(WcKeyOp op)
{
	static const WcFilterKind kinds[] = {
		[WC_KEY_EQ] = WC_FILTER_EQ,
		[WC_KEY_LT] = WC_FILTER_LT,
		[WC_KEY_LE] = WC_FILTER_LE,
		[WC_KEY_GT] = WC_FILTER_GT,
		[WC_KEY_GE] = WC_FILTER_GE,
		[WC_KEY_PREFIX] = WC_FILTER_PREFIX
	};

	return kinds[op];
}

static Made
make_op(Making *m, const Term *term, WcKeyOp op, Datum value)
{
	bool		greater = op == WC_KEY_GT || op == WC_KEY_GE;
	WcFit		fit;
	WcSlice		key;

	if (!make_key(m, term, value, &fit, &key) || (op == WC_KEY_PREFIX && fit != WC_FIT_EXACT))
		return FAILED;
	if (fit == WC_FIT_EXACT)
		return add_comparison(m, term, kind_of(op), &key, 1);
	if (op == WC_KEY_EQ)
		return add_constant(m, term, false);
	switch (fit)
	{
		case WC_FIT_ABOVE:
			/* the value lies between the key and the next possible one */
			return add_comparison(m, term, greater ? WC_FILTER_GT : WC_FILTER_LE, &key, 1);
		case WC_FIT_BEFORE_ALL:
			return add_constant(m, term, greater);
		case WC_FIT_AFTER_ALL:
			return add_constant(m, term, !greater);
		default:
			return FAILED;
	}
}

static Made
make_any(Making *m, const Term *term, Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	int16		len;
	bool		byval;
	char		align;
	Datum	   *elems;
	bool	   *nulls;
	int			nelems;
	bool		has_null = false;
	WcSlice    *keys;
	uint32		n = 0;
	uint32		distinct = 0;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &len, &byval, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), len, byval, align, &elems, &nulls, &nelems);
	if (nelems == 0)
		return add_plain(m, WC_FILTER_OR, 0);
	if (nelems > WC_FILTER_VALUES_MAX)
		return FAILED;
	keys = palloc(sizeof(WcSlice) * nelems);
	for (int i = 0; i < nelems; i++)
	{
		WcFit		fit;

		has_null |= nulls[i];
		if (nulls[i])
			continue;
		if (!make_key(m, term, elems[i], &fit, &keys[n]))
			return FAILED;
		n += fit == WC_FIT_EXACT;
	}
	qsort(keys, n, sizeof(WcSlice), wc_slice_compare);
	for (uint32 i = 0; i < n; i++)
	{
		if (distinct == 0 || !wc_slice_eq(keys[distinct - 1], keys[i]))
			keys[distinct++] = keys[i];
	}
	if (has_null && (add_node(m, WC_FILTER_OR, 2) == NULL || add_node(m, WC_FILTER_UNKNOWN, 0) == NULL))
		return FAILED;
	return add_comparison(m, term, WC_FILTER_IN, keys, distinct);
}

static Made
make_like(Making *m, const Term *term, Datum value)
{
	bool		exact = true;
	WcKeyOp		op;
	Datum		prefix = wc_like_value(value, &op, &exact);
	Made		result = make_op(m, term, op, prefix);

	return result == EXACT && !exact ? WEAKER : result;
}

/* IS NULL, which is never true of a part of the row key. */
static Made
make_null(Making *m, const Term *term)
{
	if (m->maker->columns[term->column].in_key)
		return add_plain(m, WC_FILTER_OR, 0);
	return add_comparison(m, term, WC_FILTER_IS_NULL, NULL, 0);
}

static Made
make_distinct(Making *m, const Term *term, Datum value)
{
	if (add_node(m, WC_FILTER_OR, 2) == NULL || make_null(m, term) == FAILED ||
		add_node(m, WC_FILTER_NOT, 0) == NULL)
		return FAILED;
	return make_op(m, term, WC_KEY_EQ, value);
}

static Made
make_leaf(Making *m, const Term *term)
{
	const WcLeaf *leaf = &term->leaf;
	Datum		value = (Datum) 0;
	bool		isnull = false;

	if (term->column >= WC_FILTER_NODES_MAX || (m->maker->lenient && !m->maker->columns[term->column].in_key))
		return FAILED;
	if (leaf->value != NULL && term->value == NULL)
	{
		value = ((Const *) leaf->value)->constvalue;
		isnull = ((Const *) leaf->value)->constisnull;
	}
	else if (leaf->value != NULL)
		value = ExecEvalExpr(term->value, m->econtext, &isnull);
	if (isnull && leaf->kind != WC_LEAF_DISTINCT)
		return add_plain(m, WC_FILTER_UNKNOWN, 0);
	if ((leaf->negated || isnull) && add_node(m, WC_FILTER_NOT, 0) == NULL)
		return FAILED;
	switch (leaf->kind)
	{
		case WC_LEAF_OP:
			return make_op(m, term, leaf->op, value);
		case WC_LEAF_ANY:
			return make_any(m, term, value);
		case WC_LEAF_LIKE:
			return make_like(m, term, value);
		case WC_LEAF_DISTINCT:
			return isnull ? make_null(m, term) : make_distinct(m, term, value);
		case WC_LEAF_NULL:
			return make_null(m, term);
		case WC_LEAF_BOOL:
			{
				uint8		yes = 1;
				WcSlice		key = wc_arena_copy(m->arena, wc_slice(&yes, 1));

				if (key.data == NULL)
					wc_raise_no_memory();
				return add_comparison(m, term, WC_FILTER_EQ, &key, 1);
			}
	}
	return FAILED;
}

static Made make(Making *m, const Term *term);

static Made
make_bool(Making *m, const Term *term)
{
	uint32		at = m->nnodes;
	uint32		n = 0;
	Made		result = EXACT;
	ListCell   *lc;

	if (add_node(m, term->boolop == NOT_EXPR ? WC_FILTER_NOT : term->boolop == AND_EXPR ? WC_FILTER_AND : WC_FILTER_OR,
				 0) == NULL)
		return FAILED;
	foreach(lc, term->args)
	{
		Made		arg = make(m, lfirst(lc));

		/* an AND without one of its arms is weaker */
		if (arg == FAILED && term->boolop != AND_EXPR)
			return FAILED;
		n += arg != FAILED;
		result = Min(result, arg == FAILED ? WEAKER : arg);
	}
	m->nodes[at].n = n;
	if (term->boolop == NOT_EXPR)
		m->nodes[at].n = 0;
	return term->boolop == NOT_EXPR && result != EXACT ? FAILED : result;
}

/* IS [NOT] TRUE, FALSE, UNKNOWN */
static Made
make_test(Making *m, const Term *term)
{
	const Term *arg = linitial(term->args);
	bool		negated = term->test == IS_NOT_TRUE || term->test == IS_NOT_FALSE || term->test == IS_NOT_UNKNOWN;
	bool		is_false = term->test == IS_FALSE || term->test == IS_NOT_FALSE;

	if (negated && add_node(m, WC_FILTER_NOT, 0) == NULL)
		return FAILED;
	if (term->test == IS_UNKNOWN || term->test == IS_NOT_UNKNOWN)
	{
		/* IS UNKNOWN: neither true nor false */
		for (int i = 0; i < 2; i++)
		{
			if ((i == 0 && add_node(m, WC_FILTER_AND, 2) == NULL) ||
				add_node(m, WC_FILTER_NOT, 0) == NULL || add_node(m, WC_FILTER_IS_TRUE, 0) == NULL ||
				(i == 1 && add_node(m, WC_FILTER_NOT, 0) == NULL) || make(m, arg) != EXACT)
				return FAILED;
		}
		return EXACT;
	}
	if (add_node(m, WC_FILTER_IS_TRUE, 0) == NULL || (is_false && add_node(m, WC_FILTER_NOT, 0) == NULL))
		return FAILED;
	return make(m, arg) == EXACT ? EXACT : FAILED;
}

static Made
make(Making *m, const Term *term)
{
	Making		before = *m;
	Made		result;

	m->depth += term->tag == T_BooleanTest ? TEST_DEPTH : term->tag == T_BoolExpr ? 1 : LEAF_DEPTH;
	if (term->tag == T_BoolExpr)
		result = make_bool(m, term);
	else if (term->tag == T_BooleanTest)
		result = make_test(m, term);
	else
	{
		result = make_leaf(m, term);
		if (result == WEAKER && term->leaf.negated)
			result = FAILED;
	}
	m->depth = before.depth;
	if (result == FAILED)
	{
		m->nnodes = before.nnodes;
		m->nvalues = before.nvalues;
		m->bytes = before.bytes;
	}
	return result;
}

/* --- all together -------------------------------------------------------------------- */

/* Is this node never true? */
static bool
is_hopeless(const WcFilterNode *node)
{
	return node->kind == WC_FILTER_UNKNOWN ||
		((node->kind == WC_FILTER_OR || node->kind == WC_FILTER_IN) && node->n == 0);
}

/* The encoded key check with which the engine finds the parts of the row key that the filter reads. */
static WcSlice
key_check(const WcFilterMaker *maker, WcArena *arena, WcBuf *scratch)
{
	WcSlice		copy = {NULL, 0};

	if (maker->parts == NULL)
		return copy;
	wc_buf_reset(scratch, WC_FILTER_BYTES_MAX);
	wc_keycontent_encode_parts(maker->wrel, maker->parts, scratch);
	copy = wc_arena_copy(arena, wc_buf_slice(scratch));
	if (copy.data == NULL)
		wc_raise_no_memory();
	return copy;
}

void
wc_filter_make(WcFilterMaker *maker, ExprContext *econtext, WcArena *arena, WcBuf *scratch, WcMadeFilter *out)
{
	Making		m = {.maker = maker,.econtext = econtext,.arena = arena,.scratch = scratch,.depth = 1};
	ListCell   *lc;

	memset(out, 0, sizeof(*out));
	out->exact = true;
	m.nodes = wc_arena_alloc_zero(arena, sizeof(WcFilterNode) * maker->room);
	if (m.nodes == NULL)
		wc_raise_no_memory();
	(void) add_node(&m, WC_FILTER_AND, 0);
	foreach(lc, maker->terms)
	{
		uint32		at = m.nnodes;
		Made		result = make(&m, lfirst(lc));

		out->exact &= result == EXACT;
		if (result == FAILED)
			continue;
		m.nodes[0].n++;
		out->empty |= is_hopeless(&m.nodes[at]);
	}
	if (m.nodes[0].n == 0)
		return;
	out->filter = wc_arena_alloc_zero(arena, sizeof(WcFilter));
	if (out->filter == NULL)
		wc_raise_no_memory();
	out->filter->ncolumns = Min(maker->ncolumns, WC_FILTER_NODES_MAX);
	out->filter->columns = wc_arena_alloc(arena, sizeof(WcFilterColumn) * out->filter->ncolumns);
	if (out->filter->columns == NULL)
		wc_raise_no_memory();
	memcpy(out->filter->columns, maker->columns, sizeof(WcFilterColumn) * out->filter->ncolumns);
	out->filter->nnodes = m.nnodes;
	out->filter->nodes = m.nodes;
	out->filter->keys = key_check(maker, arena, scratch);
}

bool
wc_filter_holds(WcFilterMaker *maker, ExprContext *econtext)
{
	if (maker->qual == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(maker->parent->state->es_query_cxt);

		maker->qual = ExecInitQual(maker->deciding, maker->parent);
		MemoryContextSwitchTo(old);
	}
	return ExecQual(maker->qual, econtext);
}
