/*
 * engine/store/deadruns.h: runs of dead rows in a store, over which scans jump.
 *
 * A row of packing "row" is dead if it has no put: only markers, or no cell at all.  Dead rows stay until upkeep removes them.  A scan
 * that has walked over many of them in a row notes the run here, and later scans jump over it: so a queue, whose rows are
 * deleted at its front, is read from its first living row, as an index of PostgreSQL skips entries of dead rows.
 *
 * A run holds for a snapshot that is at least as new as the one by which it was seen.  Whoever writes a row
 * calls wc_deadruns_note before anybody can see the write: that cuts the run off before the row.  A scan adds a
 * run only if no row in it has been written since the scan's snapshot, which the last notes tell.
 *
 * Runs and notes are only in memory, and few.  Notes are kept only while scans meet runs.  Any thread; the mutex is
 * held for a look-up or a change, and nothing else is locked meanwhile.
 */
#ifndef WC_ENGINE_STORE_DEADRUNS_H
#define WC_ENGINE_STORE_DEADRUNS_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/threads.h"
#include "read/storage.h"

/* A run has at least so many rows. */
#define WC_DEAD_ROWS_MIN	64

typedef struct WcDeadRun
{
	WcBuf		start;			/* a dead row */
	WcBuf		end;			/* the run ends before this row */
	int64_t		last_ts;		/* of the snapshot by which it was seen, and that snapshot's seq */
	uint64_t	seq;
} WcDeadRun;

#define WC_DEAD_RUNS_MAX	16

typedef struct WcDeadRuns
{
	WcMutex		mutex;			/* guards all that follows but the atomic fields */
	atomic_bool active;			/* writes are noted */
	_Atomic int64_t unnoted_ts; /* timestamp of the last commit of which a write was not noted */
	WcDeadRun	runs[WC_DEAD_RUNS_MAX] WC_GUARDED_BY(&mutex);
	uint32_t	nruns WC_GUARDED_BY(&mutex);
	uint32_t	replaced WC_GUARDED_BY(&mutex);	/* the run that a new one replaces, when there are too many */
	struct WcDeadNote *notes WC_GUARDED_BY(&mutex); /* a ring; NULL: never active */
	uint64_t	nnotes WC_GUARDED_BY(&mutex);	/* since active was set */
	uint64_t	used WC_GUARDED_BY(&mutex); /* nnotes when a scan last came */
	int64_t		lost_ts WC_GUARDED_BY(&mutex); /* notes of commits up to this timestamp may be missing */
} WcDeadRuns;

extern void wc_deadruns_init(WcDeadRuns *runs);
extern void wc_deadruns_destroy(WcDeadRuns *runs);

/* A row is being written by the commit with this timestamp, and nobody can see it yet. */
extern void wc_deadruns_note(WcDeadRuns *runs, WcSlice row, int64_t ts);

/* Forgets all runs.  last_ts: no commit has a greater timestamp yet. */
extern void wc_deadruns_forget(WcDeadRuns *runs, int64_t last_ts);

/* A scan has met many dead rows: from now on writes are noted. */
extern void wc_deadruns_watch(WcDeadRuns *runs);

/*
 * Finds a run that has the row and holds for the snapshot.  *to: its end; backward: its start.  False: there is none,
 * or no memory for *to.
 */
extern bool wc_deadruns_find(WcDeadRuns *runs, WcSlice row, const WcSnapshot *snapshot, bool backward, WcBuf *to);

/* All rows from `start` to before `end` are dead, as the snapshot shows them.  Without memory it is not noted. */
extern void wc_deadruns_add(WcDeadRuns *runs, WcSlice start, WcSlice end, const WcSnapshot *snapshot);

#endif
