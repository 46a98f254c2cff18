/*
 * engine/store/deadruns.h: runs of dead rows in a store, over which scans jump.
 *
 * A row is dead if no scan of the newest cells shows it (engine/README, "Dead rows").  Dead rows stay until upkeep removes
 * them.  A scan that has walked over many dead rows one after another notes the run here, and later scans jump over it:
 * so a queue, whose rows are deleted at its front, is read from its first living row, as an index of PostgreSQL skips
 * entries of dead rows.
 *
 * A run is valid for snapshots that are at least as new as that of the scan which found the run.  A thread that writes a
 * row calls wc_deadruns_note before a reader can see the write: if the row is in a run, the run then ends before the row; or, if
 * the last scan that met the run was a reversed one, the run then begins behind the row.
 * A scan that adds a run cuts it in the same way at the rows that were written since the scan's snapshot: the last writes are noted.
 *
 * Runs and notes are only in memory, and few.  Writes are noted only while scans meet runs.  Any thread; the mutex is
 * locked for a look-up or a change, and nothing else is locked meanwhile.
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
	WcBuf		start;			/* the least key of the run; the row need not be there */
	WcBuf		end;			/* the run ends before this row */
	bool		backward;		/* the last scan that met it was a reversed one */
	int64_t		last_ts;		/* last_ts and seq of the snapshot of the scan that found the run */
	uint64_t	seq;
} WcDeadRun;

#define WC_DEAD_RUNS_MAX	16

typedef struct WcDeadRuns
{
	WcMutex		mutex;			/* guards the fields below, except the atomic ones */
	atomic_bool active;			/* writes are noted */
	_Atomic int64_t unnoted_ts; /* timestamp of the last commit of which a write was not noted */
	WcDeadRun	runs[WC_DEAD_RUNS_MAX] WC_GUARDED_BY(&mutex);
	uint32_t	nruns WC_GUARDED_BY(&mutex);
	uint32_t	replaced WC_GUARDED_BY(&mutex);	/* how many runs new ones have replaced: runs take turns */
	struct WcDeadNote *notes WC_GUARDED_BY(&mutex); /* a ring; NULL: never active */
	uint64_t	nnotes WC_GUARDED_BY(&mutex);	/* since active was set */
	uint64_t	used WC_GUARDED_BY(&mutex); /* nnotes when a scan last found or added a run */
	int64_t		lost_ts WC_GUARDED_BY(&mutex); /* notes of commits up to this timestamp may be missing */
} WcDeadRuns;

extern void wc_deadruns_init(WcDeadRuns *runs);
extern void wc_deadruns_destroy(WcDeadRuns *runs);

/* The commit with this timestamp is writing the row, and no reader can see the write yet. */
extern void wc_deadruns_note(WcDeadRuns *runs, WcSlice row, int64_t ts);

/* Forgets all runs, also those that scans with snapshots up to now will find.  last_ts: no commit has a greater timestamp yet.
 * Before a write, of which deadruns.c is not told the rows, becomes visible. */
extern void wc_deadruns_forget(WcDeadRuns *runs, int64_t last_ts);

/* A scan has met many dead rows: from now on writes are noted. */
extern void wc_deadruns_watch(WcDeadRuns *runs);

/*
 * Finds a run that has the row and is valid for the snapshot.  *to: its end; backward: its start.  False: there is no
 * such run, or no memory for *to.
 */
extern bool wc_deadruns_find(WcDeadRuns *runs, WcSlice row, const WcSnapshot *snapshot, bool backward, WcBuf *to);

/* Adds a run: the snapshot shows that all rows from `start` to before `end` are dead.  backward: a reversed scan has found it.  If
 * there is no memory, it is not added. */
extern void wc_deadruns_add(WcDeadRuns *runs, WcSlice start, WcSlice end, const WcSnapshot *snapshot, bool backward);

#endif
