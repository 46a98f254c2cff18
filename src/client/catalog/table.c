/*
 * client/catalog/table.c: stored tables by name, and locks on names.
 *
 * The session caches descriptors, all for the same generation of the catalog.  The
 * generation is the sum of a number in shared memory, which grows with every committed change,
 * and own_changes, which grows with the transaction's own changes and their rollback.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "channel/flight.h"
#include "channel/shmem.h"
#include "client/catalog/catalog.h"
#include "client/local/logwrite.h"

/* Class of the advisory locks on names; pg_advisory_lock uses the classes 1 and 2. */
#define LOCK_CLASS 0x5743

/* "namespace:name", both in UTF-8 */
typedef struct CacheKey
{
	char		name[2 * WC_NAME_MAX + 2];
} CacheKey;

typedef struct CacheEntry
{
	CacheKey	key;
	WcTableDesc *desc;
} CacheEntry;

/* Descriptors of the embedded engine.  fdw/relation/relation.c keeps those of other stores. */
static HTAB *cache;
static MemoryContext cache_context;
static uint64 cache_generation;
static uint64 own_changes;

void
wc_catalog_changed(void)
{
	own_changes++;
}

uint64
wc_client_catalog_generation(void)
{
	/* both only grow, so the sum changes when either does */
	wc_following_await_catalog(MyDatabaseId);
	return wc_driver()->catalog_generation(InvalidOid) + own_changes;
}

uint64
wc_client_store_generation(WcClientStore *store)
{
	if (store == &wc_embedded_store)
		return wc_client_catalog_generation();
	return store->driver->catalog_generation(store->server);
}

uint64
wc_client_writes(void)
{
	return wc_driver()->writes();
}

/* --- names and locks --------------------------------------------------------- */

void
wc_client_split_name(const char *full, WcSlice *ns, WcSlice *name)
{
	WcError		err;

	if (wc_table_name_split(wc_name_to_utf8(full), ns, name, &err) != WC_OK)
		wc_raise(&err);
}

static void
make_key(CacheKey *key, WcSlice ns, WcSlice name)
{
	memset(key, 0, sizeof(*key));
	wc_slice_copy(key->name, ns);
	key->name[ns.len] = ':';
	wc_slice_copy(key->name + ns.len + 1, name);
}

void
wc_name_lock(WcSlice ns, WcSlice name, LOCKMODE mode)
{
	CacheKey	key;
	LOCKTAG		tag;
	uint64		hash;

	make_key(&key, ns, name);
	hash = hash_bytes_extended((const unsigned char *) key.name, (int) (ns.len + 1 + name.len), 0);
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (hash >> 32), (uint32) hash, LOCK_CLASS);
	(void) LockAcquire(&tag, mode, false, false);
}

void
wc_client_lock_table(const char *name, LOCKMODE mode)
{
	WcSlice		ns;
	WcSlice		table;

	wc_client_split_name(name, &ns, &table);
	wc_name_lock(ns, table, mode);
}

/* --- descriptors --------------------------------------------------------------- */

static WcSlice
copy_slice(WcSlice s)
{
	uint8	   *data = palloc(s.len + 1);

	wc_slice_copy(data, s);
	data[s.len] = 0;
	return wc_slice(data, s.len);
}

WcTableDesc *
wc_table_copy(const WcTableDesc *from)
{
	WcTableDesc *desc = palloc(sizeof(WcTableDesc));

	*desc = *from;
	desc->ns = copy_slice(from->ns);
	desc->name = copy_slice(from->name);
	desc->origin = copy_slice(from->origin);
	desc->families = palloc(sizeof(WcFamilyDesc) * Max(from->nfamilies, 1));
	for (uint32 i = 0; i < from->nfamilies; i++)
	{
		desc->families[i] = from->families[i];
		desc->families[i].name = copy_slice(from->families[i].name);
	}
	desc->splits = palloc(sizeof(WcSlice) * Max(from->nsplits, 1));
	for (uint32 i = 0; i < from->nsplits; i++)
		desc->splits[i] = copy_slice(from->splits[i]);
	return desc;
}

/* The descriptor; all memory is in the current memory context. */
static WcTableDesc *
decode_desc(WcSlice bytes)
{
	WcArena		arena = WC_ARENA_INIT;
	WcTableDesc *copy = NULL;
	WcTableDesc desc;
	WcError		err;
	WcStatus	status = wc_table_desc_decode(bytes, &arena, &desc, &err);

	if (status == WC_OK)
		copy = wc_table_copy(&desc);
	wc_arena_free(&arena);
	if (status != WC_OK)
		wc_raise(&err);
	return copy;
}

