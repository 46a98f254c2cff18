/*
 * hbase/rows.c: rows of an HBase table as cell sources.
 */
#include "hbase/rows.h"

#include <stdlib.h>

#include "base/buf.h"
#include "thrift/hbasefilter.h"
#include "thrift/request.h"

/* Rows of the first answer when their sizes are unknown, and the target size of later answers in bytes. */
#define ROWS_FIRST 5
#define PAGE_BYTES (256 * 1024)

/* When the number of wanted rows is known, the first answer has at most so many rows and about so many bytes. */
#define ROWS_HINTED_MAX 100
#define HINTED_BYTES (4 * 1024 * 1024)

/* An answer has at most GROWTH times the rows of the answer before; after an answer that was too large, the rows
 * are divided by SHRINKAGE. */
#define GROWTH 4
#define SHRINKAGE 8

/* One request has at most so many ranges, with so many bytes: the gateway refuses a request of 2 MB. */
#define RANGES_MAX 1000
#define RANGES_BYTES_MAX (512 * 1024)

/* With more wanted columns than this, whole families are read without a filter. */
#define FILTERED_COLUMNS_MAX 16

#define US_PER_MS 1000

typedef struct Row
{
	WcSlice		key;
	uint32		first;			/* index of its first cell in the page */
	uint32		ncells;
} Row;

/* The rows of an answer; the last page of the chain is the newest. */
typedef struct Page
{
	uint32		refs;			/* references: of sources, of the page before, of WcHBaseRows.last */
	struct Page *next;
	WcBuf		bytes;			/* the answer, which keys and cells point into */
	Row		   *rows;
	uint32		nrows;
	WcCell	   *cells;
} Page;

typedef struct WcHBaseRows
{
	struct WcHBaseRows *next;
	WcHBaseReader *reader;
	WcRange		bounds;			/* identify the lane */
	const WcRange *ranges;		/* of the scan, ascending; NULL: the bounds alone */
	uint32		nranges;
	uint32		range;			/* the first, in scan order, that is not read to its end */
	bool		wanted[WC_FAMILIES_MAX];	/* by place in the table: a source has been opened */
	const WcColumn *columns[WC_FAMILIES_MAX];	/* the only wanted ones; NULL: all */
	uint32		ncolumns[WC_FAMILIES_MAX];

	Page	   *last;			/* at first an empty page, on which sources begin */
	bool		begun;
	bool		end;			/* all rows have been read */
	WcBuf		position;		/* the next answer begins here; unset before begun */
	bool		inclusive;
	uint32		rows;			/* of the next answer */
} WcHBaseRows;

typedef struct Source
{
	WcCellSource base;
	WcHBaseRows *rows;
	Page	   *page;
	uint32		row;			/* index in the page; nrows: behind the last row */
	uint32		cell;			/* index of the row's next cell */
	uint32		end;			/* behind the family's last cell of the row */
	bool		on_row;
	bool		point;
} Source;

static WcStatus
no_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for rows of HBase");
}

static inline bool
is_reversed(const WcHBaseRows *rows)
{
	return rows->reader->scan->reversed;
}

/* Compares two row keys in scan order. */
static inline int
order(bool reversed, WcSlice a, WcSlice b)
{
	int			c = wc_slice_cmp(a, b);

	return reversed ? -c : c;
}

/* --- pages ------------------------------------------------------------------*/

static void
unref(Page *page)
{
	while (page != NULL && --page->refs == 0)
	{
		Page	   *next = page->next;

		wc_buf_free(&page->bytes);
		free(page->rows);
		free(page->cells);
		free(page);
		page = next;
	}
}

static void
append(WcHBaseRows *rows, Page *page)
{
	page->refs = 2;				/* of the page before, and of rows->last */
	rows->last->next = page;
	unref(rows->last);
	rows->last = page;
}

/* --- reading an answer --------------------------------------------------------*/

/* The i-th range in scan order. */
static const WcRange *
range_at(const WcHBaseRows *rows, uint32 i)
{
	return &rows->ranges[is_reversed(rows) ? rows->nranges - 1 - i : i];
}

