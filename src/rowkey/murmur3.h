/*
 * rowkey/murmur3.h: MurmurHash3, x64, 128 bits.
 *
 * Austin Appleby's public domain algorithm.  For spreading keys, not for
 * secrets.  The 16 bytes are both halves in little-endian order, as the reference
 * implementation leaves them in memory.  Any thread.
 */
#ifndef WC_ROWKEY_MURMUR3_H
#define WC_ROWKEY_MURMUR3_H

#include "base/slice.h"

#define WC_MURMUR3_SIZE 16

extern void wc_murmur3(WcSlice s, uint32_t seed, uint8_t out[WC_MURMUR3_SIZE]);

#endif
