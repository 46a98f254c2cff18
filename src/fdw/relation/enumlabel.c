/*
 * fdw/relation/enumlabel.c: enum values that were renamed keep the bytes they are stored as.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_type.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "compat.h"
#include "client/foreign/foreign.h"
#include "fdw/relation/alter.h"
#include "fdw/relation/enumlabel.h"
#include "fdw/relation/option.h"

/* --- the option -------------------------------------------------------------------- */

static char *
labels_text(const List *labels)
{
	StringInfoData s;
	ListCell   *lc;

	initStringInfo(&s);
	foreach(lc, labels)
	{
		const WcLabel *label = lfirst(lc);

		appendStringInfoString(&s, s.len > 0 ? ", " : "{");
		escape_json(&s, label->label);
		appendStringInfoString(&s, ": ");
		escape_json(&s, label->stored);
	}
	appendStringInfoChar(&s, '}');
	return s.data;
}

/* --- types ------------------------------------------------------------------------- */

/* The enums that values of a type are made of. */
static List *
enums_of(Oid type, List *enums)
{
	TupleDesc	desc;
	Oid			element;

	check_stack_depth();
	type = getBaseType(type);
	switch (get_typtype(type))
	{
		case TYPTYPE_ENUM:
			return list_append_unique_oid(enums, type);
		case TYPTYPE_COMPOSITE:
			desc = lookup_rowtype_tupdesc(type, -1);
			for (int i = 0; i < desc->natts; i++)
			{
				if (!TupleDescAttr(desc, i)->attisdropped)
					enums = enums_of(TupleDescAttr(desc, i)->atttypid, enums);
			}
			ReleaseTupleDesc(desc);
			return enums;
		case TYPTYPE_RANGE:
			return enums_of(get_range_subtype(type), enums);
		case TYPTYPE_MULTIRANGE:
			return enums_of(get_multirange_range(type), enums);
		default:
			element = get_element_type(type);
			return OidIsValid(element) ? enums_of(element, enums) : enums;
	}
}

static bool
has_label(Oid enum_type, const char *label)
{
	return SearchSysCacheExists2(ENUMTYPOIDNAME, ObjectIdGetDatum(enum_type), CStringGetDatum(label));
}

static bool
any_has_label(const List *enums, const char *label)
{
	ListCell   *lc;

	foreach(lc, enums)
	{
		if (has_label(lfirst_oid(lc), label))
			return true;
	}
	return false;
}

static WcLabel *
find_label(const List *labels, const char *label)
{
	ListCell   *lc;

	foreach(lc, labels)
	{
		if (strcmp(((WcLabel *) lfirst(lc))->label, label) == 0)
			return lfirst(lc);
	}
	return NULL;
}

static WcLabel *
find_stored(const List *labels, const char *stored, const WcLabel *but)
{
	ListCell   *lc;

	foreach(lc, labels)
	{
		WcLabel    *label = lfirst(lc);

		if (label != but && strcmp(label->stored, stored) == 0)
			return label;
	}
	return NULL;
}

void
wc_enum_labels_check(const WcRelation *wrel, const WcRelColumn *col, const List *labels)
{
	List	   *enums = labels != NIL ? enums_of(col->type, NIL) : NIL;
	ListCell   *lc;

	foreach(lc, labels)
	{
		const WcLabel *label = lfirst(lc);

		if (!any_has_label(enums, label->label))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("option \"labels\" of column \"%s\" of foreign table \"%s\" names \"%s\", which is no label of its type",
							NameStr(col->name), wrel->relname, label->label),
					 errhint("It is for enums, and for arrays, ranges and composite types of enums.")));
		if (find_stored(labels, label->stored, label) != NULL ||
			(any_has_label(enums, label->stored) && find_label(labels, label->stored) == NULL))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("option \"labels\" of column \"%s\" of foreign table \"%s\" has two labels stored as \"%s\"",
							NameStr(col->name), wrel->relname, label->stored)));
	}
}

/* --- ALTER TYPE --------------------------------------------------------------------- */

static Oid
type_of(const AlterEnumStmt *stmt)
{
	return LookupTypeNameOid(NULL, makeTypeNameFromNameList(stmt->typeName), true);
}

