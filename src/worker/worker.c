/*
 * worker/worker.c: the background worker "widecol engine".
 *
 * Its main thread is an ordinary PostgreSQL process: it opens the engine, takes
 * the sessions that backends offer, hands them to the server's threads (rpc/),
 * and closes all in order at the end.  Everything else happens on threads, which
 * run core only; the one PostgreSQL function that they call is SetLatch, on
 * latches that are in shared memory for ever.
 */
#include "postgres.h"

#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/procsignal.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "base/cpu.h"
#include "channel/channel.h"
#include "rpc/rpc.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void wc_worker_main(Datum main_arg);

/* Offers and ends of sessions set the latch; this is only a safety net. */
#define LOOK_EVERY_MS 5000

/* Pools of malloc: one a thread would cost megabytes an idle session. */
#define MALLOC_ARENAS 4

static WcShmem *shmem;
static WcEngine *engine;
static WcServer *server;
static bool failed;				/* the state says why already */

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

static bool
open_engine(WcError *err)
{
	WcEngineOptions options = {
		.path = GetConfigOption("widecol.data_directory", false, false),
		.block_cache_bytes = (uint64_t) int_setting("widecol.block_cache_size") * 1024,
		.write_buffer_bytes = (uint64_t) int_setting("widecol.write_buffer_size") * 1024,
		.max_open_files = int_setting("widecol.max_open_files"),
		.max_background_jobs = int_setting("widecol.max_background_jobs"),
	};
	WcServerOptions serve;

	if (wc_engine_open(&options, &engine, err) != WC_OK)
	{
		engine = NULL;
		return false;
	}
	serve = (WcServerOptions) {
		.engine = engine,
		.sessions_max = shmem->nslots,
		.cores = wc_cpu_count(),
		.busy = &shmem->busy,
		.getcache = wc_shmem_getcache(),
		.catalog_generation = &shmem->catalog_generation,
		.finished = {wake_latch, MyLatch},
	};
	if (wc_server_start(&serve, &server, err) != WC_OK)
	{
		server = NULL;
		return false;
	}
	return true;
}

static void
reap_sessions(void)
{
	dsm_segment *dsm;

	while ((dsm = wc_server_reap(server)) != NULL)
		dsm_detach(dsm);
}

/* The end, however the process comes to it (but for a crash). */
static void
close_engine(int code, Datum arg)
{
	sigset_t	all;

	/* RocksDB makes threads when it likes to. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);

	if (!failed)
		wc_shmem_set_state(shmem, WC_ENGINE_STOPPED, NULL);
	if (server != NULL)
	{
		wc_server_stop(server, "the widecol engine was shut down");
		reap_sessions();
		wc_server_free(server);
		server = NULL;
	}
	if (engine != NULL)
	{
		wc_engine_close(engine);
		engine = NULL;
	}
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
		if (wc_server_attach(server, segment, wc_segment_size(), wake, dsm, &err) != WC_OK)
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
	while (!ShutdownRequestPending)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 LOOK_EVERY_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		reap_sessions();
		take_sessions();
	}
}

void
wc_worker_main(Datum main_arg)
{
	sigset_t	all,
				before;
	WcError		err;
	bool		opened;

	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGINT, SIG_IGN);

	shmem = wc_shmem_attach();
	atomic_store(&shmem->busy, 0);
	wc_shmem_set_state(shmem, WC_ENGINE_STARTING, NULL);
	before_shmem_exit(close_engine, (Datum) 0);
	mallopt(M_ARENA_MAX, MALLOC_ARENAS);
	allow_descriptors();

	/* Threads inherit the mask: signals are for the main thread alone. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	opened = open_engine(&err);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	BackgroundWorkerUnblockSignals();

	if (!opened)
	{
		failed = true;
		wc_shmem_set_state(shmem, WC_ENGINE_FAILED, &err);
		ereport(LOG,
				(errmsg("widecol engine could not start: %s", err.message),
				 err.detail[0] != '\0' ? errdetail("%s", err.detail) : 0,
				 err.hint[0] != '\0' ? errhint("%s", err.hint) : 0));
		proc_exit(1);
	}
	wc_shmem_set_state(shmem, WC_ENGINE_READY, NULL);
	ereport(LOG, (errmsg("widecol engine is ready")));

	serve();

	/* Not 0, which would mean: never start it again. */
	proc_exit(1);
}
