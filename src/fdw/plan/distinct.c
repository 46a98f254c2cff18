/*
 * fdw/plan/distinct.c: scans that return one row of those whose keys begin with the same parts.
 *
 * For DISTINCT, GROUP BY and aggregates that do not mind duplicates, when all that is needed of the rows is in the first parts of
 * the key; and for DISTINCT ON these parts, when the scan's order is the query's.  PostgreSQL's own node above makes the
 * result distinct, so the scan may return more rows than necessary: in each bucket of a salted key, and, if conditions turn
 * out not to be decided when it runs, all rows.
 *
 * A row that is rejected after the scan has returned it would have hidden others: so the engine must decide all conditions.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_aggregate.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "client/client.h"
#include "client/settings.h"
#include "compat.h"
#include "fdw/fdw.h"
#include "fdw/plan/aggregate.h"
#include "fdw/plan/cost.h"
#include "fdw/plan/distinct.h"
#include "fdw/plan/limit.h"
#include "fdw/plan/order.h"
#include "fdw/plan/relplan.h"

/* The place of the number of parts in a path's fdw_private. */
#define WC_PATH_DISTINCT (WC_PATH_LIMITED + 1)

/* --- the columns that the query needs ------------------------------------------- */

/* How many first parts of the key have all columns of the expressions; 0: something else is needed, or the whole key. */
static int
leading_parts(const WcRelation *wrel, Index relid, List *exprs)
{
	Bitmapset  *attrs = NULL;
	int			nparts = 0;
	int			x = -1;

	pull_varattnos((Node *) exprs, relid, &attrs);
	while ((x = bms_next_member(attrs, x)) >= 0)
	{
		int			attnum = x + FirstLowInvalidHeapAttributeNumber;

		/* the original of a hash is in a cell, and several may have the same hash */
		if (attnum <= 0 || wrel->columns[attnum - 1].role != WC_ROLE_KEY || wrel->columns[attnum - 1].hashed)
			return 0;
		nparts = Max(nparts, wrel->columns[attnum - 1].key_no + 1);
	}
	return nparts < wrel->nkeys ? nparts : 0;
}

/* Is there an aggregate whose result depends on how often a row is there? */
static bool
minds_duplicates(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		const Aggref *aggref = (Aggref *) node;
		HeapTuple	tuple;
		bool		extreme;

		if (aggref->aggdistinct != NIL)
			return false;
		tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
		/* as min and max */
		extreme = OidIsValid(((Form_pg_aggregate) GETSTRUCT(tuple))->aggsortop);
		ReleaseSysCache(tuple);
		return !extreme;
	}
	return expression_tree_walker(node, minds_duplicates, context);
}

/* May the scan pass over rows at all? */
static bool
may_pass(PlannerInfo *root, const RelOptInfo *rel, const WcRelation *wrel)
{
	return wc_plan_may_stand_below(root, rel, wrel) && wc_plan_decides_rows(rel) && wc_client_passes_prefixes(wrel->desc) &&
		!wc_target_is_volatile(root) && !contain_volatile_functions(root->parse->havingQual);
}

/* --- paths ------------------------------------------------------------------------ */

/* How many rows come: one for each prefix, if need be in each bucket. */
static double
count_prefixes(PlannerInfo *root, const RelOptInfo *rel, const WcRelation *wrel, int nparts)
{
	const WcQuals *quals = wc_plan_quals(rel);
	const WcSalt *salt = &wrel->key_layout.salt;
	List	   *exprs = NIL;
	double		n = 1;
	bool		spread = false;

	for (int part = 0; part < nparts; part++)
	{
		const WcRelColumn *column = &wrel->columns[wrel->keys[part]];

		if (!bms_is_member(part, quals->equal))
			exprs = lappend(exprs, makeVar((int) rel->relid, column->attnum, column->type, column->typmod, column->collation, 0));
	}
	if (exprs != NIL)
		n = estimate_num_groups(root, exprs, rel->rows, NULL, NULL);
	for (int part = nparts; salt->buckets > 0 && !quals->one_bucket && part < wrel->nkeys; part++)
		spread |= salt->parts[part];
	return clamp_row_est(Min(spread ? n * salt->buckets : n, rel->rows));
}

