/*
 * worker/checklog.c: widecol.debug_log in the engine.
 */
#include "postgres.h"

#include <inttypes.h>

#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "utils/backend_status.h"
#include "utils/guc.h"

#include "base/limits.h"
#include "channel/flight.h"
#include "channel/rmgr.h"
#include "worker/checklog.h"
#include "worker/follower.h"

#define LOOK_EVERY_MS 10

/* Between two looks at sessions. */
#define RUN_BYTES (4 * 1024 * 1024)

static WcFollower *follower;
static WcLogCheck *check;
static bool replaying;			/* the log is another server's */
static uint64 misplaced;		/* commits that did not have the place that their last BATCH names */
static bool moved;				/* a place was freed */

static void
take_record(void *arg, const WcLogRecord *r, XLogRecPtr position)
{
	if (r->kind == WC_RECORD_BATCH)
		wc_logcheck_batch(check, r);
}

static void
free_place(uint64 xid)
{
	if (!wc_flight_idle(wc_places()) && wc_flight_free(wc_places(), wc_flight_find(wc_places(), xid), xid))
		moved = true;
}

static void
take_commit(void *arg, uint64 xid, int64 time_us, XLogRecPtr position)
{
	uint16_t	place;

	if (wc_logcheck_commit(check, xid, &place) && !replaying && place != WC_RECORD_NO_PLACE &&
		wc_flight_state(wc_places(), place, xid) == WC_FLIGHT_FREE)
	{
		misplaced++;
		ereport(LOG,
				(errmsg("widecol: transaction " UINT64_FORMAT " has committed, and place %u is not its own", xid, place)));
	}
	free_place(xid);
}

static void
take_abort(void *arg, uint64 xid, XLogRecPtr position)
{
	wc_logcheck_abort(check, xid);
	free_place(xid);
}

static void
take_running(void *arg, uint64 oldest_xid, XLogRecPtr position)
{
	wc_logcheck_running(check, oldest_xid);
	if (wc_flight_free_before(wc_places(), oldest_xid) > 0)
		moved = true;
}

static const WcFollowerOps ops = {
	.record = take_record,
	.commit = take_commit,
	.abort = take_abort,
	.running = take_running,
};

static void
report(void)
{
	char		text[512];
	WcLogCheckCounts n;

	wc_logcheck_counts(check, &n);
	snprintf(text, sizeof(text),
			 "log read up to %X/%X: %" PRIu64 " batches of %" PRIu64 " bytes, %" PRIu64 " commits, %" PRIu64 " aborts; %"
			 PRIu64 " compared, %" PRIu64 " differ, %" PRIu64 " skipped, %" PRIu64 " misplaced; %" PRIu64 " pending with %"
			 PRIu64 " bytes, %u in flight",
			 LSN_FORMAT_ARGS(wc_follower_position(follower)), n.batches, n.batch_bytes, n.commits, n.aborts,
			 n.compared, n.differ, n.skipped, misplaced, n.pending, n.pending_bytes, wc_flight_count(wc_places()));
	pgstat_report_activity(STATE_IDLE, text);
}

WcLogCheck *
wc_checklog_start(uint32 store)
{
	XLogRecPtr	from;
	WcError		err;

	if (strcmp(GetConfigOption("widecol.debug_log", false, false), "on") != 0)
		return NULL;
	replaying = RecoveryInProgress();
	if (wc_logcheck_create(!replaying, WC_PENDING_BYTES_MAX, &check, &err) != WC_OK)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("%s", err.message)));

	/* The log on disk may end amid a record: begin behind one of our own. */
	from = replaying ? GetXLogReplayRecPtr(NULL) : wc_record_flush_all();
	follower = wc_follower_start(&ops, NULL, store, from);
	return check;
}

long
wc_checklog_run(long longest)
{
	XLogRecPtr	before;

	if (follower == NULL)
		return longest;
	before = wc_follower_position(follower);
	moved = false;
	if (wc_follower_run(follower, RUN_BYTES))
		longest = 0;
	atomic_store(&wc_following()->read_upto, wc_follower_position(follower));
	if (moved)
		wc_following_moved();
	if (wc_follower_position(follower) != before)
		report();
	return Min(longest, LOOK_EVERY_MS);
}
