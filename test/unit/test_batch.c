/*
 * test/unit/test_batch.c: a transaction's writes, written and read back.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "mangle.h"
#include "model/batch.h"

#define S(literal) wc_slice(literal, sizeof(literal) - 1)

static const uint32_t families[] = {1, 300, UINT32_MAX};

static WcFamilyDesc family_desc = {.id = 1, .name = {(const uint8_t *) "f", 1}};
static WcTableDesc table_desc = {.id = 7, .database = 5, .ns = {(const uint8_t *) "default", 7},
	.name = {(const uint8_t *) "t", 1}, .nfamilies = 1, .families = &family_desc, .next_family_id = 2};

static int
set_up(void **state)
{
	(void) state;
	family_desc.attrs = wc_family_attrs_default;
	family_desc.attrs.packing = WC_PACKING_CELL;
	return 0;
}

#define OK(call) assert_int_equal((call), WC_OK)

/* One of every operation and item: 10 operations. */
static void
write_sample(WcBuf *buf, WcBatchBuilder *b)
{
	static const uint8_t long_value[300] = {1, 2, 3};
	const WcSlice except[] = {S("x"), S(""), S("y\0z")};

	wc_batch_init(b, buf);
	OK(wc_batch_row_begin(b, 7, 0, S("row"), WC_ROW_MUST_BE_ABSENT, families, 3, NULL));
	OK(wc_batch_put(b, 1, S("q"), WC_TS_LATEST, 0, S("value"), NULL));
	OK(wc_batch_put(b, UINT32_MAX, S(""), 0, INT64_MAX, S(""), NULL));
	OK(wc_batch_put(b, 1, S("q2"), INT64_MAX - 1, 0, wc_slice(long_value, sizeof(long_value)), NULL));
	OK(wc_batch_row_end(b, NULL));
	OK(wc_batch_row_begin(b, UINT32_MAX, 200, S("\0"), 0, NULL, 0, NULL));
	OK(wc_batch_delete(b, WC_DELETE, 2, S("q"), WC_TS_LATEST, NULL));
	OK(wc_batch_delete(b, WC_DELETE_COLUMN, 2, S("q"), 17, NULL));
	OK(wc_batch_delete(b, WC_DELETE_FAMILY, 2, S(""), WC_TS_LATEST, NULL));
	OK(wc_batch_delete(b, WC_DELETE_FAMILY_VERSION, 2, S(""), 18, NULL));
	OK(wc_batch_clear_column(b, 3, S("c"), NULL));
	OK(wc_batch_clear_family(b, 3, except, 3, NULL));
	OK(wc_batch_clear_family(b, 3, NULL, 0, NULL));
	OK(wc_batch_clear_prefix(b, 3, S("pre"), NULL));
	OK(wc_batch_row_end(b, NULL));
	OK(wc_batch_row_begin(b, 7, 201, S("no items"), 0, families, 3, NULL));
	OK(wc_batch_items(b, S(""), NULL));
	OK(wc_batch_row_end(b, NULL));
	OK(wc_batch_create_table(b, 202, &table_desc, NULL));
	OK(wc_batch_alter_table(b, 203, &table_desc, NULL));
	OK(wc_batch_drop_table(b, 204, 8, NULL));
	OK(wc_batch_truncate_table(b, 205, 9, NULL));
	OK(wc_batch_namespace(b, WC_OP_CREATE_NAMESPACE, 206, 5, S("ns"), NULL));
	OK(wc_batch_namespace(b, WC_OP_DROP_NAMESPACE, UINT32_MAX, 5, S("ns"), NULL));
	OK(wc_batch_drop_database(b, 207, UINT32_MAX, NULL));
	OK(wc_batch_lock(b, 7, WC_LOCK_SHARE, S("row"), NULL));
	OK(wc_batch_lock(b, UINT32_MAX, WC_LOCK_EXCLUSIVE, S(""), NULL));
	OK(wc_batch_alter_namespace(b, 208, 5, S("ns"), S("{\"a\": 1}"), NULL));
	OK(wc_batch_alter_namespace(b, 209, 5, S("ns"), S(""), NULL));
	assert_int_equal(b->nops, 14);
}