/* The same scan, of the first row of each prefix; top: the path with the scan's target. */
static Path *
make_first_rows(PlannerInfo *root, const RelOptInfo *rel, const WcRelation *wrel, const ForeignPath *scan, const Path *top,
				int nparts)
{
	ForeignPath *path = makeNode(ForeignPath);
	double		n = count_prefixes(root, rel, wrel, nparts);

	memcpy(path, scan, sizeof(ForeignPath));
	path->path.pathtarget = top->pathtarget;
	path->path.rows = n;
	wc_cost_distinct(top, n, &path->path.startup_cost, &path->path.total_cost);
	path->fdw_private = list_concat(list_copy(scan->fdw_private), list_make2_int(0, nparts));
	return (Path *) path;
}

/* Adds DISTINCT, or DISTINCT ON, over the first rows. */
static void
add_unique(PlannerInfo *root, RelOptInfo *output_rel, Path *first, bool ordered)
{
	List	   *clause = wc_distinct_clause(root);
	double		ngroups = estimate_num_groups(root, get_sortgrouplist_exprs(root->parse->distinctClause, root->processed_tlist),
											  first->rows, NULL, NULL);

	if (ordered)
		add_path(output_rel, (Path *) create_upper_unique_path(root, output_rel, first, list_length(root->distinct_pathkeys), ngroups));
	else if (!root->parse->hasDistinctOn && grouping_is_hashable(clause))
		add_path(output_rel, (Path *) create_agg_path(root, output_rel, first, first->pathtarget, AGG_HASHED, AGGSPLIT_SIMPLE,
													  clause, NIL, NULL, ngroups));
}

/* --- DISTINCT ON in another direction ------------------------------------------------ */

static bool
has_class(const List *pathkeys, const EquivalenceClass *ec)
{
	ListCell   *lc;

	foreach(lc, pathkeys)
	{
		if (((PathKey *) lfirst(lc))->pk_eclass == ec)
			return true;
	}
	return false;
}

/* Do rows in this order have the query's first row of each group first, in whatever order the groups come? */
static bool
orders_groups(const PlannerInfo *root, const List *pathkeys)
{
	int			n = list_length(root->distinct_pathkeys);

	if (list_length(pathkeys) < Max(n, list_length(root->sort_pathkeys)))
		return false;
	for (int i = 0; i < n; i++)
	{
		if (!has_class(root->distinct_pathkeys, ((PathKey *) list_nth(pathkeys, i))->pk_eclass))
			return false;
	}
	for (int i = n; i < list_length(root->sort_pathkeys); i++)
	{
		if (list_nth(pathkeys, i) != list_nth(root->sort_pathkeys, i))
			return false;
	}
	return true;
}

/*
 * ORDER BY a, b DESC for DISTINCT ON (a), and the key is (a, b): the reversed scan has the groups in reverse, but in each
 * the wanted row first.  PostgreSQL sorts the result.
 */
static void
add_turned(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, RelOptInfo *output_rel, const ForeignPath *scan,
		   const Path *top, int nparts)
{
	const WcQuals *quals = wc_plan_quals(rel);

	if (wrel->key_layout.salt.buckets > 0 && !quals->one_bucket)
		return;
	for (int reversed = 0; reversed <= 1; reversed++)
	{
		List	   *pathkeys = wc_order_of_key(root, rel, wrel, quals, reversed);
		ForeignPath *path;

		if (!orders_groups(root, pathkeys) || pathkeys_contained_in(root->sort_pathkeys, pathkeys))
			continue;
		path = (ForeignPath *) make_first_rows(root, rel, wrel, scan, top, nparts);
		linitial_int(path->fdw_private) = reversed;
		path->path.pathkeys = pathkeys;
		if (reversed)
			path->path.total_cost *= WC_COST_REVERSED;
		add_unique(root, output_rel, (Path *) path, true);
	}
}

