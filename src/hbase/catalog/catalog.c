/*
 * hbase/catalog/catalog.c: tables and namespaces of a cluster.
 *
 * HBase does not report changes of tables.  So the description of a table is used for the time of the option
 * catalog_age, or until HBase raises an exception.
 */
#include "hbase/catalog/catalog.h"

#include "base/coding.h"
#include "base/printable.h"
#include "hbase/catalog/tablechange.h"
#include "thrift/idl.h"
#include "thrift/request.h"

/* The result of a catalog function; valid until the next call of a catalog function. */
static WcBuf list = WC_BUF_INIT;

#define HBASE_FOREVER INT32_MAX

uint64
wc_hbase_catalog_generation(Oid oid)
{
	WcHBaseServer *server = wc_hbase_server(oid);

	if (TimestampDifferenceExceeds(server->looked_at, GetCurrentTimestamp(), server->options.catalog_age * 1000))
		wc_hbase_doubt(server);
	return server->generation;
}

/* --- descriptors ------------------------------------------------------------*/

static uint8
compression_of(int32 hbase)
{
	switch (hbase)
	{
		case WC_TCompressionAlgorithm_SNAPPY:
			return WC_COMPRESSION_SNAPPY;
		case WC_TCompressionAlgorithm_LZ4:
			return WC_COMPRESSION_LZ4;
		case WC_TCompressionAlgorithm_ZSTD:
			return WC_COMPRESSION_ZSTD;
		default:
			return WC_COMPRESSION_NONE; /* widecol has no names for HBase's other compressions */
	}
}

static int64
between(int64 value, int64 min, int64 max)
{
	return Min(Max(value, min), max);
}

static void
set_family(const WcThriftFamily *from, WcFamilyDesc *family)
{
	WcFamilyAttrs *a = &family->attrs;

	memset(family, 0, sizeof(*family));
	family->name = from->name;
	*a = wc_family_attrs_default;
	a->versions = (uint32) between(from->versions, 1, WC_VERSIONS_MAX);
	a->min_versions = (uint32) between(from->min_versions, 0, a->versions);
	a->ttl_us = from->ttl <= 0 || from->ttl == HBASE_FOREVER ? 0 : (int64) from->ttl * WC_USEC_PER_SEC;
	a->keep_deleted = from->keep_deleted == WC_TKeepDeletedCells_TRUE ? WC_KEEP_DELETED_TRUE :
		from->keep_deleted == WC_TKeepDeletedCells_TTL ? WC_KEEP_DELETED_TTL : WC_KEEP_DELETED_FALSE;
	a->bloomfilter = from->bloomfilter == WC_TBloomFilterType_NONE ? WC_BLOOM_NONE :
		from->bloomfilter == WC_TBloomFilterType_ROWCOL ? WC_BLOOM_ROWCOL : WC_BLOOM_ROW;
	a->compression = compression_of(from->compression);
	a->packing = WC_PACKING_CELL;
	a->blocksize = (uint32) between(from->blocksize, WC_BLOCKSIZE_MIN, WC_BLOCKSIZE_MAX);
	a->blockcache = from->blockcache;
	a->in_memory = from->in_memory;
}

/* Appends the table to out as model/descriptor.h encodes it, with the session's ids; sorts its families. */
static void
encode_desc(WcHBaseServer *server, WcTableDesc *desc, WcBuf *out)
{
	WcHBaseTable *table = wc_hbase_table(server, desc->ns, desc->name);

	desc->id = table->id;
	for (int i = 0; i < table->nfamilies; i++)
		table->families[i].present = false;
	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		WcFamilyDesc *family = &desc->families[i];

		family->id = wc_hbase_family_id(table, family->name);
		family->generation = 1;
		table->families[family->id - 1].attrs = family->attrs;
	}
	wc_family_descs_sort(desc->families, desc->nfamilies);
	desc->next_family_id = (uint32) table->nfamilies + 1;
	wc_table_desc_encode(out, desc);
}

