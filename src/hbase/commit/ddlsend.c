/*
 * hbase/commit/ddlsend.c: sends changes of tables and namespaces to HBase, at PRE_COMMIT.
 *
 * Each call is durable when its answer comes.  So after an error the changes of earlier calls stay in HBase.
 */
#include "hbase/commit/commit.h"

#include "hbase/catalog/tablechange.h"
#include "thrift/idl.h"
#include "thrift/request.h"

static int	ndone;				/* changes that HBase has made in this transaction */

/* --- calls --------------------------------------------------------------------*/

/* Sends the request that was begun.  Its answer has no result. */
static WcStatus
finish_call(const WcHBaseTableChange *c, const char *method, int32 number, WcError *err)
{
	const char *name = c->table != NULL ? c->table->name :
		psprintf("%.*s", (int) c->desc.ns.len, (const char *) c->desc.ns.data);
	WcAnswer	answer;
	bool		unsure;
	WcStatus	status = wc_hbase_send(c->server, method, number, &answer, &unsure, err);

	if (status == WC_OK && answer.kind != WC_ANSWER_NOTHING)
		status = wc_hbase_check(c->server, name, &answer, err);
	else if (status != WC_OK && unsure)
		wc_hbase_error_more(err, ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN, "HBase may have made the change all the same.");
	return status;
}

static WcStatus
call_with_name(const WcHBaseTableChange *c, const char *method, WcError *err)
{
	WcThriftWriter w;
	int32		number;

	wc_hbase_begin(c->server, &w, &number);
	wc_request_of_table(&w, number, method, c->desc.ns, c->desc.name);
	return finish_call(c, method, number, err);
}

static WcThriftFamily
family_for_hbase(const WcFamilyDesc *family)
{
	static const int32 compressions[] = {
		[WC_COMPRESSION_NONE] = WC_TCompressionAlgorithm_NONE,[WC_COMPRESSION_SNAPPY] = WC_TCompressionAlgorithm_SNAPPY,
		[WC_COMPRESSION_LZ4] = WC_TCompressionAlgorithm_LZ4,[WC_COMPRESSION_ZSTD] = WC_TCompressionAlgorithm_ZSTD
	};
	static const int32 blooms[] = {
		[WC_BLOOM_NONE] = WC_TBloomFilterType_NONE,[WC_BLOOM_ROW] = WC_TBloomFilterType_ROW,
		[WC_BLOOM_ROWCOL] = WC_TBloomFilterType_ROWCOL
	};
	static const int32 keeps[] = {
		[WC_KEEP_DELETED_FALSE] = WC_TKeepDeletedCells_FALSE,[WC_KEEP_DELETED_TRUE] = WC_TKeepDeletedCells_TRUE,
		[WC_KEEP_DELETED_TTL] = WC_TKeepDeletedCells_TTL
	};
	const WcFamilyAttrs *a = &family->attrs;

	return (WcThriftFamily) {
		.name = family->name,.blocksize = (int32) a->blocksize,.bloomfilter = blooms[a->bloomfilter],
		.compression = compressions[a->compression],.keep_deleted = keeps[a->keep_deleted],
		.versions = (int32) a->versions,.min_versions = (int32) a->min_versions,
		.ttl = a->ttl_us == 0 ? INT32_MAX : (int32) (a->ttl_us / WC_USEC_PER_SEC),
		.blockcache = a->blockcache,.in_memory = a->in_memory
	};
}

static WcStatus
create_table(const WcHBaseTableChange *c, WcError *err)
{
	WcThriftTable table = {.ns = c->desc.ns,.name = c->desc.name,.nfamilies = c->desc.nfamilies};
	WcThriftWriter w;
	int32		number;

	table.families = palloc(sizeof(WcThriftFamily) * c->desc.nfamilies);
	for (uint32 i = 0; i < c->desc.nfamilies; i++)
		table.families[i] = family_for_hbase(&c->desc.families[i]);
	wc_hbase_begin(c->server, &w, &number);
	wc_request_create_table(&w, number, &table, c->desc.splits, c->desc.nsplits);
	return finish_call(c, WC_METHOD_CREATE_TABLE, number, err);
}

