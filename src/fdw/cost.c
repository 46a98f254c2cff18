/*
 * fdw/cost.c: how much there is to read and what that costs.
 *
 * The unit is PostgreSQL's: 1 is a page read in sequence.  What is particular
 * here: a scan costs a round trip to the engine, each range a seek; bytes are
 * compressed and cached, so that reading them is cheaper than pages.
 */
#include "postgres.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/timestamp.h"

#include "client/client.h"
#include "fdw/cost.h"

#define WC_COST_ROUND_TRIP 3.0
#define WC_COST_SEEK 1.0
#define WC_COST_PAGE 0.5		/* of seq_page_cost */

/* Planning asks again and again: what was learnt is kept for a moment. */
#define WC_SIZE_CACHE 64
#define WC_SIZE_CACHE_MS 1000

static struct
{
	uint32		table_id;
	TimestampTz at;
	WcTableSize size;
}			cache[WC_SIZE_CACHE];

void
wc_cost_table_size(const WcRelation *wrel, WcTableSize *size)
{
	uint32		id = wrel->desc->id;
	int			slot = id % WC_SIZE_CACHE;
	TimestampTz now = GetCurrentTimestamp();
	WcRange		everything = {{NULL, 0}, {NULL, 0}, true, true};
	uint64		bytes;
	uint64		rows;

	if (cache[slot].table_id != id || cache[slot].at == 0 ||
		TimestampDifferenceExceeds(cache[slot].at, now, WC_SIZE_CACHE_MS))
	{
		wc_client_estimate(wrel->desc, &everything, &bytes, &rows);
		cache[slot].table_id = id;
		cache[slot].at = now;
		cache[slot].size.rows = (double) rows;
		cache[slot].size.bytes = (double) bytes;
	}
	*size = cache[slot].size;
}

void
wc_cost_rel_size(const RelOptInfo *rel, const WcRelation *wrel, WcTableSize *size)
{
	if (rel->tuples >= 0)
	{
		size->rows = rel->tuples;
		size->bytes = (double) rel->pages * BLCKSZ;
	}
	else
		wc_cost_table_size(wrel, size);
	size->rows = clamp_row_est(size->rows);
	size->bytes = Max(size->bytes, size->rows);
}

double
wc_cost_clamp_rows(const WcQuals *quals, double rows)
{
	return clamp_row_est(quals->point ? Min(rows, quals->nranges) : rows);
}

void
wc_cost_scan(PlannerInfo *root, RelOptInfo *rel, const WcQuals *quals, const WcTableSize *size,
			 double rows, Cost *startup, Cost *total)
{
	double		examined;
	double		cells = list_length(rel->reltarget->exprs);
	Cost		run;
	QualCost	local;

	if (quals->point)
		examined = quals->nranges;
	else
		examined = size->rows * clauselist_selectivity(root, quals->pushed, rel->relid, JOIN_INNER, NULL);
	examined = Max(clamp_row_est(examined), rows);

	cost_qual_eval(&local, extract_actual_clauses(quals->local, false), root);
	run = (quals->nranges - 1) * WC_COST_SEEK +
		examined * (cpu_tuple_cost + cells * cpu_operator_cost + local.per_tuple) +
		examined * size->bytes / size->rows / BLCKSZ * seq_page_cost * WC_COST_PAGE +
		rows * rel->reltarget->cost.per_tuple;
	*startup = WC_COST_ROUND_TRIP + local.startup + rel->reltarget->cost.startup;
	*total = *startup + run;
}
