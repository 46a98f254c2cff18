/*
 * engine/estimate/memory.h: what memtables have.
 */
#ifndef WC_ENGINE_ESTIMATE_MEMORY_H
#define WC_ENGINE_ESTIMATE_MEMORY_H

#include "engine/copies/memkeys.h"
#include "engine/store/state.h"

/* Walks over the memtables.  Free it in any case (wc_memkeys_free). */
extern WcStatus wc_memkeys_read(WcStore *store, const atomic_bool *cancel, WcMemKeys *keys, WcError *err) WC_WARN_UNUSED;

/* The number of keys in a store's memtables between two keys (exclusive; empty: unbounded), the number of all keys, and
 * the bytes of those between.  The numbers may be old: the memtables may have grown by a quarter since.  Any thread. */
extern WcStatus wc_estimate_memory(WcStore *store, WcSlice start, WcSlice stop, uint64_t *between, uint64_t *all,
								   uint64_t *bytes, WcError *err) WC_WARN_UNUSED;

#endif
