/*
 * engine/catalog/catalogview.c: the catalog as a reader or a transaction sees it.
 */
#include <stdlib.h>

#include "engine/catalog/catalog.h"
#include "engine/store/state.h"
#include "read/txn/txn.h"

WcStatus
wc_overlay_txn(WcOverlay *overlay, const WcTxn *txn, uint64_t cid_end, WcError *err)
{
	for (size_t i = 0; txn && i < wc_txn_ncatalog(txn); i++)
	{
		WcOp		op;
		uint64_t	offset;
		WcStatus	status = wc_txn_catalog_op(txn, i, &op, &offset, err);

		if (status == WC_OK && op.cid < cid_end)
			status = wc_overlay_op(overlay, &op, offset, 0, err);
		if (status != WC_OK)
			return status;
	}
	return WC_OK;
}

#define EVERY_CID UINT64_MAX

WcStatus
wc_catalog_open_table(WcEngine *engine, const WcReadPoint *at, uint32_t table_id,
					  WcTable **table, bool *base_hidden, WcError *err)
{
	WcOverlay	overlay;
	WcTableState *state = NULL;
	WcStatus	status;

	*table = NULL;
	*base_hidden = false;
	if (at->txn == NULL || wc_txn_ncatalog(at->txn) == 0)
	{
		/* the common case, without an overlay's allocations */
		WcTable    *committed = wc_catalog_table(engine, table_id);

		if (committed != NULL && committed->desc.database == at->database)
		{
			*table = committed;
			return WC_OK;
		}
		wc_table_unref(committed);
		return wc_overlay_no_table(table_id, err);
	}
	wc_overlay_init(&overlay, engine, at->database, false);
	status = wc_overlay_txn(&overlay, at->txn, at->cid, err);
	if (status == WC_OK)
		status = wc_overlay_table(&overlay, table_id, &state, err);
	if (status == WC_OK)
		status = wc_overlay_picture(&overlay, state, table, err);
	if (status == WC_OK)
		*base_hidden = state->hidden;
	wc_overlay_free(&overlay);
	return status;
}

/* --- names and lists ------------------------------------------------------*/

/* The id of the committed table of that name, 0: none. */
static uint32_t
committed_id(WcCatalog *catalog, uint32_t database, WcSlice ns, WcSlice name)
{
	uint32_t	id = 0;

	pthread_rwlock_rdlock(&catalog->lock);
	for (size_t i = 0; i < catalog->ntables && id == 0; i++)
	{
		const WcTableDesc *desc = &catalog->tables[i]->desc;

		if (desc->database == database && wc_slice_eq(desc->name, name) && wc_slice_eq(desc->ns, ns))
			id = desc->id;
	}
	pthread_rwlock_unlock(&catalog->lock);
	return id;
}

WcStatus
wc_engine_describe(WcEngine *engine, uint32_t database, WcTxn *txn, WcSlice ns, WcSlice name,
				   WcBuf *out, WcError *err)
{
	WcOverlay	overlay;
	WcTableState *found = NULL;
	uint32_t	id = committed_id(&engine->catalog, database, ns, name);
	WcStatus	status;

	wc_overlay_init(&overlay, engine, database, false);
	status = wc_overlay_txn(&overlay, txn, EVERY_CID, err);
	if (status == WC_OK && id != 0)
	{
		status = wc_overlay_table(&overlay, id, &found, err);
		if (status == WC_NO_TABLE)
			status = WC_OK;
	}
	found = NULL;
	for (WcTableState *t = overlay.tables; status == WC_OK && t && !found; t = t->next)
	{
		if (t->desc && t->desc->database == database &&
			wc_slice_eq(t->desc->name, name) && wc_slice_eq(t->desc->ns, ns))
			found = t;
	}
	if (status == WC_OK && found)
	{
		wc_table_desc_encode(out, found->desc);
		status = wc_buf_status(out, "table descriptor", err);
	}
	else if (status == WC_OK)
	{
		const WcTableDesc desc = {.ns = ns,.name = name};
		char		text[2 * WC_NAME_MAX + 2];

		status = wc_error(err, WC_NO_TABLE, "stored table \"%s\" does not exist",
						  wc_table_desc_fullname(&desc, text, sizeof(text)));
	}
	wc_overlay_free(&overlay);
	return status;
}

static int
state_cmp(const void *a, const void *b)
{
	const WcTableDesc *x = (*(WcTableState *const *) a)->desc;
	const WcTableDesc *y = (*(WcTableState *const *) b)->desc;
	int			c = wc_slice_cmp(x->ns, y->ns);

	return c != 0 ? c : wc_slice_cmp(x->name, y->name);
}

/* The descriptor, with the present start of history of its stores. NULL: out of memory. */
static const WcTableDesc *
desc_with_history(WcOverlay *overlay, const WcTableState *t)
{
	WcTableDesc *desc = wc_arena_alloc(&overlay->arena, sizeof(WcTableDesc));
	WcFamilyDesc *families = wc_arena_alloc(&overlay->arena, t->desc->nfamilies * sizeof(WcFamilyDesc));

	if (desc == NULL || families == NULL)
		return NULL;
	*desc = *t->desc;
	desc->families = families;
	for (uint32_t i = 0; i < desc->nfamilies; i++)
	{
		WcStore    *store = t->base ? wc_table_store(t->base, t->desc->families[i].id) : NULL;
		int64_t		from = 0;

		families[i] = t->desc->families[i];
		if (store != NULL && store->generation == families[i].generation)
			from = wc_marks_history_from(store);
		if (from > families[i].history_from_us)
			families[i].history_from_us = from;
	}
	return desc;
}

