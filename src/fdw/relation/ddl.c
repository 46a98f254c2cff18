/*
 * fdw/relation/ddl.c: CREATE, ALTER, RENAME and DROP of foreign tables.
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
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_inherits.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "commands/user.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_locale.h"
#include "utils/resowner.h"

#include "client/client.h"
#include "client/families.h"
#include "client/foreign.h"
#include "client/owner.h"
#include "fdw/relation/ddl.h"
#include "fdw/relation/enumlabel.h"
#include "fdw/relation/guard.h"
#include "fdw/relation/mapping.h"
#include "fdw/relation/redefine.h"

/* A statement under way: the relations it touched. */
typedef struct WcDdlFrame
{
	MemoryContext context;
	List	   *relids;
	List	   *before;			/* WcGuard *: what it may change, as that was */
	List	   *definitions;	/* WcDefinition *, of those that it may redefine */
	bool		drops;			/* it drops objects, and with CASCADE columns and constraints */
	struct WcDdlFrame *outer;
} WcDdlFrame;

static WcDdlFrame *current_frame;
static ProcessUtility_hook_type prev_process_utility;
static object_access_hook_type prev_object_access;

/* --- stored tables ----------------------------------------------------------*/

/*
 * packing 'auto': fixed columns of few versions are kept as a row; maps and
 * families that no column declares may grow without bound, so cell by cell.
 */
static WcPacking
choose_packing(const WcRelation *wrel, const char *family, const WcFamilyAttrs *attrs)
{
	bool		declared = wrel->layout == WC_LAYOUT_ROW &&
		strcmp(family, wrel->default_family_name) == 0;

	for (int i = 0; i < wrel->natts; i++)
	{
		const WcRelColumn *col = &wrel->columns[i];

		if (col->family_name == NULL || strcmp(col->family_name, family) != 0)
			continue;
		if (col->role == WC_ROLE_MAP || col->role == WC_ROLE_PREFIX_MAP)
			return WC_PACKING_CELL;
		declared = true;
	}
	return declared && attrs->versions <= 3 ? WC_PACKING_ROW : WC_PACKING_CELL;
}

static void
set_family(WcFamilyDesc *family, const WcRelation *wrel, const char *utf8_name, List *specs)
{
	ListCell   *lc;
	WcError		err;

	memset(family, 0, sizeof(*family));
	family->name = wc_slice_cstr(utf8_name);
	family->attrs = wc_family_attrs_default;
	foreach(lc, specs)
	{
		const WcFamilySpec *spec = lfirst(lc);

		if (strcmp(spec->name, utf8_name) == 0)
			wc_family_spec_apply(spec, &family->attrs);
	}
	if (family->attrs.packing == WC_PACKING_AUTO)
		family->attrs.packing = choose_packing(wrel, wc_text_from_utf8(family->name), &family->attrs);
	if (wc_family_attrs_check(family->name, &family->attrs, &err) != WC_OK)
		wc_raise(&err);
}

static int
compare_families(const void *a, const void *b)
{
	return wc_slice_cmp(((const WcFamilyDesc *) a)->name, ((const WcFamilyDesc *) b)->name);
}

static bool
list_has(List *names, const char *name)
{
	ListCell   *lc;

	foreach(lc, names)
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	return false;
}

static void
create_stored_table(const WcRelation *wrel, Oid owner, List *names, List *specs)
{
	WcTableDesc desc = {.database = MyDatabaseId,.owner = owner};
	ListCell   *lc;
	WcError		err;

	/* nobody has asked for the default one where others are named */
	if (!wrel->family_given && specs != NIL)
		names = NIL;
	foreach(lc, specs)
	{
		const WcFamilySpec *spec = lfirst(lc);

		if (!list_has(names, spec->name))
			names = lappend(names, spec->name);
	}
	desc.families = palloc0(sizeof(WcFamilyDesc) * list_length(names));
	foreach(lc, names)
		set_family(&desc.families[desc.nfamilies++], wrel, lfirst(lc), specs);
	qsort(desc.families, desc.nfamilies, sizeof(WcFamilyDesc), compare_families);
	if (wc_table_name_split(wc_text_to_utf8(wrel->table_name, strlen(wrel->table_name)),
							&desc.ns, &desc.name, &err) != WC_OK)
		wc_raise(&err);
	wc_client_create_table(&desc);
}

