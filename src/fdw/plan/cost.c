/*
 * fdw/plan/cost.c: the sizes of tables and the costs of scans.
 *
 * The unit is PostgreSQL's: 1 is a page read in sequence.  Particular to widecol: a scan costs a round trip to the
 * engine, and each range a seek; bytes are compressed and cached, so that reading them is cheaper than reading pages.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "optimizer/restrictinfo.h"
#include "utils/hsearch.h"
#include "utils/timestamp.h"

#include "client/client.h"
#include "fdw/condition/bound.h"
#include "fdw/plan/cost.h"
#include "fdw/relation/recordtype.h"

#define WC_COST_SEEK 1.0
#define WC_COST_SEEK_NEAR 0.15	/* within a range */
#define WC_COST_EXAMINED 0.5	/* of cpu_tuple_cost: a row that the engine examines, besides its transfer */
#define WC_COST_PAGE 0.5		/* of seq_page_cost */

/*
 * The planner asks for sizes often, so the engine's answers are kept for a short time.  They are kept longer while the
 * cluster has written so little since that the table has not grown by more than one part in WC_SIZE_GROWTH.  In that
 * time, the table may still have shrunk by expired cells.
 */
#define WC_SIZE_KEPT_MS 1000
#define WC_SIZE_KEPT_UNWRITTEN_MS 60000
#define WC_SIZE_GROWTH 8

/* The most tables whose sizes are kept.  Then all sizes are forgotten, since some of these tables have been
 * dropped. */
#define WC_SIZES_MAX 16384

/* Rows of a table of unknown size.  The transaction that reads it may have filled it. */
#define WC_ROWS_UNKNOWN 1000

/* Rows of a table in a cluster that has not been analyzed.  It is better to take a small table for a large one
 * than the other way round, since reading all of a large table costs so much more. */
#define WC_ROWS_UNKNOWN_REMOTE 1000000

#define WC_ROW_BYTES_UNKNOWN 100

/* Bytes of a cell if only the size of rows is known. */
#define WC_CELL_BYTES 64

/* The most ranges of a scan that the engine is asked about. */
#define WC_ESTIMATED_RANGES_MAX 8

/* ANALYZE's numbers are used unless the table is more than so many times as large, or as small. */
#define WC_CHANGED_FACTOR 2

typedef struct KnownSize
{
	Oid			relid;			/* hash key */
	uint32		table_id;
	TimestampTz asked_at;
	uint64		writes;			/* wc_client_writes() before the engine was asked */
	uint64		generation;		/* wc_client_catalog_generation() before the engine was asked */
	double		rows;
	double		bytes;
	bool		guessed;
} KnownSize;

static HTAB *known_sizes;

static void
make_known_sizes(void)
{
	HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(KnownSize)};

	if (known_sizes != NULL)
		hash_destroy(known_sizes);
	known_sizes = hash_create("widecol sizes of tables", 64, &ctl, HASH_ELEM | HASH_BLOBS);
}

void
wc_cost_forget_size(const WcRelation *wrel)
{
	if (known_sizes != NULL)
		(void) hash_search(known_sizes, &wrel->relid, HASH_REMOVE, NULL);
}

static bool
is_still_known(const KnownSize *known, const WcRelation *wrel)
{
	TimestampTz now = GetCurrentTimestamp();

	if (known->table_id != wrel->desc->id)
		return false;
	if (!TimestampDifferenceExceeds(known->asked_at, now, WC_SIZE_KEPT_MS))
		return true;
	return !TimestampDifferenceExceeds(known->asked_at, now, WC_SIZE_KEPT_UNWRITTEN_MS) &&
		known->generation == wc_client_catalog_generation() &&
		(double) (wc_client_writes() - known->writes) <= (known->guessed ? 0 : known->rows / WC_SIZE_GROWTH);
}

