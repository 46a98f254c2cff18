/*
 * fdw/scan/grouped.h: scans that give groups of rows (fdw/plan/aggregate.h).
 *
 * What the engine says of a group, and a single row that it could not put into one, become a
 * tuple: the table's columns, of which only those of the groups are set, and behind them the
 * aggregates' transition states.
 */
#ifndef WC_FDW_SCAN_GROUPED_H
#define WC_FDW_SCAN_GROUPED_H

#include "postgres.h"

#include "client/client.h"
#include "fdw/plan/private.h"
#include "fdw/scan/reader.h"

typedef struct WcGrouped WcGrouped;

/* In CurrentMemoryContext; NULL: the plan has no groups.  wrel and plan must live as long; scratch
 * is emptied. */
extern WcGrouped *wc_grouped_create(WcRelation *wrel, const WcScanPlan *plan, WcBuf *scratch);

/* What the engine is to do with the rows of this reader's Scan; palloc'd. */
extern const WcAggregation *wc_grouped_describe(const WcGrouped *grouped, const WcReader *reader);

/*
 * The next tuple of a scan that was described so: false at the end.  Values are palloc'd in
 * CurrentMemoryContext.  aggregated: the engine was told to make groups; else every row is one.
 * A row that the reader's gate hides has no states.
 */
extern bool wc_grouped_next(WcGrouped *grouped, WcReader *reader, WcClientScan *scan, bool aggregated,
							Datum *values, bool *isnull);

#endif
