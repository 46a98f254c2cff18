/*
 * worker/feed.h: what the follower reads, handed to the server's threads.
 *
 * Engine's main thread.  Nothing here waits for what is applied.
 */
#ifndef WC_WORKER_FEED_H
#define WC_WORKER_FEED_H

#include "postgres.h"

#include "access/xlogdefs.h"

#include "rpc/rpc.h"

/* Begins to read the log at a position. */
extern void wc_feed_start(WcServer *server, uint32 store, XLogRecPtr from);

/* Reads on for a while.  True: there is more now. */
extern bool wc_feed_run(void);

/* Reads all that is on disk now (during recovery: that is replayed).  Serves interrupts.  False:
 * not all, since nothing can be applied now and no more can be held; wc_server_stalled says why. */
extern bool wc_feed_run_to_end(void);

/* All before it has been handed to the server. */
extern XLogRecPtr wc_feed_position(void);

/* Has all that was handed to the server been applied? */
extern bool wc_feed_is_applied(void);

/* On a standby: before it no transaction ends that has not been handed to the server
 * (wc_follower_nothing_ends_before). */
extern XLogRecPtr wc_feed_nothing_ends_before(void);

/* No transaction before this one runs, by what has been read; 0: not known yet. */
extern uint64 wc_feed_oldest_running(void);

#endif
