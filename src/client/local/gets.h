/*
 * client/local/gets.h: the epochs of the session's snapshots, and Gets and short ranges that shared memory
 * answers at these snapshots (wire/shared/getcache.h, rangecache.h); for the driver of the embedded engine.
 *
 * Up to WC_GETCACHE_PLACES snapshots of a session have an epoch at a time; scans at
 * other snapshots always ask the engine.
 */
#ifndef WC_CLIENT_LOCAL_GETS_H
#define WC_CLIENT_LOCAL_GETS_H

#include "client/driver.h"
#include "wire/shared/getcache.h"
#include "wire/shared/rangecache.h"

/* May the scan's answer, at its snapshot or `quiet`, be read from shared memory, or be kept there?  Asked once for each scan. */
extern bool wc_gets_may_share(const WcDriverOpen *open);

/* The epoch of a snapshot; 0: it has none, so the engine has to take the snapshot. */
extern uint64 wc_gets_epoch(uint64 snapshot);

/* Has the row certainly not changed since the snapshot?  False also if the snapshot has no epoch. */
extern bool wc_gets_is_unchanged(uint64 snapshot, uint32 table_id, WcSlice row);

/* Gives a new snapshot the current epoch.  False: a commit is being applied at this moment, or all places of the
 * session are taken (wc_gets_full). */
extern bool wc_gets_enter(uint64 snapshot);
extern bool wc_gets_full(void);	/* are all places taken? */

/* Lets other processes enter the snapshot's epoch by this mark; no other snapshot of the session keeps the
 * mark.  False: the snapshot has no epoch. */
extern bool wc_gets_mark(uint64 snapshot, uint64 mark);

/* Gives the snapshot the epoch that another process has marked with this mark.  False: the process has no such mark. */
extern bool wc_gets_enter_marked(uint64 snapshot, uint32 process, uint64 mark);

/* Looks for the answer to a Get, or a short range, at a snapshot with an epoch; makes block, which is empty, the answer. */
extern WcGetFound wc_gets_find(const WcDriverOpen *open, WcBuf *block);

/*
 * The same in the newest state, of a row that the transaction has locked, or of a `quiet` scan (client/driver.h).
 * wc_gets_may_find: may the answer to the Get be read from shared memory?
 */
extern bool wc_gets_may_find(const WcDriverOpen *open);
extern WcGetFound wc_gets_find_now(const WcScan *scan, WcBuf *block);

/* Looks for the answer to any Get of the scan's row that shows enough (WcDriverClaim.shows); the answer is then all that block
 * has. */
extern bool wc_gets_find_any(const WcScan *scan, const WcDriverClaim *claim, WcBuf *block);

/* Looks for the answer to a Get of the scan's row as this commit, which has ended, leaves it, for claim->takes_over; sets
 * claim->taken_over and claim->follows. */
extern bool wc_gets_find_unapplied(const WcScan *scan, uint64 xid, WcDriverClaim *claim, WcBuf *block);

/* Leaves the epoch of a snapshot, or of all snapshots; never fails. */
extern void wc_gets_leave(uint64 snapshot);
extern void wc_gets_leave_all(void);

#endif
