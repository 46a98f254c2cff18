/*
 * engine/catalog/needs.c: the column families that a transaction's commit will need.
 */
#include <stdlib.h>

#include "engine/catalog/catalog.h"
#include "engine/store/state.h"
#include "read/txn/txn.h"

typedef struct Needs
{
	WcOverlay	overlay;
	WcTable   **tables;			/* as they will be; references */
	size_t		ntables;
	WcNewFamily *wanted;		/* their stores without a column family */
	size_t		nwanted;
} Needs;

static void
needs_free(Needs *needs)
{
	for (size_t i = 0; i < needs->ntables; i++)
		wc_table_unref(needs->tables[i]);
	free(needs->tables);
	free(needs->wanted);
	wc_overlay_free(&needs->overlay);
}

static WcStatus
find_tables(Needs *needs, WcError *err)
{
	WcStatus	status = WC_OK;
	size_t		n = 0;

	for (WcTableState *t = needs->overlay.tables; t; t = t->next)
		n++;
	needs->tables = calloc(n + 1, sizeof(*needs->tables));
	if (needs->tables == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for the catalog");
	for (WcTableState *t = needs->overlay.tables; status == WC_OK && t; t = t->next)
	{
		if (!t->changed || t->desc == NULL)
			continue;
		status = wc_overlay_picture(&needs->overlay, t, &needs->tables[needs->ntables], err);
		if (status == WC_OK)
			needs->ntables++;
	}
	return status;
}

static WcStatus
find_stores(Needs *needs, WcError *err)
{
	size_t		n = 0;

	for (size_t i = 0; i < needs->ntables; i++)
		n += needs->tables[i]->desc.nfamilies;
	needs->wanted = calloc(n + 1, sizeof(*needs->wanted));
	if (needs->wanted == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for the catalog");
	for (size_t i = 0; i < needs->ntables; i++)
	{
		const WcTable *table = needs->tables[i];

		for (uint32_t k = 0; k < table->desc.nfamilies; k++)
		{
			if (table->stores[k]->cf == NULL)
				needs->wanted[needs->nwanted++] = (WcNewFamily) {.store = table->stores[k],.table = &table->desc};
		}
	}
	return WC_OK;
}

WcStatus
wc_engine_prepare(WcEngine *engine, uint64_t xid, const WcTxn *txn, WcError *err)
{
	Needs		needs = {0};
	WcStatus	status;

	if (txn == NULL || wc_txn_ncatalog(txn) == 0)
		return WC_OK;
	wc_overlay_init(&needs.overlay, engine, wc_txn_database(txn), false);
	status = wc_overlay_txn(&needs.overlay, txn, UINT64_MAX, err);
	if (status == WC_OK)
		status = find_tables(&needs, err);
	if (status == WC_OK)
		status = find_stores(&needs, err);
	if (status == WC_OK)
		status = wc_families_make(&engine->families, needs.wanted, needs.nwanted, xid, err);
	needs_free(&needs);
	return status;
}

void
wc_engine_forget(WcEngine *engine, uint64_t xid)
{
	wc_families_give_back(&engine->families, xid);
}
