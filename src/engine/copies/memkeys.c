/*
 * engine/copies/memkeys.c: how the keys in a store's memtables are spread.
 */
#include "engine/copies/memkeys.h"

#include <stdlib.h>
#include <string.h>

void
wc_memkeys_free(WcMemKeys *keys)
{
	free(keys->keys);
	wc_arena_free(&keys->arena);
	memset(keys, 0, sizeof(*keys));
}

/* How many noted keys are smaller. */
static size_t
noted_before(const WcMemKeys *keys, WcSlice key)
{
	size_t		low = 0;
	size_t		high = keys->nkeys;

	while (low < high)
	{
		size_t		middle = (low + high) / 2;

		if (wc_slice_cmp(keys->keys[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t
wc_memkeys_between(const WcMemKeys *keys, WcSlice start, WcSlice stop)
{
	size_t		from = noted_before(keys, start);
	size_t		to = stop.len > 0 ? noted_before(keys, stop) : keys->nkeys;
	uint64_t	count;

	if (from >= to)
		return 0;
	count = (uint64_t) (to - from) * keys->step;
	return count < keys->total ? count : keys->total;
}
