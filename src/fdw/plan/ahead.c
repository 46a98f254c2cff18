/*
 * fdw/plan/ahead.c: the expressions and paths that may be evaluated before their row is asked for.
 *
 * Both walks list the nodes that they know; any other node counts as harmful.
 */
#include "postgres.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "fdw/condition/qual.h"
#include "fdw/fdw.h"
#include "fdw/plan/ahead.h"
#include "fdw/plan/lookahead.h"

/* --- expressions ----------------------------------------------------------------- */

typedef struct ExprWalk
{
	const PlannerInfo *root;
	/*
	 * The expressions are evaluated for each row that is returned, including the first.  So an expression that does not
	 * depend on the row has failed before the first row, or never fails.
	 */
	bool		from_first_row;
	bool		conditional;	/* the current node may be skipped for some rows */
	WcAhead		found;
} ExprWalk;

static bool walk_expr(Node *node, void *arg);

/* Is this one of PostgreSQL's functions that are not leakproof, but raise no error except for lack of memory? */
static bool
never_fails(Oid function, const List *args)
{
	const Node *second = list_length(args) > 1 ? lsecond(args) : NULL;
	const Const *constant = second != NULL && IsA(second, Const) && !((Const *) second)->constisnull ? (Const *) second : NULL;

	switch (function)
	{
		case F_INT4_INT2:
		case F_INT8_INT2:
		case F_INT8_INT4:
		case F_FLOAT8_INT2:
		case F_FLOAT8_INT4:
		case F_FLOAT8_INT8:
		case F_FLOAT8_FLOAT4:
		case F_NUMERIC_INT2:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
		case F_NUMERIC_EQ:
		case F_NUMERIC_NE:
		case F_NUMERIC_LT:
		case F_NUMERIC_LE:
		case F_NUMERIC_GT:
		case F_NUMERIC_GE:
		case F_NUMERIC_CMP:
		case F_TEXTCAT:
		case F_TEXT_NAME:
		case F_LENGTH_TEXT:
		case F_MD5_TEXT:
		case F_MD5_BYTEA:
		case F_JSONB_OBJECT_FIELD:
		case F_JSONB_OBJECT_FIELD_TEXT:
		case F_JSONB_EXISTS:
			return true;
			/* by a positive constant */
		case F_INT2DIV:
		case F_INT2MOD:
			return constant != NULL && DatumGetInt16(constant->constvalue) > 0;
		case F_INT4DIV:
		case F_INT4MOD:
		case F_INT24DIV:
		case F_INT84DIV:
			return constant != NULL && DatumGetInt32(constant->constvalue) > 0;
		case F_INT8DIV:
		case F_INT8MOD:
			return constant != NULL && DatumGetInt64(constant->constvalue) > 0;
			/* a pattern without escapes */
		case F_TEXTLIKE:
		case F_TEXTNLIKE:
			return constant != NULL && constant->consttype == TEXTOID &&
				strchr(TextDatumGetCString(constant->constvalue), '\\') == NULL;
		default:
			return false;
	}
}

/* Types whose text forms are known, cast to types that take any text. */
static bool
io_never_fails(const CoerceViaIO *coercion)
{
	switch (exprType((Node *) coercion->arg))
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NAMEOID:
		case TEXTOID:
		case VARCHAROID:
		case UUIDOID:
			return coercion->resulttype == TEXTOID || coercion->resulttype == VARCHAROID;
		default:
			return false;
	}
}

/* Does the expression have columns, or nodes whose meaning their parents determine?  (Parameters are those of
 * outer queries: those of loops are columns still.) */
static bool
depends_on_row(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Const:
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
		case T_ArrayExpr:
		case T_SQLValueFunction:
		case T_NullTest:
		case T_List:
		case T_Param:
			return expression_tree_walker(node, depends_on_row, arg);
		default:
			return true;
	}
}

static bool
is_volatile(Oid function, void *arg)
{
	return func_volatile(function) == PROVOLATILE_VOLATILE;
}

static bool
contains_volatile(Node *node, void *arg)
{
	return node != NULL && (check_functions_in_node(node, is_volatile, NULL) ||
							expression_tree_walker(node, contains_volatile, arg));
}

static void
note(ExprWalk *walk, WcAhead found)
{
	walk->found = Max(walk->found, found);
}

