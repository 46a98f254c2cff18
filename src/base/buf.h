/*
 * base/buf.h: a growing run of bytes.
 *
 * Owned by one thread at a time; memory comes from malloc.  The buffer keeps
 * its memory when reset.  A failed append (out of memory, or over `limit`)
 * sets `failed` and leaves the contents as they were; later appends do
 * nothing, so a writer may append many things and look once at the end.
 */
#ifndef WC_BASE_BUF_H
#define WC_BASE_BUF_H

#include "base/slice.h"
#include "base/status.h"

typedef struct WcBuf
{
	uint8_t    *data;
	size_t		len;
	size_t		cap;
	size_t		limit;			/* most bytes it may hold; 0: no limit of its own */
	bool		failed;			/* an append did not fit */
	size_t		wanted;			/* the length that did not fit */
} WcBuf;

#define WC_BUF_INIT {NULL, 0, 0, 0, false, 0}

extern void wc_buf_init(WcBuf *buf, size_t limit);
extern void wc_buf_free(WcBuf *buf);

/* wc_buf_reserve, if there is no room yet. */
extern uint8_t *wc_buf_make_room(WcBuf *buf, size_t n);

/* Makes room for n more bytes and returns where they go, or NULL (failed is
 * set).  The caller then writes and advances len itself. */
static inline uint8_t *
wc_buf_reserve(WcBuf *buf, size_t n)
{
	if (buf->data != NULL && n <= buf->cap - buf->len && !buf->failed)
		return buf->data + buf->len;
	return wc_buf_make_room(buf, n);
}

extern void wc_buf_append(WcBuf *buf, const void *data, size_t n);

/* Empties it and clears failed; memory above keep bytes is given back. */
extern void wc_buf_reset(WcBuf *buf, size_t keep);

static inline void
wc_buf_append_slice(WcBuf *buf, WcSlice s)
{
	wc_buf_append(buf, s.data, s.len);
}

static inline void
wc_buf_append_u8(WcBuf *buf, uint8_t v)
{
	wc_buf_append(buf, &v, 1);
}

static inline WcSlice
wc_buf_slice(const WcBuf *buf)
{
	return wc_slice(buf->data, buf->len);
}

/* WC_OK, or the error of a failed buffer: WC_TOO_LARGE if it has reached its limit, else WC_NO_MEMORY.  what: names the
 * content in the message. */
extern WcStatus wc_buf_status(const WcBuf *buf, const char *what, WcError *err);

#endif
