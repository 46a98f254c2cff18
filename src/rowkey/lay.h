/*
 * rowkey/lay.h: laying one part, shared by rowkey.c and bounds.c.
 *
 * Not for use outside rowkey/.
 */
#ifndef WC_ROWKEY_LAY_H
#define WC_ROWKEY_LAY_H

#include "rowkey/rowkey.h"

/* Can content be laid so that splitting gives it back? */
extern bool wc_lay_fits(const WcPartShape *part, WcSlice delimiter, WcSlice content);

/* Appends content as it is in a key, without the delimiter; content must fit. */
extern void wc_lay_content(const WcPartShape *part, WcSlice content, WcBuf *out);

/* Where needle (not empty) first is in s; s.len when it is not. */
static inline size_t
wc_lay_find(WcSlice s, WcSlice needle)
{
	const uint8_t *at;

	if (s.len < needle.len)
		return s.len;
	at = memmem(s.data, s.len, needle.data, needle.len);
	return at == NULL ? s.len : (size_t) (at - s.data);
}

#endif
