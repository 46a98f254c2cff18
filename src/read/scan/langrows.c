/*
 * read/scan/langrows.c: the rows of a scan that has a filter in HBase's language.
 */
#include "read/scan/langrows.h"

#include <stdlib.h>

#include "base/printable.h"

/* Of a row key in a message. */
#define SHOWN_MAX 128

/* The row's cells that the filter has let through, behind one another. */
static WcStatus
gather(WcScanner *s, uint32_t family, WcError *err)
{
	WcLangRows *lang = s->lang;
	WcFamilyScan *f = &s->lane->families[family];
	char		shown[SHOWN_MAX];

	for (;;)
	{
		WcStatus	status = wc_scanner_advance(s, f, err);
		WcLangGathered g = {.family = family,.colno = f->colno,.cell = f->cell,.at = lang->bytes.len};

		if (status != WC_OK || !f->has_cell)
			return status;
		f->has_cell = false;
		f->given++;
		wc_buf_append_slice(&lang->bytes, f->cell.qualifier);
		wc_buf_append_slice(&lang->bytes, f->cell.value);
		wc_buf_append(&lang->cells, &g, sizeof(g));
		if (lang->cells.failed)
			return wc_buf_status(&lang->cells, "cells of a row", err);
		if (lang->bytes.failed && lang->bytes.wanted <= WC_FILTER_ROW_MAX)
			return wc_buf_status(&lang->bytes, "cells of a row", err);
		if (!lang->bytes.failed && lang->bytes.len + lang->cells.len <= WC_FILTER_ROW_MAX)
			continue;
		wc_error(err, WC_TOO_LARGE, "row \"%s\" is too large for a filter that decides on whole rows",
				 wc_printable(shown, sizeof(shown), s->lane->row));
		wc_error_detail(err, "What the filter lets through of the row takes more than %d bytes, of which %zu are for each cell.",
						WC_FILTER_ROW_MAX, sizeof(g));
		return WC_TOO_LARGE;
	}
}

static WcStatus
gather_families(WcScanner *s, bool needed, WcError *err)
{
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; i < s->nfamilies && status == WC_OK; i++)
	{
		const WcFamilyScan *f = &s->lane->families[i];

		if (f->here && f->lang->needed == needed)
			status = gather(s, i, err);
	}
	return status;
}

/* Drops the cells that the filter does not keep. */
static void
drop_cells(WcScanner *s)
{
	WcLangGathered   *cells = (WcLangGathered *) s->lang->cells.data;
	uint32_t	n = 0;

	for (uint32_t i = 0; i < wc_langcells_gathered(s); i++)
	{
		WcCell		cell = wc_lang_gathered_cell(s, &cells[i]);
		WcLangCell	shown = wc_lang_cell(s, &s->lane->families[cells[i].family], &cell);

		if (wc_langfilter_keeps(s->lang->filter, &shown))
			cells[n++] = cells[i];
	}
	s->lang->cells.len = n * sizeof(WcLangGathered);
}

static int
compare_gathered(const void *a, const void *b)
{
	const WcLangGathered *x = a;
	const WcLangGathered *y = b;

	if (x->family != y->family)
		return (x->family > y->family) - (x->family < y->family);
	return (x->at > y->at) - (x->at < y->at);
}

/* All that is returned of the row; *exists: something is. */
static WcStatus
gather_row(WcScanner *s, bool *exists, WcError *err)
{
	WcLangRows *lang = s->lang;
	uint32_t	nneeded;
	WcStatus	status;

	*exists = false;
	lang->next = 0;
	wc_buf_reset(&lang->bytes, WC_BLOCK_MAX);
	wc_buf_reset(&lang->cells, WC_BLOCK_MAX);
	status = gather_families(s, true, err);
	if (status != WC_OK || wc_langcells_gathered(s) == 0)
		return status;
	if (wc_langfilter_decides_rows(lang->filter))
		drop_cells(s);
	/* of a row without a cell left HBase does not ask whether it is rejected */
	if (wc_langcells_gathered(s) > 0 && wc_langfilter_row(lang->filter))
		return WC_OK;
	nneeded = wc_langcells_gathered(s);
	status = gather_families(s, false, err);
	if (status != WC_OK)
		return status;
	*exists = wc_langcells_gathered(s) > 0;
	if (wc_langcells_gathered(s) > nneeded)
		qsort(lang->cells.data, wc_langcells_gathered(s), sizeof(WcLangGathered), compare_gathered);
	return WC_OK;
}

