/*
 * fdw/plan/mapkeys.h: the members of its maps that a query needs.
 *
 * A map may have a million members.  If a query uses only some of them (map -> 'name', map ->> 'name', map['name']),
 * only those are read: the map in the query has no other members, and no expression of the query can tell.
 *
 * If the nodes above a scan use such members only as text (map ->> 'name'), each has a place of its own in the scan's
 * tuple, behind the table's columns, and no map is made.
 */
#ifndef WC_FDW_PLAN_MAPKEYS_H
#define WC_FDW_PLAN_MAPKEYS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/condition/member.h"
#include "fdw/condition/qual.h"
#include "fdw/plan/private.h"
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

/*
 * Gives places to members of maps in a scan of rows with these columns (exprs) and quals.  Returns the scan's columns for
 * fdw_scan_tlist: all columns of the table, then the members; NIL: there are none.  Takes maps that are not needed any
 * more out of plan->attrs.
 */
extern List *wc_map_keys_place(PlannerInfo *root, RelOptInfo *rel, const WcRelation *wrel, List *exprs, const WcQuals *quals,
							   WcScanPlan *plan);

/* Is it a path of widecolGetForeignMemberPaths?  Then wc_aggregate_rows returns the path of the relation. */
extern bool wc_map_keys_is_path(const ForeignPath *path);

/* The members that the keys name, for the reader: List of WcWantedMembers *. values and nulls are those of all
 * keys, map after map. */
extern List *wc_map_keys_members(const List *maps, const Datum *values, const bool *nulls);

#endif
