/*
 * read/txn/txnsource.c: a transaction's own writes as a cell source.
 */
#include <stdlib.h>

#include "read/txn/ownrows.h"
#include "read/txn/resolve.h"
#include "read/txn/txn.h"

typedef struct TxnSource
{
	WcCellSource base;
	WcStorage  *storage;
	WcStore    *store;			/* of the picture */
	WcTxnView  *view;
	WcResolver *resolver;
	WcOwnRow   *own;			/* what the current row was resolved in, if not in resolver */
	WcResolved	resolved;		/* of the current row */
	size_t		next;
	WcResolverOptions options;
	WcTxn	   *txn;
	uint32_t	table_id;
	uint32_t	cid;
	int64_t		ts;				/* provisional */

	/* What the operations are resolved against. */
	bool		hidden;			/* nothing */
	WcSnapshot *snapshot;
	WcCellSource *stored;		/* opened when first needed */
} TxnSource;

static WcStatus
stored_row(void *arg, WcSlice row, WcCellSource **src, WcError *err)
{
	TxnSource  *t = arg;
	WcStatus	status;

	*src = NULL;
	if (t->hidden)
		return WC_OK;
	if (t->stored == NULL)
	{
		WcSourceOptions options = {.snapshot = t->snapshot,.fill_cache = true};

		status = t->storage->ops->open_source(t->store, &options, &t->stored, err);
		if (status != WC_OK)
			return status;
	}
	t->base.seeks++;
	status = t->stored->ops->seek_row(t->stored, row, true, err);
	if (status == WC_OK && wc_slice_eq(t->stored->row, row))
		*src = t->stored;
	return status == WC_END ? WC_OK : status;
}

/* One operation's items of this family; *any: there were some. */
static WcStatus
resolve_op(TxnSource *t, const WcTxnEntry *entry, bool *any, WcError *err)
{
	WcDecoder	d = wc_decoder(wc_slice(entry->bytes, entry->len));
	bool		found = false;
	WcItem		item;
	WcOp		op;
	WcStatus	status = wc_batch_next_op(&d, &op, err);

	if (status != WC_OK)
		return status;
	d = wc_decoder(op.items);
	while ((status = wc_op_next_item(&d, &item, err)) == WC_OK)
	{
		if (item.family != t->base.family)
			continue;
		found = true;
		status = wc_resolver_item(t->resolver, &item, err);
		if (status != WC_OK)
			return status;
	}
	if (status != WC_END)
		return status;
	*any |= found;
	return found ? wc_resolver_end_op(t->resolver, err) : WC_OK;
}

/* A row with few operations. */
static WcStatus
resolve_anew(TxnSource *t, WcSlice row, const WcTxnEntry *const *entries, size_t n, WcError *err)
{
	bool		any = false;
	WcStatus	status = WC_OK;

	wc_resolver_start(t->resolver, row, t->ts);
	for (size_t i = 0; status == WC_OK && i < n; i++)
		status = resolve_op(t, entries[i], &any, err);
	if (status == WC_OK)
		status = wc_resolver_finish(t->resolver, &t->resolved, err);
	if (status == WC_OK && !any)
		t->resolved.n = 0;
	return status;
}

/* The view's row, from which it steps on.  resolved.n is 0 when it has nothing for this
 * family. */
static WcStatus
resolve_row(TxnSource *t, WcSlice row, WcError *err)
{
	WcOwnRowReader reader = {
		.table_id = t->table_id,.family = t->base.family,.attrs = &t->options.attrs,
		.moment = t->snapshot ? t->storage->ops->moment(t->snapshot) : 0,.hidden = t->hidden,.cid = t->cid,
		.void_before = wc_txnview_void_before(t->view),.upto = wc_txnview_upto(t->view),.ts = t->ts,
		.now_us = t->options.now_us,.arg = t
	};
	const WcTxnEntry *const *entries;
	uint32_t	passed_cid;
	size_t		n;
	WcStatus	status;

	n = 0;
	t->own = wc_ownrows_take(t->txn, &reader, row);
	status = wc_txnview_take(t->view, row, t->own ? wc_ownrow_next(t->own) : 0, &entries, &n, &passed_cid, err);
	if (status == WC_OK && t->own == NULL && n >= WC_OWNROW_OPS_MIN)
		status = wc_ownrow_create(t->txn, &reader, &t->options, row, &t->own, err);
	if (status == WC_OK && t->own != NULL)
		status = wc_ownrow_resolve(t->own, entries, n, passed_cid, &t->resolved, err);
	else if (status == WC_OK)
		status = resolve_anew(t, row, entries, n, err);
	wc_txn_note_resolved(t->txn, n);
	t->base.row = t->own ? wc_ownrow_row(t->own) : row;
	return status;
}

