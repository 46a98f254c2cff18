/*
 * rpc/session/slow.h: requests that took long, for the server's log.
 *
 * A line has the request, the stored table, the process that sent the request, the time that the engine worked for it,
 * and the number of rows examined; it has no key and no value.  A scan counts as one request, from its opening to its
 * end, without the time between its requests.
 */
#ifndef WC_RPC_SESSION_SLOW_H
#define WC_RPC_SESSION_SLOW_H

#include <stdatomic.h>

#include "engine/engine.h"

/* Of a server: the shortest time that is logged; 0: all requests are logged; negative: none. */
typedef _Atomic int64_t WcSlowLimit;

/* A session's settings for logging; limit NULL: nothing is logged. */
typedef struct WcSlowLog
{
	WcEngine   *engine;			/* knows the names of tables */
	const WcSlowLimit *limit;
	uint32_t	pid;			/* of the backend */
} WcSlowLog;

/* table_id 0: the request named no table.  Any thread. */
extern void wc_slow_note(const WcSlowLog *log, const char *request, uint32_t table_id, int64_t spent_us,
						 uint64_t rows_examined, uint64_t rows_returned);

#endif
