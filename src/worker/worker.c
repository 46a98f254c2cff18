/*
 * worker/worker.c: the background worker "widecol engine".
 *
 * Its main thread is an ordinary PostgreSQL process: it has the engine opened, takes
 * the sessions that backends offer, hands them to the server's threads (rpc/),
 * and has all closed in order at the end.  Everything else happens on threads, which
 * run core only; the one PostgreSQL function that they call is SetLatch, on
 * latches that are in shared memory for ever.
 *
 * It is among the server's processes, without a database.  So others may wait until
 * it has taken notice of something (DROP DATABASE does): what can take long is done on
 * a thread too, while the main thread serves interrupts.
 */
#include "postgres.h"

#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>

#include "access/transam.h"
#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "common/file_perm.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/pmsignal.h"
#include "storage/procarray.h"
#include "storage/procsignal.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/limits.h"
#include "channel/channel.h"
#include "channel/flight.h"
#include "channel/keeplog.h"
#include "channel/rmgr.h"
#include "rpc/rpc.h"
#include "worker/backup.h"
#include "worker/checkpoint.h"
#include "worker/feed.h"
#include "worker/interrupts.h"
#include "worker/start.h"
#include "worker/task.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void wc_worker_main(Datum main_arg);

/* Offers and ends of sessions set the latch, as do commits when there have been none for a
 * while; checkpoints do not. */
#define LOOK_EVERY_MS 100

/* Seconds between two attempts to start: 1, 2, 4 ... */
#define RETRY_SECONDS_MAX 60

/* The log is read every WC_FOLLOW_EVERY_MS while anything is in flight, and so long after that; more often while processes
 * wait for commits, which may not be on disk yet. */
#define BUSY_MS 1000
#define READERS_EVERY_MS 1

/* Where PostgreSQL keeps statistics while it does not run. */
#define STATISTICS_FILE PGSTAT_STAT_PERMANENT_DIRECTORY "/widecol.stat"

/* Pools of malloc: one a thread would cost megabytes an idle session. */
#define MALLOC_ARENAS 4

static WcShmem *shmem;
static WcEngine *engine;
static WcServer *server;
static bool failed;				/* the state says why already */

/* Opening and closing take long: they are done on a thread. */
typedef struct Opening
{
	WcEngineOptions options;
	WcStatus	status;
	WcError		err;
} Opening;

static Opening opening;
static WcTask task;

static void
wake_latch(void *latch)
{
	SetLatch((Latch *) latch);
}

static int
int_setting(const char *name)
{
	return (int) strtol(GetConfigOption(name, false, false), NULL, 10);
}

/*
 * RocksDB needs descriptors besides those of widecol.max_open_files files.  Without one a
 * compaction fails, and after it every commit: so take all that the system lets a process
 * have, and not only the 1024 that are usual to begin with.
 */
static void
allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		ereport(LOG, (errmsg("widecol: could not raise the limit of open files: %m")));
}

/* --- tasks ------------------------------------------------------------------ */

/*
 * Without a postmaster, nothing ends a checkpointer that waits for this process when this process is killed: it waits
 * for ever, and no new postmaster starts.  So it is let go on before the long work of an end.
 */
static void
release_orphaned_checkpointer(void)
{
	if (!PostmasterIsAlive())
		wc_checkpoint_release();
}

/* Runs fn on a thread and returns at its end.  Signals that ask the process to end wait until then. */
static void
run_task(void (*fn) (void *arg), WcWaitEvent event)
{
	wc_task_begin(&task, fn, NULL);
	while (!wc_task_is_done(&task))
	{
		/* Without a postmaster no interrupts are served; but the task is finished. */
		if (WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_POSTMASTER_DEATH, LOOK_EVERY_MS,
					  wc_shmem_wait_event(event)) & WL_POSTMASTER_DEATH)
			break;
		ResetLatch(MyLatch);
		wc_worker_serve_interrupts();
	}
	release_orphaned_checkpointer();
	wc_task_join(&task);
}

/* --- opening and closing ---------------------------------------------------- */

static void
open_task(void *arg)
{
	opening.status = wc_engine_open(&opening.options, &engine, &opening.err);
}

static void
stop_task(void *arg)
{
	wc_server_stop(server, "the widecol engine was shut down");
}

static void
close_task(void *arg)
{
	wc_engine_close(engine);
}

