/*
 * fdw/scan/prefetch.c: rows of many keys, read with one Scan and kept.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "fdw/condition/rangeset.h"
#include "fdw/plan/ahead.h"
#include "fdw/scan/prefetch.h"
#include "rowkey/range.h"

/* The rows may take work_mem divided by this. */
#define WC_PREFETCH_MEMORY 2

typedef struct KeptRow
{
	WcSlice		key;
	MinimalTuple tuple;
} KeptRow;

struct WcPrefetch
{
	MemoryContextCallback callback;
	WcRelation *wrel;
	TupleDesc	tupdesc;
	Datum	   *values;
	bool	   *isnull;

	MemoryContext context;		/* of the fields below */
	MemoryContext work;			/* reset for each row, or key */
	WcArena		arena;			/* bytes of the ranges */
	WcBuf		scratch;
	WcRangeSet	ranges;			/* normalised before they are read */
	int			nkeys;
	bool		points;			/* each range is one row */
	bool		inexact;

	bool		complete;		/* all rows of the ranges are kept */
	bool		rechecks;		/* the rows have the columns for rechecks */
	KeptRow    *rows;			/* ascending by key */
	uint32		nrows;
	uint32		max_rows;

	uint32		range;			/* for wc_prefetch_next: index of the range in the bounds */
	uint32		at;				/* for wc_prefetch_next: index of the next row */
};

static void
release(void *arg)
{
	WcPrefetch *prefetch = arg;

	wc_arena_free(&prefetch->arena);
	wc_buf_free(&prefetch->scratch);
}

WcPrefetch *
wc_prefetch_create(WcRelation *wrel, TupleDesc tupdesc)
{
	WcPrefetch *prefetch = palloc0(sizeof(WcPrefetch));

	prefetch->wrel = wrel;
	prefetch->tupdesc = tupdesc;
	prefetch->values = palloc(sizeof(Datum) * wrel->natts);
	prefetch->isnull = palloc(sizeof(bool) * wrel->natts);
	prefetch->context = AllocSetContextCreate(CurrentMemoryContext, "widecol prefetched rows", ALLOCSET_DEFAULT_SIZES);
	prefetch->work = AllocSetContextCreate(CurrentMemoryContext, "widecol prefetch", ALLOCSET_DEFAULT_SIZES);
	wc_buf_init(&prefetch->scratch, 0);
	prefetch->callback.func = release;
	prefetch->callback.arg = prefetch;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &prefetch->callback);
	wc_prefetch_reset(prefetch);
	return prefetch;
}

void
wc_prefetch_reset(WcPrefetch *prefetch)
{
	MemoryContextReset(prefetch->context);
	wc_arena_reset(&prefetch->arena);
	memset(&prefetch->ranges, 0, sizeof(prefetch->ranges));
	prefetch->nkeys = 0;
	prefetch->points = true;
	prefetch->inexact = false;
	prefetch->complete = false;
	prefetch->rows = NULL;
	prefetch->nrows = prefetch->max_rows = 0;
}

/* --- reading ------------------------------------------------------------------- */

bool
wc_prefetch_add(WcPrefetch *prefetch, const List *conds, const Datum *values, const bool *nulls)
{
	MemoryContext old = MemoryContextSwitchTo(prefetch->work);
	WcBounds	bounds;

	wc_bounds_compute(prefetch->wrel, conds, values, nulls, &prefetch->arena, &prefetch->scratch, &bounds);
	MemoryContextSwitchTo(old);
	MemoryContextReset(prefetch->work);
	if (bounds.empty)
		return true;
	if (bounds.nranges == 0 || prefetch->ranges.n + bounds.nranges > WC_KEY_RANGES_MAX)
		return false;
	old = MemoryContextSwitchTo(prefetch->context);
	for (uint32 i = 0; i < bounds.nranges; i++)
		wc_rangeset_add(&prefetch->ranges, &bounds.ranges[i]);
	MemoryContextSwitchTo(old);
	prefetch->nkeys++;
	prefetch->points &= bounds.point;
	prefetch->inexact |= !bounds.exact;
	return true;
}

int
wc_prefetch_nkeys(const WcPrefetch *prefetch)
{
	return prefetch->nkeys;
}

bool
wc_prefetch_inexact(const WcPrefetch *prefetch)
{
	return prefetch->inexact;
}

int
wc_prefetch_describe(WcPrefetch *prefetch, WcScan *scan)
{
	prefetch->ranges.n = wc_ranges_normalise(prefetch->ranges.ranges, prefetch->ranges.n);
	scan->ranges = prefetch->ranges.ranges;
	scan->nranges = prefetch->ranges.n;
	return prefetch->points ? (int) prefetch->ranges.n : 0;
}

static void
keep_row(WcPrefetch *prefetch, WcSlice key)
{
	KeptRow    *row;
	char	   *copy;

	if (prefetch->nrows == prefetch->max_rows)
	{
		prefetch->max_rows = Max(prefetch->max_rows * 2, 64);
		prefetch->rows = prefetch->rows == NULL ?
			palloc(sizeof(KeptRow) * prefetch->max_rows) :
			repalloc_huge(prefetch->rows, sizeof(KeptRow) * prefetch->max_rows);
	}
	copy = palloc(key.len);
	memcpy(copy, key.data, key.len);
	row = &prefetch->rows[prefetch->nrows++];
	row->key = wc_slice(copy, key.len);
	row->tuple = heap_form_minimal_tuple(prefetch->tupdesc, prefetch->values, prefetch->isnull);
}

