/*
 * fdw/fdw.c: the wrapper's handler.
 *
 * One foreign table, widecol.dump, is no view of a stored table.  The planner gets callbacks of
 * its own for it (plan/unique.c), and what runs gets them here.
 */
#include "postgres.h"

#include "fmgr.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "client/foreign/foreign.h"
#include "fdw/fdw.h"

PG_FUNCTION_INFO_V1(widecol_handler);

/* --- planning ------------------------------------------------------------------- */

static void
add_update_targets(PlannerInfo *root, Index rtindex, RangeTblEntry *target_rte, Relation target)
{
	if (!wc_foreign_is_dump(RelationGetRelid(target)))
		widecolAddForeignUpdateTargets(root, rtindex, target_rte, target);
}

static void
get_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	widecolGetForeignLimitPaths(root, stage, input_rel, output_rel, extra);
	widecolGetForeignGroupPaths(root, stage, input_rel, output_rel, extra);
	widecolGetForeignDistinctPaths(root, stage, input_rel, output_rel, extra);
	widecolGetForeignMemberPaths(root, stage, input_rel, output_rel, extra);
}

static bool
plan_direct_modify(PlannerInfo *root, ModifyTable *plan, Index result_relation, int subplan_index)
{
	RangeTblEntry *rte = planner_rt_fetch(result_relation, root);

	return !wc_foreign_is_dump(rte->relid) && widecolPlanDirectModify(root, plan, result_relation, subplan_index);
}

/* Other rows of a query that locks, or changes, are copied: a row of widecol.dump cannot be fetched again. */
static RowMarkType
row_mark_type(RangeTblEntry *rte, LockClauseStrength strength)
{
	if (!wc_foreign_is_dump(rte->relid))
		return widecolGetForeignRowMarkType(rte, strength);
	if (strength != LCS_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot lock rows in foreign table \"%s\"", get_rel_name(rte->relid))));
	return ROW_MARK_COPY;
}

/* --- running --------------------------------------------------------------------- */

static void
begin_scan(ForeignScanState *node, int eflags)
{
	/* a plan of widecol.dump has no fdw_private, every other plan has */
	if (castNode(ForeignScan, node->ss.ps.plan)->fdw_private != NIL)
	{
		widecolBeginForeignScan(node, eflags);
		return;
	}
	node->fdwroutine = wc_dump_routine();
	node->fdwroutine->BeginForeignScan(node, eflags);
}

static void
begin_modify(ModifyTableState *mtstate, ResultRelInfo *rinfo, List *fdw_private, int subplan_index, int eflags)
{
	if (!wc_foreign_is_dump(RelationGetRelid(rinfo->ri_RelationDesc)))
	{
		widecolBeginForeignModify(mtstate, rinfo, fdw_private, subplan_index, eflags);
		return;
	}
	rinfo->ri_FdwRoutine = wc_dump_routine();
	rinfo->ri_FdwRoutine->BeginForeignModify(mtstate, rinfo, fdw_private, subplan_index, eflags);
}

static void
begin_insert(ModifyTableState *mtstate, ResultRelInfo *rinfo)
{
	if (!wc_foreign_is_dump(RelationGetRelid(rinfo->ri_RelationDesc)))
	{
		widecolBeginForeignInsert(mtstate, rinfo);
		return;
	}
	rinfo->ri_FdwRoutine = wc_dump_routine();
	rinfo->ri_FdwRoutine->BeginForeignInsert(mtstate, rinfo);
}

static int
is_updatable(Relation rel)
{
	return wc_foreign_is_dump(RelationGetRelid(rel)) ? 1 << CMD_INSERT : widecolIsForeignRelUpdatable(rel);
}

static bool
analyze(Relation rel, AcquireSampleRowsFunc *func, BlockNumber *totalpages)
{
	return !wc_foreign_is_dump(RelationGetRelid(rel)) && widecolAnalyzeForeignTable(rel, func, totalpages);
}

static void
truncate_tables(List *rels, DropBehavior behavior, bool restart_seqs)
{
	ListCell   *lc;

	foreach(lc, rels)
		if (wc_foreign_is_dump(RelationGetRelid((Relation) lfirst(lc))))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot truncate foreign table \"%s\"", RelationGetRelationName((Relation) lfirst(lc)))));
	widecolExecForeignTruncate(rels, behavior, restart_seqs);
}

Datum
widecol_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	routine->GetForeignRelSize = widecolGetForeignRelSize;
	routine->GetForeignPaths = widecolGetForeignPaths;
	routine->GetForeignUpperPaths = get_upper_paths;
	routine->GetForeignPlan = widecolGetForeignPlan;
	routine->BeginForeignScan = begin_scan;
	routine->IterateForeignScan = widecolIterateForeignScan;
	routine->ReScanForeignScan = widecolReScanForeignScan;
	routine->EndForeignScan = widecolEndForeignScan;
	routine->IsForeignScanParallelSafe = widecolIsForeignScanParallelSafe;
	routine->EstimateDSMForeignScan = widecolEstimateDSMForeignScan;
	routine->InitializeDSMForeignScan = widecolInitializeDSMForeignScan;
	routine->ReInitializeDSMForeignScan = widecolReInitializeDSMForeignScan;
	routine->InitializeWorkerForeignScan = widecolInitializeWorkerForeignScan;
	routine->ShutdownForeignScan = widecolShutdownForeignScan;
	routine->GetForeignRowMarkType = row_mark_type;
	routine->RefetchForeignRow = widecolRefetchForeignRow;
	routine->IsForeignPathAsyncCapable = widecolIsForeignPathAsyncCapable;
	routine->ForeignAsyncRequest = widecolForeignAsyncRequest;
	routine->ForeignAsyncConfigureWait = widecolForeignAsyncConfigureWait;
	routine->ForeignAsyncNotify = widecolForeignAsyncNotify;
	routine->ExplainForeignScan = widecolExplainForeignScan;
	routine->AnalyzeForeignTable = analyze;
	routine->ImportForeignSchema = widecolImportForeignSchema;

	routine->AddForeignUpdateTargets = add_update_targets;
	routine->PlanForeignModify = widecolPlanForeignModify;
	routine->BeginForeignModify = begin_modify;
	routine->ExecForeignInsert = widecolExecForeignInsert;
	routine->ExecForeignUpdate = widecolExecForeignUpdate;
	routine->ExecForeignDelete = widecolExecForeignDelete;
	routine->EndForeignModify = widecolEndForeignModify;
	routine->BeginForeignInsert = begin_insert;
	routine->EndForeignInsert = widecolEndForeignInsert;
	routine->IsForeignRelUpdatable = is_updatable;
	routine->ExecForeignTruncate = truncate_tables;

	routine->PlanDirectModify = plan_direct_modify;
	routine->BeginDirectModify = widecolBeginDirectModify;
	routine->IterateDirectModify = widecolIterateDirectModify;
	routine->EndDirectModify = widecolEndDirectModify;
	routine->ExplainDirectModify = widecolExplainForeignScan;

	PG_RETURN_POINTER(routine);
}
