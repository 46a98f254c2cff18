/*
 * client/gets.h: Gets that shared memory answers (wire/getcache.h); for the driver of
 * the embedded engine.
 *
 * One snapshot of the session at a time can be of an epoch; scans at others ask the
 * engine.
 */
#ifndef WC_CLIENT_GETS_H
#define WC_CLIENT_GETS_H

#include "client/driver.h"
#include "wire/getcache.h"

/* May the answer come from there, or go there? */
extern bool wc_gets_may_share(const WcDriverOpen *open);

/* The epoch of a snapshot; 0: it is of none, so that the engine has to take it. */
extern uint64 wc_gets_epoch(uint64 snapshot);

/* Makes a snapshot that the engine does not know of one of the epoch that is now,
 * unless another is; true when it is. */
extern bool wc_gets_enter(uint64 snapshot);

/* Looks for the answer to a Get, encoded as get, at a snapshot of an epoch; appends
 * it to block. */
extern WcGetFound wc_gets_find(const WcDriverOpen *open, WcSlice get, WcBuf *block);

/* Is any snapshot of an epoch?  And: none is any more; never fails. */
extern bool wc_gets_in_use(void);
extern void wc_gets_leave(void);

#endif
