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

#include "channel/flight.h"
#include "channel/hold.h"

typedef enum Hold
{
	HOLD_NONE,
	HOLD_BACKUP,				/* until the backup ends */
	HOLD_SESSION				/* until the session ends */
} Hold;

static object_access_hook_type prev_object_access;
static Hold hold;

static void
give_up(void)
{
	if (hold != HOLD_NONE)
		atomic_fetch_sub(&wc_following()->holds, 1);
	hold = HOLD_NONE;
}

static void
at_exit(int code, Datum arg)
{
	give_up();
}

static void
take(Hold kind)
{
	static bool registered;

	if (!registered)
		before_shmem_exit(at_exit, (Datum) 0);
	registered = true;
	if (hold == HOLD_NONE)
		atomic_fetch_add(&wc_following()->holds, 1);
	hold = Max(hold, kind);
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
			take(HOLD_BACKUP);
			break;
		case F_PG_LS_DIR_TEXT:
		case F_PG_LS_DIR_TEXT_BOOL_BOOL:
		case F_PG_READ_BINARY_FILE_TEXT:
		case F_PG_READ_BINARY_FILE_TEXT_INT8_INT8:
		case F_PG_READ_BINARY_FILE_TEXT_INT8_INT8_BOOL:
			take(HOLD_SESSION);
			break;
		default:
			break;
	}
}

static void
on_xact(XactEvent event, void *arg)
{
	if (hold == HOLD_BACKUP && (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT) &&
		get_backup_status() != SESSION_BACKUP_RUNNING)
		give_up();
}

void
wc_hold_follow(void)
{
	prev_object_access = object_access_hook;
	object_access_hook = on_object_access;
	RegisterXactCallback(on_xact, NULL);
}
