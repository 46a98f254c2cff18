/*
 * engine/store/memkeys.c: how the keys in a store's memtables are spread.
 */
#include "engine/store/memkeys.h"

#include <stdlib.h>

#include "engine/store/state.h"

/* At most so many keys are noted: beyond that, every second one is forgotten. */
#define NOTED_MAX 2048

static WcStatus
note(WcMemKeys *keys, WcSlice key, size_t value_len, WcError *err)
{
	if (keys->nkeys == NOTED_MAX)
	{
		for (size_t i = 0; i < NOTED_MAX / 2; i++)
			keys->keys[i] = keys->keys[2 * i];
		keys->nkeys = NOTED_MAX / 2;
		keys->step *= 2;
	}
	if (keys->total % keys->step == 0)
	{
		WcSlice		copy = wc_arena_copy(&keys->arena, key);

		if (copy.data == NULL)
			return wc_error(err, WC_NO_MEMORY, "out of memory for an estimate");
		keys->keys[keys->nkeys++] = copy;
	}
	keys->total++;
	keys->bytes += key.len + value_len;
	return WC_OK;
}

WcStatus
wc_memkeys_read(WcStore *store, const atomic_bool *cancel, WcMemKeys *keys, WcError *err)
{
	rocksdb_readoptions_t *options;
	rocksdb_iterator_t *it;
	char	   *error = NULL;
	WcStatus	status = WC_OK;

	memset(keys, 0, sizeof(*keys));
	keys->step = 1;
	keys->keys = malloc(NOTED_MAX * sizeof(WcSlice));
	if (keys->keys == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for an estimate");
	options = rocksdb_readoptions_create();
	rocksdb_readoptions_set_total_order_seek(options, 1);
	rocksdb_readoptions_set_read_tier(options, WC_READ_TIER_MEMTABLE);
	it = wc_rocks_create_iterator(store->engine->db, options, store->cf);
	for (wc_rocks_iter_seek_to_first(it); status == WC_OK && rocksdb_iter_valid(it); wc_rocks_iter_next(it))
	{
		WcSlice		key;
		size_t		value_len;

		key.data = (const uint8_t *) rocksdb_iter_key(it, &key.len);
		(void) rocksdb_iter_value(it, &value_len);
		status = note(keys, key, value_len, err);
		if (status == WC_OK && keys->total % WC_CANCEL_CELLS == 0 && cancel != NULL && atomic_load(cancel))
			status = wc_error(err, WC_CANCELLED, "an estimate was cancelled");
	}
	rocksdb_iter_get_error(it, &error);
	if (status == WC_OK)
		status = wc_store_status(store, error, "read", err);
	else
		free(error);
	rocksdb_iter_destroy(it);
	rocksdb_readoptions_destroy(options);
	return status;
}

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
