/*
 * fdw/condition/filter.c: the conditions that the engine can decide.
 *
 * As in match.c, only the btree operators of the column's own type are understood.  A part of a clause that is not
 * understood is left out if it is an arm of an AND that may let through too many rows.  Otherwise the clause around it
 * is not understood either.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "fdw/condition/filter.h"
#include "fdw/condition/like.h"
#include "fdw/condition/match.h"

/* --- comparisons ------------------------------------------------------------------ */

typedef struct Side
{
	int			att;
	WcMember	member;
	WcCodec    *codec;
	WcForm		form;
} Side;

/* False also for a cast that may fail without the engine knowing. */
static bool
find_member(const WcRelation *wrel, Index relid, Node *expr, Side *side)
{
	if (!wrel->has_map || !wc_member_match(wrel, relid, expr, &side->member))
		return false;
	side->att = side->member.att;
	side->codec = wc_member_codec(wrel, &side->member);
	side->form = wc_form_of_cell(side->codec);
	return side->form.equality;
}

/* The codec of a column that shows timestamps: that of its type. */
static WcCodec *
timestamp_codec(const WcRelation *wrel, const WcRelColumn *column)
{
	WcCodec    *codec = palloc0(sizeof(WcCodec));
	WcCodecSpec spec = {
		.table = wrel->relname,.column = NameStr(column->name),.type = column->type,.typmod = -1,
		.encoding = WC_ENCODING_BINARY
	};

	wc_codec_init(codec, &spec);
	return codec;
}

static bool
find_column(const WcRelation *wrel, Index relid, Node *expr, Side *side)
{
	Var		   *var;

	memset(side, 0, sizeof(*side));
	while (expr != NULL && IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	if (expr == NULL)
		return false;
	if (!IsA(expr, Var))
		return find_member(wrel, relid, expr, side);
	var = (Var *) expr;
	if (var->varno != relid || var->varlevelsup != 0 || var->varattno <= 0 || var->varattno > wrel->natts)
		return false;
	side->att = var->varattno - 1;
	if (wrel->columns[side->att].role == WC_ROLE_TIMESTAMP)
		side->codec = timestamp_codec(wrel, &wrel->columns[side->att]);
	else
		side->codec = wc_filter_codec(unconstify(WcRelation *, wrel), side->att);
	if (side->codec == NULL)
		return false;
	side->form = wc_form_of_column(wrel, side->att);
	return true;
}

static void
set_column(WcLeaf *leaf, const Side *side)
{
	leaf->att = side->att;
	leaf->member = side->member;
	leaf->codec = side->codec;
}

/* Does the expression need a row of relid, or a subquery? */
static bool
needs_row(Node *node, Index *relid)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varno == *relid && ((Var *) node)->varlevelsup == 0;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) || IsA(node, SubLink))
		return true;
	return expression_tree_walker(node, needs_row, relid);
}

/* Finds the comparison that an operator does on the column's type; false: none that the column's bytes decide. */
static bool
find_op(const Side *side, Oid opno, Oid collation, WcKeyOp *op)
{
	static const WcKeyOp ops[] = {
		[BTLessStrategyNumber] = WC_KEY_LT,
		[BTLessEqualStrategyNumber] = WC_KEY_LE,
		[BTEqualStrategyNumber] = WC_KEY_EQ,
		[BTGreaterEqualStrategyNumber] = WC_KEY_GE,
		[BTGreaterStrategyNumber] = WC_KEY_GT
	};
	TypeCacheEntry *type = lookup_type_cache(side->codec->spec.type, TYPECACHE_BTREE_OPFAMILY);
	int			strategy = OidIsValid(type->btree_opf) ? get_op_opfamily_strategy(opno, type->btree_opf) : 0;

	if (strategy < BTLessStrategyNumber || strategy > BTGreaterStrategyNumber)
		return false;
	*op = ops[strategy];
	if (*op == WC_KEY_EQ)
		return side->form.equality && wc_match_bytes_equal(side->codec->spec.type, collation);
	return side->form.order && wc_match_bytes_ordered(side->codec->spec.type, collation);
}

