/*
 * base/coding.c: numbers as bytes.
 */
#include "base/coding.h"

void
wc_buf_append_u16(WcBuf *buf, uint16_t v)
{
	uint8_t		b[2];

	wc_store_u16(b, v);
	wc_buf_append(buf, b, sizeof(b));
}

void
wc_buf_append_u32(WcBuf *buf, uint32_t v)
{
	uint8_t		b[4];

	wc_store_u32(b, v);
	wc_buf_append(buf, b, sizeof(b));
}

void
wc_buf_append_u64(WcBuf *buf, uint64_t v)
{
	uint8_t		b[8];

	wc_store_u64(b, v);
	wc_buf_append(buf, b, sizeof(b));
}

void
wc_buf_append_varint(WcBuf *buf, uint64_t v)
{
	uint8_t		b[WC_VARINT_MAX];

	wc_buf_append(buf, b, (size_t) (wc_store_varint(b, v) - b));
}

void
wc_buf_append_bytes(WcBuf *buf, WcSlice s)
{
	wc_buf_append_varint(buf, s.len);
	wc_buf_append_slice(buf, s);
}

uint64_t
wc_decode_varint_slow(WcDecoder *d)
{
	uint64_t	v = 0;

	for (unsigned shift = 0; shift < 64 && d->p < d->end; shift += 7)
	{
		uint8_t		b = *d->p++;

		if (shift == 63 && b > 1)
			break;				/* more than 64 bits */
		v |= (uint64_t) (b & 0x7F) << shift;
		if (b < 0x80)
			return v;
	}
	wc_decoder_fail(d);
	return 0;
}

bool
wc_decode_bool(WcDecoder *d)
{
	uint8_t		v = wc_decode_u8(d);

	if (v > 1)
		wc_decoder_fail(d);
	return v == 1;
}

WcSlice
wc_decode_raw(WcDecoder *d, size_t n)
{
	WcSlice		s;

	if (n > wc_decoder_left(d))
	{
		wc_decoder_fail(d);
		return wc_slice(NULL, 0);
	}
	s = wc_slice(d->p, n);
	if (n > 0)
		d->p += n;
	return s;
}

uint8_t
wc_decode_u8(WcDecoder *d)
{
	WcSlice		s = wc_decode_raw(d, 1);

	return s.len > 0 ? s.data[0] : 0;
}

uint16_t
wc_decode_u16(WcDecoder *d)
{
	WcSlice		s = wc_decode_raw(d, 2);

	return s.len > 0 ? wc_load_u16(s.data) : 0;
}

uint32_t
wc_decode_u32(WcDecoder *d)
{
	WcSlice		s = wc_decode_raw(d, 4);

	return s.len > 0 ? wc_load_u32(s.data) : 0;
}

uint64_t
wc_decode_u64(WcDecoder *d)
{
	WcSlice		s = wc_decode_raw(d, 8);

	return s.len > 0 ? wc_load_u64(s.data) : 0;
}

WcSlice
wc_decode_bytes(WcDecoder *d)
{
	uint64_t	n = wc_decode_varint(d);

	if (n > wc_decoder_left(d))
	{
		wc_decoder_fail(d);
		return wc_slice(NULL, 0);
	}
	return wc_decode_raw(d, (size_t) n);
}

uint64_t
wc_decode_varint_max(WcDecoder *d, uint64_t max)
{
	uint64_t	v = wc_decode_varint(d);

	if (v > max)
	{
		wc_decoder_fail(d);
		return 0;
	}
	return v;
}

size_t
wc_decode_count(WcDecoder *d, size_t max, size_t bytes_min)
{
	size_t		n = (size_t) wc_decode_varint_max(d, max);

	if (n > wc_decoder_left(d) / bytes_min)
	{
		wc_decoder_fail(d);
		return 0;
	}
	return n;
}
