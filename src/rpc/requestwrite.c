/*
 * rpc/requestwrite.c: requests that write, lock rows, and end transactions.
 */
#include "rpc/request.h"

#include <inttypes.h>

#include "rpc/modify.h"
#include "rpc/session/rowlock.h"

/* A request whose answer has several frames. */
typedef struct Parts
{
	WcDispatch *d;
	uint64_t	id;
	WcBuf		frame;
} Parts;

static WcStatus
send_changes(void *arg, uint64_t at, WcSlice bytes, WcError *err)
{
	Parts	   *p = arg;
	WcChangesMessage m = {at, bytes};
	WcStatus	status;

	wc_frame_begin(&p->frame);
	wc_message_changes_encode(&p->frame, &m);
	status = wc_frame_finish(&p->frame, WC_MSG_CHANGES, 0, p->id, err);
	if (status == WC_OK)
		status = p->d->parts.send(p->d->parts.arg, &p->frame, err);
	return status;
}

/* Sessions that write rows without reading them find out in shared memory that the rows exist. */
static void
ask_ahead(WcDispatch *d, const WcModifyMessage *m)
{
	WcScan		scan;
	WcError		err;

	if (wc_scan_decode(m->scan, &d->arena, &scan, &err) == WC_OK && scan.nranges == 1 &&
		wc_epochs_wants_ahead(d->session.epochs, scan.table_id, scan.ranges[0].start))
	{
		wc_epochs_use_cache(d->session.epochs);
		wc_answers_asked(wc_epochs_answers(d->session.epochs), d->session.database, &scan, m->scan, 0);
		wc_neighbours_asked(&d->neighbours, d->session.database, &scan, m->scan, 0);
	}
}

WcStatus
wc_request_modify(WcDispatch *d, const WcFrameHeader *header, WcSlice body, WcAnswer *answer, WcError *err)
{
	Parts		parts = {.d = d,.id = header->id,.frame = WC_BUF_INIT};
	WcModifySink sink = {.take = send_changes,.arg = &parts};
	WcScanHelpers helpers;
	bool		helped = d->crew != NULL && wc_crew_helps(d->crew);
	WcModifyMessage m;
	WcModifyResult result;
	WcScanStats stats;
	WcReadPoint at;
	WcSnapshot *snapshot;
	WcStatus	status = wc_message_modify_decode(body, &m, err);

	m.first = (header->flags & WC_FLAG_FIRST) != 0;
	if (status == WC_OK)
		status = wc_session_snapshot(&d->session, m.snapshot, m.epoch, &snapshot, err);
	if (status == WC_OK)
		status = wc_session_begin_write(&d->session, m.bytes_max, err);
	if (status != WC_OK)
		return status;
	at = wc_request_read_point(d, snapshot, m.cid, m.clock_offset_us);
	if (helped)
		helpers = wc_request_helpers(d, 0);
	status = wc_modify_rows(&d->session, &m, &at, &sink, helped ? &helpers : NULL, &d->arena, &result, &stats, err);
	if (status == WC_OK)
	{
		wc_activity_read(&d->session.activity, &stats);
		result.report = wc_request_report(&stats);
		wc_message_modified_encode(&d->out, &result);
		if ((header->flags & WC_FLAG_AHEAD) != 0 && result.rows > 0)
			ask_ahead(d, &m);
		answer->flags = (uint8_t) ((result.check ? WC_FLAG_CHECK : 0) | (result.there ? WC_FLAG_THERE : 0));
	}
	wc_buf_free(&sink.ops);
	wc_buf_free(&parts.frame);
	return status;
}

