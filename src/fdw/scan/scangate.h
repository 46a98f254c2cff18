/*
 * fdw/scan/scangate.h: conditions that hide rows, evaluated before other columns are decoded.
 */
#ifndef WC_FDW_SCAN_SCANGATE_H
#define WC_FDW_SCAN_SCANGATE_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "fdw/plan/private.h"
#include "fdw/row/reader.h"

typedef struct WcScanGate WcScanGate;

/*
 * Creates the gate of the scan's clauses that hide rows (WcScanPlan.nbarriers); NULL: no such clauses.  The gate
 * evaluates the local ones, and removes them from the node's qual, since they are evaluated once for a row; but not in
 * EvalPlanQual, which supplies rows itself.  Call when the node is initialised; lives in CurrentMemoryContext.
 */
extern WcScanGate *wc_scangate_create(ForeignScanState *node, const WcScanPlan *plan);

/* The node's qual as it was before, for rows that do not come through the gate; NULL: there is none.  gate may be NULL. */
extern ExprState *wc_scangate_whole_qual(const WcScanGate *gate, const ForeignScanState *node);

/* Does the gate run functions that are not PostgreSQL's own?  They may fail, or have effects, so that a row should not go
 * through the gate before it is asked for.  gate may be NULL. */
extern bool wc_scangate_runs_functions(const WcScanGate *gate);

/* The gate for a reader; recheck: clauses that the engine should have decided must be evaluated on each row.  gate
 * may be NULL. */
extern const WcGate *wc_scangate_for(WcScanGate *gate, bool recheck);

#endif
