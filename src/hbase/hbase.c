/*
 * hbase/hbase.c: the driver's table of functions; known servers and tables.
 */
#include "hbase/changes.h"
#include "hbase/ddl/ddl.h"

#include "access/xact.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

PG_MODULE_MAGIC;

typedef struct TableKey
{
	Oid			server;
	char		name[2 * WC_NAME_MAX + 2];
} TableKey;

typedef struct TableSlot
{
	TableKey	key;
	WcHBaseTable *table;
} TableSlot;

static const WcDriverHost *host;
static HTAB *servers;
static HTAB *tables;
static WcHBaseTable **tables_by_id;
static uint32 ntables;
static uint32 tables_cap;

/* The error for wc_hbase_raise. */
static int	error_sqlstate;		/* of the last error set by this module; 0: none */
static ErrorData *kept_error;

/* --- errors -----------------------------------------------------------------*/

WcStatus
wc_hbase_error(WcError *err, WcStatus status, int sqlstate, const char *fmt,...)
{
	char		text[WC_ERROR_TEXT_MAX];
	va_list		args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	error_sqlstate = sqlstate;
	return wc_error(err, status, "%s", text);
}

void
wc_hbase_error_forget(void)
{
	error_sqlstate = 0;
}

void
wc_hbase_keep_error(MemoryContext context)
{
	MemoryContextSwitchTo(context);
	kept_error = CopyErrorData();
	FlushErrorState();
}

void
wc_hbase_error_more(WcError *err, int sqlstate, const char *more)
{
	char		detail[WC_ERROR_TEXT_MAX];

	if (kept_error != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(kept_error->assoc_context);

		kept_error->detail = kept_error->detail != NULL ? psprintf("%s %s", more, kept_error->detail) : pstrdup(more);
		MemoryContextSwitchTo(old);
		return;
	}
	snprintf(detail, sizeof(detail), "%s%s%s", more, err->detail[0] ? " " : "", err->detail);
	wc_error_detail(err, "%s", detail);
	if (sqlstate != 0)
		error_sqlstate = sqlstate;
}

void
wc_hbase_too_large(uint64 bytes)
{
	host->too_large(bytes);
}

void
wc_hbase_note_sending(void)
{
	host->note_sending();
}

WcStatus
wc_hbase_lock_rows(uint32 lock_id, const WcSlice *rows, int nrows, WcError *err)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool raised = false;

	PG_TRY();
	{
		host->lock_rows(lock_id, rows, nrows);
	}
	PG_CATCH();
	{
		wc_hbase_keep_error(context);
		raised = true;
	}
	PG_END_TRY();
	return raised ? wc_error(err, WC_CANCELLED, "rows could not be locked") : WC_OK;
}

void
wc_hbase_require_isolation(const WcHBaseTable *table, const char *verb)
{
	if (!IsolationUsesXactSnapshot() || wc_hbase_server(table->server->oid)->options.any_isolation)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("table \"%s\" of HBase cannot be %s in a transaction with isolation level %s", table->name, verb,
					IsolationIsSerializable() ? "SERIALIZABLE" : "REPEATABLE READ"),
			 errdetail("HBase has no snapshots: two scans of a transaction may see different states."),
			 errhint("Use READ COMMITTED, or set option \"isolation\" of the server to 'none'.")));
}

void
wc_hbase_raise(const WcError *err)
{
	int			sqlstate = error_sqlstate;
	ErrorData  *kept = kept_error;

	error_sqlstate = 0;
	kept_error = NULL;
	if (kept != NULL)
		ReThrowError(kept);
	if (sqlstate == 0)
		host->raise(err);
	ereport(ERROR,
			(errcode(sqlstate),
			 errmsg("%s", err->message),
			 err->detail[0] ? errdetail("%s", err->detail) : 0,
			 err->hint[0] ? errhint("%s", err->hint) : 0));
}

/* --- servers ----------------------------------------------------------------*/

static void
on_server_change(Datum arg, int cacheid, uint32 hashvalue)
{
	HASH_SEQ_STATUS status;
	WcHBaseServer *server;

	hash_seq_init(&status, servers);
	while ((server = hash_seq_search(&status)) != NULL)
		server->current = false;
}

static void
make_registries(void)
{
	HASHCTL		of_servers = {.keysize = sizeof(Oid),.entrysize = sizeof(WcHBaseServer)};
	HASHCTL		of_tables = {.keysize = sizeof(TableKey),.entrysize = sizeof(TableSlot)};

	servers = hash_create("widecol HBase servers", 8, &of_servers, HASH_ELEM | HASH_BLOBS);
	tables = hash_create("widecol HBase tables", 64, &of_tables, HASH_ELEM | HASH_BLOBS);
	CacheRegisterSyscacheCallback(FOREIGNSERVEROID, on_server_change, (Datum) 0);
	CacheRegisterSyscacheCallback(USERMAPPINGOID, on_server_change, (Datum) 0);
}

/*
 * Reads the options again, and disconnects: they may name another gateway, or user, now.  A server that was dropped keeps
 * its options: the transaction that has dropped it may have changes for it.
 */
