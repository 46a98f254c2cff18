/*
 * worker/start.c: the engine begins to follow the log, and takes over when its node becomes a primary.
 */
#include "postgres.h"

#include "access/timeline.h"
#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/procarray.h"
#include "storage/standby.h"
#include "utils/memutils.h"

#include "channel/channel.h"
#include "channel/flight.h"
#include "channel/keeplog.h"
#include "channel/rmgr.h"
#include "worker/checkpoint.h"
#include "worker/feed.h"
#include "worker/interrupts.h"
#include "worker/slot.h"
#include "worker/start.h"

/* The record that a standby replays is waited for at most so many looks at its start. */
#define OLD_PLACES_LOOKS 50

static WcEngine *engine;
static WcServer *server;
static bool begun_anew;			/* reading began at the end of the log: earlier records do not concern the store */
static bool replaying;			/* a standby's engine */

/*
 * Where to read from.  A store that is new, or had a log of its own, begins here and now: only
 * a primary may say so.
 */
static XLogRecPtr
find_place(void)
{
	uint64_t	from;
	WcError		err;

	if (wc_server_log_load(server, &from, &err) != WC_OK)
		ereport(ERROR, (errmsg("%s", err.message)));
	if (from != 0)
		return from;
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the stored tables here do not follow the server's log yet"),
				 errdetail("Only a primary can begin with that."),
				 errhint("Make this standby again from a backup of its primary.")));
	return InvalidXLogRecPtr;
}

static XLogRecPtr
begin_log(void)
{
	WcLogRecord genesis = {.kind = WC_RECORD_GENESIS,.store = wc_engine_store_id(engine)};
	XLogRecPtr	from = wc_record_write(&genesis);
	WcError		err;

	XLogFlush(from);
	begun_anew = true;
	wc_engine_set_timeline(engine, GetWALInsertionTimeLine());
	if (wc_engine_begin_log(engine, from, &err) != WC_OK)
		ereport(ERROR, (errmsg("%s", err.message)));
	return from;
}

/* The log must be there from where reading begins: without any of it the store would miss
 * commits. */
static void
take_slot(XLogRecPtr from)
{
	XLogRecPtr	at = wc_slot_acquire(from);

	if (!wc_slot_log_is_there(from))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the server's log that the stored tables need has been removed"),
				 errdetail("They have followed it up to %X/%X. Replication slot \"%s\" was dropped, "
						   "or the log exceeded max_slot_wal_keep_size.", LSN_FORMAT_ARGS(from), WC_SLOT_NAME),
				 errhint("Put the log's files from there on back into pg_wal, from an archive, or restore a backup. "
						 "To continue without the commits in them: widecol.accept_store = '%08x'.",
						 wc_engine_store_id(engine))));
	if (at == InvalidXLogRecPtr || at > from)
		wc_keeplog_set(from);
}

/* A start at which nothing can be applied has failed; otherwise all would wait for it. */
static void
raise_stall(void)
{
	WcError		why;

	if (wc_server_stalled(server, &why))
		ereport(ERROR,
				(errmsg("%s", why.message),
				 why.detail[0] != '\0' ? errdetail("%s", why.detail) : 0,
				 why.hint[0] != '\0' ? errhint("%s", why.hint) : 0));
}

/* The follower never reads the ends of transactions from before the place where reading has begun. */
static bool
place_is_free(const WcFlightEntry *entry)
{
	WcFlightState state = wc_flight_state(wc_places(), entry->place, entry->xid);

	if (state == WC_FLIGHT_ENDED && begun_anew)
		(void) wc_flight_free(wc_places(), entry->place, entry->xid);
	return state == WC_FLIGHT_FREE;
}

static void
read_to_end(void)
{
	(void) wc_feed_run_to_end();
	raise_stall();
}

/*
 * Transactions that a crash or a promotion has cut off have no end in the log: a record of the running
 * transactions, which lacks them, shows that they have ended.  PostgreSQL writes such a record every 15
 * seconds, which is too long for readers to wait.
 */
static XLogRecPtr
log_running(void)
{
	XLogRecPtr	position = LogStandbySnapshot();

	XLogFlush(position);
	return position;
}

