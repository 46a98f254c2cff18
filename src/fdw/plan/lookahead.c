/*
 * fdw/plan/lookahead.c: nested loops that look up many keys at once.
 *
 * Planning: a second nested loop path for a parameterised path of ours, with a
 * CustomPath around the outer path.  The custom node and the inner scan find each
 * other by a parameter's number, as PostgreSQL's recursive unions and their
 * worktables do; the node gets the inner scan's value expressions when that one
 * is planned, which is just behind it.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paramassign.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "base/limits.h"
#include "fdw/condition/keycond.h"
#include "fdw/plan/ahead.h"
#include "fdw/plan/cost.h"
#include "fdw/plan/lookahead.h"
#include "fdw/plan/plan.h"

#define WC_LOOKAHEAD_NAME "Widecol Lookahead"

/* Outer rows to have at once: the first alone, so that who wants one waits for one;
 * then so many times as many, up to WC_LOOKUP_KEYS_MAX. */
#define WC_LOOKAHEAD_GROWTH 8

/* The part of work_mem that the rows read ahead may take. */
#define WC_LOOKAHEAD_MEMORY 4

/* What the two paths of one join share; ForeignPath and CustomPath keep it as
 * the only member of their private lists. */
typedef struct Link
{
	int			number;
	CustomScan *node;
} Link;

struct WcLookahead
{
	CustomScanState css;		/* first */
	int			nvalues;
	ExprState **exprs;			/* [nvalues] */
	bool		may_fail;		/* one of these can raise an error */
	ExprContext *value_context;
	TupleTableSlot *value_slot;

	MemoryContext batch;		/* of tuples */
	MinimalTuple *tuples;
	int			ntuples;
	int			next;			/* of them, the one to hand on */
	int			size;			/* tuples to read next time */
	int			max;
	bool		exhausted;
	ErrorData  *error;			/* of the row behind the tuples; NULL: none was raised */
	uint64		position;
	uint64		started_at;		/* position when the scan began */

	uint64		batches;		/* for EXPLAIN */
};

bool		wc_enable_batched_lookup = true;

static set_join_pathlist_hook_type prev_set_join_pathlist;
static const CustomPathMethods path_methods;
static const CustomScanMethods scan_methods;
static const CustomExecMethods exec_methods;

/* --- paths --------------------------------------------------------------------- */

/* How often keys are sent for so many outer rows. */
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
 * What asking for the keys costs.  An estimate of few rows is a guess, often far too low,
 * unless a key says so: then a batch, which costs hardly more than a lookup when there is
 * one, and far less when there are thousands, has to win where the two are equal.
 */
static Cost
cost_batches(PlannerInfo *root, const Path *outer)
{
	RelOptInfo *rel = outer->parent;
	Cost		batch = WC_COST_ROUND_TRIP;

	if (!IS_SIMPLE_REL(rel) || !relation_has_unique_index_for(root, rel, NIL, NIL, NIL))
		batch *= 0.9;
	return count_batches(outer->rows) * batch + outer->rows * cpu_tuple_cost;
}

/* The outer path, with the reading ahead. */
static Path *
make_outer(PlannerInfo *root, Path *outer, Link *link)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = outer->parent;
	path->path.pathtarget = outer->pathtarget;
	path->path.param_info = outer->param_info;
	path->path.parallel_safe = outer->parallel_safe;
	path->path.parallel_workers = outer->parallel_workers;
	path->path.rows = outer->rows;
	path->path.startup_cost = outer->startup_cost;
	path->path.total_cost = outer->total_cost + cost_batches(root, outer);
	path->path.pathkeys = outer->pathkeys;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(outer);
	path->custom_private = list_make1(link);
	path->methods = &path_methods;
	return &path->path;
}

/* The inner path, whose rows have been fetched with others. */
static Path *
make_inner(const ForeignPath *inner, Link *link)
{
	ForeignPath *path = makeNode(ForeignPath);
	Cost		kept = inner->path.rows * cpu_tuple_cost;

	memcpy(path, inner, sizeof(ForeignPath));
	path->path.startup_cost = Max(inner->path.startup_cost - WC_COST_ROUND_TRIP, 0);
	path->path.total_cost = path->path.startup_cost + (inner->path.total_cost - inner->path.startup_cost) +
		WC_COST_LOOKUP + kept;
	path->fdw_private = list_make1(link);
	return &path->path;
}