/* The same of a table as HBase describes it. */
static WcStatus
encode_table(WcHBaseServer *server, const WcThriftTable *from, WcBuf *out, WcError *err)
{
	WcTableDesc desc = {.ns = from->ns,.name = from->name,.nfamilies = from->nfamilies};
	WcStatus	status = wc_table_name_check(from->ns, from->name, err);

	for (uint32 i = 0; i < from->nfamilies && status == WC_OK; i++)
		status = wc_family_name_check(from->families[i].name, err);
	if (status != WC_OK)
		return status;
	desc.families = palloc(sizeof(WcFamilyDesc) * Max(desc.nfamilies, 1));
	for (uint32 i = 0; i < desc.nfamilies; i++)
		set_family(&from->families[i], &desc.families[i]);
	encode_desc(server, &desc, out);
	pfree(desc.families);
	return WC_OK;
}

/* The same of a table that the transaction has made or altered. */
static void
encode_changed(const WcHBaseTableChange *change, WcBuf *out)
{
	WcTableDesc desc = change->desc;

	desc.families = palloc(sizeof(WcFamilyDesc) * Max(desc.nfamilies, 1));
	memcpy(desc.families, change->desc.families, sizeof(WcFamilyDesc) * desc.nfamilies);
	desc.nsplits = 0;
	encode_desc(change->server, &desc, out);
	pfree(desc.families);
}

/* Sends the request that was begun.  WC_OK: *answer has a result. */
static WcStatus
ask(WcHBaseServer *server, const char *method, int32 number, const char *name, WcAnswer *answer, WcError *err)
{
	WcStatus	status = wc_hbase_call(server, method, number, answer, err);

	return status == WC_OK ? wc_hbase_check(server, name, answer, err) : status;
}

/* The gateway may give any bytes. */
static char *
printable(WcSlice s)
{
	size_t		size = WC_PRINTABLE_SIZE(s.len) + 8;

	return wc_printable(palloc(size), size, s);
}

static char *
text_of(WcSlice s)
{
	return pnstrdup((const char *) s.data, s.len);
}

bool
wc_hbase_describe(Oid oid, WcSlice ns, WcSlice name, WcSlice *desc)
{
	WcHBaseServer *server = wc_hbase_server(oid);
	const WcHBaseTableChange *change = wc_hbase_ddl_of_table(server, ns, name);
	WcArena		arena = WC_ARENA_INIT;
	WcThriftTable table;
	WcThriftWriter w;
	WcAnswer	answer;
	WcStatus	status;
	WcError		err;
	int32		number;

	wc_buf_reset(&list, 0);
	if (change != NULL)
	{
		if (change->what == WC_CATALOG_DROP_TABLE)
			return false;
		encode_changed(change, &list);
		if (wc_buf_status(&list, "table descriptor", &err) != WC_OK)
			wc_hbase_raise(&err);
		*desc = wc_buf_slice(&list);
		return true;
	}
	wc_hbase_begin(server, &w, &number);
	wc_request_of_table(&w, number, WC_METHOD_TABLE, ns, name);
	status = ask(server, WC_METHOD_TABLE, number, psprintf("%s:%s", text_of(ns), text_of(name)), &answer, &err);
	if (status == WC_OK)
		status = wc_answer_table(&answer, &arena, &table, &err);
	if (status == WC_OK)
		status = encode_table(server, &table, &list, &err);
	if (status == WC_OK)
		status = wc_buf_status(&list, "table descriptor", &err);
	wc_arena_free(&arena);
	if (status == WC_NO_TABLE)
		return false;
	if (status != WC_OK)
		wc_hbase_raise(&err);
	*desc = wc_buf_slice(&list);
	return true;
}

/* --- lists ------------------------------------------------------------------*/

static WcStatus
get_namespaces(WcHBaseServer *server, WcArena *arena, WcSlice **names, uint32 *n, WcError *err)
{
	WcThriftWriter w;
	WcAnswer	answer;
	WcStatus	status;
	int32		number;

	wc_hbase_begin(server, &w, &number);
	wc_request_namespaces(&w, number);
	status = ask(server, WC_METHOD_NAMESPACES, number, "", &answer, err);
	if (status == WC_OK)
		status = wc_answer_names(&answer, arena, names, n, err);
	for (uint32 i = 0; i < *n && status == WC_OK; i++)
	{
		(*names)[i] = wc_arena_copy(arena, (*names)[i]);	/* the next call reuses the answer's memory */
		if ((*names)[i].data == NULL)
			status = wc_error(err, WC_NO_MEMORY, "out of memory for an answer of HBase");
	}
	return status;
}

