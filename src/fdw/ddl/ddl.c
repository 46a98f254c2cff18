/*
 * fdw/ddl/ddl.c: CREATE, ALTER, RENAME and DROP of foreign tables.
 *
 * Two hooks work together: the object access hook notes which relations a
 * statement made or changed (also those that it reached by inheritance), the
 * utility hook looks at them when the statement is done.  All that happens to
 * stored tables happens in the statement's own transaction.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "commands/user.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_locale.h"
#include "utils/resowner.h"

#include "client/catalog/owner.h"
#include "client/client.h"
#include "client/foreign/families.h"
#include "client/foreign/foreign.h"
#include "client/foreign/serveroption.h"
#include "fdw/ddl/ddl.h"
#include "fdw/ddl/guard.h"
#include "fdw/ddl/redefine.h"
#include "fdw/ddl/rename.h"
#include "fdw/ddl/stored.h"
#include "fdw/relation/enumlabel.h"
#include "fdw/relation/mapping.h"

/* A statement under way: the relations it touched. */
typedef struct WcDdlFrame
{
	MemoryContext context;
	List	   *relids;
	List	   *before;			/* WcGuard *: the foreign tables that it may change, as they were before */
	List	   *definitions;	/* WcDefinition *, of the objects that it may redefine */
	bool		drops;			/* it drops objects, and with CASCADE columns and constraints */
	struct WcDdlFrame *outer;
} WcDdlFrame;

static WcDdlFrame *current_frame;
static ProcessUtility_hook_type prev_process_utility;
static object_access_hook_type prev_object_access;

/* --- a foreign table that is new or has changed ------------------------------- */

static void
warn_about_collations(const WcRelation *wrel)
{
	for (int k = 0; k < wrel->nkeys; k++)
	{
		const WcRelColumn *col = &wrel->columns[wrel->keys[k]];

		if (!OidIsValid(col->collation) || col->hashed || lc_collate_is_c(col->collation))
			continue;
		ereport(NOTICE,
				(errmsg("key column \"%s\" of foreign table \"%s\" has not the collation \"C\"",
						NameStr(col->name), wrel->relname),
				 errdetail("Rows are stored in the order of the bytes, so that comparisons with < and > and ORDER BY "
						   "on this column are not done by the store."),
				 errhint("Declare the column with COLLATE \"C\".")));
	}
}

static const WcDefinition *
definition_before(List *before, Oid relid)
{
	ListCell   *lc;

	foreach(lc, before)
	{
		const WcDefinition *definition = lfirst(lc);

		if (definition->relid == relid)
			return definition;
	}
	return NULL;
}

/* The foreign table is new, or has changed: is it right, may the user have it so,
 * and is there a stored table with its families?  before, definition: of the foreign
 * table before the statement; NULL if that is not known. */
static void
settle(Oid relid, bool created, const WcGuard *before, const WcDefinition *definition)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "widecol ddl", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	Relation	rel = relation_open(relid, AccessShareLock);
	WcTableOptions options;
	WcRelation *wrel;
	List	   *names;
	List	   *specs;
	WcTableDesc *desc;
	bool		restoring = wc_foreign_restoring();
	bool		adds;

	if (definition != NULL)
		wc_redefine_check_drop(definition, rel);
	wrel = wc_mapping_build(rel, &options);
	names = wc_mapping_family_names(wrel);
	specs = options.families ? wc_families_parse_text(options.families, false) : NIL;
	desc = wc_client_table(wrel->table_name, true);
	restoring = restoring && (desc == NULL || wc_owner_is_mine(desc));	/* any role can make the settings of such a session */
	if (created)
		warn_about_collations(wrel);
	if (desc == NULL && definition != NULL && wc_redefine_moves(definition, wrel))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("stored table \"%s\" does not exist", wrel->table_name),
				 errdetail("Foreign table \"%s\" cannot be changed to show it.", wrel->relname),
				 errhint("widecol.create_table and CREATE FOREIGN TABLE make a stored table.")));
	if (desc != NULL)
		wc_guard_check(wrel, desc, created ? NULL : before);
	if (desc != NULL && definition != NULL)
		wc_redefine_check(definition, wrel, desc);
	if (restoring)
		wc_stored_require_namespace(wrel);
	adds = desc != NULL && !restoring && !created && wrel->family_given && wc_stored_missing_families(desc, names) != NIL;
	if (desc == NULL || !(restoring || adds))
		desc = wc_stored_hold(wrel->table_name);
	if (desc == NULL)
	{
		wc_stored_create(wrel, rel->rd_rel->relowner, names, specs);
		desc = wc_client_table(wrel->table_name, false);
		wc_mapping_resolve(wrel, desc);
	}
	else
	{
		wc_guard_check(wrel, desc, created ? NULL : before);
		if (restoring)
			desc = wc_stored_fit(wrel, wrel->family_given ? names : NIL, specs);
		else if (adds)
			desc = wc_stored_add_families(wrel, names, specs);
		wc_mapping_resolve(wrel, desc);
		if (!restoring && (created || before != NULL))
			wc_guard_announce(wrel, desc, options.families, specs, created ? NULL : before);
	}
	if (!restoring)
		wc_stored_tell_families(wrel, desc, names, specs);

	relation_close(rel, AccessShareLock);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
}

