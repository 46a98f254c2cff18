/*
 * fdw/ddl/rename.c: names that are renamed, and places in stored tables that are named after them.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "foreign/foreign.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "client/client.h"
#include "client/foreign/families.h"
#include "client/foreign/foreign.h"
#include "fdw/ddl/rename.h"
#include "fdw/relation/alter.h"
#include "fdw/relation/mapping.h"
#include "fdw/relation/option.h"
#include "fdw/relation/relation.h"
#include "fdw/relation/salt.h"

/* --- renames ---------------------------------------------------------------- */

static void
pin_qualifier(Oid relid, const char *column)
{
	AttrNumber	attnum = get_attnum(relid, column);
	WcTableOptions table;
	WcColumnOptions options;

	if (attnum <= 0)
		return;
	wc_options_parse_table(GetForeignTable(relid)->options, &table);
	wc_options_parse_column(GetForeignColumnOptions(relid, attnum), &options);
	if (table.layout == WC_LAYOUT_CELL || options.qualifier || options.qualifier_prefix)
		return;
	if (options.rowkey == WC_ROWKEY_RAW || (options.rowkey > 0 && !wc_encoding_is_hash(options.encoding)))
		return;
	if (options.rowkey == WC_ROWKEY_NONE && options.family)
	{
		/* a whole family as a map has no qualifier */
		Relation	rel = relation_open(relid, AccessShareLock);
		WcRelation *wrel = wc_relation_check(rel);
		bool		map = wrel->columns[attnum - 1].role == WC_ROLE_MAP;

		relation_close(rel, AccessShareLock);
		if (map)
			return;
	}
	wc_alter_option(relid, column, "qualifier", column, DEFELEM_ADD);
}

static void
pin_table(Oid relid)
{
	WcTableOptions table;

	wc_options_parse_table(GetForeignTable(relid)->options, &table);
	if (table.table == NULL)
		wc_alter_option(relid, NULL, "table", get_rel_name(relid), DEFELEM_ADD);
}

/* ALTER TYPE ... RENAME ATTRIBUTE takes a foreign table, too. */
static bool
renames_column(const RenameStmt *stmt)
{
	return stmt->renameType == OBJECT_COLUMN || stmt->renameType == OBJECT_ATTRIBUTE;
}

/* As does ALTER INDEX ... RENAME. */
static bool
renames_table(const RenameStmt *stmt)
{
	return stmt->renameType == OBJECT_FOREIGN_TABLE || stmt->renameType == OBJECT_TABLE || stmt->renameType == OBJECT_INDEX;
}

void
wc_rename_before(const RenameStmt *stmt)
{
	bool		column = renames_column(stmt);
	Oid			relid;
	ListCell   *lc;

	if (stmt->relation == NULL || !(column || renames_table(stmt)))
		return;
	relid = RangeVarGetRelid(stmt->relation, NoLock, true);
	if (!OidIsValid(relid))
		return;
	if (!column)
	{
		if (wc_relation_is_widecol(relid))
			pin_table(relid);
		return;
	}
	foreach(lc, stmt->relation->inh ? find_all_inheritors(relid, NoLock, NULL) : list_make1_oid(relid))
		if (wc_relation_is_widecol(lfirst_oid(lc)))
			pin_qualifier(lfirst_oid(lc), stmt->subname);
}

void
wc_rename_after(const RenameStmt *stmt, List *relids)
{
	ListCell   *lc;

	if (!renames_column(stmt))
		return;
	CommandCounterIncrement();
	foreach(lc, relids)
	{
		Oid			relid = lfirst_oid(lc);
		WcTableOptions table;
		char	   *salt_by;

		if (!wc_relation_is_widecol(relid))
			continue;
		wc_options_parse_table(GetForeignTable(relid)->options, &table);
		salt_by = wc_salt_by_renamed(&table.salt_by, stmt->subname, stmt->newname);
		if (salt_by != NULL)
			wc_alter_option(relid, NULL, "salt_by", salt_by, DEFELEM_SET);
	}
}

/* --- new columns ------------------------------------------------------------
 *
 * A column that was renamed has kept its qualifier, so a new one by its old name
 * finds that place taken: it gets another.
 */

/* Columns that show timestamps or versions stand beside a column in the same place, and maps have many places. */
static bool
has_place(Form_pg_attribute att, const WcColumnOptions *options)
{
	return !options->timestamp && !options->qualifier_prefix && getBaseType(att->atttypid) != wc_mapping_version_array() &&
		(options->rowkey == WC_ROWKEY_NONE || wc_encoding_is_hash(options->encoding));
}

/* Has another column its cells in this place?  Whole families as maps aside. */
static bool
place_is_taken(Relation rel, AttrNumber but, const WcTableOptions *table, const char *family, const char *qualifier)
{
	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), i);
		WcColumnOptions other;

		if (att->attisdropped || att->attnum == but)
			continue;
		wc_options_parse_column(GetForeignColumnOptions(RelationGetRelid(rel), att->attnum), &other);
		if (!has_place(att, &other))
			continue;
		if (strcmp(other.family ? other.family : table->family ? table->family : WC_FAMILY_DEFAULT, family) == 0 &&
			strcmp(other.qualifier ? other.qualifier : NameStr(att->attname), qualifier) == 0)
			return true;
	}
	return false;
}

/* The qualifier that a new column has to be given, or NULL: its name will do. */
static char *
free_qualifier(Oid relid, const char *column)
{
	AttrNumber	attnum = get_attnum(relid, column);
	WcTableOptions table;
	WcColumnOptions options;
	const char *family;
	char	   *qualifier = pstrdup(column);
	Relation	rel;

	if (attnum <= 0)
		return NULL;
	wc_options_parse_table(GetForeignTable(relid)->options, &table);
	wc_options_parse_column(GetForeignColumnOptions(relid, attnum), &options);
	if (table.layout == WC_LAYOUT_CELL || options.qualifier || options.qualifier_prefix ||
		options.rowkey != WC_ROWKEY_NONE)
		return NULL;
	family = options.family ? options.family : table.family ? table.family : WC_FAMILY_DEFAULT;
	rel = relation_open(relid, AccessShareLock);
	for (int n = 2; place_is_taken(rel, attnum, &table, family, qualifier); n++)
		qualifier = psprintf("%s_%d", column, n);
	relation_close(rel, AccessShareLock);
	return strcmp(qualifier, column) == 0 ? NULL : qualifier;
}

void
wc_rename_place_new(const AlterTableStmt *stmt, List *relids)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, stmt->cmds)
	{
		const AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

		if (cmd->subtype != AT_AddColumn)
			continue;
		CommandCounterIncrement();
		foreach(lc2, relids)
		{
			const char *column = castNode(ColumnDef, cmd->def)->colname;
			char	   *qualifier = NULL;

			if (wc_relation_is_widecol(lfirst_oid(lc2)))
				qualifier = free_qualifier(lfirst_oid(lc2), column);
			if (qualifier != NULL)
				wc_alter_option(lfirst_oid(lc2), column, "qualifier", qualifier, DEFELEM_ADD);
		}
	}
}
