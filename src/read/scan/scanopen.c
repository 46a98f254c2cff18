/*
 * read/scan/scanopen.c: opening and closing a scanner, and the scanners of its parts.
 */
#include <stdlib.h>

#include "read/scan/langcells.h"
#include "read/scan/scanparts.h"
#include "read/txn/txn.h"

/* --- a copy of the scan ----------------------------------------------------*/

/* False: memory is out. */
static bool
copy_slice(WcArena *arena, WcSlice *s)
{
	size_t		len = s->len;

	*s = wc_arena_copy(arena, *s);
	return len == 0 || s->data != NULL;
}

static bool
copy_array(WcArena *arena, void **array, size_t n, size_t size)
{
	void	   *copy;

	if (n == 0)
		return true;
	copy = wc_arena_alloc(arena, n * size);
	if (copy != NULL)
		memcpy(copy, *array, n * size);
	*array = copy;
	return copy != NULL;
}

static bool
copy_scan(WcArena *arena, WcScan *scan)
{
	bool		ok = copy_array(arena, (void **) &scan->ranges, scan->nranges, sizeof(WcRange)) &&
		copy_array(arena, (void **) &scan->columns, scan->ncolumns, sizeof(WcColumn)) &&
		copy_array(arena, (void **) &scan->families, scan->nfamilies, sizeof(uint32_t));

	for (uint32_t i = 0; ok && i < scan->nranges; i++)
		ok = copy_slice(arena, &scan->ranges[i].start) && copy_slice(arena, &scan->ranges[i].stop);
	for (uint32_t i = 0; ok && i < scan->ncolumns; i++)
		ok = copy_slice(arena, &scan->columns[i].qualifier) && copy_slice(arena, &scan->columns[i].stop);
	return ok && copy_slice(arena, &scan->filter_text) && copy_slice(arena, &scan->distinct_keys);
}

/* --- ranges ---------------------------------------------------------------*/

/* Ranges in scan order, one without bounds when there is none.  False: memory is out. */
static bool
order_ranges(WcScanner *s)
{
	WcScan	   *scan = &s->scan;

	if (scan->nranges == 0)
	{
		scan->nranges = 1;
		scan->ranges = wc_arena_alloc_zero(&s->arena, sizeof(WcRange));
		return scan->ranges != NULL;
	}
	for (uint32_t i = 0, j = scan->nranges - 1; scan->reversed && i < j; i++, j--)
	{
		WcRange		r = scan->ranges[i];

		scan->ranges[i] = scan->ranges[j];
		scan->ranges[j] = r;
	}
	if (scan->nranges == 1 && wc_range_is_empty(&scan->ranges[0]))
		s->done = true;
	return true;
}

static WcStatus
set_filter(WcScanner *s, WcError *err)
{
	const WcFilter *filter = s->scan.filter;
	WcStatus	status;

	if (filter == NULL)
		return WC_OK;
	status = wc_rowfilter_create(&s->arena, &s->scan, &s->filter, err);
	s->shown = filter->shown;
	s->scan.filter = NULL;		/* the caller's */
	for (uint32_t i = 0; i < s->nlanes && status == WC_OK && wc_rowfilter_layout(s->filter) != NULL; i++)
	{
		if (!s->lanes[i].points)
			status = wc_skip_create(&s->arena, wc_rowfilter_filter(s->filter), wc_rowfilter_layout(s->filter),
									s->scan.reversed, &s->lanes[i].skip, err);
	}
	return status;
}

/* Does the i-th range begin a lane? */
static bool
begins_lane(const WcScan *scan, uint32_t i)
{
	WcSlice		before;
	WcSlice		start;

	if (i == 0 || !scan->merged)
		return i == 0;
	before = scan->ranges[i - 1].start;
	start = scan->ranges[i].start;
	return before.len == 0 || start.len == 0 || before.data[0] != start.data[0];
}

