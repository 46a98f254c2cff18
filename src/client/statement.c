/*
 * client/statement.c: hooks of PostgreSQL's statements, which take, release and share the
 * engine's snapshots.
 *
 * A scan takes its statement's snapshot when the executor starts the scan.  This file has the
 * other cases: snapshots of transactions, which are taken with the first statement;
 * exported and imported snapshots; and snapshots of parallel queries, whose workers may
 * read stored tables in functions.  Other statements cost a few comparisons.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/sinvaladt.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"

#include "base/clock.h"
#include "channel/flight.h"
#include "channel/shmem.h"
#include "client/foreign/foreign.h"
#include "client/state.h"
#include "compat.h"

/* How long a READ ONLY transaction waits for an engine that starts, and a statement of stored tables for the start of an engine to
 * begin; and how often they look. */
#define START_PATIENCE_US 10000000
#define START_LOOK_MS 100

static ExecutorStart_hook_type prev_executor_start;
static ExecutorEnd_hook_type prev_executor_end;
static ProcessUtility_hook_type prev_process_utility;
static object_access_hook_type prev_object_access;
static bool copy_filters;

static bool
is_stored(const RangeTblEntry *rte)
{
	return rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_FOREIGN_TABLE && wc_foreign_is_widecol(rte->relid);
}

static bool
names_stored_table(const PlannedStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->rtable)
	{
		if (is_stored(lfirst(lc)))
			return true;
	}
	return false;
}

/* Does the statement read stored tables and others? */
static bool
reads_both(const PlannedStmt *stmt)
{
	bool		stored = false;
	bool		others = false;
	int			i = 0;
	ListCell   *lc;

	/* the most frequent case, without a look at the table's options */
	if (list_length(stmt->rtable) < 2)
		return false;
	foreach(lc, stmt->rtable)
	{
		const RangeTblEntry *rte = lfirst(lc);

		i++;
		if (rte->rtekind != RTE_RELATION || (stmt->commandType == CMD_INSERT && list_member_int(stmt->resultRelations, i)))
			continue;
		if (is_stored(rte))
			stored = true;
		else
			others = true;
	}
	return stored && others;
}

/* Is it a further query that rules have made of the client's statement?  They read by one snapshot. */
static bool
continues_statement(const PlannedStmt *stmt)
{
	return ActivePortal != NULL && list_member_ptr(ActivePortal->stmts, stmt) && linitial(ActivePortal->stmts) != stmt;
}

/*
 * Waits for an engine that starts.  stored: a statement reads stored tables, so it has to wait, however long the start takes.  Else
 * not for long, since a READ ONLY transaction may read heap tables only.
 */
static void
await_start(bool stored)
{
	WcShmem    *shmem = wc_shmem();
	int64		until = wc_clock_monotonic_us() + START_PATIENCE_US;

	ConditionVariablePrepareToSleep(&shmem->state_changed);
	for (;;)
	{
		uint32		state = atomic_load(&shmem->state);

		if (state == WC_ENGINE_READY || state == WC_ENGINE_FAILED ||
			(wc_clock_monotonic_us() >= until && !(stored && state == WC_ENGINE_STARTING)))
			break;
		(void) ConditionVariableTimedSleep(&shmem->state_changed, START_LOOK_MS, wc_shmem_wait_event(WC_WAIT_START));
	}
	ConditionVariableCancelSleep();
}

/*
 * For a query that reads stored tables.  If there is no engine, it waits now: its scans would wait later, and then show a younger
 * state than PostgreSQL's snapshot.  If no engine comes, the scans fail, also if an engine is ready by then.
 */
static void
enter_with_engine(Snapshot snapshot)
{
	do
	{
		if (!wc_driver()->ready())
			await_start(true);
		if (!wc_driver()->ready())
		{
			wc_snapshot_mark_early(snapshot);
			return;
		}
	} while (!wc_snapshot_enter_exactly(snapshot));
}

/*
 * Above READ COMMITTED: takes the transaction's snapshot; with the first query one that shows the same transactions as
 * PostgreSQL's.  A transaction that begins with heap tables only may read stored tables later.  A stalled engine
 * neither delays such a transaction nor makes it fail, unless it is READ ONLY.
 */
static void
take_transactions(Snapshot snapshot, bool stored)
{
	static LocalTransactionId begun;
	bool		first = begun != wc_my_lxid;
	WcError		why;

	if (!wc_snapshot_of_transaction_taken())
	{
		if (first && stored)
			enter_with_engine(snapshot);
		if (XactReadOnly && first && !wc_driver()->ready())
			await_start(false);
		if (XactReadOnly || (wc_driver()->ready() && !wc_following_stalled(&why)))
		{
			if (first)
				(void) wc_snapshot_enter_exactly(snapshot);
			else
				wc_snapshot_enter(snapshot);
		}
		if (!XactReadOnly && stored)
			wc_client_snapshot_take(wc_client_snapshot(snapshot));
	}
	/* if it failed on the way, nothing has been read: after ROLLBACK TO SAVEPOINT the next query is the first again */
	begun = wc_my_lxid;
}

/*
 * Workers read by the leader's snapshot.  When the snapshot cannot be shared, or the transaction
 * has written, which workers cannot see, the query runs without workers.  While the engine is not ready, a
 * query of heap tables keeps its workers; a query of stored tables waits for the engine, and runs without them.
 */
