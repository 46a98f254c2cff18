/*
 * fdw/relation/reach.c: how much of a stored table a foreign table shows.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "client/foreign/foreign.h"
#include "fdw/relation/reach.h"
#include "fdw/relation/recordtype.h"

static bool
is_map(const WcRelColumn *col)
{
	return col->role == WC_ROLE_MAP || col->role == WC_ROLE_PREFIX_MAP;
}

/* --- changes of a foreign table ------------------------------------------------ */

/* Does `old` show all that `new` shows?  Both have a family. */
static bool
column_covers(const WcRelColumn *old, const WcRelColumn *new)
{
	if (strcmp(old->family_name, new->family_name) != 0)
		return false;
	if (is_map(old))
	{
		/* the values of all qualifiers with a prefix, which a whole family's is empty */
		return (new->role == WC_ROLE_VALUE || is_map(new)) && wc_slice_starts_with(new->qualifier, old->qualifier);
	}
	return old->role == new->role && wc_slice_eq(old->qualifier, new->qualifier) && new->versions <= old->versions;
}

static bool
is_covered(const WcRelColumn *new, const WcRelation *before)
{
	for (int i = 0; i < before->natts; i++)
		if (before->columns[i].family_name != NULL && column_covers(&before->columns[i], new))
			return true;
	return false;
}

static bool
has_families(const WcRelation *wrel)
{
	for (int i = 0; i < wrel->natts; i++)
		if (wrel->columns[i].family_name != NULL)
			return true;
	return false;
}

/* Rows are there by the cells in the families of columns, and in the default one. */
static bool
default_family_is_covered(const WcRelation *now, const WcRelation *before)
{
	if (strcmp(now->default_family_name, before->default_family_name) == 0)
		return true;
	for (int i = 0; i < before->natts; i++)
		if (before->columns[i].family_name != NULL &&
			strcmp(before->columns[i].family_name, now->default_family_name) == 0)
			return true;
	return false;
}

static bool
same_key_layout(const WcKeyLayout *a, const WcKeyLayout *b)
{
	if (a->nparts != b->nparts || !wc_slice_eq(a->delimiter, b->delimiter) ||
		(a->salt.buckets > 0) != (b->salt.buckets > 0))
		return false;
	for (uint32_t i = 0; i < a->nparts; i++)
	{
		const WcPartShape *s = &a->parts[i];
		const WcPartShape *t = &b->parts[i];

		if (s->kind != t->kind || s->order != t->order || s->desc != t->desc || s->padded != t->padded ||
			s->length != t->length)
			return false;
	}
	return true;
}

/* Every constant part is constant still, and has no other values. */
static bool
record_type_is_covered(const WcRelation *now, const WcRelation *before)
{
	if (before->constant_parts == 0)
		return true;
	if (!same_key_layout(&now->key_layout, &before->key_layout))
		return false;
	for (int k = 0; k < before->constant_parts; k++)
	{
		const WcRelColumn *old = &before->columns[before->keys[k]];
		const WcRelColumn *new = &now->columns[now->keys[k]];

		if (old->nconstants == 0)
			continue;
		if (new->nconstants == 0)
			return false;
		for (int i = 0; i < new->nconstants; i++)
			if (!wc_recordtype_has(old, new->constants[i]))
				return false;
	}
	return true;
}

/* The same of layout cell, whose columns show parts of each cell. */
static bool
cells_are_within(const WcRelation *now, const WcRelation *before)
{
	for (int i = 0; i < now->natts; i++)
		if (now->columns[i].role != WC_ROLE_NONE && !wc_relation_has_role(before, now->columns[i].role))
			return false;
	return (!now->raw || before->raw) &&
		(before->cell_versions == 0 || (now->cell_versions > 0 && now->cell_versions <= before->cell_versions));
}

bool
wc_reach_is_within(const WcRelation *now, const WcRelation *before)
{
	if (!wc_foreign_same_name(now->table_name, before->table_name) ||
		now->layout != before->layout)
		return false;
	if (now->layout == WC_LAYOUT_CELL)
		return cells_are_within(now, before);

	/* without such columns it would show the rows of every family */
	if (!has_families(now) && has_families(before))
		return false;
	for (int i = 0; i < now->natts; i++)
		if (now->columns[i].family_name != NULL && !is_covered(&now->columns[i], before))
			return false;
	return default_family_is_covered(now, before) && record_type_is_covered(now, before);
}

/* --- places ---------------------------------------------------------------------- */

static bool
is_allowed(const WcRelation *wrel, const WcRelColumn *col, AclMode mode)
{
	Oid			user = GetUserId();

	return pg_class_aclcheck(wrel->relid, user, mode) == ACLCHECK_OK ||
		pg_attribute_aclcheck(wrel->relid, col->attnum, user, mode) == ACLCHECK_OK;
}

