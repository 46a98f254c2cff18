/*
 * fdw/scan/analyze.c: samples for ANALYZE.
 *
 * A table that is not much larger than the sample is read completely.  For larger tables the engine draws
 * ranges (wc_client_sample), and a row of a range represents as many rows of the table as the range's weight.
 * A cluster does not tell the size of a table: there ranges are always drawn, and those of a small table are all of it.
 *
 * Each row draws a lot; the greater the row's weight, the smaller the lot on average.  The rows with the smallest
 * lots are the sample (Efraimidis and Spirakis): the probability of a row is proportional to its weight.  Rows with
 * a lot that is too large are skipped without decoding.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/xact.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "common/pg_prng.h"
#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "utils/backend_progress.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "fdw/fdw.h"
#include "fdw/plan/cost.h"
#include "fdw/relation/recordtype.h"
#include "fdw/row/reader.h"

/* A table with at most so many times the sample's rows, or so many bytes for each row of the sample, is read
 * completely: seeks would cost as much. */
#define WC_SAMPLE_ALL_FACTOR 3
#define WC_SAMPLE_ALL_BYTES 1024

/* Rows of the sample for each range: neighbouring rows are similar.  All ranges together have this many times
 * the sample's rows: some ranges are empty, and weights differ. */
#define WC_SAMPLE_RANGE_ROWS 3
#define WC_SAMPLE_READ_FACTOR 2
#define WC_SAMPLE_RANGES_MIN 100

/* The ranges are fewer when rows, and so perhaps keys, are large: one message has all ranges. */
#define WC_SAMPLE_RANGES_BYTES (64.0 * 1024 * 1024)

/* pg_stat_progress_analyze is updated after so many rows; its blocks count rows here. */
#define WC_SAMPLE_TELL_ROWS 1000

/*
 * A range of a table in a cluster costs several calls.  So such ranges are fewer, with more rows: up to range_rows, of
 * which a range has about FILL.  In layout cell a row of the stored table is several rows of the sample.
 */
#define WC_SAMPLE_REMOTE_SHARE 150
#define WC_SAMPLE_REMOTE_ROWS_MIN 20
#define WC_SAMPLE_REMOTE_ROWS_MAX 1000
#define WC_SAMPLE_REMOTE_CELL_ROWS 20
#define WC_SAMPLE_REMOTE_FILL 0.7

/* Ranges of one Scan. */
#define WC_SAMPLE_RANGES_AT_ONCE 1000

typedef struct Kept
{
	double		lot;
	double		place;			/* rows read before it */
	HeapTuple	tuple;
} Kept;

typedef struct Sample
{
	Relation	rel;
	WcRelation *wrel;
	WcReader   *reader;
	WcClientScan *scan;
	Datum	   *values;
	bool	   *isnull;
	MemoryContext row_context;	/* reset for each row */

	WcSampleRange *ranges;
	int			nranges;
	int			current;		/* range that is being read */
	double		heaviest;		/* weight */
	double		lightest;

	Kept	   *kept;
	int			nkept;
	int			targrows;
	binaryheap *largest;		/* the elements of kept, once kept is full; the largest lot first */
	double		seen;			/* rows read */
	double		total;			/* rows of the table that the read rows represent */
} Sample;

static int
compare_lots(Datum a, Datum b, void *arg)
{
	double		x = ((Kept *) DatumGetPointer(a))->lot;
	double		y = ((Kept *) DatumGetPointer(b))->lot;

	return (x > y) - (x < y);
}

static int
compare_places(const void *a, const void *b)
{
	double		x = ((const Kept *) a)->place;
	double		y = ((const Kept *) b)->place;

	return (x > y) - (x < y);
}

/* The place for a row with this lot; NULL: the row is not part of the sample. */
static Kept *
find_place(Sample *sample, double lot)
{
	if (sample->nkept < sample->targrows)
		return &sample->kept[sample->nkept];
	if (lot >= ((Kept *) DatumGetPointer(binaryheap_first(sample->largest)))->lot)
		return NULL;
	return (Kept *) DatumGetPointer(binaryheap_first(sample->largest));
}

static void
keep_row(Sample *sample, Kept *kept, double lot)
{
	MemoryContext old = MemoryContextSwitchTo(sample->row_context->parent);

	if (kept->tuple != NULL)
		heap_freetuple(kept->tuple);
	kept->tuple = heap_form_tuple(RelationGetDescr(sample->rel), sample->values, sample->isnull);
	kept->lot = lot;
	kept->place = sample->seen;
	MemoryContextSwitchTo(old);
	if (sample->nkept == sample->targrows)
		binaryheap_replace_first(sample->largest, PointerGetDatum(kept));
	else if (++sample->nkept == sample->targrows)
	{
		for (int i = 0; i < sample->nkept; i++)
			binaryheap_add_unordered(sample->largest, PointerGetDatum(&sample->kept[i]));
		binaryheap_build(sample->largest);
	}
}

