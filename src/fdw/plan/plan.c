/*
 * fdw/plan/plan.c: planning a scan.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "foreign/fdwapi.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/reltrigger.h"
#include "utils/syscache.h"

#include "client/client.h"
#include "client/settings.h"
#include "compat.h"
#include "fdw/condition/match.h"
#include "fdw/fdw.h"
#include "fdw/plan/aggregate.h"
#include "fdw/plan/distinct.h"
#include "fdw/plan/limit.h"
#include "fdw/plan/lookahead.h"
#include "fdw/plan/mapkeys.h"
#include "fdw/plan/order.h"
#include "fdw/plan/plan.h"
#include "fdw/plan/private.h"
#include "fdw/plan/relplan.h"
#include "fdw/plan/untouched.h"
#include "fdw/plan/warn.h"

/* Below an Append, scans of so many rows at most are asynchronous.  For a thousand rows, the extra cost of the
 * rows has been measured to equal the time saved by opening scans together. */
#define WC_ASYNC_ROWS_MAX 300

/* The extra cost of a partition's scan that suits an asynchronous Append but is not to be part of one: enough
 * that the planner keeps both paths. */
#define WC_NOT_ASYNC_FACTOR 1.02

/* --- paths --------------------------------------------------------------------
 * A path's fdw_private: (walks backwards, merges buckets, takes keys from other relations, suits an asynchronous
 * Append, and the marks of limit.c and distinct.c, if there are any), or lookahead.c's Link.
 */

bool
wc_plan_path_suits_async(const ForeignPath *path)
{
	return IsA(path->fdw_private, IntList) && lfourth_int(path->fdw_private) != 0;
}

/* Is the relation on the side of a semijoin or antijoin of which the first match is enough? */
static bool
needs_one_match(PlannerInfo *root, RelOptInfo *rel)
{
	Relids		relids = rel->top_parent_relids != NULL ? rel->top_parent_relids : rel->relids;
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		SpecialJoinInfo *join = lfirst(lc);

		if ((join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI) && bms_overlap(relids, join->syn_righthand))
			return true;
	}
	return false;
}

/*
 * Is it worth opening the scan before its rows are wanted, and paying a little more for each row?  Not if the rows may
 * never be wanted (a LIMIT, a cursor, a match in another partition).  A cluster works on the rows meanwhile, however
 * many there are.  Rows that are changed still come partition by
 * partition.
 */
static bool
suits_async(PlannerInfo *root, RelOptInfo *rel, double rows)
{
	const WcRelPlan *plan = rel->fdw_private;
	bool		few = rows <= WC_ASYNC_ROWS_MAX && rows * rel->reltarget->width <= WC_BLOCK_MAX;

	return root->tuple_fraction <= 0 && (few || plan->size.remote) &&
		!bms_is_member(rel->relid, root->all_result_relids) && !needs_one_match(root, rel);
}

static ForeignPath *
make_path(PlannerInfo *root, RelOptInfo *rel, const WcQuals *quals, const WcOrder *order, double rows, Cost startup,
		  Cost total, Relids required_outer, bool async)
{
	return wc_make_foreign_path(root, rel, rows, startup, total, order->pathkeys, required_outer,
								list_make4_int(order->reversed, order->merged, !bms_is_empty(quals->outer_relids), async));
}

/*
 * PostgreSQL makes an Append asynchronous if it may not run in a worker.  So a partition's scan that suits an
 * asynchronous Append is not parallel safe.  A second, slightly dearer scan is parallel safe; without it, a small
 * partition would keep workers from reading all partitions.
 */
static void
add_async_paths(PlannerInfo *root, RelOptInfo *rel, const WcQuals *quals, const WcOrder *order, double rows,
				Cost startup, Cost total, Relids required_outer)
{
	ForeignPath *path = make_path(root, rel, quals, order, rows, startup, total, required_outer, true);

	if (rel->reloptkind == RELOPT_OTHER_MEMBER_REL && path->path.parallel_safe)
	{
		path->path.parallel_safe = false;
		add_path(rel, (Path *) make_path(root, rel, quals, order, rows, startup, total * WC_NOT_ASYNC_FACTOR,
										 required_outer, false));
	}
	add_path(rel, (Path *) path);
}

