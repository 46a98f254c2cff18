/*
 * channel/hold.c: sessions that copy the data directory by functions of PostgreSQL.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "storage/ipc.h"
#include "utils/fmgroids.h"

#include "base/clock.h"
#include "base/limits.h"
#include "channel/flight.h"
#include "channel/hold.h"
#include "channel/shmem.h"

/* So long a session that copies may do something else: between its calls pg_rewind reads the log of the cluster that it
 * rewinds. */
#define COPY_PAUSE_US (INT64CONST(10) * 60 * WC_USEC_PER_SEC)

static object_access_hook_type prev_object_access;
static bool holds_backup;		/* until the backup ends */
static bool copies;				/* until the transaction ends, and COPY_PAUSE_US longer */

static void
note_copied(int64 us)
{
	WcSlot	   *slot = wc_shmem_my_slot(wc_shmem());

	if (slot != NULL)
		atomic_store(&slot->copied_us, us);
}

static void
end_backup(void)
{
	if (holds_backup)
		atomic_fetch_sub(&wc_following()->holds, 1);
	holds_backup = false;
}

static void
at_exit(int code, Datum arg)
{
	end_backup();
	note_copied(0);
	copies = false;				/* the transaction may end behind this */
}

static void
follow_session(void)
{
	static bool registered;

	if (!registered)
		before_shmem_exit(at_exit, (Datum) 0);
	registered = true;
}

static void
begin_backup(void)
{
	follow_session();
	if (!holds_backup)
		atomic_fetch_add(&wc_following()->holds, 1);
	holds_backup = true;
}

static void
begin_copy(void)
{
	follow_session();
	note_copied(PG_INT64_MAX);
	copies = true;
}

static void
on_object_access(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id, void *arg)
{
	if (prev_object_access)
		prev_object_access(access, class_id, object_id, sub_id, arg);
	if (access != OAT_FUNCTION_EXECUTE || class_id != ProcedureRelationId || wc_following() == NULL)
		return;
	switch (object_id)
	{
		case F_PG_BACKUP_START:
			begin_backup();
			break;
		case F_PG_LS_DIR_TEXT:
		case F_PG_LS_DIR_TEXT_BOOL_BOOL:
		case F_PG_READ_BINARY_FILE_TEXT:
		case F_PG_READ_BINARY_FILE_TEXT_INT8_INT8:
		case F_PG_READ_BINARY_FILE_TEXT_INT8_INT8_BOOL:
			begin_copy();
			break;
		default:
			break;
	}
}

static void
on_xact(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	if (holds_backup && get_backup_status() != SESSION_BACKUP_RUNNING)
		end_backup();
	if (copies)
		note_copied(wc_clock_monotonic_us());
	copies = false;
}

void
wc_hold_follow(void)
{
	prev_object_access = object_access_hook;
	object_access_hook = on_object_access;
	RegisterXactCallback(on_xact, NULL);
}

bool
wc_hold_is_held(void)
{
	const WcShmem *shmem = wc_shmem();
	int64		since = wc_clock_monotonic_us() - COPY_PAUSE_US;

	if (atomic_load(&wc_following()->holds) > 0)
		return true;
	for (int i = 0; i < shmem->nslots; i++)
	{
		int64		copied_us = atomic_load(&shmem->slots[i].copied_us);

		if (copied_us != 0 && copied_us > since)
			return true;
	}
	return false;
}
