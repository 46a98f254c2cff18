/*
 * fdw/scan/scan.h: the functions of a scan for EXPLAIN, direct modifications and async.c.
 */
#ifndef WC_FDW_SCAN_SCAN_H
#define WC_FDW_SCAN_SCAN_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#include "client/client.h"

/* The varno of the table's columns in the plan's expressions: the table's relation, or, in a scan that returns
 * groups of rows or members of maps, the scan's tuple (INDEX_VAR), in which the columns have the same numbers. */
static inline Index
wc_scan_varno(const ForeignScan *plan)
{
	return plan->fdw_scan_tlist != NIL ? INDEX_VAR : plan->scan.scanrelid;
}

/* Sets *stats to the sums over all (re)scans so far; false when the scan has never started.  May cost a round trip.
 * Counted only under EXPLAIN ANALYZE. */
extern bool wc_scan_state_stats(ForeignScanState *node, WcClientScanStats *stats);

/*
 * For a direct modification, whose node has the state of a scan but opens no Scan: describes the Scan (except limits;
 * it lives as long as the node).  False: there is nothing to read.  *recheck: the Scan's rows include unwanted
 * ones.
 */
extern bool wc_scan_state_describe(ForeignScanState *node, WcScan *scan, bool *recheck);

/* Of a direct modification that reads its rows after all, before it reads the first: they are locked as if it were not direct. */
extern void wc_scan_state_lock_rows(ForeignScanState *node);

/* The snapshot of the node; taken now, unless it has been taken before. */
extern WcClientSnapshot *wc_scan_state_snapshot(ForeignScanState *node);

/* Has the node no snapshot yet, and is the scan a Get?  Then it may read the newest state of a row that it locks. */
extern bool wc_scan_state_needs_no_snapshot(ForeignScanState *node, const WcScan *scan);

/* Adds the counters of a direct modification. */
extern void wc_scan_state_count(ForeignScanState *node, const WcClientScanStats *stats);

/*
 * Opens the Scan before its first row is wanted, unless too many Scans are open.  True: the first call since the last
 * rescan.
 */
extern bool wc_scan_state_open_ahead(ForeignScanState *node);

/* wc_client_scan_ready for the node's next row; true also if no Scan is open. */
extern bool wc_scan_state_ready(ForeignScanState *node, WcClientWait *wait);

#endif