/* The families of names that desc lacks. */
static List *
missing_families(const WcTableDesc *desc, List *names)
{
	List	   *missing = NIL;
	ListCell   *lc;

	foreach(lc, names)
		if (wc_table_desc_family(desc, wc_slice_cstr(lfirst(lc))) == NULL)
			missing = lappend(missing, lfirst(lc));
	return missing;
}

static WcTableDesc *
add_families(const WcRelation *wrel, List *names, List *specs)
{
	WcTableDesc *old;
	WcTableDesc *desc = palloc(sizeof(WcTableDesc));
	List	   *missing;
	ListCell   *lc;

	/* what it looks like may be trusted only behind the lock */
	wc_client_lock_table(wrel->table_name, AccessExclusiveLock);
	old = wc_client_table(wrel->table_name, false);
	missing = missing_families(old, names);
	if (missing == NIL)
		return old;

	*desc = *old;
	desc->families = palloc0(sizeof(WcFamilyDesc) * (old->nfamilies + list_length(missing)));
	memcpy(desc->families, old->families, sizeof(WcFamilyDesc) * old->nfamilies);
	foreach(lc, missing)
		set_family(&desc->families[desc->nfamilies++], wrel, lfirst(lc), specs);
	qsort(desc->families, desc->nfamilies, sizeof(WcFamilyDesc), compare_families);
	wc_client_alter_table(desc);
	return wc_client_table(wrel->table_name, false);
}

/* --- restores ------------------------------------------------------------------
 *
 * A dump makes a foreign table without its columns' options and gives it these one by one.  So the stored table is first made from a
 * definition that is not whole, and made again while it is empty.
 */
static bool
is_empty(const WcTableDesc *desc)
{
	WcClientScan *client_scan;
	WcScan		scan;
	WcSlice		row;
	bool		empty;

	wc_scan_init(&scan, desc->id);
	scan.raw = true;
	scan.key_only = true;
	scan.row_limit = 1;
	client_scan = wc_client_scan_open(&scan, wc_client_snapshot(NULL), GetCurrentCommandId(false) + 1, 1,
									  CurrentMemoryContext);
	empty = !wc_client_next_row(client_scan, &row);
	wc_client_scan_close(client_scan);
	return empty;
}

static void
require_namespace(const WcRelation *wrel)
{
	const char *colon = strchr(wrel->table_name, ':');
	char	   *name;
	ListCell   *lc;

	if (colon == NULL)
		return;
	name = pnstrdup(wrel->table_name, colon - wrel->table_name);
	foreach(lc, wc_client_list_namespaces())
		if (strcmp(lfirst(lc), name) == 0)
			return;
	wc_client_create_namespace(name);
}

/* Does a foreign table name the family, by a column or an option? */
static bool
somebody_names(const WcRelation *wrel, const char *family)
{
	ListCell   *lc;

	foreach(lc, wc_foreign_tables_of(wrel->table_name))
	{
		WcTableOptions options;
		ListCell   *ls;

		if (wc_foreign_uses_family(lfirst_oid(lc), family))
			return true;
		wc_options_parse_table(GetForeignTable(lfirst_oid(lc))->options, &options);
		if (options.family && strcmp(options.family, family) == 0)
			return true;
		if (options.families == NULL && options.layout == WC_LAYOUT_CELL)
			return true;
		foreach(ls, options.families ? wc_families_parse_text(options.families, false) : NIL)
			if (strcmp(((WcFamilySpec *) lfirst(ls))->name, family) == 0)
				return true;
	}
	return false;
}

/* Was the family made for columns that had not been told theirs yet? */
static bool
is_left_over(const WcRelation *wrel, const WcFamilyDesc *family)
{
	return wc_slice_eq(family->name, wc_slice_cstr(WC_FAMILY_DEFAULT)) && wc_family_is_plain(family) &&
		!somebody_names(wrel, WC_FAMILY_DEFAULT);
}

