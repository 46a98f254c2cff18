/*
 * shell/table/table.c: stored tables made, changed, described, dropped.
 *
 * All of it belongs to the transaction.  Making a stored table takes USAGE on the server; changing one
 * takes its owner (client/catalog/owner.h).  The last argument of most functions is the server: of an HBase cluster,
 * or "widecol".
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "client/catalog/owner.h"
#include "client/foreign/families.h"
#include "client/foreign/foreign.h"
#include "client/foreign/ttl.h"
#include "compat.h"
#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_create_table);
PG_FUNCTION_INFO_V1(widecol_alter_table);
PG_FUNCTION_INFO_V1(widecol_alter_table_owner);
PG_FUNCTION_INFO_V1(widecol_drop_table);
PG_FUNCTION_INFO_V1(widecol_truncate_table);
PG_FUNCTION_INFO_V1(widecol_exists);
PG_FUNCTION_INFO_V1(widecol_describe);
PG_FUNCTION_INFO_V1(widecol_tables);
PG_FUNCTION_INFO_V1(widecol_families);
PG_FUNCTION_INFO_V1(widecol_orphans);
PG_FUNCTION_INFO_V1(widecol_drop_orphans);

static int
compare_slices(const void *a, const void *b)
{
	return wc_slice_cmp(*(const WcSlice *) a, *(const WcSlice *) b);
}

/* Sorted; NULL, empty and repeated split points are refused. */
static void
set_splits(WcTableDesc *desc, ArrayType *array)
{
	Datum	   *elements;
	bool	   *nulls;
	int			n;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("splits must be a one-dimensional array")));
	deconstruct_array(array, BYTEAOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
	if (n > WC_SPLITS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many split points"),
				 errdetail("There are %d; the limit is %d.", n, WC_SPLITS_MAX)));
	desc->splits = palloc(sizeof(WcSlice) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		bytea	   *key = nulls[i] ? NULL : DatumGetByteaPP(elements[i]);

		if (key == NULL || VARSIZE_ANY_EXHDR(key) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("split point %d must not be %s", i + 1, key ? "empty" : "null")));
		if (VARSIZE_ANY_EXHDR(key) > WC_ROW_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("split point %d is too long", i + 1),
					 errdetail("It has %zu bytes; the limit is %d.",
							   (size_t) VARSIZE_ANY_EXHDR(key), WC_ROW_MAX)));
		desc->splits[i] = wc_slice(VARDATA_ANY(key), VARSIZE_ANY_EXHDR(key));
	}
	qsort(desc->splits, n, sizeof(WcSlice), compare_slices);
	for (int i = 1; i < n; i++)
		if (wc_slice_eq(desc->splits[i - 1], desc->splits[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("split points must be distinct")));
	desc->nsplits = n;
}

/* No foreign table declares the qualifiers of a table that is made by name: packing auto is cell. */
static void
finish_family(WcFamilyDesc *family)
{
	WcError		err;

	if (family->attrs.packing == WC_PACKING_AUTO)
		family->attrs.packing = WC_PACKING_CELL;
	if (wc_family_attrs_check(family->name, &family->attrs, &err) != WC_OK)
		wc_raise(&err);
}

Datum
widecol_create_table(PG_FUNCTION_ARGS)
{
	WcClientStore *store = wc_arg_store(fcinfo, 3);
	WcTableDesc *desc = palloc0(sizeof(WcTableDesc));
	char	   *name;
	List	   *specs;
	ListCell   *lc;

	wc_arg_not_null(fcinfo, 0, "name");
	wc_arg_not_null(fcinfo, 1, "families");
	wc_owner_require_usage(store);
	name = wc_arg_cstring(fcinfo, 0);
	wc_client_split_name(name, &desc->ns, &desc->name);

	specs = wc_families_parse(PG_GETARG_JSONB_P(1), false);
	if (specs == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("stored table \"%s\" needs at least one family", name),
				 errhint("For example: {\"cf\": {}}.")));
	desc->families = palloc0(sizeof(WcFamilyDesc) * list_length(specs));
	foreach(lc, specs)
	{
		WcFamilySpec *spec = lfirst(lc);
		WcFamilyDesc *family = &desc->families[desc->nfamilies++];

		family->name = wc_slice_cstr(spec->name);
		family->attrs = *wc_client_store_family_defaults(store);
		wc_family_spec_apply(spec, &family->attrs);
		finish_family(family);
	}
	wc_family_descs_sort(desc->families, desc->nfamilies);
	if (!PG_ARGISNULL(2))
		set_splits(desc, PG_GETARG_ARRAYTYPE_P(2));

	if (wc_client_store_is_embedded(store))
		wc_client_lock_table(name, AccessExclusiveLock);
	wc_client_store_create_table(store, desc);
	PG_RETURN_VOID();
}

