/*
 * thrift/hbasefilter.h: HBase's filters as bytes, the field filterBytes of a TScan.
 *
 * The filters are HBase's messages in Google's Protocol Buffers (Filter.proto): the name of a class, and
 * the bytes that this class parses.  Each function appends one filter to a buffer of the caller; the buffer
 * fails when it is out of memory (base/buf.h).
 */
#ifndef WC_THRIFT_HBASEFILTER_H
#define WC_THRIFT_HBASEFILTER_H

#include "base/buf.h"

typedef struct WcHBaseRange
{
	WcSlice		start;			/* empty: none */
	WcSlice		stop;			/* empty: none */
	bool		start_inclusive;
	bool		stop_inclusive;
} WcHBaseRange;

/* Rows in any of these ranges, ascending and disjoint. */
extern void wc_hbasefilter_ranges(WcBuf *out, const WcHBaseRange *ranges, uint32_t n);

/* The first cell of each row. */
extern void wc_hbasefilter_first_key(WcBuf *out);

/* The same cell without its value. */
extern void wc_hbasefilter_row_keys(WcBuf *out);

/* Cells of one column, of any family.  seeks: HBase skips other columns by seeking, which is cheaper, but in
 * a reversed scan loses cells of the following families. */
extern void wc_hbasefilter_column(WcBuf *out, WcSlice qualifier, bool seeks);

/* How HBase compares bytes (enum CompareType). */
typedef enum WcHBaseCompare
{
	WC_HBASE_LT = 0,
	WC_HBASE_LE = 1,
	WC_HBASE_EQ = 2,
	WC_HBASE_NE = 3,
	WC_HBASE_GE = 4,
	WC_HBASE_GT = 5
} WcHBaseCompare;

typedef enum WcHBaseComparator
{
	WC_HBASE_BYTES,
	WC_HBASE_PREFIX,			/* only as many of the first bytes are compared as the value has */
	WC_HBASE_REGEX,				/* the value is a regular expression of Java; EQ and NE only, as the following ones */
	WC_HBASE_REGEX_NOCASE,
	WC_HBASE_SUBSTRING_NOCASE	/* the value is UTF-8 */
} WcHBaseComparator;

/* Bytes, `op`, value. */
typedef struct WcHBaseComparison
{
	WcHBaseCompare op;
	WcHBaseComparator comparator;
	WcSlice		value;
} WcHBaseComparison;

/* What wc_hbasefilter_compare compares. */
typedef enum WcHBasePart
{
	WC_HBASE_ROW,
	WC_HBASE_FAMILY,
	WC_HBASE_QUALIFIER,
	WC_HBASE_VALUE
} WcHBasePart;

/* Cells (ROW: rows) of which this part satisfies the comparison. */
extern void wc_hbasefilter_compare(WcBuf *out, WcHBasePart part, const WcHBaseComparison *comparison);

/* Rows whose key begins with the prefix. */
extern void wc_hbasefilter_row_prefix(WcBuf *out, WcSlice prefix);

/* Rows up to this one, which is included. */
extern void wc_hbasefilter_last_row(WcBuf *out, WcSlice row);

/* Cells whose qualifier begins with one of the n prefixes, which are distinct and ascend. */
extern void wc_hbasefilter_column_prefixes(WcBuf *out, const WcSlice *prefixes, uint32_t n);

/* Cells whose qualifier is in the range; an empty bound is none. */
extern void wc_hbasefilter_column_range(WcBuf *out, WcSlice min, bool min_inclusive, WcSlice max, bool max_inclusive);

/* Cells with one of the n timestamps, in milliseconds. */
extern void wc_hbasefilter_timestamps(WcBuf *out, const int64_t *timestamps, uint32_t n);

/* Cells of one column whose value satisfies the comparison. */
extern void wc_hbasefilter_column_value(WcBuf *out, WcSlice family, WcSlice qualifier, const WcHBaseComparison *comparison);

/*
 * Rows with a column whose newest version (or, not `newest`: any version) satisfies the comparison.  Rows without the
 * column pass unless `required`.
 */
extern void wc_hbasefilter_value(WcBuf *out, WcSlice family, WcSlice qualifier, const WcHBaseComparison *comparison,
								 bool required, bool newest);

/* Cells that pass all of these filters, or (one) at least one of them. */
extern void wc_hbasefilter_list(WcBuf *out, bool one, const WcSlice *filters, uint32_t n);

#endif
