/*
 * thrift/request.c: calls of HBase's gateway (Thrift2), as messages.
 */
#include "thrift/request.h"

#include "thrift/idl.h"

void
wc_request_server_type(WcThriftWriter *w, int32_t number)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_SERVER_TYPE, number);
	wc_thrift_end_message(w);
}

/* --- scans ------------------------------------------------------------------*/

static void
put_columns(WcThriftWriter *w, const WcThriftScan *scan)
{
	wc_thrift_field_list(w, WC_TScan_columns, WC_THRIFT_STRUCT, scan->ncolumns);
	for (uint32_t i = 0; i < scan->ncolumns; i++)
	{
		wc_thrift_begin_struct(w);
		wc_thrift_field_bytes(w, WC_TColumn_family, scan->columns[i].family);
		if (!scan->columns[i].whole)
			wc_thrift_field_bytes(w, WC_TColumn_qualifier, scan->columns[i].qualifier);
		wc_thrift_end_struct(w);
	}
}

static void
put_scan(WcThriftWriter *w, const WcThriftScan *scan, int32_t rows)
{
	if (scan->start.len > 0)
		wc_thrift_field_bytes(w, WC_TScan_startRow, scan->start);
	if (scan->stop.len > 0)
		wc_thrift_field_bytes(w, WC_TScan_stopRow, scan->stop);
	if (scan->ncolumns > 0)
		put_columns(w, scan);
	wc_thrift_field_i32(w, WC_TScan_caching, rows);
	wc_thrift_field_i32(w, WC_TScan_maxVersions, scan->versions);
	if (scan->timed)
	{
		wc_thrift_field_struct(w, WC_TScan_timeRange);
		wc_thrift_field_i64(w, WC_TTimeRange_minStamp, scan->ts_min);
		wc_thrift_field_i64(w, WC_TTimeRange_maxStamp, scan->ts_max);
		wc_thrift_end_struct(w);
	}
	if (scan->raw)
	{
		static const uint8_t yes[1] = {0xff};

		/* HBase's Scan.setRaw is an attribute of this name; true is FF */
		wc_thrift_field_map(w, WC_TScan_attributes, WC_THRIFT_STRING, WC_THRIFT_STRING, 1);
		wc_thrift_bytes(w, wc_slice_cstr("_raw_"));
		wc_thrift_bytes(w, wc_slice(yes, sizeof(yes)));
	}
	if (scan->reversed)
		wc_thrift_field_bool(w, WC_TScan_reversed, true);
	wc_thrift_field_i32(w, WC_TScan_limit, rows);
	if (scan->filter.len > 0)
		wc_thrift_field_bytes(w, WC_TScan_filterBytes, scan->filter);
}

void
wc_request_scan(WcThriftWriter *w, int32_t number, const WcThriftScan *scan, int32_t rows)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_SCAN, number);
	wc_thrift_field_bytes(w, WC_getScannerResults_table, scan->table);
	wc_thrift_field_struct(w, WC_getScannerResults_tscan);
	put_scan(w, scan, rows);
	wc_thrift_end_struct(w);
	wc_thrift_field_i32(w, WC_getScannerResults_numRows, rows);
	wc_thrift_end_message(w);
}

/* --- changes ----------------------------------------------------------------*/

static void
put_tput(WcThriftWriter *w, const WcThriftRow *row)
{
	wc_thrift_field_bytes(w, WC_TPut_row, row->row);
	wc_thrift_field_list(w, WC_TPut_columnValues, WC_THRIFT_STRUCT, row->nputs);
	for (uint32_t i = 0; i < row->nputs; i++)
	{
		const WcThriftChange *put = &row->puts[i];

		wc_thrift_begin_struct(w);
		wc_thrift_field_bytes(w, WC_TColumnValue_family, put->family);
		wc_thrift_field_bytes(w, WC_TColumnValue_qualifier, put->qualifier);
		wc_thrift_field_bytes(w, WC_TColumnValue_value, put->value);
		if (put->ts != WC_THRIFT_NO_TS)
			wc_thrift_field_i64(w, WC_TColumnValue_timestamp, put->ts);
		wc_thrift_end_struct(w);
	}
}