static bool
start_server(WcError *err)
{
	WcLogOptions log = {
		.store = wc_engine_store_id(engine),
		.pending_memory = WC_PENDING_MEMORY,
		.flight = wc_places(),
		.claims = wc_claims(),
		.unapplied = wc_unapplied(),
		.applied = &wc_following()->applied,
		.step = {wake_latch, MyLatch},
	};
	WcServerOptions serve = {
		.engine = engine,
		.sessions_max = shmem->nslots,
		.cores = wc_cpu_count(),
		.busy = &shmem->busy,
		.getcache = wc_shmem_getcache(),
		.rangecache = wc_shmem_rangecache(),
		.catalog_generation = &shmem->catalog_generation,
		.writes = &shmem->writes,
		.finished = {wake_latch, MyLatch},
		.log = &log,
	};

	if (wc_server_start(&serve, &server, err) == WC_OK)
		return true;
	server = NULL;
	return false;
}

static void
set_upkeep(bool makes_steps)
{
	WcUpkeep	settings = {
		.makes_steps = makes_steps,
		.busy_percent = (uint32_t) int_setting("widecol.upkeep"),
		.dead_percent = (uint32_t) int_setting("widecol.upkeep_threshold"),
		.delay_us = int_setting("widecol.upkeep_delay") * INT64CONST(1000),
		.history_us = int_setting("widecol.history") * WC_USEC_PER_SEC,
	};
	WcError		err;

	if (wc_engine_set_upkeep(engine, &settings, &err) != WC_OK)
		ereport(LOG, (errmsg("widecol: %s", err.message)));
}

static bool
open_engine(WcError *err)
{
	opening.options = (WcEngineOptions) {
		.images = GetConfigOption("widecol.data_directory", false, false),
		.record = WC_STORE_RECORD,
		.cluster = GetSystemIdentifier(),
		.new_store = GetConfigOption("widecol.new_store", false, false),
		.accept_store = GetConfigOption("widecol.accept_store", false, false),
		.may_create = !RecoveryInProgress(),
		.directory_mode = (unsigned) pg_dir_create_mode,
		.block_cache_bytes = (uint64_t) int_setting("widecol.block_cache_size") * 1024,
		.write_buffer_bytes = (uint64_t) int_setting("widecol.write_buffer_size") * 1024,
		.max_open_files = int_setting("widecol.max_open_files"),
		.max_background_jobs = int_setting("widecol.max_background_jobs"),
		.statistics = STATISTICS_FILE,
	};
	/* they may change while it opens */
	opening.options.images = pstrdup(opening.options.images);
	opening.options.path = psprintf("%s/%s", opening.options.images, WC_LIVE_DIRECTORY);
	opening.options.new_store = pstrdup(opening.options.new_store);
	opening.options.accept_store = pstrdup(opening.options.accept_store);
	run_task(open_task, WC_WAIT_ENGINE_OPEN);
	if (opening.status != WC_OK)
	{
		*err = opening.err;
		engine = NULL;
		return false;
	}
	atomic_store(&wc_following()->store, wc_engine_store_id(engine));
	wc_engine_accept_damage(engine, (uint32_t) int_setting("widecol.accept_damage"));
	return start_server(err) && wc_start_following(engine, server, err);
}

static void
reap_sessions(void)
{
	dsm_segment *dsm;

	while ((dsm = wc_server_reap(server)) != NULL)
		dsm_detach(dsm);
}

/* run: how the long parts are done. */
static void
close_engine(void (*run) (void (*fn) (void *arg), WcWaitEvent event))
{
	if (!failed)
		wc_shmem_set_state(shmem, WC_ENGINE_STOPPED, NULL);
	if (server != NULL)
	{
		wc_checkpoint_finish();
		run(stop_task, WC_WAIT_ENGINE_CLOSE);
		reap_sessions();
		wc_server_free(server);
		server = NULL;
	}
	if (engine != NULL)
	{
		run(close_task, WC_WAIT_ENGINE_CLOSE);
		engine = NULL;
	}
}

static void
run_here(void (*fn) (void *arg), WcWaitEvent event)
{
	fn(NULL);
}

/* Closes the engine at an exit that SIGTERM has not caused.  Not called in a crash. */
static void
at_exit(int code, Datum arg)
{
	sigset_t	all;

	release_orphaned_checkpointer();
	/* RocksDB makes threads when it likes to. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	wc_task_join(&task);
	close_engine(run_here);
	wc_backup_refuse();			/* from now on there are no images */
	wc_checkpoint_release();
}

