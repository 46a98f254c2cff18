/*
 * engine/catalog/catalog.c: which tables and namespaces there are, as committed.
 */
#include <stdlib.h>

#include "base/coding.h"
#include "base/log.h"
#include "engine/catalog/catalog.h"
#include "engine/store/rangewatch.h"
#include "engine/store/state.h"

#define FORMAT_VERSION 7
#define FORMAT_VERSION_MIN 1		/* that is converted */
#define FORMAT_WITH_FLUSHED 2		/* the first that has the mark "flushed", */
#define FORMAT_WITH_UNTIL 4			/* and "oldest until", */
#define FORMAT_WITH_AHEAD 6			/* and "ahead" */

/* First bytes of the keys (engine/README). */
#define KEY_FORMAT		'F'
#define KEY_NEXT_ID		'I'
#define KEY_NAMESPACE	'N'
#define KEY_STATE		'S'
#define KEY_LARGE		'X'		/* behind the tables */

#define LARGE_KEY_SIZE	9

static WcSlice
copy_bytes(WcSlice s)
{
	uint8_t    *data = malloc(s.len + 1);

	if (data != NULL && s.len > 0)
		memcpy(data, s.data, s.len);
	return wc_slice(data, s.len);
}

/* False: out of memory; ns has nothing to free then. */
static bool
copy_namespace(WcNamespace *ns, WcSlice name, WcSlice properties)
{
	ns->name = copy_bytes(name);
	ns->properties = copy_bytes(properties);
	if (ns->name.data != NULL && ns->properties.data != NULL)
		return true;
	free((void *) ns->name.data);
	free((void *) ns->properties.data);
	ns->name = ns->properties = wc_slice(NULL, 0);
	return false;
}

/* --- loading --------------------------------------------------------------*/

static WcStatus
load_table(struct WcEngine *engine, WcSlice value, WcError *err) WC_UNCHECKED
{
	WcArena		arena = WC_ARENA_INIT;
	WcTableDesc desc;
	WcTable    *table = NULL;
	WcStatus	status = wc_table_desc_decode(value, &arena, &desc, err);

	if (status == WC_OK)
		status = wc_catalog_reserve(&engine->catalog, 1, err);
	if (status == WC_OK)
	{
		table = wc_table_create(&desc);
		if (table == NULL)
			status = wc_error(err, WC_NO_MEMORY, "out of memory for the catalog");
	}
	wc_arena_free(&arena);
	for (uint32_t i = 0; status == WC_OK && i < table->desc.nfamilies; i++)
	{
		table->stores[i] = wc_store_create(engine, table->desc.id, &table->desc.families[i]);
		if (table->stores[i] == NULL)
			status = wc_error(err, WC_NO_MEMORY, "out of memory for the catalog");
	}
	if (status != WC_OK)
	{
		wc_table_unref(table);
		return status;
	}
	wc_catalog_note_id(&engine->catalog, table->desc.id);
	wc_catalog_set_table(&engine->catalog, table->desc.id, table);
	return WC_OK;
}

static WcStatus
load_namespace(struct WcEngine *engine, WcDecoder *key, WcSlice properties, WcError *err) WC_UNCHECKED
{
	WcNamespace ns = {.database = wc_decode_u32(key)};
	WcStatus	status;

	if (key->failed)
		return wc_error(err, WC_CORRUPT, "a namespace's key in the catalog is damaged");
	if (properties.len > WC_NAMESPACE_PROPERTIES_MAX)
		return wc_error(err, WC_CORRUPT, "a namespace's properties in the catalog are damaged");
	status = wc_catalog_reserve(&engine->catalog, 1, err);
	if (status != WC_OK)
		return status;
	if (!copy_namespace(&ns, wc_slice(key->p, (size_t) (key->end - key->p)), properties))
		return wc_error(err, WC_NO_MEMORY, "out of memory for the catalog");
	wc_catalog_set_namespace(&engine->catalog, &ns, true);
	return WC_OK;
}

/* Ignored, if the store does not exist any more. */
static WcStatus
load_marks(struct WcEngine *engine, WcDecoder *key, WcSlice value, WcError *err)
{
	uint32_t	table_id = wc_decode_u32(key);
	uint32_t	family_id = wc_decode_u32(key);
	WcMarks		marks;
	WcTable    *table;
	WcStore    *store;
	WcStatus	status = wc_marks_decode(value, &marks, err);

	if (status == WC_OK && !wc_decoder_done(key))
		status = wc_error(err, WC_CORRUPT, "the key of a family's history in the catalog is damaged");
	if (status != WC_OK)
		return status;
	table = wc_catalog_table(engine, table_id);
	store = table ? wc_table_store(table, family_id) : NULL;
	if (store)
	{
		/* RocksDB has had it from its files, or writes it to one when it is opened */
		wc_marks_done(store, &marks);
		wc_store_note_ahead(store, marks.ahead_ts, engine->last_ts);
		wc_store_settle_gone(store);
	}
	wc_table_unref(table);
	return WC_OK;
}

