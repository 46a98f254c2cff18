/*
 * fdw/scan/rowlock.h: rows of a foreign table, locked for the statement that reads them.
 *
 * Three callers lock: a scan, for the UPDATE or DELETE of this one table above it
 * (wc_scan_lock_*); PostgreSQL's LockRows node, for SELECT FOR UPDATE and its like
 * (widecolRefetchForeignRow); and a modification whose table is joined with others
 * (write/modify.c).  All of them lock the row, and when it has changed since the
 * statement's snapshot go on with its newest state, or with none.  Under REPEATABLE READ
 * and above that is the error 40001.
 */
#ifndef WC_FDW_SCAN_ROWLOCK_H
#define WC_FDW_SCAN_ROWLOCK_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/lockoptions.h"

#include "fdw/scan/rowid.h"

typedef enum WcLockOutcome
{
	WC_ROW_SAME,				/* locked, as the snapshot shows it */
	WC_ROW_CHANGED,				/* locked; its newest state has been read */
	WC_ROW_GONE,				/* locked; it is not there any more */
	WC_ROW_SKIPPED				/* another transaction has it: not locked; or a later command has changed it */
} WcLockOutcome;

/* What rows of one table are locked with, in one statement. */
typedef struct WcRowLocker
{
	WcRelation *wrel;
	WcRowLockMode mode;
	LockWaitPolicy wait_policy;
	CommandId	cid;			/* own writes of commands before it are seen */
	bool		skips_rewritten;	/* rows that other own commands have written are passed over */
	WcReader   *reader;			/* NULL: not made yet */
	MemoryContext context;		/* of the statement */
} WcRowLocker;

/* wrel must live as long as the locker. */
extern void wc_rowlocker_init(WcRowLocker *locker, WcRelation *wrel, WcRowLockMode mode, LockWaitPolicy wait_policy,
							  CommandId cid, MemoryContext context);

/* Locks the row; if it has changed since the snapshot, reads it into values and isnull,
 * palloc'd in CurrentMemoryContext. */
extern WcLockOutcome wc_rowlocker_lock(WcRowLocker *locker, WcClientSnapshot *snapshot, const WcRowId *id,
									   Datum *values, bool *isnull);

/* The same for a row that wc_client_lock_rows has locked already. */
extern WcLockOutcome wc_rowlocker_look(WcRowLocker *locker, const WcRowLock *lock, const WcRowId *id,
									   Datum *values, bool *isnull);

/* --- a scan that locks what it gives ------------------------------------------- */

typedef struct WcScanLock WcScanLock;

/* NULL while a plan is rechecked (EvalPlanQual), which locks nothing. */
extern WcScanLock *wc_scan_lock_create(ForeignScanState *node, WcRelation *wrel, WcRowLockMode mode);

/* Does a scan of this statement lock the rows of this range table entry? */
extern bool wc_scan_locks(const EState *estate, Index rti);

/*
 * Locks the row in the slot, which reader and scan gave last and which satisfies all
 * conditions that the scan decides.  False: it is not there any more, or does not satisfy
 * them in its newest state, which else is stored in the slot.  sure: this holds for each
 * row that the scan brings, so those that have come already may be locked with it.
 */
extern bool wc_scan_lock_row(WcScanLock *lock, ForeignScanState *node, bool sure, const WcReader *reader,
							 WcClientScan *scan, WcClientSnapshot *snapshot, TupleTableSlot *slot);

/* The scan has been closed: what was locked ahead of it is not met again. */
extern void wc_scan_lock_restart(WcScanLock *lock);

/* Are all rows that the scan gives locked, whatever they hold?  Then a Get may be opened by
 * wc_client_scan_take; wc_scan_lock_taken: it was, so that its row needs no lock any more. */
extern bool wc_scan_lock_may_take(const WcScanLock *lock);
extern void wc_scan_lock_taken(WcScanLock *lock);

/* --- a scan below a LockRows node ------------------------------------------------ */

typedef struct WcScanMark WcScanMark;

/* NULL when the statement does not lock the rows of this scan's table. */
extern WcScanMark *wc_scan_mark_create(ForeignScanState *node, WcRelation *wrel);

/* Gives the row in the slot a ctid by which LockRows finds it again. */
/* May the scan lock the row of a Get itself, in this mode (wc_client_scan_take)?  It has: then it is not locked
 * again. */
extern bool wc_scan_mark_may_take(const WcScanMark *mark, WcRowLockMode *mode);
extern void wc_scan_mark_taken(WcScanMark *mark, WcSlice row);
extern void wc_scan_mark_row(WcScanMark *mark, const WcReader *reader, WcClientSnapshot *snapshot,
							 TupleTableSlot *slot);
extern void wc_scan_mark_close(WcScanMark *mark);

#endif