static WcStatus
add_family(const WcHBaseTableChange *c, const WcFamilyDesc *family, WcError *err)
{
	WcThriftFamily new = family_for_hbase(family);
	WcThriftWriter w;
	int32		number;

	wc_hbase_begin(c->server, &w, &number);
	wc_request_family(&w, number, WC_METHOD_ADD_FAMILY, c->desc.ns, c->desc.name, &new);
	return finish_call(c, WC_METHOD_ADD_FAMILY, number, err);
}

/* The family as HBase has it now; its slices point to the connection's last answer. */
static WcStatus
describe_family(const WcHBaseTableChange *c, WcSlice name, WcThriftFamily *family, WcError *err)
{
	WcArena		scratch = WC_ARENA_INIT;
	WcThriftTable table;
	WcThriftWriter w;
	WcAnswer	answer;
	WcStatus	status;
	int32		number;
	bool		found = false;

	wc_hbase_begin(c->server, &w, &number);
	wc_request_of_table(&w, number, WC_METHOD_TABLE, c->desc.ns, c->desc.name);
	status = wc_hbase_call(c->server, WC_METHOD_TABLE, number, &answer, err);
	if (status == WC_OK)
		status = wc_hbase_check(c->server, c->table->name, &answer, err);
	if (status == WC_OK)
		status = wc_answer_table(&answer, &scratch, &table, err);
	for (uint32 i = 0; status == WC_OK && i < table.nfamilies && !found; i++)
	{
		found = wc_slice_eq(table.families[i].name, name);
		*family = table.families[i];
	}
	wc_arena_free(&scratch);
	if (status == WC_OK && !found)
		return wc_hbase_error(err, WC_NO_FAMILY, ERRCODE_UNDEFINED_OBJECT,
							  "family \"%.*s\" of table \"%s\" of HBase is not there any more", (int) name.len,
							  (const char *) name.data, c->table->name);
	return status;
}

/* HBase replaces the whole description: what the transaction has not changed is sent as HBase has it. */
static WcStatus
modify_family(const WcHBaseTableChange *c, const WcFamilyDesc *old, const WcFamilyDesc *new, WcError *err)
{
	WcThriftFamily was = family_for_hbase(old);
	WcThriftFamily is = family_for_hbase(new);
	WcThriftFamily family;
	WcThriftWriter w;
	int32		number;
	WcStatus	status = describe_family(c, new->name, &family, err);

	if (status != WC_OK)
		return status;
#define CHANGE(member) if (was.member != is.member) family.member = is.member
	CHANGE(blocksize);
	CHANGE(bloomfilter);
	CHANGE(compression);
	CHANGE(keep_deleted);
	CHANGE(versions);
	CHANGE(min_versions);
	CHANGE(ttl);
	CHANGE(blockcache);
	CHANGE(in_memory);
#undef CHANGE
	wc_hbase_begin(c->server, &w, &number);
	wc_request_family(&w, number, WC_METHOD_MODIFY_FAMILY, c->desc.ns, c->desc.name, &family);
	return finish_call(c, WC_METHOD_MODIFY_FAMILY, number, err);
}

static WcStatus
delete_family(const WcHBaseTableChange *c, const WcFamilyDesc *family, WcError *err)
{
	WcThriftWriter w;
	int32		number;

	wc_hbase_begin(c->server, &w, &number);
	wc_request_delete_family(&w, number, c->desc.ns, c->desc.name, family->name);
	return finish_call(c, WC_METHOD_DELETE_FAMILY, number, err);
}

/* Adds families before it drops others: a table has at least one. */
static WcStatus
alter_table(const WcHBaseTableChange *c, WcError *err)
{
	WcStatus	status = WC_OK;

	for (uint32 i = 0; i < c->desc.nfamilies && status == WC_OK; i++)
	{
		const WcFamilyDesc *family = &c->desc.families[i];
		const WcFamilyDesc *old = wc_table_desc_family(&c->before, family->name);

		if (old == NULL)
			status = add_family(c, family, err);
		else if (!wc_hbase_same_attributes(&old->attrs, &family->attrs))
			status = modify_family(c, old, family, err);
	}
	for (uint32 i = 0; i < c->before.nfamilies && status == WC_OK; i++)
	{
		if (wc_table_desc_family(&c->desc, c->before.families[i].name) == NULL)
			status = delete_family(c, &c->before.families[i], err);
	}
	return status;
}

