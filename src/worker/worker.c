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
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "access/xlog.h"
#include "common/file_perm.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/procsignal.h"
#include "storage/sinval.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/cpu.h"
#include "channel/channel.h"
#include "rpc/rpc.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void wc_worker_main(Datum main_arg);

/* Offers and ends of sessions set the latch; this is only a safety net. */
#define LOOK_EVERY_MS 5000

/* The file of the cluster's data directory that names its store. */
#define STORE_RECORD "widecol.store"

/* Seconds between two attempts to start: 1, 2, 4 ... */
#define RETRY_SECONDS_MAX 60

/* Pools of malloc: one a thread would cost megabytes an idle session. */
#define MALLOC_ARENAS 4

static WcShmem *shmem;
static WcEngine *engine;
static WcServer *server;
static bool failed;				/* the state says why already */

/* Something that takes long, on a thread of its own. */
typedef struct Task
{
	void		(*fn) (struct Task *task);
	WcEngineOptions options;
	WcStatus	status;
	WcError		err;
	Latch	   *latch;
	pthread_t	thread;
	atomic_bool done;
} Task;

static Task task;
static bool task_runs;			/* its thread is to be joined */
static bool reloaded;			/* settings have been read again */

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
 * RocksDB keeps a descriptor of its directory for each family, besides those of
 * files (widecol.max_open_files).  Without one a compaction fails, and after it
 * every commit: so take all that the system lets a process have, and not only
 * the 1024 that are usual to begin with.
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

static void *
task_main(void *arg)
{
	Task	   *t = arg;

	t->fn(t);
	atomic_store(&t->done, true);
	SetLatch(t->latch);
	return NULL;
}

static void
serve_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
	if (catchupInterruptPending)
		ProcessCatchupInterrupt();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
		reloaded = true;
	}
}

/* Has it done, and returns when it has been.  What asks the process to go must wait. */
static void
run_task(void (*fn) (Task *), WcWaitEvent event)
{
	sigset_t	all,
				before;
	int			rc;

	task.fn = fn;
	task.latch = MyLatch;
	atomic_store(&task.done, false);

	/* Threads inherit the mask: signals are for the main thread alone. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&task.thread, NULL, task_main, &task);
	if (rc != 0)
		fn(&task);				/* then here */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0)
		return;

	task_runs = true;
	while (!atomic_load(&task.done))
	{
		/* Without a postmaster there is nobody to serve; the task is not left half done. */
		if (WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_POSTMASTER_DEATH, LOOK_EVERY_MS,
					  wc_shmem_wait_event(event)) & WL_POSTMASTER_DEATH)
			break;
		ResetLatch(MyLatch);
		serve_interrupts();
	}
	pthread_join(task.thread, NULL);
	task_runs = false;
}

/* --- opening and closing ---------------------------------------------------- */

static void
open_task(Task *t)
{
	t->status = wc_engine_open(&t->options, &engine, &t->err);
}

static void
stop_task(Task *t)
{
	wc_server_stop(server, "the widecol engine was shut down");
}

static void
close_task(Task *t)
{
	wc_engine_close(engine);
}

static bool
start_server(WcError *err)
{
	WcServerOptions serve = {
		.engine = engine,
		.sessions_max = shmem->nslots,
		.cores = wc_cpu_count(),
		.busy = &shmem->busy,
		.getcache = wc_shmem_getcache(),
		.catalog_generation = &shmem->catalog_generation,
		.writes = &shmem->writes,
		.finished = {wake_latch, MyLatch},
	};

	if (wc_server_start(&serve, &server, err) == WC_OK)
		return true;
	server = NULL;
	return false;
}

