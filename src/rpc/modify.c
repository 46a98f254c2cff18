/*
 * rpc/modify.c: one change to all rows of a scan.
 *
 * The function appends plain ROW operations, as a backend would send them for each row: so savepoints, the
 * transaction's own reads and the commit need nothing special.  The operations are also sent to the backend, which owns
 * the batch and writes it into the log; the log can be replayed without the scan.
 */
#include "rpc/modify.h"

#include "rowkey/keycheck.h"
#include "rpc/session/rowlock.h"

/* A row that the scan has found. */
typedef struct Found
{
	WcSlice		row;
	bool		has_cell;
} Found;

typedef struct Modify
{
	WcSession  *session;
	WcLockOwner *owner;
	const WcModifyMessage *message;
	WcModifyResult *result;
	WcModifySink *sink;
	const WcScanHelpers *helpers;
	WcArena    *arena;
	WcReadPoint at;				/* with a snapshot */
	WcScan		scan;
	WcKeyCheck	keys;
	WcSlice    *parts;
	WcBuf		scratch;
	WcBuf		block;			/* the scanner's last block */
	WcBuf		row;			/* begun in a block before this one */
	WcBuf		again;			/* a row that is read once more */
	uint32_t	nputs;			/* of members: the first items, one by one */
	WcItem	   *puts;
	bool	   *same;			/* [nputs]: the row at hand has the put's value */
	WcBatchBuilder builder;		/* in the sink's buffer */
	bool		in_row;
	bool		has_cell;
	uint32_t	nfound;
	Found		found[WC_LOCK_GROUP];	/* rows of the block that are to be locked and changed */
} Modify;

/* Items come from outside: once is enough, all rows get the same. */
static WcStatus
check_items(WcSlice items, uint32_t *nitems, WcError *err)
{
	WcDecoder	d = wc_decoder(items);
	WcItem		item;
	WcStatus	status;

	for (*nitems = 0; (status = wc_op_next_item(&d, &item, err)) == WC_OK; ++*nitems)
		;
	return status == WC_END ? WC_OK : status;
}

/* --- members of a map ------------------------------------------------------------- */

