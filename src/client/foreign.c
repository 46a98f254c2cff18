/*
 * client/foreign.c: which stored table a foreign table maps.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "client/foreign.h"

static bool
server_is_widecol(Oid serverid)
{
	ForeignServer *server = GetForeignServer(serverid);
	ForeignDataWrapper *fdw = GetForeignDataWrapper(server->fdwid);

	return strcmp(fdw->fdwname, "widecol") == 0;
}

bool
wc_foreign_is_widecol(Oid relid)
{
	if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE)
		return false;
	/* not there yet while CREATE FOREIGN TABLE is half way */
	if (!SearchSysCacheExists1(FOREIGNTABLEREL, ObjectIdGetDatum(relid)))
		return false;
	return server_is_widecol(GetForeignTable(relid)->serverid);
}

/* NULL: it is not among them. */
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

static char *
table_name_of(Oid relid)
{
	char	   *name = option_of(GetForeignTable(relid)->options, "table");

	return name ? name : get_rel_name(relid);
}

char *
wc_foreign_table_name(Oid relid)
{
	if (!wc_foreign_is_widecol(relid))
	{
		char	   *name = get_rel_name(relid);

		if (name == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("relation with OID %u does not exist", relid)));
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a widecol foreign table", name),
				 errhint("Pass a foreign table of a server that uses the foreign-data wrapper widecol.")));
	}
	return table_name_of(relid);
}

static const char *
without_default(const char *name)
{
	return strncmp(name, "default:", 8) == 0 ? name + 8 : name;
}

List *
wc_foreign_tables_of(const char *fullname)
{
	List	   *relids = NIL;
	Relation	catalog = table_open(ForeignTableRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_foreign_table form = (Form_pg_foreign_table) GETSTRUCT(tuple);

		if (!server_is_widecol(form->ftserver))
			continue;
		if (strcmp(without_default(table_name_of(form->ftrelid)),
				   without_default(fullname)) == 0)
			relids = lappend_oid(relids, form->ftrelid);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return relids;
}

bool
wc_foreign_uses_family(Oid relid, const char *family)
{
	List	   *options = GetForeignTable(relid)->options;
	char	   *layout = option_of(options, "layout");
	char	   *default_family = option_of(options, "family");
	Relation	rel;
	bool		uses = false;

	if (layout != NULL && strcmp(layout, "cell") == 0)
		return false;
	if (default_family == NULL)
		default_family = WC_FAMILY_DEFAULT;

	rel = table_open(relid, AccessShareLock);
	for (int i = 0; i < RelationGetNumberOfAttributes(rel) && !uses; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), i);
		char	   *name;

		if (att->attisdropped)
			continue;
		options = GetForeignColumnOptions(relid, att->attnum);
		name = option_of(options, "family");
		/* a part of the key lives in a family only when it says so (a hash) */
		if (name == NULL && option_of(options, "rowkey") == NULL)
			name = default_family;
		if (name != NULL)
			uses = strcmp(pg_server_to_any(name, (int) strlen(name), PG_UTF8), family) == 0;
	}
	table_close(rel, NoLock);
	return uses;
}
