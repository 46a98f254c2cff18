/*
 * client/local/localscan.c: scans in the embedded engine, for its driver (local.c).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "channel/flight.h"
#include "channel/shmem.h"
#include "client/local/claim.h"
#include "client/local/gets.h"
#include "client/local/local.h"

/* A brief scan reads at most so many rows, by their keys (LOOKUPS) or by its limit (ROWS). */
#define BRIEF_LOOKUPS 8
#define BRIEF_ROWS 100

/* Bytes of the first block if few rows are likely to be read. */
#define FEW_BLOCK 256

void
wc_local_scan_close(WcDriverScan *scan)
{
	if (scan->open)
	{
		wc_local_leave_scan(scan);
		wc_local_send_deferred(true);
	}
	wc_local_drop_scan(scan);
}

/* Waits until an answer for the scan is in its stash. */
static void
await_block(WcDriverScan *scan)
{
	while (!scan->stashed)
	{
		WcFrameReader *frame = wc_connection_receive(scan->pending);

		if (frame == NULL)
			wc_connection_raise_gone();
		wc_local_stray(frame);
	}
}

/* Makes the stashed block the current one; raises a stashed error. */
static void
accept_block(WcDriverScan *scan)
{
	WcBuf		block = scan->block;
	WcError		err;

	scan->stashed = false;
	if (scan->stash_failed)
	{
		wc_message_error_decode(wc_buf_slice(&scan->stash), &err);
		wc_raise(&err);
	}
	scan->block = scan->stash;
	scan->block_len = scan->stash_len;
	scan->stash = block;
	scan->batches++;
	scan->stats.batches = scan->batches;
}

static void
ask_next(WcDriverScan *scan)
{
	WcNextMessage next = {scan->number, (uint32) scan->target};

	wc_local_send_deferred(false);
	wc_message_next_encode(wc_connection_message(), &next);
	scan->pending = wc_connection_send(WC_MSG_NEXT, 0, WC_SEND_NOW);
	scan->target = Min(scan->target * 4, WC_BLOCK_MAX);
}

/* Does the scan read a few rows by their keys? */
static bool
is_lookup(const WcScan *scan)
{
	if (scan->nranges == 0 || scan->nranges > BRIEF_LOOKUPS)
		return false;
	for (uint32 i = 0; i < scan->nranges; i++)
	{
		if (!wc_range_is_point(&scan->ranges[i]))
			return false;
	}
	return true;
}

/* The first block is small if the rest of the rows may not be wanted.  The rows of a scan with a limit are, and those of keys, unless each cell
 * is a row of the foreign table.  A hint without a limit: a query may need some more rows than its LIMIT says, those that SKIP
 * LOCKED skips, for example. */
static size_t
first_target(const WcDriverOpen *open)
{
	bool		lookup = is_lookup(open->scan);

	if (open->scan->row_limit > 0 || (lookup && !open->scan->count_cells))
		return WC_BLOCK_LIMITED;
	if (open->rows_hint >= 1000)
		return WC_BLOCK_MAX;
	if (open->rows_hint > 0 && open->rows_hint <= WC_ROWS_FEW && !lookup)
		return FEW_BLOCK;
	return open->rows_hint > 100 ? WC_BLOCK_MAX / 4 : WC_BLOCK_FIRST;
}

bool
wc_local_is_brief(const WcDriverOpen *open)
{
	return is_lookup(open->scan) ||
		(open->rows_hint > 0 && open->rows_hint <= BRIEF_ROWS && open->scan->filter == NULL && open->scan->row_offset == 0);
}

/* Looks for the answer in shared memory; an answer that is found goes to the stash, as one from the engine. */
static WcGetFound
find_answer(WcDriverScan *scan, const WcDriverOpen *open)
{
	WcGetFound	found;

	if (!wc_gets_may_share(open) || (!open->quiet && wc_gets_epoch(open->snapshot) == 0))
		return WC_GET_ABSENT;
	scan->stash = wc_local_take_buffer();
	found = open->quiet ? wc_gets_find_now(open->scan, &scan->stash) : wc_gets_find(open, &scan->stash);
	if (found == WC_GET_FOUND)
	{
		scan->stash_len = scan->stash.len;
		scan->stashed = scan->complete = true;
	}
	else
		wc_local_give_buffer(&scan->stash);
	return found;
}

bool
wc_local_is_quiet(const WcDriverOpen *open, WcExtent *written)
{
	const WcScan *scan = open->scan;

	if (scan->nranges != 1 || !wc_range_is_point(&scan->ranges[0]))
	{
		WcExtent	read = wc_extent_of_scan(scan);

		*written = wc_flight_written(wc_places(), MyDatabaseId, &read);
		return written->tables == 0;
	}
	*written = WC_EXTENT_ALL;
	if (!wc_gets_may_find(open))
		return false;
	wc_getcache_prefetch(wc_shmem_getcache(), scan->table_id, scan->ranges[0].start);
	return wc_claims_is_quiet(wc_claims(), wc_places(), scan->table_id, scan->ranges[0].start);
}