static void
add_join(PlannerInfo *root, RelOptInfo *joinrel, JoinType jointype, JoinPathExtraData *extra,
		 Path *outer, const ForeignPath *inner)
{
	Relids		required = calc_nestloop_required_outer(outer->parent->relids, PATH_REQ_OUTER(outer),
														inner->path.parent->relids, PATH_REQ_OUTER(&inner->path));
	List	   *pathkeys = build_join_pathkeys(root, joinrel, jointype, outer->pathkeys);
	Link	   *link = palloc0(sizeof(Link));
	Path	   *outer_path = make_outer(root, outer, link);
	Path	   *inner_path = make_inner(inner, link);
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

/* The same in each worker, with the rows of the outer side that it gets. */
static void
add_partial_join(PlannerInfo *root, RelOptInfo *joinrel, JoinType jointype, JoinPathExtraData *extra,
				 Path *outer, const ForeignPath *inner)
{
	List	   *pathkeys = build_join_pathkeys(root, joinrel, jointype, outer->pathkeys);
	Link	   *link = palloc0(sizeof(Link));
	Path	   *outer_path = make_outer(root, outer, link);
	Path	   *inner_path = make_inner(inner, link);
	JoinCostWorkspace workspace;

	/* as PostgreSQL's try_partial_nestloop_path */
	initial_cost_nestloop(root, &workspace, jointype, outer_path, inner_path, extra);
	if (!add_partial_path_precheck(joinrel, workspace.total_cost, pathkeys))
		return;
	add_partial_path(joinrel, (Path *) create_nestloop_path(root, joinrel, jointype, &workspace, extra,
															outer_path, inner_path, extra->restrictlist,
															pathkeys, NULL));
}

/* Adds joins to this lookup whose outer side is shared by workers. */
static void
add_partial_joins(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, JoinType jointype,
				  JoinPathExtraData *extra, const ForeignPath *inner)
{
	ListCell   *lo;

	if (!joinrel->consider_parallel || !bms_is_empty(joinrel->lateral_relids) || !inner->path.parallel_safe)
		return;
	foreach(lo, outerrel->partial_pathlist)
	{
		if (wc_ahead_path(root, lfirst(lo)))
			add_partial_join(root, joinrel, jointype, extra, lfirst(lo), inner);
	}
}

/* Is this a path whose keys the outer relation alone supplies? */
static bool
is_lookup(const Path *path, const RelOptInfo *outerrel)
{
	return IsA(path, ForeignPath) && lthird_int(((ForeignPath *) path)->fdw_private) != 0 &&
		bms_is_subset(PATH_REQ_OUTER(path), outerrel->relids);
}

/* The expressions that keys are made from. */
static List *
find_values(PlannerInfo *root, const ForeignPath *path)
{
	RelOptInfo *rel = path->path.parent;
	WcQuals		quals;

	wc_quals_find(root, rel, wc_plan_relation(rel),
				  list_concat_copy(rel->baserestrictinfo, path->path.param_info->ppi_clauses), &quals);
	return wc_key_conds_exprs(quals.conds);
}

bool
wc_lookahead_is_path(const Path *path)
{
	return IsA(path, CustomPath) && ((const CustomPath *) path)->methods == &path_methods;
}

static void
on_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
				 JoinType jointype, JoinPathExtraData *extra)
{
	const WcRelation *wrel = wc_plan_relation(innerrel);
	bool		unique = jointype == JOIN_UNIQUE_OUTER;
	ListCell   *lo;
	ListCell   *li;

	if (prev_set_join_pathlist)
		prev_set_join_pathlist(root, joinrel, outerrel, innerrel, jointype, extra);

	if (!wc_enable_batched_lookup || wrel == NULL || wrel->layout != WC_LAYOUT_ROW ||
		joinrel->reloptkind != RELOPT_JOINREL)
		return;
	/* rows that are locked, or changed, are looked at again one by one */
	if (root->rowMarks != NIL ||
		(root->parse->commandType != CMD_SELECT && root->parse->commandType != CMD_INSERT))
		return;
	if (unique)
		jointype = JOIN_INNER;
	if (jointype != JOIN_INNER && jointype != JOIN_LEFT && jointype != JOIN_SEMI && jointype != JOIN_ANTI)
		return;
	foreach(li, innerrel->pathlist)
	{
		if (!is_lookup(lfirst(li), outerrel) || wc_ahead_exprs(root, find_values(root, lfirst(li))) == WC_AHEAD_NEVER)
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
				add_join(root, joinrel, jointype, extra, outer, lfirst(li));
		}
		if (!unique)
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
	node->methods = &scan_methods;
	return &node->scan.plan;
}

/*
 * The keys' Vars are those of the inner side's clauses, which may not name all outer
 * joins below that could have made them NULL, as PostgreSQL 16 and later want to see.
 * They are what the outer side gives, so are named as there.
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

	if (IsA(path->fdw_private, IntList))
		return -1;
	link = linitial(path->fdw_private);
	if (link->node == NULL)
		elog(ERROR, "inner side of a batched lookup is planned before its outer side");
	link->node->custom_exprs = (List *) name_as_below((Node *) unconstify(List *, values),
														link->node->custom_scan_tlist);
	link->node->custom_private = list_make2_int(link->number, wc_ahead_exprs(root, values) != WC_AHEAD_SAFE);
	return link->number;
}

/* --- running ------------------------------------------------------------------- */

