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

/* A Get, at the newest state, of a row that the transaction has locked and perhaps written, of which it knows the answer (txn/own.c);
 * NULL: it does not.  And: the answer of a scan that has locked its row, which the transaction has not written, is to be known. */
extern WcClientScan *wc_scan_own(const WcScan *scan, CommandId cid, MemoryContext context);
extern void wc_scan_note_own(WcClientScan *scan, const WcTableDesc *table, const WcScan *get);

/* The same without a round trip, of a row that the transaction has not written; result->taken: the row exists and is locked.  NULL:
 * if there is no result->holder, the engine must be asked; *keep: it should keep the answer. */
extern WcClientScan *wc_scan_claim(const WcTableDesc *table, const WcScan *scan, const WcDriverLocker *locker, CommandId cid,
								   MemoryContext context, bool *keep, WcTakeResult *result);

/* rowlock.c: locks rows that changes are about to be sent of, waiting for other transactions. */
extern void wc_lock_changed_rows(uint32 lock_id, const WcSlice *rows, int nrows);

#endif
