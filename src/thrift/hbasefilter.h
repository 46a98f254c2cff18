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

/*
 * Rows whose newest version of a column satisfies the comparison with the value; prefix: only as many of its
 * first bytes as the value has are compared.  Rows without the column pass unless `required`.
 */
extern void wc_hbasefilter_value(WcBuf *out, WcSlice family, WcSlice qualifier, WcHBaseCompare op, WcSlice value,
								 bool prefix, bool required);

/* Cells that pass all of these filters, or (one) at least one of them. */
extern void wc_hbasefilter_list(WcBuf *out, bool one, const WcSlice *filters, uint32_t n);

#endif
