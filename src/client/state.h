/*
 * client/state.h: functions that the files of client/ itself share.
 * No other folder includes it.
 */
#ifndef WC_CLIENT_STATE_H
#define WC_CLIENT_STATE_H

#include "client/catalog/catalog.h"

/* scanner.c: opens a Get at the newest state that locks its row first, as the driver's scan_take
 * does; NULL: another transaction has locked the row. */
extern WcClientScan *wc_scan_take(const WcScan *scan, const WcDriverLocker *locker, bool keep, CommandId cid,
								  MemoryContext context, WcTakeResult *result);

/* The same without a round trip, of a row that the transaction has not written; result->taken: the row exists and is locked.  NULL:
 * if there is no result->holder, the engine must be asked; *keep: it should keep the answer. */
extern WcClientScan *wc_scan_claim(const WcScan *scan, const WcDriverLocker *locker, MemoryContext context, bool *keep,
								   WcTakeResult *result);

/* rowlock.c: locks rows that changes are about to be sent of, waiting for other transactions. */
extern void wc_lock_changed_rows(uint32 lock_id, const WcSlice *rows, int nrows);

#endif
