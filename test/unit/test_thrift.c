/*
 * test/unit/test_thrift.c: Thrift's protocols, messages in pieces, and HBase's answers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "mangle.h"
#include "thrift/answer.h"
#include "thrift/hbasefilter.h"
#include "thrift/idl.h"
#include "thrift/incoming.h"
#include "thrift/request.h"

#define MAX (1024 * 1024)

static const WcThriftProtocol protocols[] = {WC_THRIFT_BINARY, WC_THRIFT_COMPACT};
static const WcThriftTransport transports[] = {WC_THRIFT_BUFFERED, WC_THRIFT_FRAMED};

static WcSlice
text(const char *s)
{
	return wc_slice_cstr(s);
}

static void
assert_bytes(const WcBuf *buf, const char *hex)
{
	char		have[2048] = "";

	for (size_t i = 0; i < buf->len; i++)
		snprintf(have + 2 * i, 3, "%02x", buf->data[i]);
	assert_string_equal(have, hex);
}

/* The bytes that Apache Thrift's own libraries write for this call. */
static void
a_call_has_the_protocols_bytes(void **state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcThriftWriter w;

	wc_thrift_writer(&w, &buf, WC_THRIFT_BINARY, WC_THRIFT_BUFFERED);
	wc_request_tables(&w, 7, text("ns"));
	assert_bytes(&buf, "80010001" "0000001e" "6765745461626c6544657363726970746f727342794e616d657370616365" "00000007"
				 "0b0001" "00000002" "6e73" "00");
	wc_buf_reset(&buf, 0);
	wc_thrift_writer(&w, &buf, WC_THRIFT_COMPACT, WC_THRIFT_FRAMED);
	wc_request_tables(&w, 300, text("ns"));
	assert_bytes(&buf, "00000028" "8221" "ac02" "1e" "6765745461626c6544657363726970746f727342794e616d657370616365"
				 "18" "02" "6e73" "00");
	wc_buf_free(&buf);
}

/* A row with a put without a timestamp and a family's marker: two mutations, the marker first. */
static void
changes_of_a_row_are_mutations(void **state)
{
	WcThriftChange put = {.family = text("f"),.qualifier = text("q"),.value = text("v"),.ts = WC_THRIFT_NO_TS};
	WcThriftChange marker = {.family = text("g"),.ts = 5};
	WcThriftRow row = {.row = text("r"),.puts = &put,.nputs = 1};
	const WcThriftRow *rows[] = {&row};
	WcBuf		buf = WC_BUF_INIT;
	WcThriftWriter w;

	row.deletes[WC_THRIFT_DELETE_FAMILY] = &marker;
	row.ndeletes[WC_THRIFT_DELETE_FAMILY] = 1;
	wc_thrift_writer(&w, &buf, WC_THRIFT_BINARY, WC_THRIFT_BUFFERED);
	wc_request_mutate(&w, 1, text("t"), &row);
	assert_bytes(&buf, "80010001" "00000009" "6d7574617465526f77" "00000001" "0b0001" "00000001" "74"
				 "0c0002" "0b0001" "00000001" "72" "0f0002" "0c" "00000002"
				 "0c0002" "0b0001" "00000001" "72" "0f0002" "0c" "00000001"
				 "0b0001" "00000001" "67" "0a0003" "0000000000000005" "00" "080004" "00000002" "00" "00"
				 "0c0001" "0b0001" "00000001" "72" "0f0002" "0c" "00000001"
				 "0b0001" "00000001" "66" "0b0002" "00000001" "71" "0b0003" "00000001" "76" "00" "00" "00"
				 "00" "00");

	/* alone, a put has its timestamp, and a column's marker its qualifier */
	wc_buf_reset(&buf, 0);
	put.ts = 7;
	wc_request_puts(&w, 2, text("t"), rows, 1);
	assert_bytes(&buf, "80010001" "0000000b" "7075744d756c7469706c65" "00000002" "0b0001" "00000001" "74"
				 "0f0002" "0c" "00000001" "0b0001" "00000001" "72" "0f0002" "0c" "00000001"
				 "0b0001" "00000001" "66" "0b0002" "00000001" "71" "0b0003" "00000001" "76" "0a0004" "0000000000000007" "00"
				 "00" "00");
	wc_buf_reset(&buf, 0);
	row = (WcThriftRow) {.row = text("r")};
	row.deletes[WC_THRIFT_DELETE_VERSION] = &put;
	row.ndeletes[WC_THRIFT_DELETE_VERSION] = 1;
	wc_request_deletes(&w, 3, text("t"), rows, 1);
	assert_bytes(&buf, "80010001" "0000000e" "64656c6574654d756c7469706c65" "00000003" "0b0001" "00000001" "74"
				 "0f0002" "0c" "00000001" "0b0001" "00000001" "72" "0f0002" "0c" "00000001"
				 "0b0001" "00000001" "66" "0b0002" "00000001" "71" "0a0003" "0000000000000007" "00" "080004" "00000000" "00" "00");
	wc_buf_free(&buf);
}

