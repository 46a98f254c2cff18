/*
 * fdw/ddl/guard.c: the rights of the stored table's owner when foreign tables are made and changed.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"

#include "client/catalog/owner.h"
#include "client/foreign/families.h"
#include "client/foreign/foreign.h"
#include "fdw/ddl/guard.h"
#include "fdw/ddl/redefine.h"
#include "fdw/relation/mapping.h"
#include "fdw/relation/reach.h"

#define OWNER_HINT "Have its owner make the foreign table, and GRANT privileges on it or give it away (ALTER ... OWNER TO)."

/* --- before the statement --------------------------------------------------------- */

/* The mapping, whether or not its stored table exists. */
static WcRelation *
read_mapping(Relation rel)
{
	WcTableOptions options;

	return wc_mapping_build(rel, &options);
}

static bool
is_stored_name(const char *table_name)
{
	WcSlice		ns;
	WcSlice		name;

	return wc_table_name_split(wc_text_to_utf8(table_name, strlen(table_name)), &ns, &name, NULL) == WC_OK;
}

/* NULL: there is none, or it has no name that a stored table can have. */
static WcTableDesc *
stored_table(const char *table_name)
{
	return is_stored_name(table_name) ? wc_client_table(table_name, true) : NULL;
}

static char *
families_option(Oid relid)
{
	ListCell   *lc;

	foreach(lc, GetForeignTable(relid)->options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "families") == 0)
			return defGetString(def);
	}
	return NULL;
}

static WcGuard *
look_at(Oid relid)
{
	WcGuard    *guard = palloc0(sizeof(WcGuard));
	WcTableDesc *desc;

	guard->relid = relid;
	guard->table_name = pstrdup(wc_foreign_table_name(relid));
	guard->families = families_option(relid);
	desc = stored_table(guard->table_name);
	if (desc != NULL && !wc_owner_is_mine(desc))
		guard->wrel = wc_definition_read(relid, read_mapping);
	return guard;
}

/*
 * A partition shows the rows of its bound, and of the bounds above it; by itself it would show all.  DETACH CONCURRENTLY commits before
 * it is done, too early for a check after it.
 */
static void
check_detach(const PartitionCmd *cmd)
{
	Oid			detached = RangeVarGetRelid(cmd->name, AccessShareLock, true);
	ListCell   *lc;

	if (!OidIsValid(detached))
		return;
	foreach(lc, find_all_inheritors(detached, AccessShareLock, NULL))
	{
		WcGuard    *guard;

		if (!wc_foreign_is_widecol(lfirst_oid(lc)))
			continue;
		guard = look_at(lfirst_oid(lc));
		if (guard->wrel != NULL)
			wc_owner_require(stored_table(guard->table_name),
							 "The partition's bound decides which rows the foreign table shows: have the stored table's owner detach it.");
	}
}

static List *
relation_and_children(const RangeVar *name, Oid relid, LOCKMODE mode)
{
	return name->inh ? find_all_inheritors(relid, mode, NULL) : list_make1_oid(relid);
}

static List *
look_at_all(const RangeVar *name, LOCKMODE mode)
{
	Oid			relid = RangeVarGetRelid(name, NoLock, true);
	List	   *guards = NIL;
	bool		any = false;
	ListCell   *lc;

	if (!OidIsValid(relid))
		return NIL;
	foreach(lc, relation_and_children(name, relid, NoLock))
		any |= wc_foreign_is_widecol(lfirst_oid(lc));
	if (!any)
		return NIL;

	/* the definition that is compared must not change meanwhile */
	relid = RangeVarGetRelidExtended(name, mode, RVR_MISSING_OK, RangeVarCallbackOwnsRelation, NULL);
	if (!OidIsValid(relid))
		return NIL;
	foreach(lc, relation_and_children(name, relid, mode))
		if (wc_foreign_is_widecol(lfirst_oid(lc)))
			guards = lappend(guards, look_at(lfirst_oid(lc)));
	return guards;
}

List *
wc_guard_before_alter(const AlterTableStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		const AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

		if (cmd->subtype == AT_DetachPartition || cmd->subtype == AT_DetachPartitionFinalize)
		{
			check_detach(castNode(PartitionCmd, cmd->def));
			return NIL;
		}
	}
	return look_at_all(stmt->relation, AlterTableGetLockLevel(stmt->cmds));
}

List *
wc_guard_before_rename(const RenameStmt *stmt)
{
	return stmt->relation != NULL ? look_at_all(stmt->relation, AccessExclusiveLock) : NIL;
}

List *
wc_guard_watched(List *before)
{
	List	   *relids = NIL;
	ListCell   *lc;

	foreach(lc, before)
	{
		const WcGuard *guard = lfirst(lc);

		if (guard->wrel != NULL)
			relids = lappend_oid(relids, guard->relid);
	}
	return relids;
}

