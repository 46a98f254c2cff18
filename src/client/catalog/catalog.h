/*
 * client/catalog/catalog.h: functions that table.c and namespace.c share, for client/ alone.
 */
#ifndef WC_CLIENT_CATALOG_CATALOG_H
#define WC_CLIENT_CATALOG_CATALOG_H

#include "client/state.h"

/*
 * Locks the name of a table, to the end of the transaction.  Both names are in UTF-8.  The lock on a namespace has the
 * namespace's name alone as its key (name empty), which is no table's key.
 */
extern void wc_name_lock(WcSlice ns, WcSlice name, LOCKMODE mode);

/* Sends the batch, so that the driver's catalog has the transaction's own changes. */
extern void wc_catalog_join(const WcClientStore *store);

/* Ends a change of the catalog that has been put into the batch; raises the error if status is one. */
extern void wc_catalog_change(WcStatus status, const WcError *err);

/* The namespace's name in UTF-8; raises an error if no namespace can have this name. */
extern WcSlice wc_client_namespace_name(const char *name);

/* Text from the catalog, which is UTF-8, in the database's encoding; palloc'd. */
extern char *wc_stored_text(WcSlice s);

#endif
