/*
 * fdw/plan/mapkeys.h: which members of its maps a query needs.
 *
 * A map may have a million members.  Where a query takes nothing but some of them
 * (map -> 'name', map ->> 'name', map['name']) only those are read: the map that
 * the query sees has no others, and no expression in it can tell.
 */
#ifndef WC_FDW_PLAN_MAPKEYS_H
#define WC_FDW_PLAN_MAPKEYS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/relation/relation.h"

/* Members of one map that are named by one query; with more it is read whole. */
#define WC_MAP_KEYS_MAX 64

/* Of one map column. */
typedef struct WcMapKeys
{
	int			att;			/* attnum - 1 */
	List	   *keys;			/* Const or external Param, of type text */
} WcMapKeys;

/* Which members of a map are wanted, when not all are. */
typedef struct WcWantedMembers
{
	int			att;			/* the map's attnum - 1 */
	int			nqualifiers;
	WcSlice    *qualifiers;
} WcWantedMembers;

/* Of those columns of rel that are maps and are in attrs (bits attnum - 1), those
 * that need not be read whole: List of WcMapKeys *. */
extern List *wc_map_keys_find(PlannerInfo *root, RelOptInfo *rel, const WcRelation *wrel, const Bitmapset *attrs);

/* What the keys are, for the reader: List of WcWantedMembers *.  values and nulls are
 * those of all keys, map after map. */
extern List *wc_map_keys_members(const List *maps, const Datum *values, const bool *nulls);

#endif