static void
expect_item(WcDecoder *d, uint8_t kind, uint32_t family, WcSlice qualifier, int64_t ts, int64_t ttl_us, WcSlice value)
{
	WcItem		item;

	OK(wc_op_next_item(d, &item, NULL));
	assert_int_equal(item.kind, kind);
	assert_int_equal(item.family, family);
	assert_true(wc_slice_eq(item.qualifier, qualifier));
	assert_true(item.ts == ts);
	assert_true(item.ttl_us == ttl_us);
	assert_true(wc_slice_eq(item.value, value));
}

static void
expect_except(WcDecoder *d, uint32_t family, const WcSlice *except, uint32_t nexcept)
{
	WcItem		item;
	WcDecoder	list;

	OK(wc_op_next_item(d, &item, NULL));
	assert_int_equal(item.kind, WC_ITEM_CLEAR_FAMILY);
	assert_int_equal(item.family, family);
	assert_int_equal(item.nexcept, nexcept);
	list = wc_decoder(item.except);
	for (uint32_t i = 0; i < nexcept; i++)
		assert_true(wc_slice_eq(wc_decode_bytes(&list), except[i]));
	assert_true(wc_decoder_done(&list));
}

static void
expect_row(WcDecoder *d, WcOp *op, uint32_t table_id, uint32_t cid, WcSlice row, uint32_t flags)
{
	OK(wc_batch_next_op(d, op, NULL));
	assert_int_equal(op->kind, WC_OP_ROW);
	assert_int_equal(op->table_id, table_id);
	assert_int_equal(op->cid, cid);
	assert_int_equal(op->flags, flags);
	assert_true(wc_slice_eq(op->row, row));
}

static void
expect_table(WcDecoder *d, WcOpKind kind, uint32_t cid, uint32_t table_id)
{
	WcOp		op;

	OK(wc_batch_next_op(d, &op, NULL));
	assert_int_equal(op.kind, kind);
	assert_int_equal(op.cid, cid);
	assert_int_equal(op.table_id, table_id);
}

static void
expect_properties(WcDecoder *d, uint32_t cid, WcSlice properties)
{
	WcOp		op;

	OK(wc_batch_next_op(d, &op, NULL));
	assert_int_equal(op.kind, WC_OP_ALTER_NAMESPACE);
	assert_int_equal(op.cid, cid);
	assert_int_equal(op.database, 5);
	assert_true(wc_slice_eq(op.name, S("ns")));
	assert_true(wc_slice_eq(op.properties, properties));
}

static void
expect_desc(WcDecoder *d, WcOpKind kind, uint32_t cid)
{
	WcArena		arena = WC_ARENA_INIT;
	WcTableDesc desc;
	WcOp		op;

	OK(wc_batch_next_op(d, &op, NULL));
	assert_int_equal(op.kind, kind);
	assert_int_equal(op.cid, cid);
	OK(wc_table_desc_decode(op.desc, &arena, &desc, NULL));
	assert_int_equal(desc.id, 7);
	assert_true(wc_slice_eq(desc.name, S("t")));
	wc_arena_free(&arena);
}

static void
expect_lock(WcDecoder *d, uint32_t table_id, WcRowLockMode mode, WcSlice row)
{
	WcOp		op;

	OK(wc_batch_next_op(d, &op, NULL));
	assert_int_equal(op.kind, WC_OP_LOCK);
	assert_int_equal(op.cid, 0);
	assert_int_equal(op.table_id, table_id);
	assert_int_equal(op.mode, mode);
	assert_true(wc_slice_eq(op.row, row));
}

