/*
 * engine/inspect.c: checks that everything stored can be read, is in order, and fits the catalog.
 *
 * Changes nothing.  A problem is reported, and the check continues if possible: when a block of a family cannot be read,
 * the rest of the family is not checked.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/printable.h"
#include "engine/catalog/catalog.h"
#include "engine/rocks/cellkey.h"
#include "engine/store/state.h"
#include "read/cell/packedrow.h"

/* Of a key in a message. */
#define SHOWN_MAX 128

typedef struct Inspection
{
	WcEngine   *engine;
	const atomic_bool *cancel;	/* NULL: never */
	uint64_t	keys;			/* checked so far */
	WcBuf		found;			/* varint family id, bytes text, for each problem */
	uint64_t	nfound;			/* in all */
	uint64_t	nfamily;		/* problems of the family that is being checked */

	/* the family that is being checked */
	WcStore    *store;
	WcBuf		before;			/* the last key */
	WcBuf		scratch;
} Inspection;

/* Reports a problem; only the first ones of a family. */
static void
tell(Inspection *n, const char *text)
{
	if (++n->nfamily > WC_PROBLEMS_MAX)
		return;
	wc_buf_append_varint(&n->found, n->store ? n->store->family_id : 0);
	wc_buf_append_bytes(&n->found, wc_slice_cstr(text));
	n->nfound++;
}

static void
tell_key(Inspection *n, WcSlice key, const char *what)
{
	char		shown[SHOWN_MAX];
	char		text[SHOWN_MAX + WC_ERROR_TEXT_MAX + 16];

	snprintf(text, sizeof(text), "key \"%s\": %s", wc_printable(shown, sizeof(shown), key), what);
	tell(n, text);
}

static WcStatus
check_cancel(Inspection *n, WcError *err)
{
	if (++n->keys % WC_CANCEL_CELLS == 0 && n->cancel != NULL && atomic_load(n->cancel))
		return wc_error(err, WC_CANCELLED, "checking the store was cancelled");
	return WC_OK;
}

static rocksdb_readoptions_t *
careful_options(void)
{
	rocksdb_readoptions_t *options = rocksdb_readoptions_create();

	rocksdb_readoptions_set_verify_checksums(options, 1);
	rocksdb_readoptions_set_fill_cache(options, 0);
	rocksdb_readoptions_set_total_order_seek(options, 1);
	return options;
}

/* --- a family ---------------------------------------------------------------*/

static void
inspect_cell(Inspection *n, WcSlice key, WcSlice value)
{
	WcCell		cell = {0};
	WcError		err;

	if (wc_cellkey_decode(key, &n->scratch, &cell, &err) != WC_OK)
		tell_key(n, key, err.message);
	else if (cell.row.len == 0 || cell.row.len > WC_ROW_MAX)
		tell_key(n, key, "no row key is so long");
	else if (wc_cellvalue_decode(value, &cell, &err) != WC_OK)
		tell_key(n, key, err.message);
}

/* Each cell is behind the one before it. */
static bool
cells_ascend(WcPackedRow *row)
{
	WcCell		last = {0};
	WcCell		cell = {0};
	bool		first = true;
	bool		good = true;

	while (good && wc_packedrow_next(row, &cell))
	{
		good = first || wc_cell_cmp(&last, &cell) < 0;
		first = false;
		last = cell;
	}
	return good;
}

static void
inspect_row(Inspection *n, WcSlice key, WcSlice value)
{
	WcPackedRow row;
	WcError		err;

	if (key.len == 0 || key.len > WC_ROW_MAX)
		tell_key(n, key, "no row key is so long");
	else if (wc_packedrow_open(&row, value, &err) != WC_OK)
		tell_key(n, key, err.message);
	else if (!cells_ascend(&row))
		tell_key(n, key, "its cells are not in order");
	else if (wc_packedrow_status(&row, key, &err) != WC_OK)
		tell_key(n, key, err.message);
}

static void
inspect_head(Inspection *n, WcSlice key, WcSlice value)
{
	WcError		err;

	wc_buf_reset(&n->scratch, SIZE_MAX);
	if (wc_cellkey_unescape(key, &n->scratch, &err) != WC_OK)
		tell_key(n, key, err.message);
	else if (!wc_cellkey_is_apart(value))
		inspect_row(n, wc_buf_slice(&n->scratch), value);
	else if (n->scratch.len == 0 || n->scratch.len > WC_ROW_MAX)
		tell_key(n, key, "no row key is so long");
}