static bool
is_system(WcSlice ns)
{
	return wc_slice_eq(ns, wc_slice_cstr(WC_HBASE_SYSTEM));
}

/* Adds a table to a list; a table that widecol does not allow (a name, say) is left out, with a warning. */
static void
add_table(WcHBaseServer *server, const WcThriftTable *table, WcBuf *out, uint64 *count)
{
	WcBuf		bytes = WC_BUF_INIT;
	WcError		err;
	WcStatus	status;

	if (wc_hbase_ddl_of_table(server, table->ns, table->name) != NULL)
		return;					/* add_changed adds it, unless it was dropped */
	status = encode_table(server, table, &bytes, &err);
	if (status == WC_OK)
	{
		wc_buf_append_bytes(out, wc_buf_slice(&bytes));
		out->failed |= bytes.failed;
		++*count;
	}
	wc_buf_free(&bytes);
	if (status != WC_OK)
		ereport(WARNING,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s:%s\" of HBase is left out", printable(table->ns), printable(table->name)),
				 errdetail("%s.", printable(wc_slice_cstr(err.message)))));
}

/* Adds the tables that the transaction has made or altered; ns empty: in any namespace. */
static void
add_changed(WcHBaseServer *server, WcSlice ns, WcBuf *out, uint64 *count)
{
	for (int i = 0; i < wc_hbase_ddl_count(); i++)
	{
		const WcHBaseTableChange *c = wc_hbase_ddl_at(i);
		WcBuf		bytes = WC_BUF_INIT;

		if (c->server != server || c->what == WC_CATALOG_DROP_TABLE || (ns.len > 0 && !wc_slice_eq(c->desc.ns, ns)) ||
			wc_hbase_ddl_of_table(server, c->desc.ns, c->desc.name) != c)
			continue;
		encode_changed(c, &bytes);
		wc_buf_append_bytes(out, wc_buf_slice(&bytes));
		out->failed |= bytes.failed;
		++*count;
		wc_buf_free(&bytes);
	}
}

/* Has the transaction made the namespace?  Then HBase does not know it. */
static bool
is_new_namespace(WcHBaseServer *server, WcSlice ns)
{
	const WcHBaseTableChange *change = wc_hbase_ddl_of_namespace(server, ns);

	return change != NULL && change->what == WC_CATALOG_CREATE_NAMESPACE;
}

static WcStatus
add_tables(WcHBaseServer *server, WcSlice ns, WcBuf *out, uint64 *count, WcError *err)
{
	WcArena		arena = WC_ARENA_INIT;
	WcThriftTable *tables;
	WcThriftWriter w;
	WcAnswer	answer;
	WcStatus	status;
	int32		number;
	uint32		n;

	wc_hbase_begin(server, &w, &number);
	wc_request_tables(&w, number, ns);
	status = ask(server, WC_METHOD_TABLES, number, text_of(ns), &answer, err);
	if (status == WC_OK)
		status = wc_answer_tables(&answer, &arena, &tables, &n, err);
	for (uint32 i = 0; status == WC_OK && i < n; i++)
		add_table(server, &tables[i], out, count);
	wc_arena_free(&arena);
	return status;
}

/* Finishes the result of list_tables and list_namespaces: a count, then the entries. */
static void
finish_list(WcStatus status, const WcError *err, uint64 count, WcBuf *things, WcSlice *out)
{
	WcError		failure;

	if (status == WC_OK)
	{
		wc_buf_append_varint(&list, count);
		wc_buf_append_slice(&list, wc_buf_slice(things));
		list.failed |= things->failed;
		failure.status = status = wc_buf_status(&list, "list of HBase's tables", &failure);
	}
	else
		failure = *err;
	wc_buf_free(things);
	if (status != WC_OK)
		wc_hbase_raise(&failure);
	*out = wc_buf_slice(&list);
}

void
wc_hbase_list_tables(Oid oid, bool all_databases, WcSlice *out)
{
	WcHBaseServer *server = wc_hbase_server(oid);
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		tables = WC_BUF_INIT;
	WcSlice    *names;
	uint32		n = 0;
	uint64		count = 0;
	WcStatus	status;
	WcError		err;

	wc_buf_reset(&list, 0);
	status = get_namespaces(server, &arena, &names, &n, &err);
	for (uint32 i = 0; i < n && status == WC_OK; i++)
	{
		if (!is_system(names[i]))
			status = add_tables(server, names[i], &tables, &count, &err);
	}
	wc_arena_free(&arena);
	if (status == WC_OK)
		add_changed(server, wc_slice(NULL, 0), &tables, &count);
	finish_list(status, &err, count, &tables, out);
}

