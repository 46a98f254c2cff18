/*
 * thrift/hbasefilter.h: HBase's filters as bytes, the field filterBytes of a TScan.
 *
 * They are HBase's own messages in Google's Protocol Buffers (Filter.proto): a name of a
 * class, and what that class reads.  Each function appends one filter to a buffer of the
 * caller, which fails when memory is out (base/buf.h).
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

/* Cells of one column, of whichever family.  seeks: HBase passes over others by seeking, which is
 * cheaper, but in a reversed scan loses cells of the families behind. */
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
 * Rows whose newest version of a column compares so with the value; prefix: as much of it as the value
 * has bytes.  Those without the column unless they are `required` to have it.
 */
extern void wc_hbasefilter_value(WcBuf *out, WcSlice family, WcSlice qualifier, WcHBaseCompare op, WcSlice value,
								 bool prefix, bool required);

/* Cells that all of these filters let through, or one of them. */
extern void wc_hbasefilter_list(WcBuf *out, bool one, const WcSlice *filters, uint32_t n);

#endif
