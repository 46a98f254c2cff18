/*
 * rowkey/keycheck.h: can this foreign table read that row key?
 *
 * A stored table may hold rows that were not written through the foreign table
 * that now changes a range of them.  Reading such a row is an error; a change
 * that does not read rows asks here instead.  Part of a message (rowkey/README).
 */
#ifndef WC_ROWKEY_KEYCHECK_H
#define WC_ROWKEY_KEYCHECK_H

#include "rowkey/rowkey.h"

typedef enum WcContentKind
{
	WC_CONTENT_ANY,				/* whatever has the shape */
	WC_CONTENT_TEXT,			/* UTF-8 without a zero byte; at most max bytes */
	WC_CONTENT_BOOL,			/* ordered */
	WC_CONTENT_INTEGER,			/* ordered, 4 or 8 bytes: min .. max, or the least or greatest there is */
	WC_CONTENT_FLOAT,			/* ordered, 4 or 8 bytes */
	WC_CONTENT_TIME,			/* milliseconds min .. max, 8 bytes: two's complement, of a part that is desc ordered */
	WC_CONTENT_NUMERIC			/* ordered, at most max bytes, with an exponent of one byte */
} WcContentKind;

typedef struct WcContentCheck
{
	uint8_t		kind;			/* WcContentKind */
	int64_t		min;			/* INTEGER, TIME */
	int64_t		max;			/* INTEGER, TIME, TEXT, NUMERIC */
} WcContentCheck;

typedef struct WcKeyCheck
{
	WcKeyLayout layout;			/* no parts: every key can be read */
	const WcContentCheck *contents; /* one a part */
} WcKeyCheck;

extern void wc_keycheck_encode(WcBuf *out, const WcKeyCheck *check);

/* Untrusted bytes; slices point into them, arrays are in the arena. */
extern WcStatus wc_keycheck_decode(WcSlice in, WcArena *arena, WcKeyCheck *check, WcError *err) WC_WARN_UNUSED;

/*
 * True: the key certainly has values for all parts.  False: it has not, or memory is out. parts (one element
 * for each part) and scratch are work space; their contents are undefined afterwards.
 */
extern bool wc_keycheck_reads(const WcKeyCheck *check, WcSlice row, WcBuf *scratch, WcSlice *parts);

#endif
