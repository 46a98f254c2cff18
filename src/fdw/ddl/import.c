/*
 * fdw/ddl/import.c: IMPORT FOREIGN SCHEMA: foreign tables over the stored tables of a
 * namespace.
 *
 * PostgreSQL runs the commands that are made here, with the privileges of the role that imports.  Stored
 * tables are only read: each is locked against being dropped until the transaction ends, because to create a
 * foreign table over one that is not there would make it.
 */
#include "postgres.h"

#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

#include "client/client.h"
#include "fdw/fdw.h"
#include "fdw/relation/option.h"
#include "fdw/relation/relation.h"

/* Of the key column in layout 'row'. */
#define KEY_COLUMN "rowkey"

/* Names that PostgreSQL does not allow for a column. */
static const char *const system_columns[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};

/* --- names --------------------------------------------------------------------- */

/* "default, other": those there are. */
static char *
list_of_names(const List *namespaces)
{
	StringInfoData list;
	ListCell   *lc;

	initStringInfo(&list);
	foreach(lc, namespaces)
		appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "", ((WcClientNamespace *) lfirst(lc))->name);
	return list.data;
}

static void
require_namespace(WcClientStore *store, const char *name)
{
	List	   *namespaces = wc_client_store_namespaces(store);
	ListCell   *lc;

	foreach(lc, namespaces)
	{
		if (strcmp(((WcClientNamespace *) lfirst(lc))->name, name) == 0)
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_SCHEMA),
			 errmsg("namespace \"%s\" does not exist", name),
			 errhint("Namespaces are: %s.", list_of_names(namespaces))));
}

static bool
is_taken(const List *names, const char *name)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	}
	for (int i = 0; i < lengthof(system_columns); i++)
	{
		if (strcmp(system_columns[i], name) == 0)
			return true;
	}
	return false;
}

/*
 * A column's name for a family: the family's name, unless another column or PostgreSQL uses it, or it is too
 * long: then with a number at its end.
 */
static char *
column_name(const List *taken, const char *family)
{
	char	   *name = pstrdup(family);

	truncate_identifier(name, (int) strlen(name), false);
	for (int n = 2; is_taken(taken, name); n++)
	{
		char	   *suffix = psprintf("_%d", n);

		name = pstrdup(family);
		name[pg_mbcliplen(name, (int) strlen(name), NAMEDATALEN - 1 - (int) strlen(suffix))] = '\0';
		name = psprintf("%s%s", name, suffix);
	}
	return name;
}

/* --- commands ------------------------------------------------------------------ */

static void
add_cell_columns(StringInfo sql, const WcImportOptions *options)
{
	appendStringInfo(sql, "\"row\" %s, family text COLLATE \"C\", qualifier bytea, ts bigint, type text, "
					 "value bytea, ttl interval", options->text_key ? "text COLLATE \"C\"" : "bytea");
}

/* A column whose value a map could not show. */
typedef struct BinaryColumn
{
	uint32		family;
	char	   *qualifier;
} BinaryColumn;

static int
compare_columns(const ListCell *a, const ListCell *b)
{
	const BinaryColumn *x = lfirst(a);
	const BinaryColumn *y = lfirst(b);

	return x->family != y->family ? (x->family < y->family ? -1 : 1) : strcmp(x->qualifier, y->qualifier);
}

static bool
is_known(const List *columns, uint32 family, const char *qualifier)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		const BinaryColumn *column = lfirst(lc);

		if (column->family == family && strcmp(column->qualifier, qualifier) == 0)
			return true;
	}
	return false;
}

/* Those of the table's first rows, by family and name: a map has no place for bytes that are no text. */
static List *
find_binary_columns(const WcTableDesc *desc)
{
	Snapshot	snapshot = GetActiveSnapshot();
	List	   *found = NIL;
	WcClientScan *rows;
	WcScan		scan;
	WcSlice		row;

	wc_scan_init(&scan, desc->id);
	scan.row_limit = WC_IMPORT_ROWS;
	rows = wc_client_scan_open(&scan, wc_client_snapshot(snapshot), snapshot->curcid, WC_IMPORT_ROWS, CurrentMemoryContext);
	while (wc_client_next_row(rows, &row))
	{
		WcCell		cell;
		uint32		colno;

		while (wc_client_next_cell(rows, &cell, &colno))
		{
			BinaryColumn *column;
			char	   *qualifier;

			CHECK_FOR_INTERRUPTS();
			if (wc_codec_is_text(cell.value) || wc_map_is_empty_member(&cell) || !wc_codec_is_text(cell.qualifier) ||
				list_length(found) >= WC_IMPORT_COLUMNS)
				continue;
			qualifier = wc_text_from_utf8(cell.qualifier);
			if (is_known(found, cell.family, qualifier))
				continue;
			column = palloc(sizeof(BinaryColumn));
			column->family = cell.family;
			column->qualifier = qualifier;
			found = lappend(found, column);
		}
	}
	wc_client_scan_close(rows);
	list_sort(found, compare_columns);
	return found;
}