/* Opens a stored table for its owner, and locks it exclusively, with the foreign tables that map it. */
static WcTableDesc *
open_owned(FunctionCallInfo fcinfo, WcClientStore *store, const char *action, char **name, List **relids)
{
	wc_arg_not_null(fcinfo, 0, "name");
	*name = wc_arg_cstring(fcinfo, 0);
	return wc_owner_open(store, *name, action, NIL, relids);
}

void
wc_family_require_unused(const WcClientStore *store, const char *fullname, const char *family)
{
	ListCell   *lc;

	foreach(lc, wc_foreign_tables_of(wc_client_store_server(store), fullname))
	{
		Oid			relid = lfirst_oid(lc);

		if (wc_foreign_uses_family(relid, family))
			ereport(ERROR,
					(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
					 errmsg("cannot drop family \"%s\" of stored table \"%s\" because foreign table %s has columns in it",
							wc_name_from_utf8(wc_slice_cstr(family)), fullname, wc_foreign_qualified_name(relid)),
					 errhint("Drop these columns or the foreign table first.")));
	}
}

Datum
widecol_alter_table(PG_FUNCTION_ARGS)
{
	WcClientStore *store = wc_arg_store(fcinfo, 2);
	char	   *name;
	WcTableDesc *desc = open_owned(fcinfo, store, "alter", &name, NULL);
	WcFamilyDesc *families;
	uint32		n = 0;
	List	   *specs;
	ListCell   *lc;

	wc_arg_not_null(fcinfo, 1, "families");
	specs = wc_families_parse(PG_GETARG_JSONB_P(1), true);
	families = palloc0(sizeof(WcFamilyDesc) * (desc->nfamilies + list_length(specs)));
	for (uint32 i = 0; i < desc->nfamilies; i++)
		families[n++] = desc->families[i];

	foreach(lc, specs)
	{
		WcFamilySpec *spec = lfirst(lc);
		WcSlice		family_name = wc_slice_cstr(spec->name);
		uint32		i = 0;
		uint8		packing;

		while (i < n && !wc_slice_eq(families[i].name, family_name))
			i++;
		if (spec->drop)
		{
			if (i == n)
				(void) wc_family_lookup(desc, wc_name_from_utf8(family_name));	/* raises */
			wc_family_require_unused(store, name, spec->name);
			memmove(&families[i], &families[i + 1], sizeof(WcFamilyDesc) * (n - i - 1));
			memset(&families[--n], 0, sizeof(WcFamilyDesc));	/* a new family has no id yet */
			continue;
		}
		if (i == n)
		{
			families[n].name = family_name;
			families[n++].attrs = *wc_client_store_family_defaults(store);
			packing = WC_PACKING_AUTO;
		}
		else
			packing = families[i].attrs.packing;
		wc_family_spec_apply(spec, &families[i].attrs);
		if (packing != WC_PACKING_AUTO && families[i].attrs.packing == WC_PACKING_AUTO)
			families[i].attrs.packing = packing;
		if (packing != WC_PACKING_AUTO && families[i].attrs.packing != packing)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("packing of family \"%s\" cannot be changed", spec->name),
					 errhint("Make a new family with the other packing and copy the data.")));
		finish_family(&families[i]);
	}
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("stored table \"%s\" needs at least one family", name)));
	wc_family_descs_sort(families, n);
	desc->families = families;
	desc->nfamilies = n;
	wc_table_desc_inherit(desc);
	wc_client_store_alter_table(store, desc);
	if (wc_client_store_is_embedded(store))
		wc_foreign_tell_all(desc);
	PG_RETURN_VOID();
}

/* A table of an HBase cluster has no owner: the owner of the foreign table decides whether that may go with it. */
static void
require_foreign_tables(List *relids)
{
	ListCell   *lc;

	foreach(lc, relids)
	{
		Oid			relid = lfirst_oid(lc);

		if (!pg_class_ownercheck(relid, GetUserId()))
			aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_FOREIGN_TABLE, get_rel_name(relid));
	}
}

/* The foreign tables go with the stored table, and with them what depends on them. */
static void
drop_foreign_tables(const WcClientStore *store, const char *fullname, List *relids, bool cascade)
{
	ObjectAddresses *objects = new_object_addresses();
	StringInfoData list;
	ListCell   *lc;

	initStringInfo(&list);
	foreach(lc, relids)
	{
		ObjectAddress object = {.classId = RelationRelationId,.objectId = lfirst_oid(lc)};

		add_exact_object_address(&object, objects);
		appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "", wc_foreign_qualified_name(lfirst_oid(lc)));
	}
	if (!cascade)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("cannot drop stored table \"%s\" because foreign tables map it", fullname),
				 errdetail("Foreign tables: %s.", list.data),
				 errhint("Drop them first, or use cascade => true to drop them too.")));
	if (!wc_client_store_is_embedded(store))
		require_foreign_tables(relids);
	ereport(NOTICE, (errmsg("drop of stored table \"%s\" cascades to foreign tables: %s", fullname, list.data)));

	/* that the stored table is kept need not be said */
	performMultipleDeletions(objects, DROP_CASCADE, PERFORM_DELETION_INTERNAL);
	free_object_addresses(objects);
}

