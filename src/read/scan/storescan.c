/*
 * read/scan/storescan.c: the visible cells of one family.
 *
 * Rows that are one key-value, and simple (packedrow.h), are read without the matcher: no cell of such a row affects
 * another, so only each cell's timestamp must be checked.  If one version is wanted, of any time, rows that contain only
 * puts are read in the same way: the first cell of each column is the newest version.
 */
#include "read/scan/storescan.h"

#include <stdlib.h>

#include "base/buf.h"
#include "model/cellblock.h"
#include "read/cell/columntracker.h"
#include "read/cell/packedrow.h"

struct WcStoreScan
{
	WcCellSource *src;
	WcMatcherOptions o;
	WcMatcher  *matcher;		/* made when a row needs it */
	WcMatcher  *any_column;		/* the same for wc_storescan_exists */
	const atomic_bool *cancel;
	uint32_t	patience;		/* at so many checks of cancel the scan is cancelled; 0: at none */
	uint32_t	ticks;			/* cells and rows since the last check of cancel */
	int64_t		filter_min;		/* of timestamps, behind the matcher */
	int64_t		filter_max;

	/* the current row */
	bool		over;			/* nothing more is wanted of it */
	bool		leave_column;	/* before the next cell */
	bool		simple;
	bool		commit_times;	/* wc_storescan_has_commit_times */
	bool		plain;			/* wc_storescan_plain */
	bool		whole;			/* wc_storescan_whole */
	size_t		column;			/* simple: the next exact column */

	/* rows that are one key-value */
	WcPackedRow *packed;		/* NULL: the source has none */
	WcColumnTracker columns;
	bool		exact;			/* nothing but exact columns is wanted */
	bool		ends;			/* the family has a TTL: every put of a simple row expires */
	bool		any_time;		/* none is too old or too new, nor will be */
	bool		newest;			/* one version is wanted, whatever its time */
	bool		watches_times;	/* commit_times is wanted */
	int64_t		oldest_ts;		/* of puts that a simple row shows */
	int64_t		valid_until_us;	/* the time at which the first of the returned cells expires */
	uint64_t	simple_cells;
	WcRowFilter *filter;		/* or NULL */
	WcWantedColumn *filtered;	/* columns that it looks at, ascending */
	size_t		nfiltered;
	WcBuf		row;
};

WcStatus
wc_storescan_open(WcCellSource *src, const WcMatcherOptions *options, const atomic_bool *cancel,
				  WcStoreScan **scan, WcError *err)
{
	WcStoreScan *ss = calloc(1, sizeof(*ss));
	WcStatus	status = WC_OK;

	*scan = NULL;
	if (ss == NULL)
	{
		wc_cellsource_close(src);
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	}
	ss->src = src;
	ss->o = *options;
	ss->cancel = cancel;
	ss->filter_max = WC_TS_LATEST;
	ss->valid_until_us = INT64_MAX;
	ss->over = true;
	if (options->mode == WC_MATCH_READ || options->mode == WC_MATCH_RAW)
		ss->packed = src->ops->packed_row ? src->ops->packed_row(src) : NULL;
	if (ss->packed != NULL)
	{
		status = wc_columntracker_init(&ss->columns, options->columns, options->colnos, options->ncolumns, err);
		ss->exact = !ss->columns.everything && ss->columns.nranges == 0;
		ss->oldest_ts = options->ts_min;
		ss->ends = options->mode == WC_MATCH_READ && options->attrs.ttl_us > 0 && options->attrs.min_versions == 0;
		if (ss->ends && options->now_us - options->attrs.ttl_us > ss->oldest_ts)
			ss->oldest_ts = options->now_us - options->attrs.ttl_us;
		ss->any_time = !ss->ends && ss->oldest_ts <= 0 && options->ts_max == WC_TS_LATEST;
		ss->newest = ss->any_time && options->mode == WC_MATCH_READ && options->versions == 1;
	}
	if (status != WC_OK)
	{
		wc_storescan_close(ss);
		return status;
	}
	*scan = ss;
	return WC_OK;
}

void
wc_storescan_close(WcStoreScan *ss)
{
	if (ss == NULL)
		return;
	wc_cellsource_close(ss->src);
	wc_matcher_free(ss->matcher);
	wc_matcher_free(ss->any_column);
	wc_columntracker_free(&ss->columns);
	free(ss->filtered);
	wc_buf_free(&ss->row);
	free(ss);
}