/* Adds a scan that workers share, if that is worth it.  Ranges are split by row keys, so a merged scan is not
 * shared. */
static void
add_shared_path(PlannerInfo *root, RelOptInfo *rel, const WcQuals *quals, const WcOrder *order, double rows,
				Cost startup, Cost total)
{
	WcRelPlan  *plan = rel->fdw_private;
	ForeignPath *path;
	int			workers;

	if (!rel->consider_parallel || !bms_is_empty(rel->lateral_relids) || order->merged || quals->point || quals->never)
		return;
	workers = wc_cost_workers(root, rel, plan->wrel, quals, &plan->size);
	if (workers <= 0)
		return;
	rows = wc_cost_share(workers, rows, startup, &total);
	path = make_path(root, rel, quals, order, rows, startup, total, NULL, false);
	path->path.parallel_aware = true;
	path->path.parallel_workers = workers;
	add_partial_path(rel, (Path *) path);
}

static void
add_plain_path(PlannerInfo *root, RelOptInfo *rel, const WcQuals *quals, const WcOrder *order,
			   double rows, Relids required_outer)
{
	static const WcOrder any = {NIL, false, false};

	WcRelPlan  *plan = rel->fdw_private;
	Cost		startup;
	Cost		total;

	if (order == NULL)
		order = &any;
	wc_cost_scan(root, rel, quals, &plan->size, rows, &startup, &total);
	if (order->merged)
		wc_cost_merge(plan->wrel, quals, rows, &startup, &total);
	if (order->reversed)
		total = startup + (total - startup) * WC_COST_REVERSED;
	if (suits_async(root, rel, rows))
		add_async_paths(root, rel, quals, order, rows, startup, total, required_outer);
	else
		add_path(rel, (Path *) make_path(root, rel, quals, order, rows, startup, total, required_outer, false));
	if (bms_is_empty(required_outer))
		add_shared_path(root, rel, quals, order, rows, startup, total);
}

/* Distinct sets of outer relations. */
static List *
add_outer_relids(List *sets, Relids relids)
{
	ListCell   *lc;

	foreach(lc, sets)
	{
		if (bms_equal(lfirst(lc), relids))
			return sets;
	}
	return lappend(sets, relids);
}

/* The key column for which join clauses are sought. */
typedef struct EcTarget
{
	WcRelation *wrel;
	int			part;
} EcTarget;

static bool
ec_member_is_key(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec, EquivalenceMember *em, void *arg)
{
	EcTarget   *target = arg;
	int			part;

	return wc_match_key(rel, target->wrel, (Node *) em->em_expr, &part) && part == target->part;
}

static List *
add_usable_clauses(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, List *clauses, List *sets)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Relids		outer;

		if (!join_clause_is_movable_to(rinfo, rel) || wc_match_clause(root, rel, wrel, rinfo) == NULL)
			continue;
		outer = bms_union(rinfo->clause_relids, rel->lateral_relids);
		outer = bms_del_members(outer, rel->relids);
		if (!bms_is_empty(outer))
			sets = add_outer_relids(sets, outer);
	}
	return sets;
}

/* The sets of other relations whose values make a key, or its leading parts. */
static List *
find_outer_relids(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel)
{
	List	   *sets = add_usable_clauses(root, rel, wrel, rel->joininfo, NIL);
	Relids		all = NULL;
	ListCell   *lc;

	for (int part = WC_COND_RAW_KEY; rel->has_eclass_joins && part < wrel->nkeys; part++)
	{
		EcTarget	target = {wrel, part};
		List	   *clauses = generate_implied_equalities_for_column(root, rel, ec_member_is_key, &target,
																	 rel->lateral_referencers);

		sets = add_usable_clauses(root, rel, wrel, clauses, sets);
	}
	foreach(lc, sets)
		all = bms_add_members(all, lfirst(lc));
	return list_length(sets) > 1 ? add_outer_relids(sets, all) : sets;
}

