/*
 * hbase/commit/ddl.c: changes tables and namespaces, in the transaction alone until they are sent.
 *
 * HBase cannot undo such a change, so they are kept like changes of rows, and sent at PRE_COMMIT before these.
 * What would fail then is refused when the change is made, as far as the session can know.
 */
#include "hbase/commit/commit.h"

#include "foreign/foreign.h"

#include "hbase/catalog/catalog.h"
#include "hbase/catalog/tablechange.h"
#include "hbase/changes/changes.h"

/* --- what HBase would refuse ----------------------------------------------------*/

static const char *
server_name(const WcHBaseServer *server)
{
	return GetForeignServer(server->oid)->servername;
}

static const char *
table_name(const WcTableDesc *desc)
{
	return psprintf("%.*s:%.*s", (int) desc->ns.len, (const char *) desc->ns.data, (int) desc->name.len,
					(const char *) desc->name.data);
}

/* widecol's names may have - and . in a namespace, too; HBase's may not. */
static void
check_namespace_name(WcSlice ns)
{
	for (size_t i = 0; i < ns.len; i++)
	{
		if (ns.data[i] == '-' || ns.data[i] == '.')
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_NAME),
					 errmsg("namespace \"%.*s\" cannot be made in HBase", (int) ns.len, (const char *) ns.data),
					 errdetail("A namespace of HBase has a name of letters, digits and underscores.")));
	}
}

static void
check_family(const WcTableDesc *desc, const WcFamilyDesc *family)
{
	const char *name = psprintf("%.*s", (int) family->name.len, (const char *) family->name.data);

	if (family->attrs.packing == WC_PACKING_ROW)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("family \"%s\" of table \"%s\" of HBase cannot have packing row", name, table_name(desc)),
				 errdetail("HBase keeps each cell by itself.")));
	if (family->attrs.ttl_us % WC_USEC_PER_SEC != 0 || family->attrs.ttl_us / WC_USEC_PER_SEC >= INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("family \"%s\" of table \"%s\" of HBase cannot have this ttl", name, table_name(desc)),
				 errdetail("In HBase it is a whole number of seconds, less than %d.", INT32_MAX)));
}

static void pg_attribute_noreturn()
refuse_framed(const WcTableDesc *desc, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s table \"%s\" of HBase over transport framed", what, table_name(desc)),
			 errdetail("HBase's gateway misreads such a request, and would change the table in another way."),
			 errhint("Make a server for a gateway with transport 'buffered', and do it there.")));
}

/* The transaction's changes of the table's rows would come after this change. */
static void
check_unwritten(const WcHBaseTable *table)
{
	if (wc_hbase_changes_of(table->id, InvalidCommandId) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("cannot change table \"%s\" of HBase because this transaction has changed its rows", table->name),
				 errhint("COMMIT sends the rows; change the table in a transaction of its own.")));
}

static void
check_create(WcHBaseServer *server, const WcTableDesc *desc)
{
	WcSlice		found;

	if (!wc_hbase_has_namespace(server, desc->ns))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("namespace \"%.*s\" does not exist in the cluster of server \"%s\"", (int) desc->ns.len,
						(const char *) desc->ns.data, server_name(server)),
				 errhint("Make it with widecol.create_namespace.")));
	if (wc_hbase_describe(server->oid, desc->ns, desc->name, &found))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("table \"%s\" already exists in the cluster of server \"%s\"", table_name(desc), server_name(server))));
	if (server->options.framed && desc->nsplits > 0)
		refuse_framed(desc, "cannot split");
	for (uint32 i = 0; i < desc->nfamilies; i++)
		check_family(desc, &desc->families[i]);
}

