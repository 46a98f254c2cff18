/*
 * client/xact.c: PostgreSQL's transactions, followed.
 *
 * At PRE_COMMIT the rows that were written are locked and looked at, and the batch goes
 * into PostgreSQL's log: it is committed when PostgreSQL commits.  At PRE_PREPARE the same
 * happens, and the log gets the row locks too: COMMIT PREPARED and ROLLBACK PREPARED do
 * nothing here, but are records in the log that the engine reads.  An abort forgets the batch;
 * a subtransaction's abort cuts it back to where it began.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "channel/flight.h"
#include "channel/shmem.h"
#include "client/logwrite.h"
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

static void
end_of_transaction(void)
{
	wc_batch_forget();
	wc_rows_forget();
	wc_snapshots_forget();
	nsavepoints = 0;
}

/* Of the stream that the log gets: the batch, and behind it what is locked (PREPARE). */
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
 * All that can fail about the writes to stored tables fails here.  From then on they are in
 * PostgreSQL's log, and its commit record is theirs.  prepare: PREPARE TRANSACTION; then row
 * locks are in the log as well, since they outlive the session and the engine.
 */
static void
commit_batch(bool prepare)
{
	WcHolderWait wait = {0};
	uint64		holder;
	uint64		xid;

	if (wc_batch_empty() && !(prepare && wc_rows_locked()))
	{
		if (wc_stream_is_written())
			wc_stream_finish(0);	/* all of it was rolled back */
		return;
	}
	xid = U64FromFullTransactionId(GetTopFullTransactionId());
	wc_driver()->connect();
	wc_following_await_room();
	wc_stream_take_place();		/* which the last record names */
	wc_following_await_catalog(MyDatabaseId);
	if (!prepare && wc_batch_is_settled() && wc_driver()->hand_over(xid))
	{
		stream_length = wc_batch_mark();
		wc_batch_log();
		wc_stream_finish(stream_length);
		wc_batch_forget();
		return;
	}
	wc_batch_send();
	while ((holder = hand_over(prepare, xid)) != 0)
	{
		/* perhaps for long, and should the engine end meanwhile, the next one is not to wait for this */
		wc_stream_leave_place();
		wc_holder_wait(&wait, holder);
		wc_stream_take_place();
	}
	wc_stream_finish(stream_length);
	wc_batch_forget();
}

static void
on_xact(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			commit_batch(false);
			break;
		case XACT_EVENT_PRE_PREPARE:
			commit_batch(true);
			break;
		case XACT_EVENT_COMMIT:
			wc_stream_committed();
			wc_driver()->finish();
			end_of_transaction();
			break;
		case XACT_EVENT_PREPARE:
			if (wc_stream_is_written())
				wc_catalog_changed();	/* what it changed is not there for this session either */
			wc_stream_prepared();
			/* FALLTHROUGH */
		case XACT_EVENT_PARALLEL_COMMIT:
			wc_driver()->finish();
			end_of_transaction();
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
			if (!wc_batch_empty() || wc_stream_is_written())
				wc_catalog_changed();
			wc_stream_aborted();
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
	wc_rows_forget_held();
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
