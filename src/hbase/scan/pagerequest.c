/*
 * hbase/scan/pagerequest.c: the request for a page of rows.
 */
#include "hbase/scan/pages.h"

#include <stdlib.h>

#include "base/buf.h"
#include "thrift/hbasefilter.h"
#include "thrift/request.h"

/* With more wanted columns than this, whole families are read without a filter. */
#define FILTERED_COLUMNS_MAX 16

/* Rows are small if they have at most so many cells, and bytes, for each wanted column. */
#define SMALL_CELLS 4
#define SMALL_BYTES 400

/* Does a row's first cell prove that the row exists?  Then HBase need send only that cell and the wanted columns. */
static bool
first_cell_decides(const WcHBaseReader *reader)
{
	const WcScan *scan = reader->scan;

	if (reader->merged || !scan->rows_by_existence || scan->raw || scan->ncolumns > FILTERED_COLUMNS_MAX)
		return false;
	for (uint32 i = 0; i < scan->ncolumns; i++)
	{
		bool		decides = scan->nfamilies == 0;

		for (uint32 k = 0; k < scan->nfamilies; k++)
			decides |= scan->families[k] == scan->columns[i].family;
		if (!decides || scan->columns[i].kind != WC_COLUMN_EXACT)
			return false;
	}
	return true;
}

bool
wc_hbase_has_small_rows(const WcHBaseReader *reader)
{
	const WcHBaseTable *table = reader->table;
	uint32		wanted = reader->scan->ncolumns + 1;

	return wanted > 1 && first_cell_decides(reader) && table->whole_cells <= (double) SMALL_CELLS * wanted &&
		table->whole_bytes <= (double) SMALL_BYTES * wanted;
}

/* Shall HBase leave out the cells of other columns?  Its filters for that cost more than the cells of a small row. */
static bool
leaves_cells_out(const WcHBaseReader *reader)
{
	return first_cell_decides(reader) && !wc_hbase_has_small_rows(reader);
}

static void
cells_filter(const WcHBaseReader *reader, WcBuf *out)
{
	const WcScan *scan = reader->scan;
	WcBuf		bytes[FILTERED_COLUMNS_MAX + 1];
	WcSlice		filters[FILTERED_COLUMNS_MAX + 1];

	if (wc_hbase_is_of_keys(reader))
	{
		wc_hbasefilter_row_keys(out);
		return;
	}
	for (uint32 i = 0; i <= scan->ncolumns; i++)
	{
		wc_buf_init(&bytes[i], 0);
		if (i == 0)
			wc_hbasefilter_first_key(&bytes[i]);
		else
			wc_hbasefilter_column(&bytes[i], scan->columns[i - 1].qualifier, !scan->reversed);
		out->failed |= bytes[i].failed;
		filters[i] = wc_buf_slice(&bytes[i]);
	}
	wc_hbasefilter_list(out, true, filters, scan->ncolumns + 1);
	for (uint32 i = 0; i <= scan->ncolumns; i++)
		wc_buf_free(&bytes[i]);
}

WcSlice
wc_hbase_first_row(const WcHBaseRows *rows, bool *inclusive)
{
	const WcRange *first = wc_hbase_range_at(rows, rows->range);
	bool		reversed = wc_hbase_is_reversed(rows);
	WcSlice		position = wc_buf_slice(&rows->position);
	WcSlice		from = reversed ? first->stop : first->start;

	if (rows->begun && (from.len == 0 || wc_hbase_row_order(reversed, position, from) >= 0))
	{
		*inclusive = rows->inclusive;
		return position;
	}
	*inclusive = reversed ? first->stop_inclusive : first->start_inclusive;
	return from;
}

/*
 * Is the key of the request's first row too long for HBase to locate the row?  The request then begins at the key's first
 * WC_HBASE_ROW_MAX bytes, and its MultiRowRangeFilter rejects the rows before the first row.
 */
static bool
begins_before(const WcHBaseRows *rows)
{
	bool		inclusive;

	return wc_hbase_first_row(rows, &inclusive).len > WC_HBASE_ROW_MAX;
}

