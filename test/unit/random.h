/*
 * test/unit/random.h: random and edge values for property tests.
 *
 * The seed is fixed; the environment variable WC_SEED changes it.
 */
#ifndef WC_TEST_RANDOM_H
#define WC_TEST_RANDOM_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/slice.h"

static uint64_t random_state;

static inline uint64_t
next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static inline uint32_t
below(uint32_t n)
{
	return (uint32_t) (next_random() >> 16) % n;
}

static inline int
seed(void **test_state)
{
	const char *given = getenv("WC_SEED");

	random_state = given != NULL ? strtoull(given, NULL, 10) | 1 : UINT64_C(0x9E3779B97F4A7C15);
	return 0;
}

static inline int
sign(int c)
{
	return (c > 0) - (c < 0);
}

static inline int64_t
random_int(void)
{
	static const int64_t edges[] = {0, 1, -1, 127, 128, -128, 255, 256, INT16_MIN, INT16_MAX,
		INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX, INT64_MIN + 1, INT64_MAX - 1};

	if (below(3) == 0)
		return edges[below(sizeof(edges) / sizeof(edges[0]))];
	return (int64_t) (next_random() >> below(64)) * (below(2) ? 1 : -1);
}

/* PostgreSQL's order of floats. */
static inline int
cmp_float(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a > b) - (a < b);
}

/* Up to max bytes, of few kinds, so that prefixes and equal ones are common. */
static inline WcSlice
random_bytes(uint8_t *room, uint32_t max, const char *alphabet, size_t n)
{
	size_t		len = below(max + 1);

	for (size_t i = 0; i < len; i++)
		room[i] = (uint8_t) alphabet[below((uint32_t) n)];
	return wc_slice(room, len);
}

#endif
