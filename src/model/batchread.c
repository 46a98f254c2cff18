/*
 * model/batchread.c: a transaction's writes, read back from untrusted bytes.
 */
#include "model/batchformat.h"

/* Whatever is wrong, nothing behind it can be trusted. */
static WcStatus
corrupt(WcDecoder *d, WcError *err, const char *what)
{
	wc_decoder_fail(d);
	return wc_error(err, WC_CORRUPT, "batch makes no sense: %s", what);
}

/* --- operations ------------------------------------------------------------- */

static WcStatus
row_decode(WcDecoder *d, WcDecoder *payload, WcOp *op, WcError *err)
{
	op->table_id = (uint32_t) wc_decode_varint_max(payload, UINT32_MAX);
	op->flags = wc_decode_u8(payload);
	op->row = wc_decode_bytes(payload);
	if ((op->flags & ~(uint32_t) WC_ROW_FLAGS) != 0)
		return corrupt(d, err, "unknown flags of a row operation");
	if ((op->flags & WC_ROW_MUST_BE_ABSENT) != 0)
	{
		size_t		n = wc_decode_count(payload, WC_FAMILIES_MAX, 1);
		const uint8_t *start = payload->p;

		for (size_t i = 0; i < n; i++)
			(void) wc_decode_varint_max(payload, UINT32_MAX);
		if (payload->failed || n == 0)
			return corrupt(d, err, "bad families of a row that must be absent");
		op->families = wc_slice(start, (size_t) (payload->p - start));
	}
	if (payload->failed)
		return corrupt(d, err, "row operation is cut off");
	if (op->row.len == 0 || op->row.len > WC_ROW_MAX)
		return corrupt(d, err, "row key is empty or too long");
	op->items = wc_decode_raw(payload, wc_decoder_left(payload));
	return WC_OK;
}

static WcStatus
namespace_decode(WcDecoder *d, WcDecoder *payload, WcOp *op, WcError *err)
{
	op->database = (uint32_t) wc_decode_varint_max(payload, UINT32_MAX);
	op->name = wc_decode_bytes(payload);
	if (op->kind == WC_OP_ALTER_NAMESPACE)
		op->properties = wc_decode_bytes(payload);
	if (!wc_decoder_done(payload) || op->properties.len > WC_NAMESPACE_PROPERTIES_MAX)
		return corrupt(d, err, "bad namespace operation");
	if (wc_namespace_name_check(op->name, NULL) != WC_OK)
		return corrupt(d, err, "bad name of a namespace");
	return WC_OK;
}

static WcStatus
lock_decode(WcDecoder *d, WcDecoder *payload, WcOp *op, WcError *err)
{
	op->table_id = (uint32_t) wc_decode_varint_max(payload, UINT32_MAX);
	op->mode = wc_decode_u8(payload);
	op->row = wc_decode_bytes(payload);
	if (!wc_decoder_done(payload) || op->row.len > WC_ROW_MAX || op->mode < WC_LOCK_KEY_SHARE || op->mode > WC_LOCK_EXCLUSIVE)
		return corrupt(d, err, "bad lock operation");
	return WC_OK;
}

WcStatus
wc_batch_op_size(WcSlice bytes, size_t *size, WcError *err)
{
	uint32_t	len;

	*size = 0;
	if (bytes.len < WC_OP_HEAD)
		return WC_OK;
	len = wc_load_u32(bytes.data + 1);
	if (len > WC_OPERATION_MAX)
		return wc_error(err, WC_CORRUPT, "batch makes no sense: operation is too large");
	*size = WC_OP_HEAD + (size_t) len;
	return WC_OK;
}

WcStatus
wc_batch_next_op(WcDecoder *d, WcOp *op, WcError *err)
{
	const uint8_t *start = d->p;
	WcDecoder	payload;
	uint32_t	len;

	if (d->failed)
		return corrupt(d, err, "an operation before cannot be read");
	if (d->p == d->end)
		return WC_END;

	memset(op, 0, sizeof(*op));
	op->kind = wc_decode_u8(d);
	len = wc_decode_u32(d);
	if (len > WC_OPERATION_MAX)
		return corrupt(d, err, "operation is too large");
	payload = wc_decoder(wc_decode_raw(d, len));
	if (d->failed)
		return corrupt(d, err, "operation is cut off");
	op->bytes = wc_slice(start, WC_OP_HEAD + (size_t) len);
	op->cid = (uint32_t) wc_decode_varint_max(&payload, UINT32_MAX);
	if (payload.failed)
		return corrupt(d, err, "operation has no command id");

	switch (op->kind)
	{
		case WC_OP_ROW:
			return row_decode(d, &payload, op, err);
		case WC_OP_CREATE_TABLE:
		case WC_OP_ALTER_TABLE:
			op->desc = wc_decode_raw(&payload, wc_decoder_left(&payload));
			return WC_OK;
		case WC_OP_DROP_TABLE:
		case WC_OP_TRUNCATE_TABLE:
			op->table_id = (uint32_t) wc_decode_varint_max(&payload, UINT32_MAX);
			if (!wc_decoder_done(&payload))
				return corrupt(d, err, "bad table operation");
			return WC_OK;
		case WC_OP_CREATE_NAMESPACE:
		case WC_OP_DROP_NAMESPACE:
		case WC_OP_ALTER_NAMESPACE:
			return namespace_decode(d, &payload, op, err);
		case WC_OP_DROP_DATABASE:
			op->database = (uint32_t) wc_decode_varint_max(&payload, UINT32_MAX);
			if (!wc_decoder_done(&payload))
				return corrupt(d, err, "bad database operation");
			return WC_OK;
		case WC_OP_LOCK:
			return lock_decode(d, &payload, op, err);
		default:
			return corrupt(d, err, "unknown kind of operation");
	}
}