/* Parts the ranges into lanes.  False: memory is out. */
static bool
set_lanes(WcScanner *s)
{
	const WcScan *scan = &s->scan;
	uint32_t	n = 0;

	if (!order_ranges(s))
		return false;
	for (uint32_t i = 0; i < scan->nranges; i++)
		n += begins_lane(scan, i);
	s->lanes = wc_arena_alloc_zero(&s->arena, n * sizeof(WcScanLane));
	if (s->lanes == NULL)
		return false;
	for (uint32_t i = 0; i < scan->nranges; i++)
	{
		WcScanLane *lane;

		if (begins_lane(scan, i))
		{
			s->lanes[s->nlanes].ranges = &scan->ranges[i];
			s->lanes[s->nlanes++].points = true;
		}
		lane = &s->lanes[s->nlanes - 1];
		lane->points &= wc_range_is_point(&scan->ranges[i]);
		lane->nranges++;
	}
	s->lane = s->lanes;
	return true;
}

/* From the start of the lane's first range to the stop of its last. */
static WcRange
whole_range(const WcScanner *s, const WcScanLane *lane)
{
	const WcRange *first = &lane->ranges[s->scan.reversed ? lane->nranges - 1 : 0];
	const WcRange *last = &lane->ranges[s->scan.reversed ? 0 : lane->nranges - 1];
	WcRange		whole = *first;

	whole.stop = last->stop;
	whole.stop_inclusive = last->stop_inclusive;
	return whole;
}

/* --- families -------------------------------------------------------------*/

static WcStatus
check_family(const WcTable *table, uint32_t id, WcError *err)
{
	char		name[2 * WC_NAME_MAX + 2];

	if (wc_table_desc_family_by_id(&table->desc, id) != NULL)
		return WC_OK;
	return wc_error(err, WC_NO_FAMILY, "stored table \"%s\" has no family with id %u",
					wc_table_desc_fullname(&table->desc, name, sizeof(name)), id);
}

static WcStatus
check_families(const WcScanner *s, WcError *err)
{
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; i < s->scan.ncolumns && status == WC_OK; i++)
		status = check_family(s->table, s->scan.columns[i].family, err);
	for (uint32_t i = 0; s->scan.rows_by_existence && i < s->scan.nfamilies && status == WC_OK; i++)
		status = check_family(s->table, s->scan.families[i], err);
	return status;
}

/* Does a cell of this family make a row exist? */
static bool
decides_existence(const WcScan *scan, uint32_t family)
{
	if (!scan->rows_by_existence)
		return false;
	for (uint32_t i = 0; i < scan->nfamilies; i++)
	{
		if (scan->families[i] == family)
			return true;
	}
	return scan->nfamilies == 0;
}

/* The scan's columns of one family and their positions.  Without any column the
 * whole family is wanted, unless only existence is asked for. */
