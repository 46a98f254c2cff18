/*
 * client/table.c: stored tables by name, and catalog changes.
 *
 * The session caches descriptors, all for the same generation of the catalog.  The
 * generation is the sum of a number in shared memory, which grows with every committed change,
 * and own_changes, which grows with the transaction's own changes and their rollback.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "common/hashfn.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "channel/flight.h"
#include "client/local/logwrite.h"
#include "channel/shmem.h"
#include "client/foreign/owner.h"
#include "client/state.h"

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

static WcClientStore embedded = {.driver = &wc_local_driver};

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
	if (store == &embedded)
		return wc_client_catalog_generation();
	return store->driver->catalog_generation(store->server);
}

WcClientStore *
wc_client_embedded(void)
{
	return &embedded;
}

bool
wc_client_store_is_embedded(const WcClientStore *store)
{
	return store == &embedded;
}

uint64
wc_client_writes(void)
{
	return wc_driver()->writes();
}

/* --- names and locks --------------------------------------------------------- */

static void
split_name(const char *full, WcSlice *ns, WcSlice *name)
{
	char	   *utf8 = pg_server_to_any(full, (int) strlen(full), PG_UTF8);
	WcError		err;

	if (wc_table_name_split(wc_slice_cstr(utf8), ns, name, &err) != WC_OK)
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

/* The lock on a namespace has the namespace's name alone as its key, which is no table's key. */
static void
lock_name(WcSlice ns, WcSlice name, LOCKMODE mode)
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

	split_name(name, &ns, &table);
	lock_name(ns, table, mode);
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

/* Decodes a descriptor; all memory is in the current memory context. */
static WcTableDesc *
copy_desc(const WcTableDesc *from)
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

static WcTableDesc *
decode_desc(WcSlice bytes)
{
	WcArena		arena = WC_ARENA_INIT;
	WcTableDesc *copy = NULL;
	WcTableDesc desc;
	WcError		err;
	WcStatus	status = wc_table_desc_decode(bytes, &arena, &desc, &err);

	if (status == WC_OK)
		copy = copy_desc(&desc);
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

/* Sends the batch, so that the driver's catalog has the transaction's own changes. */
static void
join(const WcClientStore *store)
{
	if (store == &embedded)
	{
		wc_xact_join();
		wc_batch_send();
	}
}

/* The table's descriptor, which belongs to the cache; NULL: there is no such table. */
static const WcTableDesc *
look_up(WcSlice ns, WcSlice name)
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
	const WcTableDesc *now = look_up(table->ns, table->name);

	return now != NULL && now->id == table->id ? now : NULL;
}

WcTableDesc *
wc_client_store_table(WcClientStore *store, const char *name, bool missing_ok)
{
	WcSlice		ns;
	WcSlice		table;
	WcSlice		bytes;
	const WcTableDesc *desc;

	split_name(name, &ns, &table);
	if (store == &embedded)
	{
		desc = look_up(ns, table);
		if (desc)
			return copy_desc(desc);
	}
	else if (store->driver->describe(store->server, ns, table, &bytes))
		return decode_desc(bytes);
	if (!missing_ok && store != &embedded)
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
	return wc_client_store_table(&embedded, name, missing_ok);
}

static List *
list_tables(WcClientStore *store, bool all_databases)
{
	List	   *tables = NIL;
	WcSlice		list;
	WcDecoder	d;
	uint8	   *copy;

	join(store);
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
	return list_tables(&embedded, false);
}

List *
wc_client_store_tables(WcClientStore *store)
{
	return list_tables(store, false);
}

List *
wc_client_list_all_tables(void)
{
	return list_tables(&embedded, true);
}

/* Converts stored text, which is UTF-8, to the database's encoding; palloc'd. */
static char *
text_in_server(WcSlice s)
{
	return pg_any_to_server(pnstrdup((const char *) s.data, s.len), (int) s.len, PG_UTF8);
}

List *
wc_client_list_namespaces(void)
{
	return wc_client_store_namespaces(&embedded);
}

List *
wc_client_store_namespaces(WcClientStore *store)
{
	List	   *namespaces = NIL;
	WcSlice		list;
	WcDecoder	d;

	join(store);
	store->driver->list_namespaces(store->server, &list);
	d = wc_decoder(list);
	for (uint64 n = wc_decode_varint(&d); n > 0 && !d.failed; n--)
	{
		WcClientNamespace *ns = palloc0(sizeof(WcClientNamespace));
		WcSlice		properties;

		ns->name = text_in_server(wc_decode_bytes(&d));
		properties = wc_decode_bytes(&d);
		if (properties.len > 0)
			ns->properties = text_in_server(properties);
		namespaces = lappend(namespaces, ns);
	}
	if (!wc_decoder_done(&d))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("list of namespaces is malformed")));
	return namespaces;
}