static bool
judge_function(Oid function, void *arg)
{
	ExprWalk   *walk = arg;

	if (func_volatile(function) == PROVOLATILE_VOLATILE)
		note(walk, WC_AHEAD_NEVER);
	else if (!get_func_leakproof(function))
		note(walk, function < FirstGenbkiObjectId ? WC_AHEAD_MAY_FAIL : WC_AHEAD_NEVER);
	return false;
}

/* Judges a node that calls functions. */
static void
judge_call(Node *node, ExprWalk *walk)
{
	List	   *args = NIL;
	Oid			function = InvalidOid;

	/* also sets opfuncid where it is missing */
	if (IsA(node, OpExpr))
	{
		set_opfuncid((OpExpr *) node);
		function = ((OpExpr *) node)->opfuncid;
		args = ((OpExpr *) node)->args;
	}
	else if (IsA(node, FuncExpr))
	{
		function = ((FuncExpr *) node)->funcid;
		args = ((FuncExpr *) node)->args;
	}
	if (OidIsValid(function) && never_fails(function, args))
		return;
	if (walk->from_first_row && !walk->conditional && !depends_on_row(node, NULL) && !contains_volatile(node, NULL))
		return;
	(void) check_functions_in_node(node, judge_function, walk);
}

/* Judges an aggregate's result, above the node that computes it or in that node. */
static void
judge_aggregate(const Aggref *aggref, ExprWalk *walk)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	if (OidIsValid(((Form_pg_aggregate) GETSTRUCT(tuple))->aggfinalfn))
		note(walk, WC_AHEAD_NEVER);
	ReleaseSysCache(tuple);
}

static bool
walk_conditional(Node *node, ExprWalk *walk)
{
	bool		before = walk->conditional;

	walk->conditional = true;
	(void) expression_tree_walker(node, walk_expr, walk);
	walk->conditional = before;
	return walk->found == WC_AHEAD_NEVER;
}

static bool
walk_expr(Node *node, void *arg)
{
	ExprWalk   *walk = arg;

	if (node == NULL || walk->found == WC_AHEAD_NEVER)
		return walk->found == WC_AHEAD_NEVER;
	switch (nodeTag(node))
	{
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
			judge_call(node, walk);
			break;
		case T_CoerceViaIO:
			if (!io_never_fails((CoerceViaIO *) node))
				judge_call(node, walk);
			break;
		case T_Aggref:
			/* its arguments are evaluated before the first row */
			judge_aggregate((Aggref *) node, walk);
			return walk->found == WC_AHEAD_NEVER;
		case T_Param:
			if (((Param *) node)->paramkind == PARAM_EXEC && (!walk->from_first_row || walk->conditional) &&
				wc_param_is_from_init_plan(walk->root, ((Param *) node)->paramid))
				note(walk, WC_AHEAD_NEVER);
			break;
		case T_SubscriptingRef:
		case T_FieldSelect:
			note(walk, WC_AHEAD_MAY_FAIL);
			break;
		case T_BoolExpr:
		case T_CaseExpr:
		case T_CoalesceExpr:
			return walk_conditional(node, walk);
		case T_Var:
		case T_Const:
		case T_RelabelType:
		case T_NullTest:
		case T_BooleanTest:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_RowExpr:
		case T_SQLValueFunction:
		case T_PlaceHolderVar:
		case T_List:
			break;
		case T_ArrayExpr:
			if (((ArrayExpr *) node)->multidims)
				note(walk, WC_AHEAD_MAY_FAIL);
			break;
		default:
			note(walk, WC_AHEAD_NEVER);
			return true;
	}
	return expression_tree_walker(node, walk_expr, walk);
}

WcAhead
wc_ahead_exprs(const PlannerInfo *root, const List *exprs)
{
	ExprWalk	walk = {.root = root, .from_first_row = true, .found = WC_AHEAD_SAFE};

	(void) walk_expr((Node *) exprs, &walk);
	return walk.found;
}

/* --- paths ------------------------------------------------------------------------ */

typedef struct PathWalk
{
	PlannerInfo *root;
	bool		inner;			/* on the inner side of a loop: runs again for later rows */
	bool		from_first_row; /* no row is returned before one of this path */
	bool		decodes;		/* rows of a foreign table of ours are read ahead */
	bool		stores;			/* a node keeps rows for its next run */
} PathWalk;

