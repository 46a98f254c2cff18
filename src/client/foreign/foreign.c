/*
 * client/foreign/foreign.c: the stored table that a foreign table maps.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "client/client.h"
#include "client/foreign/foreign.h"
#include "client/foreign/serveroption.h"
#include "compat.h"

/* Does the server belong to the wrapper widecol?  A server or wrapper that is not locked may have been
 * dropped: then it does not. */
static bool
server_is_ours(Oid serverid, bool *remote)
{
	ForeignServer *server = GetForeignServerExtended(serverid, FSV_MISSING_OK);
	ForeignDataWrapper *fdw = server != NULL ? GetForeignDataWrapperExtended(server->fdwid, FDW_MISSING_OK) : NULL;
	WcServerOptions options;

	if (fdw == NULL || strcmp(fdw->fdwname, "widecol") != 0)
		return false;
	wc_server_options_parse(server->options, &options);
	*remote = options.engine != WC_ENGINE_ROCKSDB;
	return true;
}

/* Is it a server of the embedded engine? */
static bool
server_is_widecol(Oid serverid)
{
	bool		remote;

	return server_is_ours(serverid, &remote) && !remote;
}

/* The foreign table's server and options; false: there is no such foreign table, or CREATE FOREIGN TABLE has
 * not written its row of pg_foreign_table yet. */
static bool
look_up(Oid relid, Oid *serverid, List **options)
{
	HeapTuple	tuple = SearchSysCache1(FOREIGNTABLEREL, ObjectIdGetDatum(relid));
	Datum		datum;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		return false;
	*serverid = ((Form_pg_foreign_table) GETSTRUCT(tuple))->ftserver;
	datum = SysCacheGetAttr(FOREIGNTABLEREL, tuple, Anum_pg_foreign_table_ftoptions, &isnull);
	*options = isnull ? NIL : untransformRelOptions(datum);
	ReleaseSysCache(tuple);
	return true;
}

static char *option_of(List *options, const char *name);

static bool
is_dump(List *options)
{
	char	   *layout = option_of(options, "layout");

	return layout != NULL && strcmp(layout, "dump") == 0;
}

bool
wc_foreign_is_widecol(Oid relid)
{
	Oid			serverid;
	List	   *options;

	return get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE && look_up(relid, &serverid, &options) &&
		server_is_widecol(serverid) && !is_dump(options);
}

bool
wc_foreign_is_remote(Oid relid)
{
	Oid			serverid;
	List	   *options;
	bool		remote;

	return get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE && look_up(relid, &serverid, &options) &&
		server_is_ours(serverid, &remote) && remote;
}

ForeignServer *
wc_foreign_server_of(Oid relid)
{
	return GetForeignServer(GetForeignTable(relid)->serverid);
}

bool
wc_foreign_is_dump(Oid relid)
{
	/* the extension's schema first: this function is called for each foreign table that is planned */
	return get_rel_namespace(relid) == get_namespace_oid("widecol", true) &&
		get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE && is_dump(GetForeignTable(relid)->options);
}

ForeignServer *
wc_foreign_server(const char *name)
{
	ForeignServer *server = GetForeignServerByName(name, true);
	bool		remote;

	return server != NULL && server_is_ours(server->serverid, &remote) ? server : NULL;
}

Oid
wc_foreign_first_of_server(Oid serverid)
{
	Relation	catalog = table_open(ForeignTableRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	Oid			first = InvalidOid;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		const FormData_pg_foreign_table *form = (Form_pg_foreign_table) GETSTRUCT(tuple);

		if (form->ftserver == serverid && (!OidIsValid(first) || form->ftrelid < first))
			first = form->ftrelid;
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return first;
}

bool
wc_foreign_has_usage(const ForeignServer *server)
{
	return pg_foreign_server_ownercheck(server->serverid, GetUserId()) ||
		pg_foreign_server_aclcheck(server->serverid, GetUserId(), ACL_USAGE) == ACLCHECK_OK;
}

void
wc_foreign_require_usage(const ForeignServer *server)
{
	if (wc_foreign_has_usage(server))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for foreign server %s", server->servername),
			 errhint("Its owner can say: GRANT USAGE ON FOREIGN SERVER %s TO %s.",
					 quote_identifier(server->servername), quote_identifier(GetUserNameFromId(GetUserId(), false)))));
}

/* The option's value; NULL: the option is not set. */
static char *
option_of(List *options, const char *name)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, name) == 0)
			return defGetString(def);
	}
	return NULL;
}

