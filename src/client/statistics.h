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

/* What is known without asking the engine: also while it is not there. */
typedef struct WcClientEngine
{
	const char *state;			/* absent, starting, ready, stopped, failed */
	bool		ready;
	int			pid;			/* of its process; 0: not ready */
	char	   *failure;		/* failed: why; else NULL */
	TimestampTz stalled_since;	/* since when nothing is applied; 0: it is */
	char	   *stall;			/* why, or NULL */
	XLogRecPtr	end;			/* of the log, here; on a standby: replayed up to here */
	XLogRecPtr	read_upto;		/* records up to here have been read by the engine */
	XLogRecPtr	applied;		/* end of the last commit that was applied; invalid: not known */
	uint64		get_bytes;		/* memory of the cache of Gets */
} WcClientEngine;

/* Positions are read in an order in which what is asked of the engine later is not older. */
extern void wc_client_engine(WcClientEngine *engine);

/* Rows of a view (model/statistics.h), until the next call of client/.  Needs the engine. */
extern WcSlice wc_client_statistics(WcStatisticsView view);

/* What a session's request is called. */
extern const char *wc_client_request_name(uint64 type);

/* May the current user see what a process does?  That of a role whose privileges it has; with
 * pg_read_all_stats any. */
extern bool wc_client_may_see_process(int pid);
extern bool wc_client_may_see_all(void);

#endif
