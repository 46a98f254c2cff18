/*
 * shell/access.c: which data the functions may read and write.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/varlena.h"

#include "base/printable.h"
#include "client/catalog/owner.h"
#include "client/foreign/foreign.h"
#include "fdw/relation/reach.h"
#include "fdw/relation/recordtype.h"
#include "shell/access.h"

#define OWNER_HINT "Have its owner make a foreign table that shows it, and GRANT privileges on that."

/* Of a row key or qualifier in a message. */
#define SHOWN_MAX 128

/* --- names ------------------------------------------------------------------------- */

/* The relation, as regclass would find it; InvalidOid when there is none, or it
 * cannot be the name of one. */
static Oid
find_relation(const char *name)
{
	char	   *copy = pstrdup(name);
	List	   *parts;

	/* "namespace:table" is a stored table's */
	if (strchr(name, ':') != NULL && strchr(name, '"') == NULL)
		return InvalidOid;
	if (!SplitIdentifierString(copy, '.', &parts) || parts == NIL || list_length(parts) > 3)
		return InvalidOid;
	if (list_length(parts) == 3)
	{
		if (strcmp(linitial(parts), get_database_name(MyDatabaseId)) != 0)
			return InvalidOid;
		parts = list_delete_first(parts);
	}
	return RangeVarGetRelid(makeRangeVar(list_length(parts) == 2 ? linitial(parts) : NULL, llast(parts), -1),
							NoLock, true);
}

static bool
is_stored_name(const char *name)
{
	WcSlice		ns;
	WcSlice		table;

	return wc_table_name_split(wc_name_to_utf8(name), &ns, &table, NULL) == WC_OK;
}

/* By the stored table's own name, which is its owner's to use. */
static void
open_stored(const char *name, bool writes, WcAccess *access)
{
	WcTableDesc *desc = is_stored_name(name) ? wc_client_table(name, true) : NULL;

	if (desc == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("there is no foreign table and no stored table \"%s\"", name)));
	wc_owner_require(desc, OWNER_HINT);

	/* a foreign table is locked by PostgreSQL's means; a name by these */
	wc_client_lock_table(name, writes ? RowExclusiveLock : AccessShareLock);
	access->table = wc_client_table(name, false);
	wc_owner_require(access->table, OWNER_HINT);
}

/* The stored table's name in a form that is no foreign table's. */
static char *
colon_name(const WcTableDesc *table)
{
	return psprintf("%s:%s", wc_name_from_utf8(table->ns), wc_name_from_utf8(table->name));
}

/* --- foreign tables ------------------------------------------------------------------ */

/*
 * Do row security policies apply to the current user?  A foreign table has none of its own; policies of a
 * table that it is a partition or a child of apply to its rows.
 */
static bool
policies_hold(Oid relid)
{
	Relation	catalog;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;
	bool		hold;

	if (check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
		return true;
	hold = false;
	catalog = table_open(InheritsRelationId, AccessShareLock);
	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, InheritsRelidSeqnoIndexId, true, NULL, 1, &key);
	while (!hold && HeapTupleIsValid(tuple = systable_getnext(scan)))
		hold = policies_hold(((Form_pg_inherits) GETSTRUCT(tuple))->inhparent);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return hold;
}

static void
require_no_policies(Oid relid, const WcTableDesc *table)
{
	if (has_bypassrls_privilege(GetUserId()) || !policies_hold(relid))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("row security policies for foreign table \"%s\" hold for role \"%s\"",
					get_rel_name(relid), GetUserNameFromId(GetUserId(), false)),
			 errdetail("This function reads and writes cells, to which policies cannot be applied."),
			 !wc_foreign_is_remote(relid) && wc_owner_is_mine(table) ?
			 errhint("Use SQL, or pass the stored table's name, '%s'.", colon_name(table)) :
			 errhint("Use SQL.")));
}

static void
require_privilege(Oid relid, AclMode privilege)
{
	AclResult	acl = pg_class_aclcheck(relid, GetUserId(), privilege);

	if (acl != ACLCHECK_OK)
		aclcheck_error(acl, OBJECT_FOREIGN_TABLE, get_rel_name(relid));
}

/* As PostgreSQL says it of a statement. */
static void pg_attribute_noreturn()
column_denied(const WcAccess *access, const WcRelColumn *column, AclMode mode)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for foreign table %s", access->wrel->relname),
			 errdetail("It takes %s on column \"%s\".",
					   mode == ACL_SELECT ? "SELECT" : mode == ACL_INSERT ? "INSERT" : "UPDATE", NameStr(column->name))));
}