/* HBase has one time to live for all cells of a put: cells with another one are another put of the same row. */
static void
times_to_live_part_puts(void **state)
{
	WcThriftChange puts[] = {
		{.family = text("f"),.qualifier = text("a"),.ts = 7},
		{.family = text("f"),.qualifier = text("b"),.ts = 7,.ttl_ms = 3000},
		{.family = text("f"),.qualifier = text("c"),.ts = 7,.ttl_ms = 3000}
	};
	WcThriftRow row = {.row = text("r"),.puts = puts,.nputs = 3};
	WcBuf		buf = WC_BUF_INIT;
	WcThriftWriter w;

	assert_int_equal(wc_thrift_puts_alike(&row, 0), 1);
	assert_int_equal(wc_thrift_puts_alike(&row, 1), 2);
	wc_thrift_writer(&w, &buf, WC_THRIFT_BINARY, WC_THRIFT_BUFFERED);
	wc_request_mutate(&w, 1, text("t"), &row);
	assert_bytes(&buf, "80010001" "00000009" "6d7574617465526f77" "00000001" "0b0001" "00000001" "74"
				 "0c0002" "0b0001" "00000001" "72" "0f0002" "0c" "00000002"
				 "0c0001" "0b0001" "00000001" "72" "0f0002" "0c" "00000001"
				 "0b0001" "00000001" "66" "0b0002" "00000001" "61" "0b0003" "00000000" "0a0004" "0000000000000007" "00" "00" "00"
				 "0c0001" "0b0001" "00000001" "72" "0f0002" "0c" "00000002"
				 "0b0001" "00000001" "66" "0b0002" "00000001" "62" "0b0003" "00000000" "0a0004" "0000000000000007" "00"
				 "0b0001" "00000001" "66" "0b0002" "00000001" "63" "0b0003" "00000000" "0a0004" "0000000000000007" "00"
				 "0d0005" "0b" "0b" "00000001" "00000004" "5f74746c" "00000008" "0000000000000bb8" "00" "00"
				 "00" "00");
	wc_buf_free(&buf);
}

/* HBase's Delete keeps the last DeleteFamily of a family: each of several is a mutation of its own. */
static void
markers_of_a_family_are_parted(void **state)
{
	WcThriftChange markers[] = {
		{.family = text("f"),.ts = 9},
		{.family = text("g"),.ts = 7},
		{.family = text("g"),.ts = 5}
	};
	WcThriftRow row = {.row = text("r")};
	WcBuf		buf = WC_BUF_INIT;
	WcThriftWriter w;

	for (WcThriftDelete kind = 0; kind < WC_THRIFT_DELETES; kind++)
		row.deletes[kind] = markers;
	row.ndeletes[WC_THRIFT_DELETE_FAMILY_VERSION] = 3;
	assert_int_equal(wc_thrift_deletes_alike(&row, WC_THRIFT_DELETE_FAMILY_VERSION, 0), 3);
	assert_int_equal(wc_thrift_deletes_alike(&row, WC_THRIFT_DELETE_FAMILY, 0), 0);
	row.ndeletes[WC_THRIFT_DELETE_FAMILY_VERSION] = 0;
	row.ndeletes[WC_THRIFT_DELETE_FAMILY] = 3;
	assert_int_equal(wc_thrift_deletes_alike(&row, WC_THRIFT_DELETE_FAMILY, 0), 2);
	assert_int_equal(wc_thrift_deletes_alike(&row, WC_THRIFT_DELETE_FAMILY, 2), 1);
	wc_thrift_writer(&w, &buf, WC_THRIFT_BINARY, WC_THRIFT_BUFFERED);
	wc_request_mutate(&w, 1, text("t"), &row);
	assert_bytes(&buf, "80010001" "00000009" "6d7574617465526f77" "00000001" "0b0001" "00000001" "74"
				 "0c0002" "0b0001" "00000001" "72" "0f0002" "0c" "00000002"
				 "0c0002" "0b0001" "00000001" "72" "0f0002" "0c" "00000002"
				 "0b0001" "00000001" "66" "0a0003" "0000000000000009" "00"
				 "0b0001" "00000001" "67" "0a0003" "0000000000000007" "00" "080004" "00000002" "00" "00"
				 "0c0002" "0b0001" "00000001" "72" "0f0002" "0c" "00000001"
				 "0b0001" "00000001" "67" "0a0003" "0000000000000005" "00" "080004" "00000002" "00" "00"
				 "00" "00");
	wc_buf_free(&buf);
}

static void
put_cell(WcThriftWriter *w, const char *family, const char *qualifier, const char *value, int64_t ts, int type)
{
	wc_thrift_begin_struct(w);
	wc_thrift_field_bytes(w, WC_TColumnValue_family, text(family));
	wc_thrift_field_bytes(w, WC_TColumnValue_qualifier, text(qualifier));
	wc_thrift_field_bytes(w, WC_TColumnValue_value, text(value));
	wc_thrift_field_i64(w, WC_TColumnValue_timestamp, ts);
	wc_thrift_field_map(w, 40, WC_THRIFT_STRING, WC_THRIFT_I32, 1);	/* a later version's field */
	wc_thrift_bytes(w, text("k"));
	wc_thrift_i32(w, -5);
	wc_thrift_field_byte(w, WC_TColumnValue_type + 50, (int8_t) type);
	wc_thrift_end_struct(w);
}

/* An answer of two rows, the second without cells and with more to come. */
static void
put_rows(WcThriftWriter *w)
{
	wc_thrift_begin_message(w, WC_THRIFT_REPLY, WC_METHOD_SCAN, 9);
	wc_thrift_field_list(w, WC_RESULT_SUCCESS, WC_THRIFT_STRUCT, 2);
	wc_thrift_begin_struct(w);
	wc_thrift_field_bytes(w, WC_TResult_row, text("r1"));
	wc_thrift_field_list(w, WC_TResult_columnValues, WC_THRIFT_STRUCT, 2);
	put_cell(w, "f", "q", "value", INT64_MAX, 4);
	put_cell(w, "g", "", "", -1, 4);
	wc_thrift_field_bool(w, 3, false);
	wc_thrift_field_bool(w, WC_TResult_partial, false);
	wc_thrift_end_struct(w);
	wc_thrift_begin_struct(w);
	wc_thrift_field_bytes(w, WC_TResult_row, text("r2"));
	wc_thrift_field_list(w, WC_TResult_columnValues, WC_THRIFT_STRUCT, 0);
	wc_thrift_field_bool(w, WC_TResult_partial, true);
	wc_thrift_end_struct(w);
	wc_thrift_end_message(w);
}

