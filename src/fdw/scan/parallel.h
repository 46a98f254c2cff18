/*
 * fdw/scan/parallel.h: a scan that the leader and the workers of a query share.
 *
 * The process that begins first divides the ranges into parts.  Each process takes the next part, in the scan's
 * order, after it has read a part.  So parts need not be equal, and each process returns rows in the scan's order.
 */
#ifndef WC_FDW_SCAN_PARALLEL_H
#define WC_FDW_SCAN_PARALLEL_H

#include "postgres.h"

#include "client/client.h"
#include "fdw/condition/bound.h"

/* In shared memory. */
typedef struct WcSharedScan WcSharedScan;

extern Size wc_shared_scan_size(void);
extern void wc_shared_scan_init(WcSharedScan *shared, int processes);

/* Before a rescan: the ranges may be others.  No worker runs. */
extern void wc_shared_scan_restart(WcSharedScan *shared);

/* Sets the Scan's ranges to the next part of these ranges, which are the same in all processes.  The Scan points
 * into CurrentMemoryContext and shared memory.  False: no more parts. */
extern bool wc_shared_scan_take(WcSharedScan *shared, const WcRelation *wrel, const WcBounds *bounds, bool reversed,
								WcScan *scan);

/* Is this the first call in all processes? */
extern bool wc_shared_scan_first(WcSharedScan *shared);

/* A worker adds its counters. */
extern void wc_shared_scan_count(WcSharedScan *shared, const WcClientScanStats *stats);

/* The sums of these, when the workers have ended; NULL: no process has begun. */
extern const WcClientScanStats *wc_shared_scan_stats(const WcSharedScan *shared);

#endif
