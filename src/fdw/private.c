/*
 * fdw/private.c: a scan's plan as Lists of numbers, and back.
 */
#include "postgres.h"

#include "fdw/private.h"

/* fdw_private: (numbers, attrs, recheck attrs, (condition, condition, ...)) */
enum
{
	NUMBER_REVERSED,
	NUMBER_ROWS_HINT,
	NUMBER_ROW_LIMIT
};

/* A condition: (kind, part, op, exact, type, type, ...). */
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

static List *
encode_cond(const WcKeyCond *cond)
{
	List	   *list = list_make4_int(cond->kind, cond->part, cond->op, cond->exact);
	ListCell   *lc;

	foreach(lc, cond->types)
		list = lappend_int(list, (int) lfirst_oid(lc));
	return list;
}

List *
wc_scan_plan_encode(const WcScanPlan *plan)
{
	List	   *conds = NIL;
	ListCell   *lc;

	foreach(lc, plan->conds)
		conds = lappend(conds, encode_cond(lfirst(lc)));
	return list_make4(list_make3_int(plan->reversed, plan->rows_hint, plan->row_limit),
					  bitmap_to_list(plan->attrs),
					  bitmap_to_list(plan->recheck_attrs),
					  conds);
}

List *
wc_scan_plan_exprs(const WcScanPlan *plan)
{
	List	   *exprs = NIL;
	ListCell   *lc;

	foreach(lc, plan->conds)
		exprs = list_concat(exprs, ((WcKeyCond *) lfirst(lc))->values);
	return exprs;
}

void
wc_scan_plan_decode(List *fdw_private, List *exprs, WcScanPlan *plan)
{
	List	   *numbers = linitial(fdw_private);
	int			next_expr = 0;
	ListCell   *lc;

	plan->reversed = list_nth_int(numbers, NUMBER_REVERSED) != 0;
	plan->rows_hint = list_nth_int(numbers, NUMBER_ROWS_HINT);
	plan->row_limit = list_nth_int(numbers, NUMBER_ROW_LIMIT);
	plan->attrs = list_to_bitmap(lsecond(fdw_private));
	plan->recheck_attrs = list_to_bitmap(lthird(fdw_private));
	plan->conds = NIL;
	foreach(lc, (List *) lfourth(fdw_private))
	{
		List	   *list = lfirst(lc);
		WcKeyCond  *cond = palloc0(sizeof(WcKeyCond));

		cond->kind = (WcCondKind) list_nth_int(list, COND_KIND);
		cond->part = list_nth_int(list, COND_PART);
		cond->op = (WcKeyOp) list_nth_int(list, COND_OP);
		cond->exact = list_nth_int(list, COND_EXACT) != 0;
		for (int i = COND_TYPES; i < list_length(list); i++)
		{
			cond->types = lappend_oid(cond->types, (Oid) list_nth_int(list, i));
			cond->values = lappend(cond->values, list_nth(exprs, next_expr++));
		}
		plan->conds = lappend(plan->conds, cond);
	}
}
