/*
 * engine/store/memkeys.h: a sample of the keys in a store's memtables.
 *
 * RocksDB estimates the bytes of its files between two keys, but not those of memtables.  So one walk over the
 * memtables, whose size is bounded (write_buffer_bytes), notes every n-th key.
 */
#ifndef WC_ENGINE_STORE_MEMKEYS_H
#define WC_ENGINE_STORE_MEMKEYS_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/status.h"

struct WcStore;

typedef struct WcMemKeys
{
	WcArena		arena;			/* of the keys noted */
	WcSlice    *keys;			/* those at 0, step, 2 * step ... */
	size_t		nkeys;
	uint64_t	step;
	uint64_t	total;			/* keys there are */
	uint64_t	bytes;			/* of them and their values */
} WcMemKeys;

/* Walks over the memtables.  Free it in any case. */
extern WcStatus wc_memkeys_read(struct WcStore *store, const atomic_bool *cancel, WcMemKeys *keys, WcError *err) WC_WARN_UNUSED;
extern void wc_memkeys_free(WcMemKeys *keys);

/* How many are between the store's keys start and stop (exclusive; empty:
 * unbounded), give or take a step. */
extern uint64_t wc_memkeys_between(const WcMemKeys *keys, WcSlice start, WcSlice stop);

#endif
