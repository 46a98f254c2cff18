/*
 * fdw/condition/member.c: members of maps as columns of a filter.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "fdw/condition/member.h"
#include "fdw/relation/hstore.h"

/* jsonb ->> text has no symbol in PostgreSQL's headers. */
#define JSONB_MEMBER_OPERATOR 3477

/* The most names in one ?|, ?& or @>; a clause with more is evaluated in the session. */
#define NAMES_MAX 64

/* --- functions ------------------------------------------------------------------- */

typedef enum MapFunction
{
	MAP_MEMBER,					/* ->>; of hstore: -> */
	MAP_EXISTS,					/* ? */
	MAP_EXISTS_ANY,				/* ?| */
	MAP_EXISTS_ALL,				/* ?& */
	MAP_CONTAINS				/* @> */
} MapFunction;

static const Oid jsonb_functions[] = {
	F_JSONB_OBJECT_FIELD_TEXT, F_JSONB_EXISTS, F_JSONB_EXISTS_ANY, F_JSONB_EXISTS_ALL, F_JSONB_CONTAINS
};
static const char *const hstore_functions[] = {
	"hstore_fetchval", "hstore_exists", "hstore_exists_any", "hstore_exists_all", "hstore_contains"
};

/* The map that an expression is; NULL: no map of relid. */
static const WcRelColumn *
find_map(const WcRelation *wrel, Index relid, Node *expr)
{
	const Var  *var;
	const WcRelColumn *column;

	while (expr != NULL && IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	if (expr == NULL || !IsA(expr, Var))
		return NULL;
	var = (const Var *) expr;
	if (var->varno != (int) relid || var->varlevelsup != 0 || var->varattno <= 0 || var->varattno > wrel->natts)
		return NULL;
	column = &wrel->columns[var->varattno - 1];
	return column->role == WC_ROLE_MAP || column->role == WC_ROLE_PREFIX_MAP ? column : NULL;
}

/* Is the expression this function of a map and a constant that is not NULL? */
static bool
match_function(const WcRelation *wrel, Index relid, Node *expr, MapFunction function, const WcRelColumn **map, Const **arg)
{
	OpExpr	   *op = (OpExpr *) expr;

	if (expr == NULL || !IsA(expr, OpExpr) || list_length(op->args) != 2 || !IsA(lsecond(op->args), Const))
		return false;
	*map = find_map(wrel, relid, linitial(op->args));
	*arg = lsecond(op->args);
	if (*map == NULL || (*arg)->constisnull)
		return false;
	set_opfuncid(op);
	if ((*map)->hstore)
		return wc_hstore_is_function(op->opfuncid, getBaseType((*map)->type), hstore_functions[function]);
	return op->opfuncid == jsonb_functions[function];
}

/* --- one member -------------------------------------------------------------------- */

/* Finds the qualifier of the member's cell; false: a cell with it is not always the map's member of this name. */
static bool
name_qualifier(const WcRelation *wrel, const WcRelColumn *map, Datum name, WcSlice *qualifier)
{
	char	   *s = TextDatumGetCString(name);

	*qualifier = wc_text_to_utf8(s, strlen(s));
	/* the cell with the empty qualifier may be a marker, which is no member */
	return qualifier->len > 0 && qualifier->len <= WC_QUALIFIER_MAX &&
		(map->role == WC_ROLE_MAP || wc_slice_starts_with(*qualifier, map->qualifier)) &&
		!wc_relation_declares(wrel, map->family, *qualifier);
}

/* Types for which the engine can read a text, or knows that it cannot. */
static bool
is_cast(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == NUMERICOID || type == DATEOID ||
		type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

bool
wc_member_match(const WcRelation *wrel, Index relid, Node *expr, WcMember *member)
{
	const WcRelColumn *map;
	Const	   *name;

	member->type = TEXTOID;
	if (expr != NULL && IsA(expr, CoerceViaIO))
	{
		member->type = ((CoerceViaIO *) expr)->resulttype;
		expr = (Node *) ((CoerceViaIO *) expr)->arg;
		if (!is_cast(member->type))
			return false;
	}
	if (!match_function(wrel, relid, expr, MAP_MEMBER, &map, &name))
		return false;
	member->att = map->attnum - 1;
	return name_qualifier(wrel, map, name->constvalue, &member->qualifier);
}

bool
wc_member_match_text(const WcRelation *wrel, Index relid, Node *expr, WcMember *member)
{
	return wc_member_match(wrel, relid, expr, member) && member->type == TEXTOID;
}

typedef struct CastSearch
{
	const WcRelation *wrel;
	Index		relid;
} CastSearch;

static bool
find_cast(Node *node, CastSearch *search)
{
	WcMember	member;

	if (node == NULL)
		return false;
	if (IsA(node, CoerceViaIO) && wc_member_match(search->wrel, search->relid, node, &member))
		return true;
	return expression_tree_walker(node, find_cast, search);
}

bool
wc_member_has_cast(const WcRelation *wrel, Index relid, Node *expr)
{
	CastSearch	search = {wrel, relid};

	return find_cast(expr, &search);
}

WcCodec *
wc_member_codec(const WcRelation *wrel, const WcMember *member)
{
	WcCodec    *codec = palloc0(sizeof(WcCodec));
	WcCodecSpec spec = {
		.table = wrel->relname,.column = NameStr(wrel->columns[member->att].name),.type = member->type,.typmod = -1,
		.collation = member->type == TEXTOID ? DEFAULT_COLLATION_OID : InvalidOid,.encoding = WC_ENCODING_TEXT
	};

	wc_codec_init(codec, &spec);
	return codec;
}

/* --- several ------------------------------------------------------------------------ */

/* map ->> 'name', with the operator of the map's type; NULL: a filter cannot read this member. */
static Expr *
make_member(const WcRelation *wrel, const WcRelColumn *map, Node *expr, Datum name)
{
	Oid			opno = map->hstore ? wc_hstore_member_operator(getBaseType(map->type)) : JSONB_MEMBER_OPERATOR;
	WcSlice		qualifier;
	Expr	   *op;

	if (!OidIsValid(opno) || !name_qualifier(wrel, map, name, &qualifier))
		return NULL;
	op = make_opclause(opno, TEXTOID, false, (Expr *) copyObject(expr),
					   (Expr *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, name, false, false),
					   DEFAULT_COLLATION_OID, DEFAULT_COLLATION_OID);
	set_opfuncid((OpExpr *) op);
	return op;
}

static Node *
make_exists(Expr *member)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = member;
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	return (Node *) test;
}

static Node *
make_equal(Expr *member, Datum value)
{
	Expr	   *op = make_opclause(TextEqualOperator, BOOLOID, false, member,
								   (Expr *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, value, false, false),
								   InvalidOid, C_COLLATION_OID);

	set_opfuncid((OpExpr *) op);
	return (Node *) op;
}

static Node *
combine(List *args, bool all)
{
	if (args == NIL || list_length(args) > NAMES_MAX)
		return NULL;
	if (list_length(args) == 1)
		return linitial(args);
	return (Node *) makeBoolExpr(all ? AND_EXPR : OR_EXPR, args, -1);
}

static Node *
expand_names(const WcRelation *wrel, const WcRelColumn *map, Node *expr, const Const *names, bool all)
{
	ArrayType  *array = DatumGetArrayTypeP(names->constvalue);
	List	   *args = NIL;
	Datum	   *elems;
	bool	   *nulls;
	int			n;

	if (ARR_ELEMTYPE(array) != TEXTOID)
		return NULL;
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elems, &nulls, &n);
	for (int i = 0; i < n && list_length(args) <= NAMES_MAX; i++)
	{
		Expr	   *member;

		if (nulls[i])
			continue;			/* PostgreSQL ignores a NULL name */
		member = make_member(wrel, map, expr, elems[i]);
		if (member == NULL)
			return NULL;
		args = lappend(args, make_exists(member));
	}
	return combine(args, all);
}

