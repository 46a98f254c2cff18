/*
 * client/txn/drivers.c: the drivers that the session's transaction uses, and its connection.
 */
#include "postgres.h"

#include "channel/shmem.h"
#include "client/txn/txn.h"

const WcDriver *wc_remote_driver;

WcClientStore wc_embedded_store = {.driver = &wc_local_driver};

WcClientStore *
wc_client_embedded(void)
{
	return &wc_embedded_store;
}

bool
wc_client_store_is_embedded(const WcClientStore *store)
{
	return store == &wc_embedded_store;
}

Oid
wc_client_store_server(const WcClientStore *store)
{
	return store->server;
}

void
wc_xact_join(void)
{
	wc_client_require_preload();
	wc_driver()->connect();
}

void
wc_note_sending(void)
{
	atomic_fetch_add(&wc_shmem()->sent_elsewhere, 1);
}

uint64
wc_sent_elsewhere(void)
{
	return wc_remote_driver != NULL ? atomic_load(&wc_shmem()->sent_elsewhere) + 1 : 0;
}
