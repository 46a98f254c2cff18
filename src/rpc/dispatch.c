/*
 * rpc/dispatch.c: requests and what they do.
 */
#include "rpc/dispatch.h"

#include <inttypes.h>

#include "base/clock.h"
#include "model/cellblock.h"
#include "rpc/rangewrite.h"
#include "rpc/rowlock.h"
#include "wire/segment.h"

/* What an answer is besides its payload. */
typedef struct Answer
{
	uint8_t		type;
	uint8_t		flags;
} Answer;

WcStatus
wc_dispatch_init(WcDispatch *d, WcEngine *engine, WcApplier *applier, WcIntake *intake, WcEpochs *epochs,
				 WcLockTable *locktable, const atomic_bool *cancel, WcError *err)
{
	WcArena		arena = WC_ARENA_INIT;

	wc_session_init(&d->session, engine, epochs, locktable, cancel);
	d->applier = applier;
	d->intake = intake;
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
	wc_session_free(&d->session);
	wc_arena_free(&d->arena);
	wc_buf_free(&d->out);
}

static void
answer_error(WcDispatch *d, uint64_t id, uint8_t flags, const WcError *err)
{
	WcError		ignored;

	wc_frame_begin(&d->out);
	wc_message_error_encode(&d->out, err);
	if (wc_frame_finish(&d->out, WC_MSG_ERROR, flags, id, &ignored) != WC_OK)
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
	answer_error(d, id, 0, &err);
}

