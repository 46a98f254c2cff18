/*
 * fdw/plan/unique.c: tells the planner that a row key is unique.
 *
 * A heap table has a unique index for this.  From it the planner removes outer joins to the table if no column of the
 * table is used, makes joins of semijoins, stops a join at the first match, and estimates that all values differ.
 * Foreign tables have no indexes, but a hook may tell the planner of hypothetical ones: ours has the key parts, is
 * unique, and cannot be scanned.
 *
 * It relies on the same promise as a Get by = on all key parts: two rows never have equal key parts.
 */
#include "postgres.h"

#include "access/table.h"
#include "optimizer/plancat.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "client/foreign/foreign.h"
#include "fdw/fdw.h"
#include "fdw/plan/unique.h"
#include "fdw/relation/relation.h"

static get_relation_info_hook_type prev_get_relation_info;

/* Do equal values of each part have the same bytes, so that equal keys do, too? */
static bool
key_is_unique(const WcRelation *wrel)
{
	if (wrel->layout != WC_LAYOUT_ROW || wrel->nkeys == 0)
		return false;
	for (int part = 0; part < wrel->nkeys; part++)
	{
		if (!wrel->columns[wrel->keys[part]].codec.equality_safe)
			return false;
	}
	return true;
}

static void
add_index(RelOptInfo *rel, const WcRelation *wrel, const int *columns, int ncolumns)
{
	IndexOptInfo *index = makeNode(IndexOptInfo);

	index->rel = rel;
	index->tuples = -1;
	index->tree_height = -1;
	index->ncolumns = ncolumns;
	index->nkeycolumns = ncolumns;
	index->indexkeys = palloc(sizeof(int) * ncolumns);
	index->indexcollations = palloc(sizeof(Oid) * ncolumns);
	index->opfamily = palloc(sizeof(Oid) * ncolumns);
	index->opcintype = palloc(sizeof(Oid) * ncolumns);
	for (int i = 0; i < ncolumns; i++)
	{
		const WcRelColumn *column = &wrel->columns[columns[i]];
		TypeCacheEntry *type = lookup_type_cache(getBaseType(column->type), TYPECACHE_BTREE_OPFAMILY);

		if (!OidIsValid(type->btree_opf))
			return;
		index->indexkeys[i] = column->attnum;
		index->indexcollations[i] = column->collation;
		index->opfamily[i] = type->btree_opf;
		index->opcintype[i] = type->btree_opintype;
	}
	index->unique = true;
	index->immediate = true;
	index->hypothetical = true;
	rel->indexlist = lappend(rel->indexlist, index);
}

/* Adds the key parts without those that have the same value in all rows. */
static void
add_key(RelOptInfo *rel, const WcRelation *wrel)
{
	int		   *columns = palloc(sizeof(int) * wrel->nkeys);
	int			n = 0;

	for (int part = 0; part < wrel->nkeys; part++)
	{
		if (wrel->columns[wrel->keys[part]].nconstants != 1)
			columns[n++] = wrel->keys[part];
	}
	if (n > 0)
		add_index(rel, wrel, columns, n);
}

/* Is there a raw key, which is unique, too? */
static bool
raw_key_is_unique(const WcRelation *wrel)
{
	return wrel->layout == WC_LAYOUT_ROW && wrel->raw_key >= 0;
}

/* Changes PostgreSQL's information about a foreign table before the planner uses it. */
static void
on_get_relation_info(PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel)
{
	if (prev_get_relation_info)
		prev_get_relation_info(root, relid, inhparent, rel);

	if (rel->fdwroutine != NULL && rel->fdwroutine->GetForeignRelSize == widecolGetForeignRelSize &&
		wc_foreign_is_dump(relid))
		rel->fdwroutine = wc_dump_routine();

	/* several children of a parent may have rows with equal keys */
	if (!inhparent && rel->fdwroutine != NULL && rel->fdwroutine->GetForeignRelSize == widecolGetForeignRelSize)
	{
		Relation	relation = table_open(relid, NoLock);
		WcRelation *wrel = wc_relation_open(relation);

		if (key_is_unique(wrel))
			add_key(rel, wrel);
		if (raw_key_is_unique(wrel))
			add_index(rel, wrel, &wrel->raw_key, 1);
		wc_relation_close(wrel);
		table_close(relation, NoLock);
	}
}

void
wc_unique_hook_install(void)
{
	prev_get_relation_info = get_relation_info_hook;
	get_relation_info_hook = on_get_relation_info;
}
