/*
 * rpc/rangewrite.c: one change to all rows of a scan.
 *
 * The function appends plain ROW operations, as a backend would send them for each row: so savepoints, the
 * transaction's own reads and the commit need nothing special.  The operations are also sent to the backend, which owns
 * the batch and writes it into the log; the log can be replayed without the scan.
 */
#include "rpc/rangewrite.h"

#include "rowkey/keycheck.h"
#include "rpc/session/rowlock.h"

typedef struct RangeWrite
{
	WcSession  *session;
	WcLockOwner *owner;
	const WcModifyMessage *message;
	WcModifyResult *result;
	WcRangeSink *sink;
	WcArena    *arena;
	WcReadPoint at;				/* with a snapshot */
	WcScan		scan;
	WcKeyCheck	keys;
	WcSlice    *parts;
	WcBuf		scratch;
	WcBuf		block;			/* the scanner's last block */
	WcBuf		row;			/* begun in a block before this one */
	WcBuf		again;			/* a row that is read once more */
	WcBatchBuilder builder;		/* in the sink's buffer */
	bool		in_row;
	bool		has_cell;
} RangeWrite;

/* Items come from outside: once is enough, all rows get the same. */
static WcStatus
check_items(WcSlice items, WcError *err)
{
	WcDecoder	d = wc_decoder(items);
	WcItem		item;
	WcStatus	status;

	while ((status = wc_op_next_item(&d, &item, err)) == WC_OK)
		;
	return status == WC_END ? WC_OK : status;
}

/* Appends to the batch the operations that the sink's buffer has.  *offset: where. */
static WcStatus
append(RangeWrite *w, uint64_t *offset, WcError *err)
{
	WcTxn	   *txn = w->session->txn;
	WcBuf	   *ops = &w->sink->ops;
	WcStatus	status;

	*offset = wc_txn_length(txn);
	w->result->length = *offset + ops->len;
	status = wc_txn_append(txn, *offset, wc_buf_slice(ops), err);
	if (status != WC_TOO_LARGE)
		return status;
	w->result->outcome = WC_MODIFY_TOO_LARGE;
	return WC_OK;
}

static WcStatus
append_chunk(RangeWrite *w, WcError *err)
{
	WcBuf	   *ops = &w->sink->ops;
	uint64_t	offset;
	WcStatus	status = append(w, &offset, err);

	if (status == WC_OK && w->result->outcome == WC_MODIFY_DONE)
		status = w->sink->take(w->sink->arg, offset, wc_buf_slice(ops), err);
	wc_buf_reset(ops, 2 * WC_CHANGES_CHUNK);
	wc_batch_init(&w->builder, ops);
	return status;
}

/* Is the row to be changed, and how? */
typedef enum Verdict
{
	SKIP,						/* not, or not now: see the outcome */
	CHANGE,
	CHANGE_BARE					/* it has none of the scan's cells */
} Verdict;

/* Reads a block that has one row. */
static WcStatus
read_verdict(RangeWrite *w, Verdict *verdict, WcError *err)
{
	WcBlockReader reader;
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;
	WcStatus	status = wc_block_open(&reader, wc_buf_slice(&w->again), err);

	while (status == WC_OK)
	{
		switch (wc_block_next(&reader, &row, &cell, &colno))
		{
			case WC_BLOCK_ROW:
				*verdict = CHANGE_BARE;
				if (reader.undecided)
					w->result->outcome = WC_MODIFY_UNREADABLE;
				break;
			case WC_BLOCK_CELL:
				*verdict = CHANGE;
				break;
			case WC_BLOCK_DONE:
				return WC_OK;
			case WC_BLOCK_CORRUPT:
				return wc_error(err, WC_CORRUPT, "cell block is malformed");
		}
	}
	return status;
}

/* Another transaction has changed the row: reads it again, in the newest state, with the same scan of this row alone. */
static WcStatus
look_again(RangeWrite *w, WcSlice row, Verdict *verdict, WcError *err)
{
	WcRange		range = {.start = row,.stop = row,.start_inclusive = true,.stop_inclusive = true};
	WcReadPoint at = w->at;
	WcScan		scan = w->scan;
	WcScanner  *scanner;
	bool		more = true;
	WcStatus	status;

	*verdict = SKIP;
	scan.nranges = 1;
	scan.ranges = &range;
	scan.merged = false;
	scan.row_limit = scan.row_offset = 0;
	at.snapshot = NULL;
	status = wc_scanner_open(wc_engine_storage(w->session->engine), &scan, &at, &scanner, err);
	if (status != WC_OK)
		return status;
	while (more && status == WC_OK)
	{
		wc_buf_reset(&w->again, 2 * WC_BLOCK_MAX);
		status = wc_scanner_next(scanner, &w->again, WC_BLOCK_MAX, 0, err);
		more = status == WC_OK;
		if (status == WC_END)
			status = WC_OK;
		if (status == WC_OK)
			status = read_verdict(w, verdict, err);
	}
	wc_scanner_close(scanner);
	return status;
}

