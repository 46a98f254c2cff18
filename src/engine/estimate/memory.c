/*
 * engine/estimate/memory.c: what memtables have.
 *
 * RocksDB estimates the bytes of its files between two keys, but not those of memtables.  So one walk over the
 * memtables, whose size is bounded (write_buffer_bytes), notes every n-th key.
 */
#include "engine/estimate/memory.h"

#include <stdlib.h>

/* At most so many keys are noted: beyond that, every second one is forgotten. */
#define NOTED_MAX 2048

/* The sample that a store keeps is taken anew when its memtables have grown by this part, a quarter, and so many keys. */
#define MEMORY_GROWTH 4
#define MEMORY_KEYS 256

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

WcStatus
wc_estimate_memory(WcStore *store, WcSlice start, WcSlice stop, uint64_t *between, uint64_t *all, uint64_t *bytes,
				   WcError *err)
{
	rocksdb_t  *db = store->engine->db;
	uint64_t	entries = wc_rocks_property(db, store->cf, "rocksdb.num-entries-active-mem-table") +
		wc_rocks_property(db, store->cf, "rocksdb.num-entries-imm-mem-tables");
	WcMemKeys  *keys = &store->memkeys;
	WcStatus	status = WC_OK;

	pthread_mutex_lock(&store->memkeys_mutex);
	if (entries == 0 || entries < store->memkeys_entries ||
		entries > store->memkeys_entries + store->memkeys_entries / MEMORY_GROWTH + MEMORY_KEYS)
	{
		wc_memkeys_free(keys);
		store->memkeys_entries = 0;
		if (entries > 0)
			status = wc_memkeys_read(store, NULL, keys, err);
		if (status == WC_OK)
			store->memkeys_entries = entries;
		else
			wc_memkeys_free(keys);
	}
	if (status == WC_OK)
	{
		*all = keys->total;
		*between = wc_memkeys_between(keys, start, stop);
		*bytes = keys->total > 0 ? (uint64_t) ((double) keys->bytes * (double) *between / (double) keys->total) : 0;
	}
	pthread_mutex_unlock(&store->memkeys_mutex);
	return status;
}
