/*
 * rpc/rpc.h: serving sessions; what the background worker uses.
 *
 * A server has one applier thread, which applies commits one after another, one thread for each session, and threads
 * that help sessions' threads; all signals are blocked in these threads.  One thread (the worker's main thread) calls the
 * functions of this header.
 */
#ifndef WC_RPC_RPC_H
#define WC_RPC_RPC_H

#include <stdatomic.h>

#include "base/status.h"
#include "engine/engine.h"
#include "model/logrecord.h"
#include "wire/shared/claims.h"
#include "wire/shared/flight.h"
#include "wire/shared/getcache.h"
#include "wire/shared/rangecache.h"
#include "wire/shared/unapplied.h"
#include "wire/wait/busy.h"

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

/* Following PostgreSQL's log. */
typedef struct WcLogOptions
{
	uint32_t	store;			/* id of the store; BATCHes for other stores are skipped */
	uint64_t	pending_memory;	/* so many bytes, about, of all transactions that have not ended are in memory; further ones in the store */
	WcFlight   *flight;			/* transactions in flight, shared with the backends */
	WcClaims   *claims;			/* rows that backends have claimed, likewise */
	const WcUnapplied *unapplied;	/* answers that commits leave there; NULL: none */
	_Atomic uint64_t *applied;	/* position behind the last commit that was applied */
	WcWake		step;			/* there is a step to be written: wc_server_next_step */
} WcLogOptions;

typedef struct WcServerOptions
{
	WcEngine   *engine;			/* open until wc_server_free has returned */
	int			sessions_max;
	int			cores;			/* processors there are to run on */
	WcBusy	   *busy;			/* number of busy sessions, shared with the backends */
	WcGetCache *getcache;		/* answers to Gets, likewise */
	WcRangeCache *rangecache;	/* rows of short ranges, likewise; NULL: none are kept */
	_Atomic uint64_t *catalog_generation;	/* changed with every applied catalog change */
	_Atomic uint64_t *writes;	/* grows by the operations of each commit */
	WcWake		finished;		/* a session has ended: call wc_server_reap, and look at locks, soon */
	const WcLogOptions *log;	/* copied */
} WcServerOptions;

extern WcStatus wc_server_start(const WcServerOptions *options, WcServer **server, WcError *err) WC_WARN_UNUSED;

/*
 * Begins to serve the session whose segment (wire/message/segment.h) is at `memory`.  The memory must stay valid until
 * wc_server_reap returns `owner`.  After an error the caller keeps both, and the segment (if it is one) is marked as
 * gone, with the reason.
 */
extern WcStatus wc_server_attach(WcServer *server, void *memory, size_t size, WcPeer peer, WcWake wake,
								 void *owner, WcError *err) WC_WARN_UNUSED;

/* The owner of a session that has ended and whose memory is not used any more, or NULL if there is none at
 * present. */
extern void *wc_server_reap(WcServer *server);

/*
 * Row locks belong to transactions and stay after their sessions.  Releases the locks of transactions whose sessions have
 * ended, if PostgreSQL says that the transaction (by its full id) has ended.  Returns the number of such transactions
 * that have not ended: if there are any, the caller calls again soon.
 */
extern int	wc_server_look_at_locks(WcServer *server, bool (*is_over) (uint64_t xid));

/*
 * Records of the log, in its order.  After WC_NO_MEMORY and other errors the
 * server must be stopped, and a new one continues from the last mark.
 */
extern WcStatus wc_server_log_load(WcServer *server, uint64_t *read_from, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_server_log_batch(WcServer *server, const WcLogRecord *batch, uint64_t position, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_server_log_commit(WcServer *server, uint64_t xid, uint64_t position, int64_t time_us,
									 WcError *err) WC_WARN_UNUSED;
extern void wc_server_log_abort(WcServer *server, uint64_t xid);

/* Has a BATCH of the transaction been passed in, and neither its commit nor its abort? */
extern bool wc_server_log_has(const WcServer *server, uint64_t xid);
extern void wc_server_log_prepare(WcServer *server, uint64_t xid);

/* Of the transactions before `next` only these n (ascending) run or are prepared. */
extern void wc_server_log_running(WcServer *server, uint64_t next, const uint64_t *xids, size_t n);

/* Prepared transactions of an earlier engine: their number, their places in flight (all: also those of other
 * transactions that have not ended), and their row locks (intake.h). */
extern uint64_t wc_server_nprepared(const WcServer *server);
extern void wc_server_take_places(WcServer *server, bool all);
extern WcStatus wc_server_restore_locks(WcServer *server, bool (*go_on) (void), WcError *err) WC_WARN_UNUSED;

extern WcStatus wc_server_log_step(WcServer *server, const WcLogRecord *step, uint64_t position, WcError *err) WC_WARN_UNUSED;

/*
 * The next step (model/step.h) that a thread has made and that must be written into the log; false: there is none.  The
 * bytes are valid until wc_server_step_written, which gets the step's position in the log (0: it cannot be written, since
 * this is a standby).  log->step is called when there is one.
 */
extern bool wc_server_next_step(WcServer *server, WcSlice *bytes);
extern void wc_server_step_written(WcServer *server, uint64_t position);

/* Posts a mark at this position; all records before it have been passed in.  wc_server_marked tells when the mark has been
 * written. */
extern WcStatus wc_server_log_mark(WcServer *server, uint64_t read_from, WcError *err) WC_WARN_UNUSED;
extern uint64_t wc_server_marked(const WcServer *server);

/* wc_server_backlog: the number of commits that are posted and not applied yet, and the bytes of their batches.
 * wc_server_stalled: true if applying fails at the moment; *why has the reason. */
extern void wc_server_backlog(const WcServer *server, uint64_t *commits, uint64_t *bytes);
extern bool wc_server_stalled(const WcServer *server, WcError *why);

/* From now on requests that take at least so many microseconds are logged (rpc/session/slow.h); 0: all; negative: none,
 * as at first. */
extern void wc_server_log_slow(WcServer *server, int64_t min_us);

/* At most so many threads that help sessions' threads with long scans, all together; 0: none, as at first. */
extern void wc_server_scan_helpers(WcServer *server, int n);

/*
 * Ends all sessions (cancels their requests, finishes commits that have begun), marks their segments as gone with `why`,
 * wakes their backends, and ends the applier.  After it, wc_server_reap returns all owners, and wc_server_free may be
 * called.
 */
extern void wc_server_stop(WcServer *server, const char *why);
extern void wc_server_free(WcServer *server);

#endif
