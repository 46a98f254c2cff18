/*
 * rpc/rpc.h: serving sessions; what the background worker uses.
 *
 * A server has one applier thread, which applies commits one after another, and
 * one thread a session; all signals are blocked in them.  Its functions are called
 * by one thread (the worker's main thread).
 */
#ifndef WC_RPC_RPC_H
#define WC_RPC_RPC_H

#include <stdatomic.h>

#include "base/status.h"
#include "engine/engine.h"
#include "model/logrecord.h"
#include "wire/busy.h"
#include "wire/claims.h"
#include "wire/flight.h"
#include "wire/getcache.h"

typedef struct WcServer WcServer;

/* Wakes the PostgreSQL side: called on any thread of the server, must not block. */
typedef struct WcWake
{
	void		(*fn) (void *arg);
	void	   *arg;
} WcWake;

/* The backend at the other end of a session. */
typedef struct WcPeer
{
	uint32_t	process;		/* its place among the server's processes */
	uint32_t	pid;
} WcPeer;

/* Of a server that follows the log of PostgreSQL. */
typedef struct WcLogOptions
{
	uint32_t	store;			/* id; BATCHes of others are passed over */
	uint64_t	pending_max;	/* bytes that transactions under way may have written together ... */
	uint64_t	pending_memory;	/* ... and those of them that are in memory, about */
	WcFlight   *flight;			/* transactions in flight, shared with the backends */
	WcClaims   *claims;			/* rows that commits have locked themselves, likewise */
	_Atomic uint64_t *applied;	/* position behind the last commit that was applied */
	WcWake		moved;			/* a place in flight was freed */
} WcLogOptions;

typedef struct WcServerOptions
{
	WcEngine   *engine;			/* open until wc_server_free has returned */
	int			sessions_max;
	int			cores;			/* processors there are to run on */
	WcBusy	   *busy;			/* sessions at work, shared with the backends */
	WcGetCache *getcache;		/* answers to Gets, likewise */
	_Atomic uint64_t *catalog_generation;	/* changed with every applied catalog change */
	_Atomic uint64_t *writes;	/* grows by the operations of each commit */
	WcWake		finished;		/* a session has ended: call wc_server_reap, and look at locks, soon */
	const WcLogOptions *log;	/* NULL: commits come from session threads; copied */
} WcServerOptions;

extern WcStatus wc_server_start(const WcServerOptions *options, WcServer **server, WcError *err) WC_WARN_UNUSED;

/*
 * Serves the session whose segment (wire/segment.h) is at memory.  The memory
 * stays valid until wc_server_reap hands back `owner`.  On failure the caller
 * keeps it; the segment is marked as gone with the reason if it is one at all.
 */
extern WcStatus wc_server_attach(WcServer *server, void *memory, size_t size, WcPeer peer, WcWake wake,
								 void *owner, WcError *err) WC_WARN_UNUSED;

/* The owner of a session that has ended and whose memory is not used any more, or NULL if there is none at
 * present. */
extern void *wc_server_reap(WcServer *server);

/*
 * Row locks are transactions', and outlive their sessions.  Of transactions whose sessions have ended, gives
 * up the locks of those that have ended by PostgreSQL's account (by their full ids).  Returns how many are
 * left: to be called again soon.
 */
extern int	wc_server_look_at_locks(WcServer *server, bool (*is_over) (uint64_t xid));

/*
 * Records of the log, in its order; for a server that follows it.  After WC_NO_MEMORY and other errors the
 * server must be stopped, and a new one goes on from the last mark.
 */
extern WcStatus wc_server_log_load(WcServer *server, uint64_t *read_from, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_server_log_batch(WcServer *server, const WcLogRecord *batch, uint64_t position, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_server_log_commit(WcServer *server, uint64_t xid, uint64_t position, int64_t time_us,
									 WcError *err) WC_WARN_UNUSED;
extern void wc_server_log_abort(WcServer *server, uint64_t xid);
extern void wc_server_log_prepare(WcServer *server, uint64_t xid);

/* Of the transactions before `next` these n run or are prepared, which ascend, and no others. */
extern void wc_server_log_running(WcServer *server, uint64_t next, const uint64_t *xids, size_t n);

/* Prepared transactions of an engine before: how many, their places in flight (all: of others that
 * are under way, too), and their row locks (intake.h). */
extern uint64_t wc_server_nprepared(const WcServer *server);
extern void wc_server_take_places(WcServer *server, bool all);
extern WcStatus wc_server_restore_locks(WcServer *server, bool (*go_on) (void), WcError *err) WC_WARN_UNUSED;

extern WcStatus wc_server_log_step(WcServer *server, const WcLogRecord *step, uint64_t position, WcError *err) WC_WARN_UNUSED;

/*
 * A step (model/step.h) that a thread has made and waits to be in the log; false: there is none.
 * The bytes are valid until wc_server_step_written, which says where it is (0: it cannot be
 * written, since this is a standby).  log->moved is called when there is one.
 */
extern bool wc_server_next_step(WcServer *server, WcSlice *bytes);
extern void wc_server_step_written(WcServer *server, uint64_t position);

/* Has a mark written at this position, up to which all has been handed in; wc_server_marked
 * says when that has been done. */
extern WcStatus wc_server_log_mark(WcServer *server, uint64_t read_from, WcError *err) WC_WARN_UNUSED;
extern uint64_t wc_server_marked(const WcServer *server);

/* Commits handed in and not applied yet, and the bytes of their batches; and why they are not
 * (false: nothing is wrong). */
extern void wc_server_backlog(const WcServer *server, uint64_t *commits, uint64_t *bytes);
extern bool wc_server_stalled(const WcServer *server, WcError *why);

/* From now on requests that take at least so long, in microseconds, are logged (rpc/session/slow.h); 0:
 * all, below: none, as at first. */
extern void wc_server_log_slow(WcServer *server, int64_t min_us);

/* Sessions being served, those that wait for wc_server_reap included. */
extern int	wc_server_sessions(const WcServer *server);

/*
 * Ends all sessions (what they work on is cancelled, commits under way are
 * finished), marks their segments as gone with `why`, wakes their backends, and
 * ends the applier.  Then wc_server_reap gives back all owners; free comes last.
 */
extern void wc_server_stop(WcServer *server, const char *why);
extern void wc_server_free(WcServer *server);

#endif