static void
create_remote(Relation rel, const WcRelation *wrel, List *names, List *specs)
{
	ForeignServer *server = wc_foreign_server_of(RelationGetRelid(rel));
	WcServerOptions options;

	wc_server_options(server->serverid, &options);
	if (!options.create)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" does not exist in the cluster of server \"%s\"", wrel->table_name, server->servername),
				 errhint("Option \"create\" of the server is off.")));
	wc_stored_create(wrel, rel->rd_rel->relowner, names, specs);
	ereport(NOTICE,
			(errmsg("table \"%s\" does not exist in the cluster of server \"%s\", and is made at COMMIT", wrel->table_name,
					server->servername)));
}

/* The same of a table of an HBase cluster.  A dump may be restored where the cluster cannot be reached. */
static void
settle_remote(Oid relid, bool created)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "widecol ddl", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	Relation	rel = relation_open(relid, AccessShareLock);
	WcTableOptions options;
	WcRelation *wrel = wc_mapping_build(rel, &options);
	List	   *specs = options.families ? wc_families_parse_text(options.families, false) : NIL;

	if (!wc_foreign_restoring())
	{
		WcTableDesc *desc = wc_client_store_table(wrel->store, wrel->table_name, created);

		if (desc == NULL)
			create_remote(rel, wrel, wc_mapping_family_names(wrel), specs);
		else if (created)
			wc_guard_warn_about_families(desc, specs);
		wc_mapping_resolve(wrel, wc_client_store_table(wrel->store, wrel->table_name, false));
	}
	relation_close(rel, AccessShareLock);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
}

/* Errors of a definition, as opposed to failures of the statement. */
static bool
is_verdict(int sqlstate)
{
	switch (ERRCODE_TO_CATEGORY(sqlstate))
	{
		case ERRCODE_DATA_EXCEPTION:
		case ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION:
		case ERRCODE_FEATURE_NOT_SUPPORTED:
		case ERRCODE_FDW_ERROR:
			return true;
		default:
			return false;
	}
}

/*
 * While a dump is restored, a definition may be wrong until the last option of a column is set: its errors are
 * ignored.  If they remain, they are raised when the table is used.
 */
static void
settle_if_possible(Oid relid, bool created, const WcGuard *before, const WcDefinition *definition)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool wrong = false;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		settle(relid, created, before, definition);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		RollbackAndReleaseCurrentSubTransaction();
		if (!is_verdict(error->sqlerrcode) || error->sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE)
			ReThrowError(error);
		FlushErrorState();
		FreeErrorData(error);
		wrong = true;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (wrong)
		wc_guard_require_owner(relid);
}

/* --- hooks ------------------------------------------------------------------*/

static void
note_relation(Oid relid)
{
	MemoryContext old = MemoryContextSwitchTo(current_frame->context);

	current_frame->relids = list_append_unique_oid(current_frame->relids, relid);
	MemoryContextSwitchTo(old);
}

static void
tell_what_stays(Oid relid)
{
	char	   *name = wc_foreign_table_name(relid);

	ereport(NOTICE,
			(errmsg("stored table \"%s\" is kept", name),
			 errhint("SELECT widecol.drop_table(%s) drops it.", quote_literal_cstr(name))));
}

static void
on_object_access(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id, void *arg)
{
	if (prev_object_access)
		prev_object_access(access, class_id, object_id, sub_id, arg);

	/* a change of table options is reported under the catalog that holds them */
	if (class_id == ForeignTableRelationId && access == OAT_POST_ALTER && current_frame)
		note_relation(object_id);
	if (access == OAT_DROP && current_frame && current_frame->drops)
	{
		MemoryContext old = MemoryContextSwitchTo(current_frame->context);

		current_frame->definitions = wc_redefine_note_drop(current_frame->definitions, class_id, object_id, sub_id);
		MemoryContextSwitchTo(old);
	}
	if (class_id != RelationRelationId)
		return;

	if (access == OAT_DROP && sub_id == 0)
	{
		const ObjectAccessDrop *drop = arg;

		if ((drop == NULL || (drop->dropflags & PERFORM_DELETION_INTERNAL) == 0) &&
			wc_foreign_is_widecol(object_id))
			tell_what_stays(object_id);
	}
	else if (current_frame && !current_frame->drops &&
			 (access == OAT_POST_CREATE || access == OAT_POST_ALTER || access == OAT_DROP))
		note_relation(object_id);
}

