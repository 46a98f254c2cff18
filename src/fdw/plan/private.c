/*
 * fdw/plan/private.c: encodes a scan's plan as Lists of numbers, and decodes it.
 */
#include "postgres.h"

#include "fdw/condition/keycond.h"
#include "fdw/plan/mapkeys.h"
#include "fdw/plan/private.h"

/* fdw_private */
enum
{
	PRIVATE_NUMBERS,
	PRIVATE_ATTRS,
	PRIVATE_RECHECK_ATTRS,
	PRIVATE_CONDS,				/* (condition, condition, ...) */
	PRIVATE_CELL_CONDS,			/* the same on cells */
	PRIVATE_WARNING,
	PRIVATE_MAP_KEYS,			/* (map, map, ...), a map: (att, number of keys) */
	PRIVATE_UNTOUCHED,
	PRIVATE_DECIDING,
	PRIVATE_GROUPS,
	PRIVATE_AGGREGATES
};

enum
{
	NUMBER_REVERSED,
	NUMBER_ROWS_HINT,
	NUMBER_ROW_LIMIT,
	NUMBER_MIXED_TYPES,
	NUMBER_MERGED,
	NUMBER_LOOKAHEAD,
	NUMBER_FILTERS,
	NUMBER_LIMIT,				/* 1: there is a LIMIT */
	NUMBER_OFFSET,
	NUMBER_LOCK_MODE,
	NUMBER_BARRIERS,
	NUMBER_DECIDED_BARRIERS,
	NUMBER_ORDERED,
	NUMBER_NEVER,
	NUMBER_GROUPED,
	NUMBER_GROUPS_ORDERED,
	NUMBER_DISTINCT_PARTS,
	NUMBER_ALONE
};

/* A condition: (kind, part, op, exact, type, type, ...); an OR: ((exact), arm, arm, ...),
 * an arm: (condition, condition, ...). */
enum
{
	COND_KIND,
	COND_PART,
	COND_OP,
	COND_EXACT,
	COND_TYPES
};

static List *
bitmap_to_list(const Bitmapset *set)
{
	List	   *list = NIL;
	int			x = -1;

	while ((x = bms_next_member(set, x)) >= 0)
		list = lappend_int(list, x);
	return list;
}

static Bitmapset *
list_to_bitmap(const List *list)
{
	Bitmapset  *set = NULL;
	ListCell   *lc;

	foreach(lc, list)
		set = bms_add_member(set, lfirst_int(lc));
	return set;
}

static List *encode_conds(const List *conds);

static List *
encode_cond(const WcKeyCond *cond)
{
	List	   *list;
	ListCell   *lc;

	if (cond->kind == WC_COND_OR)
	{
		list = list_make1(list_make1_int(cond->exact));
		foreach(lc, cond->arms)
			list = lappend(list, encode_conds(lfirst(lc)));
		return list;
	}
	list = list_make4_int(cond->kind, cond->part, cond->op, cond->exact);
	foreach(lc, cond->types)
		list = lappend_int(list, (int) lfirst_oid(lc));
	return list;
}

static List *
encode_conds(const List *conds)
{
	List	   *list = NIL;
	ListCell   *lc;

	foreach(lc, conds)
		list = lappend(list, encode_cond(lfirst(lc)));
	return list;
}

static List *
encode_map_keys(const List *map_keys)
{
	List	   *maps = NIL;
	ListCell   *lc;

	foreach(lc, map_keys)
	{
		WcMapKeys  *map = lfirst(lc);

		maps = lappend(maps, list_make2_int(map->att, list_length(map->keys)));
	}
	return maps;
}

List *
wc_scan_plan_encode(const WcScanPlan *plan)
{
	List	   *numbers = list_make5_int(plan->reversed, plan->rows_hint, plan->row_limit, plan->mixed_types,
										 plan->merged);
	List	   *list;

	numbers = list_concat(numbers, list_make4_int(plan->lookahead, list_length(plan->filters),
												  plan->limit != NULL, plan->offset != NULL));
	numbers = lappend_int(numbers, plan->lock_mode);
	numbers = list_concat(numbers, list_make4_int(plan->nbarriers, plan->ndecided_barriers, plan->ordered, plan->never));
	numbers = list_concat(numbers, list_make4_int(plan->grouped, plan->groups_ordered, plan->distinct_parts, plan->alone));
	list = list_make5(numbers, bitmap_to_list(plan->attrs), bitmap_to_list(plan->recheck_attrs),
					  encode_conds(plan->conds), encode_conds(plan->cell_conds));
	list = lappend(list, plan->warning);
	list = lappend(list, encode_map_keys(plan->map_keys));
	list = lappend(list, bitmap_to_list(plan->untouched));
	list = lappend(list, bitmap_to_list(plan->deciding));
	list = lappend(list, plan->groups);
	return lappend(list, plan->aggregates);
}

WcAggregatePlan
wc_scan_plan_aggregate(const List *encoded)
{
	WcAggregatePlan aggregate = {
		.kind = (WcAggregateKind) linitial_int(encoded),.att = lsecond_int(encoded),.state = (WcStateKind) lthird_int(encoded)
	};

	return aggregate;
}

List *
wc_scan_plan_exprs(const WcScanPlan *plan)
{
	List	   *exprs = list_concat(wc_key_conds_exprs(plan->conds), wc_key_conds_exprs(plan->cell_conds));
	ListCell   *lc;

	foreach(lc, plan->map_keys)
		exprs = list_concat(exprs, ((WcMapKeys *) lfirst(lc))->keys);
	exprs = list_concat(exprs, plan->filters);
	if (plan->limit != NULL)
		exprs = lappend(exprs, plan->limit);
	if (plan->offset != NULL)
		exprs = lappend(exprs, plan->offset);
	return exprs;
}

