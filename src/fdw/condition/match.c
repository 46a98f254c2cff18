/*
 * fdw/condition/match.c: one clause of a query as a condition on the key, or on cells.
 *
 * Only the btree operators of the part's own type are understood.  They are strict, so no row satisfies a comparison
 * with NULL, and their order is the one that codecs describe.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"
#include "utils/typcache.h"

#include "base/limits.h"
#include "fdw/condition/like.h"
#include "fdw/condition/match.h"

typedef struct Matcher
{
	PlannerInfo *root;
	RelOptInfo *rel;
	WcRelation *wrel;
} Matcher;

/* The properties of a key part, the raw key or a cell's column as one side of an operator. */
typedef struct Key
{
	int			part;
	Oid			type;			/* base type */
	bool		equality;		/* = may be pushed */
	bool		equality_exact; /* = need not be rechecked */
	bool		order;			/* < may be pushed (the clause's collation allowing) */
	bool		order_exact;
	bool		prefix;			/* LIKE 'x%' may be pushed */
	bool		prefix_exact;
	bool		blanks;			/* type char: LIKE sees blanks at the end, which are not in the key */
} Key;

/* The table's column that this expression is; NULL: none. */
static const WcRelColumn *
column_of(RelOptInfo *rel, WcRelation *wrel, Node *expr)
{
	Var		   *var;

	while (expr != NULL && IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	if (expr == NULL || !IsA(expr, Var))
		return NULL;
	var = (Var *) expr;
	if (var->varno != rel->relid || var->varlevelsup != 0 ||
		var->varattno <= 0 || var->varattno > wrel->natts)
		return NULL;
	return &wrel->columns[var->varattno - 1];
}

bool
wc_match_key(RelOptInfo *rel, WcRelation *wrel, Node *expr, int *part)
{
	const WcRelColumn *column = column_of(rel, wrel, expr);

	switch (column ? column->role : WC_ROLE_NONE)
	{
		case WC_ROLE_KEY:
			*part = column->key_no;
			return true;
		case WC_ROLE_RAW_KEY:
		case WC_ROLE_CELL_ROW:
			*part = WC_COND_RAW_KEY;
			return true;
		default:
			return false;
	}
}

bool
wc_match_cell(RelOptInfo *rel, WcRelation *wrel, Node *expr, int *part)
{
	const WcRelColumn *column = column_of(rel, wrel, expr);

	switch (column ? column->role : WC_ROLE_NONE)
	{
		case WC_ROLE_CELL_FAMILY:
			*part = WC_COND_FAMILY;
			return true;
		case WC_ROLE_CELL_QUALIFIER:
			*part = WC_COND_QUALIFIER;
			return true;
		case WC_ROLE_CELL_TS:
			*part = WC_COND_TS;
			return true;
		default:
			return false;
	}
}

/* The raw key, or a cell's family, qualifier or timestamp. */
static Key
raw_key(int part, const WcRelColumn *column)
{
	Oid			type = getBaseType(column->type);
	Key			key = {part, type, true, true, true, true, false, false};

	/* in encodings other than UTF-8, text may sort differently from the stored bytes */
	if (type == TEXTOID)
	{
		key.order = wc_bytes_are_same();
		key.prefix = key.prefix_exact = true;
	}
	return key;
}

static bool
find_key(const Matcher *m, Node *expr, Key *key)
{
	const WcCodec *codec;
	bool		delimited;
	int			part;

	if (!wc_match_key(m->rel, m->wrel, expr, &part) && !wc_match_cell(m->rel, m->wrel, expr, &part))
		return false;
	if (part < 0)
	{
		*key = raw_key(part, column_of(m->rel, m->wrel, expr));
		/* a raw scan selects by family only */
		return part != WC_COND_QUALIFIER || !m->wrel->raw;
	}
	codec = &m->wrel->columns[m->wrel->keys[part]].codec;
	delimited = m->wrel->key_layout.parts[part].kind == WC_PART_DELIMITED;
	key->part = part;
	key->type = codec->spec.type;
	key->equality = codec->equality_safe;
	key->equality_exact = codec->equality_exact;
	key->order = codec->order != WC_ORDER_NONE;
	key->order_exact = !delimited;
	key->blanks = codec->spec.type == BPCHAROID && codec->order == WC_ORDER_BYTES && codec->equality_exact;
	key->prefix = codec->prefix_exact || key->blanks;
	key->prefix_exact = !delimited || m->wrel->key_layout.delimiter.len == 1;
	return true;
}

/* Can the value be computed before the scan starts? */
static bool
is_value(const Matcher *m, Node *expr)
{
	return !bms_is_member(m->rel->relid, pull_varnos(m->root, expr)) &&
		!contain_volatile_functions(expr) &&
		!contain_subplans(expr);
}

bool
wc_match_comparable(Oid key, Oid value)
{
	static const Oid groups[][3] = {
		{INT2OID, INT4OID, INT8OID},
		{FLOAT4OID, FLOAT8OID, InvalidOid},
		{DATEOID, TIMESTAMPOID, InvalidOid},
		{TEXTOID, VARCHAROID, InvalidOid}
	};

	if (key == value)
		return true;
	if (value == NAMEOID)		/* the reverse is not comparable: a name is short */
		return key == TEXTOID || key == VARCHAROID;
	if (key == TIMESTAMPTZOID)	/* the reverse: is_near */
		return value == DATEOID || value == TIMESTAMPOID;
	for (int i = 0; i < lengthof(groups); i++)
	{
		bool		has_key = false;
		bool		has_value = false;

		for (int k = 0; k < lengthof(groups[i]); k++)
		{
			has_key |= groups[i][k] == key;
			has_value |= groups[i][k] == value;
		}
		if (has_key && has_value)
			return true;
	}
	return false;
}

bool
wc_match_bytes_equal(Oid column, Oid collation)
{
	return OidIsValid(collation) ? get_collation_isdeterministic(collation) : !type_is_collatable(column);
}

bool
wc_match_bytes_ordered(Oid column, Oid collation)
{
	return OidIsValid(collation) ? lc_collate_is_c(collation) : !type_is_collatable(column);
}

/* Can values of this type be compared with the key?  The raw key, and the columns of a cell, take values
 * unchanged, so no names. */
static bool
is_comparable(const Key *key, Oid value)
{
	return wc_match_comparable(key->type, value) && !(key->part < 0 && value == NAMEOID);
}

/*
 * Is this a date or timestamp against an instant?  The order of local times is not always that of their instants, because
 * time zones skip and repeat hours.  So such a comparison makes a range that is wider than necessary.
 */
static bool
is_near(const Key *key, Oid value)
{
	return key->part >= 0 && (key->type == DATEOID || key->type == TIMESTAMPOID) && value == TIMESTAMPTZOID;
}

/* Finds the comparison that an operator does on this key; false: none that can be pushed. */
static bool
find_op(const Key *key, Oid opno, Oid collation, WcKeyOp *op)
{
	TypeCacheEntry *type = lookup_type_cache(key->type, TYPECACHE_BTREE_OPFAMILY);
	int			strategy = OidIsValid(type->btree_opf) ? get_op_opfamily_strategy(opno, type->btree_opf) : 0;

	switch (strategy)
	{
		case BTEqualStrategyNumber:
			*op = WC_KEY_EQ;
			return key->equality && wc_match_bytes_equal(key->type, collation);
		case BTLessStrategyNumber:
			*op = WC_KEY_LT;
			break;
		case BTLessEqualStrategyNumber:
			*op = WC_KEY_LE;
			break;
		case BTGreaterStrategyNumber:
			*op = WC_KEY_GT;
			break;
		case BTGreaterEqualStrategyNumber:
			*op = WC_KEY_GE;
			break;
		default:
			return false;
	}
	return key->order && wc_match_bytes_ordered(key->type, collation);
}

static WcKeyCond *
make_cond(WcCondKind kind, const Key *key, WcKeyOp op, bool exact, Node *value, Oid type)
{
	WcKeyCond  *cond = palloc0(sizeof(WcKeyCond));

	cond->kind = kind;
	cond->part = key->part;
	cond->op = op;
	cond->exact = exact;
	cond->values = list_make1(value);
	cond->types = list_make1_oid(type);
	return cond;
}

/* One arm that has all of these conditions. */
static WcKeyCond *
make_and(List *conds)
{
	WcKeyCond  *and = palloc0(sizeof(WcKeyCond));

	and->kind = WC_COND_OR;
	and->part = WC_COND_NO_PART;
	and->arms = list_make1(conds);
	return and;
}

/* A comparison that is_near; NULL: the key's order does not allow it.  = is a range as well, since it is wider. */
static WcKeyCond *
make_near_cond(const Key *key, WcKeyOp op, Node *value, Oid type)
{
	if (op != WC_KEY_EQ)
		return make_cond(WC_COND_OP, key, op, false, value, type);
	if (!key->order)
		return NULL;
	return make_and(list_make2(make_cond(WC_COND_OP, key, WC_KEY_GE, false, value, type),
							   make_cond(WC_COND_OP, key, WC_KEY_LE, false, value, type)));
}

/* The key is this text, or starts with it (op).  Of type char, the text without its blanks at the end decides; it lets more
 * keys through if there are some, or if blanks have to follow. */
static WcKeyCond *
make_text_cond(const Key *key, WcKeyOp op, bool exact, const char *s, size_t len)
{
	Oid			type = key->blanks ? BPCHAROID : TEXTOID;
	size_t		n = len;
	Const	   *value;

	while (key->blanks && n > 0 && s[n - 1] == ' ')
		n--;
	if (n == 0 && op == WC_KEY_PREFIX)
		return NULL;
	exact &= !key->blanks || (n == len && op == WC_KEY_PREFIX);
	value = makeConst(type, -1, DEFAULT_COLLATION_OID, -1, PointerGetDatum(cstring_to_text_with_len(s, (int) n)), false, false);
	return make_cond(WC_COND_OP, key, op, exact, (Node *) value, type);
}

/* key LIKE 'x%' */
static WcKeyCond *
match_like(const Key *key, Node *pattern)
{
	bool		exact = false;

	if (!key->prefix)
		return NULL;
	if (IsA(pattern, Const) && !((Const *) pattern)->constisnull)
	{
		char	   *s = TextDatumGetCString(((Const *) pattern)->constvalue);
		size_t		len = strlen(s);
		char	   *prefix = palloc(len + 1);
		size_t		prefix_len;
		WcLike		like = wc_like_prefix(s, len, prefix, &prefix_len);

		if (key->blanks)
			return make_text_cond(key, like == WC_LIKE_EQUAL ? WC_KEY_EQ : WC_KEY_PREFIX,
								  like == WC_LIKE_PREFIX && key->prefix_exact, prefix, prefix_len);
		if (like == WC_LIKE_EQUAL && key->equality && prefix_len == len)
			return make_cond(WC_COND_OP, key, WC_KEY_EQ, key->equality_exact, pattern, TEXTOID);
		if (prefix_len == 0)
			return NULL;
		exact = (like == WC_LIKE_PREFIX && key->prefix_exact) ||
			(like == WC_LIKE_EQUAL && key->equality_exact);
	}
	return make_cond(WC_COND_LIKE, key, WC_KEY_PREFIX, exact, pattern, TEXTOID);
}

/* key ~ '^x', also from SIMILAR TO */
static WcKeyCond *
match_regex(const Key *key, Node *pattern, Oid collation)
{
	char	   *prefix;
	bool		whole;

	if (!key->prefix || !IsA(pattern, Const) || ((Const *) pattern)->constisnull)
		return NULL;
	prefix = regexp_fixed_prefix(DatumGetTextPP(((Const *) pattern)->constvalue), false, collation, &whole);
	if (prefix == NULL || prefix[0] == '\0')
		return NULL;
	whole &= key->equality;
	return make_text_cond(key, whole ? WC_KEY_EQ : WC_KEY_PREFIX, whole && key->equality_exact, prefix, strlen(prefix));
}

/* left(key, n) = x: the key starts with x. */
static WcKeyCond *
match_start(const Matcher *m, const OpExpr *clause)
{
	Node	   *column = wc_like_start_of(linitial(clause->args));
	Node	   *value = column != NULL ? lsecond(clause->args) : linitial(clause->args);
	Key			key;

	if (column == NULL)
		column = wc_like_start_of(lsecond(clause->args));
	if (clause->opno != TextEqualOperator || column == NULL || !find_key(m, column, &key) || !key.prefix || !is_value(m, value) ||
		getBaseType(exprType(value)) != TEXTOID || !wc_match_bytes_equal(TEXTOID, clause->inputcollid))
		return NULL;
	if (IsA(value, Const) && !((Const *) value)->constisnull)
	{
		const char *s = TextDatumGetCString(((Const *) value)->constvalue);

		return make_text_cond(&key, WC_KEY_PREFIX, false, s, strlen(s));
	}
	return key.blanks ? NULL : make_cond(WC_COND_OP, &key, WC_KEY_PREFIX, false, value, TEXTOID);
}

static bool
is_like(Oid opno)
{
	return opno == OID_TEXT_LIKE_OP || opno == OID_BPCHAR_LIKE_OP;
}

static bool
is_regex(Oid opno)
{
	return opno == OID_TEXT_REGEXEQ_OP || opno == OID_BPCHAR_REGEXEQ_OP;
}

static WcKeyCond *
match_op(const Matcher *m, OpExpr *clause)
{
	Node	   *left;
	Node	   *right;
	Oid			opno = clause->opno;
	Key			key;
	WcKeyOp		op;
	Oid			type;

	if (list_length(clause->args) != 2)
		return NULL;
	left = linitial(clause->args);
	right = lsecond(clause->args);
	if (!find_key(m, left, &key))
	{
		Node	   *other = left;

		left = right;
		right = other;
		opno = get_commutator(opno);
		if (!OidIsValid(opno) || !find_key(m, left, &key))
			return match_start(m, clause);
	}
	if (!is_value(m, right))
		return NULL;
	type = getBaseType(exprType(right));

	if (is_like(opno) || is_regex(opno) || opno == WC_STARTS_WITH_OPERATOR)
	{
		if (type != TEXTOID || !wc_match_bytes_equal(type, clause->inputcollid))
			return NULL;
		if (is_like(opno))
			return match_like(&key, right);
		if (is_regex(opno))
			return match_regex(&key, right, clause->inputcollid);
		return key.prefix ? make_cond(WC_COND_OP, &key, WC_KEY_PREFIX, key.prefix_exact, right, type) : NULL;
	}
	if (!find_op(&key, opno, clause->inputcollid, &op))
		return NULL;
	if (is_near(&key, type))
		return make_near_cond(&key, op, right, type);
	if (!is_comparable(&key, type))
		return NULL;
	return make_cond(WC_COND_OP, &key, op, op == WC_KEY_EQ ? key.equality_exact : key.order_exact, right, type);
}

/* starts_with(key, x) */
static WcKeyCond *
match_func(const Matcher *m, FuncExpr *clause)
{
	Node	   *prefix;
	Key			key;

	if (clause->funcid != F_STARTS_WITH || !find_key(m, linitial(clause->args), &key) || !key.prefix)
		return NULL;
	prefix = lsecond(clause->args);
	if (!is_value(m, prefix) || getBaseType(exprType(prefix)) != TEXTOID ||
		!wc_match_bytes_equal(TEXTOID, clause->inputcollid))
		return NULL;
	return make_cond(WC_COND_OP, &key, WC_KEY_PREFIX, key.prefix_exact, prefix, TEXTOID);
}

/* key = ANY (array), also written IN */
static WcKeyCond *
match_any(const Matcher *m, ScalarArrayOpExpr *clause)
{
	Node	   *array = lsecond(clause->args);
	Key			key;
	WcKeyOp		op;
	Oid			type;

	if (!clause->useOr || !find_key(m, linitial(clause->args), &key) || !is_value(m, array))
		return NULL;
	type = get_base_element_type(exprType(array));
	if (!OidIsValid(type))
		return NULL;
	type = getBaseType(type);
	if (!is_comparable(&key, type) || !find_op(&key, clause->opno, clause->inputcollid, &op) || op != WC_KEY_EQ)
		return NULL;
	return make_cond(WC_COND_ANY, &key, WC_KEY_EQ, key.equality_exact, array, type);
}

/*
 * (key, key, ...) > (x, y, ...): takes the leading columns that are consecutive parts.  If these are not all columns,
 * the comparison lets through rows in which they are equal, and is not exact.
 */
static WcKeyCond *
match_row(const Matcher *m, RowCompareExpr *clause)
{
	WcKeyCond  *cond = NULL;
	int			part;
	bool		commute = !wc_match_key(m->rel, m->wrel, linitial(clause->largs), &part);
	List	   *keys = commute ? clause->rargs : clause->largs;
	List	   *values = commute ? clause->largs : clause->rargs;
	int			n = list_length(keys);

	for (int i = 0; i < n; i++)
	{
		Node	   *value = list_nth(values, i);
		Oid			opno = list_nth_oid(clause->opnos, i);
		Oid			type = getBaseType(exprType(value));
		Key			key;
		WcKeyOp		op;

		if (commute)
			opno = get_commutator(opno);
		if (!OidIsValid(opno) || !find_key(m, list_nth(keys, i), &key) || key.part < WC_COND_RAW_KEY ||
			!is_value(m, value) || !is_comparable(&key, type) || !key.equality_exact ||
			!find_op(&key, opno, list_nth_oid(clause->inputcollids, i), &op) || op == WC_KEY_EQ)
			break;
		if (cond == NULL)
			cond = make_cond(key.part < 0 ? WC_COND_OP : WC_COND_ROW, &key, op, key.order_exact, value, type);
		else if (cond->part < 0 || key.part != cond->part + i)
			break;
		else
		{
			cond->values = lappend(cond->values, value);
			cond->types = lappend_oid(cond->types, type);
			cond->exact &= key.order_exact;
		}
	}
	if (cond != NULL && list_length(cond->values) < n)
	{
		cond->op = cond->op == WC_KEY_LT ? WC_KEY_LE : cond->op == WC_KEY_GT ? WC_KEY_GE : cond->op;
		cond->exact = false;
	}
	return cond;
}

/* A boolean part as a condition: flag, NOT flag. */
static WcKeyCond *
match_bool(const Matcher *m, Node *expr, bool value)
{
	Key			key;

	if (!find_key(m, expr, &key) || key.type != BOOLOID || !key.equality)
		return NULL;
	return make_cond(WC_COND_OP, &key, WC_KEY_EQ, key.equality_exact, makeBoolConst(value, false), BOOLOID);
}

static WcKeyCond *match_or(const Matcher *m, BoolExpr *clause);

/* part IS NOT DISTINCT FROM x: keys are not NULL, so it is part = x. */
static WcKeyCond *
match_not(const Matcher *m, Node *clause)
{
	if (IsA(clause, DistinctExpr))
		return match_op(m, (OpExpr *) clause);
	return match_bool(m, clause, false);
}

static WcKeyCond *
match_expr(const Matcher *m, Node *clause)
{
	if (IsA(clause, OpExpr))
		return match_op(m, (OpExpr *) clause);
	if (IsA(clause, ScalarArrayOpExpr))
		return match_any(m, (ScalarArrayOpExpr *) clause);
	if (IsA(clause, RowCompareExpr))
		return match_row(m, (RowCompareExpr *) clause);
	if (IsA(clause, FuncExpr))
		return match_func(m, (FuncExpr *) clause);
	if (IsA(clause, Var))
		return match_bool(m, clause, true);
	if (is_notclause(clause))
		return match_not(m, (Node *) get_notclausearg(clause));
	if (is_orclause(clause))
		return match_or(m, (BoolExpr *) clause);
	return NULL;
}

/* Combines each of arms with each of others. */
static List *
combine_arms(List *arms, List *others)
{
	List	   *combined = NIL;
	ListCell   *lc;
	ListCell   *lo;

	foreach(lc, arms)
		foreach(lo, others)
			combined = lappend(combined, list_concat_copy(lfirst(lc), lfirst(lo)));
	return combined;
}

/*
 * Returns the arms that one arm of an OR becomes.  An AND with ORs in it, as in keyset paging, (x AND (y OR z)),
 * becomes several: (x AND y) OR (x AND z).
 */
static List *
match_arm(const Matcher *m, Node *clause, bool *exact)
{
	List	   *arms = list_make1(NIL);
	ListCell   *lc;

	foreach(lc, make_ands_implicit((Expr *) clause))
	{
		WcKeyCond  *cond = match_expr(m, lfirst(lc));

		if (cond == NULL)
			*exact = false;
		else if (cond->kind != WC_COND_OR)
			arms = combine_arms(arms, list_make1(list_make1(cond)));
		else if (list_length(arms) * list_length(cond->arms) <= WC_KEY_ARMS_MAX)
		{
			arms = combine_arms(arms, cond->arms);
			*exact &= cond->exact;
		}
		else
			*exact = false;
	}
	return arms;
}

/*
 * part = x OR part = y OR ... as part = ANY (ARRAY[x, y, ...]), so that conditions on the next part limit the ranges, too.
 * NULL: the OR is none like that.
 */
static WcKeyCond *
any_of_arms(const Matcher *m, const WcKeyCond *or)
{
	ArrayExpr  *array = makeNode(ArrayExpr);
	WcKeyCond  *any = NULL;
	Node	   *first = NULL;
	ListCell   *lc;

	foreach(lc, or->arms)
	{
		const List *arm = lfirst(lc);
		WcKeyCond  *cond = linitial(arm);

		if (list_length(arm) != 1 || cond->kind != WC_COND_OP || cond->op != WC_KEY_EQ || cond->part < 0)
			return NULL;
		if (first == NULL)
			first = linitial(cond->values);
		array->elements = lappend(array->elements, linitial(cond->values));
		if (any == NULL)
			any = make_cond(WC_COND_ANY, &(Key) {cond->part}, WC_KEY_EQ, or->exact, (Node *) array,
							linitial_oid(cond->types));
		else if (cond->part != any->part || linitial_oid(cond->types) != linitial_oid(any->types))
			return NULL;
		any->exact &= cond->exact;
	}
	array->element_typeid = getBaseType(exprType(first));
	array->array_typeid = get_array_type(array->element_typeid);
	array->array_collid = exprCollation(first);
	array->location = -1;
	if (!OidIsValid(array->array_typeid))
		return NULL;
	linitial(any->values) = eval_const_expressions(m->root, (Node *) array);
	return any;
}

/*
 * If no clause of an arm gives a condition, the whole OR is useless.  If only some of its clauses do, the OR must be
 * rechecked.
 */
static WcKeyCond *
match_or(const Matcher *m, BoolExpr *clause)
{
	WcKeyCond  *or = palloc0(sizeof(WcKeyCond));
	WcKeyCond  *any;
	ListCell   *lc;

	or->kind = WC_COND_OR;
	or->part = WC_COND_NO_PART;
	or->exact = true;
	foreach(lc, clause->args)
	{
		List	   *arms = match_arm(m, lfirst(lc), &or->exact);

		if (linitial(arms) == NIL)
			return NULL;
		or->arms = list_concat(or->arms, arms);
	}
	any = any_of_arms(m, or);
	return any != NULL ? any : or;
}

WcKeyCond *
wc_match_clause(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, RestrictInfo *rinfo)
{
	Matcher		m = {root, rel, wrel};

	if (rinfo->pseudoconstant || !restriction_is_securely_promotable(rinfo, rel))
		return NULL;
	return match_expr(&m, (Node *) rinfo->clause);
}
