/*
 * model/scan.h: the Scan (a Get is a Scan of exactly one row).
 *
 * A WcScan is plain data; its maker owns everything that it points to.  It is sent encoded (model/README) from
 * backend to engine.
 */
#ifndef WC_MODEL_SCAN_H
#define WC_MODEL_SCAN_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/aggregation.h"
#include "model/cell.h"
#include "model/filter.h"

/* Rows from start to stop; an empty start or stop is unbounded.  A Get has
 * start == stop, both inclusive.  In a reversed scan start is still the lesser
 * bound: only "reversed" tells the direction. */
typedef struct WcRange
{
	WcSlice		start;
	WcSlice		stop;
	bool		start_inclusive;
	bool		stop_inclusive;
} WcRange;

typedef enum WcColumnKind
{
	WC_COLUMN_EXACT = 0,		/* one qualifier */
	WC_COLUMN_FAMILY = 1,		/* the whole family; qualifier and stop unused */
	WC_COLUMN_PREFIX = 2,		/* qualifiers that start with qualifier */
	WC_COLUMN_RANGE = 3			/* qualifier <= q < stop; empty stop: unbounded */
} WcColumnKind;

typedef struct WcColumn
{
	uint32_t	family;			/* family id */
	uint8_t		kind;			/* WcColumnKind */
	WcSlice		qualifier;
	WcSlice		stop;
} WcColumn;

typedef struct WcScan
{
	uint32_t	table_id;
	uint32_t	nranges;		/* 0: the whole table */
	WcRange    *ranges;			/* ascending, disjoint; an empty one stands alone */
	uint32_t	ncolumns;		/* 0: every column of every family, or none with rows_by_existence */
	WcColumn   *columns;		/* columns to return */

	/*
	 * When rows_by_existence is set, a row is returned (possibly without any
	 * cell) when one of these families holds a visible cell in it; nfamilies 0
	 * means all families.  Without it, HBase's rule: a row is returned when at
	 * least one of its cells is.
	 */
	bool		rows_by_existence;
	uint32_t	nfamilies;
	uint32_t   *families;

	uint32_t	versions;		/* most versions a column, >= 1; the family's VERSIONS caps it unless raw or uncapped */
	bool		uncapped;		/* versions beyond the family's VERSIONS, and expired ones beyond its MIN_VERSIONS, are visible as long as
								 * they are stored */
	int64_t		ts_min;			/* inclusive */
	int64_t		ts_max;			/* exclusive; WC_TS_LATEST: unbounded */

	/*
	 * Of the visible cells, only those with these timestamps are returned.  Unlike the time range it changes
	 * neither which cells are visible nor the count of versions.  Not with rows_by_existence.
	 */
	int64_t		filter_ts_min;	/* inclusive */
	int64_t		filter_ts_max;	/* exclusive; WC_TS_LATEST: unbounded */

	/*
	 * The table as of a time (WC_TS_LATEST: now): newer cells are not visible, and times to live are compared
	 * with that time.  A family that may have forgotten cells of that time is an error.  A transaction's own
	 * writes are not visible.
	 */
	int64_t		as_of_ts;
	bool		reversed;

	/*
	 * Rows come in the order of the bytes after their first byte (of equal ones the smaller first byte first).
	 * The ranges that begin with the same byte are read one after another as a run; the runs, each with its
	 * own iterator, are merged.  A range should not extend to rows with another first byte: within a range
	 * rows come in the order of their whole keys.  The whole table is one range.
	 */
	bool		merged;
	bool		raw;			/* markers and masked cells too; selecting qualifiers is an error */
	bool		want_ts;		/* cells carry timestamp, type and TTL in the answer */
	bool		key_only;		/* cells come without values */
	bool		measured;		/* count the rows that the filter rejects, which is for EXPLAIN and costs a little */
	uint64_t	row_limit;		/* 0: none */
	uint64_t	row_offset;		/* rows that would be returned, skipped before the first that is */
	bool		count_cells;	/* layout cell: row_limit and row_offset count cells, across rows; `columns` only leave out cells
									 * (WcMatcherOptions.columns_filter); not with rows_by_existence */
	uint32_t	batch_rows;		/* most rows a block (HBase's caching); 0: as many as fit */
	uint32_t	column_limit;	/* cells a family in each row; 0: none */
	uint32_t	column_offset;	/* cells of a family skipped in each row */

	/*
	 * Rows are returned that satisfy the filter, and rows that it cannot decide (WcBlockReader.undecided), which the row
	 * limit does not count.  The first undecided row before row_offset is reached ends the skipping: the reader has to
	 * skip the other rows (WcBlockReader.owed), and the limit grows by their number.  NULL: all rows are returned.  Only
	 * with rows_by_existence, and without column_limit and column_offset.
	 */
	const WcFilter *filter;

	/*
	 * A filter in HBase's language (filterlang/filterlang.h), as text; empty: none.  It sees the visible cells, with as
	 * many versions as the family keeps.  `versions`, row_limit and the limits of columns count the cells and rows that
	 * pass it.  Only with HBase's rule of which rows are returned, without row_offset, and not merged.  Several ranges
	 * have to be single rows: each is then filtered as if it were alone.
	 */
	WcSlice		filter_text;

	/*
	 * Rows come back in groups, with states of aggregates (aggregation.h), and undecided rows
	 * as they are.  Only with rows_by_existence, one version, and without limits and offsets.
	 * NULL: rows come back.
	 */
	const WcAggregation *aggregation;

	/*
	 * Of the rows whose keys begin with the same so many parts, only the first that would be returned is wanted; 0: all are.
	 * Others may come too: rows in other buckets of a salted key, rows behind an undecided one, rows whose keys have not
	 * these parts, single rows.  row_limit and row_offset count what comes.  Only with rows_by_existence, and without an
	 * aggregation.
	 */
	uint32_t	distinct_parts;
	WcSlice		distinct_keys;	/* a key check, which tells the parts (rowkey/keycheck.h); not empty with distinct_parts */
} WcScan;

