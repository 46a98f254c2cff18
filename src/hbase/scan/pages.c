/*
 * hbase/scan/pages.c: pages of an HBase table's rows.
 */
#include "hbase/scan/pages.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/printable.h"
#include "hbase/catalog/tablechange.h"
#include "model/cellblock.h"

/* Rows of the first answer when their sizes are unknown, and the target size of later answers in bytes. */
#define ROWS_FIRST 5
#define PAGE_BYTES (256 * 1024)

/* When the number of wanted rows is known, the first answer has about HINTED_BYTES at most, and at most so many rows: keys
 * alone; rows that may have large cells which are not wanted; other rows. */
#define HINTED_BYTES (4 * 1024 * 1024)
#define KEYS_HINTED_MAX 1000
#define ROWS_UNKNOWN_MAX 20
#define ROWS_HINTED_MAX 100

/* An answer has at most GROWTH times the rows of the answer before; after an answer that was too large, the rows
 * are divided by SHRINKAGE. */
#define GROWTH 4
#define SHRINKAGE 8

/* Bytes of a row key in a message. */
#define SHOWN_MAX 100

/* One request has at most so many ranges, with so many bytes: the gateway refuses a request of 2 MB. */
#define RANGES_MAX 1000
#define RANGES_BYTES_MAX (512 * 1024)

/* --- pages ------------------------------------------------------------------*/

void
wc_hbase_page_unref(WcHBasePage *page)
{
	while (page != NULL && --page->refs == 0)
	{
		WcHBasePage *next = page->next;

		wc_buf_free(&page->bytes);
		free(page->rows);
		free(page->cells);
		free(page);
		page = next;
	}
}

static void
append(WcHBaseRows *rows, WcHBasePage *page)
{
	page->refs = 2;				/* of the page before, and of rows->last */
	rows->last->next = page;
	wc_hbase_page_unref(rows->last);
	rows->last = page;
}

/* --- reading an answer --------------------------------------------------------*/

