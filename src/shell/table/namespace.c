/*
 * shell/table/namespace.c: namespaces made, dropped, listed.
 *
 * A namespace has no owner: making one, and dropping an empty one, takes USAGE on the
 * server widecol.  All of it belongs to the transaction.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "client/owner.h"
#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_create_namespace);
PG_FUNCTION_INFO_V1(widecol_drop_namespace);
PG_FUNCTION_INFO_V1(widecol_namespaces);
PG_FUNCTION_INFO_V1(widecol_describe_namespace);

Datum
widecol_create_namespace(PG_FUNCTION_ARGS)
{
	wc_owner_require_usage();
	wc_client_create_namespace(wc_arg_cstring(fcinfo, 0));
	PG_RETURN_VOID();
}

Datum
widecol_drop_namespace(PG_FUNCTION_ARGS)
{
	wc_owner_require_usage();
	wc_client_drop_namespace(wc_arg_cstring(fcinfo, 0));
	PG_RETURN_VOID();
}

static int
compare_names(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
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

/* namespace, tables */
Datum
widecol_namespaces(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	List	   *names;
	List	   *tables;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	names = wc_client_list_namespaces();
	tables = wc_client_list_tables();
	list_sort(names, compare_names);
	foreach(lc, names)
	{
		Datum		values[2];
		bool		nulls[2] = {false};

		values[0] = CStringGetTextDatum(lfirst(lc));
		values[1] = Int32GetDatum(list_length(tables_of(lfirst(lc), tables)));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* describe_namespace(namespace): the names of its tables */
Datum
widecol_describe_namespace(PG_FUNCTION_ARGS)
{
	char	   *name = wc_arg_cstring(fcinfo, 0);
	ListCell   *lc;
	List	   *tables;
	Datum	   *elements;
	bool		found = false;
	int			n = 0;

	wc_owner_require_usage();
	foreach(lc, wc_client_list_namespaces())
		found |= strcmp(lfirst(lc), name) == 0;
	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("namespace \"%s\" does not exist", name)));
	tables = tables_of(name, wc_client_list_tables());
	list_sort(tables, compare_names);
	elements = palloc(sizeof(Datum) * Max(list_length(tables), 1));
	foreach(lc, tables)
		elements[n++] = CStringGetTextDatum(lfirst(lc));
	PG_RETURN_ARRAYTYPE_P(construct_array(elements, n, TEXTOID, -1, false, TYPALIGN_INT));
}
