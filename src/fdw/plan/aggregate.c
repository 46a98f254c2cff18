/*
 * fdw/plan/aggregate.c: scans whose rows are groups of rows, aggregated in the engine.
 *
 * Such a scan returns what a partial Aggregate node returns: groups and, for each aggregate, its transition state.
 * PostgreSQL's own node above combines and finishes them.  So a group may come in several parts, and a row that the
 * engine cannot decide is a part by itself: the scan makes its state from the row's values.  Groups of partitions are
 * combined in the same way.
 *
 * A column may be a member of a map (fdw/condition/member.h).  As the column of a group it is an expression, and has a place of its own in
 * the scan's tuple, behind the aggregates.  If the query groups by other expressions, or an aggregate has a FILTER, the engine groups by the columns in them.
 *
 * The rows are those of the relation's own path; the engine must decide all of its conditions.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/planner.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "base/limits.h"
#include "client/settings.h"
#include "compat.h"
#include "fdw/condition/filter.h"
#include "fdw/condition/match.h"
#include "fdw/fdw.h"
#include "fdw/plan/aggregate.h"
#include "fdw/plan/cost.h"
#include "fdw/plan/mapkeys.h"
#include "fdw/plan/relplan.h"
#include "fdw/relation/keycontent.h"

/* --- aggregates ---------------------------------------------------------------- */

/* The cells, or parts of the key, that the engine reads for an aggregate. */
typedef struct Input
{
	int			att;			/* attnum - 1 */
	WcMember	member;			/* if qualifier.len > 0: the member of att, a map */
	WcForm		form;
	WcCodec    *codec;
} Input;

