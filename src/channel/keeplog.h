/*
 * channel/keeplog.h: keeping the log that the store still needs.
 *
 * A physical replication slot does, "widecol".  The engine moves it (worker/slot.h).  A node
 * may have none when its recovery begins, since copies of a cluster come without slots: then the
 * startup process makes it, before a restartpoint can remove log.
 */
#ifndef WC_CHANNEL_KEEPLOG_H
#define WC_CHANNEL_KEEPLOG_H

#include "postgres.h"

#include "access/xlogdefs.h"

#define WC_SLOT_NAME "widecol"

/* The file of the cluster's data directory that names its store. */
#define WC_STORE_RECORD "widecol.store"

/* So much log PostgreSQL keeps for a slot at most (max_slot_wal_keep_size); UINT64_MAX: all of it. */
extern uint64 wc_keeplog_limit(void);

/* Sets the place of the slot that this process has taken; durable. */
extern void wc_keeplog_set(XLogRecPtr to);

/*
 * Startup process, before the first record is replayed, and after the last one: where there is a store, log is
 * kept from the redo pointer on.  No image that may be needed is older than that: a checkpoint is completed only
 * behind one (worker/checkpoint.h).  If no slot is free, that is logged.  If max_slot_wal_keep_size does not let
 * log stay that the store needs without an image, recovery after a crash does not end (FATAL).
 */
extern void wc_keeplog_at_recovery(void);
extern void wc_keeplog_at_end_of_recovery(void);

#endif