/* NULL: relid is not a foreign table of widecol's, or has been dropped.  *server: of an HBase cluster. */
static char *
table_name_of(Oid relid, Oid *server)
{
	Oid			serverid;
	List	   *options;
	char	   *name;
	bool		remote;

	*server = InvalidOid;
	if (!look_up(relid, &serverid, &options) || !server_is_ours(serverid, &remote) || is_dump(options))
		return NULL;
	if (remote)
		*server = serverid;
	name = option_of(options, "table");
	return name != NULL ? name : get_rel_name(relid);
}

char *
wc_foreign_table_name(Oid relid)
{
	Oid			server;
	char	   *name = table_name_of(relid, &server);
	char	   *relname;

	if (name != NULL)
		return name;
	relname = get_rel_name(relid);
	if (relname == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a widecol foreign table", relname),
			 errhint("Pass a foreign table of a server that uses the foreign-data wrapper widecol.")));
}

static const char *
without_default(const char *name)
{
	return strncmp(name, "default:", 8) == 0 ? name + 8 : name;
}

bool
wc_foreign_same_name(const char *a, const char *b)
{
	return strcmp(without_default(a), without_default(b)) == 0;
}

static bool
maps_table(Oid relid, Oid server, const char *fullname)
{
	Oid			found;
	const char *name = table_name_of(relid, &found);

	return name != NULL && found == server && wc_foreign_same_name(name, fullname);
}

static int
compare_oids(const ListCell *a, const ListCell *b)
{
	Oid			x = ((const WcForeignTable *) lfirst(a))->relid;
	Oid			y = ((const WcForeignTable *) lfirst(b))->relid;

	return x < y ? -1 : x > y;
}

List *
wc_foreign_all(void)
{
	List	   *tables = NIL;
	Relation	catalog = table_open(ForeignTableRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Oid			relid = ((Form_pg_foreign_table) GETSTRUCT(tuple))->ftrelid;
		Oid			server;
		char	   *name = table_name_of(relid, &server);
		WcForeignTable *table;

		/* the foreign table may have been dropped since this scan's snapshot was taken */
		if (name == NULL)
			continue;
		table = palloc(sizeof(WcForeignTable));
		table->relid = relid;
		table->server = server;
		table->name = pstrdup(without_default(name));
		tables = lappend(tables, table);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	list_sort(tables, compare_oids);
	return tables;
}

bool
wc_foreign_maps(const WcForeignTable *table, Oid server, const char *fullname)
{
	return table->server == server && wc_foreign_same_name(table->name, fullname);
}

List *
wc_foreign_tables_of(Oid server, const char *fullname)
{
	List	   *relids = NIL;
	ListCell   *lc;

	foreach(lc, wc_foreign_all())
	{
		const WcForeignTable *table = lfirst(lc);

		if (wc_foreign_maps(table, server, fullname))
			relids = lappend_oid(relids, table->relid);
	}
	return relids;
}

List *
wc_foreign_lock_tables_of(Oid server, const char *fullname, const char *action, List *checked)
{
	List	   *locked = NIL;
	ListCell   *lc;

	foreach(lc, wc_foreign_tables_of(server, fullname))
	{
		Oid			relid = lfirst_oid(lc);
		Relation	rel;

		/* during the wait for the lock, the foreign table may have been dropped or changed */
		LockRelationOid(relid, AccessExclusiveLock);
		if (!maps_table(relid, server, fullname))
		{
			UnlockRelationOid(relid, AccessExclusiveLock);
			continue;
		}
		if (!list_member_oid(checked, relid))
		{
			rel = relation_open(relid, NoLock);
			CheckTableNotInUse(rel, action);
			relation_close(rel, NoLock);
		}
		locked = lappend_oid(locked, relid);
	}
	return locked;
}

static Oid
owner_of_relation(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

void
wc_foreign_check_owners(const WcTableDesc *desc)
{
	char	   *name = wc_client_table_fullname(desc);
	ListCell   *lc;

	/* the name is locked: sessions that have made foreign tables of it meanwhile have committed */
	AcceptInvalidationMessages();
	foreach(lc, wc_foreign_tables_of(InvalidOid, name))
	{
		Oid			role = owner_of_relation(lfirst_oid(lc));

		if (!OidIsValid(role) || has_privs_of_role(role, desc->owner))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot make stored table \"%s\" for role \"%s\": foreign table %s of role \"%s\" maps it already",
						name, GetUserNameFromId(desc->owner, false),
						wc_foreign_qualified_name(lfirst_oid(lc)), GetUserNameFromId(role, false)),
				 errhint("Drop the foreign table first, or make the stored table as its owner.")));
	}
}

bool
wc_foreign_shows_cells(Oid relid)
{
	char	   *layout = option_of(GetForeignTable(relid)->options, "layout");

	return layout != NULL && strcmp(layout, "cell") == 0;
}