static void
check_rows(WcThriftProtocol protocol, WcSlice message)
{
	WcAnswer	a;
	WcThriftCell cell;
	WcSlice		row;
	WcError		err;
	uint32_t	ncells;
	bool		partial;

	assert_int_equal(wc_answer_open(&a, protocol, message, WC_METHOD_SCAN, 9, &err), WC_OK);
	assert_int_equal(a.kind, WC_ANSWER_RESULT);
	assert_int_equal(wc_answer_rows(&a), 2);
	wc_answer_row(&a, &row, &ncells);
	assert_true(wc_slice_eq(row, text("r1")));
	assert_int_equal(ncells, 2);
	wc_answer_cell(&a, &cell);
	assert_true(wc_slice_eq(cell.family, text("f")));
	assert_true(wc_slice_eq(cell.qualifier, text("q")));
	assert_true(wc_slice_eq(cell.value, text("value")));
	assert_int_equal(cell.ts, INT64_MAX);
	assert_int_equal(cell.type, 4);
	wc_answer_cell(&a, &cell);
	assert_int_equal(cell.ts, -1);
	assert_int_equal(cell.qualifier.len, 0);
	wc_answer_row_end(&a, &partial);
	assert_false(partial);
	wc_answer_row(&a, &row, &ncells);
	assert_true(wc_slice_eq(row, text("r2")));
	assert_int_equal(ncells, 0);
	wc_answer_row_end(&a, &partial);
	assert_true(partial);
	assert_int_equal(wc_answer_status(&a, &err), WC_OK);
}

/* However a message is cut into pieces, its end is found, and nothing behind it is taken. */
static void
a_message_may_come_in_pieces(void **state)
{
	for (int i = 0; i < 4; i++)
	{
		WcBuf		buf = WC_BUF_INIT;
		WcThriftWriter w;
		WcThriftIncoming in;
		WcSlice		message;
		size_t		first;
		size_t		used;
		WcError		err;

		wc_thrift_writer(&w, &buf, protocols[i % 2], transports[i / 2]);
		put_rows(&w);
		first = buf.len;
		put_rows(&w);
		assert_false(buf.failed);
		for (size_t piece = 1; piece < first; piece++)
		{
			wc_thrift_incoming(&in, w.protocol, w.transport, MAX);
			for (size_t have = 0; have < first; have += piece)
				assert_int_equal(wc_thrift_arrived(&in, wc_slice(buf.data, have), &message, &used, &err), WC_END);
			assert_int_equal(wc_thrift_arrived(&in, wc_buf_slice(&buf), &message, &used, &err), WC_OK);
			assert_int_equal(used, first);
			check_rows(w.protocol, message);
			assert_int_equal(wc_thrift_arrived(&in, wc_slice(buf.data + used, buf.len - used), &message, &used, &err), WC_OK);
			assert_int_equal(used, first);
			check_rows(w.protocol, message);
		}
		wc_buf_free(&buf);
	}
}

/* Before as much memory is needed as a length claims. */
static void
too_large_a_message_is_refused(void **state)
{
	static const uint8_t frame[4] = {0x7f, 0xff, 0xff, 0xff};
	static const uint8_t name[8] = {0x80, 1, 0, 2, 0x7f, 0xff, 0xff, 0xff};
	WcBuf		buf = WC_BUF_INIT;
	WcThriftWriter w;
	WcThriftIncoming in;
	WcSlice		message;
	size_t		used;
	WcError		err;

	wc_thrift_incoming(&in, WC_THRIFT_BINARY, WC_THRIFT_FRAMED, MAX);
	assert_int_equal(wc_thrift_arrived(&in, wc_slice(frame, 4), &message, &used, &err), WC_TOO_LARGE);
	assert_string_equal(err.detail, "It has 2147483647 bytes or more, the limit is 1048576.");
	wc_thrift_incoming(&in, WC_THRIFT_BINARY, WC_THRIFT_BUFFERED, 4);
	assert_int_equal(wc_thrift_arrived(&in, wc_slice(name, 8), &message, &used, &err), WC_TOO_LARGE);

	/* a string of a gigabyte */
	wc_thrift_writer(&w, &buf, WC_THRIFT_BINARY, WC_THRIFT_BUFFERED);
	wc_thrift_begin_message(&w, WC_THRIFT_REPLY, WC_METHOD_SCAN, 1);
	wc_thrift_field_bytes(&w, 1, text(""));
	memcpy(buf.data + buf.len - 4, "\x40\0\0\0", 4);
	wc_thrift_incoming(&in, WC_THRIFT_BINARY, WC_THRIFT_BUFFERED, MAX);
	assert_int_equal(wc_thrift_arrived(&in, wc_buf_slice(&buf), &message, &used, &err), WC_TOO_LARGE);
	wc_buf_free(&buf);
}

