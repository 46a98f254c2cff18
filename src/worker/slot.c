/*
 * worker/slot.c: the replication slot of the engine.
 */
#include "worker/slot.h"

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogrecovery.h"
#include "replication/slot.h"
#include "storage/fd.h"

#include "channel/keeplog.h"
#include "compat.h"

XLogRecPtr
wc_slot_acquire(XLogRecPtr from)
{
	if (wal_level < WAL_LEVEL_REPLICA)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stored tables need wal_level \"replica\" or \"logical\""),
				 errhint("Set wal_level and restart the server.")));
	if (max_replication_slots == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stored tables need a replication slot"),
				 errhint("Set max_replication_slots to 1 at least and restart the server.")));
	if (SearchNamedReplicationSlot(WC_SLOT_NAME, true) != NULL)
	{
		ReplicationSlotAcquire(WC_SLOT_NAME, true);
		if (SlotIsLogical(MyReplicationSlot))
		{
			ReplicationSlotRelease();
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("replication slot \"%s\" is a logical one", WC_SLOT_NAME),
					 errhint("Stored tables need the name for a slot of their own: drop it.")));
		}
	}
	else
	{
		wc_slot_create(WC_SLOT_NAME);
		if (from != InvalidXLogRecPtr)
			wc_keeplog_set(from);
		else
			ReplicationSlotReserveWal();
		ReplicationSlotSave();
	}
	return MyReplicationSlot->data.restart_lsn;
}

/* PostgreSQL knows only of segments that it has removed since its start. */
bool
wc_slot_log_is_there(XLogRecPtr at)
{
	XLogSegNo	segno = at / wal_segment_size;
	bool		found = at >= (RecoveryInProgress() ? GetXLogReplayRecPtr(NULL) : GetFlushRecPtr(NULL));
	DIR		   *directory = AllocateDir(XLOGDIR);
	struct dirent *entry;

	while (!found && (entry = ReadDir(directory, XLOGDIR)) != NULL)
	{
		TimeLineID	timeline;
		XLogSegNo	its_segno;

		if (!IsXLogFileName(entry->d_name))
			continue;
		XLogFromFileName(entry->d_name, &timeline, &its_segno, wal_segment_size);
		found = its_segno == segno;
	}
	FreeDir(directory);
	return found;
}

/* A slot that was not saved keeps more log than needed after a crash; PostgreSQL's next checkpoint saves it. */
void
wc_slot_advance(XLogRecPtr to)
{
	MemoryContext context = CurrentMemoryContext;

	if (MyReplicationSlot == NULL || MyReplicationSlot->data.restart_lsn >= to)
		return;
	PG_TRY();
	{
		wc_keeplog_set(to);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		ereport(LOG,
				(errmsg("could not save replication slot \"%s\": %s", WC_SLOT_NAME, error->message),
				 errdetail("The server's next checkpoint tries it again.")));
		FreeErrorData(error);
	}
	PG_END_TRY();
}