static void
refresh(WcHBaseServer *server)
{
	MemoryContext context;
	MemoryContext old;
	WcServerOptions options;
	WcUserOptions user;

	if (server->context != NULL && GetForeignServerExtended(server->oid, FSV_MISSING_OK) == NULL)
	{
		server->current = true;
		return;
	}
	context = AllocSetContextCreate(CurrentMemoryContext, "widecol HBase server", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	host->server_options(server->oid, &options);
	host->user_options(server->oid, GetSessionUserId(), &user);
	if (!options.http && (user.user != NULL || user.kerberos || user.tls_cert != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("options of a user mapping need a server with transport 'http'"),
				 errdetail("The other transports have neither encryption nor Kerberos.")));
	MemoryContextSwitchTo(old);
	wc_hbase_disconnect(server);
	if (server->context != NULL)
		MemoryContextDelete(server->context);
	MemoryContextSetParent(context, TopMemoryContext);
	server->context = context;
	server->options = options;
	server->session_user = GetSessionUserId();
	server->user = user;
	server->current = true;
	wc_hbase_doubt(server);
}

WcHBaseServer *
wc_hbase_server(Oid oid)
{
	WcHBaseServer *server;
	bool		found;

	server = hash_search(servers, &oid, HASH_ENTER, &found);
	if (!found)
	{
		memset((char *) server + sizeof(Oid), 0, sizeof(WcHBaseServer) - sizeof(Oid));
		server->connection.socket = PGINVALID_SOCKET;
	}
	if (!server->current || server->session_user != GetSessionUserId())
		refresh(server);
	return server;
}

void
wc_hbase_doubt(WcHBaseServer *server)
{
	server->generation++;
	server->looked_at = GetCurrentTimestamp();
}

/* --- tables -----------------------------------------------------------------*/

WcHBaseTable *
wc_hbase_table(WcHBaseServer *server, WcSlice ns, WcSlice name)
{
	TableKey	key;
	TableSlot  *slot;
	WcHBaseTable *table;

	memset(&key, 0, sizeof(key));
	key.server = server->oid;
	snprintf(key.name, sizeof(key.name), "%.*s:%.*s", (int) ns.len, (const char *) ns.data, (int) name.len,
			 (const char *) name.data);
	slot = hash_search(tables, &key, HASH_FIND, NULL);
	if (slot != NULL)
		return slot->table;
	if (ntables == tables_cap)
	{
		uint32		cap = Max(16, 2 * tables_cap);

		tables_by_id = tables_by_id ? repalloc(tables_by_id, cap * sizeof(WcHBaseTable *)) :
			MemoryContextAlloc(TopMemoryContext, cap * sizeof(WcHBaseTable *));
		tables_cap = cap;
	}
	table = MemoryContextAllocZero(TopMemoryContext, sizeof(WcHBaseTable));
	table->id = WC_REMOTE_TABLE + ntables;
	table->server = server;
	table->name = MemoryContextStrdup(TopMemoryContext, key.name);
	slot = hash_search(tables, &key, HASH_ENTER, NULL);
	slot->table = table;
	tables_by_id[ntables++] = table;
	return table;
}

WcHBaseTable *
wc_hbase_table_by_id(uint32 id)
{
	Assert(id >= WC_REMOTE_TABLE && id - WC_REMOTE_TABLE < ntables);
	return tables_by_id[id - WC_REMOTE_TABLE];
}

uint32
wc_hbase_family_id(WcHBaseTable *table, WcSlice name)
{
	char	   *copy;

	for (int i = 0; i < table->nfamilies; i++)
	{
		if (wc_slice_eq(wc_slice_cstr(table->families[i].name), name))
		{
			table->families[i].present = true;
			return (uint32) i + 1;
		}
	}
	copy = MemoryContextAllocZero(TopMemoryContext, name.len + 1);
	wc_slice_copy(copy, name);
	table->families = table->families ? repalloc(table->families, (table->nfamilies + 1) * sizeof(WcHBaseFamily)) :
		MemoryContextAlloc(TopMemoryContext, sizeof(WcHBaseFamily));
	table->families[table->nfamilies] = (WcHBaseFamily) {.name = copy,.present = true};
	return (uint32) ++table->nfamilies;
}

/* --- the driver -------------------------------------------------------------*/

static const WcDriverKept kept = {
	.begin = wc_hbase_changes_begin,
	.done = wc_hbase_changes_done,
	.mark = wc_hbase_changes_mark,
	.cut = wc_hbase_changes_cut,
	.send = wc_hbase_changes_send,
	.lock_id = wc_hbase_lock_id,
	.expect = wc_hbase_expect,
	.ts_ahead = wc_hbase_ts_ahead,
	.finish = wc_hbase_changes_finish
};

/* HBase's own; a compression needs a codec on its servers. */
static const WcFamilyAttrs family_defaults = {
	.versions = 1,.bloomfilter = WC_BLOOM_ROW,.compression = WC_COMPRESSION_NONE,.packing = WC_PACKING_CELL,
	.blocksize = 65536,.blockcache = true
};

static const WcDriver driver = {
	.name = "hbase",
	.features = WC_FEATURE_OFFSET | WC_FEATURE_SAMPLE | WC_FEATURE_CATALOG | WC_FEATURE_ATOMIC,
	.family_defaults = &family_defaults,
	.kept = &kept,
	.catalog_generation = wc_hbase_catalog_generation,
	.describe = wc_hbase_describe,
	.list_tables = wc_hbase_list_tables,
	.list_namespaces = wc_hbase_list_namespaces,
	.change_catalog = wc_hbase_change_catalog,
	.is_enabled = wc_hbase_is_enabled,
	.regions = wc_hbase_regions,
	.acts_at_once = wc_hbase_acts_at_once,
	.increment = wc_hbase_increment,
	.append = wc_hbase_append,
	.scan_open = wc_hbase_scan_open,
	.scan_next = wc_hbase_scan_next,
	.scan_ready = wc_hbase_scan_ready,
	.scan_stats = wc_hbase_scan_stats,
	.scan_close = wc_hbase_scan_close,
	.sample = wc_hbase_sample
};

extern PGDLLEXPORT const WcDriver *wc_hbase_driver(const WcDriverHost *of_host);

const WcDriver *
wc_hbase_driver(const WcDriverHost *of_host)
{
	host = of_host;
	if (servers == NULL)
		make_registries();
	return &driver;
}
