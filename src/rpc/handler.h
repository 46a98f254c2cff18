/*
 * rpc/handler.h: the thread that serves one session.
 */
#ifndef WC_RPC_HANDLER_H
#define WC_RPC_HANDLER_H

#include <pthread.h>

#include "rpc/dispatch.h"
#include "rpc/rpc.h"
#include "wire/message/segment.h"

typedef struct WcHandler
{
	/* set before the thread starts */
	struct WcHandler *next;		/* in the server's lists, guarded by its mutex */
	WcServer   *server;
	const WcServerOptions *options;
	WcWake		wake;			/* of the backend */
	WcPeer		peer;
	void	   *owner;
	pthread_t	thread;
	WcSegment  *segment;

	atomic_bool stop;			/* set by the server's stop */

	/* the thread's own */
	uint32_t	window;			/* of options->busy: in which this session was counted last */
	struct WcOrphan *orphan;	/* for when it ends before its transaction: has its id then */
	int			place;			/* where it stays (base/cpu.h) */
	int64_t		gap_us;			/* a moving average of the time from an answer to the next request */
	WcRingEnd	in;
	WcRingEnd	out;
	WcFrameReader reader;
	WcDispatch	dispatch;
} WcHandler;

/* The transaction of a session that has ended; its locks are kept until the transaction ends. */
typedef struct WcOrphan
{
	struct WcOrphan *next;		/* in the server's list, guarded by its mutex */
	uint64_t	xid;			/* 0: the session had none */
} WcOrphan;

/* Serves until the backend closes, the server stops, or the backend talks
 * nonsense; then everything the session held is released.  why: set to the
 * reason when the backend does not know it by itself; else WC_OK. */
extern void wc_handler_serve(WcHandler *h, WcError *why);

/* Any thread: makes wc_handler_serve return soon. */
extern void wc_handler_stop(WcHandler *h);

#endif
