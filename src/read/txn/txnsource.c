/*
 * read/txn/txnsource.c: a transaction's own writes as a cell source.
 */
#include <stdlib.h>

#include "read/txn/resolve.h"
#include "read/txn/txn.h"

typedef struct TxnSource
{
	WcCellSource base;
	WcStorage  *storage;
	WcStore    *store;			/* of the picture */
	WcTxnView  *view;
	WcResolver *resolver;
	WcResolved	resolved;		/* of the current row */
	size_t		next;
	int64_t		ts;				/* provisional */

	/* What the operations are resolved against. */
	bool		hidden;			/* nothing */
	const WcSnapshot *snapshot;
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

/* To the view's next row that has anything for this family. */
static WcStatus
txn_next_row(WcCellSource *src, WcError *err)
{
	TxnSource  *t = (TxnSource *) src;

	for (;;)
	{
		const WcTxnEntry *const *entries;
		bool		any = false;
		size_t		n;
		WcSlice		row;
		WcStatus	status = wc_txnview_next(t->view, &row, &entries, &n, err);

		t->next = t->resolved.n = 0;
		if (status != WC_OK)
			return status;
		wc_resolver_start(t->resolver, row, t->ts);
		for (size_t i = 0; status == WC_OK && i < n; i++)
			status = resolve_op(t, entries[i], &any, err);
		if (status == WC_OK)
			status = wc_resolver_finish(t->resolver, &t->resolved, err);
		if (status != WC_OK)
			return status;
		if (any && t->resolved.n > 0)
		{
			src->row = row;
			return WC_OK;
		}
	}
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