/* HBase drops and truncates disabled tables only.  If that fails, the table is enabled again. */
static WcStatus
on_disabled(const WcHBaseTableChange *c, WcError *err)
{
	WcStatus	status = call_with_name(c, WC_METHOD_DISABLE_TABLE, err);
	bool		was_disabled = status == WC_STALE;
	WcError		ignored;
	WcThriftWriter w;
	int32		number;

	if (status != WC_OK && !(was_disabled && c->what == WC_CATALOG_DROP_TABLE))
		return status;
	if (c->what == WC_CATALOG_DROP_TABLE)
		status = call_with_name(c, WC_METHOD_DELETE_TABLE, err);
	else
	{
		wc_hbase_begin(c->server, &w, &number);
		wc_request_truncate_table(&w, number, c->desc.ns, c->desc.name, true);
		status = finish_call(c, WC_METHOD_TRUNCATE_TABLE, number, err);
	}
	if (status == WC_OK || was_disabled)
		return status;

	/* a cancelled or lost call may still be under way in HBase: enabling would wait for it */
	if (status == WC_CANCELLED || c->server->lost || c->server->timed_out ||
		call_with_name(c, WC_METHOD_ENABLE_TABLE, &ignored) != WC_OK)
		wc_hbase_error_more(err, ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN, "The table may be disabled; widecol.enable enables it.");
	return status;
}

static WcStatus
change_namespace(const WcHBaseTableChange *c, WcError *err)
{
	bool		create = c->what == WC_CATALOG_CREATE_NAMESPACE;
	WcThriftWriter w;
	int32		number;

	wc_hbase_begin(c->server, &w, &number);
	if (create)
		wc_request_create_namespace(&w, number, c->desc.ns);
	else
		wc_request_delete_namespace(&w, number, c->desc.ns);
	return finish_call(c, create ? WC_METHOD_CREATE_NAMESPACE : WC_METHOD_DELETE_NAMESPACE, number, err);
}

static WcStatus
send_change(const WcHBaseTableChange *c, WcError *err)
{
	switch (c->what)
	{
		case WC_CATALOG_CREATE_TABLE:
			return create_table(c, err);
		case WC_CATALOG_ALTER_TABLE:
			return alter_table(c, err);
		case WC_CATALOG_DROP_TABLE:
		case WC_CATALOG_TRUNCATE_TABLE:
			return on_disabled(c, err);
		case WC_CATALOG_ENABLE_TABLE:
			return call_with_name(c, WC_METHOD_ENABLE_TABLE, err);
		case WC_CATALOG_DISABLE_TABLE:
			return call_with_name(c, WC_METHOD_DISABLE_TABLE, err);
		case WC_CATALOG_CREATE_NAMESPACE:
		case WC_CATALOG_DROP_NAMESPACE:
			return change_namespace(c, err);
	}
	return wc_error(err, WC_INTERNAL, "unknown change of a table");
}

WcStatus
wc_hbase_ddl_send(WcError *err)
{
	WcStatus	status = WC_OK;

	for (int i = 0; i < wc_hbase_ddl_count() && status == WC_OK; i++)
	{
		status = send_change(wc_hbase_ddl_at(i), err);
		ndone += status == WC_OK;
	}
	if (status == WC_OK)
		wc_hbase_ddl_forget(0);
	return status;
}

int
wc_hbase_ddl_done(bool tell)
{
	int			done = ndone;

	if (tell)
		ndone = 0;
	return done;
}

void
wc_hbase_ddl_finish(bool committed)
{
	int			done = ndone;

	wc_hbase_ddl_forget(0);
	ndone = 0;
	if (!committed && done > 0)
		ereport(WARNING,
				(errcode(ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN),
				 errmsg("HBase has made %d changes of tables and namespaces, although the transaction was rolled back", done),
				 errdetail("HBase had made them before PostgreSQL's commit failed.")));
}