/* Is the row new, and in a range? */
static bool
is_wanted(WcHBaseRows *rows, WcSlice row)
{
	bool		reversed = wc_hbase_is_reversed(rows);

	if (rows->begun)
	{
		int			c = wc_hbase_row_order(reversed, row, wc_buf_slice(&rows->position));

		if (c < 0 || (c == 0 && !rows->inclusive))
			return false;
	}
	while (rows->range < rows->nranges)
	{
		const WcRange *range = wc_hbase_range_at(rows, rows->range);

		if (wc_range_contains(range, row))
			return true;
		if (!wc_range_is_left(range, row, reversed))
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
	if (from->qualifier.len > WC_QUALIFIER_MAX || from->value.len > WC_VALUE_MAX)
		return wc_error(err, WC_UNSUPPORTED, "a cell of table \"%s\" of HBase has a qualifier of %zu and a value of %zu bytes; the limits are %d and %d",
						reader->table->name, from->qualifier.len, from->value.len, WC_QUALIFIER_MAX, WC_VALUE_MAX);
	if (!wc_cell_type_valid(from->type) || ts < 0)
		return wc_error(err, WC_CORRUPT, "a cell of table \"%s\" of HBase has type %u and timestamp %lld",
						reader->table->name, from->type, (long long) ts);
	if (!reader->table->server->options.raw_timestamps)
	{
		if (ts > INT64_MAX / WC_HBASE_US_PER_MS)
		{
			wc_error(err, WC_BAD_DATA, "timestamp %lld in table \"%s\" of HBase is no time in milliseconds",
					 (long long) ts, reader->table->name);
			wc_error_hint(err, "With option \"timestamps\" 'raw' of the server, timestamps are numbers.");
			return WC_BAD_DATA;
		}
		ts *= WC_HBASE_US_PER_MS;
	}
	*cell = (WcCell) {
		.family = family->id,.type = from->type,.qualifier = from->qualifier,.ts = ts,.seq = WC_SEQ_UNKNOWN,.value = from->value
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

/* The last row of an answer that was read; at first the row with which the request begins. */
typedef struct LastRow
{
	WcSlice		key;			/* empty: any row may follow */
	bool		inclusive;		/* this row may follow, too */
} LastRow;

/* The next page begins behind the last row of this one: with rows in another order, rows would be lost, or come for ever. */
static WcStatus
check_order(const WcHBaseRows *rows, const LastRow *last, WcSlice row, WcError *err)
{
	int			c = last->key.len > 0 && row.len > 0 ? wc_hbase_row_order(wc_hbase_is_reversed(rows), row, last->key) : 1;
	char		before[WC_PRINTABLE_SIZE(SHOWN_MAX)];
	char		shown[WC_PRINTABLE_SIZE(SHOWN_MAX)];

	if (c > 0 || (c == 0 && last->inclusive))
		return WC_OK;
	wc_error(err, WC_CORRUPT, "HBase has sent rows of table \"%s\" out of order", rows->reader->table->name);
	wc_error_detail(err, "Row \"%s\" came where rows behind \"%s\" were expected%s.", wc_printable(shown, sizeof(shown), row),
					wc_printable(before, sizeof(before), last->key), wc_hbase_is_reversed(rows) ? ", in descending order" : "");
	return WC_CORRUPT;
}

/* Reads a row into the page, or skips a row that is not wanted. */
static WcStatus
read_row(WcHBaseRows *rows, WcAnswer *answer, WcHBasePage *page, PageRoom *room, LastRow *last, WcError *err)
{
	WcHBasePageRow row = {.first = room->ncells};
	WcStatus	status = WC_OK;
	uint32		ncells;
	bool		wanted;
	bool		partial;

	wc_answer_row(answer, &row.key, &ncells);
	if (row.key.len > WC_ROW_MAX)
		return wc_error(err, WC_CORRUPT, "a row key in table \"%s\" of HBase has %zu bytes", rows->reader->table->name, row.key.len);
	status = check_order(rows, last, row.key, err);
	*last = (LastRow) {.key = row.key};
	wanted = row.key.len > 0 && is_wanted(rows, row.key);
	for (uint32 i = 0; i < ncells && status == WC_OK; i++)
	{
		WcThriftCell from;
		bool		known = false;

		wc_answer_cell(answer, &from);
		status = wc_answer_status(answer, err);
		if (status == WC_OK && !make_room((void **) &page->cells, room->ncells, &room->cells, sizeof(WcCell)))
			status = wc_hbase_rows_no_memory(err);
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
	if (!make_room((void **) &page->rows, page->nrows, &room->rows, sizeof(WcHBasePageRow)))
		return wc_hbase_rows_no_memory(err);
	page->rows[page->nrows++] = row;
	return wc_answer_status(answer, err);
}

/* *got: the number of rows in the answer, wanted or not; *last: the last row's key. */
static WcStatus
read_rows(WcHBaseRows *rows, WcAnswer *answer, WcHBasePage *page, uint32 *got, WcSlice *last, WcError *err)
{
	PageRoom	room = {0};
	LastRow		before = {0};
	WcStatus	status = WC_OK;

	before.key = wc_hbase_first_row(rows, &before.inclusive);
	before.inclusive |= wc_hbase_is_reversed(rows); /* HBase includes the row with which a reversed scan begins */
	*got = wc_answer_rows(answer);
	for (uint32 i = 0; i < *got && status == WC_OK; i++)
	{
		status = read_row(rows, answer, page, &room, &before, err);
		*last = before.key;
	}
	return status == WC_OK ? wc_answer_status(answer, err) : status;
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
		return wc_hbase_rows_no_memory(err);
	wc_buf_free(&rows->position);
	rows->position = position;
	rows->inclusive = inclusive;
	rows->begun = true;
	while (rows->range < rows->nranges)
	{
		const WcRange *range = wc_hbase_range_at(rows, rows->range);
		WcSlice		bound = wc_hbase_is_reversed(rows) ? range->start : range->stop;
		int			c = bound.len > 0 ? wc_hbase_row_order(wc_hbase_is_reversed(rows), row, bound) : -1;

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
	return wc_hbase_is_reversed(rows) && rows->begun && !rows->inclusive;
}

/* The number of rows to request of n ranges. */
static int32
rows_to_ask(const WcHBaseRows *rows, uint32 n)
{
	uint32		wanted = rows->rows;

	for (uint32 i = 0; i < n; i++)
	{
		if (!wc_range_is_point(wc_hbase_range_at(rows, rows->range + i)))
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

	/* in a reversed scan, HBase's filter of several ranges finds nothing behind one without a stop (2.6.1) */
	if (wc_hbase_is_reversed(rows) && wc_hbase_range_at(rows, rows->range)->stop.len == 0)
		most = 1;
	while (n < most && (n == 0 || bytes < RANGES_BYTES_MAX))
	{
		const WcRange *range = wc_hbase_range_at(rows, rows->range + n++);

		bytes += range->start.len + range->stop.len;
	}
	return n;
}

/* Sets rows->rows from the size of the received rows. */
static void
adapt(WcHBaseRows *rows, const WcHBasePage *page, uint32 got)
{
	WcHBaseTable *table = rows->reader->table;
	size_t		row_bytes = Max(page->bytes.len / Max(got, 1), 1);

	if (page->nrows > 0 && wc_hbase_has_small_rows(rows->reader))
	{
		const WcHBasePageRow *last = &page->rows[page->nrows - 1];

		table->whole_cells = (double) (last->first + last->ncells) / page->nrows;
		table->whole_bytes = row_bytes;
	}
	if (got > 0 && !wc_hbase_is_of_keys(rows->reader))
		table->row_bytes = row_bytes;
	rows->rows = (uint32) Max(1, Min(PAGE_BYTES / row_bytes, rows->rows * GROWTH));
}

uint32
wc_hbase_rows_first(const WcHBaseReader *reader)
{
	size_t		row_bytes = reader->table->row_bytes;
	uint64		n = reader->rows_hint;

	if (n > 0 && wc_hbase_is_of_keys(reader))
		return (uint32) Min(n, KEYS_HINTED_MAX);
	if (n > ROWS_UNKNOWN_MAX && reader->table->whole_bytes == 0 && wc_hbase_has_small_rows(reader))
		n = ROWS_UNKNOWN_MAX;
	if (n == 0)
		n = row_bytes == 0 ? ROWS_FIRST : PAGE_BYTES / row_bytes;
	else if (row_bytes > 0)
		n = Min(n, HINTED_BYTES / row_bytes);
	return (uint32) Min(Max(n, 1), ROWS_HINTED_MAX);
}

/* Sends the request for the next page, if a connection is free. */
static WcStatus
ask_ahead(WcHBaseRows *rows, WcError *err)
{
	if (wc_hbase_table_state(rows->reader->table) == WC_HBASE_EMPTIED)
		return WC_OK;			/* wc_hbase_page_fetch asks for nothing, either */
	rows->ahead_ranges = ranges_to_ask(rows);
	rows->ahead_rows = rows_to_ask(rows, rows->ahead_ranges);
	rows->ahead_filtered = rows->reader->filter.len > 0;
	return wc_hbase_page_ask_ahead(rows, rows->ahead_ranges, rows->ahead_rows, err);
}

/*
 * Requests up to *nrows rows of the next n ranges, unless that was done ahead.  When few rows pass HBase's filter, an answer may time out:
 * then the request is repeated without the filter.  The rows may be too large for WC_HBASE_ANSWER_MAX, or for the
 * gateway, which closes the connection: then fewer rows are requested.
 */
static WcStatus
ask_with_patience(WcHBaseRows *rows, uint32 n, int32 *nrows, WcHBasePage *page, WcAnswer *answer, WcError *err)
{
	WcHBaseReader *reader = rows->reader;

	for (;;)
	{
		bool		filtered = rows->ahead_filtered;
		WcStatus	status = rows->ahead.connection != NULL ? wc_hbase_page_take(rows, page, answer, err) : WC_END;

		if (status == WC_END)
		{
			filtered = reader->filter.len > 0;
			status = wc_hbase_page_ask(rows, n, *nrows, page, answer, err);
		}
		if (status == WC_IO && filtered && reader->table->server->timed_out)
			reader->filter.len = 0;
		else if ((status == WC_TOO_LARGE || (status == WC_IO && reader->table->server->lost)) &&
				 *nrows > 1 + rows_again(rows))
			*nrows = Max(*nrows / SHRINKAGE, 1 + rows_again(rows));
		else if (status == WC_TOO_LARGE && wc_hbase_has_small_rows(reader))
			reader->table->whole_bytes = WC_HBASE_ANSWER_MAX;
		else
			return status;
	}
}

WcStatus
wc_hbase_rows_ahead(WcHBaseReader *reader, const WcHBaseConnection **on, bool *own, WcError *err)
{
	WcHBaseServer *server = reader->table->server;
	WcStatus	status = WC_OK;

	*on = NULL;
	*own = false;
	if (server->options.http)
		return WC_OK;			/* libcurl has the socket */
	reader->ahead = true;
	for (WcHBaseRows *rows = reader->lanes; rows != NULL && status == WC_OK && !*own; rows = rows->next)
	{
		if (rows->end)
			continue;
		if (rows->ahead.connection == NULL)
			status = ask_ahead(rows, err);
		if (rows->ahead.connection != NULL && !wc_hbase_ahead_arrived(&rows->ahead))
		{
			*on = rows->ahead.connection;
			*own = true;
		}
		else if (rows->ahead.connection == NULL && server->connection.ahead != NULL)
			*on = &server->connection;	/* no connection is free */
	}
	return status;
}

/* --- pages of several lanes ----------------------------------------------------*/

/*
 * The lane, of those without a request, whose next page will be wanted soonest: one that has not begun, else the one with
 * the fewest rows left.  NULL: none will be wanted soon, or so many requests are under way as there may be connections.
 */
static WcHBaseRows *
next_hungry(const WcHBaseReader *reader)
{
	WcHBaseRows *next = NULL;
	int			asked = 0;

	for (WcHBaseRows *rows = reader->lanes; rows != NULL; rows = rows->next)
	{
		if (rows->ahead.connection != NULL)
			asked += rows->started;
		else if (!rows->end && !rows->started)
			return rows;
		else if (!rows->end && rows->left < rows->last->nrows / 2 && (next == NULL || rows->left < next->left))
			next = rows;
	}
	return asked < reader->table->server->nconnections ? next : NULL;
}

/*
 * Rows of several lanes are merged, so the lanes need their pages at about the same time.  When one needs its page, those of
 * the others are requested as well, as far as connections are free.
 */
static WcStatus
ask_of_lanes(WcHBaseRows *rows, WcError *err)
{
	WcHBaseRows *other;
	WcStatus	status = WC_OK;

	if (rows->ahead.connection == NULL)
		status = ask_ahead(rows, err);
	while (status == WC_OK && (other = next_hungry(rows->reader)) != NULL)
	{
		status = ask_ahead(other, err);
		if (other->ahead.connection == NULL)
			break;				/* no connection is free */
	}
	return status;
}

WcStatus
wc_hbase_page_fetch(WcHBaseRows *rows, WcSlice row, bool inclusive, WcError *err)
{
	WcSlice		last = {0};
	uint32		n;
	uint32		got;
	int32		asked;
	WcAnswer	answer;
	WcHBasePage *page;
	WcStatus	status = WC_OK;
	bool		asked_ahead = rows->ahead.connection != NULL;

	/* a row that is behind the page that was asked for is found in a later page */
	if (row.len > 0 && !asked_ahead && (!rows->begun || wc_hbase_row_order(wc_hbase_is_reversed(rows), row, wc_buf_slice(&rows->position)) > 0))
		status = set_position(rows, row, inclusive, err);
	if (status == WC_OK && wc_hbase_table_state(rows->reader->table) == WC_HBASE_EMPTIED)
		rows->end = true;
	if (status == WC_OK && !rows->end && rows->reader->lanes->next != NULL)
		status = ask_of_lanes(rows, err);
	if (status != WC_OK || rows->end)
		return status;
	asked_ahead = rows->ahead.connection != NULL;
	page = calloc(1, sizeof(WcHBasePage));
	if (page == NULL)
		return wc_hbase_rows_no_memory(err);
	page->refs = 1;
	n = asked_ahead ? rows->ahead_ranges : ranges_to_ask(rows);
	asked = asked_ahead ? rows->ahead_rows : rows_to_ask(rows, n);
	status = ask_with_patience(rows, n, &asked, page, &answer, err);
	if (status == WC_OK)
	{
		uint32		range = rows->range;

		status = read_rows(rows, &answer, page, &got, &last, err);
		rows->range = range;
	}
	rows->started = true;
	rows->left = page->nrows;
	if (status == WC_OK)
		adapt(rows, page, last.len > 0 ? got : 0);
	if (status == WC_OK && got >= (uint32) asked && last.len > 0)
		status = set_position(rows, last, false, err);
	else if (status == WC_OK)
	{
		rows->range += n;
		rows->end = rows->range >= rows->nranges;
	}
	if (status != WC_OK || page->nrows == 0)
		wc_hbase_page_unref(page);
	else
		append(rows, page);
	if (status == WC_OK && rows->reader->ahead && !rows->end)
		status = ask_ahead(rows, err);
	return status;
}
