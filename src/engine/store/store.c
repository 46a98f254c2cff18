/*
 * engine/store/store.c: the storage of one family, and a table as a list of stores.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/store/state.h"

/* --- stores ---------------------------------------------------------------*/

WcStore *
wc_store_create(struct WcEngine *engine, uint32_t table_id, const WcFamilyDesc *family) WC_UNCHECKED
{
	WcStore    *store = calloc(1, sizeof(WcStore));

	if (store == NULL)
		return NULL;
	atomic_init(&store->refs, 1);
	store->engine = engine;
	store->table_id = table_id;
	store->family_id = family->id;
	store->generation = family->generation;
	store->packing = family->attrs.packing;
	store->attrs = family->attrs;
	pthread_mutex_init(&store->attrs_mutex, NULL);
	pthread_mutex_init(&store->memkeys_mutex, NULL);
	wc_marks_init(&store->marks);
	wc_deadruns_init(&store->dead);
	wc_scancache_init(&store->scancache, &engine->scanmemory);
	store->filter = wc_gonefilter_create(store->packing);
	if (store->filter == NULL)
	{
		wc_marks_free(&store->marks);
		wc_deadruns_destroy(&store->dead);
		wc_scancache_destroy(&store->scancache);
		pthread_mutex_destroy(&store->memkeys_mutex);
		pthread_mutex_destroy(&store->attrs_mutex);
		free(store);
		return NULL;
	}
	return store;
}

WcStore *
wc_store_ref(WcStore *store)
{
	unsigned	refs = atomic_fetch_add(&store->refs, 1);

	assert(refs > 0);			/* the caller has a reference, or the catalog does */
	return store;
}

void
wc_store_note_large(WcStore *store)
{
	if (!atomic_exchange(&store->large_rows, true))
		atomic_fetch_add(&store->engine->nlarge, 1);
}

void
wc_store_note_ahead(WcStore *store, int64_t ahead_ts, int64_t last_ts)
{
	if (ahead_ts > last_ts && !atomic_exchange(&store->ahead, true))
		atomic_fetch_add(&store->engine->nahead, 1);
}

void
wc_store_unref(WcStore *store)
{
	if (store == NULL || atomic_fetch_sub(&store->refs, 1) != 1)
		return;
	wc_gonefilter_unref(store->filter);
	if (store->cf)
		rocksdb_column_family_handle_destroy(store->cf);
	if (store->counted)
		atomic_fetch_sub(&store->engine->shared.families, 1);
	wc_memkeys_free(&store->memkeys);
	wc_marks_free(&store->marks);
	wc_deadruns_destroy(&store->dead);
	wc_scancache_destroy(&store->scancache);
	wc_swept_free(&store->swept);
	wc_swept_free(&store->upkeep.compacting);
	pthread_mutex_destroy(&store->memkeys_mutex);
	pthread_mutex_destroy(&store->attrs_mutex);
	free(store);
}

void
wc_swept_free(WcSwept *swept)
{
	wc_buf_free(&swept->start);
	wc_buf_free(&swept->stop);
	*swept = (WcSwept) {.start = WC_BUF_INIT,.stop = WC_BUF_INIT};
}

WcSlice
wc_swept_stop(const WcSwept *swept)
{
	return swept->to_the_end ? wc_slice(NULL, 0) : wc_buf_slice(&swept->stop);
}

static void
set(WcBuf *buf, WcSlice bytes)
{
	wc_buf_reset(buf, SIZE_MAX);
	wc_buf_append_slice(buf, bytes);
}

void
wc_swept_add(WcSwept *s, WcSlice start, WcSlice stop)
{
	if (!s->any || wc_slice_cmp(start, wc_buf_slice(&s->start)) < 0)
		set(&s->start, start);
	if (!s->any || wc_slice_cmp(stop, wc_buf_slice(&s->stop)) > 0)
		set(&s->stop, stop);
	/* a buffer that has failed is empty: no start, or no stop */
	s->to_the_end = (s->any && s->to_the_end) || stop.len == 0 || s->stop.failed;
	s->any = true;
}

