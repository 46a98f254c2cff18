/*
 * rowkey/range.h: sets of row ranges.
 *
 * A set is an array of WcRange; it is *normal* when its ranges are ascending,
 * disjoint, not touching and none is empty, which is what a WcScan wants.
 * Slices are never copied.  Any thread.
 */
#ifndef WC_ROWKEY_RANGE_H
#define WC_ROWKEY_RANGE_H

#include "base/arena.h"
#include "model/scan.h"

/* Makes the set normal in place (the union stays the same); returns its new size. */
extern uint32_t wc_ranges_normalise(WcRange *ranges, uint32_t n);

/* The rows that are in both normal sets: a normal set, its array in the arena.
 * WC_NO_MEMORY is the only failure. */
extern WcStatus wc_ranges_intersect(const WcRange *a, uint32_t na, const WcRange *b, uint32_t nb,
									WcArena *arena, WcRange **out, uint32_t *nout,
									WcError *err) WC_WARN_UNUSED;

#endif
