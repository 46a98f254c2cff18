/*
 * engine/store/tables.h: the committed tables and namespaces, in memory.
 *
 * What is there, and nothing of how it comes to be there: catalog.c loads it and
 * changes it with a commit.  Stores are found here by the names of their column families.
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
	WcSlice		name;			/* malloc'ed, as is: */
	WcSlice		properties;		/* empty: none */
} WcNamespace;

typedef struct WcCatalog
{
	WcRwLock	lock;			/* guards the two arrays, not what is in them */
	WcTable   **tables WC_GUARDED_BY(&lock); /* ascending ids; one reference each */
	size_t		ntables WC_GUARDED_BY(&lock);
	size_t		tables_cap WC_GUARDED_BY(&lock);
	WcNamespace *namespaces WC_GUARDED_BY(&lock); /* "default", which is always there, only when it has been altered */
	size_t		nnamespaces WC_GUARDED_BY(&lock);
	size_t		namespaces_cap WC_GUARDED_BY(&lock);
	_Atomic uint32_t next_table_id; /* to be given out: greater than any that was, or that a CREATE had */
	uint32_t	stored_next_id; /* what the store says ("I"); guarded by the engine's write mutex */
	_Atomic uint64_t generation;
} WcCatalog;

extern void wc_catalog_init(WcCatalog *catalog);
extern void wc_catalog_free(WcCatalog *catalog);

/* A CREATE with this id has been read, whatever comes of it: no other table gets the id.
 * Any thread. */
extern void wc_catalog_note_id(WcCatalog *catalog, uint32_t table_id);

/* The committed picture, counted, or NULL. */
extern WcTable *wc_catalog_table(struct WcEngine *engine, uint32_t table_id);

/* --- for loading, and for commits, which hold the lock for writing ---------- */

/* Room for n more tables and namespaces, so that a commit cannot fail later. */
extern WcStatus wc_catalog_reserve(WcCatalog *catalog, size_t n, WcError *err) WC_REQUIRES(catalog->lock) WC_WARN_UNUSED;

/* Takes over table's reference (NULL: removes); the room is there. */
extern void wc_catalog_set_table(WcCatalog *catalog, uint32_t id, WcTable *table) WC_REQUIRES(catalog->lock);

/* Takes over the memory of name and properties, which is malloc'ed (present false: removes the namespace); the
 * room is there. */
extern void wc_catalog_set_namespace(WcCatalog *catalog, const WcNamespace *ns, bool present) WC_REQUIRES(catalog->lock);

#endif
