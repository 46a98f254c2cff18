/*
 * read/scan/scanblock.c: rows, or groups, that a scanner reads alone, into cell blocks.
 */
#include "read/scan/langrows.h"
#include "read/scan/scanblock.h"

#define ROW_ROOM_MAX (8 * 1024)

/* A row that begins in the block is not cut if the block then has at most so many bytes: the reader has less to do with whole
 * rows. */
static size_t
most_bytes(size_t bytes_target)
{
	return bytes_target + (bytes_target / 4 < ROW_ROOM_MAX ? bytes_target / 4 : ROW_ROOM_MAX);
}

/* So many rows, at most, the scanner's limits allow to write before fill_rows must look at them again. */
static uint64_t
rows_ahead(const WcScanner *s, const WcBlockWriter *w, uint64_t rows_max)
{
	uint64_t	rows = rows_max > 0 ? rows_max - w->nrows : UINT64_MAX;

	if (s->scan.row_limit > 0 && s->scan.row_limit - s->rows_counted < rows)
		rows = s->scan.row_limit - s->rows_counted;
	if (s->share_after > 0 && s->stats.rows_examined <= s->share_after && s->share_after - s->stats.rows_examined < rows)
		rows = s->share_after - s->stats.rows_examined;
	return rows;
}

/* Lets the family write the rows behind the lane's row, up to a row that fill_rows must take itself; *full as wc_scanner_write_row. */
static WcStatus
copy_rows(WcScanner *s, WcBlockWriter *w, size_t bytes_target, uint64_t rows_max, bool *full, WcError *err)
{
	WcScanLane *lane = s->lane;
	WcFamilyScan *f = &lane->families[0];
	WcRowsCopy	copy = {
		.range = &lane->ranges[lane->range],.cells = f->wanted,.bytes_target = bytes_target,.bytes_most = most_bytes(bytes_target),
		.rows_most = rows_ahead(s, w, rows_max)
	};
	uint64_t	ncells = w->ncells;
	WcStatus	status;

	if (!lane->positioned || lane->moved || !f->here || wc_scanner_is_skipping(s) || copy.rows_most == 0)
		return WC_OK;
	status = wc_storescan_copy_rows(f->scan, &copy, w, err);
	if (status == WC_OK && w->buf->failed)
		status = wc_buf_status(w->buf, "cell block", err);
	*full = s->in_row = copy.end == WC_ROWS_CUT;
	lane->moved = copy.end == WC_ROWS_OTHER || copy.end == WC_ROWS_END;
	f->on_row = copy.end != WC_ROWS_END;
	f->here = !lane->moved;
	if (f->here)
		lane->row = wc_storescan_row(f->scan);
	f->drained = !*full;
	f->has_cell = false;
	f->returned += w->ncells - ncells;
	s->family = 0;
	s->stats.cells_returned += w->ncells - ncells;
	s->stats.rows_examined += copy.rows;
	s->stats.rows_returned += copy.rows - *full;
	s->rows_counted += copy.rows - *full;
	s->done = wc_scanner_was_last(s);
	return status;
}

static WcStatus
fill_rows(WcScanner *s, WcBlockWriter *w, size_t bytes_target, uint64_t rows_max, bool *full, WcError *err)
{
	WcStatus	status = WC_OK;
	bool		paused = false;

	*full = false;
	while (!s->done && !*full)
	{
		if (!s->in_row)
		{
			if (s->copies_rows)
			{
				status = copy_rows(s, w, bytes_target, rows_max, full, err);
				if (status != WC_OK || s->done || *full)
					break;
			}
			if ((rows_max > 0 && w->nrows >= rows_max) || wc_block_size(w) >= bytes_target)
				break;
			if (s->filter != NULL)
				status = wc_scanner_next_passing(s, w, &paused, err);
			else
			{
				status = s->lang != NULL ? wc_langrows_next_row(s, w->nrows > 0, &paused, err) : wc_scanner_next_row(s, err);
				if (status == WC_OK && !paused)
					wc_block_row(w, s->lane->row, false);
			}
			if (status != WC_OK || paused)
				break;
			s->in_row = true;
		}
		status = wc_scanner_write_row(s, w, most_bytes(bytes_target), full, err);
		if (status == WC_OK && w->buf->failed)
			status = wc_buf_status(w->buf, "cell block", err);
		if (status != WC_OK)
			break;
		if (!*full)
		{
			s->in_row = false;
			s->stats.rows_returned++;
			s->rows_counted += !s->undecided && !s->scan.count_cells;
			s->taken = !s->undecided;
			s->done = wc_scanner_was_last(s);
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

WcStatus
wc_scanblock_fill(WcScanner *s, WcBlockWriter *w, WcBuf *out, size_t bytes_target, uint64_t rows_max, bool *full, WcError *err)
{
	WcReadMeter before = s->storage->ops->meter();
	WcReadMeter after;
	WcStatus	status = WC_OK;

	wc_block_begin(w, out, s->in_row);
	w->provisional_after = s->provisional_after;
	*full = false;
	if (bytes_target < WC_SCANBLOCK_LEAST)
		bytes_target = WC_SCANBLOCK_LEAST;
	if (rows_max == 0)
		rows_max = s->scan.batch_rows;
	if (s->parts == NULL)
		status = s->groups != NULL ? wc_scanner_fill_groups(s, w, bytes_target, full, err) :
			fill_rows(s, w, bytes_target, rows_max, full, err);
	after = s->storage->ops->meter();
	s->stats.cache_hits += after.cache_hits - before.cache_hits;
	s->stats.blocks_read += after.blocks_read - before.blocks_read;
	if (s->at.ahead == 0)
		tell_storage(s);
	return status;
}

/* Is the block one row, of which each family has the timestamps of commits? */
static bool
has_commit_times(const WcScanner *s, const WcBlockWriter *w, bool full)
{
	if (s->scan.nranges != 1 || w->nrows != 1 || w->continues || full || s->in_row || s->groups != NULL || s->parts != NULL || s->lane == NULL)
		return false;
	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		const WcFamilyScan *f = &s->lane->families[i];

		/* in a family that is not on the row may be delete markers, which the source has passed over */
		if (!f->here || !wc_storescan_has_commit_times(f->scan))
			return false;
	}
	return true;
}

WcStatus
wc_scanblock_end(WcScanner *s, WcBlockWriter *w, bool full, WcStatus status, WcError *err)
{
	if (status == WC_OK && w->buf->failed)
		status = wc_buf_status(w->buf, "cell block", err);
	for (uint32_t i = 0; s->scan.as_of_ts != WC_TS_LATEST && i < s->nfamilies && status == WC_OK; i++)
		status = s->storage->ops->recheck_history(s->table, s->lanes[0].families[i].place, s->scan.as_of_ts, err);
	if (status != WC_OK)
	{
		w->buf->len = w->start;
		s->done = true;
		s->in_row = false;
		return status;
	}
	wc_block_finish(w, full, s->done);
	if (has_commit_times(s, w, full))
		wc_block_note_commit_times(w);
	return s->done ? WC_END : WC_OK;
}

WcStatus
wc_scanblock_next(WcScanner *s, WcBuf *out, size_t bytes_target, WcError *err)
{
	WcBlockWriter w;
	bool		full;
	WcStatus	status = wc_scanblock_fill(s, &w, out, bytes_target, 0, &full, err);

	return wc_scanblock_end(s, &w, full, status, err);
}
