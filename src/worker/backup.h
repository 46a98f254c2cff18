/*
 * worker/backup.h: backups of the cluster, as far as the engine must know of them.
 *
 * Engine's main thread.
 */
#ifndef WC_WORKER_BACKUP_H
#define WC_WORKER_BACKUP_H

#include "postgres.h"

#include "access/xlogdefs.h"

/* There is an image of this position: if that is as new as the redo pointer, and as the last
 * BARRIER that was replayed, backups are allowed. */
extern void wc_backup_allow(XLogRecPtr image);

/* There is no image as new as the redo pointer: the data directory must not be copied. */
extern void wc_backup_refuse(void);

/* May a backup be copying images now? Then no image may be removed. */
extern bool wc_backup_is_running(void);

#endif
