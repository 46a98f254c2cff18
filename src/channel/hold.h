/*
 * channel/hold.h: sessions that copy the data directory by functions of PostgreSQL.
 *
 * Until they have finished, images of the store are not removed: they may still have to be copied
 * (worker/backup.h). pg_backup_start holds images until the backup has ended; pg_ls_dir and
 * pg_read_binary_file, by which pg_rewind copies, until ten minutes after the last transaction of the session that has called
 * one of them, or until the session ends.  Backups of the replication protocol are found in another way (worker/backup.c).
 */
#ifndef WC_CHANNEL_HOLD_H
#define WC_CHANNEL_HOLD_H

#include "postgres.h"

/* Once a process, at the library's start. */
extern void wc_hold_follow(void);

/* Does any session hold images?  Any process. */
extern bool wc_hold_is_held(void);

#endif