/* The column of relid that an expression is; -1: none, or one whose bytes the engine cannot find. */
static int
find_att(const WcRelation *wrel, Index relid, Node *expr)
{
	const Var  *var;
	int			att;

	while (expr != NULL && IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	if (expr == NULL || !IsA(expr, Var))
		return -1;
	var = (const Var *) expr;
	if (var->varno != (int) relid || var->varlevelsup != 0 || var->varattno <= 0 || var->varattno > wrel->natts)
		return -1;
	att = var->varattno - 1;
	if (wc_filter_codec(unconstify(WcRelation *, wrel), att) == NULL)
		return -1;
	return wc_filter_in_key(wrel, att) && !wc_keycontent_tells(&wrel->columns[att]) ? -1 : att;
}

/* Aggregates that need a sum: the type of its values, and the transition state. */
typedef struct Summed
{
	Oid			aggregate;
	Oid			type;
	WcStateKind state;
} Summed;

static const Summed sums[] = {
	{F_SUM_INT2, INT2OID, WC_STATE_SUM},
	{F_SUM_INT4, INT4OID, WC_STATE_SUM},
	{F_AVG_INT2, INT2OID, WC_STATE_COUNT_AND_SUM},
	{F_AVG_INT4, INT4OID, WC_STATE_COUNT_AND_SUM},
	{F_SUM_INT8, INT8OID, WC_STATE_NUMERIC},
	{F_AVG_INT8, INT8OID, WC_STATE_NUMERIC},
	{F_SUM_NUMERIC, NUMERICOID, WC_STATE_DECIMAL},
	{F_AVG_NUMERIC, NUMERICOID, WC_STATE_DECIMAL},
	{F_SUM_FLOAT4, FLOAT4OID, WC_STATE_SINGLE},
	{F_SUM_FLOAT8, FLOAT8OID, WC_STATE_DOUBLE},
	{F_AVG_FLOAT4, FLOAT4OID, WC_STATE_DOUBLES},
	{F_AVG_FLOAT8, FLOAT8OID, WC_STATE_DOUBLES},
	{F_VAR_POP_FLOAT4, FLOAT4OID, WC_STATE_DOUBLES},
	{F_VAR_POP_FLOAT8, FLOAT8OID, WC_STATE_DOUBLES},
	{F_VAR_SAMP_FLOAT4, FLOAT4OID, WC_STATE_DOUBLES},
	{F_VAR_SAMP_FLOAT8, FLOAT8OID, WC_STATE_DOUBLES},
	{F_VARIANCE_FLOAT4, FLOAT4OID, WC_STATE_DOUBLES},
	{F_VARIANCE_FLOAT8, FLOAT8OID, WC_STATE_DOUBLES},
	{F_STDDEV_POP_FLOAT4, FLOAT4OID, WC_STATE_DOUBLES},
	{F_STDDEV_POP_FLOAT8, FLOAT8OID, WC_STATE_DOUBLES},
	{F_STDDEV_SAMP_FLOAT4, FLOAT4OID, WC_STATE_DOUBLES},
	{F_STDDEV_SAMP_FLOAT8, FLOAT8OID, WC_STATE_DOUBLES},
	{F_STDDEV_FLOAT4, FLOAT4OID, WC_STATE_DOUBLES},
	{F_STDDEV_FLOAT8, FLOAT8OID, WC_STATE_DOUBLES}
};

/* NULL: the aggregate needs no sum. */
static const Summed *
find_sum(Oid aggregate)
{
	for (int i = 0; i < (int) lengthof(sums); i++)
	{
		if (sums[i].aggregate == aggregate)
			return &sums[i];
	}
	return NULL;
}

/* Is the expression a column, or a member of a map, that the engine can read? */
static bool
find_input(const WcRelation *wrel, Index relid, Node *expr, Input *input)
{
	input->member = (WcMember) {0};
	input->att = find_att(wrel, relid, expr);
	if (input->att >= 0)
	{
		input->form = wc_form_of_column(wrel, input->att);
		input->codec = wc_filter_codec(unconstify(WcRelation *, wrel), input->att);
		return true;
	}
	while (expr != NULL && IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	if (!wc_member_match(wrel, relid, expr, &input->member))
		return false;
	input->att = input->member.att;
	input->codec = wc_member_codec(wrel, &input->member);
	input->form = wc_form_of_cell(input->codec);
	return true;
}

/* Can the engine read the numbers, and add them up? */
static bool
can_sum(const Input *input, const Summed *summed, WcAggregateKind *kind)
{
	uint8		form = input->form.column.form;

	if (input->codec->spec.type != summed->type || !input->form.order)
		return false;
	switch (summed->state)
	{
		case WC_STATE_DECIMAL:
			*kind = WC_AGGREGATE_SUM_DECIMAL;
			return form == WC_FORM_DECIMAL;
		case WC_STATE_SINGLE:
			*kind = WC_AGGREGATE_SUM_SINGLE;
			return form == WC_FORM_FLOAT;
		case WC_STATE_DOUBLE:
		case WC_STATE_DOUBLES:
			*kind = WC_AGGREGATE_SUM_DOUBLE;
			return form == WC_FORM_FLOAT;
		default:
			*kind = form == WC_FORM_BYTES ? WC_AGGREGATE_SUM_ORDERED : WC_AGGREGATE_SUM;
			return true;
	}
}

/* Is the aggregate the least or greatest value by the order of the bytes? */
static bool
is_extreme(const Input *input, const Aggref *aggref, WcAggregateKind *kind)
{
	Oid			value_type = input->codec->spec.type;
	TypeCacheEntry *type = lookup_type_cache(value_type, TYPECACHE_BTREE_OPFAMILY);
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	Oid			sortop;
	int			strategy;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	sortop = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggsortop;
	ReleaseSysCache(tuple);
	if (!OidIsValid(sortop) || !OidIsValid(type->btree_opf) || aggref->aggfnoid >= FirstGenbkiObjectId)
		return false;
	strategy = get_op_opfamily_strategy(sortop, type->btree_opf);
	*kind = strategy == BTLessStrategyNumber ? WC_AGGREGATE_MIN : WC_AGGREGATE_MAX;
	/* max(character) is the first of the values that differ only in their blanks */
	return (strategy == BTLessStrategyNumber || strategy == BTGreaterStrategyNumber) && input->form.order &&
		input->form.column.form != WC_FORM_TRIMMED && wc_match_bytes_ordered(value_type, aggref->inputcollid);
}

/* Can the engine compute the aggregate?  Not with DISTINCT or ORDER BY; a FILTER is looked at elsewhere. */
static bool
match_aggregate(const WcRelation *wrel, Index relid, const Aggref *aggref, WcAggregatePlan *plan)
{
	WcAggregateKind kind;
	const Summed *summed;
	Node	   *arg;
	Input		input;

	if (aggref->aggkind != AGGKIND_NORMAL || aggref->aggdistinct != NIL || aggref->aggorder != NIL ||
		aggref->agglevelsup != 0 || aggref->aggvariadic)
		return false;
	plan->kind = WC_AGGREGATE_ROWS;
	plan->state = WC_STATE_COUNT;
	plan->att = -1;
	plan->member = (WcMember) {0};
	if (aggref->aggfnoid == F_COUNT_)
		return true;
	if (list_length(aggref->args) != 1)
		return false;
	arg = (Node *) linitial_node(TargetEntry, aggref->args)->expr;
	if (aggref->aggfnoid == F_COUNT_ANY && IsA(arg, Const) && !((Const *) arg)->constisnull)
		return true;
	if (!find_input(wrel, relid, arg, &input))
		return false;
	plan->att = input.att;
	plan->member = input.member;
	plan->kind = WC_AGGREGATE_VALUES;
	if (aggref->aggfnoid == F_COUNT_ANY)
		return true;
	summed = find_sum(aggref->aggfnoid);
	if (summed != NULL ? !can_sum(&input, summed, &kind) : !is_extreme(&input, aggref, &kind))
		return false;
	plan->kind = kind;
	plan->state = summed != NULL ? summed->state : WC_STATE_VALUE;
	return true;
}

/* The columns by which the engine makes groups. */
typedef struct Groups
{
	const WcRelation *wrel;
	Index		relid;
	List	   *columns;		/* integers: attnum - 1; also of those that have one value */
	List	   *members;		/* expressions: members of maps, as text */
	bool		finer;			/* a group of the query's may be several of these */
} Groups;

/* True: the expression needs something of the row that the engine cannot group by. */
static bool
add_groups(Node *node, void *context)
{
	Groups	   *groups = context;
	WcMember	member;
	int			att;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		att = find_att(groups->wrel, groups->relid, node);
		if (att >= 0)
			groups->columns = list_append_unique_int(groups->columns, att);
		return att < 0;
	}
	if (wc_member_match_text(groups->wrel, groups->relid, node, &member))
	{
		groups->members = list_append_unique(groups->members, node);
		return false;
	}
	if (IsA(node, PlaceHolderVar) || IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) || IsA(node, Aggref))
		return true;
	return expression_tree_walker(node, add_groups, context);
}

