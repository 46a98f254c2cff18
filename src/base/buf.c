/*
 * base/buf.c: a growing run of bytes.
 */
#include "base/buf.h"

#include <stdlib.h>

#define WC_BUF_CAP_MIN 256

void
wc_buf_init(WcBuf *buf, size_t limit)
{
	*buf = (WcBuf) WC_BUF_INIT;
	buf->limit = limit;
}

void
wc_buf_free(WcBuf *buf)
{
	free(buf->data);
	wc_buf_init(buf, buf->limit);
}

/* Gets memory for at least `need` bytes, doubling so that appends stay cheap. */
static bool
grow(WcBuf *buf, size_t need)
{
	size_t		cap = buf->cap < WC_BUF_CAP_MIN ? WC_BUF_CAP_MIN : buf->cap;
	uint8_t    *data;

	while (cap < need)
		cap = cap > SIZE_MAX / 2 ? need : cap * 2;
	if (buf->limit > 0 && cap > buf->limit)
		cap = need > buf->limit ? need : buf->limit;
	data = realloc(buf->data, cap);
	if (!data)
		return false;
	buf->data = data;
	buf->cap = cap;
	return true;
}

uint8_t *
wc_buf_make_room(WcBuf *buf, size_t n)
{
	size_t		need = n > SIZE_MAX - buf->len ? SIZE_MAX : buf->len + n;

	if (buf->failed)
		return NULL;
	if (need == SIZE_MAX || (buf->limit > 0 && need > buf->limit) || !grow(buf, need))
	{
		buf->failed = true;
		buf->wanted = need;
		return NULL;
	}
	return buf->data + buf->len;
}

void
wc_buf_append(WcBuf *buf, const void *data, size_t n)
{
	uint8_t    *p;

	if (n == 0)
		return;
	p = wc_buf_reserve(buf, n);
	if (!p)
		return;
	memcpy(p, data, n);
	buf->len += n;
}

void
wc_buf_reset(WcBuf *buf, size_t keep)
{
	buf->len = 0;
	buf->failed = false;
	buf->wanted = 0;
	if (buf->cap <= keep)
		return;
	free(buf->data);
	buf->data = NULL;
	buf->cap = 0;
	if (keep > 0)
	{
		buf->data = malloc(keep);
		if (buf->data)
			buf->cap = keep;
	}
}

WcStatus
wc_buf_status(const WcBuf *buf, const char *what, WcError *err)
{
	if (!buf->failed)
		return WC_OK;
	if (buf->limit > 0 && buf->wanted > buf->limit)
		return wc_error(err, WC_TOO_LARGE, "%s is too large: %zu bytes, the limit is %zu",
						what, buf->wanted, buf->limit);
	return wc_error(err, WC_NO_MEMORY, "out of memory: %s needs %zu bytes", what, buf->wanted);
}
