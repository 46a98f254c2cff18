/*
 * read/cell/matcher.c: visibility, decided in one place.
 */
#include "read/cell/matcherimpl.h"

#include <stdlib.h>

#include "model/cellblock.h"

WcStatus
wc_matcher_create(const WcMatcherOptions *options, WcMatcher **matcher, WcError *err)
{
	WcMatcher  *m = calloc(1, sizeof(*m));
	WcStatus	status;

	*matcher = NULL;
	if (m == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	m->o = *options;
	m->valid_until_us = INT64_MAX;
	m->oldest_ts = options->attrs.ttl_us > 0 ? options->now_us - options->attrs.ttl_us : INT64_MIN;
	m->versions = options->attrs.versions;
	if (options->mode == WC_MATCH_RAW ||
		(options->mode == WC_MATCH_READ && options->versions < m->versions))
		m->versions = options->versions;
	status = wc_columntracker_init(&m->columns, options->columns, options->colnos, options->ncolumns, err);
	if (status != WC_OK)
	{
		free(m);
		return status;
	}
	*matcher = m;
	return WC_OK;
}

void
wc_matcher_free(WcMatcher *m)
{
	if (m == NULL)
		return;
	wc_columntracker_free(&m->columns);
	wc_deletetracker_free(&m->deletes);
	wc_buf_free(&m->qualifier);
	free(m);
}

void
wc_matcher_start_row(WcMatcher *m)
{
	wc_columntracker_start_row(&m->columns);
	wc_deletetracker_start_row(&m->deletes);
	m->in_column = false;
	m->family_marker = 0;
}

bool
wc_matcher_start_column(WcMatcher *m, WcSlice qualifier)
{
	m->qualifier.len = 0;
	wc_buf_append_slice(&m->qualifier, qualifier);
	if (m->qualifier.failed)
		return false;
	wc_deletetracker_start_column(&m->deletes);
	m->wanted = wc_columntracker_wants(&m->columns, qualifier, &m->colno);
	m->in_column = true;
	m->over = false;
	m->has_last = false;
	m->count = 0;
	m->nputs = 0;
	m->column_marker = 0;
	return true;
}

static inline bool
cell_ttl_is_over(const WcMatcher *m, const WcCell *cell)
{
	return cell->ttl_us > 0 && cell->ts < m->o.now_us - cell->ttl_us;
}

/*
 * The column has nothing more to give.  But in the column with the empty
 * qualifier there may still be the family's markers, which concern the columns
 * to come.
 */
static WcMatch
column_is_over(WcMatcher *m)
{
	m->over = true;
	return m->qualifier.len > 0 ? WC_MATCH_NEXT_COLUMN : WC_MATCH_SKIP;
}

static inline bool
is_duplicate(const WcMatcher *m, const WcCell *cell)
{
	return m->has_last && m->last_ts == cell->ts && m->last_type == cell->type;
}

static inline void
remember_last(WcMatcher *m, const WcCell *cell)
{
	m->has_last = true;
	m->last_ts = cell->ts;
	m->last_type = cell->type;
}

/* --- reads ----------------------------------------------------------------*/

static inline bool
behind_range(const WcMatcher *m, int64_t ts)
{
	return ts >= m->o.ts_max && m->o.ts_max != WC_TS_LATEST;
}

/* Without KEEP_DELETED_CELLS a marker later than the range still masks. */
static WcMatch
read_marker(WcMatcher *m, const WcCell *cell)
{
	bool		counts = cell->ts >= m->o.ts_min &&
		(m->o.attrs.keep_deleted == WC_KEEP_DELETED_FALSE || !behind_range(m, cell->ts));

	if (counts && !wc_deletetracker_add(&m->deletes, cell))
		return WC_MATCH_FAILED;
	return WC_MATCH_SKIP;
}

/* A cell of a column that is not wanted. */
static WcMatch
read_unwanted(WcMatcher *m, const WcCell *cell)
{
	WcSlice		next;

	if (cell->qualifier.len == 0)
		return wc_cell_is_marker(cell) ? read_marker(m, cell) : WC_MATCH_SKIP;
	switch (wc_columntracker_next(&m->columns, wc_buf_slice(&m->qualifier), &next))
	{
		case WC_NEXT_COLUMN_AT:
			return WC_MATCH_SEEK;
		case WC_NEXT_COLUMN_NONE:
			return WC_MATCH_DONE_ROW;
		default:
			return WC_MATCH_NEXT_COLUMN;
	}
}

/*
 * Does the family's TTL end the column before this put, its m->count-th?  As in HBase, a read that names the columns it wants
 * also shows an expired put whose next newer version has not expired.
 */
static inline bool
ttl_ends_column(const WcMatcher *m, const WcCell *cell)
{
	if (cell->ts >= m->oldest_ts || m->count <= m->o.attrs.min_versions)
		return false;
	return m->o.columns_filter || !wc_columntracker_names_all(&m->columns) || m->last_ts < m->oldest_ts;
}

static WcMatch
read_put(WcMatcher *m, const WcCell *cell)
{
	if (m->over)
		return WC_MATCH_SKIP;
	switch (wc_deletetracker_masks(&m->deletes, cell->ts))
	{
		case WC_MASKED_COLUMN:
			return column_is_over(m);
		case WC_MASKED_VERSION:
			return WC_MATCH_SKIP;
		case WC_NOT_MASKED:
			break;
	}
	if (behind_range(m, cell->ts))
		return WC_MATCH_SKIP;
	if (cell->ts < m->o.ts_min)
		return WC_MATCH_NEXT_COLUMN;	/* no marker that old counts either */
	if (is_duplicate(m, cell))
		return WC_MATCH_SKIP;
	m->count++;
	if (m->count > m->versions || ttl_ends_column(m, cell))
		return column_is_over(m);
	remember_last(m, cell);
	if (m->count < m->versions)
		return WC_MATCH_INCLUDE;
	m->over = true;
	return m->qualifier.len > 0 ? WC_MATCH_INCLUDE_NEXT_COLUMN : WC_MATCH_INCLUDE;
}

/* A cell that is not over may be some day. */
static inline void
note_end(WcMatcher *m, int64_t ts, int64_t ttl_us)
{
	if (ttl_us > 0 && wc_ttl_end(ts, ttl_us) < m->valid_until_us)
		m->valid_until_us = wc_ttl_end(ts, ttl_us);
}

static WcMatch
match_read(WcMatcher *m, const WcCell *cell)
{
	if (!m->wanted)
		return read_unwanted(m, cell);
	if (cell->ts < m->oldest_ts && m->o.attrs.min_versions == 0)
		return WC_MATCH_NEXT_COLUMN;
	if (cell_ttl_is_over(m, cell))
		return WC_MATCH_SKIP;
	note_end(m, cell->ts, cell->ttl_us);
	if (cell->ts >= m->oldest_ts)
		note_end(m, cell->ts, m->o.attrs.ttl_us);
	if (wc_cell_is_marker(cell))
		return read_marker(m, cell);
	return read_put(m, cell);
}

static WcMatch
match_raw(WcMatcher *m, const WcCell *cell)
{
	if (!m->wanted)
		return read_unwanted(m, cell);
	if (cell_ttl_is_over(m, cell) || behind_range(m, cell->ts))
		return WC_MATCH_SKIP;
	if (cell->ts < m->o.ts_min)
		return WC_MATCH_NEXT_COLUMN;
	if (is_duplicate(m, cell))
		return WC_MATCH_SKIP;
	if (!wc_cell_is_marker(cell) && ++m->count > m->versions)
		return WC_MATCH_NEXT_COLUMN;
	remember_last(m, cell);
	return WC_MATCH_INCLUDE;
}

/* --- compaction -----------------------------------------------------------*/

/* Are the cells that the marker masks kept (KEEP_DELETED_CELLS)?  Then the marker is kept, too. */
static inline bool
keeps_deleted(const WcMatcher *m, const WcCell *marker)
{
	return m->o.attrs.keep_deleted == WC_KEEP_DELETED_TRUE ||
		(m->o.attrs.keep_deleted == WC_KEEP_DELETED_TTL && marker->ts >= m->oldest_ts);
}

static void
note_marker(WcMatcher *m, const WcCell *marker)
{
	if (marker->type == WC_DELETE_FAMILY && marker->ts > m->family_marker)
		m->family_marker = marker->ts;
	else if (marker->type == WC_DELETE_COLUMN)
		m->column_marker = marker->ts;
}

static void
note_put(WcMatcher *m, int64_t ts)
{
	if (m->nputs == 0)
		m->newest_put = ts;
	else if (m->puts[(m->nputs - 1) % WC_PUTS_REMEMBERED] == ts)
		return;
	m->puts[m->nputs++ % WC_PUTS_REMEMBERED] = ts;
}

/*
 * Does a major compaction drop the marker?  It does if the cells that the marker masks are dropped, unless the marker's
 * timestamp was given, and lately.  If the masked cells are kept, it drops the marker when no put is that old any more.
 */
static inline bool
purges(const WcMatcher *m, const WcCell *marker, bool keeps)
{
	if (marker->ts != marker->seq && marker->seq > m->o.dated_until_ts)
		return false;
	return !keeps || marker->ts < m->o.earliest_put_ts;
}

bool
wc_matcher_purges(const WcMatcher *m, const WcCell *marker)
{
	return purges(m, marker, keeps_deleted(m, marker));
}

static WcMatch
compact_marker(WcMatcher *m, const WcCell *cell)
{
	bool		keeps = keeps_deleted(m, cell);

	if (!keeps)
	{
		if (!wc_deletetracker_add(&m->deletes, cell))
			return WC_MATCH_FAILED;
		note_marker(m, cell);
	}

	/* Behind what VERSIONS has cut off go a column's markers; those of the whole family,
	 * which stand with the empty qualifier, mask other columns still. */
	if (m->over && (cell->type == WC_DELETE || cell->type == WC_DELETE_COLUMN))
		return WC_MATCH_SKIP;
	if (m->o.mode == WC_MATCH_MAJOR && purges(m, cell, keeps))
		return WC_MATCH_SKIP;
	if (is_duplicate(m, cell))
		return WC_MATCH_SKIP;
	remember_last(m, cell);
	return WC_MATCH_INCLUDE;
}

static WcMatch
compact_put(WcMatcher *m, const WcCell *cell)
{
	if (m->over)
		return WC_MATCH_SKIP;
	switch (wc_deletetracker_masks(&m->deletes, cell->ts))
	{
		case WC_MASKED_COLUMN:
			return column_is_over(m);
		case WC_MASKED_VERSION:
			return WC_MATCH_SKIP;
		case WC_NOT_MASKED:
			break;
	}
	if (is_duplicate(m, cell))
		return WC_MATCH_SKIP;
	m->count++;
	if (m->count > m->versions || (m->count > m->o.attrs.min_versions && cell->ts < m->oldest_ts))
		return column_is_over(m);
	remember_last(m, cell);
	note_put(m, cell->ts);
	return WC_MATCH_INCLUDE;
}

static WcMatch
match_compaction(WcMatcher *m, const WcCell *cell)
{
	if (cell->ts < m->oldest_ts && m->o.attrs.min_versions == 0)
		return WC_MATCH_NEXT_COLUMN;
	if (cell_ttl_is_over(m, cell))
		return WC_MATCH_SKIP;
	return wc_cell_is_marker(cell) ? compact_marker(m, cell) : compact_put(m, cell);
}

/* --- reads that need a dropped cell ----------------------------------------------
 *
 * Several rules may have dropped the cell; the result is the latest of their times.
 */

/* The time from which on the column has n newer puts; 0: it has fewer. */
static int64_t
superseded_from(const WcMatcher *m, uint32_t n)
{
	if (n == 0 || m->nputs < n)
		return 0;
	if (n > WC_PUTS_REMEMBERED)
		return m->newest_put;
	return m->puts[(m->nputs - n) % WC_PUTS_REMEMBERED];
}

static inline int64_t
later_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t
needed_until(const WcMatcher *m, const WcCell *cell)
{
	bool		old = cell->ts < m->oldest_ts;
	int64_t		until;

	/* in any case the cell has expired from then on */
	if (cell_ttl_is_over(m, cell))
		return cell->ts + cell->ttl_us + 1;
	if (old && m->o.attrs.min_versions == 0)
		return cell->ts + m->o.attrs.ttl_us + 1;

	until = superseded_from(m, m->versions);
	if (old)
		until = later_of(until, later_of(superseded_from(m, m->o.attrs.min_versions),
										 cell->ts + m->o.attrs.ttl_us + 1));

	/* without KEEP_DELETED_CELLS deleting it has made it invisible to all times */
	if (m->o.attrs.keep_deleted != WC_KEEP_DELETED_FALSE)
		until = later_of(until, m->column_marker > 0 ? m->column_marker : m->family_marker);
	return until;
}

int64_t
wc_matcher_drop(WcMatcher *m, const WcCell *cell)
{
	int64_t		until;

	/* a marker must not be dropped before the cells that it masks */
	if (wc_cell_is_marker(cell))
		return later_of(m->nputs > 0 ? m->newest_put : 0, needed_until(m, cell));
	until = needed_until(m, cell);
	if (m->nputs > 0 && !cell_ttl_is_over(m, cell))
		note_put(m, cell->ts);
	return until;
}

/* --- one cell -------------------------------------------------------------*/

WcMatch
wc_matcher_match(WcMatcher *m, const WcCell *cell, uint32_t *colno)
{
	WcMatch		match;

	if (!m->in_column || !wc_slice_eq(cell->qualifier, wc_buf_slice(&m->qualifier)))
	{
		if (!wc_matcher_start_column(m, cell->qualifier))
			return WC_MATCH_FAILED;
	}
	*colno = m->colno;
	switch (m->o.mode)
	{
		case WC_MATCH_READ:
			match = match_read(m, cell);
			break;
		case WC_MATCH_RAW:
			match = match_raw(m, cell);
			break;
		default:
			match = match_compaction(m, cell);
			break;
	}
	return match;
}

int64_t
wc_matcher_valid_until_us(const WcMatcher *m)
{
	return m->valid_until_us;
}

WcSlice
wc_matcher_seek_to(const WcMatcher *m)
{
	WcSlice		next;

	(void) wc_columntracker_next(&m->columns, wc_buf_slice(&m->qualifier), &next);
	return next;
}

WcNextColumn
wc_matcher_next_column(const WcMatcher *m, WcSlice *qualifier)
{
	return wc_columntracker_next(&m->columns, wc_buf_slice(&m->qualifier), qualifier);
}