static KnownSize *
ask_size(const WcRelation *wrel)
{
	uint64		writes = wc_client_writes();
	uint64		generation = wc_client_catalog_generation();
	Oid			relid = wrel->relid;
	KnownSize  *known;
	WcRange		range;
	uint64		bytes;
	uint64		rows;

	wc_recordtype_range(wrel, &range);
	wc_client_estimate(wrel->desc, &range, wrel->families, (uint32) wrel->nfamilies, &bytes, &rows);
	if (hash_get_num_entries(known_sizes) >= WC_SIZES_MAX)
		make_known_sizes();
	known = hash_search(known_sizes, &relid, HASH_ENTER, NULL);
	known->table_id = wrel->desc->id;
	known->asked_at = GetCurrentTimestamp();
	known->writes = writes;
	known->generation = generation;
	known->guessed = rows == 0;
	known->rows = rows > 0 ? (double) rows : wc_client_estimates(wrel->desc) ? WC_ROWS_UNKNOWN : WC_ROWS_UNKNOWN_REMOTE;
	known->bytes = rows > 0 ? (double) bytes : known->rows * WC_ROW_BYTES_UNKNOWN;
	return known;
}

void
wc_cost_table_size(const WcRelation *wrel, WcTableSize *size)
{
	const KnownSize *known;

	if (known_sizes == NULL)
		make_known_sizes();
	known = hash_search(known_sizes, &wrel->relid, HASH_FIND, NULL);
	if (known == NULL || !is_still_known(known, wrel))
		known = ask_size(wrel);
	memset(size, 0, sizeof(*size));
	size->rows = known->rows;
	size->bytes = known->bytes;
	size->guessed = known->guessed;
	size->cells = 1;
	if (wrel->layout == WC_LAYOUT_CELL)
		size->cells = Max(size->bytes / size->rows / WC_CELL_BYTES, 1);
	size->rows *= size->cells;
	size->stored_rows = size->rows;
}

/*
 * Has the table's size changed much since ANALYZE?  Autovacuum does not analyze foreign tables: without this check,
 * ANALYZE's numbers from when the table was empty, or much smaller or larger, would be used for ever.  (Of rows that
 * are updated or deleted often, the engine counts the old ones, too, until a flush.)
 */
static bool
has_changed(const WcRelation *wrel, double analyzed_rows, WcTableSize *size)
{
	/* the engine cannot tell how many of a table's rows are of one record type */
	if (wrel->constant_parts > 0 && analyzed_rows >= 1)
		return false;
	wc_cost_table_size(wrel, size);
	if (analyzed_rows < 1 || wrel->layout == WC_LAYOUT_CELL || !wc_client_estimates(wrel->desc))
		return analyzed_rows < 1;
	if (size->guessed)
		return analyzed_rows > WC_CHANGED_FACTOR * size->rows;
	return size->rows > WC_CHANGED_FACTOR * analyzed_rows || analyzed_rows > WC_CHANGED_FACTOR * size->rows;
}

/* For a table with a record type whose rows ANALYZE has counted: pages, and rows that a scan passes over, are
 * those of all types. */
static void
share_stored_table(const WcRelation *wrel, WcTableSize *size)
{
	WcTableSize stored;

	wc_cost_table_size(wrel, &stored);
	if (stored.guessed || stored.rows <= size->rows)
		return;
	size->stored_rows = stored.rows;
	size->bytes = stored.bytes * size->rows / stored.rows;
}

void
wc_cost_rel_size(const RelOptInfo *rel, const WcRelation *wrel, bool point, WcTableSize *size)
{
	if (rel->tuples >= 0 && (point || !has_changed(wrel, rel->tuples, size)))
	{
		size->rows = rel->tuples;
		size->bytes = (double) rel->pages * BLCKSZ;
		size->analyzed = true;
		size->guessed = false;
		size->stored_rows = size->rows;
		if (wrel->constant_parts > 0 && !point)
			share_stored_table(wrel, size);
	}
	else
		wc_cost_table_size(wrel, size);
	size->rows = clamp_row_est(size->rows);
	size->bytes = Max(size->bytes, size->rows);
	size->remote = !wc_client_store_is_embedded(wrel->store);
}

