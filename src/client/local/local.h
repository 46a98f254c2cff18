/*
 * client/local/local.h: functions that local.c, localscan.c and localask.c, the driver of the embedded
 * engine, share.  No other file includes it.
 */
#ifndef WC_CLIENT_LOCAL_LOCAL_H
#define WC_CLIENT_LOCAL_LOCAL_H

#include "client/local/connection.h"
#include "client/driver.h"

/* --- local.c ---------------------------------------------------------------*/

/* Sends the deferred messages.  Returns the connection's buffer, emptied, for the next
 * message's payload. */
extern WcBuf *wc_local_begin(void);

/* Notes that the transaction has requested ids of tables that it makes. */
extern void wc_local_note_ids(void);

/* The transaction's state in the engine. */
typedef struct WcLocalTransaction
{
	bool		in_use;			/* the transaction has any state in the engine */
	bool		has_locks;		/* row locks */
	bool		has_batch;		/* operations */
	bool		has_ids;		/* ids of tables that are not made yet */
} WcLocalTransaction;

extern WcLocalTransaction wc_local_txn;

/* Sends the deferred messages; lazily: only as many as the request ring has room for, and never fails. */
extern void wc_local_send_deferred(bool lazily);

/* wc_local_defer_close defers the CLOSE message of a scan, and never fails: wc_local_reserve_close has
 * reserved the memory for the scan's number before. */
extern void wc_local_reserve_close(uint32 number);
extern void wc_local_defer_close(uint32 number);

/* Notes that the engine may hold this snapshot, so that it is released later. */
extern void wc_local_note_snapshot(uint64 number);

/* Enlarges an array in TopMemoryContext to at least `need` elements; *cap: its capacity. */
extern void *wc_local_grow(void *array, int *cap, int need, size_t size);

/* --- localask.c ------------------------------------------------------------*/

/* Waits for the frame that answers request id, of whatever type; valid until the next message. */
extern WcFrameReader *wc_local_await(uint64 id);

/* The payload of an answer, valid until the next message; raises an answer that is an error. */
extern WcSlice wc_local_payload(WcFrameReader *frame);

/* Sends the message in the connection's buffer, and waits for the answer's payload. */
extern WcSlice wc_local_ask(uint8 type, WcSend how);

/* --- localscan.c -----------------------------------------------------------*/

/* Receives an answer that the caller did not wait for: it belongs to a scan, or to a closed scan and is dropped. */
extern void wc_local_stray(WcFrameReader *frame);

/* Cancels the requests of closed scans, if no open scan waits for an answer. */
extern void wc_local_cancel_unwanted(void);

/* Forgets all open scans: the engine has no state of them any more. */
extern void wc_local_forget_scans(void);

/* Does the scan read a few rows by their keys, or a few rows that it need not search for? */
extern bool wc_local_is_brief(const WcDriverOpen *open);

extern void wc_local_set_stats(WcClientScanStats *stats, const WcScanReport *report);

/* --- functions of the driver (client/driver.h) -----------------------------*/

extern bool wc_local_snapshot_enter(uint64 number, bool wait);

extern void wc_local_scan_open(WcDriverScan *scan, const WcDriverOpen *open);
extern bool wc_local_is_quiet(const WcDriverOpen *open);
extern bool wc_local_claim(const WcDriverOpen *open, const WcDriverLocker *locker, WcDriverClaim *claim);
extern bool wc_local_claim_same(uint64 snapshot, uint32 table_id, WcSlice row, const WcDriverLocker *locker, uint64 *holder);
extern bool wc_local_scan_take(WcDriverScan *scan, const WcDriverOpen *open, const WcDriverLocker *locker,
							   WcTakeResult *result);
extern bool wc_local_scan_next(WcDriverScan *scan);
extern uint32 wc_local_scans_open(void);
extern void wc_local_scan_stats(WcDriverScan *scan);
extern void wc_local_scan_close(WcDriverScan *scan);

extern bool wc_local_describe(Oid server, WcSlice ns, WcSlice name, WcSlice *desc);
extern void wc_local_list_tables(Oid server, bool all_databases, WcSlice *list);
extern void wc_local_list_namespaces(Oid server, WcSlice *list);
extern uint32 wc_local_new_table_id(void);
extern void wc_local_work(WcClientWork work, uint32 table_id, uint32 family, bool wait, CommandId cid,
						  int64 clock_offset_us);
extern void wc_local_check_store(uint32 table_id, WcSlice *problems);
extern void wc_local_compacting(uint32 table_id, bool *minor, bool *major);
extern void wc_local_estimate(uint32 table_id, const WcRange *range, const uint32 *families, uint32 nfamilies,
							  uint64 *bytes, uint64 *rows);
extern void wc_local_split(uint32 table_id, const WcRange *range, const uint32 *families, uint32 nfamilies,
						   uint32 nparts, WcSlice *points);
extern void wc_local_sample(uint32 table_id, const WcRange *range, uint32 nranges, uint64 range_rows, uint64 seed,
							WcSlice *ranges);
extern void wc_local_statistics(uint8 view, WcSlice *rows);

#endif
