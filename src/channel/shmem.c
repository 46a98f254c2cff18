/*
 * channel/shmem.c: the struct that the cluster shares, and the worker's
 * registration.
 */
#include "postgres.h"

#include "access/twophase.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/guc.h"
#include "utils/wait_event.h"

#include "base/clock.h"
#include "base/limits.h"
#include "channel/nobackup.h"
#include "channel/shmem.h"
#include "compat.h"

/* After the engine has gone, the postmaster tries again in so many seconds. */
#define RESTART_SECONDS 1

/* wc_getcache_init and wc_rangecache_init need this alignment. */
#define CACHE_ALIGNMENT 64

/* Name of the memory for written rows, and of its lock's tranche. */
#define WRITTEN_NAME "widecol written rows"

static WcShmem *shmem;
static WcGetCache *getcache;
static WcRangeCache *rangecache;
static WcWritten *written;
static LWLock *written_lock;

static Size
shmem_bytes(void)
{
	return add_size(offsetof(WcShmem, slots), mul_size(MaxBackends, sizeof(WcSlot)));
}

static Size
getcache_size(uint64 bytes)
{
	return add_size(wc_getcache_size(bytes, (uint32) MaxBackends), CACHE_ALIGNMENT);
}

static Size
rangecache_size(uint64 bytes)
{
	return add_size(wc_rangecache_size(bytes), CACHE_ALIGNMENT);
}

static Size
written_size(void)
{
	return wc_written_size((uint32) MaxBackends, (uint32) (max_prepared_xacts + MaxBackends));
}

void
wc_shmem_request(uint64 getcache_bytes, uint64 rangecache_bytes)
{
	RequestAddinShmemSpace(shmem_bytes());
	RequestAddinShmemSpace(getcache_size(getcache_bytes));
	RequestAddinShmemSpace(rangecache_size(rangecache_bytes));
	RequestAddinShmemSpace(written_size());
	RequestNamedLWLockTranche(WRITTEN_NAME, 1);
}

/* These two with AddinShmemInitLock held. */
static void *
find_getcache(uint64 bytes, bool *found)
{
	return (void *) TYPEALIGN(CACHE_ALIGNMENT, ShmemInitStruct("widecol get cache", getcache_size(bytes), found));
}

static void *
find_rangecache(uint64 bytes, bool *found)
{
	return (void *) TYPEALIGN(CACHE_ALIGNMENT, ShmemInitStruct("widecol range cache", rangecache_size(bytes), found));
}

/*
 * Called when the server starts, or restarts after a crash.  Until the engine notes otherwise, a copy of the data
 * directory would lack stored tables.  A data directory that is a restored backup, or was rewound, has a backup_label:
 * a live database in it is older than the backup.
 */
static void
distrust_copies(void)
{
	char		owner[MAXPGPATH];

	wc_nobackup_put();
	if (access("backup_label", F_OK) != 0)
		return;
	snprintf(owner, sizeof(owner), "%s/%s/OWNER", GetConfigOption("widecol.data_directory", false, false), "pgsql_tmp.live");
	if (unlink(owner) == 0)
		ereport(LOG, (errmsg("the stored tables begin with an image of theirs, since this is a restored backup")));
	else if (errno != ENOENT)
		ereport(FATAL, (errcode_for_file_access(), errmsg("could not remove file \"%s\": %m", owner)));
}

