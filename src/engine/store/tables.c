/*
 * engine/store/tables.c: the committed tables and namespaces, in memory.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
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

/* --- stores by name, and in messages ------------------------------------------ */

/* table: NULL if it is not known. */
static char *
family_text(const WcTableDesc *table, uint32_t table_id, uint32_t family_id, char *buf, size_t size)
{
	char		name[2 * WC_NAME_MAX + 2];

	snprintf(buf, size, "family %" PRIu32 " of stored table %" PRIu32 ", which is not in the catalog", family_id, table_id);
	for (uint32_t i = 0; table != NULL && i < table->nfamilies; i++)
	{
		const WcFamilyDesc *family = &table->families[i];

		if (family->id == family_id)
			snprintf(buf, size, "family \"%.*s\" of stored table \"%s\"", (int) family->name.len,
					 (const char *) family->name.data, wc_table_desc_fullname(table, name, sizeof(name)));
	}
	return buf;
}

static char *
committed_text(WcEngine *engine, uint32_t table_id, uint32_t family_id, char *buf, size_t size)
{
	WcTable    *table = wc_catalog_table(engine, table_id);

	family_text(table ? &table->desc : NULL, table_id, family_id, buf, size);
	wc_table_unref(table);
	return buf;
}

char *
wc_store_text(const WcStore *store, char *buf, size_t size)
{
	return committed_text(store->engine, store->table_id, store->family_id, buf, size);
}

char *
wc_store_text_in(const WcStore *store, const WcTableDesc *table, char *buf, size_t size)
{
	return family_text(table, store->table_id, store->family_id, buf, size);
}

/* The reverse of wc_store_cf_name. */
static bool
parse_cf_name(const char *cf_name, uint32_t *table_id, uint32_t *family_id, uint32_t *generation)
{
	return sscanf(cf_name, "t%" SCNu32 ".f%" SCNu32 ".g%" SCNu32, table_id, family_id, generation) == 3;
}

char *
wc_store_cf_text(struct WcEngine *engine, const char *cf_name, char *buf, size_t size)
{
	uint32_t	table_id,
				family_id,
				generation;

	if (parse_cf_name(cf_name, &table_id, &family_id, &generation))
		return committed_text(engine, table_id, family_id, buf, size);
	snprintf(buf, size, "%s", cf_name[0] == '\0' ? "a family" : "the catalog");
	return buf;
}

WcStore *
wc_store_of_cf(struct WcEngine *engine, const char *cf_name)
{
	WcStore    *store = NULL;
	WcTable    *table;
	uint32_t	table_id,
				family_id,
				generation;

	if (!parse_cf_name(cf_name, &table_id, &family_id, &generation))
		return NULL;
	table = wc_catalog_table(engine, table_id);
	if (table != NULL)
		store = wc_table_store(table, family_id);
	if (store != NULL)
		store = store->generation == generation ? wc_store_ref(store) : NULL;
	wc_table_unref(table);
	return store;
}

WcStatus
wc_store_status(const WcStore *store, char *text, const char *action, WcError *err)
{
	char		name[WC_STORE_TEXT_MAX];
	char		what[WC_STORE_TEXT_MAX + 32];

	if (text == NULL)
		return WC_OK;
	snprintf(what, sizeof(what), "%s %s", action, wc_store_text(store, name, sizeof(name)));
	return wc_rocks_status(text, what, err);
}
