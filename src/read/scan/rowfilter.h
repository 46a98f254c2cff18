/*
 * read/scan/rowfilter.h: does a row satisfy a Scan's filter?
 *
 * The scanner shows it the cells of a row one by one; it keeps the results of the conditions, not the cells.  One
 * thread.
 */
#ifndef WC_READ_SCAN_ROWFILTER_H
#define WC_READ_SCAN_ROWFILTER_H

#include "model/scan.h"
#include "rowkey/rowkey.h"

typedef struct WcRowFilter WcRowFilter;

typedef enum WcFilterVerdict
{
	WC_FILTER_REJECTS,
	WC_FILTER_PASSES,
	WC_FILTER_UNDECIDED			/* the backend has to look */
} WcFilterVerdict;

/* For a scan that has a filter and has been checked.  It lives in the arena, with copies
 * of the values; *filter is NULL when this fails: parts of the row key that make no sense,
 * memory. */
extern WcStatus wc_rowfilter_create(WcArena *arena, const WcScan *scan, WcRowFilter **filter, WcError *err) WC_WARN_UNUSED;

/* Frees the memory that is not in the arena; NULL is allowed. */
extern void wc_rowfilter_free(WcRowFilter *filter);

/* Does it look at cells of this column? */
extern bool wc_rowfilter_wants(const WcRowFilter *filter, uint32_t colno);

/* The filter as it is kept, and how row keys are laid; NULL: it looks at no row key. */
extern const WcFilter *wc_rowfilter_filter(const WcRowFilter *filter);
extern const WcKeyLayout *wc_rowfilter_layout(const WcRowFilter *filter);

/* When wc_rowfilter_start_row has rejected the row: the contents of its key's parts, valid as
 * long as the key, to the next row. */
extern const WcSlice *wc_rowfilter_parts(const WcRowFilter *filter);

/* Begins a row; the key is not needed after the call.  True: no cell of the row can change the result. */
extern bool wc_rowfilter_start_row(WcRowFilter *filter, WcSlice row);

/*
 * A cell of the row, with its timestamp, colno as in wc_matcher_match.  Of a column's versions the first
 * counts.  True: nothing that comes can change the verdict.
 */
extern bool wc_rowfilter_cell(WcRowFilter *filter, uint32_t colno, WcSlice value, int64_t ts);

/* When all cells were shown, or wc_rowfilter_cell said that these were enough. */
extern WcFilterVerdict wc_rowfilter_verdict(WcRowFilter *filter);

#endif
