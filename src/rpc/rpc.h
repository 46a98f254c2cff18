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
#include "wire/busy.h"
#include "wire/getcache.h"

typedef struct WcServer WcServer;

/* How a thread tells the PostgreSQL side to look: called on any thread of the
 * server, must not block. */
typedef struct WcWake
{
	void		(*fn) (void *arg);
	void	   *arg;
} WcWake;

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
} WcServerOptions;

extern WcStatus wc_server_start(const WcServerOptions *options, WcServer **server, WcError *err) WC_WARN_UNUSED;

/*
 * Serves the session whose segment (wire/segment.h) is at memory.  The memory
 * stays valid until wc_server_reap hands back `owner`.  On failure the caller
 * keeps it; the segment is marked as gone with the reason if it is one at all.
 */
extern WcStatus wc_server_attach(WcServer *server, void *memory, size_t size, WcWake wake,
								 void *owner, WcError *err) WC_WARN_UNUSED;

/* The owner of a session that has ended and whose memory nobody uses any more,
 * or NULL when there is none just now. */
extern void *wc_server_reap(WcServer *server);

/*
 * Row locks are transactions', and outlive their sessions.  Of transactions whose sessions have
 * ended, gives up the locks of those that PostgreSQL calls over (by their full ids).  Returns how
 * many are left: look again soon.
 */
extern int	wc_server_look_at_locks(WcServer *server, bool (*is_over) (uint64_t xid));

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