static bool
is_of(const WcTableState *state, uint32_t database)
{
	return state->desc != NULL && (database == WC_EVERY_DATABASE || state->desc->database == database);
}

static WcStatus
list_states(WcOverlay *overlay, uint32_t database, WcBuf *out, WcError *err)
{
	WcBuf		bytes = WC_BUF_INIT;
	WcTableState **states;
	size_t		n = 0;

	for (WcTableState *t = overlay->tables; t; t = t->next)
		n += is_of(t, database);
	states = malloc((n + 1) * sizeof(*states));
	if (states == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for the catalog");
	n = 0;
	for (WcTableState *t = overlay->tables; t; t = t->next)
	{
		if (is_of(t, database))
			states[n++] = t;
	}
	qsort(states, n, sizeof(*states), state_cmp);
	wc_buf_append_varint(out, n);
	for (size_t i = 0; i < n; i++)
	{
		const WcTableDesc *desc = desc_with_history(overlay, states[i]);

		wc_buf_reset(&bytes, SIZE_MAX);
		if (desc)
			wc_table_desc_encode(&bytes, desc);
		if (desc == NULL || bytes.failed)
			out->failed = true;
		wc_buf_append_bytes(out, wc_buf_slice(&bytes));
	}
	free(states);
	wc_buf_free(&bytes);
	return wc_buf_status(out, "list of tables", err);
}

/* database: the transaction's; of: the database whose tables are listed. */
static WcStatus
list_tables(WcEngine *engine, uint32_t database, uint32_t of, WcTxn *txn, WcBuf *out, WcError *err)
{
	WcOverlay	overlay;
	WcStatus	status;

	wc_overlay_init(&overlay, engine, database, false);
	status = wc_overlay_txn(&overlay, txn, EVERY_CID, err);
	if (status == WC_OK)
		status = wc_overlay_database(&overlay, of, err);
	if (status == WC_OK)
		status = list_states(&overlay, of, out, err);
	wc_overlay_free(&overlay);
	return status;
}

WcStatus
wc_engine_list_tables(WcEngine *engine, uint32_t database, WcTxn *txn, WcBuf *out, WcError *err)
{
	return list_tables(engine, database, database, txn, out, err);
}

WcStatus
wc_engine_list_all_tables(WcEngine *engine, uint32_t database, WcTxn *txn, WcBuf *out, WcError *err)
{
	return list_tables(engine, database, WC_EVERY_DATABASE, txn, out, err);
}

static int
namespace_cmp(const void *a, const void *b)
{
	return wc_slice_cmp(((const WcNamespace *) a)->name, ((const WcNamespace *) b)->name);
}

/* Lists the existing namespaces, in the arena. */
static WcStatus
collect_namespaces(WcOverlay *overlay, WcNamespace **list, size_t *n, WcError *err)
{
	WcCatalog  *catalog = &overlay->engine->catalog;
	WcSlice		default_name = wc_slice_cstr(WC_NAMESPACE_DEFAULT);
	size_t		max = 1;
	bool		has_default = false;
	bool		good = true;

	for (WcNamespaceState *s = overlay->namespaces; s; s = s->next)
		max++;
	pthread_rwlock_rdlock(&catalog->lock);
	*list = wc_arena_alloc_zero(&overlay->arena, (max + catalog->nnamespaces) * sizeof(WcNamespace));
	*n = 0;
	for (size_t i = 0; *list && good && i < catalog->nnamespaces; i++)
	{
		const WcNamespace *ns = &catalog->namespaces[i];
		bool		own = ns->database != overlay->database;

		for (WcNamespaceState *s = overlay->namespaces; s && !own; s = s->next)
			own = s->database == overlay->database && wc_slice_eq(s->name, ns->name);
		if (own)
			continue;			/* another database's, or the transaction knows better */
		(*list)[*n].name = wc_arena_copy(&overlay->arena, ns->name);
		(*list)[*n].properties = wc_arena_copy(&overlay->arena, ns->properties);
		good = (*list)[*n].name.data != NULL && (ns->properties.len == 0 || (*list)[*n].properties.data != NULL);
		(*n)++;
	}
	pthread_rwlock_unlock(&catalog->lock);
	if (*list == NULL || !good)
		return wc_error(err, WC_NO_MEMORY, "out of memory for the catalog");
	for (WcNamespaceState *s = overlay->namespaces; s; s = s->next)
	{
		if (!s->present || s->database != overlay->database)
			continue;
		(*list)[*n].name = s->name;
		(*list)[(*n)++].properties = s->properties;
	}
	for (size_t i = 0; i < *n; i++)
		has_default |= wc_slice_eq((*list)[i].name, default_name);
	if (!has_default)
		(*list)[(*n)++].name = default_name;
	return WC_OK;
}

WcStatus
wc_engine_list_namespaces(WcEngine *engine, uint32_t database, WcTxn *txn, WcBuf *out, WcError *err)
{
	WcOverlay	overlay;
	WcNamespace *list = NULL;
	size_t		n = 0;
	WcStatus	status;

	wc_overlay_init(&overlay, engine, database, false);
	status = wc_overlay_txn(&overlay, txn, EVERY_CID, err);
	if (status == WC_OK)
		status = collect_namespaces(&overlay, &list, &n, err);
	if (status == WC_OK)
	{
		qsort(list, n, sizeof(WcNamespace), namespace_cmp);
		wc_buf_append_varint(out, n);
		for (size_t i = 0; i < n; i++)
		{
			wc_buf_append_bytes(out, list[i].name);
			wc_buf_append_bytes(out, list[i].properties);
		}
		status = wc_buf_status(out, "list of namespaces", err);
	}
	wc_overlay_free(&overlay);
	return status;
}