const WcClientNamespace *
wc_client_namespace(const char *name)
{
	ListCell   *lc;

	foreach(lc, wc_client_list_namespaces())
	{
		const WcClientNamespace *ns = lfirst(lc);

		if (strcmp(ns->name, name) == 0)
			return ns;
	}
	return NULL;
}

/* --- changes ------------------------------------------------------------------- */

static void
check(WcStatus status, const WcError *err)
{
	if (status != WC_OK)
		wc_client_write_failed(err);
	wc_stream_note_catalog();
	wc_client_write_done();
	wc_catalog_changed();
}

/* Locks a name; raises an error when a table has it. */
static void
require_free_name(const WcTableDesc *desc)
{
	lock_name(desc->ns, wc_slice(NULL, 0), AccessShareLock);
	lock_name(desc->ns, desc->name, AccessExclusiveLock);
	if (wc_client_namespace(text_in_server(desc->ns)) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("namespace \"%.*s\" does not exist", (int) desc->ns.len, (const char *) desc->ns.data),
				 errhint("Make it with widecol.create_namespace.")));
	if (look_up(desc->ns, desc->name))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("stored table \"%s\" already exists", wc_client_table_fullname(desc))));
}

void
wc_client_create_table(WcTableDesc *desc)
{
	WcBatchBuilder *b;
	WcError		err;

	wc_client_require_writable();
	require_free_name(desc);
	if (!OidIsValid(desc->owner))
		desc->owner = GetUserId();
	wc_owner_check_foreign_tables(desc);

	desc->id = wc_driver()->new_table_id();
	desc->database = MyDatabaseId;
	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		desc->families[i].id = i + 1;
		desc->families[i].generation = 1;
	}
	desc->next_family_id = desc->nfamilies + 1;
	b = wc_batch_builder();
	check(wc_batch_create_table(b, GetCurrentCommandId(true), desc, &err), &err);
}

void
wc_client_alter_table(const WcTableDesc *from)
{
	WcTableDesc *desc = copy_desc(from);
	WcBatchBuilder *b;
	WcError		err;

	wc_client_require_writable();
	lock_name(desc->ns, desc->name, AccessExclusiveLock);
	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		if (desc->families[i].id != 0)
			continue;
		desc->families[i].id = desc->next_family_id++;
		desc->families[i].generation = 1;
	}
	b = wc_batch_builder();
	check(wc_batch_alter_table(b, GetCurrentCommandId(true), desc, &err), &err);

	/* the next write of this transaction checks again whether the table is disabled */
	wc_batch_forget_locks();
}

void
wc_client_rename_table(const char *old_name, const WcTableDesc *desc)
{
	WcError		err;

	wc_client_require_writable();
	wc_client_lock_table(old_name, AccessExclusiveLock);
	require_free_name(desc);
	wc_owner_check_foreign_tables(desc);
	check(wc_batch_alter_table(wc_batch_builder(), GetCurrentCommandId(true), desc, &err), &err);
	wc_batch_forget_locks();
}

void
wc_client_drop_table(const WcTableDesc *desc)
{
	WcError		err;

	wc_client_require_writable();
	lock_name(desc->ns, desc->name, AccessExclusiveLock);
	wc_serial_write_table(desc->id);
	check(wc_batch_drop_table(wc_batch_builder(), GetCurrentCommandId(true), desc->id, &err), &err);
}

void
wc_client_truncate_table(const WcTableDesc *desc)
{
	WcError		err;

	wc_client_require_writable();
	lock_name(desc->ns, desc->name, AccessExclusiveLock);
	wc_serial_write_table(desc->id);
	check(wc_batch_truncate_table(wc_batch_builder(), GetCurrentCommandId(true), desc->id, &err), &err);
}

WcSlice
wc_client_namespace_name(const char *name)
{
	WcSlice		ns = wc_slice_cstr(pg_server_to_any(name, (int) strlen(name), PG_UTF8));
	WcError		err;

	if (wc_namespace_name_check(ns, &err) != WC_OK)
		wc_raise(&err);
	return ns;
}

