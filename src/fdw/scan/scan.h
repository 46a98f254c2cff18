/*
 * fdw/scan/scan.h: what EXPLAIN, direct modifications and async.c want of a scan.
 */
#ifndef WC_FDW_SCAN_SCAN_H
#define WC_FDW_SCAN_SCAN_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#include "client/client.h"
#include "fdw/condition/bound.h"
#include "fdw/scan/parallel.h"

/* What the table's columns are called in the plan's expressions: its relation, or, where groups
 * of rows are given, the scan's tuple, in which they have the same places. */
extern Index wc_scan_varno(const ForeignScan *plan);

/* Sums over all (re)scans so far; false when the scan has never been started.
 * May cost a round trip.  Kept only under EXPLAIN ANALYZE. */
extern bool wc_scan_state_stats(ForeignScanState *node, WcClientScanStats *stats);

/*
 * For a direct modification, whose node has a scan's state and no scan: what would
 * be asked of the engine (but for limits; it lives as long as the node).
 * False: nothing.  recheck: the answer has more rows than are meant.
 */
extern bool wc_scan_state_describe(ForeignScanState *node, WcScan *scan, bool *recheck);

/* Its snapshot, which is taken now, if it has not been. */
extern WcClientSnapshot *wc_scan_state_snapshot(ForeignScanState *node);

/* Has it none, and is the scan a Get: so that it may read the newest state of a row that it locks? */
extern bool wc_scan_state_needs_no_snapshot(ForeignScanState *node, const WcScan *scan);

/* Adds what such a modification has read. */
extern void wc_scan_state_count(ForeignScanState *node, const WcClientScanStats *stats);

/* --- for parallel.c ------------------------------------------------------------ */

/* The ranges by the values that conditions have now, which live as long as the scan's own; NULL: there
 * is nothing to read. */
extern const WcBounds *wc_scan_state_bounds(ForeignScanState *node, const WcRelation **wrel);

/* From now on the scan reads parts of its ranges, until wc_scan_state_unshare, which returns what
 * was shared (NULL: nothing). */
extern void wc_scan_state_share(ForeignScanState *node, WcSharedScan *shared);
extern WcSharedScan *wc_scan_state_unshare(ForeignScanState *node);

/* In a worker that reads no more of it: ends it, and counts what it has read. */
extern void wc_scan_state_publish(ForeignScanState *node);

extern void wc_scan_stats_add(WcClientScanStats *sum, const WcClientScanStats *more);

/*
 * Opens the Scan before its first row is wanted, unless so many are open already
 * that this has to wait.  True: nobody has asked for that since the last rescan.
 */
extern bool wc_scan_state_open_ahead(ForeignScanState *node);

#endif