static void
prepare_parallel(QueryDesc *query)
{
	PlannedStmt *stmt;

	if (wc_batch_empty() &&
		(wc_snapshot_share(query->snapshot, false) || (!wc_driver()->ready() && !names_stored_table(query->plannedstmt))))
		return;
	stmt = palloc(sizeof(PlannedStmt));
	*stmt = *query->plannedstmt;
	stmt->parallelModeNeeded = false;
	query->plannedstmt = stmt;
}

static void
on_executor_start(QueryDesc *query, int eflags)
{
	if (IsParallelWorker())
		wc_snapshot_of_leader(query->snapshot);
	else
	{
		if (IsolationUsesXactSnapshot())
			take_transactions(query->snapshot, names_stored_table(query->plannedstmt));
		else if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0 && reads_both(query->plannedstmt) &&
				 !continues_statement(query->plannedstmt))
			enter_with_engine(query->snapshot);
		if (query->plannedstmt->parallelModeNeeded && (eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
			prepare_parallel(query);
	}
	if (prev_executor_start)
		prev_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

/* Is this the last query of a statement that the client has sent?  Queries that functions
 * run are in no portal's list. */
static bool
ends_statement(const PlannedStmt *stmt)
{
	return ActivePortal == NULL || (ActivePortal->stmts != NIL && llast(ActivePortal->stmts) == stmt);
}

static void
on_executor_end(QueryDesc *query)
{
	if (prev_executor_end)
		prev_executor_end(query);
	else
		standard_ExecutorEnd(query);
	if (wc_snapshots_any())
		wc_snapshots_query_end(query->snapshot, ends_statement(query->plannedstmt));
}

/* SET TRANSACTION SNAPSHOT 'id': the id names the process that has exported the snapshot. */
static void
import(const VariableSetStmt *stmt)
{
	A_Const    *id = linitial_node(A_Const, stmt->args);
	unsigned int exporter;
	PGPROC	   *proc = NULL;

	if (sscanf(strVal(&id->val), "%8X-", &exporter) == 1)
		proc = wc_proc_of_backend(exporter);
	wc_snapshot_import(GetTransactionSnapshot(),
					   proc != NULL ? (uint32) (proc - ProcGlobal->allProcs) : (uint32) (MyProc - ProcGlobal->allProcs));
}

/* Does the statement run without a query of its own, for which the executor would start? */
static bool
has_no_query(const Node *stmt)
{
	switch (nodeTag(stmt))
	{
		case T_ExplainStmt:
		case T_ExecuteStmt:
		case T_DeclareCursorStmt:
		case T_CreateTableAsStmt:
		case T_RefreshMatViewStmt:
		case T_DoStmt:
		case T_CallStmt:
			return false;
		default:
			return true;
	}
}

static void
on_process_utility(PlannedStmt *pstmt, const char *query, bool read_only_tree,
				   ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *env,
				   DestReceiver *dest, QueryCompletion *qc)
{
	/* a utility that ends the transaction may free pstmt */
	Node	   *stmt = pstmt->utilityStmt;
	bool		outer_filters = copy_filters;
	bool		imports = IsA(stmt, VariableSetStmt) && ((VariableSetStmt *) stmt)->kind == VAR_SET_MULTI &&
		strcmp(((VariableSetStmt *) stmt)->name, "TRANSACTION SNAPSHOT") == 0;

	/*
	 * The executor does not start for COPY, but for the query of a COPY TO and for queries of triggers.  A SERIALIZABLE transaction
	 * that begins with DDL gets an id, and then its snapshot is fixed.  A failed transaction, which only ends, takes nothing any more.
	 */
	if (IsolationUsesXactSnapshot() && !IsAbortedTransactionBlockState() && ActiveSnapshotSet() && !IsParallelWorker() &&
		(IsA(stmt, CopyStmt) || (IsolationIsSerializable() && has_no_query(stmt))))
		take_transactions(GetActiveSnapshot(), false);
	if (IsA(stmt, CopyStmt))
		copy_filters = ((CopyStmt *) stmt)->is_from && ((CopyStmt *) stmt)->whereClause != NULL;
	PG_TRY();
	{
		if (prev_process_utility)
			prev_process_utility(pstmt, query, read_only_tree, context, params, env, dest, qc);
		else
			standard_ProcessUtility(pstmt, query, read_only_tree, context, params, env, dest, qc);
	}
	PG_FINALLY();
	{
		copy_filters = outer_filters;
	}
	PG_END_TRY();
	if (imports)
		import((const VariableSetStmt *) stmt);
	if (context == PROCESS_UTILITY_TOPLEVEL && wc_snapshots_any())
		wc_snapshots_query_end(NULL, true);
}

bool
wc_client_copy_filters(void)
{
	return copy_filters;
}

/* Before pg_export_snapshot is called: shares the active snapshot. */
static void
on_object_access(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id, void *arg)
{
	if (prev_object_access)
		prev_object_access(access, class_id, object_id, sub_id, arg);
	if (access == OAT_FUNCTION_EXECUTE && class_id == ProcedureRelationId && object_id == F_PG_EXPORT_SNAPSHOT && ActiveSnapshotSet())
		(void) wc_snapshot_share(GetActiveSnapshot(), true);
}

void
wc_client_follow_statements(void)
{
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = on_executor_start;
	prev_executor_end = ExecutorEnd_hook;
	ExecutorEnd_hook = on_executor_end;
	prev_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = on_process_utility;
	prev_object_access = object_access_hook;
	object_access_hook = on_object_access;
}