/* Prepares the request for the scan's first block. */
static WcOpenMessage
begin_scan(WcDriverScan *scan, const WcDriverOpen *open)
{
	WcOpenMessage m = {0};

	(void) wc_claim_settle();
	wc_local_send_deferred(false);
	wc_local_enter_scan(scan);
	scan->target = first_target(open);
	wc_local_txn.in_use = true;

	m.scan_no = scan->number;
	m.snapshot = open->snapshot;
	m.epoch = wc_gets_epoch(open->snapshot);
	m.cid = open->cid;
	m.clock_offset_us = open->clock_offset_us;
	m.target = (uint32) scan->target;
	return m;
}

void
wc_local_scan_open(WcDriverScan *scan, const WcDriverOpen *open)
{
	WcOpenMessage m;
	WcGetFound	found;

	memset(scan, 0, sizeof(*scan));
	if (open->snapshot != 0)
		(void) wc_local_snapshot_enter(open->snapshot, false);
	found = find_answer(scan, open);
	if (found == WC_GET_FOUND)
		return;
	if (open->snapshot != 0)
		wc_local_note_snapshot(open->snapshot);
	m = begin_scan(scan, open);
	wc_message_open_encode(wc_connection_message(), &m, open->scan);
	scan->pending = wc_connection_send(WC_MSG_OPEN, found == WC_GET_WANTED ? WC_FLAG_KEEP : 0,
									   wc_local_is_brief(open) ? WC_SEND_BRIEF : WC_SEND_NOW);
	scan->target = Min(scan->target * 4, WC_BLOCK_MAX);
}

bool
wc_local_scan_take(WcDriverScan *scan, const WcDriverOpen *open, const WcDriverLocker *locker, WcTakeResult *result)
{
	WcTakeMessage m = {.owner = locker->owner,.xid = locker->xid,.subid = locker->subid,.mode = (uint8) locker->mode};
	bool		had_locks = wc_local_txn.has_locks;
	WcFrameReader *frame;

	memset(scan, 0, sizeof(*scan));
	memset(result, 0, sizeof(*result));
	m.open = begin_scan(scan, open);
	wc_local_txn.has_locks = true;
	wc_message_take_encode(wc_connection_message(), &m, open->scan);
	scan->pending = wc_connection_send(WC_MSG_TAKE, open->keep ? WC_FLAG_KEEP : 0, WC_SEND_BRIEF);
	scan->target = Min(scan->target * 4, WC_BLOCK_MAX);
	frame = wc_local_await(scan->pending);
	if (frame->header.type == WC_MSG_OK && !frame->dropped)
	{
		WcError		err;
		uint64_t	numbers[2];

		wc_local_drop_scan(scan);
		wc_local_txn.has_locks = had_locks;
		if (wc_message_numbers_decode(wc_buf_slice(&frame->body), numbers, 2, &err) != WC_OK)
			wc_raise(&err);
		result->holder = numbers[0];
		result->has_weaker = numbers[1] != 0;
		result->there = (frame->header.flags & WC_FLAG_THERE) != 0;
		return false;
	}
	result->taken = (frame->header.flags & WC_FLAG_TAKEN) != 0;
	result->check = (frame->header.flags & WC_FLAG_CHECK) != 0;
	wc_local_stash(scan, frame);	/* also an error: scan_next raises it */
	if (!scan->stash_failed)
		wc_local_txn.has_locks = had_locks || result->taken;
	return true;
}

bool
wc_local_scan_next(WcDriverScan *scan)
{
	if (!scan->stashed)
	{
		if (scan->complete)
			return false;
		if (!scan->open)
			wc_connection_raise_gone();
		if (scan->pending == 0)
			ask_next(scan);
		await_block(scan);
	}
	accept_block(scan);

	/* While this block is consumed, the engine prepares the next.  After the first block it
	 * does not: often the first block is enough. */
	if (scan->open && scan->pending == 0 && scan->batches > 1)
		ask_next(scan);
	return true;
}

void
wc_local_scan_stats(WcDriverScan *scan)
{
	uint64_t	number = scan->number;
	WcFrameReader *frame;
	WcScanReport report;
	WcSlice		payload;
	WcError		err;

	if (scan->complete || !scan->open)
		return;
	wc_message_numbers_encode(wc_local_begin(), &number, 1);
	frame = wc_local_await(wc_connection_send(WC_MSG_STATS, 0, WC_SEND_NOW));

	/* The scan's last block was on the way, and has brought the statistics.  Or an error was, which
	 * nothing raises: then there are none. */
	if (scan->complete || (scan->stashed && scan->stash_failed))
		return;
	payload = wc_local_payload(frame);
	if (wc_scan_report_take(&payload, &report, &err) != WC_OK)
		wc_raise(&err);
	wc_local_set_stats(&scan->stats, &report);
}