/* Takes the first items apart, which have been checked: puts of the scan's first columns. */
static WcStatus
begin_members(Modify *w, uint32_t nitems, WcError *err)
{
	WcDecoder	d = wc_decoder(w->message->items);

	w->puts = wc_arena_alloc(w->arena, (nitems + 1) * sizeof(WcItem));
	w->same = wc_arena_alloc_zero(w->arena, nitems + 1);
	if (w->puts == NULL || w->same == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a change to many rows");
	for (; w->nputs < nitems; w->nputs++)
	{
		WcItem	   *put = &w->puts[w->nputs];
		const WcColumn *column = &w->scan.columns[w->nputs];
		WcStatus	status = wc_op_next_item(&d, put, err);

		if (status != WC_OK)
			return status;
		if (put->kind != WC_ITEM_PUT || put->family != w->puts[0].family || w->nputs >= w->scan.ncolumns ||
			column->kind != WC_COLUMN_EXACT || column->family != put->family ||
			!wc_slice_eq(column->qualifier, put->qualifier))
			return wc_error(err, WC_INVALID, "members of a map are puts of the scan's columns");
	}
	if (nitems == 0 || w->scan.versions != 1 || w->scan.key_only)
		return wc_error(err, WC_INVALID, "members of a map need a scan of their newest values");
	return WC_OK;
}

/* A cell of the row at hand. */
static inline void
see_cell(Modify *w, uint32_t colno, const WcCell *cell)
{
	if (colno < w->nputs)
		w->same[colno] = wc_slice_eq(cell->value, w->puts[colno].value);
}

static void
forget_cells(Modify *w)
{
	if (w->nputs > 0)
		memset(w->same, 0, w->nputs);
}

/* Appends the row's operation. */
static WcStatus
append_row(Modify *w, WcSlice row, WcSlice items, WcError *err)
{
	bool		all = w->nputs == 0;
	uint32_t	n = 0;
	WcStatus	status;

	for (uint32_t i = 0; i < w->nputs; i++)
		n += !w->same[i];
	if (items.len == 0 || (!all && n == 0))
		return WC_OK;
	status = wc_batch_row_begin(&w->builder, w->scan.table_id, w->message->write_cid, row, 0, NULL, 0, err);
	if (status == WC_OK && all)
		status = wc_batch_items(&w->builder, items, err);
	for (uint32_t i = 0; i < w->nputs && status == WC_OK; i++)
	{
		const WcItem *put = &w->puts[i];

		if (!w->same[i])
			status = wc_batch_put(&w->builder, put->family, put->qualifier, put->ts, put->ttl_us, put->value, err);
	}
	return status == WC_OK ? wc_batch_row_end(&w->builder, err) : status;
}

/* --- rows ------------------------------------------------------------------------- */

/* Appends to the batch the operations that the sink's buffer has.  *offset: where. */
static WcStatus
append(Modify *w, uint64_t *offset, WcError *err)
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
append_chunk(Modify *w, WcError *err)
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

/* Does the cell show that the row is not bare? */
static bool
counts(Modify *w, uint32_t colno, const WcCell *cell)
{
	see_cell(w, colno, cell);
	return colno != WC_NO_COLUMN || w->message->kind != WC_MODIFY_MEMBERS_MARKED ||
		cell->qualifier.len > 0 || cell->value.len > 0;
}

/* Reads a block that has one row. */
static WcStatus
read_verdict(Modify *w, Verdict *verdict, WcError *err)
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
				if (counts(w, colno, &cell))
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

/* Reads the row alone, with this scan. */
static WcStatus
scan_row(Modify *w, WcSlice row, WcScan scan, WcSnapshot *snapshot, Verdict *verdict, WcError *err)
{
	WcRange		range = {.start = row,.stop = row,.start_inclusive = true,.stop_inclusive = true};
	WcReadPoint at = w->at;
	WcScanner  *scanner;
	bool		more = true;
	WcStatus	status;

	*verdict = SKIP;
	scan.nranges = 1;
	scan.ranges = &range;
	scan.merged = false;
	scan.row_limit = scan.row_offset = 0;
	at.snapshot = snapshot;
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

/* Another transaction has changed the row: reads it again, in the newest state, with the same scan of this row alone. */
static WcStatus
look_again(Modify *w, WcSlice row, Verdict *verdict, WcError *err)
{
	forget_cells(w);
	return scan_row(w, row, w->scan, NULL, verdict, err);
}

/* The row has none of the members to be put.  Has it others?  Two cells tell, one of which may be the marker. */
static WcStatus
look_for_members(Modify *w, WcSlice row, bool changed, Verdict *verdict, WcError *err)
{
	WcColumn	family = {.family = w->puts[0].family,.kind = WC_COLUMN_FAMILY};
	WcScan		scan = w->scan;

	scan.ncolumns = 1;
	scan.columns = &family;
	scan.column_limit = 2;
	scan.filter = NULL;
	return scan_row(w, row, scan, changed ? NULL : w->at.snapshot, verdict, err);
}

static WcStatus
stop_at(Modify *w, WcModifyOutcome outcome, WcSlice row, WcError *err)
{
	w->result->outcome = outcome;
	w->result->row = wc_arena_copy(w->arena, row);
	if (w->result->row.data == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a change to many rows");
	return WC_OK;
}

/* Of a row that is not there any more there is nothing to keep others from. */
static WcStatus
give_back_if_gone(Modify *w, WcSlice row, WcError *err)
{
	bool		exists;
	WcStatus	status = wc_rowlock_exists(w->session, w->scan.table_id, w->scan.families, w->scan.nfamilies, row, &w->at,
										   &exists, err);

	if (status == WC_OK && !exists)
		wc_lock_give_back(w->session->locktable, w->owner, w->scan.table_id, row);
	return status;
}

/* A row that this call has locked (added) or that was locked before may have changed since the scan has read it:
 * *changed. */
static WcStatus
see_change(Modify *w, WcSlice row, bool added, Verdict *verdict, bool *changed, WcError *err)
{
	WcStatus	status = wc_rowlock_changed(w->session, w->scan.table_id, w->scan.families, w->scan.nfamilies, row, &w->at,
											changed, err);

	if (status != WC_OK || !*changed)
		return status;
	if (w->message->serializable)
		return stop_at(w, WC_MODIFY_CHANGED, row, err);
	status = look_again(w, row, verdict, err);
	if (status == WC_OK && *verdict == SKIP && added)
		status = give_back_if_gone(w, row, err);
	return status;
}

/* Another transaction has locked the row. */
static WcStatus
stop_for(Modify *w, WcSlice row, const WcLockHolder *holder, WcError *err)
{
	bool		changed = false;
	WcStatus	status = WC_OK;

	if (w->message->serializable)
		status = wc_rowlock_changed(w->session, w->scan.table_id, w->scan.families, w->scan.nfamilies, row, &w->at,
									&changed, err);
	if (status != WC_OK)
		return status;
	if (changed)
		return stop_at(w, WC_MODIFY_CHANGED, row, err);
	w->result->holder = holder->xid;
	w->result->has_weaker = holder->has_weaker;
	return stop_at(w, WC_MODIFY_BLOCKED, row, err);
}

/* Changes a row that is locked; added: by this call. */
static WcStatus
change_row(Modify *w, const Found *found, bool added, WcError *err)
{
	Verdict		verdict = found->has_cell ? CHANGE : CHANGE_BARE;
	WcSlice		row = found->row;
	bool		changed;
	WcStatus	status = see_change(w, row, added, &verdict, &changed, err);

	if (status == WC_OK && w->nputs > 0 && verdict == CHANGE_BARE && w->result->outcome == WC_MODIFY_DONE)
		status = look_for_members(w, row, changed, &verdict, err);
	if (status != WC_OK || w->result->outcome != WC_MODIFY_DONE || verdict == SKIP)
		return status;
	w->result->rows++;
	if (verdict == CHANGE)
		status = append_row(w, row, w->message->items, err);
	else if (w->nputs == 0)
		status = append_row(w, row, w->message->items_bare, err);
	if (status == WC_OK && w->sink->ops.len >= WC_CHANGES_CHUNK)
		status = append_chunk(w, err);
	return status;
}

/* Locks the rows that were found, together, and changes them one by one. */
static WcStatus
change_rows(Modify *w, WcError *err)
{
	const WcModifyMessage *m = w->message;
	WcLockRequest request = {
		.table_id = w->scan.table_id,.mode = m->mode,.enough = m->mode,.xid = m->xid,.subid = m->subid,.brief = true
	};
	WcSlice		rows[WC_LOCK_GROUP];
	uint32_t	n = w->nfound;
	size_t		nlocked;
	uint64_t	added;
	WcLockHolder holder;
	WcStatus	status;

	w->nfound = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		rows[i] = w->found[i].row;
		if (!wc_keycheck_reads(&w->keys, rows[i], &w->scratch, w->parts))
		{
			w->result->outcome = WC_MODIFY_UNREADABLE;
			return WC_OK;
		}
	}
	status = wc_lock_acquire_rows(w->session->locktable, w->owner, &request, rows, n, &nlocked, &added, &holder, err);
	for (size_t i = 0; i < nlocked && status == WC_OK && w->result->outcome == WC_MODIFY_DONE; i++)
		status = change_row(w, &w->found[i], (added >> i & 1) != 0, err);
	wc_lock_keep(w->owner);
	if (status == WC_OK && w->result->outcome == WC_MODIFY_DONE && nlocked < n)
		status = stop_for(w, rows[nlocked], &holder, err);
	forget_cells(w);
	return status;
}

/* All cells of the row have been seen.  Members of maps are compared with the cells of one row. */
static WcStatus
finish_row(Modify *w, WcSlice row, WcError *err)
{
	w->found[w->nfound++] = (Found) {row, w->has_cell};
	w->in_row = w->has_cell = false;
	return w->nfound == WC_LOCK_GROUP || w->nputs > 0 ? change_rows(w, err) : WC_OK;
}

static WcStatus
take_block(Modify *w, WcError *err)
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
				see_cell(w, colno, &cell);
				break;
			case WC_BLOCK_DONE:
				if (w->in_row && !reader.open)
					status = finish_row(w, row, err);
				if (status == WC_OK && w->nfound > 0)
					status = change_rows(w, err);
				if (status != WC_OK || !w->in_row)
					return status;
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

/* Do the operations that were made so far stay in the batch? */
static bool
is_kept(const WcModifyResult *result)
{
	return result->outcome == WC_MODIFY_DONE || result->outcome == WC_MODIFY_BLOCKED;
}

static WcStatus
take_rows(Modify *w, WcScanner *scanner, WcError *err)
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
begin(Modify *w, WcError *err)
{
	WcStatus	status = wc_scan_decode(w->message->scan, w->arena, &w->scan, err);
	uint32_t	nitems;
	uint32_t	nbare;

	if (status == WC_OK && w->scan.aggregation != NULL)
		status = wc_error(err, WC_INVALID, "rows that are changed cannot be aggregated");
	if (status == WC_OK)
	{
		wc_activity_table(&w->session->activity, w->scan.table_id);
		status = wc_keycheck_decode(w->message->keys, w->arena, &w->keys, err);
	}
	if (status == WC_OK)
		status = check_items(w->message->items, &nitems, err);
	if (status == WC_OK)
		status = check_items(w->message->items_bare, &nbare, err);
	if (status == WC_OK && w->message->kind != WC_MODIFY_ITEMS)
		status = begin_members(w, nitems, err);
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
lock_first(Modify *w, bool *added, WcError *err)
{
	const WcModifyMessage *m = w->message;
	WcLockRequest request = {
		.table_id = w->scan.table_id,.mode = m->mode,.enough = m->mode,.xid = m->xid,.subid = m->subid,.brief = true
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
scan_and_take(Modify *w, WcScanStats *stats, WcError *err)
{
	WcSnapshot *own = NULL;
	WcScanner  *scanner = NULL;
	WcStatus	status = WC_OK;

	if (w->at.snapshot == NULL)
		w->at.snapshot = own = wc_snapshot_take(w->session->engine);
	if (w->at.snapshot == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	status = wc_scanner_open(wc_engine_storage(w->session->engine), &w->scan, &w->at, &scanner, err);
	if (status == WC_OK && w->helpers != NULL)
		status = wc_scanner_share(scanner, w->message->scan, w->helpers, err);
	if (status == WC_OK)
		status = take_rows(w, scanner, err);
	if (scanner != NULL)
		wc_scanner_stats(scanner, stats);
	wc_scanner_close(scanner);
	wc_snapshot_release(w->session->engine, own);
	return status;
}

WcStatus
wc_modify_rows(WcSession *s, const WcModifyMessage *m, const WcReadPoint *at, WcModifySink *sink, const WcScanHelpers *helpers,
			   WcArena *arena, WcModifyResult *result, WcScanStats *stats, WcError *err)
{
	Modify	w = {.session = s,.message = m,.result = result,.sink = sink,.helpers = helpers,.arena = arena,.at = *at};
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
