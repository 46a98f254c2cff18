/*
 * rowkey/rowkey.h: the parts of a row key and the key they make.
 *
 * A key is made of parts.  Each part has a *content*: the bytes its encoding
 * gives (ascending, unescaped, unpadded), and a *shape* that says how content
 * is laid into the key: fixed width, escaped and terminated, up to a delimiter,
 * or the rest of the key; `desc` inverts the bytes laid.  Callers deal in
 * content only; laying, splitting and the computing of start and stop rows are
 * done here.  Bytes are specified in rowkey/README.  Any thread.
 */
#ifndef WC_ROWKEY_ROWKEY_H
#define WC_ROWKEY_ROWKEY_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/scan.h"
#include "rowkey/salt.h"

typedef enum WcPartKind
{
	WC_PART_FIXED,				/* exactly `length` bytes */
	WC_PART_ESCAPED,			/* 0x00 escaped and terminated */
	WC_PART_DELIMITED,			/* up to the delimiter; never desc, never last */
	WC_PART_REST				/* all that is left; never desc, only last */
} WcPartKind;

/* How the byte order of content relates to the order of the SQL values. */
typedef enum WcPartOrder
{
	WC_ORDER_BYTES,				/* is the same */
	WC_ORDER_SIGNED,			/* two's complement: 0 .. max, then min .. -1 */
	WC_ORDER_FLOAT,				/* IEEE: 0 .. infinity, NaN, then the negative ones downwards */
	WC_ORDER_NONE				/* no relation; equality only */
} WcPartOrder;

typedef struct WcPartShape
{
	uint8_t		kind;			/* WcPartKind */
	uint8_t		order;			/* WcPartOrder */
	bool		desc;			/* the bytes in the key are inverted */
	bool		padded;			/* FIXED: shorter content is padded with 0x00, and read back without */
	uint32_t	length;			/* FIXED: bytes */
} WcPartShape;

/* Every part but the last is followed by the delimiter, when there is one.  A
 * salt comes first. */
typedef struct WcKeyLayout
{
	uint32_t	nparts;
	const WcPartShape *parts;
	WcSlice		delimiter;		/* empty: none */
	WcSalt		salt;			/* zeroed: none */
} WcKeyLayout;

/* Kinds where they may be, lengths 1 .. WC_ROW_MAX, delimiter present where needed,
 * a salt that has parts to follow from. */
extern WcStatus wc_rowkey_layout_check(const WcKeyLayout *layout, WcError *err) WC_WARN_UNUSED;

/*
 * Appends the key made of the nparts contents to out.  On failure out is as
 * before, and *bad_part (may be NULL) is the part it is about, or nparts when
 * it is the whole key:
 *   WC_INVALID    a content that does not fit its fixed width exactly (unpadded),
 *                 has a trailing 0x00 (padded), contains the delimiter, an empty
 *                 key (but for the salt), or a timestamp that gives no salt
 *   WC_TOO_LARGE  longer than the fixed width (padded), or the key over WC_ROW_MAX
 */
extern WcStatus wc_rowkey_compose(const WcKeyLayout *layout, const WcSlice *parts, WcBuf *out,
								  uint32_t *bad_part, WcError *err) WC_WARN_UNUSED;

/*
 * The reverse.  parts[] (nparts of them) point into row or into scratch, which
 * is emptied first; they stay valid as long as both do.  WC_BAD_DATA when row
 * is not a key of this layout, or in another bucket than its parts belong in:
 * the message names the bytes found and those expected.
 */
extern WcStatus wc_rowkey_split(const WcKeyLayout *layout, WcSlice row, WcBuf *scratch,
								WcSlice *parts, WcError *err) WC_WARN_UNUSED;

/* The same for the first n parts alone (n <= nparts): the parts after them and the bucket are checked only if
 * n is nparts. */