/*
 * Adds the columns of an expression by which the query groups.  Rows in which all of them are the same belong to one group; so the engine
 * groups by the columns, and PostgreSQL, above, by the expression.  Or of the condition of an aggregate's FILTER: in a group of the
 * engine's all rows satisfy it, or none, so the scan decides whether the group's state counts.
 */
static bool
match_group(Groups *groups, Node *expr)
{
	int			before = list_length(groups->columns) + list_length(groups->members);
	WcMember	member;

	if (contain_volatile_functions(expr) || add_groups(expr, groups))
		return false;
	if (list_length(groups->columns) + list_length(groups->members) > before && !IsA(expr, Var) &&
		!wc_member_match_text(groups->wrel, groups->relid, expr, &member))
		groups->finer = true;
	return true;
}

/* The same of conditions of FILTERs, behind all expressions by which the query groups. */
static bool
match_filter(Groups *groups, const Aggref *aggref)
{
	int			before = list_length(groups->columns) + list_length(groups->members);

	if (aggref->aggfilter == NULL)
		return true;
	if (contain_volatile_functions((Node *) aggref->aggfilter) || add_groups((Node *) aggref->aggfilter, groups))
		return false;
	groups->finer |= list_length(groups->columns) + list_length(groups->members) > before;
	return true;
}

/*
 * Can the engine make these groups and aggregates?  Sets *groups.  A sum of floats depends on the order in which they are
 * added: it is not put together of finer groups.
 */
static bool
match_target(const WcRelation *wrel, Index relid, const PathTarget *target, Groups *groups)
{
	int			naggregates = 0;
	bool		sums_floats = false;
	int			ngroups;
	ListCell   *lc;

	*groups = (Groups) {.wrel = wrel,.relid = relid};
	foreach(lc, target->exprs)
	{
		Node	   *expr = lfirst(lc);
		WcAggregatePlan aggregate;

		if (!IsA(expr, Aggref))
		{
			if (!match_group(groups, expr))
				return false;
			continue;
		}
		naggregates++;
		if (!match_aggregate(wrel, relid, (Aggref *) expr, &aggregate))
			return false;
		sums_floats |= wc_aggregate_sums_floats((uint8) aggregate.kind);
	}
	foreach(lc, target->exprs)
	{
		if (IsA(lfirst(lc), Aggref) && !match_filter(groups, lfirst(lc)))
			return false;
	}
	ngroups = list_length(groups->columns) + list_length(groups->members);
	return !(groups->finer && sums_floats) && naggregates <= WC_AGGREGATES_MAX && ngroups <= WC_AGGREGATES_MAX && naggregates + ngroups > 0;
}

