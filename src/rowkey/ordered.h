/*
 * rowkey/ordered.h: bytes whose order is the order of the values.
 *
 * Fixed-width values become big-endian bytes that compare (unsigned, as wc_slice_cmp does) like the values; equal values
 * become equal bytes.  rowkey/README specifies the bytes of every shape.  Writers write exactly the named width; readers
 * return false for bytes that no writer makes, and do not change *v.  Any thread; only the WcBuf allocates memory.
 */
#ifndef WC_ROWKEY_ORDERED_H
#define WC_ROWKEY_ORDERED_H

#include "base/buf.h"
#include "base/coding.h"

static inline void
wc_ordered_store_i16(uint8_t *p, int16_t v)
{
	wc_store_u16(p, (uint16_t) v ^ 0x8000);
}

static inline void
wc_ordered_store_i32(uint8_t *p, int32_t v)
{
	wc_store_u32(p, (uint32_t) v ^ UINT32_C(0x80000000));
}

static inline void
wc_ordered_store_i64(uint8_t *p, int64_t v)
{
	wc_store_u64(p, (uint64_t) v ^ UINT64_C(0x8000000000000000));
}

static inline int16_t
wc_ordered_load_i16(const uint8_t *p)
{
	return (int16_t) (wc_load_u16(p) ^ 0x8000);
}

static inline int32_t
wc_ordered_load_i32(const uint8_t *p)
{
	return (int32_t) (wc_load_u32(p) ^ UINT32_C(0x80000000));
}

static inline int64_t
wc_ordered_load_i64(const uint8_t *p)
{
	return (int64_t) (wc_load_u64(p) ^ UINT64_C(0x8000000000000000));
}

/* One byte, 0 or 1. */
extern void wc_ordered_store_bool(uint8_t *p, bool v);
extern bool wc_ordered_load_bool(const uint8_t *p, bool *v) WC_WARN_UNUSED;

/* PostgreSQL's order: -0 is 0, every NaN is one and greater than infinity. */
extern void wc_ordered_store_f32(uint8_t *p, float v);
extern void wc_ordered_store_f64(uint8_t *p, double v);
extern bool wc_ordered_load_f32(const uint8_t *p, float *v) WC_WARN_UNUSED;
extern bool wc_ordered_load_f64(const uint8_t *p, double *v) WC_WARN_UNUSED;

/*
 * A run of bytes that something follows: 0x00 becomes 0x00 0xFF, the end is
 * 0x00 0x00.  With desc every byte written is inverted.  The escape alone (no
 * end) is what all escaped runs with that prefix begin with.
 */
extern void wc_ordered_append_escaped(WcBuf *out, WcSlice s, bool desc, bool terminate);

/*
 * Reads one escaped run at the start of in: *used is its length there, its end
 * included; the bytes are appended to out.  False when it has no end or a wrong
 * escape (or out is full: out->failed).
 */
extern bool wc_ordered_read_escaped(WcSlice in, bool desc, WcBuf *out, size_t *used) WC_WARN_UNUSED;

/* Inverts n bytes in place: ascending becomes descending, and back. */
extern void wc_ordered_invert(uint8_t *p, size_t n);

/* --- numeric ---------------------------------------------------------------
 *
 * A decimal number of any size without its display scale.  The digits are
 * ASCII, no sign, no leading and no trailing zeros; the value is
 * 0.d1d2d3... * 10^exponent.  Zero has no digits (and exponent 0).
 */
typedef enum WcNumericClass
{
	WC_NUMERIC_MINUS_INFINITY,
	WC_NUMERIC_FINITE,
	WC_NUMERIC_INFINITY,
	WC_NUMERIC_NAN				/* the greatest, as in PostgreSQL */
} WcNumericClass;

typedef struct WcNumeric
{
	WcNumericClass class_;
	bool		negative;
	int32_t		exponent;
	const char *digits;
	size_t		ndigits;
} WcNumeric;

/* No encoded number is a prefix of another: the order holds when bytes are inverted, and when other bytes
 * follow. */
extern void wc_ordered_append_numeric(WcBuf *out, const WcNumeric *v);

/* The digits are appended to *digits (v->digits points into it); false when the
 * bytes are not exactly one number as written above, or digits is full. */
extern bool wc_ordered_read_numeric(WcSlice in, WcBuf *digits, WcNumeric *v) WC_WARN_UNUSED;

/* Would they be read, as a number with an exponent of one byte? */
extern bool wc_ordered_is_plain_numeric(WcSlice in);

#endif