static void
add_parameterised_paths(PlannerInfo *root, RelOptInfo *rel)
{
	WcRelPlan  *plan = rel->fdw_private;
	ListCell   *lc;

	foreach(lc, find_outer_relids(root, rel, plan->wrel))
	{
		ParamPathInfo *info = get_baserel_parampathinfo(root, rel, lfirst(lc));
		WcQuals		quals;

		wc_quals_find(root, rel, plan->wrel, list_concat_copy(rel->baserestrictinfo, info->ppi_clauses), &quals);
		if (bms_is_empty(quals.outer_relids))
			continue;
		info->ppi_rows = wc_cost_clamp_rows(plan->wrel, &quals, info->ppi_rows);
		add_plain_path(root, rel, &quals, NULL, info->ppi_rows, lfirst(lc));
	}
}

void
widecolGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	WcRelPlan  *plan = baserel->fdw_private;
	ListCell   *lc;

	add_plain_path(root, baserel, &plan->quals, NULL, baserel->rows, baserel->lateral_relids);
	foreach(lc, wc_order_find(root, baserel, plan->wrel, &plan->quals))
		add_plain_path(root, baserel, &plan->quals, lfirst(lc), baserel->rows, baserel->lateral_relids);
	add_parameterised_paths(root, baserel);
}

/* --- the plan ----------------------------------------------------------------- */

/* Adds the columns of rel that the expressions need, as bits attnum - 1. */
static Bitmapset *
add_columns(Bitmapset *columns, List *exprs, Index relid, int natts)
{
	Bitmapset  *attrs = NULL;
	int			x = -1;

	pull_varattnos((Node *) exprs, relid, &attrs);
	while ((x = bms_next_member(attrs, x)) >= 0)
	{
		int			attnum = x + FirstLowInvalidHeapAttributeNumber;

		if (attnum > 0)
			columns = bms_add_member(columns, attnum - 1);
		else if (attnum == 0 && natts > 0)
			columns = bms_add_range(columns, 0, natts - 1);
	}
	return columns;
}

/*
 * Estimates how many rows will be read.  A LIMIT is known only here, not when the scan runs; it is passed to the scan
 * if no other relation and no Sort is between.
 */
static void
set_limit(PlannerInfo *root, RelOptInfo *rel, const Path *path, const WcQuals *quals, WcScanPlan *plan)
{
	Query	   *query = root->parse;

	/* the query will read all rows, as far as is known; there may be more than estimated */
	if (root->tuple_fraction <= 0)
		plan->rows_hint = (int) Min(Max(path->rows, WC_ROWS_FEW + 1), INT_MAX);

	if (root->limit_tuples < 1 || root->limit_tuples > INT_MAX ||
		bms_membership(root->all_baserels) != BMS_SINGLETON ||
		!pathkeys_contained_in(root->query_pathkeys, path->pathkeys))
		return;
	plan->rows_hint = (int) root->limit_tuples;

	/* as a limit, the number must be exact, not estimated, and every row must count */
	if (plan->limit == NULL && plan->offset == NULL && rel->reloptkind == RELOPT_BASEREL && query->commandType == CMD_SELECT &&
		query->limitOption == LIMIT_OPTION_COUNT &&
		query->limitCount != NULL && IsA(query->limitCount, Const) &&
		(query->limitOffset == NULL || IsA(query->limitOffset, Const)) &&
		query->rowMarks == NIL && quals->local == NIL && wc_enable_pushdown)
		plan->row_limit = plan->rows_hint;
}