static void
settle_all(const WcDdlFrame *frame, bool created)
{
	List	   *relids = list_concat_unique_oid(list_copy(frame->relids), wc_guard_watched(frame->before));
	ListCell   *lc;

	/* new constraints and bounds are not reported as changes of the table */
	foreach(lc, frame->definitions)
		relids = list_append_unique_oid(relids, ((WcDefinition *) lfirst(lc))->relid);
	if (relids == NIL)
		return;
	CommandCounterIncrement();
	foreach(lc, relids)
	{
		Oid			relid = lfirst_oid(lc);

		if (wc_foreign_is_remote(relid))
			settle_remote(relid, created);
		else if (wc_foreign_is_widecol(relid))
			(wc_foreign_restoring() ? settle_if_possible : settle) (relid, created, wc_guard_find(frame->before, relid),
																	definition_before(frame->definitions, relid));
	}
}

/* The arguments of the utility hook. */
typedef struct Utility
{
	PlannedStmt *pstmt;
	Node	   *stmt;			/* of pstmt */
	const char *query;
	bool		read_only_tree;
	ProcessUtilityContext context;
	ParamListInfo params;
	QueryEnvironment *env;
	DestReceiver *dest;
	QueryCompletion *qc;
} Utility;

/* PostgreSQL, or the hook that was installed before, runs the statement. */
static void
run(const Utility *u)
{
	ProcessUtility_hook_type next = prev_process_utility ? prev_process_utility : standard_ProcessUtility;

	next(u->pstmt, u->query, u->read_only_tree, u->context, u->params, u->env, u->dest, u->qc);
}

/* PostgreSQL checks whether the user may do that. */
static void
reassign_owned(const Utility *u)
{
	const ReassignOwnedStmt *stmt = castNode(ReassignOwnedStmt, u->stmt);
	List	   *roles = roleSpecsToIds(stmt->roles);
	Oid			role = get_rolespec_oid(stmt->newrole, false);

	run(u);
	wc_owner_reassign(roles, role);
}

/*
 * A database is copied file by file, and stored tables have no files there.  They are looked up before the
 * copy: an error after it would leave its files.
 */
static void
create_database(const Utility *u)
{
	const CreatedbStmt *stmt = castNode(CreatedbStmt, u->stmt);
	const char *template = "template1";
	bool		has_tables;
	ListCell   *lc;
	Oid			database;

	foreach(lc, stmt->options)
	{
		DefElem    *def = lfirst(lc);

		if (strcmp(def->defname, "template") == 0 && def->arg != NULL)
			template = defGetString(def);
	}
	database = get_database_oid(template, true);
	has_tables = OidIsValid(database) && wc_client_database_has_tables(database);
	run(u);
	if (has_tables)
		ereport(NOTICE,
				(errmsg("stored tables of database \"%s\" are not copied", template),
				 errdetail("Database \"%s\" has the foreign tables only.", stmt->dbname),
				 errhint("pg_dump --include-foreign-data=widecol copies stored tables.")));
}

static void
drop_database(const Utility *u)
{
	Oid			database = get_database_oid(castNode(DropdbStmt, u->stmt)->dbname, true);

	if (OidIsValid(database))
		wc_client_drop_database(database);
	run(u);
}

static void
alter_enum(const Utility *u)
{
	wc_enum_labels_before(castNode(AlterEnumStmt, u->stmt));
	run(u);
	wc_enum_labels_after(castNode(AlterEnumStmt, u->stmt));
}

/* Asks for USAGE of the server, as PostgreSQL does later, but with a hint; and keeps it from getting another engine. */
static void
require_usage(const char *server_name)
{
	ForeignServer *server = wc_foreign_server(server_name);

	if (server == NULL)
		return;
	wc_foreign_require_usage(server);
	LockDatabaseObject(ForeignServerRelationId, server->serverid, 0, AccessShareLock);
}

