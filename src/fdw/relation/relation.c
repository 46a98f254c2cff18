/*
 * fdw/relation/relation.c: the backend's cache of WcRelations.
 *
 * mapping.c builds an entry in a memory context of its own.  An entry is built again when the foreign table's definition
 * has changed (relcache invalidation) or the stored table's (the client's catalog generation).  An old entry that still
 * has holders is freed when the last one closes it, and at the latest at the end of the transaction: after an error no
 * holder closes its entry, and no executor state survives a transaction.  Memory contexts may survive it, the planner's
 * for example, and release their entries later: so such a reference has the number of its transaction.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "client/client.h"
#include "client/foreign/foreign.h"
#include "fdw/relation/mapping.h"
#include "fdw/relation/relation.h"

typedef struct CachedRelation
{
	WcRelation	wrel;			/* first: what callers hold */
	MemoryContext context;		/* it lives here */
	WcSlice		desc_bytes;		/* of wrel.desc, to see whether it changed */
	uint64		generation;		/* of the client's catalog, when last compared */
	int			references;
	bool		stale;			/* not in the cache any more */
	struct CachedRelation *next_stale;
} CachedRelation;

/* A reference that goes with a memory context. */
typedef struct Hold
{
	MemoryContextCallback callback;
	WcRelation *wrel;
	uint64		transaction;
} Hold;

typedef struct CacheSlot
{
	Oid			relid;			/* hash key */
	bool		invalid;		/* the foreign table's definition changed */
	CachedRelation *entry;
} CacheSlot;

static HTAB *cache;
static CachedRelation *stale_entries;
static uint64 transactions;		/* that have ended; with each all references are gone */

static void
on_relcache_invalidation(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	CacheSlot  *slot;

	if (OidIsValid(relid))
	{
		slot = hash_search(cache, &relid, HASH_FIND, NULL);
		if (slot)
			slot->invalid = true;
		return;
	}
	hash_seq_init(&status, cache);
	while ((slot = hash_seq_search(&status)) != NULL)
		slot->invalid = true;
}

static void
retire(CachedRelation *entry)
{
	entry->stale = true;
	entry->next_stale = stale_entries;
	stale_entries = entry;
}

static void
free_stale(bool all)
{
	CachedRelation **link = &stale_entries;

	while (*link)
	{
		CachedRelation *entry = *link;

		if (all || entry->references == 0)
		{
			*link = entry->next_stale;
			MemoryContextDelete(entry->context);
		}
		else
			link = &entry->next_stale;
	}
}

static void
at_transaction_end(XactEvent event, void *arg)
{
	HASH_SEQ_STATUS status;
	CacheSlot  *slot;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE &&
		event != XACT_EVENT_PARALLEL_COMMIT && event != XACT_EVENT_PARALLEL_ABORT)
		return;
	transactions++;
	hash_seq_init(&status, cache);
	while ((slot = hash_seq_search(&status)) != NULL)
	{
		slot->entry->references = 0;
		if (slot->invalid)
		{
			/* the foreign table may have been dropped: its entry may never be needed again */
			retire(slot->entry);
			hash_search(cache, &slot->relid, HASH_REMOVE, NULL);
		}
	}
	free_stale(true);
}

/* A server's options say in which store its tables are. */
static void
on_server_change(Datum arg, int cacheid, uint32 hashvalue)
{
	on_relcache_invalidation(arg, InvalidOid);
}

static void
make_cache(void)
{
	HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(CacheSlot)};

	cache = hash_create("widecol foreign tables", 64, &ctl, HASH_ELEM | HASH_BLOBS);
	CacheRegisterRelcacheCallback(on_relcache_invalidation, (Datum) 0);
	CacheRegisterSyscacheCallback(FOREIGNSERVEROID, on_server_change, (Datum) 0);
	RegisterXactCallback(at_transaction_end, NULL);
}

static WcSlice
encode_desc(const WcTableDesc *desc)
{
	WcBuf		buf = WC_BUF_INIT;
	uint8	   *copy;
	size_t		len;
	WcError		err;

	wc_table_desc_encode(&buf, desc);
	if (buf.failed)
	{
		(void) wc_buf_status(&buf, "descriptor", &err);
		wc_buf_free(&buf);
		wc_raise(&err);
	}
	len = buf.len;
	copy = palloc_extended(len, MCXT_ALLOC_NO_OOM);
	if (copy)
		memcpy(copy, buf.data, len);
	wc_buf_free(&buf);
	if (copy == NULL)
		wc_raise_no_memory();
	return wc_slice(copy, len);
}

static void pg_attribute_noreturn()
no_stored_table(const WcRelation *wrel)
{
	bool		embedded = wc_client_store_is_embedded(wrel->store);

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("stored table \"%s\" of foreign table \"%s\" does not exist", wrel->table_name, wrel->relname),
			 embedded ? errhint("widecol.create_table('%s', ...) makes it, as does creating the foreign table anew.",
								wrel->table_name) :
			 errhint("widecol.create_table('%s', ..., server => '%s') makes it.", wrel->table_name,
					 GetForeignServer(wc_client_store_server(wrel->store))->servername)));
}

