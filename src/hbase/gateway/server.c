/*
 * hbase/gateway/server.c: foreign servers and their tables, as the session knows them.
 */
#include "hbase/gateway/gateway.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

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

static HTAB *servers;
static HTAB *tables;
static WcHBaseTable **tables_by_id;
static uint32 ntables;
static uint32 tables_cap;

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

void
wc_hbase_servers_init(void)
{
	HASHCTL		of_servers = {.keysize = sizeof(Oid),.entrysize = sizeof(WcHBaseServer)};
	HASHCTL		of_tables = {.keysize = sizeof(TableKey),.entrysize = sizeof(TableSlot)};

	if (servers != NULL)
		return;
	servers = hash_create("widecol HBase servers", 8, &of_servers, HASH_ELEM | HASH_BLOBS);
	tables = hash_create("widecol HBase tables", 64, &of_tables, HASH_ELEM | HASH_BLOBS);
	CacheRegisterSyscacheCallback(FOREIGNSERVEROID, on_server_change, (Datum) 0);
	CacheRegisterSyscacheCallback(USERMAPPINGOID, on_server_change, (Datum) 0);
}

static void
read_options(WcHBaseServer *server, WcServerOptions *options, WcUserOptions *user)
{
	wc_hbase_host->server_options(server->oid, options);
	wc_hbase_host->user_options(server->oid, GetSessionUserId(), user);
	if (!options->http && (user->user != NULL || user->kerberos || user->tls_cert != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("options of a user mapping need a server with transport 'http'"),
				 errdetail("The other transports have neither encryption nor Kerberos.")));
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

	/* set before the reading: a change that is made meanwhile sets it back */
	server->current = true;
	if (server->context != NULL && GetForeignServerExtended(server->oid, FSV_MISSING_OK) == NULL)
		return;
	context = AllocSetContextCreate(CurrentMemoryContext, "widecol HBase server", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	PG_TRY();
	{
		read_options(server, &options, &user);
	}
	PG_CATCH();
	{
		server->current = false;
		PG_RE_THROW();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old);
	wc_hbase_disconnect(server);
	if (server->context != NULL)
		MemoryContextDelete(server->context);
	MemoryContextSetParent(context, TopMemoryContext);
	server->context = context;
	server->options = options;
	server->nconnections = options.connections;
	server->session_user = GetSessionUserId();
	server->user = user;
	wc_hbase_doubt(server);
}

static void
init_connection(WcHBaseConnection *c, WcHBaseServer *server)
{
	c->server = server;
	c->socket = PGINVALID_SOCKET;
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
		init_connection(&server->connection, server);
		for (int i = 0; i < WC_HBASE_CONNECTIONS_MAX - 1; i++)
			init_connection(&server->more[i], server);
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

/* Sessions of any database that use the same gateway exclude each other. */
uint32
wc_hbase_lock_id(uint32 table_id)
{
	const WcHBaseTable *table = wc_hbase_table_by_id(table_id);
	const WcServerOptions *options = &wc_hbase_server(table->server->oid)->options;
	char	   *name = psprintf("%s:%d/%s", options->host, options->port, table->name);
	uint32		hash = hash_bytes((const unsigned char *) name, (int) strlen(name));

	pfree(name);
	return WC_REMOTE_TABLE | hash;
}