static List *
decode_map_keys(List *list, List *exprs, int next)
{
	List	   *maps = NIL;
	ListCell   *lc;

	foreach(lc, list)
	{
		WcMapKeys  *map = palloc0(sizeof(WcMapKeys));

		map->att = linitial_int(lfirst(lc));
		for (int i = 0; i < lsecond_int(lfirst(lc)); i++)
			map->keys = lappend(map->keys, list_nth(exprs, next++));
		maps = lappend(maps, map);
	}
	return maps;
}

/* *next: index of the first of exprs that no condition has taken yet. */
static List *
decode_conds(List *list, List *exprs, int *next)
{
	List	   *conds = NIL;
	ListCell   *lc;

	foreach(lc, list)
	{
		List	   *encoded = lfirst(lc);
		WcKeyCond  *cond = palloc0(sizeof(WcKeyCond));

		if (IsA(encoded, IntList))
		{
			cond->kind = (WcCondKind) list_nth_int(encoded, COND_KIND);
			cond->part = list_nth_int(encoded, COND_PART);
			cond->op = (WcKeyOp) list_nth_int(encoded, COND_OP);
			cond->exact = list_nth_int(encoded, COND_EXACT) != 0;
			for (int i = COND_TYPES; i < list_length(encoded); i++)
			{
				cond->types = lappend_oid(cond->types, (Oid) list_nth_int(encoded, i));
				cond->values = lappend(cond->values, list_nth(exprs, (*next)++));
			}
		}
		else
		{
			cond->kind = WC_COND_OR;
			cond->part = WC_COND_NO_PART;
			cond->exact = linitial_int(linitial(encoded)) != 0;
			for (int i = 1; i < list_length(encoded); i++)
				cond->arms = lappend(cond->arms, decode_conds(list_nth(encoded, i), exprs, next));
		}
		conds = lappend(conds, cond);
	}
	return conds;
}

void
wc_scan_plan_decode(List *fdw_private, List *exprs, WcScanPlan *plan)
{
	List	   *numbers = list_nth(fdw_private, PRIVATE_NUMBERS);
	int			next_expr = 0;
	ListCell   *lc;

	plan->reversed = list_nth_int(numbers, NUMBER_REVERSED) != 0;
	plan->rows_hint = list_nth_int(numbers, NUMBER_ROWS_HINT);
	plan->row_limit = list_nth_int(numbers, NUMBER_ROW_LIMIT);
	plan->mixed_types = list_nth_int(numbers, NUMBER_MIXED_TYPES) != 0;
	plan->lookahead = list_nth_int(numbers, NUMBER_LOOKAHEAD);
	plan->merged = list_nth_int(numbers, NUMBER_MERGED) != 0;
	plan->lock_mode = list_nth_int(numbers, NUMBER_LOCK_MODE);
	plan->ordered = list_nth_int(numbers, NUMBER_ORDERED) != 0;
	plan->never = list_nth_int(numbers, NUMBER_NEVER) != 0;
	plan->grouped = list_nth_int(numbers, NUMBER_GROUPED) != 0;
	plan->groups_ordered = list_nth_int(numbers, NUMBER_GROUPS_ORDERED) != 0;
	plan->distinct_parts = list_nth_int(numbers, NUMBER_DISTINCT_PARTS);
	plan->alone = list_nth_int(numbers, NUMBER_ALONE) != 0;
	plan->groups = list_nth(fdw_private, PRIVATE_GROUPS);
	plan->aggregates = list_nth(fdw_private, PRIVATE_AGGREGATES);
	plan->nbarriers = list_nth_int(numbers, NUMBER_BARRIERS);
	plan->ndecided_barriers = list_nth_int(numbers, NUMBER_DECIDED_BARRIERS);
	plan->attrs = list_to_bitmap(list_nth(fdw_private, PRIVATE_ATTRS));
	plan->recheck_attrs = list_to_bitmap(list_nth(fdw_private, PRIVATE_RECHECK_ATTRS));
	plan->conds = decode_conds(list_nth(fdw_private, PRIVATE_CONDS), exprs, &next_expr);
	plan->cell_conds = decode_conds(list_nth(fdw_private, PRIVATE_CELL_CONDS), exprs, &next_expr);
	plan->warning = list_nth(fdw_private, PRIVATE_WARNING);
	plan->untouched = list_to_bitmap(list_nth(fdw_private, PRIVATE_UNTOUCHED));
	plan->deciding = list_to_bitmap(list_nth(fdw_private, PRIVATE_DECIDING));
	plan->map_values = next_expr;
	plan->map_keys = decode_map_keys(list_nth(fdw_private, PRIVATE_MAP_KEYS), exprs, next_expr);
	foreach(lc, plan->map_keys)
		next_expr += list_length(((WcMapKeys *) lfirst(lc))->keys);
	plan->nvalues = next_expr;
	plan->filters = NIL;
	for (int i = 0; i < list_nth_int(numbers, NUMBER_FILTERS); i++)
		plan->filters = lappend(plan->filters, list_nth(exprs, next_expr++));
	plan->limit = list_nth_int(numbers, NUMBER_LIMIT) ? list_nth(exprs, next_expr++) : NULL;
	plan->offset = list_nth_int(numbers, NUMBER_OFFSET) ? list_nth(exprs, next_expr++) : NULL;
}
