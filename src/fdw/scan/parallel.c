/*
 * fdw/scan/parallel.c: a scan that the leader and the workers of a query share.
 *
 * A part is what lies between two row keys, of whatever ranges the scan has.  The leader asks the
 * engine for such keys, since it knows where rows are; they lie in shared memory, and with them the
 * number of the part to take next.  Every process computes the ranges by itself, from the same
 * values.
 *
 * What workers have read they add up there as well, for EXPLAIN; the leader takes that over when
 * PostgreSQL gives the shared memory back, which is after the last worker has ended.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "port/atomics.h"
#include "storage/dsm.h"
#include "storage/spin.h"

#include "base/limits.h"
#include "fdw/fdw.h"
#include "fdw/scan/parallel.h"
#include "fdw/scan/scan.h"

/* Parts for each process: with the last ones the processes end at about the same time. */
#define PARTS_EACH 16

/* Of more ranges than these only the starts part them: each other costs a round trip. */
#define RANGES_SPLIT_MAX 8

struct WcSharedScan
{
	pg_atomic_uint32 next;		/* part that nobody has taken yet */
	uint32		npoints;		/* one less than parts */
	slock_t		mutex;			/* guards stats */
	WcClientScanStats stats;	/* of workers */
	uint32		ends[WC_PARTS_MAX]; /* of the points, in bytes */
	uint8		bytes[WC_PART_POINTS_BYTES];
};

/* --- parting --------------------------------------------------------------------- */

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

/* Adds points within a range for so many parts. */
static void
split_range(const WcRelation *wrel, const WcRange *range, int nparts, Points *points)
{
	int			found;
	WcSlice    *rows = wc_client_split(wrel->desc, range, wrel->families, (uint32) wrel->nfamilies, nparts, &found);

	for (int i = 0; i < found; i++)
		add_point(points, rows[i]);
}

/* Where about so many parts of the ranges begin, but the first. */
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

/* Puts every so many of the points into shared memory, as there is room. */
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

static void
part(WcSharedScan *shared, ForeignScanState *node, int processes)
{
	MemoryContext old = MemoryContextSwitchTo(node->ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	const WcRelation *wrel;
	const WcBounds *bounds = wc_scan_state_bounds(node, &wrel);
	Points		points = {0};

	if (bounds != NULL)
		find_points(wrel, bounds, Min(processes * PARTS_EACH, WC_PARTS_MAX), &points);
	set_points(shared, &points);
	pg_atomic_write_u32(&shared->next, 0);
	MemoryContextSwitchTo(old);
}

/* --- taking a part ------------------------------------------------------------------ */

static WcSlice
point(const WcSharedScan *shared, uint32 i)
{
	uint32		start = i > 0 ? shared->ends[i - 1] : 0;

	return wc_slice(shared->bytes + start, shared->ends[i] - start);
}

/* What of the ranges lies in a part; false: nothing. */
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
wc_shared_scan_take(WcSharedScan *shared, const WcBounds *bounds, bool reversed, WcScan *scan)
{
	static const WcSlice unbounded = {NULL, 0};
	uint32		taken;

	while ((taken = pg_atomic_fetch_add_u32(&shared->next, 1)) <= shared->npoints)
	{
		uint32		i = reversed ? shared->npoints - taken : taken;

		if (set_ranges(bounds, i > 0 ? point(shared, i - 1) : unbounded,
					   i < shared->npoints ? point(shared, i) : unbounded, scan))
			return true;
	}
	return false;
}

void
wc_shared_scan_count(WcSharedScan *shared, const WcClientScanStats *stats)
{
	SpinLockAcquire(&shared->mutex);
	wc_scan_stats_add(&shared->stats, stats);
	SpinLockRelease(&shared->mutex);
}

/* --- PostgreSQL's callbacks ----------------------------------------------------------- */

bool
widecolIsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	return wc_client_workers_may_read();
}

Size
widecolEstimateDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt)
{
	return sizeof(WcSharedScan);
}

/* Of the leader, as the shared memory goes. */
static void
take_back(dsm_segment *seg, Datum arg)
{
	ForeignScanState *node = (ForeignScanState *) DatumGetPointer(arg);
	WcSharedScan *shared = wc_scan_state_unshare(node);

	if (shared != NULL)
		wc_scan_state_count(node, &shared->stats);
}

void
widecolInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	WcSharedScan *shared = coordinate;

	/* without shared memory there are no workers, and the leader reads all */
	if (pcxt->seg == NULL)
		return;
	memset(shared, 0, offsetof(WcSharedScan, ends));
	pg_atomic_init_u32(&shared->next, 0);
	SpinLockInit(&shared->mutex);
	part(shared, node, pcxt->nworkers + 1);
	wc_scan_state_share(node, shared);
	on_dsm_detach(pcxt->seg, take_back, PointerGetDatum(node));
}

void
widecolReInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	if (pcxt->seg != NULL)
		part(coordinate, node, pcxt->nworkers + 1);
}

void
widecolInitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc, void *coordinate)
{
	wc_scan_state_share(node, coordinate);
}

void
widecolShutdownForeignScan(ForeignScanState *node)
{
	if (IsParallelWorker())
		wc_scan_state_publish(node);
}
