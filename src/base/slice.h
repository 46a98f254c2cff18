/*
 * base/slice.h: a view of bytes that it does not own.
 *
 * A slice is valid as long as the memory that it points into; functions that return slices name that memory.
 * data may be NULL when len is 0.  Byte order is unsigned, the shorter of two equal prefixes first.
 */
#ifndef WC_BASE_SLICE_H
#define WC_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct WcSlice
{
	const uint8_t *data;
	size_t		len;
} WcSlice;

static inline WcSlice
wc_slice(const void *data, size_t len)
{
	WcSlice		s = {(const uint8_t *) data, len};

	return s;
}

/* A slice of a C string, without its terminating zero. */
static inline WcSlice
wc_slice_cstr(const char *s)
{
	return wc_slice(s, strlen(s));
}

static inline int
wc_slice_cmp(WcSlice a, WcSlice b)
{
	size_t		n = a.len < b.len ? a.len : b.len;
	int			c = n > 0 ? memcmp(a.data, b.data, n) : 0;

	if (c != 0)
		return c;
	return (a.len > b.len) - (a.len < b.len);
}

/* wc_slice_cmp, for qsort and bsearch of an array of slices. */
extern int	wc_slice_compare(const void *a, const void *b);

/* The longest bytes that wc_bytes_eq_short compares, and wc_bytes_copy_short copies. */
#define WC_BYTES_SHORT 16

/* Are the n bytes the same?  Each half is loaded as one number; the halves overlap if n is no power of 2. */
static inline bool
wc_bytes_eq_short(const uint8_t *a, const uint8_t *b, size_t n)
{
	uint64_t	x[4] = {0, 0, 0, 0};
	uint16_t	y[4];

	if (n >= 8)
	{
		memcpy(&x[0], a, 8);
		memcpy(&x[1], b, 8);
		memcpy(&x[2], a + n - 8, 8);
		memcpy(&x[3], b + n - 8, 8);
		return ((x[0] ^ x[1]) | (x[2] ^ x[3])) == 0;
	}
	if (n >= 4)
	{
		memcpy(&x[0], a, 4);
		memcpy(&x[1], b, 4);
		memcpy(&x[2], a + n - 4, 4);
		memcpy(&x[3], b + n - 4, 4);
		return ((x[0] ^ x[1]) | (x[2] ^ x[3])) == 0;
	}
	if (n >= 2)
	{
		memcpy(&y[0], a, 2);
		memcpy(&y[1], b, 2);
		memcpy(&y[2], a + n - 2, 2);
		memcpy(&y[3], b + n - 2, 2);
		return ((y[0] ^ y[1]) | (y[2] ^ y[3])) == 0;
	}
	return n == 0 || *a == *b;
}

/* Copies the n bytes, in the same way. */
static inline void
wc_bytes_copy_short(uint8_t *to, const uint8_t *from, size_t n)
{
	uint64_t	x[2];
	uint32_t	y[2];
	uint16_t	z[2];

	if (n >= 8)
	{
		memcpy(&x[0], from, 8);
		memcpy(&x[1], from + n - 8, 8);
		memcpy(to, &x[0], 8);
		memcpy(to + n - 8, &x[1], 8);
	}
	else if (n >= 4)
	{
		memcpy(&y[0], from, 4);
		memcpy(&y[1], from + n - 4, 4);
		memcpy(to, &y[0], 4);
		memcpy(to + n - 4, &y[1], 4);
	}
	else if (n >= 2)
	{
		memcpy(&z[0], from, 2);
		memcpy(&z[1], from + n - 2, 2);
		memcpy(to, &z[0], 2);
		memcpy(to + n - 2, &z[1], 2);
	}
	else if (n == 1)
		*to = *from;
}

/* Copies the bytes, of which there may be none, to where there is room for them.  Most names and values are short: a call of
 * memcpy would take longer than the copy. */
static inline void
wc_slice_copy(void *to, WcSlice s)
{
	if (s.len <= WC_BYTES_SHORT)
		wc_bytes_copy_short(to, s.data, s.len);
	else
		memcpy(to, s.data, s.len);
}

/* Most slices that are compared are names of columns, which are short: a call of memcmp would take longer than the comparison. */
static inline bool
wc_slice_eq(WcSlice a, WcSlice b)
{
	if (a.len != b.len)
		return false;
	return a.len <= WC_BYTES_SHORT ? wc_bytes_eq_short(a.data, b.data, a.len) : memcmp(a.data, b.data, a.len) == 0;
}

static inline bool
wc_slice_starts_with(WcSlice s, WcSlice prefix)
{
	return s.len >= prefix.len && wc_slice_eq(wc_slice(s.data, prefix.len), prefix);
}

#endif