static bool walk_path(Path *path, PathWalk walk, PathWalk *result);

static bool
are_safe(const List *exprs, const PathWalk *walk)
{
	ExprWalk	expr_walk = {.root = walk->root, .from_first_row = walk->from_first_row && !walk->inner, .found = WC_AHEAD_SAFE};

	(void) walk_expr((Node *) exprs, &expr_walk);
	return expr_walk.found == WC_AHEAD_SAFE;
}

/* The same for RestrictInfos. */
static bool
clauses_are_safe(const List *clauses, const PathWalk *walk)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		if (!are_safe(list_make1(lfirst_node(RestrictInfo, lc)->clause), walk))
			return false;
	}
	return true;
}

/* Are the conditions and the target list of a scan safe? */
static bool
scan_is_safe(const Path *path, const PathWalk *walk)
{
	return are_safe(path->pathtarget->exprs, walk) && clauses_are_safe(path->parent->baserestrictinfo, walk) &&
		(path->param_info == NULL || clauses_are_safe(path->param_info->ppi_clauses, walk));
}

static bool
walk_below(Path *path, const PathWalk *walk, PathWalk *result)
{
	return walk_path(path, *walk, result);
}

/* A foreign table of ours.  After a deferred error, a node that keeps rows would go on after the row that the
 * error belongs to; wc_ahead_path refuses the two together. */
static bool
walk_foreign(const Path *path, const PathWalk *walk, PathWalk *result)
{
	result->decodes = true;
	return path->parent->fdwroutine->GetForeignRelSize == widecolGetForeignRelSize && scan_is_safe(path, walk);
}

static bool
walk_loop(const JoinPath *join, PathWalk walk, PathWalk *result)
{
	walk.from_first_row = false;
	if (!clauses_are_safe(join->joinrestrictinfo, &walk) || !are_safe(join->path.pathtarget->exprs, &walk) ||
		!walk_below(join->outerjoinpath, &walk, result))
		return false;
	walk.inner = true;
	return walk_below(join->innerjoinpath, &walk, result);
}

/* The hash table is complete before the first row. */
static bool
walk_hash(const JoinPath *join, PathWalk walk, PathWalk *result)
{
	walk.from_first_row = false;
	return !walk.inner && clauses_are_safe(join->joinrestrictinfo, &walk) && are_safe(join->path.pathtarget->exprs, &walk) &&
		walk_below(join->outerjoinpath, &walk, result);
}

static bool
walk_merge(const MergePath *merge, PathWalk walk, PathWalk *result)
{
	const JoinPath *join = &merge->jpath;

	walk.from_first_row = false;
	result->stores |= merge->materialize_inner;
	return !walk.inner && clauses_are_safe(join->joinrestrictinfo, &walk) && are_safe(join->path.pathtarget->exprs, &walk) &&
		(merge->outersortkeys != NIL || walk_below(join->outerjoinpath, &walk, result)) &&
		(merge->innersortkeys != NIL || walk_below(join->innerjoinpath, &walk, result));
}

/* Partitions have the same conditions, so one that does not depend on the row fails before the first row of any
 * partition. */
static bool
walk_append(const Path *path, const List *subpaths, PathWalk walk, PathWalk *result)
{
	ListCell   *lc;

	walk.from_first_row &= path->parent->reloptkind == RELOPT_BASEREL &&
		walk.root->simple_rte_array[path->parent->relid]->rtekind == RTE_RELATION;
	foreach(lc, subpaths)
	{
		if (!walk_below(lfirst(lc), &walk, result))
			return false;
	}
	return are_safe(path->pathtarget->exprs, &walk);
}

static bool
walk_subquery(const SubqueryScanPath *path, PathWalk walk, PathWalk *result)
{
	if (!scan_is_safe(&path->path, &walk))
		return false;
	walk.root = path->path.parent->subroot;
	return walk_below(path->subpath, &walk, result);
}

/* Groups made by hashing are complete before the first row; a single group is the only row. */
static bool
walk_aggregate(const AggPath *agg, const PathWalk *walk)
{
	if (walk->inner)
		return false;
	if (agg->aggstrategy == AGG_PLAIN)
		return true;
	return agg->aggstrategy == AGG_HASHED && are_safe(agg->path.pathtarget->exprs, walk) && are_safe(agg->qual, walk);
}

