/*
 * hbase/scan/pages.h: pages of an HBase table's rows, for rows.c, pages.c and pagerequest.c.
 */
#ifndef WC_HBASE_SCAN_PAGES_H
#define WC_HBASE_SCAN_PAGES_H

#include "hbase/scan/rows.h"

typedef struct WcHBasePageRow
{
	WcSlice		key;
	uint32		first;			/* index of its first cell in the page */
	uint32		ncells;
} WcHBasePageRow;

/* The rows of an answer; the last page of the chain is the newest. */
typedef struct WcHBasePage
{
	uint32		refs;			/* references: of sources, of the page before, of WcHBaseRows.last */
	struct WcHBasePage *next;
	WcBuf		bytes;			/* the answer, which keys and cells point into */
	WcHBasePageRow *rows;
	uint32		nrows;
	WcCell	   *cells;
} WcHBasePage;

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

	WcHBasePage *last;			/* at first an empty page, on which sources begin */
	bool		begun;
	bool		end;			/* all rows have been read */
	WcBuf		position;		/* the next answer begins here; unset before begun */
	bool		inclusive;
	uint32		rows;			/* of the next answer */
	bool		started;		/* a page has arrived */
	uint32		left;			/* rows of the last page that no source has come to */

	WcHBaseAhead ahead;			/* the request for the next page, if it was sent ahead ... */
	uint32		ahead_ranges;	/* ... for so many ranges ... */
	int32		ahead_rows;		/* ... and at most so many rows ... */
	bool		ahead_filtered; /* ... with HBase's filter */
} WcHBaseRows;

static inline bool
wc_hbase_is_reversed(const WcHBaseRows *rows)
{
	return rows->reader->scan->reversed;
}

/* Does HBase send a row as its key alone? */
static inline bool
wc_hbase_is_of_keys(const WcHBaseReader *reader)
{
	const WcScan *scan = reader->scan;

	return scan->rows_by_existence && scan->key_only && scan->ncolumns == 0 && !scan->raw && !reader->merged;
}

/* Compares two row keys in scan order. */
static inline int
wc_hbase_row_order(bool reversed, WcSlice a, WcSlice b)
{
	int			c = wc_slice_cmp(a, b);

	return reversed ? -c : c;
}

/* The i-th range in scan order. */
static inline const WcRange *
wc_hbase_range_at(const WcHBaseRows *rows, uint32 i)
{
	return &rows->ranges[wc_hbase_is_reversed(rows) ? rows->nranges - 1 - i : i];
}

static inline WcStatus
wc_hbase_rows_no_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for rows of HBase");
}

/* Frees a reference of a page; NULL is passed over. */
extern void wc_hbase_page_unref(WcHBasePage *page);

/* Adds a page behind rows->last, or sets rows->end.  row not empty: the page begins at the row. */
extern WcStatus wc_hbase_page_fetch(WcHBaseRows *rows, WcSlice row, bool inclusive, WcError *err) WC_WARN_UNUSED;

/* The number of rows of a lane's first request. */
extern uint32 wc_hbase_rows_first(const WcHBaseReader *reader);

/* pagerequest.c: the row with which a request begins: the bound of its first range, or the position if that is behind the bound. */
extern WcSlice wc_hbase_first_row(const WcHBaseRows *rows, bool *inclusive);

/* pagerequest.c: requests nrows rows of the next n ranges; the page takes the answer's bytes. */
extern WcStatus wc_hbase_page_ask(WcHBaseRows *rows, uint32 n, int32 nrows, WcHBasePage *page, WcAnswer *answer,
								  WcError *err) WC_WARN_UNUSED;

/* pagerequest.c: sends such a request ahead, if a connection is free; and takes its answer (WC_END: it was lost). */
extern WcStatus wc_hbase_page_ask_ahead(WcHBaseRows *rows, uint32 n, int32 nrows, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_hbase_page_take(WcHBaseRows *rows, WcHBasePage *page, WcAnswer *answer, WcError *err) WC_WARN_UNUSED;

/* pagerequest.c: does HBase send all cells of the rows, though some columns alone are wanted? */
extern bool wc_hbase_has_small_rows(const WcHBaseReader *reader);


#endif