static WcReadPoint
read_point(WcDispatch *d, WcSnapshot *snapshot, uint32_t cid, int64_t clock_offset_us)
{
	WcReadPoint at = {
		.snapshot = snapshot,
		.txn = wc_session_txn(&d->session),
		.cid = cid,
		.database = d->session.database,
		.clock_offset_us = clock_offset_us,
		.pid = d->session.slow.pid,
		.cancel = d->session.cancel
	};

	return at;
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

static WcScanReport
report_of(const WcScanStats *stats)
{
	WcScanReport report = {
		.rows_returned = stats->rows_returned,
		.rows_examined = stats->rows_examined,
		.cells_returned = stats->cells_returned,
		.cells_examined = stats->cells_examined,
		.seeks = stats->seeks,
		.cache_hits = stats->cache_hits,
		.blocks_read = stats->blocks_read,
		.rows_filtered = stats->rows_filtered
	};

	return report;
}

static void
report_scan(WcDispatch *d, const WcScanner *scanner)
{
	WcScanStats stats;
	WcScanReport report;

	wc_scanner_stats(scanner, &stats);
	report = report_of(&stats);
	wc_scan_report_encode(&d->out, &report);
}

static void
count_read(WcDispatch *d, const WcScanner *scanner, const WcScanStats *before)
{
	WcScanStats after = wc_scanner_rows(scanner);
	WcScanStats news = {
		.rows_examined = after.rows_examined - before->rows_examined,
		.rows_returned = after.rows_returned - before->rows_returned,
		.cache_hits = after.cache_hits - before->cache_hits,
		.blocks_read = after.blocks_read - before->blocks_read
	};

	wc_activity_read(&d->session.activity, &news);
	wc_activity_table(&d->session.activity, wc_scanner_table_id(scanner));
}

/* The next block of a scanner, which is closed if that fails.  *last: there is no more. */
static WcStatus
read_block(WcDispatch *d, uint32_t number, WcScanner *scanner, uint32_t target, bool *last, WcError *err)
{
	WcScanStats before = wc_scanner_rows(scanner);
	WcStatus	status = wc_scanner_next(scanner, &d->out, target, 0, err);

	count_read(d, scanner, &before);
	wc_session_scanner_spent(&d->session, number, wc_clock_monotonic_us() - d->began_us);
	*last = status == WC_END;
	if (status == WC_OK || status == WC_END)
		return WC_OK;
	wc_session_scanner_close(&d->session, number);
	return status;
}

/* Makes the block the answer; the last one closes its scanner. */
static void
answer_block(WcDispatch *d, uint32_t number, WcScanner *scanner, bool last, Answer *answer)
{
	answer->type = WC_MSG_BLOCK;
	if (!last)
		return;
	report_scan(d, scanner);
	wc_session_scanner_close(&d->session, number);
	answer->flags |= WC_FLAG_LAST;
}

/*
 * All of a Get's answer has been read: it is kept for whoever asks the same.  That it is
 * a Get, and which Gets may be shared, is the backend's to know (client/gets.c).
 */
static void
keep_answer(WcDispatch *d, const WcOpenMessage *m, const WcScan *scan, const WcScanner *scanner)
{
	WcSlice		answer = wc_slice(d->out.data + WC_FRAME_HEADER, d->out.len - WC_FRAME_HEADER);
	int64_t		until = wc_scanner_holds_until(scanner);

	if (until > 0 && m->epoch != 0 && m->snapshot != 0 && scan->nranges == 1)
		wc_epochs_keep(d->session.epochs, m->epoch, scan->table_id, scan->ranges[0].start, m->scan, answer,
					   wc_scanner_holds_from(scanner), until);
}

static WcStatus
do_open(WcDispatch *d, const WcFrameHeader *header, WcSlice body, Answer *answer, WcError *err)
{
	WcOpenMessage m;
	WcScan		scan;
	WcReadPoint at;
	WcSnapshot *snapshot;
	WcScanner  *scanner;
	bool		last;
	WcStatus	status = wc_message_open_decode(body, &m, err);

	if (status == WC_OK)
		status = wc_scan_decode(m.scan, &d->arena, &scan, err);
	if (status == WC_OK)
		status = wc_session_snapshot(&d->session, m.snapshot, m.epoch, &snapshot, err);
	if (status != WC_OK)
		return status;

	wc_activity_table(&d->session.activity, scan.table_id);
	at = read_point(d, snapshot, m.cid, m.clock_offset_us);
	status = wc_session_scanner_open(&d->session, m.scan_no, &scan, &at, &scanner, err);
	if (status != WC_OK)
		return status;
	status = read_block(d, m.scan_no, scanner, m.target, &last, err);
	if (status != WC_OK)
		return status;
	if (last && (header->flags & WC_FLAG_KEEP) != 0)
		keep_answer(d, &m, &scan, scanner);
	answer_block(d, m.scan_no, scanner, last, answer);
	return WC_OK;
}

/* Has the block a row?  It is one that was made here. */
static bool
has_row(WcSlice block)
{
	WcBlockReader reader;
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;

	return wc_block_open(&reader, block, NULL) == WC_OK && wc_block_next(&reader, &row, &cell, &colno) == WC_BLOCK_ROW;
}

/* The row is the owner's: reads it.  One that is not there, or is not wanted, was locked for nothing. */
static WcStatus
read_taken(WcDispatch *d, const WcTakeMessage *m, const WcScan *scan, WcLockOwner *owner, bool added, Answer *answer, WcError *err)
{
	WcReadPoint at = read_point(d, NULL, m->open.cid, m->open.clock_offset_us);
	WcScanner  *scanner;
	bool		last;
	WcStatus	status = wc_session_scanner_open(&d->session, m->open.scan_no, scan, &at, &scanner, err);

	if (status == WC_OK)
		status = read_block(d, m->open.scan_no, scanner, m->open.target, &last, err);
	if (status != WC_OK)
		return status;
	if (has_row(wc_slice(d->out.data + WC_FRAME_HEADER, d->out.len - WC_FRAME_HEADER)))
		answer->flags |= WC_FLAG_TAKEN;
	else if (added)
		wc_lock_give_back(d->session.locktable, owner, scan->table_id, scan->ranges[0].start);
	answer_block(d, m->open.scan_no, scanner, last, answer);
	if (wc_engine_has_large_rows(d->session.engine, scan->table_id))
		answer->flags |= WC_FLAG_CHECK;
	return WC_OK;
}

/* Another transaction has the row. */
static WcStatus
tell_holder(WcDispatch *d, const WcTakeMessage *m, const WcScan *scan, const WcLockHolder *holder, Answer *answer, WcError *err)
{
	WcReadPoint at = read_point(d, NULL, m->open.cid, m->open.clock_offset_us);
	uint64_t	numbers[2] = {holder->xid, holder->has_weaker};
	bool		there = false;
	WcStatus	status = wc_rowlock_gives(&d->session, scan, &at, &there, err);

	wc_message_numbers_encode(&d->out, numbers, 2);
	answer->flags = there ? WC_FLAG_THERE : 0;
	return status;
}

static WcStatus
do_take(WcDispatch *d, WcSlice body, Answer *answer, WcError *err)
{
	WcTakeMessage m;
	WcLockRequest request;
	WcLockHolder holder;
	WcLockOwner *owner;
	WcScan		scan;
	WcStatus	status = wc_message_take_decode(body, &m, err);

	if (status == WC_OK)
		status = wc_scan_decode(m.open.scan, &d->arena, &scan, err);
	if (status == WC_OK && (scan.nranges != 1 || !wc_range_is_point(&scan.ranges[0]) || m.open.snapshot != 0 || scan.aggregation != NULL))
		status = wc_error(err, WC_INVALID, "only the row of a Get at the newest state can be taken");
	if (status == WC_OK)
		status = wc_session_enter(&d->session, m.owner, &owner, err);
	if (status != WC_OK)
		return status;
	wc_activity_table(&d->session.activity, scan.table_id);
	request = (WcLockRequest) {.table_id = scan.table_id,.mode = m.mode,.enough = m.mode,.xid = m.xid,.subid = m.subid};
	status = wc_lock_acquire(d->session.locktable, owner, &request, scan.ranges[0].start, &holder, err);
	if (status == WC_OK && holder.xid != 0)
		status = tell_holder(d, &m, &scan, &holder, answer, err);
	else if (status == WC_OK)
		status = read_taken(d, &m, &scan, owner, holder.added, answer, err);
	wc_session_leave(&d->session, owner);
	return status;
}

static WcStatus
do_next(WcDispatch *d, WcSlice body, Answer *answer, WcError *err)
{
	WcNextMessage m;
	WcScanner  *scanner;
	bool		last;
	WcStatus	status = wc_message_next_decode(body, &m, err);

	if (status != WC_OK)
		return status;
	scanner = wc_session_scanner(&d->session, m.scan_no);
	if (scanner == NULL)
		return wc_error(err, WC_INTERNAL, "scanner %u is not open", m.scan_no);
	wc_activity_table(&d->session.activity, wc_scanner_table_id(scanner));
	status = read_block(d, m.scan_no, scanner, m.target, &last, err);
	if (status == WC_OK)
		answer_block(d, m.scan_no, scanner, last, answer);
	return status;
}

static WcStatus
do_stats(WcDispatch *d, WcSlice body, WcError *err)
{
	uint64_t	number;
	WcScanner  *scanner;
	WcStatus	status = wc_message_numbers_decode(body, &number, 1, err);

	if (status != WC_OK)
		return status;
	scanner = number < WC_SCANNERS_MAX ? wc_session_scanner(&d->session, (uint32_t) number) : NULL;
	if (scanner == NULL)
		return wc_error(err, WC_INTERNAL, "that scanner is not open");
	report_scan(d, scanner);
	return WC_OK;
}

static WcStatus
do_describe(WcDispatch *d, WcSlice body, WcError *err)
{
	WcSlice		ns,
				name;
	WcStatus	status = wc_message_name_decode(body, &ns, &name, err);

	if (status != WC_OK)
		return status;
	return wc_engine_describe(d->session.engine, d->session.database, wc_session_txn(&d->session),
							  ns, name, &d->out, err);
}

static WcStatus
do_new_table_id(WcDispatch *d)
{
	wc_buf_append_varint(&d->out, wc_engine_new_table_id(d->session.engine));
	return WC_OK;
}

static WcStatus
do_table_work(WcDispatch *d, uint8_t type, WcSlice body, WcError *err)
{
	WcTableMessage m;
	WcReadPoint at;
	WcWork		work;
	WcStatus	status = wc_message_table_decode(body, &m, err);

	if (status != WC_OK)
		return status;
	wc_activity_table(&d->session.activity, m.table_id);
	at = read_point(d, NULL, m.cid, m.clock_offset_us);
	(void) wc_epochs_tidy(d->session.epochs);
	work.kind = type == WC_MSG_FLUSH ? WC_WORK_FLUSH : m.major ? WC_WORK_MAJOR : WC_WORK_COMPACT;
	work.table_id = m.table_id;
	work.family_id = m.family_id;
	if (m.later)
		return wc_engine_work_later(d->session.engine, &work, &at, err);
	return wc_engine_work(d->session.engine, &work, &at, err);
}

static WcStatus
do_compacting(WcDispatch *d, WcSlice body, WcError *err)
{
	uint64_t	table_id;
	uint64_t	numbers[2];
	bool		minor;
	bool		major;
	WcStatus	status = wc_message_numbers_decode(body, &table_id, 1, err);

	if (status != WC_OK)
		return status;
	wc_engine_compacting(d->session.engine, (uint32_t) table_id, &minor, &major);
	numbers[0] = minor;
	numbers[1] = major;
	wc_message_numbers_encode(&d->out, numbers, 2);
	return WC_OK;
}

static WcStatus
do_check_store(WcDispatch *d, WcSlice body, WcError *err)
{
	uint64_t	table_id;
	WcStatus	status = wc_message_numbers_decode(body, &table_id, 1, err);

	if (status != WC_OK)
		return status;
	return wc_engine_inspect(d->session.engine, d->session.database, (uint32_t) table_id, d->session.cancel, &d->out, err);
}

static WcStatus
do_estimate(WcDispatch *d, WcSlice body, WcError *err)
{
	WcEstimateMessage m;
	uint64_t	numbers[2];
	WcStatus	status = wc_message_estimate_decode(body, &d->arena, &m, err);

	if (status == WC_OK)
		wc_activity_table(&d->session.activity, m.table_id);
	if (status == WC_OK)
		status = wc_engine_estimate(d->session.engine, m.table_id, &m.range, m.families, m.nfamilies,
									&numbers[0], &numbers[1], err);
	if (status == WC_OK)
		wc_message_numbers_encode(&d->out, numbers, 2);
	return status;
}

static WcStatus
do_split(WcDispatch *d, WcSlice body, WcError *err)
{
	WcSplitMessage m;
	WcSplitRequest request;
	WcStatus	status = wc_message_split_decode(body, &d->arena, &m, err);

	if (status != WC_OK)
		return status;
	wc_activity_table(&d->session.activity, m.range.table_id);
	request.table_id = m.range.table_id;
	request.range = m.range.range;
	request.nfamilies = m.range.nfamilies;
	request.families = m.range.families;
	request.nparts = m.nparts;
	return wc_engine_split(d->session.engine, &request, d->session.cancel, &d->out, err);
}

static WcStatus
do_sample(WcDispatch *d, WcSlice body, WcError *err)
{
	WcSampleMessage m;
	WcSampleRequest request;
	WcStatus	status = wc_message_sample_decode(body, &m, err);

	if (status != WC_OK)
		return status;
	wc_activity_table(&d->session.activity, m.table_id);
	request.table_id = m.table_id;
	request.range = m.range;
	request.nranges = m.nranges;
	request.range_rows = m.range_rows;
	request.seed = m.seed;
	return wc_engine_sample(d->session.engine, &request, d->session.cancel, &d->out, err);
}

static WcStatus
do_statistics(WcDispatch *d, WcSlice body, WcError *err)
{
	uint64_t	view;
	WcStatus	status = wc_message_numbers_decode(body, &view, 1, err);

	if (status == WC_OK && (view < WC_STATISTICS_ENGINE || view > WC_STATISTICS_RESET))
		status = wc_error(err, WC_CORRUPT, "unknown view of statistics %" PRIu64, view);
	if (status == WC_OK)
		status = d->statistics.rows(d->statistics.arg, (uint8_t) view, d->session.database, &d->out, err);
	return status;
}

static WcStatus
do_snapshot(WcDispatch *d, WcSlice body, WcError *err)
{
	uint64_t	number;
	WcSnapshot *snapshot;
	WcStatus	status = wc_message_numbers_decode(body, &number, 1, err);

	if (status != WC_OK)
		return status;
	return wc_session_snapshot(&d->session, number, 0, &snapshot, err);
}

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

static WcStatus
do_modify(WcDispatch *d, const WcFrameHeader *header, WcSlice body, Answer *answer, WcError *err)
{
	Parts		parts = {.d = d,.id = header->id,.frame = WC_BUF_INIT};
	WcRangeSink sink = {.take = send_changes,.arg = &parts};
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
	at = read_point(d, snapshot, m.cid, m.clock_offset_us);
	status = wc_rangewrite(&d->session, &m, &at, &sink, &d->arena, &result, &stats, err);
	if (status == WC_OK)
	{
		wc_activity_read(&d->session.activity, &stats);
		result.report = report_of(&stats);
		wc_message_modified_encode(&d->out, &result);
		answer->flags = (uint8_t) ((result.check ? WC_FLAG_CHECK : 0) | (result.there ? WC_FLAG_THERE : 0));
	}
	wc_buf_free(&sink.ops);
	wc_buf_free(&parts.frame);
	return status;
}

/* Who waits for a row waits in its backend, and asks again. */
static WcStatus
do_lock(WcDispatch *d, WcSlice body, Answer *answer, WcError *err)
{
	WcLockMessage m;
	WcLockResult result;
	WcReadPoint then;
	WcSnapshot *snapshot;
	uint8_t    *said;
	WcStatus	status = wc_message_lock_decode(body, &d->arena, &m, err);

	/* the snapshot first: what others commit while the rows are waited for is not in it */
	if (status == WC_OK)
		status = wc_session_snapshot(&d->session, m.snapshot, m.epoch, &snapshot, err);
	if (status != WC_OK)
		return status;
	wc_activity_table(&d->session.activity, m.table_id);
	said = wc_arena_alloc(&d->arena, m.nrows);
	if (said == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for locking rows");
	then = read_point(d, snapshot, m.cid, m.clock_offset_us);
	status = wc_rowlock_rows(&d->session, &m, &then, said, &result, err);
	if (status == WC_OK)
	{
		wc_message_locked_encode(&d->out, &result);
		answer->flags = result.check ? WC_FLAG_CHECK : 0;
	}
	return status;
}

/* Is all there that the backend has written, and no more? */
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
 * All that can fail about a commit: its rows are locked and looked at.  *holder: 0, or who has
 * one of them: then nothing more has been done.
 */
static WcStatus
prepare_commit(WcDispatch *d, const WcCommitMessage *m, bool may_cancel, uint64_t *holder, WcError *err)
{
	WcTxn	   *txn = wc_session_txn(&d->session);
	const atomic_bool *cancel = may_cancel ? d->session.cancel : NULL;
	WcSnapshot *snapshot;
	WcReadPoint then;
	WcStatus	status = check_whole(&d->session, m->length, err);

	*holder = 0;
	if (status == WC_OK)
		status = wc_session_snapshot(&d->session, m->snapshot, m->epoch, &snapshot, err);
	if (status != WC_OK || txn == NULL)
		return status;
	then = read_point(d, snapshot, 0, 0);
	then.cancel = cancel;
	status = wc_rowlock_commit(&d->session, txn, m->xid, snapshot != NULL ? &then : NULL, cancel, holder, err);
	if (status == WC_OK && *holder == 0)
		status = wc_engine_check(d->session.engine, txn, cancel, err);
	if (status == WC_OK && *holder == 0)
		status = wc_engine_prepare(d->session.engine, m->xid, txn, err);
	return status;
}

/* Without a log. */
static WcStatus
do_commit(WcDispatch *d, const WcFrameHeader *header, WcSlice body, Answer *answer, WcError *err)
{
	WcCommitMessage m;
	uint64_t	holder;
	WcTxn	   *txn;
	bool		unknown = false;
	WcStatus	status = wc_message_commit_decode(body, &m, err);

	if (status == WC_OK)
		status = prepare_commit(d, &m, false, &holder, err);
	if (status != WC_OK)
		return status;
	wc_message_numbers_encode(&d->out, &holder, 1);
	if (holder != 0)
		return WC_OK;			/* nothing has been done */
	txn = wc_session_txn(&d->session);
	if (txn != NULL)
		status = wc_applier_commit(d->applier, m.xid, txn, (header->flags & WC_FLAG_SYNC) != 0, &unknown, err);
	wc_engine_forget(d->session.engine, m.xid);
	if (status == WC_OK || unknown)
		wc_session_end_transaction(&d->session);
	if (unknown)
		answer->flags = WC_FLAG_UNKNOWN;
	return status;
}

/* What the transaction has locked, for the log: who reads it after a restart locks it again. */
static WcStatus
send_locks(WcDispatch *d, uint64_t id, const WcCommitMessage *m, WcError *err)
{
	Parts		parts = {.d = d,.id = id,.frame = WC_BUF_INIT};
	WcStatus	status = wc_rowlock_list(&d->session, m->xid, m->length, send_changes, &parts, err);

	wc_buf_free(&parts.frame);
	return status;
}

/*
 * With one: from then on the log says what becomes of the transaction, and of its locks; the
 * session has nothing of it any more.
 */
static WcStatus
do_precommit(WcDispatch *d, const WcFrameHeader *header, WcSlice body, WcError *err)
{
	WcCommitMessage m;
	uint64_t	holder;
	WcStatus	status = wc_message_commit_decode(body, &m, err);

	if (status == WC_OK && (d->intake == NULL || m.xid == 0))
		status = wc_error(err, WC_CORRUPT, "PRECOMMIT needs a log, and a transaction's id");
	if (status == WC_OK)
		status = prepare_commit(d, &m, true, &holder, err);
	if (status == WC_OK && holder == 0 && header->type == WC_MSG_PREPARE)
		status = send_locks(d, header->id, &m, err);
	if (status != WC_OK)
		return status;
	wc_message_numbers_encode(&d->out, &holder, 1);
	if (holder == 0)
	{
		d->session.xid = 0;		/* its locks are the intake's to give up */
		wc_session_end_transaction(&d->session);
	}
	return WC_OK;
}

/* As PRECOMMIT, of a transaction that has locked all its rows, and of which nothing is to be looked
 * at.  The intake may have given up its locks already: the log may be ahead of this message. */
static void
hand_over(WcDispatch *d, uint64_t xid)
{
	if (d->intake == NULL || (d->session.xid != 0 && d->session.xid != xid))
		return;
	d->session.xid = 0;
	wc_session_end_transaction(&d->session);
}

static void
take_batch(WcDispatch *d, WcSlice body)
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
			take_batch(d, body);
			return true;
		case WC_MSG_UNLOCK:
			if (wc_message_numbers_decode(body, &number, 1, &err) == WC_OK && number > 0 && number <= UINT32_MAX)
				wc_session_unlock(&d->session, (uint32_t) number);
			return true;
		case WC_MSG_ABORTED:
			if (wc_message_numbers_decode(body, &number, 1, &err) == WC_OK && d->intake != NULL)
				wc_intake_aborted(d->intake, number);
			return true;
		case WC_MSG_HANDED:
			if (wc_message_numbers_decode(body, &number, 1, &err) == WC_OK)
				hand_over(d, number);
			return true;
		case WC_MSG_ABORT:
			wc_session_end_transaction(&d->session);
			return true;
		default:
			return false;
	}
}