static void
expect_namespace(WcDecoder *d, WcOpKind kind, uint32_t cid)
{
	WcOp		op;

	OK(wc_batch_next_op(d, &op, NULL));
	assert_int_equal(op.kind, kind);
	assert_int_equal(op.cid, cid);
	assert_int_equal(op.database, 5);
	assert_true(wc_slice_eq(op.name, S("ns")));
}

static void
every_operation_reads_back(void **state)
{
	static const uint8_t long_value[300] = {1, 2, 3};
	const WcSlice except[] = {S("x"), S(""), S("y\0z")};
	WcBuf		buf = WC_BUF_INIT;
	WcBatchBuilder b;
	WcDecoder	d,
				items,
				ids;
	WcOp		op;
	WcItem		item;

	(void) state;
	write_sample(&buf, &b);
	d = wc_decoder(wc_buf_slice(&buf));

	expect_row(&d, &op, 7, 0, S("row"), WC_ROW_MUST_BE_ABSENT);
	assert_ptr_equal(op.bytes.data, buf.data);
	assert_ptr_equal(op.bytes.data + op.bytes.len, d.p);
	ids = wc_decoder(op.families);
	for (int i = 0; i < 3; i++)
		assert_int_equal(wc_decode_varint(&ids), families[i]);
	assert_true(wc_decoder_done(&ids));
	items = wc_decoder(op.items);
	expect_item(&items, WC_ITEM_PUT, 1, S("q"), WC_TS_LATEST, 0, S("value"));
	expect_item(&items, WC_ITEM_PUT, UINT32_MAX, S(""), 0, INT64_MAX, S(""));
	expect_item(&items, WC_ITEM_PUT, 1, S("q2"), INT64_MAX - 1, 0, wc_slice(long_value, sizeof(long_value)));
	assert_int_equal(wc_op_next_item(&items, &item, NULL), WC_END);

	expect_row(&d, &op, UINT32_MAX, 200, S("\0"), 0);
	assert_int_equal(op.families.len, 0);
	items = wc_decoder(op.items);
	expect_item(&items, WC_ITEM_DELETE, 2, S("q"), WC_TS_LATEST, 0, S(""));
	expect_item(&items, WC_ITEM_DELETE_COLUMN, 2, S("q"), 17, 0, S(""));
	expect_item(&items, WC_ITEM_DELETE_FAMILY, 2, S(""), WC_TS_LATEST, 0, S(""));
	expect_item(&items, WC_ITEM_DELETE_FAMILY_VERSION, 2, S(""), 18, 0, S(""));
	expect_item(&items, WC_ITEM_CLEAR_COLUMN, 3, S("c"), WC_TS_LATEST, 0, S(""));
	expect_except(&items, 3, except, 3);
	expect_except(&items, 3, NULL, 0);
	expect_item(&items, WC_ITEM_CLEAR_PREFIX, 3, S("pre"), WC_TS_LATEST, 0, S(""));
	assert_int_equal(wc_op_next_item(&items, &item, NULL), WC_END);

	expect_row(&d, &op, 7, 201, S("no items"), 0);
	items = wc_decoder(op.items);
	assert_int_equal(wc_op_next_item(&items, &item, NULL), WC_END);
	expect_desc(&d, WC_OP_CREATE_TABLE, 202);
	expect_desc(&d, WC_OP_ALTER_TABLE, 203);
	expect_table(&d, WC_OP_DROP_TABLE, 204, 8);
	expect_table(&d, WC_OP_TRUNCATE_TABLE, 205, 9);
	expect_namespace(&d, WC_OP_CREATE_NAMESPACE, 206);
	expect_namespace(&d, WC_OP_DROP_NAMESPACE, UINT32_MAX);
	OK(wc_batch_next_op(&d, &op, NULL));
	assert_int_equal(op.kind, WC_OP_DROP_DATABASE);
	assert_int_equal(op.cid, 207);
	assert_int_equal(op.database, UINT32_MAX);
	expect_lock(&d, 7, WC_LOCK_SHARE, S("row"));
	expect_lock(&d, UINT32_MAX, WC_LOCK_EXCLUSIVE, S(""));
	expect_properties(&d, 208, S("{\"a\": 1}"));
	expect_properties(&d, 209, S(""));
	assert_int_equal(wc_batch_next_op(&d, &op, NULL), WC_END);
	assert_int_equal(wc_batch_next_op(&d, &op, NULL), WC_END);
	wc_buf_free(&buf);
}