static Node *
create_state(CustomScan *node)
{
	WcLookahead *lookahead = palloc0(sizeof(WcLookahead));

	NodeSetTag(lookahead, T_CustomScanState);
	lookahead->css.methods = &exec_methods;
	return (Node *) lookahead;
}

static int
number_of(const CustomScanState *css)
{
	return linitial_int(castNode(CustomScan, css->ss.ps.plan)->custom_private);
}

static void
begin(CustomScanState *css, EState *estate, int eflags)
{
	WcLookahead *lookahead = (WcLookahead *) css;
	CustomScan *node = castNode(CustomScan, css->ss.ps.plan);
	ListCell   *lc;

	css->custom_ps = list_make1(ExecInitNode(linitial(node->custom_plans), estate, eflags));
	lookahead->exprs = palloc(sizeof(ExprState *) * (list_length(node->custom_exprs) + 1));
	foreach(lc, node->custom_exprs)
		lookahead->exprs[lookahead->nvalues++] = ExecInitExpr(lfirst(lc), &css->ss.ps);
	lookahead->may_fail = lsecond_int(node->custom_private) != 0;
	lookahead->value_context = CreateExprContext(estate);
	lookahead->value_slot = ExecInitExtraTupleSlot(estate, css->ss.ss_ScanTupleSlot->tts_tupleDescriptor,
												   &TTSOpsVirtual);
	lookahead->batch = AllocSetContextCreate(CurrentMemoryContext, "widecol lookahead", ALLOCSET_DEFAULT_SIZES);
	lookahead->tuples = palloc(sizeof(MinimalTuple) * WC_LOOKUP_KEYS_MAX);
	lookahead->size = 1;
	lookahead->max = WC_LOOKUP_KEYS_MAX;
	estate->es_param_exec_vals[number_of(css)].value = PointerGetDatum(lookahead);
}

/* Reads one tuple more; false: there is none. */
static bool
read_tuple(WcLookahead *lookahead)
{
	TupleTableSlot *slot = ExecProcNode(linitial(lookahead->css.custom_ps));
	MemoryContext old;

	if (TupIsNull(slot))
	{
		lookahead->exhausted = true;
		return false;
	}
	old = MemoryContextSwitchTo(lookahead->batch);
	lookahead->tuples[lookahead->ntuples++] = ExecCopySlotMinimalTuple(slot);
	MemoryContextSwitchTo(old);
	return true;
}

/* An error has left nodes without the end of their measurement. */
static bool
stop_measuring(PlanState *node, void *context)
{
	if (node->instrument != NULL && !INSTR_TIME_IS_ZERO(node->instrument->starttime))
		InstrStopNode(node->instrument, 0);
	return planstate_tree_walker(node, stop_measuring, context);
}

/*
 * Reads the tuples behind the one that was asked for.  Of a stored row that cannot be
 * decoded the error is kept, and raised when that row is asked for; the child is not
 * called again before it starts anew.
 */
static void
read_ahead(WcLookahead *lookahead)
{
	PlanState  *child = linitial(lookahead->css.custom_ps);
	MemoryContext old = CurrentMemoryContext;
	Size		room = (Size) work_mem * 1024 / WC_LOOKAHEAD_MEMORY;

	PG_TRY();
	{
		while (lookahead->ntuples < lookahead->size && MemoryContextMemAllocated(lookahead->batch, false) < room &&
			   read_tuple(lookahead))
			;
	}
	PG_CATCH();
	{
		if (!wc_ahead_defers())
			PG_RE_THROW();
		MemoryContextSwitchTo(lookahead->batch);
		lookahead->error = CopyErrorData();
		FlushErrorState();
		MemoryContextSwitchTo(old);
		(void) stop_measuring(child, NULL);
	}
	PG_END_TRY();
}

/* Reads the next tuples; false: there are none. */
static bool
fill(WcLookahead *lookahead)
{
	if (lookahead->error != NULL)
		ReThrowError(lookahead->error);
	MemoryContextReset(lookahead->batch);
	lookahead->next = 0;
	lookahead->ntuples = 0;
	if (lookahead->exhausted || !read_tuple(lookahead))
		return false;
	if (lookahead->size > 1)
		read_ahead(lookahead);
	lookahead->size = Min(lookahead->size * WC_LOOKAHEAD_GROWTH, lookahead->max);
	lookahead->batches++;
	return true;
}

