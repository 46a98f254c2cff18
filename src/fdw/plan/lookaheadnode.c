/*
 * fdw/plan/lookaheadnode.c: the node that reads outer rows ahead, and gives their keys to the inner scan.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "base/limits.h"
#include "fdw/plan/ahead.h"
#include "fdw/plan/lookahead.h"

/* The rows read ahead may take work_mem divided by this. */
#define WC_LOOKAHEAD_MEMORY 4

struct WcLookahead
{
	CustomScanState css;		/* must be first */
	int			nvalues;
	ExprState **exprs;			/* [nvalues] */
	bool		may_fail;		/* one of exprs can raise an error */
	ExprContext *value_context;
	TupleTableSlot *value_slot;

	MemoryContext batch;		/* memory of the tuples */
	MinimalTuple *tuples;
	int			ntuples;
	int			next;			/* index of the next tuple to return */
	int			size;			/* tuples to read next time */
	int			max;
	bool		exhausted;
	ErrorData  *error;			/* of the row after the tuples; NULL: none was raised */
	uint64		position;
	uint64		started_at;		/* position when the scan began */

	uint64		batches;		/* for EXPLAIN */
};

static const CustomExecMethods exec_methods;

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

/* Reads one more tuple; false: there is none. */
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

/* Ends the measurements that an error has left open in nodes. */
static bool
stop_measuring(PlanState *node, void *context)
{
	if (node->instrument != NULL && !INSTR_TIME_IS_ZERO(node->instrument->starttime))
		InstrStopNode(node->instrument, 0);
	return planstate_tree_walker(node, stop_measuring, context);
}

/*
 * Reads the tuples after the one that was asked for.  The error of a stored row that cannot be decoded is kept, and
 * raised when that row is asked for; the child is not called again before it is rescanned.
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

	/* this scan is likely to be read as far as the last one */
	lookahead->size = (int) Max(Min(seen, (uint64) lookahead->max), 1);
	/* the inner side may have asked for the keys of tuples that were not returned */
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

static const CustomExecMethods exec_methods = {
	.CustomName = WC_LOOKAHEAD_NAME,
	.BeginCustomScan = begin,
	.ExecCustomScan = next,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.ExplainCustomScan = explain
};

const CustomScanMethods wc_lookahead_methods = {
	.CustomName = WC_LOOKAHEAD_NAME,
	.CreateCustomScanState = create_state
};

/* --- for the inner scan ------------------------------------------------------------ */

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

/* The same in a subtransaction, which is rolled back on an error; false: there was one.  (When the row is
 * reached, the scan evaluates its key itself, and raises the error.) */
static bool
try_evaluate(WcLookahead *lookahead, Datum *values, bool *nulls)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool known = false;

	if (IsInParallelMode())
		return false;			/* parallel mode has no subtransactions */
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