static void
inspect_key(Inspection *n, WcSlice key, WcSlice value)
{
	if (n->before.len > 0 && wc_slice_cmp(wc_buf_slice(&n->before), key) >= 0)
		tell_key(n, key, "it is not behind the one before it");
	if (n->store->packing == WC_PACKING_CELL && wc_cellkey_is_head(key))
		inspect_head(n, key, value);
	else if (n->store->packing == WC_PACKING_CELL)
		inspect_cell(n, key, value);
	else
		inspect_row(n, key, value);
	wc_buf_reset(&n->before, SIZE_MAX);
	wc_buf_append_slice(&n->before, key);
}

/* Reads every block of its files, and its memtables. */
static WcStatus
inspect_keys(Inspection *n, WcError *err)
{
	rocksdb_readoptions_t *options = careful_options();
	rocksdb_iterator_t *it = wc_rocks_create_iterator(n->engine->db, options, n->store->cf);
	WcStatus	status = WC_OK;
	char	   *error = NULL;

	for (wc_rocks_iter_seek_to_first(it); status == WC_OK && rocksdb_iter_valid(it); wc_rocks_iter_next(it))
	{
		size_t		klen,
					vlen;
		const char *key = rocksdb_iter_key(it, &klen);
		const char *value = rocksdb_iter_value(it, &vlen);

		inspect_key(n, wc_slice(key, klen), wc_slice(value, vlen));
		status = check_cancel(n, err);
	}
	rocksdb_iter_get_error(it, &error);
	rocksdb_iter_destroy(it);
	rocksdb_readoptions_destroy(options);
	if (error != NULL)
	{
		char		text[WC_ERROR_TEXT_MAX];

		snprintf(text, sizeof(text), "nothing behind the last key that could be read was looked at: %s", error);
		if (n->before.len > 0)
			tell_key(n, wc_buf_slice(&n->before), text);
		else
			tell(n, text);
		rocksdb_free(error);
	}
	return status;
}

static bool
is_live(Inspection *n, const char *wanted)
{
	const rocksdb_livefiles_t *files = rocksdb_livefiles(n->engine->db);
	bool		live = false;

	for (int i = 0; !live && i < rocksdb_livefiles_count(files); i++)
		live = strcmp(rocksdb_livefiles_name(files, i), wanted) == 0;
	rocksdb_livefiles_destroy(files);
	return live;
}

/* Do its files exist, with the sizes that RocksDB has noted?  (A removed file that is open can still be read.) */
static void
inspect_files(Inspection *n)
{
	const rocksdb_livefiles_t *files = rocksdb_livefiles(n->engine->db);
	char		family[WC_CF_NAME_MAX];
	char		text[WC_ERROR_TEXT_MAX];

	wc_store_cf_name(n->store, family, sizeof(family));
	for (int i = 0; i < rocksdb_livefiles_count(files); i++)
	{
		const char *name = rocksdb_livefiles_name(files, i);
		size_t		size = rocksdb_livefiles_size(files, i);
		char	   *path;
		struct stat st;

		if (strcmp(rocksdb_livefiles_column_family_name(files, i), family) != 0)
			continue;
		if (asprintf(&path, "%s/%s", n->engine->identity.path, name[0] == '/' ? name + 1 : name) < 0)
			continue;
		text[0] = '\0';
		if (stat(path, &st) != 0)
			snprintf(text, sizeof(text), "file \"%s\": %s", path, strerror(errno));
		else if ((uint64_t) st.st_size != size)
			snprintf(text, sizeof(text), "file \"%s\" has %" PRIu64 " bytes, it had %zu", path, (uint64_t) st.st_size, size);
		/* a compaction may have replaced it meanwhile */
		if (text[0] != '\0' && is_live(n, name))
			tell(n, text);
		free(path);
	}
	rocksdb_livefiles_destroy(files);
}

static WcStatus
inspect_store(Inspection *n, WcStore *store, WcError *err)
{
	WcStatus	status;

	n->store = store;
	n->nfamily = 0;
	wc_buf_reset(&n->before, SIZE_MAX);
	if (store->cf == NULL)
	{
		tell(n, "the catalog names it, and it has no storage");
		return WC_OK;
	}
	inspect_files(n);
	status = inspect_keys(n, err);
	if (n->nfamily > WC_PROBLEMS_MAX)
	{
		char		text[64];

		snprintf(text, sizeof(text), "%" PRIu64 " problems more", n->nfamily - WC_PROBLEMS_MAX);
		n->nfamily = 0;
		tell(n, text);
	}
	n->store = NULL;
	return status;
}

static WcStatus
inspect_table(Inspection *n, uint32_t database, uint32_t table_id, WcError *err)
{
	WcTable    *table = wc_catalog_table(n->engine, table_id);
	WcStatus	status = WC_OK;

	/* none: it has been dropped, or is not committed yet */
	for (uint32_t i = 0; table != NULL && table->desc.database == database && status == WC_OK && i < table->desc.nfamilies; i++)
		status = inspect_store(n, table->stores[i], err);
	wc_table_unref(table);
	return status;
}

