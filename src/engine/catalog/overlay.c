/*
 * engine/catalog/overlay.c: the catalog with a transaction's own changes laid over it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "engine/catalog/catalog.h"
#include "engine/store/state.h"
#include "read/cell/quote.h"

#define FULLNAME_MAX (2 * WC_NAME_MAX + 2)

void
wc_overlay_init(WcOverlay *overlay, struct WcEngine *engine, uint32_t database, bool strict)
{
	memset(overlay, 0, sizeof(*overlay));
	overlay->engine = engine;
	overlay->database = database;
	overlay->strict = strict;
}

void
wc_overlay_free(WcOverlay *overlay)
{
	for (WcTableState *t = overlay->tables; t; t = t->next)
		wc_table_unref(t->base);
	wc_arena_free(&overlay->arena);
	overlay->tables = NULL;
	memset(overlay->by_id, 0, sizeof(overlay->by_id));
	overlay->namespaces = NULL;
}

static WcStatus
overlay_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for the catalog");
}

/* --- namespaces -----------------------------------------------------------*/

static WcNamespaceState *
namespace_state(const WcOverlay *overlay, uint32_t database, WcSlice name)
{
	for (WcNamespaceState *n = overlay->namespaces; n; n = n->next)
	{
		if (n->database == database && wc_slice_eq(n->name, name))
			return n;
	}
	return NULL;
}

static bool
namespace_present(WcOverlay *overlay, uint32_t database, WcSlice name)
{
	WcCatalog  *catalog = &overlay->engine->catalog;
	WcNamespaceState *own = namespace_state(overlay, database, name);
	bool		found = false;

	if (wc_slice_eq(name, wc_slice_cstr(WC_NAMESPACE_DEFAULT)))
		return true;
	if (own)
		return own->present;
	pthread_rwlock_rdlock(&catalog->lock);
	for (size_t i = 0; i < catalog->nnamespaces && !found; i++)
		found = catalog->namespaces[i].database == database && wc_slice_eq(catalog->namespaces[i].name, name);
	pthread_rwlock_unlock(&catalog->lock);
	return found;
}

static WcTableState *
known_state(const WcOverlay *overlay, uint32_t id)
{
	for (WcTableState *t = overlay->by_id[id % WC_OVERLAY_REMAINDERS]; t; t = t->next_like)
	{
		if (t->id == id)
			return t;
	}
	return NULL;
}

static void
add_state(WcOverlay *overlay, WcTableState *state)
{
	WcTableState **like = &overlay->by_id[state->id % WC_OVERLAY_REMAINDERS];

	state->next = overlay->tables;
	overlay->tables = state;
	state->next_like = *like;
	*like = state;
}

/* Is there a table of that name (empty name: any table in that namespace),
 * other than the one with id except? */
static bool
table_present(WcOverlay *overlay, uint32_t database, WcSlice ns, WcSlice name, uint32_t except)
{
	WcCatalog  *catalog = &overlay->engine->catalog;
	bool		found = false;

	for (WcTableState *t = overlay->tables; t; t = t->next)
	{
		if (t->desc && t->id != except && t->desc->database == database && wc_slice_eq(t->desc->ns, ns) &&
			(name.len == 0 || wc_slice_eq(t->desc->name, name)))
			return true;
	}
	pthread_rwlock_rdlock(&catalog->lock);
	for (size_t i = 0; i < catalog->ntables && !found; i++)
	{
		const WcTableDesc *desc = &catalog->tables[i]->desc;

		found = desc->id != except && desc->database == database && wc_slice_eq(desc->ns, ns) &&
			(name.len == 0 || wc_slice_eq(desc->name, name)) && known_state(overlay, desc->id) == NULL;
	}
	pthread_rwlock_unlock(&catalog->lock);
	return found;
}

/* properties: of one that is present, all.  False: out of memory. */
static bool
set_namespace(WcOverlay *overlay, uint32_t database, WcSlice name, bool present, WcSlice properties)
{
	WcNamespaceState *state = namespace_state(overlay, database, name);

	if (state == NULL)
	{
		state = wc_arena_alloc_zero(&overlay->arena, sizeof(*state));
		if (state == NULL)
			return false;
		state->database = database;
		state->name = wc_arena_copy(&overlay->arena, name);
		if (state->name.data == NULL)
			return false;
		state->next = overlay->namespaces;
		overlay->namespaces = state;
	}
	state->present = present;
	state->properties = wc_arena_copy(&overlay->arena, properties);
	return properties.len == 0 || state->properties.data != NULL;
}

