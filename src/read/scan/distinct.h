/*
 * read/scan/distinct.h: scans that want one row of those whose keys begin with the same parts (WcScan.distinct_parts).
 *
 * Rows with the same leading parts are neighbours, and their keys begin with the same bytes.  So after a row that is
 * returned the scan goes behind the rows that begin as it does: row by row at first, because there may be few of them, and
 * then with a seek.  Keys of rows that are passed over need not be readable, as with rows outside of a range.  One thread.
 */
#ifndef WC_READ_SCAN_DISTINCT_H
#define WC_READ_SCAN_DISTINCT_H

#include "base/arena.h"
#include "model/scan.h"

typedef struct WcDistinct WcDistinct;

/* Points to the scan's distinct_keys.  *distinct NULL and WC_OK: the scan wants all rows. */
extern WcStatus wc_distinct_create(WcArena *arena, const WcScan *scan, WcDistinct **distinct, WcError *err) WC_WARN_UNUSED;

/* Frees the memory that is not in the arena; NULL is allowed. */
extern void wc_distinct_free(WcDistinct *distinct);

/* The rows that begin as this one are not wanted any more.  False: its key has not these parts (or memory is out). */
extern bool wc_distinct_take(WcDistinct *distinct, WcSlice row);

/* Does this row begin in the same way? */
extern bool wc_distinct_covers(const WcDistinct *distinct, WcSlice row);

/* So many rows are passed before the scan seeks. */
extern uint32_t wc_distinct_steps(const WcDistinct *distinct);

/* Where to seek then: *row, or (not inclusive) the row after it in scan order.  False: no row can be there. */
extern bool wc_distinct_behind(WcDistinct *distinct, WcSlice *row, bool *inclusive);

/* The scan is behind these rows: did it seek? */
extern void wc_distinct_left(WcDistinct *distinct, bool sought);

#endif