/* The same, but takes <> as well: *op is then =, and *negated true. */
static bool
find_negated_op(const Side *side, Oid opno, Oid collation, WcKeyOp *op, bool *negated)
{
	*negated = false;
	if (find_op(side, opno, collation, op))
		return true;
	opno = get_negator(opno);
	*negated = true;
	return OidIsValid(opno) && find_op(side, opno, collation, op) && *op == WC_KEY_EQ;
}

static bool
is_like(Oid opno, bool *negated)
{
	*negated = get_negator(opno) == OID_TEXT_LIKE_OP;
	return opno == OID_TEXT_LIKE_OP || *negated;
}

static bool
match_prefix(const Side *side, Node *value, Oid collation, WcLeaf *leaf)
{
	leaf->value = value;
	leaf->type = getBaseType(exprType(value));
	leaf->collation = collation;
	return side->form.prefix && leaf->type == TEXTOID && wc_match_bytes_equal(TEXTOID, collation);
}

static bool
match_op(const WcRelation *wrel, Index relid, OpExpr *clause, WcLeaf *leaf)
{
	Oid			opno = clause->opno;
	Side		side;
	Node	   *value;

	if (list_length(clause->args) != 2)
		return false;
	leaf->column = linitial(clause->args);
	value = lsecond(clause->args);
	if (!find_column(wrel, relid, leaf->column, &side))
	{
		leaf->column = lsecond(clause->args);
		value = linitial(clause->args);
		opno = get_commutator(opno);
		if (!OidIsValid(opno) || !find_column(wrel, relid, leaf->column, &side))
			return false;
	}
	set_column(leaf, &side);
	leaf->value = value;
	leaf->type = getBaseType(exprType(value));
	if (needs_row(value, &relid))
		return false;
	if (IsA(clause, OpExpr) && is_like(opno, &leaf->negated))
	{
		leaf->kind = WC_LEAF_LIKE;
		return match_prefix(&side, value, clause->inputcollid, leaf);
	}
	leaf->kind = IsA(clause, DistinctExpr) ? WC_LEAF_DISTINCT : WC_LEAF_OP;
	if (opno == WC_STARTS_WITH_OPERATOR && IsA(clause, OpExpr))
	{
		leaf->op = WC_KEY_PREFIX;
		return match_prefix(&side, value, clause->inputcollid, leaf);
	}
	return wc_match_comparable(side.codec->spec.type, leaf->type) &&
		find_negated_op(&side, opno, clause->inputcollid, &leaf->op, &leaf->negated) &&
		(leaf->kind == WC_LEAF_OP || (leaf->op == WC_KEY_EQ && !leaf->negated));
}

/* column = ANY (array), also written IN, and column <> ALL (array), also written NOT IN. */
static bool
match_any(const WcRelation *wrel, Index relid, ScalarArrayOpExpr *clause, WcLeaf *leaf)
{
	Side		side;

	leaf->kind = WC_LEAF_ANY;
	leaf->column = linitial(clause->args);
	leaf->value = lsecond(clause->args);
	leaf->type = get_base_element_type(exprType(leaf->value));
	if (!OidIsValid(leaf->type) || !find_column(wrel, relid, leaf->column, &side) || needs_row(leaf->value, &relid))
		return false;
	set_column(leaf, &side);
	leaf->type = getBaseType(leaf->type);
	return wc_match_comparable(side.codec->spec.type, leaf->type) &&
		find_negated_op(&side, clause->opno, clause->inputcollid, &leaf->op, &leaf->negated) &&
		leaf->op == WC_KEY_EQ && clause->useOr == !leaf->negated;
}

