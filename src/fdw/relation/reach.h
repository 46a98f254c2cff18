/*
 * fdw/relation/reach.h: how much of a stored table a foreign table shows.
 *
 * A role without the privileges of the stored table's owner reads and writes only cells that foreign tables map, by SQL and
 * by the functions of shell/ alike; and the owner of a foreign table cannot make it map more.  This file alone defines
 * "more", and which privileges a cell of the stored table needs.
 */
#ifndef WC_FDW_RELATION_REACH_H
#define WC_FDW_RELATION_REACH_H

#include "postgres.h"

#include "utils/acl.h"

#include "fdw/relation/relation.h"
#include "model/scan.h"

/* --- changes of a foreign table ------------------------------------------------ */

/*
 * Does the foreign table, as it is now, show nothing that it did not show before?
 * Neither needs to be resolved.  Rows: of no other record type, and only those
 * that have cells in families that were mapped.  Cells: in places that were mapped, in
 * the same manner.
 */
extern bool wc_reach_is_within(const WcRelation *now, const WcRelation *before);

/* --- places, for functions on foreign tables of layout row ---------------------- */

typedef enum WcReach
{
	WC_REACH_OPEN,
	WC_REACH_DENIED,			/* mapped, but the current user lacks the privilege */
	WC_REACH_UNMAPPED
} WcReach;

/*
 * A cell, for ACL_SELECT (its value is shown), ACL_INSERT or ACL_UPDATE (its value is
 * given), ACL_DELETE (needs no more than that a column shows it).  *column (may be NULL): the
 * column that shows it, unless WC_REACH_UNMAPPED.
 */
extern WcReach wc_reach_cell(const WcRelation *wrel, uint32 family, WcSlice qualifier, AclMode mode,
							 const WcRelColumn **column);

/* The row keys, for ACL_SELECT or ACL_INSERT; never WC_REACH_UNMAPPED. */
extern WcReach wc_reach_keys(const WcRelation *wrel, AclMode mode, const WcRelColumn **column);

/*
 * The columns of a Scan that shows all that is mapped of a family (NULL: of all), as
 * SELECT * does; appended to *columns, of which there are *ncolumns.  WC_REACH_UNMAPPED: nothing
 * of it is.  A map brings places that wc_reach_cell must be asked about.
 */
extern WcReach wc_reach_columns(const WcRelation *wrel, const uint32 *family, WcColumn **columns, uint32 *ncolumns,
								const WcRelColumn **column);

/* Is one of the families that the foreign table maps? */
extern bool wc_reach_family(const WcRelation *wrel, uint32 family);

#endif
