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
