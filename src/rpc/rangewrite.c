/*
 * rpc/rangewrite.c: one change to all rows of a scan.
 *
 * What is appended are plain ROW operations, as a backend would send them for
 * each row: so a savepoint, the transaction's own reads and the commit know
 * nothing of this, and a log of batches can be replayed without the scan.
 */
#include "rpc/rangewrite.h"

#include "rowkey/keycheck.h"

typedef struct RangeWrite
{
	WcSession  *session;
	const WcModifyMessage *message;
	WcModifyResult *result;
	uint32_t	table_id;
	WcKeyCheck	keys;
	WcSlice    *parts;
	WcBuf		scratch;
	WcBuf		block;			/* what the scanner gave last */
	WcBuf		row;			/* begun in a block before this one */
	WcBuf		ops;
	WcBatchBuilder builder;
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

static WcStatus
send(RangeWrite *w, WcError *err)
{
	WcStatus	status = wc_txn_append(w->session->txn, wc_buf_slice(&w->ops), err);

	if (status == WC_TOO_LARGE)
	{
		w->result->outcome = WC_MODIFY_TOO_LARGE;
		status = WC_OK;
	}
	w->result->operations += w->builder.nops;
	w->result->bytes += w->ops.len;
	wc_buf_reset(&w->ops, 2 * WC_BATCH_CHUNK);
	wc_batch_init(&w->builder, &w->ops);
	return status;
}

/* All cells of the row have been seen. */
static WcStatus
finish_row(RangeWrite *w, WcSlice row, WcError *err)
{
	WcSlice		items = w->has_cell ? w->message->items : w->message->items_bare;
	WcStatus	status;

	w->in_row = w->has_cell = false;
	if (!wc_keycheck_reads(&w->keys, row, &w->scratch, w->parts))
	{
		w->result->outcome = WC_MODIFY_UNREADABLE;
		return WC_OK;
	}
	w->result->rows++;
	if (items.len == 0)
		return WC_OK;
	status = wc_batch_row_begin(&w->builder, w->table_id, w->message->write_cid, row, 0, NULL, 0, err);
	if (status == WC_OK)
		status = wc_batch_items(&w->builder, items, err);
	if (status == WC_OK)
		status = wc_batch_row_end(&w->builder, err);
	if (status == WC_OK && w->ops.len >= WC_BATCH_CHUNK)
		status = send(w, err);
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

static WcStatus
take_rows(RangeWrite *w, WcScanner *scanner, WcError *err)
{
	WcStatus	status = WC_OK;
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
	if (status == WC_OK && w->result->outcome == WC_MODIFY_DONE)
		status = send(w, err);
	return status;
}

static WcStatus
begin(RangeWrite *w, const WcReadPoint *at, WcArena *arena, WcScanner **scanner, WcError *err)
{
	WcScan		scan;
	WcStatus	status = wc_scan_decode(w->message->scan, arena, &scan, err);

	if (status == WC_OK)
		status = wc_keycheck_decode(w->message->keys, arena, &w->keys, err);
	if (status == WC_OK)
		status = check_items(w->message->items, err);
	if (status == WC_OK)
		status = check_items(w->message->items_bare, err);
	if (status != WC_OK)
		return status;
	w->table_id = scan.table_id;
	w->parts = wc_arena_alloc(arena, (w->keys.layout.nparts + 1) * sizeof(WcSlice));
	if (w->parts == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a change to many rows");
	return wc_scanner_open(wc_engine_storage(w->session->engine), &scan, at, scanner, err);
}

WcStatus
wc_rangewrite(WcSession *s, const WcModifyMessage *m, const WcReadPoint *at, WcArena *arena,
			  WcModifyResult *result, WcScanStats *stats, WcError *err)
{
	RangeWrite	w = {.session = s,.message = m,.result = result};
	uint64_t	before = wc_txn_count(s->txn);
	WcScanner  *scanner = NULL;
	WcStatus	status;

	memset(result, 0, sizeof(*result));
	memset(stats, 0, sizeof(*stats));
	wc_buf_init(&w.ops, 0);
	wc_batch_init(&w.builder, &w.ops);
	status = begin(&w, at, arena, &scanner, err);
	if (status == WC_OK)
		status = take_rows(&w, scanner, err);
	if (scanner != NULL)
		wc_scanner_stats(scanner, stats);
	wc_scanner_close(scanner);
	wc_buf_free(&w.scratch);
	wc_buf_free(&w.block);
	wc_buf_free(&w.row);
	wc_buf_free(&w.ops);
	if ((status != WC_OK || result->outcome != WC_MODIFY_DONE) &&
		wc_txn_rollback_to(s->txn, before, &s->txn_error) != WC_OK)
	{
		s->txn_failed = true;
		*err = s->txn_error;
		return err->status;
	}
	return status;
}
