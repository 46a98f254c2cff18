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

/* Copies the bytes, of which there may be none, to where there is room for them. */
static inline void
wc_slice_copy(void *to, WcSlice s)
{
	if (s.len > 0)
		memcpy(to, s.data, s.len);
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

static inline bool
wc_slice_eq(WcSlice a, WcSlice b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static inline bool
wc_slice_starts_with(WcSlice s, WcSlice prefix)
{
	return s.len >= prefix.len &&
		(prefix.len == 0 || memcmp(s.data, prefix.data, prefix.len) == 0);
}

#endif