static Datum
text_of(const JsonbValue *v)
{
	return PointerGetDatum(cstring_to_text_with_len(v->val.string.val, v->val.string.len));
}

/* map @> an object whose values are all strings; a map has no other values. */
static Node *
expand_contained(const WcRelation *wrel, const WcRelColumn *map, Node *expr, Const *contained)
{
	List	   *args = NIL;
	Datum		value = contained->constvalue;
	Jsonb	   *jsonb;
	JsonbIterator *it;
	JsonbValue	v;
	JsonbIteratorToken token;

	if (map->hstore)
	{
		WcHstore	hstore;

		wc_hstore_get(getBaseType(map->type), &hstore);
		value = OidFunctionCall1(hstore.to_jsonb, value);
	}
	jsonb = DatumGetJsonbP(value);
	if (!JB_ROOT_IS_OBJECT(jsonb))
		return NULL;
	it = JsonbIteratorInit(&jsonb->root);
	token = JsonbIteratorNext(&it, &v, true);
	while ((token = JsonbIteratorNext(&it, &v, true)) == WJB_KEY && list_length(args) <= NAMES_MAX)
	{
		Expr	   *member = make_member(wrel, map, expr, text_of(&v));

		token = JsonbIteratorNext(&it, &v, true);
		if (member == NULL || token != WJB_VALUE || v.type != jbvString)
			return NULL;
		args = lappend(args, make_equal(member, text_of(&v)));
	}
	return combine(args, true);
}

Node *
wc_member_expand(const WcRelation *wrel, Index relid, Node *clause)
{
	const WcRelColumn *map;
	Const	   *arg;
	Node	   *expr;
	Expr	   *member;

	if (!wrel->has_map || !IsA(clause, OpExpr) || list_length(((OpExpr *) clause)->args) != 2)
		return NULL;
	expr = linitial(((OpExpr *) clause)->args);
	if (match_function(wrel, relid, clause, MAP_EXISTS, &map, &arg))
	{
		member = make_member(wrel, map, expr, arg->constvalue);
		return member != NULL ? make_exists(member) : NULL;
	}
	if (match_function(wrel, relid, clause, MAP_EXISTS_ANY, &map, &arg))
		return expand_names(wrel, map, expr, arg, false);
	if (match_function(wrel, relid, clause, MAP_EXISTS_ALL, &map, &arg))
		return expand_names(wrel, map, expr, arg, true);
	if (match_function(wrel, relid, clause, MAP_CONTAINS, &map, &arg))
		return expand_contained(wrel, map, expr, arg);
	return NULL;
}