double
wc_cost_distance(const WcRelation *wrel)
{
	return wc_client_store_is_embedded(wrel->store) ? 1 : WC_COST_DISTANCE;
}

/* Sets the conditions' values if all are known when planning; false: they are not. */
static bool
known_values(PlannerInfo *root, const List *exprs, Datum *values, bool *nulls)
{
	int			i = 0;
	ListCell   *lc;

	foreach(lc, exprs)
	{
		Const	   *value = (Const *) estimate_expression_value(root, lfirst(lc));

		if (!IsA(value, Const))
			return false;
		values[i] = value->constvalue;
		nulls[i++] = value->constisnull;
	}
	return true;
}

void
wc_cost_key_rows(PlannerInfo *root, WcRelation *wrel, const WcTableSize *size, WcQuals *quals)
{
	List	   *exprs = wc_key_conds_exprs(quals->conds);
	Datum	   *values = palloc(sizeof(Datum) * (list_length(exprs) + 1));
	bool	   *nulls = palloc(sizeof(bool) * (list_length(exprs) + 1));
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		scratch = WC_BUF_INIT;
	WcBounds	bounds;
	double		step = 1;

	if (quals->conds == NIL || size->guessed || !wc_client_estimates(wrel->desc) ||
		!known_values(root, exprs, values, nulls))
		return;
	PG_TRY();
	{
		wc_bounds_compute(wrel, quals->conds, values, nulls, &arena, &scratch, &bounds);
		/* the buckets of a salted key are alike, so asking about some is enough */
		if (wrel->key_layout.salt.buckets > 0 && bounds.nranges > WC_ESTIMATED_RANGES_MAX &&
			bounds.nranges <= wrel->key_layout.salt.buckets)
			step = (double) bounds.nranges / WC_ESTIMATED_RANGES_MAX;
		if (bounds.empty || (bounds.nranges > 0 && bounds.nranges <= step * WC_ESTIMATED_RANGES_MAX))
			quals->rows = 0;
		for (double i = 0; quals->rows >= 0 && (uint32) i < bounds.nranges; i += step)
		{
			uint64		bytes;
			uint64		rows;

			wc_client_estimate(wrel->desc, &bounds.ranges[(uint32) i], wrel->families, (uint32) wrel->nfamilies,
							   &bytes, &rows);
			quals->rows += (double) rows * step * size->cells;
		}
		quals->rows = Min(quals->rows, size->rows);
	}
	PG_FINALLY();
	{
		wc_arena_free(&arena);
		wc_buf_free(&scratch);
	}
	PG_END_TRY();
}

double
wc_cost_clamp_rows(const WcRelation *wrel, const WcQuals *quals, double rows)
{
	if (quals->point && wrel->layout == WC_LAYOUT_ROW)
		rows = Min(rows, quals->nranges);
	return clamp_row_est(rows);
}

/* Returns how many rows the engine examines. */
static double
count_examined(PlannerInfo *root, RelOptInfo *rel, const WcQuals *quals, const WcTableSize *size)
{
	if (quals->point)
		return quals->nranges;
	if (quals->rows >= 0)
		return clamp_row_est(quals->rows);
	return clamp_row_est((quals->mixed_types ? Max(size->stored_rows, size->rows) : size->rows) *
						 clauselist_selectivity(root, quals->pushed, rel->relid, JOIN_INNER, NULL));
}

