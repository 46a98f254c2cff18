/*
 * hbase/catalog/catalog.h: what a cluster tells of its tables and namespaces, with the transaction's changes of them.
 */
#ifndef WC_HBASE_CATALOG_CATALOG_H
#define WC_HBASE_CATALOG_CATALOG_H

#include "hbase/gateway/gateway.h"

/* Those of WcDriver. */
extern uint64 wc_hbase_catalog_generation(Oid server);
extern bool wc_hbase_describe(Oid server, WcSlice ns, WcSlice name, WcSlice *desc);
extern void wc_hbase_list_tables(Oid server, bool all_databases, WcSlice *list);
extern void wc_hbase_list_namespaces(Oid server, WcSlice *list);

extern void wc_hbase_regions(Oid server, const WcTableDesc *desc, WcSlice *points);
extern bool wc_hbase_is_enabled(Oid server, const WcTableDesc *desc);

/* As the transaction sees it: is there the namespace; a table in it (palloc'd), or NULL if it is empty. */
extern bool wc_hbase_has_namespace(WcHBaseServer *server, WcSlice ns);
extern char *wc_hbase_table_in_namespace(WcHBaseServer *server, WcSlice ns);

/*
 * The table for read/, in the arena: its present families.  HBase has decided which of the cells that it sends are
 * visible, so the families have any number of versions and no time to live.  decides: they have HBase's, because
 * own changes, or cells that HBase has deleted, are merged in.
 */
extern WcStatus wc_hbase_read_desc(const WcHBaseTable *table, bool decides, WcArena *arena, WcTableDesc *desc,
								   WcError *err) WC_WARN_UNUSED;

#endif