/* The stored table gets the families of the definition as it is by now. */
static WcTableDesc *
fit_stored_table(const WcRelation *wrel, List *names, List *specs)
{
	WcTableDesc *old;
	WcTableDesc *desc = palloc(sizeof(WcTableDesc));
	bool		changed = false;
	bool		empty;
	List	   *missing;
	ListCell   *lc;

	wc_client_lock_table(wrel->table_name, AccessExclusiveLock);
	old = wc_client_table(wrel->table_name, false);
	empty = is_empty(old);
	foreach(lc, specs)
		if (!list_has(names, ((WcFamilySpec *) lfirst(lc))->name))
			names = lappend(names, ((WcFamilySpec *) lfirst(lc))->name);
	missing = missing_families(old, names);

	*desc = *old;
	desc->nfamilies = 0;
	desc->families = palloc0(sizeof(WcFamilyDesc) * (old->nfamilies + list_length(names)));
	for (uint32 i = 0; i < old->nfamilies; i++)
	{
		const WcFamilyDesc *family = &old->families[i];
		WcFamilyDesc *new = &desc->families[desc->nfamilies];
		char	   *name = pnstrdup((const char *) family->name.data, family->name.len);

		*new = *family;
		if (empty && list_has(names, name))
		{
			set_family(new, wrel, name, specs);
			if (new->attrs.packing == family->attrs.packing)
				*new = *family;
			else
				changed = true;
		}
		else if (empty && old->nfamilies - i + desc->nfamilies + list_length(missing) > 1 && is_left_over(wrel, family))
		{
			changed = true;
			continue;
		}
		desc->nfamilies++;
	}
	foreach(lc, missing)
	{
		set_family(&desc->families[desc->nfamilies++], wrel, lfirst(lc), specs);
		changed = true;
	}
	if (!changed)
		return old;
	qsort(desc->families, desc->nfamilies, sizeof(WcFamilyDesc), compare_families);
	wc_client_alter_table(desc);
	return wc_client_table(wrel->table_name, false);
}

/* --- options ---------------------------------------------------------------------- */

/* The option `families` makes the families as they are, should the foreign table be made
 * somewhere else. */
static void
tell_families(const WcRelation *wrel, const WcTableDesc *desc, List *names, List *specs)
{
	WcFamilyTold *told = palloc0(sizeof(WcFamilyTold) * (desc->nfamilies + 1));

	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		const WcFamilyDesc *family = &desc->families[i];
		char	   *name = pnstrdup((const char *) family->name.data, family->name.len);

		for (int f = 0; f < wrel->nfamilies; f++)
			told[i].maps |= wrel->families[f] == family->id;
		told[i].named = list_has(names, name) && (wrel->family_given || specs == NIL);
		told[i].packing = choose_packing(wrel, wc_text_from_utf8(family->name), &family->attrs);
	}
	wc_foreign_tell_families(wrel->relid, desc, told);
}

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

/*
 * The stored table as it stays until the foreign table can be seen by others: drop_table
 * and their like lock the name, and then look for foreign tables that map it.
 */
static WcTableDesc *
hold_stored_table(const char *name)
{
	WcTableDesc *desc = wc_client_table(name, true);

	if (desc != NULL)
	{
		wc_client_lock_table(name, AccessShareLock);
		desc = wc_client_table(name, true);
	}
	if (desc == NULL)
	{
		wc_client_lock_table(name, AccessExclusiveLock);
		desc = wc_client_table(name, true);
	}
	return desc;
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
	WcRelation *wrel = wc_mapping_build(rel, &options);
	List	   *names = wc_mapping_family_names(wrel);
	List	   *specs = options.families ? wc_families_parse_text(options.families, false) : NIL;
	WcTableDesc *desc = wc_client_table(wrel->table_name, true);
	bool		restoring = wc_foreign_restoring();
	bool		adds;

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
		require_namespace(wrel);
	adds = desc != NULL && !restoring && !created && wrel->family_given && missing_families(desc, names) != NIL;
	if (desc == NULL || !(restoring || adds))
		desc = hold_stored_table(wrel->table_name);
	if (desc == NULL)
	{
		create_stored_table(wrel, rel->rd_rel->relowner, names, specs);
		desc = wc_client_table(wrel->table_name, false);
		wc_mapping_resolve(wrel, desc);
	}
	else
	{
		wc_guard_check(wrel, desc, created ? NULL : before);
		if (restoring)
			desc = fit_stored_table(wrel, wrel->family_given ? names : NIL, specs);
		else if (adds)
			desc = add_families(wrel, names, specs);
		wc_mapping_resolve(wrel, desc);
		if (!restoring && (created || before != NULL))
			wc_guard_announce(wrel, desc, options.families, specs, created ? NULL : before);
	}
	if (!restoring)
		tell_families(wrel, desc, names, specs);

	relation_close(rel, AccessShareLock);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
}

