/*
 * engine/store.h: the storage of one family, and a table as its readers hold it.
 *
 * A WcTable is an immutable picture of one stored table: the descriptor and a
 * store for each family, in the descriptor's order.  A catalog change makes a
 * new picture; readers keep theirs (counted references) as long as they need
 * it, and with it the RocksDB column families, even dropped ones.
 */
#ifndef WC_ENGINE_STORE_H
#define WC_ENGINE_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include <rocksdb/c.h>

#include "base/arena.h"
#include "model/descriptor.h"

typedef struct WcStore
{
	atomic_uint refs;
	struct WcEngine *engine;
	uint32_t	table_id;
	uint32_t	family_id;
	uint32_t	generation;
	uint8_t		packing;		/* WC_PACKING_ROW or WC_PACKING_CELL; never changes */
	rocksdb_column_family_handle_t *cf;		/* NULL: not made yet (table of an open transaction): empty */
	pthread_mutex_t attrs_mutex;	/* guards attrs, which ALTER changes and compaction reads */
	WcFamilyAttrs attrs;
} WcStore;

typedef struct WcTable
{
	atomic_uint refs;
	WcArena		arena;			/* of desc and stores */
	WcTableDesc desc;
	WcStore   **stores;			/* desc.nfamilies of them */
} WcTable;

extern WcTable *wc_table_ref(WcTable *table);
extern void wc_table_unref(WcTable *table);
extern WcStore *wc_store_ref(WcStore *store);
extern void wc_store_unref(WcStore *store);

#endif
