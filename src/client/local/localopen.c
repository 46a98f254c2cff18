/*
 * client/local/localopen.c: the scans that are open in the embedded engine: their numbers, their buffers, and answers
 * that come while another one is awaited.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "client/local/local.h"

/* Buffers kept for later scans. */
#define SPARE_BUFFERS 4

static dlist_head scans = DLIST_STATIC_INIT(scans);
static uint32 nscans;			/* in the list `scans` */
static uint32 *free_numbers;	/* free_numbers and closes have room for every number given out so far */
static int	nfree_numbers;
static uint32 next_number;
static uint32 *closes;			/* numbers of closed scans whose CLOSE has not been sent */
static int	ncloses;

static uint64 unwanted;			/* newest request of a scan that was closed before the answer came; 0: none */
static WcBuf spare[SPARE_BUFFERS];
static int	nspare;

void *
wc_local_grow(void *array, int *cap, int need, size_t size)
{
	int			to = Max(*cap, 16);

	if (need <= *cap)
		return array;
	while (to < need)
		to *= 2;
	if (array == NULL)
		array = MemoryContextAlloc(TopMemoryContext, to * size);
	else
		array = repalloc(array, to * size);
	*cap = to;
	return array;
}

/* --- buffers ---------------------------------------------------------------*/

WcBuf
wc_local_take_buffer(void)
{
	WcBuf		none = WC_BUF_INIT;

	return nspare > 0 ? spare[--nspare] : none;
}

void
wc_local_give_buffer(WcBuf *buf)
{
	if (buf->data == NULL)
		return;
	if (nspare < SPARE_BUFFERS && buf->cap <= WC_FRAME_KEEP)
	{
		wc_buf_reset(buf, WC_FRAME_KEEP);
		spare[nspare++] = *buf;
	}
	else
		wc_buf_free(buf);
	buf->data = NULL;
	buf->len = buf->cap = 0;
}

/* --- open scans ------------------------------------------------------------*/

/* A scan number, with memory reserved to note later that the number is free, and to defer its CLOSE. */
static uint32
take_number(void)
{
	static int	free_cap;
	static int	closes_cap;

	if (nfree_numbers > 0)
		return free_numbers[--nfree_numbers];
	if (next_number >= WC_SCANNERS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many open scans of stored tables in one session (limit %d)", WC_SCANNERS_MAX)));
	free_numbers = wc_local_grow(free_numbers, &free_cap, (int) next_number + 1, sizeof(uint32));
	closes = wc_local_grow(closes, &closes_cap, (int) next_number + 1, sizeof(uint32));
	return next_number++;
}

void
wc_local_enter_scan(WcDriverScan *scan)
{
	scan->number = take_number();
	dlist_push_head(&scans, &scan->node);
	nscans++;
	scan->open = true;
	scan->block = wc_local_take_buffer();
	scan->stash = wc_local_take_buffer();
}

void
wc_local_set_stats(WcClientScanStats *stats, const WcScanReport *report)
{
	stats->rows = report->rows_returned;
	stats->cells_examined = report->cells_examined;
	stats->seeks = report->seeks;
	stats->rows_examined = report->rows_examined;
	stats->cache_hits = report->cache_hits;
	stats->blocks_read = report->blocks_read;
	stats->rows_filtered = report->rows_filtered;
}

/* Forgets the open scan: the engine has no state of it any more. */
static void
forget_scan(WcDriverScan *scan)
{
	if (!scan->open)
		return;
	scan->open = false;
	scan->pending = 0;
	dlist_delete(&scan->node);
	nscans--;
	free_numbers[nfree_numbers++] = scan->number;
}

void
wc_local_leave_scan(WcDriverScan *scan)
{
	unwanted = Max(unwanted, scan->pending);
	closes[ncloses++] = scan->number;
	forget_scan(scan);
}

void
wc_local_drop_scan(WcDriverScan *scan)
{
	forget_scan(scan);
	scan->stashed = false;
	wc_local_give_buffer(&scan->block);
	wc_local_give_buffer(&scan->stash);
}

bool
wc_local_next_close(uint32 *number)
{
	if (ncloses == 0)
		return false;
	*number = closes[ncloses - 1];
	return true;
}

void
wc_local_close_sent(void)
{
	ncloses--;
}

uint32
wc_local_scans_open(void)
{
	return nscans;
}

void
wc_local_forget_scans(void)
{
	while (!dlist_is_empty(&scans))
	{
		WcDriverScan *scan = dlist_container(WcDriverScan, node, dlist_head_node(&scans));

		wc_local_drop_scan(scan);
	}
	ncloses = 0;
	unwanted = 0;
}

/* --- answers ---------------------------------------------------------------*/

/* Swaps the frame's body with the buffer `to`, whose memory is reused. */
static void
swap_body(WcFrameReader *frame, WcBuf *to)
{
	WcBuf		body = frame->body;

	frame->body = *to;
	*to = body;
}

void
wc_local_stash(WcDriverScan *scan, WcFrameReader *frame)
{
	const WcFrameHeader header = frame->header;
	WcSlice		payload;
	WcScanReport report;
	WcStatus	status = WC_OK;
	WcError		err;

	swap_body(frame, &scan->stash);
	payload = wc_buf_slice(&scan->stash);
	scan->pending = 0;
	scan->stashed = true;
	scan->stash_failed = header.type != WC_MSG_BLOCK;

	if (frame->dropped)
		status = wc_error(&err, WC_NO_MEMORY, "out of memory for an answer of %u bytes", header.length);
	else if (!scan->stash_failed && (header.flags & WC_FLAG_LAST) != 0)
	{
		status = wc_scan_report_take(&payload, &report, &err);
		if (status == WC_OK)
		{
			wc_local_set_stats(&scan->stats, &report);
			scan->complete = true;
			forget_scan(scan);	/* the engine has closed the scan by itself */
		}
	}
	if (status != WC_OK)
	{
		wc_buf_reset(&scan->stash, WC_FRAME_KEEP);
		wc_message_error_encode(&scan->stash, &err);
		scan->stash_failed = true;
	}
	scan->stash_len = payload.len;
}

void
wc_local_stray(WcFrameReader *frame)
{
	dlist_iter	iter;

	dlist_foreach(iter, &scans)
	{
		WcDriverScan *scan = dlist_container(WcDriverScan, node, iter.cur);

		if (scan->pending == frame->header.id)
		{
			wc_local_stash(scan, frame);
			return;
		}
	}
	/* else the scan has been closed: drop the answer */
}

/* The engine answers in order.  A request of an open scan that the engine has finished is not
 * affected by the cancel. */
void
wc_local_cancel_unwanted(void)
{
	dlist_iter	iter;

	if (unwanted == 0)
		return;
	dlist_foreach(iter, &scans)
	{
		WcDriverScan *scan = dlist_container(WcDriverScan, node, iter.cur);

		if (scan->pending != 0 && !wc_connection_answered(scan->pending))
			return;
	}
	if (!wc_connection_answered(unwanted))
		wc_connection_cancel();
	unwanted = 0;
}