bool
wc_filter_leaf(const WcRelation *wrel, Index relid, Node *clause, WcLeaf *leaf)
{
	Side		side;

	memset(leaf, 0, sizeof(*leaf));
	switch (nodeTag(clause))
	{
		case T_OpExpr:
		case T_DistinctExpr:
			return match_op(wrel, relid, (OpExpr *) clause, leaf);
		case T_ScalarArrayOpExpr:
			return match_any(wrel, relid, (ScalarArrayOpExpr *) clause, leaf);
		case T_NullTest:
			leaf->kind = WC_LEAF_NULL;
			leaf->column = (Node *) ((NullTest *) clause)->arg;
			leaf->negated = ((NullTest *) clause)->nulltesttype == IS_NOT_NULL;
			break;
		case T_FuncExpr:
			{
				FuncExpr   *func = (FuncExpr *) clause;

				if (func->funcid != F_STARTS_WITH || !find_column(wrel, relid, linitial(func->args), &side) ||
					needs_row(lsecond(func->args), &relid))
					return false;
				leaf->op = WC_KEY_PREFIX;
				set_column(leaf, &side);
				leaf->column = linitial(func->args);
				return match_prefix(&side, lsecond(func->args), func->inputcollid, leaf);
			}
		case T_Var:
		case T_RelabelType:
			leaf->kind = WC_LEAF_BOOL;
			leaf->column = clause;
			break;
		default:
			return false;
	}
	if (!find_column(wrel, relid, leaf->column, &side))
		return false;
	set_column(leaf, &side);
	if (wc_filter_in_key(wrel, side.att) && !side.form.equality)
		return false;			/* the engine does not know whether the key can be read */
	if (leaf->kind == WC_LEAF_BOOL)
		return side.codec->spec.type == BOOLOID && side.form.equality;
	/* a row value also IS NULL when all its fields are NULL */
	return !((NullTest *) clause)->argisrow;
}

/* --- clauses ------------------------------------------------------------------------ */

typedef struct Pusher
{
	const WcRelation *wrel;
	Index		relid;
	bool		keys_only;		/* leave out what is not about the key */
	bool		exact;
} Pusher;

static Node *push(Pusher *p, Node *clause, bool whole);

/* column ^@ prefix */
static Node *
starts_with(Node *column, Node *prefix, Oid collation)
{
	Expr	   *op = make_opclause(WC_STARTS_WITH_OPERATOR, BOOLOID, false, (Expr *) column, (Expr *) prefix, InvalidOid, collation);

	set_opfuncid((OpExpr *) op);
	return (Node *) op;
}

static Node *
text_const(const char *s, size_t len)
{
	return (Node *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, PointerGetDatum(cstring_to_text_with_len(s, (int) len)), false, false);
}

/* column LIKE 'x%y': lets through values that start with x. */
static Node *
push_like(Pusher *p, Node *clause, const WcLeaf *leaf, bool whole)
{
	Const	   *pattern = (Const *) leaf->value;
	char	   *s;
	char	   *prefix;
	size_t		len;

	/* filtermake.c examines a pattern that is known only when the scan runs */
	if (!IsA(pattern, Const) || pattern->constisnull)
		return clause;
	s = TextDatumGetCString(pattern->constvalue);
	prefix = palloc(strlen(s) + 1);
	if (wc_like_prefix(s, strlen(s), prefix, &len) != WC_LIKE_OTHER)
		return clause;
	if (whole || leaf->negated || len == 0)
		return NULL;
	p->exact = false;
	return starts_with(leaf->column, text_const(prefix, len), leaf->collation);
}

/* What column ^@ x has to be for column ~ '^x', or for left(column, n) = x; NULL: neither. */
static Node *
prefix_of(const OpExpr *clause)
{
	Node	   *column = linitial(clause->args);
	Node	   *value = lsecond(clause->args);
	char	   *prefix;
	bool		whole;

	if (!wc_match_bytes_equal(TEXTOID, clause->inputcollid))
		return NULL;
	if (clause->opno == OID_TEXT_REGEXEQ_OP && IsA(value, Const) && !((Const *) value)->constisnull)
	{
		prefix = regexp_fixed_prefix(DatumGetTextPP(((Const *) value)->constvalue), false, clause->inputcollid, &whole);
		return prefix == NULL || prefix[0] == '\0' ? NULL : starts_with(column, text_const(prefix, strlen(prefix)), clause->inputcollid);
	}
	if (clause->opno != TextEqualOperator)
		return NULL;
	if (wc_like_start_of(column) == NULL)
	{
		value = column;
		column = lsecond(clause->args);
	}
	column = wc_like_start_of(column);
	return column == NULL ? NULL : starts_with(column, value, clause->inputcollid);
}

