/*
 * read/scan/skip.h: ranges of rows that a filter certainly rejects, which are skipped without being read.
 *
 * For conditions on parts of the row key after a part without a condition: among rows with the same leading parts, the
 * rows that can satisfy the conditions are neighbours.  So a rejected row gives a place ahead, before which no row
 * satisfies them.  Rows before this place are skipped, and the scan seeks if they are many.  Keys of skipped rows need
 * not be readable, as with rows outside of a range.  One thread.
 */
#ifndef WC_READ_SCAN_SKIP_H
#define WC_READ_SCAN_SKIP_H

#include "model/filter.h"
#include "rowkey/rowkey.h"

typedef struct WcSkip WcSkip;

/* For one lane of a scan.  It lives in the arena and points to the filter's values and the
 * layout; *skip NULL and WC_OK: these conditions give no such places. */
extern WcStatus wc_skip_create(WcArena *arena, const WcFilter *filter, const WcKeyLayout *layout, bool reversed,
							   WcSkip **skip, WcError *err) WC_WARN_UNUSED;

/* Frees the memory that is not in the arena; NULL is allowed. */
extern void wc_skip_free(WcSkip *skip);

/* Is the row, the next one in scan order, before the place? */
extern bool wc_skip_covers(WcSkip *skip, WcSlice row);

/* This row, with these contents of its parts, was rejected.  WC_NO_MEMORY is the only failure. */
extern WcStatus wc_skip_rejected(WcSkip *skip, WcSlice row, const WcSlice *parts, WcError *err) WC_WARN_UNUSED;

/* Is it time to seek?  Then *row is the target: the scan seeks it, or (not inclusive) the row after it in scan order.
 * Valid until the next row is rejected. */
extern bool wc_skip_due(const WcSkip *skip, WcSlice *row, bool *inclusive);

/* Does the row lie before what wc_skip_due said? */
extern bool wc_skip_before(const WcSkip *skip, WcSlice row);

#endif