static void
batch_bytes_are_the_documented_ones(void **state)
{
	static const uint8_t expected[] = "\x01\x00\x00\x00\x0B\x03\x07\x00\x01r\x04\x01\x01q\x01v";
	WcBuf		buf = WC_BUF_INIT;
	WcBatchBuilder b;

	(void) state;
	wc_batch_init(&b, &buf);
	OK(wc_batch_row_begin(&b, 7, 3, S("r"), 0, NULL, 0, NULL));
	OK(wc_batch_put(&b, 1, S("q"), WC_TS_LATEST, 0, S("v"), NULL));
	OK(wc_batch_row_end(&b, NULL));
	assert_int_equal(buf.len, sizeof(expected) - 1);
	assert_memory_equal(buf.data, expected, buf.len);
	wc_buf_free(&buf);
}

static void
abandoned_row_leaves_nothing(void **state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcBatchBuilder b;
	size_t		len;

	(void) state;
	write_sample(&buf, &b);
	len = buf.len;
	OK(wc_batch_row_begin(&b, 7, 0, S("row"), 0, NULL, 0, NULL));
	OK(wc_batch_put(&b, 1, S("q"), WC_TS_LATEST, 0, S("v"), NULL));
	assert_true(buf.len > len);
	wc_batch_row_abandon(&b);
	assert_int_equal(buf.len, len);
	assert_int_equal(b.nops, 14);
	wc_batch_row_abandon(&b);	/* none is open: nothing happens */
	assert_int_equal(buf.len, len);
	wc_buf_free(&buf);
}