/* A clause that only lets values with a prefix through. */
static Node *
push_prefix(Pusher *p, OpExpr *clause)
{
	Node	   *pushed = push(p, prefix_of(clause), false);

	if (pushed != NULL)
		p->exact = false;
	return pushed;
}

/* x op y, as in column number i of a row comparison, but with another operator of the family; NULL: there is none. */
static Node *
compare_field(const RowCompareExpr *row, int i, int strategy)
{
	Oid			left;
	Oid			right;
	Oid			opno;
	Expr	   *op;

	op_input_types(list_nth_oid(row->opnos, i), &left, &right);
	opno = get_opfamily_member(list_nth_oid(row->opfamilies, i), left, right, (int16) strategy);
	if (!OidIsValid(opno))
		return NULL;
	op = make_opclause(opno, BOOLOID, false, copyObject(list_nth(row->largs, i)), copyObject(list_nth(row->rargs, i)),
					   InvalidOid, list_nth_oid(row->inputcollids, i));
	set_opfuncid((OpExpr *) op);
	return (Node *) op;
}

/* (a, b) > (x, y) is a > x OR (a = x AND b > y), also if something is NULL. */
static Node *
expand_row(const RowCompareExpr *row)
{
	int			n = list_length(row->opnos);
	List	   *arms = NIL;

	for (int i = 0; i < n; i++)
	{
		int			strategy = get_op_opfamily_strategy(list_nth_oid(row->opnos, i), list_nth_oid(row->opfamilies, i));
		List	   *fields = NIL;

		if (i + 1 < n && strategy == BTLessEqualStrategyNumber)
			strategy = BTLessStrategyNumber;
		if (i + 1 < n && strategy == BTGreaterEqualStrategyNumber)
			strategy = BTGreaterStrategyNumber;
		for (int k = 0; k <= i; k++)
			fields = lappend(fields, compare_field(row, k, k < i ? BTEqualStrategyNumber : strategy));
		if (list_member_ptr(fields, NULL))
			return NULL;
		arms = lappend(arms, make_ands_explicit(fields));
	}
	return (Node *) make_orclause(arms);
}

/* key IS NOT DISTINCT FROM x: keys are not NULL, so it is true if key = x is. */
static Node *
same_key(const Pusher *p, Node *clause)
{
	WcLeaf		leaf;
	OpExpr	   *op;

	if (!IsA(clause, DistinctExpr) || !wc_filter_leaf(p->wrel, p->relid, clause, &leaf) || !wc_filter_in_key(p->wrel, leaf.att))
		return NULL;
	op = makeNode(OpExpr);
	*op = *(OpExpr *) clause;
	NodeSetTag(op, T_OpExpr);
	return (Node *) op;
}

static Node *
push_bool(Pusher *p, BoolExpr *clause, bool whole)
{
	List	   *args = NIL;
	ListCell   *lc;

	foreach(lc, clause->args)
	{
		Node	   *arg = push(p, lfirst(lc), whole || clause->boolop == NOT_EXPR);

		if (arg != NULL)
			args = lappend(args, arg);
		else if (whole || clause->boolop != AND_EXPR)
			return NULL;
		else
			p->exact = false;
	}
	if (args == NIL)
		return NULL;
	if (clause->boolop == AND_EXPR)
		return (Node *) make_ands_explicit(args);
	return (Node *) makeBoolExpr(clause->boolop, args, -1);
}