static WcStatus
stop_at(RangeWrite *w, WcModifyOutcome outcome, WcSlice row, WcError *err)
{
	w->result->outcome = outcome;
	w->result->row = wc_arena_copy(w->arena, row);
	if (w->result->row.data == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a change to many rows");
	return WC_OK;
}

/* Of a row that is not there any more there is nothing to keep others from. */
static WcStatus
give_back_if_gone(RangeWrite *w, WcSlice row, WcError *err)
{
	bool		exists;
	WcStatus	status = wc_rowlock_exists(w->session, w->scan.table_id, w->scan.families, w->scan.nfamilies, row, &w->at,
										   &exists, err);

	if (status == WC_OK && !exists)
		wc_lock_give_back(w->session->locktable, w->owner, w->scan.table_id, row);
	return status;
}

/* Locks the row, which may have changed since the scan has read it. */
static WcStatus
lock_row(RangeWrite *w, WcSlice row, Verdict *verdict, WcError *err)
{
	const WcModifyMessage *m = w->message;
	WcLockRequest request = {
		.table_id = w->scan.table_id,.mode = m->mode,.enough = m->mode,.xid = m->xid,.subid = m->subid
	};
	WcLockHolder holder;
	bool		changed = false;
	WcStatus	status = wc_lock_acquire(w->session->locktable, w->owner, &request, row, &holder, err);

	if (status == WC_OK && (holder.xid == 0 || m->serializable))
		status = wc_rowlock_changed(w->session, w->scan.table_id, w->scan.families, w->scan.nfamilies, row, &w->at,
									&changed, err);
	if (status != WC_OK)
		return status;
	if (changed && m->serializable)
		return stop_at(w, WC_MODIFY_CHANGED, row, err);
	if (holder.xid != 0)
	{
		w->result->holder = holder.xid;
		w->result->has_weaker = holder.has_weaker;
		return stop_at(w, WC_MODIFY_BLOCKED, row, err);
	}
	if (changed)
		status = look_again(w, row, verdict, err);
	if (status == WC_OK && changed && *verdict == SKIP && holder.added)
		status = give_back_if_gone(w, row, err);
	return status;
}

/* All cells of the row have been seen. */
static WcStatus
finish_row(RangeWrite *w, WcSlice row, WcError *err)
{
	Verdict		verdict = w->has_cell ? CHANGE : CHANGE_BARE;
	WcSlice		items;
	WcStatus	status;

	w->in_row = w->has_cell = false;
	if (!wc_keycheck_reads(&w->keys, row, &w->scratch, w->parts))
	{
		w->result->outcome = WC_MODIFY_UNREADABLE;
		return WC_OK;
	}
	status = lock_row(w, row, &verdict, err);
	if (status != WC_OK || w->result->outcome != WC_MODIFY_DONE || verdict == SKIP)
		return status;
	w->result->rows++;
	items = verdict == CHANGE ? w->message->items : w->message->items_bare;
	if (items.len == 0)
		return WC_OK;
	status = wc_batch_row_begin(&w->builder, w->scan.table_id, w->message->write_cid, row, 0, NULL, 0, err);
	if (status == WC_OK)
		status = wc_batch_items(&w->builder, items, err);
	if (status == WC_OK)
		status = wc_batch_row_end(&w->builder, err);
	if (status == WC_OK && w->sink->ops.len >= WC_CHANGES_CHUNK)
		status = append_chunk(w, err);
	return status;
}

static WcStatus
take_block(RangeWrite *w, WcError *err)
{
	WcSlice		row = wc_buf_slice(&w->row);
	WcBlockReader reader;
	WcStatus	status = wc_block_open(&reader, wc_buf_slice(&w->block), err);

	while (status == WC_OK && w->result->outcome == WC_MODIFY_DONE)
	{
		WcSlice		next = row;
		WcCell		cell;
		uint32_t	colno;

		switch (wc_block_next(&reader, &next, &cell, &colno))
		{
			case WC_BLOCK_ROW:
				if (w->in_row)
					status = finish_row(w, row, err);
				row = next;
				w->in_row = true;
				if (reader.undecided)
					w->result->outcome = WC_MODIFY_UNREADABLE;
				break;
			case WC_BLOCK_CELL:
				w->has_cell = true;
				break;
			case WC_BLOCK_DONE:
				if (!w->in_row)
					return WC_OK;
				if (!reader.open)
					return finish_row(w, row, err);
				if (row.data != w->row.data)
				{
					wc_buf_reset(&w->row, WC_ROW_MAX);
					wc_buf_append_slice(&w->row, row);
				}
				return wc_buf_status(&w->row, "row key", err);
			case WC_BLOCK_CORRUPT:
				return wc_error(err, WC_CORRUPT, "cell block is malformed");
		}
	}
	return status;
}

/* Does what was done so far stay? */
static bool
is_kept(const WcModifyResult *result)
{
	return result->outcome == WC_MODIFY_DONE || result->outcome == WC_MODIFY_BLOCKED;
}

static WcStatus
take_rows(RangeWrite *w, WcScanner *scanner, WcError *err)
{
	WcStatus	status = WC_OK;
	uint64_t	offset;
	bool		more = true;

	while (more && status == WC_OK && w->result->outcome == WC_MODIFY_DONE)
	{
		wc_buf_reset(&w->block, 2 * WC_BLOCK_MAX);
		status = wc_scanner_next(scanner, &w->block, WC_BLOCK_MAX, 0, err);
		more = status == WC_OK;
		if (status == WC_END)
			status = WC_OK;
		if (status == WC_OK)
			status = take_block(w, err);
	}
	if (status == WC_OK && is_kept(w->result))
		status = append(w, &offset, err);
	if (status == WC_OK && is_kept(w->result))
		w->result->changes = wc_buf_slice(&w->sink->ops);
	return status;
}

static WcStatus
begin(RangeWrite *w, WcError *err)
{
	WcStatus	status = wc_scan_decode(w->message->scan, w->arena, &w->scan, err);

	if (status == WC_OK && w->scan.aggregation != NULL)
		status = wc_error(err, WC_INVALID, "rows that are changed cannot be aggregated");
	if (status == WC_OK)
	{
		wc_activity_table(&w->session->activity, w->scan.table_id);
		status = wc_keycheck_decode(w->message->keys, w->arena, &w->keys, err);
	}
	if (status == WC_OK)
		status = check_items(w->message->items, err);
	if (status == WC_OK)
		status = check_items(w->message->items_bare, err);
	if (status != WC_OK)
		return status;
	w->parts = wc_arena_alloc(w->arena, (w->keys.layout.nparts + 1) * sizeof(WcSlice));
	if (w->parts == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a change to many rows");
	return WC_OK;
}

/* The one row that the scan may give is locked before the scan looks, there or not.  *added: it
 * was not locked before. */
static WcStatus
lock_first(RangeWrite *w, bool *added, WcError *err)
{
	const WcModifyMessage *m = w->message;
	WcLockRequest request = {
		.table_id = w->scan.table_id,.mode = m->mode,.enough = m->mode,.xid = m->xid,.subid = m->subid
	};
	WcLockHolder holder;
	WcStatus	status;

	if (w->scan.nranges != 1 || !wc_range_is_point(&w->scan.ranges[0]) || w->at.snapshot != NULL || m->serializable)
		return wc_error(err, WC_INVALID, "only the row of a Get at the newest state is locked first");
	status = wc_lock_acquire(w->session->locktable, w->owner, &request, w->scan.ranges[0].start, &holder, err);
	if (status != WC_OK)
		return status;
	*added = holder.added;
	if (holder.xid == 0)
		return WC_OK;
	w->result->holder = holder.xid;
	w->result->has_weaker = holder.has_weaker;
	status = wc_rowlock_gives(w->session, &w->scan, &w->at, &w->result->there, err);
	return status == WC_OK ? stop_at(w, WC_MODIFY_BLOCKED, w->scan.ranges[0].start, err) : status;
}

static WcStatus
scan_and_take(RangeWrite *w, WcScanStats *stats, WcError *err)
{
	WcSnapshot *own = NULL;
	WcScanner  *scanner = NULL;
	WcStatus	status = WC_OK;

	if (w->at.snapshot == NULL)
		w->at.snapshot = own = wc_snapshot_take(w->session->engine);
	if (w->at.snapshot == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	status = wc_scanner_open(wc_engine_storage(w->session->engine), &w->scan, &w->at, &scanner, err);
	if (status == WC_OK)
		status = take_rows(w, scanner, err);
	if (scanner != NULL)
		wc_scanner_stats(scanner, stats);
	wc_scanner_close(scanner);
	wc_snapshot_release(w->session->engine, own);
	return status;
}

WcStatus
wc_rangewrite(WcSession *s, const WcModifyMessage *m, const WcReadPoint *at, WcRangeSink *sink, WcArena *arena,
			  WcModifyResult *result, WcScanStats *stats, WcError *err)
{
	RangeWrite	w = {.session = s,.message = m,.result = result,.sink = sink,.arena = arena,.at = *at};
	bool		added = false;
	WcStatus	status;

	memset(result, 0, sizeof(*result));
	memset(stats, 0, sizeof(*stats));
	wc_buf_init(&sink->ops, 0);
	wc_batch_init(&w.builder, &sink->ops);
	status = wc_session_enter(s, m->owner, &w.owner, err);
	if (status != WC_OK)
		return status;
	status = begin(&w, err);
	if (status == WC_OK && m->first)
		status = lock_first(&w, &added, err);
	if (status == WC_OK && result->outcome == WC_MODIFY_DONE)
		status = scan_and_take(&w, stats, err);
	if (added && result->rows == 0)
		wc_lock_give_back(s->locktable, w.owner, w.scan.table_id, w.scan.ranges[0].start);
	result->check = wc_engine_has_large_rows(s->engine, w.scan.table_id);
	wc_buf_free(&w.scratch);
	wc_buf_free(&w.block);
	wc_buf_free(&w.row);
	wc_buf_free(&w.again);
	wc_session_leave(s, w.owner);
	return status;
}
