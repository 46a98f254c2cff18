/*
 * fdw/scan.h: what EXPLAIN wants to know of a scan that runs.
 */
#ifndef WC_FDW_SCAN_H
#define WC_FDW_SCAN_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "client/client.h"

/* Sums over all (re)scans so far; false when the scan has never been started.
 * May cost a round trip.  Kept only under EXPLAIN ANALYZE. */
extern bool wc_scan_state_stats(ForeignScanState *node, WcClientScanStats *stats);

#endif