static WcStatus
load_large(struct WcEngine *engine, WcDecoder *key, WcError *err)
{
	WcTable    *table = wc_catalog_table(engine, wc_decode_u32(key));
	uint32_t	family_id = wc_decode_u32(key);
	WcStore    *store = table ? wc_table_store(table, family_id) : NULL;

	if (store)
		wc_store_note_large(store);
	wc_table_unref(table);
	if (!wc_decoder_done(key))
		return wc_error(err, WC_CORRUPT, "the key of a family's large rows in the catalog is damaged");
	return WC_OK;
}

static WcStatus
load_entry(struct WcEngine *engine, WcSlice key, WcSlice value, WcError *err)
{
	WcDecoder	k = wc_decoder(key);
	WcDecoder	v = wc_decoder(value);
	uint32_t	number;

	switch (wc_decode_u8(&k))
	{
		case KEY_FORMAT:
			number = wc_decode_u32(&v);
			if (v.failed || number < FORMAT_VERSION_MIN || number > FORMAT_VERSION)
			{
				wc_error(err, WC_UNSUPPORTED, "store has format version %u, this engine reads versions up to %d",
						 number, FORMAT_VERSION);
				wc_error_hint(err, "Run the version of widecol that wrote it.");
				return WC_UNSUPPORTED;
			}
			engine->format = number;
			return WC_OK;
		case KEY_NEXT_ID:
			number = wc_decode_u32(&v);
			engine->catalog.stored_next_id = number;
			if (number > 0)
				wc_catalog_note_id(&engine->catalog, number - 1);
			break;
		case KEY_STATE:
			engine->applied = wc_decode_u64(&v);
			engine->last_ts = (int64_t) wc_decode_u64(&v);
			engine->timeline = wc_decoder_done(&v) ? 0 : wc_decode_u32(&v);	/* format 4 has none */
			if (engine->last_ts < 0 || engine->last_ts == WC_TS_LATEST)
				return wc_error(err, WC_CORRUPT, "the catalog's last timestamp is damaged");
			break;
		case KEY_NAMESPACE:
			return load_namespace(engine, &k, value, err);
		case WC_METAKEY_TABLE:
			return load_table(engine, value, err);
		case WC_METAKEY_READ:	/* wc_engine_marked reads them */
		case WC_METAKEY_PENDING:
			return WC_OK;
		case KEY_LARGE:
			return load_large(engine, &k, err);
		case WC_MARKS_KEY:		/* behind the tables */
			return load_marks(engine, &k, value, err);
		default:
			return wc_error(err, WC_CORRUPT, "the catalog has a key that means nothing");
	}
	if (!wc_decoder_done(&v))
		return wc_error(err, WC_CORRUPT, "a value in the catalog is damaged");
	return WC_OK;
}

WcStatus
wc_catalog_load(struct WcEngine *engine, rocksdb_t *db, rocksdb_column_family_handle_t *meta,
				bool *fresh, WcError *err)
{
	rocksdb_iterator_t *it = wc_rocks_create_iterator(db, engine->read_options, meta);
	WcStatus	status = WC_OK;
	char	   *error = NULL;

	*fresh = true;
	for (wc_rocks_iter_seek_to_first(it); status == WC_OK && rocksdb_iter_valid(it); wc_rocks_iter_next(it))
	{
		size_t		klen,
					vlen;
		const char *key = rocksdb_iter_key(it, &klen);
		const char *value = rocksdb_iter_value(it, &vlen);

		status = load_entry(engine, wc_slice(key, klen), wc_slice(value, vlen), err);
		*fresh = false;
	}
	if (status == WC_OK)
	{
		rocksdb_iter_get_error(it, &error);
		status = wc_rocks_status(error, "read the catalog", err);
	}
	rocksdb_iter_destroy(it);
	return status;
}

static void
put_format(struct WcEngine *engine, rocksdb_writebatch_t *batch)
{
	const char	key = KEY_FORMAT;
	uint8_t		value[4];

	wc_store_u32(value, FORMAT_VERSION);
	wc_rocks_batch_put(batch, engine->meta, &key, 1, (const char *) value, sizeof(value));
}