bool
wc_store_take_swept(WcStore *store, WcSwept *swept)
{
	bool		whole;

	pthread_mutex_lock(&store->engine->write_mutex);
	whole = store->swept.whole;
	if (whole)
	{
		*swept = store->swept;
		store->swept = (WcSwept) {.start = WC_BUF_INIT,.stop = WC_BUF_INIT};
	}
	pthread_mutex_unlock(&store->engine->write_mutex);
	return whole;
}

void
wc_store_return_swept(WcStore *store, WcSwept *swept)
{
	pthread_mutex_lock(&store->engine->write_mutex);
	wc_swept_add(&store->swept, wc_buf_slice(&swept->start), wc_swept_stop(swept));
	store->swept.whole = true;
	pthread_mutex_unlock(&store->engine->write_mutex);
	wc_swept_free(swept);
}

char *
wc_store_cf_name(const WcStore *store, char *buf, size_t size)
{
	snprintf(buf, size, "t%" PRIu32 ".f%" PRIu32 ".g%" PRIu32, store->table_id, store->family_id, store->generation);
	return buf;
}

rocksdb_options_t *
wc_store_options(WcStore *store)
{
	WcFamilyAttrs attrs = wc_store_attrs(store);

	if (!store->counted)
		atomic_fetch_add(&store->engine->shared.families, 1);
	store->counted = true;
	store->built_filter = attrs.bloomfilter;
	return wc_rocks_family_options(&store->engine->shared, &attrs, store->packing,
								   wc_gonefilter_factory(store->filter));
}

/* --- dropping ------------------------------------------------------------- */

bool
wc_store_is_dropped(const WcStore *store)
{
	return atomic_load(&store->dropped);
}

/* --- attributes -------------------------------------------------------------- */

WcFamilyAttrs
wc_store_attrs(WcStore *store)
{
	WcFamilyAttrs attrs;

	pthread_mutex_lock(&store->attrs_mutex);
	attrs = store->attrs;
	pthread_mutex_unlock(&store->attrs_mutex);
	return attrs;
}

void
wc_store_set_attrs(WcStore *store, const WcFamilyAttrs *attrs)
{
	pthread_mutex_lock(&store->attrs_mutex);
	store->attrs = *attrs;
	pthread_mutex_unlock(&store->attrs_mutex);
}

/* --- tables ---------------------------------------------------------------*/

WcTable *
wc_table_create(const WcTableDesc *desc)
{
	WcTable    *table = calloc(1, sizeof(WcTable));
	WcBuf		bytes = WC_BUF_INIT;

	if (table == NULL)
		return NULL;
	atomic_init(&table->refs, 1);
	wc_table_desc_encode(&bytes, desc);
	if (!bytes.failed && wc_table_desc_decode(wc_buf_slice(&bytes), &table->arena, &table->desc, NULL) == WC_OK)
		table->stores = wc_arena_alloc_zero(&table->arena, desc->nfamilies * sizeof(WcStore *));
	wc_buf_free(&bytes);
	if (table->stores == NULL)
	{
		wc_arena_free(&table->arena);
		free(table);
		return NULL;
	}
	return table;
}

WcTable *
wc_table_ref(WcTable *table)
{
	unsigned	refs = atomic_fetch_add(&table->refs, 1);

	assert(refs > 0);			/* the caller has a reference, or the catalog does */
	return table;
}

void
wc_table_unref(WcTable *table)
{
	if (table == NULL || atomic_fetch_sub(&table->refs, 1) != 1)
		return;
	for (uint32_t i = 0; i < table->desc.nfamilies; i++)
		wc_store_unref(table->stores[i]);
	wc_arena_free(&table->arena);
	free(table);
}

WcStore *
wc_table_store(const WcTable *table, uint32_t family_id)
{
	for (uint32_t i = 0; i < table->desc.nfamilies; i++)
	{
		if (table->desc.families[i].id == family_id)
			return table->stores[i];
	}
	return NULL;
}
