/*
 * test/fuzz/fuzz_batch.c: a transaction's batch (model/batch.h).
 */
#include "fuzz.h"
#include "model/batch.h"

static bool
recode_item(WcBatchBuilder *b, const WcItem *item)
{
	WcArena		arena = WC_ARENA_INIT;
	WcDecoder	d = wc_decoder(item->except);
	WcSlice    *except;
	WcStatus	status;

	switch (item->kind)
	{
		case WC_ITEM_PUT:
			status = wc_batch_put(b, item->family, item->qualifier, item->ts, item->ttl_us, item->value, NULL);
			break;
		case WC_ITEM_CLEAR_COLUMN:
			status = wc_batch_clear_column(b, item->family, item->qualifier, NULL);
			break;
		case WC_ITEM_CLEAR_PREFIX:
			status = wc_batch_clear_prefix(b, item->family, item->qualifier, NULL);
			break;
		case WC_ITEM_CLEAR_FAMILY:
			except = wc_arena_alloc(&arena, (item->nexcept + 1) * sizeof(WcSlice));
			HOLDS(except != NULL);
			for (uint32_t i = 0; i < item->nexcept; i++)
				except[i] = wc_decode_bytes(&d);
			HOLDS(wc_decoder_done(&d));
			status = wc_batch_clear_family(b, item->family, except, item->nexcept, NULL);
			break;
		default:
			status = wc_batch_delete(b, (WcCellType) item->kind, item->family, item->qualifier, item->ts, NULL);
			break;
	}
	wc_arena_free(&arena);
	return status == WC_OK;
}

/* False: one of its items is damaged. */
static bool
recode_row(WcBatchBuilder *b, const WcOp *op)
{
	uint32_t	families[WC_FAMILIES_MAX];
	uint32_t	n = 0;
	WcDecoder	d = wc_decoder(op->families);
	WcItem		item;
	WcStatus	status;

	while (d.p < d.end)
		families[n++] = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	HOLDS(!d.failed);
	HOLDS(wc_batch_row_begin(b, op->table_id, op->cid, op->row, op->flags, families, n, NULL) == WC_OK);
	d = wc_decoder(op->items);
	while ((status = wc_op_next_item(&d, &item, NULL)) == WC_OK)
		HOLDS(recode_item(b, &item));
	if (status == WC_END)
		HOLDS(wc_batch_row_end(b, NULL) == WC_OK);
	else
	{
		/* what follows is never read */
		HOLDS(status == WC_CORRUPT && wc_op_next_item(&d, &item, NULL) == WC_CORRUPT);
		wc_batch_row_abandon(b);
	}
	return status == WC_END;
}

static bool
recode_table(WcBatchBuilder *b, const WcOp *op)
{
	WcArena		arena = WC_ARENA_INIT;
	WcTableDesc desc;
	bool		good = wc_table_desc_decode(op->desc, &arena, &desc, NULL) == WC_OK;

	if (good && op->kind == WC_OP_CREATE_TABLE)
		HOLDS(wc_batch_create_table(b, op->cid, &desc, NULL) == WC_OK);
	else if (good)
		HOLDS(wc_batch_alter_table(b, op->cid, &desc, NULL) == WC_OK);
	wc_arena_free(&arena);
	return good;
}

static bool
recode_op(WcBatchBuilder *b, const WcOp *op)
{
	switch (op->kind)
	{
		case WC_OP_ROW:
			return recode_row(b, op);
		case WC_OP_CREATE_TABLE:
		case WC_OP_ALTER_TABLE:
			return recode_table(b, op);
		case WC_OP_DROP_TABLE:
			return wc_batch_drop_table(b, op->cid, op->table_id, NULL) == WC_OK;
		case WC_OP_TRUNCATE_TABLE:
			return wc_batch_truncate_table(b, op->cid, op->table_id, NULL) == WC_OK;
		case WC_OP_LOCK:
			return wc_batch_lock(b, op->table_id, (WcRowLockMode) op->mode, op->row, NULL) == WC_OK;
		case WC_OP_DROP_DATABASE:
			return wc_batch_drop_database(b, op->cid, op->database, NULL) == WC_OK;
		case WC_OP_ALTER_NAMESPACE:
			return wc_batch_alter_namespace(b, op->cid, op->database, op->name, op->properties, NULL) == WC_OK;
		default:
			return wc_batch_namespace(b, (WcOpKind) op->kind, op->cid, op->database, op->name, NULL) == WC_OK;
	}
}

static bool
recode(WcSlice in, WcBuf *out)
{
	WcBatchBuilder b;
	WcDecoder	d = wc_decoder(in);
	WcOp		op;
	WcStatus	status;
	size_t		size;

	wc_batch_init(&b, out);
	for (;;)
	{
		WcSlice		rest = wc_slice(d.p, wc_decoder_left(&d));
		WcStatus	size_status = wc_batch_op_size(rest, &size, NULL);

		status = wc_batch_next_op(&d, &op, NULL);
		if (status != WC_OK)
			break;
		HOLDS(size_status == WC_OK && size == op.bytes.len && op.bytes.data == rest.data);
		if (!recode_op(&b, &op))
			return false;
	}
	HOLDS(status == WC_END || wc_batch_next_op(&d, &op, NULL) == WC_CORRUPT);
	return status == WC_END;
}

FUZZ_TARGET(batch)
{
	/* not exact: descriptors of older formats get longer */
	wc_fuzz_recode(in, recode, false);
}
