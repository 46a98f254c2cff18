/*
 * client/store.c: the stores of foreign servers, and the drivers of stores that are not embedded.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "client/state.h"

/* By server; a store is never freed, since foreign tables' mappings point to it. */
static HTAB *stores;

typedef struct StoreSlot
{
	Oid			server;			/* hash key */
	WcClientStore *store;
} StoreSlot;

static const WcDriver *
load_driver(void)
{
	static const WcDriverHost host = {
		.version = WC_DRIVER_VERSION,.raise = wc_raise,.raise_as = wc_raise_as,.server_options = wc_server_options,.user_options = wc_user_options,
		.too_large = wc_batch_too_large,.lock_rows = wc_lock_changed_rows,.note_sending = wc_note_sending
	};

	if (wc_remote_driver == NULL)
	{
		WcDriverLoad load = (WcDriverLoad) load_external_function(WC_HBASE_MODULE, WC_HBASE_LOAD, true, NULL);

		wc_remote_driver = load(&host);	/* it compares the version */
	}
	return wc_remote_driver;
}

WcClientStore *
wc_client_store(Oid server)
{
	HASHCTL		ctl = {.keysize = sizeof(Oid),.entrysize = sizeof(StoreSlot)};
	WcServerOptions options;
	WcClientStore *store;
	StoreSlot  *slot;

	wc_server_options(server, &options);
	if (options.engine == WC_ENGINE_ROCKSDB)
		return wc_client_embedded();
	if (stores == NULL)
		stores = hash_create("widecol stores", 8, &ctl, HASH_ELEM | HASH_BLOBS);
	slot = hash_search(stores, &server, HASH_FIND, NULL);
	if (slot != NULL)
		return slot->store;
	store = MemoryContextAllocZero(TopMemoryContext, sizeof(WcClientStore));
	store->server = server;
	store->driver = load_driver();
	slot = hash_search(stores, &server, HASH_ENTER, NULL);
	slot->store = store;
	return store;
}

const WcFamilyAttrs *
wc_client_store_family_defaults(const WcClientStore *store)
{
	return store->driver->family_defaults != NULL ? store->driver->family_defaults : &wc_family_attrs_default;
}

/* --- changes of the catalog ------------------------------------------------------ */

static void
change(WcClientStore *store, WcCatalogChange what, const WcTableDesc *desc)
{
	wc_client_require_writable();
	if ((store->driver->features & WC_FEATURE_CATALOG) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("tables of server \"%s\" cannot be changed", GetForeignServer(store->server)->servername)));
	(void) GetCurrentCommandId(true);	/* the transaction writes */
	store->driver->change_catalog(store->server, what, desc);
}

void
wc_client_store_create_table(WcClientStore *store, WcTableDesc *desc)
{
	if (wc_client_store_is_embedded(store))
		wc_client_create_table(desc);
	else
		change(store, WC_CATALOG_CREATE_TABLE, desc);
}

void
wc_client_store_alter_table(WcClientStore *store, const WcTableDesc *desc)
{
	if (wc_client_store_is_embedded(store))
		wc_client_alter_table(desc);
	else
		change(store, WC_CATALOG_ALTER_TABLE, desc);
}

void
wc_client_store_drop_table(WcClientStore *store, const WcTableDesc *desc)
{
	if (wc_client_store_is_embedded(store))
		wc_client_drop_table(desc);
	else
		change(store, WC_CATALOG_DROP_TABLE, desc);
}

void
wc_client_store_truncate_table(WcClientStore *store, const WcTableDesc *desc)
{
	if (wc_client_store_is_embedded(store))
		wc_client_truncate_table(desc);
	else
		change(store, WC_CATALOG_TRUNCATE_TABLE, desc);
}

void
wc_client_store_enable_table(WcClientStore *store, const WcTableDesc *desc, bool enable)
{
	WcTableDesc new = *desc;

	new.disabled = !enable;
	if (wc_client_store_is_embedded(store))
		wc_client_alter_table(&new);
	else
		change(store, enable ? WC_CATALOG_ENABLE_TABLE : WC_CATALOG_DISABLE_TABLE, desc);
}

bool
wc_client_store_table_enabled(WcClientStore *store, const WcTableDesc *desc)
{
	return wc_client_store_is_embedded(store) ? !desc->disabled : store->driver->is_enabled(store->server, desc);
}

void
wc_client_store_read_splits(WcClientStore *store, WcTableDesc *desc)
{
	WcSlice		list;
	WcDecoder	d;
	uint8	   *copy;

	if (wc_client_store_is_embedded(store))
		return;
	store->driver->regions(store->server, desc, &list);
	copy = palloc(list.len + 1);
	wc_slice_copy(copy, list);
	d = wc_decoder(wc_slice(copy, list.len));
	desc->nsplits = (uint32) wc_decode_count(&d, UINT32_MAX, 1);
	desc->splits = palloc(sizeof(WcSlice) * Max(desc->nsplits, 1));
	for (uint32 i = 0; i < desc->nsplits; i++)
		desc->splits[i] = wc_decode_bytes(&d);
	if (!wc_decoder_done(&d))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("list of regions is malformed")));
}

void
wc_client_store_create_namespace(WcClientStore *store, const char *name)
{
	WcTableDesc desc = {.ns = wc_client_namespace_name(name)};

	if (wc_client_store_is_embedded(store))
		wc_client_create_namespace(name);
	else
		change(store, WC_CATALOG_CREATE_NAMESPACE, &desc);
}

void
wc_client_store_drop_namespace(WcClientStore *store, const char *name)
{
	WcTableDesc desc = {.ns = wc_client_namespace_name(name)};

	if (wc_client_store_is_embedded(store))
		wc_client_drop_namespace(name);
	else
		change(store, WC_CATALOG_DROP_NAMESPACE, &desc);
}
