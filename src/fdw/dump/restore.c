/*
 * fdw/dump/restore.c: rows of widecol.dump become namespaces, stored tables and cells again.
 *
 * The rows of foreign tables may be there already, or come at the same time in another session: pg_dump's
 * order is that of names.  So existing objects stay, and missing parts are added.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "base/clock.h"
#include "client/client.h"
#include "client/foreign/families.h"
#include "client/foreign/foreign.h"
#include "client/foreign/ttl.h"
#include "fdw/convert/convert.h"
#include "fdw/dump/dump.h"
#include "fdw/write/rowwrite.h"

struct WcRestore
{
	CommandId	cid;
	MemoryContext context;		/* of the statement */
	MemoryContext row_context;
	MemoryContext table_context;	/* of the next two */
	char	   *name;			/* NULL: no table yet */
	WcTableDesc *desc;
	uint64		generation;		/* of the catalog when desc was looked up */
	WcRowWrite	write;
};

WcRestore *
wc_restore_begin(CommandId cid)
{
	WcRestore  *restore = palloc0(sizeof(WcRestore));

	wc_client_require_writable();
	restore->cid = cid;
	restore->context = CurrentMemoryContext;
	restore->row_context = AllocSetContextCreate(CurrentMemoryContext, "widecol restored row", ALLOCSET_DEFAULT_SIZES);
	restore->table_context = AllocSetContextCreate(CurrentMemoryContext, "widecol restored table", ALLOCSET_SMALL_SIZES);
	wc_rowwrite_init(&restore->write, NULL);
	return restore;
}

/* --- columns ------------------------------------------------------------------- */

static bool
is_given(const TupleTableSlot *slot, int column)
{
	return !slot->tts_isnull[column];
}

static Datum
value_of(const TupleTableSlot *slot, int column)
{
	if (slot->tts_isnull[column])
		ereport(ERROR,
				(errcode(ERRCODE_NOT_NULL_VIOLATION),
				 errmsg("null value in column \"%s\" of widecol.dump",
						NameStr(TupleDescAttr(slot->tts_tupleDescriptor, column)->attname))));
	return slot->tts_values[column];
}

static char *
text_of(const TupleTableSlot *slot, int column)
{
	return TextDatumGetCString(value_of(slot, column));
}