static void
add_namespace(WcSlice ns, WcBuf *out, uint64 *count)
{
	wc_buf_append_bytes(out, ns);
	wc_buf_append_bytes(out, wc_slice(NULL, 0));	/* properties */
	++*count;
}

void
wc_hbase_list_namespaces(Oid oid, WcSlice *out)
{
	WcHBaseServer *server = wc_hbase_server(oid);
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		things = WC_BUF_INIT;
	WcSlice    *names;
	uint32		n = 0;
	uint64		count = 0;
	WcStatus	status;
	WcError		err;

	wc_buf_reset(&list, 0);
	status = get_namespaces(server, &arena, &names, &n, &err);
	for (uint32 i = 0; i < n && status == WC_OK; i++)
	{
		if (is_system(names[i]) || wc_hbase_ddl_of_namespace(server, names[i]) != NULL)
			continue;
		add_namespace(names[i], &things, &count);
	}
	for (int i = 0; i < wc_hbase_ddl_count(); i++)
	{
		const WcHBaseTableChange *c = wc_hbase_ddl_at(i);

		if (c->what == WC_CATALOG_CREATE_NAMESPACE && wc_hbase_ddl_of_namespace(server, c->desc.ns) == c)
			add_namespace(c->desc.ns, &things, &count);
	}
	wc_arena_free(&arena);
	finish_list(status, &err, count, &things, out);
}

bool
wc_hbase_has_namespace(WcHBaseServer *server, WcSlice ns)
{
	const WcHBaseTableChange *change = wc_hbase_ddl_of_namespace(server, ns);
	WcArena		arena = WC_ARENA_INIT;
	WcSlice    *names;
	uint32		n = 0;
	bool		found = false;
	WcStatus	status;
	WcError		err;

	if (change != NULL)
		return change->what == WC_CATALOG_CREATE_NAMESPACE;
	status = get_namespaces(server, &arena, &names, &n, &err);
	for (uint32 i = 0; i < n && status == WC_OK; i++)
		found |= wc_slice_eq(names[i], ns);
	wc_arena_free(&arena);
	if (status != WC_OK)
		wc_hbase_raise(&err);
	return found;
}

char *
wc_hbase_table_in_namespace(WcHBaseServer *server, WcSlice ns)
{
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		tables = WC_BUF_INIT;
	WcTableDesc desc;
	WcDecoder	d;
	uint64		count = 0;
	WcStatus	status = WC_OK;
	WcError		err;
	char	   *name = NULL;

	if (!is_new_namespace(server, ns))
		status = add_tables(server, ns, &tables, &count, &err);
	if (status == WC_OK)
		add_changed(server, ns, &tables, &count);
	d = wc_decoder(wc_buf_slice(&tables));
	if (status == WC_OK && count > 0)
		status = wc_table_desc_decode(wc_decode_bytes(&d), &arena, &desc, &err);
	if (status == WC_OK && count > 0)
		name = psprintf("%s:%s", text_of(desc.ns), text_of(desc.name));
	wc_arena_free(&arena);
	wc_buf_free(&tables);
	if (status != WC_OK)
		wc_hbase_raise(&err);
	return name;
}

/* --- regions --------------------------------------------------------------------*/

static int
compare_slices(const void *a, const void *b)
{
	return wc_slice_cmp(*(const WcSlice *) a, *(const WcSlice *) b);
}

/* The first region, which begins with no key, is not between two others. */
static void
encode_points(WcSlice *starts, uint32 n, WcBuf *out)
{
	uint32		first = 0;

	qsort(starts, n, sizeof(WcSlice), compare_slices);
	while (first < n && starts[first].len == 0)
		first++;
	wc_buf_append_varint(out, n - first);
	for (uint32 i = first; i < n; i++)
		wc_buf_append_bytes(out, starts[i]);
}