static void
put_tdelete(WcThriftWriter *w, const WcThriftRow *row, WcThriftDelete kind)
{
	static const int32_t types[WC_THRIFT_DELETES] = {
		[WC_THRIFT_DELETE_VERSION] = WC_TDeleteType_DELETE_COLUMN,
		[WC_THRIFT_DELETE_COLUMN] = WC_TDeleteType_DELETE_COLUMNS,
		[WC_THRIFT_DELETE_FAMILY] = WC_TDeleteType_DELETE_FAMILY,
		[WC_THRIFT_DELETE_FAMILY_VERSION] = WC_TDeleteType_DELETE_FAMILY_VERSION
	};
	bool		of_column = kind == WC_THRIFT_DELETE_VERSION || kind == WC_THRIFT_DELETE_COLUMN;

	wc_thrift_field_bytes(w, WC_TDelete_row, row->row);
	wc_thrift_field_list(w, WC_TDelete_columns, WC_THRIFT_STRUCT, row->ndeletes[kind]);
	for (uint32_t i = 0; i < row->ndeletes[kind]; i++)
	{
		const WcThriftChange *marker = &row->deletes[kind][i];

		wc_thrift_begin_struct(w);
		wc_thrift_field_bytes(w, WC_TColumn_family, marker->family);
		if (of_column)
			wc_thrift_field_bytes(w, WC_TColumn_qualifier, marker->qualifier);
		wc_thrift_field_i64(w, WC_TColumn_timestamp, marker->ts);
		wc_thrift_end_struct(w);
	}
	wc_thrift_field_i32(w, WC_TDelete_deleteType, types[kind]);
}

void
wc_request_puts(WcThriftWriter *w, int32_t number, WcSlice table, const WcThriftRow *const *rows, uint32_t n)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_PUTS, number);
	wc_thrift_field_bytes(w, WC_putMultiple_table, table);
	wc_thrift_field_list(w, WC_putMultiple_tputs, WC_THRIFT_STRUCT, n);
	for (uint32_t i = 0; i < n; i++)
	{
		wc_thrift_begin_struct(w);
		put_tput(w, rows[i]);
		wc_thrift_end_struct(w);
	}
	wc_thrift_end_message(w);
}

/* The kind of a row's markers, which are all of one kind. */
static WcThriftDelete
kind_of(const WcThriftRow *row)
{
	WcThriftDelete kind = WC_THRIFT_DELETE_VERSION;

	while (kind < WC_THRIFT_DELETE_FAMILY_VERSION && row->ndeletes[kind] == 0)
		kind++;
	return kind;
}

void
wc_request_deletes(WcThriftWriter *w, int32_t number, WcSlice table, const WcThriftRow *const *rows, uint32_t n)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_DELETES, number);
	wc_thrift_field_bytes(w, WC_deleteMultiple_table, table);
	wc_thrift_field_list(w, WC_deleteMultiple_tdeletes, WC_THRIFT_STRUCT, n);
	for (uint32_t i = 0; i < n; i++)
	{
		wc_thrift_begin_struct(w);
		put_tdelete(w, rows[i], kind_of(rows[i]));
		wc_thrift_end_struct(w);
	}
	wc_thrift_end_message(w);
}

void
wc_request_mutate(WcThriftWriter *w, int32_t number, WcSlice table, const WcThriftRow *row)
{
	uint32_t	n = row->nputs > 0;

	for (int kind = 0; kind < WC_THRIFT_DELETES; kind++)
		n += row->ndeletes[kind] > 0;
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_MUTATE, number);
	wc_thrift_field_bytes(w, WC_mutateRow_table, table);
	wc_thrift_field_struct(w, WC_mutateRow_trowMutations);
	wc_thrift_field_bytes(w, WC_TRowMutations_row, row->row);
	wc_thrift_field_list(w, WC_TRowMutations_mutations, WC_THRIFT_STRUCT, n);
	for (int kind = 0; kind < WC_THRIFT_DELETES; kind++)
	{
		if (row->ndeletes[kind] == 0)
			continue;
		wc_thrift_begin_struct(w);
		wc_thrift_field_struct(w, WC_TMutation_deleteSingle);
		put_tdelete(w, row, (WcThriftDelete) kind);
		wc_thrift_end_struct(w);
		wc_thrift_end_struct(w);
	}
	if (row->nputs > 0)
	{
		wc_thrift_begin_struct(w);
		wc_thrift_field_struct(w, WC_TMutation_put);
		put_tput(w, row);
		wc_thrift_end_struct(w);
		wc_thrift_end_struct(w);
	}
	wc_thrift_end_struct(w);
	wc_thrift_end_message(w);
}

/* --- the catalog ------------------------------------------------------------*/

void
wc_request_table(WcThriftWriter *w, int32_t number, WcSlice ns, WcSlice name)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_TABLE, number);
	wc_thrift_field_struct(w, WC_getTableDescriptor_table);
	wc_thrift_field_bytes(w, WC_TTableName_ns, ns);
	wc_thrift_field_bytes(w, WC_TTableName_qualifier, name);
	wc_thrift_end_struct(w);
	wc_thrift_end_message(w);
}

void
wc_request_tables(WcThriftWriter *w, int32_t number, WcSlice ns)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_TABLES, number);
	wc_thrift_field_bytes(w, WC_getTableDescriptorsByNamespace_name, ns);
	wc_thrift_end_message(w);
}

void
wc_request_namespaces(WcThriftWriter *w, int32_t number)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_NAMESPACES, number);
	wc_thrift_end_message(w);
}
