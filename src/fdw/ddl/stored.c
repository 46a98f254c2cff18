/*
 * fdw/ddl/stored.c: the stored table of a foreign table that is made or changed.
 */
#include "postgres.h"

#include "access/xact.h"
#include "foreign/foreign.h"
#include "miscadmin.h"

#include "client/client.h"
#include "client/foreign/families.h"
#include "client/foreign/foreign.h"
#include "fdw/ddl/stored.h"
#include "fdw/relation/option.h"

/* --- families ------------------------------------------------------------------ */

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
	family->attrs = *wc_client_store_family_defaults(wrel->store);
	foreach(lc, specs)
	{
		const WcFamilySpec *spec = lfirst(lc);

		if (strcmp(spec->name, utf8_name) == 0)
			wc_family_spec_apply(spec, &family->attrs);
	}
	if (family->attrs.packing == WC_PACKING_AUTO)
		family->attrs.packing = wc_client_store_is_embedded(wrel->store) ?
			choose_packing(wrel, wc_text_from_utf8(family->name), &family->attrs) : WC_PACKING_CELL;
	if (wc_family_attrs_check(family->name, &family->attrs, &err) != WC_OK)
		wc_raise(&err);
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

void
wc_stored_create(const WcRelation *wrel, Oid owner, List *names, List *specs)
{
	WcTableDesc desc = {.database = MyDatabaseId,.owner = owner};
	ListCell   *lc;

	/* the default family is not made where others are named */
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
	wc_family_descs_sort(desc.families, desc.nfamilies);
	wc_client_split_name(wrel->table_name, &desc.ns, &desc.name);
	wc_client_store_create_table(wrel->store, &desc);
}

List *
wc_stored_missing_families(const WcTableDesc *desc, List *names)
{
	List	   *missing = NIL;
	ListCell   *lc;

	foreach(lc, names)
		if (wc_table_desc_family(desc, wc_slice_cstr(lfirst(lc))) == NULL)
			missing = lappend(missing, lfirst(lc));
	return missing;
}

WcTableDesc *
wc_stored_add_families(const WcRelation *wrel, List *names, List *specs)
{
	WcTableDesc *old;
	WcTableDesc *desc = palloc(sizeof(WcTableDesc));
	List	   *missing;
	ListCell   *lc;

	/* its descriptor may change until the lock is held */
	wc_client_lock_table(wrel->table_name, AccessExclusiveLock);
	old = wc_client_table(wrel->table_name, false);
	missing = wc_stored_missing_families(old, names);
	if (missing == NIL)
		return old;

	*desc = *old;
	desc->families = palloc0(sizeof(WcFamilyDesc) * (old->nfamilies + list_length(missing)));
	memcpy(desc->families, old->families, sizeof(WcFamilyDesc) * old->nfamilies);
	foreach(lc, missing)
		set_family(&desc->families[desc->nfamilies++], wrel, lfirst(lc), specs);
	wc_family_descs_sort(desc->families, desc->nfamilies);
	wc_client_alter_table(desc);
	return wc_client_table(wrel->table_name, false);
}

WcTableDesc *
wc_stored_hold(const char *name)
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

void
wc_stored_tell_families(const WcRelation *wrel, const WcTableDesc *desc, List *names, List *specs)
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

/* --- restores ------------------------------------------------------------------
 *
 * A dump makes a foreign table without its columns' options and gives it these one by one.  So the stored table is first made from a
 * definition that is not whole, and made again while it is empty.
 */
void
wc_stored_require_namespace(const WcRelation *wrel)
{
	const char *colon = strchr(wrel->table_name, ':');
	char	   *name;

	if (colon == NULL)
		return;
	name = pnstrdup(wrel->table_name, colon - wrel->table_name);
	if (wc_client_namespace(name) == NULL)
		wc_client_create_namespace(name);
}

/* Does a foreign table name the family, by a column or an option? */
static bool
somebody_names(const WcRelation *wrel, const char *family)
{
	ListCell   *lc;

	foreach(lc, wc_foreign_tables_of(InvalidOid, wrel->table_name))
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

/* Was the family made for columns whose option `family` was not set yet? */
static bool
is_left_over(const WcRelation *wrel, const WcFamilyDesc *family)
{
	return wc_slice_eq(family->name, wc_slice_cstr(WC_FAMILY_DEFAULT)) && wc_family_is_plain(family) &&
		!somebody_names(wrel, WC_FAMILY_DEFAULT);
}

WcTableDesc *
wc_stored_fit(const WcRelation *wrel, List *names, List *specs)
{
	WcTableDesc *old;
	WcTableDesc *desc = palloc(sizeof(WcTableDesc));
	bool		changed = false;
	bool		empty;
	List	   *missing;
	ListCell   *lc;

	wc_client_lock_table(wrel->table_name, AccessExclusiveLock);
	old = wc_client_table(wrel->table_name, false);
	empty = wc_client_is_empty(old, NULL);
	foreach(lc, specs)
		if (!list_has(names, ((WcFamilySpec *) lfirst(lc))->name))
			names = lappend(names, ((WcFamilySpec *) lfirst(lc))->name);
	missing = wc_stored_missing_families(old, names);

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
	wc_family_descs_sort(desc->families, desc->nfamilies);
	wc_client_alter_table(desc);
	return wc_client_table(wrel->table_name, false);
}
