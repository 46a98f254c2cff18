/*
 * rpc/requestscan.c: requests that read rows and cells.
 */
#include "rpc/request.h"

#include "base/clock.h"
#include "model/cellblock.h"
#include "rpc/session/rowlock.h"

WcReadPoint
wc_request_read_point(WcDispatch *d, WcSnapshot *snapshot, uint32_t cid, int64_t clock_offset_us)
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

WcScanReport
wc_request_report(const WcScanStats *stats)
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
	report = wc_request_report(&stats);
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

/* Reads the next block of a scanner, and closes the scanner after an error.  *last: this is the last block. */
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

/* Makes the block the answer; after the last block closes the scanner. */
static void
answer_block(WcDispatch *d, uint32_t number, WcScanner *scanner, bool last, WcAnswer *answer)
{
	answer->type = WC_MSG_BLOCK;
	if (!last)
		return;
	report_scan(d, scanner);
	wc_session_scanner_close(&d->session, number);
	answer->flags |= WC_FLAG_LAST;
}

/*
 * Keeps the complete answer to a Get, which was read in this epoch, in shared memory, for sessions that send the same; or has
 * the rows of a range kept, soon, and a row that is too large for this.  The backend decides that its answer may be shared (client/local/gets.c).  ahead: such Gets should
 * be answered in advance.
 */
static void
keep_answer(WcDispatch *d, const WcOpenMessage *m, uint64_t epoch, bool ahead, const WcScan *scan, const WcScanner *scanner)
{
	WcSlice		answer = wc_slice(d->out.data + WC_FRAME_HEADER, d->out.len - WC_FRAME_HEADER);
	int64_t		until = wc_scanner_valid_until_us(scanner);
	int64_t		from = wc_scanner_valid_from_us(scanner);

	if (scan->nranges != 1)
		return;
	if (!wc_range_is_point(&scan->ranges[0]) || m->scan.len + answer.len > WC_GETCACHE_ENTRY_MAX)
	{
		WcRangeAnswer its = {.block = answer,.epoch = epoch,.valid_from_us = from,.valid_until_us = until};

		wc_rangefill_asked(&d->rangefill, d->session.database, scan, &its);
		return;
	}
	if (until <= 0 || epoch == 0)
		return;
	wc_epochs_keep(d->session.epochs, epoch, scan->table_id, scan->ranges[0].start, m->scan, answer, from, until);
	if (!ahead)
		return;
	wc_answers_asked(wc_epochs_answers(d->session.epochs), d->session.database, scan, m->scan, answer.len);
	wc_neighbours_asked(&d->neighbours, d->session.database, scan, m->scan, answer.len);
}

/* Stored rows that a session's thread reads before others help: about a millisecond, beside which the division of the rest
 * costs little. */
#define ROWS_ALONE 4096

/* A shared scan returns at most one row, or group of rows, for so many stored rows. */
#define RETURNED_PART 8

/* A part of a shared scan has at least so many bytes in files: to read them takes about a millisecond. */
#define PART_BYTES_MIN (64 * 1024)

/* A WcScanHelpers; arg: the WcDispatch. */
static WcStatus
split_for_helpers(void *arg, uint32_t table_id, const WcRange *range, const uint32_t *families, uint32_t nfamilies,
				  uint32_t nparts, WcBuf *out, WcError *err)
{
	WcDispatch *d = arg;
	WcSplitRequest request = {
		.table_id = table_id,.range = *range,.nfamilies = nfamilies,.families = families,.nparts = nparts,
		.bytes_min = PART_BYTES_MIN
	};

	return wc_engine_split(d->session.engine, &request, d->session.cancel, out, err);
}

static void
run_with_helpers(void *arg, bool (*work) (void *work_arg), void *work_arg)
{
	WcDispatch *d = arg;

	wc_crew_run(d->crew, d->window, work, work_arg);
}

WcScanHelpers
wc_request_helpers(WcDispatch *d, uint64_t returned_part)
{
	return (WcScanHelpers) {split_for_helpers, run_with_helpers, d, ROWS_ALONE, returned_part};
}

