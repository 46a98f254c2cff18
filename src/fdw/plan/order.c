/*
 * fdw/plan/order.c: the orders in which a scan can return rows.
 *
 * Rows come by row key, ascending or descending.  In SQL this is an order by the key parts, as far as their bytes sort
 * as their values do; parts pinned to one value do not count.  It is also the order of the raw key and, in layout
 * 'cell', the order of cells in their row.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"
#include "utils/typcache.h"

#include "compat.h"
#include "fdw/plan/order.h"

/*
 * The query's own pathkey for this order, if there is one.  The two can differ in the place of NULLs, which does not
 * matter as there are none.
 */
static PathKey *
prefer_query_pathkey(PlannerInfo *root, PathKey *pathkey)
{
	ListCell   *lc;

	foreach(lc, root->query_pathkeys)
	{
		PathKey    *wanted = lfirst(lc);

		if (wanted->pk_eclass == pathkey->pk_eclass &&
			wanted->pk_opfamily == pathkey->pk_opfamily &&
			wanted->pk_strategy == pathkey->pk_strategy)
			return wanted;
	}
	return pathkey;
}

/* The pathkey of an order by one column; NULL: the query does not ask for it. */
static PathKey *
column_pathkey(PlannerInfo *root, RelOptInfo *rel, const WcRelColumn *column, bool descending)
{
	Expr	   *expr = (Expr *) makeVar(rel->relid, column->attnum, column->type, column->typmod, column->collation, 0);
	TypeCacheEntry *type = lookup_type_cache(getBaseType(column->type), TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	Oid			opno = descending ? type->gt_opr : type->lt_opr;
	List	   *found;

	if (!OidIsValid(opno))
		return NULL;
	/* bytes of text are in the order under "C": k COLLATE "C", if that is not the column's own */
	if (OidIsValid(column->collation) && !lc_collate_is_c(column->collation))
		expr = (Expr *) makeRelabelType(expr, column->type, column->typmod, C_COLLATION_OID, COERCE_IMPLICIT_CAST);
	found = wc_expression_pathkey(root, expr, opno, rel);
	return found == NIL ? NULL : linitial(found);
}

/* Adds the order by one column; false: the query does not ask for it. */
static bool
add_column(PlannerInfo *root, RelOptInfo *rel, const WcRelColumn *column, bool descending, List **pathkeys)
{
	PathKey    *pathkey = column_pathkey(root, rel, column, descending);
	ListCell   *lc;

	if (pathkey == NULL)
		return false;
	if (EC_MUST_BE_REDUNDANT(pathkey->pk_eclass))
		return true;
	foreach(lc, *pathkeys)
	{
		if (((PathKey *) lfirst(lc))->pk_eclass == pathkey->pk_eclass)
			return true;
	}
	*pathkeys = lappend(*pathkeys, prefer_query_pathkey(root, pathkey));
	return true;
}

/*
 * Adds columns that have one value to an order, where the query names them and does not know this: b of WHERE b ORDER BY b, c.
 * Any place and direction will do.
 */
static List *
add_pinned(const PlannerInfo *root, const List *pathkeys, const List *pinned)
{
	List	   *all = NIL;
	int			next = 0;
	ListCell   *lc;

	foreach(lc, root->query_pathkeys)
	{
		PathKey    *wanted = lfirst(lc);

		if (next < list_length(pathkeys) && list_nth(pathkeys, next) == wanted)
			next++;
		else if (!list_member_ptr(pinned, wanted->pk_eclass))
			break;
		all = lappend(all, wanted);
	}
	return list_concat(all, list_copy_tail(pathkeys, next));
}

/* Parts with a constant (recordtype.h) have one value too, but the planner does not know this: a query may name
 * them in its ORDER BY (constants) or leave them out. */
static List *
order_of_parts(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, const WcQuals *quals, bool constants,
			   bool reversed)
{
	List	   *pathkeys = NIL;
	List	   *pinned = NIL;

	for (int part = 0; part < wrel->nkeys; part++)
	{
		const WcRelColumn *column = &wrel->columns[wrel->keys[part]];
		PathKey    *pathkey;
		bool		part_reversed;

		if (column->nconstants == 1 && !constants)
			continue;
		if (column->nconstants != 1 && bms_is_member(part, quals->equal))
		{
			pathkey = column_pathkey(root, rel, column, false);
			if (pathkey != NULL)
				pinned = lappend(pinned, pathkey->pk_eclass);
			continue;
		}
		if (!wc_rowkey_part_sorts(&wrel->key_layout, part, &part_reversed) ||
			!add_column(root, rel, column, part_reversed != reversed, &pathkeys))
			break;
	}
	return add_pinned(root, pathkeys, pinned);
}

List *
wc_order_of_key(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, const WcQuals *quals, bool reversed)
{
	return order_of_parts(root, rel, wrel, quals, false, reversed);
}

/* Adds the order by the column with this role, if the column sorts as its bytes do. */
static bool
add_bytes(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, WcRole role, bool descending, List **pathkeys)
{
	for (int i = 0; i < wrel->natts; i++)
	{
		const WcRelColumn *column = &wrel->columns[i];

		if (column->role != role)
			continue;
		return (getBaseType(column->type) != TEXTOID ||
				GetDatabaseEncoding() == PG_UTF8) &&
			add_column(root, rel, column, descending, pathkeys);
	}
	return false;
}

static List *
order_of_raw_key(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, bool reversed)
{
	List	   *pathkeys = NIL;

	(void) add_bytes(root, rel, wrel, WC_ROLE_RAW_KEY, reversed, &pathkeys);
	return pathkeys;
}

/*
 * Layout cell: by row, and within a row by family, qualifier, and descending timestamp.  A scan that walks rows
 * backwards still returns the cells of each row in this order, but queries hardly ask for that.  (A table with only one
 * family is no special case: a plan may outlive that state.)
 */
static List *
order_of_cells(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, bool reversed)
{
	List	   *pathkeys = NIL;

	if (!add_bytes(root, rel, wrel, WC_ROLE_CELL_ROW, reversed, &pathkeys) || reversed)
		return pathkeys;
	if (!add_bytes(root, rel, wrel, WC_ROLE_CELL_FAMILY, false, &pathkeys))
		return pathkeys;
	/* delete markers have places of their own among a column's cells */
	if (add_bytes(root, rel, wrel, WC_ROLE_CELL_QUALIFIER, false, &pathkeys) && !wrel->raw)
		(void) add_bytes(root, rel, wrel, WC_ROLE_CELL_TS, true, &pathkeys);
	return pathkeys;
}

static List *
add_order(PlannerInfo *root, RelOptInfo *rel, List *orders, List *pathkeys, bool reversed, bool merged)
{
	WcOrder    *order;

	pathkeys = truncate_useless_pathkeys(root, rel, pathkeys);
	if (pathkeys == NIL)
		return orders;
	order = palloc(sizeof(WcOrder));
	order->pathkeys = pathkeys;
	order->reversed = reversed;
	order->merged = merged;
	return lappend(orders, order);
}

List *
wc_order_find(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, const WcQuals *quals)
{
	List	   *orders = NIL;
	bool		merged = wrel->key_layout.salt.buckets > 0 && !quals->one_bucket;

	if (!has_useful_pathkeys(root, rel))
		return NIL;
	for (int reversed = 0; reversed <= 1; reversed++)
	{
		orders = add_order(root, rel, orders, order_of_parts(root, rel, wrel, quals, false, reversed), reversed, merged);
		if (wrel->constant_parts > 0)
			orders = add_order(root, rel, orders, order_of_parts(root, rel, wrel, quals, true, reversed), reversed, merged);
		orders = add_order(root, rel, orders, order_of_raw_key(root, rel, wrel, reversed), reversed, false);
		orders = add_order(root, rel, orders, order_of_cells(root, rel, wrel, reversed), reversed, false);
	}
	return orders;
}