/* Has the table triggers that see the old row of such a statement? */
static bool
has_row_triggers(PlannerInfo *root, const RelOptInfo *rel, CmdType command)
{
	Relation	relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	const TriggerDesc *triggers = relation->trigdesc;
	bool		found = triggers != NULL && (command == CMD_UPDATE ?
											 triggers->trig_update_before_row || triggers->trig_update_after_row :
											 triggers->trig_delete_before_row || triggers->trig_delete_after_row);

	table_close(relation, NoLock);
	return found;
}

/* Does the UPDATE assign to a part of the key?  In layout cell no UPDATE can. */
static bool
sets_key(PlannerInfo *root, const RelOptInfo *rel, const WcRelation *wrel)
{
	Index		target = root->parse->resultRelation;
	List	   *columns = root->update_colnos;

	if (rel->relid != target)	/* a child may have its columns in another order */
		columns = adjust_inherited_attnums_multilevel(root, columns, rel->relid, target);
	for (int k = 0; k < wrel->nkeys; k++)
	{
		if (list_member_int(columns, wrel->columns[wrel->keys[k]].attnum))
			return true;
	}
	return wrel->layout == WC_LAYOUT_ROW && wrel->nkeys == 0 &&
		list_member_int(columns, wrel->columns[wrel->raw_key].attnum);
}

/*
 * The mode in which the scan locks the rows that it returns; 0: it locks none.  The scan of an UPDATE or DELETE locks
 * them if no other table determines which rows are changed: then every returned row is changed.  With other tables,
 * rows are locked when they are changed (write/relock.c).  That is too late for triggers that see the old row: in a
 * table with such triggers, the scan locks all rows that satisfy the table's own conditions.
 */
static int
lock_mode(PlannerInfo *root, const RelOptInfo *rel, const WcRelation *wrel)
{
	CmdType		command = root->parse->commandType;

	if ((command != CMD_UPDATE && command != CMD_DELETE) || !bms_is_member(rel->relid, root->all_result_relids) ||
		(bms_membership(root->all_baserels) != BMS_SINGLETON && !has_row_triggers(root, rel, command)))
		return 0;
	return command == CMD_DELETE || sets_key(root, rel, wrel) ? WC_LOCK_EXCLUSIVE : WC_LOCK_NO_KEY_UPDATE;
}

/* Is this the query of a security barrier view, or a query inside one? */
static bool
is_in_barrier_view(const PlannerInfo *root)
{
	for (; root->parent_root != NULL; root = root->parent_root)
	{
		const PlannerInfo *parent = root->parent_root;

		for (int i = 1; i < parent->simple_rel_array_size; i++)
		{
			const RelOptInfo *rel = parent->simple_rel_array[i];

			if (rel != NULL && rel->subroot == root && parent->simple_rte_array[i]->security_barrier)
				return true;
		}
	}
	return false;
}

/*
 * Puts the clauses that hide rows from the user first, and counts them.  These are the clauses of security policies.
 * In a security barrier view, a condition that PostgreSQL has moved there from the query cannot be told from the view's
 * own: all clauses count.
 */
static List *
barriers_first(PlannerInfo *root, List *clauses, int *nbarriers)
{
	bool		all = is_in_barrier_view(root);
	List	   *barriers = NIL;
	List	   *others = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		/* clauses without columns of the relation are evaluated above the scan */
		if (!rinfo->pseudoconstant && (all || rinfo->security_level < root->qual_security_level))
			barriers = lappend(barriers, rinfo);
		else
			others = lappend(others, rinfo);
	}
	*nbarriers = list_length(barriers);
	return list_concat(barriers, others);
}

static bool
is_mutable(Oid function)
{
	return OidIsValid(function) && func_volatile(function) != PROVOLATILE_IMMUTABLE;
}

/* An aggregate itself is immutable to PostgreSQL, whatever the functions are that it is made of. */
static bool
is_mutable_aggregate(Oid aggregate)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	Form_pg_aggregate form;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	result = is_mutable(form->aggtransfn) || is_mutable(form->aggfinalfn) || is_mutable(form->aggcombinefn) ||
		is_mutable(form->aggserialfn) || is_mutable(form->aggdeserialfn);
	ReleaseSysCache(tuple);
	return result;
}

