/*
 * client/local/logwrite.c: writes the transaction's operations on stored tables into PostgreSQL's log.
 *
 * The rollback of a savepoint writes no record, because it runs in an abort callback, which must not
 * fail: the next BATCH says at which offset of the stream it begins.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"

#include "base/limits.h"
#include "channel/flight.h"
#include "channel/rmgr.h"
#include "client/local/claim.h"
#include "client/local/connection.h"
#include "client/local/logwrite.h"

static bool written;			/* a record of this transaction has been written */
static uint64 length;			/* of the stream, as far as the log has it */
static uint8 flags;				/* of the next BATCH */
static uint64 place_xid;		/* the transaction's id, once the transaction has a place */
static uint16_t place = WC_RECORD_NO_PLACE;
static bool place_written;		/* a record has named the place */

static void
write_record(uint64 xid, uint64 at, WcSlice bytes)
{
	WcLogRecord batch = {
		.kind = WC_RECORD_BATCH,.flags = flags,.place = place,.database = MyDatabaseId,.xid = xid,.at = at,
		.bytes = bytes
	};

	(void) wc_record_write(&batch);
	written = true;
	length = at + bytes.len;
	place_written = place != WC_RECORD_NO_PLACE;
}

void
wc_stream_write(uint64 at, WcSlice bytes)
{
	uint64		xid = U64FromFullTransactionId(GetTopFullTransactionId());

	for (;;)
	{
		size_t		n = Min(bytes.len, WC_BATCH_CHUNK);

		write_record(xid, at, wc_slice(bytes.data, n));
		if (n == bytes.len)
			break;
		at += n;
		bytes = wc_slice(bytes.data + n, bytes.len - n);
		CHECK_FOR_INTERRUPTS();
	}
}

void
wc_stream_note_catalog(void)
{
	flags |= WC_RECORD_CATALOG;
}

bool
wc_stream_changes_catalog(void)
{
	return (flags & WC_RECORD_CATALOG) != 0;
}

bool
wc_stream_is_written(void)
{
	return written;
}

void
wc_stream_take_place(const WcExtent *extent)
{
	StaticAssertStmt(WC_RECORD_NO_PLACE == WC_FLIGHT_NONE, "no place is no place");

	if (place != WC_RECORD_NO_PLACE)
		return;
	place_xid = U64FromFullTransactionId(GetTopFullTransactionId());
	place = wc_place_take(place_xid, MyDatabaseId, (flags & WC_RECORD_CATALOG) != 0);
	wc_flight_set_extent(wc_places(), place, place_xid, extent);
}

uint16
wc_stream_place(void)
{
	return place;
}

void
wc_stream_leave_place(void)
{
	wc_claim_give_back();
	if (place != WC_RECORD_NO_PLACE)
		(void) wc_flight_free(wc_places(), place, place_xid);
	place = WC_RECORD_NO_PLACE;
	place_written = false;
}

void
wc_stream_finish(uint64 end)
{
	if (length != end || (place != WC_RECORD_NO_PLACE && !place_written))
		wc_stream_write(end, wc_slice(NULL, 0));
}

static void
forget(void)
{
	written = place_written = false;
	length = 0;
	flags = 0;
	place = WC_RECORD_NO_PLACE;
}

void
wc_stream_committed(void)
{
	wc_connection_waited(written && synchronous_commit != SYNCHRONOUS_COMMIT_OFF);
	if (place != WC_RECORD_NO_PLACE)
	{
		wc_flight_ended(wc_places(), place, place_xid, XactLastCommitEnd);
		wc_following_note_commit();
	}
	wc_claim_forget();
	forget();
}

void
wc_stream_prepared(void)
{
	if (place != WC_RECORD_NO_PLACE)
		wc_flight_prepared(wc_places(), place, place_xid);
	wc_claim_forget();
	forget();
}

void
wc_stream_aborted(void)
{
	wc_stream_leave_place();
	wc_claim_forget();
	forget();
}