/* whole: the clause around this one needs its exact value, so a weaker condition is useless. */
static Node *
push(Pusher *p, Node *clause, bool whole)
{
	WcLeaf		leaf;
	Node	   *other;

	if (clause == NULL)
		return NULL;
	check_stack_depth();
	if (is_notclause(clause) && !whole && (other = same_key(p, (Node *) get_notclausearg(clause))) != NULL)
		return other;
	if (IsA(clause, BoolExpr))
		return push_bool(p, (BoolExpr *) clause, whole);
	if (IsA(clause, RowCompareExpr))
		return push(p, expand_row((RowCompareExpr *) clause), whole);
	if (IsA(clause, BooleanTest))
	{
		BooleanTest *test = (BooleanTest *) clause;
		BooleanTest *pushed;
		Node	   *arg = push(p, (Node *) test->arg, true);

		if (arg == NULL)
			return NULL;
		pushed = makeNode(BooleanTest);
		*pushed = *test;
		pushed->arg = (Expr *) arg;
		return (Node *) pushed;
	}
	if (!wc_filter_leaf(p->wrel, p->relid, clause, &leaf))
	{
		other = whole ? NULL : wc_member_expand(p->wrel, p->relid, clause);
		if (other == NULL && !whole && IsA(clause, OpExpr) && list_length(((OpExpr *) clause)->args) == 2)
			return push_prefix(p, (OpExpr *) clause);
		return push(p, other, false);
	}
	if (p->keys_only && !wc_filter_in_key(p->wrel, leaf.att))
		return NULL;
	return leaf.kind == WC_LEAF_LIKE ? push_like(p, clause, &leaf, whole) : clause;
}

Expr *
wc_filter_push(const WcRelation *wrel, Index relid, Node *clause, bool *exact)
{
	Pusher		p = {.wrel = wrel,.relid = relid,.exact = true};
	Node	   *pushed = push(&p, clause, false);

	*exact = pushed != NULL && p.exact;
	return (Expr *) pushed;
}

Expr *
wc_filter_push_keys(const WcRelation *wrel, Index relid, Node *clause)
{
	Pusher		p = {.wrel = wrel,.relid = relid,.keys_only = true};

	return (Expr *) push(&p, clause, false);
}

/* --- stores that compare bytes ------------------------------------------------------ */

static bool
leaf_rejects(const WcRelation *wrel, const WcLeaf *leaf, bool negated)
{
	bool		is_member = leaf->member.qualifier.len > 0;
	WcForm		form = is_member ? wc_form_of_cell(leaf->codec) : wc_form_of_column(wrel, leaf->att);

	if (form.column.in_key || form.column.form != WC_FORM_BYTES || form.column.width > 0 || form.column.most > 0)
		return false;
	negated = negated != leaf->negated;
	if (leaf->kind == WC_LEAF_DISTINCT)
		return negated;			/* rows without the column are distinct, too */
	return !negated || (leaf->kind != WC_LEAF_LIKE && !(leaf->kind == WC_LEAF_OP && leaf->op == WC_KEY_PREFIX));
}

/* Does the store reject rows for which the clause is false, or (negated) those for which it is true? */
static bool
bytes_reject(const WcRelation *wrel, Index relid, Node *clause, bool negated)
{
	WcLeaf		leaf;

	check_stack_depth();
	if (IsA(clause, BooleanTest))
	{
		BoolTestType test = ((BooleanTest *) clause)->booltesttype;
		bool		is_false = test == IS_FALSE || test == IS_NOT_FALSE;

		if (negated ? test != IS_NOT_TRUE && test != IS_NOT_FALSE : test != IS_TRUE && test != IS_FALSE)
			return false;
		return bytes_reject(wrel, relid, (Node *) ((BooleanTest *) clause)->arg, is_false);
	}
	if (IsA(clause, BoolExpr))
	{
		BoolExpr   *expr = (BoolExpr *) clause;
		bool		all = (expr->boolop == AND_EXPR) == negated;
		ListCell   *lc;

		if (expr->boolop == NOT_EXPR)
			return bytes_reject(wrel, relid, linitial(expr->args), !negated);
		foreach(lc, expr->args)
		{
			if (bytes_reject(wrel, relid, lfirst(lc), negated) != all)
				return !all;
		}
		return all;
	}
	return wc_filter_leaf(wrel, relid, clause, &leaf) && leaf_rejects(wrel, &leaf, negated);
}

bool
wc_filter_is_of_bytes(const WcRelation *wrel, Index relid, Node *clause)
{
	return bytes_reject(wrel, relid, clause, false);
}