/* Is there a cell to return?  Then the first one is the current one. */
static WcStatus
find_cell(WcScanner *s, bool *exists, WcError *err)
{
	WcStatus	status = WC_OK;

	*exists = false;
	for (s->family = 0; s->family < s->nfamilies && status == WC_OK && !*exists; s->family += !*exists)
	{
		WcFamilyScan *f = &s->lane->families[s->family];

		status = wc_scanner_advance(s, f, err);
		*exists = f->has_cell;
	}
	return status;
}

/* Shows the filter the cells of a row that it has rejected by its key: one of them may end the scan. */
static WcStatus
show_rejected(WcScanner *s, WcError *err)
{
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; i < s->nfamilies && status == WC_OK; i++)
	{
		WcFamilyScan *f = &s->lane->families[i];

		if (!f->here || !f->lang->needed)
			continue;
		do
		{
			f->given += f->has_cell;
			f->has_cell = false;
			status = wc_scanner_advance(s, f, err);
		} while (status == WC_OK && f->has_cell);
	}
	return status;
}

/* Another row.  Does the filter see it?  Only where a family has it that it needs to decide. */
static bool
start_row(WcScanner *s)
{
	bool		seen = false;

	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		WcFamilyScan *f = &s->lane->families[i];
		struct WcLangFamily *l = f->lang;

		l->leaves = l->in_column = l->skips = l->seeks = false;
		f->drained |= l->closed;
		seen |= f->here && l->needed && !l->closed;
	}
	return seen;
}

/* Another Get of several: to its filter the row is the first. */
static void
restart(WcScanner *s)
{
	wc_langfilter_restart(s->lang->filter);
	for (uint32_t i = 0; i < s->nfamilies; i++)
		s->lane->families[i].lang->closed = false;
}

/* Is any family left of which the filter may let something through? */
static bool
is_over(const WcScanner *s)
{
	if (wc_langfilter_all_remaining(s->lang->filter))
		return true;
	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		const struct WcLangFamily *l = s->lane->families[i].lang;

		if (l->needed && !l->closed)
			return false;
	}
	return true;
}

/* Moves to the next stored row and passes its key to the filter; *found: the filter does not reject the key. */
static WcStatus
next_stored_row(WcScanner *s, bool *found, WcError *err)
{
	bool		rejects;
	WcStatus	status = WC_END;

	*found = false;
	if (s->lane->points)
		restart(s);
	wc_langfilter_reset(s->lang->filter);
	if (!is_over(s))
		status = wc_scanlanes_next(s, err);
	if (status != WC_OK || !start_row(s))
		return status;
	status = wc_langcells_name_place(s, NULL, wc_langfilter_row_key(s->lang->filter, s->lane->row, &rejects, err), err);
	*found = status == WC_OK && !rejects;
	if (status != WC_OK || *found)
		return status;
	if (wc_langfilter_all_remaining(s->lang->filter))
		return s->lane->points ? WC_OK : WC_END;
	return !s->scan.reversed && wc_langfilter_watches_cells(s->lang->filter) ? show_rejected(s, err) : WC_OK;
}

WcStatus
wc_langrows_next_row(WcScanner *s, bool may_pause, bool *paused, WcError *err)
{
	*paused = false;
	for (uint32_t rejected = 0;; rejected++)
	{
		bool		exists;
		WcStatus	status;

		*paused = may_pause && rejected == WC_REJECTED_MAX;
		if (*paused)
			return WC_OK;
		status = next_stored_row(s, &exists, err);
		if (status == WC_END)
			s->done = true;
		if (status == WC_OK && exists)
			status = s->lang->gathers ? gather_row(s, &exists, err) : find_cell(s, &exists, err);
		if (status != WC_OK || exists)
			return status;
	}
}
