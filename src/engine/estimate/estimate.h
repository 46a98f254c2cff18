/*
 * engine/estimate/estimate.h: estimates of what memtables have.
 */
#ifndef WC_ENGINE_ESTIMATE_ESTIMATE_H
#define WC_ENGINE_ESTIMATE_ESTIMATE_H

#include "engine/store/state.h"

/* The number of keys in a store's memtables between two keys (exclusive; empty: unbounded), the number of all keys, and
 * the bytes of those between.  The numbers may be old: the memtables may have grown by a quarter since.  Any thread. */
extern WcStatus wc_estimate_memory(WcStore *store, WcSlice start, WcSlice stop, uint64_t *between, uint64_t *all,
								   uint64_t *bytes, WcError *err) WC_WARN_UNUSED;

#endif
