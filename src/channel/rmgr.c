/*
 * channel/rmgr.c: widecol's resource manager: its records in PostgreSQL's log.
 */
#include "postgres.h"

#include <inttypes.h>

#include "access/transam.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xloginsert.h"
#include "access/xlogutils.h"

#include "base/limits.h"
#include "channel/flight.h"
#include "channel/keeplog.h"
#include "channel/rmgr.h"
#include "compat.h"

/* On a standby the follower is woken after so many bytes of BATCHes; without that it reads every few
 * milliseconds. */
#define WAKE_BYTES (1024 * 1024)

static uint8
kind_of(uint8 info)
{
	return info & ~XLR_INFO_MASK;
}

static WcStatus
decode(XLogReaderState *record, WcLogRecord *r, WcError *err)
{
	return wc_logrecord_decode(kind_of(XLogRecGetInfo(record)),
							   wc_slice(XLogRecGetData(record), XLogRecGetDataLen(record)), r, err);
}

static void
redo_batch(const WcLogRecord *r)
{
	static Size unseen;

	/* The record's header has no id of a transaction if a subtransaction without an id has written the record.  After
	 * a crash, another transaction must not get this id. */
	AdvanceNextFullTransactionIdPastXid(XidFromFullTransactionId(FullTransactionIdFromU64(r->xid)));
	if (!InHotStandby)
		return;					/* no session reads before recovery ends */
	wc_place_redo(r);
	unseen += r->bytes.len;
	if (unseen < WAKE_BYTES)
		return;
	unseen = 0;
	wc_following_wake();
}

static void
redo(XLogReaderState *record)
{
	WcLogRecord r;
	WcError		err;

	if (decode(record, &r, &err) != WC_OK)
		ereport(FATAL, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("could not replay: %s", err.message)));
	if (r.kind == WC_RECORD_BATCH)
		redo_batch(&r);
	else if (r.kind == WC_RECORD_BARRIER)
		wc_barrier_redo(r.redo);
}

static void
describe(StringInfo out, XLogReaderState *record)
{
	WcLogRecord r;
	WcError		err;

	if (decode(record, &r, &err) != WC_OK)
	{
		appendStringInfoString(out, err.message);
		return;
	}
	appendStringInfo(out, "store %08" PRIx32, r.store);
	switch ((WcRecordKind) r.kind)
	{
		case WC_RECORD_BATCH:
			appendStringInfo(out, ", database %" PRIu32 ", xid %" PRIu64 ", at %" PRIu64 ", %zu bytes", r.database, r.xid,
							 r.at, r.bytes.len);
			if (r.place != WC_RECORD_NO_PLACE)
				appendStringInfo(out, ", place %u", r.place);
			if ((r.flags & WC_RECORD_CATALOG) != 0)
				appendStringInfoString(out, ", catalog");
			break;
		case WC_RECORD_STEP:
			appendStringInfo(out, ", %zu bytes", r.bytes.len);
			break;
		case WC_RECORD_TICK:
			appendStringInfo(out, ", time %" PRId64, r.time_us);
			break;
		case WC_RECORD_BARRIER:
			appendStringInfo(out, ", redo %X/%X", LSN_FORMAT_ARGS(r.redo));
			break;
		case WC_RECORD_GENESIS:
			break;
	}
}

static const char *
identify(uint8 info)
{
	return wc_logrecord_kind_name(kind_of(info));
}

/*
 * No mask: no record changes a page.  No decode: changes of stored tables have no logical form.
 */
static RmgrData rmgr = {
	.rm_name = "widecol",
	.rm_redo = redo,
	.rm_desc = describe,
	.rm_identify = identify,
	.rm_startup = wc_keeplog_at_recovery,
	.rm_cleanup = wc_keeplog_at_end_of_recovery,
};

void
wc_rmgr_register(void)
{
	RegisterCustomRmgr(WC_RMGR_ID, &rmgr);
}

/* --- writing ------------------------------------------------------------------- */

XLogRecPtr
wc_record_write(WcLogRecord *r)
{
	uint8		head[WC_RECORD_HEAD_MAX];
	size_t		len;
	WcError		err;

	StaticAssertStmt(WC_RECORD_HEAD_MAX + Max(WC_STEP_MAX, WC_BATCH_CHUNK) <= WC_XLOG_RECORD_MAX / 2,
					 "a record has room in PostgreSQL's log");

	if (r->kind != WC_RECORD_GENESIS)
		r->store = atomic_load(&wc_following()->store);
	if (wc_logrecord_encode(r, head, &len, &err) != WC_OK)
		elog(ERROR, "could not write to the log: %s", err.message);

	/* Two pieces of data, which always have room. */
	XLogBeginInsert();
	XLogRegisterData((char *) head, (int) len);
	if (r->bytes.len > 0)
		XLogRegisterData(unconstify(char *, (const char *) r->bytes.data), (int) r->bytes.len);

	/* An idle server need not make checkpoints because of these. */
	if (r->kind == WC_RECORD_TICK || r->kind == WC_RECORD_BARRIER)
		XLogSetRecordFlags(XLOG_MARK_UNIMPORTANT);
	return XLogInsert(WC_RMGR_ID, r->kind);
}
