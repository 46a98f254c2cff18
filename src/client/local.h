/*
 * client/local.h: what local.c, localscan.c and localask.c, which are the driver of the
 * embedded engine, tell each other.  Nobody else includes it.
 */
#ifndef WC_CLIENT_LOCAL_H
#define WC_CLIENT_LOCAL_H

#include "client/connection.h"
#include "client/driver.h"

/* --- local.c ---------------------------------------------------------------*/

/* Sends what was noted to be sent later.  Returns the connection's buffer for the next
 * message's payload, emptied. */
extern WcBuf *wc_local_begin(void);

/* The transaction has asked for ids of tables that it makes. */
extern void wc_local_note_ids(void);

/* What the transaction has in the engine. */
typedef struct WcLocalTransaction
{
	bool		in_use;			/* anything */
	bool		has_locks;		/* row locks among it */
	bool		has_batch;		/* operations */
	bool		has_ids;		/* ids of tables that are not made yet */
} WcLocalTransaction;

extern WcLocalTransaction wc_local_txn;

/* Sends what was noted to be sent later; lazily: as much as there is room for, never failing. */
extern void wc_local_send_deferred(bool lazily);

/* Room to note that a scan's number is to be closed, and the note, which never fails. */
extern void wc_local_reserve_close(uint32 number);
extern void wc_local_defer_close(uint32 number);

/* The engine may hold this snapshot: it is released later. */
extern void wc_local_note_snapshot(uint64 number);

/* An array in TopMemoryContext with room for `need` elements; *cap: how many it has room for. */
extern void *wc_local_grow(void *array, int *cap, int need, size_t size);

/* --- localask.c ------------------------------------------------------------*/

/* The frame that answers request id, whatever it is; valid until the next message. */
extern WcFrameReader *wc_local_await(uint64 id);

/* The payload of an answer, valid as long; an answer that is an error is raised. */
extern WcSlice wc_local_payload(WcFrameReader *frame);

/* Sends what is in the connection's message buffer, and waits for the answer's payload. */
extern WcSlice wc_local_ask(uint8 type, WcSend how);

/* --- localscan.c -----------------------------------------------------------*/

/* Takes in an answer that was not waited for just now: it is some scan's, or nobody's. */
extern void wc_local_stray(WcFrameReader *frame);

/* When nobody wants any of the answers that the engine still owes, it need not work
 * for them. */
extern void wc_local_cancel_unwanted(void);

/* The engine has none of the open scans any more. */
extern void wc_local_forget_scans(void);

/* A few rows by their keys, or a few that it need not look for? */
extern bool wc_local_is_brief(const WcDriverOpen *open);

extern void wc_local_set_stats(WcClientScanStats *stats, const WcScanReport *report);

/* --- functions of the driver (client/driver.h) -----------------------------*/

extern bool wc_local_snapshot_enter(uint64 number, bool wait);

extern void wc_local_scan_open(WcDriverScan *scan, const WcDriverOpen *open);
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
