/*
 * channel/shmem.h: shared memory of the cluster: the engine's state, and how backends reach it.
 *
 * One struct in PostgreSQL's main shared memory, made by the postmaster when widecol is in
 * shared_preload_libraries. channel/README names for each field the processes that may read and write it, and
 * when.  PostgreSQL side; any process.
 */
#ifndef WC_CHANNEL_SHMEM_H
#define WC_CHANNEL_SHMEM_H

#include "postgres.h"

#include <stdatomic.h>

#include "storage/condition_variable.h"
#include "storage/latch.h"
#include "storage/lwlock.h"

#include "base/status.h"
#include "wire/shared/getcache.h"
#include "wire/shared/rangecache.h"
#include "wire/shared/written.h"
#include "wire/wait/busy.h"

typedef enum WcEngineState
{
	WC_ENGINE_ABSENT = 0,		/* its process has not begun yet: wait a while */
	WC_ENGINE_READY = 1,
	WC_ENGINE_STOPPED = 2,		/* went away, or will not start while the server stops */
	WC_ENGINE_FAILED = 3,		/* could not start: start_error says why; it is tried again */
	WC_ENGINE_STARTING = 4		/* opens the store, which may take long after a crash: wait */
} WcEngineState;

/* One a process that may have a session, found by its place among PostgreSQL's
 * processes. */
typedef struct WcSlot
{
	/* The session's segment for the engine to attach (WC_SLOT_WANTED | handle);
	 * 0: nothing.  Set by the backend, taken by the engine's main thread. */
	_Atomic uint64_t wanted;

	/* The same word, given back when the engine could not attach it. */
	_Atomic uint64_t refused;

	/* When the session last copied files by functions of PostgreSQL (wc_clock_monotonic_us; INT64_MAX: it may be doing so); 0:
	 * it has not.  hold.h. */
	_Atomic int64_t copied_us;
} WcSlot;

#define WC_SLOT_WANTED (UINT64_C(1) << 32)

/* Increase it when WcShmem, WcSlot, WcFollowing (flight.h), the places of transactions in flight, the claims, the
 * answers to Gets, the rows of ranges or the rows that commits leave change. */
#define WC_SHMEM_LAYOUT 0x57430016	/* "WC", 22 */

typedef struct WcShmem
{
	uint32_t	layout;			/* WC_SHMEM_LAYOUT of the library that the postmaster has loaded */
	_Atomic uint32_t state;		/* WcEngineState */
	_Atomic uint32_t engine_process;	/* its place among the processes; meaningful while READY */
	ConditionVariable state_changed;

	/* Changes with every applied catalog change and with every start of the
	 * engine; written by the engine's threads, read by backends' caches. */
	_Atomic uint64_t catalog_generation;

	/* Operations that commits have applied, about as many as rows were written; written by
	 * the engine's applier, read by the planner. */
	_Atomic uint64_t writes;

	/* Grows before and after a session sends changes of tables outside the embedded engine. */
	_Atomic uint64_t sent_elsewhere;

	/* the number of sessions that were busy lately */
	WcBusy		busy;

	/* Bytes of answers that wc_shmem_getcache holds, and of rows that wc_shmem_rangecache holds. */
	uint64_t	getcache_bytes;
	uint64_t	rangecache_bytes;

	/* The moment that wc_client_unique_moment (client/) gave last: each is given once. */
	_Atomic uint64_t last_moment;

	/* Sessions that were offered: raised behind each offer, read by the engine's main thread. */
	_Atomic uint32_t offers;

	uint32_t	start_failures; /* attempts to start that failed since the last that did not; engine's main thread */
	WcError		start_error;	/* meaningful while FAILED; guarded by nothing: written before state */
	int			nslots;
	WcSlot		slots[FLEXIBLE_ARRAY_MEMBER];
} WcShmem;

/* Hooks of the postmaster's start, called by _PG_init's hooks.  Memory for answers to Gets, and for rows of
 * ranges: the same for both. */
extern void wc_shmem_request(uint64 getcache_bytes, uint64 rangecache_bytes);
extern void wc_shmem_startup(uint64 getcache_bytes, uint64 rangecache_bytes);

/* Registers the engine as a static background worker; only while
 * process_shared_preload_libraries_in_progress. */
extern void wc_worker_register(void);

/* NULL when widecol is not in shared_preload_libraries. */
extern WcShmem *wc_shmem(void);

/* For the module that the postmaster has not loaded: finds the shared memory by name.  Raises an error if its layout
 * differs. */
extern WcShmem *wc_shmem_attach(void);

/* Answers to Gets; where wc_shmem is not NULL.  A process reads at its place among
 * PostgreSQL's processes. */
extern WcGetCache *wc_shmem_getcache(void);

/* Rows of short ranges; where wc_shmem is not NULL. */
extern WcRangeCache *wc_shmem_rangecache(void);

/* Rows that SERIALIZABLE transactions have written, and the lock for them; for backends, where wc_shmem is not NULL. */
extern WcWritten *wc_shmem_written(LWLock **lock);

/* This process's slot, NULL for a process that can have none. */
extern WcSlot *wc_shmem_my_slot(WcShmem *shmem);

/* This process's place among PostgreSQL's processes, and the latch at a place. */
extern uint32 wc_shmem_my_process(void);
extern Latch *wc_shmem_latch(uint32 process);

/* The id of the process at a place; 0: there is none. */
extern int	wc_shmem_pid(uint32 process);

/* Wait events, as pg_stat_activity shows them. */
typedef enum WcWaitEvent
{
	WC_WAIT_ENGINE_MAIN,		/* the engine: for sessions to begin and end */
	WC_WAIT_ENGINE_OPEN,		/* for its store to be open */
	WC_WAIT_ENGINE_CLOSE,
	WC_WAIT_ENGINE_RETRY,		/* to try again to start */
	WC_WAIT_START,				/* a backend: for the engine to start */
	WC_WAIT_ANSWER,				/* for its answer */
	WC_WAIT_ROW_LOCK,			/* for it to give a row's lock up */
	WC_WAIT_PLACE,				/* for a place among the transactions in flight */
	WC_WAIT_COUNT
} WcWaitEvent;

extern uint32 wc_shmem_wait_event(WcWaitEvent event);

/* Engine's main thread: changes the state and wakes the processes that wait for it. */
extern void wc_shmem_set_state(WcShmem *shmem, WcEngineState state, const WcError *why);

#endif