static WcStatus
namespace_op(WcOverlay *overlay, const WcOp *op, WcError *err)
{
	bool		create = op->kind == WC_OP_CREATE_NAMESPACE;
	bool		drop = op->kind == WC_OP_DROP_NAMESPACE;
	bool		present = namespace_present(overlay, op->database, op->name);
	char		text[WC_QUOTE_MAX];

	wc_quote(text, sizeof(text), op->name);
	if (overlay->strict && op->database != overlay->database)
		return wc_error(err, WC_INVALID, "namespace %s belongs to another database", text);
	if (overlay->strict && create && present)
		return wc_error(err, WC_EXISTS, "namespace %s already exists", text);
	if (overlay->strict && !create && !present)
		return wc_error(err, WC_NO_NAMESPACE, "namespace %s does not exist", text);
	if (overlay->strict && drop && wc_slice_eq(op->name, wc_slice_cstr(WC_NAMESPACE_DEFAULT)))
		return wc_error(err, WC_INVALID, "namespace %s cannot be dropped", text);
	if (overlay->strict && drop && table_present(overlay, op->database, op->name, wc_slice(NULL, 0), 0))
		return wc_error(err, WC_IN_USE, "namespace %s is not empty", text);

	return set_namespace(overlay, op->database, op->name, !drop, op->properties) ? WC_OK : overlay_memory(err);
}

/* Drops all namespaces of a database. */
static WcStatus
drop_namespaces(WcOverlay *overlay, uint32_t database, WcError *err)
{
	WcCatalog  *catalog = &overlay->engine->catalog;
	bool		good = true;

	pthread_rwlock_rdlock(&catalog->lock);
	for (size_t i = 0; i < catalog->nnamespaces && good; i++)
	{
		if (catalog->namespaces[i].database == database)
			good = set_namespace(overlay, database, catalog->namespaces[i].name, false, wc_slice(NULL, 0));
	}
	pthread_rwlock_unlock(&catalog->lock);
	for (WcNamespaceState *n = overlay->namespaces; n; n = n->next)
	{
		if (n->database == database)
			n->present = false;
	}
	return good ? WC_OK : overlay_memory(err);
}

/* --- tables ---------------------------------------------------------------*/

WcStatus
wc_overlay_no_table(uint32_t table_id, WcError *err)
{
	return wc_error(err, WC_NO_TABLE, "stored table with id %" PRIu32 " does not exist", table_id);
}

/* Of any database, and perhaps dropped. */
static WcStatus
find_table(WcOverlay *overlay, uint32_t table_id, WcTableState **state, WcError *err)
{
	WcTableState *t = known_state(overlay, table_id);

	if (t == NULL)
	{
		WcTable    *base = wc_catalog_table(overlay->engine, table_id);

		if (base == NULL)
			return wc_overlay_no_table(table_id, err);
		t = wc_arena_alloc_zero(&overlay->arena, sizeof(*t));
		if (t == NULL)
		{
			wc_table_unref(base);
			return overlay_memory(err);
		}
		t->id = table_id;
		t->base = base;
		t->desc = &base->desc;
		add_state(overlay, t);
	}
	*state = t;
	return WC_OK;
}

WcStatus
wc_overlay_table(WcOverlay *overlay, uint32_t table_id, WcTableState **state, WcError *err)
{
	WcStatus	status = find_table(overlay, table_id, state, err);

	if (status != WC_OK)
		return status;
	if ((*state)->desc == NULL || (*state)->desc->database != overlay->database)
		return wc_overlay_no_table(table_id, err);
	return WC_OK;
}

WcStatus
wc_overlay_database(WcOverlay *overlay, uint32_t database, WcError *err)
{
	WcCatalog  *catalog = &overlay->engine->catalog;
	WcStatus	status = WC_OK;
	uint32_t   *ids;
	size_t		n = 0;

	pthread_rwlock_rdlock(&catalog->lock);
	ids = malloc((catalog->ntables + 1) * sizeof(uint32_t));
	for (size_t i = 0; ids && i < catalog->ntables; i++)
	{
		if (database == WC_EVERY_DATABASE || catalog->tables[i]->desc.database == database)
			ids[n++] = catalog->tables[i]->desc.id;
	}
	pthread_rwlock_unlock(&catalog->lock);
	if (ids == NULL)
		return overlay_memory(err);
	for (size_t i = 0; i < n; i++)
	{
		WcTableState *state;

		/* gone by now: not an error */
		status = find_table(overlay, ids[i], &state, err);
		if (status != WC_OK && status != WC_NO_TABLE)
			break;
		status = WC_OK;
	}
	free(ids);
	return status;
}

/* Namespace there, name free. */
static WcStatus
check_name(WcOverlay *overlay, const WcTableDesc *desc, WcError *err)
{
	char		name[FULLNAME_MAX];
	char		text[WC_QUOTE_MAX];

	if (!namespace_present(overlay, desc->database, desc->ns))
		return wc_error(err, WC_NO_NAMESPACE, "namespace %s does not exist",
						wc_quote(text, sizeof(text), desc->ns));
	if (table_present(overlay, desc->database, desc->ns, desc->name, desc->id))
		return wc_error(err, WC_EXISTS, "stored table \"%s\" already exists",
						wc_table_desc_fullname(desc, name, sizeof(name)));
	return WC_OK;
}