/* The weight of the range that has the row; rows arrive in the order of the ranges. */
static double
weight_of(Sample *sample, WcSlice row)
{
	while (sample->current + 1 < sample->nranges &&
		   wc_slice_cmp(row, sample->ranges[sample->current].range.stop) >= 0)
		sample->current++;
	return sample->ranges[sample->current].weight;
}

/*
 * Reads the next row; false: no more rows.  The random number of the lot is drawn first, so that the row is
 * decoded only if its lot may be small enough (skipping a row is cheap in layout row).
 */
static bool
next_row(Sample *sample)
{
	double		draw = -log(1.0 - pg_prng_double(&pg_global_prng_state));
	bool		skip = sample->wrel->layout == WC_LAYOUT_ROW && find_place(sample, draw / sample->heaviest) == NULL;
	double		weight;
	Kept	   *place;

	if (skip)
	{
		if (!wc_reader_skip(sample->reader, sample->scan))
			return false;
	}
	else
	{
		if (!wc_reader_next(sample->reader, sample->scan, sample->values, sample->isnull))
			return false;
	}
	weight = weight_of(sample, wc_reader_row(sample->reader));
	place = skip ? NULL : find_place(sample, draw / weight);
	if (place != NULL)
		keep_row(sample, place, draw / weight);
	sample->seen++;
	sample->total += weight;
	return true;
}

/* Reads the rows of n ranges. */
static void
read_ranges(Sample *sample, int n, WcClientSnapshot *snapshot, CommandId cid)
{
	WcRange    *ranges = palloc(sizeof(WcRange) * n);
	bool		more = true;
	WcScan		scan;

	for (int i = 0; i < n; i++)
		ranges[i] = sample->ranges[sample->current + i].range;
	wc_reader_restart(sample->reader);
	wc_reader_describe(sample->reader, &scan);
	scan.nranges = n;
	scan.ranges = ranges;
	sample->scan = wc_client_scan_open(&scan, snapshot, cid, 0, CurrentMemoryContext);
	while (more)
	{
		MemoryContext old;

		vacuum_delay_point();
		MemoryContextReset(sample->row_context);
		old = MemoryContextSwitchTo(sample->row_context);
		more = next_row(sample);
		MemoryContextSwitchTo(old);
		if (!more || fmod(sample->seen, WC_SAMPLE_TELL_ROWS) == 0)
			pgstat_progress_update_param(PROGRESS_ANALYZE_BLOCKS_DONE, (int64) sample->seen);
	}
	wc_client_scan_close(sample->scan);
	pfree(ranges);
}

/* The same for a table in a cluster. */
static void
choose_remote_ranges(Sample *sample, const WcRange *range)
{
	double		range_rows = Min(Max(sample->targrows / WC_SAMPLE_REMOTE_SHARE, WC_SAMPLE_REMOTE_ROWS_MIN),
								 WC_SAMPLE_REMOTE_ROWS_MAX);
	double		wanted = (double) sample->targrows * WC_SAMPLE_READ_FACTOR / range_rows / WC_SAMPLE_REMOTE_FILL;

	if (sample->wrel->layout == WC_LAYOUT_CELL)
		range_rows = WC_SAMPLE_REMOTE_CELL_ROWS;
	sample->ranges = wc_client_sample(sample->wrel->desc, range, (int) Min(ceil(wanted), WC_RANGES_MAX - 2),
									  (uint64) range_rows, pg_prng_uint64(&pg_global_prng_state), &sample->nranges);
}

/* Chooses the ranges to read. */
static void
choose_ranges(Sample *sample, const WcTableSize *size)
{
	double		wanted;
	double		range_rows;
	WcRange		range;

	wc_recordtype_range(sample->wrel, &range);
	if (!wc_client_estimates(sample->wrel->desc))
	{
		choose_remote_ranges(sample, &range);
		return;
	}
	if (!size->guessed && size->rows > (double) sample->targrows * WC_SAMPLE_ALL_FACTOR &&
		size->bytes > (double) sample->targrows * WC_SAMPLE_ALL_BYTES)
	{
		wanted = Max(sample->targrows / WC_SAMPLE_RANGE_ROWS, WC_SAMPLE_RANGES_MIN);
		wanted = Max(Min(wanted, WC_SAMPLE_RANGES_BYTES * size->rows / size->cells / size->bytes), 1);
		wanted = Min(wanted, WC_RANGES_MAX - 2);
		range_rows = ceil((double) sample->targrows * WC_SAMPLE_READ_FACTOR / wanted / size->cells);
		sample->ranges = wc_client_sample(sample->wrel->desc, &range, (int) wanted, (uint64) range_rows,
										  pg_prng_uint64(&pg_global_prng_state), &sample->nranges);
		return;
	}
	sample->ranges = palloc0(sizeof(WcSampleRange));
	sample->ranges->range = range;
	sample->ranges->weight = 1;
	sample->nranges = 1;
}