static void
nesting_has_a_limit(void **state)
{
	for (int i = 0; i < 2; i++)
	{
		WcBuf		buf = WC_BUF_INIT;
		WcThriftWriter w;
		WcThriftIncoming in;
		WcSlice		message;
		size_t		used;
		WcError		err;

		wc_thrift_writer(&w, &buf, protocols[i], WC_THRIFT_BUFFERED);
		wc_thrift_begin_message(&w, WC_THRIFT_REPLY, "x", 1);
		for (int depth = 0; depth < WC_THRIFT_DEPTH_MAX; depth++)
		{
			w.depth = 1;		/* the writer has the same limit */
			w.last[0] = 0;
			wc_thrift_field_struct(&w, 1);
		}
		wc_thrift_incoming(&in, protocols[i], WC_THRIFT_BUFFERED, MAX);
		assert_int_equal(wc_thrift_arrived(&in, wc_buf_slice(&buf), &message, &used, &err), WC_CORRUPT);
		wc_buf_free(&buf);
	}
}

static void
exceptions_have_their_texts(void **state)
{
	for (int i = 0; i < 2; i++)
	{
		WcBuf		buf = WC_BUF_INIT;
		WcThriftWriter w;
		WcAnswer	a;
		WcError		err;

		wc_thrift_writer(&w, &buf, protocols[i], WC_THRIFT_BUFFERED);
		wc_thrift_begin_message(&w, WC_THRIFT_REPLY, WC_METHOD_SCAN, 1);
		wc_thrift_field_struct(&w, WC_RESULT_IO);
		wc_thrift_field_bytes(&w, WC_TIOError_message, text("no"));
		wc_thrift_field_bool(&w, WC_TIOError_canRetry, true);
		wc_thrift_end_struct(&w);
		wc_thrift_end_message(&w);
		assert_int_equal(wc_answer_open(&a, protocols[i], wc_buf_slice(&buf), WC_METHOD_SCAN, 1, &err), WC_OK);
		assert_int_equal(a.kind, WC_ANSWER_IO_ERROR);
		assert_true(a.can_retry);
		assert_true(wc_slice_eq(a.message, text("no")));

		/* another call's answer */
		assert_int_equal(wc_answer_open(&a, protocols[i], wc_buf_slice(&buf), WC_METHOD_SCAN, 2, &err), WC_CORRUPT);
		assert_int_equal(wc_answer_open(&a, protocols[i], wc_buf_slice(&buf), WC_METHOD_TABLE, 1, &err), WC_CORRUPT);

		wc_buf_reset(&buf, 0);
		wc_thrift_begin_message(&w, WC_THRIFT_EXCEPTION, WC_METHOD_SCAN, 1);
		wc_thrift_field_bytes(&w, WC_TApplicationException_message, text("Internal error"));
		wc_thrift_field_i32(&w, WC_TApplicationException_type, 6);
		wc_thrift_end_message(&w);
		assert_int_equal(wc_answer_open(&a, protocols[i], wc_buf_slice(&buf), WC_METHOD_SCAN, 1, &err), WC_OK);
		assert_int_equal(a.kind, WC_ANSWER_FAILED);
		assert_true(wc_slice_eq(a.message, text("Internal error")));
		wc_buf_free(&buf);
	}
}

static void
put_table(WcThriftWriter *w)
{
	wc_thrift_begin_message(w, WC_THRIFT_REPLY, WC_METHOD_TABLE, 1);
	wc_thrift_field_struct(w, WC_RESULT_SUCCESS);
	wc_thrift_field_struct(w, WC_TTableDescriptor_tableName);
	wc_thrift_field_bytes(w, WC_TTableName_ns, text("ns"));
	wc_thrift_field_bytes(w, WC_TTableName_qualifier, text("t"));
	wc_thrift_end_struct(w);
	wc_thrift_field_list(w, WC_TTableDescriptor_columns, WC_THRIFT_STRUCT, 1);
	wc_thrift_begin_struct(w);
	wc_thrift_field_bytes(w, WC_TColumnFamilyDescriptor_name, text("cf"));
	wc_thrift_field_map(w, 2, WC_THRIFT_STRING, WC_THRIFT_STRING, 1);
	wc_thrift_bytes(w, text("key"));
	wc_thrift_bytes(w, text("value"));
	wc_thrift_field_i16(w, 7, 3);
	wc_thrift_field_i32(w, WC_TColumnFamilyDescriptor_maxVersions, 5);
	wc_thrift_field_i32(w, WC_TColumnFamilyDescriptor_timeToLive, INT32_MAX);
	wc_thrift_field_bool(w, 17, true);
	wc_thrift_field_bool(w, WC_TColumnFamilyDescriptor_inMemory, true);
	wc_thrift_end_struct(w);
	wc_thrift_end_struct(w);
	wc_thrift_end_message(w);
}

static void
tables_have_their_families(void **state)
{
	for (int i = 0; i < 2; i++)
	{
		WcBuf		buf = WC_BUF_INIT;
		WcArena		arena = WC_ARENA_INIT;
		WcThriftTable table;
		WcThriftWriter w;
		WcAnswer	a;
		WcError		err;

		wc_thrift_writer(&w, &buf, protocols[i], WC_THRIFT_BUFFERED);
		put_table(&w);
		assert_int_equal(wc_answer_open(&a, protocols[i], wc_buf_slice(&buf), WC_METHOD_TABLE, 1, &err), WC_OK);
		assert_int_equal(wc_answer_table(&a, &arena, &table, &err), WC_OK);
		assert_true(wc_slice_eq(table.ns, text("ns")));
		assert_true(wc_slice_eq(table.name, text("t")));
		assert_int_equal(table.nfamilies, 1);
		assert_true(wc_slice_eq(table.families[0].name, text("cf")));
		assert_int_equal(table.families[0].versions, 5);
		assert_int_equal(table.families[0].ttl, INT32_MAX);
		assert_int_equal(table.families[0].blocksize, 65536);
		assert_true(table.families[0].in_memory);
		assert_true(table.families[0].blockcache);
		wc_arena_free(&arena);
		wc_buf_free(&buf);
	}
}

