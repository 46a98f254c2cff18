/*
 * channel/keeplog.c: keeping the log that the store still needs.
 */
#include "channel/keeplog.h"

#include <unistd.h>

#include "access/xlog.h"
#include "replication/slot.h"

#include "compat.h"

void
wc_keeplog_set(XLogRecPtr to)
{
	SpinLockAcquire(&MyReplicationSlot->mutex);
	MyReplicationSlot->data.restart_lsn = to;
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

/* No other process exists yet: no lock is needed. */
void
wc_keeplog_at_recovery(void)
{
	XLogRecPtr	redo = GetRedoRecPtr();
	ReplicationSlot *slot;

	if (wal_level < WAL_LEVEL_REPLICA || max_replication_slots == 0 || access(WC_STORE_RECORD, F_OK) != 0)
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
		wc_slot_create(WC_SLOT_NAME);
	else if (!SlotIsLogical(slot) && slot->data.restart_lsn > redo)
		ReplicationSlotAcquire(WC_SLOT_NAME, true); /* a slot from before pg_rewind, or from another copy */
	else
		return;
	wc_keeplog_set(redo);
	ReplicationSlotRelease();
}