/* The estimated number of rows in these ranges. */
static double
rows_to_read(const Sample *sample, const WcTableSize *size)
{
	double		most = size->rows;

	return sample->nranges > 1 ? Min(most, (double) sample->targrows * WC_SAMPLE_READ_FACTOR) : most;
}

static void
read_sample(Sample *sample)
{
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;
	WcClientSnapshot *held = snapshot != NULL ? wc_client_snapshot(snapshot) : NULL;
	CommandId	cid = snapshot != NULL ? snapshot->curcid : GetCurrentCommandId(false);
	WcTableSize size;

	wc_cost_table_size(sample->wrel, &size);
	choose_ranges(sample, &size);
	pgstat_progress_update_param(PROGRESS_ANALYZE_BLOCKS_TOTAL, (int64) rows_to_read(sample, &size));
	sample->lightest = sample->ranges[0].weight;
	for (int i = 0; i < sample->nranges; i++)
	{
		sample->heaviest = Max(sample->heaviest, sample->ranges[i].weight);
		sample->lightest = Min(sample->lightest, sample->ranges[i].weight);
	}
	for (int i = 0; i < sample->nranges; i += WC_SAMPLE_RANGES_AT_ONCE)
	{
		sample->current = i;
		read_ranges(sample, Min(sample->nranges - i, WC_SAMPLE_RANGES_AT_ONCE), held, cid);
	}
}

static int
compare_kept_lots(const void *a, const void *b)
{
	double		x = ((const Kept *) a)->lot;
	double		y = ((const Kept *) b)->lot;

	return (x > y) - (x < y);
}

/* If nearly all rows that were read are in the sample, their weights do not count: leaves those with the smallest lots. */
static void
drop_large_lots(Sample *sample)
{
	int			most = (int) Min(ceil(sample->seen / WC_SAMPLE_READ_FACTOR), sample->nkept);

	if (sample->lightest == sample->heaviest)
		return;
	qsort(sample->kept, sample->nkept, sizeof(Kept), compare_kept_lots);
	while (sample->nkept > most)
		heap_freetuple(sample->kept[--sample->nkept].tuple);
}

static int
acquire_sample_rows(Relation relation, int elevel, HeapTuple *rows, int targrows,
					double *totalrows, double *totaldeadrows)
{
	int			natts = RelationGetDescr(relation)->natts;
	Sample		sample = {.rel = relation,.targrows = targrows};

	*totalrows = 0;
	*totaldeadrows = 0;
	if (targrows <= 0)
		return 0;
	sample.wrel = wc_relation_open(relation);
	sample.reader = wc_reader_create(sample.wrel, natts > 0 ? bms_add_range(NULL, 0, natts - 1) : NULL, NULL, NIL, NIL, NIL);
	sample.values = palloc0(sizeof(Datum) * natts);
	sample.isnull = palloc0(sizeof(bool) * natts);
	sample.row_context = AllocSetContextCreate(CurrentMemoryContext, "widecol sample row", ALLOCSET_DEFAULT_SIZES);
	sample.kept = palloc0(sizeof(Kept) * targrows);
	sample.largest = binaryheap_allocate(targrows, compare_lots, NULL);
	read_sample(&sample);
	wc_relation_close(sample.wrel);
	MemoryContextDelete(sample.row_context);

	drop_large_lots(&sample);
	/* in the table's order: by row key */
	qsort(sample.kept, sample.nkept, sizeof(Kept), compare_places);
	for (int i = 0; i < sample.nkept; i++)
		rows[i] = sample.kept[i].tuple;
	*totalrows = rint(sample.total);
	ereport(elevel,
			(errmsg("\"%s\": %.0f of %.0f rows read, %d of them in the sample",
					RelationGetRelationName(relation), sample.seen, *totalrows, sample.nkept)));
	return sample.nkept;
}

bool
widecolAnalyzeForeignTable(Relation relation, AcquireSampleRowsFunc *func, BlockNumber *totalpages)
{
	WcRelation *wrel = wc_relation_open(relation);
	WcTableSize size;

	/* an older cached size must not contradict the new statistics */
	wc_cost_forget_size(wrel);
	wc_cost_table_size(wrel, &size);
	/* a cluster reports no size, and a guessed size must not be stored: its rows cost their transfer */
	if (!wc_client_estimates(wrel->desc))
		size.bytes = 0;
	wc_relation_close(wrel);
	*totalpages = (BlockNumber) Max(Min(ceil(size.bytes / BLCKSZ), MaxBlockNumber), 1);
	*func = acquire_sample_rows;
	return true;
}