static void
leave_row(TxnSource *t)
{
	wc_ownrows_give(t->txn, t->own);
	t->own = NULL;
	t->next = t->resolved.n = 0;
}

/*
 * To the view's next row, also if it has nothing for this family: mostly another family has it, and then the scan looks at each of these
 * rows once.  To find the next one that has something, each scan, and each seek of a scan of several families, would resolve all of them.
 */
static WcStatus
txn_next_row(WcCellSource *src, WcError *err)
{
	TxnSource  *t = (TxnSource *) src;
	WcSlice		row;
	WcStatus	status;

	leave_row(t);
	status = wc_txnview_row(t->view, &row);
	if (status == WC_OK)
		status = resolve_row(t, row, err);
	if (status != WC_OK)
	{
		/* it may be resolved in part */
		wc_ownrow_free(t->own);
		t->own = NULL;
		t->resolved.n = 0;
	}
	return status;
}

static WcStatus
txn_seek_row(WcCellSource *src, WcSlice row, bool inclusive, WcError *err)
{
	TxnSource  *t = (TxnSource *) src;

	wc_txnview_seek(t->view, row, inclusive);
	return txn_next_row(src, err);
}

static WcStatus
txn_next_cell(WcCellSource *src, WcCell *cell, WcError *err)
{
	TxnSource  *t = (TxnSource *) src;

	if (t->next == t->resolved.n)
		return WC_END;
	*cell = t->resolved.cells[t->next++];
	src->cells++;
	return WC_OK;
}

static WcStatus
txn_seek_column(WcCellSource *src, WcSlice qualifier, bool after, WcError *err)
{
	TxnSource  *t = (TxnSource *) src;
	size_t		lo = t->next,
				hi = t->resolved.n;

	while (lo < hi)
	{
		size_t		mid = lo + (hi - lo) / 2;
		int			c = wc_slice_cmp(t->resolved.cells[mid].qualifier, qualifier);

		if (c < 0 || (c == 0 && after))
			lo = mid + 1;
		else
			hi = mid;
	}
	t->next = lo;
	return WC_OK;
}

static void
txn_close(WcCellSource *src)
{
	TxnSource  *t = (TxnSource *) src;

	leave_row(t);
	wc_cellsource_close(t->stored);
	wc_resolver_free(t->resolver);
	wc_txnview_close(t->view);
	free(t);
}

static const WcCellSourceOps txn_ops = {
	.seek_row = txn_seek_row,
	.next_row = txn_next_row,
	.next_cell = txn_next_cell,
	.seek_column = txn_seek_column,
	.close = txn_close
};

WcStatus
wc_cellsource_txn(WcStorage *storage, const WcTable *table, uint32_t family, const WcReadPoint *at,
				  bool base_hidden, const WcRange *bounds, bool reversed, WcCellSource **src, WcError *err)
{
	TxnSource  *t = calloc(1, sizeof(TxnSource));
	const WcFamilyDesc *desc = &table->desc.families[family];
	WcResolverOptions options = {
		.family = desc->id,.attrs = desc->attrs,
		.now_us = storage->ops->now(storage) + at->clock_offset_us,.base = stored_row,.arg = t
	};
	WcStatus	status;

	if (t == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for reading a transaction's changes");
	t->base.ops = &txn_ops;
	t->base.reversed = reversed;
	t->base.family = desc->id;
	t->storage = storage;
	t->store = table->stores[family];
	t->ts = storage->ops->provisional_ts(storage);
	t->hidden = base_hidden;
	t->snapshot = at->snapshot;
	t->options = options;
	t->txn = at->txn;
	t->table_id = table->desc.id;
	t->cid = at->cid;
	status = wc_resolver_create(&options, &t->resolver, err);
	if (status == WC_OK)
		status = wc_txnview_open(at->txn, table->desc.id, at->cid, bounds, reversed, &t->view, err);
	if (status != WC_OK)
	{
		txn_close(&t->base);
		return status;
	}
	*src = &t->base;
	return WC_OK;
}