void
wc_storescan_filter(WcStoreScan *ss, int64_t ts_min, int64_t ts_max)
{
	ss->filter_min = ts_min;
	ss->filter_max = ts_max;
}

static inline bool
passes_filter(const WcStoreScan *ss, int64_t ts)
{
	return ts >= ss->filter_min && (ts < ss->filter_max || ss->filter_max == WC_TS_LATEST);
}

WcSlice
wc_storescan_row(const WcStoreScan *ss)
{
	return ss->src->row;
}

void
wc_storescan_counters(const WcStoreScan *ss, uint64_t *cells, uint64_t *seeks)
{
	*cells = ss->src->cells + ss->simple_cells;
	*seeks = ss->src->seeks;
}

static inline int64_t
sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t
wc_storescan_valid_until_us(const WcStoreScan *ss)
{
	int64_t		until = ss->valid_until_us;

	if (ss->matcher)
		until = sooner(until, wc_matcher_valid_until_us(ss->matcher));
	if (ss->any_column)
		until = sooner(until, wc_matcher_valid_until_us(ss->any_column));
	return until;
}

static inline WcStatus
poll_cancel(WcStoreScan *ss, WcError *err)
{
	if (++ss->ticks < WC_CANCEL_CELLS)
		return WC_OK;
	ss->ticks = 0;
	if ((ss->cancel && atomic_load_explicit(ss->cancel, memory_order_relaxed)) || (ss->patience > 0 && --ss->patience == 0))
		return wc_error(err, WC_CANCELLED, "scan was cancelled");
	return WC_OK;
}

/* --- rows -----------------------------------------------------------------*/

static WcStatus
start_matcher(WcStoreScan *ss, WcError *err)
{
	if (ss->matcher == NULL)
	{
		WcStatus	status = wc_matcher_create(&ss->o, &ss->matcher, err);

		if (status != WC_OK)
			return status;
	}
	wc_matcher_start_row(ss->matcher);
	return WC_OK;
}

/* May a cell of a simple row be shown?  Notes when it will not any more. */
static inline bool
in_time(WcStoreScan *ss, int64_t ts)
{
	if (ss->any_time)
		return true;
	if (ts < ss->oldest_ts || (ts >= ss->o.ts_max && ss->o.ts_max != WC_TS_LATEST))
		return false;
	if (ss->ends)
		ss->valid_until_us = sooner(ss->valid_until_us, wc_ttl_end(ts, ss->o.attrs.ttl_us));
	return true;
}

/* Does the filter let all timestamps pass? */
static inline bool
passes_all(const WcStoreScan *ss)
{
	return ss->filter_min <= 0 && ss->filter_max == WC_TS_LATEST;
}

/* Is the current row read without the matcher? */
static inline bool
is_simple(const WcStoreScan *ss)
{
	if (ss->packed == NULL)
		return false;
	return (ss->packed->flags & WC_PACKED_SIMPLE) ||
		(ss->newest && passes_all(ss) && ss->packed->flags != 0 && wc_packedrow_puts_only(ss->packed));
}

/* Of a simple row: are all cells visible, or none? */
static inline bool
are_alike(WcStoreScan *ss)
{
	if (ss->packed->flags & WC_PACKED_PLAIN)
		return in_time(ss, ss->packed->ts) && passes_filter(ss, ss->packed->ts);
	return ss->any_time && passes_all(ss);
}

/* The source has moved to a row (or says why not). */
static WcStatus
start_row(WcStoreScan *ss, WcStatus status, WcError *err)
{
	ss->over = status != WC_OK;
	ss->leave_column = false;
	ss->plain = ss->whole = false;
	if (status != WC_OK)
		return status;
	ss->commit_times = ss->watches_times && ss->packed != NULL && ss->packed->flags != 0 && wc_packedrow_has_commit_times(ss->packed);
	ss->simple = is_simple(ss);
	if (!ss->simple)
		return start_matcher(ss, err);
	ss->column = 0;
	wc_columntracker_start_row(&ss->columns);
	if ((ss->exact || ss->columns.everything) && ss->packed->left > 0 && are_alike(ss))
	{
		ss->plain = ss->exact;
		ss->whole = ss->columns.everything;
	}
	return WC_OK;
}

void
wc_storescan_watch_times(WcStoreScan *ss)
{
	ss->watches_times = true;
}

bool
wc_storescan_has_commit_times(const WcStoreScan *ss)
{
	return ss->commit_times;
}

WcStatus
wc_storescan_seek(WcStoreScan *ss, WcSlice row, bool inclusive, WcError *err)
{
	WcStatus	status = poll_cancel(ss, err);

	if (status != WC_OK)
		return status;
	return start_row(ss, ss->src->ops->seek_row(ss->src, row, inclusive, err), err);
}