void
wc_shmem_startup(uint64 getcache_bytes, uint64 rangecache_bytes)
{
	bool		found;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shmem = ShmemInitStruct("widecol", shmem_bytes(), &found);
	if (!found)
	{
		memset(shmem, 0, shmem_bytes());
		shmem->layout = WC_SHMEM_LAYOUT;
		atomic_init(&shmem->state, WC_ENGINE_ABSENT);
		ConditionVariableInit(&shmem->state_changed);
		shmem->nslots = MaxBackends;

		/* moments that were given in this second before a crash are not known any more */
		atomic_init(&shmem->last_moment, (((uint64) (wc_clock_wall_us() / WC_USEC_PER_SEC) + 1) << WC_MOMENT_BITS) - 1);
		shmem->getcache_bytes = getcache_bytes;
		shmem->rangecache_bytes = rangecache_bytes;
	}
	getcache = find_getcache(getcache_bytes, &found);
	if (!found)
		(void) wc_getcache_init(getcache, getcache_bytes, (uint32) MaxBackends);	/* the system has zeroed it */
	rangecache = find_rangecache(rangecache_bytes, &found);
	if (!found)
		(void) wc_rangecache_init(rangecache, rangecache_bytes);
	written = ShmemInitStruct(WRITTEN_NAME, written_size(), &found);
	if (!found)
		(void) wc_written_init(written, (uint32) MaxBackends, (uint32) (max_prepared_xacts + MaxBackends));
	written_lock = &GetNamedLWLockTranche(WRITTEN_NAME)->lock;
	LWLockRelease(AddinShmemInitLock);
	if (!IsUnderPostmaster)
		distrust_copies();
}

WcShmem *
wc_shmem(void)
{
	return shmem;
}

WcShmem *
wc_shmem_attach(void)
{
	bool		found;

	if (shmem == NULL)
	{
		LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
		shmem = ShmemInitStruct("widecol", shmem_bytes(), &found);
		if (found && shmem->layout != WC_SHMEM_LAYOUT)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("the widecol engine is of another version than the library that the server has loaded"),
					 errhint("Restart the server.")));
		if (found)
			getcache = find_getcache(shmem->getcache_bytes, &found);
		if (found)
			rangecache = find_rangecache(shmem->rangecache_bytes, &found);
		LWLockRelease(AddinShmemInitLock);
		if (!found)
		{
			shmem = NULL;
			elog(ERROR, "widecol's shared memory was not made by the postmaster");
		}
	}
	return shmem;
}

WcGetCache *
wc_shmem_getcache(void)
{
	return getcache;
}

WcRangeCache *
wc_shmem_rangecache(void)
{
	return rangecache;
}

WcWritten *
wc_shmem_written(LWLock **lock)
{
	*lock = written_lock;
	return written;
}

uint32
wc_shmem_my_process(void)
{
	return (uint32) (MyProc - ProcGlobal->allProcs);
}

Latch *
wc_shmem_latch(uint32 process)
{
	Assert(process < ProcGlobal->allProcCount);
	return &ProcGlobal->allProcs[process].procLatch;
}

int
wc_shmem_pid(uint32 process)
{
	return process < ProcGlobal->allProcCount ? ProcGlobal->allProcs[process].pid : 0;
}

WcSlot *
wc_shmem_my_slot(WcShmem *s)
{
	uint32		process = wc_shmem_my_process();

	return process < (uint32) s->nslots ? &s->slots[process] : NULL;
}

uint32
wc_shmem_wait_event(WcWaitEvent event)
{
	static const char *const names[WC_WAIT_COUNT] = {
		"WidecolEngineMain", "WidecolEngineOpen", "WidecolEngineClose", "WidecolEngineRetry",
		"WidecolStart", "WidecolAnswer", "WidecolRowLock", "WidecolPlace"
	};
	static uint32 known[WC_WAIT_COUNT];

	if (known[event] == 0)
		known[event] = wc_wait_event_new(names[event]);
	return known[event];
}

void
wc_shmem_set_state(WcShmem *s, WcEngineState state, const WcError *why)
{
	if (why != NULL)
		s->start_error = *why;
	if (state == WC_ENGINE_READY)
		atomic_store(&s->engine_process, wc_shmem_my_process());
	atomic_store(&s->state, state);
	ConditionVariableBroadcast(&s->state_changed);
}

void
wc_worker_register(void)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof(worker));
	snprintf(worker.bgw_name, BGW_MAXLEN, "widecol engine");
	snprintf(worker.bgw_type, BGW_MAXLEN, "widecol engine");
	snprintf(worker.bgw_library_name, BGW_MAXLEN, "widecol_engine");
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "wc_worker_main");

	/* The worker has no database, but only with the flag for connections does it appear among the server's
	 * processes: in pg_stat_activity, and for pg_terminate_backend. */
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_ConsistentState;
	worker.bgw_restart_time = RESTART_SECONDS;
	RegisterBackgroundWorker(&worker);
}
