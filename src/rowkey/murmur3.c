/*
 * rowkey/murmur3.c: MurmurHash3, x64, 128 bits.
 */
#include "rowkey/murmur3.h"

#define C1 UINT64_C(0x87c37b91114253d5)
#define C2 UINT64_C(0x4cf5ad432745937f)

static uint64_t
rotate(uint64_t v, int n)
{
	return (v << n) | (v >> (64 - n));
}

static uint64_t
load_le(const uint8_t *p, size_t n)
{
	uint64_t	v = 0;

	while (n-- > 0)
		v = (v << 8) | p[n];
	return v;
}

static void
store_le(uint8_t *p, uint64_t v)
{
	for (int i = 0; i < 8; i++, v >>= 8)
		p[i] = (uint8_t) v;
}

static uint64_t
mix1(uint64_t k)
{
	return rotate(k * C1, 31) * C2;
}

static uint64_t
mix2(uint64_t k)
{
	return rotate(k * C2, 33) * C1;
}

static uint64_t
finish(uint64_t k)
{
	k ^= k >> 33;
	k *= UINT64_C(0xff51afd7ed558ccd);
	k ^= k >> 33;
	k *= UINT64_C(0xc4ceb9fe1a85ec53);
	return k ^ (k >> 33);
}

void
wc_murmur3(WcSlice s, uint32_t seed, uint8_t out[WC_MURMUR3_SIZE])
{
	const uint8_t *p = s.data;
	size_t		left = s.len;
	uint64_t	h1 = seed;
	uint64_t	h2 = seed;

	for (; left >= 16; p += 16, left -= 16)
	{
		h1 ^= mix1(load_le(p, 8));
		h1 = (rotate(h1, 27) + h2) * 5 + 0x52dce729;
		h2 ^= mix2(load_le(p + 8, 8));
		h2 = (rotate(h2, 31) + h1) * 5 + 0x38495ab5;
	}
	if (left > 8)
		h2 ^= mix2(load_le(p + 8, left - 8));
	if (left > 0)
		h1 ^= mix1(load_le(p, left > 8 ? 8 : left));

	h1 ^= s.len;
	h2 ^= s.len;
	h1 += h2;
	h2 += h1;
	h1 = finish(h1);
	h2 = finish(h2);
	h1 += h2;
	h2 += h1;
	store_le(out, h1);
	store_le(out + 8, h2);
}
