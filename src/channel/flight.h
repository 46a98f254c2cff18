/*
 * channel/flight.h: how far the store has followed the log, and the transactions in flight.
 *
 * Four more structs in PostgreSQL's main shared memory: the places of transactions in flight (wire/shared/flight.h),
 * the rows that these have claimed (wire/shared/claims.h), some of these rows as they leave them (wire/shared/unapplied.h), and the
 * state that the follower (the engine's main thread) shares with other processes.  channel/README names for each field the processes that may read and write it, and when.
 * PostgreSQL side; any process, unless a comment says otherwise.
 */
#ifndef WC_CHANNEL_FLIGHT_H
#define WC_CHANNEL_FLIGHT_H

#include "postgres.h"

#include <stdatomic.h>

#include "storage/condition_variable.h"
#include "storage/spin.h"
#include "utils/snapshot.h"

#include "base/status.h"
#include "model/logrecord.h"
#include "wire/shared/claims.h"
#include "wire/shared/flight.h"
#include "wire/shared/unapplied.h"

#define WC_AWAITED_TIMES 4

/* Positions are ends of records (XLogRecPtr); 0: none. */
typedef struct WcFollowing
{
	_Atomic uint32_t store;		/* id of the store that is open, or was last; 0: none has been */
	_Atomic uint64_t read_upto; /* records up to here have been read */
	_Atomic uint64_t marked;	/* after a crash, the log would be read from here */
	_Atomic uint64_t applied;	/* and their effects are in the store up to here */
	_Atomic uint64_t settled;	/* while some transaction has found no place: and so is all else that was read up to here */
	_Atomic uint64_t image_position;	/* of the newest complete image of the store */
	_Atomic uint32_t asleep;	/* the follower looks at the log when it is woken, and seldom otherwise */
	_Atomic uint32_t waker_cpu; /* the processor on which the follower was woken last, and 1; 0: none */
	_Atomic uint32_t nawaited;	/* how often a process has waited for a place, modulo 2^32, */
	_Atomic int64_t awaited_us[WC_AWAITED_TIMES];	/* and when that was the last times (wc_clock_monotonic_us) */
	_Atomic int32_t wakes;		/* so many commits still wake the follower, since a statement has waited for a row; not positive: none */
	_Atomic uint32_t replays;	/* the engine is a standby's, or has not taken over since the promotion */
	_Atomic uint32_t readers;	/* processes that wait for a place to be freed */
	_Atomic uint64_t asynchronous;	/* the last commit that was not on disk when it ended (synchronous_commit = off) */
	_Atomic int64_t quiet_until_us;	/* until this time (wc_clock_monotonic_us) no transaction takes a place: a reader wants a moment without commits */
	_Atomic uint32_t holds;		/* sessions with backups that keep images from being removed (hold.h) */
	_Atomic uint64_t barrier_wanted;	/* a standby needs an image as new as this redo pointer */
	_Atomic uint64_t barrier_done;	/* it has one as new as this */
	_Atomic uint64_t stalled;	/* since when nothing is applied (TimestampTz); stall says why; 0: it is applied */
	slock_t		stall_mutex;
	WcError		stall;			/* meaningful while stalled; guarded by stall_mutex */
	ConditionVariable moved;	/* a stall began or ended, or a standby was promoted */
} WcFollowing;

/* For the hooks of the postmaster's start, which _PG_init sets.  The engine's module, which the postmaster does not load, calls
 * wc_following_find after wc_shmem_attach, and finds the structs that the postmaster has made. */
extern void wc_following_request(void);
extern void wc_following_find(void);

/* NULL when widecol is not in shared_preload_libraries. */
extern WcFollowing *wc_following(void);
extern WcFlight *wc_places(void);
extern WcClaims *wc_claims(void);
extern WcUnapplied *wc_unapplied(void);

/* --- for commits --------------------------------------------------------------- */

/*
 * Nothing can be applied for STALL_PATIENCE_MS (flight.c): all functions that wait here raise
 * why, with SQLSTATE 53100 or 58030.
 *
 * Takes a place for the transaction, before its commit record can be written; waits,
 * interruptibly, while there is none, and sleeps before if there is no room (wire/shared/flight.h).  catalog: the transaction changes the
 * catalog.
 */
extern uint16_t wc_place_take(uint64 xid, Oid database, bool catalog);

/* Before a commit record is written: waits, interruptibly, while the store is far behind the log,
 * or nothing is applied. */
extern void wc_following_await_room(void);

/*
 * Before a session locks rows: waits, interruptibly, while the engine of a standby that has just been
 * promoted has not applied all that was replayed, and locked again what prepared transactions
 * have locked.
 */
extern void wc_following_await_promotion(void);

/* The transaction has been committed, by the record at XactLastCommitEnd: wakes a follower that sleeps, since there was
 * nothing to read for a while, or that is likely to be waited for.  Never fails. */
extern void wc_following_note_commit(void);

/* --- for readers --------------------------------------------------------------- */

/*
 * Waits, interruptibly, until the store has all of the database's transactions that this snapshot shows.
 * Costs one load of memory if there is none to wait for.
 */
extern void wc_following_await(Snapshot snapshot, Oid database);

/*
 * Does the store show a transaction that the snapshot does not show?  noted: wc_flight_nnoted before the snapshot was
 * taken; the store's state is older than this call.  It may also return true without need.
 */
extern bool wc_following_is_ahead(Snapshot snapshot, uint64 noted);

/* For a few milliseconds no transaction with changes of stored tables begins its commit. */
extern void wc_following_ask_for_quiet(void);

/* wc_following_await for all transactions of the database (InvalidOid: of every one) that have ended; and
 * for those of them that have changed its catalog. */
extern void wc_following_await_all(Oid database);
extern void wc_following_await_catalog(Oid database);

/* The same for one transaction, which has ended, but not for longer than about so many milliseconds: the caller wants to lock
 * one of its rows.  False: it has no place (any more). */
extern bool wc_following_await_briefly(uint64 xid, int ms);

/* The same for a transaction of which the place is not known, as one of a subtransaction's id: sleeps until the latch is set,
 * or so many milliseconds.  The commit may be asynchronous: the log is flushed for it. */
extern void wc_following_sleep(int ms);

/* --- the follower ---------------------------------------------------------------- */

/* Sets the reason why nothing is applied (NULL: applying goes on), and wakes waiting processes. */
extern void wc_following_stall(const WcError *why);
extern void wc_following_moved(void);

/* Is it stalled, and why? */
extern bool wc_following_stalled(WcError *why);

/* Has the follower look, if it sleeps. */
extern void wc_following_wake(void);

/* --- the startup process ------------------------------------------------------------ */

/* A BATCH is replayed while others may read: its transaction has a place, or has met none. */
extern void wc_place_redo(const WcLogRecord *batch);

/* A BARRIER is replayed: the engine is to make an image as new as redo.  Backups are refused until there is one; replay goes on. */
extern void wc_barrier_redo(uint64 redo);

#endif