/* Numbers of the foreign table's columns that have the enum in their type. */
static List *
columns_with(Oid relid, Oid enum_type)
{
	List	   *attnums = NIL;
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	int			natts;

	if (!HeapTupleIsValid(tuple))
		return NIL;
	natts = ((Form_pg_class) GETSTRUCT(tuple))->relnatts;
	ReleaseSysCache(tuple);
	for (AttrNumber attnum = 1; attnum <= natts; attnum++)
	{
		Oid			type = get_atttype(relid, attnum);

		if (OidIsValid(type) && list_member_oid(enums_of(type, NIL), enum_type))
			attnums = lappend_int(attnums, attnum);
	}
	return attnums;
}

void
wc_enum_labels_before(const AlterEnumStmt *stmt)
{
	Oid			type = type_of(stmt);
	ListCell   *lc;

	if (!OidIsValid(type) || get_typtype(type) != TYPTYPE_ENUM || !pg_type_ownercheck(type, GetUserId()))
		return;					/* PostgreSQL says so */
	/* no session may write the new label before the option has its stored form */
	foreach(lc, wc_foreign_all())
	{
		Oid			relid = ((WcForeignTable *) lfirst(lc))->relid;

		if (columns_with(relid, type) != NIL)
			LockRelationOid(relid, AccessExclusiveLock);
	}
}

/* Of two enums in one column labels cannot be told apart. */
static void
check_alone(Oid relid, AttrNumber attnum, Oid type, const char *label)
{
	List	   *others = list_delete_oid(enums_of(get_atttype(relid, attnum), NIL), type);

	if (label != NULL && any_has_label(others, label))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot keep what label \"%s\" is stored as in column \"%s\" of foreign table \"%s\"",
						label, get_attname(relid, attnum, false), get_rel_name(relid)),
				 errdetail("Another enum in the column's type has a label of this name.")));
}

static List *
rename_label(List *labels, const char *from, const char *to)
{
	WcLabel    *label = find_label(labels, from);

	if (label == NULL)
	{
		label = palloc(sizeof(WcLabel));
		label->stored = pstrdup(from);
		labels = lappend(labels, label);
	}
	label->label = pstrdup(to);
	return strcmp(label->stored, to) == 0 ? list_delete_ptr(labels, label) : labels;
}

/* A new label that others are stored as is stored under a name that is free. */
static List *
add_label(List *labels, Oid type, const char *new)
{
	WcLabel    *label;
	char	   *stored = pstrdup(new);

	if (find_label(labels, new) != NULL || find_stored(labels, new, NULL) == NULL)
		return labels;
	for (int n = 2; find_stored(labels, stored, NULL) != NULL || has_label(type, stored); n++)
		stored = psprintf("%s_%d", new, n);
	label = palloc(sizeof(WcLabel));
	label->label = pstrdup(new);
	label->stored = stored;
	return lappend(labels, label);
}

static void
settle_table(Oid relid, Oid type, const AlterEnumStmt *stmt)
{
	List	   *cmds = NIL;
	WcTableOptions table;
	ListCell   *lc;

	wc_options_parse_table(GetForeignTable(relid)->options, &table);
	if (table.layout != WC_LAYOUT_ROW)
		return;
	foreach(lc, columns_with(relid, type))
	{
		AttrNumber	attnum = (AttrNumber) lfirst_int(lc);
		WcColumnOptions column;
		List	   *labels;
		char	   *value;

		wc_options_parse_column(GetForeignColumnOptions(relid, attnum), &column);
		labels = column.labels ? wc_options_parse_labels(column.labels) : NIL;
		if (stmt->oldVal != NULL)
		{
			check_alone(relid, attnum, type, stmt->oldVal);
			check_alone(relid, attnum, type, stmt->newVal);
			labels = rename_label(labels, stmt->oldVal, stmt->newVal);
		}
		else
			labels = add_label(labels, type, stmt->newVal);
		value = labels != NIL ? labels_text(labels) : NULL;
		if (value == NULL && column.labels == NULL)
			continue;
		if (value != NULL && column.labels != NULL && strcmp(value, column.labels) == 0)
			continue;
		cmds = lappend(cmds, wc_alter_option_cmd(get_attname(relid, attnum, false), "labels", value,
												 value == NULL ? DEFELEM_DROP : column.labels ? DEFELEM_SET : DEFELEM_ADD));
	}
	if (cmds != NIL)
		wc_alter_as_owner(relid, cmds);
}

void
wc_enum_labels_after(const AlterEnumStmt *stmt)
{
	Oid			type = type_of(stmt);
	ListCell   *lc;

	if (!OidIsValid(type))
		return;
	CommandCounterIncrement();
	foreach(lc, wc_foreign_all())
		settle_table(((WcForeignTable *) lfirst(lc))->relid, type, stmt);
}