/* Is the row new, and in a range? */
static bool
is_wanted(WcHBaseRows *rows, WcSlice row)
{
	bool		reversed = is_reversed(rows);

	if (rows->begun)
	{
		int			c = order(reversed, row, wc_buf_slice(&rows->position));

		if (c < 0 || (c == 0 && !rows->inclusive))
			return false;
	}
	while (rows->range < rows->nranges)
	{
		const WcRange *range = range_at(rows, rows->range);

		if (wc_range_contains(range, row))
			return true;
		if (reversed ? !wc_range_before_start(range, row) : !wc_range_behind_stop(range, row))
			return false;
		rows->range++;
	}
	return false;
}

static WcStatus
read_cell(const WcHBaseRows *rows, const WcThriftCell *from, WcCell *cell, bool *known, WcError *err)
{
	const WcHBaseReader *reader = rows->reader;
	const WcFamilyDesc *family = wc_table_desc_family(reader->desc, from->family);
	int64		ts = from->ts;

	*known = family != NULL;	/* a family that was added later is unknown */
	if (family == NULL)
		return WC_OK;
	if (!wc_cell_type_valid(from->type) || ts < 0)
		return wc_error(err, WC_CORRUPT, "a cell of table \"%s\" of HBase has type %u and timestamp %lld",
						reader->table->name, from->type, (long long) ts);
	if (!reader->table->server->options.raw_timestamps)
	{
		if (ts > INT64_MAX / US_PER_MS)
		{
			wc_error(err, WC_BAD_DATA, "timestamp %lld in table \"%s\" of HBase is no time in milliseconds",
					 (long long) ts, reader->table->name);
			wc_error_hint(err, "With option \"timestamps\" 'raw' of the server, timestamps are numbers.");
			return WC_BAD_DATA;
		}
		ts *= US_PER_MS;
	}
	*cell = (WcCell) {
		.family = family->id,.type = from->type,.qualifier = from->qualifier,.ts = ts,.seq = ts,.value = from->value
	};
	return WC_OK;
}

/* Makes room for one more element, by doubling the array; false: out of memory. */
static bool
make_room(void **array, uint32 n, uint32 *cap, size_t size)
{
	uint32		more = Max(64, 2 * *cap);
	void	   *grown;

	if (n < *cap)
		return true;
	grown = realloc(*array, more * size);
	if (grown == NULL)
		return false;
	*array = grown;
	*cap = more;
	return true;
}

typedef struct PageRoom
{
	uint32		rows;
	uint32		cells;
	uint32		ncells;			/* used */
} PageRoom;

/* Reads a row into the page, or skips a row that is not wanted. */
static WcStatus
read_row(WcHBaseRows *rows, WcAnswer *answer, Page *page, PageRoom *room, WcSlice *key, WcError *err)
{
	Row			row = {.first = room->ncells};
	WcStatus	status = WC_OK;
	uint32		ncells;
	bool		wanted;
	bool		partial;

	wc_answer_row(answer, &row.key, &ncells);
	*key = row.key;
	wanted = row.key.len > 0 && is_wanted(rows, row.key);
	for (uint32 i = 0; i < ncells && status == WC_OK; i++)
	{
		WcThriftCell from;
		bool		known = false;

		wc_answer_cell(answer, &from);
		status = wc_answer_status(answer, err);
		if (status == WC_OK && !make_room((void **) &page->cells, room->ncells, &room->cells, sizeof(WcCell)))
			status = no_memory(err);
		if (status == WC_OK && wanted)
			status = read_cell(rows, &from, &page->cells[room->ncells], &known, err);
		room->ncells += known;
	}
	if (status != WC_OK)
		return status;
	wc_answer_row_end(answer, &partial);
	if (partial)
		return wc_error(err, WC_UNSUPPORTED, "HBase gave row of table \"%s\" in part", rows->reader->table->name);
	row.ncells = room->ncells - row.first;
	if (!wanted || row.ncells == 0)
		return wc_answer_status(answer, err);
	if (!make_room((void **) &page->rows, page->nrows, &room->rows, sizeof(Row)))
		return no_memory(err);
	page->rows[page->nrows++] = row;
	return wc_answer_status(answer, err);
}

/* *got: the number of rows in the answer, wanted or not; *last: the last row's key. */
static WcStatus
read_rows(WcHBaseRows *rows, WcAnswer *answer, Page *page, uint32 *got, WcSlice *last, WcError *err)
{
	PageRoom	room = {0};
	WcStatus	status = WC_OK;

	*got = wc_answer_rows(answer);
	for (uint32 i = 0; i < *got && status == WC_OK; i++)
		status = read_row(rows, answer, page, &room, last, err);
	return status == WC_OK ? wc_answer_status(answer, err) : status;
}