void
wc_cost_scan(PlannerInfo *root, RelOptInfo *rel, const WcQuals *quals, const WcTableSize *size,
			 double rows, Cost *startup, Cost *total)
{
	double		examined = Max(count_examined(root, rel, quals, size), rows);
	double		cells = list_length(rel->reltarget->exprs);
	double		travelling;
	double		distance = size->remote ? WC_COST_DISTANCE : 1;
	double		row_distance = size->remote ? WC_COST_ROW_DISTANCE : 1;
	Cost		run;
	QualCost	local;

	travelling = examined;
	if (quals->filtered != NIL && !size->remote)
		travelling *= clauselist_selectivity(root, quals->filtered, rel->relid, JOIN_INNER, NULL);
	travelling = Max(clamp_row_est(travelling), rows);

	cost_qual_eval(&local, extract_actual_clauses(quals->local, false), root);
	run = (quals->nranges - 1) * WC_COST_SEEK * distance +
		(quals->point ? 0 : examined * cpu_tuple_cost * WC_COST_EXAMINED) +
		examined * list_length(quals->filtered) * cpu_operator_cost +
		travelling * (cpu_tuple_cost * row_distance + cells * cpu_operator_cost + local.per_tuple) +
		examined * size->bytes / size->rows / BLCKSZ * seq_page_cost * WC_COST_PAGE +
		rows * rel->reltarget->cost.per_tuple;
	*startup = WC_COST_ROUND_TRIP * distance + local.startup + rel->reltarget->cost.startup;
	*total = *startup + run;
}

/*
 * The time of a scan depends on its rows more than on their bytes, which are compressed.  So the rows count as they
 * would in a heap table.
 */
int
wc_cost_workers(PlannerInfo *root, RelOptInfo *rel, const WcRelation *wrel, const WcQuals *quals,
				const WcTableSize *size)
{
	double		row_bytes = get_relation_data_width(wrel->relid, NULL) + MAXALIGN(SizeofHeapTupleHeader) + sizeof(ItemIdData);
	double		bytes = Max(row_bytes, size->bytes / size->rows) * count_examined(root, rel, quals, size);

	return compute_parallel_worker(rel, ceil(bytes / BLCKSZ), -1, max_parallel_workers_per_gather);
}

double
wc_cost_share(int workers, double rows, Cost startup, Cost *total)
{
	double		leader = parallel_leader_participation ? Max(1.0 - 0.3 * workers, 0) : 0;
	double		processes = workers + leader;

	*total = startup + (*total - startup) / processes;
	return clamp_row_est(rows / processes);
}

/* Rows are not transferred, which is about half of a row's cost, and the engine spends less on each row than
 * PostgreSQL's executor does. */
void
wc_cost_aggregate(const Path *rows, int ncolumns, double ngroups, bool ordered, Cost *startup, Cost *total)
{
	Cost		run = rows->total_cost - rows->startup_cost;
	Cost		given = ngroups * cpu_tuple_cost;

	run -= Min(run, rows->rows * cpu_tuple_cost / 2);
	run += rows->rows * ncolumns * cpu_operator_cost / 2 + WC_COST_GROUPS;
	*total = rows->startup_cost + run + given;
	*startup = ordered ? rows->startup_cost + run / Max(ngroups, 1) : *total - given;
}

/*
 * The scan steps over few rows and seeks behind many.  If each prefix has few rows, they are read as before and most are not
 * transferred; to find the end of a prefix costs a little, so this is no gain if each prefix has one row.
 */
void
wc_cost_distinct(const Path *rows, double nprefixes, Cost *startup, Cost *total)
{
	Cost		run = rows->total_cost - rows->startup_cost;
	Cost		given = Min(run, rows->rows * cpu_tuple_cost);
	Cost		read = run - given;
	double		each = Max(rows->rows / nprefixes, 1);
	Cost		sought = 2 * read / each + nprefixes * WC_COST_SEEK_NEAR;

	*startup = rows->startup_cost;
	*total = rows->startup_cost + Min(read, sought) + given / each + nprefixes * 2 * cpu_operator_cost;
}

/*
 * Every bucket is sought before the first row comes, even if the scan is of the whole table, which is one range
 * otherwise; each row is compared with those of some other buckets.
 */
void
wc_cost_merge(const WcRelation *wrel, const WcQuals *quals, double rows, Cost *startup, Cost *total)
{
	double		buckets = wrel->key_layout.salt.buckets;
	Cost		seeks = (Max(quals->nranges, buckets) - 1) * WC_COST_SEEK;
	Cost		known = (quals->nranges - 1) * WC_COST_SEEK;

	*startup += seeks;
	*total += seeks - known + rows * log2(Max(buckets, 2)) * cpu_operator_cost;
}
