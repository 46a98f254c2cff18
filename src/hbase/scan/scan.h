/*
 * hbase/scan/scan.h: scans of HBase tables, and samples of their rows.
 */
#ifndef WC_HBASE_SCAN_SCAN_H
#define WC_HBASE_SCAN_SCAN_H

#include "hbase/gateway/gateway.h"

/* Those of WcDriver. */
extern void wc_hbase_scan_open(WcDriverScan *scan, const WcDriverOpen *open);
extern bool wc_hbase_scan_next(WcDriverScan *scan);
extern bool wc_hbase_scan_ready(WcDriverScan *scan, WcClientWait *wait);
extern void wc_hbase_scan_stats(WcDriverScan *scan);
extern void wc_hbase_scan_close(WcDriverScan *scan);
extern void wc_hbase_sample(uint32 table_id, const WcRange *range, uint32 nranges, uint64 range_rows, uint64 seed,
							WcSlice *ranges);

/* Ends scans that read the transaction's changes; never fails. */
extern void wc_hbase_scans_forget(void);

/* Does an open scan read these changes, or read rows of tables with such changes? */
extern bool wc_hbase_scans_need(WcTxn *txn);

#endif
