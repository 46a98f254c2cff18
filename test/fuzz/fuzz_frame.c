/*
 * test/fuzz/fuzz_frame.c: frames in a ring (wire/message/frame.h), as they come from a hostile writer.
 *
 * The input is a run of commands, each a byte: two bits say what, six how much.
 */
#include "fuzz.h"
#include "wire/message/frame.h"

#define RING_SIZE 256

/* The payload's memory is reserved when the header has come: larger ones only cost time. */
#define LENGTH_MAX (64 * 1024)

/* Commands. */
#define WRITE			0		/* so many bytes of the input */
#define WRITE_AND_READ	1
#define READ			2
#define SET_TAIL		3		/* the writer's position, to the 8 bytes that follow */

/* A frame's payload is the bytes that were written at its place in the stream. */
static void
check_frame(const WcFrameReader *r, const WcBuf *sent, size_t *at)
{
	HOLDS(sent->len - *at >= WC_FRAME_HEADER + r->header.length);
	HOLDS(memcmp(sent->data + *at, &r->header, WC_FRAME_HEADER) == 0);
	HOLDS(r->dropped || r->body.len == r->header.length);
	HOLDS(r->dropped || wc_slice_eq(wc_buf_slice(&r->body), wc_slice(sent->data + *at + WC_FRAME_HEADER, r->header.length)));
	*at += WC_FRAME_HEADER + r->header.length;
}

/* Until more must come; WC_CORRUPT: it is not worth going on. */
static WcStatus
read_frames(WcFrameReader *r, WcRingEnd *in, const WcBuf *sent, size_t *at)
{
	WcStatus	status;

	do
	{
		uint32_t	length = 0;

		if (sent->len - *at >= WC_FRAME_HEADER)
			memcpy(&length, sent->data + *at, sizeof(length));
		if (length > LENGTH_MAX && length <= WC_MESSAGE_MAX)
			return WC_CORRUPT;
		status = wc_frame_read(r, in, NULL);
		if (status == WC_OK)
			check_frame(r, sent, at);
	} while (status == WC_OK);
	HOLDS(status == WC_END || status == WC_CORRUPT);
	return status;
}

FUZZ_TARGET(frame)
{
	WcRing		ring;
	uint8_t		data[RING_SIZE];
	WcRingEnd	w;
	WcRingEnd	r;
	WcFrameReader reader;
	WcBuf		sent = WC_BUF_INIT;
	size_t		at = 0;
	WcDecoder	d = wc_decoder(in);
	WcStatus	status = WC_END;
	bool		lied = false;

	memset(data, 0, sizeof(data));
	wc_ring_init(&ring);
	w = wc_ring_end(&ring, data, RING_SIZE);
	r = wc_ring_end(&ring, data, RING_SIZE);
	wc_frame_reader_init(&reader);
	while (wc_decoder_left(&d) > 0 && status == WC_END && !lied)
	{
		uint8_t		command = wc_decode_u8(&d);
		size_t		n = command >> 2;

		if ((command & 3) == SET_TAIL)
		{
			uint64_t	tail = wc_decode_u64(&d);

			lied = tail != w.pos;
			atomic_store(&ring.tail, tail);
		}
		else if ((command & 3) != READ)
		{
			if (n > wc_decoder_left(&d))
				n = wc_decoder_left(&d);
			n = wc_ring_write(&w, d.p, n);
			wc_buf_append(&sent, d.p, n);
			(void) wc_decode_raw(&d, n);
			wc_ring_publish(&w);
		}
		/* once the writer has lied there is no stream to compare with */
		if ((command & 3) != WRITE)
			status = lied ? wc_frame_read(&reader, &r, NULL) : read_frames(&reader, &r, &sent, &at);
	}
	HOLDS(!lied || !r.broken || status == WC_CORRUPT);
	wc_frame_reader_free(&reader);
	wc_buf_free(&sent);
}
