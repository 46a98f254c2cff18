/*
 * read/scan/scanner.c: rows of several families, merged, into cell blocks.
 */
#include "read/scan/langrows.h"
#include "read/scan/scanparts.h"

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
		status = s->lang != NULL ? wc_langrows_next_cell(s, f, err) :
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

/* Must more rows, or cells, be skipped? */
static inline bool
is_skipping(const WcScanner *s)
{
	return s->rows_skipped < s->scan.row_offset;
}

/* count_cells: the same of the row's cells that are not skipped. */
static WcStatus
has_cells_left(WcScanner *s, bool *exists, WcError *err)
{
	WcStatus	status = has_cells(s, exists, err);

	while (status == WC_OK && *exists && is_skipping(s))
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
 * rows_by_existence: a row exists if one of some families has a visible cell.  Asks first the families that know without
 * reading a cell, then those whose cells are returned anyway, then those that are read for this question only, and at
 * last, if necessary, other columns of families whose cells are returned.
 */
static WcStatus
is_there(WcScanner *s, bool *exists, WcError *err)
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

/* To the next row to return; WC_END: none. */
static WcStatus
next_row(WcScanner *s, WcError *err)
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
			status = is_there(s, &exists, err);
		else
			status = s->scan.count_cells ? has_cells_left(s, &exists, err) : has_cells(s, &exists, err);
		if (status != WC_OK)
			return status;
		if (!exists)
			continue;
		if (!is_skipping(s))
			return WC_OK;
		s->rows_skipped++;
	}
}

/* --- blocks ---------------------------------------------------------------*/

/* A row that is larger than this is not gathered in a block before the filter has
 * decided, but read twice. */
#define GATHERED_MAX WC_BLOCK_MAX

/* Is the column there for the filter only? */
static inline bool
is_hidden(const WcScanner *s, uint32_t colno)
{
	return s->filter != NULL && !s->undecided && colno != WC_NO_COLUMN && colno >= s->shown;
}

/* Can the filter read its columns from the packed rows, instead of getting the cells one by one? */
static inline bool
is_plain(const WcScanner *s)
{
	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		const WcFamilyScan *f = &s->lane->families[i];

		if (f->here && f->wanted && !wc_storescan_plain(f->scan))
			return false;
	}
	return s->values_only;
}

/* Writes the key of a row that is not skipped, or undecided. */
static void
begin_row(WcScanner *s, WcBlockWriter *w)
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
	status = is_there(s, &exists, err);
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
	status = is_there(s, begun, err);
	if (status != WC_OK || !*begun)
		return status;
	s->undecided = verdict == WC_FILTER_UNDECIDED;
	*begun = s->undecided || !is_skipping(s);
	if (*begun)
		begin_row(s, w);
	else
		s->rows_skipped++;
	return WC_OK;
}

/*
 * Shows the row's cells to the filter and writes them, as long as they are few and
 * the row is not to be skipped; *kept: they all are written.
 */
