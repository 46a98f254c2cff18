/*
 * channel/rmgr.h: widecol's resource manager: its records in PostgreSQL's log.
 *
 * model/logrecord.h has the records.  PostgreSQL's recovery only wakes the follower and the processes that
 * wait for it: the engine applies the records to the store when it reads the log (worker/follower.h).  A
 * server whose log has such records cannot recover without the library.
 */
#ifndef WC_CHANNEL_RMGR_H
#define WC_CHANNEL_RMGR_H

#include "postgres.h"

#include "access/rmgr.h"
#include "access/xlogdefs.h"

#include "model/logrecord.h"

/* One of the ids for experiments, until one is reserved. */
#define WC_RMGR_ID RM_EXPERIMENTAL_ID

/* Only while process_shared_preload_libraries_in_progress. */
extern void wc_rmgr_register(void);

/*
 * Writes a record of the store that is open (but for GENESIS, r->store is filled in here) and returns the
 * position of its end: the record is on disk when the log has been flushed up to there (XLogFlush).  Not
 * during recovery, and not before the engine has opened a store.  Main threads only.
 */
extern XLogRecPtr wc_record_write(WcLogRecord *r);

#endif
