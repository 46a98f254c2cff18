/*
 * model/batch.c: a transaction's writes, written.  batchread.c reads them.
 */
#include "model/batch.h"

#include <assert.h>

#include "model/batchformat.h"

/* Most bytes an item's numbers take: tag, family, timestamp, TTL and the
 * lengths of qualifier and value. */
#define ITEM_HEAD_MAX (1 + 8 + 4 * WC_VARINT_MAX)

void
wc_batch_init(WcBatchBuilder *b, WcBuf *buf)
{
	b->buf = buf;
	b->op_start = 0;
	b->op_open = false;
	b->nops = 0;
}

/*
 * Reserves n bytes in the open operation.  Without room it returns the error and leaves the buffer unchanged,
 * not marked as failed.
 */
static WcStatus
reserve(WcBatchBuilder *b, size_t n, uint8_t **p, WcError *err)
{
	WcBuf	   *buf = b->buf;
	WcStatus	status = wc_buf_status(buf, "batch", err);

	if (status != WC_OK)
		return status;
	*p = wc_buf_reserve(buf, n);
	if (*p)
		return WC_OK;
	status = wc_buf_status(buf, "batch", err);
	buf->failed = false;
	return status;
}

static WcStatus
reserve_item(WcBatchBuilder *b, size_t n, uint8_t **p, WcError *err)
{
	assert(b->op_open);
	if (n > WC_OPERATION_MAX - (b->buf->len - b->op_start))
		return wc_error(err, WC_TOO_LARGE, "changes of one row are too large: %zu bytes, the limit is %d",
						b->buf->len - b->op_start + n, WC_OPERATION_MAX);
	return reserve(b, n, p, err);
}

static uint8_t *
store_slice(uint8_t *p, WcSlice s)
{
	p = wc_store_varint(p, s.len);
	if (s.len > 0)
		memcpy(p, s.data, s.len);
	return p + s.len;
}

static void
advance(WcBatchBuilder *b, const uint8_t *end)
{
	b->buf->len = (size_t) (end - b->buf->data);
}

/* The operation's length is known: writes it where it was left out. */
static void
finish_op(WcBatchBuilder *b)
{
	size_t		payload = b->buf->len - b->op_start - WC_OP_HEAD;

	wc_store_u32(b->buf->data + b->op_start + 1, (uint32_t) payload);
	b->op_open = false;
	b->nops++;
}

static uint8_t *
store_op_head(WcBatchBuilder *b, uint8_t *p, WcOpKind kind, uint32_t cid)
{
	b->op_start = b->buf->len;
	b->op_open = true;
	*p = (uint8_t) kind;
	return wc_store_varint(p + WC_OP_HEAD, cid);
}

/* --- ROW -------------------------------------------------------------------- */

WcStatus
wc_batch_row_begin(WcBatchBuilder *b, uint32_t table_id, uint32_t cid, WcSlice row,
				   uint32_t flags, const uint32_t *families, uint32_t nfamilies,
				   WcError *err)
{
	WcStatus	status;
	uint8_t    *p;

	assert(!b->op_open);
	if (row.len == 0)
		return wc_error(err, WC_INVALID, "row key is empty");
	if (row.len > WC_ROW_MAX)
		return wc_error(err, WC_TOO_LARGE, "row key is too long: %zu bytes, the limit is %d",
						row.len, WC_ROW_MAX);
	if ((flags & ~(uint32_t) WC_ROW_FLAGS) != 0)
		return wc_error(err, WC_INVALID, "unknown flags %#x of a row operation", flags);
	if ((flags & WC_ROW_MUST_BE_ABSENT) == 0)
		nfamilies = 0;
	else if (nfamilies == 0 || nfamilies > WC_FAMILIES_MAX)
		return wc_error(err, WC_INVALID, "a row that must be absent names %u families, must be between 1 and %d",
						nfamilies, WC_FAMILIES_MAX);

	status = reserve(b, WC_OP_HEAD + 1 + (4 + (size_t) nfamilies) * WC_VARINT_MAX + row.len, &p, err);
	if (status != WC_OK)
		return status;
	p = store_op_head(b, p, WC_OP_ROW, cid);
	p = wc_store_varint(p, table_id);
	*p++ = (uint8_t) flags;
	p = store_slice(p, row);
	if ((flags & WC_ROW_MUST_BE_ABSENT) != 0)
	{
		p = wc_store_varint(p, nfamilies);
		for (uint32_t i = 0; i < nfamilies; i++)
			p = wc_store_varint(p, families[i]);
	}
	advance(b, p);
	return WC_OK;
}

