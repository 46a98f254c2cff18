/*
 * worker/feed.h: hands the records that the follower reads to the server's threads.
 *
 * Engine's main thread.  No function here waits until a transaction is applied.
 */
#ifndef WC_WORKER_FEED_H
#define WC_WORKER_FEED_H

#include "postgres.h"

#include "access/xlogdefs.h"

#include "rpc/rpc.h"

/* The log is read this often while anything is in flight. */
#define WC_FOLLOW_EVERY_MS 5

/* Begins to read the log at a position. */
extern void wc_feed_start(WcEngine *engine, WcServer *server, XLogRecPtr from);

/* Reads on for a while.  True: there is more now. */
extern bool wc_feed_run(void);

/* Reads the log up to its end on disk (during recovery: up to the last record that was replayed).  Serves
 * interrupts.  False: not all of it, since nothing can be applied now and memory for more is used up;
 * wc_server_stalled gives the reason. */
extern bool wc_feed_run_to_end(void);

/* Has an error ended the reading?  The log must be read again from the last mark, by the next engine. */
extern bool wc_feed_is_broken(void);

/* The position up to which records have been handed to the server. */
extern XLogRecPtr wc_feed_position(void);

/* Has all that was handed to the server been applied? */
extern bool wc_feed_is_applied(void);

/* On a standby: before it no transaction ends that has not been handed to the server
 * (wc_follower_nothing_ends_before). */
extern XLogRecPtr wc_feed_nothing_ends_before(void);

/* The oldest transaction that may be running, as far as the log has been read; 0: not known yet. */
extern uint64 wc_feed_oldest_running(void);

#endif
