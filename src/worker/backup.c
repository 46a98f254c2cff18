/*
 * worker/backup.c: backups of the cluster.
 */
#include "worker/backup.h"

#include "access/xlog.h"
#include "commands/progress.h"
#include "pgstat.h"
#include "utils/backend_status.h"
#include "utils/memutils.h"

#include "channel/flight.h"
#include "channel/nobackup.h"
#include "compat.h"

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

/* pg_basebackup shows in the progress of walsenders; others hold images (channel/flight.h). */
bool
wc_backup_is_running(void)
{
	MemoryContext before;
	bool		found = false;

	if (atomic_load(&wc_following()->holds) > 0)
		return true;
	before = MemoryContextSwitchTo(TopMemoryContext);
	pgstat_clear_backend_activity_snapshot();
	for (int i = 1; !found && i <= pgstat_fetch_stat_numbackends(); i++)
	{
		LocalPgBackendStatus *local = wc_local_backend_status(i);

		found = local != NULL && local->backendStatus.st_progress_command == PROGRESS_COMMAND_BASEBACKUP;
	}
	pgstat_clear_backend_activity_snapshot();
	MemoryContextSwitchTo(before);
	return found;
}
