/*
 * fdw/scan/parallel.c: a scan that the leader and the workers of a query share.
 *
 * A part is the section of the scan's ranges between two row keys.  The process that begins first, the leader or a
 * worker, asks the engine for these keys, because the engine knows where the rows are; the other processes wait for
 * that process.  Shared memory has the keys and the number of the next part.  Each process computes the ranges
 * itself, from the same values.
 *
 * Workers also add their counters to shared memory, for EXPLAIN; the leader takes them over when PostgreSQL
 * releases the shared memory, after the last worker has ended.
 */
#include "postgres.h"

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"
#include "utils/wait_event.h"

#include "base/limits.h"
#include "client/foreign/foreign.h"
#include "fdw/fdw.h"
#include "fdw/scan/parallel.h"

/* Parts for each process: so many that the processes end at about the same time. */
#define PARTS_EACH 16

/* With more ranges, parts begin only at starts of ranges: each point within a range costs a round trip. */
#define RANGES_SPLIT_MAX 8

typedef enum Parting
{
	NOT_PARTED,
	BEING_PARTED,				/* by one process */
	PARTED
} Parting;

struct WcSharedScan
{
	int			processes;		/* greatest number of processes */
	pg_atomic_uint32 next;		/* the next part to take */
	ConditionVariable parted;	/* signalled when the state becomes PARTED */

	slock_t		mutex;			/* guards the next three fields */
	Parting		parting;
	bool		begun;
	WcClientScanStats stats;	/* of workers */

	/* do not change after PARTED */
	uint32		npoints;		/* the number of parts - 1 */
	uint32		ends[WC_PARTS_MAX]; /* ends of the points' keys, in bytes */
	uint8		bytes[WC_PART_POINTS_BYTES];
};

Size
wc_shared_scan_size(void)
{
	return sizeof(WcSharedScan);
}

void
wc_shared_scan_init(WcSharedScan *shared, int processes)
{
	memset(shared, 0, offsetof(WcSharedScan, ends));
	shared->processes = processes;
	pg_atomic_init_u32(&shared->next, 0);
	ConditionVariableInit(&shared->parted);
	SpinLockInit(&shared->mutex);
}

void
wc_shared_scan_restart(WcSharedScan *shared)
{
	shared->parting = NOT_PARTED;
	pg_atomic_write_u32(&shared->next, 0);
}

/* --- division into parts ----------------------------------------------------------- */

typedef struct Points
{
	WcSlice    *rows;
	int			n;
	int			max;
} Points;

static void
add_point(Points *points, WcSlice row)
{
	if (row.len == 0)
		return;
	if (points->n == points->max)
	{
		points->max = Max(points->max * 2, WC_PARTS_MAX);
		points->rows = points->rows == NULL ? palloc(sizeof(WcSlice) * points->max) :
			repalloc(points->rows, sizeof(WcSlice) * points->max);
	}
	points->rows[points->n++] = row;
}

/* Adds points within a range, for nparts parts. */
static void
split_range(const WcRelation *wrel, const WcRange *range, int nparts, Points *points)
{
	int			found;
	WcSlice    *rows = wc_client_split(wrel->desc, range, wrel->families, (uint32) wrel->nfamilies, nparts, &found);

	for (int i = 0; i < found; i++)
		add_point(points, rows[i]);
}

/* Finds the points where about nparts parts of the ranges begin, except the first part. */
static void
find_points(const WcRelation *wrel, const WcBounds *bounds, int nparts, Points *points)
{
	static const WcRange whole = {.start_inclusive = true};
	int			nranges = (int) bounds->nranges;
	int			every = Max(nranges / nparts, 1);

	if (bounds->empty || bounds->point)
		return;
	if (nranges == 0)
		split_range(wrel, &whole, nparts, points);
	for (int i = 0; i < nranges; i++)
	{
		if (i > 0 && i % every == 0)
			add_point(points, bounds->ranges[i].start);
		if (nranges <= RANGES_SPLIT_MAX)
			split_range(wrel, &bounds->ranges[i], (nparts + nranges - 1) / nranges, points);
	}
}

