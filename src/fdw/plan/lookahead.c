/*
 * fdw/plan/lookahead.c: paths and plans of nested loops that look up many keys at once.
 *
 * The planner gets a second nested loop path for a parameterised path of ours, with a CustomPath around the outer path.
 * The custom node and the inner scan find each other by a parameter's number, as PostgreSQL's recursive unions and
 * their worktables do.  The node gets the inner scan's value expressions when that scan is planned, which is directly
 * after the node.
 */
#include "postgres.h"

#include <math.h>

#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paramassign.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "base/limits.h"
#include "client/settings.h"
#include "fdw/condition/keycond.h"
#include "fdw/plan/ahead.h"
#include "fdw/plan/cost.h"
#include "fdw/plan/lookahead.h"
#include "fdw/plan/relplan.h"

/* State that the two paths of one join share: the only member of the private lists of ForeignPath and
 * CustomPath. */
typedef struct Link
{
	int			number;
	CustomScan *node;
	bool		may_fail;		/* the expressions of keys can raise an error */
} Link;

static set_join_pathlist_hook_type prev_set_join_pathlist;
static const CustomPathMethods path_methods;

/* --- paths --------------------------------------------------------------------- */

/* How many times keys are sent for so many outer rows. */
static double
count_batches(double rows)
{
	double		batches = 0;
	double		size = 1;

	for (; size < WC_LOOKUP_KEYS_MAX && rows > 0; size *= WC_LOOKAHEAD_GROWTH)
	{
		rows -= size;
		batches++;
	}
	return rows > 0 ? batches + ceil(rows / WC_LOOKUP_KEYS_MAX) : batches;
}

/*
 * The cost of asking for the keys.  An estimate of few rows is a guess, often far too low, unless a unique index proves
 * it.  With a guess, a batch must win where the two costs are equal: it costs hardly more than a lookup when there is
 * one row, and far less when there are thousands.
 */
static Cost
cost_batches(PlannerInfo *root, const Path *outer, double distance)
{
	RelOptInfo *rel = outer->parent;
	Cost		batch = WC_COST_ROUND_TRIP * distance;

	if (!IS_SIMPLE_REL(rel) || !relation_has_unique_index_for(root, rel, NIL, NIL, NIL))
		batch *= 0.9;
	return count_batches(outer->rows) * batch + outer->rows * cpu_tuple_cost;
}

/* Is this a path whose keys come from other relations? */
static bool
is_lookup(const Path *path)
{
	const WcRelation *wrel = IsA(path, ForeignPath) ? wc_plan_member(path->parent) : NULL;

	return wrel != NULL && wrel->layout == WC_LAYOUT_ROW && lthird_int(((ForeignPath *) path)->fdw_private) != 0;
}

/* The distance of a lookup, or of all lookups of an Append: each of them asks for the keys. */
static double
distance_of(const Path *inner)
{
	double		distance = 0;
	ListCell   *lc;

	if (IsA(inner, ForeignPath))
		return wc_cost_distance(wc_plan_member(inner->parent));
	foreach(lc, ((const AppendPath *) inner)->subpaths)
	{
		if (is_lookup(lfirst(lc)))
			distance += distance_of(lfirst(lc));
	}
	return distance;
}

/* The outer path below a node that reads ahead. */
static Path *
make_outer(PlannerInfo *root, Path *outer, Link *link, double distance)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = outer->parent;
	path->path.pathtarget = outer->pathtarget;
	path->path.param_info = outer->param_info;
	/* try_evaluate() needs subtransactions, which workers cannot have */
	path->path.parallel_safe = outer->parallel_safe && !link->may_fail;
	path->path.parallel_workers = outer->parallel_workers;
	path->path.rows = outer->rows;
	path->path.startup_cost = outer->startup_cost;
	path->path.total_cost = outer->total_cost + cost_batches(root, outer, distance);
	path->path.pathkeys = outer->pathkeys;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(outer);
	path->custom_private = list_make1(link);
	path->methods = &path_methods;
	return &path->path;
}

