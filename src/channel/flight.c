/*
 * channel/flight.c: how far the store has followed the log, and the transactions in flight.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/twophase.h"
#include "access/xlogrecovery.h"
#include "access/xlog.h"
#include "access/xlogutils.h"
#include "miscadmin.h"
#include "postmaster/startup.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/pmsignal.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/limits.h"
#include "channel/flight.h"
#include "channel/keeplog.h"
#include "channel/nobackup.h"
#include "channel/servertext.h"
#include "channel/shmem.h"
#include "wire/wait/spin.h"

#define PLACES_ALIGNMENT 64

/* A reader waits for so many places, mostly. */
#define PLACES_EXPECTED 16

/* A commit waits while the follower is this far behind.  A process that waits while nothing can be applied
 * gets an error with the reason after this time. */
#define LAG_MAX (UINT64CONST(256) * 1024 * 1024)
#define LAG_LOOK_MS 10
#define STALL_PATIENCE_MS 10000

/* A commit also waits while the store's mark is further behind than half of the log that PostgreSQL keeps for a slot, or
 * than this. */
#define MARK_LAG_LEAST (UINT64CONST(8) * 1024 * 1024)

/* A process that sleeps until a place is freed looks up so often: for a stall, and to wake the follower once more. */
#define PLACE_LOOK_US INT64CONST(50000)

/* With so many transactions in flight, besides prepared ones, each further one sleeps for a moment before it commits. */
#define FLIGHT_ROOM 256

/* How long a reader keeps commits from beginning. */
#define QUIET_US 2000

/* With so many transactions in flight (prepared ones count), each commit wakes the follower: then a process that must wait for
 * one of them does not wait for many others. */
#define WAKE_AT 8

/* Each commit wakes the follower, too, if processes have waited for transactions in flight WC_AWAITED_TIMES times within so long: probably
 * there will be another one that waits.  Where that is seldom, commits are better applied several together. */
#define AWAITED_US 20000

/* So many commits wake it after a statement has waited for a row whose transaction had ended: where that is seldom, the other commits
 * are better applied several together. */
#define ROW_WAKES 16

static WcFollowing *following;
static WcFlight *places;
static WcClaims *claims;
static WcUnapplied *unapplied;

static Size
places_bytes(void)
{
	return add_size(wc_flight_size(WC_FLIGHT_MAX), PLACES_ALIGNMENT);
}

static Size
claims_bytes(void)
{
	return add_size(wc_claims_size((uint32) MaxBackends), PLACES_ALIGNMENT);
}

static Size
unapplied_bytes(void)
{
	return add_size(wc_unapplied_size(), PLACES_ALIGNMENT);
}

void
wc_following_request(void)
{
	RequestAddinShmemSpace(add_size(sizeof(WcFollowing), add_size(places_bytes(), add_size(claims_bytes(), unapplied_bytes()))));
}

static void *
find_aligned(const char *name, Size bytes, bool *found)
{
	return (void *) TYPEALIGN(PLACES_ALIGNMENT, ShmemInitStruct(name, bytes, found));
}

void
wc_following_find(void)
{
	bool		found;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	following = ShmemInitStruct("widecol following", sizeof(WcFollowing), &found);
	if (!found)
	{
		memset(following, 0, sizeof(WcFollowing));
		SpinLockInit(&following->stall_mutex);
		ConditionVariableInit(&following->moved);
	}
	/* the system has zeroed them */
	places = find_aligned("widecol places", places_bytes(), &found);
	if (!found)
		(void) wc_flight_init(places, WC_FLIGHT_MAX, FLIGHT_ROOM + (uint32) max_prepared_xacts);
	claims = find_aligned("widecol claims", claims_bytes(), &found);
	if (!found)
		(void) wc_claims_init(claims, (uint64) GetCurrentTimestamp() ^ (uint64) PostmasterPid, (uint32) MaxBackends);
	unapplied = find_aligned("widecol unapplied rows", unapplied_bytes(), &found);
	LWLockRelease(AddinShmemInitLock);
}