void
wc_hbase_regions(Oid oid, const WcTableDesc *desc, WcSlice *points)
{
	WcHBaseServer *server = wc_hbase_server(oid);
	const WcHBaseTableChange *change = wc_hbase_ddl_of_table(server, desc->ns, desc->name);
	const char *name = wc_hbase_table_by_id(desc->id)->name;
	WcArena		arena = WC_ARENA_INIT;
	WcSlice    *starts = NULL;
	uint32		n = 0;
	WcThriftWriter w;
	WcAnswer	answer;
	WcStatus	status = WC_OK;
	WcError		err;
	int32		number;

	wc_buf_reset(&list, 0);
	if (change != NULL && change->what == WC_CATALOG_CREATE_TABLE)
		encode_points(change->desc.splits, change->desc.nsplits, &list);
	else
	{
		wc_hbase_begin(server, &w, &number);
		wc_request_regions(&w, number, wc_slice_cstr(name));
		status = ask(server, WC_METHOD_REGIONS, number, name, &answer, &err);
		if (status == WC_OK)
			status = wc_answer_regions(&answer, &arena, &starts, &n, &err);
		if (status == WC_OK)
			encode_points(starts, n, &list);
	}
	if (status == WC_OK)
		status = wc_buf_status(&list, "list of regions", &err);
	wc_arena_free(&arena);
	if (status != WC_OK)
		wc_hbase_raise(&err);
	*points = wc_buf_slice(&list);
}

/* --- for reads ----------------------------------------------------------------*/

WcStatus
wc_hbase_read_desc(const WcHBaseTable *table, bool decides, WcArena *arena, WcTableDesc *desc, WcError *err)
{
	memset(desc, 0, sizeof(*desc));
	desc->id = table->id;
	desc->name = wc_slice_cstr(table->name);
	desc->ns = wc_slice_cstr(WC_NAMESPACE_DEFAULT);
	desc->families = wc_arena_alloc_zero(arena, sizeof(WcFamilyDesc) * (table->nfamilies + 1));
	if (desc->families == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a table's description");
	for (int i = 0; i < table->nfamilies && desc->nfamilies < WC_FAMILIES_MAX; i++)
	{
		const WcHBaseFamily *from = &table->families[i];
		WcFamilyDesc *family = &desc->families[desc->nfamilies];

		if (!from->present)
			continue;
		family->id = (uint32) i + 1;
		family->name = wc_slice_cstr(from->name);
		family->attrs = wc_family_attrs_default;
		family->attrs.versions = decides ? from->attrs.versions : WC_VERSIONS_MAX;
		if (decides)
			family->attrs.keep_deleted = from->attrs.keep_deleted;
		if (decides && !table->server->options.raw_timestamps)
		{
			family->attrs.min_versions = from->attrs.min_versions;
			family->attrs.ttl_us = from->attrs.ttl_us;
		}
		desc->nfamilies++;
	}
	/* a scan returns a row's families in the order of the description: that of their names, which is not that of their ids */
	wc_family_descs_sort(desc->families, desc->nfamilies);
	return WC_OK;
}

bool
wc_hbase_is_enabled(Oid oid, const WcTableDesc *desc)
{
	WcHBaseServer *server = wc_hbase_server(oid);
	const WcHBaseTable *table = wc_hbase_table_by_id(desc->id);
	WcThriftWriter w;
	WcAnswer	answer;
	WcError		err;
	WcStatus	status;
	int32		number;
	bool		enabled = true;

	for (int i = wc_hbase_ddl_count() - 1; i >= 0; i--)
	{
		const WcHBaseTableChange *c = wc_hbase_ddl_at(i);

		if (c->table == table && c->what != WC_CATALOG_ALTER_TABLE)
			return c->what != WC_CATALOG_DISABLE_TABLE;
	}
	wc_hbase_begin(server, &w, &number);
	wc_request_of_table(&w, number, WC_METHOD_IS_TABLE_ENABLED, desc->ns, desc->name);
	status = wc_hbase_call(server, WC_METHOD_IS_TABLE_ENABLED, number, &answer, &err);
	if (status == WC_OK)
		status = wc_hbase_check(server, table->name, &answer, &err);
	if (status == WC_OK)
		status = wc_answer_bool(&answer, &enabled, &err);
	if (status != WC_OK)
		wc_hbase_raise(&err);
	return enabled;
}