/* --- items ------------------------------------------------------------------ */

static WcStatus
except_decode(WcDecoder *d, WcItem *item, WcError *err)
{
	const uint8_t *start;

	item->nexcept = (uint32_t) wc_decode_count(d, WC_COLUMNS_MAX, 1);
	start = d->p;
	for (uint32_t i = 0; i < item->nexcept; i++)
		if (wc_decode_bytes(d).len > WC_QUALIFIER_MAX)
			return corrupt(d, err, "qualifier is too long");
	item->except = wc_slice(start, (size_t) (d->p - start));
	return WC_OK;
}

/* What may follow the family in an item of this kind. */
#define HAS_QUALIFIER	0x01
#define HAS_TIME		0x02
#define HAS_VALUE		0x04
#define HAS_EXCEPT		0x08

static bool
item_shape(uint8_t kind, unsigned *shape)
{
	switch (kind)
	{
		case WC_ITEM_PUT:
			*shape = HAS_QUALIFIER | HAS_TIME | HAS_VALUE;
			return true;
		case WC_ITEM_DELETE:
		case WC_ITEM_DELETE_COLUMN:
			*shape = HAS_QUALIFIER | HAS_TIME;
			return true;
		case WC_ITEM_DELETE_FAMILY:
		case WC_ITEM_DELETE_FAMILY_VERSION:
			*shape = HAS_TIME;
			return true;
		case WC_ITEM_CLEAR_COLUMN:
		case WC_ITEM_CLEAR_PREFIX:
			*shape = HAS_QUALIFIER;
			return true;
		case WC_ITEM_CLEAR_FAMILY:
			*shape = HAS_EXCEPT;
			return true;
		default:
			return false;
	}
}

WcStatus
wc_op_next_item(WcDecoder *d, WcItem *item, WcError *err)
{
	unsigned	shape;
	uint8_t		tag;

	if (d->failed)
		return corrupt(d, err, "an item before cannot be read");
	if (d->p == d->end)
		return WC_END;

	memset(item, 0, sizeof(*item));
	tag = *d->p++;
	item->kind = tag & WC_ITEM_KIND_MASK;
	item->ts = WC_TS_LATEST;
	if (!item_shape(item->kind, &shape))
		return corrupt(d, err, "unknown kind of item");
	if (((tag & WC_ITEM_HAS_TS) != 0 && (shape & HAS_TIME) == 0) ||
		((tag & WC_ITEM_HAS_TTL) != 0 && (shape & HAS_VALUE) == 0))
		return corrupt(d, err, "item of this kind has no time");

	item->family = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	if ((shape & HAS_QUALIFIER) != 0)
		item->qualifier = wc_decode_bytes(d);
	if ((tag & WC_ITEM_HAS_TS) != 0)
	{
		uint64_t	ts = wc_decode_u64(d);

		if (ts >= WC_TS_LATEST)
			return corrupt(d, err, "timestamp is out of range");
		item->ts = (int64_t) ts;
	}
	if ((tag & WC_ITEM_HAS_TTL) != 0)
	{
		item->ttl_us = (int64_t) wc_decode_varint_max(d, INT64_MAX);
		if (item->ttl_us == 0)
			return corrupt(d, err, "ttl is out of range");
	}
	if ((shape & HAS_VALUE) != 0)
		item->value = wc_decode_bytes(d);
	if ((shape & HAS_EXCEPT) != 0)
	{
		WcStatus	status = except_decode(d, item, err);

		if (status != WC_OK)
			return status;
	}
	if (d->failed)
		return corrupt(d, err, "item is cut off");
	if (item->qualifier.len > WC_QUALIFIER_MAX)
		return corrupt(d, err, "qualifier is too long");
	if (item->value.len > WC_VALUE_MAX)
		return corrupt(d, err, "value is too large");
	return WC_OK;
}
