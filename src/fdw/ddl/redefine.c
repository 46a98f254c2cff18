/*
 * fdw/ddl/redefine.c: a foreign table whose definition changes over stored rows.
 *
 * A definition gives stored bytes their meaning.  ALTER changes the definition and never the bytes, so a
 * change that gives existing row keys or cells another meaning is refused.  The definitions before and after
 * the statement are compared, not the statement's text: what counts is the layout of the row key, the codecs,
 * the constant parts and the places of cells, whatever has changed them.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/heap.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/syscache.h"

#include "client/client.h"
#include "client/foreign/foreign.h"
#include "fdw/relation/mapping.h"
#include "fdw/relation/recordtype.h"
#include "fdw/ddl/redefine.h"

/* --- before the statement ------------------------------------------------------- */

static bool
may_redefine(const AlterTableStmt *stmt)
{
	ListCell   *lc;

	if (stmt->objtype != OBJECT_TABLE && stmt->objtype != OBJECT_FOREIGN_TABLE)
		return false;
	foreach(lc, stmt->cmds)
	{
		switch (lfirst_node(AlterTableCmd, lc)->subtype)
		{
			case AT_AddColumn:
			case AT_DropColumn:
			case AT_AlterColumnType:
			case AT_AlterColumnGenericOptions:
			case AT_GenericOptions:
			case AT_AddConstraint:
			case AT_DropConstraint:
			case AT_ValidateConstraint:
			case AT_DropExpression:
#if PG_VERSION_NUM >= 170000
			case AT_SetExpression:
#endif
			case AT_AttachPartition:
			case AT_DetachPartition:
			case AT_DetachPartitionFinalize:
				return true;
			default:
				break;
		}
	}
	return false;
}

/* The relation and those below it; empty if it does not exist. */
static List *
with_inheritors(const RangeVar *name)
{
	Oid			relid = RangeVarGetRelid(name, NoLock, true);

	return OidIsValid(relid) ? find_all_inheritors(relid, NoLock, NULL) : NIL;
}

WcRelation *
wc_definition_read(Oid relid, WcRelation *(*read) (Relation rel))
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	WcRelation *volatile wrel = NULL;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		Relation	rel;

		MemoryContextSwitchTo(context);
		rel = relation_open(relid, AccessShareLock);
		wrel = read(rel);
		relation_close(rel, AccessShareLock);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		int			code = geterrcode();

		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (ERRCODE_TO_CATEGORY(code) == ERRCODE_OPERATOR_INTERVENTION ||
			ERRCODE_TO_CATEGORY(code) == ERRCODE_INSUFFICIENT_RESOURCES)
			PG_RE_THROW();
		FlushErrorState();
		wrel = NULL;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return wrel;
}

/* Adds the relation when it is a foreign table of ours, once. */
static List *
note(List *definitions, Oid relid)
{
	WcDefinition *definition;
	ListCell   *lc;

	if (!wc_foreign_is_widecol(relid))
		return definitions;
	foreach(lc, definitions)
		if (((WcDefinition *) lfirst(lc))->relid == relid)
			return definitions;
	definition = palloc0(sizeof(*definition));
	definition->relid = relid;
	definition->wrel = wc_definition_read(relid, wc_relation_check);
	return lappend(definitions, definition);
}

/*
 * DETACH CONCURRENTLY commits before it is done, too early for a check after it.  It leaves a CHECK constraint
 * in the bound's place; one that lists values makes no constant part.
 */
static void
check_detach(List *definitions, const AlterTableCmd *cmd)
{
	List	   *detached;
	ListCell   *lc;

	if (cmd->subtype != AT_DetachPartition || !castNode(PartitionCmd, cmd->def)->concurrent)
		return;
	detached = with_inheritors(castNode(PartitionCmd, cmd->def)->name);
	foreach(lc, definitions)
	{
		const WcDefinition *definition = lfirst(lc);
		const WcRelation *wrel = definition->wrel;

		if (wrel == NULL || !list_member_oid(detached, definition->relid))
			continue;
		for (int k = 0; k < wrel->nkeys; k++)
			if (wrel->columns[wrel->keys[k]].nconstants > 1)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot detach partition \"%s\" concurrently", castNode(PartitionCmd, cmd->def)->name->relname),
						 errdetail("Bounds list several values of row key column \"%s\" of foreign table \"%s\".",
								   NameStr(wrel->columns[wrel->keys[k]].name), wrel->relname),
						 errhint("Use DETACH PARTITION without CONCURRENTLY.")));
	}
}