WcStatus
wc_request_open(WcDispatch *d, const WcFrameHeader *header, WcSlice body, WcAnswer *answer, WcError *err)
{
	WcOpenMessage m;
	WcScan		scan;
	WcReadPoint at;
	WcSnapshot *snapshot;
	WcScanner  *scanner;
	bool		last;
	uint64_t	epoch = wc_epochs_current(d->session.epochs);	/* before the newest state is read */
	WcStatus	status = wc_message_open_decode(body, &m, err);

	if (status == WC_OK)
		status = wc_scan_decode(m.scan, &d->arena, &scan, err);
	if (status == WC_OK)
		status = wc_session_snapshot(&d->session, m.snapshot, m.epoch, &snapshot, err);
	if (status != WC_OK)
		return status;

	wc_activity_table(&d->session.activity, scan.table_id);
	at = wc_request_read_point(d, snapshot, m.cid, m.clock_offset_us);
	status = wc_session_scanner_open(&d->session, m.scan_no, &scan, &at, &scanner, err);
	if (status != WC_OK)
		return status;
	if (d->crew != NULL && wc_crew_helps(d->crew))
	{
		WcScanHelpers helpers = wc_request_helpers(d, RETURNED_PART);

		status = wc_scanner_share(scanner, m.scan, &helpers, err);
		if (status != WC_OK)
		{
			wc_session_scanner_close(&d->session, m.scan_no);
			return status;
		}
	}
	status = read_block(d, m.scan_no, scanner, m.target, &last, err);
	if (status != WC_OK)
		return status;
	if (last && (header->flags & WC_FLAG_KEEP) != 0)
		keep_answer(d, &m, m.snapshot == 0 ? epoch : m.epoch, true, &scan, scanner);
	answer_block(d, m.scan_no, scanner, last, answer);
	return WC_OK;
}

/* Has the block, which was made in this process, a row? */
static bool
has_row(WcSlice block)
{
	WcBlockReader reader;
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;

	return wc_block_open(&reader, block, NULL) == WC_OK && wc_block_next(&reader, &row, &cell, &colno) == WC_BLOCK_ROW;
}

/* Reads the row, which the owner has locked.  If the scan does not return the row, the new lock is released. */
static WcStatus
read_taken(WcDispatch *d, const WcTakeMessage *m, bool keep, const WcScan *scan, WcLockOwner *owner, bool added,
		   WcAnswer *answer, WcError *err)
{
	uint64_t	epoch = wc_epochs_current(d->session.epochs);	/* before the row is read */
	WcReadPoint at = wc_request_read_point(d, NULL, m->open.cid, m->open.clock_offset_us);
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
	if (last && keep)
		keep_answer(d, &m->open, epoch, wc_epochs_wants_ahead(d->session.epochs, scan->table_id, scan->ranges[0].start),
					scan, scanner);
	answer_block(d, m->open.scan_no, scanner, last, answer);
	if (wc_engine_has_large_rows(d->session.engine, scan->table_id))
		answer->flags |= WC_FLAG_CHECK;
	return WC_OK;
}

/* Another transaction has locked the row: returns its id. */
static WcStatus
tell_holder(WcDispatch *d, const WcTakeMessage *m, const WcScan *scan, const WcLockHolder *holder, WcAnswer *answer, WcError *err)
{
	WcReadPoint at = wc_request_read_point(d, NULL, m->open.cid, m->open.clock_offset_us);
	uint64_t	numbers[2] = {holder->xid, holder->has_weaker};
	bool		there = false;
	WcStatus	status = wc_rowlock_gives(&d->session, scan, &at, &there, err);

	wc_message_numbers_encode(&d->out, numbers, 2);
	answer->flags = there ? WC_FLAG_THERE : 0;
	return status;
}

WcStatus
wc_request_take(WcDispatch *d, const WcFrameHeader *header, WcSlice body, WcAnswer *answer, WcError *err)
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
	request = (WcLockRequest) {.table_id = scan.table_id,.mode = m.mode,.enough = m.mode,.xid = m.xid,.subid = m.subid,.brief = true};
	status = wc_lock_acquire(d->session.locktable, owner, &request, scan.ranges[0].start, &holder, err);
	if (status == WC_OK && holder.xid != 0)
		status = tell_holder(d, &m, &scan, &holder, answer, err);
	else if (status == WC_OK)
		status = read_taken(d, &m, (header->flags & WC_FLAG_KEEP) != 0, &scan, owner, holder.added, answer, err);
	wc_session_leave(&d->session, owner);
	return status;
}

WcStatus
wc_request_next(WcDispatch *d, WcSlice body, WcAnswer *answer, WcError *err)
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

WcStatus
wc_request_stats(WcDispatch *d, WcSlice body, WcError *err)
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

WcStatus
wc_request_snapshot(WcDispatch *d, WcSlice body, WcError *err)
{
	uint64_t	number;
	WcSnapshot *snapshot;
	WcStatus	status = wc_message_numbers_decode(body, &number, 1, err);

	if (status != WC_OK)
		return status;
	return wc_session_snapshot(&d->session, number, 0, &snapshot, err);
}