static WcStatus
gather_row(WcScanner *s, WcBlockWriter *w, const WcBlockMark *mark, bool *kept, WcError *err)
{
	*kept = !is_skipping(s);
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
			if (enough && (is_skipping(s) || wc_rowfilter_verdict(s->filter) != WC_FILTER_PASSES))
				return WC_OK;
			if (!*kept || is_hidden(s, f->colno))
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
 * Moves to the next row that the filter accepts, and writes it into the block: the whole row, or only its key if the row
 * is large or undecided.  *paused: many rows were rejected, and the block is not empty.
 */
static WcStatus
next_passing_row(WcScanner *s, WcBlockWriter *w, bool *paused, WcError *err)
{
	for (uint32_t rejected = 0;; rejected++)
	{
		WcBlockMark mark = wc_block_mark(w);
		WcFilterVerdict verdict;
		bool		settled;
		bool		rejects;
		bool		exists;
		bool		kept;
		WcStatus	status;

		*paused = w->nrows > 0 && rejected == WC_REJECTED_MAX;
		if (*paused)
			return WC_OK;
		s->undecided = false;
		status = wc_scanlanes_next(s, err);
		if (status == WC_END)
			s->done = true;
		if (status != WC_OK)
			return status;
		status = look_at_key(s, &settled, &rejects, err);
		if (status != WC_OK)
			return status;
		if (rejects)
		{
			status = count_rejected(s, err);
			if (status != WC_OK)
				return status;
			continue;
		}
		if (settled || is_plain(s))
		{
			status = show_row(s, w, settled, &exists, err);
			if (status != WC_OK || exists)
				return status;
			continue;
		}
		if (!is_skipping(s))
			wc_block_row(w, s->lane->row, false);
		status = gather_row(s, w, &mark, &kept, err);
		if (status != WC_OK)
			return status;
		verdict = wc_rowfilter_verdict(s->filter);
		if (verdict != WC_FILTER_REJECTS)
		{
			status = is_there(s, &exists, err);
			if (status != WC_OK)
				return status;
		}
		if (verdict == WC_FILTER_PASSES && exists && kept)
		{
			s->stats.cells_returned += w->ncells - mark.ncells;
			for (uint32_t i = 0; i < s->nfamilies; i++)
				s->lane->families[i].returned += s->lane->families[i].gathered;
			return WC_OK;
		}
		wc_block_rewind(w, &mark);
		if (verdict == WC_FILTER_REJECTS)
			status = count_rejected(s, err);
		if (status != WC_OK)
			return status;
		if (verdict == WC_FILTER_REJECTS || !exists)
			continue;
		s->undecided = verdict == WC_FILTER_UNDECIDED;
		if (!s->undecided && is_skipping(s))
		{
			s->rows_skipped++;
			continue;
		}
		status = wc_scanlanes_again(s, err);
		if (status == WC_OK)
			begin_row(s, w);
		return status;
	}
}

/* Has all been returned that the Scan's limit allows? */
static inline bool
is_enough(const WcScanner *s)
{
	return s->scan.row_limit > 0 && s->rows_counted == s->scan.row_limit;
}

/* Writes the rest of a row whose cells are in memory; *full as write_row. */
static WcStatus
write_gathered(WcScanner *s, WcBlockWriter *w, size_t bytes_target, bool *full)
{
	WcFamilyScan *f;
	WcCell		cell;
	uint32_t	colno;

	*full = false;
	while (wc_langrows_peek(s, &cell, &colno, &f))
	{
		*full = wc_block_size(w) >= bytes_target;
		if (*full)
			break;
		wc_block_cell(w, colno, &cell, s->scan.want_ts, s->scan.key_only);
		f->returned++;
		s->stats.cells_returned++;
		wc_langrows_take(s);
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

/* Writes the rest of the row; *full: the block is full, and the row has more cells. */
static WcStatus
write_row(WcScanner *s, WcBlockWriter *w, size_t bytes_target, bool *full, WcError *err)
{
	uint32_t	shown = s->filter != NULL && !s->undecided ? s->shown : UINT32_MAX;

	*full = false;
	if (wc_langrows_gathers(s))
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
			if (s->scan.count_cells && is_enough(s))
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
			if (is_hidden(s, f->colno))
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

/* A row is finished: was it the last one that can be? */
static bool
was_last(const WcScanner *s)
{
	return is_enough(s) ||
		(s->nlanes == 1 && s->lane->points && s->lane->range + 1 == s->lane->nranges);
}

static WcStatus
fill_block(WcScanner *s, WcBlockWriter *w, size_t bytes_target, uint64_t rows_max, bool *full, WcError *err)
{
	WcStatus	status = WC_OK;
	bool		paused = false;

	*full = false;
	while (!s->done && !*full)
	{
		if (!s->in_row)
		{
			if ((rows_max > 0 && w->nrows >= rows_max) || wc_block_size(w) >= bytes_target)
				break;
			if (s->filter != NULL)
				status = next_passing_row(s, w, &paused, err);
			else
			{
				status = s->lang != NULL ? wc_langrows_next_row(s, w->nrows > 0, &paused, err) : next_row(s, err);
				if (status == WC_OK && !paused)
					wc_block_row(w, s->lane->row, false);
			}
			if (status != WC_OK || paused)
				break;
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
			s->rows_counted += !s->undecided && !s->scan.count_cells;
			s->done = was_last(s);
		}
	}
	return status == WC_END ? WC_OK : status;
}

/* Reports to the storage the reads since the last report. */
static void
tell_storage(WcScanner *s)
{
	if (s->told == NULL)
		s->told = wc_arena_alloc_zero(&s->arena, s->nfamilies * sizeof(*s->told));
	for (uint32_t i = 0; i < s->nfamilies && s->told != NULL; i++)
	{
		WcReadCounts now = {.reads = s->at.now_us == 0,.rows_examined = s->stats.rows_examined,.rows_returned = s->stats.rows_returned};
		WcReadCounts *told = &s->told[i];
		WcReadCounts news;

		for (uint32_t k = 0; k < s->nlanes; k++)
		{
			const WcFamilyScan *f = &s->lanes[k].families[i];
			uint64_t	cells;
			uint64_t	seeks;

			wc_storescan_counters(f->scan, &cells, &seeks);
			now.cells_examined += cells;
			now.cells_returned += f->returned;
		}
		news = (WcReadCounts) {
			.reads = now.reads - told->reads,.rows_examined = now.rows_examined - told->rows_examined,
			.rows_returned = now.rows_returned - told->rows_returned,
			.cells_examined = now.cells_examined - told->cells_examined,
			.cells_returned = now.cells_returned - told->cells_returned
		};
		s->storage->ops->count(s->table, s->lanes[0].families[i].place, &news);
		*told = now;
	}
}

/* --- groups ---------------------------------------------------------------*/

/* Groups in the place of rows; w ends with a whole row. */
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
	begin_row(s, w);
	return status;
}

/* Can the row be put into its group without its cells being given one by one? */
static inline bool
groups_plain(const WcScanner *s)
{
	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		const WcFamilyScan *f = &s->lane->families[i];

		if (f->here && f->wanted && !wc_storescan_plain(f->scan))
			return false;
	}
	return s->values_only || s->scan.ncolumns == 0;
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
	status = write_row(s, w, SIZE_MAX, &full, err);
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
			status = next_passing_row(s, w, paused, err);
		else
			status = next_row(s, err);
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
		s->done = was_last(s);
	}
	return WC_OK;
}

static WcStatus
fill_block_of_groups(WcScanner *s, WcBlockWriter *w, size_t bytes_target, bool *full, WcError *err)
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
		status = write_row(s, w, bytes_target, full, err);
		if (status == WC_OK && !*full)
		{
			s->in_row = s->undecided = false;
			s->stats.rows_returned++;
			s->done = was_last(s);
		}
	}
	if (status != WC_OK && status != WC_END)
		return status;
	if (s->done && !s->in_row)
		write_groups(s, w);
	return w->buf->failed ? wc_buf_status(w->buf, "cell block", err) : WC_OK;
}

