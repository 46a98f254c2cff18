/*
 * fdw/scan/scangate.c: conditions that hide rows, evaluated before other columns are decoded.
 *
 * PostgreSQL evaluates a security policy before the query's conditions, but on rows with all columns decoded.  So
 * without a gate, a cell that does not decode would raise an error, and show bytes of a row that the user must not
 * see.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/transam.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "utils/rel.h"

#include "fdw/scan/grouped.h"
#include "fdw/scan/scan.h"
#include "fdw/scan/scangate.h"

struct WcScanGate
{
	WcGate		gate;
	ForeignScanState *node;
	ExprState **conditions;		/* [gate.nsteps] */
	bool		runs_functions;
	ExprState  *whole;			/* the node's qual with the conditions of the gate; NULL: none */
	int			nlocal;			/* the first ones are local; the engine decides the others, if it can */
};

static Bitmapset *
columns_of(Node *expr, Index relid, int natts)
{
	Bitmapset  *vars = NULL;
	Bitmapset  *attrs = NULL;
	int			x = -1;

	pull_varattnos(expr, relid, &vars);
	while ((x = bms_next_member(vars, x)) >= 0)
	{
		int			attnum = x + FirstLowInvalidHeapAttributeNumber;

		if (attnum > 0)
			attrs = bms_add_member(attrs, attnum - 1);
		else if (attnum == 0 && natts > 0)
			attrs = bms_add_range(attrs, 0, natts - 1);
	}
	return attrs;
}

static bool
passes(void *arg, int step, const Datum *values, const bool *isnull)
{
	WcScanGate *gate = arg;
	ForeignScanState *node = gate->node;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	int			natts = slot->tts_tupleDescriptor->natts;
	bool		pass;

	ExecClearTuple(slot);
	if (values != slot->tts_values)
	{
		memcpy(slot->tts_values, values, sizeof(Datum) * natts);
		memcpy(slot->tts_isnull, isnull, sizeof(bool) * natts);
	}
	ExecStoreVirtualTuple(slot);
	slot->tts_tableOid = RelationGetRelid(node->ss.ss_currentRelation);
	econtext->ecxt_scantuple = slot;
	pass = ExecQual(gate->conditions[step], econtext);
	if (!pass && step < gate->nlocal)
		InstrCountFiltered1(node, 1);
	ExecClearTuple(slot);
	return pass;
}

static bool
is_foreign(Oid function, void *context)
{
	return function >= FirstNormalObjectId;
}

static bool
runs_functions(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, CoerceToDomain) || IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) ||
		check_functions_in_node(node, is_foreign, NULL))
		return true;
	return expression_tree_walker(node, runs_functions, context);
}

static void
add_step(WcScanGate *gate, Expr *condition)
{
	ForeignScanState *node = gate->node;
	Index		relid = wc_scan_varno(castNode(ForeignScan, node->ss.ps.plan));
	int			natts = RelationGetNumberOfAttributes(node->ss.ss_currentRelation);
	Bitmapset  *columns = columns_of((Node *) condition, relid, natts);
	int			n = gate->gate.nsteps++;
	WcGateStep *step = &gate->gate.steps[n];
	Bitmapset  *before = n > 0 ? step[-1].done : NULL;

	step->attrs = bms_difference(columns, before);
	step->done = bms_union(columns, before);
	gate->runs_functions |= runs_functions((Node *) condition, NULL);
	gate->conditions[n] = ExecInitQual(list_make1(condition), &node->ss.ps);
}

WcScanGate *
wc_scangate_create(ForeignScanState *node, const WcScanPlan *plan)
{
	ForeignScan *fscan = castNode(ForeignScan, node->ss.ps.plan);
	List	   *local = list_copy_head(fscan->scan.plan.qual, plan->nbarriers);
	List	   *decided = wc_grouped_spell_out(fscan, list_copy_head(fscan->fdw_recheck_quals, plan->ndecided_barriers));
	WcScanGate *gate;
	ListCell   *lc;

	if (local == NIL && decided == NIL)
		return NULL;
	gate = palloc0(sizeof(WcScanGate));
	gate->node = node;
	gate->nlocal = list_length(local);
	gate->conditions = palloc(sizeof(ExprState *) * (list_length(local) + list_length(decided)));
	gate->gate.steps = palloc0(sizeof(WcGateStep) * (list_length(local) + list_length(decided)));
	gate->gate.passes = passes;
	gate->gate.arg = gate;
	foreach(lc, local)
		add_step(gate, lfirst(lc));
	foreach(lc, decided)
		add_step(gate, lfirst(lc));
	/* each row that the node returns has come through the gate, but for those that EvalPlanQual supplies */
	gate->whole = node->ss.ps.qual;
	if (local != NIL && node->ss.ps.state->es_epq_active == NULL)
		node->ss.ps.qual = ExecInitQual(list_copy_tail(fscan->scan.plan.qual, plan->nbarriers), &node->ss.ps);
	return gate;
}

ExprState *
wc_scangate_whole_qual(const WcScanGate *gate, const ForeignScanState *node)
{
	return gate != NULL ? gate->whole : node->ss.ps.qual;
}

bool
wc_scangate_runs_functions(const WcScanGate *gate)
{
	return gate != NULL && gate->runs_functions;
}

const WcGate *
wc_scangate_for(WcScanGate *gate, bool recheck)
{
	if (gate == NULL)
		return NULL;
	gate->gate.nalways = recheck ? gate->gate.nsteps : gate->nlocal;
	return &gate->gate;
}