static void
take_sessions(void)
{
	static uint32_t seen;
	uint32_t	offers = atomic_load(&shmem->offers);

	if (offers == seen)
		return;
	seen = offers;
	for (int i = 0; i < shmem->nslots; i++)
	{
		dsm_segment *dsm = wc_channel_take(shmem, i);
		WcSegment  *segment;
		WcWake		wake = {wake_latch, wc_shmem_latch((uint32) i)};
		WcPeer		peer = {(uint32) i, (uint32) wc_shmem_pid((uint32) i)};
		WcError		err;

		if (dsm == NULL)
			continue;
		segment = wc_channel_segment(dsm);
		if (wc_server_attach(server, segment, wc_channel_segment_size(dsm), peer, wake, dsm, &err) != WC_OK)
		{
			ereport(LOG, (errmsg("widecol: could not serve a session: %s", err.message)));
			dsm_detach(dsm);
			SetLatch(wc_shmem_latch((uint32) i));
		}
	}
}

/*
 * How long to sleep.  Commits do not wake the main thread: their log is read a few milliseconds later, several
 * together, or at once if a process waits for one of them.  After a pause without commits the first one wakes it, and so does
 * each commit while several are in flight, or while processes often wait for commits (wc_following_note_commit).  COMMIT PREPARED
 * never does: it is read at the next interval, or when a process waits for it.
 */
static long
nap(bool more)
{
	static TimestampTz busy_until;
	TimestampTz now = GetCurrentTimestamp();
	bool		in_flight = wc_flight_count(wc_places()) > wc_server_nprepared(server);

	if (more)
		return 0;
	if (in_flight || wc_checkpoint_is_under_way() || RecoveryInProgress())
		busy_until = TimestampTzPlusMilliseconds(now, BUSY_MS);
	if (now < busy_until)
		return atomic_load(&wc_following()->readers) > 0 ? READERS_EVERY_MS : WC_FOLLOW_EVERY_MS;
	atomic_store(&wc_following()->asleep, 1);
	/* once more: a transaction that has taken a place since then does not wake this thread */
	in_flight = wc_flight_count(wc_places()) > wc_server_nprepared(server);
	return in_flight ? WC_FOLLOW_EVERY_MS : LOOK_EVERY_MS;
}

/* The follower reads a commit only when it is on disk.  For readers that wait for an asynchronous commit, the
 * log is flushed here, without waiting for the walwriter.  Other commits flush the log themselves, and one more flush
 * between theirs would delay them. */
static void
flush_for_readers(void)
{
	XLogRecPtr	last = atomic_load(&wc_following()->asynchronous);

	if (atomic_load(&wc_following()->readers) > 0 && last > wc_feed_position() && !RecoveryInProgress() &&
		XLogNeedsFlush(last))
		XLogFlush(last);
}

static void
tell_of_stalls(void)
{
	WcError		why;
	bool		stalled = wc_server_stalled(server, &why);

	if (stalled != (atomic_load(&wc_following()->stalled) != 0))
		wc_following_stall(stalled ? &why : NULL);
}

/* Of one that is so old that its number may be another's by now, too. */
static bool
transaction_is_over(uint64_t xid)
{
	FullTransactionId full = FullTransactionIdFromU64(xid);

	return U64FromFullTransactionId(ReadNextFullTransactionId()) - xid > MaxTransactionId / 2 ||
		(!TransactionIdIsInProgress(XidFromFullTransactionId(full)) &&
		 wc_flight_find(wc_places(), xid) == WC_FLIGHT_NONE);
}

/* On a standby, for transactions that have found no place: publishes the position that readers wait for
 * instead. */
static void
tell_of_overflow(void)
{
	if (!wc_flight_overflowed(wc_places()) || !wc_feed_is_applied())
		return;
	atomic_store(&wc_following()->settled, wc_feed_nothing_ends_before());
	(void) wc_flight_free_before(wc_places(), wc_feed_oldest_running());
}

/* Passes on settings that were read again.  On a standby upkeep makes no steps of its own: it applies those in
 * the log. */
static void
keep_up(void)
{
	static bool begun;
	static bool as_standby;
	static uint32 reloads;
	int			log_ms;

	if (begun && reloads == wc_worker_reloads() && as_standby == RecoveryInProgress())
		return;
	as_standby = RecoveryInProgress();
	set_upkeep(!as_standby);
	wc_engine_accept_damage(engine, (uint32_t) int_setting("widecol.accept_damage"));
	wc_server_scan_helpers(server, int_setting("widecol.scan_helpers"));
	log_ms = int_setting("widecol.log_min_duration");
	wc_server_log_slow(server, log_ms < 0 ? -1 : log_ms * INT64CONST(1000));
	begun = true;
	reloads = wc_worker_reloads();
}

