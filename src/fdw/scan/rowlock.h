/*
 * fdw/scan/rowlock.h: locks rows of a foreign table for the statement that reads them.
 *
 * Three callers lock: a scan, for the UPDATE or DELETE of this one table above it
 * (wc_scan_lock_*); PostgreSQL's LockRows node, for SELECT FOR UPDATE and its like
 * (widecolRefetchForeignRow); and a modification whose table is joined with others
 * (write/relock.c, write/later.c).  Each caller locks the row; if the row has changed since the
 * statement's snapshot, the caller continues with the newest state, or without the row if it is gone.  Under
 * REPEATABLE READ and above such a change is error 40001.
 */
#ifndef WC_FDW_SCAN_ROWLOCK_H
#define WC_FDW_SCAN_ROWLOCK_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/lockoptions.h"

#include "fdw/row/rowid.h"

typedef enum WcLockOutcome
{
	WC_ROW_SAME,				/* locked; unchanged since the snapshot */
	WC_ROW_CHANGED,				/* locked; its newest state has been read */
	WC_ROW_GONE,				/* locked; the row does not exist any more */
	WC_ROW_SKIPPED				/* not locked, because of another transaction; or changed by a later command */
} WcLockOutcome;

/* The parameters of the row locks on one table in one statement. */
typedef struct WcRowLocker
{
	WcRelation *wrel;
	WcRowLockMode mode;
	LockWaitPolicy wait_policy;
	CommandId	cid;			/* own writes of earlier commands are visible */
	bool		skips_rewritten;	/* rows that later own commands have written are skipped */
	WcReader   *reader;			/* NULL: not made yet */
	MemoryContext context;		/* of the statement */
} WcRowLocker;

/* wrel must live as long as the locker. */
extern void wc_rowlocker_init(WcRowLocker *locker, WcRelation *wrel, WcRowLockMode mode, LockWaitPolicy wait_policy,
							  CommandId cid, MemoryContext context);

/* Locks the row; if the row has changed since the snapshot, reads its newest state into values and isnull, palloc'd
 * in CurrentMemoryContext. */
extern WcLockOutcome wc_rowlocker_lock(WcRowLocker *locker, WcClientSnapshot *snapshot, const WcRowId *id,
									   Datum *values, bool *isnull);

/* The same in two steps, for many rows: locks them, with one request if no other transaction has locked one; then looks at each. */
extern void wc_rowlocker_lock_rows(WcRowLocker *locker, WcClientSnapshot *snapshot, WcRowLock *locks, int n);
extern WcLockOutcome wc_rowlocker_look(WcRowLocker *locker, const WcRowLock *lock, const WcRowId *id, Datum *values, bool *isnull);

/* --- a scan that locks the rows it returns -------------------------------------- */

typedef struct WcScanLock WcScanLock;

/*
 * NULL in EvalPlanQual, which locks nothing.  Else the scan tests the node's conditions itself, and the executor does not.  whole: these,
 * and those that the scan's gate evaluates (scangate.h).
 */
extern WcScanLock *wc_scan_lock_create(ForeignScanState *node, WcRelation *wrel, WcRowLockMode mode, ExprState *whole);

/* Does a scan of this statement lock the rows of this range table entry? */
extern bool wc_scan_locks(const EState *estate, Index rti);

/*
 * Tests the node's conditions, and locks the row in the slot: the last row of reader and scan, which satisfies all
 * conditions that the engine decides.  True: the slot has the newest state of the row.  False: the row does not satisfy
 * the conditions, or does not exist any more, or its newest state does not satisfy them.  sure: each row of the scan
 * satisfies the engine's conditions, so rows that have already arrived may be locked together with this row.
 */
extern bool wc_scan_lock_row(WcScanLock *lock, ForeignScanState *node, bool sure, const WcReader *reader,
							 WcClientScan *scan, WcClientSnapshot *snapshot, TupleTableSlot *slot);

/* Must be called when the scan has been closed: forgets the locks of rows that the scan had not yet returned. */
extern void wc_scan_lock_restart(WcScanLock *lock);

/* Are all rows of the scan locked, whatever their content?  Then wc_client_scan_take may open a Get.
 * wc_scan_lock_taken: it has, so the row needs no further lock. */
extern bool wc_scan_lock_may_take(const WcScanLock *lock);
extern void wc_scan_lock_taken(WcScanLock *lock);

/* --- a scan below a LockRows node ------------------------------------------------ */

typedef struct WcScanMark WcScanMark;

/* NULL when the statement does not lock the rows of this scan's table. */
extern WcScanMark *wc_scan_mark_create(ForeignScanState *node, WcRelation *wrel);

/* May the scan lock the row of a Get itself, in this mode (wc_client_scan_take)?  wc_scan_mark_taken: it has, so
 * LockRows does not lock the row again. */
extern bool wc_scan_mark_may_take(const WcScanMark *mark, WcRowLockMode *mode);
extern void wc_scan_mark_taken(WcScanMark *mark, WcSlice row);

/* Sets the ctid of the row in the slot, by which LockRows finds the row. */
extern void wc_scan_mark_row(WcScanMark *mark, const WcReader *reader, WcClientSnapshot *snapshot,
							 TupleTableSlot *slot);
extern void wc_scan_mark_close(WcScanMark *mark);

#endif