/* --- paths ------------------------------------------------------------------------ */

typedef struct Pull
{
	const WcRelation *wrel;
	Index		relid;
	List	   *groups;			/* expressions */
	List	   *found;			/* aggregates, and columns and members of maps outside of the groups' expressions */
} Pull;

static bool
pull_walker(Node *node, void *context)
{
	Pull	   *pull = context;
	WcMember	member;

	if (node == NULL || list_member(pull->groups, node))
		return false;
	if (!IsA(node, Aggref) && !IsA(node, Var) && !IsA(node, PlaceHolderVar) && !wc_member_match_text(pull->wrel, pull->relid, node, &member))
		return expression_tree_walker(node, pull_walker, context);
	pull->found = lappend(pull->found, node);
	return false;
}

/* As PostgreSQL's make_partial_grouping_target: the groups' columns, and partial aggregates for all aggregates
 * in the target and in HAVING. */
static PathTarget *
make_partial_target(PlannerInfo *root, const WcRelation *wrel, Index relid, const PathTarget *target, Node *having)
{
	PathTarget *partial = create_empty_pathtarget();
	Pull		pull = {.wrel = wrel,.relid = relid};
	List	   *others = NIL;
	ListCell   *lc;

	foreach(lc, target->exprs)
	{
		Expr	   *expr = lfirst(lc);
		Index		ref = get_pathtarget_sortgroupref(target, foreach_current_index(lc));

		if (ref != 0 && get_sortgroupref_clause_noerr(ref, wc_group_clause(root)) != NULL)
			add_column_to_pathtarget(partial, expr, ref);
		else
			others = lappend(others, expr);
	}
	others = lappend(others, having);
	pull.groups = list_copy(partial->exprs);
	(void) pull_walker((Node *) others, &pull);
	add_new_columns_to_pathtarget(partial, pull.found);
	foreach(lc, partial->exprs)
	{
		Aggref	   *aggref;

		if (!IsA(lfirst(lc), Aggref))
			continue;
		aggref = makeNode(Aggref);
		memcpy(aggref, lfirst(lc), sizeof(Aggref));
		mark_partial_aggref(aggref, AGGSPLIT_INITIAL_SERIAL);
		lfirst(lc) = aggref;
	}
	return set_pathtarget_cost_width(root, partial);
}

/* The path of a scan of groups, made from the path of a scan of rows. */
static ForeignPath *
make_grouped_path(PlannerInfo *root, RelOptInfo *output_rel, PathTarget *target, ForeignPath *rows, double ngroups,
				  bool ordered)
{
	ForeignPath *path;
	Cost		startup;
	Cost		total;

	wc_cost_aggregate(&rows->path, list_length(target->exprs), ngroups, ordered, &startup, &total);
	path = wc_make_foreign_upper_path(root, output_rel, target, ngroups, startup, total,
									  ordered ? root->group_pathkeys : NIL,
									  list_make2(rows, list_make1_int(ordered)));
	path->path.parallel_aware = rows->path.parallel_aware;
	path->path.parallel_workers = rows->path.parallel_workers;
	return path;
}

/* Does the path return rows in the order of the groups, so that those of a group follow one another? */
static bool
is_ordered(PlannerInfo *root, const Groups *groups, const Path *path)
{
	return !groups->finer && root->group_pathkeys != NIL && pathkeys_contained_in(root->group_pathkeys, path->pathkeys);
}

/* Adds paths in which each process makes groups of the parts of a shared scan that it reads; if the scan is not
 * ordered, of each part by itself. */
static void
add_shared_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, const Groups *groups, PathTarget *target,
				 double ngroups)
{
	ListCell   *lc;

	foreach(lc, input_rel->partial_pathlist)
	{
		ForeignPath *rows = wc_plan_own_path(lfirst(lc), input_rel);

		if (rows != NULL)
			add_partial_path(output_rel, (Path *) make_grouped_path(root, output_rel, target, rows,
																	Min(ngroups, rows->path.rows),
																	is_ordered(root, groups, &rows->path)));
	}
}

/* May the engine make groups of the relation's rows at all? */
static bool
may_group(PlannerInfo *root, const RelOptInfo *rel, const WcRelation *wrel)
{
	return wc_plan_may_stand_below(root, rel, wrel) && wc_plan_decides_rows(rel) && wc_client_groups(wrel->desc);
}

