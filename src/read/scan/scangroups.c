/*
 * read/scan/scangroups.c: returns groups of rows instead of rows.
 */
#include "read/scan/scannerstate.h"

/* Writes the groups, as rows; w ends with a whole row. */
static void
write_groups(WcScanner *s, WcBlockWriter *w)
{
	s->stats.rows_returned += wc_groups_write(s->groups, w);
}

/* Begins an undecided row, behind the groups that come before it. */
static WcStatus
begin_undecided(WcScanner *s, WcBlockWriter *w, const WcBlockMark *mark, WcError *err)
{
	WcStatus	status = WC_OK;

	wc_block_rewind(w, mark);
	if (wc_groups_ordered(s->groups))
		write_groups(s, w);
	if (!s->undecided)
		status = wc_scanlanes_again(s, err);
	s->undecided = true;
	wc_scanner_begin_row(s, w);
	return status;
}

/* Can the row be put into its group without its cells being given one by one? */
static inline bool
groups_plain(const WcScanner *s)
{
	return (s->values_only || s->scan.ncolumns == 0) && wc_scanner_is_plain(s);
}

static WcStatus
add_plain(WcScanner *s, WcGroupsAdded *added, WcError *err)
{
	WcStatus	status = WC_OK;

	wc_groups_start_row(s->groups, s->lane->row);
	for (uint32_t i = 0; i < s->nfamilies && status == WC_OK; i++)
	{
		WcFamilyScan *f = &s->lane->families[i];

		if (f->here && f->wanted)
			status = wc_storescan_group(f->scan, s->groups, s->filter != NULL ? s->shown : UINT32_MAX, err);
	}
	return status == WC_OK ? wc_groups_add(s->groups, added, err) : status;
}

/* Writes another row, or the rest of a row whose beginning the filter has left in the block, after mark. */
static WcStatus
add_written(WcScanner *s, WcBlockWriter *w, const WcBlockMark *mark, WcGroupsAdded *added, WcError *err)
{
	uint64_t	cells_returned = s->stats.cells_returned;
	bool		full;
	WcStatus	status;

	if (s->filter == NULL)
		wc_block_row(w, s->lane->row, false);
	status = wc_scanner_write_row(s, w, SIZE_MAX, &full, err);
	s->stats.cells_returned = cells_returned;
	if (status == WC_OK && w->buf->failed)
		status = wc_buf_status(w->buf, "cell block", err);
	if (status != WC_OK)
		return status;
	return wc_groups_add_entries(s->groups, wc_slice(w->buf->data + mark->len, w->buf->len - mark->len), added, err);
}

/* Puts the row into its group, and takes it out of the block. */
static WcStatus
add_to_group(WcScanner *s, WcBlockWriter *w, const WcBlockMark *mark, WcGroupsAdded *added, WcError *err)
{
	WcStatus	status = groups_plain(s) ? add_plain(s, added, err) : add_written(s, w, mark, added, err);

	wc_block_rewind(w, mark);
	if (status != WC_OK || *added != WC_GROUPS_FULL)
		return status;
	write_groups(s, w);
	return wc_groups_add(s->groups, added, err);
}

/*
 * Puts rows into groups, up to one that is undecided: its key is in the block then (in_row).
 * *paused: there is something to send.
 */
static WcStatus
group_rows(WcScanner *s, WcBlockWriter *w, size_t bytes_target, bool *paused, WcError *err)
{
	bool		only_count = wc_groups_only_count(s->groups);

	*paused = false;
	while (!s->done && !*paused)
	{
		WcBlockMark mark = wc_block_mark(w);
		WcGroupsAdded added = WC_GROUPS_ADDED;
		WcStatus	status;

		*paused = wc_block_size(w) >= bytes_target;
		if (*paused)
			break;
		if (s->filter != NULL)
			status = wc_scanner_next_passing(s, w, paused, err);
		else
			status = wc_scanner_next_row(s, err);
		if (status != WC_OK || *paused)
			return status;
		if (s->undecided)
			added = WC_GROUPS_UNDECIDED;
		else if (only_count)
		{
			status = wc_groups_count_row(s->groups, s->lane->row, err);
			wc_block_rewind(w, &mark);
		}
		else
			status = add_to_group(s, w, &mark, &added, err);
		if (status != WC_OK)
			return status;
		if (added == WC_GROUPS_UNDECIDED)
		{
			s->in_row = true;
			return begin_undecided(s, w, &mark, err);
		}
		s->done = wc_scanner_was_last(s);
	}
	return WC_OK;
}

WcStatus
wc_scanner_fill_groups(WcScanner *s, WcBlockWriter *w, size_t bytes_target, bool *full, WcError *err)
{
	WcStatus	status = WC_OK;
	bool		paused = false;

	*full = false;
	while (!s->done && !*full && !paused && status == WC_OK)
	{
		if (!s->in_row)
			status = group_rows(s, w, bytes_target, &paused, err);
		if (status != WC_OK || !s->in_row)
			continue;
		status = wc_scanner_write_row(s, w, bytes_target, full, err);
		if (status == WC_OK && !*full)
		{
			s->in_row = s->undecided = false;
			s->stats.rows_returned++;
			s->done = wc_scanner_was_last(s);
		}
	}
	if (status != WC_OK && status != WC_END)
		return status;
	if (s->done && !s->in_row)
		write_groups(s, w);
	return w->buf->failed ? wc_buf_status(w->buf, "cell block", err) : WC_OK;
}
