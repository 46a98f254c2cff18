/*
 * fdw/relation/recordtype.c: foreign tables that show one of several types of records in
 * a stored table.
 *
 * The constants go to the planner as clauses like those of a query, so that they
 * become part of each range that they can be part of.  Where they cannot (a
 * part before them is free), rows are told apart by their keys' bytes, before
 * anything is decoded: a key of another type may not decode at all.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/prep.h"
#include "optimizer/restrictinfo.h"
#include "rewrite/rewriteManip.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/pg_locale.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "client/client.h"
#include "fdw/relation/key.h"
#include "fdw/relation/recordtype.h"

/* --- finding constants ----------------------------------------------------------- */

/* The key column that this expression is, or NULL. */
static WcRelColumn *
key_column(WcRelation *wrel, Node *expr)
{
	const Var  *var;

	while (expr != NULL && IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	if (expr == NULL || !IsA(expr, Var))
		return NULL;
	var = (const Var *) expr;
	if (var->varattno <= 0 || var->varattno > wrel->natts || wrel->columns[var->varattno - 1].role != WC_ROLE_KEY)
		return NULL;
	return &wrel->columns[var->varattno - 1];
}

/* Adds the part's content for this value; one that cannot be in a key is in no row. */
static void
add_value(WcRelColumn *column, Oid type, Datum value)
{
	WcBuf		buf = WC_BUF_INIT;
	WcFit		fit = wc_codec_encode_bound(&column->codec, getBaseType(type), value, &buf);

	if (fit == WC_FIT_EXACT && !buf.failed)
	{
		uint8	   *content = palloc(buf.len + 1);

		wc_slice_copy(content, wc_buf_slice(&buf));
		column->constants[column->nconstants++] = wc_slice(content, buf.len);
	}
	wc_buf_free(&buf);
}

/* All rows satisfy the clause: the column has one of these values.  The first
 * such clause of a column is taken. */
static void
add_constants(WcRelation *wrel, WcRelColumn *column, Oid type, Datum *values, bool *nulls, int nvalues, Expr *clause)
{
	if (column->nconstants > 0 || !column->codec.equality_exact)
		return;
	/* which instant a date is depends on the session's time zone */
	if (column->codec.spec.type == TIMESTAMPTZOID && getBaseType(type) != TIMESTAMPTZOID)
		return;
	column->constants = palloc(sizeof(WcSlice) * Max(nvalues, 1));
	for (int i = 0; i < nvalues; i++)
	{
		if (!nulls[i])
			add_value(column, type, values[i]);
	}
	if (column->nconstants == 0)
		return;
	wrel->constants = lappend(wrel->constants, clause);
	wrel->constant_parts = Max(wrel->constant_parts, column->key_no + 1);
}

static bool
is_equality(const WcRelColumn *column, Oid opno, Oid collation)
{
	TypeCacheEntry *type = lookup_type_cache(getBaseType(column->type), TYPECACHE_BTREE_OPFAMILY);

	return OidIsValid(type->btree_opf) &&
		get_op_opfamily_strategy(opno, type->btree_opf) == BTEqualStrategyNumber &&
		(!OidIsValid(collation) || get_collation_isdeterministic(collation));
}

/* part = constant */
static void
find_in_op(WcRelation *wrel, OpExpr *op)
{
	Node	   *left;
	Node	   *right;
	WcRelColumn *column;
	Const	   *value;

	if (list_length(op->args) != 2)
		return;
	left = linitial(op->args);
	right = lsecond(op->args);
	column = key_column(wrel, IsA(left, Const) ? right : left);
	value = (Const *) (IsA(left, Const) ? left : right);
	if (column != NULL && IsA(value, Const) && is_equality(column, op->opno, op->inputcollid))
		add_constants(wrel, column, value->consttype, &value->constvalue, &value->constisnull, 1, (Expr *) op);
}

/* part = ANY (constant array): only a partition's bound of several values counts, as a
 * row would otherwise be seen in several partitions; a CHECK that just lists what may be
 * written should not make each row be looked at. */
static void
find_in_any(WcRelation *wrel, ScalarArrayOpExpr *any)
{
	WcRelColumn *column = key_column(wrel, linitial(any->args));
	Const	   *value = lsecond(any->args);
	Oid			element;
	ArrayType  *array;
	int16		len;
	bool		byval;
	char		align;
	Datum	   *elems;
	bool	   *nulls;
	int			nelems;

	if (column == NULL || !any->useOr || !IsA(value, Const) || value->constisnull ||
		!is_equality(column, any->opno, any->inputcollid))
		return;
	array = DatumGetArrayTypeP(value->constvalue);
	element = ARR_ELEMTYPE(array);
	get_typlenbyvalalign(element, &len, &byval, &align);
	deconstruct_array(array, element, len, byval, align, &elems, &nulls, &nelems);
	add_constants(wrel, column, element, elems, nulls, nelems, (Expr *) any);
}

/* part, NOT part: what part = true and part = false become */
static void
find_in_bool(WcRelation *wrel, Node *clause)
{
	bool		negated = is_notclause(clause);
	WcRelColumn *column = key_column(wrel, negated ? (Node *) get_notclausearg(clause) : clause);
	Datum		value = BoolGetDatum(!negated);
	bool		isnull = false;

	if (column != NULL)
		add_constants(wrel, column, BOOLOID, &value, &isnull, 1, (Expr *) clause);
}

/* A part of the key is never NULL: (part IS NULL OR clause), a partition's bound of NULL and other values, is the clause. */
static Node *
without_null(WcRelation *wrel, Node *clause)
{
	List	   *args = is_orclause(clause) ? ((BoolExpr *) clause)->args : NIL;
	const NullTest *test = list_length(args) == 2 ? linitial(args) : NULL;

	if (test != NULL && IsA(test, NullTest) && test->nulltesttype == IS_NULL && key_column(wrel, (Node *) test->arg) != NULL)
		return lsecond(args);
	return clause;
}

/* Is the function in a language in which every user may write functions? */
static bool
is_written_by_user(Oid function, void *context)
{
	HeapTuple	tuple;
	Oid			language;

	if (function < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return true;
	language = ((Form_pg_proc) GETSTRUCT(tuple))->prolang;
	ReleaseSysCache(tuple);
	return language != INTERNALlanguageId && language != ClanguageId;
}

/*
 * Would evaluating the expression run the code of a user?  Each role that opens the foreign table reads the definition,
 * for a dump, say, and must not run functions of the table's owner by that.
 */
static bool
runs_user_code(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return check_functions_in_node(node, is_written_by_user, NULL) || expression_tree_walker(node, runs_user_code, context);
}

/* A clause that runs no user's code. */
static void
find_in_clause(WcRelation *wrel, Node *expr, bool bound)
{
	List	   *clauses;
	ListCell   *lc;

	expr = eval_const_expressions(NULL, expr);
	clauses = make_ands_implicit(canonicalize_qual((Expr *) expr, true));
	foreach(lc, clauses)
	{
		Node	   *clause = without_null(wrel, lfirst(lc));

		if (IsA(clause, OpExpr))
			find_in_op(wrel, (OpExpr *) clause);
		else if (IsA(clause, ScalarArrayOpExpr))
		{
			if (bound)
				find_in_any(wrel, (ScalarArrayOpExpr *) clause);
		}
		else
			find_in_bool(wrel, clause);
	}
}

static void
find_in_expr(WcRelation *wrel, Node *expr, bool bound)
{
	ListCell   *lc;

	foreach(lc, make_ands_implicit((Expr *) expr))
		if (!runs_user_code(lfirst(lc), NULL))
			find_in_clause(wrel, lfirst(lc), bound);
}

static void
find_generated(WcRelation *wrel, WcRelColumn *column, Node *expr)
{
	TypeCacheEntry *type = lookup_type_cache(getBaseType(column->type), TYPECACHE_EQ_OPR);
	Const	   *value;
	Var		   *var;

	if (runs_user_code(expr, NULL))
		return;
	value = (Const *) eval_const_expressions(NULL, expr);
	if (!IsA(value, Const) || !OidIsValid(type->eq_opr))
		return;
	var = makeVar(1, column->attnum, column->type, column->typmod, column->collation, 0);
	add_constants(wrel, column, value->consttype, &value->constvalue, &value->constisnull, 1,
				  make_opclause(type->eq_opr, BOOLOID, false, (Expr *) var, (Expr *) value,
								InvalidOid, column->collation));
}

void
wc_recordtype_find(WcRelation *wrel, Relation rel)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;
	ListCell   *lc;

	for (int i = 0; constr != NULL && i < constr->num_check; i++)
	{
		if (constr->check[i].ccvalid)
			find_in_expr(wrel, stringToNode(constr->check[i].ccbin), false);
	}
	for (int i = 0; constr != NULL && i < constr->num_defval; i++)
	{
		int			att = constr->defval[i].adnum - 1;

		if (TupleDescAttr(RelationGetDescr(rel), att)->attgenerated != '\0' &&
			wrel->columns[att].role == WC_ROLE_KEY)
			find_generated(wrel, &wrel->columns[att], stringToNode(constr->defval[i].adbin));
	}
	if (rel->rd_rel->relispartition)
	{
		foreach(lc, RelationGetPartitionQual(rel))
			find_in_expr(wrel, copyObject(lfirst(lc)), true);
	}
}

bool
wc_recordtype_has(const WcRelColumn *column, WcSlice value)
{
	for (int i = 0; i < column->nconstants; i++)
		if (wc_slice_eq(column->constants[i], value))
			return true;
	return false;
}

/* --- planning ------------------------------------------------------------------- */

List *
wc_recordtype_clauses(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, List *clauses)
{
	List	   *own = NIL;
	ListCell   *lc;

	foreach(lc, wrel->constants)
	{
		Node	   *clause = copyObject(lfirst(lc));
		bool		given = false;
		ListCell   *lg;

		ChangeVarNodes(clause, 1, (int) rel->relid, 0);
		foreach(lg, clauses)
			given |= equal(lfirst_node(RestrictInfo, lg)->clause, clause);
		if (!given)
			own = lappend(own, make_simple_restrictinfo(root, (Expr *) clause));
	}
	return own;
}

static WcSlice
copy_slice(WcSlice s)
{
	uint8	   *copy = palloc(s.len + 1);

	wc_slice_copy(copy, s);
	return wc_slice(copy, s.len);
}

/* The rows whose first n parts have these contents; false: they are not one range of the table.  none: no row can have them. */
static bool
range_of(const WcRelation *wrel, const WcSlice *equal, uint32 n, WcRange *range, bool *none)
{
	WcArena		arena = WC_ARENA_INIT;
	WcKeyRange	found;
	WcError		err;
	bool		one;

	memset(range, 0, sizeof(*range));
	range->start_inclusive = true;
	*none = false;
	if (n == 0 || n == (uint32) wrel->nkeys || wrel->key_layout.salt.buckets > 0)
		return false;
	if (wc_rowkey_range(&wrel->key_layout, equal, n, NULL, &arena, &found, &err) != WC_OK)
		wc_raise(&err);
	*none = found.empty;
	one = !found.empty && found.range.start_inclusive && !found.range.stop_inclusive;
	if (one)
	{
		range->start = copy_slice(found.range.start);
		range->stop = copy_slice(found.range.stop);
	}
	wc_arena_free(&arena);
	return one;
}

void
wc_recordtype_range(const WcRelation *wrel, WcRange *range)
{
	WcSlice    *equal = palloc(sizeof(WcSlice) * (wrel->nkeys + 1));
	uint32		n = 0;
	bool		none;

	for (; n < (uint32) wrel->constant_parts && wrel->columns[wrel->keys[n]].nconstants == 1; n++)
		equal[n] = wrel->columns[wrel->keys[n]].constants[0];
	(void) range_of(wrel, equal, n, range, &none);
}

WcRange *
wc_recordtype_ranges(const WcRelation *wrel, int *nranges)
{
	WcSlice    *equal = palloc(sizeof(WcSlice) * (wrel->nkeys + 1));
	int			last = wrel->constant_parts - 1;
	const WcRelColumn *column;
	WcRange    *ranges;
	int			n = 0;

	*nranges = 0;
	if (last < 0)
		return NULL;
	for (int k = 0; k < last; k++)
	{
		column = &wrel->columns[wrel->keys[k]];
		if (column->nconstants != 1)
			return NULL;
		equal[k] = column->constants[0];
	}
	column = &wrel->columns[wrel->keys[last]];
	ranges = palloc(sizeof(WcRange) * column->nconstants);
	for (int i = 0; i < column->nconstants; i++)
	{
		bool		none;

		equal[last] = column->constants[i];
		if (range_of(wrel, equal, (uint32) last + 1, &ranges[n], &none))
			n++;
		else if (!none)
			return NULL;
	}
	*nranges = n;
	return ranges;
}

/* --- reading -------------------------------------------------------------------- */

bool
wc_recordtype_matches(WcRelation *wrel, WcSlice key)
{
	const WcSlice *parts;

	if (wrel->constant_parts == 0)
		return true;
	parts = wc_key_leading(wrel, key, wrel->constant_parts);
	for (int k = 0; parts != NULL && k < wrel->constant_parts; k++)
	{
		const WcRelColumn *column = &wrel->columns[wrel->keys[k]];

		bool		found = column->nconstants == 0;

		for (int i = 0; i < column->nconstants && !found; i++)
			found = wc_slice_eq(column->constants[i], parts[k]);
		if (!found)
			return false;
	}
	return parts != NULL;
}