static WcStatus
qualifier_check(WcSlice qualifier, WcError *err)
{
	if (qualifier.len > WC_QUALIFIER_MAX)
		return wc_error(err, WC_TOO_LARGE, "qualifier is too long: %zu bytes, the limit is %d",
						qualifier.len, WC_QUALIFIER_MAX);
	return WC_OK;
}

WcStatus
wc_batch_put(WcBatchBuilder *b, uint32_t family, WcSlice qualifier, int64_t ts,
			 int64_t ttl_us, WcSlice value, WcError *err)
{
	WcStatus	status = qualifier_check(qualifier, err);
	uint8_t		tag = WC_ITEM_PUT;
	uint8_t    *p;

	if (status != WC_OK)
		return status;
	if (value.len > WC_VALUE_MAX)
		return wc_error(err, WC_TOO_LARGE, "value is too large: %zu bytes, the limit is %d",
						value.len, WC_VALUE_MAX);
	if (ts < 0)
		return wc_error(err, WC_INVALID, "timestamp %lld is negative", (long long) ts);
	if (ttl_us < 0)
		return wc_error(err, WC_INVALID, "ttl of a cell is negative");
	status = reserve_item(b, ITEM_HEAD_MAX + qualifier.len + value.len, &p, err);
	if (status != WC_OK)
		return status;

	if (ts != WC_TS_LATEST)
		tag |= WC_ITEM_HAS_TS;
	if (ttl_us > 0)
		tag |= WC_ITEM_HAS_TTL;
	*p++ = tag;
	p = wc_store_varint(p, family);
	p = store_slice(p, qualifier);
	if (ts != WC_TS_LATEST)
	{
		wc_store_u64(p, (uint64_t) ts);
		p += 8;
	}
	if (ttl_us > 0)
		p = wc_store_varint(p, (uint64_t) ttl_us);
	p = store_slice(p, value);
	advance(b, p);
	return WC_OK;
}

WcStatus
wc_batch_delete(WcBatchBuilder *b, WcCellType type, uint32_t family, WcSlice qualifier,
				int64_t ts, WcError *err)
{
	WcStatus	status = qualifier_check(qualifier, err);
	bool		of_family = type == WC_DELETE_FAMILY || type == WC_DELETE_FAMILY_VERSION;
	uint8_t    *p;

	if (status != WC_OK)
		return status;
	if (type == WC_PUT || !wc_cell_type_valid((uint8_t) type))
		return wc_error(err, WC_INVALID, "cell type %u is no delete marker", (unsigned) type);
	if (of_family && qualifier.len > 0)
		return wc_error(err, WC_INVALID, "%s takes no qualifier", wc_cell_type_name((uint8_t) type));
	if (ts < 0)
		return wc_error(err, WC_INVALID, "timestamp %lld is negative", (long long) ts);
	status = reserve_item(b, ITEM_HEAD_MAX + qualifier.len, &p, err);
	if (status != WC_OK)
		return status;

	*p++ = (uint8_t) (type | (ts != WC_TS_LATEST ? WC_ITEM_HAS_TS : 0));
	p = wc_store_varint(p, family);
	if (!of_family)
		p = store_slice(p, qualifier);
	if (ts != WC_TS_LATEST)
	{
		wc_store_u64(p, (uint64_t) ts);
		p += 8;
	}
	advance(b, p);
	return WC_OK;
}

static WcStatus
clear_one(WcBatchBuilder *b, WcItemKind kind, uint32_t family, WcSlice qualifier, WcError *err)
{
	WcStatus	status = qualifier_check(qualifier, err);
	uint8_t    *p;

	if (status == WC_OK)
		status = reserve_item(b, ITEM_HEAD_MAX + qualifier.len, &p, err);
	if (status != WC_OK)
		return status;
	*p++ = (uint8_t) kind;
	p = wc_store_varint(p, family);
	p = store_slice(p, qualifier);
	advance(b, p);
	return WC_OK;
}