/* drop_table(name, cascade, server) */
Datum
widecol_drop_table(PG_FUNCTION_ARGS)
{
	WcClientStore *store = wc_arg_store(fcinfo, 2);
	char	   *name;
	List	   *relids;
	WcTableDesc *desc;

	wc_arg_not_null(fcinfo, 1, "cascade");
	desc = open_owned(fcinfo, store, "drop", &name, &relids);
	if (relids != NIL)
		drop_foreign_tables(store, name, relids, PG_GETARG_BOOL(1));
	wc_client_store_drop_table(store, desc);
	PG_RETURN_VOID();
}

Datum
widecol_truncate_table(PG_FUNCTION_ARGS)
{
	WcClientStore *store = wc_arg_store(fcinfo, 1);
	char	   *name;

	wc_client_store_truncate_table(store, open_owned(fcinfo, store, "truncate", &name, NULL));
	PG_RETURN_VOID();
}

/* alter_table_owner(name, owner) */
Datum
widecol_alter_table_owner(PG_FUNCTION_ARGS)
{
	wc_arg_not_null(fcinfo, 1, "owner");
	wc_owner_change(wc_arg_name(fcinfo, 0, "name"), get_role_oid(NameStr(*PG_GETARG_NAME(1)), false));
	PG_RETURN_VOID();
}

/* --- what there is ------------------------------------------------------------ */

/* exists(name, server): is there such a stored table? */
Datum
widecol_exists(PG_FUNCTION_ARGS)
{
	WcClientStore *store = wc_arg_store(fcinfo, 1);

	if (!wc_client_store_is_embedded(store))
		wc_owner_require_usage(store);
	PG_RETURN_BOOL(wc_client_store_table(store, wc_arg_cstring(fcinfo, 0), true) != NULL);
}

static Datum
text_of(WcSlice name)
{
	return CStringGetTextDatum(wc_name_from_utf8(name));
}

#define FAMILY_COLUMNS 12

