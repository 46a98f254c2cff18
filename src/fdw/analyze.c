/*
 * fdw/analyze.c: samples for ANALYZE.
 *
 * Every row is visited and a reservoir kept; cells are decoded only for rows
 * that go into the sample.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/sampling.h"
#include "utils/snapmgr.h"

#include "fdw/cost.h"
#include "fdw/fdw.h"
#include "fdw/reader.h"

typedef struct Sample
{
	Relation	rel;
	WcRelation *wrel;
	WcReader   *reader;
	WcClientScan *scan;
	Datum	   *values;
	bool	   *isnull;
	MemoryContext row_context;	/* reset for each row */

	ReservoirStateData reservoir;
	HeapTuple  *rows;
	int			nrows;
	int			targrows;
	double		seen;
	double		to_skip;		/* rows before the next that goes into the sample, -1: unknown */
} Sample;

/* Steps over a row; cheap where nothing has to be decoded. */
static bool
skip_row(Sample *sample)
{
	if (sample->wrel->layout == WC_LAYOUT_ROW)
		return wc_reader_skip(sample->reader, sample->scan);
	return wc_reader_next(sample->reader, sample->scan, sample->values, sample->isnull);
}

static void
keep_row(Sample *sample)
{
	MemoryContext old = MemoryContextSwitchTo(sample->row_context->parent);
	HeapTuple	tuple = heap_form_tuple(RelationGetDescr(sample->rel), sample->values, sample->isnull);

	MemoryContextSwitchTo(old);
	if (sample->nrows < sample->targrows)
		sample->rows[sample->nrows++] = tuple;
	else
	{
		int			k = (int) (sample->targrows * sampler_random_fract(&sample->reservoir.randstate));

		heap_freetuple(sample->rows[k]);
		sample->rows[k] = tuple;
	}
}

static void
take_sample(Sample *sample)
{
	for (;;)
	{
		MemoryContext old;
		bool		more;
		bool		full = sample->nrows >= sample->targrows;

		vacuum_delay_point();
		if (full && sample->to_skip < 0)
			sample->to_skip = reservoir_get_next_S(&sample->reservoir, sample->seen, sample->targrows);

		MemoryContextReset(sample->row_context);
		old = MemoryContextSwitchTo(sample->row_context);
		if (full && sample->to_skip >= 1)
			more = skip_row(sample);
		else
			more = wc_reader_next(sample->reader, sample->scan, sample->values, sample->isnull);
		MemoryContextSwitchTo(old);
		if (!more)
			return;
		if (!full || sample->to_skip < 1)
			keep_row(sample);
		if (full)
			sample->to_skip--;
		sample->seen++;
	}
}

static int
acquire_sample_rows(Relation relation, int elevel, HeapTuple *rows, int targrows,
					double *totalrows, double *totaldeadrows)
{
	int			natts = RelationGetDescr(relation)->natts;
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;
	WcClientSnapshot *held;
	Sample		sample = {0};
	WcScan		scan;

	sample.rel = relation;
	sample.wrel = wc_relation_open(relation);
	sample.reader = wc_reader_create(sample.wrel, natts > 0 ? bms_add_range(NULL, 0, natts - 1) : NULL);
	sample.values = palloc0(sizeof(Datum) * natts);
	sample.isnull = palloc0(sizeof(bool) * natts);
	sample.row_context = AllocSetContextCreate(CurrentMemoryContext, "widecol sample row", ALLOCSET_DEFAULT_SIZES);
	sample.rows = rows;
	sample.targrows = targrows;
	sample.to_skip = -1;
	reservoir_init_selection_state(&sample.reservoir, targrows);

	held = snapshot != NULL ? wc_client_snapshot(snapshot) : NULL;
	wc_reader_describe(sample.reader, &scan);
	sample.scan = wc_client_scan_open(&scan, held, snapshot != NULL ? snapshot->curcid : FirstCommandId,
									  0, CurrentMemoryContext);
	take_sample(&sample);
	wc_client_scan_close(sample.scan);
	if (held != NULL)
		wc_client_snapshot_release(held);
	wc_relation_close(sample.wrel);
	MemoryContextDelete(sample.row_context);

	*totalrows = sample.seen;
	*totaldeadrows = 0;
	ereport(elevel,
			(errmsg("\"%s\": %.0f rows read, %d of them in the sample",
					RelationGetRelationName(relation), sample.seen, sample.nrows)));
	return sample.nrows;
}

bool
widecolAnalyzeForeignTable(Relation relation, AcquireSampleRowsFunc *func, BlockNumber *totalpages)
{
	WcRelation *wrel = wc_relation_open(relation);
	WcTableSize size;

	wc_cost_table_size(wrel, &size);
	wc_relation_close(wrel);
	*totalpages = (BlockNumber) Max(Min(ceil(size.bytes / BLCKSZ), MaxBlockNumber), 1);
	*func = acquire_sample_rows;
	return true;
}
