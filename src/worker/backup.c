/*
 * worker/backup.c: backups of the cluster.
 */
#include "worker/backup.h"

#include "access/xlog.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/spin.h"

#include "channel/flight.h"
#include "channel/hold.h"
#include "channel/nobackup.h"

/*
 * On a standby the redo pointer may become that of any checkpoint whose record has been replayed;
 * a BARRIER comes in front of the record.
 */
static bool
is_new_enough(XLogRecPtr image)
{
	return image >= GetRedoRecPtr() && image >= atomic_load(&wc_following()->barrier_wanted);
}

void
wc_backup_allow(XLogRecPtr image)
{
	if (!is_new_enough(image))
		return;
	wc_nobackup_remove();
	if (!is_new_enough(image))
		wc_nobackup_put();		/* the startup process may have put the file just before */
}

void
wc_backup_refuse(void)
{
	wc_nobackup_put();
}

/* A walsender has this state from its BASE_BACKUP on.  Unlike its progress in pg_stat_progress_basebackup it does not depend on
 * track_activities. */
static bool
walsender_copies(void)
{
	bool		found = false;

	for (int i = 0; !found && i < max_wal_senders; i++)
	{
		WalSnd	   *sender = &WalSndCtl->walsnds[i];

		SpinLockAcquire(&sender->mutex);
		found = sender->pid != 0 && sender->state == WALSNDSTATE_BACKUP;
		SpinLockRelease(&sender->mutex);
	}
	return found;
}

/* pg_basebackup is a walsender's; others hold images (channel/hold.h). */
bool
wc_backup_is_running(void)
{
	return wc_hold_is_held() || walsender_copies();
}