List *
wc_redefine_note(AlterTableStmt *stmt)
{
	List	   *relids;
	List	   *definitions = NIL;
	ListCell   *lc;

	if (!may_redefine(stmt))
		return NIL;
	relids = with_inheritors(stmt->relation);
	foreach(lc, stmt->cmds)
	{
		const AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

		/* a partition that is about to be detached is none of those below stmt->relation */
		if (cmd->subtype == AT_AttachPartition || cmd->subtype == AT_DetachPartitionFinalize)
			relids = list_concat_unique_oid(relids, with_inheritors(castNode(PartitionCmd, cmd->def)->name));
	}
	foreach(lc, relids)
		definitions = note(definitions, lfirst_oid(lc));
	foreach(lc, stmt->cmds)
		check_detach(definitions, lfirst_node(AlterTableCmd, lc));
	return definitions;
}

List *
wc_redefine_note_drop(List *definitions, Oid class_id, Oid object_id, int sub_id)
{
	Oid			relid = InvalidOid;

	if (class_id == RelationRelationId && sub_id != 0)
		relid = object_id;
	else if (class_id == AttrDefaultRelationId)
		relid = GetAttrDefaultColumnAddress(object_id).objectId;
	else if (class_id == ConstraintRelationId)
	{
		HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(object_id));

		if (HeapTupleIsValid(tuple))
		{
			relid = ((Form_pg_constraint) GETSTRUCT(tuple))->conrelid;
			ReleaseSysCache(tuple);
		}
	}
	return OidIsValid(relid) ? note(definitions, relid) : definitions;
}

void
wc_redefine_check_drop(const WcDefinition *before, Relation rel)
{
	const WcRelation *old = before->wrel;

	for (int k = 0; old != NULL && k < old->nkeys; k++)
	{
		const WcRelColumn *part = &old->columns[old->keys[k]];

		if (TupleDescAttr(RelationGetDescr(rel), part->attnum - 1)->attisdropped &&
			wc_definition_read(before->relid, wc_relation_check) == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("cannot drop column \"%s\" of foreign table \"%s\" because it is part %d of the row key",
							NameStr(part->name), old->relname, k + 1),
					 errhint("While the stored table has no rows, the same statement can number the other parts 1, 2, 3 "
							 "and so on. Else create a new foreign table with a new stored table and fill it with "
							 "INSERT ... SELECT.")));
	}
}

bool
wc_redefine_moves(const WcDefinition *before, const WcRelation *wrel)
{
	return before->wrel != NULL && !wc_foreign_same_name(before->wrel->table_name, wrel->table_name);
}

/* --- the row key ---------------------------------------------------------------- */

static const WcRelColumn *
cell_row_column(const WcRelation *wrel)
{
	for (int i = 0; i < wrel->natts; i++)
		if (wrel->columns[i].role == WC_ROLE_CELL_ROW)
			return &wrel->columns[i];
	return NULL;
}

/* A key that is shown as it is stored, as bytes or as text, is one part of any length. */
static int
count_parts(const WcRelation *wrel)
{
	return Max(wrel->nkeys, 1);
}

/* NULL: bytes as they are stored. */
static const WcCodec *
part_codec(const WcRelation *wrel, int k)
{
	const WcRelColumn *row = cell_row_column(wrel);

	if (wrel->nkeys > 0)
		return &wrel->columns[wrel->keys[k]].codec;
	return row ? &row->codec : NULL;
}

static WcPartShape
part_shape(const WcRelation *wrel, int k)
{
	WcPartShape rest = {.kind = WC_PART_REST};

	return wrel->nkeys > 0 ? wrel->key_layout.parts[k] : rest;
}

