/*
 * fdw/relation/systemcolumn.h: system columns, which rows of stored tables do not have.
 */
#ifndef WC_FDW_RELATION_SYSTEMCOLUMN_H
#define WC_FDW_RELATION_SYSTEMCOLUMN_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Raises 0A000 if one of the columns, as pull_varattnos returns them, is a system column other than tableoid.
 * PostgreSQL would show one ctid for all rows, so `ctid IN (SELECT ctid ... LIMIT 10)` would be true of each.
 */
extern void wc_system_columns_refuse(const Bitmapset *columns, Oid relid);

/* The same for the columns that the query uses of the relation.  A row mark may use ctid (fdw/scan/rowlock.h). */
extern void wc_system_columns_check(PlannerInfo *root, const RelOptInfo *rel);

#endif