WcStatus
wc_storescan_next_row(WcStoreScan *ss, WcError *err)
{
	WcStatus	status = poll_cancel(ss, err);

	if (status != WC_OK)
		return status;
	return start_row(ss, ss->src->ops->next_row(ss->src, err), err);
}

/* --- cells of simple rows -------------------------------------------------*/

/* The next wanted cell, of any timestamp; false: no more, or corrupt. */
static bool
next_wanted(WcStoreScan *ss, WcCell *cell, uint32_t *colno)
{
	if (ss->exact)
	{
		while (ss->column < ss->columns.ncolumns && ss->packed->left > 0)
		{
			WcWantedColumn *wanted = &ss->columns.columns[ss->column++];

			if (wc_packedrow_find(ss->packed, wanted->qualifier, &wanted->before, cell))
			{
				*colno = wanted->colno;
				return true;
			}
		}
		return false;
	}
	while (wc_packedrow_next_column(ss->packed, cell))
	{
		if (wc_columntracker_wants(&ss->columns, cell->qualifier, colno))
			return true;
	}
	return false;
}

static WcStatus
next_simple(WcStoreScan *ss, WcCell *cell, uint32_t *colno, WcError *err)
{
	WcStatus	status;

	while (next_wanted(ss, cell, colno))
	{
		ss->simple_cells++;
		status = poll_cancel(ss, err);
		if (status != WC_OK)
			return status;
		if (in_time(ss, cell->ts) && passes_filter(ss, cell->ts))
		{
			cell->row = ss->src->row;
			cell->family = ss->src->family;
			return WC_OK;
		}
	}
	ss->over = true;
	status = wc_packedrow_status(ss->packed, ss->src->row, err);
	return status == WC_OK ? WC_END : status;
}

/* --- plain rows -----------------------------------------------------------*/

bool
wc_storescan_plain(const WcStoreScan *ss)
{
	return ss->plain;
}

void
wc_storescan_set_patience(WcStoreScan *ss, uint32_t patience)
{
	ss->patience = patience;
}