/* The lookup in a table, whose rows are fetched in batches. */
static Path *
make_lookup(const ForeignPath *inner, Link *link)
{
	ForeignPath *path = makeNode(ForeignPath);
	double		distance = wc_cost_distance(wc_plan_member(inner->path.parent));
	Cost		kept = inner->path.rows * cpu_tuple_cost;

	memcpy(path, inner, sizeof(ForeignPath));
	path->path.startup_cost = Max(inner->path.startup_cost - WC_COST_ROUND_TRIP * distance, 0);
	path->path.total_cost = path->path.startup_cost + (inner->path.total_cost - inner->path.startup_cost) +
		WC_COST_LOOKUP * distance + kept;
	path->fdw_private = list_make1(link);
	return &path->path;
}

/* The inner path: a lookup, or an Append with lookups. */
static Path *
make_inner(PlannerInfo *root, Path *inner, Link *link)
{
	List	   *paths = NIL;
	ListCell   *lc;

	if (IsA(inner, ForeignPath))
		return make_lookup((ForeignPath *) inner, link);
	foreach(lc, ((AppendPath *) inner)->subpaths)
	{
		Path	   *path = lfirst(lc);

		paths = lappend(paths, is_lookup(path) ? make_lookup((ForeignPath *) path, link) : path);
	}
	return (Path *) create_append_path(root, inner->parent, paths, NIL, NIL, PATH_REQ_OUTER(inner), 0, false, -1);
}

static Link *
make_link(bool may_fail)
{
	Link	   *link = palloc0(sizeof(Link));

	link->may_fail = may_fail;
	return link;
}

static void
add_join(PlannerInfo *root, RelOptInfo *joinrel, JoinType jointype, JoinPathExtraData *extra,
		 Path *outer, Path *inner, bool may_fail)
{
	Relids		required = calc_nestloop_required_outer(outer->parent->relids, PATH_REQ_OUTER(outer),
														inner->parent->relids, PATH_REQ_OUTER(inner));
	List	   *pathkeys = build_join_pathkeys(root, joinrel, jointype, outer->pathkeys);
	Link	   *link = make_link(may_fail);
	Path	   *outer_path = make_outer(root, outer, link, distance_of(inner));
	Path	   *inner_path = make_inner(root, inner, link);
	JoinCostWorkspace workspace;

	/* as PostgreSQL's try_nestloop_path: few joins may leave parameters open */
	if (!bms_is_empty(required) && !bms_overlap(required, extra->param_source_rels))
		return;
	initial_cost_nestloop(root, &workspace, jointype, outer_path, inner_path, extra);
	if (!add_path_precheck(joinrel, workspace.startup_cost, workspace.total_cost, pathkeys, required))
		return;
	add_path(joinrel, (Path *) create_nestloop_path(root, joinrel, jointype, &workspace, extra,
													outer_path, inner_path, extra->restrictlist,
													pathkeys, required));
}

/* The same join in each worker, with the outer rows that the worker gets. */
static void
add_partial_join(PlannerInfo *root, RelOptInfo *joinrel, JoinType jointype, JoinPathExtraData *extra,
				 Path *outer, Path *inner)
{
	List	   *pathkeys = build_join_pathkeys(root, joinrel, jointype, outer->pathkeys);
	Link	   *link = make_link(false);
	Path	   *outer_path = make_outer(root, outer, link, distance_of(inner));
	Path	   *inner_path = make_inner(root, inner, link);
	JoinCostWorkspace workspace;

	/* as PostgreSQL's try_partial_nestloop_path */
	initial_cost_nestloop(root, &workspace, jointype, outer_path, inner_path, extra);
	if (!add_partial_path_precheck(joinrel, workspace.total_cost, pathkeys))
		return;
	add_partial_path(joinrel, (Path *) create_nestloop_path(root, joinrel, jointype, &workspace, extra,
															outer_path, inner_path, extra->restrictlist,
															pathkeys, NULL));
}

