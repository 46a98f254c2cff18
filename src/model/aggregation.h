/*
 * model/aggregation.h: aggregates that a Scan returns instead of rows.
 *
 * The rows that the Scan would return are put into groups: a group has the rows whose group columns have the same bytes.
 * For each group one row is returned, with the state of each aggregate.  A group may be returned several times, each
 * time for another part of its rows: the reader combines the states.
 *
 * A row with bytes that an aggregate does not understand (WcFilterColumn, model/filter.h) is in no group: it is returned
 * as it is, undecided, as a row that a filter cannot decide.
 */
#ifndef WC_MODEL_AGGREGATION_H
#define WC_MODEL_AGGREGATION_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/coding.h"
#include "model/filter.h"

typedef enum WcAggregateKind
{
	WC_AGGREGATE_ROWS = 0,		/* how many rows there are */
	WC_AGGREGATE_VALUES = 1,	/* in how many the column has a value */
	WC_AGGREGATE_MIN = 2,		/* the value with the least key (wc_filter_key); of equal ones the last */
	WC_AGGREGATE_MAX = 3,
	WC_AGGREGATE_SUM = 4,		/* forms SIGNED, and DECIMAL of whole numbers */
	WC_AGGREGATE_SUM_ORDERED = 5,	/* two's complement with the first bit inverted; form BYTES, width 2, 4, 8 */
	WC_AGGREGATE_SUM_DECIMAL = 6,	/* form DECIMAL, with at most WC_SUM_WHOLE_MAX digits before the point and WC_SUM_SCALE behind it */
	WC_AGGREGATE_SUM_DOUBLE = 7,	/* form FLOAT, in double precision, and the sum of the squares of the deviations from the mean */
	WC_AGGREGATE_SUM_SINGLE = 8		/* form FLOAT, width 4, in single precision */
} WcAggregateKind;

#define WC_AGGREGATE_KIND_LAST WC_AGGREGATE_SUM_SINGLE

typedef struct WcAggregate
{
	uint8_t		kind;			/* WcAggregateKind */
	WcFilterColumn column;		/* not of ROWS */
} WcAggregate;

typedef struct WcGroupColumn
{
	bool		in_key;			/* a part of the row key */
	uint32_t	column;			/* position in WcScan.columns, of an exact one; in_key: of the part */
} WcGroupColumn;

typedef struct WcAggregation
{
	bool		ordered;		/* rows of a group follow one another, and groups come back in the rows' order */
	uint32_t	ngroups;		/* 0: all rows are one group */
	WcGroupColumn *groups;
	uint32_t	naggregates;	/* at least 1, unless there are groups */
	WcAggregate *aggregates;
	WcSlice		keys;			/* an encoded WcKeyCheck (rowkey/keycheck.h); empty: keys are not checked */
} WcAggregation;

/*
 * The state of a sum, behind the number of values: of integers, and of decimal numbers in units of the last of WC_SUM_SCALE places, 16
 * bytes in two's complement; of decimal numbers then the greatest number of places that one had, 1 byte.  Of floats: sum, squares, 8
 * bytes each, WcFloatSumFlags, 1 byte.
 */
#define WC_SUM_BYTES 16

typedef enum WcFloatSumFlags
{
	WC_SUM_OVERFLOW = 0x01,		/* the sum of finite values has become infinite */
	WC_SQUARES_OVERFLOW = 0x02	/* the squares have, and the sum has not */
} WcFloatSumFlags;

static inline bool
wc_aggregate_sums_integers(uint8_t kind)
{
	return kind == WC_AGGREGATE_SUM || kind == WC_AGGREGATE_SUM_ORDERED;
}

/* Their sums depend on the order in which values are added up. */
static inline bool
wc_aggregate_sums_floats(uint8_t kind)
{
	return kind == WC_AGGREGATE_SUM_DOUBLE || kind == WC_AGGREGATE_SUM_SINGLE;
}

/* Is that so of any aggregate? */
extern bool wc_aggregation_needs_order(const WcAggregation *aggregation);

/* Limits, columns among the Scan's first ncolumns (which of them are exact is for the caller
 * to check), forms that the kinds can work with. */
extern WcStatus wc_aggregation_check(const WcAggregation *aggregation, uint32_t ncolumns, WcError *err) WC_WARN_UNUSED;

extern void wc_aggregation_encode(WcBuf *out, const WcAggregation *aggregation);

/* Slices point into the decoder's bytes, the rest is in the arena; *aggregation NULL: memory is
 * out.  Bytes that make no sense fail the decoder.  Not checked yet. */
extern void wc_aggregation_decode(WcDecoder *d, WcArena *arena, WcAggregation **aggregation);

#endif