/* The same of a table of an HBase cluster, which has to be there.  A dump may be restored where the
 * cluster cannot be reached. */
static void
settle_remote(Oid relid)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "widecol ddl", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	Relation	rel = relation_open(relid, AccessShareLock);
	WcTableOptions options;
	WcRelation *wrel = wc_mapping_build(rel, &options);

	if (options.families != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("foreign table \"%s\" cannot have option \"families\"", wrel->relname),
				 errdetail("It maps a table of an HBase cluster: families are made and changed with HBase's own tools.")));
	if (!wc_foreign_restoring())
		wc_mapping_resolve(wrel, wc_client_store_table(wrel->store, wrel->table_name, false));
	relation_close(rel, AccessShareLock);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
}

/* What a definition can be found guilty of, as opposed to what goes wrong. */
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
 * While a dump is restored, what is wrong before the last option of a column is not wrong
 * yet, and shows when the table is used if it stays so.
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

/* --- renaming ---------------------------------------------------------------
 *
 * A stored table and a qualifier that took their names from the foreign table
 * and its column keep them when these are renamed: the name becomes an option.
 * An option that names a column follows it.
 */
static void
alter_option(Oid relid, const char *column, const char *option, const char *value, DefElemAction action)
{
	AlterTableStmt *stmt = makeNode(AlterTableStmt);
	AlterTableCmd *cmd = makeNode(AlterTableCmd);
	PlannedStmt *pstmt = makeNode(PlannedStmt);
	RangeVar   *name = makeRangeVar(get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid), -1);

	name->inh = false;
	cmd->subtype = column ? AT_AlterColumnGenericOptions : AT_GenericOptions;
	cmd->name = column ? pstrdup(column) : NULL;
	cmd->def = (Node *) list_make1(makeDefElemExtended(NULL, pstrdup(option),
													   (Node *) makeString(pstrdup(value)), action, -1));
	cmd->behavior = DROP_RESTRICT;
	stmt->relation = name;
	stmt->cmds = list_make1(cmd);
	stmt->objtype = OBJECT_FOREIGN_TABLE;
	pstmt->commandType = CMD_UTILITY;
	pstmt->utilityStmt = (Node *) stmt;
	pstmt->stmt_location = -1;
	ProcessUtility(pstmt, "(generated by widecol)", false, PROCESS_UTILITY_SUBCOMMAND, NULL, NULL,
				   None_Receiver, NULL);
	CommandCounterIncrement();
}

AlterTableCmd *
wc_ddl_option_cmd(const char *column, const char *option, const char *value, DefElemAction action)
{
	AlterTableCmd *cmd = makeNode(AlterTableCmd);

	cmd->subtype = AT_AlterColumnGenericOptions;
	cmd->name = pstrdup(column);
	cmd->def = (Node *) list_make1(makeDefElemExtended(NULL, pstrdup(option),
													   value ? (Node *) makeString(pstrdup(value)) : NULL, action, -1));
	cmd->behavior = DROP_RESTRICT;
	return cmd;
}

