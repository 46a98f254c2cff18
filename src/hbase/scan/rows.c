/*
 * hbase/scan/rows.c: rows of an HBase table as cell sources.
 */
#include "hbase/scan/pages.h"

#include <stdlib.h>

typedef struct Source
{
	WcCellSource base;
	WcHBaseRows *rows;
	WcHBasePage *page;
	uint32		row;			/* index in the page; nrows: behind the last row */
	uint32		cell;			/* index of the row's next cell */
	uint32		end;			/* behind the family's last cell of the row */
	bool		on_row;
	bool		point;
} Source;

/* --- the source -------------------------------------------------------------*/

/* Does the row have cells of the family?  If so, the source is set before the first of them. */
static bool
enter_row(Source *s)
{
	const WcHBasePageRow *row = &s->page->rows[s->row];
	uint32		behind = row->first + row->ncells;

	for (s->cell = row->first; s->cell < behind && s->page->cells[s->cell].family != s->base.family;)
		s->cell++;
	for (s->end = s->cell; s->end < behind && s->page->cells[s->end].family == s->base.family;)
		s->end++;
	return s->cell < s->end;
}

static void
next_page(Source *s)
{
	WcHBasePage *left = s->page;

	s->page = left->next;
	s->page->refs++;
	s->row = 0;
	wc_hbase_page_unref(left);
}

/*
 * Is this the last row that has arrived, and may others follow?  The source stops here even if the row has no cells of the
 * family: the next such row may be many pages away, and the other families' sources would keep all of these pages.
 */
static bool
is_last_known(const Source *s)
{
	return s->row + 1 == s->page->nrows && s->page->next == NULL && !s->rows->end;
}

/* Moves the source to the first row at or behind `row` (empty: any row) from its current position on. */
static WcStatus
find_row(Source *s, WcSlice row, bool inclusive, WcError *err)
{
	s->on_row = false;
	for (;;)
	{
		WcStatus	status;

		for (; s->row < s->page->nrows; s->row++)
		{
			WcSlice		key = s->page->rows[s->row].key;
			int			c = row.len > 0 ? wc_hbase_row_order(s->base.reversed, key, row) : 1;

			if (c < 0 || (c == 0 && !inclusive))
				continue;
			if (s->point && c > 0)
				return WC_END;
			if (!enter_row(s) && !is_last_known(s))
				continue;
			s->base.row = key;
			s->on_row = true;
			s->rows->left = s->page->next == NULL ? s->page->nrows - s->row - 1 : s->rows->last->nrows;
			return WC_OK;
		}
		if (s->page->next != NULL)
		{
			next_page(s);
			continue;
		}
		if (s->rows->end)
			return WC_END;
		s->base.seeks++;
		status = wc_hbase_page_fetch(s->rows, row, inclusive, err);
		if (status != WC_OK)
			return status;
	}
}

static WcStatus
source_seek_row(WcCellSource *src, WcSlice row, bool inclusive, WcError *err)
{
	return find_row((Source *) src, row, inclusive, err);
}

static WcStatus
source_next_row(WcCellSource *src, WcError *err)
{
	Source	   *s = (Source *) src;

	if (!s->on_row)
		return WC_END;
	s->row++;
	return find_row(s, wc_slice(NULL, 0), true, err);
}

static WcStatus
source_next_cell(WcCellSource *src, WcCell *cell, WcError *err)
{
	Source	   *s = (Source *) src;

	if (!s->on_row || s->cell == s->end)
		return WC_END;
	*cell = s->page->cells[s->cell++];
	cell->row = src->row;
	src->cells++;
	return WC_OK;
}

static WcStatus
source_seek_column(WcCellSource *src, WcSlice qualifier, bool after, WcError *err)
{
	Source	   *s = (Source *) src;

	while (s->on_row && s->cell < s->end)
	{
		int			c = wc_slice_cmp(s->page->cells[s->cell].qualifier, qualifier);

		if (c > 0 || (c == 0 && !after))
			break;
		s->cell++;
	}
	return WC_OK;
}

