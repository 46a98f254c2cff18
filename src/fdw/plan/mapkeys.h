/*
 * fdw/plan/mapkeys.h: the members of its maps that a query needs.
 *
 * A map may have a million members.  If a query uses only some of them (map -> 'name', map ->> 'name', map['name']),
 * only those are read: the map in the query has no other members, and no expression of the query can tell.
 */
#ifndef WC_FDW_PLAN_MAPKEYS_H
#define WC_FDW_PLAN_MAPKEYS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/relation/relation.h"

/* The most members of one map that a query may name; with more, the map is read whole. */
#define WC_MAP_KEYS_MAX 64

/* The members that a query needs of one map column. */
typedef struct WcMapKeys
{
	int			att;			/* attnum - 1 */
	List	   *keys;			/* Const or external Param, of type text */
} WcMapKeys;

/* The wanted members of one map, if not all are wanted. */
typedef struct WcWantedMembers
{
	int			att;			/* the map's attnum - 1 */
	int			nqualifiers;
	WcSlice    *qualifiers;
} WcWantedMembers;

/* The map columns of rel that are in attrs (bits attnum - 1) and need not be read whole: List of WcMapKeys *. */
extern List *wc_map_keys_find(PlannerInfo *root, RelOptInfo *rel, const WcRelation *wrel, const Bitmapset *attrs);

/* The members that the keys name, for the reader: List of WcWantedMembers *. values and nulls are those of all
 * keys, map after map. */
extern List *wc_map_keys_members(const List *maps, const Datum *values, const bool *nulls);

#endif