static bool
same_codec(const WcCodec *old, const WcCodec *new)
{
	if (new == NULL)
		return old == NULL || wc_codec_verbatim(old);
	if (old == NULL)
		return wc_codec_verbatim(new) && new->spec.typmod < 0;
	return wc_codec_same_bytes(old, new);
}

static bool
same_part(const WcRelation *old, const WcRelation *new, int k)
{
	WcPartShape a = part_shape(old, k);
	WcPartShape b = part_shape(new, k);

	return a.kind == b.kind && a.desc == b.desc && a.padded == b.padded && a.length == b.length &&
		same_codec(part_codec(old, k), part_codec(new, k));
}

static bool
same_salt(const WcSalt *a, const WcSalt *b, int nparts)
{
	if (a->buckets != b->buckets)
		return false;
	if (a->buckets == 0)
		return true;
	return a->kind == b->kind && a->twos_complement == b->twos_complement && a->per_minute == b->per_minute &&
		memcmp(a->parts, b->parts, sizeof(bool) * nparts) == 0;
}

/* NULL: row keys keep their meaning; else the change, for the error's detail. */
static const char *
key_difference(const WcRelation *old, const WcRelation *new)
{
	int			n = count_parts(new);

	if (count_parts(old) != n)
		return psprintf("The row key had %d parts and would have %d.", count_parts(old), n);
	for (int k = 0; k < n; k++)
		if (!same_part(old, new, k))
			return psprintf("Part %d of the row key would be read as something else.", k + 1);
	if (!wc_slice_eq(old->key_layout.delimiter, new->key_layout.delimiter))
		return "The delimiter is in the row keys.";
	if (!same_salt(&old->key_layout.salt, &new->key_layout.salt, n))
		return "The salt is in the row keys.";
	return NULL;
}

static bool
same_constants(const WcRelation *old, const WcRelation *new)
{
	if (old->constant_parts != new->constant_parts)
		return false;
	for (int k = 0; k < old->constant_parts; k++)
	{
		const WcRelColumn *a = &old->columns[old->keys[k]];
		const WcRelColumn *b = &new->columns[new->keys[k]];

		/* a bound may list a value twice */
		if ((a->nconstants == 0) != (b->nconstants == 0))
			return false;
		for (int i = 0; i < a->nconstants; i++)
			if (!wc_recordtype_has(b, a->constants[i]))
				return false;
		for (int i = 0; i < b->nconstants; i++)
			if (!wc_recordtype_has(a, b->constants[i]))
				return false;
	}
	return true;
}

/* --- stored rows --------------------------------------------------------------- */

typedef struct WcStored
{
	const WcRelation *wrel;		/* for messages */
	const WcTableDesc *desc;
	bool		locked;
	bool		any_known;		/* any is set */
	bool		any;
} WcStored;

/* No transaction is writing, and none can before the end of this one. */
static void
lock_stored(WcStored *stored)
{
	if (stored->locked)
		return;
	wc_client_require_writable();
	wc_client_lock_table(stored->wrel->table_name, ShareRowExclusiveLock);
	stored->locked = true;
}

static WcClientScan *
open_scan(WcStored *stored, WcScan *scan)
{
	lock_stored(stored);
	scan->key_only = true;
	return wc_client_scan_open(scan, wc_client_snapshot(NULL), GetCurrentCommandId(false) + 1, 0, CurrentMemoryContext);
}

/*
 * Reads the keys of all rows.  differing: does a row exist that one of the definitions shows and the other does not?
 * Otherwise: does a row exist that one of them shows?
 */
static bool
find_row(WcStored *stored, WcRelation *old, WcRelation *new, bool differing)
{
	WcClientScan *client_scan;
	WcScan		scan;
	WcSlice		key;
	bool		found = false;

	wc_scan_init(&scan, stored->desc->id);
	scan.rows_by_existence = true;
	if (!differing && (old->constant_parts == 0 || new->constant_parts == 0))
		scan.row_limit = 1;
	client_scan = open_scan(stored, &scan);
	while (!found && wc_client_next_row(client_scan, &key))
	{
		bool		was = wc_recordtype_matches(old, key);
		bool		will = wc_recordtype_matches(new, key);

		found = differing ? was != will : was || will;
	}
	wc_client_scan_close(client_scan);
	return found;
}

