/*
 * hbase/ddl/ddl.c: changes of tables and namespaces, until they are sent.
 *
 * HBase cannot undo such a change, so they are kept like changes of rows, and sent at PRE_COMMIT before these.
 * What would fail then is refused when the change is made, as far as the session can know.
 */
#include "hbase/ddl/ddl.h"

#include "foreign/foreign.h"
#include "utils/memutils.h"

#include "hbase/changes.h"
#include "thrift/request.h"

static WcHBaseTableChange *changes; /* in TopMemoryContext */
static int	nchanges;
static int	changes_cap;
static WcArena arena = WC_ARENA_INIT;	/* of their descriptors */

/* --- pending changes ----------------------------------------------------------*/

int
wc_hbase_ddl_count(void)
{
	return nchanges;
}

const WcHBaseTableChange *
wc_hbase_ddl_at(int i)
{
	return &changes[i];
}

const WcHBaseTableChange *
wc_hbase_ddl_of_table(const WcHBaseServer *server, WcSlice ns, WcSlice name)
{
	for (int i = nchanges - 1; i >= 0; i--)
	{
		const WcHBaseTableChange *c = &changes[i];

		if (c->server == server && c->what <= WC_CATALOG_DROP_TABLE && wc_slice_eq(c->desc.ns, ns) &&
			wc_slice_eq(c->desc.name, name))
			return c;
	}
	return NULL;
}

const WcHBaseTableChange *
wc_hbase_ddl_of_namespace(const WcHBaseServer *server, WcSlice ns)
{
	for (int i = nchanges - 1; i >= 0; i--)
	{
		const WcHBaseTableChange *c = &changes[i];

		if (c->server == server && c->table == NULL && wc_slice_eq(c->desc.ns, ns))
			return c;
	}
	return NULL;
}

WcHBaseTableState
wc_hbase_table_state(const WcHBaseTable *table)
{
	WcHBaseTableState state = WC_HBASE_AS_IT_IS;

	for (int i = 0; i < nchanges; i++)
	{
		if (changes[i].table != table)
			continue;
		if (changes[i].what == WC_CATALOG_CREATE_TABLE || changes[i].what == WC_CATALOG_TRUNCATE_TABLE)
			state = WC_HBASE_EMPTIED;
		else if (state != WC_HBASE_EMPTIED)
			state = WC_HBASE_ALTERED;
	}
	return state;
}

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

bool
wc_hbase_same_attributes(const WcFamilyAttrs *a, const WcFamilyAttrs *b)
{
	return a->versions == b->versions && a->min_versions == b->min_versions && a->ttl_us == b->ttl_us &&
		a->keep_deleted == b->keep_deleted && a->bloomfilter == b->bloomfilter && a->compression == b->compression &&
		a->blocksize == b->blocksize && a->blockcache == b->blockcache && a->in_memory == b->in_memory;
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

static void
out_of_memory(void)
{
	ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory for a change of a table of HBase")));
}

static WcSlice
keep(WcSlice s)
{
	WcSlice		copy = wc_arena_copy(&arena, s);

	if (copy.data == NULL && s.len > 0)
		out_of_memory();
	return copy;
}

/* Copies the table, with the session's ids of its families. */
static void
keep_desc(WcHBaseTable *table, const WcTableDesc *from, WcTableDesc *to)
{
	WcTableDesc desc = *from;

	desc.families = wc_arena_alloc(&arena, sizeof(WcFamilyDesc) * (from->nfamilies + 1));
	desc.splits = wc_arena_alloc(&arena, sizeof(WcSlice) * (from->nsplits + 1));
	if (desc.families == NULL || desc.splits == NULL)
		out_of_memory();
	desc.ns = keep(from->ns);
	desc.name = keep(from->name);
	for (uint32 i = 0; i < from->nfamilies; i++)
	{
		desc.families[i] = from->families[i];
		desc.families[i].name = keep(from->families[i].name);
	}
	for (uint32 i = 0; i < from->nsplits; i++)
		desc.splits[i] = keep(from->splits[i]);
	*to = desc;
}

/* The table as the session sees it, in the arena. */
static void
read_desc(WcHBaseServer *server, const WcTableDesc *desc, WcTableDesc *before)
{
	WcSlice		bytes;
	WcError		err;

	if (!wc_hbase_describe(server->oid, desc->ns, desc->name, &bytes))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" does not exist in the cluster of server \"%s\"", table_name(desc), server_name(server))));
	if (wc_table_desc_decode(bytes, &arena, before, &err) != WC_OK)
		wc_hbase_raise(&err);
}

static WcHBaseTableChange *
new_change(void)
{
	if (nchanges == changes_cap)
	{
		int			cap = Max(16, 2 * changes_cap);

		changes = changes != NULL ? repalloc(changes, cap * sizeof(WcHBaseTableChange)) :
			MemoryContextAlloc(TopMemoryContext, cap * sizeof(WcHBaseTableChange));
		changes_cap = cap;
	}
	memset(&changes[nchanges], 0, sizeof(WcHBaseTableChange));
	return &changes[nchanges];
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
	WcHBaseTableChange *c;

	check_not_system(what, desc->ns);
	if (table != NULL)
		check_unwritten(table);
	check(server, what, desc, &before);
	c = new_change();
	*c = (WcHBaseTableChange) {
		.what = what,.server = server,.table = table,.before = before
	};
	if (what == WC_CATALOG_CREATE_TABLE || what == WC_CATALOG_ALTER_TABLE)
		keep_desc(table, desc, &c->desc);
	else
	{
		c->desc.ns = keep(desc->ns);
		c->desc.name = keep(desc->name);
	}
	nchanges++;
	wc_hbase_doubt(server);
}

/* --- the end ------------------------------------------------------------------------*/

void
wc_hbase_ddl_forget(int n)
{
	while (nchanges > n)
		wc_hbase_doubt(changes[--nchanges].server);
	if (nchanges == 0)
		wc_arena_free(&arena);
}

void
wc_hbase_ddl_refresh_servers(void)
{
	for (int i = 0; i < nchanges; i++)
		(void) wc_hbase_server(changes[i].server->oid);
}

/* --- questions -----------------------------------------------------------------------*/

bool
wc_hbase_is_enabled(Oid oid, const WcTableDesc *desc)
{
	WcHBaseServer *server = wc_hbase_server(oid);
	WcThriftWriter w;
	WcAnswer	answer;
	WcError		err;
	WcStatus	status;
	int32		number;
	bool		enabled = true;

	for (int i = nchanges - 1; i >= 0; i--)
	{
		const WcHBaseTableChange *c = &changes[i];

		if (c->table == wc_hbase_table_by_id(desc->id) && c->what != WC_CATALOG_ALTER_TABLE)
			return c->what != WC_CATALOG_DISABLE_TABLE;
	}
	wc_hbase_begin(server, &w, &number);
	wc_request_of_table(&w, number, WC_METHOD_IS_TABLE_ENABLED, desc->ns, desc->name);
	status = wc_hbase_call(server, WC_METHOD_IS_TABLE_ENABLED, number, &answer, &err);
	if (status == WC_OK)
		status = wc_hbase_check(server, table_name(desc), &answer, &err);
	if (status == WC_OK)
		status = wc_answer_bool(&answer, &enabled, &err);
	if (status != WC_OK)
		wc_hbase_raise(&err);
	return enabled;
}