/* The privileges that a statement on the foreign table would need for its key columns, and for DELETE. */
static void
require_row_privileges(const WcAccess *access, bool reads, AclMode writes)
{
	const WcRelColumn *column;
	Oid			relid = access->wrel->relid;

	if (reads && wc_reach_keys(access->wrel, ACL_SELECT, &column) != WC_REACH_OPEN)
		column_denied(access, column, ACL_SELECT);
	if (writes == ACL_INSERT && wc_reach_keys(access->wrel, ACL_INSERT, &column) != WC_REACH_OPEN)
		column_denied(access, column, ACL_INSERT);
	if (writes == ACL_INSERT || writes == 0)
		return;
	if (pg_class_aclcheck(relid, GetUserId(), writes) != ACLCHECK_OK &&
		(writes == ACL_DELETE || pg_attribute_aclcheck_all(relid, GetUserId(), writes, ACLMASK_ANY) != ACLCHECK_OK))
		require_privilege(relid, writes);
}

static WcRelation *
open_relation(Oid relid)
{
	Relation	rel = relation_open(relid, NoLock);
	WcRelation *wrel = wc_relation_open(rel);

	relation_close(rel, NoLock);
	return wrel;
}

/*
 * The table that the foreign table maps.  Is everything in it the caller's?  A table of an HBase cluster has no
 * owner: a role with USAGE on the server may make foreign tables of all tables there.
 */
static bool
open_mapped(Oid relid, WcAccess *access)
{
	char	   *name = wc_foreign_table_name(relid);

	if (!wc_foreign_is_remote(relid))
	{
		access->table = wc_client_table(name, false);
		return wc_owner_is_mine(access->table);
	}

	/* the foreign table's cached mapping has it, without a call of the gateway */
	access->held = open_relation(relid);
	access->table = access->held->desc;
	return wc_foreign_has_usage(wc_foreign_server_of(relid));
}

/* A function reads and writes all of a cell. */
static void
require_cells(Oid relid)
{
	WcRelation *wrel = open_relation(relid);
	bool		names = wc_relation_names_cells(wrel);

	wc_relation_close(wrel);
	if (!names)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for foreign table %s", get_rel_name(relid)),
				 errdetail("This function reads and writes whole cells, of which the foreign table's columns show only a part."),
				 errhint("Use SQL.")));
}

static void
open_foreign(Oid relid, bool reads, AclMode writes, WcAccess *access)
{
	bool		mine;

	LockRelationOid(relid, writes ? RowExclusiveLock : AccessShareLock);
	mine = open_mapped(relid, access);
	require_no_policies(relid, access->table);
	if (mine)
		return;
	if (wc_foreign_shows_cells(relid))
	{
		if (reads)
			require_privilege(relid, ACL_SELECT);
		if (writes)
			require_privilege(relid, writes);
		require_cells(relid);
	}
	else
	{
		access->wrel = open_relation(relid);
		require_row_privileges(access, reads, writes);
	}
}

/* --- opening -------------------------------------------------------------------------- */

static bool
is_given_by_name(FunctionCallInfo fcinfo)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	Oid		   *types;
	int			n;

	/* called by C code, without an expression */
	if (!OidIsValid(type))
	{
		(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &n);
		type = types[0];
	}
	return type == TEXTOID;
}

void
wc_access_open(FunctionCallInfo fcinfo, WcAccess *access, bool reads, AclMode writes)
{
	memset(access, 0, sizeof(*access));
	wc_arg_not_null(fcinfo, 0, "tab");
	if (is_given_by_name(fcinfo))
	{
		char	   *name = wc_arg_cstring(fcinfo, 0);
		Oid			relid = find_relation(name);

		/* another relation does not stand in the way of a stored table */
		if (OidIsValid(relid) && !wc_relation_is_widecol(relid) &&
			is_stored_name(name) && wc_client_table(name, true) != NULL)
			relid = InvalidOid;
		if (OidIsValid(relid))
			open_foreign(relid, reads, writes, access);
		else
			open_stored(name, writes != 0, access);
	}
	else
		open_foreign(PG_GETARG_OID(0), reads, writes, access);
}

void
wc_access_close(WcAccess *access)
{
	if (access->wrel != NULL)
		wc_relation_close(access->wrel);
	if (access->held != NULL)
		wc_relation_close(access->held);
	access->wrel = access->held = NULL;
}

/* --- rows ------------------------------------------------------------------------------ */

bool
wc_access_shows_row(WcAccess *access, WcSlice row)
{
	return access->wrel == NULL || wc_recordtype_matches(access->wrel, row);
}

WcSlice
wc_access_row_argument(FunctionCallInfo fcinfo, int argno, WcAccess *access)
{
	WcSlice		row = wc_arg_row(fcinfo, argno);
	WcRelation *wrel = access->wrel;
	char		shown[SHOWN_MAX];
	WcCodecWhere where = {.row = row};

	if (wrel == NULL)
		return row;
	if (!wc_recordtype_matches(wrel, row))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("row \"%s\" is none of foreign table \"%s\"", wc_printable(shown, sizeof(shown), row), wrel->relname),
				 errdetail("A part of its row key is another than the foreign table's constant.")));

	/* SQL makes no row that the foreign table could not read */
	where.table = wrel->relname;
	wc_relation_decode_key(wrel, &where, NULL, palloc(sizeof(Datum) * wrel->natts), palloc(sizeof(bool) * wrel->natts));
	return row;
}