static void
limits_are_refused_and_change_nothing(void **state)
{
	uint8_t    *large = calloc(1, (size_t) WC_VALUE_MAX + 1);
	WcBuf		buf = WC_BUF_INIT;
	WcSlice		except;
	WcBatchBuilder b;
	WcError		err;
	size_t		len;

	(void) state;
	assert_non_null(large);
	wc_batch_init(&b, &buf);

#define REFUSED(call, code, text) \
	do { \
		len = buf.len; \
		assert_int_equal((call), code); \
		assert_string_equal(err.message, text); \
		assert_int_equal(buf.len, len); \
	} while (0)

	REFUSED(wc_batch_row_begin(&b, 1, 0, S(""), 0, NULL, 0, &err), WC_INVALID, "row key is empty");
	REFUSED(wc_batch_row_begin(&b, 1, 0, wc_slice(large, WC_ROW_MAX + 1), 0, NULL, 0, &err), WC_TOO_LARGE,
			"row key is too long: 32769 bytes, the limit is 32768");
	REFUSED(wc_batch_row_begin(&b, 1, 0, S("r"), WC_ROW_MUST_BE_ABSENT, NULL, 0, &err), WC_INVALID,
			"a row that must be absent names 0 families, must be between 1 and 256");
	REFUSED(wc_batch_row_begin(&b, 1, 0, S("r"), 0x80, NULL, 0, &err), WC_INVALID,
			"unknown flags 0x80 of a row operation");
	assert_false(b.op_open);

	OK(wc_batch_row_begin(&b, 1, 0, wc_slice(large, WC_ROW_MAX), 0, NULL, 0, &err));
	REFUSED(wc_batch_put(&b, 1, wc_slice(large, 65536), 1, 0, S(""), &err), WC_TOO_LARGE,
			"qualifier is too long: 65536 bytes, the limit is 65535");
	REFUSED(wc_batch_put(&b, 1, S("q"), 1, 0, wc_slice(large, (size_t) WC_VALUE_MAX + 1), &err), WC_TOO_LARGE,
			"value is too large: 268435457 bytes, the limit is 268435456");
	REFUSED(wc_batch_put(&b, 1, S("q"), -1, 0, S(""), &err), WC_INVALID, "timestamp -1 is negative");
	REFUSED(wc_batch_put(&b, 1, S("q"), 1, -1, S(""), &err), WC_INVALID, "ttl of a cell is negative");
	REFUSED(wc_batch_delete(&b, WC_DELETE_COLUMN, 1, S("q"), -5, &err), WC_INVALID, "timestamp -5 is negative");
	REFUSED(wc_batch_delete(&b, WC_DELETE_COLUMN, 1, wc_slice(large, 65536), 1, &err), WC_TOO_LARGE,
			"qualifier is too long: 65536 bytes, the limit is 65535");
	REFUSED(wc_batch_delete(&b, WC_PUT, 1, S("q"), 1, &err), WC_INVALID, "cell type 4 is no delete marker");
	REFUSED(wc_batch_delete(&b, (WcCellType) 5, 1, S("q"), 1, &err), WC_INVALID, "cell type 5 is no delete marker");
	REFUSED(wc_batch_delete(&b, WC_DELETE_FAMILY, 1, S("q"), 1, &err), WC_INVALID, "DeleteFamily takes no qualifier");
	REFUSED(wc_batch_clear_column(&b, 1, wc_slice(large, 65536), &err), WC_TOO_LARGE,
			"qualifier is too long: 65536 bytes, the limit is 65535");
	REFUSED(wc_batch_clear_prefix(&b, 1, wc_slice(large, 65536), &err), WC_TOO_LARGE,
			"qualifier is too long: 65536 bytes, the limit is 65535");
	except = wc_slice(large, 65536);
	REFUSED(wc_batch_clear_family(&b, 1, &except, 1, &err), WC_TOO_LARGE,
			"qualifier is too long: 65536 bytes, the limit is 65535");
	REFUSED(wc_batch_clear_family(&b, 1, NULL, WC_COLUMNS_MAX + 1, &err), WC_TOO_LARGE,
			"too many columns are kept: 65537, the limit is 65536");

	/* The largest value goes in with the largest row key and qualifier, not twice. */
	OK(wc_batch_put(&b, 1, wc_slice(large, 65535), 1, 1, wc_slice(large, WC_VALUE_MAX), &err));
	len = buf.len;
	assert_int_equal(wc_batch_put(&b, 1, S("q"), 1, 1, wc_slice(large, WC_VALUE_MAX), &err), WC_TOO_LARGE);
	assert_non_null(strstr(err.message, "changes of one row are too large"));
	assert_non_null(strstr(err.message, "the limit is 270532608"));
	assert_int_equal(buf.len, len);
	OK(wc_batch_row_end(&b, &err));
	assert_true(buf.len < WC_MESSAGE_MAX);

	REFUSED(wc_batch_namespace(&b, WC_OP_CREATE_NAMESPACE, 0, 1, S("a:b"), &err), WC_INVALID,
			"invalid namespace name \"a:b\"");
	REFUSED(wc_batch_alter_namespace(&b, 0, 1, S("a"), wc_slice(large, WC_NAMESPACE_PROPERTIES_MAX + 1), &err), WC_TOO_LARGE,
			"properties of namespace \"a\" are too large: 65537 bytes, the limit is 65536");
	table_desc.nfamilies = 0;
	REFUSED(wc_batch_create_table(&b, 0, &table_desc, &err), WC_INVALID, "a table needs at least one family");
	table_desc.nfamilies = 1;
	assert_int_equal(b.nops, 1);
#undef REFUSED
	wc_buf_free(&buf);
	free(large);
}

