/*
 * client/catalog/catalog.h: functions about the catalog, for client/ alone.
 */
#ifndef WC_CLIENT_CATALOG_CATALOG_H
#define WC_CLIENT_CATALOG_CATALOG_H

#include "client/txn/txn.h"

/* table.c: notes that own catalog changes were made or undone. */
extern void wc_catalog_changed(void);

/* The table's descriptor, which belongs to the cache: valid until the next call of a wc_client function.  NULL: there is
 * no such table. */
extern const WcTableDesc *wc_table_find(WcSlice ns, WcSlice name);

/* A copy, palloc'd. */
extern WcTableDesc *wc_table_copy(const WcTableDesc *from);

/* The table's current descriptor; NULL when the name belongs to no table, or to another, by now.  Perhaps a round
 * trip.  The descriptor belongs to a cache: valid until the next call of a wc_client function. */
extern const WcTableDesc *wc_table_now(const WcTableDesc *table);

/*
 * Locks the name of a table, to the end of the transaction.  Both names are in UTF-8.  The lock on a namespace has the
 * namespace's name alone as its key (name empty), which is no table's key.
 */
extern void wc_name_lock(WcSlice ns, WcSlice name, LOCKMODE mode);

/* Sends the batch, so that the driver's catalog has the transaction's own changes. */
extern void wc_catalog_join(const WcClientStore *store);

/* Ends a change of the catalog that has been put into the batch; raises the error if status is one. */
extern void wc_catalog_change(WcStatus status, const WcError *err);

/* namespace.c: the namespace's name in UTF-8; raises an error if no namespace can have this name. */
extern WcSlice wc_client_namespace_name(const char *name);

/* writerlock.c: the writer's lock on the table, once a transaction. */
extern void wc_lock_for_writing(const WcTableDesc *table);
extern void wc_writer_locks_forget(void);	/* the next write checks again that the table is there, and not disabled; never fails */

#endif