/* --- the catalog --------------------------------------------------------------*/

/* Does memory have the table as it is stored? */
static bool
is_known(Inspection *n, const WcTableDesc *stored)
{
	WcTable    *table = wc_catalog_table(n->engine, stored->id);
	WcBuf		a = WC_BUF_INIT;
	WcBuf		b = WC_BUF_INIT;
	bool		same = false;

	if (table != NULL)
	{
		wc_table_desc_encode(&a, &table->desc);
		wc_table_desc_encode(&b, stored);
		same = a.failed || b.failed || wc_slice_eq(wc_buf_slice(&a), wc_buf_slice(&b));
	}
	wc_buf_free(&a);
	wc_buf_free(&b);
	wc_table_unref(table);
	return same;
}

static void
inspect_entry(Inspection *n, WcSlice key, WcSlice value, size_t *ntables)
{
	WcArena		arena = WC_ARENA_INIT;
	char		text[WC_ERROR_TEXT_MAX + 64];
	WcTableDesc desc;
	WcError		err;

	(*ntables)++;
	text[0] = '\0';
	if (wc_table_desc_decode(value, &arena, &desc, &err) != WC_OK)
		snprintf(text, sizeof(text), "the catalog: %s", err.message);
	else if (!is_known(n, &desc))
		snprintf(text, sizeof(text), "the catalog has another stored table with id %" PRIu32 " than the engine", desc.id);
	if (text[0] != '\0')
		tell(n, text);
	wc_arena_free(&arena);
}

/* With the write mutex locked, so that the catalog in memory and the stored one are of the same moment.  Only the tables' keys are
 * read: before them may be gigabytes of pieces of transactions. */
static void
inspect_catalog(Inspection *n)
{
	rocksdb_readoptions_t *options = careful_options();
	rocksdb_iterator_t *it;
	const uint8_t tables = WC_METAKEY_TABLE;
	size_t		ntables = 0;
	bool		differs;
	char	   *error = NULL;

	pthread_mutex_lock(&n->engine->write_mutex);
	it = wc_rocks_create_iterator(n->engine->db, options, n->engine->meta);
	for (wc_rocks_iter_seek(it, (const char *) &tables, 1); rocksdb_iter_valid(it); wc_rocks_iter_next(it))
	{
		size_t		klen,
					vlen;
		const char *key = rocksdb_iter_key(it, &klen);
		const char *value = rocksdb_iter_value(it, &vlen);

		if (klen == 0 || (uint8_t) key[0] != tables)
			break;
		inspect_entry(n, wc_slice(key, klen), wc_slice(value, vlen), &ntables);
	}
	rocksdb_iter_get_error(it, &error);
	pthread_rwlock_rdlock(&n->engine->catalog.lock);
	differs = ntables != n->engine->catalog.ntables;
	pthread_rwlock_unlock(&n->engine->catalog.lock);
	if (error == NULL && differs)
		tell(n, "the catalog and the engine have different numbers of stored tables");
	pthread_mutex_unlock(&n->engine->write_mutex);
	rocksdb_iter_destroy(it);
	rocksdb_readoptions_destroy(options);
	if (error != NULL)
	{
		char		text[WC_ERROR_TEXT_MAX];

		snprintf(text, sizeof(text), "the catalog cannot be read: %s", error);
		tell(n, text);
		rocksdb_free(error);
	}
}

WcStatus
wc_engine_inspect(WcEngine *engine, uint32_t database, uint32_t table_id, const atomic_bool *cancel, WcBuf *out, WcError *err)
{
	Inspection	n = {.engine = engine,.cancel = cancel};
	WcStatus	status = WC_OK;

	wc_buf_init(&n.found, SIZE_MAX);
	wc_buf_init(&n.before, SIZE_MAX);
	wc_buf_init(&n.scratch, SIZE_MAX);
	if (table_id == 0)
		inspect_catalog(&n);
	else
		status = inspect_table(&n, database, table_id, err);
	if (status == WC_OK)
	{
		wc_buf_append_varint(out, n.nfound);
		wc_buf_append_slice(out, wc_buf_slice(&n.found));
	}
	if (status == WC_OK && (n.found.failed || n.before.failed || n.scratch.failed))
		status = wc_error(err, WC_NO_MEMORY, "out of memory while checking the store");
	wc_buf_free(&n.found);
	wc_buf_free(&n.before);
	wc_buf_free(&n.scratch);
	return status;
}