const WcGuard *
wc_guard_find(List *before, Oid relid)
{
	ListCell   *lc;

	foreach(lc, before)
	{
		const WcGuard *guard = lfirst(lc);

		if (guard->relid == relid)
			return guard;
	}
	return NULL;
}

/* --- after it ---------------------------------------------------------------------- */

void
wc_guard_check(const WcRelation *wrel, const WcTableDesc *desc, const WcGuard *before)
{
	if (wc_owner_is_mine(desc))
		return;
	if (before != NULL && before->wrel != NULL && wc_reach_is_within(wrel, before->wrel))
		return;
	wc_owner_require(desc, OWNER_HINT);
}

void
wc_guard_require_owner(Oid relid)
{
	char	   *name = wc_foreign_table_name(relid);
	WcTableDesc *desc = stored_table(name);

	if (desc != NULL)
		wc_owner_require(desc, OWNER_HINT);
	if (!is_stored_name(name))
		return;

	/* a session that makes a stored table of this name must see the foreign table (client/foreign/foreign.c) */
	wc_client_lock_table(name, AccessShareLock);
	desc = stored_table(name);
	if (desc != NULL)
		wc_owner_require(desc, OWNER_HINT);
}

/* Has the table this family, with what the spec names? */
static bool
has_family_of_spec(const WcTableDesc *desc, const WcFamilySpec *spec)
{
	const WcFamilyDesc *family = wc_table_desc_family(desc, wc_slice_cstr(spec->name));
	WcFamilyAttrs attrs;

	if (family == NULL)
		return false;
	attrs = family->attrs;
	wc_family_spec_apply(spec, &attrs);
	if (attrs.packing == WC_PACKING_AUTO)
		attrs.packing = family->attrs.packing;
	return wc_family_same_attributes(&attrs, &family->attrs);
}

void
wc_guard_warn_about_families(const WcTableDesc *desc, List *specs)
{
	ListCell   *lc;

	foreach(lc, specs)
	{
		const WcFamilySpec *spec = lfirst(lc);
		char	   *family = wc_text_from_utf8(wc_slice_cstr(spec->name));

		if (has_family_of_spec(desc, spec))
			continue;
		ereport(WARNING,
				(errmsg("option \"families\" does not change family \"%s\" of stored table \"%s\"", family,
						wc_client_table_fullname(desc)),
				 wc_table_desc_family(desc, wc_slice_cstr(spec->name)) == NULL ?
				 errdetail("The stored table exists already, without this family.") :
				 errdetail("The stored table exists already, and the family has other attributes."),
				 errhint("widecol.alter_table adds families and changes attributes.")));
	}
}

void
wc_guard_announce(const WcRelation *wrel, const WcTableDesc *desc, const char *families, List *specs,
				  const WcGuard *before)
{
	WcForeignTable earlier = {.name = before != NULL ? before->table_name : NULL};
	bool		adopted = before == NULL || !wc_foreign_maps(&earlier, InvalidOid, wrel->table_name);

	if (adopted)
	{
		WcRange		all = {.start_inclusive = true};
		uint64		bytes;
		uint64		rows;

		wc_client_estimate(desc, &all, NULL, 0, &bytes, &rows);
		ereport(NOTICE,
				(errmsg_plural("foreign table \"%s\" maps stored table \"%s\", which exists already and has about " UINT64_FORMAT " row",
							   "foreign table \"%s\" maps stored table \"%s\", which exists already and has about " UINT64_FORMAT " rows",
							   (unsigned long) rows, wrel->relname, wc_client_table_fullname(desc), rows)));
	}
	if (families != NULL &&
		(adopted || before->families == NULL || strcmp(before->families, families) != 0))
		wc_guard_warn_about_families(desc, specs);
}

/* --- TRUNCATE ---------------------------------------------------------------------- */

/* The foreign tables that are emptied with this one, if the user may do it. */
static List *
emptied_with(Oid relid)
{
	char	   *name = wc_foreign_table_name(relid);
	WcTableDesc *desc = stored_table(name);

	return desc != NULL && wc_owner_is_mine(desc) ? wc_foreign_tables_of(InvalidOid, name) : NIL;
}

void
wc_guard_truncate(const TruncateStmt *stmt)
{
	List	   *relids = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, stmt->relations)
	{
		RangeVar   *name = lfirst_node(RangeVar, lc);
		Oid			relid = RangeVarGetRelid(name, NoLock, true);

		if (!OidIsValid(relid) || pg_class_aclcheck(relid, GetUserId(), ACL_TRUNCATE) != ACLCHECK_OK)
			continue;
		foreach(lc2, name->inh ? find_all_inheritors(relid, NoLock, NULL) : list_make1_oid(relid))
			if (wc_foreign_is_widecol(lfirst_oid(lc2)))
				relids = list_concat_unique_oid(relids, emptied_with(lfirst_oid(lc2)));
	}
	list_sort(relids, list_oid_cmp);
	foreach(lc, relids)
		LockRelationOid(lfirst_oid(lc), AccessExclusiveLock);
}