WcStatus
wc_batch_clear_column(WcBatchBuilder *b, uint32_t family, WcSlice qualifier, WcError *err)
{
	return clear_one(b, WC_ITEM_CLEAR_COLUMN, family, qualifier, err);
}

WcStatus
wc_batch_clear_prefix(WcBatchBuilder *b, uint32_t family, WcSlice prefix, WcError *err)
{
	return clear_one(b, WC_ITEM_CLEAR_PREFIX, family, prefix, err);
}

WcStatus
wc_batch_clear_family(WcBatchBuilder *b, uint32_t family, const WcSlice *except,
					  uint32_t nexcept, WcError *err)
{
	size_t		size = ITEM_HEAD_MAX;
	WcStatus	status;
	uint8_t    *p;

	if (nexcept > WC_COLUMNS_MAX)
		return wc_error(err, WC_TOO_LARGE, "too many columns are kept: %u, the limit is %d",
						nexcept, WC_COLUMNS_MAX);
	for (uint32_t i = 0; i < nexcept; i++)
	{
		status = qualifier_check(except[i], err);
		if (status != WC_OK)
			return status;
		size += WC_VARINT_MAX + except[i].len;
	}
	status = reserve_item(b, size, &p, err);
	if (status != WC_OK)
		return status;
	*p++ = WC_ITEM_CLEAR_FAMILY;
	p = wc_store_varint(p, family);
	p = wc_store_varint(p, nexcept);
	for (uint32_t i = 0; i < nexcept; i++)
		p = store_slice(p, except[i]);
	advance(b, p);
	return WC_OK;
}

WcStatus
wc_batch_row(WcBatchBuilder *b, WcSlice op, WcError *err)
{
	wc_buf_append_slice(b->buf, op);
	if (b->buf->failed)
		return wc_buf_status(b->buf, "batch", err);
	b->nops++;
	return WC_OK;
}

WcStatus
wc_batch_items(WcBatchBuilder *b, WcSlice items, WcError *err)
{
	WcStatus	status;
	uint8_t    *p;

	if (items.len == 0)
		return WC_OK;
	status = reserve_item(b, items.len, &p, err);
	if (status != WC_OK)
		return status;
	memcpy(p, items.data, items.len);
	advance(b, p + items.len);
	return WC_OK;
}

WcStatus
wc_batch_row_end(WcBatchBuilder *b, WcError *err)
{
	WcStatus	status = wc_buf_status(b->buf, "batch", err);

	assert(b->op_open);
	if (status == WC_OK)
		finish_op(b);
	return status;
}

void
wc_batch_row_abandon(WcBatchBuilder *b)
{
	if (!b->op_open)
		return;
	b->buf->len = b->op_start;
	b->op_open = false;
}

/* --- tables and namespaces -------------------------------------------------- */

/* The head of an operation that is written in one go. */
static WcStatus
begin_op(WcBatchBuilder *b, WcOpKind kind, uint32_t cid, WcError *err)
{
	WcStatus	status;
	uint8_t    *p;

	assert(!b->op_open);
	status = reserve(b, WC_OP_HEAD + WC_VARINT_MAX, &p, err);
	if (status == WC_OK)
		advance(b, store_op_head(b, p, kind, cid));
	return status;
}

/* Ends it, or takes it back when it is too large or the buffer full. */
static WcStatus
end_op(WcBatchBuilder *b, WcError *err)
{
	WcStatus	status = wc_buf_status(b->buf, "batch", err);
	size_t		size = b->buf->len - b->op_start;

	if (status == WC_OK && size > WC_OPERATION_MAX)
		status = wc_error(err, WC_TOO_LARGE, "operation is too large: %zu bytes, the limit is %d",
						  size, WC_OPERATION_MAX);
	if (status == WC_OK)
		finish_op(b);
	else
	{
		wc_batch_row_abandon(b);
		b->buf->failed = false;
	}
	return status;
}

