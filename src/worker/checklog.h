/*
 * worker/checklog.h: widecol.debug_log in the engine.
 *
 * The engine's main thread follows the log and compares what transactions have logged with
 * what was applied (rpc/logcheck.h).  Numbers are in pg_stat_activity, as the engine's query.
 * During recovery it follows what is replayed, and compares nothing, since nothing is
 * applied; an engine that was started then does not compare later either.
 */
#ifndef WC_WORKER_CHECKLOG_H
#define WC_WORKER_CHECKLOG_H

#include "postgres.h"

#include "rpc/rpc.h"

/* When the store is open and no session can have begun; NULL: the setting is off. */
extern WcLogCheck *wc_checklog_start(uint32 store);

/* Reads on; returns in how many milliseconds to call again at the latest, at most `longest`. */
extern long wc_checklog_run(long longest);

#endif
