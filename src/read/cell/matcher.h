/*
 * read/cell/matcher.h: the matcher, which alone decides which cells are visible.
 *
 * The caller passes in the cells of one row of one family in HBase's order, and gets for each what to do with it.  The
 * same code serves reads, raw scans, compaction and flush, and a transaction's own writes; read/README has the rules.
 * It allocates memory only when it is created (except for the delete tracker), and keeps pointers into a cell only until
 * the end of the cell's column.  One thread.
 */
#ifndef WC_READ_CELL_MATCHER_H
#define WC_READ_CELL_MATCHER_H

#include "base/buf.h"
#include "base/status.h"
#include "model/cell.h"
#include "model/descriptor.h"
#include "model/scan.h"

typedef enum WcMatchMode
{
	WC_MATCH_READ,				/* the visible cells */
	WC_MATCH_RAW,				/* puts and markers, nothing masked */
	WC_MATCH_MINOR,				/* flush, minor compaction: INCLUDE = is kept */
	WC_MATCH_MAJOR				/* major compaction: INCLUDE = is kept */
} WcMatchMode;

typedef enum WcMatch
{
	WC_MATCH_INCLUDE,			/* the cell is part of the answer (or kept) */
	WC_MATCH_SKIP,				/* it is not; give me the next */
	WC_MATCH_NEXT_COLUMN,		/* it is not, nor is anything more of its column */
	WC_MATCH_SEEK,				/* it is not; go on at the qualifier wc_matcher_seek_to gives */
	WC_MATCH_INCLUDE_NEXT_COLUMN,	/* it is; nothing more of its column */
	WC_MATCH_DONE_ROW,			/* it is not, nor is anything more in this row */
	WC_MATCH_FAILED				/* memory is out: nothing can be said */
} WcMatch;

typedef struct WcMatcherOptions
{
	WcMatchMode mode;
	WcFamilyAttrs attrs;		/* of the family */
	int64_t		now_us;			/* for TTLs */
	uint32_t	versions;		/* of the Scan; attrs.versions caps it unless raw */
	int64_t		ts_min;
	int64_t		ts_max;

	/*
	 * Reads: the columns of this family that are wanted, sorted, none twice, each
	 * with the position it has in the Scan; ncolumns 0: the whole family.
	 */
	uint32_t	ncolumns;
	const WcColumn *columns;
	const uint32_t *colnos;
	bool		columns_filter;	/* `columns` only leave out cells: a cell is visible if it is visible to a read of the whole
								 * family (ttl_ends_column in matcher.c) */

	/*
	 * Major compaction: a marker whose timestamp was given is kept if it was written after
	 * dated_until_ts (INT64_MAX: none is kept for this reason).  earliest_put_ts is the least
	 * timestamp of a put in the compacted range (KEEP_DELETED_CELLS; INT64_MIN: not known,
	 * INT64_MAX: there is no put).
	 */
	int64_t		dated_until_ts;
	int64_t		earliest_put_ts;
} WcMatcherOptions;

typedef struct WcMatcher WcMatcher;

/* Copies the options; the columns must outlive the matcher. */
extern WcStatus wc_matcher_create(const WcMatcherOptions *options, WcMatcher **matcher, WcError *err) WC_WARN_UNUSED;
extern void wc_matcher_free(WcMatcher *matcher);

/* Before the first cell of each row. */
extern void wc_matcher_start_row(WcMatcher *matcher);

/* colno, on INCLUDE: the position in WcScan.columns of the exact column that
 * wanted it, else WC_NO_COLUMN. */
extern WcMatch wc_matcher_match(WcMatcher *matcher, const WcCell *cell, uint32_t *colno);

/*
 * Compaction: the caller drops this cell: the last matched one, or a later one of a column of which no more cells are
 * kept.  Must be called for each dropped cell, in order.  Returns the time before which reads as of a time need the cell
 * (0: no read needs it).
 */
extern int64_t wc_matcher_drop(WcMatcher *matcher, const WcCell *cell);

/* Does a major compaction drop this marker, regardless of the cells before it? */
extern bool wc_matcher_purges(const WcMatcher *matcher, const WcCell *marker);

/*
 * Compaction: save appends the matcher's state after the cells of a row so far to out (read/README).  A matcher with the
 * same options that loads this state continues after these cells.  WC_CORRUPT: the bytes are no such state.
 */
extern void wc_matcher_save(const WcMatcher *matcher, WcBuf *out);
extern WcStatus wc_matcher_restore(WcMatcher *matcher, WcSlice state, WcError *err) WC_WARN_UNUSED;

/* Reads: the time at which the first of the cells that it was shown, and that have not
 * outlived their TTL, will have; INT64_MAX: none ever will. */
extern int64_t wc_matcher_valid_until_us(const WcMatcher *matcher);

/* The first moment at which a cell has expired by a TTL (more than 0). */
static inline int64_t
wc_ttl_end(int64_t ts, int64_t ttl_us)
{
	return ts >= INT64_MAX - ttl_us ? INT64_MAX : ts + ttl_us + 1;
}

/* After WC_MATCH_SEEK: the next qualifier that is wanted. */
extern WcSlice wc_matcher_seek_to(const WcMatcher *matcher);

/* After WC_MATCH_NEXT_COLUMN and WC_MATCH_INCLUDE_NEXT_COLUMN: where that is. */
typedef enum WcNextColumn
{
	WC_NEXT_COLUMN_ANY,			/* the one behind *qualifier, whichever it is */
	WC_NEXT_COLUMN_AT,			/* the first at or behind *qualifier */
	WC_NEXT_COLUMN_NONE			/* nothing more is wanted in this row */
} WcNextColumn;

/* *qualifier is valid until the next call of wc_matcher_match. */
extern WcNextColumn wc_matcher_next_column(const WcMatcher *matcher, WcSlice *qualifier);

#endif
