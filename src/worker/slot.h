/*
 * worker/slot.h: the replication slot that keeps the log which the store still needs.
 *
 * A physical slot, "widecol"; its restart_lsn is where the engine would read from after a crash.  The engine's
 * process holds it, so that it cannot be dropped meanwhile; the startup process makes it on a node that has
 * none (a restored backup), before log is removed.
 */
#ifndef WC_WORKER_SLOT_H
#define WC_WORKER_SLOT_H

#include "postgres.h"

#include "access/xlogdefs.h"

/*
 * Engine's main thread: takes the slot, or makes it.  from: where reading is to begin, the slot's
 * place if it has to be made; 0: the log's end of now.  Returns the slot's place, which the
 * caller compares: behind `from` the log may be gone.  Raises what PostgreSQL raises (no slot
 * is free, wal_level is minimal), with a hint.
 */
extern XLogRecPtr wc_slot_acquire(XLogRecPtr from);

/* Is the log from `at` on still there? */
extern bool wc_slot_log_is_there(XLogRecPtr at);

/* Moves the slot.  Durable when it returns, unless the disk refuses: then that is logged.  Engine's main thread, with
 * the slot taken. */
extern void wc_slot_advance(XLogRecPtr to);

#endif
