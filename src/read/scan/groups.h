/*
 * read/scan/groups.h: rows in groups, and what a Scan's aggregates know of each.
 *
 * The scanner adds rows; when the groups are enough, or there are no more rows, they are
 * written in the place of rows (model/README).  One thread.
 */
#ifndef WC_READ_SCAN_GROUPS_H
#define WC_READ_SCAN_GROUPS_H

#include "model/cellblock.h"
#include "model/scan.h"

typedef struct WcGroups WcGroups;

typedef enum WcGroupsAdded
{
	WC_GROUPS_ADDED,
	WC_GROUPS_UNDECIDED,		/* bytes that an aggregate does not understand: nothing was added */
	WC_GROUPS_FULL				/* the groups have to be written first: nothing was added */
} WcGroupsAdded;

/* For a scan that has an aggregation and has been checked.  It keeps copies of all it needs;
 * *groups is NULL when this fails. */
extern WcStatus wc_groups_create(const WcScan *scan, WcGroups **groups, WcError *err) WC_WARN_UNUSED;
extern void wc_groups_free(WcGroups *groups);	/* NULL is none */

/* The number of groups that have begun and are not written. */
extern uint64_t wc_groups_number(const WcGroups *groups);

/* Are rows only counted, all together?  Then wc_groups_count_row is enough. */
extern bool wc_groups_only_count(const WcGroups *groups);
extern WcStatus wc_groups_count_row(WcGroups *groups, WcSlice row, WcError *err) WC_WARN_UNUSED;

/*
 * Begins a row; adds its cells one by one; adds the row to its group.  Key and values must stay valid until the last
 * call.  After WC_GROUPS_FULL the row is not in a group: the caller calls wc_groups_write and adds the row once more.
 */
extern void wc_groups_start_row(WcGroups *groups, WcSlice row);
extern void wc_groups_cell(WcGroups *groups, uint32_t colno, WcSlice value);
extern WcStatus wc_groups_add(WcGroups *groups, WcGroupsAdded *added, WcError *err) WC_WARN_UNUSED;

/* The same for a row as entries of a cell block.  After WC_GROUPS_FULL the row that must be added once more is a copy. */
extern WcStatus wc_groups_add_entries(WcGroups *groups, WcSlice entries, WcGroupsAdded *added, WcError *err) WC_WARN_UNUSED;

/* Writes all groups, in the order of their first rows, and forgets them; how many there were. */
extern uint64_t wc_groups_write(WcGroups *groups, WcBlockWriter *w);

/* Must groups be written before a row that comes behind them? */
extern bool wc_groups_ordered(const WcGroups *groups);

/* Do the results depend on the order of the rows?  (Sums of floats do, in their last digits.) */
extern bool wc_groups_need_order(const WcGroups *groups);

#endif
