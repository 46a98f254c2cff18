/*
 * fdw/write/rowwrite.c: one statement's writes to one row.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/printable.h"
#include "fdw/write/rowwrite.h"

/* A buffer of at most this size is kept for the next row. */
#define KEEP_BYTES (1024 * 1024)

static void
free_buffers(void *arg)
{
	WcRowWrite *w = arg;

	wc_buf_free(&w->key);
	wc_buf_free(&w->bytes);
}

void
wc_rowwrite_init(WcRowWrite *w, const WcTableDesc *desc)
{
	MemoryContextCallback *callback = palloc0(sizeof(*callback));

	memset(w, 0, sizeof(*w));
	w->desc = desc;
	wc_buf_init(&w->key, 0);
	wc_buf_init(&w->bytes, 0);
	w->capacity = 32;
	w->items = palloc(sizeof(WcRowItem) * w->capacity);
	w->context = CurrentMemoryContext;
	callback->func = free_buffers;
	callback->arg = w;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
}

void
wc_rowwrite_start(WcRowWrite *w)
{
	wc_buf_reset(&w->key, KEEP_BYTES);
	wc_buf_reset(&w->bytes, KEEP_BYTES);
	w->nitems = 0;
}

static WcRowItem *
new_item(WcRowWrite *w, WcItemKind kind, uint32 family, WcSlice qualifier)
{
	WcRowItem  *item;

	if (w->nitems == w->capacity)
	{
		MemoryContext old = MemoryContextSwitchTo(w->context);

		w->capacity *= 2;
		w->items = repalloc_huge(w->items, sizeof(WcRowItem) * w->capacity);
		MemoryContextSwitchTo(old);
	}
	item = &w->items[w->nitems++];
	item->kind = kind;
	item->family = family;
	item->qualifier = qualifier;
	item->value_start = w->bytes.len;
	item->value_len = 0;
	item->ts = WC_TS_LATEST;
	item->ttl_us = 0;
	return item;
}

void
wc_rowwrite_put(WcRowWrite *w, uint32 family, WcSlice qualifier, WcCodec *codec, Datum value)
{
	WcRowItem  *item = new_item(w, WC_ITEM_PUT, family, qualifier);

	wc_codec_encode(codec, value, &w->bytes);
	item->value_len = w->bytes.len - item->value_start;
}

void
wc_rowwrite_set_ts(WcRowWrite *w, int64 ts)
{
	w->items[w->nitems - 1].ts = ts;
}

void
wc_rowwrite_put_cell(WcRowWrite *w, uint32 family, WcSlice qualifier, int64 ts, int64 ttl_us, WcSlice value)
{
	WcRowItem  *item = new_item(w, WC_ITEM_PUT, family, qualifier);
	WcError		err;

	wc_buf_append_slice(&w->bytes, value);
	if (wc_buf_status(&w->bytes, "row", &err) != WC_OK)
		wc_raise(&err);
	item->value_len = value.len;
	item->ts = ts;
	item->ttl_us = ttl_us;
}

void
wc_rowwrite_put_bytes(WcRowWrite *w, uint32 family, WcSlice qualifier, WcSlice value)
{
	wc_rowwrite_put_cell(w, family, qualifier, WC_TS_LATEST, 0, value);
}

void
wc_rowwrite_item(WcRowWrite *w, const WcRowItem *item)
{
	*new_item(w, (WcItemKind) item->kind, item->family, item->qualifier) = *item;
}

void
wc_rowwrite_delete(WcRowWrite *w, WcItemKind kind, uint32 family, WcSlice qualifier, int64 ts)
{
	new_item(w, kind, family, qualifier)->ts = ts;
}

void
wc_rowwrite_clear(WcRowWrite *w, WcItemKind kind, uint32 family, WcSlice qualifier)
{
	new_item(w, kind, family, qualifier);
}

