/*
 * client/store.c: the stores of foreign servers, and the drivers of stores that are not embedded.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "client/state.h"

const WcDriver *wc_remote_driver;

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
		.raise = wc_raise,.server_options = wc_server_options,.user_options = wc_user_options,
		.too_large = wc_batch_too_large,.lock_rows = wc_lock_changed_rows,.note_sending = wc_note_sending
	};

	if (wc_remote_driver == NULL)
	{
		WcDriverLoad load = (WcDriverLoad) load_external_function(WC_HBASE_MODULE, WC_HBASE_LOAD, true, NULL);

		wc_remote_driver = load(&host);
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
		return wc_store_embedded();
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
