/*
 * rpc/dispatch.c: one request after the other; request.h has the functions that carry them out.
 */
#include "rpc/dispatch.h"

#include "rpc/request.h"
#include "wire/message/segment.h"

WcStatus
wc_dispatch_init(WcDispatch *d, WcEngine *engine, WcIntake *intake, WcEpochs *epochs,
				 WcLockTable *locktable, const atomic_bool *cancel, WcError *err)
{
	WcArena		arena = WC_ARENA_INIT;

	wc_session_init(&d->session, engine, epochs, locktable, cancel);
	d->intake = intake;
	wc_neighbours_init(&d->neighbours, engine, wc_epochs_cache(epochs));
	wc_rangefill_init(&d->rangefill, engine, wc_epochs_ranges(epochs), wc_epochs_cache(epochs));
	d->arena = arena;
	wc_buf_init(&d->out, 0);

	/* From now on an error always finds memory. */
	if (wc_buf_reserve(&d->out, WC_FRAME_HEADER + sizeof(WcError)) == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	return WC_OK;
}

void
wc_dispatch_free(WcDispatch *d)
{
	wc_neighbours_free(&d->neighbours);
	wc_rangefill_free(&d->rangefill);
	wc_session_free(&d->session);
	wc_arena_free(&d->arena);
	wc_buf_free(&d->out);
}

static void
answer_error(WcDispatch *d, uint64_t id, const WcError *err)
{
	WcError		ignored;

	wc_frame_begin(&d->out);
	wc_message_error_encode(&d->out, err);
	if (wc_frame_finish(&d->out, WC_MSG_ERROR, 0, id, &ignored) != WC_OK)
		wc_buf_reset(&d->out, 0);
}

static WcStatus
error_cancelled(WcError *err)
{
	return wc_error(err, WC_CANCELLED, "the request was cancelled");
}

void
wc_dispatch_cancelled(WcDispatch *d, uint64_t id)
{
	WcError		err;

	(void) error_cancelled(&err);
	answer_error(d, id, &err);
}

static WcStatus
do_hello(WcDispatch *d, WcSlice body, WcError *err)
{
	WcHelloMessage m;
	WcStatus	status = wc_message_hello_decode(body, &m, err);

	if (status != WC_OK)
		return status;
	if (m.version != WC_PROTOCOL_VERSION)
		return wc_error(err, WC_UNSUPPORTED, "the engine speaks protocol version %d, not %u",
						WC_PROTOCOL_VERSION, m.version);
	if (d->session.database != 0)
		return wc_error(err, WC_CORRUPT, "a session says only once of which database it is");
	d->session.database = m.database;
	atomic_store_explicit(&d->session.activity.database, m.database, memory_order_relaxed);
	return WC_OK;
}

/* Requests without an answer: true when it was one. */
static bool
dispatch_silent(WcDispatch *d, const WcFrameHeader *header, WcSlice body)
{
	uint64_t	number;
	WcError		err;

	switch (header->type)
	{
		case WC_MSG_CLOSE:
			if (wc_message_numbers_decode(body, &number, 1, &err) == WC_OK && number < WC_SCANNERS_MAX)
				wc_session_scanner_close(&d->session, (uint32_t) number);
			return true;
		case WC_MSG_SNAPSHOT_RELEASE:
			if (wc_message_numbers_decode(body, &number, 1, &err) == WC_OK)
				wc_session_snapshot_release(&d->session, number);
			return true;
		case WC_MSG_BATCH:
			wc_request_take_batch(d, body);
			return true;
		case WC_MSG_UNLOCK:
			if (wc_message_numbers_decode(body, &number, 1, &err) == WC_OK && number > 0 && number <= UINT32_MAX)
				wc_session_unlock(&d->session, (uint32_t) number);
			return true;
		case WC_MSG_ABORTED:
			if (wc_message_numbers_decode(body, &number, 1, &err) == WC_OK)
				wc_intake_aborted(d->intake, number);
			return true;
		case WC_MSG_HANDED:
			if (wc_message_numbers_decode(body, &number, 1, &err) == WC_OK)
				wc_request_hand_over(d, number);
			return true;
		case WC_MSG_ABORT:
			wc_session_end_transaction(&d->session);
			return true;
		default:
			return false;
	}
}

/* Is the answer a block of rows? */
static bool
is_of_scan(uint8_t type)
{
	return type == WC_MSG_OPEN || type == WC_MSG_TAKE || type == WC_MSG_NEXT;
}

/* A request has come: the stretch that is being read waits, or is given up. */
static void
hold_stretch(WcDispatch *d, uint8_t type)
{
	if (is_of_scan(type) || type == WC_MSG_CLOSE || type == WC_MSG_SNAPSHOT_RELEASE)
		wc_rangefill_wait(&d->rangefill);
	else
		wc_rangefill_end(&d->rangefill);
}

static WcStatus
dispatch_answered(WcDispatch *d, const WcFrameHeader *header, WcSlice body, WcAnswer *answer, WcError *err)
{
	WcTxn	   *txn = wc_session_txn(&d->session);
	uint32_t	database = d->session.database;

	if (d->session.txn_failed)
	{
		*err = d->session.txn_error;
		return err->status;
	}
	switch (header->type)
	{
		case WC_MSG_HELLO:
			return do_hello(d, body, err);
		case WC_MSG_DESCRIBE:
			return wc_request_describe(d, body, err);
		case WC_MSG_LIST_TABLES:
			if ((header->flags & WC_FLAG_ALL) != 0)
				return wc_engine_list_all_tables(d->session.engine, database, txn, &d->out, err);
			return wc_engine_list_tables(d->session.engine, database, txn, &d->out, err);
		case WC_MSG_LIST_NAMESPACES:
			return wc_engine_list_namespaces(d->session.engine, database, txn, &d->out, err);
		case WC_MSG_NEW_TABLE_ID:
			return wc_request_new_table_id(d);
		case WC_MSG_OPEN:
			return wc_request_open(d, header, body, answer, err);
		case WC_MSG_TAKE:
			return wc_request_take(d, header, body, answer, err);
		case WC_MSG_NEXT:
			return wc_request_next(d, body, answer, err);
		case WC_MSG_STATS:
			return wc_request_stats(d, body, err);
		case WC_MSG_PRECOMMIT:
		case WC_MSG_PREPARE:
			return wc_request_precommit(d, header, body, err);
		case WC_MSG_FLUSH:
		case WC_MSG_COMPACT:
			return wc_request_table_work(d, header->type, body, err);
		case WC_MSG_COMPACTING:
			return wc_request_compacting(d, body, err);
		case WC_MSG_CHECK_STORE:
			return wc_request_check_store(d, body, err);
		case WC_MSG_ESTIMATE:
			return wc_request_estimate(d, body, err);
		case WC_MSG_SAMPLE:
			return wc_request_sample(d, body, err);
		case WC_MSG_SPLIT:
			return wc_request_split(d, body, err);
		case WC_MSG_LOCK:
			return wc_request_lock(d, body, answer, err);
		case WC_MSG_MODIFY:
			return wc_request_modify(d, header, body, answer, err);
		case WC_MSG_SNAPSHOT:
			return wc_request_snapshot(d, body, err);
		case WC_MSG_STATISTICS:
			return wc_request_statistics(d, body, err);
		default:
			return wc_error(err, WC_CORRUPT, "unknown request %d", header->type);
	}
}

/* A scan is noted as a whole, at its end (session.c). */
static void
note_slow(WcDispatch *d, uint8_t type, int64_t spent_us, uint64_t examined_before, uint64_t returned_before)
{
	const WcActivity *a = &d->session.activity;
	uint64_t	examined = a->rows_examined;
	uint64_t	returned = a->rows_returned;

	if (is_of_scan(type))
		return;
	/* less than before: the counts were reset meanwhile */
	wc_slow_note(&d->session.slow, wc_message_request_name(type), a->table_id, spent_us,
				 examined > examined_before ? examined - examined_before : 0,
				 returned > returned_before ? returned - returned_before : 0);
}

bool
wc_dispatch(WcDispatch *d, const WcFrameReader *request, bool cancelled)
{
	const WcFrameHeader *header = &request->header;
	WcSlice		body = wc_buf_slice(&request->body);
	WcAnswer		answer = {WC_MSG_OK, 0};
	uint64_t	examined;
	uint64_t	returned;
	WcError		err;
	WcStatus	status;

	hold_stretch(d, header->type);
	if (request->dropped && header->type == WC_MSG_BATCH)
	{
		d->session.txn_failed = true;
		wc_error(&d->session.txn_error, WC_NO_MEMORY, "the engine is out of memory for %u bytes of a transaction",
				 header->length);
		return false;
	}
	if (dispatch_silent(d, header, body))
	{
		wc_session_show(&d->session);
		return false;
	}
	d->began_us = wc_activity_begin(&d->session.activity, header->type);
	examined = d->session.activity.rows_examined;
	returned = d->session.activity.rows_returned;

	wc_frame_begin(&d->out);
	if (request->dropped)
		status = wc_error(&err, WC_NO_MEMORY, "the engine is out of memory for a request of %u bytes", header->length);
	else if (cancelled)
		status = error_cancelled(&err);
	else
		status = dispatch_answered(d, header, body, &answer, &err);
	if (status == WC_OK)
		status = wc_frame_finish(&d->out, answer.type, answer.flags, header->id, &err);
	if (status != WC_OK)
		answer_error(d, header->id, &err);
	wc_arena_reset(&d->arena);
	wc_session_show(&d->session);
	note_slow(d, header->type, wc_activity_end(&d->session.activity) - d->began_us, examined, returned);
	return true;
}