/* A buffer with any limit ends up with whole operations and can go on. */
static void
full_buffer_keeps_whole_operations(void **state)
{
	(void) state;
	for (size_t limit = 1; limit < 400; limit++)
	{
		WcBuf		buf;
		WcBatchBuilder b;
		WcDecoder	d;
		WcOp		op;
		WcError		err;
		uint64_t	n = 0;
		uint64_t	seen = 0;
		WcStatus	status;

		wc_buf_init(&buf, limit);
		wc_batch_init(&b, &buf);
		for (;;)
		{
			if (n % 2 == 0)
				status = wc_batch_create_table(&b, (uint32_t) n, &table_desc, &err);
			else
			{
				status = wc_batch_row_begin(&b, 7, (uint32_t) n, S("row"), 0, NULL, 0, &err);
				if (status == WC_OK)
					status = wc_batch_put(&b, 1, S("q"), 1, 0, S("value"), &err);
				if (status == WC_OK)
					status = wc_batch_row_end(&b, &err);
				else
					wc_batch_row_abandon(&b);
			}
			if (status != WC_OK)
				break;
			n++;
		}
		assert_int_equal(status, WC_TOO_LARGE);
		assert_false(b.op_open);
		assert_int_equal(b.nops, n);
		assert_false(buf.failed);
		d = wc_decoder(wc_buf_slice(&buf));
		while ((status = wc_batch_next_op(&d, &op, NULL)) == WC_OK)
			assert_int_equal(op.cid, seen++);
		assert_int_equal(status, WC_END);
		assert_int_equal(seen, n);
		wc_buf_free(&buf);
	}
}

/* --- any bytes -------------------------------------------------------------- */

typedef struct Tally
{
	int			whole;			/* runs of bytes that are a batch */
	int			corrupt;
} Tally;

static WcStatus
read_items(WcSlice bytes)
{
	WcDecoder	d = wc_decoder(bytes);
	WcItem		item;
	WcError		err;
	WcStatus	status;

	while ((status = wc_op_next_item(&d, &item, &err)) == WC_OK)
	{
		WcDecoder	list = wc_decoder(item.except);

		wc_mangle_touch(item.qualifier);
		wc_mangle_touch(item.value);
		for (uint32_t i = 0; i < item.nexcept; i++)
			wc_mangle_touch(wc_decode_bytes(&list));
		assert_true(wc_decoder_done(&list));
		assert_true(item.ts >= 0 && item.ttl_us >= 0);
		assert_true(item.qualifier.len <= WC_QUALIFIER_MAX);
	}
	if (status == WC_CORRUPT)
	{
		/* and stays so */
		assert_int_equal(err.status, WC_CORRUPT);
		assert_int_equal(wc_op_next_item(&d, &item, &err), WC_CORRUPT);
	}
	return status;
}

static void
read_batch(WcSlice bytes, void *arg)
{
	WcDecoder	d = wc_decoder(bytes);
	Tally	   *tally = arg;
	size_t		total = 0;
	bool		items_good = true;
	WcOp		op;
	WcError		err;
	WcStatus	status;

	while ((status = wc_batch_next_op(&d, &op, &err)) == WC_OK)
	{
		WcDecoder	ids = wc_decoder(op.families);

		total += op.bytes.len;
		wc_mangle_touch(op.bytes);
		wc_mangle_touch(op.row);
		wc_mangle_touch(op.name);
		wc_mangle_touch(op.desc);
		while (!wc_decoder_done(&ids))
		{
			(void) wc_decode_varint(&ids);
			assert_false(ids.failed);
		}
		if (op.kind == WC_OP_ROW)
		{
			assert_true(op.row.len > 0 && op.row.len <= WC_ROW_MAX);
			if (read_items(op.items) != WC_END)
				items_good = false;
		}
	}
	if (status == WC_CORRUPT)
	{
		assert_int_equal(err.status, WC_CORRUPT);
		assert_int_equal(wc_batch_next_op(&d, &op, &err), WC_CORRUPT);
		tally->corrupt++;
		return;
	}
	assert_int_equal(status, WC_END);
	assert_int_equal(total, bytes.len);
	if (items_good)
		tally->whole++;
}

