/*
 * client/xact.c: PostgreSQL's transactions, followed.
 *
 * At PRE_COMMIT the batch goes to the engine and is applied there; from then on
 * PostgreSQL's own commit can no longer take it back (the step that ends with
 * one log for both).  An abort forgets the batch; a subtransaction's abort cuts
 * it back to where it began.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "storage/predicate.h"
#include "utils/memutils.h"

#include "channel/shmem.h"
#include "client/state.h"

/* Where an open subtransaction began. */
typedef struct Savepoint
{
	int			level;			/* nesting level of the subtransaction */
	WcBatchMark mark;
} Savepoint;

static Savepoint *savepoints;	/* in TopMemoryContext */
static int	nsavepoints;
static int	savepoints_cap;

static Oid	dropped_database;		/* by this transaction: DROP DATABASE comes alone */

void
wc_client_drop_database(Oid database)
{
	if (wc_shmem() == NULL)
		return;					/* no engine, no tables */
	wc_xact_join();
	dropped_database = database;
}

static void
end_of_transaction(void)
{
	dropped_database = InvalidOid;
	wc_batch_forget();
	wc_rows_forget();
	wc_snapshots_forget();
	nsavepoints = 0;
}

static void
commit_batch(void)
{
	FullTransactionId xid;
	WcHolderWait wait = {0};
	uint64		holder;

	if (wc_batch_empty())
		return;
	wc_driver()->connect();
	wc_batch_send();

	/* it locks the rows that it has written: others wait for its id */
	xid = GetTopFullTransactionId();
	for (;;)
	{
		/* PostgreSQL asks this after us; a refusal then would come too late */
		PreCommit_CheckForSerializationFailure();
		holder = wc_driver()->commit(U64FromFullTransactionId(xid), wc_batch_mark(), wc_snapshot_of_transaction(),
									 synchronous_commit > SYNCHRONOUS_COMMIT_OFF);
		if (holder == 0)
			break;
		wc_holder_wait(&wait, holder);
	}
	wc_batch_forget();
}

static void
on_xact(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			commit_batch();
			break;
		case XACT_EVENT_PRE_PREPARE:
			if (!wc_batch_empty())
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has written to stored tables")));
			if (wc_rows_locked())
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has locked rows of stored tables")));
			break;
		case XACT_EVENT_COMMIT:
			if (OidIsValid(dropped_database))
				wc_driver()->drop_database(dropped_database);
			wc_driver()->finish();
			end_of_transaction();
			break;
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_PARALLEL_COMMIT:
			wc_driver()->finish();
			end_of_transaction();
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
			if (!wc_batch_empty())
				wc_catalog_changed();
			wc_driver()->abort();
			end_of_transaction();
			break;
		case XACT_EVENT_PARALLEL_PRE_COMMIT:
			break;				/* workers write nothing */
	}
}

static void
begin_savepoint(void)
{
	Savepoint  *sp;

	if (nsavepoints == savepoints_cap)
	{
		int			cap = Max(16, 2 * savepoints_cap);

		savepoints = savepoints ? repalloc(savepoints, cap * sizeof(Savepoint))
			: MemoryContextAlloc(TopMemoryContext, cap * sizeof(Savepoint));
		savepoints_cap = cap;
	}
	sp = &savepoints[nsavepoints++];
	sp->level = GetCurrentTransactionNestLevel();
	sp->mark = wc_batch_mark();
}

static void
end_savepoint(bool commit)
{
	int			level = GetCurrentTransactionNestLevel();
	WcBatchMark mark = 0;

	while (nsavepoints > 0 && savepoints[nsavepoints - 1].level >= level)
		mark = savepoints[--nsavepoints].mark;
	if (commit)
		return;
	if (!wc_batch_empty())
		wc_catalog_changed();
	wc_batch_cut(mark);
	wc_batch_forget_locks();
}

static void
on_subxact(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	switch (event)
	{
		case SUBXACT_EVENT_START_SUB:
			wc_snapshots_subxact_start();
			begin_savepoint();
			break;
		case SUBXACT_EVENT_COMMIT_SUB:
			end_savepoint(true);
			break;
		case SUBXACT_EVENT_ABORT_SUB:
			end_savepoint(false);
			if (wc_rows_locked())
				wc_driver()->unlock(subid);
			wc_snapshots_subxact_abort();
			break;
		case SUBXACT_EVENT_PRE_COMMIT_SUB:
			break;
	}
}

/*
 * PostgreSQL calls what was registered last first.  Registered while the postmaster
 * loads its libraries, PRE_COMMIT is called behind those of all that register in a
 * session (postgres_fdw, say): when one of them fails, nothing has been applied yet.
 */
void
wc_client_follow_transactions(void)
{
	RegisterXactCallback(on_xact, NULL);
	RegisterSubXactCallback(on_subxact, NULL);
}

void
wc_xact_join(void)
{
	wc_client_require_preload();
	wc_driver()->connect();
}
