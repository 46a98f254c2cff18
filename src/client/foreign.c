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
#include "utils/lsyscache.h"
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

static char *
table_name_of(Oid relid)
{
	ForeignTable *ft = GetForeignTable(relid);
	ListCell   *lc;

	foreach(lc, ft->options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "table") == 0)
			return defGetString(def);
	}
	return get_rel_name(relid);
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