static WcTableDesc *
stored_table(const WcRelation *wrel)
{
	WcTableDesc *desc = wc_client_store_table(wrel->store, wrel->table_name, true);

	if (desc == NULL)
		no_stored_table(wrel);
	return desc;
}

static CachedRelation *
build_entry(Relation rel)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "widecol foreign table",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	CachedRelation *entry = palloc0(sizeof(CachedRelation));
	WcTableOptions options;
	WcTableDesc *desc;

	memcpy(&entry->wrel, wc_mapping_build(rel, &options), sizeof(WcRelation));
	entry->generation = wc_client_store_generation(entry->wrel.store);
	desc = stored_table(&entry->wrel);
	wc_mapping_resolve(&entry->wrel, desc);
	entry->desc_bytes = encode_desc(desc);
	entry->context = context;
	MemoryContextSwitchTo(old);
	MemoryContextSetParent(context, CacheMemoryContext);
	MemoryContextSetIdentifier(context, entry->wrel.relname);
	return entry;
}

/* The catalog changed somewhere: is the stored table still the same? */
static bool
still_current(CachedRelation *entry)
{
	uint64		generation = wc_client_store_generation(entry->wrel.store);
	MemoryContext scratch;
	MemoryContext old;
	bool		same;

	if (entry->generation == generation)
		return true;
	scratch = AllocSetContextCreate(CurrentMemoryContext, "widecol descriptor", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(scratch);
	same = wc_slice_eq(encode_desc(stored_table(&entry->wrel)), entry->desc_bytes);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	if (same)
		entry->generation = generation;
	return same;
}

WcRelation *
wc_relation_open(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	CacheSlot  *slot;
	CachedRelation *entry;
	bool		found;

	wc_client_require_preload();
	if (cache == NULL)
		make_cache();
	free_stale(false);

	slot = hash_search(cache, &relid, HASH_FIND, NULL);
	if (slot && !slot->invalid && still_current(slot->entry))
	{
		slot->entry->references++;
		return &slot->entry->wrel;
	}

	entry = build_entry(rel);
	slot = hash_search(cache, &relid, HASH_ENTER, &found);
	if (found)
		retire(slot->entry);
	slot->entry = entry;
	slot->invalid = false;
	entry->references = 1;
	return &entry->wrel;
}

void
wc_relation_close(WcRelation *wrel)
{
	CachedRelation *entry = (CachedRelation *) wrel;

	Assert(MemoryContextIsValid(entry->context) && entry->references > 0);
	entry->references--;
	if (entry->stale)
		free_stale(false);
}

static void
let_go(void *arg)
{
	Hold	   *hold = arg;

	if (hold->transaction == transactions)
		wc_relation_close(hold->wrel);
}

WcRelation *
wc_relation_hold(Relation rel)
{
	Hold	   *hold = palloc(sizeof(Hold));

	hold->wrel = wc_relation_open(rel);
	hold->transaction = transactions;
	hold->callback.func = let_go;
	hold->callback.arg = hold;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &hold->callback);
	return hold->wrel;
}

WcRelation *
wc_relation_check(Relation rel)
{
	WcTableOptions options;

	return wc_mapping_build(rel, &options);
}

bool
wc_relation_has_role(const WcRelation *wrel, WcRole role)
{
	for (int i = 0; i < wrel->natts; i++)
		if (wrel->columns[i].role == role)
			return true;
	return false;
}

bool
wc_relation_names_cells(const WcRelation *wrel)
{
	return wrel->layout == WC_LAYOUT_CELL && wc_relation_has_role(wrel, WC_ROLE_CELL_ROW) && wc_relation_has_role(wrel, WC_ROLE_CELL_FAMILY) &&
		wc_relation_has_role(wrel, WC_ROLE_CELL_QUALIFIER) && wc_relation_has_role(wrel, WC_ROLE_CELL_VALUE) &&
		(!wrel->raw || (wc_relation_has_role(wrel, WC_ROLE_CELL_TYPE) && wc_relation_has_role(wrel, WC_ROLE_CELL_TS)));
}

bool
wc_relation_shows_cells(const WcRelation *wrel)
{
	return wc_relation_names_cells(wrel) && wc_relation_has_role(wrel, WC_ROLE_CELL_TS);
}

bool
wc_relation_shows_whole_cells(const WcRelation *wrel)
{
	return wc_relation_shows_cells(wrel) && wc_relation_has_role(wrel, WC_ROLE_CELL_TTL);
}

bool
wc_relation_is_widecol(Oid relid)
{
	return wc_foreign_is_widecol(relid) || wc_foreign_is_remote(relid);
}

bool
wc_relation_identifies(const WcRelation *wrel, int i)
{
	switch (wrel->columns[i].role)
	{
		case WC_ROLE_KEY:
		case WC_ROLE_CELL_ROW:
		case WC_ROLE_CELL_FAMILY:
		case WC_ROLE_CELL_QUALIFIER:
		case WC_ROLE_CELL_TS:
			return true;
		case WC_ROLE_RAW_KEY:
			return wrel->nkeys == 0;
		default:
			return false;
	}
}
