/*
 * channel/nobackup.c: the file that makes backups fail.
 */
#include "channel/nobackup.h"

#include <fcntl.h>
#include <unistd.h>

#include "storage/fd.h"
#include "storage/ipc.h"

void
wc_nobackup_put(void)
{
	int			fd = BasicOpenFilePerm(WC_NO_BACKUP_FILE, O_CREAT | O_EXCL | O_WRONLY | PG_BINARY, 0);

	if (fd >= 0)
	{
		close(fd);
		(void) fsync_fname_ext(".", true, true, LOG);
	}
	else if (errno != EEXIST)
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not create file \"%s\", which keeps backups from missing stored tables: %m", WC_NO_BACKUP_FILE)));
}

void
wc_nobackup_remove(void)
{
	if (unlink(WC_NO_BACKUP_FILE) != 0 && errno != ENOENT)
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not remove file \"%s\": %m", WC_NO_BACKUP_FILE)));
}

static void
on_postmaster_exit(int code, Datum arg)
{
	if (code == 0)
		wc_nobackup_remove();
}

/* The postmaster calls it.  Its children forget the callbacks that it has registered. */
void
wc_nobackup_follow_postmaster(void)
{
	on_proc_exit(on_postmaster_exit, (Datum) 0);
}