static int
compare_rows(const void *a, const void *b)
{
	return wc_slice_cmp(((const KeptRow *) a)->key, ((const KeptRow *) b)->key);
}

/* Reads a row into `work`; false: the row cannot be decoded.  Its error is raised when a Scan for its key alone
 * reads the row.  (That of a condition of the gate is raised at once: the condition may have run any function.) */
static bool
read_row(WcPrefetch *prefetch, WcReader *reader, WcClientScan *scan, bool *more)
{
	volatile bool decoded = true;

	PG_TRY();
	{
		*more = wc_reader_next(reader, scan, prefetch->values, prefetch->isnull);
	}
	PG_CATCH();
	{
		if (wc_reader_in_gate(reader) || !wc_ahead_defers())
			PG_RE_THROW();
		FlushErrorState();
		MemoryContextSwitchTo(prefetch->work);
		wc_reader_restart(reader);
		decoded = false;
	}
	PG_END_TRY();
	return decoded;
}

bool
wc_prefetch_read(WcPrefetch *prefetch, WcReader *reader, WcClientScan *scan, bool rechecks,
				 WcPrefetchDecides decides, void *arg)
{
	Size		room = (Size) work_mem * 1024 / WC_PREFETCH_MEMORY;
	bool		ascending = true;
	MemoryContext old;

	for (;;)
	{
		bool		more = false;
		bool		decoded;
		bool		kept;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(prefetch->work);
		old = MemoryContextSwitchTo(prefetch->work);
		decoded = read_row(prefetch, reader, scan, &more);
		kept = more && wc_reader_passed(reader) &&
			(!wc_client_row_undecided(scan) || decides(arg, prefetch->values, prefetch->isnull));
		MemoryContextSwitchTo(prefetch->context);
		if (kept)
			keep_row(prefetch, wc_reader_row(reader));
		MemoryContextSwitchTo(old);
		if (!decoded)
		{
			wc_prefetch_reset(prefetch);
			return false;
		}
		if (!more)
			break;
		if (kept && prefetch->nrows > 1)
			ascending &= compare_rows(&prefetch->rows[prefetch->nrows - 2], &prefetch->rows[prefetch->nrows - 1]) < 0;
		if (MemoryContextMemAllocated(prefetch->context, false) > room)
		{
			wc_prefetch_reset(prefetch);
			return false;
		}
	}
	MemoryContextReset(prefetch->work);
	if (!ascending)
		qsort(prefetch->rows, prefetch->nrows, sizeof(KeptRow), compare_rows);
	prefetch->complete = true;
	prefetch->rechecks = rechecks;
	return true;
}

/* --- returning rows ------------------------------------------------------------ */

/* Is the range within another? */
static bool
contains(const WcRange *outer, const WcRange *inner)
{
	int			c = wc_slice_cmp(outer->start, inner->start);

	if (c > 0 || (c == 0 && outer->start.len > 0 && inner->start_inclusive && !outer->start_inclusive))
		return false;
	if (outer->stop.len == 0)
		return true;
	if (inner->stop.len == 0)
		return false;
	c = wc_slice_cmp(inner->stop, outer->stop);
	return c < 0 || (c == 0 && (outer->stop_inclusive || !inner->stop_inclusive));
}

/* Are all rows of the range kept? */
static bool
covers(const WcPrefetch *prefetch, const WcRange *range)
{
	uint32		lo = 0;
	uint32		hi = prefetch->ranges.n;

	while (lo < hi)
	{
		uint32		mid = lo + (hi - lo) / 2;

		if (wc_slice_cmp(prefetch->ranges.ranges[mid].start, range->start) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* of two ranges with the same start row, the one that excludes the row is second */
	return (lo > 0 && contains(&prefetch->ranges.ranges[lo - 1], range)) ||
		(lo > 1 && contains(&prefetch->ranges.ranges[lo - 2], range));
}

/* The first row that is not before the range. */
static uint32
find_start(const WcPrefetch *prefetch, const WcRange *range)
{
	uint32		lo = 0;
	uint32		hi = prefetch->nrows;

	while (lo < hi)
	{
		uint32		mid = lo + (hi - lo) / 2;
		int			c = wc_slice_cmp(prefetch->rows[mid].key, range->start);

		if (c < 0 || (c == 0 && range->start.len > 0 && !range->start_inclusive))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool
wc_prefetch_seek(WcPrefetch *prefetch, const WcBounds *bounds, bool recheck)
{
	if (!prefetch->complete || bounds->nranges == 0 || (recheck && !prefetch->rechecks))
		return false;
	for (uint32 i = 0; i < bounds->nranges; i++)
	{
		if (!covers(prefetch, &bounds->ranges[i]))
			return false;
	}
	prefetch->range = 0;
	prefetch->at = find_start(prefetch, &bounds->ranges[0]);
	return true;
}

MinimalTuple
wc_prefetch_next(WcPrefetch *prefetch, const WcBounds *bounds)
{
	while (prefetch->range < bounds->nranges)
	{
		const WcRange *range = &bounds->ranges[prefetch->range];

		if (prefetch->at < prefetch->nrows)
		{
			KeptRow    *row = &prefetch->rows[prefetch->at];
			int			c = range->stop.len > 0 ? wc_slice_cmp(row->key, range->stop) : -1;

			if (c < 0 || (c == 0 && range->stop_inclusive))
			{
				prefetch->at++;
				return row->tuple;
			}
		}
		if (++prefetch->range < bounds->nranges)
			prefetch->at = find_start(prefetch, &bounds->ranges[prefetch->range]);
	}
	return NULL;
}