WcStatus
wc_scanner_next(WcScanner *s, WcBuf *out, size_t bytes_target, uint64_t rows_max, WcError *err)
{
	size_t		start = out->len;
	WcReadMeter before = s->storage->ops->meter();
	WcReadMeter after;
	WcBlockWriter w;
	bool		full;
	WcStatus	status;

	wc_block_begin(&w, out, s->in_row);

	/* A block holds something at least: more than its own head. */
	if (bytes_target < 2)
		bytes_target = 2;
	if (rows_max == 0)
		rows_max = s->scan.batch_rows;
	if (s->parts != NULL)
		status = WC_OK;
	else if (s->groups != NULL)
		status = fill_block_of_groups(s, &w, bytes_target, &full, err);
	else
		status = fill_block(s, &w, bytes_target, rows_max, &full, err);
	after = s->storage->ops->meter();
	s->stats.cache_hits += after.cache_hits - before.cache_hits;
	s->stats.blocks_read += after.blocks_read - before.blocks_read;
	tell_storage(s);
	if (status == WC_OK && s->parts != NULL)
	{
		s->done = false;		/* unless the parts are */
		status = wc_scanparts_fill(s, &w, bytes_target, err);
		full = s->in_row;
	}
	if (status == WC_OK && out->failed)
		status = wc_buf_status(out, "cell block", err);
	for (uint32_t i = 0; s->scan.as_of_ts != WC_TS_LATEST && i < s->nfamilies && status == WC_OK; i++)
		status = s->storage->ops->recheck_history(s->table, s->lanes[0].families[i].place, s->scan.as_of_ts, err);
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