extern WcStatus wc_rowkey_split_leading(const WcKeyLayout *layout, WcSlice row, uint32_t n, WcBuf *scratch,
										WcSlice *parts, WcError *err) WC_WARN_UNUSED;

/* The bytes of row up to the end of its first n parts (0 < n < nparts), with the salt and with the delimiter behind them: all
 * keys with these parts, in this bucket, begin with them, and no others.  Fails as wc_rowkey_split_leading, with
 * the same work space. */
extern WcStatus wc_rowkey_prefix(const WcKeyLayout *layout, WcSlice row, uint32_t n, WcBuf *scratch,
								 WcSlice *parts, WcSlice *prefix, WcError *err) WC_WARN_UNUSED;

/* --- conditions on one part --------------------------------------------------- */

typedef enum WcKeyOp
{
	WC_KEY_EQ,
	WC_KEY_LT,
	WC_KEY_LE,
	WC_KEY_GT,
	WC_KEY_GE,
	WC_KEY_PREFIX				/* content starts with (LIKE 'x%', ^@) */
} WcKeyOp;

/* How a condition's value relates to the content it was encoded to. */
typedef enum WcFit
{
	WC_FIT_EXACT,				/* the content is the value's own */
	WC_FIT_ABOVE,				/* no value that can be stored equals it; content is that of the next smaller one */
	WC_FIT_BEFORE_ALL,			/* smaller than all that can be stored; no content */
	WC_FIT_AFTER_ALL,			/* greater than all that can be stored; no content */
	WC_FIT_NEVER,				/* equals nothing that can be stored, and nothing more is known; no content */
	WC_FIT_UNKNOWN				/* the value cannot be compared here: nothing may be pushed down */
} WcFit;

/* A set of contents, in content's byte order.  Slices belong to the caller. */
typedef struct WcInterval
{
	bool		is_prefix;		/* contents that start with lo; the rest is unused */
	bool		has_lo;
	bool		has_hi;
	bool		lo_inclusive;
	bool		hi_inclusive;
	WcSlice		lo;
	WcSlice		hi;
} WcInterval;

#define WC_INTERVALS_MAX 2

/*
 * The intervals of content in which "part op value" is true: their number
 * (0: nothing satisfies it), disjoint, in byte order; or -1 when this order
 * cannot say (the condition has to be evaluated by the caller).  They point to
 * content and to constants.  PREFIX wants order BYTES or the caller's knowledge
 * that prefixes survive the encoding (it looks at content only).
 */
extern int	wc_interval_of_op(WcPartOrder order, WcKeyOp op, WcFit fit, WcSlice content,
							  WcInterval out[WC_INTERVALS_MAX]);

typedef struct WcKeyRange
{
	WcRange		range;			/* when not empty; bytes are in the arena */
	bool		empty;			/* no row can satisfy it: read nothing */
	bool		exact;			/* every well-formed key in range satisfies it; false: recheck */
} WcKeyRange;

/*
 * The rows whose first nequal parts have exactly the contents `equal` and whose
 * next part lies in `next` (NULL: any; then nequal may be all parts, which gives
 * start == stop, both inclusive: a Get).  All the rest of the key is free.
 * With a salt the range is that of keys behind it: wc_salt_range makes it one
 * bucket's.
 * nequal 0 and next NULL is the whole table.  Rows that satisfy the condition
 * are never outside the range.  WC_NO_MEMORY is the only failure.
 */
extern WcStatus wc_rowkey_range(const WcKeyLayout *layout, const WcSlice *equal, uint32_t nequal,
								const WcInterval *next, WcArena *arena, WcKeyRange *out,
								WcError *err) WC_WARN_UNUSED;

/* True when ORDER BY this part (all parts before it being equal) is the order of
 * the keys; *reversed says that ascending is the reverse of the key order.
 * Order goes on to the part behind it. */
extern bool wc_rowkey_part_sorts(const WcKeyLayout *layout, uint32_t part, bool *reversed);

#endif