/* How many values a member of a map has.  Without extended statistics PostgreSQL would take the number of different maps. */
static double
count_values(PlannerInfo *root, Node *member)
{
	VariableStatData data;
	bool		is_default = true;
	double		n = 0;

	examine_variable(root, member, 0, &data);
	if (HeapTupleIsValid(data.statsTuple))
		n = get_variable_numdistinct(&data, &is_default);
	ReleaseVariableStats(data);
	return is_default ? DEFAULT_NUM_DISTINCT : n;
}

static double
count_groups(PlannerInfo *root, const Groups *groups, const PathTarget *target, const RelOptInfo *rel)
{
	List	   *columns = NIL;
	double		n = 1;
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) target->exprs, PVC_RECURSE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS))
	{
		if (list_member_int(groups->columns, lfirst_node(Var, lc)->varattno - 1))
			columns = list_append_unique(columns, lfirst(lc));
	}
	foreach(lc, groups->members)
		n *= count_values(root, lfirst(lc));
	if (columns != NIL)
		n *= estimate_num_groups(root, columns, rel->rows, NULL, NULL);
	return clamp_row_est(Min(n, rel->rows));
}

/* How many groups the query has. */
static double
count_results(PlannerInfo *root, const PathTarget *target, double ngroups)
{
	List	   *exprs = NIL;
	ListCell   *lc;

	foreach(lc, target->exprs)
	{
		if (!IsA(lfirst(lc), Aggref))
			exprs = lappend(exprs, lfirst(lc));
	}
	return exprs == NIL ? 1 : Min(ngroups, estimate_num_groups(root, exprs, ngroups, NULL, NULL));
}

void
widecolGetForeignGroupPaths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel, RelOptInfo *output_rel,
							void *extra)
{
	const GroupPathExtraData *group = extra;
	bool		partial = stage == UPPERREL_PARTIAL_GROUP_AGG;
	const WcRelation *wrel;
	PathTarget *target;
	Groups		groups;
	double		ngroups;
	ListCell   *lc;

	if (stage != UPPERREL_GROUP_AGG && !partial)
		return;
	wrel = wc_plan_member(input_rel);
	if (wrel == NULL || root->hasNonPartialAggs || root->hasNonSerialAggs || (!root->parse->hasAggs && root->parse->groupClause == NIL) ||
		!may_group(root, input_rel, wrel))
		return;
	target = partial ? output_rel->reltarget : make_partial_target(root, wrel, input_rel->relid, output_rel->reltarget, group->havingQual);
	if (!match_target(wrel, input_rel->relid, target, &groups))
		return;
	ngroups = count_groups(root, &groups, target, input_rel);
	foreach(lc, input_rel->pathlist)
	{
		ForeignPath *rows = wc_plan_own_path(lfirst(lc), input_rel);
		Path	   *grouped;

		if (rows == NULL)
			continue;
		grouped = (Path *) make_grouped_path(root, output_rel, target, rows, ngroups, is_ordered(root, &groups, &rows->path));
		if (partial)
			add_path(output_rel, grouped);
		else
			wc_plan_add_grouping(root, output_rel, grouped, AGGSPLIT_FINAL_DESERIAL, count_results(root, target, ngroups), group);
	}
	if (partial && output_rel->consider_parallel)
		add_shared_paths(root, input_rel, output_rel, &groups, target, ngroups);
}

typedef struct Needs
{
	const WcRelation *wrel;
	Index		relid;
	PathTarget *target;
} Needs;

/* Adds columns and members of maps to the target, but for expressions that it has. */
static bool
needs_walker(Node *node, void *context)
{
	Needs	   *needs = context;
	WcMember	member;

	if (node == NULL || list_member(needs->target->exprs, node))
		return false;
	if (!IsA(node, Var) && !IsA(node, PlaceHolderVar) && !wc_member_match_text(needs->wrel, needs->relid, node, &member))
		return expression_tree_walker(node, needs_walker, context);
	add_column_to_pathtarget(needs->target, (Expr *) node, 0);
	return false;
}

