/*
 * read/scan/scanrow.c: a row of several families, and its cells.
 */
#include "read/scan/langcells.h"

/* --- cells of a row -------------------------------------------------------*/

WcStatus
wc_scanner_advance(WcScanner *s, WcFamilyScan *f, WcError *err)
{
	while (!f->has_cell && !f->drained)
	{
		WcStatus	status;

		if (s->scan.column_limit > 0 && f->given == s->scan.column_limit)
		{
			f->drained = true;
			break;
		}
		status = s->lang != NULL ? wc_langcells_next(s, f, err) :
			wc_storescan_next(f->scan, &f->cell, &f->colno, err);
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

/* HBase's rule: a row exists if at least one of its cells is returned. */
static WcStatus
has_cells(WcScanner *s, bool *exists, WcError *err)
{
	WcStatus	status = WC_OK;

	*exists = false;
	for (; s->family < s->nfamilies; s->family++)
	{
		WcFamilyScan *f = &s->lane->families[s->family];

		status = wc_scanner_advance(s, f, err);
		*exists = f->has_cell;
		if (*exists || status != WC_OK)
			break;
	}
	return status;
}

/* count_cells: the same of the row's cells that are not skipped. */
static WcStatus
has_cells_left(WcScanner *s, bool *exists, WcError *err)
{
	WcStatus	status = has_cells(s, exists, err);

	while (status == WC_OK && *exists && wc_scanner_is_skipping(s))
	{
		WcFamilyScan *f = &s->lane->families[s->family];

		f->has_cell = false;
		f->given++;
		s->rows_skipped++;
		status = has_cells(s, exists, err);
	}
	return status;
}

/*
 * Asks first the families that know without reading a cell, then those whose cells are returned anyway, then those that
 * are read for this question only, and at last, if necessary, other columns of families whose cells are returned.
 */
WcStatus
wc_scanner_row_exists(WcScanner *s, bool *exists, WcError *err)
{
	WcStatus	status = WC_OK;

	*exists = false;
	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		WcFamilyScan *f = &s->lane->families[i];

		if (f->here && f->existence && wc_storescan_tells(f->scan, exists) && *exists)
			return WC_OK;
	}
	for (uint32_t i = 0; i < s->nfamilies && !*exists && status == WC_OK; i++)
	{
		WcFamilyScan *f = &s->lane->families[i];

		if (!f->here || !f->existence || !f->wanted)
			continue;
		status = wc_scanner_advance(s, f, err);
		*exists = f->seen;
	}
	for (int wanted = 0; wanted <= 1; wanted++)
	{
		for (uint32_t i = 0; i < s->nfamilies && !*exists && status == WC_OK; i++)
		{
			WcFamilyScan *f = &s->lane->families[i];

			if (f->here && f->existence && f->wanted == (wanted == 1))
				status = wc_storescan_exists(f->scan, exists, err);
		}
	}
	return status;
}

WcStatus
wc_scanner_next_row(WcScanner *s, WcError *err)
{
	for (;;)
	{
		bool		exists;
		WcStatus	status = wc_scanlanes_next(s, err);

		if (status == WC_END)
			s->done = true;
		if (status != WC_OK)
			return status;
		if (s->scan.rows_by_existence)
			status = wc_scanner_row_exists(s, &exists, err);
		else
			status = s->scan.count_cells ? has_cells_left(s, &exists, err) : has_cells(s, &exists, err);
		if (status != WC_OK)
			return status;
		if (!exists)
			continue;
		if (!wc_scanner_is_skipping(s))
			return WC_OK;
		wc_scanner_skip(s);
	}
}

/* --- writing --------------------------------------------------------------*/

void
wc_scanner_begin_row(WcScanner *s, WcBlockWriter *w)
{
	uint64_t	owed = s->scan.row_offset - s->rows_skipped;

	if (owed == 0)
	{
		wc_block_row(w, s->lane->row, s->undecided);
		return;
	}
	/* how many rows have been skipped is not known here any more */
	wc_block_row_owing(w, s->lane->row, owed);
	s->rows_skipped = s->scan.row_offset;
	if (s->scan.row_limit > 0)
		s->scan.row_limit = s->scan.row_limit > UINT64_MAX - owed ? UINT64_MAX : s->scan.row_limit + owed;
}

/* Writes the rest of a row whose cells are in memory; *full as wc_scanner_write_row. */
static WcStatus
write_gathered(WcScanner *s, WcBlockWriter *w, size_t bytes_target, bool *full)
{
	WcFamilyScan *f;
	WcCell		cell;
	uint32_t	colno;

	*full = false;
	while (wc_langcells_peek(s, &cell, &colno, &f))
	{
		*full = wc_block_size(w) >= bytes_target;
		if (*full)
			break;
		wc_block_cell(w, colno, &cell, s->scan.want_ts, s->scan.key_only);
		f->returned++;
		s->stats.cells_returned++;
		wc_langcells_take(s);
	}
	return WC_OK;
}

/* Writes the rest of a family's cells of the row, all of which are wanted. */
static WcStatus
copy_whole(WcScanner *s, WcFamilyScan *f, WcBlockWriter *w, size_t bytes_target, bool *full, WcError *err)
{
	uint64_t	before = w->ncells;
	WcStatus	status = wc_storescan_copy_whole(f->scan, w, bytes_target, full, err);

	s->stats.cells_returned += w->ncells - before;
	f->returned += w->ncells - before;
	f->given += w->ncells - before;
	f->drained = status == WC_OK && !*full;
	return status;
}

WcStatus
wc_scanner_write_row(WcScanner *s, WcBlockWriter *w, size_t bytes_target, bool *full, WcError *err)
{
	uint32_t	shown = s->filter != NULL && !s->undecided ? s->shown : UINT32_MAX;

	*full = false;
	if (wc_langcells_gathers(s))
		return write_gathered(s, w, bytes_target, full);
	for (; s->family < s->nfamilies; s->family++)
	{
		WcFamilyScan *f = &s->lane->families[s->family];

		if (!f->drained && !f->has_cell && s->values_only && wc_storescan_plain(f->scan))
		{
			uint64_t	ncells = w->ncells;
			WcStatus	status = wc_storescan_copy(f->scan, w, shown, bytes_target, full, err);

			s->stats.cells_returned += w->ncells - ncells;
			f->returned += w->ncells - ncells;
			if (status != WC_OK || *full)
				return status;
			f->drained = true;
		}
		while (!f->drained)
		{
			WcStatus	status;

			if (!f->has_cell && s->values_only && wc_storescan_whole(f->scan))
			{
				status = copy_whole(s, f, w, bytes_target, full, err);
				if (status != WC_OK || *full)
					return status;
				break;
			}
			if (s->scan.count_cells && wc_scanner_has_enough(s))
				return WC_OK;
			status = wc_scanner_advance(s, f, err);
			if (status != WC_OK)
				return status;
			if (!f->has_cell)
				break;
			*full = wc_block_size(w) >= bytes_target;
			if (*full)
				return WC_OK;
			f->has_cell = false;
			if (wc_scanner_is_hidden(s, f->colno))
				continue;
			wc_block_cell(w, f->colno, &f->cell, s->scan.want_ts, s->scan.key_only);
			f->given++;
			f->returned++;
			s->stats.cells_returned++;
			s->rows_counted += s->scan.count_cells;
		}
	}
	return WC_OK;
}