static void
batches_survive_any_bytes(void **state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcBatchBuilder b;
	Tally		tally = {0, 0};

	(void) state;
	write_sample(&buf, &b);

	/* Cut behind one of the 14 operations, or before all, it is a batch. */
	wc_mangle_prefixes(wc_buf_slice(&buf), read_batch, &tally);
	assert_int_equal(tally.whole, 15);
	assert_int_equal(tally.corrupt, buf.len + 1 - 15);
	wc_mangle_randomly(wc_buf_slice(&buf), 30000, read_batch, &tally);
	wc_buf_free(&buf);
}

static void
read_row_items(WcSlice bytes, void *arg)
{
	WcStatus	status = read_items(bytes);
	Tally	   *tally = arg;

	assert_true(status == WC_END || status == WC_CORRUPT);
	if (status == WC_END)
		tally->whole++;
	else
		tally->corrupt++;
}

static void
items_survive_any_bytes(void **state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcBatchBuilder b;
	WcDecoder	d;
	WcOp		op;
	Tally		tally = {0, 0};

	(void) state;
	write_sample(&buf, &b);
	d = wc_decoder(wc_buf_slice(&buf));
	OK(wc_batch_next_op(&d, &op, NULL));
	wc_mangle_prefixes(op.items, read_row_items, &tally);
	assert_int_equal(tally.whole, 1 + 3);
	assert_int_equal(tally.corrupt, op.items.len + 1 - 4);
	wc_mangle_randomly(op.items, 30000, read_row_items, &tally);

	OK(wc_batch_next_op(&d, &op, NULL));
	tally = (Tally) {0, 0};
	wc_mangle_prefixes(op.items, read_row_items, &tally);
	assert_int_equal(tally.whole, 1 + 8);
	assert_int_equal(tally.corrupt, op.items.len + 1 - 9);
	wc_mangle_randomly(op.items, 30000, read_row_items, &tally);
	wc_buf_free(&buf);
}

static void
impossible_items_are_corrupt(void **state)
{
	static const struct
	{
		const char *why;
		WcSlice		bytes;
	}			items[] = {
#define ITEM(why, literal) {why, {(const uint8_t *) (literal), sizeof(literal) - 1}}
		ITEM("kind 0", "\x00\x01\x00"),
		ITEM("kind 5", "\x05\x01\x00"),
		ITEM("kind 35", "\x23\x01\x00"),
		ITEM("timestamp of a clear", "\x60\x01\x00\0\0\0\0\0\0\0\1"),
		ITEM("ttl of a delete", "\x88\x01\x00\x05"),
		ITEM("ttl 0", "\x84\x01\x00\x00\x00"),
		ITEM("negative timestamp", "\x44\x01\x00\x80\0\0\0\0\0\0\0\x00"),
		ITEM("latest, written out", "\x44\x01\x00\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x00"),
		ITEM("family id of 33 bits", "\x04\x80\x80\x80\x80\x10\x00\x00"),
		ITEM("two exceptions, room for one", "\x21\x01\x02\x00"),
#undef ITEM
	};

	(void) state;
	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++)
		if (read_items(items[i].bytes) != WC_CORRUPT)
			fail_msg("accepted: %s", items[i].why);
}