/* What a modified family keeps of its description: fields that are not known here, of any type. */
static void
a_modified_family_keeps_other_attributes(void **state)
{
	for (int i = 0; i < 2; i++)
	{
		WcBuf		buf = WC_BUF_INIT;
		WcBuf		out = WC_BUF_INIT;
		WcArena		arena = WC_ARENA_INIT;
		WcThriftTable table;
		WcThriftReader r;
		WcThriftHead head;
		WcThriftField f;
		WcThriftWriter w;
		WcAnswer	a;
		WcError		err;
		int			seen = 0;

		wc_thrift_writer(&w, &buf, protocols[i], WC_THRIFT_BUFFERED);
		put_table(&w);
		assert_int_equal(wc_answer_open(&a, protocols[i], wc_buf_slice(&buf), WC_METHOD_TABLE, 1, &err), WC_OK);
		assert_int_equal(wc_answer_table(&a, &arena, &table, &err), WC_OK);
		table.families[0].versions = 6;
		wc_thrift_writer(&w, &out, protocols[i], WC_THRIFT_BUFFERED);
		wc_request_family(&w, 4, WC_METHOD_MODIFY_FAMILY, text("ns"), text("t"), &table.families[0]);
		assert_false(out.failed);

		wc_thrift_reader(&r, protocols[i], wc_buf_slice(&out), &head);
		assert_true(wc_slice_eq(head.method, text("modifyColumnFamily")));
		assert_true(wc_thrift_next_field(&r, &f) && f.id == WC_modifyColumnFamily_tableName);
		wc_thrift_skip(&r, f);
		assert_true(wc_thrift_next_field(&r, &f) && f.id == WC_modifyColumnFamily_column);
		wc_thrift_read_struct(&r, f);
		while (wc_thrift_next_field(&r, &f))
		{
			seen++;
			if (f.id == WC_TColumnFamilyDescriptor_maxVersions)
				assert_int_equal(wc_thrift_read_i32(&r, f), 6);
			else if (f.id == WC_TColumnFamilyDescriptor_inMemory)
				assert_true(wc_thrift_read_bool(&r, f));
			else if (f.id == 17)
				assert_true(wc_thrift_read_bool(&r, f));
			else
				wc_thrift_skip(&r, f);
		}
		assert_false(wc_thrift_failed(&r));
		assert_int_equal(seen, 10 + 3);
		wc_arena_free(&arena);
		wc_buf_free(&buf);
		wc_buf_free(&out);
	}
}

static void
tables_are_made_with_families_and_splits(void **state)
{
	WcThriftFamily family = {.name = text("f"),.blocksize = 1,.bloomfilter = 2,.compression = 3,.keep_deleted = 1,
		.versions = 4,.min_versions = 5,.ttl = 6,.blockcache = true};
	WcThriftTable table = {.ns = text("n"),.name = text("t"),.nfamilies = 1,.families = &family};
	WcSlice		splits[] = {text("a"), text("b")};
	WcBuf		buf = WC_BUF_INIT;
	WcThriftWriter w;

	wc_thrift_writer(&w, &buf, WC_THRIFT_BINARY, WC_THRIFT_BUFFERED);
	wc_request_create_table(&w, 1, &table, splits, 2);
	assert_bytes(&buf, "80010001" "0000000b" "6372656174655461626c65" "00000001" "0c0001"
				 "0c0001" "0b0001" "00000001" "6e" "0b0002" "00000001" "74" "00"
				 "0f0002" "0c" "00000001" "0b0001" "00000001" "66" "080004" "00000001" "080005" "00000002" "080006" "00000003"
				 "080009" "00000001" "08000a" "00000004" "08000b" "00000005" "08000d" "00000006" "02000e" "01" "020014" "00" "00"
				 "00" "0f0002" "0b" "00000002" "00000001" "61" "00000001" "62" "00");
	wc_buf_reset(&buf, 0);
	wc_request_truncate_table(&w, 2, text("n"), text("t"), true);
	assert_bytes(&buf, "80010001" "0000000d" "7472756e636174655461626c65" "00000002"
				 "0c0001" "0b0001" "00000001" "6e" "0b0002" "00000001" "74" "00" "020002" "01" "00");
	wc_buf_free(&buf);
}

/* Behind such a row a scan could not go on. */
static void
a_row_of_a_scan_has_a_key(void **state)
{
	for (uint32_t n = 0; n < 2; n++)
	{
		WcBuf		buf = WC_BUF_INIT;
		WcThriftWriter w;
		WcSlice		row;
		WcAnswer	a;
		WcError		err;
		uint32_t	ncells;

		wc_thrift_writer(&w, &buf, WC_THRIFT_BINARY, WC_THRIFT_BUFFERED);
		wc_thrift_begin_message(&w, WC_THRIFT_REPLY, WC_METHOD_SCAN, 9);
		wc_thrift_field_list(&w, WC_RESULT_SUCCESS, WC_THRIFT_STRUCT, 1);
		wc_thrift_begin_struct(&w);
		if (n == 1)
			wc_thrift_field_bytes(&w, WC_TResult_row, text("r"));
		wc_thrift_field_list(&w, WC_TResult_columnValues, WC_THRIFT_STRUCT, 0);
		wc_thrift_end_struct(&w);
		wc_thrift_end_message(&w);
		assert_int_equal(wc_answer_open(&a, WC_THRIFT_BINARY, wc_buf_slice(&buf), WC_METHOD_SCAN, 9, &err), WC_OK);
		assert_int_equal(wc_answer_rows(&a), 1);
		wc_answer_row(&a, &row, &ncells);
		assert_int_equal(wc_answer_status(&a, &err), n == 1 ? WC_OK : WC_CORRUPT);
		wc_buf_free(&buf);
	}
}