const WcClientNamespace *
wc_client_require_namespace(const char *name)
{
	const WcClientNamespace *ns = wc_client_namespace(name);

	if (ns == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("namespace \"%s\" does not exist", name)));
	return ns;
}

void
wc_client_create_namespace(const char *name)
{
	WcSlice		ns = wc_client_namespace_name(name);
	WcError		err;

	wc_client_require_writable();
	lock_name(ns, wc_slice(NULL, 0), AccessExclusiveLock);
	if (wc_client_namespace(name) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_SCHEMA),
				 errmsg("namespace \"%s\" already exists", name)));
	check(wc_batch_namespace(wc_batch_builder(), WC_OP_CREATE_NAMESPACE, GetCurrentCommandId(true),
							 MyDatabaseId, ns, &err), &err);
}

void
wc_client_drop_namespace(const char *name)
{
	WcSlice		ns = wc_client_namespace_name(name);
	ListCell   *lc;
	WcError		err;

	wc_client_require_writable();
	lock_name(ns, wc_slice(NULL, 0), AccessExclusiveLock);
	if (wc_slice_eq(ns, wc_slice_cstr(WC_NAMESPACE_DEFAULT)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("namespace \"%s\" cannot be dropped", name)));
	(void) wc_client_require_namespace(name);
	foreach(lc, wc_client_list_tables())
	{
		WcTableDesc *desc = lfirst(lc);

		if (wc_slice_eq(desc->ns, ns))
			ereport(ERROR,
					(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
					 errmsg("namespace \"%s\" is not empty", name),
					 errdetail("It has stored table \"%s\".", wc_client_table_fullname(desc))));
	}
	check(wc_batch_namespace(wc_batch_builder(), WC_OP_DROP_NAMESPACE, GetCurrentCommandId(true),
							 MyDatabaseId, ns, &err), &err);
}

/* Raises 22023 unless properties is an object of strings, numbers, booleans and nulls. */
static void
check_properties(const char *name, Jsonb *properties)
{
	JsonbIterator *it = JsonbIteratorInit(&properties->root);
	JsonbValue	v;

	if (!JB_ROOT_IS_OBJECT(properties))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("properties of namespace \"%s\" must be a JSON object", name),
				 errhint("For example: {\"owner\": \"sales\", \"old\": null}.")));
	(void) JsonbIteratorNext(&it, &v, true);	/* the object itself */
	while (JsonbIteratorNext(&it, &v, true) == WJB_KEY)
	{
		char	   *key = pnstrdup(v.val.string.val, v.val.string.len);

		(void) JsonbIteratorNext(&it, &v, true);
		if (!IsAJsonbScalar(&v))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("property \"%s\" of namespace \"%s\" must be a string, a number, a boolean or null", key, name)));
	}
}

void
wc_client_change_properties(const char *name, Jsonb *properties)
{
	WcSlice		ns = wc_client_namespace_name(name);
	const WcClientNamespace *old;
	Datum		new;
	char	   *text;
	WcSlice		bytes = wc_slice(NULL, 0);
	WcError		err;

	check_properties(name, properties);
	wc_client_require_writable();
	/* this mode lets other transactions make tables in the namespace at the same time */
	lock_name(ns, wc_slice(NULL, 0), ShareUpdateExclusiveLock);
	old = wc_client_require_namespace(name);
	new = DirectFunctionCall1(jsonb_in, CStringGetDatum(old->properties ? old->properties : "{}"));
	new = DirectFunctionCall2(jsonb_concat, new, JsonbPGetDatum(properties));
	new = DirectFunctionCall1(jsonb_strip_nulls, new);
	if (JB_ROOT_COUNT(DatumGetJsonbP(new)) > 0)
	{
		text = DatumGetCString(DirectFunctionCall1(jsonb_out, new));
		bytes = wc_slice_cstr(pg_server_to_any(text, (int) strlen(text), PG_UTF8));
	}
	check(wc_batch_alter_namespace(wc_batch_builder(), GetCurrentCommandId(true), MyDatabaseId, ns, bytes, &err), &err);
}

