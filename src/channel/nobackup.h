/*
 * channel/nobackup.h: a backup of the cluster is complete or refused.
 *
 * A copy of the data directory has the stored tables if it has an image of them that is as new as its redo
 * pointer (worker/checkpoint.h).  As long as there is none, the data directory has a file without read
 * permission, at which a copy (pg_basebackup, cp, pg_rewind) fails.  Crash recovery ignores the file.  A
 * server that has been stopped has no such file: a copy that is made then has all of the log.
 *
 * Any process of the server.
 */
#ifndef WC_CHANNEL_NOBACKUP_H
#define WC_CHANNEL_NOBACKUP_H

#include "postgres.h"

/* In the data directory. */
#define WC_NO_BACKUP_FILE "widecol.no_backup"

/* From now on copies of the data directory fail; durable.  An error is logged. */
extern void wc_nobackup_put(void);

/* No longer. */
extern void wc_nobackup_remove(void);

/* Postmaster, once, when it loads the library: the file is removed after an orderly shutdown. */
extern void wc_nobackup_follow_postmaster(void);

#endif