/* False: the process is to end. */
static bool
nap_of_start(void)
{
	wc_worker_serve_interrupts();
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, WC_FOLLOW_EVERY_MS,
					 wc_shmem_wait_event(WC_WAIT_ENGINE_OPEN));
	ResetLatch(MyLatch);
	return !ShutdownRequestPending;
}

/* Row locks of the previous engine are lost.  No new one is granted before all transactions that may have held
 * some have ended, or are prepared and hold theirs again (restore_locks). */
static void
await_old_places(void)
{
	WcFlightEntry entry;

	for (uint32 place = 0; wc_flight_next(wc_places(), &place, &entry);)
	{
		while (!place_is_free(&entry) && wc_flight_state(wc_places(), entry.place, entry.xid) != WC_FLIGHT_PREPARED)
		{
			read_to_end();
			if (!nap_of_start())
				return;
		}
	}
	read_to_end();				/* one may just have been prepared */
}

/* False: the process is to end. */
static bool
serve_meanwhile(void)
{
	wc_worker_serve_interrupts();
	return !ShutdownRequestPending;
}

/* On a primary, before sessions lock rows, and with all commits and marks applied that have been handed in.
 * False: the process is to end. */
static bool
restore_locks(void)
{
	WcError		err;
	WcStatus	status = wc_server_restore_locks(server, serve_meanwhile, &err);

	if (status != WC_OK && status != WC_SHUTDOWN)
		ereport(ERROR, (errmsg("%s", err.message)));
	return status == WC_OK;
}

/* False: the process is to end. */
static bool
await_backlog(void)
{
	while (!wc_feed_is_applied())
	{
		raise_stall();
		if (!nap_of_start())
			return false;
	}
	return true;
}

/*
 * Is the position one of the server's log?  The log has the timelines of its history, each up to the position where the next one
 * began.  True if the history is not known: after timeline 1 it has several entries.
 */
static bool
is_in_log(TimeLineID timeline, XLogRecPtr at)
{
	TimeLineID	now;
	List	   *history;
	ListCell   *lc;

	if (RecoveryInProgress())
		(void) GetXLogReplayRecPtr(&now);
	else
		now = GetWALInsertionTimeLine();
	if (timeline == 0 || timeline == now)
		return true;
	history = readTimeLineHistory(now);
	foreach(lc, history)
	{
		const TimeLineHistoryEntry *entry = lfirst(lc);

		if (entry->tli == timeline)
			return entry->end == InvalidXLogRecPtr || at <= entry->end;
	}
	return list_length(history) == 1;
}

/* Images are never later than the log. */
static void pg_attribute_noreturn()
refuse_to_be_ahead(const char *detail)
{
	WcError		err;

	if (wc_engine_disown(engine, &err) != WC_OK)
		ereport(ERROR, (errmsg("%s", err.message)));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the stored tables are ahead of the server's log"),
			 errdetail_internal("%s", detail),
			 errhint("The next start of the engine begins with their newest image.")));
}

/*
 * Recovery has gone on after a crash, and its target is an earlier one now: PostgreSQL allows that if no page on disk is later.  Then
 * the store has commits that the log does not have, and would take others for applied that it does not have.
 */
static void
require_log(TimeLineID timeline, XLogRecPtr at)
{
	if (!RecoveryInProgress() && GetFlushRecPtr(NULL) < at)
		refuse_to_be_ahead(psprintf("They have followed it up to %X/%X, but it ends at %X/%X.", LSN_FORMAT_ARGS(at),
									LSN_FORMAT_ARGS(GetFlushRecPtr(NULL))));
	if (!is_in_log(timeline, at))
		refuse_to_be_ahead(psprintf("They have followed it up to %X/%X on timeline %u, which it has left before.", LSN_FORMAT_ARGS(at),
									timeline));
}

/* A store that is ahead of its node would show what the node has not.  False: the process is to end. */
static bool
await_replay(XLogRecPtr from)
{
	XLogRecPtr	at = Max(from, wc_engine_applied_position(engine));

	while (RecoveryInProgress() && GetXLogReplayRecPtr(NULL) < at)
	{
		wc_checkpoint_release();	/* the checkpoint at the end of recovery does not wait for this process */
		if (!nap_of_start())
			return false;
		wc_checkpoint_delay();
	}
	require_log(wc_engine_timeline(engine), at);
	return true;
}

