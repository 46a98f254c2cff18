/*
 * fdw/fdw.c: the wrapper's handler.
 */
#include "postgres.h"

#include "fmgr.h"

#include "fdw/fdw.h"

PG_FUNCTION_INFO_V1(widecol_handler);

Datum
widecol_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	routine->GetForeignRelSize = widecolGetForeignRelSize;
	routine->GetForeignPaths = widecolGetForeignPaths;
	routine->GetForeignUpperPaths = widecolGetForeignUpperPaths;
	routine->GetForeignPlan = widecolGetForeignPlan;
	routine->BeginForeignScan = widecolBeginForeignScan;
	routine->IterateForeignScan = widecolIterateForeignScan;
	routine->ReScanForeignScan = widecolReScanForeignScan;
	routine->EndForeignScan = widecolEndForeignScan;
	routine->GetForeignRowMarkType = widecolGetForeignRowMarkType;
	routine->RefetchForeignRow = widecolRefetchForeignRow;
	routine->IsForeignPathAsyncCapable = widecolIsForeignPathAsyncCapable;
	routine->ForeignAsyncRequest = widecolForeignAsyncRequest;
	routine->ForeignAsyncConfigureWait = widecolForeignAsyncConfigureWait;
	routine->ForeignAsyncNotify = widecolForeignAsyncNotify;
	routine->ExplainForeignScan = widecolExplainForeignScan;
	routine->AnalyzeForeignTable = widecolAnalyzeForeignTable;
	routine->ImportForeignSchema = widecolImportForeignSchema;

	routine->AddForeignUpdateTargets = widecolAddForeignUpdateTargets;
	routine->PlanForeignModify = widecolPlanForeignModify;
	routine->BeginForeignModify = widecolBeginForeignModify;
	routine->ExecForeignInsert = widecolExecForeignInsert;
	routine->ExecForeignUpdate = widecolExecForeignUpdate;
	routine->ExecForeignDelete = widecolExecForeignDelete;
	routine->EndForeignModify = widecolEndForeignModify;
	routine->BeginForeignInsert = widecolBeginForeignInsert;
	routine->EndForeignInsert = widecolEndForeignInsert;
	routine->IsForeignRelUpdatable = widecolIsForeignRelUpdatable;
	routine->ExecForeignTruncate = widecolExecForeignTruncate;

	routine->PlanDirectModify = widecolPlanDirectModify;
	routine->BeginDirectModify = widecolBeginDirectModify;
	routine->IterateDirectModify = widecolIterateDirectModify;
	routine->EndDirectModify = widecolEndDirectModify;
	routine->ExplainDirectModify = widecolExplainForeignScan;

	PG_RETURN_POINTER(routine);
}
