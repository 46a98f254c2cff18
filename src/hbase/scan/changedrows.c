/*
 * hbase/scan/changedrows.c: HBase's cells of the rows that the transaction has changed.
 *
 * Some changes depend on the row as it is in HBase: a column is cleared if it has a value.  For the transaction's own
 * reads, read/ resolves such changes over a source of this file, row by row, in the order of the scan.  The source
 * reads all changed rows that the scan may meet with as few calls as possible.
 */
#include "hbase/scan/pages.h"

#include <stdlib.h>

#include "read/txn/txn.h"

typedef struct ChangedSource
{
	WcCellSource base;
	const WcHBaseReader *of;	/* the scan's */
	WcTxn	   *txn;
	uint32		place;			/* of the family in the table */
	WcArena		arena;			/* of ranges */
	WcScan		scan;			/* its ranges are the changed rows */
	WcHBaseReader reader;
	WcCellSource *rows;			/* NULL: not opened yet, or there are no changed rows */
	WcBuf		sought;			/* the last row */
} ChangedSource;

/* Are all ranges of the scan single rows? */
static bool
has_points(const WcScan *scan)
{
	uint32		n = 0;

	while (n < scan->nranges && wc_range_is_point(&scan->ranges[n]))
		n++;
	return n > 0 && n == scan->nranges;
}

/* May the scan meet the row? */
static bool
is_met(const WcScan *scan, WcSlice row)
{
	return scan->nranges == 0 ||
		(!wc_range_before_start(&scan->ranges[0], row) && !wc_range_behind_stop(&scan->ranges[scan->nranges - 1], row));
}

/* The first operation on the table, in their order. */
static size_t
first_of_table(const WcTxnSorted *sorted, uint32 table_id)
{
	size_t		lo = 0;
	size_t		hi = sorted->n;

	while (lo < hi)
	{
		size_t		mid = lo + (hi - lo) / 2;

		if (wc_txnsorted_at(sorted, mid)->table_id < table_id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Makes each changed row that the scan may meet a range. */
static WcStatus
find_rows(ChangedSource *s, WcError *err)
{
	uint32		table_id = s->of->table->id;
	WcTxnSorted sorted;
	WcRange    *ranges;
	WcStatus	status = wc_txn_sorted(s->txn, &sorted, err);
	size_t		first;

	if (status != WC_OK)
		return status;
	first = first_of_table(&sorted, table_id);
	ranges = wc_arena_alloc_zero(&s->arena, (sorted.n - first + 1) * sizeof(WcRange));
	if (ranges == NULL)
		return wc_hbase_rows_no_memory(err);
	s->scan.ranges = ranges;
	for (size_t i = first; i < sorted.n && wc_txnsorted_at(&sorted, i)->table_id == table_id; i++)
	{
		WcSlice		row = wc_txnentry_row(wc_txnsorted_at(&sorted, i));
		WcSlice		copy;

		if (!is_met(s->of->scan, row) || (s->scan.nranges > 0 && wc_slice_eq(ranges[s->scan.nranges - 1].start, row)))
			continue;
		copy = wc_arena_copy(&s->arena, row);
		if (copy.data == NULL)
			return wc_hbase_rows_no_memory(err);
		ranges[s->scan.nranges++] = (WcRange) {
			.start = copy,.stop = copy,.start_inclusive = true,.stop_inclusive = true
		};
	}
	return WC_OK;
}

static void
close_rows(ChangedSource *s)
{
	wc_cellsource_close(s->rows);
	s->rows = NULL;
	wc_hbase_rows_free(&s->reader);
}

static WcStatus
open_rows(ChangedSource *s, WcError *err)
{
	WcSourceOptions options = {.reversed = s->scan.reversed};
	WcRange		bounds;
	WcStatus	status = WC_OK;

	close_rows(s);
	if (s->scan.ranges == NULL && has_points(s->of->scan))
	{
		s->scan.ranges = s->of->scan->ranges;
		s->scan.nranges = s->of->scan->nranges;
	}
	else if (s->scan.ranges == NULL)
		status = find_rows(s, err);
	if (status != WC_OK || s->scan.nranges == 0)
		return status;
	bounds = s->scan.ranges[0];
	bounds.stop = s->scan.ranges[s->scan.nranges - 1].stop;
	options.bounds = &bounds;
	return wc_hbase_rows_source(&s->reader, s->place, &options, &s->rows, err);
}

/* A row may be sought again, and then one before it: a scan looks twice at some rows. */
static WcStatus
changed_seek_row(WcCellSource *src, WcSlice row, bool inclusive, WcError *err)
{
	ChangedSource *s = (ChangedSource *) src;
	WcStatus	status = WC_OK;

	if (s->rows == NULL || wc_hbase_row_order(s->scan.reversed, row, wc_buf_slice(&s->sought)) < 0)
		status = open_rows(s, err);
	wc_buf_reset(&s->sought, WC_ROW_MAX);
	wc_buf_append_slice(&s->sought, row);
	if (status != WC_OK || s->rows == NULL)
		return status == WC_OK ? WC_END : status;
	if (s->sought.failed)
		return wc_hbase_rows_no_memory(err);
	status = s->rows->ops->seek_row(s->rows, row, inclusive, err);
	s->base.row = s->rows->row;
	return status;
}

static WcStatus
changed_next_row(WcCellSource *src, WcError *err)
{
	ChangedSource *s = (ChangedSource *) src;
	WcStatus	status = s->rows != NULL ? s->rows->ops->next_row(s->rows, err) : WC_END;

	if (status == WC_OK)
		s->base.row = s->rows->row;
	return status;
}

static WcStatus
changed_next_cell(WcCellSource *src, WcCell *cell, WcError *err)
{
	ChangedSource *s = (ChangedSource *) src;

	return s->rows != NULL ? s->rows->ops->next_cell(s->rows, cell, err) : WC_END;
}

static WcStatus
changed_seek_column(WcCellSource *src, WcSlice qualifier, bool after, WcError *err)
{
	ChangedSource *s = (ChangedSource *) src;

	return s->rows != NULL ? s->rows->ops->seek_column(s->rows, qualifier, after, err) : WC_OK;
}

static void
changed_close(WcCellSource *src)
{
	ChangedSource *s = (ChangedSource *) src;

	close_rows(s);
	wc_buf_free(&s->sought);
	wc_arena_free(&s->arena);
	free(s);
}

static const WcCellSourceOps changed_ops = {
	.seek_row = changed_seek_row,
	.next_row = changed_next_row,
	.next_cell = changed_next_cell,
	.seek_column = changed_seek_column,
	.close = changed_close
};

WcStatus
wc_hbase_changed_source(const WcHBaseReader *reader, WcTxn *txn, uint32 family, WcCellSource **src, WcError *err)
{
	ChangedSource *s = calloc(1, sizeof(ChangedSource));

	*src = NULL;
	if (s == NULL)
		return wc_hbase_rows_no_memory(err);
	s->base.ops = &changed_ops;
	s->base.reversed = reader->scan->reversed;
	s->base.family = reader->desc->families[family].id;
	s->of = reader;
	s->txn = txn;
	s->place = family;
	wc_scan_init(&s->scan, reader->table->id);
	s->scan.reversed = reader->scan->reversed;
	s->reader = (WcHBaseReader) {.table = reader->table,.desc = reader->desc,.scan = &s->scan,.merged = true,.hidden = reader->hidden};
	*src = &s->base;
	return WC_OK;
}