/* A get of a row's column, and its two answers: the row, and that there is none. */
static void
a_get_has_one_row_or_none(void **state)
{
	WcThriftColumn column = {.family = text("f"),.qualifier = text("q")};
	WcThriftScan scan = {.table = text("t"),.start = text("r"),.stop = text("s"),.columns = &column,.ncolumns = 1,.versions = 3};
	WcBuf		buf = WC_BUF_INIT;
	WcThriftWriter w;

	wc_thrift_writer(&w, &buf, WC_THRIFT_BINARY, WC_THRIFT_BUFFERED);
	wc_request_get(&w, 4, &scan);
	assert_bytes(&buf, "80010001" "00000003" "676574" "00000004" "0b0001" "00000001" "74"
				 "0c0002" "0b0001" "00000001" "72" "0f0002" "0c" "00000001"
				 "0b0001" "00000001" "66" "0b0002" "00000001" "71" "00" "080005" "00000003" "00" "00");
	for (uint32_t n = 0; n < 2; n++)
	{
		WcThriftCell cell;
		WcSlice		row;
		WcAnswer	a;
		WcError		err;
		uint32_t	ncells;
		bool		partial;

		wc_buf_reset(&buf, 0);
		wc_thrift_begin_message(&w, WC_THRIFT_REPLY, WC_METHOD_GET, 4);
		wc_thrift_field_struct(&w, WC_RESULT_SUCCESS);
		if (n == 1)
			wc_thrift_field_bytes(&w, WC_TResult_row, text("r"));
		wc_thrift_field_list(&w, WC_TResult_columnValues, WC_THRIFT_STRUCT, n);
		if (n == 1)
			put_cell(&w, "f", "q", "value", 5, 4);
		wc_thrift_end_struct(&w);
		wc_thrift_end_message(&w);
		assert_int_equal(wc_answer_open(&a, WC_THRIFT_BINARY, wc_buf_slice(&buf), WC_METHOD_GET, 4, &err), WC_OK);
		assert_int_equal(wc_answer_rows(&a), 1);
		wc_answer_row(&a, &row, &ncells);
		assert_true(wc_slice_eq(row, n == 1 ? text("r") : wc_slice(NULL, 0)));
		assert_int_equal(ncells, n);
		if (n == 1)
			wc_answer_cell(&a, &cell);
		wc_answer_row_end(&a, &partial);
		assert_int_equal(wc_answer_status(&a, &err), WC_OK);
	}
	wc_buf_free(&buf);
}

/* An empty row, one with two cells: neither is the answer to increment. */
static void
a_changed_cell_is_one_cell(void **state)
{
	for (int ncells = 0; ncells < 3; ncells++)
	{
		WcBuf		buf = WC_BUF_INIT;
		WcThriftCell cell;
		WcThriftWriter w;
		WcAnswer	a;
		WcError		err;

		wc_thrift_writer(&w, &buf, WC_THRIFT_COMPACT, WC_THRIFT_BUFFERED);
		wc_thrift_begin_message(&w, WC_THRIFT_REPLY, WC_METHOD_INCREMENT, 1);
		wc_thrift_field_struct(&w, WC_RESULT_SUCCESS);
		wc_thrift_field_bytes(&w, WC_TResult_row, text("r"));
		wc_thrift_field_list(&w, WC_TResult_columnValues, WC_THRIFT_STRUCT, (uint32_t) ncells);
		for (int i = 0; i < ncells; i++)
			put_cell(&w, "f", "q", "12345678", 5, 4);
		wc_thrift_end_struct(&w);
		wc_thrift_end_message(&w);
		assert_int_equal(wc_answer_open(&a, WC_THRIFT_COMPACT, wc_buf_slice(&buf), WC_METHOD_INCREMENT, 1, &err), WC_OK);
		assert_int_equal(wc_answer_changed_cell(&a, &cell, &err), ncells == 1 ? WC_OK : WC_CORRUPT);
		if (ncells == 1)
			assert_true(wc_slice_eq(cell.value, text("12345678")));
		wc_buf_free(&buf);
	}
}

static void
put_region(WcThriftWriter *w, const char *start, int32_t replica)
{
	wc_thrift_begin_struct(w);
	wc_thrift_field_struct(w, 1);	/* the server */
	wc_thrift_field_bytes(w, 1, text("host"));
	wc_thrift_end_struct(w);
	wc_thrift_field_struct(w, WC_THRegionLocation_regionInfo);
	wc_thrift_field_i64(w, 1, 17);
	if (start != NULL)
		wc_thrift_field_bytes(w, WC_THRegionInfo_startKey, text(start));
	wc_thrift_field_i32(w, WC_THRegionInfo_replicaId, replica);
	wc_thrift_end_struct(w);
	wc_thrift_end_struct(w);
}

static void
regions_count_once_with_their_replicas(void **state)
{
	for (int i = 0; i < 2; i++)
	{
		WcBuf		buf = WC_BUF_INIT;
		WcArena		arena = WC_ARENA_INIT;
		WcThriftWriter w;
		WcSlice    *starts;
		WcAnswer	a;
		WcError		err;
		uint32_t	n;

		wc_thrift_writer(&w, &buf, protocols[i], WC_THRIFT_BUFFERED);
		wc_thrift_begin_message(&w, WC_THRIFT_REPLY, WC_METHOD_REGIONS, 1);
		wc_thrift_field_list(&w, WC_RESULT_SUCCESS, WC_THRIFT_STRUCT, 3);
		put_region(&w, "m", 0);
		put_region(&w, "m", 1);
		put_region(&w, NULL, 0);
		wc_thrift_end_message(&w);
		assert_int_equal(wc_answer_open(&a, protocols[i], wc_buf_slice(&buf), WC_METHOD_REGIONS, 1, &err), WC_OK);
		assert_int_equal(wc_answer_regions(&a, &arena, &starts, &n, &err), WC_OK);
		assert_int_equal(n, 2);
		assert_true(wc_slice_eq(starts[0], text("m")));
		assert_int_equal(starts[1].len, 0);
		wc_arena_free(&arena);
		wc_buf_free(&buf);
	}
}