static WcStatus
family_columns(WcScanner *s, const WcFamilyDesc *family, WcMatcherOptions *o, bool *wanted, WcError *err)
{
	const WcScan *scan = &s->scan;
	WcColumn   *columns;
	uint32_t   *colnos;
	uint32_t	n = 0;

	for (uint32_t i = 0; i < scan->ncolumns; i++)
	{
		if (scan->columns[i].family == family->id)
			n++;
	}
	*wanted = n > 0 || (scan->ncolumns == 0 && !scan->rows_by_existence);
	if (n == 0)
		return WC_OK;
	columns = wc_arena_alloc(&s->arena, n * sizeof(WcColumn));
	colnos = wc_arena_alloc(&s->arena, n * sizeof(uint32_t));
	if (columns == NULL || colnos == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	o->columns = columns;
	o->colnos = colnos;
	for (uint32_t i = 0; i < scan->ncolumns; i++)
	{
		if (scan->columns[i].family != family->id)
			continue;
		columns[o->ncolumns] = scan->columns[i];
		colnos[o->ncolumns++] = i;
	}
	return WC_OK;
}

/* --- sources --------------------------------------------------------------*/

/* Options that are the same for all families of the scan. */
typedef struct OpenContext
{
	WcScanner  *scanner;
	bool		base_hidden;
	bool		own_writes;
} OpenContext;

/* A stored source, for wc_cellsource_merge; in the scanner's arena. */
typedef struct Stored
{
	WcStorage  *storage;
	WcStore    *store;
	WcRange		bounds;
	WcSourceOptions options;
} Stored;

static WcStatus
open_all(void *arg, WcCellSource **src, WcError *err)
{
	Stored	   *stored = arg;

	return stored->storage->ops->open_source(stored->store, &stored->options, src, err);
}

/* Merges the store's cells with the transaction's own. */
static WcStatus
merge_own(OpenContext *c, const WcFamilyScan *f, const WcSourceOptions *options, WcCellSource *lower, WcCellSource *upper,
		  WcCellSource **src, WcError *err)
{
	WcScanner  *s = c->scanner;
	Stored	   *stored = wc_arena_alloc(&s->arena, sizeof(*stored));

	if (stored == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	*stored = (Stored) {.storage = s->storage,.store = s->table->stores[f->place],.bounds = *options->bounds,.options = *options};
	stored->options.bounds = &stored->bounds;
	stored->options.skip_dead = stored->options.skip_masked = false;
	return wc_cellsource_merge(lower, upper, open_all, stored, src, err);
}

/* For sources of a scan ahead: they end when they look at the flag, once in WC_CANCEL_CELLS cells that they pass over. */
static const atomic_bool is_enough = true;

/* The store's cells, with the transaction's own when it has any. */
static WcStatus
open_source(OpenContext *c, const WcScanLane *lane, const WcFamilyScan *f, const WcMatcherOptions *o,
			WcCellSource **src, WcError *err)
{
	WcScanner  *s = c->scanner;
	const WcScan *scan = &s->scan;
	WcRange		bounds = whole_range(s, lane);
	bool		skip_dead = !scan->raw && scan->filter_text.len == 0;	/* a filter may ask for the keys of dead rows */
	WcSourceOptions options = {
		.snapshot = s->at.snapshot,
		.bounds = &bounds,
		.reversed = scan->reversed,
		.point = lane->points,
		.fill_cache = true,
		.skip_dead = skip_dead,
		.skip_masked = skip_dead && o->ts_max == WC_TS_LATEST,	/* else the marker may be too new to be seen */
		.points = lane->ranges,
		.npoints = lane->points ? lane->nranges : 0,
		/* the row exists if the family has any cell */
		.columns = o->columns,
		.ncolumns = f->existence ? 0 : o->ncolumns,
		.brief = s->at.ahead > 0,
		.cancel = s->at.ahead > 0 ? &is_enough : s->at.cancel
	};
	WcCellSource *lower = NULL;
	WcCellSource *upper = NULL;
	WcStatus	status;

	if (c->base_hidden)
		status = wc_cellsource_memory(f->family->id, wc_slice(NULL, 0), NULL, 0, scan->reversed, &lower, err);
	else
		status = s->storage->ops->open_source(s->table->stores[f->place], &options, &lower, err);
	if (status != WC_OK || !c->own_writes)
	{
		*src = lower;
		return status;
	}
	status = wc_cellsource_txn(s->storage, s->table, f->place, &s->at, c->base_hidden, options.bounds, scan->reversed,
							   &upper, err);
	if (status == WC_OK)
		status = merge_own(c, f, &options, lower, upper, src, err);
	if (status != WC_OK)
	{
		wc_cellsource_close(lower);
		wc_cellsource_close(upper);
	}
	return status;
}

/* One family in one lane; f is zeroed. */
static WcStatus
open_in_lane(OpenContext *c, const WcScanLane *lane, WcFamilyScan *f, const WcMatcherOptions *o, WcError *err)
{
	const WcScan *scan = &c->scanner->scan;
	WcCellSource *src;
	WcStatus	status;

	status = open_source(c, lane, f, o, &src, err);
	if (status == WC_OK)
		status = wc_storescan_open(src, o, c->scanner->at.cancel, &f->scan, err);
	if (status == WC_OK)
		wc_storescan_set_patience(f->scan, c->scanner->at.ahead);
	if (status == WC_OK && (scan->filter_ts_min != 0 || scan->filter_ts_max != WC_TS_LATEST))
		wc_storescan_filter(f->scan, scan->filter_ts_min, scan->filter_ts_max);
	if (status == WC_OK && (lane->points || c->scanner->at.ahead > 0))
		wc_storescan_watch_times(f->scan);
	if (status == WC_OK && c->scanner->filter != NULL)
		status = wc_storescan_set_filter(f->scan, c->scanner->filter, err);
	return status;
}

static WcStatus
open_family(OpenContext *c, uint32_t i, WcError *err)
{
	WcScanner  *s = c->scanner;
	const WcScan *scan = &s->scan;
	const WcFamilyDesc *family = &s->table->desc.families[i];
	WcFamilyScan f = {.family = family,.place = i};
	WcMatcherOptions o = {
		.mode = scan->raw ? WC_MATCH_RAW : WC_MATCH_READ,
		.columns_filter = scan->count_cells,
		.attrs = family->attrs,
		.now_us = c->scanner->now_us,
		/* the Scan's count what the filter lets through */
		.versions = s->lang != NULL ? WC_VERSIONS_MAX : scan->versions,
		.ts_min = scan->ts_min,
		.ts_max = scan->ts_max
	};
	uint32_t	n = s->nfamilies;
	WcStatus	status;

	if (scan->uncapped)
	{
		o.attrs.versions = WC_VERSIONS_MAX;
		if (o.attrs.min_versions > 0)
			o.attrs.min_versions = WC_VERSIONS_MAX; /* an expired version may be one of them when newer ones are deleted */
	}
	status = family_columns(s, family, &o, &f.wanted, err);
	f.existence = decides_existence(scan, family->id);
	if (status != WC_OK || !(f.wanted || f.existence))
		return status;
	if (scan->as_of_ts != WC_TS_LATEST)
		status = s->storage->ops->check_history(s->table, i, s->at.snapshot, scan->as_of_ts, err);
	if (status == WC_OK)
		status = wc_langcells_family(s, &f, err);
	if (status == WC_OK)
		s->nfamilies++;
	for (uint32_t k = 0; k < s->nlanes && status == WC_OK; k++)
	{
		s->lanes[k].families[n] = f;
		status = open_in_lane(c, &s->lanes[k], &s->lanes[k].families[n], &o, err);
	}
	return status;
}

/* As of a time: no newer cells, its clock, and nothing that is not committed. */
static WcStatus
go_back(WcScanner *s, OpenContext *c, WcError *err)
{
	WcScan	   *scan = &s->scan;
	char		name[2 * WC_NAME_MAX + 2];

	if (c->base_hidden && s->storage->ops->is_committed(s->storage, scan->table_id))
	{
		wc_error(err, WC_INVALID, "stored table \"%s\" cannot be seen as of an earlier time",
				 wc_table_desc_fullname(&s->table->desc, name, sizeof(name)));
		wc_error_detail(err, "This transaction has truncated it.");
		return WC_INVALID;
	}
	if (scan->ts_max > scan->as_of_ts)
		scan->ts_max = scan->as_of_ts + 1;
	if (scan->ts_min > scan->ts_max)
		scan->ts_min = scan->ts_max;
	if (c->scanner->now_us > scan->as_of_ts)
		c->scanner->now_us = scan->as_of_ts;
	c->own_writes = false;
	return WC_OK;
}

static WcStatus
open_families(WcScanner *s, WcError *err)
{
	OpenContext c = {.scanner = s};
	WcStatus	status;

	if (s->at.snapshot == NULL)
	{
		s->own_snapshot = s->storage->ops->take_snapshot(s->storage);
		if (s->own_snapshot == NULL)
			return wc_error(err, WC_NO_MEMORY, "out of memory for a snapshot");
		s->at.snapshot = s->own_snapshot;
	}
	status = s->storage->ops->open_table(s->storage, &s->at, s->scan.table_id, &s->table, &c.base_hidden, err);
	if (status == WC_OK)
		status = check_families(s, err);
	if (status != WC_OK)
		return status;
	c.own_writes = s->at.txn != NULL && wc_txn_touches(s->at.txn, s->scan.table_id, s->at.cid);
	s->now_us = s->at.now_us != 0 ? s->at.now_us : s->storage->ops->now(s->storage) + s->at.clock_offset_us;
	if (s->scan.as_of_ts != WC_TS_LATEST)
	{
		status = go_back(s, &c, err);
		if (status != WC_OK)
			return status;
	}
	s->provisional_after = c.own_writes && s->scan.want_ts ? s->storage->ops->provisional_ts(s->storage) - 1 : WC_TS_LATEST;
	for (uint32_t i = 0; i < s->nlanes; i++)
	{
		s->lanes[i].families = wc_arena_alloc_zero(&s->arena, s->table->desc.nfamilies * sizeof(WcFamilyScan));
		if (s->lanes[i].families == NULL)
			return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	}
	for (uint32_t i = 0; i < s->table->desc.nfamilies && status == WC_OK && !s->done; i++)
		status = open_family(&c, i, err);
	return status;
}

WcStatus
wc_scanner_open(WcStorage *storage, const WcScan *scan, const WcReadPoint *at, WcScanner **scanner, WcError *err)
{
	WcStatus	status = wc_scan_check(scan, err);
	WcScanner  *s;

	*scanner = NULL;
	if (status != WC_OK)
		return status;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	s->storage = storage;
	s->scan = *scan;
	s->at = *at;
	s->values_only = !scan->want_ts && !scan->key_only && scan->column_limit == 0 &&
		scan->column_offset == 0 && !scan->count_cells && scan->filter_text.len == 0;
	if (!copy_scan(&s->arena, &s->scan))
		status = wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	else
		status = wc_langcells_create(s, err);
	if (status == WC_OK && !set_lanes(s))
		status = wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	if (status == WC_OK)
		status = set_filter(s, err);
	if (status == WC_OK && s->scan.aggregation != NULL)
		status = wc_groups_create(&s->scan, &s->groups, err);
	s->scan.aggregation = NULL; /* the caller's */
	if (status == WC_OK)
		status = wc_distinct_create(&s->arena, &s->scan, &s->distinct, err);
	if (status == WC_OK)
		status = open_families(s, err);
	if (status != WC_OK)
	{
		wc_scanner_close(s);
		return status;
	}
	for (uint32_t i = 0; i < s->nlanes; i++)
		s->lanes[i].steps = s->nfamilies == 1 && !s->lanes[i].points && s->lanes[i].skip == NULL && s->distinct == NULL;
	s->copies_rows = s->lane->steps && s->nlanes == 1 && s->values_only && scan->rows_by_existence && s->filter == NULL && s->lang == NULL &&
		s->groups == NULL && s->lane->families[0].existence;
	*scanner = s;
	return WC_OK;
}

WcStatus
wc_scanner_share(WcScanner *s, WcSlice scan, const WcScanHelpers *helpers, WcError *err)
{
	if (s->done || s->nlanes > 1 || s->lane->nranges > 1 || s->lane->points || s->lang != NULL || s->distinct != NULL || s->at.txn != NULL ||
		(s->groups != NULL && wc_groups_need_order(s->groups)) || s->scan.row_limit > 0 || s->scan.row_offset > 0 || s->scan.count_cells || s->scan.batch_rows > 0)
		return WC_OK;
	s->shared_scan = wc_arena_copy(&s->arena, scan);
	if (s->shared_scan.data == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	s->helpers = *helpers;
	s->share_after = helpers->rows_alone;
	return WC_OK;
}

void
wc_scan_stats_sum(WcScanStats *sum, const WcScanStats *more)
{
	sum->rows_returned += more->rows_returned;
	sum->rows_examined += more->rows_examined;
	sum->rows_filtered += more->rows_filtered;
	sum->cells_returned += more->cells_returned;
	sum->cells_examined += more->cells_examined;
	sum->seeks += more->seeks;
	sum->cache_hits += more->cache_hits;
	sum->blocks_read += more->blocks_read;
}

void
wc_scanner_stats(const WcScanner *s, WcScanStats *stats)
{
	*stats = wc_scanner_rows(s);
	for (uint32_t k = 0; k < s->nlanes; k++)
	{
		for (uint32_t i = 0; i < s->nfamilies; i++)
		{
			uint64_t	cells;
			uint64_t	seeks;

			wc_storescan_counters(s->lanes[k].families[i].scan, &cells, &seeks);
			stats->cells_examined += cells;
			stats->seeks += seeks;
		}
	}
}

/* Adds what the parts have read. */
static void
add_parts(const WcScanParts *p, WcScanStats *stats) WC_UNCHECKED
{
	wc_scan_stats_sum(stats, &p->finished);
	for (uint32_t i = 0; i < p->nparts; i++)
	{
		WcScanStats one;

		if (p->parts[i].scanner == NULL)
			continue;
		wc_scanner_stats(p->parts[i].scanner, &one);
		wc_scan_stats_sum(stats, &one);
	}
}

WcScanStats
wc_scanner_rows(const WcScanner *s)
{
	WcScanStats stats = s->stats;

	if (s->parts != NULL)
		add_parts(s->parts, &stats);
	return stats;
}

uint32_t
wc_scanner_table_id(const WcScanner *s)
{
	return s->scan.table_id;
}

WcSnapshot *
wc_scanner_own_snapshot(const WcScanner *s)
{
	return s->own_snapshot;
}

int64_t
wc_scanner_valid_from_us(const WcScanner *s)
{
	return s->now_us;
}

int64_t
wc_scanner_valid_until_us(const WcScanner *s)
{
	int64_t		until = INT64_MAX;

	for (uint32_t k = 0; k < s->nlanes; k++)
	{
		for (uint32_t i = 0; i < s->nfamilies; i++)
		{
			int64_t		of_family = wc_storescan_valid_until_us(s->lanes[k].families[i].scan);

			if (of_family < until)
				until = of_family;
		}
	}
	return until;
}

void
wc_scanparts_free(WcScanParts *p) WC_UNCHECKED
{
	if (p == NULL)
		return;
	for (uint32_t i = 0; i < p->nparts; i++)
	{
		WcScanPart *part = &p->parts[i];

		wc_scanner_close(part->scanner);
		for (WcPartBlock *b = part->first, *next; b != NULL; b = next)
		{
			next = b->next;
			wc_buf_free(&b->bytes);
			free(b);
		}
	}
	pthread_mutex_destroy(&p->mutex);
	wc_arena_free(&p->arena);
	free(p);
}

void
wc_scanner_close(WcScanner *s)
{
	if (s == NULL)
		return;
	wc_scanparts_free(s->parts);	/* they read by its snapshot */
	for (uint32_t k = 0; k < s->nlanes; k++)
	{
		for (uint32_t i = 0; i < s->nfamilies; i++)
			wc_storescan_close(s->lanes[k].families[i].scan);
		wc_skip_free(s->lanes[k].skip);
	}
	s->storage->ops->close_table(s->table);
	if (s->own_snapshot)
		s->storage->ops->release_snapshot(s->storage, s->own_snapshot);
	wc_rowfilter_free(s->filter);
	wc_langcells_free(s);
	wc_groups_free(s->groups);
	wc_distinct_free(s->distinct);
	wc_arena_free(&s->arena);
	wc_buf_free(&s->again);
	free(s);
}