/* Adds joins of this lookup with outer paths that workers share. */
static void
add_partial_joins(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, JoinType jointype,
				  JoinPathExtraData *extra, Path *inner)
{
	ListCell   *lo;

	if (!joinrel->consider_parallel || !bms_is_empty(joinrel->lateral_relids) || !inner->parallel_safe)
		return;
	foreach(lo, outerrel->partial_pathlist)
	{
		if (wc_ahead_path(root, lfirst(lo)))
			add_partial_join(root, joinrel, jointype, extra, lfirst(lo), inner);
	}
}

/* The expressions that keys are made from. */
static List *
find_values(PlannerInfo *root, const ForeignPath *path)
{
	RelOptInfo *rel = path->path.parent;
	WcQuals		quals;

	wc_quals_find(root, rel, wc_plan_member(rel),
				  list_concat_copy(rel->baserestrictinfo, path->path.param_info->ppi_clauses), &quals);
	return wc_key_conds_exprs(quals.conds);
}

/*
 * Is this a lookup, or an Append with lookups, whose keys come from the outer relation alone?  The partitions have to make
 * their keys from the same expressions.
 */
static bool
find_lookups(PlannerInfo *root, Path *path, const RelOptInfo *outerrel, List **values)
{
	ListCell   *lc;
	bool		found = false;

	if (PATH_REQ_OUTER(path) == NULL || !bms_is_subset(PATH_REQ_OUTER(path), outerrel->relids))
		return false;
	if (is_lookup(path))
	{
		*values = find_values(root, (ForeignPath *) path);
		return true;
	}
	if (!IsA(path, AppendPath) || path->parallel_aware)
		return false;
	foreach(lc, ((AppendPath *) path)->subpaths)
	{
		List	   *others;

		if (!is_lookup(lfirst(lc)))
			continue;
		others = find_values(root, lfirst(lc));
		if (found && !equal(others, *values))
			return false;
		*values = others;
		found = true;
	}
	return found;
}

/*
 * May this be a query in a security barrier view?  There all conditions hide rows, those of the join too: they are
 * evaluated when a row is read, with the values of the current outer row, so rows of other outer rows cannot be read.
 * The parent's relation does not know its subquery's planner yet: so any barrier view of a parent counts.
 */
static bool
may_be_in_barrier_view(const PlannerInfo *root)
{
	ListCell   *lc;

	while ((root = root->parent_root) != NULL)
	{
		foreach(lc, root->parse->rtable)
		{
			if (lfirst_node(RangeTblEntry, lc)->security_barrier)
				return true;
		}
	}
	return false;
}

static void
on_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
				 JoinType jointype, JoinPathExtraData *extra)
{
	bool		unique = jointype == JOIN_UNIQUE_OUTER;
	ListCell   *lo;
	ListCell   *li;

	if (prev_set_join_pathlist)
		prev_set_join_pathlist(root, joinrel, outerrel, innerrel, jointype, extra);

	if (!wc_enable_batched_lookup || joinrel->reloptkind != RELOPT_JOINREL)
		return;
	/* rows that are locked or changed are rechecked one by one */
	if (root->rowMarks != NIL ||
		(root->parse->commandType != CMD_SELECT && root->parse->commandType != CMD_INSERT))
		return;
	if (may_be_in_barrier_view(root))
		return;
	if (unique)
		jointype = JOIN_INNER;
	if (jointype != JOIN_INNER && jointype != JOIN_LEFT && jointype != JOIN_SEMI && jointype != JOIN_ANTI)
		return;
	foreach(li, innerrel->pathlist)
	{
		WcAhead		ahead;
		List	   *values;

		if (!find_lookups(root, lfirst(li), outerrel, &values))
			continue;
		ahead = wc_ahead_exprs(root, values);
		if (ahead == WC_AHEAD_NEVER)
			continue;
		foreach(lo, outerrel->pathlist)
		{
			Path	   *outer = lfirst(lo);

			if (unique && outer != outerrel->cheapest_total_path)
				continue;
			if (bms_overlap(PATH_REQ_OUTER(outer), innerrel->relids))
				continue;
			if (unique)
				outer = (Path *) create_unique_path(root, outerrel, outer, extra->sjinfo);
			if (wc_ahead_path(root, outer))
				add_join(root, joinrel, jointype, extra, outer, lfirst(li), ahead != WC_AHEAD_SAFE);
		}
		if (!unique && ahead == WC_AHEAD_SAFE)
			add_partial_joins(root, joinrel, outerrel, jointype, extra, lfirst(li));
	}
}