/* --- columns --------------------------------------------------------------------------- */

static const char *
family_name(const WcAccess *access, uint32 id)
{
	const WcFamilyDesc *family = wc_table_desc_family_by_id(access->table, id);

	return family ? wc_name_from_utf8(family->name) : "?";
}

static void pg_attribute_noreturn()
not_mapped(const WcAccess *access, AclMode mode, const char *what)
{
	char	   *owner = wc_owner_name(access->table);
	const char *lacking = mode == ACL_SELECT ? "show" : mode == ACL_DELETE ? "map" : "write";

	if (access->held != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for %s of table \"%s\" of HBase", what, wc_client_table_fullname(access->table)),
				 errdetail("Foreign table \"%s\" does not %s it.", access->wrel->relname, lacking),
				 errhint("It takes USAGE on foreign server \"%s\".",
						 wc_foreign_server_of(access->wrel->relid)->servername)));
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for %s of stored table \"%s\", whose owner is \"%s\"", what,
					wc_client_table_fullname(access->table), owner ? owner : "nobody but superusers"),
			 errdetail("Foreign table \"%s\" does not %s it.", access->wrel->relname, lacking),
			 errhint(OWNER_HINT)));
}

static void
require(const WcAccess *access, const WcColumnName *name, AclMode mode)
{
	const WcRelColumn *column = NULL;
	char		qualifier[SHOWN_MAX];

	switch (wc_reach_cell(access->wrel, name->family, name->qualifier, mode, &column))
	{
		case WC_REACH_OPEN:
			return;
		case WC_REACH_DENIED:
			column_denied(access, column, mode);
		case WC_REACH_UNMAPPED:
			not_mapped(access, mode, psprintf("column \"%s:%s\"", family_name(access, name->family),
										wc_printable(qualifier, sizeof(qualifier), name->qualifier)));
	}
}

void
wc_access_require_column(const WcAccess *access, const WcColumnName *column, AclMode mode)
{
	if (access->wrel == NULL)
		return;
	require(access, column, mode);

	/* where INSERT does not replace rows, writing over a cell is UPDATE's */
	if (mode == ACL_INSERT && access->wrel->duplicates_fail)
		require(access, column, ACL_UPDATE);
}

WcColumnName
wc_access_column_argument(FunctionCallInfo fcinfo, int argno, const char *name, const WcAccess *access, AclMode mode)
{
	WcColumnName column = wc_arg_column(fcinfo, argno, name, access->table);

	wc_access_require_column(access, &column, mode);
	return column;
}

bool
wc_access_shows_cell(const WcAccess *access, uint32 family, WcSlice qualifier)
{
	return access->wrel == NULL ||
		wc_reach_cell(access->wrel, family, qualifier, ACL_SELECT, NULL) == WC_REACH_OPEN;
}

bool
wc_access_deletes_family(const WcAccess *access, uint32 family)
{
	return access->wrel == NULL || wc_reach_family(access->wrel, family);
}

void
wc_access_require_family(const WcAccess *access, const WcFamilyDesc *family)
{
	if (!wc_access_deletes_family(access, family->id))
		not_mapped(access, ACL_DELETE, psprintf("family \"%s\"", wc_name_from_utf8(family->name)));
}

void
wc_access_require_all(const WcAccess *access, const char *what)
{
	if (access->wrel != NULL)
		not_mapped(access, ACL_SELECT, what);
}

void
wc_access_restrict(const WcAccess *access, WcScan *scan)
{
	const WcRelColumn *column = NULL;
	WcColumn   *columns = NULL;
	uint32		n = 0;

	if (access->wrel == NULL)
		return;
	if (scan->ncolumns == 0)
	{
		WcReach		reach = wc_reach_columns(access->wrel, NULL, &columns, &n, &column);

		if (reach == WC_REACH_DENIED)
			column_denied(access, column, ACL_SELECT);
		if (reach == WC_REACH_UNMAPPED)
			not_mapped(access, ACL_SELECT, "the cells");
	}
	for (uint32 i = 0; i < scan->ncolumns; i++)
	{
		const WcColumn *wanted = &scan->columns[i];
		WcColumnName name = {.family = wanted->family,.qualifier = wanted->qualifier};
		WcReach		reach;

		if (wanted->kind == WC_COLUMN_EXACT)
		{
			require(access, &name, ACL_SELECT);
			columns = n == 0 ? palloc(sizeof(WcColumn)) : repalloc(columns, sizeof(WcColumn) * (n + 1));
			columns[n++] = *wanted;
			continue;
		}
		reach = wc_reach_columns(access->wrel, &wanted->family, &columns, &n, &column);
		if (reach == WC_REACH_DENIED)
			column_denied(access, column, ACL_SELECT);
		if (reach == WC_REACH_UNMAPPED)
			not_mapped(access, ACL_SELECT, psprintf("family \"%s\"", family_name(access, wanted->family)));
	}
	scan->columns = columns;
	scan->ncolumns = n;
}
