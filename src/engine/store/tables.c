/*
 * engine/store/tables.c: the committed tables and namespaces, in memory.
 */
#include <assert.h>
#include <stdlib.h>

#include "engine/store/state.h"

void
wc_catalog_init(WcCatalog *catalog)
{
	memset(catalog, 0, sizeof(*catalog));
	pthread_rwlock_init(&catalog->lock, NULL);
	atomic_init(&catalog->next_table_id, 1);
	atomic_init(&catalog->generation, 1);
}

static void
free_namespace(const WcNamespace *ns)
{
	free((void *) ns->name.data);
	free((void *) ns->properties.data);
}

void
wc_catalog_free(WcCatalog *catalog) WC_UNCHECKED
{
	for (size_t i = 0; i < catalog->ntables; i++)
		wc_table_unref(catalog->tables[i]);
	for (size_t i = 0; i < catalog->nnamespaces; i++)
		free_namespace(&catalog->namespaces[i]);
	free(catalog->tables);
	free(catalog->namespaces);
	pthread_rwlock_destroy(&catalog->lock);
}

void
wc_catalog_note_id(WcCatalog *catalog, uint32_t table_id)
{
	uint32_t	next = catalog->next_table_id;

	while (next <= table_id && table_id < UINT32_MAX &&
		   !atomic_compare_exchange_weak(&catalog->next_table_id, &next, table_id + 1))
		;
}

/* --- the arrays -----------------------------------------------------------*/

static size_t
table_position(const WcCatalog *catalog, uint32_t id) WC_REQUIRES_SHARED(catalog->lock)
{
	size_t		lo = 0,
				hi = catalog->ntables;

	while (lo < hi)
	{
		size_t		mid = lo + (hi - lo) / 2;

		if (catalog->tables[mid]->desc.id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

WcStatus
wc_catalog_reserve(WcCatalog *catalog, size_t n, WcError *err) WC_REQUIRES(catalog->lock)
{
	if (catalog->ntables + n > catalog->tables_cap)
	{
		size_t		cap = 2 * catalog->tables_cap + n;
		WcTable   **tables = realloc(catalog->tables, cap * sizeof(WcTable *));

		if (tables == NULL)
			return wc_error(err, WC_NO_MEMORY, "out of memory for the catalog");
		catalog->tables = tables;
		catalog->tables_cap = cap;
	}
	if (catalog->nnamespaces + n > catalog->namespaces_cap)
	{
		size_t		cap = 2 * catalog->namespaces_cap + n;
		WcNamespace *namespaces = realloc(catalog->namespaces, cap * sizeof(WcNamespace));

		if (namespaces == NULL)
			return wc_error(err, WC_NO_MEMORY, "out of memory for the catalog");
		catalog->namespaces = namespaces;
		catalog->namespaces_cap = cap;
	}
	return WC_OK;
}

void
wc_catalog_set_table(WcCatalog *catalog, uint32_t id, WcTable *table) WC_REQUIRES(catalog->lock)
{
	size_t		at = table_position(catalog, id);
	bool		found = at < catalog->ntables && catalog->tables[at]->desc.id == id;

	if (found)
		wc_table_unref(catalog->tables[at]);
	if (found && table == NULL)
	{
		catalog->ntables--;
		memmove(catalog->tables + at, catalog->tables + at + 1, (catalog->ntables - at) * sizeof(WcTable *));
	}
	else if (table != NULL)
	{
		if (!found)
		{
			assert(catalog->ntables < catalog->tables_cap);	/* wc_catalog_reserve */
			memmove(catalog->tables + at + 1, catalog->tables + at, (catalog->ntables - at) * sizeof(WcTable *));
			catalog->ntables++;
		}
		catalog->tables[at] = table;
		assert(at == 0 || catalog->tables[at - 1]->desc.id < id);
		assert(at + 1 == catalog->ntables || catalog->tables[at + 1]->desc.id > id);
	}
}

void
wc_catalog_set_namespace(WcCatalog *catalog, const WcNamespace *ns, bool present) WC_REQUIRES(catalog->lock)
{
	size_t		i = 0;

	while (i < catalog->nnamespaces && (catalog->namespaces[i].database != ns->database ||
										!wc_slice_eq(catalog->namespaces[i].name, ns->name)))
		i++;
	if (i < catalog->nnamespaces)
	{
		free_namespace(&catalog->namespaces[i]);
		catalog->namespaces[i] = catalog->namespaces[--catalog->nnamespaces];
	}
	assert(!present || catalog->nnamespaces < catalog->namespaces_cap);
	if (present)
		catalog->namespaces[catalog->nnamespaces++] = *ns;
	else
		free_namespace(ns);
}

WcTable *
wc_catalog_table(struct WcEngine *engine, uint32_t table_id)
{
	WcCatalog  *catalog = &engine->catalog;
	WcTable    *table = NULL;
	size_t		at;

	pthread_rwlock_rdlock(&catalog->lock);
	at = table_position(catalog, table_id);
	if (at < catalog->ntables && catalog->tables[at]->desc.id == table_id)
		table = wc_table_ref(catalog->tables[at]);
	pthread_rwlock_unlock(&catalog->lock);
	return table;
}
