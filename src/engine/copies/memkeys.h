/*
 * engine/copies/memkeys.h: a sample of the keys in a store's memtables.
 * engine/estimate/memory.c takes it.
 */
#ifndef WC_ENGINE_COPIES_MEMKEYS_H
#define WC_ENGINE_COPIES_MEMKEYS_H

#include "base/arena.h"

typedef struct WcMemKeys
{
	WcArena		arena;			/* of the keys noted */
	WcSlice    *keys;			/* those at 0, step, 2 * step ... */
	size_t		nkeys;
	uint64_t	step;
	uint64_t	total;			/* keys there are */
	uint64_t	bytes;			/* of them and their values */
} WcMemKeys;

extern void wc_memkeys_free(WcMemKeys *keys);

/* How many are between the store's keys start and stop (exclusive; empty:
 * unbounded), give or take a step. */
extern uint64_t wc_memkeys_between(const WcMemKeys *keys, WcSlice start, WcSlice stop);

#endif
