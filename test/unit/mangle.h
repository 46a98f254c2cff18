/*
 * test/unit/mangle.h: damaged bytes for readers, which must survive any bytes.
 *
 * The bytes of each call of a reader are in memory of exactly their size, so that the address sanitizer
 * finds a read beyond them.
 */
#ifndef WC_TEST_MANGLE_H
#define WC_TEST_MANGLE_H

#include "base/slice.h"

typedef void (*WcMangleReader) (WcSlice bytes, void *arg);

/* Every prefix, the empty one and the whole included, shortest first. */
extern void wc_mangle_prefixes(WcSlice bytes, WcMangleReader reader, void *arg);

/* Rounds of random changes: bytes replaced, inserted, left out, cut off.  The
 * same rounds every time. */
extern void wc_mangle_randomly(WcSlice bytes, int rounds, WcMangleReader reader, void *arg);

/* Looks at every byte, as a user of the slice would; returns their sum. */
extern uint8_t wc_mangle_touch(WcSlice s);

/* A repeatable random number below n. */
extern uint32_t wc_mangle_random(uint32_t n);

#endif
