/*
 * shell/table/namespace.c: namespaces made, changed, dropped, listed.
 *
 * A namespace has no owner: making one, changing one, and dropping an empty one, takes USAGE on the
 * server.  All of it belongs to the transaction.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"

#include "client/catalog/owner.h"
#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_create_namespace);
PG_FUNCTION_INFO_V1(widecol_alter_namespace);
PG_FUNCTION_INFO_V1(widecol_drop_namespace);
PG_FUNCTION_INFO_V1(widecol_namespaces);
PG_FUNCTION_INFO_V1(widecol_list_namespace_tables);
PG_FUNCTION_INFO_V1(widecol_describe_namespace);

/* create_namespace(namespace, properties, server) */
Datum
widecol_create_namespace(PG_FUNCTION_ARGS)
{
	WcClientStore *store = wc_arg_store(fcinfo, 2);
	char	   *name;

	wc_arg_not_null(fcinfo, 0, "namespace");
	wc_owner_require_usage(store);
	name = wc_arg_cstring(fcinfo, 0);
	if (!PG_ARGISNULL(1) && !wc_client_store_is_embedded(store))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("namespace \"%s\" of HBase cannot have properties", name),
				 errhint("HBase's shell sets the configuration of a namespace.")));
	wc_client_store_create_namespace(store, name);
	if (!PG_ARGISNULL(1))
		wc_client_change_properties(name, PG_GETARG_JSONB_P(1));
	PG_RETURN_VOID();
}

/* alter_namespace(namespace, properties): those named are set, or taken away where they are null */
Datum
widecol_alter_namespace(PG_FUNCTION_ARGS)
{
	wc_arg_not_null(fcinfo, 0, "namespace");
	wc_arg_not_null(fcinfo, 1, "properties");
	wc_owner_require_usage(wc_client_embedded());
	wc_client_change_properties(wc_arg_cstring(fcinfo, 0), PG_GETARG_JSONB_P(1));
	PG_RETURN_VOID();
}

/* drop_namespace(namespace, server) */
Datum
widecol_drop_namespace(PG_FUNCTION_ARGS)
{
	WcClientStore *store = wc_arg_store(fcinfo, 1);

	wc_owner_require_usage(store);
	wc_client_store_drop_namespace(store, wc_arg_name(fcinfo, 0, "namespace"));
	PG_RETURN_VOID();
}

static int
compare_names(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

static int
compare_namespaces(const ListCell *a, const ListCell *b)
{
	return strcmp(((const WcClientNamespace *) lfirst(a))->name, ((const WcClientNamespace *) lfirst(b))->name);
}

/* Names of the tables of a namespace, without it, in the order of the list. */
static List *
tables_of(const char *ns, List *tables)
{
	WcSlice		wanted = wc_name_to_utf8(ns);
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, tables)
	{
		const WcTableDesc *desc = lfirst(lc);

		if (wc_slice_eq(desc->ns, wanted))
			names = lappend(names, wc_name_from_utf8(desc->name));
	}
	return names;
}

static Datum
properties_of(const WcClientNamespace *ns)
{
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(ns->properties ? ns->properties : "{}"));
}

/* list_namespaces(server): namespace, tables, properties; HBase's are not shown */
Datum
widecol_namespaces(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	WcClientStore *store = wc_arg_store(fcinfo, 0);
	bool		embedded = wc_client_store_is_embedded(store);
	List	   *namespaces;
	List	   *tables;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	if (!embedded)
		wc_owner_require_usage(store);
	namespaces = wc_client_store_namespaces(store);
	tables = wc_client_store_tables(store);
	list_sort(namespaces, compare_namespaces);
	foreach(lc, namespaces)
	{
		const WcClientNamespace *ns = lfirst(lc);
		Datum		values[3];
		bool		nulls[3] = {false};

		values[0] = CStringGetTextDatum(ns->name);
		values[1] = Int32GetDatum(list_length(tables_of(ns->name, tables)));
		nulls[2] = !embedded;
		values[2] = properties_of(ns);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* 3F000 unless the store has the namespace. */
static void
require_namespace(WcClientStore *store, const char *name)
{
	ListCell   *lc;

	foreach(lc, wc_client_store_namespaces(store))
	{
		if (strcmp(((const WcClientNamespace *) lfirst(lc))->name, name) == 0)
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_SCHEMA),
			 errmsg("namespace \"%s\" does not exist", name)));
}

/* list_namespace_tables(namespace, server): the names of its tables */
Datum
widecol_list_namespace_tables(PG_FUNCTION_ARGS)
{
	WcClientStore *store = wc_arg_store(fcinfo, 1);
	char	   *name = wc_arg_cstring(fcinfo, 0);
	ListCell   *lc;
	List	   *tables;
	Datum	   *elements;
	int			n = 0;

	wc_owner_require_usage(store);
	require_namespace(store, name);
	tables = tables_of(name, wc_client_store_tables(store));
	list_sort(tables, compare_names);
	elements = palloc(sizeof(Datum) * Max(list_length(tables), 1));
	foreach(lc, tables)
		elements[n++] = CStringGetTextDatum(lfirst(lc));
	PG_RETURN_ARRAYTYPE_P(construct_array(elements, n, TEXTOID, -1, false, TYPALIGN_INT));
}

/* describe_namespace(namespace): its properties */
Datum
widecol_describe_namespace(PG_FUNCTION_ARGS)
{
	wc_owner_require_usage(wc_client_embedded());
	PG_RETURN_DATUM(properties_of(wc_client_require_namespace(wc_arg_cstring(fcinfo, 0))));
}
