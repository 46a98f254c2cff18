/*
 * rpc/session/slow.h: requests that took long, for the server's log.
 *
 * A line says what was asked for, of which stored table and by which process, how long the
 * engine worked for it, and how many rows it looked at: no key, no value.  A scan counts as one,
 * from its opening to its end, without the time in between in which nobody asked for rows.
 */
#ifndef WC_RPC_SESSION_SLOW_H
#define WC_RPC_SESSION_SLOW_H

#include <stdatomic.h>

#include "engine/engine.h"

/* Of a server: shortest time that is logged, 0: all, below: nothing is. */
typedef _Atomic int64_t WcSlowLimit;

/* A session's settings for logging; limit NULL: nothing is logged. */
typedef struct WcSlowLog
{
	WcEngine   *engine;			/* knows the names of tables */
	const WcSlowLimit *limit;
	uint32_t	pid;			/* of the backend */
} WcSlowLog;

/* table_id 0: the request was about none.  Any thread. */
extern void wc_slow_note(const WcSlowLog *log, const char *request, uint32_t table_id, int64_t spent_us,
						 uint64_t rows_examined, uint64_t rows_returned);

#endif
