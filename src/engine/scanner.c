/*
 * engine/scanner.c: rows of several families, merged, into cell blocks.
 */
#include "engine/history.h"
#include "engine/scanner.h"

/* --- rows -----------------------------------------------------------------*/

/* Takes what moving a family's scan said. */
static inline WcStatus
settle(WcFamilyScan *f, WcStatus status)
{
	f->on_row = status == WC_OK;
	return status == WC_END ? WC_OK : status;
}

/* Is row before the range, in scan order?  And: behind it? */
static inline bool
before_range(const WcScanner *s, WcSlice row)
{
	const WcRange *r = &s->ranges[s->range];

	return s->scan.reversed ? wc_range_behind_stop(r, row) : wc_range_before_start(r, row);
}

static inline bool
behind_range(const WcScanner *s, WcSlice row)
{
	const WcRange *r = &s->ranges[s->range];

	return s->scan.reversed ? wc_range_before_start(r, row) : wc_range_behind_stop(r, row);
}

/*
 * To the first row of the current range.  moved: the families stand where the
 * ranges before have left them, so that one which is at or behind the start
 * already, or at its end, stays.
 */
static WcStatus
enter_range(WcScanner *s, bool moved, WcError *err)
{
	const WcRange *r = &s->ranges[s->range];
	WcSlice		row = s->scan.reversed ? r->stop : r->start;
	bool		inclusive = s->scan.reversed ? r->stop_inclusive : r->start_inclusive;
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; i < s->nfamilies && status == WC_OK; i++)
	{
		WcFamilyScan *f = &s->families[i];

		if (moved && (!f->on_row || !before_range(s, wc_storescan_row(f->scan))))
			continue;
		status = settle(f, wc_storescan_seek(f->scan, row, inclusive, err));
	}
	return status;
}

/* Families that are on the scanner's row go to their next one. */
static WcStatus
leave_row(WcScanner *s, WcError *err)
{
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; i < s->nfamilies && status == WC_OK; i++)
	{
		WcFamilyScan *f = &s->families[i];

		if (f->here)
			status = settle(f, wc_storescan_next_row(f->scan, err));
		f->here = false;
	}
	return status;
}

/* The first of the families' rows, in scan order; false: there is none. */
static bool
first_row(WcScanner *s)
{
	bool		found = false;

	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		const WcFamilyScan *f = &s->families[i];
		WcSlice		row;
		int			c;

		if (!f->on_row)
			continue;
		row = wc_storescan_row(f->scan);
		c = found ? wc_slice_cmp(row, s->row) : 0;
		if (!found || (s->scan.reversed ? c > 0 : c < 0))
			s->row = row;
		found = true;
	}
	return found;
}

/* s->row is the scanner's row: which families have it? */
static void
start_row(WcScanner *s)
{
	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		WcFamilyScan *f = &s->families[i];

		f->here = f->on_row && (s->nfamilies == 1 || wc_slice_eq(wc_storescan_row(f->scan), s->row));
		f->drained = !f->here || !f->wanted;
		f->seen = f->has_cell = false;
		f->skipped = f->given = 0;
	}
	s->family = 0;
}

/* To the next row that is stored, in any of the ranges; WC_END: none. */
static WcStatus
next_stored_row(WcScanner *s, WcError *err)
{
	WcStatus	status = WC_OK;

	if (!s->positioned)
	{
		status = enter_range(s, false, err);
		s->positioned = true;
	}
	else if (!s->points)
		status = leave_row(s, err);
	else
		for (uint32_t i = 0; i < s->nfamilies; i++)
			s->families[i].on_row = false;

	while (status == WC_OK)
	{
		bool		found = first_row(s);

		if (found && !behind_range(s, s->row))
		{
			start_row(s);
			return WC_OK;
		}
		if ((!found && !s->points) || s->range + 1 == s->nranges)
			break;
		s->range++;
		status = enter_range(s, !s->points, err);
	}
	s->done = true;
	return status == WC_OK ? WC_END : status;
}

/* --- cells of a row -------------------------------------------------------*/

/* The next cell of the family to return, or it is drained. */
static WcStatus
advance(WcScanner *s, WcFamilyScan *f, WcError *err)
{
	while (!f->has_cell && !f->drained)
	{
		WcStatus	status;

		if (s->scan.column_limit > 0 && f->given == s->scan.column_limit)
		{
			f->drained = true;
			break;
		}
		status = wc_storescan_next(f->scan, &f->cell, &f->colno, err);
		if (status == WC_END)
			f->drained = true;
		else if (status != WC_OK)
			return status;
		else
		{
			f->seen = true;
			if (f->skipped < s->scan.column_offset)
				f->skipped++;
			else
				f->has_cell = true;
		}
	}
	return WC_OK;
}

/* HBase's rule: a row is there when at least one of its cells is returned. */
static WcStatus
has_cells(WcScanner *s, bool *exists, WcError *err)
{
	WcStatus	status = WC_OK;

	*exists = false;
	for (; s->family < s->nfamilies; s->family++)
	{
		WcFamilyScan *f = &s->families[s->family];

		status = advance(s, f, err);
		*exists = f->has_cell;
		if (*exists || status != WC_OK)
			break;
	}
	return status;
}

