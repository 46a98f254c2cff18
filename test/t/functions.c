/*
 * test/t/functions.c: functions that tests call in a session (LANGUAGE c).
 */
#include "postgres.h"

#include "access/rmgr.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/pg_control.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(refuse_subtransactions);
PG_FUNCTION_INFO_V1(load_driver_as_version_0);
PG_FUNCTION_INFO_V1(log_damaged_record);

static int	refused_level;

static void
refuse(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_START_SUB && GetCurrentTransactionNestLevel() == refused_level)
		ereport(ERROR, (errmsg("subtransactions of level %d are refused", refused_level)));
}

/* From now on a subtransaction of this level fails when it begins, before widecol's callback. */
Datum
refuse_subtransactions(PG_FUNCTION_ARGS)
{
	if (refused_level == 0)
		RegisterSubXactCallback(refuse, NULL);
	refused_level = PG_GETARG_INT32(0);
	PG_RETURN_VOID();
}

/* Gives the driver of HBase tables a host of another version: all versions begin with this number. */
Datum
load_driver_as_version_0(PG_FUNCTION_ARGS)
{
	const void *(*load) (const uint32 *host);
	const uint32 version = 0;

	load = (const void *(*) (const uint32 *)) load_external_function("$libdir/widecol_hbase", "wc_hbase_driver", true, NULL);
	PG_RETURN_BOOL(load(&version) != NULL);
}

/* Writes a record of widecol's that cannot be decoded into PostgreSQL's log, and one that means nothing behind it. */
Datum
log_damaged_record(PG_FUNCTION_ARGS)
{
	char		bytes[] = "damaged";

	XLogBeginInsert();
	XLogRegisterData(bytes, sizeof(bytes));
	(void) XLogInsert(RM_EXPERIMENTAL_ID, 0xF0);
	XLogBeginInsert();
	XLogRegisterData(bytes, sizeof(bytes));
	XLogFlush(XLogInsert(RM_XLOG_ID, XLOG_NOOP));
	PG_RETURN_VOID();
}