static void
impossible_operations_are_corrupt(void **state)
{
	static const struct
	{
		const char *why;
		WcSlice		bytes;
	}			ops[] = {
#define OP(why, literal) {why, {(const uint8_t *) (literal), sizeof(literal) - 1}}
		OP("kind 0", "\x00\0\0\0\x01\x00"),
		OP("kind 11", "\x0B\0\0\0\x01\x00"),
		OP("no command id", "\x04\0\0\0\x00"),
		OP("too large", "\x02\x7F\xFF\xFF\xFF\x00"),
		OP("row without a key", "\x01\0\0\0\x04\x00\x07\x00\x00"),
		OP("unknown flag", "\x01\0\0\0\x05\x00\x07\x02\x01r"),
		OP("absent, no family", "\x01\0\0\0\x06\x00\x07\x01\x01r\x00"),
		OP("byte too many", "\x04\0\0\0\x03\x00\x07\x00"),
		OP("database of 33 bits", "\x08\0\0\0\x06\x00\x80\x80\x80\x80\x10"),
		OP("lock in no mode", "\x09\0\0\0\x05\x00\x07\x00\x01r"),
		OP("lock in an unknown mode", "\x09\0\0\0\x05\x00\x07\x05\x01r"),
		OP("lock with a byte too many", "\x09\0\0\0\x06\x00\x07\x04\x01r!"),
		OP("namespace without properties", "\x0A\0\0\0\x04\x00\x05\x01" "a"),
		OP("bad namespace", "\x06\0\0\0\x06\x00\x05\x03" "a:b"),
#undef OP
	};
	Tally		tally = {0, 0};

	(void) state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
	{
		tally.corrupt = 0;
		read_batch(ops[i].bytes, &tally);
		if (tally.corrupt != 1)
			fail_msg("accepted: %s", ops[i].why);
	}
}

/* A row gets the items of another. */
static void
items_are_copied(void **state)
{
	WcBuf		sample = WC_BUF_INIT,
				buf = WC_BUF_INIT;
	WcBatchBuilder b;
	WcDecoder	d;
	WcOp		op,
				copy;

	write_sample(&sample, &b);
	d = wc_decoder(wc_buf_slice(&sample));
	OK(wc_batch_next_op(&d, &op, NULL));
	wc_batch_init(&b, &buf);
	OK(wc_batch_row_begin(&b, 8, 9, S("another"), 0, NULL, 0, NULL));
	OK(wc_batch_items(&b, op.items, NULL));
	OK(wc_batch_row_end(&b, NULL));
	assert_int_equal(b.nops, 1);
	d = wc_decoder(wc_buf_slice(&buf));
	expect_row(&d, &copy, 8, 9, S("another"), 0);
	assert_true(wc_slice_eq(copy.items, op.items));
	assert_true(wc_decoder_done(&d));

	/* a whole operation */
	wc_buf_reset(&buf, 0);
	wc_batch_init(&b, &buf);
	OK(wc_batch_row(&b, op.bytes, NULL));
	assert_int_equal(b.nops, 1);
	d = wc_decoder(wc_buf_slice(&buf));
	OK(wc_batch_next_op(&d, &copy, NULL));
	assert_true(wc_slice_eq(copy.bytes, op.bytes));
	assert_true(wc_decoder_done(&d));

	/* as many as an operation may have */
	OK(wc_batch_row_begin(&b, 8, 9, S("another"), 0, NULL, 0, NULL));
	assert_int_equal(wc_batch_items(&b, wc_slice(op.items.data, WC_OPERATION_MAX), NULL), WC_TOO_LARGE);
	wc_batch_row_abandon(&b);
	wc_buf_free(&sample);
	wc_buf_free(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_reads_back),
		cmocka_unit_test(items_are_copied),
		cmocka_unit_test(batch_bytes_are_the_documented_ones),
		cmocka_unit_test(abandoned_row_leaves_nothing),
		cmocka_unit_test(limits_are_refused_and_change_nothing),
		cmocka_unit_test(full_buffer_keeps_whole_operations),
		cmocka_unit_test(batches_survive_any_bytes),
		cmocka_unit_test(items_survive_any_bytes),
		cmocka_unit_test(impossible_items_are_corrupt),
		cmocka_unit_test(impossible_operations_are_corrupt),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
