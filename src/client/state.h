/*
 * client/state.h: functions that the files of client/ itself share.
 * No other folder includes it.
 */
#ifndef WC_CLIENT_STATE_H
#define WC_CLIENT_STATE_H

#include "client/catalog/catalog.h"

/* scanner.c: opens a Get at the newest state that locks its row first, as the driver's scan_take
 * does; NULL: another transaction has locked the row. */
extern WcClientScan *wc_scan_take(const WcScan *scan, const WcDriverLocker *locker, CommandId cid, MemoryContext context,
								  WcTakeResult *result);

/* rowlock.c: locks rows that changes are about to be sent of, waiting for other transactions. */
extern void wc_lock_changed_rows(uint32 lock_id, const WcSlice *rows, int nrows);

#endif