WcStatus
wc_storescan_set_filter(WcStoreScan *ss, WcRowFilter *filter, WcError *err)
{
	ss->filter = filter;
	if (!ss->exact)
		return WC_OK;
	ss->filtered = malloc((ss->columns.ncolumns + 1) * sizeof(WcWantedColumn));
	if (ss->filtered == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	for (size_t i = 0; i < ss->columns.ncolumns; i++)
	{
		WcWantedColumn *wanted = &ss->columns.columns[i];

		wanted->filtered = wc_rowfilter_wants(filter, wanted->colno);
		if (wanted->filtered)
			ss->filtered[ss->nfiltered++] = *wanted;
	}
	return WC_OK;
}

WcStatus
wc_storescan_show(WcStoreScan *ss, WcError *err)
{
	WcPackedRow row = *ss->packed;
	bool		enough = false;

	for (size_t i = 0; i < ss->nfiltered && !enough; i++)
	{
		WcWantedColumn *wanted = &ss->filtered[i];
		WcCell		cell;

		if (!wc_packedrow_find(&row, wanted->qualifier, &wanted->before, &cell))
			continue;
		ss->simple_cells++;
		enough = wc_rowfilter_cell(ss->filter, wanted->colno, cell.value, cell.ts);
	}
	return wc_packedrow_status(&row, ss->src->row, err);
}

WcStatus
wc_storescan_copy(WcStoreScan *ss, WcBlockWriter *w, uint32_t shown, size_t bytes_target, bool *full, WcError *err)
{
	*full = false;
	for (; ss->column < ss->columns.ncolumns && ss->packed->left > 0; ss->column++)
	{
		WcWantedColumn *wanted = &ss->columns.columns[ss->column];
		bool		is_full = wc_block_size(w) >= bytes_target;
		WcPackedRow here;
		WcCell		cell;

		if (is_full)
			here = *ss->packed;
		if (wanted->colno >= shown || !wc_packedrow_find(ss->packed, wanted->qualifier, &wanted->before, &cell))
			continue;
		if (is_full)
		{
			*ss->packed = here;
			*full = true;
			return WC_OK;
		}
		ss->simple_cells += !wanted->filtered;
		wc_block_value(w, wanted->colno, cell.value);
	}
	ss->over = true;
	return wc_packedrow_status(ss->packed, ss->src->row, err);
}

bool
wc_storescan_whole(const WcStoreScan *ss)
{
	return ss->whole && !ss->over;
}

WcStatus
wc_storescan_copy_whole(WcStoreScan *ss, WcBlockWriter *w, size_t bytes_target, bool *full, WcError *err)
{
	WcCell		cell = {.family = ss->src->family};
	WcSlice		bytes;
	bool		plain = (ss->packed->flags & WC_PACKED_PLAIN) != 0;

	*full = false;
	while (ss->packed->left > 0)
	{
		*full = wc_block_size(w) >= bytes_target;
		if (*full)
			return WC_OK;
		if (!(plain ? wc_packedrow_next_bytes(ss->packed, &bytes) : wc_packedrow_next_column(ss->packed, &cell)))
			break;
		ss->simple_cells++;
		if (plain)
			wc_block_named(w, ss->src->family, bytes);
		else
			wc_block_cell(w, WC_NO_COLUMN, &cell, false, false);
	}
	ss->over = true;
	return wc_packedrow_status(ss->packed, ss->src->row, err);
}

WcStatus
wc_storescan_copy_rows(WcStoreScan *ss, WcRowsCopy *copy, WcBlockWriter *w, WcError *err)
{
	bool		full = false;

	copy->rows = 0;
	copy->end = WC_ROWS_ENOUGH;
	while (copy->rows < copy->rows_most && wc_block_size(w) < copy->bytes_target && !w->buf->failed)
	{
		WcStatus	status = wc_storescan_next_row(ss, err);

		if (status != WC_OK)
		{
			copy->end = WC_ROWS_END;
			return status == WC_END ? WC_OK : status;
		}
		if (!(ss->plain || ss->whole) || wc_range_is_left(copy->range, ss->src->row, ss->src->reversed))
		{
			copy->end = WC_ROWS_OTHER;
			return WC_OK;
		}
		wc_block_row(w, ss->src->row, false);
		copy->rows++;
		if (copy->cells && ss->plain)
			status = wc_storescan_copy(ss, w, UINT32_MAX, copy->bytes_most, &full, err);
		else if (copy->cells)
			status = wc_storescan_copy_whole(ss, w, copy->bytes_most, &full, err);
		if (status != WC_OK)
			return status;
		if (full)
		{
			copy->end = WC_ROWS_CUT;
			return WC_OK;
		}
	}
	return WC_OK;
}

WcStatus
wc_storescan_group(WcStoreScan *ss, WcGroups *groups, uint32_t shown, WcError *err)
{
	for (; ss->column < ss->columns.ncolumns && ss->packed->left > 0; ss->column++)
	{
		WcWantedColumn *wanted = &ss->columns.columns[ss->column];
		WcCell		cell;

		if (wanted->colno >= shown || !wc_packedrow_find(ss->packed, wanted->qualifier, &wanted->before, &cell))
			continue;
		ss->simple_cells += !wanted->filtered;
		wc_groups_cell(groups, wanted->colno, cell.value);
	}
	ss->over = true;
	return wc_packedrow_status(ss->packed, ss->src->row, err);
}

/* --- cells ----------------------------------------------------------------*/

static WcStatus
leave_column(WcStoreScan *ss, WcError *err)
{
	WcSlice		qualifier;

	ss->leave_column = false;
	switch (wc_matcher_next_column(ss->matcher, &qualifier))
	{
		case WC_NEXT_COLUMN_ANY:
			return ss->src->ops->seek_column(ss->src, qualifier, true, err);
		case WC_NEXT_COLUMN_AT:
			return ss->src->ops->seek_column(ss->src, qualifier, false, err);
		case WC_NEXT_COLUMN_NONE:
			ss->over = true;
			break;
	}
	return WC_OK;
}

/* One cell through the matcher; *included: it is visible. */
static WcStatus
match_one(WcStoreScan *ss, const WcCell *cell, uint32_t *colno, bool *included, WcError *err)
{
	*included = false;
	switch (wc_matcher_match(ss->matcher, cell, colno))
	{
		case WC_MATCH_INCLUDE:
			*included = true;
			return WC_OK;
		case WC_MATCH_INCLUDE_NEXT_COLUMN:
			*included = true;
			ss->leave_column = true;
			return WC_OK;
		case WC_MATCH_SKIP:
			return WC_OK;
		case WC_MATCH_NEXT_COLUMN:
			return leave_column(ss, err);
		case WC_MATCH_SEEK:
			return ss->src->ops->seek_column(ss->src, wc_matcher_seek_to(ss->matcher), false, err);
		case WC_MATCH_DONE_ROW:
			ss->over = true;
			return WC_OK;
		case WC_MATCH_FAILED:
			break;
	}
	return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
}

/*
 * Skips a visible cell that the filter of timestamps rejects.  The next cells of its column are older: if this one is too
 * old, so are they.  But the column without a name has the family's markers, too.
 */
static WcStatus
pass_over(WcStoreScan *ss, const WcCell *cell, WcError *err)
{
	if (ss->leave_column || (cell->ts < ss->filter_min && cell->qualifier.len > 0))
		return leave_column(ss, err);
	return WC_OK;
}

WcStatus
wc_storescan_next(WcStoreScan *ss, WcCell *cell, uint32_t *colno, WcError *err)
{
	bool		included = false;
	WcStatus	status = WC_OK;

	if (ss->over)
		return WC_END;
	if (ss->simple)
		return next_simple(ss, cell, colno, err);
	if (ss->leave_column)
		status = leave_column(ss, err);
	while (status == WC_OK && !ss->over && !included)
	{
		status = ss->src->ops->next_cell(ss->src, cell, err);
		if (status == WC_OK)
			status = poll_cancel(ss, err);
		if (status == WC_OK)
			status = match_one(ss, cell, colno, &included, err);
		if (status == WC_OK && included && !passes_filter(ss, cell->ts))
		{
			included = false;
			status = pass_over(ss, cell, err);
		}
	}
	if (status == WC_OK && !included)
		status = WC_END;
	if (status != WC_OK)
		ss->over = true;
	return status;
}

WcStatus
wc_storescan_pass_to(WcStoreScan *ss, WcSlice qualifier, bool after, WcError *err)
{
	if (ss->over || ss->simple)
		return WC_OK;
	return ss->src->ops->seek_column(ss->src, qualifier, after, err);
}

/* --- existence ------------------------------------------------------------*/

/* Starts the row once more, with a matcher that wants every column. */
static WcStatus
match_any_column(WcStoreScan *ss, bool *exists, WcError *err)
{
	WcStatus	status = WC_OK;
	WcCell		cell;
	WcSlice		qualifier;
	uint32_t	colno;

	if (ss->any_column == NULL)
	{
		WcMatcherOptions o = ss->o;

		o.ncolumns = 0;
		status = wc_matcher_create(&o, &ss->any_column, err);
	}
	if (status != WC_OK)
		return status;
	ss->row.len = 0;
	wc_buf_append_slice(&ss->row, ss->src->row);
	if (ss->row.failed)
		return wc_buf_status(&ss->row, "row key", err);
	status = ss->src->ops->seek_row(ss->src, wc_buf_slice(&ss->row), true, err);
	wc_matcher_start_row(ss->any_column);
	while (status == WC_OK && !*exists)
	{
		WcMatch		match;

		status = ss->src->ops->next_cell(ss->src, &cell, err);
		if (status == WC_OK)
			status = poll_cancel(ss, err);
		if (status != WC_OK)
			break;
		match = wc_matcher_match(ss->any_column, &cell, &colno);
		if (match == WC_MATCH_FAILED)
			return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
		*exists = match == WC_MATCH_INCLUDE || match == WC_MATCH_INCLUDE_NEXT_COLUMN;
		if (match == WC_MATCH_NEXT_COLUMN)
		{
			(void) wc_matcher_next_column(ss->any_column, &qualifier);
			status = ss->src->ops->seek_column(ss->src, qualifier, true, err);
		}
	}
	return status == WC_END ? WC_OK : status;
}

bool
wc_storescan_tells(WcStoreScan *ss, bool *exists)
{
	if (!ss->simple || !(ss->any_time || (ss->packed->flags & WC_PACKED_PLAIN)))
		return false;
	*exists = ss->packed->ncells > 0 && in_time(ss, ss->packed->ts);
	return true;
}

WcStatus
wc_storescan_exists(WcStoreScan *ss, bool *exists, WcError *err)
{
	WcStatus	status;
	WcCell		cell;
	uint32_t	colno;

	*exists = false;
	if (wc_storescan_tells(ss, exists))
	{
		ss->over = true;
		return WC_OK;
	}
	if (ss->o.ncolumns > 0)
	{
		ss->over = true;
		return match_any_column(ss, exists, err);
	}
	status = wc_storescan_next(ss, &cell, &colno, err);
	*exists = status == WC_OK;
	ss->over = true;
	return status == WC_END ? WC_OK : status;
}