/* Zeroes it and sets versions 1, ts range and filter [0, WC_TS_LATEST), as of now. */
extern void wc_scan_init(WcScan *scan, uint32_t table_id);

/* Limits, order of the ranges, sense of time range and flags. */
extern WcStatus wc_scan_check(const WcScan *scan, WcError *err) WC_WARN_UNUSED;

extern void wc_scan_encode(WcBuf *out, const WcScan *scan);

/*
 * The shape of a Scan is the same Scan without its ranges, its direction, its row_limit and its batch_rows: it returns all rows of the
 * table, in the order of their keys.  Are a Scan's rows just those of its shape that are in its ranges, up to its limit?
 */
extern bool wc_scan_has_shape(const WcScan *scan);
extern void wc_scan_shape_encode(WcBuf *out, const WcScan *scan);

/* Slices point into bytes, arrays are in the arena; checks as wc_scan_check. */
extern WcStatus wc_scan_decode(WcSlice bytes, WcArena *arena, WcScan *scan, WcError *err) WC_WARN_UNUSED;

/* Is row inside the range?  And: is row before its start / behind its stop? */
extern bool wc_range_contains(const WcRange *range, WcSlice row);
extern bool wc_range_before_start(const WcRange *range, WcSlice row);
extern bool wc_range_behind_stop(const WcRange *range, WcSlice row);

/* Is row behind the range in the direction of a scan? */
static inline bool
wc_range_is_left(const WcRange *range, WcSlice row, bool reversed)
{
	return reversed ? wc_range_before_start(range, row) : wc_range_behind_stop(range, row);
}

/* The part of a range that begins with the row `from` and ends before the row `to` (empty:
 * unbounded); points to the bytes of all three. */
extern WcRange wc_range_part(const WcRange *range, WcSlice from, WcSlice to);

/*
 * Shortens bounds to at most `longest` bytes, and drops ranges that become empty, but not the only one: of row keys that are
 * not longer than that, the same ones are in the ranges.
 */
extern void wc_scan_shorten_bounds(WcScan *scan, size_t longest);

/* True when no key can be in it. */
extern bool wc_range_is_empty(const WcRange *range);

/* True when it is a single row. */
extern bool wc_range_is_point(const WcRange *range);

/* Bytes with which each row of the range begins, all that are certain; points to the bytes of start. */
extern WcSlice wc_range_common_prefix(const WcRange *range);

/* The range of all rows that start with prefix: [p, p+1), where p+1 is p with
 * its last byte that is not 0xFF incremented and cut behind it; all 0xFF (or an
 * empty prefix) has no stop.  The bytes of stop are allocated in the arena;
 * false when memory is out. */
extern bool wc_range_of_prefix(WcArena *arena, WcSlice prefix, WcRange *range);

#endif
