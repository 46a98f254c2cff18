/*
 * engine/estimate/estimate.h: what estimates know of memtables.
 */
#ifndef WC_ENGINE_ESTIMATE_ESTIMATE_H
#define WC_ENGINE_ESTIMATE_ESTIMATE_H

#include "engine/store/state.h"

/* How many keys of a store's memtables lie between two of its keys (exclusive; empty: unbounded),
 * how many there are, and the bytes of those between: as they were before the memtables grew by a
 * quarter, at most.  Any thread. */
extern WcStatus wc_estimate_memory(WcStore *store, WcSlice start, WcSlice stop, uint64_t *between, uint64_t *all,
								   uint64_t *bytes, WcError *err) WC_WARN_UNUSED;

#endif
