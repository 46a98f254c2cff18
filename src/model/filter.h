/*
 * model/filter.h: conditions on values that a Scan's rows have to satisfy.
 *
 * A tree of AND, OR and NOT over comparisons of single columns with constants, decided as in SQL: a column without a cell
 * is NULL, a comparison with NULL is unknown, and a row is returned if the whole condition is true.  A column's form
 * gives the meaning of its bytes; the bytes are converted to a key (wc_filter_key), and keys are compared by memcmp.
 * Constants are keys already.
 *
 * A column may also be a part of the row key: then the part's content (rowkey/README) is used as a cell's bytes, and is
 * never missing.
 *
 * Bytes that are not of their form (a number of the wrong width, for example) cannot be compared: the row is returned as
 * undecided, with all columns of the filter, and the reader of the row must decide.
 */
#ifndef WC_MODEL_FILTER_H
#define WC_MODEL_FILTER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/coding.h"

typedef enum WcFilterForm
{
	WC_FORM_BYTES = 0,			/* as they are */
	WC_FORM_TRIMMED = 1,		/* blanks at the end do not count */
	WC_FORM_BOOL = 2,			/* one byte, all but 0 are true */
	WC_FORM_SIGNED = 3,			/* two's complement, 2, 4 or 8 bytes */
	WC_FORM_FLOAT = 4,			/* IEEE, 4 or 8 bytes: -0 is 0, NaN are equal and greatest */
	WC_FORM_DECIMAL = 5,		/* [-]digits[.digits] */
	WC_FORM_DATE = 6,			/* yyyy-mm-dd, infinity, -infinity */
	WC_FORM_TIMESTAMP = 7,		/* yyyy-mm-dd hh:mm:ss[.ffffff], infinity, -infinity */
	WC_FORM_TIMESTAMPTZ = 8,	/* the same, followed by +00 */
	WC_FORM_WRITTEN = 9			/* not the cell's value but its timestamp, as form SIGNED; not of a key part */
} WcFilterForm;

#define WC_FORM_LAST WC_FORM_WRITTEN

typedef struct WcFilterColumn
{
	bool		in_key;			/* a part of the row key */
	uint32_t	column;			/* position in WcScan.columns, of an exact one; in_key: of the part */
	uint8_t		form;			/* WcFilterForm */
	uint32_t	width;			/* bytes of every value; 0: it varies */
	uint32_t	most;			/* of a value at most: bytes, DECIMAL: digits before the point; 0: no limit */
	uint32_t	scale;			/* DECIMAL: digits behind the point at most */
} WcFilterColumn;

typedef enum WcFilterKind
{
	WC_FILTER_AND = 0,			/* of n children; of none: true */
	WC_FILTER_OR = 1,			/* of n children; of none: false */
	WC_FILTER_NOT = 2,
	WC_FILTER_IS_TRUE = 3,		/* unknown becomes false */
	WC_FILTER_UNKNOWN = 4,		/* as a comparison with NULL */
	WC_FILTER_IS_NULL = 5,
	WC_FILTER_EQ = 6,
	WC_FILTER_LT = 7,
	WC_FILTER_LE = 8,
	WC_FILTER_GT = 9,
	WC_FILTER_GE = 10,
	WC_FILTER_PREFIX = 11,		/* the key starts with the value; form BYTES */
	WC_FILTER_IN = 12			/* one of n values, which ascend; unknown when there is no cell, also if n is 0 */
} WcFilterKind;

#define WC_FILTER_KIND_LAST WC_FILTER_IN

typedef struct WcFilterNode
{
	uint8_t		kind;			/* WcFilterKind */
	uint32_t	n;				/* AND, OR: children, IN: values */
	uint32_t	column;			/* IS_NULL .. IN: position in WcFilter.columns */
	WcSlice    *values;			/* keys; EQ .. PREFIX: one */
} WcFilterNode;

typedef struct WcFilter
{
	uint32_t	shown;			/* the Scan's columns from this position on are for the filter only: not returned */
	uint32_t	ncolumns;		/* at least 1 */
	WcFilterColumn *columns;
	uint32_t	nnodes;
	WcFilterNode *nodes;		/* a node, then its children, each with all of its own */
	WcSlice		keys;			/* the parts: an encoded WcKeyCheck (rowkey/keycheck.h); empty: keys are not checked */
} WcFilter;

/* Has this kind a column?  Values? */
static inline bool
wc_filter_kind_has_column(uint8_t kind)
{
	return kind >= WC_FILTER_IS_NULL;
}

static inline uint32_t
wc_filter_nvalues(const WcFilterNode *node)
{
	if (node->kind == WC_FILTER_IN)
		return node->n;
	return node->kind >= WC_FILTER_EQ ? 1 : 0;
}

/* Bytes of a number, date or timestamp as key, at most. */
#define WC_FILTER_KEY_MAX 64

/*
 * The key of a value, to be compared by memcmp: *key points into bytes or into scratch.  False when the bytes
 * are not of the column's form, or longer than it allows.
 */
extern bool wc_filter_key(const WcFilterColumn *column, WcSlice bytes, uint8_t scratch[WC_FILTER_KEY_MAX],
						  WcSlice *key);

/* A known form, and a column among the Scan's first ncolumns; the bytes of one. */
extern WcStatus wc_filter_column_check(const WcFilterColumn *column, uint32_t ncolumns, bool has_keys,
									   WcError *err) WC_WARN_UNUSED;
extern void wc_filter_column_encode(WcBuf *out, const WcFilterColumn *column);
extern void wc_filter_column_decode(WcDecoder *d, WcFilterColumn *column);

/* Limits, a tree that is whole, columns among the Scan's first ncolumns (which of
 * them are exact is for the caller to check). */
extern WcStatus wc_filter_check(const WcFilter *filter, uint32_t ncolumns, WcError *err) WC_WARN_UNUSED;

extern void wc_filter_encode(WcBuf *out, const WcFilter *filter);

/* Slices point into the decoder's bytes, the rest is in the arena; *filter NULL:
 * memory is out.  Bytes that make no sense fail the decoder.  Not checked yet. */
extern void wc_filter_decode(WcDecoder *d, WcArena *arena, WcFilter **filter);

#endif
