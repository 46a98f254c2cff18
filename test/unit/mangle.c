/*
 * test/unit/mangle.c: damaged bytes for readers, which must survive any bytes.
 */
#include "mangle.h"

#include <stdlib.h>

static uint64_t random_state = UINT64_C(0x9E3779B97F4A7C15);

uint32_t
wc_mangle_random(uint32_t n)
{
	/* xorshift: repeatable everywhere, good enough to pick bytes */
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t) (random_state >> 32) % n;
}

uint8_t
wc_mangle_touch(WcSlice s)
{
	uint8_t		sum = 0;

	for (size_t i = 0; i < s.len; i++)
		sum = (uint8_t) (sum + s.data[i]);
	return sum;
}

/* malloc(0) may give a byte, which a bad reader could read unseen. */
static void
give(const uint8_t *data, size_t len, WcMangleReader reader, void *arg)
{
	uint8_t    *exact = NULL;

	if (len > 0)
	{
		exact = malloc(len);
		if (!exact)
			abort();
		memcpy(exact, data, len);
	}
	reader(wc_slice(exact, len), arg);
	free(exact);
}

void
wc_mangle_prefixes(WcSlice bytes, WcMangleReader reader, void *arg)
{
	for (size_t len = 0; len <= bytes.len; len++)
		give(bytes.data, len, reader, arg);
}

static size_t
change(uint8_t *data, size_t len)
{
	static const uint8_t edges[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
	size_t		at = wc_mangle_random((uint32_t) len);

	switch (wc_mangle_random(6))
	{
		case 0:
			data[at] = edges[wc_mangle_random(sizeof(edges))];
			return len;
		case 1:
			data[at] ^= (uint8_t) (1u << wc_mangle_random(8));
			return len;
		case 2:
			memmove(data + at + 1, data + at, len - at);
			data[at] = (uint8_t) wc_mangle_random(256);
			return len + 1;
		case 3:
			memmove(data + at, data + at + 1, len - at - 1);
			return len - 1;
		case 4:
			return wc_mangle_random(8) == 0 ? at : len;
		default:
			data[at] = (uint8_t) wc_mangle_random(256);
			return len;
	}
}

void
wc_mangle_randomly(WcSlice bytes, int rounds, WcMangleReader reader, void *arg)
{
	enum
	{
		CHANGES_MAX = 4
	};
	uint8_t    *data = malloc(bytes.len + CHANGES_MAX);

	if (!data)
		abort();
	for (int round = 0; round < rounds; round++)
	{
		uint32_t	changes = 1 + wc_mangle_random(CHANGES_MAX);
		size_t		len = bytes.len;

		memcpy(data, bytes.data, len);
		for (uint32_t i = 0; i < changes && len > 0; i++)
			len = change(data, len);
		give(data, len, reader, arg);
	}
	free(data);
}
