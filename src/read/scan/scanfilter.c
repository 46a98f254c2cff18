/*
 * read/scan/scanfilter.c: the rows that the Scan's filter accepts.
 */
#include "read/scan/scannerstate.h"

/* A row that is larger than this is not gathered in a block before the filter has
 * decided, but read twice. */
#define GATHERED_MAX WC_BLOCK_MAX

/*
 * Shows the row's key to the filter, unless rows before it have said that it fails.
 * *settled: no cell is needed; *rejects: and the verdict is that.
 */
static WcStatus
look_at_key(WcScanner *s, bool *settled, bool *rejects, WcError *err)
{
	WcSkip	   *skip = s->lane->skip;

	*settled = *rejects = true;
	if (skip != NULL && wc_skip_covers(skip, s->lane->row))
		return WC_OK;
	*settled = wc_rowfilter_start_row(s->filter, s->lane->row);
	*rejects = *settled && wc_rowfilter_verdict(s->filter) == WC_FILTER_REJECTS;
	if (!*rejects || skip == NULL)
		return WC_OK;
	return wc_skip_rejected(skip, s->lane->row, wc_rowfilter_parts(s->filter), err);
}

/*
 * Counts a row that the filter rejects; a deleted row does not count.  To find out may need cells that the filter does
 * not need, so it is done only if the count is wanted (EXPLAIN ANALYZE).
 */
static WcStatus
count_rejected(WcScanner *s, WcError *err)
{
	bool		exists;
	WcStatus	status;

	if (!s->scan.measured)
		return WC_OK;
	status = wc_scanner_row_exists(s, &exists, err);
	s->stats.rows_filtered += status == WC_OK && exists;
	return status;
}

/*
 * Shows the filter a row of which every family is plain, or no cell is needed (settled).
 * *begun: it passes and is not skipped, and its key is in the block.
 */
static WcStatus
show_row(WcScanner *s, WcBlockWriter *w, bool settled, bool *begun, WcError *err)
{
	WcStatus	status = WC_OK;
	WcFilterVerdict verdict;

	for (uint32_t i = 0; i < s->nfamilies && !settled && status == WC_OK; i++)
	{
		WcFamilyScan *f = &s->lane->families[i];

		if (f->here && f->wanted)
			status = wc_storescan_show(f->scan, err);
	}
	if (status != WC_OK)
		return status;
	verdict = wc_rowfilter_verdict(s->filter);
	*begun = false;
	if (verdict == WC_FILTER_REJECTS)
		return count_rejected(s, err);
	status = wc_scanner_row_exists(s, begun, err);
	if (status != WC_OK || !*begun)
		return status;
	s->undecided = verdict == WC_FILTER_UNDECIDED;
	*begun = s->undecided || !wc_scanner_is_skipping(s);
	if (*begun)
		wc_scanner_begin_row(s, w);
	else
		wc_scanner_skip(s);
	return WC_OK;
}

/*
 * Shows the row's cells to the filter and writes them, as long as they are few and
 * the row is not to be skipped; *kept: they all are written.
 */
static WcStatus
gather_row(WcScanner *s, WcBlockWriter *w, const WcBlockMark *mark, bool *kept, WcError *err)
{
	*kept = !wc_scanner_is_skipping(s);
	for (uint32_t i = 0; i < s->nfamilies; i++)
		s->lane->families[i].gathered = 0;
	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		WcFamilyScan *f = &s->lane->families[i];

		for (;;)
		{
			WcStatus	status = wc_scanner_advance(s, f, err);
			bool		enough;

			if (status != WC_OK)
				return status;
			if (!f->has_cell)
				break;
			f->has_cell = false;
			enough = wc_rowfilter_cell(s->filter, f->colno, f->cell.value, f->cell.ts);
			if (enough && (wc_scanner_is_skipping(s) || wc_rowfilter_verdict(s->filter) != WC_FILTER_PASSES))
				return WC_OK;
			if (!*kept || wc_scanner_is_hidden(s, f->colno))
				continue;
			*kept = w->buf->len - mark->len + f->cell.value.len + f->cell.qualifier.len <= GATHERED_MAX;
			if (*kept)
			{
				wc_block_cell(w, f->colno, &f->cell, s->scan.want_ts, s->scan.key_only);
				f->gathered++;
			}
		}
	}
	return WC_OK;
}

/*
 * All cells of the row have been shown to the filter.  kept: they are in the block, after mark.  *found: the row passes,
 * or is undecided, and is not skipped.
 */
static WcStatus
judge_row(WcScanner *s, WcBlockWriter *w, const WcBlockMark *mark, bool kept, bool *found, WcError *err)
{
	WcFilterVerdict verdict = wc_rowfilter_verdict(s->filter);
	bool		exists = false;
	WcStatus	status = WC_OK;

	if (verdict != WC_FILTER_REJECTS)
		status = wc_scanner_row_exists(s, &exists, err);
	if (status != WC_OK)
		return status;
	*found = verdict == WC_FILTER_PASSES && exists && kept;
	if (*found)
	{
		s->stats.cells_returned += w->ncells - mark->ncells;
		for (uint32_t i = 0; i < s->nfamilies; i++)
			s->lane->families[i].returned += s->lane->families[i].gathered;
		return WC_OK;
	}
	wc_block_rewind(w, mark);
	if (verdict == WC_FILTER_REJECTS)
		return count_rejected(s, err);
	if (!exists)
		return WC_OK;
	s->undecided = verdict == WC_FILTER_UNDECIDED;
	if (!s->undecided && wc_scanner_is_skipping(s))
	{
		wc_scanner_skip(s);
		return WC_OK;
	}
	*found = true;
	status = wc_scanlanes_again(s, err);
	if (status == WC_OK)
		wc_scanner_begin_row(s, w);
	return status;
}

/* Shows the filter the row that the scanner is on; *found as judge_row. */
static WcStatus
try_row(WcScanner *s, WcBlockWriter *w, bool *found, WcError *err)
{
	WcBlockMark mark = wc_block_mark(w);
	bool		settled;
	bool		rejects;
	bool		kept;
	WcStatus	status = look_at_key(s, &settled, &rejects, err);

	*found = false;
	if (status != WC_OK)
		return status;
	if (rejects)
		return count_rejected(s, err);
	if (settled || (s->values_only && wc_scanner_is_plain(s)))
		return show_row(s, w, settled, found, err);
	if (!wc_scanner_is_skipping(s))
		wc_block_row(w, s->lane->row, false);
	status = gather_row(s, w, &mark, &kept, err);
	return status == WC_OK ? judge_row(s, w, &mark, kept, found, err) : status;
}

WcStatus
wc_scanner_next_passing(WcScanner *s, WcBlockWriter *w, bool *paused, WcError *err)
{
	bool		found = false;

	for (uint32_t rejected = 0; !found; rejected++)
	{
		WcStatus	status;

		*paused = w->nrows > 0 && rejected == WC_REJECTED_MAX;
		if (*paused)
			return WC_OK;
		s->undecided = false;
		status = wc_scanlanes_next(s, err);
		if (status == WC_END)
			s->done = true;
		if (status == WC_OK)
			status = try_row(s, w, &found, err);
		if (status != WC_OK)
			return status;
	}
	return WC_OK;
}