typedef struct Reading
{
	WcThriftProtocol protocol;
	WcThriftTransport transport;
} Reading;

/* All fields were read before, so they can be copied. */
static void
write_family(WcThriftProtocol protocol, const WcThriftFamily *family)
{
	WcBuf		out = WC_BUF_INIT;
	WcThriftWriter w;

	wc_thrift_writer(&w, &out, protocol, WC_THRIFT_BUFFERED);
	wc_request_family(&w, 1, WC_METHOD_MODIFY_FAMILY, text("ns"), text("t"), family);
	assert_false(out.failed);
	wc_buf_free(&out);
}

/* Reads all that could be in these bytes. */
static void
read_anything(WcSlice bytes, void *arg)
{
	Reading    *reading = arg;
	WcThriftIncoming in;
	WcArena		arena = WC_ARENA_INIT;
	WcThriftTable table;
	WcThriftCell cell;
	WcAnswer	a;
	WcSlice		message;
	WcSlice		row;
	size_t		used;
	uint32_t	ncells;
	bool		partial;
	WcError		err;

	wc_thrift_incoming(&in, reading->protocol, reading->transport, MAX);
	if (wc_thrift_arrived(&in, bytes, &message, &used, &err) != WC_OK)
		return;
	assert_true(used <= bytes.len);
	if (wc_answer_open(&a, reading->protocol, message, WC_METHOD_TABLE, 1, &err) == WC_OK && a.kind == WC_ANSWER_RESULT)
	{
		if (wc_answer_table(&a, &arena, &table, &err) == WC_OK)
		{
			(void) wc_mangle_touch(table.name);
			for (uint32_t i = 0; i < table.nfamilies; i++)
				write_family(reading->protocol, &table.families[i]);
		}
	}
	if (wc_answer_open(&a, reading->protocol, message, WC_METHOD_SCAN, 9, &err) == WC_OK && a.kind == WC_ANSWER_RESULT)
	{
		for (uint32_t n = wc_answer_rows(&a); n > 0 && wc_answer_status(&a, &err) == WC_OK; n--)
		{
			wc_answer_row(&a, &row, &ncells);
			(void) wc_mangle_touch(row);
			for (uint32_t i = 0; i < ncells && wc_answer_status(&a, &err) == WC_OK; i++)
			{
				wc_answer_cell(&a, &cell);
				(void) wc_mangle_touch(cell.value);
			}
			wc_answer_row_end(&a, &partial);
		}
	}
	wc_arena_free(&arena);
}

static void
readers_survive_any_bytes(void **state)
{
	for (int i = 0; i < 4; i++)
	{
		Reading		reading = {protocols[i % 2], transports[i / 2]};
		WcBuf		buf = WC_BUF_INIT;
		WcThriftWriter w;

		for (int k = 0; k < 2; k++)
		{
			wc_buf_reset(&buf, 0);
			wc_thrift_writer(&w, &buf, reading.protocol, reading.transport);
			(k == 0 ? put_rows : put_table) (&w);
			wc_mangle_prefixes(wc_buf_slice(&buf), read_anything, &reading);
			wc_mangle_randomly(wc_buf_slice(&buf), 2000, read_anything, &reading);
		}
		wc_buf_free(&buf);
	}
}

static void
filters_have_hbases_bytes(void **state)
{
	WcHBaseRange range = {.start = text("a"),.stop = text("c"),.start_inclusive = true};
	WcBuf		buf = WC_BUF_INIT;
	WcBuf		list = WC_BUF_INIT;
	WcSlice		one;

	wc_hbasefilter_ranges(&buf, &range, 1);
	assert_bytes(&buf, "0a32" "6f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e4d756c7469526f7752616e676546696c746572"
				 "120c" "0a0a" "0a0161" "1001" "1a0163" "2000");
	wc_buf_reset(&buf, 0);
	wc_hbasefilter_column(&buf, text("q"), true);
	assert_bytes(&buf, "0a30" "6f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e436f6c756d6e52616e676546696c746572"
				 "120a" "0a0171" "1001" "1a0171" "2001");
	wc_buf_reset(&buf, 0);
	wc_hbasefilter_column(&buf, text("q"), false);
	assert_bytes(&buf, "0a2e" "6f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e5175616c696669657246696c746572"
				 "123e" "0a3c" "0802" "1238" "0a2f"
				 "6f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e42696e617279436f6d70617261746f72"
				 "1205" "0a03" "0a0171");
	wc_buf_reset(&buf, 0);
	wc_hbasefilter_value(&buf, text("f"), text("q"), &(WcHBaseComparison) {WC_HBASE_GE, WC_HBASE_PREFIX, text("v")}, true, true);
	assert_bytes(&buf, "0a36" "6f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e53696e676c65436f6c756d6e56616c756546696c746572"
				 "124c" "0a0166" "120171" "1804" "223e" "0a35"
				 "6f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e42696e617279507265666978436f6d70617261746f72"
				 "1205" "0a03" "0a0176" "2801" "3001");
	wc_buf_reset(&buf, 0);
	wc_hbasefilter_row_keys(&buf);
	assert_bytes(&buf, "0a29" "6f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e46696c7465724c697374"
				 "126d" "0801"
				 "1235" "0a31" "6f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e46697273744b65794f6e6c7946696c746572" "1200"
				 "1232" "0a2c" "6f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e4b65794f6e6c7946696c746572"
				 "1202" "0800");
	wc_buf_reset(&buf, 0);
	wc_hbasefilter_first_key(&buf);
	one = wc_buf_slice(&buf);
	wc_hbasefilter_list(&list, true, &one, 1);
	assert_int_equal(list.data[list.len - one.len - 4], 0x08);
	assert_int_equal(list.data[list.len - one.len - 3], 2);
	assert_int_equal(list.data[list.len - one.len - 1], one.len);
	wc_buf_free(&buf);
	wc_buf_free(&list);
}