/* --- plans --------------------------------------------------------------------- */

static Plan *
plan_lookahead(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *node = makeNode(CustomScan);
	Plan	   *child = linitial(custom_plans);
	Link	   *link = linitial(path->custom_private);

	link->number = assign_special_exec_param(root);
	link->node = node;
	node->scan.plan.targetlist = tlist;
	node->flags = path->flags;
	node->custom_plans = custom_plans;
	node->custom_scan_tlist = copyObject(child->targetlist);
	node->custom_private = list_make2_int(link->number, true);
	node->methods = &wc_lookahead_methods;
	return &node->scan.plan;
}

/*
 * The keys' Vars come from clauses of the inner side.  They may not name all outer joins below that could have made
 * them NULL, but PostgreSQL 16 and later require these names.  The outer side supplies the values, so this takes the
 * names of the outer side's Vars.
 */
static Node *
name_as_below(Node *node, void *context)
{
#if PG_VERSION_NUM >= 160000
	ListCell   *lc;

	if (node == NULL)
		return NULL;
	foreach(lc, (List *) context)
	{
		Node	   *below = (Node *) lfirst_node(TargetEntry, lc)->expr;

		if (IsA(node, Var) && IsA(below, Var) && ((Var *) node)->varno == ((Var *) below)->varno &&
			((Var *) node)->varattno == ((Var *) below)->varattno)
			return copyObject(below);
		if (IsA(node, PlaceHolderVar) && IsA(below, PlaceHolderVar) &&
			((PlaceHolderVar *) node)->phid == ((PlaceHolderVar *) below)->phid)
			return copyObject(below);
	}
	return expression_tree_mutator(node, name_as_below, context);
#else
	return copyObject(node);
#endif
}

int
wc_lookahead_bind(const PlannerInfo *root, const ForeignPath *path, const List *values)
{
	Link	   *link;
	List	   *named;

	if (IsA(path->fdw_private, IntList))
		return -1;
	link = linitial(path->fdw_private);
	if (link->node == NULL)
		elog(ERROR, "inner side of a batched lookup is planned before its outer side");
	named = (List *) name_as_below((Node *) unconstify(List *, values), link->node->custom_scan_tlist);
	/* another partition's scan may be bound already */
	if (link->node->custom_exprs != NIL && !equal(link->node->custom_exprs, named))
		return -1;
	link->node->custom_exprs = named;
	link->node->custom_private = list_make2_int(link->number, wc_ahead_exprs(root, values) != WC_AHEAD_SAFE);
	return link->number;
}

/* --- registration -------------------------------------------------------------- */

static const CustomPathMethods path_methods = {
	.CustomName = WC_LOOKAHEAD_NAME,
	.PlanCustomPath = plan_lookahead
};

void
wc_lookahead_install(void)
{
	RegisterCustomScanMethods(&wc_lookahead_methods);
	prev_set_join_pathlist = set_join_pathlist_hook;
	set_join_pathlist_hook = on_join_pathlist;
}
