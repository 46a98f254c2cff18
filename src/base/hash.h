/*
 * base/hash.h: hashes for tables in memory.
 *
 * The values are never stored, and may differ in the next version.  Any thread.
 */
#ifndef WC_BASE_HASH_H
#define WC_BASE_HASH_H

#include <stdint.h>
#include <string.h>

#include "base/slice.h"

/* Mixes the bits of a number: each bit of the result depends on all bits of h (the last steps of MurmurHash3). */
static inline uint64_t
wc_hash_mix(uint64_t h)
{
	h ^= h >> 33;
	h *= UINT64_C(0xff51afd7ed558ccd);
	h ^= h >> 33;
	h *= UINT64_C(0xc4ceb9fe1a85ec53);
	return h ^ h >> 33;
}

/* Continues a hash with these bytes, and their number. */
static inline uint64_t
wc_hash_bytes(uint64_t h, WcSlice s)
{
	size_t		i = 0;

	for (; s.len - i >= 8; i += 8)
	{
		uint64_t	word;

		memcpy(&word, s.data + i, 8);
		h = wc_hash_mix(h ^ word);
	}
	for (; i < s.len; i++)
		h = (h ^ s.data[i]) * UINT64_C(0x100000001b3);
	return wc_hash_mix(h ^ s.len);
}

#endif