static WcStatus
write_synced(struct WcEngine *engine, rocksdb_writebatch_t *batch, WcError *err)
{
	rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();
	WcStatus	status;

	rocksdb_writeoptions_set_sync(options, 1);
	status = wc_health_write(&engine->health, options, batch, "write the catalog", err);
	rocksdb_writeoptions_destroy(options);
	return status;
}

WcStatus
wc_catalog_make(struct WcEngine *engine, WcError *err)
{
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	WcStatus	status;

	put_format(engine, batch);
	status = write_synced(engine, batch, err);
	rocksdb_writebatch_destroy(batch);
	return status;
}

/*
 * Converts stores of older formats.  In format 6 no row has the flag WC_PACKED_PUTS; its rows are read as they are.  Format 5 has no mark
 * "ahead", so any cell may be.  Format 4 has no timeline.  Format 3 has no mark "oldest until": "oldest" was of cells written at any
 * time, so it is now of those that are stored.  Format 2 has no heads of rows in packing cell; its rows are read as they are.
 * Format 1 also has only "history from" of a family's marks: its cells counted as flushed when the store was opened.
 */
WcStatus
wc_catalog_convert(struct WcEngine *engine, WcError *err) WC_UNCHECKED
{
	rocksdb_writebatch_t *batch;
	WcStatus	status;

	if (engine->format == FORMAT_VERSION)
		return WC_OK;
	batch = rocksdb_writebatch_create();
	put_format(engine, batch);
	wc_engine_put_state(engine, batch, engine->applied, engine->last_ts);
	for (size_t t = 0; t < engine->catalog.ntables; t++)
	{
		const WcTable *table = engine->catalog.tables[t];

		for (uint32_t f = 0; f < table->desc.nfamilies; f++)
		{
			WcMarks		marks = wc_marks(table->stores[f]);

			if (engine->format < FORMAT_WITH_FLUSHED)
				marks.flushed_ts = engine->last_ts;
			if (engine->format < FORMAT_WITH_UNTIL && marks.gone.oldest_ts > 0)
				marks.gone.oldest_until_ts = engine->last_ts;
			if (engine->format < FORMAT_WITH_AHEAD)
				marks.ahead_ts = WC_AHEAD_UNKNOWN;
			wc_marks_put(table->stores[f], &marks, batch);
			wc_marks_done(table->stores[f], &marks);
			wc_store_note_ahead(table->stores[f], marks.ahead_ts, engine->last_ts);
		}
	}
	status = write_synced(engine, batch, err);
	rocksdb_writebatch_destroy(batch);
	if (status == WC_OK)
		wc_log(WC_LOG_INFO, "converted the store from format version %u to %d", engine->format, FORMAT_VERSION);
	return status;
}

/* --- committing -----------------------------------------------------------*/

static void
picture_undo(WcPicture *picture, uint64_t position)
{
	const WcTable *base = picture->state->base;

	if (picture->table == NULL)
		return;
	for (uint32_t i = 0; i < picture->table->desc.nfamilies; i++)
	{
		WcStore    *store = picture->table->stores[i];

		if (store != NULL && (base == NULL || wc_table_store(base, store->family_id) != store))
			wc_store_drop(store, position);
	}
	wc_table_unref(picture->table);
	picture->table = NULL;
}

/* A store that was made before this commit's turn takes the place of one without a column
 * family.  That it was not made is rare: then others wait. */
static WcStatus
take_made(WcOverlay *overlay, WcTable *table, uint32_t at, WcError *err)
{
	WcStore    *made = wc_families_take(&overlay->engine->families, table->stores[at]);
	WcNewFamily wanted = {.store = table->stores[at],.table = &table->desc};

	if (made == NULL)
		return wc_families_create(&overlay->engine->families, &wanted, 1, err);
	wc_store_set_attrs(made, &table->desc.families[at].attrs);
	wc_store_unref(table->stores[at]);
	table->stores[at] = made;
	return WC_OK;
}

static WcStatus
picture_prepare(WcOverlay *overlay, WcPicture *picture, WcError *err)
{
	WcStatus	status;

	if (picture->state->desc == NULL)
		return WC_OK;
	status = wc_overlay_picture(overlay, picture->state, &picture->table, err);
	for (uint32_t i = 0; status == WC_OK && i < picture->table->desc.nfamilies; i++)
	{
		if (picture->table->stores[i]->cf == NULL)
			status = take_made(overlay, picture->table, i, err);
	}
	return status;
}

