/*
 * channel/keeplog.c: keeping the log that the store still needs.
 */
#include "channel/keeplog.h"

#include <inttypes.h>
#include <unistd.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogrecovery.h"
#include "replication/slot.h"

#include "compat.h"

/* Log that is written between the end of recovery and the place to which its checkpoint removes log. */
#define END_OF_RECOVERY_BYTES (4 * XLOG_BLCKSZ)

uint64
wc_keeplog_limit(void)
{
	return max_slot_wal_keep_size_mb < 0 ? PG_UINT64_MAX : (uint64) max_slot_wal_keep_size_mb * 1024 * 1024;
}

void
wc_keeplog_set(XLogRecPtr to)
{
	SpinLockAcquire(&MyReplicationSlot->mutex);
	MyReplicationSlot->data.restart_lsn = to;
	wc_slot_revive(MyReplicationSlot);
	SpinLockRelease(&MyReplicationSlot->mutex);
	ReplicationSlotMarkDirty();
	ReplicationSlotsComputeRequiredLSN();
	ReplicationSlotSave();
}

static bool
slot_is_free(void)
{
	for (int i = 0; i < max_replication_slots; i++)
	{
		if (!ReplicationSlotCtl->replication_slots[i].in_use)
			return true;
	}
	return false;
}

static bool
store_is_here(void)
{
	return wal_level >= WAL_LEVEL_REPLICA && max_replication_slots > 0 && access(WC_STORE_RECORD, F_OK) == 0;
}

static void
set_in_recovery(XLogRecPtr to)
{
	ReplicationSlotAcquire(WC_SLOT_NAME, true);
	wc_keeplog_set(to);
	ReplicationSlotRelease();
}

/*
 * No other process exists yet: no lock is needed.  A crash recovery removes no log before its end.  A restartpoint does: the
 * slot may be from before pg_rewind, or from another copy.
 */
void
wc_keeplog_at_recovery(void)
{
	XLogRecPtr	redo = GetRedoRecPtr();
	ReplicationSlot *slot;

	if (!store_is_here())
		return;					/* the engine reports the missing log */
	slot = SearchNamedReplicationSlot(WC_SLOT_NAME, true);
	if (slot == NULL && !slot_is_free())
	{
		ereport(LOG,
				(errmsg("no replication slot is free to keep the log that stored tables need"),
				 errhint("Increase max_replication_slots.")));
		return;
	}
	if (slot == NULL)
	{
		wc_slot_create(WC_SLOT_NAME);
		wc_keeplog_set(redo);
		ReplicationSlotRelease();
	}
	else if (!SlotIsLogical(slot) && (slot->data.restart_lsn == InvalidXLogRecPtr ||
									  (slot->data.restart_lsn > redo && ArchiveRecoveryRequested)))
		set_in_recovery(redo);
}

static uint64
segments(XLogRecPtr from, XLogRecPtr end)
{
	return end / wal_segment_size - from / wal_segment_size;
}

/*
 * After a crash the checkpoint at the end of recovery removes log before there is an engine.  The slot is where the
 * engine would read from; the newest image is not older than the redo pointer.  The log behind the redo pointer stays
 * if it may, since an image may be needed; without the log behind the slot, stored tables would lose commits.  A slot
 * before the redo pointer has not been moved since the last recovery or checkpoint: the engine may need the log behind
 * the redo pointer as well.
 */
void
wc_keeplog_at_end_of_recovery(void)
{
	XLogRecPtr	redo = GetRedoRecPtr();
	XLogRecPtr	end = GetXLogReplayRecPtr(NULL) + END_OF_RECOVERY_BYTES;
	uint64		may_stay = Max(wc_keeplog_limit(), (uint64) wal_keep_size_mb * 1024 * 1024) / wal_segment_size;
	ReplicationSlot *slot;
	XLogRecPtr	at;

	if (ArchiveRecoveryRequested || !store_is_here())
		return;
	slot = SearchNamedReplicationSlot(WC_SLOT_NAME, true);
	if (slot == NULL || SlotIsLogical(slot) || slot->data.restart_lsn == InvalidXLogRecPtr)
		return;
	at = Max(slot->data.restart_lsn, redo);
	if (segments(at, end) > may_stay)
		ereport(FATAL,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the end of recovery would remove log that stored tables need"),
				 errdetail("They need %" PRIu64 " MB of it, from %X/%X on; max_slot_wal_keep_size is %d MB.",
						   (end - at) / (1024 * 1024) + 1, LSN_FORMAT_ARGS(at), max_slot_wal_keep_size_mb),
				 errhint("Set max_slot_wal_keep_size to -1 and start the server again. "
						 "When the log says that the widecol engine is ready, it can be set back.")));
	if (segments(redo, end) > may_stay)
		redo = (end / wal_segment_size - may_stay) * wal_segment_size;
	if (redo < at)
		set_in_recovery(redo);
}