/* Is there what contain_mutable_functions passes over: a domain with constraints, or an aggregate? */
static bool
hides_mutable(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, CoerceToDomain) || (IsA(node, Aggref) && is_mutable_aggregate(castNode(Aggref, node)->aggfnoid)))
		return true;
	return expression_tree_walker(node, hides_mutable, context);
}

static bool
has_mutable(Node *node)
{
	return contain_mutable_functions(node) || hides_mutable(node, NULL);
}

/* A function that is not immutable may read at the statement's snapshot what a Scan in the newest state does not show. */
static bool
reads_alone(const PlannerInfo *root, const RelOptInfo *rel)
{
	const Query *query = root->parse;
	List	   *others = list_concat(extract_actual_clauses(rel->baserestrictinfo, false),
									 extract_actual_clauses(rel->baserestrictinfo, true));

	others = lappend(lappend(others, query->limitOffset), query->limitCount);
	return query->commandType == CMD_SELECT && root->parent_root == NULL && list_length(query->rtable) == 1 && !query->hasSubLinks &&
		query->cteList == NIL && query->windowClause == NIL && !has_mutable((Node *) query->targetList) &&
		!has_mutable(query->havingQual) && !has_mutable((Node *) others);
}

/* Sets the plan's fields about its rows: their columns, their number, their locks.  Returns fdw_scan_tlist. */
static List *
plan_rows(PlannerInfo *root, RelOptInfo *rel, ForeignPath *path, const WcQuals *quals, List *tlist, WcScanPlan *plan)
{
	WcRelPlan  *rel_plan = rel->fdw_private;
	double		rows = path->path.rows;
	List	   *scan_tlist;

	plan->attrs = add_columns(plan->attrs, rel->reltarget->exprs, rel->relid, rel_plan->wrel->natts);
	plan->attrs = add_columns(plan->attrs, extract_actual_clauses(quals->local, false), rel->relid, rel_plan->wrel->natts);
	/* without a target list, a projection to reltarget replaces it */
	scan_tlist = wc_map_keys_place(root, rel, rel_plan->wrel, tlist != NIL ? tlist : rel->reltarget->exprs, quals, plan);
	plan->untouched = wc_untouched_maps(root, rel, rel_plan->wrel);
	plan->map_keys = wc_map_keys_find(root, rel, rel_plan->wrel, bms_union(plan->attrs, plan->recheck_attrs));
	wc_limit_plan(root, path, plan);
	wc_distinct_plan(path, plan);
	if (plan->distinct_parts > 0)
		rows = rel->rows;
	if (plan->limit != NULL || plan->offset != NULL)
	{
		if (quals->local != NIL || quals->mixed_types)
			elog(ERROR, "LIMIT of a foreign scan with conditions that it does not decide");
		rows = rel->rows;
	}
	set_limit(root, rel, &path->path, quals, plan);
	plan->lock_mode = lock_mode(root, rel, rel_plan->wrel);
	plan->alone = reads_alone(root, rel);
	plan->warning = wc_warning_plan(rel, rel_plan->wrel, quals, &rel_plan->size, rows);
	return scan_tlist;
}

/* Sets the plan's fields about groups of the rows of a relation's path; returns fdw_scan_tlist. */
static List *
plan_groups(PlannerInfo *root, RelOptInfo *rel, const ForeignPath *rows, const ForeignPath *path, const WcQuals *quals,
			List *tlist, WcScanPlan *plan)
{
	WcRelPlan  *rel_plan = rel->fdw_private;

	if (quals->local != NIL || quals->mixed_types)
		elog(ERROR, "aggregates of a foreign scan with conditions that it does not decide");
	plan->warning = wc_warning_plan(rel, rel_plan->wrel, quals, &rel_plan->size, rows->path.rows);
	return wc_aggregate_plan(root, path, rel_plan->wrel, tlist, plan);
}

