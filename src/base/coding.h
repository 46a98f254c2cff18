/*
 * base/coding.h: numbers as bytes.
 *
 * Fixed-width numbers are big-endian (their byte order is their numeric
 * order); varints are LEB128, at most 10 bytes.  The WcDecoder reads untrusted
 * bytes: it never passes the end, and once something does not fit it stays
 * failed (and at the end of its input) and gives zeros, so a reader may read many
 * things and look once.
 */
#ifndef WC_BASE_CODING_H
#define WC_BASE_CODING_H

#include "base/buf.h"

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define WC_BIG_ENDIAN32(v) (v)
#define WC_BIG_ENDIAN64(v) (v)
#else
#define WC_BIG_ENDIAN32(v) __builtin_bswap32(v)
#define WC_BIG_ENDIAN64(v) __builtin_bswap64(v)
#endif

static inline void
wc_store_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t) (v >> 8);
	p[1] = (uint8_t) v;
}

static inline void
wc_store_u32(uint8_t *p, uint32_t v)
{
	v = WC_BIG_ENDIAN32(v);
	memcpy(p, &v, 4);
}

static inline void
wc_store_u64(uint8_t *p, uint64_t v)
{
	v = WC_BIG_ENDIAN64(v);
	memcpy(p, &v, 8);
}

static inline uint16_t
wc_load_u16(const uint8_t *p)
{
	return (uint16_t) ((p[0] << 8) | p[1]);
}

static inline uint32_t
wc_load_u32(const uint8_t *p)
{
	uint32_t	v;

	memcpy(&v, p, 4);
	return WC_BIG_ENDIAN32(v);
}

static inline uint64_t
wc_load_u64(const uint8_t *p)
{
	uint64_t	v;

	memcpy(&v, p, 8);
	return WC_BIG_ENDIAN64(v);
}

#define WC_VARINT_MAX 10

/* Writes v at p (room for WC_VARINT_MAX bytes); returns the end. */
static inline uint8_t *
wc_store_varint(uint8_t *p, uint64_t v)
{
	while (v >= 0x80)
	{
		*p++ = (uint8_t) (v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t) v;
	return p;
}

/* Writes the length as a varint, then the bytes, at p (room for WC_VARINT_MAX more than the bytes); returns the end. */
static inline uint8_t *
wc_store_bytes(uint8_t *p, WcSlice s)
{
	p = wc_store_varint(p, s.len);
	wc_slice_copy(p, s);
	return p + s.len;
}

extern void wc_buf_append_u16(WcBuf *buf, uint16_t v);
extern void wc_buf_append_u32(WcBuf *buf, uint32_t v);
extern void wc_buf_append_u64(WcBuf *buf, uint64_t v);
extern void wc_buf_append_varint(WcBuf *buf, uint64_t v);

/* A varint length, then the bytes. */
extern void wc_buf_append_bytes(WcBuf *buf, WcSlice s);

typedef struct WcDecoder
{
	const uint8_t *p;
	const uint8_t *end;
	bool		failed;
} WcDecoder;

static inline WcDecoder
wc_decoder(WcSlice s)
{
	WcDecoder	d = {s.data, s.len > 0 ? s.data + s.len : s.data, false};

	return d;
}

/* Fails the decoder: nothing more will be read from it. */
static inline void
wc_decoder_fail(WcDecoder *d)
{
	d->failed = true;
	d->p = d->end;
}

static inline size_t
wc_decoder_left(const WcDecoder *d)
{
	return (size_t) (d->end - d->p);
}

extern uint64_t wc_decode_varint_slow(WcDecoder *d);

static inline uint64_t
wc_decode_varint(WcDecoder *d)
{
	if (d->p < d->end && *d->p < 0x80)
		return *d->p++;
	return wc_decode_varint_slow(d);
}

extern uint8_t wc_decode_u8(WcDecoder *d);
extern uint16_t wc_decode_u16(WcDecoder *d);
extern uint32_t wc_decode_u32(WcDecoder *d);
extern uint64_t wc_decode_u64(WcDecoder *d);

/* A byte that is 0 or 1; with any other the decoder fails. */
extern bool wc_decode_bool(WcDecoder *d);

/* n bytes, or a varint length and that many; points into the input. */
extern WcSlice wc_decode_raw(WcDecoder *d, size_t n);
extern WcSlice wc_decode_bytes(WcDecoder *d);

/* A varint that must be at most max, else the decoder fails. */
extern uint64_t wc_decode_varint_max(WcDecoder *d, uint64_t max);

/* A varint count of things to come that take at least bytes_min (> 0) each: at
 * most max, and no more than the rest of the input can hold, so that corrupt
 * bytes cannot ask for much memory. */
extern size_t wc_decode_count(WcDecoder *d, size_t max, size_t bytes_min);

static inline bool
wc_decoder_done(const WcDecoder *d)
{
	return !d->failed && d->p == d->end;
}

#endif
