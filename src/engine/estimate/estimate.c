/*
 * engine/estimate/estimate.c: the approximate number of rows and bytes of a range.
 *
 * Up to ESTIMATE_KEYS keys are counted.  If there are more, RocksDB estimates the range's share of the files, and the
 * sample of keys in memtables (memory.h) gives its share of the memtables.
 */
#include "engine/estimate/memory.h"
#include "engine/estimate/parts.h"
#include "engine/rocks/cellkey.h"

/* An estimate counts at most so many keys. */
#define ESTIMATE_KEYS 256

/* The range's bounds as keys of a store; an empty stop is unbounded. */
static bool
range_keys(const WcStore *store, const WcRange *range, WcBuf *start, WcBuf *stop)
{
	wc_buf_reset(start, SIZE_MAX);
	wc_buf_reset(stop, SIZE_MAX);
	if (store->packing == WC_PACKING_ROW)
	{
		wc_buf_append_slice(start, range->start);
		if (range->start.len > 0 && !range->start_inclusive)
			wc_buf_append_u8(start, 0);
		wc_buf_append_slice(stop, range->stop);
		if (range->stop.len > 0 && range->stop_inclusive)
			wc_buf_append_u8(stop, 0);
	}
	else
	{
		if (range->start.len > 0 && range->start_inclusive)
			wc_cellkey_append_row(start, range->start);
		else if (range->start.len > 0)
			wc_cellkey_append_row_end(start, range->start);
		if (range->stop.len > 0 && range->stop_inclusive)
			wc_cellkey_append_row_end(stop, range->stop);
		else if (range->stop.len > 0)
			wc_cellkey_append_row(stop, range->stop);
	}
	return !start->failed && !stop->failed;
}

/* The first keys of a range, counted. */
typedef struct Sample
{
	uint64_t	keys;
	uint64_t	rows;
	uint64_t	bytes;
	bool		whole;			/* there are no more */
} Sample;

static WcStatus
take_sample(WcStore *store, const WcBuf *start, const WcBuf *stop, Sample *sample, WcError *err)
{
	rocksdb_readoptions_t *options = rocksdb_readoptions_create();
	rocksdb_iterator_t *it;
	WcBuf		row = WC_BUF_INIT;
	char	   *error = NULL;
	WcStatus	status;

	memset(sample, 0, sizeof(*sample));
	rocksdb_readoptions_set_total_order_seek(options, 1);
	if (stop->len > 0)
		rocksdb_readoptions_set_iterate_upper_bound(options, (const char *) stop->data, stop->len);
	it = wc_rocks_create_iterator(store->engine->db, options, store->cf);
	wc_rocks_iter_seek(it, (const char *) start->data, start->len);
	for (; rocksdb_iter_valid(it) && sample->keys < ESTIMATE_KEYS; wc_rocks_iter_next(it))
	{
		WcSlice		key;
		size_t		value_len;
		size_t		prefix;

		key.data = (const uint8_t *) rocksdb_iter_key(it, &key.len);
		(void) rocksdb_iter_value(it, &value_len);
		prefix = store->packing == WC_PACKING_ROW ? key.len : wc_cellkey_row_prefix(key);
		sample->keys++;
		sample->bytes += key.len + value_len;
		if (!wc_slice_eq(wc_buf_slice(&row), wc_slice(key.data, prefix)))
		{
			sample->rows++;
			wc_buf_reset(&row, SIZE_MAX);
			wc_buf_append(&row, key.data, prefix);
		}
	}
	sample->whole = !rocksdb_iter_valid(it);
	rocksdb_iter_get_error(it, &error);
	status = wc_store_status(store, error, "read", err);
	rocksdb_iter_destroy(it);
	rocksdb_readoptions_destroy(options);
	wc_buf_free(&row);
	return status;
}

/* The share of the store's files that lies between the keys. */
static WcStatus
file_share(WcStore *store, const WcBuf *start, const WcBuf *stop, uint64_t *bytes, double *share, WcError *err)
{
	rocksdb_t  *db = store->engine->db;
	WcSlice		none = {NULL, 0};
	uint64_t	all = 0;
	WcStatus	status = wc_rocks_bytes_between(db, store->cf, wc_buf_slice(start), wc_buf_slice(stop), bytes, err);

	if (status == WC_OK)
		status = wc_rocks_bytes_between(db, store->cf, none, none, &all, err);
	*share = all > 0 ? (double) *bytes / (double) all : 0.0;
	return status;
}

/* A range that has more than its sample. */
static WcStatus
extrapolate(WcStore *store, const WcBuf *start, const WcBuf *stop, const Sample *sample, uint64_t *bytes,
			uint64_t *rows, WcError *err)
{
	uint64_t	keys = wc_rocks_property(store->engine->db, store->cf, "rocksdb.estimate-num-keys");
	uint64_t	memory_keys = 0;
	uint64_t	memory_between = 0;
	uint64_t	memory_bytes = 0;
	double		share;
	WcStatus	status = file_share(store, start, stop, bytes, &share, err);

	if (status == WC_OK)
		status = wc_estimate_memory(store, wc_buf_slice(start), wc_buf_slice(stop), &memory_between, &memory_keys,
									&memory_bytes, err);
	if (status != WC_OK)
		return status;
	keys = keys > memory_keys ? keys - memory_keys : 0;
	*bytes += memory_bytes;
	*rows = (uint64_t) (((double) keys * share + (double) memory_between) *
						(double) sample->rows / (double) sample->keys);
	if (*bytes < sample->bytes)
		*bytes = sample->bytes;
	if (*rows < sample->rows)
		*rows = sample->rows;
	return WC_OK;
}

static WcStatus
estimate_store(WcStore *store, const WcRange *range, uint64_t *bytes, uint64_t *rows, WcError *err)
{
	WcBuf		start = WC_BUF_INIT;
	WcBuf		stop = WC_BUF_INIT;
	Sample		sample;
	WcStatus	status = WC_OK;

	*bytes = *rows = 0;
	if (!range_keys(store, range, &start, &stop))
		status = wc_error(err, WC_NO_MEMORY, "out of memory for an estimate");
	if (status == WC_OK)
		status = take_sample(store, &start, &stop, &sample, err);
	if (status == WC_OK && sample.whole)
	{
		*bytes = sample.bytes;
		*rows = sample.rows;
	}
	else if (status == WC_OK)
		status = extrapolate(store, &start, &stop, &sample, bytes, rows, err);
	wc_buf_free(&start);
	wc_buf_free(&stop);
	return status;
}

WcStatus
wc_engine_estimate(WcEngine *engine, uint32_t table_id, const WcRange *range,
				   const uint32_t *families, uint32_t nfamilies,
				   uint64_t *bytes, uint64_t *rows, WcError *err)
{
	WcTable    *table = wc_catalog_table(engine, table_id);
	WcStatus	status = WC_OK;

	*bytes = *rows = 0;
	if (table == NULL)
		return WC_OK;			/* of a transaction that is still open */
	for (uint32_t i = 0; status == WC_OK && i < table->desc.nfamilies; i++)
	{
		uint64_t	store_bytes;
		uint64_t	store_rows;

		if (!wc_parts_has_family(table->stores[i]->family_id, families, nfamilies))
			continue;
		status = estimate_store(table->stores[i], range, &store_bytes, &store_rows, err);
		*bytes += store_bytes;
		if (store_rows > *rows)
			*rows = store_rows;
	}
	wc_table_unref(table);
	return status;
}