static WcSlice
bytes_of(const TupleTableSlot *slot, int column)
{
	bytea	   *bytes = DatumGetByteaPP(value_of(slot, column));

	return wc_slice(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
}

/* --- namespaces and tables ------------------------------------------------------- */

static void
make_namespace(const char *name)
{
	if (wc_client_namespace(name) == NULL)
		wc_client_create_namespace(name);
}

/* Properties that it has already stay, unless the dump has others by these names. */
static void
restore_namespace(const TupleTableSlot *slot)
{
	char	   *name = text_of(slot, WC_DUMP_NAME);

	make_namespace(name);
	if (is_given(slot, WC_DUMP_FAMILIES))
		wc_client_change_properties(name, DatumGetJsonbP(slot->tts_values[WC_DUMP_FAMILIES]));
}

static void
set_splits(WcTableDesc *desc, const TupleTableSlot *slot)
{
	Datum	   *elements;
	bool	   *nulls;
	int			n = 0;

	if (is_given(slot, WC_DUMP_SPLITS))
		deconstruct_array(DatumGetArrayTypeP(slot->tts_values[WC_DUMP_SPLITS]), BYTEAOID, -1, false, TYPALIGN_INT,
						  &elements, &nulls, &n);
	desc->nsplits = n;
	desc->splits = palloc(sizeof(WcSlice) * (n + 1));
	for (int i = 0; i < n; i++)
	{
		bytea	   *split = nulls[i] ? NULL : DatumGetByteaPP(elements[i]);

		desc->splits[i] = split ? wc_slice(VARDATA_ANY(split), VARSIZE_ANY_EXHDR(split)) : wc_slice(NULL, 0);
	}
}

static bool
is_used(const WcTableDesc *desc, const WcFamilyDesc *family)
{
	char	   *name = pnstrdup((const char *) family->name.data, family->name.len);
	ListCell   *lc;

	foreach(lc, wc_foreign_tables_of(InvalidOid, wc_client_table_fullname(desc)))
		if (wc_foreign_uses_family(lfirst_oid(lc), name))
			return true;
	return false;
}

/* Gives an existing family its old attributes.  False: the family did not exist. */
static bool
restore_family(WcFamilyDesc *family, const WcTableDesc *old, const WcFamilySpec *spec)
{
	const WcFamilyDesc was = *family;

	if (spec == NULL)
		return is_used(old, &was) || !wc_client_is_empty(old, &was);
	wc_family_spec_apply(spec, &family->attrs);
	if (family->attrs.packing == was.attrs.packing || family->attrs.packing == WC_PACKING_AUTO)
	{
		family->attrs.packing = was.attrs.packing;
		return true;
	}
	if (wc_client_is_empty(old, &was))
	{
		family->id = 0;
		family->generation = 0;
		family->history_from_us = 0;
		return true;
	}
	ereport(WARNING,
			(errmsg("family \"%s\" of stored table \"%s\" keeps packing \"%s\"",
					wc_text_from_utf8(was.name), wc_client_table_fullname(old), wc_packing_name(was.attrs.packing)),
			 errdetail("It was dumped from one of packing \"%s\", and has cells already.",
					   wc_packing_name(family->attrs.packing))));
	family->attrs.packing = was.attrs.packing;
	return true;
}

/* The families of specs, over those of old, which may be NULL. */
static void
set_families(WcTableDesc *desc, const WcTableDesc *old, List *specs)
{
	uint32		nold = old ? old->nfamilies : 0;
	ListCell   *lc;

	desc->families = palloc0(sizeof(WcFamilyDesc) * (nold + list_length(specs) + 1));
	desc->nfamilies = 0;
	for (uint32 i = 0; i < nold; i++)
	{
		WcFamilyDesc *family = &desc->families[desc->nfamilies];

		*family = old->families[i];
		if (restore_family(family, old, wc_family_spec_find(specs, family->name)))
			desc->nfamilies++;
	}
	foreach(lc, specs)
	{
		const WcFamilySpec *spec = lfirst(lc);
		WcFamilyDesc *family = &desc->families[desc->nfamilies];

		if (old && wc_table_desc_family(old, wc_slice_cstr(spec->name)) != NULL)
			continue;
		memset(family, 0, sizeof(*family));
		family->name = wc_slice_cstr(spec->name);
		family->attrs = wc_family_attrs_default;
		wc_family_spec_apply(spec, &family->attrs);
		if (family->attrs.packing == WC_PACKING_AUTO)
			family->attrs.packing = WC_PACKING_CELL;
		desc->nfamilies++;
	}
	wc_family_descs_sort(desc->families, desc->nfamilies);
}

static bool
same_desc(const WcTableDesc *a, const WcTableDesc *b)
{
	WcBuf		x = WC_BUF_INIT;
	WcBuf		y = WC_BUF_INIT;
	bool		same;

	wc_table_desc_encode(&x, a);
	wc_table_desc_encode(&y, b);
	same = !x.failed && !y.failed && wc_slice_eq(wc_buf_slice(&x), wc_buf_slice(&y));
	wc_buf_free(&x);
	wc_buf_free(&y);
	return same;
}

static int64
ttl_of(const TupleTableSlot *slot)
{
	return is_given(slot, WC_DUMP_TTL) ? wc_ttl_of_interval(slot->tts_values[WC_DUMP_TTL]) : 0;
}

/* If the role does not exist, the role that restores becomes the owner. */
static void
set_owner(WcTableDesc *desc, const TupleTableSlot *slot)
{
	const char *name;
	Oid			owner;

	if (!is_given(slot, WC_DUMP_OWNER))
		return;
	name = NameStr(*DatumGetName(slot->tts_values[WC_DUMP_OWNER]));
	owner = get_role_oid(name, true);
	if (OidIsValid(owner))
		desc->owner = owner;
	else
		ereport(WARNING,
				(errmsg("role \"%s\", which owned stored table \"%s\", does not exist",
						name, wc_client_table_fullname(desc)),
				 errhint("widecol.alter_table_owner gives the table to another role.")));
}

static void
restore_table(const TupleTableSlot *slot)
{
	char	   *name = text_of(slot, WC_DUMP_NAME);
	List	   *specs = wc_families_parse(DatumGetJsonbP(value_of(slot, WC_DUMP_FAMILIES)), false);
	WcTableDesc *desc = palloc0(sizeof(WcTableDesc));
	WcTableDesc *old = wc_client_table(name, true);

	if (old != NULL)
	{
		/* its descriptor may change until the lock is held */
		wc_client_lock_table(name, AccessExclusiveLock);
		old = wc_client_table(name, true);
	}
	if (old != NULL)
		*desc = *old;
	else
	{
		wc_client_split_name(name, &desc->ns, &desc->name);
		make_namespace(wc_text_from_utf8(desc->ns));
	}
	set_families(desc, old, specs);
	set_splits(desc, slot);
	set_owner(desc, slot);
	desc->ttl_us = ttl_of(slot);
	wc_table_desc_inherit(desc);
	if (old == NULL)
		wc_client_create_table(desc);
	else if (!same_desc(old, desc))
	{
		wc_client_alter_table(desc);
		wc_foreign_tell_all(wc_client_table(name, false));
	}
}

/* --- cells ----------------------------------------------------------------------- */

static void
open_table(WcRestore *restore, const char *name)
{
	MemoryContext old;

	if (restore->name != NULL && strcmp(restore->name, name) == 0 &&
		restore->generation == wc_client_catalog_generation())
		return;
	restore->name = NULL;
	MemoryContextReset(restore->table_context);
	old = MemoryContextSwitchTo(restore->table_context);
	restore->generation = wc_client_catalog_generation();
	/* rows that foreign tables write at the same time would not be visible */
	wc_client_lock_table(name, ShareRowExclusiveLock);
	restore->desc = wc_client_table(name, false);
	restore->name = pstrdup(name);
	restore->write.desc = restore->desc;
	MemoryContextSwitchTo(old);
}

/*
 * Foreign tables may have brought the column already, without its timestamp.  Below a version
 * that is dated in the future, such a one is known by its value.
 */
static void
delete_stand_in(WcRestore *restore, uint32 family, WcSlice qualifier, int64 ts, WcSlice value)
{
	bool		future = ts > wc_clock_wall_us();
	WcRowWrite *w = &restore->write;
	WcColumn	column = {.family = family,.kind = WC_COLUMN_EXACT,.qualifier = qualifier};
	WcRange		range = {.start = wc_buf_slice(&w->key),.stop = wc_buf_slice(&w->key),.start_inclusive = true,
	.stop_inclusive = true};
	WcClientScan *client_scan;
	WcScan		scan;
	WcSlice		row;
	WcCell		cell;
	uint32		colno;

	wc_scan_init(&scan, restore->desc->id);
	scan.nranges = 1;
	scan.ranges = &range;
	scan.ncolumns = 1;
	scan.columns = &column;
	scan.versions = WC_VERSIONS_MAX;
	scan.want_ts = true;
	client_scan = wc_client_scan_open(&scan, wc_client_snapshot(NULL), GetCurrentCommandId(false) + 1, 1,
									  CurrentMemoryContext);
	while (wc_client_next_row(client_scan, &row))
		while (wc_client_next_cell(client_scan, &cell, &colno))
			if (cell.ts > ts || (future && cell.ts < ts && wc_slice_eq(cell.value, value)))
				wc_rowwrite_delete(w, WC_ITEM_DELETE, family, qualifier, cell.ts);
	wc_client_scan_close(client_scan);
}

static void
restore_cell(WcRestore *restore, const TupleTableSlot *slot, bool newest)
{
	WcRowWrite *w = &restore->write;
	char	   *family_name = text_of(slot, WC_DUMP_FAMILY);
	char	   *type_name = text_of(slot, WC_DUMP_TYPE);
	int64		ts = DatumGetInt64(value_of(slot, WC_DUMP_TS));
	WcSlice		qualifier = bytes_of(slot, WC_DUMP_QUALIFIER);
	const WcFamilyDesc *family;
	uint8_t		type;

	open_table(restore, text_of(slot, WC_DUMP_NAME));
	family = wc_table_desc_family(restore->desc, wc_text_to_utf8(family_name, strlen(family_name)));
	if (family == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("family \"%s\" does not exist in stored table \"%s\"", family_name, restore->name)));
	if (!wc_cell_type_parse(wc_slice_cstr(type_name), &type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid type of cell: \"%s\"", type_name)));
	wc_rowwrite_start(w);
	wc_buf_append_slice(&w->key, bytes_of(slot, WC_DUMP_ROW));
	if (newest)
		delete_stand_in(restore, family->id, qualifier, ts, bytes_of(slot, WC_DUMP_VALUE));
	if (type == WC_PUT)
		wc_rowwrite_put_cell(w, family->id, qualifier, ts, ttl_of(slot), bytes_of(slot, WC_DUMP_VALUE));
	else
		wc_rowwrite_delete(w, (WcItemKind) type, family->id, qualifier, ts);
	wc_rowwrite_send(w, restore->cid, NULL, 0);
}

void
wc_restore_row(WcRestore *restore, TupleTableSlot *slot)
{
	MemoryContext old;
	char	   *kind;

	slot_getallattrs(slot);
	MemoryContextReset(restore->row_context);
	old = MemoryContextSwitchTo(restore->row_context);
	kind = text_of(slot, WC_DUMP_KIND);
	if (strcmp(kind, "namespace") == 0)
		restore_namespace(slot);
	else if (strcmp(kind, "table") == 0)
		restore_table(slot);
	else if (strcmp(kind, "cell") == 0 || strcmp(kind, "newest") == 0)
		restore_cell(restore, slot, kind[0] == 'n');
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid kind of row in widecol.dump: \"%s\"", kind),
				 errhint("Valid kinds are: namespace, table, cell, newest.")));
	MemoryContextSwitchTo(old);
}