/* Copies points to shared memory; if they do not fit, an even selection. */
static void
set_points(WcSharedScan *shared, const Points *points)
{
	int			every = 0;
	uint32		used;

	do
	{
		every++;
		used = 0;
		shared->npoints = 0;
		for (int i = every - 1; i < points->n; i += every)
		{
			const WcSlice *row = &points->rows[i];

			if (shared->npoints == WC_PARTS_MAX - 1 || row->len > WC_PART_POINTS_BYTES - used)
				break;
			memcpy(shared->bytes + used, row->data, row->len);
			used += (uint32) row->len;
			shared->ends[shared->npoints++] = used;
		}
	} while ((int) shared->npoints < points->n / every);
}

/* Must this process divide the ranges?  False: another process has done so. */
static bool
begin_parting(WcSharedScan *shared)
{
	Parting		parting;

	for (;;)
	{
		SpinLockAcquire(&shared->mutex);
		parting = shared->parting;
		if (parting == NOT_PARTED)
			shared->parting = BEING_PARTED;
		SpinLockRelease(&shared->mutex);
		if (parting != BEING_PARTED)
			break;
		/* if that process fails, the query ends, and the end interrupts this wait */
		ConditionVariableSleep(&shared->parted, PG_WAIT_EXTENSION);
	}
	ConditionVariableCancelSleep();
	return parting == NOT_PARTED;
}

static void
part(WcSharedScan *shared, const WcRelation *wrel, const WcBounds *bounds)
{
	Points		points = {0};

	if (!begin_parting(shared))
		return;
	find_points(wrel, bounds, Min(shared->processes * PARTS_EACH, WC_PARTS_MAX), &points);
	set_points(shared, &points);
	SpinLockAcquire(&shared->mutex);
	shared->parting = PARTED;
	SpinLockRelease(&shared->mutex);
	ConditionVariableBroadcast(&shared->parted);
}

/* --- taking a part ------------------------------------------------------------------ */

static WcSlice
point(const WcSharedScan *shared, uint32 i)
{
	uint32		start = i > 0 ? shared->ends[i - 1] : 0;

	return wc_slice(shared->bytes + start, shared->ends[i] - start);
}

/* Sets the Scan's ranges to the section of the ranges in the part [from, to); false: the section is empty. */
static bool
set_ranges(const WcBounds *bounds, WcSlice from, WcSlice to, WcScan *scan)
{
	static const WcRange whole = {.start_inclusive = true};
	const WcRange *ranges = bounds->nranges > 0 ? bounds->ranges : &whole;
	uint32		nranges = Max(bounds->nranges, 1);
	uint32		n = 0;

	scan->ranges = palloc(sizeof(WcRange) * nranges);
	for (uint32 i = 0; i < nranges; i++)
	{
		WcRange		range = wc_range_part(&ranges[i], from, to);

		if (!wc_range_is_empty(&range))
			scan->ranges[n++] = range;
	}
	scan->nranges = n;
	return n > 0;
}

bool
wc_shared_scan_take(WcSharedScan *shared, const WcRelation *wrel, const WcBounds *bounds, bool reversed, WcScan *scan)
{
	static const WcSlice unbounded = {NULL, 0};
	uint32		taken;

	part(shared, wrel, bounds);
	while ((taken = pg_atomic_fetch_add_u32(&shared->next, 1)) <= shared->npoints)
	{
		uint32		i = reversed ? shared->npoints - taken : taken;

		if (set_ranges(bounds, i > 0 ? point(shared, i - 1) : unbounded,
					   i < shared->npoints ? point(shared, i) : unbounded, scan))
			return true;
	}
	return false;
}

bool
wc_shared_scan_first(WcSharedScan *shared)
{
	bool		first;

	SpinLockAcquire(&shared->mutex);
	first = !shared->begun;
	shared->begun = true;
	SpinLockRelease(&shared->mutex);
	return first;
}

void
wc_shared_scan_count(WcSharedScan *shared, const WcClientScanStats *stats)
{
	SpinLockAcquire(&shared->mutex);
	wc_client_scan_stats_add(&shared->stats, stats);
	SpinLockRelease(&shared->mutex);
}

const WcClientScanStats *
wc_shared_scan_stats(const WcSharedScan *shared)
{
	return shared->begun ? &shared->stats : NULL;
}

/* --- the planner's callback ----------------------------------------------------------- */

bool
widecolIsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	return !wc_foreign_is_remote(rte->relid) && wc_client_workers_may_read();
}