void
wc_client_drop_database(Oid database)
{
	WcError		err;

	if (wc_shmem() == NULL)
		return;					/* without an engine there are no tables */
	if (XactReadOnly || RecoveryInProgress())
		return;					/* PostgreSQL refuses */
	check(wc_batch_drop_database(wc_batch_open(), GetCurrentCommandId(true), database, &err), &err);
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

/* --- administration -------------------------------------------------------------- */

void
wc_client_work(WcClientWork work, const WcTableDesc *table, const WcFamilyDesc *family, bool wait)
{
	wc_xact_join();
	wc_driver()->work(work, table->id, family ? family->id : 0, wait, GetCurrentCommandId(false),
					  wc_client_clock_offset_us());
}

void
wc_client_compacting(const WcTableDesc *table, bool *minor, bool *major)
{
	wc_xact_join();
	wc_driver()->compacting(table->id, minor, major);
}

List *
wc_client_check_store(const WcTableDesc *table)
{
	List	   *problems = NIL;
	WcSlice		list;
	WcDecoder	d;

	wc_xact_join();
	wc_driver()->check_store(table ? table->id : 0, &list);
	d = wc_decoder(list);
	for (uint64 n = wc_decode_varint(&d); n > 0 && !d.failed; n--)
	{
		WcProblem  *problem = palloc(sizeof(WcProblem));
		WcSlice		text;

		problem->family = (uint32) wc_decode_varint(&d);
		text = wc_decode_bytes(&d);
		problem->text = pg_any_to_server(pnstrdup((const char *) text.data, text.len), (int) text.len, PG_UTF8);
		problems = lappend(problems, problem);
	}
	if (!wc_decoder_done(&d))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("list of problems of the store is malformed")));
	return problems;
}

bool
wc_client_estimates(const WcTableDesc *table)
{
	return (wc_driver_of(table->id)->features & WC_FEATURE_ESTIMATE) != 0;
}

void
wc_client_estimate(const WcTableDesc *table, const WcRange *range, const uint32 *families, uint32 nfamilies,
				   uint64 *bytes, uint64 *rows)
{
	*bytes = *rows = 0;
	if (!wc_client_estimates(table))
		return;
	wc_xact_join();
	wc_driver()->estimate(table->id, range, families, nfamilies, bytes, rows);
}

bool
wc_client_workers_may_read(void)
{
	return (wc_driver()->features & WC_FEATURE_SPLIT) != 0 && wc_batch_empty();
}

WcSlice *
wc_client_split(const WcTableDesc *table, const WcRange *range, const uint32 *families, uint32 nfamilies, int nparts,
				int *npoints)
{
	WcSlice    *points;
	WcSlice		list;
	WcDecoder	d;
	uint8	   *copy;

	wc_xact_join();
	wc_driver()->split(table->id, range, families, nfamilies, (uint32) nparts, &list);
	copy = palloc(list.len + 1);
	wc_slice_copy(copy, list);
	d = wc_decoder(wc_slice(copy, list.len));
	*npoints = (int) wc_decode_count(&d, WC_PARTS_MAX, 1);
	points = palloc(sizeof(WcSlice) * (*npoints + 1));
	for (int i = 0; i < *npoints; i++)
		points[i] = wc_decode_bytes(&d);
	if (!wc_decoder_done(&d))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("list of parts of a range is malformed")));
	return points;
}

WcSampleRange *
wc_client_sample(const WcTableDesc *table, const WcRange *range, int nranges, uint64 range_rows, uint64 seed,
				 int *nfound)
{
	WcSampleRange *ranges;
	WcSlice		list;
	WcDecoder	d;
	uint8	   *copy;

	if ((wc_driver_of(table->id)->features & WC_FEATURE_SAMPLE) == 0)
	{
		ranges = palloc0(sizeof(WcSampleRange));
		ranges->range = *range;
		ranges->weight = 1;
		*nfound = 1;
		return ranges;
	}
	if (table->id < WC_REMOTE_TABLE)
		wc_xact_join();
	wc_driver_of(table->id)->sample(table->id, range, (uint32) nranges, range_rows, seed, &list);
	copy = palloc(list.len + 1);
	wc_slice_copy(copy, list);
	d = wc_decoder(wc_slice(copy, list.len));
	*nfound = (int) wc_decode_count(&d, WC_RANGES_MAX, 3);
	ranges = palloc0(sizeof(WcSampleRange) * (*nfound + 1));
	for (int i = 0; i < *nfound; i++)
	{
		ranges[i].range.start = wc_decode_bytes(&d);
		ranges[i].range.stop = wc_decode_bytes(&d);
		ranges[i].range.start_inclusive = true;
		ranges[i].weight = (double) wc_decode_varint(&d) / 65536.0;
	}
	if (!wc_decoder_done(&d))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("list of ranges to sample is malformed")));
	return ranges;
}