/*
 * A standby that starts replays log that the store had applied before, and the follower does not read that log
 * again: places that replay takes for it would never be freed.  So everything that these transactions have
 * written is applied first, and then their places are freed.
 *
 * A transaction that a crash of the primary has cut off may be in progress for a standby, as long as an older
 * transaction is prepared.  So a standby also asks the follower, which knows all transactions that may still commit,
 * once it has read what was replayed when the places were looked at.
 */
static void
forget_old_places(void)
{
	uint32		n = 0;
	WcFlightEntry *old = palloc(wc_flight_nplaces(wc_places()) * sizeof(WcFlightEntry));
	bool	   *ended = palloc(wc_flight_nplaces(wc_places()) * sizeof(bool));
	WcFlightEntry entry;
	XLogRecPtr	end;
	bool		replayed;		/* all places are of transactions that were replayed */

	for (uint32 place = 0; wc_flight_next(wc_places(), &place, &entry); n++)
	{
		old[n] = entry;
		ended[n] = !TransactionIdIsInProgress((TransactionId) entry.xid);
	}
	replayed = RecoveryInProgress();
	/* the last of them may be in the record that is being replayed; another record may take long */
	end = GetCurrentReplayRecPtr(NULL);
	for (int i = 0; i < OLD_PLACES_LOOKS && RecoveryInProgress() && GetXLogReplayRecPtr(NULL) < end; i++)
	{
		if (!nap_of_start())
			return;
	}
	if (!replaying)
		log_running();
	read_to_end();
	for (uint32 i = 0; i < n && replayed && wc_feed_position() >= end; i++)
		ended[i] = ended[i] || !wc_server_log_has(server, old[i].xid);
	if (!await_backlog())
		return;
	for (uint32 i = 0; i < n; i++)
	{
		if (ended[i])
			(void) wc_flight_free(wc_places(), old[i].place, old[i].xid);
	}
	pfree(old);
	pfree(ended);
}

static void
follow(void)
{
	XLogRecPtr	from = find_place();

	if (from == InvalidXLogRecPtr)
	{
		(void) wc_slot_acquire(InvalidXLogRecPtr);	/* may fail: before anything is written */
		from = begin_log();
	}
	else
		take_slot(from);
	if (!await_replay(from))
		return;
	wc_feed_start(engine, server, from);
	wc_checkpoint_start(engine, server, from);
	(void) wc_flight_new_generation(wc_places());
	replaying = RecoveryInProgress();
	atomic_store(&wc_following()->replays, replaying);
	read_to_end();
	/* before the log is read once more: a transaction that has committed meanwhile is applied, or has a place */
	wc_server_take_places(server, replaying);
	forget_old_places();
	if (!replaying)
	{
		await_old_places();
		if (await_backlog())
			(void) restore_locks();
	}
}

bool
wc_start_following(WcEngine *of_engine, WcServer *of_server, WcError *err)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool done = false;

	engine = of_engine;
	server = of_server;
	PG_TRY();
	{
		follow();
		done = true;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		LWLockReleaseAll();		/* the process waits before it ends: ReplicationSlotCreate keeps a lock when no slot is free */
		(void) wc_error(err, WC_INVALID, "%s", error->message);
		if (error->detail != NULL)
			wc_error_detail(err, "%s", error->detail);
		if (error->hint != NULL)
			wc_error_hint(err, "%s", error->hint);
	}
	PG_END_TRY();
	return done;
}

/* --- promotion ---------------------------------------------------------------- */

void
wc_start_take_over(void)
{
	static XLogRecPtr promoted = InvalidXLogRecPtr;

	if (!replaying || RecoveryInProgress())
		return;
	if (promoted == InvalidXLogRecPtr)
		promoted = log_running();
	if (wc_feed_position() < promoted || !wc_feed_is_applied())
		return;
	if (!restore_locks())
		return;
	replaying = false;
	atomic_store(&wc_following()->replays, 0);
	wc_following_moved();
}
