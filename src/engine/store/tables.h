/*
 * engine/store/tables.h: the committed tables and namespaces, in memory.
 *
 * Only the present state: catalog.c loads it and changes it with a commit.  Stores are found here by the names
 * of their column families.
 */
#ifndef WC_ENGINE_STORE_TABLES_H
#define WC_ENGINE_STORE_TABLES_H

#include <stdatomic.h>

#include "base/threads.h"
#include "engine/store/store.h"

struct WcEngine;

typedef struct WcNamespace
{
	uint32_t	database;
	WcSlice		name;			/* malloc'ed, as the next one */
	WcSlice		properties;		/* empty: none */
} WcNamespace;

typedef struct WcCatalog
{
	WcRwLock	lock;			/* guards the two arrays, not the tables in them */
	WcTable   **tables WC_GUARDED_BY(&lock); /* ascending ids; one reference each */
	size_t		ntables WC_GUARDED_BY(&lock);
	size_t		tables_cap WC_GUARDED_BY(&lock);
	WcNamespace *namespaces WC_GUARDED_BY(&lock); /* "default", which always exists, is in the array only if it was altered */
	size_t		nnamespaces WC_GUARDED_BY(&lock);
	size_t		namespaces_cap WC_GUARDED_BY(&lock);
	_Atomic uint32_t next_table_id; /* greater than all ids that were given out, and than those of all CREATEs */
	uint32_t	stored_next_id; /* the stored value ("I"); guarded by the engine's write mutex */
	_Atomic uint64_t generation;
} WcCatalog;

extern void wc_catalog_init(WcCatalog *catalog);
extern void wc_catalog_free(WcCatalog *catalog);

/* A CREATE with this id has been read from the log: no other table gets the id, however the transaction ends.  Any
 * thread. */
extern void wc_catalog_note_id(WcCatalog *catalog, uint32_t table_id);

/* The committed table, with a reference; NULL: there is none. */
extern WcTable *wc_catalog_table(struct WcEngine *engine, uint32_t table_id);

/* --- for loading, and for commits, which hold the lock for writing ---------- */

/* Room for n more tables and namespaces, so that a commit cannot fail later. */
extern WcStatus wc_catalog_reserve(WcCatalog *catalog, size_t n, WcError *err) WC_REQUIRES(catalog->lock) WC_WARN_UNUSED;

/* Takes over the reference to table (NULL: removes the table).  The caller has reserved room. */
extern void wc_catalog_set_table(WcCatalog *catalog, uint32_t id, WcTable *table) WC_REQUIRES(catalog->lock);

/* Takes over the malloc'ed memory of name and properties (present false: removes the namespace).  The caller has
 * reserved room. */
extern void wc_catalog_set_namespace(WcCatalog *catalog, const WcNamespace *ns, bool present) WC_REQUIRES(catalog->lock);

#endif