static void
set_upkeep(void)
{
	WcUpkeep	settings = {
		.busy_percent = (uint32_t) int_setting("widecol.upkeep"),
		.dead_percent = (uint32_t) int_setting("widecol.upkeep_threshold"),
		.delay_us = int_setting("widecol.upkeep_delay") * INT64CONST(1000),
		.history_us = int_setting("widecol.history") * WC_USEC_PER_SEC,
	};
	WcError		err;
	sigset_t	all,
				before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (wc_engine_set_upkeep(engine, &settings, &err) != WC_OK)
		ereport(LOG, (errmsg("widecol: %s", err.message)));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool
open_engine(WcError *err)
{
	task.options = (WcEngineOptions) {
		.path = GetConfigOption("widecol.data_directory", false, false),
		.record = STORE_RECORD,
		.cluster = GetSystemIdentifier(),
		.new_store = GetConfigOption("widecol.new_store", false, false),
		.accept_store = GetConfigOption("widecol.accept_store", false, false),
		.may_create = !RecoveryInProgress(),
		.directory_mode = (unsigned) pg_dir_create_mode,
		.block_cache_bytes = (uint64_t) int_setting("widecol.block_cache_size") * 1024,
		.write_buffer_bytes = (uint64_t) int_setting("widecol.write_buffer_size") * 1024,
		.max_open_files = int_setting("widecol.max_open_files"),
		.max_background_jobs = int_setting("widecol.max_background_jobs"),
	};
	/* they may change while it opens */
	task.options.path = pstrdup(task.options.path);
	task.options.new_store = pstrdup(task.options.new_store);
	task.options.accept_store = pstrdup(task.options.accept_store);
	run_task(open_task, WC_WAIT_ENGINE_OPEN);
	if (task.status != WC_OK)
	{
		*err = task.err;
		engine = NULL;
		return false;
	}
	if (!start_server(err))
		return false;
	set_upkeep();
	return true;
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
close_engine(void (*run) (void (*fn) (Task *), WcWaitEvent event))
{
	if (!failed)
		wc_shmem_set_state(shmem, WC_ENGINE_STOPPED, NULL);
	if (server != NULL)
	{
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
run_here(void (*fn) (Task *), WcWaitEvent event)
{
	fn(&task);
}

/* The end if something else than SIGTERM brings it (but for a crash). */
static void
at_exit(int code, Datum arg)
{
	sigset_t	all;

	/* RocksDB makes threads when it likes to. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	if (task_runs)
		pthread_join(task.thread, NULL);
	task_runs = false;
	close_engine(run_here);
}

static void
take_sessions(void)
{
	for (int i = 0; i < shmem->nslots; i++)
	{
		dsm_segment *dsm = wc_channel_take(shmem, i);
		WcSegment  *segment;
		WcWake		wake = {wake_latch, wc_shmem_latch((uint32) i)};
		WcError		err;

		if (dsm == NULL)
			continue;
		segment = wc_channel_segment(dsm);
		if (wc_server_attach(server, segment, wc_channel_segment_size(dsm), wake, dsm, &err) != WC_OK)
		{
			ereport(LOG, (errmsg("widecol: could not serve a session: %s", err.message)));
			dsm_detach(dsm);
			SetLatch(wc_shmem_latch((uint32) i));
		}
	}
}

static void
serve(void)
{
	while (!ShutdownRequestPending && !wc_engine_must_restart(engine))
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 LOOK_EVERY_MS, wc_shmem_wait_event(WC_WAIT_ENGINE_MAIN));
		ResetLatch(MyLatch);
		serve_interrupts();
		if (reloaded)
			set_upkeep();
		reloaded = false;
		reap_sessions();
		take_sessions();
	}
}

/*
 * The postmaster starts the engine again a second after its end: it ends the later the
 * more often it has failed.  Settings that are read again may be what was missing.
 */
static void
await_retry(void)
{
	uint32		attempt = Min(shmem->start_failures, 16);
	TimestampTz until;
	long		left;

	shmem->start_failures++;
	until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), (Min(1 << attempt, RETRY_SECONDS_MAX) - 1) * 1000L);
	while (!ShutdownRequestPending && !reloaded &&
		   (left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until)) > 0)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, left,
						 wc_shmem_wait_event(WC_WAIT_ENGINE_RETRY));
		ResetLatch(MyLatch);
		serve_interrupts();
	}
	if (reloaded)
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
	atomic_store(&shmem->busy, 0);
	wc_shmem_set_state(shmem, WC_ENGINE_STARTING, NULL);
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
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