static WcStatus
add_item(WcBatchBuilder *b, const WcRowWrite *w, const WcRowItem *item, WcError *err)
{
	switch ((WcItemKind) item->kind)
	{
		case WC_ITEM_PUT:
			return wc_batch_put(b, item->family, item->qualifier, item->ts, item->ttl_us,
								wc_slice(w->bytes.data + item->value_start, item->value_len), err);
		case WC_ITEM_DELETE:
		case WC_ITEM_DELETE_COLUMN:
		case WC_ITEM_DELETE_FAMILY:
		case WC_ITEM_DELETE_FAMILY_VERSION:
			return wc_batch_delete(b, (WcCellType) item->kind, item->family, item->qualifier, item->ts, err);
		case WC_ITEM_CLEAR_COLUMN:
			return wc_batch_clear_column(b, item->family, item->qualifier, err);
		case WC_ITEM_CLEAR_FAMILY:
			return wc_batch_clear_family(b, item->family, NULL, 0, err);
		case WC_ITEM_CLEAR_PREFIX:
			return wc_batch_clear_prefix(b, item->family, item->qualifier, err);
	}
	return wc_error(err, WC_INTERNAL, "unknown kind of write: %d", item->kind);
}

typedef struct Failure
{
	const WcRowWrite *w;
	const WcRowItem *item;		/* NULL: the error is not about one column */
	bool		many_rows;		/* the error is not about one row */
} Failure;

static void
tell_place(void *arg)
{
	const Failure *failure = arg;
	const WcTableDesc *desc = failure->w->desc;
	char	   *table = wc_client_table_fullname(desc);
	char		row[200];
	char		column[200];
	const WcFamilyDesc *family;

	wc_printable(row, sizeof(row), wc_buf_slice(&failure->w->key));
	if (failure->many_rows)
	{
		errcontext("change of stored table \"%s\"", table);
		return;
	}
	family = failure->item ? wc_table_desc_family_by_id(desc, failure->item->family) : NULL;
	if (family == NULL)
	{
		errcontext("row \"%s\" of stored table \"%s\"", row, table);
		return;
	}
	wc_printable(column, sizeof(column), failure->item->qualifier);
	errcontext("column \"%s:%s\" in row \"%s\" of stored table \"%s\"",
			   wc_text_from_utf8(family->name), column, row, table);
}

static void pg_attribute_noreturn()
fail(const WcRowWrite *w, const WcRowItem *item, bool many_rows, const WcError *err)
{
	Failure		failure = {.w = w,.item = item,.many_rows = many_rows};
	ErrorContextCallback callback = {.previous = error_context_stack,.callback = tell_place,.arg = &failure};

	error_context_stack = &callback;
	wc_client_write_failed(err);
}

void
wc_rowwrite_items(const WcRowWrite *w, WcBuf *out)
{
	WcBuf		buf = WC_BUF_INIT;
	WcBatchBuilder b;
	const WcRowItem *item = NULL;
	WcDecoder	d;
	WcError		err;
	WcStatus	status;
	WcOp		op;

	/* an operation needs a row; its key is not used */
	wc_batch_init(&b, &buf);
	status = wc_batch_row_begin(&b, w->desc->id, 0, wc_slice("r", 1), 0, NULL, 0, &err);
	for (int i = 0; i < w->nitems && status == WC_OK; i++)
	{
		item = &w->items[i];
		status = add_item(&b, w, item, &err);
	}
	if (status == WC_OK)
		status = wc_batch_row_end(&b, &err);
	d = wc_decoder(wc_buf_slice(&buf));
	if (status == WC_OK)
		status = wc_batch_next_op(&d, &op, &err);
	if (status == WC_OK)
		wc_buf_append_slice(out, op.items);
	wc_buf_free(&buf);
	if (status == WC_OK)
		status = wc_buf_status(out, "change", &err);
	if (status != WC_OK)
		fail(w, item, true, &err);
}

void
wc_rowwrite_send(WcRowWrite *w, CommandId cid, const uint32 *must_be_absent, int nfamilies)
{
	WcBatchBuilder *b;
	WcError		err;

	if (w->nitems == 0)
		return;
	b = w->aside != NULL ? w->aside : wc_client_write_in_mode(w->desc, w->mode);
	if (wc_batch_row_begin(b, w->desc->id, cid, wc_buf_slice(&w->key),
						   nfamilies > 0 ? WC_ROW_MUST_BE_ABSENT : 0,
						   must_be_absent, nfamilies, &err) != WC_OK)
		fail(w, NULL, false, &err);
	for (int i = 0; i < w->nitems; i++)
		if (add_item(b, w, &w->items[i], &err) != WC_OK)
			fail(w, &w->items[i], false, &err);
	if (wc_batch_row_end(b, &err) != WC_OK)
		fail(w, NULL, false, &err);
	if (w->aside == NULL)
		wc_client_write_done();
}
