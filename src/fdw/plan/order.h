/*
 * fdw/plan/order.h: the orders in which a scan can return rows.
 */
#ifndef WC_FDW_PLAN_ORDER_H
#define WC_FDW_PLAN_ORDER_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/condition/qual.h"
#include "fdw/relation/relation.h"

typedef struct WcOrder
{
	List	   *pathkeys;		/* useful to the query, never NIL */
	bool		reversed;		/* rows come in descending order of row keys */
	bool		merged;			/* rows are merged into the order of the key after the salt */
} WcOrder;

/* The useful orders of a scan with these conditions: List of WcOrder *. */
extern List *wc_order_find(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, const WcQuals *quals);

/* The order by the parts of the key, useful or not, as far as the query names their columns: pathkeys. */
extern List *wc_order_of_key(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, const WcQuals *quals, bool reversed);

#endif
