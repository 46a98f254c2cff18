/*
 * read/scan/skip.h: rows that a filter is sure to reject, without looking at them.
 *
 * Conditions on parts of the row key behind a part that may be anything: of rows
 * with the same parts before, those that can satisfy them lie together.  So a row that
 * is rejected tells of a place ahead, before which there is nothing to be found; rows
 * before it are passed over unseen, and when they are many, the scan seeks.  Whether
 * their keys can be read does not matter, as with rows outside a range.  One thread.
 */
#ifndef WC_READ_SCAN_SKIP_H
#define WC_READ_SCAN_SKIP_H

#include "model/filter.h"
#include "rowkey/rowkey.h"

typedef struct WcSkip WcSkip;

/* For one lane of a scan.  It lives in the arena and points to the filter's values and the
 * layout; *skip NULL and WC_OK: these conditions tell of no such places. */
extern WcStatus wc_skip_create(WcArena *arena, const WcFilter *filter, const WcKeyLayout *layout, bool reversed,
							   WcSkip **skip, WcError *err) WC_WARN_UNUSED;

/* Lets go what is not in the arena; NULL is none. */
extern void wc_skip_free(WcSkip *skip);

/* Is the row, the next one in scan order, before the place? */
extern bool wc_skip_covers(WcSkip *skip, WcSlice row);

/* This row, with these contents of its parts, was rejected.  WC_NO_MEMORY is the only failure. */
extern WcStatus wc_skip_rejected(WcSkip *skip, WcSlice row, const WcSlice *parts, WcError *err) WC_WARN_UNUSED;

/* Is it time to seek?  Then to this row, or behind it (before, in a reversed scan); it is valid
 * until the next row is rejected. */
extern bool wc_skip_due(const WcSkip *skip, WcSlice *row, bool *inclusive);

/* Does the row lie before what wc_skip_due said? */
extern bool wc_skip_before(const WcSkip *skip, WcSlice row);

#endif