/* --- requests ---------------------------------------------------------------*/

/* Does a row's first cell prove that the row exists?  Then HBase need send only that cell and the wanted columns. */
static bool
first_cell_decides(const WcScan *scan)
{
	if (!scan->rows_by_existence || scan->raw || scan->ncolumns > FILTERED_COLUMNS_MAX)
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

static void
cells_filter(const WcScan *scan, WcBuf *out)
{
	WcBuf		bytes[FILTERED_COLUMNS_MAX + 1];
	WcSlice		filters[FILTERED_COLUMNS_MAX + 1];

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
		const WcRange *from = range_at(rows, rows->range + i);

		ranges[is_reversed(rows) ? n - 1 - i : i] = (WcHBaseRange) {
			.start = from->start,.stop = from->stop,.start_inclusive = from->start_inclusive,
			.stop_inclusive = from->stop_inclusive
		};
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
	bool		of_first_cell = first_cell_decides(rows->reader->scan);

	/* HBase refuses a reversed scan of several families with nothing but comparisons of values */
	if (nranges > 1 || (is_reversed(rows) && rows->reader->filter.len > 0 && !of_first_cell))
		ranges_filter(rows, nranges, &of_rows);
	if (of_first_cell)
		cells_filter(rows->reader->scan, &of_cells);
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
	bool		whole = first_cell_decides(rows->reader->scan);
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

/* Appends a row key, or (behind) the next possible row key. */
static void
put_row(WcBuf *out, WcSlice row, bool behind)
{
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
	for (int i = 0; i < 9; i++)
		wc_buf_append_u8(out, 0xff);
}

/* Sets start and stop to the bounds of the next n ranges, from the position on. */
static void
make_bounds(const WcHBaseRows *rows, uint32 n, WcBuf *start, WcBuf *stop)
{
	const WcRange *first = range_at(rows, rows->range);
	const WcRange *last = range_at(rows, rows->range + n - 1);
	WcSlice		position = wc_buf_slice(&rows->position);
	WcSlice		from = is_reversed(rows) ? first->stop : first->start;

	if (rows->begun && (from.len == 0 || order(is_reversed(rows), position, from) >= 0))
		put_row(start, position, !is_reversed(rows) && !rows->inclusive);
	else
		put_row(start, from, !is_reversed(rows) && from.len > 0 && !first->start_inclusive);
	if (!is_reversed(rows))
		put_row(stop, last->stop, last->stop.len > 0 && last->stop_inclusive);
	else if (last->start.len > 0 && last->start_inclusive)
		put_row_before(stop, last->start);
	else
		put_row(stop, last->start, false);
}

/* HBase's times are whole milliseconds: the request has all whole milliseconds in [ts_min, ts_max). */
static void
set_times(const WcHBaseRows *rows, WcThriftScan *request)
{
	const WcScan *scan = rows->reader->scan;
	bool		raw = rows->reader->table->server->options.raw_timestamps;

	if (scan->ts_min <= 0 && scan->ts_max == WC_TS_LATEST)
		return;
	request->timed = true;
	request->ts_min = raw ? Max(scan->ts_min, 0) : (Max(scan->ts_min, 0) + US_PER_MS - 1) / US_PER_MS;
	request->ts_max = scan->ts_max == WC_TS_LATEST || raw ? scan->ts_max :
		scan->ts_max / US_PER_MS + (scan->ts_max % US_PER_MS != 0);
	request->ts_max = Max(request->ts_min, request->ts_max);
}

/* Requests nrows rows of the next n ranges; the page takes the answer's bytes. */
static WcStatus
ask(WcHBaseRows *rows, uint32 n, int32 nrows, Page *page, WcAnswer *answer, WcError *err)
{
	WcHBaseReader *reader = rows->reader;
	WcHBaseServer *server = reader->table->server;
	WcBuf		start = WC_BUF_INIT;
	WcBuf		stop = WC_BUF_INIT;
	WcBuf		filter = WC_BUF_INIT;
	WcThriftScan request = {
		.table = wc_slice_cstr(reader->table->name),.versions = (int32) Min(reader->scan->versions, INT32_MAX),
		.reversed = reader->scan->reversed,.raw = reader->scan->raw
	};
	WcThriftColumn *columns = make_columns(rows, &request.ncolumns);
	WcStatus	status = WC_OK;
	WcThriftWriter w;
	int32		number;

	make_bounds(rows, n, &start, &stop);
	make_filter(rows, n, &filter);
	set_times(rows, &request);
	request.columns = columns;
	request.start = wc_buf_slice(&start);
	request.stop = wc_buf_slice(&stop);
	request.filter = wc_buf_slice(&filter);
	if (columns == NULL || start.failed || stop.failed || filter.failed)
		status = no_memory(err);
	if (status == WC_OK)
	{
		wc_hbase_begin(server, &w, &number);
		wc_request_scan(&w, number, &request, nrows);
		status = wc_hbase_call(server, WC_METHOD_SCAN, number, answer, err);
	}
	if (status == WC_OK)
		status = wc_hbase_check(server, reader->table->name, answer, err);
	if (status == WC_OK)
	{
		page->bytes = server->connection.in;
		server->connection.in = (WcBuf) WC_BUF_INIT;
	}
	free(columns);
	wc_buf_free(&start);
	wc_buf_free(&stop);
	wc_buf_free(&filter);
	reader->calls++;
	return status;
}

/* --- moving on --------------------------------------------------------------*/

/* Sets the position: rows before this row are not wanted any more. */
static WcStatus
set_position(WcHBaseRows *rows, WcSlice row, bool inclusive, WcError *err)
{
	/* row may point into rows->position */
	WcBuf		position = WC_BUF_INIT;

	wc_buf_append_slice(&position, row);
	if (position.failed)
		return no_memory(err);
	wc_buf_free(&rows->position);
	rows->position = position;
	rows->inclusive = inclusive;
	rows->begun = true;
	while (rows->range < rows->nranges)
	{
		const WcRange *range = range_at(rows, rows->range);
		WcSlice		bound = is_reversed(rows) ? range->start : range->stop;
		int			c = bound.len > 0 ? order(is_reversed(rows), row, bound) : -1;

		if (c < 0 || (c == 0 && inclusive))
			break;
		rows->range++;
	}
	rows->end |= rows->range == rows->nranges;
	return WC_OK;
}

/* The number of rows that the next answer repeats: a reversed scan of HBase includes its start row. */
static int32
rows_again(const WcHBaseRows *rows)
{
	return is_reversed(rows) && rows->begun && !rows->inclusive;
}

/* The number of rows to request of n ranges. */
static int32
rows_to_ask(const WcHBaseRows *rows, uint32 n)
{
	uint32		wanted = rows->rows;

	for (uint32 i = 0; i < n; i++)
	{
		if (!wc_range_is_point(range_at(rows, rows->range + i)))
			break;
		if (i + 1 == n)
			wanted = n;
	}

	return (int32) Min(wanted, (uint32) rows->reader->table->server->options.fetch_size) + rows_again(rows);
}

/* The number of ranges of the next request. */
static uint32
ranges_to_ask(const WcHBaseRows *rows)
{
	uint32		most = Min(rows->nranges - rows->range, RANGES_MAX);
	size_t		bytes = 0;
	uint32		n = 0;

	while (n < most && (n == 0 || bytes < RANGES_BYTES_MAX))
	{
		const WcRange *range = range_at(rows, rows->range + n++);

		bytes += range->start.len + range->stop.len;
	}
	return n;
}

/* Sets rows->rows from the size of the received rows. */
static void
adapt(WcHBaseRows *rows, size_t bytes, uint32 got)
{
	size_t		row_bytes = Max(bytes / Max(got, 1), 1);

	if (got > 0)
		rows->reader->table->row_bytes = row_bytes;
	rows->rows = (uint32) Max(1, Min(PAGE_BYTES / row_bytes, rows->rows * GROWTH));
}

/* The number of rows of the first request. */
static uint32
rows_first(const WcHBaseReader *reader)
{
	size_t		row_bytes = reader->table->row_bytes;
	uint64		n = reader->rows_hint;

	if (n == 0)
		n = row_bytes == 0 ? ROWS_FIRST : PAGE_BYTES / row_bytes;
	else if (row_bytes > 0)
		n = Min(n, HINTED_BYTES / row_bytes);
	return (uint32) Min(Max(n, 1), ROWS_HINTED_MAX);
}

/*
 * Requests up to *nrows rows of the next n ranges.  When few rows pass HBase's filter, an answer may time out:
 * then the request is repeated without the filter.  The rows may be too large for WC_HBASE_ANSWER_MAX, or for the
 * gateway, which closes the connection: then fewer rows are requested.
 */
static WcStatus
ask_with_patience(WcHBaseRows *rows, uint32 n, int32 *nrows, Page *page, WcAnswer *answer, WcError *err)
{
	WcHBaseReader *reader = rows->reader;

	for (;;)
	{
		WcStatus	status = ask(rows, n, *nrows, page, answer, err);

		if (status == WC_IO && reader->filter.len > 0 && reader->table->server->connection.timed_out)
			reader->filter.len = 0;
		else if ((status == WC_TOO_LARGE || (status == WC_IO && reader->table->server->connection.lost)) &&
				 *nrows > 1 + rows_again(rows))
			*nrows = Max(*nrows / SHRINKAGE, 1 + rows_again(rows));
		else
			return status;
	}
}

/* Adds a page, or sets rows->end.  row not empty: the page begins at the row. */
static WcStatus
fetch(WcHBaseRows *rows, WcSlice row, bool inclusive, WcError *err)
{
	WcSlice		last = {0};
	uint32		n;
	uint32		got;
	int32		asked;
	WcAnswer	answer;
	Page	   *page;
	WcStatus	status = WC_OK;

	if (row.len > 0 && (!rows->begun || order(is_reversed(rows), row, wc_buf_slice(&rows->position)) > 0))
		status = set_position(rows, row, inclusive, err);
	if (status != WC_OK || rows->end)
		return status;
	page = calloc(1, sizeof(Page));
	if (page == NULL)
		return no_memory(err);
	page->refs = 1;
	n = ranges_to_ask(rows);
	asked = rows_to_ask(rows, n);
	status = ask_with_patience(rows, n, &asked, page, &answer, err);
	if (status == WC_OK)
	{
		uint32		range = rows->range;

		status = read_rows(rows, &answer, page, &got, &last, err);
		rows->range = range;
	}
	if (status == WC_OK)
		adapt(rows, page->bytes.len, got);
	if (status == WC_OK && got == (uint32) asked)
		status = set_position(rows, last, false, err);
	else if (status == WC_OK)
	{
		rows->range += n;
		rows->end = rows->range >= rows->nranges;
	}
	if (status != WC_OK || page->nrows == 0)
		unref(page);
	else
		append(rows, page);
	return status;
}

/* --- the source -------------------------------------------------------------*/

/* Does the row have cells of the family?  If so, the source is set before the first of them. */
static bool
enter_row(Source *s)
{
	const Row  *row = &s->page->rows[s->row];
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
	Page	   *left = s->page;

	s->page = left->next;
	s->page->refs++;
	s->row = 0;
	unref(left);
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
			int			c = row.len > 0 ? order(s->base.reversed, key, row) : 1;

			if (c < 0 || (c == 0 && !inclusive))
				continue;
			if (s->point && c > 0)
				return WC_END;
			if (!enter_row(s))
				continue;
			s->base.row = key;
			s->on_row = true;
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
		status = fetch(s->rows, row, inclusive, err);
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

	unref(s->page);
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
	WcHBaseRows *rows;

	for (rows = reader->lanes; rows != NULL; rows = rows->next)
	{
		if (same_bound(rows->bounds.start, rows->bounds.start_inclusive, bounds->start, bounds->start_inclusive) &&
			same_bound(rows->bounds.stop, rows->bounds.stop_inclusive, bounds->stop, bounds->stop_inclusive))
			return rows;
	}
	rows = calloc(1, sizeof(WcHBaseRows));
	if (rows == NULL)
		return NULL;
	rows->last = calloc(1, sizeof(Page));
	if (rows->last == NULL)
	{
		free(rows);
		return NULL;
	}
	rows->last->refs = 1;
	rows->reader = reader;
	rows->bounds = *bounds;
	rows->rows = rows_first(reader);
	find_ranges(rows);
	rows->next = reader->lanes;
	reader->lanes = rows;
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
		return no_memory(err);
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
		unref(rows->last);
		wc_buf_free(&rows->position);
		free(rows);
	}
	wc_buf_free(&reader->filter);
}