/* The columns that describe() and widecol.families share. */
static void
family_values(const WcFamilyDesc *family, Datum *values, bool *nulls)
{
	const WcFamilyAttrs *a = &family->attrs;

	values[0] = text_of(family->name);
	values[1] = Int32GetDatum((int32) a->versions);
	values[2] = Int32GetDatum((int32) a->min_versions);
	values[3] = wc_ttl_to_interval(a->ttl_us);
	nulls[3] = a->ttl_us == 0;	/* for ever */
	values[4] = CStringGetTextDatum(wc_keep_deleted_name(a->keep_deleted));
	values[5] = CStringGetTextDatum(wc_bloomfilter_name(a->bloomfilter));
	values[6] = CStringGetTextDatum(wc_compression_name(a->compression));
	values[7] = Int32GetDatum((int32) a->blocksize);
	values[8] = BoolGetDatum(a->blockcache);
	values[9] = BoolGetDatum(a->in_memory);
	values[10] = CStringGetTextDatum(wc_packing_name(a->packing));
	nulls[11] = family->history_from_us == 0;
	values[11] = TimestampTzGetDatum(family->history_from_us -
									 (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY);
}

/* The same table as it is now: since when families remember is not in the descriptor that a backend caches. */
static WcTableDesc *
refreshed(WcTableDesc *desc)
{
	ListCell   *lc;

	foreach(lc, wc_client_list_tables())
	{
		WcTableDesc *now = lfirst(lc);

		if (now->id == desc->id)
			return now;
	}
	return desc;
}

Datum
widecol_describe(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	WcClientStore *store = wc_arg_store(fcinfo, 1);
	WcTableDesc *desc;

	InitMaterializedSRF(fcinfo, 0);
	wc_owner_require_usage(store);
	desc = wc_client_store_table(store, wc_arg_cstring(fcinfo, 0), false);
	if (wc_client_store_is_embedded(store))
		desc = refreshed(desc);
	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		Datum		values[FAMILY_COLUMNS];
		bool		nulls[FAMILY_COLUMNS] = {false};

		family_values(&desc->families[i], values, nulls);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* The foreign tables that map it, as regclass[]. */
static Datum
foreign_tables_datum(const WcClientStore *store, const WcTableDesc *desc, List *all)
{
	char	   *name = wc_client_table_fullname(desc);
	Datum	   *elements = palloc(sizeof(Datum) * Max(list_length(all), 1));
	int			n = 0;
	ListCell   *lc;

	foreach(lc, all)
	{
		const WcForeignTable *table = lfirst(lc);

		if (wc_foreign_maps(table, wc_client_store_server(store), name))
			elements[n++] = ObjectIdGetDatum(table->relid);
	}
	return PointerGetDatum(construct_array(elements, n, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT));
}

/* As text[]. */
static Datum
family_names(const WcTableDesc *desc)
{
	Datum	   *names = palloc(sizeof(Datum) * Max(desc->nfamilies, 1));

	for (uint32 i = 0; i < desc->nfamilies; i++)
		names[i] = text_of(desc->families[i].name);
	return PointerGetDatum(construct_array(names, (int) desc->nfamilies, TEXTOID, -1, false, TYPALIGN_INT));
}

/* The store whose tables are listed: everybody may see those of the embedded engine. */
static WcClientStore *
listed_store(FunctionCallInfo fcinfo)
{
	WcClientStore *store = wc_arg_store(fcinfo, 0);

	if (!wc_client_store_is_embedded(store))
		wc_owner_require_usage(store);
	return store;
}

/* list_tables(server): namespace, name, families, splits, owner, foreign_tables, ttl, enabled; HBase does not tell splits
 * and enabled with the table's description */
Datum
widecol_tables(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	WcClientStore *store = listed_store(fcinfo);
	bool		embedded = wc_client_store_is_embedded(store);
	List	   *foreign_tables = wc_foreign_all();
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, wc_client_store_tables(store))
	{
		WcTableDesc *desc = lfirst(lc);
		Datum		values[8];
		bool		nulls[8] = {false};
		char	   *owner = wc_owner_name(desc);

		values[0] = text_of(desc->ns);
		values[1] = text_of(desc->name);
		values[2] = family_names(desc);
		nulls[3] = nulls[7] = !embedded;
		values[3] = Int32GetDatum((int32) desc->nsplits);
		nulls[4] = owner == NULL;
		if (owner != NULL)
			values[4] = DirectFunctionCall1(namein, CStringGetDatum(owner));
		values[5] = foreign_tables_datum(store, desc, foreign_tables);
		values[6] = wc_ttl_to_interval(desc->ttl_us);
		nulls[6] = desc->ttl_us == 0;	/* for ever */
		values[7] = BoolGetDatum(!desc->disabled);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* list_families(server): namespace, table, then as describe() */
Datum
widecol_families(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	WcClientStore *store = listed_store(fcinfo);
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, wc_client_store_tables(store))
	{
		WcTableDesc *desc = lfirst(lc);

		for (uint32 i = 0; i < desc->nfamilies; i++)
		{
			Datum		values[2 + FAMILY_COLUMNS];
			bool		nulls[2 + FAMILY_COLUMNS] = {false};

			values[0] = text_of(desc->ns);
			values[1] = text_of(desc->name);
			family_values(&desc->families[i], values + 2, nulls + 2);
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		}
	}
	return (Datum) 0;
}

/* --- databases that are gone ------------------------------------------------- */

static void
require_superuser(void)
{
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser for stored tables of databases that are gone")));
}

/*
 * Stored tables of databases that are not there:  List of WcTableDesc *.  A table in the list was made in a
 * database that had been committed before the list was taken, so that the database is found here.
 */
static List *
list_orphans(void)
{
	List	   *orphans = NIL;
	ListCell   *lc;

	foreach(lc, wc_client_list_all_tables())
	{
		WcTableDesc *desc = lfirst(lc);

		if (!SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(desc->database)))
			orphans = lappend(orphans, desc);
	}
	return orphans;
}

/* database, namespace, name, families */
Datum
widecol_orphans(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	require_superuser();
	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, list_orphans())
	{
		WcTableDesc *desc = lfirst(lc);
		Datum		values[4];
		bool		nulls[4] = {false};

		values[0] = ObjectIdGetDatum(desc->database);
		values[1] = text_of(desc->ns);
		values[2] = text_of(desc->name);
		values[3] = family_names(desc);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

Datum
widecol_drop_orphans(PG_FUNCTION_ARGS)
{
	List	   *orphans;
	List	   *databases = NIL;
	ListCell   *lc;

	require_superuser();
	wc_client_require_writable();
	orphans = list_orphans();
	foreach(lc, orphans)
		databases = list_append_unique_oid(databases, ((WcTableDesc *) lfirst(lc))->database);
	foreach(lc, databases)
		wc_client_drop_database(lfirst_oid(lc));
	PG_RETURN_INT64(list_length(orphans));
}