/* Sets a bound of the range to the row with which the request begins. */
static void
begin_with(const WcHBaseRows *rows, WcHBaseRange *range)
{
	bool		inclusive;
	WcSlice		row = wc_hbase_first_row(rows, &inclusive);

	if (wc_hbase_is_reversed(rows))
	{
		range->stop = row;
		range->stop_inclusive = inclusive;
	}
	else
	{
		range->start = row;
		range->start_inclusive = inclusive;
	}
	/* HBase refuses an empty range */
	if (wc_slice_eq(range->start, range->stop))
		range->start_inclusive = range->stop_inclusive = true;
}

/* Appends the filter of the next n ranges in scan order; in the filter they ascend. */
static void
ranges_filter(const WcHBaseRows *rows, uint32 n, WcBuf *out)
{
	WcHBaseRange *ranges = malloc(n * sizeof(WcHBaseRange));

	if (ranges == NULL)
	{
		out->failed = true;
		return;
	}
	for (uint32 i = 0; i < n; i++)
	{
		const WcRange *from = wc_hbase_range_at(rows, rows->range + i);
		WcHBaseRange *range = &ranges[wc_hbase_is_reversed(rows) ? n - 1 - i : i];

		*range = (WcHBaseRange) {
			.start = from->start,.stop = from->stop,.start_inclusive = from->start_inclusive,
			.stop_inclusive = from->stop_inclusive
		};
		if (i == 0 && begins_before(rows))
			begin_with(rows, range);
	}
	wc_hbasefilter_ranges(out, ranges, n);
	free(ranges);
}

static void
make_filter(const WcHBaseRows *rows, uint32 nranges, WcBuf *out)
{
	WcBuf		of_cells = WC_BUF_INIT;
	WcBuf		of_rows = WC_BUF_INIT;
	WcSlice		filters[3];
	uint32		n = 0;
	bool		of_first_cell = leaves_cells_out(rows->reader);

	/* HBase refuses a reversed scan of several families with nothing but comparisons of values */
	if (nranges > 1 || begins_before(rows) || (wc_hbase_is_reversed(rows) && rows->reader->filter.len > 0 && !of_first_cell))
		ranges_filter(rows, nranges, &of_rows);
	if (of_first_cell)
		cells_filter(rows->reader, &of_cells);
	out->failed |= of_cells.failed || of_rows.failed;
	if (of_rows.len > 0)
		filters[n++] = wc_buf_slice(&of_rows);
	if (rows->reader->filter.len > 0)
		filters[n++] = wc_buf_slice(&rows->reader->filter);
	if (of_cells.len > 0)
		filters[n++] = wc_buf_slice(&of_cells);
	if (n > 1)
		wc_hbasefilter_list(out, false, filters, n);
	else if (n == 1)
		wc_buf_append_slice(out, filters[0]);
	wc_buf_free(&of_cells);
	wc_buf_free(&of_rows);
}

/* The families and columns of a request; malloc'd; NULL: out of memory. */
static WcThriftColumn *
make_columns(const WcHBaseRows *rows, uint32 *n)
{
	const WcTableDesc *desc = rows->reader->desc;
	bool		whole = leaves_cells_out(rows->reader) || rows->reader->hidden; /* HBase refuses columns of a raw scan */
	WcThriftColumn *columns;
	uint32		most = 1;

	for (uint32 i = 0; i < desc->nfamilies; i++)
		most += rows->ncolumns[i] + 1;
	columns = malloc(most * sizeof(WcThriftColumn));
	*n = 0;
	for (uint32 i = 0; columns != NULL && i < desc->nfamilies; i++)
	{
		WcSlice		name = desc->families[i].name;

		if (!rows->wanted[i])
			continue;
		if (whole || rows->ncolumns[i] == 0)
			columns[(*n)++] = (WcThriftColumn) {.family = name,.whole = true};
		for (uint32 k = 0; !whole && k < rows->ncolumns[i]; k++)
			columns[(*n)++] = (WcThriftColumn) {.family = name,.qualifier = rows->columns[i][k].qualifier};
	}
	return columns;
}