WcFollowing *
wc_following(void)
{
	return following;
}

WcFlight *
wc_places(void)
{
	return places;
}

WcUnapplied *
wc_unapplied(void)
{
	return unapplied;
}

WcClaims *
wc_claims(void)
{
	return claims;
}

static int
stall_sqlstate(const WcError *why)
{
	switch (why->status)
	{
		case WC_NO_SPACE:
			return ERRCODE_DISK_FULL;
		case WC_NO_FILES:
			return ERRCODE_INSUFFICIENT_RESOURCES;
		case WC_NO_MEMORY:
			return ERRCODE_OUT_OF_MEMORY;
		default:
			return ERRCODE_IO_ERROR;
	}
}

/* Raises the error because of which nothing has been applied for a while.  reading: the caller reads, rather than commits. */
static void
check_stall(bool reading)
{
	TimestampTz since = (TimestampTz) atomic_load(&following->stalled);
	WcError		why;

	if (since == 0 || !TimestampDifferenceExceeds(since, GetCurrentTimestamp(), STALL_PATIENCE_MS) ||
		!wc_following_stalled(&why))
		return;
	ereport(ERROR,
			(errcode(stall_sqlstate(&why)),
			 reading ? errmsg("stored tables cannot show the last commits: %s", wc_server_text(why.message)) :
			 errmsg("stored tables cannot be written to now: %s", wc_server_text(why.message)),
			 why.detail[0] != '\0' ? errdetail("%s", wc_server_text(why.detail)) : 0,
			 why.hint[0] != '\0' ? errhint("%s", wc_server_text(why.hint)) : 0));
}

/* --- committing ---------------------------------------------------------------- */