WcStatus
wc_catalog_prepare(WcCatalogChange *change, WcOverlay *overlay, WcError *err)
{
	WcCatalog  *catalog = &overlay->engine->catalog;
	size_t		ntables = 0;
	size_t		nnamespaces = 0;
	WcStatus	status;

	memset(change, 0, sizeof(*change));
	change->overlay = overlay;
	for (WcTableState *t = overlay->tables; t; t = t->next)
		ntables += t->changed;
	for (WcNamespaceState *n = overlay->namespaces; n; n = n->next)
		nnamespaces++;
	if (ntables + nnamespaces == 0)
		return WC_OK;

	pthread_rwlock_wrlock(&catalog->lock);
	status = wc_catalog_reserve(catalog, ntables + nnamespaces, err);
	pthread_rwlock_unlock(&catalog->lock);
	if (status == WC_OK)
	{
		change->pictures = wc_arena_alloc_zero(&overlay->arena, (ntables + 1) * sizeof(WcPicture));
		if (change->pictures == NULL)
			status = wc_error(err, WC_NO_MEMORY, "out of memory for the catalog");
	}
	for (WcNamespaceState *n = overlay->namespaces; status == WC_OK && n; n = n->next)
	{
		n->owned.database = n->database;
		if (!copy_namespace(&n->owned, n->name, n->properties))
			status = wc_error(err, WC_NO_MEMORY, "out of memory for the catalog");
	}
	for (WcTableState *t = overlay->tables; status == WC_OK && t; t = t->next)
	{
		/* made and dropped by the same transaction: there is nothing to do */
		if (!t->changed || (t->base == NULL && t->desc == NULL))
			continue;
		change->pictures[change->npictures].state = t;
		status = picture_prepare(overlay, &change->pictures[change->npictures++], err);
	}
	if (status != WC_OK)
		wc_catalog_undo(change, 0);
	return status;
}

void
wc_catalog_undo(WcCatalogChange *change, uint64_t position)
{
	for (size_t i = 0; i < change->npictures; i++)
		picture_undo(&change->pictures[i], position);
	change->npictures = 0;
	for (WcNamespaceState *n = change->overlay->namespaces; n; n = n->next)
	{
		free((void *) n->owned.name.data);
		free((void *) n->owned.properties.data);
		n->owned = (WcNamespace) {0};
	}
}

static void
put_table(const WcPicture *picture, rocksdb_column_family_handle_t *meta, WcBuf *buf, rocksdb_writebatch_t *batch)
{
	uint8_t		key[5];

	key[0] = WC_METAKEY_TABLE;
	wc_store_u32(key + 1, picture->state->id);
	if (picture->table == NULL)
	{
		wc_rocks_batch_delete(batch, meta, (const char *) key, sizeof(key));
		return;
	}
	wc_buf_reset(buf, SIZE_MAX);
	wc_table_desc_encode(buf, &picture->table->desc);
	if (!buf->failed)
		wc_rocks_batch_put(batch, meta, (const char *) key, sizeof(key), (const char *) buf->data, buf->len);
}

static void
put_namespace(const WcNamespaceState *ns, rocksdb_column_family_handle_t *meta, WcBuf *buf, rocksdb_writebatch_t *batch)
{
	wc_buf_reset(buf, SIZE_MAX);
	wc_buf_append_u8(buf, KEY_NAMESPACE);
	wc_buf_append_u32(buf, ns->database);
	wc_buf_append_slice(buf, ns->name);
	if (buf->failed)
		return;
	if (ns->present)
		wc_rocks_batch_put(batch, meta, (const char *) buf->data, buf->len,
						   ns->properties.len > 0 ? (const char *) ns->properties.data : "", ns->properties.len);
	else
		wc_rocks_batch_delete(batch, meta, (const char *) buf->data, buf->len);
}

static void
large_key(uint8_t *key, const WcStore *store)
{
	key[0] = KEY_LARGE;
	wc_store_u32(key + 1, store->table_id);
	wc_store_u32(key + 5, store->family_id);
}

void
wc_catalog_put_large(const WcStore *store, rocksdb_writebatch_t *batch)
{
	uint8_t		key[LARGE_KEY_SIZE];

	large_key(key, store);
	wc_rocks_batch_put(batch, store->engine->meta, (const char *) key, sizeof(key), "", 0);
}