static WcStatus
decode_desc(WcOverlay *overlay, const WcOp *op, WcTableDesc **desc, WcError *err)
{
	*desc = wc_arena_alloc_zero(&overlay->arena, sizeof(WcTableDesc));
	if (*desc == NULL)
		return overlay_memory(err);
	return wc_table_desc_decode(op->desc, &overlay->arena, *desc, err);
}

static WcStatus
create_op(WcOverlay *overlay, const WcOp *op, uint64_t offset, WcError *err)
{
	WcTableDesc *desc;
	WcTableState *state;
	WcTable    *base;
	WcStatus	status = decode_desc(overlay, op, &desc, err);

	if (status != WC_OK)
		return status;
	if (desc->id >= overlay->next_table_id && desc->id < UINT32_MAX)
		overlay->next_table_id = desc->id + 1;
	base = wc_catalog_table(overlay->engine, desc->id);
	wc_table_unref(base);
	if (overlay->strict)
	{
		if (desc->database != overlay->database)
			return wc_error(err, WC_INVALID, "a table cannot be created in another database");
		if (base || known_state(overlay, desc->id))
			return wc_error(err, WC_EXISTS, "stored table with id %" PRIu32 " already exists", desc->id);
		status = check_name(overlay, desc, err);
		if (status != WC_OK)
			return status;
	}
	else if (base || known_state(overlay, desc->id))
		return WC_OK;

	state = wc_arena_alloc_zero(&overlay->arena, sizeof(*state));
	if (state == NULL)
		return overlay_memory(err);
	state->id = desc->id;
	state->desc = desc;
	state->changed = true;
	state->hidden = true;
	state->void_before = offset;
	add_state(overlay, state);
	return WC_OK;
}

/* Would reads of earlier times see less under the new attributes? */
static bool
forgets_more(const WcFamilyAttrs *old, const WcFamilyAttrs *new)
{
	int64_t		old_ttl = old->ttl_us > 0 ? old->ttl_us : INT64_MAX;
	int64_t		new_ttl = new->ttl_us > 0 ? new->ttl_us : INT64_MAX;

	return new_ttl < old_ttl || new->versions < old->versions || new->min_versions < old->min_versions ||
		(old->keep_deleted != WC_KEEP_DELETED_FALSE && new->keep_deleted == WC_KEEP_DELETED_FALSE);
}

/*
 * Fields that ALTER may not set: generations (a TRUNCATE may have come between), and packing, which determines
 * the bytes.
 */
static WcStatus
alter_families(const WcTableDesc *old, WcTableDesc *new, int64_t ts, WcError *err)
{
	char		text[WC_QUOTE_MAX];

	for (uint32_t i = 0; i < new->nfamilies; i++)
	{
		WcFamilyDesc *family = &new->families[i];
		const WcFamilyDesc *was = wc_table_desc_family_by_id(old, family->id);

		if (was == NULL && family->id < old->next_family_id)
			return wc_error(err, WC_STALE, "family %s was dropped in the meantime",
							wc_quote(text, sizeof(text), family->name));
		if (was == NULL)
			continue;
		if (was->attrs.packing != family->attrs.packing)
			return wc_error(err, WC_INVALID, "packing of family %s cannot be changed",
							wc_quote(text, sizeof(text), family->name));
		family->generation = was->generation;
		family->history_from_us = was->history_from_us;
		if (forgets_more(&was->attrs, &family->attrs) && family->history_from_us < ts)
			family->history_from_us = ts;
	}
	return WC_OK;
}

static WcStatus
alter_op(WcOverlay *overlay, const WcOp *op, uint64_t offset, int64_t ts, WcError *err)
{
	WcTableDesc *desc;
	WcTableState *state;
	WcStatus	status = decode_desc(overlay, op, &desc, err);
	char		name[FULLNAME_MAX];

	if (status == WC_OK)
		status = wc_overlay_table(overlay, desc->id, &state, err);
	if (status != WC_OK)
		return status;
	if (desc->database != state->desc->database || desc->next_family_id < state->desc->next_family_id)
		return wc_error(err, WC_STALE, "stored table \"%s\" was changed in the meantime",
						wc_table_desc_fullname(desc, name, sizeof(name)));
	if (overlay->strict)
		status = check_name(overlay, desc, err);
	if (status == WC_OK)
		status = alter_families(state->desc, desc, ts, err);
	for (uint32_t i = 0; status == WC_OK && i < state->desc->nfamilies; i++)
	{
		uint32_t	id = state->desc->families[i].id;
		WcGoneFamily *gone;

		if (wc_table_desc_family_by_id(desc, id) != NULL)
			continue;
		gone = wc_arena_alloc(&overlay->arena, sizeof(*gone));
		if (gone == NULL)
			return overlay_memory(err);
		gone->id = id;
		gone->offset = offset;
		gone->next = state->gone;
		state->gone = gone;
	}
	if (status != WC_OK)
		return status;
	state->desc = desc;
	state->changed = true;
	return WC_OK;
}

