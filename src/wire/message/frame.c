/*
 * wire/message/frame.c: building frames, and reading them as they come.
 */
#include "wire/message/frame.h"

#include <assert.h>

_Static_assert(sizeof(WcFrameHeader) == 16, "the header is 16 bytes without gaps");

void
wc_frame_begin(WcBuf *buf)
{
	wc_buf_reset(buf, WC_FRAME_KEEP);
	if (wc_buf_reserve(buf, WC_FRAME_HEADER) != NULL)
		buf->len = WC_FRAME_HEADER;
}

WcStatus
wc_frame_finish(WcBuf *buf, uint8_t type, uint8_t flags, uint64_t id, WcError *err)
{
	WcFrameHeader header = {0};

	if (buf->failed)
		return wc_buf_status(buf, "a message", err);
	assert(buf->len >= WC_FRAME_HEADER);	/* wc_frame_begin has left room */
	if (buf->len - WC_FRAME_HEADER > WC_MESSAGE_MAX)
		return wc_error(err, WC_TOO_LARGE, "a message of %zu bytes exceeds the limit of %d bytes",
						buf->len - WC_FRAME_HEADER, WC_MESSAGE_MAX);
	header.length = (uint32_t) (buf->len - WC_FRAME_HEADER);
	header.type = type;
	header.flags = flags;
	header.id = id;
	memcpy(buf->data, &header, sizeof(header));
	return WC_OK;
}

void
wc_frame_reader_init(WcFrameReader *r)
{
	memset(r, 0, sizeof(*r));
	wc_buf_init(&r->body, 0);
}

void
wc_frame_reader_free(WcFrameReader *r)
{
	wc_buf_free(&r->body);
}

WcStatus
wc_frame_read(WcFrameReader *r, WcRingEnd *in, WcError *err)
{
	size_t		want,
				got;

	if (r->have >= WC_FRAME_HEADER && r->have == WC_FRAME_HEADER + r->header.length)
		r->have = 0;			/* that one has been given */

	if (r->have < WC_FRAME_HEADER)
	{
		got = wc_ring_read(in, (uint8_t *) &r->header + r->have, WC_FRAME_HEADER - r->have);
		r->have += got;
		if (r->have < WC_FRAME_HEADER)
		{
			if (in->broken)
				return wc_error(err, WC_CORRUPT, "positions of a session's ring make no sense");
			if (got > 0)
				wc_ring_release(in);
			return WC_END;
		}
		if (r->header.length > WC_MESSAGE_MAX || r->header.zero != 0)
			return wc_error(err, WC_CORRUPT, "a message's header makes no sense (length %u, limit %d)",
							r->header.length, WC_MESSAGE_MAX);
		wc_buf_reset(&r->body, WC_FRAME_KEEP);
		r->dropped = r->header.length > 0 && wc_buf_reserve(&r->body, r->header.length) == NULL;
	}

	assert(r->have <= WC_FRAME_HEADER + r->header.length);
	assert(r->dropped || r->body.len + WC_FRAME_HEADER == r->have);
	want = WC_FRAME_HEADER + r->header.length - r->have;
	if (want > 0)
	{
		got = wc_ring_read(in, r->dropped ? NULL : r->body.data + r->body.len, want);
		r->have += got;
		if (!r->dropped)
			r->body.len += got;
		want -= got;
	}
	wc_ring_release(in);
	if (in->broken)
		return wc_error(err, WC_CORRUPT, "positions of a session's ring make no sense");
	return want > 0 ? WC_END : WC_OK;
}