typedef struct Ordered
{
	RestrictInfo *rinfo;
	Index		level;
	Cost		cost;
} Ordered;

/* The clauses in the order in which PostgreSQL evaluates them: as createplan.c sorts those of the plan of a relation. */
static List *
in_order(PlannerInfo *root, const List *clauses)
{
	Ordered    *ordered = palloc(sizeof(Ordered) * (list_length(clauses) + 1));
	int			n = 0;
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		QualCost	cost;
		Index		level;
		int			at = n++;

		cost_qual_eval_node(&cost, (Node *) rinfo, root);
		level = rinfo->leakproof && cost.per_tuple < 10 * cpu_operator_cost ? 0 : rinfo->security_level;
		while (at > 0 && (ordered[at - 1].level > level ||
						  (ordered[at - 1].level == level && ordered[at - 1].cost > cost.per_tuple)))
		{
			ordered[at] = ordered[at - 1];
			at--;
		}
		ordered[at] = (Ordered) {rinfo, level, cost.per_tuple};
	}
	for (int i = 0; i < n; i++)
		result = lappend(result, ordered[i].rinfo);
	pfree(ordered);
	return result;
}

static Bitmapset *
deciding_filters(const WcQuals *quals)
{
	Bitmapset  *deciding = NULL;
	ListCell   *lc;

	foreach(lc, quals->filtered)
	{
		if (!list_member_ptr(quals->local, lfirst(lc)))
			deciding = bms_add_member(deciding, foreach_current_index(lc));
	}
	return deciding;
}

ForeignScan *
widecolGetForeignPlan(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid,
					  ForeignPath *best_path, List *tlist, List *scan_clauses,
					  Plan *outer_plan)
{
	ForeignPath *path = wc_aggregate_rows(best_path);
	RelOptInfo *rel = path->path.parent;
	WcRelPlan  *rel_plan = rel->fdw_private;
	WcScanPlan	plan = {0};
	WcQuals		quals;
	List	   *scan_tlist;
	List	   *recheck;

	if (path != best_path)
		scan_clauses = in_order(root, rel->baserestrictinfo);
	wc_quals_find(root, rel, rel_plan->wrel, scan_clauses, &quals);
	plan.lookahead = wc_lookahead_bind(root, path, wc_key_conds_exprs(quals.conds));
	if (plan.lookahead >= 0)
		wc_quals_unfilter_joins(root, rel, rel_plan->wrel, &quals);	/* rows are fetched for several outer rows */
	quals.local = barriers_first(root, quals.local, &plan.nbarriers);
	quals.exact = barriers_first(root, quals.exact, &plan.ndecided_barriers);
	recheck = extract_actual_clauses(quals.exact, false);

	plan.conds = quals.conds;
	plan.cell_conds = quals.cell_conds;
	plan.mixed_types = quals.mixed_types;
	plan.ordered = path->path.pathkeys != NIL;
	plan.never = quals.never;
	plan.filters = quals.filters;
	plan.deciding = deciding_filters(&quals);
	if (plan.lookahead < 0)
	{
		plan.reversed = linitial_int(path->fdw_private) != 0;
		plan.merged = lsecond_int(path->fdw_private) != 0;
	}
	plan.recheck_attrs = add_columns(NULL, recheck, rel->relid, rel_plan->wrel->natts);
	if (path == best_path || wc_map_keys_is_path(best_path))
		scan_tlist = plan_rows(root, rel, path, &quals, tlist, &plan);
	else
		scan_tlist = plan_groups(root, rel, path, best_path, &quals, tlist, &plan);

	return make_foreignscan(tlist, extract_actual_clauses(quals.local, false), rel->relid,
							wc_scan_plan_exprs(&plan),
							wc_scan_plan_encode(&plan), scan_tlist, recheck, outer_plan);
}