/* Steps that session threads, or the upkeep's, want to be in the log. */
static void
write_steps(void)
{
	WcLogRecord record = {.kind = WC_RECORD_STEP};

	while (wc_server_next_step(server, &record.bytes))
	{
		XLogRecPtr	position = InvalidXLogRecPtr;

		if (!RecoveryInProgress())
		{
			position = wc_record_write(&record);
			XLogFlush(position);
		}
		wc_server_step_written(server, position);
	}
}

/*
 * While a processor is free, this thread does not run where the process runs that has woken it.  That process goes on, and so
 * does its client, which the system would put on the free processor otherwise.  To wake a program on a processor that sleeps
 * takes several times as long as to wake it on one's own, and a client is woken more often than this thread.
 */
static void
keep_out_of_the_way(void)
{
	static int	place = WC_CPU_ANY;
	bool		room = wc_busy_sessions(&shmem->busy, wc_clock_monotonic_us()) < (uint32_t) wc_cpu_count();
	int			cpu = (int) atomic_load_explicit(&wc_following()->waker_cpu, memory_order_relaxed) - 1;
	int			wanted = room && cpu >= 0 ? WC_CPU_BUT(cpu) : WC_CPU_ANY;

	if (wanted != place)
		wc_cpu_stay(wanted);
	place = wanted;
}

static void
serve(void)
{
	bool		more = false;

	while (!ShutdownRequestPending && !wc_engine_must_restart(engine))
	{
		long		timeout = nap(more);

		if (timeout > 0)
			(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
							 timeout, wc_shmem_wait_event(WC_WAIT_ENGINE_MAIN));
		atomic_store(&wc_following()->asleep, 0);
		ResetLatch(MyLatch);
		keep_out_of_the_way();
		release_orphaned_checkpointer();
		wc_worker_serve_interrupts();
		keep_up();
		reap_sessions();
		(void) wc_server_look_at_locks(server, transaction_is_over);
		take_sessions();
		write_steps();
		flush_for_readers();
		more = wc_feed_run();
		wc_start_take_over();
		(void) wc_checkpoint_work();
		tell_of_stalls();
		tell_of_overflow();
	}
}

/*
 * The postmaster starts the engine again one second after its end: the more often the start has failed, the
 * later the process ends.  It ends at once when settings are read again, since they may have been the cause.
 */
static void
await_retry(void)
{
	uint32		attempt = Min(shmem->start_failures, 16);
	TimestampTz until;
	long		left;

	shmem->start_failures++;
	until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), (Min(1 << attempt, RETRY_SECONDS_MAX) - 1) * 1000L);
	while (!ShutdownRequestPending && wc_worker_reloads() == 0 &&
		   (left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until)) > 0)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, left,
						 wc_shmem_wait_event(WC_WAIT_ENGINE_RETRY));
		ResetLatch(MyLatch);
		wc_worker_serve_interrupts();
	}
	if (wc_worker_reloads() > 0)
		shmem->start_failures = 0;
}

void
wc_worker_main(Datum main_arg)
{
	WcError		err;

	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGINT, SIG_IGN);
	BackgroundWorkerUnblockSignals();

	shmem = wc_shmem_attach();
	wc_following_find();
	atomic_store(&shmem->busy, 0);
	wc_shmem_set_state(shmem, WC_ENGINE_STARTING, NULL);
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	wc_checkpoint_delay();
	before_shmem_exit(at_exit, (Datum) 0);
	mallopt(M_ARENA_MAX, MALLOC_ARENAS);
	allow_descriptors();

	if (!open_engine(&err))
	{
		failed = true;
		wc_shmem_set_state(shmem, WC_ENGINE_FAILED, &err);
		ereport(LOG,
				(errmsg("widecol engine could not start: %s", err.message),
				 err.detail[0] != '\0' ? errdetail("%s", err.detail) : 0,
				 err.hint[0] != '\0' ? errhint("%s", err.hint) : 0));
		wc_checkpoint_release();	/* there will be no image */
		await_retry();
		proc_exit(1);
	}
	shmem->start_failures = 0;
	wc_shmem_set_state(shmem, WC_ENGINE_READY, NULL);
	ereport(LOG, (errmsg("widecol engine is ready")));

	serve();

	if (wc_engine_must_restart(engine))
		ereport(LOG, (errmsg("widecol engine starts again, since nothing can be written before that")));
	close_engine(run_task);

	/* Not 0, which would mean: never start it again. */
	proc_exit(1);
}
