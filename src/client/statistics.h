/*
 * client/statistics.h: the engine's state and statistics, for views.
 *
 * PostgreSQL side; interruptible, may ereport(ERROR), allocates in CurrentMemoryContext.
 */
#ifndef WC_CLIENT_STATISTICS_H
#define WC_CLIENT_STATISTICS_H

#include "postgres.h"

#include "access/xlogdefs.h"
#include "datatype/timestamp.h"

#include "base/slice.h"
#include "model/statistics.h"

/* The state that shared memory tells without asking the engine: available also while no engine runs. */
typedef struct WcClientEngine
{
	const char *state;			/* absent, starting, ready, stopped, failed */
	bool		ready;
	int			pid;			/* of the engine's process; 0: not ready */
	char	   *failure;		/* the reason in state failed; else NULL */
	TimestampTz stalled_since;	/* time since which no commit can be applied; 0: not stalled */
	char	   *stall;			/* the reason of the stall, or NULL */
	XLogRecPtr	end;			/* the end of the log; on a standby: the end of its replayed part */
	XLogRecPtr	read_upto;		/* the engine has read the records up to here */
	XLogRecPtr	applied;		/* end of the record of the last applied commit; invalid: unknown */
	uint64		get_bytes;		/* memory of the cache of Gets */
} WcClientEngine;

/* Fills *engine.  Statistics that the caller asks for afterwards are not older than these positions. */
extern void wc_client_engine(WcClientEngine *engine);

/* Rows of a view (model/statistics.h), valid until the next call of a function of client/.  Needs the engine. */
extern WcSlice wc_client_statistics(WcStatisticsView view);

/* The name of a type of request. */
extern const char *wc_client_request_name(uint64 type);

/* May the current user see a process's activity?  True when the user has the privileges of the process's role,
 * or of pg_read_all_stats. */
extern bool wc_client_may_see_process(int pid);
extern bool wc_client_may_see_all(void);

#endif
