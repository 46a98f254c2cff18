/*
 * hbase/catalog/tablechange.h: changes of tables and namespaces that the transaction has made, until they are sent.
 *
 * They are a list, in the order in which they were made, for all servers.
 */
#ifndef WC_HBASE_CATALOG_TABLECHANGE_H
#define WC_HBASE_CATALOG_TABLECHANGE_H

#include "hbase/gateway/gateway.h"

typedef struct WcHBaseTableChange
{
	WcCatalogChange what;
	WcHBaseServer *server;
	WcHBaseTable *table;		/* NULL: a change of a namespace */
	WcTableDesc desc;			/* CREATE_TABLE, ALTER_TABLE: the new table; else the names alone */
	WcTableDesc before;			/* ALTER_TABLE: the table as it was */
} WcHBaseTableChange;

/* Adds a change; copies its `desc`.  What `before` points to is in the arena, which lives as long as the changes. */
extern void wc_hbase_ddl_add(const WcHBaseTableChange *change);
extern WcArena *wc_hbase_ddl_arena(void);

/* The number of changes, and the i-th. */
extern int	wc_hbase_ddl_count(void);
extern const WcHBaseTableChange *wc_hbase_ddl_at(int i);

/* The last change that made, altered or dropped the table of this name; NULL: there is none. */
extern const WcHBaseTableChange *wc_hbase_ddl_of_table(const WcHBaseServer *server, WcSlice ns, WcSlice name);

/* The last change that made or dropped the namespace; NULL: there is none. */
extern const WcHBaseTableChange *wc_hbase_ddl_of_namespace(const WcHBaseServer *server, WcSlice ns);

/* How a table is to be read before its changes are sent. */
typedef enum WcHBaseTableState
{
	WC_HBASE_AS_IT_IS,
	WC_HBASE_EMPTIED,			/* HBase's rows are not seen, or there is no such table in HBase */
	WC_HBASE_ALTERED			/* it cannot be read */
} WcHBaseTableState;

extern WcHBaseTableState wc_hbase_table_state(const WcHBaseTable *table);

/* Are the attributes the same, of those that HBase has? */
extern bool wc_hbase_same_attributes(const WcFamilyAttrs *a, const WcFamilyAttrs *b);

/* Forgets changes behind the first n; never fails. */
extern void wc_hbase_ddl_forget(int n);

/* Reads changed options of the changes' servers, which may raise an error. */
extern void wc_hbase_ddl_refresh_servers(void);

#endif