/* A session that must wait for a row waits in its backend, and sends the request again. */
WcStatus
wc_request_lock(WcDispatch *d, WcSlice body, WcAnswer *answer, WcError *err)
{
	WcLockMessage m;
	WcLockResult result;
	WcReadPoint then;
	WcSnapshot *snapshot;
	uint8_t    *said;
	WcStatus	status = wc_message_lock_decode(body, &d->arena, &m, err);

	/* first the snapshot: it must not show commits of transactions for which this one waits */
	if (status == WC_OK)
		status = wc_session_snapshot(&d->session, m.snapshot, m.epoch, &snapshot, err);
	if (status != WC_OK)
		return status;
	wc_activity_table(&d->session.activity, m.table_id);
	said = wc_arena_alloc(&d->arena, m.nrows);
	if (said == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for locking rows");
	then = wc_request_read_point(d, snapshot, m.cid, m.clock_offset_us);
	status = wc_rowlock_rows(&d->session, &m, &then, said, &result, err);
	if (status == WC_OK)
	{
		wc_message_locked_encode(&d->out, &result);
		answer->flags = result.check ? WC_FLAG_CHECK : 0;
	}
	return status;
}

/* Has the engine exactly the bytes that the backend has written? */
static WcStatus
check_whole(const WcSession *s, uint64_t length, WcError *err)
{
	if (wc_session_length(s) != length)
		return wc_error(err, WC_CORRUPT, "the engine has %" PRIu64 " bytes of a transaction's changes instead of %" PRIu64,
						wc_session_length(s), length);
	if (length > 0 && !wc_txn_is_whole(s->txn))
		return wc_error(err, WC_CORRUPT, "a transaction's changes end amid an operation");
	return WC_OK;
}

/*
 * Everything of a commit that can fail: locks its rows and checks them.  lasts: as for wc_rowlock_commit.  *holder: 0, or the transaction that has locked
 * one of them: then nothing else has been done.
 */
static WcStatus
prepare_commit(WcDispatch *d, const WcCommitMessage *m, bool lasts, uint64_t *holder, WcError *err)
{
	WcTxn	   *txn = wc_session_txn(&d->session);
	const atomic_bool *cancel = d->session.cancel;
	WcSnapshot *snapshot;
	WcReadPoint then;
	WcStatus	status = check_whole(&d->session, m->length, err);

	*holder = 0;
	if (status == WC_OK)
		status = wc_session_snapshot(&d->session, m->snapshot, m->epoch, &snapshot, err);
	if (status != WC_OK || txn == NULL)
		return status;
	then = wc_request_read_point(d, snapshot, 0, 0);
	then.cancel = cancel;
	status = wc_rowlock_commit(&d->session, txn, m->xid, lasts, snapshot != NULL ? &then : NULL, cancel, holder, err);
	if (status == WC_OK && *holder == 0)
		status = wc_engine_check(d->session.engine, txn, cancel, err);
	if (status == WC_OK && *holder == 0)
		status = wc_engine_prepare(d->session.engine, m->xid, txn, err);
	return status;
}

/* Sends the locks of the transaction, for the log: an engine that reads the log after a restart locks the rows again. */
static WcStatus
send_locks(WcDispatch *d, uint64_t id, const WcCommitMessage *m, WcError *err)
{
	Parts		parts = {.d = d,.id = id,.frame = WC_BUF_INIT};
	WcStatus	status = wc_rowlock_list(&d->session, m->xid, m->length, send_changes, &parts, err);

	wc_buf_free(&parts.frame);
	return status;
}

/*
 * PRECOMMIT and PREPARE: from now on the log decides how the transaction ends, and when its locks are released; the session
 * forgets the transaction.
 */
WcStatus
wc_request_precommit(WcDispatch *d, const WcFrameHeader *header, WcSlice body, WcError *err)
{
	WcCommitMessage m;
	bool		prepares = header->type == WC_MSG_PREPARE;
	uint64_t	holder;
	WcStatus	status = wc_message_commit_decode(body, &m, err);

	if (status == WC_OK && m.xid == 0)
		status = wc_error(err, WC_CORRUPT, "PRECOMMIT needs a transaction's id");
	if (status == WC_OK)
		status = prepare_commit(d, &m, prepares, &holder, err);
	if (status == WC_OK && holder == 0 && prepares)
		status = send_locks(d, header->id, &m, err);
	if (status != WC_OK)
		return status;
	wc_message_numbers_encode(&d->out, &holder, 1);
	if (holder == 0)
	{
		d->session.xid = 0;		/* the intake releases its locks */
		wc_session_end_transaction(&d->session);
	}
	return WC_OK;
}

/* As PRECOMMIT, for a transaction that has locked all its rows and needs no check.  The intake may have released
 * the transaction's locks already: the log may be ahead of this message. */
void
wc_request_hand_over(WcDispatch *d, uint64_t xid)
{
	if (d->session.xid != 0 && d->session.xid != xid)
		return;
	d->session.xid = 0;
	wc_session_end_transaction(&d->session);
}

void
wc_request_take_batch(WcDispatch *d, WcSlice body)
{
	WcBatchMessage m;
	WcError		err;

	if (wc_message_batch_decode(body, &m, &err) == WC_OK)
		wc_session_write(&d->session, m.at, m.bytes, m.bytes_max);
	else if (!d->session.txn_failed)
	{
		d->session.txn_failed = true;
		d->session.txn_error = err;
	}
}
