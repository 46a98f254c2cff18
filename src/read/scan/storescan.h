/*
 * read/scan/storescan.h: the visible cells of one family.
 *
 * A cell source and a matcher put together: walks the rows of the source (those
 * that hold any cell, visible or not) and gives of each what the matcher lets
 * through, turning its hints into seeks.  One thread.
 */
#ifndef WC_READ_SCAN_STORESCAN_H
#define WC_READ_SCAN_STORESCAN_H

#include <stdatomic.h>

#include "model/cellblock.h"
#include "read/cell/cellsource.h"
#include "read/cell/matcher.h"
#include "read/scan/groups.h"
#include "read/scan/rowfilter.h"

typedef struct WcStoreScan WcStoreScan;

/*
 * Takes over the source, and closes it also after an error.  The matcher's columns must outlive the scan.  cancel (or
 * NULL) is checked once in WC_CANCEL_CELLS cells or rows.
 */
extern WcStatus wc_storescan_open(WcCellSource *src, const WcMatcherOptions *options,
								  const atomic_bool *cancel, WcStoreScan **scan, WcError *err) WC_WARN_UNUSED;

/* Before the first row: after so many times WC_CANCEL_CELLS cells or rows the scan is cancelled. */
extern void wc_storescan_set_patience(WcStoreScan *scan, uint32_t patience);

/* From now on returns only visible cells with timestamps in [ts_min, ts_max) (ts_max WC_TS_LATEST: no end).  Called before
 * the first row; then wc_storescan_exists must not be called. */
extern void wc_storescan_filter(WcStoreScan *scan, int64_t ts_min, int64_t ts_max);
extern void wc_storescan_close(WcStoreScan *scan);	/* NULL is allowed */

/* As seek_row and next_row of a cell source: WC_END when there is no such row.
 * The row need not have a visible cell. */
extern WcStatus wc_storescan_seek(WcStoreScan *scan, WcSlice row, bool inclusive, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_storescan_next_row(WcStoreScan *scan, WcError *err) WC_WARN_UNUSED;

/* The current row; valid until the scan is moved. */
extern WcSlice wc_storescan_row(const WcStoreScan *scan);

/* The next visible cell of the current row (WC_END: no more), valid until the
 * next call; colno as in wc_matcher_match. */
extern WcStatus wc_storescan_next(WcStoreScan *scan, WcCell *cell, uint32_t *colno, WcError *err) WC_WARN_UNUSED;

/* No more cells of the current row before this qualifier (after: up to it) are wanted; the next cell may be such a one
 * nevertheless.  Must not be called while the column of the last cell has an empty qualifier. */
extern WcStatus wc_storescan_pass_to(WcStoreScan *scan, WcSlice qualifier, bool after, WcError *err) WC_WARN_UNUSED;

/* Before the first row: lets the scan tell of each row, whether all its cells are puts without TTL that have the timestamps of
 * their commits, as far as that is seen without the matcher: then a later commit's put without a timestamp will be visible. */
extern void wc_storescan_watch_times(WcStoreScan *scan);
extern bool wc_storescan_has_commit_times(const WcStoreScan *scan);

/*
 * Does the current row hold any visible cell, whichever columns the scan wants?
 * Ends the row: wc_storescan_next gives WC_END after it.  To be asked before the
 * first wc_storescan_next of the row, or when that has given WC_END.
 */
extern WcStatus wc_storescan_exists(WcStoreScan *scan, bool *exists, WcError *err) WC_WARN_UNUSED;

/* The same where no cell has to be read to know: true, and *exists is set.  Moves
 * nothing, so may be asked at any time. */
extern bool wc_storescan_tells(WcStoreScan *scan, bool *exists);

/* --- plain rows ---------------------------------------------------------------
 *
 * A row that is one key-value, of which each column's newest cell is visible, and nothing
 * but exact columns is wanted, is plain: its cells need not be given one by one. */

/* Is the current row plain?  (It exists then.) */
extern bool wc_storescan_plain(const WcStoreScan *scan);

/* Which columns wc_storescan_show is to show; once, before the first row. */
extern WcStatus wc_storescan_set_filter(WcStoreScan *scan, WcRowFilter *filter, WcError *err) WC_WARN_UNUSED;

/* Shows a plain row's cells to the filter, as many as it takes; the scan stays where
 * it is in the row. */
extern WcStatus wc_storescan_show(WcStoreScan *scan, WcError *err) WC_WARN_UNUSED;

/*
 * Writes the rest of a plain row into the block: the wanted columns with numbers below `shown`, only with their values.
 * *full: the block has reached its size before a cell, which the next call writes.
 */
extern WcStatus wc_storescan_copy(WcStoreScan *scan, WcBlockWriter *w, uint32_t shown, size_t bytes_target,
								  bool *full, WcError *err) WC_WARN_UNUSED;

/* The same of a row that is as plain, of which all columns are wanted, without numbers: is the
 * current row such a one?  And: its cells, from where the scan stands. */
extern bool wc_storescan_whole(const WcStoreScan *scan);
extern WcStatus wc_storescan_copy_whole(WcStoreScan *scan, WcBlockWriter *w, size_t bytes_target, bool *full, WcError *err) WC_WARN_UNUSED;

/* How wc_storescan_copy_rows ends. */
typedef enum WcRowsCopied
{
	WC_ROWS_ENOUGH,				/* the scan is on the last row that was written */
	WC_ROWS_CUT,				/* likewise, and the row has more cells, but the block has no room */
	WC_ROWS_OTHER,				/* the scan has moved to a row that is not written, */
	WC_ROWS_END					/* ... or behind its last row */
} WcRowsCopied;

/* Several rows, one behind another. */
typedef struct WcRowsCopy
{
	const WcRange *range;		/* they are in this range */
	bool		cells;			/* else only their keys are written */
	size_t		bytes_target;	/* of the block, before the next row; as for wc_storescan_copy */
	size_t		bytes_most;		/* the same within a row */
	uint64_t	rows_most;
	uint64_t	rows;			/* set: so many were written, */
	WcRowsCopied end;			/* ... and why no more */
} WcRowsCopy;

/* Moves from row to row, and writes each row's key and cells, up to a row that is neither plain nor whole, or is behind the range.
 * Before the call the scan is on a row of which nothing more is wanted. */
extern WcStatus wc_storescan_copy_rows(WcStoreScan *scan, WcRowsCopy *copy, WcBlockWriter *w, WcError *err) WC_WARN_UNUSED;

/* Adds the rest of a plain row, with the same columns, to a group; the values stay valid until the scan moves. */
extern WcStatus wc_storescan_group(WcStoreScan *scan, WcGroups *groups, uint32_t shown, WcError *err) WC_WARN_UNUSED;

/* The time from which on the cells that were returned so far may be different, because one will have outlived its TTL;
 * INT64_MAX: none will. */
extern int64_t wc_storescan_valid_until_us(const WcStoreScan *scan);

/* Counters so far: cells read, and seeks in the storage. */
extern void wc_storescan_counters(const WcStoreScan *scan, uint64_t *cells, uint64_t *seeks);

#endif