static WcStatus
table_op(WcBatchBuilder *b, WcOpKind kind, uint32_t cid, const WcTableDesc *desc, WcError *err)
{
	WcStatus	status = wc_table_desc_check(desc, err);

	if (status == WC_OK)
		status = begin_op(b, kind, cid, err);
	if (status != WC_OK)
		return status;
	wc_table_desc_encode(b->buf, desc);
	return end_op(b, err);
}

WcStatus
wc_batch_create_table(WcBatchBuilder *b, uint32_t cid, const WcTableDesc *desc, WcError *err)
{
	return table_op(b, WC_OP_CREATE_TABLE, cid, desc, err);
}

WcStatus
wc_batch_alter_table(WcBatchBuilder *b, uint32_t cid, const WcTableDesc *desc, WcError *err)
{
	return table_op(b, WC_OP_ALTER_TABLE, cid, desc, err);
}

/* Of a table, or a database. */
static WcStatus
id_op(WcBatchBuilder *b, WcOpKind kind, uint32_t cid, uint32_t id, WcError *err)
{
	WcStatus	status = begin_op(b, kind, cid, err);

	if (status != WC_OK)
		return status;
	wc_buf_append_varint(b->buf, id);
	return end_op(b, err);
}

WcStatus
wc_batch_drop_table(WcBatchBuilder *b, uint32_t cid, uint32_t table_id, WcError *err)
{
	return id_op(b, WC_OP_DROP_TABLE, cid, table_id, err);
}

WcStatus
wc_batch_truncate_table(WcBatchBuilder *b, uint32_t cid, uint32_t table_id, WcError *err)
{
	return id_op(b, WC_OP_TRUNCATE_TABLE, cid, table_id, err);
}

WcStatus
wc_batch_namespace(WcBatchBuilder *b, WcOpKind kind, uint32_t cid, uint32_t database,
				   WcSlice name, WcError *err)
{
	WcStatus	status = wc_namespace_name_check(name, err);

	assert(kind == WC_OP_CREATE_NAMESPACE || kind == WC_OP_DROP_NAMESPACE);
	if (status == WC_OK)
		status = begin_op(b, kind, cid, err);
	if (status != WC_OK)
		return status;
	wc_buf_append_varint(b->buf, database);
	wc_buf_append_bytes(b->buf, name);
	return end_op(b, err);
}

WcStatus
wc_batch_alter_namespace(WcBatchBuilder *b, uint32_t cid, uint32_t database, WcSlice name, WcSlice properties, WcError *err)
{
	WcStatus	status = wc_namespace_name_check(name, err);

	if (status == WC_OK && properties.len > WC_NAMESPACE_PROPERTIES_MAX)
		status = wc_error(err, WC_TOO_LARGE, "properties of namespace \"%.*s\" are too large: %zu bytes, the limit is %d",
						  (int) name.len, (const char *) name.data, properties.len, WC_NAMESPACE_PROPERTIES_MAX);
	if (status == WC_OK)
		status = begin_op(b, WC_OP_ALTER_NAMESPACE, cid, err);
	if (status != WC_OK)
		return status;
	wc_buf_append_varint(b->buf, database);
	wc_buf_append_bytes(b->buf, name);
	wc_buf_append_bytes(b->buf, properties);
	return end_op(b, err);
}

WcStatus
wc_batch_drop_database(WcBatchBuilder *b, uint32_t cid, uint32_t database, WcError *err)
{
	return id_op(b, WC_OP_DROP_DATABASE, cid, database, err);
}

WcStatus
wc_batch_lock(WcBatchBuilder *b, uint32_t table_id, WcRowLockMode mode, WcSlice row, WcError *err)
{
	WcStatus	status = begin_op(b, WC_OP_LOCK, 0, err);

	assert(row.len <= WC_ROW_MAX);
	if (status != WC_OK)
		return status;
	wc_buf_append_varint(b->buf, table_id);
	wc_buf_append_u8(b->buf, (uint8_t) mode);
	wc_buf_append_bytes(b->buf, row);
	return end_op(b, err);
}
