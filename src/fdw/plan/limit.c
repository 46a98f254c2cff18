/*
 * fdw/plan/limit.c: scans that apply the query's LIMIT and OFFSET.
 *
 * A constant LIMIT reaches the scan below PostgreSQL's Limit node as a number of rows (plan.c).  With an OFFSET, or a
 * LIMIT that is known only when the query runs, the scan does the node's work, and there is no node: the engine skips
 * rows, so that they are not transferred.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "client/client.h"
#include "client/settings.h"
#include "fdw/fdw.h"
#include "fdw/plan/limit.h"
#include "fdw/plan/relplan.h"

/* --- paths -------------------------------------------------------------------- */

/* Is there a volatile function in the subqueries of the expressions? */
static bool
hides_volatile(Node *node, void *glob)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan))
	{
		PlannerInfo *subroot = list_nth(((PlannerGlobal *) glob)->subroots, ((SubPlan *) node)->plan_id - 1);

		if (contain_volatile_functions((Node *) subroot->parse) || hides_volatile((Node *) subroot->parse, glob))
			return true;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, hides_volatile, glob, 0);
	return expression_tree_walker(node, hides_volatile, glob);
}

bool
wc_target_is_volatile(PlannerInfo *root)
{
	return contain_volatile_functions((Node *) root->processed_tlist) ||
		hides_volatile((Node *) root->processed_tlist, root->glob);
}

/* A constant LIMIT alone is as good above the scan. */
static bool
wants_scan(const Query *query)
{
	return query->limitOffset != NULL || (query->limitCount != NULL && !IsA(query->limitCount, Const));
}

/*
 * May the scan apply both?  PostgreSQL evaluates the target list for skipped rows, too, which is visible if the target
 * list is volatile.
 */
static bool
may_take(PlannerInfo *root, const FinalPathExtraData *extra)
{
	Query	   *query = root->parse;
	List	   *limits = list_make2(query->limitCount, query->limitOffset);

	return wc_enable_pushdown && extra->limit_needed && wants_scan(query) &&
		query->commandType == CMD_SELECT && query->limitOption == LIMIT_OPTION_COUNT &&
		query->rowMarks == NIL && !query->hasTargetSRFs && !root->hasPseudoConstantQuals &&
		!contain_volatile_functions((Node *) limits) && !contain_subplans((Node *) limits) &&
		!wc_target_is_volatile(root);
}

/* The only relation of the query, if it is ours and the engine decides all of its conditions; NULL: there is
 * none. */
static const RelOptInfo *
only_relation(PlannerInfo *root)
{
	int			relid;
	RelOptInfo *rel;

	if (!bms_get_singleton_member(root->all_baserels, &relid))
		return NULL;
	rel = root->simple_rel_array[relid];
	return wc_plan_relation(rel) != NULL && wc_client_skips_rows(wc_plan_relation(rel)->desc) && wc_plan_decides_rows(rel) ?
		rel : NULL;
}

/* The same scan with the target of the path above it, and with the limits. */
static ForeignPath *
make_limited(const ForeignPath *scan, const Path *top, const RelOptInfo *output_rel, const FinalPathExtraData *extra)
{
	ForeignPath *path = makeNode(ForeignPath);
	double		skipped = extra->offset_est >= 0 ? (double) extra->offset_est : clamp_row_est(top->rows * 0.1);
	Cost		saved;

	memcpy(path, scan, sizeof(ForeignPath));
	path->path.pathtarget = top->pathtarget;
	path->path.rows = top->rows;
	path->path.startup_cost = top->startup_cost;
	path->path.total_cost = top->total_cost;
	path->path.pathkeys = top->pathkeys;
	path->path.parallel_safe = top->parallel_safe && output_rel->consider_parallel;
	adjust_limit_rows_costs(&path->path.rows, &path->path.startup_cost, &path->path.total_cost,
							extra->offset_est, extra->count_est);

	/* skipped rows are not transferred, and the others do not pass a Limit node */
	saved = Min(skipped, top->rows) * cpu_tuple_cost;
	path->path.startup_cost -= Min(saved, path->path.startup_cost - top->startup_cost);
	path->path.total_cost -= Min(saved + path->path.rows * cpu_operator_cost, path->path.total_cost - path->path.startup_cost);
	path->fdw_private = lappend_int(list_copy(scan->fdw_private), 1);
	return path;
}

void
widecolGetForeignLimitPaths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
							RelOptInfo *output_rel, void *extra)
{
	const RelOptInfo *rel;
	ListCell   *lc;

	if (stage != UPPERREL_FINAL || !may_take(root, extra))
		return;
	rel = only_relation(root);
	if (rel == NULL)
		return;

	/* only projections, which a scan can do, may be above the scan */
	foreach(lc, input_rel->pathlist)
	{
		Path	   *top = lfirst(lc);
		Path	   *path = top;

		while (IsA(path, ProjectionPath))
			path = ((ProjectionPath *) path)->subpath;
		if (IsA(path, ForeignPath) && path->parent == rel && path->param_info == NULL)
			add_path(output_rel, (Path *) make_limited((ForeignPath *) path, top, output_rel, extra));
	}
}

/* --- the plan ----------------------------------------------------------------- */

static Expr *
limit_expr(Node *expr)
{
	return expr == NULL || (IsA(expr, Const) && ((Const *) expr)->constisnull) ? NULL : (Expr *) expr;
}

void
wc_limit_plan(PlannerInfo *root, const ForeignPath *path, WcScanPlan *plan)
{
	if (!IsA(path->fdw_private, IntList) || list_length(path->fdw_private) <= WC_PATH_LIMITED ||
		!list_nth_int(path->fdw_private, WC_PATH_LIMITED))
		return;
	plan->limit = limit_expr(root->parse->limitCount);
	plan->offset = limit_expr(root->parse->limitOffset);
}

/* --- running ------------------------------------------------------------------ */

WcLimit *
wc_limit_prepare(const WcScanPlan *plan, PlanState *ps)
{
	WcLimit    *limit;

	if (plan->limit == NULL && plan->offset == NULL)
		return NULL;
	limit = palloc(sizeof(WcLimit));
	limit->limit = ExecInitExpr(plan->limit, ps);
	limit->offset = ExecInitExpr(plan->offset, ps);
	return limit;
}

/* False: there is no value. */
static bool
evaluate(ExprState *state, ExprContext *econtext, int64 *value)
{
	bool		isnull = true;
	Datum		datum = state == NULL ? (Datum) 0 : ExecEvalExprSwitchContext(state, econtext, &isnull);

	*value = isnull ? 0 : DatumGetInt64(datum);
	return !isnull;
}

void
wc_limit_evaluate(const WcLimit *limit, ExprContext *econtext, uint64 *to_skip, uint64 *to_give)
{
	int64		offset;
	int64		count;
	bool		limited;

	(void) evaluate(limit->offset, econtext, &offset);
	if (offset < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_ROW_COUNT_IN_RESULT_OFFSET_CLAUSE),
				 errmsg("OFFSET must not be negative")));
	limited = evaluate(limit->limit, econtext, &count);
	if (count < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_ROW_COUNT_IN_LIMIT_CLAUSE),
				 errmsg("LIMIT must not be negative")));
	*to_skip = (uint64) offset;
	*to_give = limited ? (uint64) count : WC_NO_LIMIT;
}