char *
wc_foreign_qualified_name(Oid relid)
{
	char	   *name = get_rel_name(relid);

	if (name == NULL)
		return psprintf("%u", relid);
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), name);
}

bool
wc_foreign_uses_family(Oid relid, const char *family)
{
	Relation	rel = try_table_open(relid, AccessShareLock);
	char	   *default_family;
	bool		uses = false;

	if (rel == NULL)
		return false;
	default_family = option_of(GetForeignTable(relid)->options, "family");
	if (wc_foreign_shows_cells(relid))
	{
		table_close(rel, NoLock);
		return false;
	}
	if (default_family == NULL)
		default_family = WC_FAMILY_DEFAULT;

	for (int i = 0; i < RelationGetNumberOfAttributes(rel) && !uses; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), i);
		List	   *options;
		char	   *name;

		if (att->attisdropped)
			continue;
		options = GetForeignColumnOptions(relid, att->attnum);
		name = option_of(options, "family");
		/* a key column lives in a family only when its option `family` names one (a hash) */
		if (name == NULL && option_of(options, "rowkey") == NULL)
			name = default_family;
		if (name != NULL)
			uses = wc_slice_eq(wc_name_to_utf8(name), wc_slice_cstr(family));
	}
	table_close(rel, NoLock);
	return uses;
}

bool
wc_foreign_restoring(void)
{
	return !check_function_bodies && namespace_search_path != NULL && namespace_search_path[0] == '\0';
}

/* --- writing options ------------------------------------------------------------ */

/* Writes the catalog directly, without ALTER FOREIGN TABLE: the foreign table may belong to another role. */
static void
set_option(Oid relid, char *name, const char *old, char *value)
{
	Relation	catalog;
	HeapTuple	tuple;
	Datum		values[Natts_pg_foreign_table] = {0};
	bool		nulls[Natts_pg_foreign_table] = {false};
	bool		replace[Natts_pg_foreign_table] = {false};
	DefElem    *def = makeDefElemExtended(NULL, name, (Node *) makeString(value),
										  old ? DEFELEM_SET : DEFELEM_ADD, -1);
	Datum		options;
	bool		isnull;

	LockRelationOid(relid, ShareUpdateExclusiveLock);
	catalog = table_open(ForeignTableRelationId, RowExclusiveLock);
	tuple = SearchSysCacheCopy1(FOREIGNTABLEREL, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for foreign table %u", relid);
	options = SysCacheGetAttr(FOREIGNTABLEREL, tuple, Anum_pg_foreign_table_ftoptions, &isnull);
	values[Anum_pg_foreign_table_ftoptions - 1] =
		transformGenericOptions(ForeignTableRelationId, isnull ? PointerGetDatum(NULL) : options, list_make1(def),
								InvalidOid);
	replace[Anum_pg_foreign_table_ftoptions - 1] = true;
	tuple = heap_modify_tuple(tuple, RelationGetDescr(catalog), values, nulls, replace);
	CatalogTupleUpdate(catalog, &tuple->t_self, tuple);
	table_close(catalog, RowExclusiveLock);
	CacheInvalidateRelcacheByRelid(relid);
	CommandCounterIncrement();
}

void
wc_foreign_tell_families(Oid relid, const WcTableDesc *desc, const WcFamilyTold *told)
{
	char	   *old = option_of(GetForeignTable(relid)->options, "families");
	char	   *families = wc_families_tell(old, desc, told);

	if (families != NULL)
		set_option(relid, pstrdup("families"), old, families);
}

void
wc_foreign_set_table(Oid relid, char *name)
{
	set_option(relid, pstrdup("table"), option_of(GetForeignTable(relid)->options, "table"), name);
}

void
wc_foreign_tell_all(const WcTableDesc *desc)
{
	ListCell   *lc;

	foreach(lc, wc_foreign_tables_of(InvalidOid, wc_client_table_fullname(desc)))
	{
		Oid			relid = lfirst_oid(lc);
		WcFamilyTold *told = palloc0(sizeof(WcFamilyTold) * (desc->nfamilies + 1));
		bool		any = false;

		for (uint32 i = 0; i < desc->nfamilies; i++)
		{
			told[i].maps = told[i].named = wc_foreign_uses_family(relid, pnstrdup((const char *) desc->families[i].name.data,
																				  desc->families[i].name.len));
			any |= told[i].maps;
		}
		/* a foreign table with layout cell, or with key columns alone, shows all families */
		for (uint32 i = 0; i < desc->nfamilies && !any; i++)
			told[i].maps = true;
		wc_foreign_tell_families(relid, desc, told);
	}
}