/* Appends the least row key behind all that begin with these bytes; nothing if there is none. */
static void
put_behind_prefix(WcBuf *out, WcSlice prefix)
{
	while (prefix.len > 0 && prefix.data[prefix.len - 1] == 0xff)
		prefix.len--;
	if (prefix.len == 0)
		return;
	wc_buf_append(out, prefix.data, prefix.len - 1);
	wc_buf_append_u8(out, prefix.data[prefix.len - 1] + 1);
}

/* Appends a row key, or (behind) the next possible row key. */
static void
put_row(WcBuf *out, WcSlice row, bool behind)
{
	if (behind && row.len == WC_HBASE_KEY_MAX)
	{
		put_behind_prefix(out, row);
		return;
	}
	wc_buf_append_slice(out, row);
	if (behind)
		wc_buf_append_u8(out, 0);
}

/*
 * Appends a row key before this one, with no row, or nearly none, in between: HBase's stop row is exclusive, in
 * a reversed scan too.
 */
static void
put_row_before(WcBuf *out, WcSlice row)
{
	uint8		last = row.data[row.len - 1];

	wc_buf_append(out, row.data, row.len - 1);
	if (last == 0)
		return;					/* the key without a last zero byte is exactly the one before */
	wc_buf_append_u8(out, last - 1);
	for (size_t i = 0; i < Min(9, WC_HBASE_KEY_MAX - row.len); i++)
		wc_buf_append_u8(out, 0xff);
}

/* Appends the row with which the request begins, or (begins_before) one before that. */
static void
put_first_row(const WcHBaseRows *rows, WcBuf *out)
{
	bool		inclusive;
	WcSlice		row = wc_hbase_first_row(rows, &inclusive);
	WcSlice		prefix = wc_slice(row.data, Min(row.len, WC_HBASE_ROW_MAX));

	if (!begins_before(rows))
		put_row(out, row, !wc_hbase_is_reversed(rows) && row.len > 0 && !inclusive);
	else if (wc_hbase_is_reversed(rows))
		put_behind_prefix(out, prefix);
	else
		put_row(out, prefix, false);
}

/* Sets start and stop to the bounds of the next n ranges, from the position on. */
static void
make_bounds(const WcHBaseRows *rows, uint32 n, WcBuf *start, WcBuf *stop)
{
	const WcRange *last = wc_hbase_range_at(rows, rows->range + n - 1);

	put_first_row(rows, start);
	if (!wc_hbase_is_reversed(rows))
		put_row(stop, last->stop, last->stop.len > 0 && last->stop_inclusive);
	else if (last->start.len > 0 && last->start_inclusive)
		put_row_before(stop, last->start);
	else
		put_row(stop, last->start, false);
}

/* The first whole millisecond that is not before the time. */
static int64
whole_ms(int64 us)
{
	return us / WC_HBASE_US_PER_MS + (us % WC_HBASE_US_PER_MS != 0);
}

/* HBase's times are whole milliseconds: the request has all whole milliseconds in [ts_min, ts_max). */
static void
set_times(const WcHBaseRows *rows, WcThriftScan *request)
{
	const WcScan *scan = rows->reader->scan;
	bool		raw = rows->reader->table->server->options.raw_timestamps;

	/* a time range would leave markers out */
	if ((scan->ts_min <= 0 && scan->ts_max == WC_TS_LATEST) || rows->reader->hidden)
		return;
	request->timed = true;
	request->ts_min = raw ? Max(scan->ts_min, 0) : whole_ms(Max(scan->ts_min, 0));
	request->ts_max = scan->ts_max == WC_TS_LATEST || raw ? scan->ts_max : whole_ms(scan->ts_max);
	request->ts_max = Max(request->ts_min, request->ts_max);
}

/* A text filter decides before versions are counted, and own changes may hide versions: then all versions are needed. */
static int32
versions_to_ask(const WcHBaseReader *reader)
{
	if (reader->merged || reader->scan->filter_text.len > 0)
		return INT32_MAX;
	return (int32) Min(reader->scan->versions, INT32_MAX);
}