static void
source_close(WcCellSource *src)
{
	Source	   *s = (Source *) src;

	wc_hbase_page_unref(s->page);
	free(s);
}

static const WcCellSourceOps source_ops = {
	.seek_row = source_seek_row,
	.next_row = source_next_row,
	.next_cell = source_next_cell,
	.seek_column = source_seek_column,
	.close = source_close
};

/* --- opening ----------------------------------------------------------------*/

static inline bool
same_bound(WcSlice a, bool a_inclusive, WcSlice b, bool b_inclusive)
{
	return wc_slice_eq(a, b) && a_inclusive == b_inclusive;
}

/* Finds the scan's ranges within the lane's bounds: the start of the first range and the stop of the last one. */
static void
find_ranges(WcHBaseRows *rows)
{
	const WcScan *scan = rows->reader->scan;
	uint32		first = 0;
	uint32		last;

	rows->ranges = &rows->bounds;
	rows->nranges = 1;
	if (scan->nranges == 0)
		return;
	while (first < scan->nranges && !same_bound(scan->ranges[first].start, scan->ranges[first].start_inclusive,
												 rows->bounds.start, rows->bounds.start_inclusive))
		first++;
	for (last = first; last < scan->nranges; last++)
	{
		if (!same_bound(scan->ranges[last].stop, scan->ranges[last].stop_inclusive,
						rows->bounds.stop, rows->bounds.stop_inclusive))
			continue;
		rows->ranges = &scan->ranges[first];
		rows->nranges = last - first + 1;
		return;
	}
}

/* The lane with these bounds; NULL: out of memory. */
static WcHBaseRows *
lane_of(WcHBaseReader *reader, const WcRange *bounds)
{
	WcHBaseRows **end;
	WcHBaseRows *rows;

	for (end = &reader->lanes; (rows = *end) != NULL; end = &rows->next)
	{
		if (same_bound(rows->bounds.start, rows->bounds.start_inclusive, bounds->start, bounds->start_inclusive) &&
			same_bound(rows->bounds.stop, rows->bounds.stop_inclusive, bounds->stop, bounds->stop_inclusive))
			return rows;
	}
	rows = calloc(1, sizeof(WcHBaseRows));
	if (rows == NULL)
		return NULL;
	rows->last = calloc(1, sizeof(WcHBasePage));
	if (rows->last == NULL)
	{
		free(rows);
		return NULL;
	}
	rows->last->refs = 1;
	rows->reader = reader;
	rows->bounds = *bounds;
	rows->rows = wc_hbase_rows_first(reader);
	find_ranges(rows);
	*end = rows;
	return rows;
}

WcStatus
wc_hbase_rows_source(WcHBaseReader *reader, uint32 family, const WcSourceOptions *options, WcCellSource **src, WcError *err)
{
	WcHBaseRows *rows = lane_of(reader, options->bounds);
	Source	   *s = rows != NULL ? calloc(1, sizeof(Source)) : NULL;
	bool		exact = options->ncolumns > 0;

	*src = NULL;
	if (s == NULL)
		return wc_hbase_rows_no_memory(err);
	for (uint32 i = 0; i < options->ncolumns; i++)
		exact &= options->columns[i].kind == WC_COLUMN_EXACT;
	rows->wanted[family] = true;
	rows->columns[family] = exact ? options->columns : NULL;
	rows->ncolumns[family] = exact ? options->ncolumns : 0;
	s->base.ops = &source_ops;
	s->base.reversed = options->reversed;
	s->base.family = reader->desc->families[family].id;
	s->rows = rows;
	s->page = rows->last;
	s->page->refs++;
	s->point = options->point;
	*src = &s->base;
	return WC_OK;
}

void
wc_hbase_rows_free(WcHBaseReader *reader)
{
	while (reader->lanes != NULL)
	{
		WcHBaseRows *rows = reader->lanes;

		reader->lanes = rows->next;
		wc_hbase_ahead_drop(&rows->ahead);
		wc_hbase_page_unref(rows->last);
		wc_buf_free(&rows->position);
		free(rows);
	}
	wc_buf_free(&reader->filter);
}