/*
 * rows_by_existence: when one of some families has a visible cell.  Those whose
 * cells are returned anyway are asked first, then those that are there for this
 * only, then, if need be, other columns of the former.
 */
static WcStatus
is_there(WcScanner *s, bool *exists, WcError *err)
{
	WcStatus	status = WC_OK;

	*exists = false;
	for (uint32_t i = 0; i < s->nfamilies && !*exists && status == WC_OK; i++)
	{
		WcFamilyScan *f = &s->families[i];

		if (!f->here || !f->existence || !f->wanted)
			continue;
		status = advance(s, f, err);
		*exists = f->seen;
	}
	for (int wanted = 0; wanted <= 1; wanted++)
	{
		for (uint32_t i = 0; i < s->nfamilies && !*exists && status == WC_OK; i++)
		{
			WcFamilyScan *f = &s->families[i];

			if (f->here && f->existence && f->wanted == (wanted == 1))
				status = wc_storescan_exists(f->scan, exists, err);
		}
	}
	return status;
}

/* To the next row to return; WC_END: none. */
static WcStatus
next_row(WcScanner *s, WcError *err)
{
	for (;;)
	{
		bool		exists;
		WcStatus	status = next_stored_row(s, err);

		if (status == WC_OK)
			status = s->scan.rows_by_existence ? is_there(s, &exists, err) : has_cells(s, &exists, err);
		if (status != WC_OK)
			return status;
		if (!exists)
			continue;
		if (s->rows_skipped == s->scan.row_offset)
			return WC_OK;
		s->rows_skipped++;
	}
}

/* --- blocks ---------------------------------------------------------------*/

/* Writes what is left of the row; *full: the block is, and there is more. */
static WcStatus
write_row(WcScanner *s, WcBlockWriter *w, size_t bytes_target, bool *full, WcError *err)
{
	*full = false;
	for (; s->family < s->nfamilies; s->family++)
	{
		WcFamilyScan *f = &s->families[s->family];

		while (!f->drained)
		{
			WcStatus	status = advance(s, f, err);

			if (status != WC_OK)
				return status;
			if (!f->has_cell)
				break;
			*full = wc_block_size(w) >= bytes_target;
			if (*full)
				return WC_OK;
			wc_block_cell(w, f->colno, &f->cell, s->scan.want_ts, s->scan.key_only);
			f->has_cell = false;
			f->given++;
			s->stats.cells_returned++;
		}
	}
	return WC_OK;
}

/* A row is finished: was it the last one that can be? */
static bool
was_last(const WcScanner *s)
{
	return (s->scan.row_limit > 0 && s->stats.rows_returned == s->scan.row_limit) ||
		(s->points && s->range + 1 == s->nranges);
}

static WcStatus
fill_block(WcScanner *s, WcBlockWriter *w, size_t bytes_target, uint64_t rows_max, bool *full, WcError *err)
{
	WcStatus	status = WC_OK;

	*full = false;
	while (!s->done && !*full)
	{
		if (!s->in_row)
		{
			if ((rows_max > 0 && w->nrows >= rows_max) || wc_block_size(w) >= bytes_target)
				break;
			status = next_row(s, err);
			if (status != WC_OK)
				break;
			wc_block_row(w, s->row);
			s->in_row = true;
		}
		status = write_row(s, w, bytes_target, full, err);
		if (status == WC_OK && w->buf->failed)
			status = wc_buf_status(w->buf, "cell block", err);
		if (status != WC_OK)
			break;
		if (!*full)
		{
			s->in_row = false;
			s->stats.rows_returned++;
			s->done = was_last(s);
		}
	}
	return status == WC_END ? WC_OK : status;
}

WcStatus
wc_scanner_next(WcScanner *s, WcBuf *out, size_t bytes_target, uint64_t rows_max, WcError *err)
{
	size_t		start = out->len;
	WcBlockWriter w;
	bool		full;
	WcStatus	status;

	wc_block_begin(&w, out, s->in_row);

	/* A block holds something at least: more than its own head. */
	if (bytes_target < 2)
		bytes_target = 2;
	if (rows_max == 0)
		rows_max = s->scan.batch_rows;
	status = fill_block(s, &w, bytes_target, rows_max, &full, err);
	if (status == WC_OK && out->failed)
		status = wc_buf_status(out, "cell block", err);
	for (uint32_t i = 0; s->scan.as_of_ts != WC_TS_LATEST && i < s->nfamilies && status == WC_OK; i++)
		status = wc_history_recheck(s->families[i].store, &s->table->desc, s->families[i].family,
									s->scan.as_of_ts, err);
	if (status != WC_OK)
	{
		out->len = start;
		s->done = true;
		s->in_row = false;
		return status;
	}
	wc_block_finish(&w, full, s->done);
	return s->done ? WC_END : WC_OK;
}
