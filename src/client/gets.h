/*
 * client/gets.h: epochs that the session's snapshots are of, and Gets that shared
 * memory answers at them (wire/getcache.h); for the driver of the embedded engine.
 *
 * Up to WC_GETCACHE_PLACES snapshots of a session are of an epoch at a time; scans at
 * others ask the engine for everything.
 */
#ifndef WC_CLIENT_GETS_H
#define WC_CLIENT_GETS_H

#include "client/driver.h"
#include "wire/getcache.h"

/* May the answer come from there, or go there? */
extern bool wc_gets_may_share(const WcDriverOpen *open);

/* The epoch of a snapshot; 0: it is of none, so that the engine has to take it. */
extern uint64 wc_gets_epoch(uint64 snapshot);

/* Makes a snapshot that nobody knows yet one of the epoch that is now.  False: a commit
 * is being written just now, or all places are taken. */
extern bool wc_gets_enter(uint64 snapshot);
extern bool wc_gets_full(void);	/* is it the places? */

/* Others may enter the snapshot's epoch by this mark, and no other's any more; false: it
 * is of none. */
extern bool wc_gets_mark(uint64 snapshot, uint64 mark);

/* Makes it one of the epoch that another process has marked so; false: it has none. */
extern bool wc_gets_enter_marked(uint64 snapshot, uint32 process, uint64 mark);

/* Looks for the answer to a Get, encoded as get, at a snapshot of an epoch; appends
 * it to block. */
extern WcGetFound wc_gets_find(const WcDriverOpen *open, WcSlice get, WcBuf *block);

/* Gives up the epoch of a snapshot, or of all; never fails. */
extern void wc_gets_leave(uint64 snapshot);
extern void wc_gets_leave_all(void);

#endif