/* Is the page a single row, for which HBase has a cheaper call? */
static bool
is_get(const WcHBaseRows *rows, uint32 n)
{
	const WcScan *scan = rows->reader->scan;

	return n == 1 && !scan->raw && !rows->reader->hidden && !scan->reversed && !begins_before(rows) &&
		wc_range_is_point(wc_hbase_range_at(rows, rows->range));
}

/* Writes the request for a page. */
static WcStatus
write_request(WcHBaseRows *rows, uint32 n, int32 nrows, const char **method, int32 *number, WcError *err)
{
	WcHBaseReader *reader = rows->reader;
	WcHBaseServer *server = reader->table->server;
	WcBuf		start = WC_BUF_INIT;
	WcBuf		stop = WC_BUF_INIT;
	WcBuf		filter = WC_BUF_INIT;
	WcThriftScan request = {
		.table = wc_slice_cstr(reader->table->name),.versions = versions_to_ask(reader),
		.reversed = reader->scan->reversed,.raw = reader->scan->raw || reader->hidden
	};
	WcThriftColumn *columns = make_columns(rows, &request.ncolumns);
	WcStatus	status = WC_OK;
	WcThriftWriter w;

	make_bounds(rows, n, &start, &stop);
	make_filter(rows, n, &filter);
	set_times(rows, &request);
	request.columns = columns;
	request.start = wc_buf_slice(&start);
	request.stop = wc_buf_slice(&stop);
	request.filter = wc_buf_slice(&filter);
	if (columns == NULL || start.failed || stop.failed || filter.failed)
		status = wc_hbase_rows_no_memory(err);
	if (status == WC_OK)
	{
		wc_hbase_begin(server, &w, number);
		if (is_get(rows, n))
			wc_request_get(&w, *number, &request);
		else
			wc_request_scan(&w, *number, &request, nrows);
		*method = is_get(rows, n) ? WC_METHOD_GET : WC_METHOD_SCAN;
	}
	free(columns);
	wc_buf_free(&start);
	wc_buf_free(&stop);
	wc_buf_free(&filter);
	return status;
}

WcStatus
wc_hbase_page_ask(WcHBaseRows *rows, uint32 n, int32 nrows, WcHBasePage *page, WcAnswer *answer, WcError *err)
{
	WcHBaseTable *table = rows->reader->table;
	const char *method = NULL;
	int32		number;
	WcStatus	status = write_request(rows, n, nrows, &method, &number, err);

	rows->reader->calls++;
	if (status == WC_OK)
		status = wc_hbase_call(table->server, method, number, answer, err);
	if (status == WC_OK)
		status = wc_hbase_check(table->server, table->name, answer, err);
	if (status == WC_OK)
	{
		page->bytes = table->server->connection.in;
		table->server->connection.in = (WcBuf) WC_BUF_INIT;
	}
	return status;
}

WcStatus
wc_hbase_page_ask_ahead(WcHBaseRows *rows, uint32 n, int32 nrows, WcError *err)
{
	WcHBaseConnection *c = wc_hbase_ahead_free(rows->reader->table->server);
	const char *method = NULL;
	WcStatus	status;
	int32		number;

	if (c == NULL)
		return WC_OK;
	status = write_request(rows, n, nrows, &method, &number, err);
	if (status == WC_OK)
		status = wc_hbase_ahead_send(c, method, number, &rows->ahead, err);
	rows->reader->calls += rows->ahead.connection != NULL;
	return status;
}

WcStatus
wc_hbase_page_take(WcHBaseRows *rows, WcHBasePage *page, WcAnswer *answer, WcError *err)
{
	WcHBaseTable *table = rows->reader->table;
	WcStatus	status = wc_hbase_ahead_take(&rows->ahead, answer, &page->bytes, err);

	return status == WC_OK ? wc_hbase_check(table->server, table->name, answer, err) : status;
}