/* Empties the cache unless it is for the current generation. */
static void
refresh_cache(void)
{
	uint64		generation = wc_client_catalog_generation();
	HASHCTL		ctl = {.keysize = sizeof(CacheKey),.entrysize = sizeof(CacheEntry)};

	if (cache != NULL && cache_generation == generation)
		return;
	if (cache_context == NULL)
		cache_context = AllocSetContextCreate(CacheMemoryContext, "widecol stored tables", ALLOCSET_SMALL_SIZES);
	cache = NULL;
	MemoryContextReset(cache_context);
	ctl.hcxt = cache_context;
	cache = hash_create("widecol stored tables", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	cache_generation = generation;
}

void
wc_catalog_join(const WcClientStore *store)
{
	if (store == &wc_embedded_store)
	{
		wc_xact_join();
		wc_batch_send();
	}
}

const WcTableDesc *
wc_table_find(WcSlice ns, WcSlice name)
{
	CacheEntry *entry;
	CacheKey	key;
	WcTableDesc *desc;
	MemoryContext old;
	WcSlice		bytes;
	bool		found;

	wc_xact_join();
	refresh_cache();
	make_key(&key, ns, name);
	entry = hash_search(cache, &key, HASH_FIND, NULL);
	if (entry)
		return entry->desc;

	/* the answer is at least as new as the cache's generation */
	wc_batch_send();
	if (!wc_driver()->describe(InvalidOid, ns, name, &bytes))
		return NULL;
	old = MemoryContextSwitchTo(cache_context);
	desc = decode_desc(bytes);
	MemoryContextSwitchTo(old);
	entry = hash_search(cache, &key, HASH_ENTER, &found);
	entry->desc = desc;
	return desc;
}

const WcTableDesc *
wc_table_now(const WcTableDesc *table)
{
	const WcTableDesc *now = wc_table_find(table->ns, table->name);

	return now != NULL && now->id == table->id ? now : NULL;
}

WcTableDesc *
wc_client_store_table(WcClientStore *store, const char *name, bool missing_ok)
{
	WcSlice		ns;
	WcSlice		table;
	WcSlice		bytes;
	const WcTableDesc *desc;

	wc_client_split_name(name, &ns, &table);
	if (store == &wc_embedded_store)
	{
		desc = wc_table_find(ns, table);
		if (desc)
			return wc_table_copy(desc);
	}
	else if (store->driver->describe(store->server, ns, table, &bytes))
		return decode_desc(bytes);
	if (!missing_ok && store != &wc_embedded_store)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" does not exist in the cluster of server \"%s\"", name,
						GetForeignServer(store->server)->servername)));
	if (!missing_ok)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("stored table \"%s\" does not exist", name),
				 errhint("The view widecol.tables lists those there are.")));
	return NULL;
}

WcTableDesc *
wc_client_table(const char *name, bool missing_ok)
{
	return wc_client_store_table(&wc_embedded_store, name, missing_ok);
}

static List *
list_tables(WcClientStore *store, bool all_databases)
{
	List	   *tables = NIL;
	WcSlice		list;
	WcDecoder	d;
	uint8	   *copy;

	wc_catalog_join(store);
	store->driver->list_tables(store->server, all_databases, &list);
	copy = palloc(list.len + 1);
	wc_slice_copy(copy, list);
	d = wc_decoder(wc_slice(copy, list.len));
	for (uint64 n = wc_decode_varint(&d); n > 0 && !d.failed; n--)
	{
		WcSlice		bytes = wc_decode_bytes(&d);

		if (!d.failed)
			tables = lappend(tables, decode_desc(bytes));
	}
	if (!wc_decoder_done(&d))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("list of stored tables is malformed")));
	return tables;
}

List *
wc_client_list_tables(void)
{
	return list_tables(&wc_embedded_store, false);
}

List *
wc_client_store_tables(WcClientStore *store)
{
	return list_tables(store, false);
}

List *
wc_client_list_all_tables(void)
{
	return list_tables(&wc_embedded_store, true);
}

/* --- changes ------------------------------------------------------------------- */

void
wc_catalog_change(WcStatus status, const WcError *err)
{
	if (status != WC_OK)
		wc_client_write_failed(err);
	wc_stream_note_catalog();
	wc_batch_done();
	wc_catalog_changed();
}

bool
wc_client_database_has_tables(Oid database)
{
	ListCell   *lc;
	WcError		why;

	if (wc_shmem() == NULL || !wc_driver()->ready() || wc_following_stalled(&why))
		return false;
	foreach(lc, wc_client_list_all_tables())
	{
		if (((WcTableDesc *) lfirst(lc))->database == database)
			return true;
	}
	return false;
}