/* "org.apache.hadoop.hbase.filter." */
#define PACKAGE "6f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e"

static void
filters_of_the_language_have_hbases_bytes(void **state)
{
	const WcSlice prefixes[] = {text("a"), text("b")};
	const int64_t times[] = {5, 300};
	WcBuf		buf = WC_BUF_INIT;

	wc_buf_reset(&buf, 0);
	wc_hbasefilter_compare(&buf, WC_HBASE_ROW, &(WcHBaseComparison) {WC_HBASE_EQ, WC_HBASE_REGEX, text("^a")});
	assert_bytes(&buf, "0a28" PACKAGE "526f7746696c746572124b0a49080212450a34" PACKAGE
				 "5265676578537472696e67436f6d70617261746f72120d0a025e6110201a055554462d38");
	wc_buf_reset(&buf, 0);
	wc_hbasefilter_compare(&buf, WC_HBASE_FAMILY, &(WcHBaseComparison) {WC_HBASE_EQ, WC_HBASE_REGEX_NOCASE, text("F")});
	assert_bytes(&buf, "0a2b" PACKAGE "46616d696c7946696c746572124a0a48080212440a34" PACKAGE
				 "5265676578537472696e67436f6d70617261746f72120c0a014610621a055554462d38");
	/* \Qa\E, then \\E, then \Qb\E */
	wc_buf_reset(&buf, 0);
	wc_hbasefilter_compare(&buf, WC_HBASE_VALUE, &(WcHBaseComparison) {WC_HBASE_NE, WC_HBASE_SUBSTRING_NOCASE, text("a\\Eb")});
	assert_bytes(&buf, "0a2a" PACKAGE "56616c756546696c74657212560a54080312500a34" PACKAGE
				 "5265676578537472696e67436f6d70617261746f7212180a0d5c51615c455c5c455c51625c4510621a055554462d38");
	wc_buf_reset(&buf, 0);
	wc_hbasefilter_row_prefix(&buf, text("ab"));
	assert_bytes(&buf, "0a2b" PACKAGE "50726566697846696c74657212040a026162");
	wc_buf_reset(&buf, 0);
	wc_hbasefilter_last_row(&buf, text("ab"));
	assert_bytes(&buf, "0a32" PACKAGE "496e636c757369766553746f7046696c74657212040a026162");
	wc_buf_reset(&buf, 0);
	wc_hbasefilter_column_prefixes(&buf, prefixes, 1);
	assert_bytes(&buf, "0a31" PACKAGE "436f6c756d6e50726566697846696c74657212030a0161");
	wc_buf_reset(&buf, 0);
	wc_hbasefilter_column_prefixes(&buf, prefixes, 2);
	assert_bytes(&buf, "0a39" PACKAGE "4d756c7469706c65436f6c756d6e50726566697846696c74657212060a01610a0162");
	wc_buf_reset(&buf, 0);
	wc_hbasefilter_column_range(&buf, text(""), false, text("b"), true);
	assert_bytes(&buf, "0a30" PACKAGE "436f6c756d6e52616e676546696c746572120710001a01622001");
	wc_buf_reset(&buf, 0);
	wc_hbasefilter_timestamps(&buf, times, 2);
	assert_bytes(&buf, "0a2f" PACKAGE "54696d657374616d707346696c74657212050a0305ac02");
	wc_buf_reset(&buf, 0);
	wc_hbasefilter_column_value(&buf, text("f"), text("q"), &(WcHBaseComparison) {WC_HBASE_LT, WC_HBASE_BYTES, text("v")});
	assert_bytes(&buf, "0a30" PACKAGE "436f6c756d6e56616c756546696c74657212420a0166120171180022380a2f" PACKAGE
				 "42696e617279436f6d70617261746f7212050a030a0176");
	wc_buf_free(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_has_the_protocols_bytes),
		cmocka_unit_test(changes_of_a_row_are_mutations),
		cmocka_unit_test(times_to_live_part_puts),
		cmocka_unit_test(markers_of_a_family_are_parted),
		cmocka_unit_test(a_message_may_come_in_pieces),
		cmocka_unit_test(too_large_a_message_is_refused),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(exceptions_have_their_texts),
		cmocka_unit_test(tables_have_their_families),
		cmocka_unit_test(a_modified_family_keeps_other_attributes),
		cmocka_unit_test(tables_are_made_with_families_and_splits),
		cmocka_unit_test(a_row_of_a_scan_has_a_key),
		cmocka_unit_test(a_get_has_one_row_or_none),
		cmocka_unit_test(a_changed_cell_is_one_cell),
		cmocka_unit_test(regions_count_once_with_their_replicas),
		cmocka_unit_test(readers_survive_any_bytes),
		cmocka_unit_test(filters_have_hbases_bytes),
		cmocka_unit_test(filters_of_the_language_have_hbases_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
