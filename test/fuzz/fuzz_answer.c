/*
 * test/fuzz/fuzz_answer.c: answers of HBase's gateway (thrift/answer.h).  The input's first
 * byte says which protocol, and whether the call was a scan or a get; rows are written again as the gateway writes them.
 */
#include "fuzz.h"
#include "thrift/answer.h"
#include "thrift/idl.h"
#include "thrift/request.h"

static void
put_cell(WcThriftWriter *w, const WcThriftCell *cell)
{
	wc_thrift_begin_struct(w);
	wc_thrift_field_bytes(w, WC_TColumnValue_family, cell->family);
	wc_thrift_field_bytes(w, WC_TColumnValue_qualifier, cell->qualifier);
	wc_thrift_field_bytes(w, WC_TColumnValue_value, cell->value);
	wc_thrift_field_i64(w, WC_TColumnValue_timestamp, cell->ts);
	wc_thrift_field_byte(w, WC_TColumnValue_type, (int8_t) cell->type);
	wc_thrift_end_struct(w);
}

static bool
copy_rows(WcAnswer *a, WcThriftWriter *w)
{
	bool		alone = a->result.type == WC_THRIFT_STRUCT;	/* a get's row */
	uint32_t	nrows = wc_answer_rows(a);

	if (alone)
		HOLDS(nrows == 1);
	else
		wc_thrift_field_list(w, WC_RESULT_SUCCESS, WC_THRIFT_STRUCT, nrows);
	for (uint32_t i = 0; i < nrows && !wc_thrift_failed(&a->r); i++)
	{
		WcSlice		row;
		uint32_t	ncells;
		bool		partial;

		wc_answer_row(a, &row, &ncells);
		if (alone)
			wc_thrift_field_struct(w, WC_RESULT_SUCCESS);
		else
			wc_thrift_begin_struct(w);
		if (row.len > 0)
			wc_thrift_field_bytes(w, WC_TResult_row, row);
		wc_thrift_field_list(w, WC_TResult_columnValues, WC_THRIFT_STRUCT, ncells);
		for (uint32_t k = 0; k < ncells && !wc_thrift_failed(&a->r); k++)
		{
			WcThriftCell cell;

			wc_answer_cell(a, &cell);
			put_cell(w, &cell);
		}
		wc_answer_row_end(a, &partial);
		wc_thrift_field_bool(w, WC_TResult_partial, partial);
		wc_thrift_end_struct(w);
	}
	return !wc_thrift_failed(&a->r);
}

static bool
recode(WcSlice in, WcBuf *out)
{
	WcDecoder	d = wc_decoder(in);
	uint8_t		how = wc_decode_u8(&d);
	WcThriftProtocol protocol = how & 1 ? WC_THRIFT_COMPACT : WC_THRIFT_BINARY;
	const char *method = how & 2 ? WC_METHOD_GET : WC_METHOD_SCAN;
	WcThriftWriter w;
	WcAnswer	a;

	if (wc_answer_open(&a, protocol, wc_slice(d.p, wc_decoder_left(&d)), method, 1, NULL) != WC_OK ||
		a.kind != WC_ANSWER_RESULT)
		return false;
	wc_buf_append_u8(out, how & 3);
	wc_thrift_writer(&w, out, protocol, WC_THRIFT_BUFFERED);
	wc_thrift_begin_message(&w, WC_THRIFT_REPLY, method, 1);
	if (!copy_rows(&a, &w))
		return false;
	wc_thrift_end_message(&w);
	return true;
}

/* A family that was read can be written: what widecol does not know of it is copied. */
static void
copy_family(WcThriftProtocol protocol, const WcThriftFamily *family)
{
	WcBuf		out = WC_BUF_INIT;
	WcThriftWriter w;

	wc_thrift_writer(&w, &out, protocol, WC_THRIFT_BUFFERED);
	wc_request_family(&w, 1, WC_METHOD_MODIFY_FAMILY, family->name, family->name, family);
	HOLDS(!out.failed);
	wc_buf_free(&out);
}

static void
touch_tables(WcThriftProtocol protocol, const WcThriftTable *tables, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
	{
		HOLDS(tables[i].name.len > 0);
		wc_fuzz_touch(tables[i].ns);
		wc_fuzz_touch(tables[i].name);
		for (uint32_t k = 0; k < tables[i].nfamilies; k++)
		{
			wc_fuzz_touch(tables[i].families[k].name);
			copy_family(protocol, &tables[i].families[k]);
		}
	}
}

static void
read_others(WcThriftProtocol protocol, WcSlice message)
{
	WcArena		arena = WC_ARENA_INIT;
	WcAnswer	a;
	WcThriftTable table;
	WcThriftTable *tables;
	WcThriftCell cell;
	WcSlice    *names;
	bool		enabled;
	int32_t		type;
	uint32_t	n;

	if (wc_answer_open(&a, protocol, message, WC_METHOD_TABLE, 1, NULL) == WC_OK)
	{
		wc_fuzz_touch(a.message);
		if (a.kind == WC_ANSWER_RESULT && wc_answer_table(&a, &arena, &table, NULL) == WC_OK)
			touch_tables(protocol, &table, 1);
	}
	if (wc_answer_open(&a, protocol, message, WC_METHOD_TABLES, 1, NULL) == WC_OK && a.kind == WC_ANSWER_RESULT &&
		wc_answer_tables(&a, &arena, &tables, &n, NULL) == WC_OK)
		touch_tables(protocol, tables, n);
	if (wc_answer_open(&a, protocol, message, WC_METHOD_NAMESPACES, 1, NULL) == WC_OK && a.kind == WC_ANSWER_RESULT &&
		wc_answer_names(&a, &arena, &names, &n, NULL) == WC_OK)
	{
		for (uint32_t i = 0; i < n; i++)
			wc_fuzz_touch(names[i]);
	}
	if (wc_answer_open(&a, protocol, message, WC_METHOD_REGIONS, 1, NULL) == WC_OK && a.kind == WC_ANSWER_RESULT &&
		wc_answer_regions(&a, &arena, &names, &n, NULL) == WC_OK)
	{
		for (uint32_t i = 0; i < n; i++)
			wc_fuzz_touch(names[i]);
	}
	if (wc_answer_open(&a, protocol, message, WC_METHOD_INCREMENT, 1, NULL) == WC_OK && a.kind == WC_ANSWER_RESULT &&
		wc_answer_changed_cell(&a, &cell, NULL) == WC_OK)
		wc_fuzz_touch(cell.value);
	if (wc_answer_open(&a, protocol, message, WC_METHOD_IS_TABLE_ENABLED, 1, NULL) == WC_OK && a.kind == WC_ANSWER_RESULT &&
		wc_answer_bool(&a, &enabled, NULL) == WC_OK)
		HOLDS(!wc_thrift_failed(&a.r));
	if (wc_answer_open(&a, protocol, message, WC_METHOD_SERVER_TYPE, 1, NULL) == WC_OK && a.kind == WC_ANSWER_RESULT &&
		wc_answer_number(&a, &type, NULL) == WC_OK)
		HOLDS(!wc_thrift_failed(&a.r));
	wc_arena_free(&arena);
}

FUZZ_TARGET(answer)
{
	WcDecoder	d = wc_decoder(in);
	uint8_t		how = wc_decode_u8(&d);

	read_others(how & 1 ? WC_THRIFT_COMPACT : WC_THRIFT_BINARY, wc_slice(d.p, wc_decoder_left(&d)));
	wc_fuzz_recode(in, recode, false);
}