static void
set_dropped(WcTableState *state, uint64_t offset)
{
	state->desc = NULL;
	state->changed = true;
	state->void_before = offset;
}

static WcStatus
drop_op(WcOverlay *overlay, const WcOp *op, uint64_t offset, WcError *err)
{
	WcTableState *state;
	WcStatus	status = wc_overlay_table(overlay, op->table_id, &state, err);

	if (status != WC_OK)
		return status;
	set_dropped(state, offset);
	return WC_OK;
}

static WcStatus
truncate_op(WcOverlay *overlay, const WcOp *op, uint64_t offset, int64_t ts, WcError *err)
{
	WcTableState *state;
	WcTableDesc *desc;
	WcStatus	status = wc_overlay_table(overlay, op->table_id, &state, err);

	if (status != WC_OK)
		return status;
	desc = wc_arena_alloc(&overlay->arena, sizeof(*desc));
	if (desc == NULL)
		return overlay_memory(err);
	*desc = *state->desc;
	desc->families = wc_arena_alloc(&overlay->arena, desc->nfamilies * sizeof(WcFamilyDesc));
	if (desc->families == NULL)
		return overlay_memory(err);
	for (uint32_t i = 0; i < desc->nfamilies; i++)
	{
		desc->families[i] = state->desc->families[i];
		desc->families[i].generation++;
		if (desc->families[i].history_from_us < ts)
			desc->families[i].history_from_us = ts;
	}
	state->desc = desc;
	state->changed = true;
	state->hidden = true;
	state->void_before = offset;
	return WC_OK;
}

/* All of the database's tables: PostgreSQL has checked that the database may be dropped. */
static WcStatus
drop_database_op(WcOverlay *overlay, const WcOp *op, uint64_t offset, WcError *err)
{
	WcStatus	status = wc_overlay_database(overlay, op->database, err);

	if (status == WC_OK)
		status = drop_namespaces(overlay, op->database, err);
	for (WcTableState *t = overlay->tables; status == WC_OK && t; t = t->next)
	{
		if (t->desc && t->desc->database == op->database)
			set_dropped(t, offset);
	}
	return status;
}

WcStatus
wc_overlay_op(WcOverlay *overlay, const WcOp *op, uint64_t offset, int64_t ts, WcError *err)
{
	WcStatus	status;

	switch (op->kind)
	{
		case WC_OP_CREATE_TABLE:
			status = create_op(overlay, op, offset, err);
			break;
		case WC_OP_ALTER_TABLE:
			status = alter_op(overlay, op, offset, ts, err);
			break;
		case WC_OP_DROP_TABLE:
			status = drop_op(overlay, op, offset, err);
			break;
		case WC_OP_TRUNCATE_TABLE:
			status = truncate_op(overlay, op, offset, ts, err);
			break;
		case WC_OP_CREATE_NAMESPACE:
		case WC_OP_DROP_NAMESPACE:
		case WC_OP_ALTER_NAMESPACE:
			status = namespace_op(overlay, op, err);
			break;
		case WC_OP_DROP_DATABASE:
			status = drop_database_op(overlay, op, offset, err);
			break;
		default:
			return wc_error(err, WC_INTERNAL, "operation %u is none of the catalog's", op->kind);
	}

	/* A view skips operations that do not fit; the commit raises the error. */
	if (!overlay->strict && (status == WC_NO_TABLE || status == WC_STALE || status == WC_INVALID))
		return WC_OK;
	return status;
}

WcStatus
wc_overlay_picture(WcOverlay *overlay, const WcTableState *state, WcTable **table, WcError *err)
{
	WcTable    *t;

	if (!state->changed)
	{
		*table = wc_table_ref(state->base);
		return WC_OK;
	}
	t = wc_table_create(state->desc);
	if (t == NULL)
		return overlay_memory(err);
	for (uint32_t i = 0; i < t->desc.nfamilies; i++)
	{
		WcFamilyDesc *family = &t->desc.families[i];
		WcStore    *store = state->base ? wc_table_store(state->base, family->id) : NULL;

		if (store != NULL && store->generation == family->generation)
			t->stores[i] = wc_store_ref(store);
		else
			t->stores[i] = wc_store_create(overlay->engine, t->desc.id, family);
		if (t->stores[i] == NULL)
		{
			wc_table_unref(t);
			return overlay_memory(err);
		}
	}
	*table = t;
	return WC_OK;
}