static bool
is_generated(const WcRelation *wrel, const WcRelColumn *col)
{
	return get_attgenerated(wrel->relid, col->attnum) != '\0';
}

/* Could SQL do it through this column, whose place the cell is in? */
static bool
serves(const WcRelation *wrel, const WcRelColumn *col, AclMode mode)
{
	switch (col->role)
	{
		case WC_ROLE_VALUE:
		case WC_ROLE_VERSIONS:
		case WC_ROLE_MAP:
		case WC_ROLE_PREFIX_MAP:
			return mode == ACL_SELECT || mode == ACL_DELETE || !is_generated(wrel, col);
		case WC_ROLE_TIMESTAMP:
			return mode == ACL_DELETE;
		case WC_ROLE_KEY:
			/* the original of a hash is written with its key only */
			return mode == ACL_SELECT;
		default:
			return false;
	}
}

static bool
is_place_of(const WcRelColumn *col, uint32 family, WcSlice qualifier, bool declared)
{
	if (col->family_name == NULL || col->family != family)
		return false;
	if (wc_relation_has_qualifier(col))
		return wc_slice_eq(col->qualifier, qualifier);
	return is_map(col) && !declared && wc_slice_starts_with(qualifier, col->qualifier);
}

WcReach
wc_reach_cell(const WcRelation *wrel, uint32 family, WcSlice qualifier, AclMode mode, const WcRelColumn **column)
{
	bool		declared = wc_relation_declares(wrel, family, qualifier);
	WcReach		reach = WC_REACH_UNMAPPED;

	for (int i = 0; i < wrel->natts; i++)
	{
		const WcRelColumn *col = &wrel->columns[i];

		if (!is_place_of(col, family, qualifier, declared) || !serves(wrel, col, mode))
			continue;
		if (column != NULL)
			*column = col;
		if (mode == ACL_DELETE || is_allowed(wrel, col, mode))
			return WC_REACH_OPEN;
		reach = WC_REACH_DENIED;
	}
	return reach;
}

WcReach
wc_reach_keys(const WcRelation *wrel, AclMode mode, const WcRelColumn **column)
{
	if (wrel->raw_key >= 0 && (wrel->nkeys == 0 || mode == ACL_SELECT))
	{
		*column = &wrel->columns[wrel->raw_key];
		if (is_allowed(wrel, *column, mode))
			return WC_REACH_OPEN;
		if (wrel->nkeys == 0)
			return WC_REACH_DENIED;
	}
	for (int k = 0; k < wrel->nkeys; k++)
	{
		*column = &wrel->columns[wrel->keys[k]];
		if (mode == ACL_INSERT && is_generated(wrel, *column))
			continue;
		if (!is_allowed(wrel, *column, mode))
			return WC_REACH_DENIED;
	}
	return WC_REACH_OPEN;
}

static void
add_column(WcColumn **columns, uint32 *ncolumns, const WcRelColumn *col)
{
	WcColumn   *added;

	if (*ncolumns == 0)
		*columns = palloc(sizeof(WcColumn));
	else
		*columns = repalloc(*columns, sizeof(WcColumn) * (*ncolumns + 1));
	added = &(*columns)[(*ncolumns)++];
	memset(added, 0, sizeof(*added));
	added->family = col->family;
	added->kind = col->role == WC_ROLE_MAP ? WC_COLUMN_FAMILY :
		col->role == WC_ROLE_PREFIX_MAP ? WC_COLUMN_PREFIX : WC_COLUMN_EXACT;
	added->qualifier = col->qualifier;
}

WcReach
wc_reach_columns(const WcRelation *wrel, const uint32 *family, WcColumn **columns, uint32 *ncolumns,
				 const WcRelColumn **column)
{
	WcReach		reach = WC_REACH_UNMAPPED;

	for (int i = 0; i < wrel->natts; i++)
	{
		const WcRelColumn *col = &wrel->columns[i];

		if (col->family_name == NULL || (family != NULL && col->family != *family) ||
			!serves(wrel, col, ACL_SELECT))
			continue;
		if (!is_allowed(wrel, col, ACL_SELECT))
		{
			*column = col;
			return WC_REACH_DENIED;
		}
		add_column(columns, ncolumns, col);
		reach = WC_REACH_OPEN;
	}
	return reach;
}

bool
wc_reach_family(const WcRelation *wrel, uint32 family)
{
	for (int i = 0; i < wrel->nfamilies; i++)
		if (wrel->families[i] == family)
			return true;
	return false;
}