static void
check_alter(const WcHBaseServer *server, const WcTableDesc *before, const WcTableDesc *desc)
{
	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		const WcFamilyDesc *old = wc_table_desc_family(before, desc->families[i].name);

		check_family(desc, &desc->families[i]);
		if (server->options.framed && old != NULL && !wc_hbase_same_attributes(&old->attrs, &desc->families[i].attrs))
			refuse_framed(desc, "cannot change attributes of families of");
	}
	for (uint32 i = 0; i < before->nfamilies && server->options.framed; i++)
	{
		if (wc_table_desc_family(desc, before->families[i].name) == NULL)
			refuse_framed(desc, "cannot drop families of");
	}
}

static void
check_drop_namespace(WcHBaseServer *server, WcSlice ns)
{
	char	   *name = pnstrdup((const char *) ns.data, ns.len);
	char	   *table;

	if (!wc_hbase_has_namespace(server, ns))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("namespace \"%s\" does not exist in the cluster of server \"%s\"", name, server_name(server))));
	table = wc_hbase_table_in_namespace(server, ns);
	if (table != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("namespace \"%s\" of HBase is not empty", name),
				 errdetail("It has table \"%s\".", table)));
}

/* --- making a change --------------------------------------------------------------*/

/* The table as the session sees it. */
static void
read_desc(WcHBaseServer *server, const WcTableDesc *desc, WcTableDesc *before)
{
	WcSlice		bytes;
	WcError		err;

	if (!wc_hbase_describe(server->oid, desc->ns, desc->name, &bytes))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" does not exist in the cluster of server \"%s\"", table_name(desc), server_name(server))));
	if (wc_table_desc_decode(bytes, wc_hbase_ddl_arena(), before, &err) != WC_OK)
		wc_hbase_raise(&err);
}

/* HBase keeps its own tables in the namespace "hbase". */
static void
check_not_system(WcCatalogChange what, WcSlice ns)
{
	if (wc_slice_eq(ns, wc_slice_cstr(WC_HBASE_SYSTEM)) ||
		(what == WC_CATALOG_DROP_NAMESPACE && wc_slice_eq(ns, wc_slice_cstr(WC_NAMESPACE_DEFAULT))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("namespace \"%.*s\" of HBase cannot be changed", (int) ns.len, (const char *) ns.data)));
}

static void
check(WcHBaseServer *server, WcCatalogChange what, const WcTableDesc *desc, WcTableDesc *before)
{
	switch (what)
	{
		case WC_CATALOG_CREATE_TABLE:
			check_create(server, desc);
			break;
		case WC_CATALOG_ALTER_TABLE:
			read_desc(server, desc, before);
			check_alter(server, before, desc);
			break;
		case WC_CATALOG_DROP_TABLE:
		case WC_CATALOG_TRUNCATE_TABLE:
		case WC_CATALOG_ENABLE_TABLE:
		case WC_CATALOG_DISABLE_TABLE:
			break;
		case WC_CATALOG_CREATE_NAMESPACE:
			check_namespace_name(desc->ns);
			if (wc_hbase_has_namespace(server, desc->ns))
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_SCHEMA),
						 errmsg("namespace \"%.*s\" already exists in the cluster of server \"%s\"", (int) desc->ns.len,
								(const char *) desc->ns.data, server_name(server))));
			break;
		case WC_CATALOG_DROP_NAMESPACE:
			check_drop_namespace(server, desc->ns);
			break;
	}
}

void
wc_hbase_change_catalog(Oid oid, WcCatalogChange what, const WcTableDesc *desc)
{
	WcHBaseServer *server = wc_hbase_server(oid);
	WcHBaseTable *table = what < WC_CATALOG_CREATE_NAMESPACE ? wc_hbase_table(server, desc->ns, desc->name) : NULL;
	WcTableDesc before = {0};

	check_not_system(what, desc->ns);
	if (table != NULL)
		check_unwritten(table);
	check(server, what, desc, &before);
	wc_hbase_ddl_add(&(WcHBaseTableChange) {.what = what,.server = server,.table = table,.desc = *desc,.before = before});
}