static bool
walk_unique(const UniquePath *path, const PathWalk *walk, PathWalk *result)
{
	if (path->umethod == UNIQUE_PATH_NOOP)
		return walk_below(path->subpath, walk, result);
	return !walk->inner;
}

/* Scans of one relation that is not a foreign table. */
static bool
walk_scan(const Path *path, const PathWalk *walk)
{
	const RangeTblEntry *rte = walk->root->simple_rte_array[path->parent->relid];

	switch (path->pathtype)
	{
		case T_SeqScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
		case T_WorkTableScan:
		case T_NamedTuplestoreScan:
			return scan_is_safe(path, walk);
		case T_ValuesScan:
			return are_safe(rte->values_lists, &(PathWalk) {.root = walk->root}) && scan_is_safe(path, walk);
		case T_FunctionScan:
		case T_TableFuncScan:
			/* the functions run to their end before the first row */
			return !walk->inner && scan_is_safe(path, walk);
		default:
			return false;
	}
}

/* Handles nodes that return the rows of their input, some of them or in another order; and nodes that read
 * their input before the first row. */
static bool
walk_path(Path *path, PathWalk walk, PathWalk *result)
{
	switch (nodeTag(path))
	{
		case T_Path:
			return IS_SIMPLE_REL(path->parent) && walk_scan(path, &walk);
		case T_IndexPath:
			return are_safe(((IndexPath *) path)->indexorderbys, &walk) && walk_scan(path, &walk);
		case T_BitmapHeapPath:
		case T_TidPath:
		case T_TidRangePath:
			return walk_scan(path, &walk);
		case T_ForeignPath:
			return IS_SIMPLE_REL(path->parent) && walk_foreign(path, &walk, result);
		case T_CustomPath:
			/* our own node, around a path that has been examined */
			return wc_lookahead_is_path(path) && walk_below(linitial(((CustomPath *) path)->custom_paths), &walk, result);
		case T_NestPath:
			return walk_loop((JoinPath *) path, walk, result);
		case T_HashPath:
			return walk_hash((JoinPath *) path, walk, result);
		case T_MergePath:
			return walk_merge((MergePath *) path, walk, result);
		case T_AppendPath:
			return walk_append(path, ((AppendPath *) path)->subpaths, walk, result);
		case T_MergeAppendPath:
			return walk_append(path, ((MergeAppendPath *) path)->subpaths, walk, result);
		case T_SubqueryScanPath:
			return walk_subquery((SubqueryScanPath *) path, walk, result);
		case T_ProjectionPath:
			return are_safe(path->pathtarget->exprs, &walk) && walk_below(((ProjectionPath *) path)->subpath, &walk, result);
		case T_GroupResultPath:
			return true;		/* one row */
		case T_MaterialPath:
			result->stores = true;
			return walk_below(((MaterialPath *) path)->subpath, &walk, result);
		case T_MemoizePath:
			result->stores = true;
			return walk_below(((MemoizePath *) path)->subpath, &walk, result);
		case T_LimitPath:
			return walk_below(((LimitPath *) path)->subpath, &walk, result);
		case T_UpperUniquePath:
			return walk_below(((UpperUniquePath *) path)->subpath, &walk, result);
		case T_IncrementalSortPath:
			return walk_below(((IncrementalSortPath *) path)->spath.subpath, &walk, result);
		case T_GatherPath:
			return walk_below(((GatherPath *) path)->subpath, &walk, result);
		case T_GatherMergePath:
			return walk_below(((GatherMergePath *) path)->subpath, &walk, result);
		case T_SortPath:
			return !walk.inner;
		case T_UniquePath:
			return walk_unique((UniquePath *) path, &walk, result);
		case T_AggPath:
			return walk_aggregate((AggPath *) path, &walk);
		default:
			return false;
	}
}

bool
wc_ahead_path(PlannerInfo *root, Path *path)
{
	PathWalk	walk = {.root = root, .from_first_row = true};
	PathWalk	result = {0};

	return walk_path(path, walk, &result) && !(result.decodes && result.stores);
}

bool
wc_ahead_defers(void)
{
	return ERRCODE_TO_CATEGORY(geterrcode()) == ERRCODE_DATA_EXCEPTION;
}
