/*
 * fdw/scan/grouped.h: scans that return groups of rows (fdw/plan/aggregate.h).
 *
 * Each group that the engine returns, and each row that the engine could not put into a group, becomes a tuple:
 * the table's columns, of which only the grouping columns are set, then the aggregates' transition states, then members of maps that
 * rows are grouped by.
 */
#ifndef WC_FDW_SCAN_GROUPED_H
#define WC_FDW_SCAN_GROUPED_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#include "client/client.h"
#include "fdw/plan/private.h"
#include "fdw/row/reader.h"

typedef struct WcGrouped WcGrouped;

/* In CurrentMemoryContext; NULL: the plan has no groups.  wrel, plan and node must live as long; scratch
 * is emptied. */
extern WcGrouped *wc_grouped_create(WcRelation *wrel, const WcScanPlan *plan, ForeignScanState *node, WcBuf *scratch);

/* Expressions of the scan's conditions, in which members of maps stand as such also where they have places in the tuple. */
extern List *wc_grouped_spell_out(const ForeignScan *scan, List *exprs);

/* The aggregation that the engine runs on the rows of this reader's Scan; palloc'd. */
extern const WcAggregation *wc_grouped_describe(const WcGrouped *grouped, const WcReader *reader);

/*
 * Reads the next tuple of such a scan; false at the end.  Values are palloc'd in
 * CurrentMemoryContext.  aggregated: the engine makes the groups; else each row is a group.
 * A row that the reader's gate hides has no states.
 */
extern bool wc_grouped_next(WcGrouped *grouped, WcReader *reader, WcClientScan *scan, bool aggregated,
							Datum *values, bool *isnull);

#endif