static bool
has_any_row(WcStored *stored, const WcDefinition *before, WcRelation *wrel)
{
	if (!stored->any_known)
		stored->any = find_row(stored, before->wrel, wrel, false);
	stored->any_known = true;
	return stored->any;
}

static bool
has_cell_of(WcStored *stored, WcColumn *column)
{
	WcClientScan *client_scan;
	WcScan		scan;
	WcSlice		key;
	bool		found;

	wc_scan_init(&scan, stored->desc->id);
	scan.ncolumns = 1;
	scan.columns = column;
	scan.row_limit = 1;
	client_scan = open_scan(stored, &scan);
	found = wc_client_next_row(client_scan, &key);
	wc_client_scan_close(client_scan);
	return found;
}

static WcSlice
utf8_name(const char *name)
{
	return wc_text_to_utf8(name, strlen(name));
}

static bool
has_cells(WcStored *stored, const WcRelColumn *col)
{
	const WcFamilyDesc *family = wc_table_desc_family(stored->desc, utf8_name(col->family_name));
	WcColumn	column = {.qualifier = col->qualifier};

	if (family == NULL)
		return false;
	column.family = family->id;
	column.kind = col->role == WC_ROLE_MAP ? WC_COLUMN_FAMILY :
		col->role == WC_ROLE_PREFIX_MAP ? WC_COLUMN_PREFIX : WC_COLUMN_EXACT;
	return has_cell_of(stored, &column);
}

/* --- columns -------------------------------------------------------------------- */

/* The codec of the column's cell; NULL: it has none, or shows bytes. */
static const WcCodec *
cell_codec(const WcRelColumn *col)
{
	if (col->role == WC_ROLE_VALUE)
		return &col->codec;
	return col->role == WC_ROLE_KEY && col->hashed ? &col->original : NULL;
}

/* Do cells mean the same to the column, if they are where they were? */
static bool
same_cells(const WcRelColumn *old, const WcRelColumn *new)
{
	const WcCodec *a = cell_codec(old);
	const WcCodec *b = cell_codec(new);

	if (a && b)
		return wc_codec_same_bytes(a, b);
	if (old->role == new->role)
		return true;
	/* versions show any cell's bytes */
	if (new->role == WC_ROLE_VERSIONS)
		return a != NULL;
	return old->role == WC_ROLE_VERSIONS && b != NULL && wc_codec_verbatim(b) && b->spec.typmod < 0;
}

static bool
same_place(const WcRelColumn *old, const WcRelColumn *new)
{
	return strcmp(old->family_name, new->family_name) == 0 && wc_slice_eq(old->qualifier, new->qualifier) &&
		(old->role == WC_ROLE_MAP) == (new->role == WC_ROLE_MAP) &&
		(old->role == WC_ROLE_PREFIX_MAP) == (new->role == WC_ROLE_PREFIX_MAP);
}

static void pg_attribute_noreturn()
refuse_type(const WcStored *stored, const WcRelColumn *new)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot change the type of column \"%s\" of foreign table \"%s\" because stored table \"%s\" has cells of it",
					NameStr(new->name), stored->wrel->relname, stored->wrel->table_name),
			 errdetail("The bytes of the cells would be read as other values."),
			 errhint("Create a new foreign table with a new stored table and fill it with INSERT ... SELECT.")));
}

