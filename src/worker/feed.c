/*
 * worker/feed.c: hands the records that the follower reads to the server's threads.
 */
#include "worker/feed.h"

#include "access/transam.h"
#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/procarray.h"

#include "base/clock.h"
#include "base/log.h"
#include "channel/flight.h"
#include "channel/shmem.h"
#include "worker/follower.h"

/* Bytes of log that are read before the main thread looks at other things. */
#define RUN_BYTES (1024 * 1024)

/* With so many bytes of commits handed in and not applied, nothing more is read. */
#define BACKLOG_BYTES_MAX (64 * 1024 * 1024)

#define BACKLOG_LOOK_MS 5

/* A commit is applied when its transaction has ended for other sessions, or so long after its time. */
#define END_PATIENCE_US 100000
#define END_LOOK_US 20

static WcEngine *engine;
static WcServer *server;
static WcFollower *follower;
static uint64 oldest_running;

/* An error has come while the log was read.  Records may be lost behind it, so nothing more may be read, nor a mark be made. */
static bool broken;

static void
check(WcStatus status, const WcError *err)
{
	if (status != WC_OK)
		ereport(ERROR,
				(errmsg("stored tables cannot follow the log: %s", err->message),
				 err->detail[0] != '\0' ? errdetail("%s", err->detail) : 0));
}

static void
on_record(void *arg, const WcLogRecord *r, XLogRecPtr position)
{
	WcError		err;

	if (r->kind == WC_RECORD_BATCH)
		check(wc_server_log_batch(server, r, position, &err), &err);
	else if (r->kind == WC_RECORD_STEP)
		check(wc_server_log_step(server, r, position, &err), &err);
}

/*
 * The log has a commit record a moment before other sessions see the transaction; while the transaction waits for a
 * synchronous standby, long before that.  Stored rows would be seen earlier than heap rows.  A standby that does not answer
 * must not keep sessions from reading stored tables, so the wait is short, also when the clock was set back since the commit.
 */
static void
await_end(uint64 xid, int64 time_us)
{
	int64		waits_until = wc_clock_monotonic_us() + END_PATIENCE_US;

	while (TransactionIdIsInProgress(XidFromFullTransactionId(FullTransactionIdFromU64(xid))) &&
		   wc_clock_wall_us() - time_us < END_PATIENCE_US && wc_clock_monotonic_us() < waits_until)
	{
		pg_usleep(END_LOOK_US);
		CHECK_FOR_INTERRUPTS();
	}
}

static void
on_commit(void *arg, uint64 xid, int64 time_us, XLogRecPtr position)
{
	WcError		err;

	if (!RecoveryInProgress() && wc_server_log_has(server, xid))
		await_end(xid, time_us);
	check(wc_server_log_commit(server, xid, position, time_us, &err), &err);
}

static void
on_abort(void *arg, uint64 xid, XLogRecPtr position)
{
	wc_server_log_abort(server, xid);
}

static void
on_prepare(void *arg, uint64 xid, XLogRecPtr position)
{
	wc_server_log_prepare(server, xid);
}

static void
on_running(void *arg, uint64 next, const uint64 *xids, uint32 n, XLogRecPtr position)
{
	oldest_running = n > 0 ? xids[0] : next;
	wc_server_log_running(server, next, xids, n);
}

static void
on_timeline(void *arg, TimeLineID timeline)
{
	wc_engine_set_timeline(engine, timeline);
}

static const WcFollowerOps ops = {
	.record = on_record,
	.timeline = on_timeline,
	.commit = on_commit,
	.abort = on_abort,
	.prepare = on_prepare,
	.running = on_running,
};

void
wc_feed_start(WcEngine *e, WcServer *s, XLogRecPtr from)
{
	engine = e;
	server = s;
	follower = wc_follower_start(&ops, NULL, wc_engine_store_id(engine), from);
	atomic_store(&wc_following()->read_upto, from);
	broken = false;
}

static bool
is_full(void)
{
	uint64_t	commits,
				bytes;

	wc_server_backlog(server, &commits, &bytes);
	return bytes > BACKLOG_BYTES_MAX;
}

bool
wc_feed_run(void)
{
	bool		more = false;

	if (broken)
		return false;
	broken = true;
	if (!is_full())
		more = wc_follower_run(follower, RUN_BYTES);
	broken = false;
	atomic_store(&wc_following()->read_upto, wc_follower_position(follower));
	return more;
}

bool
wc_feed_run_to_end(void)
{
	XLogRecPtr	end = RecoveryInProgress() ? GetXLogReplayRecPtr(NULL) : GetFlushRecPtr(NULL);
	WcError		why;

	while (wc_follower_position(follower) < end)
	{
		if (!wc_feed_run() && !is_full())
			break;
		CHECK_FOR_INTERRUPTS();
		if (!is_full())
			continue;
		if (wc_server_stalled(server, &why))
			return false;
		(void) WaitLatch(NULL, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, BACKLOG_LOOK_MS,
						 wc_shmem_wait_event(WC_WAIT_ENGINE_MAIN));
	}
	return true;
}

bool
wc_feed_is_broken(void)
{
	return broken;
}

XLogRecPtr
wc_feed_position(void)
{
	return wc_follower_position(follower);
}

bool
wc_feed_is_applied(void)
{
	uint64_t	commits,
				bytes;

	wc_server_backlog(server, &commits, &bytes);
	return commits == 0 && bytes == 0;
}

XLogRecPtr
wc_feed_nothing_ends_before(void)
{
	return wc_follower_nothing_ends_before(follower);
}

uint64
wc_feed_oldest_running(void)
{
	return oldest_running;
}