/* --- all of them --------------------------------------------------------------------- */

static void
add_distinct_paths(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, RelOptInfo *output_rel)
{
	const Query *query = root->parse;
	List	   *needed = root->distinct_pathkeys;
	bool		turned = false;
	ListCell   *lc;

	if (query->hasDistinctOn && list_length(root->sort_pathkeys) > list_length(needed))
		needed = root->sort_pathkeys;
	foreach(lc, rel->pathlist)
	{
		Path	   *top = lfirst(lc);
		const ForeignPath *scan = wc_plan_own_path(top, rel);
		List	   *exprs = query->hasDistinctOn ? get_sortgrouplist_exprs(query->distinctClause, root->processed_tlist) :
			top->pathtarget->exprs;
		int			nparts = leading_parts(wrel, rel->relid, exprs);

		if (scan == NULL)
			continue;
		if (nparts == 0)
		{
			Path	   *groups = query->hasDistinctOn ? NULL : wc_aggregate_distinct_path(root, rel, output_rel, top, NIL);

			if (groups != NULL)
				add_unique(root, output_rel, groups, false);
			continue;
		}
		/* of columns that cannot be sorted there are no pathkeys */
		add_unique(root, output_rel, make_first_rows(root, rel, wrel, scan, top, nparts),
				   grouping_is_sortable(query->distinctClause) && pathkeys_contained_in(needed, top->pathkeys));
		if (query->hasDistinctOn && !turned)
			add_turned(root, rel, wrel, output_rel, scan, top, nparts);
		turned = true;
	}
}

static void
add_group_paths(PlannerInfo *root, const RelOptInfo *rel, const WcRelation *wrel, RelOptInfo *output_rel,
				const GroupPathExtraData *extra)
{
	List	   *above = lappend(list_copy(output_rel->reltarget->exprs), extra->havingQual);
	ListCell   *lc;

	if (minds_duplicates((Node *) above, NULL))
		return;
	foreach(lc, rel->pathlist)
	{
		Path	   *top = lfirst(lc);
		const ForeignPath *scan = wc_plan_own_path(top, rel);
		int			nparts = leading_parts(wrel, rel->relid, top->pathtarget->exprs);
		Path	   *first = NULL;

		if (scan != NULL && nparts > 0)
			first = make_first_rows(root, rel, wrel, scan, top, nparts);
		else if (scan != NULL && root->hasNonPartialAggs)
			first = wc_aggregate_distinct_path(root, rel, output_rel, top, above);
		if (first != NULL)
			wc_plan_add_grouping(root, output_rel, first, AGGSPLIT_SIMPLE, 0, extra);
	}
}

void
widecolGetForeignDistinctPaths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel, RelOptInfo *output_rel,
							   void *extra)
{
	WcRelation *wrel;

	if (stage != UPPERREL_DISTINCT && stage != UPPERREL_GROUP_AGG)
		return;
	wrel = wc_plan_relation(input_rel);
	if (wrel == NULL || !may_pass(root, input_rel, wrel))
		return;
	if (stage == UPPERREL_DISTINCT)
		add_distinct_paths(root, input_rel, wrel, output_rel);
	else
		add_group_paths(root, input_rel, wrel, output_rel, extra);
}

/* --- the plan ------------------------------------------------------------------------- */

void
wc_distinct_plan(const ForeignPath *path, WcScanPlan *plan)
{
	if (IsA(path->fdw_private, IntList) && list_length(path->fdw_private) > WC_PATH_DISTINCT)
		plan->distinct_parts = list_nth_int(path->fdw_private, WC_PATH_DISTINCT);
}