static void
check_column(WcStored *stored, const WcDefinition *before, WcRelation *wrel,
			 const WcRelColumn *old, const WcRelColumn *new)
{
	bool		retyped = old->type != new->type || old->typmod != new->typmod;

	if (old->family_name == NULL || new->role == WC_ROLE_NONE)
		return;
	if (retyped && !same_cells(old, new) && has_cells(stored, old))
		refuse_type(stored, new);
	if (new->family_name == NULL)
		return;
	if (!same_place(old, new))
	{
		if (has_any_row(stored, before, wrel))
			ereport(NOTICE,
					(errmsg("cells of column \"%s\" of foreign table \"%s\" stay where they are",
							NameStr(new->name), wrel->relname),
					 errdetail("The column does not show them any more.")));
	}
	else if (!retyped && !same_cells(old, new) && has_any_row(stored, before, wrel))
		ereport(NOTICE,
				(errmsg("cells of column \"%s\" of foreign table \"%s\" stay as they are",
						NameStr(new->name), wrel->relname),
				 errdetail("The column reads them with its new encoding, in which they were not written.")));
}

/* --- families -------------------------------------------------------------------- */

/* As wc_mapping_resolve does, which a definition before the statement has no stored table for. */
static bool
maps_family(const WcRelation *wrel, const WcTableDesc *desc, const WcFamilyDesc *family)
{
	bool		columns_have_families = false;
	WcSlice		default_name = utf8_name(wrel->default_family_name);

	for (int i = 0; i < wrel->natts; i++)
	{
		const WcRelColumn *col = &wrel->columns[i];

		if (col->family_name == NULL)
			continue;
		columns_have_families = true;
		if (wc_slice_eq(utf8_name(col->family_name), family->name))
			return true;
	}
	if (!columns_have_families || wc_slice_eq(default_name, family->name))
		return true;
	return !wrel->family_given && wc_table_desc_family(desc, default_name) == NULL && family == &desc->families[0];
}

/* Rows are shown for their cells in mapped families. */
static void
check_family(WcStored *stored, const WcRelation *old, const WcRelation *new, const WcFamilyDesc *family)
{
	WcColumn	column = {.family = family->id,.kind = WC_COLUMN_FAMILY};

	if (!maps_family(old, stored->desc, family) || maps_family(new, stored->desc, family) ||
		!has_cell_of(stored, &column))
		return;
	ereport(NOTICE,
			(errmsg("foreign table \"%s\" does not map family \"%s\" any more",
					new->relname, wc_text_from_utf8(family->name)),
			 errdetail("Rows that have cells in no other mapped family are not shown.")));
}

/* --- all ------------------------------------------------------------------------ */

static void pg_attribute_noreturn()
refuse_key(const WcRelation *wrel, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot change the row key of foreign table \"%s\" because stored table \"%s\" has rows",
					wrel->relname, wrel->table_name),
			 errdetail("%s", detail),
			 errhint("Create a new foreign table with a new stored table and fill it with INSERT ... SELECT.")));
}

static void pg_attribute_noreturn()
refuse_constants(const WcRelation *wrel)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot change the constant parts of the row key of foreign table \"%s\" because stored table \"%s\" has rows",
					wrel->relname, wrel->table_name),
			 errdetail("The foreign table would show other rows than before: those with other values in these parts."),
			 errhint("Drop the foreign table, which keeps the rows, and create it anew with the CHECK constraint it shall have; "
					 "or create one with a new stored table and fill it with INSERT ... SELECT.")));
}

void
wc_redefine_check(const WcDefinition *before, WcRelation *wrel, const WcTableDesc *desc)
{
	WcStored	stored = {.wrel = wrel,.desc = desc};
	WcRelation *old = before->wrel;
	const char *difference;

	if (old == NULL || wc_redefine_moves(before, wrel))
		return;
	difference = key_difference(old, wrel);
	if (difference != NULL && has_any_row(&stored, before, wrel))
		refuse_key(wrel, difference);
	if (difference == NULL && !same_constants(old, wrel) && find_row(&stored, old, wrel, true))
		refuse_constants(wrel);
	for (int i = 0; i < old->natts && i < wrel->natts; i++)
		check_column(&stored, before, wrel, &old->columns[i], &wrel->columns[i]);
	for (uint32_t i = 0; i < desc->nfamilies; i++)
		check_family(&stored, old, wrel, &desc->families[i]);
}