PathTarget *
wc_aggregate_input_target(PlannerInfo *root, const WcRelation *wrel, Index relid, const PathTarget *from, List *above)
{
	Needs		needs = {.wrel = wrel,.relid = relid,.target = create_empty_pathtarget()};
	ListCell   *lc;

	foreach(lc, from->exprs)
	{
		Index		ref = get_pathtarget_sortgroupref(from, foreach_current_index(lc));

		if (ref != 0 && get_sortgroupref_clause_noerr(ref, wc_group_clause(root)) != NULL)
			add_column_to_pathtarget(needs.target, lfirst(lc), ref);
	}
	(void) needs_walker((Node *) above, &needs);
	return set_pathtarget_cost_width(root, needs.target);
}

Path *
wc_aggregate_distinct_path(PlannerInfo *root, const RelOptInfo *rel, RelOptInfo *output_rel, Path *top, List *above)
{
	const WcRelation *wrel = wc_plan_member(rel);
	ForeignPath *rows = wc_plan_own_path(top, rel);
	PathTarget *target;
	Groups		groups;

	if (wrel == NULL || rows == NULL || !may_group(root, rel, wrel))
		return NULL;
	target = above == NIL ? top->pathtarget : wc_aggregate_input_target(root, wrel, rel->relid, top->pathtarget, above);
	if (!match_target(wrel, rel->relid, target, &groups))
		return NULL;
	return (Path *) make_grouped_path(root, output_rel, target, rows, count_groups(root, &groups, target, rel), false);
}

/* --- the plan ------------------------------------------------------------------------ */

ForeignPath *
wc_aggregate_rows(ForeignPath *path)
{
	return IS_UPPER_REL(path->path.parent) ? linitial(path->fdw_private) : path;
}

/* The scan reads the member. */
static void
want_member(WcScanPlan *plan, const WcMember *member)
{
	char	   *name = wc_text_from_utf8(member->qualifier);
	Const	   *key = makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(name), false, false);
	WcMapKeys  *map = NULL;
	ListCell   *lc;

	plan->attrs = bms_add_member(plan->attrs, member->att);
	foreach(lc, plan->map_keys)
	{
		if (((WcMapKeys *) lfirst(lc))->att == member->att)
			map = lfirst(lc);
	}
	if (map == NULL)
	{
		map = palloc0(sizeof(WcMapKeys));
		map->att = member->att;
		plan->map_keys = lappend(plan->map_keys, map);
	}
	map->keys = list_append_unique(map->keys, key);
}

List *
wc_aggregate_plan(PlannerInfo *root, const ForeignPath *path, const WcRelation *wrel, List *tlist, WcScanPlan *plan)
{
	Index		relid = ((ForeignPath *) linitial(path->fdw_private))->path.parent->relid;
	List	   *scan_tlist = wc_plan_all_columns(root, relid);
	Groups		groups = {.wrel = wrel,.relid = relid};
	ListCell   *lc;

	plan->grouped = true;
	plan->groups_ordered = linitial_int(lsecond(path->fdw_private)) != 0;
	foreach(lc, tlist)
	{
		Expr	   *expr = lfirst_node(TargetEntry, lc)->expr;
		WcAggregatePlan aggregate;

		if (!IsA(expr, Aggref))
		{
			if (!match_group(&groups, (Node *) expr))
				elog(ERROR, "foreign table \"%s\" is grouped by an expression that the engine cannot read", wrel->relname);
			continue;
		}
		if (tlist_member(expr, scan_tlist) != NULL)
			continue;
		if (!match_aggregate(wrel, relid, (Aggref *) expr, &aggregate) || !match_filter(&groups, (Aggref *) expr))
			elog(ERROR, "foreign table \"%s\" has an aggregate that the engine cannot do", wrel->relname);
		plan->aggregates = lappend(plan->aggregates,
								   list_make3_int(aggregate.kind, aggregate.att, aggregate.state));
		if (aggregate.member.qualifier.len > 0)
			want_member(plan, &aggregate.member);
		else if (aggregate.att >= 0)
			plan->attrs = bms_add_member(plan->attrs, aggregate.att);
		scan_tlist = wc_plan_add_column(scan_tlist, expr);
	}
	plan->groups = groups.columns;
	foreach(lc, groups.columns)
		plan->attrs = bms_add_member(plan->attrs, lfirst_int(lc));
	foreach(lc, groups.members)
	{
		WcMember	member;

		(void) wc_member_match_text(wrel, relid, lfirst(lc), &member);
		want_member(plan, &member);
		plan->groups = lappend_int(plan->groups, list_length(scan_tlist));
		scan_tlist = wc_plan_add_column(scan_tlist, lfirst(lc));
	}
	return scan_tlist;
}