/* Of stores that the committed picture has and the new one has not. */
static void
delete_notes(const WcPicture *picture, rocksdb_writebatch_t *batch)
{
	const WcTable *base = picture->state->base;

	for (uint32_t i = 0; base && i < base->desc.nfamilies; i++)
	{
		const WcStore *store = base->stores[i];
		uint8_t		key[LARGE_KEY_SIZE];

		if (picture->table && wc_table_store(picture->table, store->family_id) == store)
			continue;
		wc_marks_delete(store, batch);
		large_key(key, store);
		wc_rocks_batch_delete(batch, store->engine->meta, (const char *) key, sizeof(key));
	}
}

WcStatus
wc_catalog_put(const WcCatalogChange *change, rocksdb_writebatch_t *batch, WcError *err)
{
	struct WcEngine *engine = change->overlay->engine;
	WcBuf		buf = WC_BUF_INIT;
	uint32_t	next_id = change->overlay->next_table_id;
	WcStatus	status = WC_OK;

	for (size_t i = 0; status == WC_OK && i < change->npictures; i++)
	{
		put_table(&change->pictures[i], engine->meta, &buf, batch);
		delete_notes(&change->pictures[i], batch);
		status = wc_buf_status(&buf, "table descriptor", err);
	}
	for (WcNamespaceState *n = change->overlay->namespaces; status == WC_OK && n; n = n->next)
	{
		put_namespace(n, engine->meta, &buf, batch);
		status = wc_buf_status(&buf, "namespace", err);
	}
	wc_buf_free(&buf);
	if (status == WC_OK && next_id > engine->catalog.stored_next_id)
	{
		const char	key = KEY_NEXT_ID;
		uint8_t		value[4];

		wc_store_u32(value, next_id);
		wc_rocks_batch_put(batch, engine->meta, &key, 1, (const char *) value, sizeof(value));
	}
	return status;
}

void
wc_engine_put_state(WcEngine *engine, rocksdb_writebatch_t *batch, uint64_t position, int64_t last_ts)
{
	const char	key = KEY_STATE;
	uint8_t		value[20];

	wc_store_u64(value, position);
	wc_store_u64(value + 8, (uint64_t) last_ts);
	wc_store_u32(value + 16, engine->timeline);
	wc_rocks_batch_put(batch, engine->meta, &key, 1, (const char *) value, sizeof(value));
}

/* Stores that the committed picture has and the new one lacks are dropped; the others take the new attributes. */
static void
picture_publish(const WcPicture *picture, uint64_t position)
{
	const WcTable *base = picture->state->base;
	const WcTable *table = picture->table;

	for (uint32_t i = 0; base && i < base->desc.nfamilies; i++)
	{
		WcStore    *store = base->stores[i];

		if (table == NULL || wc_table_store(table, store->family_id) != store)
			wc_store_drop(store, position);
	}
	for (uint32_t i = 0; base && table && i < table->desc.nfamilies; i++)
	{
		const WcFamilyAttrs *attrs = &table->desc.families[i].attrs;
		WcStore    *store = table->stores[i];
		WcFamilyAttrs old;

		if (wc_table_store(base, store->family_id) != store)
			continue;
		old = wc_store_attrs(store);
		wc_store_set_attrs(store, attrs);
		wc_rangewatch_store(store);
		if (old.compression != attrs->compression || old.blocksize != attrs->blocksize)
			wc_families_alter(&store->engine->families, store);
	}
}

void
wc_catalog_publish(WcCatalogChange *change, uint64_t position)
{
	WcCatalog  *catalog = &change->overlay->engine->catalog;

	if (change->overlay->next_table_id > catalog->stored_next_id)
		catalog->stored_next_id = change->overlay->next_table_id;
	if (change->npictures == 0 && change->overlay->namespaces == NULL)
		return;
	pthread_rwlock_wrlock(&catalog->lock);
	for (size_t i = 0; i < change->npictures; i++)
		wc_catalog_set_table(catalog, change->pictures[i].state->id,
						  change->pictures[i].table ? wc_table_ref(change->pictures[i].table) : NULL);
	for (WcNamespaceState *n = change->overlay->namespaces; n; n = n->next)
	{
		wc_catalog_set_namespace(catalog, &n->owned, n->present);
		n->owned = (WcNamespace) {0};
	}
	pthread_rwlock_unlock(&catalog->lock);
	catalog->generation++;

	for (size_t i = 0; i < change->npictures; i++)
	{
		picture_publish(&change->pictures[i], position);
		wc_table_unref(change->pictures[i].table);
	}
	change->npictures = 0;
}