void
wc_ddl_alter_as_owner(Oid relid, List *cmds)
{
	AlterTableStmt *stmt = makeNode(AlterTableStmt);
	PlannedStmt *pstmt = makeNode(PlannedStmt);
	Relation	rel = relation_open(relid, AccessExclusiveLock);
	Oid			owner = rel->rd_rel->relowner;
	Oid			user;
	int			context;

	stmt->relation = makeRangeVar(get_namespace_name(RelationGetNamespace(rel)), pstrdup(RelationGetRelationName(rel)), -1);
	stmt->relation->inh = false;
	stmt->cmds = cmds;
	stmt->objtype = OBJECT_FOREIGN_TABLE;
	pstmt->commandType = CMD_UTILITY;
	pstmt->utilityStmt = (Node *) stmt;
	pstmt->stmt_location = -1;
	relation_close(rel, NoLock);
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(owner, context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	ProcessUtility(pstmt, "(generated by widecol)", false, PROCESS_UTILITY_SUBCOMMAND, NULL, NULL,
				   None_Receiver, NULL);
	SetUserIdAndSecContext(user, context);
	CommandCounterIncrement();
}

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
	alter_option(relid, column, "qualifier", column, DEFELEM_ADD);
}

static void
pin_table(Oid relid)
{
	WcTableOptions table;

	wc_options_parse_table(GetForeignTable(relid)->options, &table);
	if (table.table == NULL)
		alter_option(relid, NULL, "table", get_rel_name(relid), DEFELEM_ADD);
}

static void
before_rename(const RenameStmt *stmt)
{
	bool		column = stmt->renameType == OBJECT_COLUMN;
	Oid			relid;
	ListCell   *lc;

	if (stmt->relation == NULL ||
		!(column || stmt->renameType == OBJECT_FOREIGN_TABLE || stmt->renameType == OBJECT_TABLE))
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

/* Of the tables that the statement changed, those that are salted by the column. */
static void
after_rename(const RenameStmt *stmt, List *relids)
{
	ListCell   *lc;

	if (stmt->renameType != OBJECT_COLUMN)
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
			alter_option(relid, NULL, "salt_by", salt_by, DEFELEM_SET);
	}
}

/* --- new columns ------------------------------------------------------------
 *
 * A column that was renamed has kept its qualifier, so a new one by its old name
 * finds that place taken: it gets another.
 */

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
		if (other.rowkey != WC_ROWKEY_NONE && !wc_encoding_is_hash(other.encoding))
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

/* The columns that the statement has added, to this table and to those below it. */
static void
place_new_columns(const AlterTableStmt *stmt, List *relids)
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
				alter_option(lfirst_oid(lc2), column, "qualifier", qualifier, DEFELEM_ADD);
		}
	}
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
			settle_remote(relid);
		else if (wc_foreign_is_widecol(relid))
			(wc_foreign_restoring() ? settle_if_possible : settle) (relid, created, wc_guard_find(frame->before, relid),
																	definition_before(frame->definitions, relid));
	}
}

static void
next_process_utility(PlannedStmt *pstmt, const char *query, bool read_only_tree,
					 ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *env,
					 DestReceiver *dest, QueryCompletion *qc)
{
	if (prev_process_utility)
		prev_process_utility(pstmt, query, read_only_tree, context, params, env, dest, qc);
	else
		standard_ProcessUtility(pstmt, query, read_only_tree, context, params, env, dest, qc);
}

/* PostgreSQL looks whether the user may do that. */
static void
reassign_owned(PlannedStmt *pstmt, const char *query, bool read_only_tree,
			   ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *env,
			   DestReceiver *dest, QueryCompletion *qc)
{
	const ReassignOwnedStmt *stmt = castNode(ReassignOwnedStmt, pstmt->utilityStmt);
	List	   *roles = roleSpecsToIds(stmt->roles);
	Oid			role = get_rolespec_oid(stmt->newrole, false);

	next_process_utility(pstmt, query, read_only_tree, context, params, env, dest, qc);
	wc_owner_reassign(roles, role);
}

/*
 * A database is copied file by file, and stored tables have none there.  They are looked for
 * before: an error behind the copy would leave its files.
 */
static void
create_database(PlannedStmt *pstmt, const char *query, bool read_only_tree,
				ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *env,
				DestReceiver *dest, QueryCompletion *qc)
{
	const CreatedbStmt *stmt = castNode(CreatedbStmt, pstmt->utilityStmt);
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
	next_process_utility(pstmt, query, read_only_tree, context, params, env, dest, qc);
	if (has_tables)
		ereport(NOTICE,
				(errmsg("stored tables of database \"%s\" are not copied", template),
				 errdetail("Database \"%s\" has the foreign tables only.", stmt->dbname),
				 errhint("pg_dump --include-foreign-data=widecol copies stored tables.")));
}