static void
await_quiet(void)
{
	for (;;)
	{
		int64		left_us = atomic_load(&following->quiet_until_us) - wc_clock_monotonic_us();

		if (left_us <= 0)
			return;
		pg_usleep((long) left_us);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Sleeps for a moment if too many commits wait to be applied. */
static void
let_applier_run(void)
{
	if (wc_flight_has_room(places))
		return;
	wc_following_wake();
	pgstat_report_wait_start(wc_shmem_wait_event(WC_WAIT_PLACE));
	wc_flight_sleep_for_room(places);
	pgstat_report_wait_end();
	CHECK_FOR_INTERRUPTS();
}

uint16_t
wc_place_take(uint64 xid, Oid database, bool catalog)
{
	static uint16_t last = WC_FLIGHT_NONE;
	uint16_t	place;

	if (atomic_load_explicit(&following->quiet_until_us, memory_order_relaxed) != 0)
		await_quiet();

	let_applier_run();
	while ((place = wc_flight_take(places, xid, database, catalog, last)) == WC_FLIGHT_NONE)
	{
		check_stall(false);
		wc_following_wake();
		/* places are freed by a thread, which cannot signal the condition variable */
		(void) ConditionVariableTimedSleep(&following->moved, LAG_LOOK_MS, wc_shmem_wait_event(WC_WAIT_PLACE));
	}
	ConditionVariableCancelSleep();
	last = place;
	return place;
}

/* --- reading ------------------------------------------------------------------- */

/*
 * The places of transactions of the database that the snapshot shows as ended: a reader by this snapshot waits for
 * them.  Returns their number; *list is palloc'd, or NULL when there are none.  The caller also checks whether a
 * transaction found no place (wc_flight_overflowed).
 *
 * The place that is freed last, most likely, comes first in the list: when it is free, the others are, too, and the reader does
 * not sleep for each of them.
 */
static uint32
places_to_await(Snapshot snapshot, Oid database, WcFlightEntry **list)
{
	WcFlightEntry entry;
	uint32		next = 0;
	uint32		n = 0;
	uint32		room = 0;

	*list = NULL;
	if (wc_flight_idle(places))
		return 0;
	while (wc_flight_next(places, &next, &entry))
	{
		/* a place of an unknown database may be of this one */
		if ((entry.database != 0 && entry.database != database) || XidInMVCCSnapshot((TransactionId) entry.xid, snapshot))
			continue;
		if (n == room)
		{
			room = Max(PLACES_EXPECTED, 2 * room);
			*list = n == 0 ? palloc(room * sizeof(WcFlightEntry)) : repalloc(*list, room * sizeof(WcFlightEntry));
		}
		(*list)[n] = entry;
		if (wc_flight_is_later(&entry, &(*list)[0]))
		{
			(*list)[n] = (*list)[0];
			(*list)[0] = entry;
		}
		n++;
	}
	return n;
}

/* Without a postmaster there is no engine either, nor will there be one: nothing is freed any more. */
static void
require_postmaster(void)
{
	if (!PostmasterIsAlive())
		ereport(FATAL,
				(errcode(ERRCODE_ADMIN_SHUTDOWN),
				 errmsg("terminating connection due to unexpected postmaster exit")));
}

/* False: nothing is applied any more; a request to the engine will return the error. */
static bool
look_after_place(void)
{
	wc_following_wake();
	check_stall(true);
	require_postmaster();
	CHECK_FOR_INTERRUPTS();
	return atomic_load(&wc_shmem()->state) != WC_ENGINE_FAILED;
}

/* Yields for a few microseconds, in which the applier mostly has it done; true: it is done. */
static bool
spin_for_place(uint16_t place, uint64 xid)
{
	int64		now = wc_clock_monotonic_us();
	uint32		busy = wc_busy_sessions(&wc_shmem()->busy, now);
	uint32		cores = (uint32) wc_cpu_count();
	WcSpin		spin = wc_spin_from(now, WC_SPIN_US, busy >= cores);

	if (busy > cores)
		return wc_flight_state(places, place, xid) == WC_FLIGHT_FREE;
	while (wc_flight_state(places, place, xid) != WC_FLIGHT_FREE)
	{
		if (!wc_spin_yield(&spin) || InterruptPending)
			return false;
	}
	return true;
}

static void
note_await(void)
{
	uint32_t	n = atomic_fetch_add_explicit(&following->nawaited, 1, memory_order_relaxed);

	atomic_store_explicit(&following->awaited_us[n % WC_AWAITED_TIMES], wc_clock_monotonic_us(), memory_order_relaxed);
}

/*
 * An engine that is ending still answers, but has stopped following the log: the next engine frees the place
 * before it is READY.
 */
static void
await_place(uint16_t place, uint64 xid)
{
	if (wc_flight_state(places, place, xid) == WC_FLIGHT_FREE)
		return;
	note_await();
	wc_following_wake();
	if (spin_for_place(place, xid))
		return;
	while (wc_flight_state(places, place, xid) != WC_FLIGHT_FREE && look_after_place())
	{
		pgstat_report_wait_start(wc_shmem_wait_event(WC_WAIT_PLACE));
		wc_flight_sleep(places, place, xid, PLACE_LOOK_US);
		pgstat_report_wait_end();
	}
}

static void
reader_goes(int code, Datum arg)
{
	atomic_fetch_sub(&following->readers, 1);
}

static void
await_list(const WcFlightEntry *list, uint32 n)
{
	atomic_fetch_add(&following->readers, 1);
	PG_ENSURE_ERROR_CLEANUP(reader_goes, (Datum) 0);	/* also if the session is terminated */
	{
		for (uint32 i = 0; i < n; i++)
			await_place(list[i].place, list[i].xid);
	}
	PG_END_ENSURE_ERROR_CLEANUP(reader_goes, (Datum) 0);
	reader_goes(0, (Datum) 0);
}

/*
 * On a standby a transaction may find no free place, when replay is far ahead of the store.  Until the
 * follower knows that it has ended, readers wait for everything that has been replayed.
 */
static void
await_overflow(void)
{
	uint64		upto;

	if (!wc_flight_overflowed(places))
		return;

	/* the commit that a snapshot shows may still be the record under replay */
	upto = GetCurrentReplayRecPtr(NULL);
	while (wc_flight_overflowed(places) && atomic_load(&following->settled) < upto)
	{
		wc_following_wake();
		check_stall(true);
		pg_usleep(1000);
		CHECK_FOR_INTERRUPTS();
		if (atomic_load(&wc_shmem()->state) == WC_ENGINE_FAILED)
			return;
	}
}

void
wc_following_await(Snapshot snapshot, Oid database)
{
	WcFlightEntry *list;
	uint32		n;

	await_overflow();
	if (wc_flight_idle(places))
		return;
	n = places_to_await(snapshot, database, &list);
	if (n > 0)
		await_list(list, n);
	if (list != NULL)
		pfree(list);
}

bool
wc_following_is_ahead(Snapshot snapshot, uint64 noted)
{
	uint64		end = wc_flight_nnoted(places);

	for (; noted < end; noted++)
	{
		uint64		xid = wc_flight_noted(places, noted);

		if (xid == 0 || XidInMVCCSnapshot((TransactionId) xid, snapshot))
			return true;
	}
	return false;
}

void
wc_following_ask_for_quiet(void)
{
	atomic_store(&following->quiet_until_us, wc_clock_monotonic_us() + QUIET_US);
}

static void
await_ended(Oid database, bool catalog)
{
	WcFlightEntry entry;

	if (places == NULL)
		return;
	await_overflow();
	if (catalog ? !wc_flight_changes_catalog(places) : wc_flight_idle(places))
		return;
	for (uint32 place = 0; wc_flight_next(places, &place, &entry);)
	{
		if ((catalog && !entry.catalog) ||
			(OidIsValid(database) && entry.database != 0 && entry.database != database))
			continue;
		if (entry.state == WC_FLIGHT_ENDED || !TransactionIdIsInProgress((TransactionId) entry.xid))
			await_list(&entry, 1);
	}
}

void
wc_following_await_all(Oid database)
{
	await_ended(database, false);
}

void
wc_following_await_catalog(Oid database)
{
	await_ended(database, true);
}

bool
wc_following_await_briefly(uint64 xid, int ms)
{
	uint16_t	place = wc_flight_find(places, xid);
	int64		until = wc_clock_monotonic_us() + ms * INT64CONST(1000);
	int64		left;

	if (place == WC_FLIGHT_NONE)
		return false;
	atomic_store_explicit(&following->wakes, ROW_WAKES, memory_order_relaxed);
	wc_following_wake();
	atomic_fetch_add(&following->readers, 1);
	pgstat_report_wait_start(wc_shmem_wait_event(WC_WAIT_ROW_LOCK));
	if (!spin_for_place(place, xid))
	{
		while (wc_flight_state(places, place, xid) != WC_FLIGHT_FREE && !InterruptPending &&
			   (left = until - wc_clock_monotonic_us()) > 0)
			wc_flight_sleep(places, place, xid, left);
	}
	pgstat_report_wait_end();
	atomic_fetch_sub(&following->readers, 1);
	require_postmaster();
	CHECK_FOR_INTERRUPTS();
	if (wc_flight_state(places, place, xid) != WC_FLIGHT_FREE)
		check_stall(false);
	return true;
}

void
wc_following_sleep(int ms)
{
	atomic_fetch_add(&following->readers, 1);
	wc_following_wake();
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ms, wc_shmem_wait_event(WC_WAIT_ROW_LOCK));
	atomic_fetch_sub(&following->readers, 1);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* Until something may have changed. */
static void
nap(void)
{
	wc_following_wake();
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, LAG_LOOK_MS,
					 wc_shmem_wait_event(WC_WAIT_PLACE));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

void
wc_following_await_promotion(void)
{
	while (atomic_load(&following->replays) != 0 && atomic_load(&wc_shmem()->state) != WC_ENGINE_FAILED)
	{
		check_stall(false);
		nap();
	}
}

static bool
is_near(uint64 end, uint64 position, uint64 lag_max)
{
	return end <= position || end - position <= lag_max;
}

/* Commits must not be lost with log that PostgreSQL does not keep.  Without an engine there are no marks to wait for. */
static bool
mark_is_near(uint64 end)
{
	uint64		limit = wc_keeplog_limit();

	return limit == PG_UINT64_MAX || atomic_load(&wc_shmem()->state) != WC_ENGINE_READY ||
		is_near(end, atomic_load(&following->marked), Max(limit / 2, MARK_LAG_LEAST));
}

void
wc_following_await_room(void)
{
	for (;;)
	{
		uint64		read_upto = atomic_load(&following->read_upto);
		uint64		end = GetXLogInsertRecPtr();

		if (atomic_load(&following->stalled) == 0 && is_near(end, read_upto, LAG_MAX) && mark_is_near(end))
			return;
		check_stall(false);
		nap();
	}
}

static bool
is_awaited(void)
{
	/* the place that is written next has the earliest time */
	uint32_t	next = atomic_load_explicit(&following->nawaited, memory_order_relaxed) % WC_AWAITED_TIMES;

	if (wc_clock_monotonic_us() - atomic_load_explicit(&following->awaited_us[next], memory_order_relaxed) < AWAITED_US)
		return true;
	return atomic_load_explicit(&following->wakes, memory_order_relaxed) > 0 &&
		atomic_fetch_sub_explicit(&following->wakes, 1, memory_order_relaxed) > 0;
}

void
wc_following_note_commit(void)
{
	uint64		last = atomic_load(&following->asynchronous);

	if (synchronous_commit == SYNCHRONOUS_COMMIT_OFF)
	{
		while (last < XactLastCommitEnd &&
			   !atomic_compare_exchange_weak(&following->asynchronous, &last, XactLastCommitEnd))
			;
	}
	if (atomic_load(&following->asleep) != 0 || wc_flight_count(places) >= WAKE_AT || is_awaited())
		wc_following_wake();
}

/* --- following ----------------------------------------------------------------- */

void
wc_following_stall(const WcError *why)
{
	if (why != NULL)
	{
		SpinLockAcquire(&following->stall_mutex);
		following->stall = *why;
		SpinLockRelease(&following->stall_mutex);
	}
	atomic_store(&following->stalled, why != NULL ? (uint64) GetCurrentTimestamp() : 0);
	wc_following_moved();
}

bool
wc_following_stalled(WcError *why)
{
	if (!atomic_load(&following->stalled))
		return false;
	SpinLockAcquire(&following->stall_mutex);
	*why = following->stall;
	SpinLockRelease(&following->stall_mutex);
	return true;
}

void
wc_following_moved(void)
{
	ConditionVariableBroadcast(&following->moved);
}

void
wc_following_wake(void)
{
	WcShmem    *shmem = wc_shmem();

	if (atomic_load(&shmem->state) != WC_ENGINE_READY)
		return;
	atomic_store_explicit(&following->waker_cpu, (uint32_t) (wc_cpu_here() + 1), memory_order_relaxed);
	SetLatch(wc_shmem_latch(atomic_load(&shmem->engine_process)));
}

/* --- replaying ----------------------------------------------------------------- */

void
wc_place_redo(const WcLogRecord *batch)
{
	bool		catalog = (batch->flags & WC_RECORD_CATALOG) != 0;

	if (wc_flight_take_once(places, batch->xid, batch->database, catalog) == WC_FLIGHT_NONE)
		wc_flight_overflow(places, batch->xid);
}

void
wc_barrier_redo(uint64 redo)
{
	atomic_store(&following->barrier_wanted, redo);
	wc_following_wake();
	if (atomic_load(&following->barrier_done) < redo)
		wc_nobackup_put();
}
