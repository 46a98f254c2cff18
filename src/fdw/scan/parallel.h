/*
 * fdw/scan/parallel.h: a scan that the leader and the workers of a query share.
 *
 * The leader parts the ranges before workers start.  Each process takes the next part, in the
 * scan's order, when it has read its last one: so parts need not be equal, and each process gives
 * rows in the scan's order.
 */
#ifndef WC_FDW_SCAN_PARALLEL_H
#define WC_FDW_SCAN_PARALLEL_H

#include "postgres.h"

#include "client/client.h"
#include "fdw/condition/bound.h"

/* In shared memory. */
typedef struct WcSharedScan WcSharedScan;

/* The next part of these ranges, which are the same in all processes, into the Scan; in
 * CurrentMemoryContext and in shared memory.  False: there is none. */
extern bool wc_shared_scan_take(WcSharedScan *shared, const WcBounds *bounds, bool reversed, WcScan *scan);

/* A worker adds what it has read. */
extern void wc_shared_scan_count(WcSharedScan *shared, const WcClientScanStats *stats);

#endif