static WcStatus
dispatch_answered(WcDispatch *d, const WcFrameHeader *header, WcSlice body, Answer *answer, WcError *err)
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
			return do_describe(d, body, err);
		case WC_MSG_LIST_TABLES:
			if ((header->flags & WC_FLAG_ALL) != 0)
				return wc_engine_list_all_tables(d->session.engine, database, txn, &d->out, err);
			return wc_engine_list_tables(d->session.engine, database, txn, &d->out, err);
		case WC_MSG_LIST_NAMESPACES:
			return wc_engine_list_namespaces(d->session.engine, database, txn, &d->out, err);
		case WC_MSG_NEW_TABLE_ID:
			return do_new_table_id(d);
		case WC_MSG_OPEN:
			return do_open(d, header, body, answer, err);
		case WC_MSG_TAKE:
			return do_take(d, body, answer, err);
		case WC_MSG_NEXT:
			return do_next(d, body, answer, err);
		case WC_MSG_STATS:
			return do_stats(d, body, err);
		case WC_MSG_COMMIT:
			return do_commit(d, header, body, answer, err);
		case WC_MSG_PRECOMMIT:
		case WC_MSG_PREPARE:
			return do_precommit(d, header, body, err);
		case WC_MSG_FLUSH:
		case WC_MSG_COMPACT:
			return do_table_work(d, header->type, body, err);
		case WC_MSG_COMPACTING:
			return do_compacting(d, body, err);
		case WC_MSG_CHECK_STORE:
			return do_check_store(d, body, err);
		case WC_MSG_ESTIMATE:
			return do_estimate(d, body, err);
		case WC_MSG_SAMPLE:
			return do_sample(d, body, err);
		case WC_MSG_SPLIT:
			return do_split(d, body, err);
		case WC_MSG_LOCK:
			return do_lock(d, body, answer, err);
		case WC_MSG_MODIFY:
			return do_modify(d, header, body, answer, err);
		case WC_MSG_SNAPSHOT:
			return do_snapshot(d, body, err);
		case WC_MSG_STATISTICS:
			return do_statistics(d, body, err);
		default:
			return wc_error(err, WC_CORRUPT, "unknown request %d", header->type);
	}
}

/* A scan is told of as a whole, at its end (session.c). */
static void
note_slow(WcDispatch *d, uint8_t type, int64_t spent_us, uint64_t examined_before, uint64_t returned_before)
{
	const WcActivity *a = &d->session.activity;
	uint64_t	examined = a->rows_examined;
	uint64_t	returned = a->rows_returned;

	if (type == WC_MSG_OPEN || type == WC_MSG_TAKE || type == WC_MSG_NEXT)
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
	Answer		answer = {WC_MSG_OK, 0};
	uint64_t	examined;
	uint64_t	returned;
	WcError		err;
	WcStatus	status;

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
	else if (cancelled && header->type != WC_MSG_COMMIT)
		status = error_cancelled(&err);
	else
		status = dispatch_answered(d, header, body, &answer, &err);
	if (status == WC_OK)
		status = wc_frame_finish(&d->out, answer.type, answer.flags, header->id, &err);
	if (status != WC_OK)
		answer_error(d, header->id, header->type == WC_MSG_COMMIT ? answer.flags : 0, &err);
	wc_arena_reset(&d->arena);
	wc_session_show(&d->session);
	note_slow(d, header->type, wc_activity_end(&d->session.activity) - d->began_us, examined, returned);
	return true;
}
