/*
 * engine/filter.h: does a row satisfy a Scan's filter?
 *
 * The cells of a row are shown to it one by one; it keeps what they decide, not the
 * cells.  One thread.
 */
#ifndef WC_ENGINE_FILTER_H
#define WC_ENGINE_FILTER_H

#include "model/scan.h"

typedef struct WcRowFilter WcRowFilter;

typedef enum WcFilterVerdict
{
	WC_FILTER_REJECTS,
	WC_FILTER_PASSES,
	WC_FILTER_UNDECIDED			/* the backend has to look */
} WcFilterVerdict;

/* For a scan that has a filter and has been checked.  All of it is in the arena, copies of
 * the values too; NULL: memory is out. */
extern WcRowFilter *wc_rowfilter_create(WcArena *arena, const WcScan *scan);

extern void wc_rowfilter_start_row(WcRowFilter *filter);

/*
 * A cell of the row, colno as in wc_matcher_match.  Of a column's versions the first
 * counts.  True: nothing that comes can change the verdict.
 */
extern bool wc_rowfilter_cell(WcRowFilter *filter, uint32_t colno, WcSlice value);

/* When all cells were shown, or wc_rowfilter_cell said that these were enough. */
extern WcFilterVerdict wc_rowfilter_verdict(WcRowFilter *filter);

#endif
