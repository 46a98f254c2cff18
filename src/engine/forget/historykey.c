/*
 * engine/forget/historykey.c: the key-value that says since when a family remembers.
 */
#include "engine/forget/historykey.h"

#include "base/coding.h"
#include "engine/store/state.h"

#define KEY_SIZE 9
#define SINGLE	0x01

WcStatus
wc_historykey_decode(WcSlice value, int64_t *ts, bool *single, WcError *err)
{
	WcDecoder	d = wc_decoder(value);
	uint8_t		flags;

	*ts = (int64_t) wc_decode_u64(&d);
	flags = wc_decode_u8(&d);
	*single = (flags & SINGLE) != 0;
	if (!wc_decoder_done(&d) || *ts < 0 || (flags & ~SINGLE) != 0)
		return wc_error(err, WC_CORRUPT, "the start of a family's history in the catalog is damaged");
	return WC_OK;
}

static void
make_key(uint8_t *key, uint32_t table_id, uint32_t family_id)
{
	key[0] = WC_HISTORYKEY;
	wc_store_u32(key + 1, table_id);
	wc_store_u32(key + 5, family_id);
}

void
wc_historykey_put(const WcStore *store, int64_t ts, bool single, rocksdb_writebatch_t *batch)
{
	uint8_t		key[KEY_SIZE];
	uint8_t		value[9];

	make_key(key, store->table_id, store->family_id);
	wc_store_u64(value, (uint64_t) ts);
	value[8] = single ? SINGLE : 0;
	wc_rocks_batch_put(batch, store->engine->meta, (const char *) key, sizeof(key),
							  (const char *) value, sizeof(value));
}

void
wc_historykey_delete(const WcStore *store, rocksdb_writebatch_t *batch)
{
	uint8_t		key[KEY_SIZE];

	make_key(key, store->table_id, store->family_id);
	wc_rocks_batch_delete(batch, store->engine->meta, (const char *) key, sizeof(key));
}

WcStatus
wc_historykey_read(const WcStore *store, const WcSnapshot *snapshot, int64_t *ts, WcError *err)
{
	rocksdb_readoptions_t *options = rocksdb_readoptions_create();
	uint8_t		key[KEY_SIZE];
	char	   *value;
	char	   *error = NULL;
	size_t		len = 0;
	bool		single;
	WcStatus	status;

	*ts = 0;
	make_key(key, store->table_id, store->family_id);
	rocksdb_readoptions_set_snapshot(options, snapshot->rocks);
	value = rocksdb_get_cf(store->engine->db, options, store->engine->meta, (const char *) key, sizeof(key), &len, &error);
	rocksdb_readoptions_destroy(options);
	status = wc_rocks_status(error, "read the catalog", err);
	if (status == WC_OK && value)
		status = wc_historykey_decode(wc_slice(value, len), ts, &single, err);
	rocksdb_free(value);
	return status;
}
