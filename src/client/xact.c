/*
 * client/xact.c: callbacks of PostgreSQL's transactions.
 *
 * At PRE_COMMIT the engine locks and checks the written rows, and the batch is written
 * into PostgreSQL's log: the batch is committed when PostgreSQL commits.  PRE_PREPARE does the
 * same, and writes the row locks into the log too.  COMMIT PREPARED and ROLLBACK PREPARED do
 * nothing in this file: the engine reads their records in the log.  An abort forgets the batch;
 * a subtransaction's abort cuts the batch back to the subtransaction's begin.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "channel/flight.h"
#include "channel/shmem.h"
#include "client/local/logwrite.h"
#include "client/state.h"

/* The begin of an open subtransaction. */
typedef struct Savepoint
{
	int			level;			/* nesting level of the subtransaction */
	WcBatchMark mark;
	WcKeptMark	kept;			/* of the changes that another store's driver keeps */
} Savepoint;

static Savepoint *savepoints;	/* in TopMemoryContext */
static int	nsavepoints;
static int	savepoints_cap;

static void
end_of_transaction(bool committed)
{
	if (wc_kept() != NULL)
		wc_kept()->finish(committed);
	wc_batch_forget();
	wc_writer_locks_forget();
	wc_rows_forget();
	wc_own_forget();
	wc_own_begin();
	wc_snapshots_forget();
	wc_serial_forget();
	wc_provisional_forget();
	nsavepoints = 0;
}

/* Length of the stream in the log: the batch, and after it (PREPARE) the LOCK operations. */
static uint64 stream_length;

static void
take_locks(uint64 at, WcSlice ops)
{
	wc_stream_write(at, ops);
	stream_length = at + ops.len;
}

static uint64
hand_over(bool prepare, uint64 xid)
{
	uint64		snapshot = wc_snapshot_of_transaction();

	stream_length = wc_batch_mark();
	if (prepare)
		return wc_driver()->prepare(xid, stream_length, snapshot, take_locks);
	return wc_driver()->precommit(xid, stream_length, snapshot);
}

/*
 * Every error that the writes to stored tables can meet at commit is raised here.  Afterwards the writes
 * are in PostgreSQL's log, and PostgreSQL's commit record commits them.  prepare: PREPARE TRANSACTION; then the
 * row locks are in the log as well, because they outlive the session and the engine.
 */
static void
commit_batch(bool prepare)
{
	WcHolderWait wait = {0};
	WcExtent	extent;
	WcSlice		rest;
	uint64		holder;
	uint64		xid;

	if (wc_batch_empty() && !(prepare && wc_rows_locked()))
	{
		if (wc_stream_is_written())
			wc_stream_finish(0);	/* all operations were rolled back */
		return;
	}
	xid = U64FromFullTransactionId(GetTopFullTransactionId());
	wc_driver()->connect();
	wc_following_await_room();
	extent = wc_batch_extent();
	wc_stream_take_place(&extent);	/* the last record names the place */
	wc_following_await_catalog(MyDatabaseId);
	if (!prepare && wc_batch_unsettled(&rest) && wc_driver()->hand_over(xid, wc_stream_place(), rest))
	{
		stream_length = wc_batch_mark();
		wc_batch_log();
		wc_stream_finish(stream_length);
		if (stream_length <= WC_CLAIMS_FOLLOW_BYTES)
			wc_own_leave(xid);
		wc_batch_forget();
		return;
	}
	wc_batch_send();
	while ((holder = hand_over(prepare, xid)) != 0)
	{
		/* the wait may be long; an engine that starts meanwhile must not wait for this transaction */
		wc_stream_leave_place();
		wc_holder_wait(&wait, holder);
		wc_stream_take_place(&extent);
	}
	wc_stream_finish(stream_length);
	wc_batch_forget();
}

/*
 * Sends changes of tables in other stores.  It is the last step that may fail here: what such a store has taken,
 * it does not give back.
 */
static void
send_kept(void)
{
	if (wc_kept_any())
		wc_kept()->send();
}

static void
refuse_prepare(void)
{
	if (wc_kept_any())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot PREPARE a transaction that has written to tables of HBase clusters"),
				 errdetail("HBase could not be told to take the changes or to forget them.")));
}

static void
on_xact(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			commit_batch(false);
			send_kept();
			break;
		case XACT_EVENT_PRE_PREPARE:
			refuse_prepare();
			commit_batch(true);
			wc_serial_prepare();
			break;
		case XACT_EVENT_COMMIT:
			wc_stream_committed();
			wc_driver()->finish();
			end_of_transaction(true);
			break;
		case XACT_EVENT_PREPARE:
			if (wc_stream_changes_catalog())
				wc_catalog_changed();	/* the changes are not visible to this session any more */
			wc_stream_prepared();
			/* FALLTHROUGH */
		case XACT_EVENT_PARALLEL_COMMIT:
			wc_driver()->finish();
			end_of_transaction(true);
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
			if (wc_stream_changes_catalog())
				wc_catalog_changed();
			wc_stream_aborted();
			wc_driver()->abort();
			end_of_transaction(false);
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
	sp->kept = wc_kept_mark();
}

static void
end_savepoint(bool commit)
{
	int			level = GetCurrentTransactionNestLevel();
	WcBatchMark mark = 0;
	WcKeptMark	kept = {0};
	bool		any = false;

	while (nsavepoints > 0 && savepoints[nsavepoints - 1].level >= level)
	{
		mark = savepoints[--nsavepoints].mark;
		kept = savepoints[nsavepoints].kept;
		any = true;
	}
	if (commit || !any)			/* none: the subtransaction failed when it began, and has written nothing */
		return;
	if (wc_kept() != NULL)
		wc_kept()->cut(kept);
	if (wc_stream_changes_catalog())
		wc_catalog_changed();
	wc_batch_cut(mark);
	wc_writer_locks_forget();
	wc_rows_forget_held();
	wc_own_forget();
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
 * PostgreSQL calls the callback that was registered last first.  These callbacks are registered while
 * the postmaster loads its libraries.  So at PRE_COMMIT they are called after all callbacks that a session
 * has registered (postgres_fdw's, for example): when one of these fails, nothing has been applied yet.
 */
void
wc_client_follow_transactions(void)
{
	RegisterXactCallback(on_xact, NULL);
	RegisterSubXactCallback(on_subxact, NULL);
}