static TupleTableSlot *
next(CustomScanState *css)
{
	WcLookahead *lookahead = (WcLookahead *) css;
	TupleTableSlot *slot = css->ss.ss_ScanTupleSlot;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;

	if (lookahead->next >= lookahead->ntuples && !fill(lookahead))
		return ExecClearTuple(css->ss.ps.ps_ProjInfo != NULL ? css->ss.ps.ps_ResultTupleSlot : slot);
	ExecForceStoreMinimalTuple(lookahead->tuples[lookahead->next++], slot, false);
	lookahead->position++;
	if (css->ss.ps.ps_ProjInfo == NULL)
		return slot;
	ResetExprContext(econtext);
	econtext->ecxt_scantuple = slot;
	return ExecProject(css->ss.ps.ps_ProjInfo);
}

static void
end(CustomScanState *css)
{
	ExecEndNode(linitial(css->custom_ps));
}

static void
rescan(CustomScanState *css)
{
	WcLookahead *lookahead = (WcLookahead *) css;
	PlanState  *child = linitial(css->custom_ps);
	uint64		seen = lookahead->position - lookahead->started_at;

	/* it is likely to be read as far as last time */
	lookahead->size = (int) Max(Min(seen, (uint64) lookahead->max), 1);
	/* the inner side has perhaps asked about the keys of tuples that were not handed on */
	lookahead->position += lookahead->ntuples - lookahead->next;
	lookahead->started_at = lookahead->position;
	lookahead->next = lookahead->ntuples = 0;
	lookahead->exhausted = false;
	lookahead->error = NULL;
	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	if (css->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, css->ss.ps.chgParam);
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	if (es->analyze && es->verbose)
		ExplainPropertyInteger("Batches", NULL, (int64) ((WcLookahead *) css)->batches, es);
}

WcLookahead *
wc_lookahead_find(EState *estate, int number)
{
	return (WcLookahead *) DatumGetPointer(estate->es_param_exec_vals[number].value);
}

uint64
wc_lookahead_position(const WcLookahead *lookahead)
{
	return lookahead->position;
}

static void
evaluate(WcLookahead *lookahead, Datum *values, bool *nulls)
{
	for (int i = 0; i < lookahead->nvalues; i++)
		values[i] = ExecEvalExprSwitchContext(lookahead->exprs[i], lookahead->value_context, &nulls[i]);
}

/* The same in a subtransaction, which takes an error back; false: there was one.  (When the
 * row is reached, the scan evaluates its key itself, and raises the error.) */
static bool
try_evaluate(WcLookahead *lookahead, Datum *values, bool *nulls)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool known = false;

	if (IsInParallelMode())
		return false;			/* no subtransactions there */
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		evaluate(lookahead, values, nulls);
		ReleaseCurrentSubTransaction();
		known = true;
	}
	PG_CATCH();
	{
		ErrorData  *error;
		int			category;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		category = ERRCODE_TO_CATEGORY(error->sqlerrcode);
		if (category == ERRCODE_OPERATOR_INTERVENTION || category == ERRCODE_INSUFFICIENT_RESOURCES)
			ReThrowError(error);
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return known;
}

bool
wc_lookahead_values(WcLookahead *lookahead, int ahead, Datum *values, bool *nulls)
{
	ExprContext *econtext = lookahead->value_context;
	int			at = lookahead->next - 1 + ahead;

	if (at < 0 || at >= lookahead->ntuples)
		return false;
	ResetExprContext(econtext);
	ExecForceStoreMinimalTuple(lookahead->tuples[at], lookahead->value_slot, false);
	econtext->ecxt_scantuple = lookahead->value_slot;
	if (lookahead->may_fail && ahead > 0)
		return try_evaluate(lookahead, values, nulls);
	evaluate(lookahead, values, nulls);
	return true;
}

void
wc_lookahead_shrink(WcLookahead *lookahead)
{
	lookahead->max = Max(lookahead->max / WC_LOOKAHEAD_GROWTH, 1);
	lookahead->size = Min(lookahead->size, lookahead->max);
}

/* --- registration -------------------------------------------------------------- */

static const CustomPathMethods path_methods = {
	.CustomName = WC_LOOKAHEAD_NAME,
	.PlanCustomPath = plan_lookahead
};

static const CustomScanMethods scan_methods = {
	.CustomName = WC_LOOKAHEAD_NAME,
	.CreateCustomScanState = create_state
};

static const CustomExecMethods exec_methods = {
	.CustomName = WC_LOOKAHEAD_NAME,
	.BeginCustomScan = begin,
	.ExecCustomScan = next,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.ExplainCustomScan = explain
};

void
wc_lookahead_install(void)
{
	RegisterCustomScanMethods(&scan_methods);
	prev_set_join_pathlist = set_join_pathlist_hook;
	set_join_pathlist_hook = on_join_pathlist;
}