static void
on_process_utility(PlannedStmt *pstmt, const char *query, bool read_only_tree,
				   ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *env,
				   DestReceiver *dest, QueryCompletion *qc)
{
	Node	   *stmt = pstmt->utilityStmt;
	bool		created = IsA(stmt, CreateForeignTableStmt);
	WcDdlFrame	frame = {.context = CurrentMemoryContext, .outer = current_frame};
	bool		nested;

	if (IsA(stmt, DropdbStmt))
	{
		Oid			database = get_database_oid(((DropdbStmt *) stmt)->dbname, true);

		if (OidIsValid(database))
			wc_client_drop_database(database);
	}
	if (IsA(stmt, CreatedbStmt))
	{
		create_database(pstmt, query, read_only_tree, context, params, env, dest, qc);
		return;
	}
	if (IsA(stmt, ReassignOwnedStmt) && OidIsValid(get_extension_oid("widecol", true)))
	{
		reassign_owned(pstmt, query, read_only_tree, context, params, env, dest, qc);
		return;
	}
	if (IsA(stmt, TruncateStmt) && !IsBinaryUpgrade)
		wc_guard_truncate((TruncateStmt *) stmt);
	if (created || IsA(stmt, ImportForeignSchemaStmt))
	{
		/* PostgreSQL asks for it too, and has no hint */
		ForeignServer *server = wc_foreign_server(created ? ((CreateForeignTableStmt *) stmt)->servername :
												  ((ImportForeignSchemaStmt *) stmt)->server_name);

		if (server != NULL)
			wc_foreign_require_usage(server);
	}
	if (IsA(stmt, AlterEnumStmt) && !IsBinaryUpgrade)
	{
		wc_enum_labels_before((AlterEnumStmt *) stmt);
		next_process_utility(pstmt, query, read_only_tree, context, params, env, dest, qc);
		wc_enum_labels_after((AlterEnumStmt *) stmt);
		return;
	}
	frame.drops = IsA(stmt, DropStmt) || IsA(stmt, DropOwnedStmt);
	if (IsBinaryUpgrade || !(created || frame.drops || IsA(stmt, AlterTableStmt) || IsA(stmt, RenameStmt)))
	{
		next_process_utility(pstmt, query, read_only_tree, context, params, env, dest, qc);
		return;
	}

	nested = context == PROCESS_UTILITY_SUBCOMMAND && current_frame != NULL;
	if (IsA(stmt, RenameStmt))
	{
		before_rename((RenameStmt *) stmt);
		frame.before = wc_guard_before_rename((RenameStmt *) stmt);
	}
	else if (IsA(stmt, AlterTableStmt) && !nested)
		frame.before = wc_guard_before_alter((AlterTableStmt *) stmt);
	if (IsA(stmt, AlterTableStmt) && !nested && !wc_foreign_restoring())
		frame.definitions = wc_redefine_note((AlterTableStmt *) stmt);
	current_frame = &frame;
	PG_TRY();
	{
		next_process_utility(pstmt, query, read_only_tree, context, params, env, dest, qc);
		if (IsA(stmt, AlterTableStmt))
			place_new_columns((AlterTableStmt *) stmt, list_copy(frame.relids));
	}
	PG_FINALLY();
	{
		current_frame = frame.outer;
	}
	PG_END_TRY();
	if (IsA(stmt, RenameStmt))
		after_rename((RenameStmt *) stmt, frame.relids);
	if (nested)
	{
		/* columns' options are set by ALTERs that PostgreSQL makes of CREATE: wait for the last */
		ListCell   *lc;

		foreach(lc, frame.relids)
			note_relation(lfirst_oid(lc));
		return;
	}
	settle_all(&frame, created);
}

void
wc_ddl_hook_install(void)
{
	prev_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = on_process_utility;
	prev_object_access = object_access_hook;
	object_access_hook = on_object_access;
}