/* With another engine, the server's foreign tables would show other tables, or none. */
static void
alter_server(const Utility *u)
{
	ForeignServer *server = wc_foreign_server(castNode(AlterForeignServerStmt, u->stmt)->servername);
	WcServerOptions before;
	WcServerOptions after;
	Oid			table;

	if (server == NULL)
	{
		run(u);
		return;
	}
	wc_server_options_parse(server->options, &before);
	run(u);
	CommandCounterIncrement();
	wc_server_options(server->serverid, &after);
	if (before.engine == after.engine)
		return;
	LockDatabaseObject(ForeignServerRelationId, server->serverid, 0, AccessExclusiveLock);
	table = wc_foreign_first_of_server(server->serverid);
	if (OidIsValid(table))
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("cannot change the engine of server \"%s\" because foreign table %s uses it",
						server->servername, wc_foreign_qualified_name(table)),
				 errhint("Drop the server's foreign tables first, or make another server.")));
}

/* What the statement may change, as it was before. */
static void
note_before(WcDdlFrame *frame, Node *stmt, bool nested)
{
	if (IsA(stmt, RenameStmt))
	{
		wc_rename_before((RenameStmt *) stmt);
		frame->before = wc_guard_before_rename((RenameStmt *) stmt);
	}
	else if (IsA(stmt, AlterTableStmt) && !nested)
	{
		frame->before = wc_guard_before_alter((AlterTableStmt *) stmt);
		if (!wc_foreign_restoring())
			frame->definitions = wc_redefine_note((AlterTableStmt *) stmt);
	}
}

/* CREATE FOREIGN TABLE, ALTER TABLE, RENAME, DROP: settles the foreign tables that are new or have changed. */
static void
change_tables(const Utility *u)
{
	Node	   *stmt = u->stmt;
	WcDdlFrame	frame = {.context = CurrentMemoryContext,.outer = current_frame};
	bool		nested = u->context == PROCESS_UTILITY_SUBCOMMAND && current_frame != NULL;

	frame.drops = IsA(stmt, DropStmt) || IsA(stmt, DropOwnedStmt);
	note_before(&frame, stmt, nested);
	current_frame = &frame;
	PG_TRY();
	{
		run(u);
		if (IsA(stmt, AlterTableStmt))
			wc_rename_place_new((AlterTableStmt *) stmt, list_copy(frame.relids));
	}
	PG_FINALLY();
	{
		current_frame = frame.outer;
	}
	PG_END_TRY();
	if (IsA(stmt, RenameStmt))
		wc_rename_after((RenameStmt *) stmt, frame.relids);
	if (nested)
	{
		/* columns' options are set by ALTERs that PostgreSQL makes of CREATE: wait for the last */
		ListCell   *lc;

		foreach(lc, frame.relids)
			note_relation(lfirst_oid(lc));
		return;
	}
	settle_all(&frame, IsA(stmt, CreateForeignTableStmt));
}

static void
on_process_utility(PlannedStmt *pstmt, const char *query, bool read_only_tree,
				   ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *env,
				   DestReceiver *dest, QueryCompletion *qc)
{
	Node	   *stmt = pstmt->utilityStmt;
	Utility		u = {pstmt, stmt, query, read_only_tree, context, params, env, dest, qc};

	/* pg_upgrade makes the new cluster's objects as they are in the old one, and there is no engine */
	if (IsBinaryUpgrade)
	{
		run(&u);
		return;
	}
	switch (nodeTag(stmt))
	{
		case T_DropdbStmt:
			drop_database(&u);
			return;
		case T_CreatedbStmt:
			create_database(&u);
			return;
		case T_ReassignOwnedStmt:
			if (OidIsValid(get_extension_oid("widecol", true)))
				reassign_owned(&u);
			else
				run(&u);
			return;
		case T_ImportForeignSchemaStmt:
			require_usage(((ImportForeignSchemaStmt *) stmt)->server_name);
			run(&u);
			return;
		case T_CreateForeignTableStmt:
			require_usage(((CreateForeignTableStmt *) stmt)->servername);
			break;
		case T_AlterForeignServerStmt:
			alter_server(&u);
			return;
		case T_TruncateStmt:
			wc_guard_truncate((TruncateStmt *) stmt);
			run(&u);
			return;
		case T_AlterEnumStmt:
		case T_AlterTableStmt:
		case T_RenameStmt:
		case T_DropStmt:
		case T_DropOwnedStmt:
			break;
		default:
			run(&u);
			return;
	}

	if (IsA(stmt, AlterEnumStmt))
		alter_enum(&u);
	else
		change_tables(&u);
}

void
wc_ddl_hook_install(void)
{
	prev_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = on_process_utility;
	prev_object_access = object_access_hook;
	object_access_hook = on_object_access;
}