/*
 * Each family as a map, and beside it those of its columns that are no text.  OPTIONS stand
 * before COLLATE in a column's definition.
 */
static void
add_row_columns(StringInfo sql, const WcImportOptions *options, const WcTableDesc *desc)
{
	List	   *names = list_make1(KEY_COLUMN);
	List	   *binary = find_binary_columns(desc);
	ListCell   *lc;

	if (options->text_key)
		appendStringInfoString(sql, KEY_COLUMN " text OPTIONS (rowkey '1') COLLATE \"C\"");
	else
		appendStringInfoString(sql, KEY_COLUMN " bytea OPTIONS (rowkey '1')");
	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		char	   *family = wc_text_from_utf8(desc->families[i].name);
		char	   *name = column_name(names, family);

		names = lappend(names, name);
		appendStringInfo(sql, ", %s jsonb OPTIONS (family %s)", quote_identifier(name), quote_literal_cstr(family));
		foreach(lc, binary)
		{
			const BinaryColumn *column = lfirst(lc);

			if (column->family != desc->families[i].id)
				continue;
			name = column_name(names, column->qualifier[0] != '\0' ? column->qualifier : family);
			names = lappend(names, name);
			appendStringInfo(sql, ", %s bytea OPTIONS (family %s, qualifier %s)", quote_identifier(name),
							 quote_literal_cstr(family), quote_literal_cstr(column->qualifier));
		}
	}
}

static char *
make_command(const WcTableDesc *desc, const char *relname, const char *fullname, const char *server,
			 const WcImportOptions *options)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE FOREIGN TABLE %s (", quote_identifier(relname));
	if (options->layout == WC_LAYOUT_CELL)
		add_cell_columns(&sql, options);
	else
		add_row_columns(&sql, options, desc);
	appendStringInfo(&sql, ") SERVER %s OPTIONS (\"table\" %s, layout '%s')", quote_identifier(server),
					 quote_literal_cstr(fullname), options->layout == WC_LAYOUT_CELL ? "cell" : "row");
	return sql.data;
}

/* The command for one stored table; NULL: it is not to be imported, or is gone. */
static char *
import_table(WcClientStore *store, const WcTableDesc *found, ImportForeignSchemaStmt *stmt, const char *server,
			 const WcImportOptions *options)
{
	char	   *relname = wc_text_from_utf8(found->name);
	char		name[2 * WC_NAME_MAX + 2];
	char	   *fullname;
	WcTableDesc *desc;

	/* the names in LIMIT TO and EXCEPT have been cut by the parser, too */
	truncate_identifier(relname, (int) strlen(relname), false);
	if (!IsImportableForeignTable(relname, stmt))
		return NULL;
	fullname = wc_text_from_utf8(wc_slice_cstr(wc_table_desc_fullname(found, name, sizeof(name))));
	if (wc_client_store_is_embedded(store))
		wc_client_lock_table(fullname, AccessShareLock);
	desc = wc_client_store_table(store, fullname, true);
	return desc != NULL ? make_command(desc, relname, fullname, server, options) : NULL;
}

List *
widecolImportForeignSchema(ImportForeignSchemaStmt *stmt, Oid serverid)
{
	WcSlice		ns = wc_text_to_utf8(stmt->remote_schema, strlen(stmt->remote_schema));
	const char *server = GetForeignServer(serverid)->servername;
	WcClientStore *store = wc_client_store(serverid);
	List	   *commands = NIL;
	WcImportOptions options;
	ListCell   *lc;

	wc_client_require_preload();
	wc_options_parse_import(stmt->options, &options);
	require_namespace(store, stmt->remote_schema);
	foreach(lc, wc_client_store_tables(store))
	{
		const WcTableDesc *desc = lfirst(lc);
		char	   *command;

		if (!wc_slice_eq(desc->ns, ns))
			continue;
		command = import_table(store, desc, stmt, server, &options);
		if (command != NULL)
			commands = lappend(commands, command);
	}
	return commands;
}
