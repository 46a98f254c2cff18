/*
 * channel/nobackup.h: a backup of the cluster is complete or refused.
 *
 * A copy of the data directory has the stored tables if it has an image of them that is as new
 * as its redo pointer (worker/checkpoint.h).  As long as there is none, a file that nobody
 * can read is in the data directory: what copies it (pg_basebackup, cp, pg_rewind) fails
 * there.  Crash recovery does not mind it.  A server that has been stopped has no such file: a copy
 * that is made then has all of the log.
 *
 * Any process of the server.
 */
#ifndef WC_CHANNEL_NOBACKUP_H
#define WC_CHANNEL_NOBACKUP_H

#include "postgres.h"

/* In the data directory. */
#define WC_NO_BACKUP_FILE "widecol.no_backup"

/* Whoever copies the data directory from now on fails; durable.  Failing is logged. */
extern void wc_nobackup_put(void);

/* No longer. */
extern void wc_nobackup_remove(void);

/* Postmaster, once, when it loads the library: no longer when it has ended in order. */
extern void wc_nobackup_follow_postmaster(void);

#endif
