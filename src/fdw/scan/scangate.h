/*
 * fdw/scan/scangate.h: conditions that hide rows, evaluated before other columns are decoded.
 */
#ifndef WC_FDW_SCAN_SCANGATE_H
#define WC_FDW_SCAN_SCANGATE_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "fdw/plan/private.h"
#include "fdw/scan/reader.h"

typedef struct WcScanGate WcScanGate;

/*
 * Of the scan's clauses those that hide rows (WcScanPlan.nbarriers); NULL: none does.  The gate
 * evaluates those that are local, and takes them out of the node's qual where nothing is locked
 * or changed.  Call when the node is
 * initialised; lives in CurrentMemoryContext.
 */
extern WcScanGate *wc_scangate_create(ForeignScanState *node, const WcScanPlan *plan);

/* The same for a reader; recheck: clauses that the engine should have decided must be evaluated
 * on every row.  gate may be NULL. */
extern const WcGate *wc_scangate_for(WcScanGate *gate, bool recheck);

#endif
