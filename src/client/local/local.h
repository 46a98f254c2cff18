/*
 * client/local/local.h: functions that the files local*.c, the driver of the embedded engine,
 * share.  No other file includes it.
 */
#ifndef WC_CLIENT_LOCAL_LOCAL_H
#define WC_CLIENT_LOCAL_LOCAL_H

#include "client/local/connection.h"
#include "client/driver.h"

/* --- localopen.c: the open scans --------------------------------------------*/

/* Gives the scan a number and buffers, and makes it one of the open scans. */
extern void wc_local_enter_scan(WcDriverScan *scan);

/* The backend wants no more of an open scan: notes that its CLOSE is to be sent, and that an answer on its way is unwanted.
 * Never fails. */
extern void wc_local_leave_scan(WcDriverScan *scan);

/* The scan is not open any more, if it was, and has no buffers and no answer. */
extern void wc_local_drop_scan(WcDriverScan *scan);

/* The next scan whose CLOSE is to be sent; false: none.  wc_local_close_sent: it has been sent. */
extern bool wc_local_next_close(uint32 *number);
extern void wc_local_close_sent(void);

extern uint32 wc_local_scans_open(void);

/* Forgets all open scans: the engine has no state of them any more. */
extern void wc_local_forget_scans(void);

/* Keeps an answer for the scan until the scan's next block is read. */
extern void wc_local_stash(WcDriverScan *scan, WcFrameReader *frame);

/* Receives an answer that the caller did not wait for: it belongs to a scan, or to a closed scan and is dropped. */
extern void wc_local_stray(WcFrameReader *frame);

/* Cancels the requests of closed scans, if no open scan waits for an answer. */
extern void wc_local_cancel_unwanted(void);

/* An empty buffer, from those that were given back. */
extern WcBuf wc_local_take_buffer(void);
extern void wc_local_give_buffer(WcBuf *buf);

extern void wc_local_set_stats(WcClientScanStats *stats, const WcScanReport *report);

/* Enlarges an array in TopMemoryContext to at least `need` elements; *cap: its capacity. */
extern void *wc_local_grow(void *array, int *cap, int need, size_t size);

/* --- localmessage.c: messages, and snapshots that the engine holds ----------*/

/* The transaction's state in the engine. */
typedef struct WcLocalTransaction
{
	bool		in_use;			/* the transaction has any state in the engine */
	bool		has_locks;		/* row locks */
	bool		has_batch;		/* operations */
	bool		has_ids;		/* ids of tables that are not made yet */
	bool		must_check;		/* a row that the engine has got of wc_local_move_claims is of a table with large rows */
} WcLocalTransaction;

extern WcLocalTransaction wc_local_txn;

/* Sends the deferred messages; lazily: only as many as the request ring has room for, and never fails. */
extern void wc_local_send_deferred(bool lazily);

/* Sends the deferred messages.  Returns the connection's buffer, emptied, for the next
 * message's payload. */
extern WcBuf *wc_local_begin(void);

/* Sends HANDED, behind a deferred UNLOCK, if the request ring has room for both. */
extern bool wc_local_send_handed(uint64 xid);

/* Forgets snapshots and deferred messages: the engine has no state of them any more. */
extern void wc_local_forget_messages(void);

/* Waits for the frame that answers request id, of whatever type; valid until the next message. */
extern WcFrameReader *wc_local_await(uint64 id);

/* The payload of an answer, valid until the next message; raises an answer that is an error. */
extern WcSlice wc_local_payload(WcFrameReader *frame);

/* Sends the message in the connection's buffer, and waits for the answer's payload. */
extern WcSlice wc_local_ask(uint8 type, WcSend how);

/* Notes that the engine may hold this snapshot, so that it is released later. */
extern void wc_local_note_snapshot(uint64 number);

/* May the engine hold this snapshot?  How many may it hold? */
extern bool wc_local_knows_snapshot(uint64 number);
extern uint32 wc_local_snapshots(void);

/* --- locallock.c -----------------------------------------------------------*/

/*
 * Lets the engine lock the rows that statements have locked in shared memory, where they are unlocked then.  False: some are not
 * moved, since *holder has locked one; all stay locked where they are.  Waits for the engine, interruptibly.
 */
extern bool wc_local_move_claims(uint64 xid, uint64 *holder);

/* --- localscan.c -----------------------------------------------------------*/

/* Does the scan read a few rows by their keys, or a few rows that it need not search for? */
extern bool wc_local_is_brief(const WcDriverOpen *open);

/* --- functions of the driver (client/driver.h) -----------------------------*/

extern bool wc_local_ready(void);
extern bool wc_local_snapshot_enter(uint64 number, bool wait);
extern void wc_local_snapshot_take(uint64 number);
extern void wc_local_snapshot_release(uint64 number);
extern void wc_local_unlock(SubTransactionId subid);

extern void wc_local_scan_open(WcDriverScan *scan, const WcDriverOpen *open);
extern bool wc_local_is_quiet(const WcDriverOpen *open, WcExtent *written);
extern void wc_local_lock_rows(WcLockMessage *m, WcLockResult *result);
extern bool wc_local_claim(const WcDriverOpen *open, const WcDriverLocker *locker, WcDriverClaim *claim);
extern bool wc_local_find_unapplied(const WcDriverOpen *open, WcDriverClaim *claim);
extern bool wc_local_claim_same(uint64 snapshot, uint32 table_id, WcSlice row, const WcDriverLocker *locker, uint64 *holder);
extern bool wc_local_is_timely(uint32 table_id, WcSlice row);
extern void wc_local_leave_row(uint64 xid, uint32 table_id, WcSlice row, uint32 follows, WcSlice get, WcSlice answer);
extern bool wc_local_scan_take(WcDriverScan *scan, const WcDriverOpen *open, const WcDriverLocker *locker,
							   WcTakeResult *result);
extern bool wc_local_scan_next(WcDriverScan *scan);
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
