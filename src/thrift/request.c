/*
 * thrift/request.c: calls of HBase's gateway (Thrift2), as messages.
 */
#include "thrift/request.h"

#include "base/coding.h"
#include "thrift/idl.h"

void
wc_request_server_type(WcThriftWriter *w, int32_t number)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_SERVER_TYPE, number);
	wc_thrift_end_message(w);
}

/* --- scans ------------------------------------------------------------------*/

static void
put_columns(WcThriftWriter *w, uint8_t field, const WcThriftScan *scan)
{
	wc_thrift_field_list(w, field, WC_THRIFT_STRUCT, scan->ncolumns);
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
put_times(WcThriftWriter *w, uint8_t field, const WcThriftScan *scan)
{
	if (!scan->timed)
		return;
	wc_thrift_field_struct(w, field);
	wc_thrift_field_i64(w, WC_TTimeRange_minStamp, scan->ts_min);
	wc_thrift_field_i64(w, WC_TTimeRange_maxStamp, scan->ts_max);
	wc_thrift_end_struct(w);
}

static void
put_scan(WcThriftWriter *w, const WcThriftScan *scan, int32_t rows)
{
	if (scan->start.len > 0)
		wc_thrift_field_bytes(w, WC_TScan_startRow, scan->start);
	if (scan->stop.len > 0)
		wc_thrift_field_bytes(w, WC_TScan_stopRow, scan->stop);
	if (scan->ncolumns > 0)
		put_columns(w, WC_TScan_columns, scan);
	wc_thrift_field_i32(w, WC_TScan_caching, rows);
	wc_thrift_field_i32(w, WC_TScan_maxVersions, scan->versions);
	put_times(w, WC_TScan_timeRange, scan);
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
wc_request_get(WcThriftWriter *w, int32_t number, const WcThriftScan *scan)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_GET, number);
	wc_thrift_field_bytes(w, WC_get_table, scan->table);
	wc_thrift_field_struct(w, WC_get_tget);
	wc_thrift_field_bytes(w, WC_TGet_row, scan->start);
	if (scan->ncolumns > 0)
		put_columns(w, WC_TGet_columns, scan);
	put_times(w, WC_TGet_timeRange, scan);
	wc_thrift_field_i32(w, WC_TGet_maxVersions, scan->versions);
	if (scan->filter.len > 0)
		wc_thrift_field_bytes(w, WC_TGet_filterBytes, scan->filter);
	wc_thrift_end_struct(w);
	wc_thrift_end_message(w);
}

/* --- changes ----------------------------------------------------------------*/

uint32_t
wc_thrift_puts_alike(const WcThriftRow *row, uint32_t i)
{
	uint32_t	end = i;

	while (end < row->nputs && row->puts[end].ttl_ms == row->puts[i].ttl_ms)
		end++;
	return end - i;
}

/* The fields of a TPut with n puts, from the first on, which are alike. */
static void
put_tput(WcThriftWriter *w, const WcThriftRow *row, uint32_t first, uint32_t n)
{
	wc_thrift_field_bytes(w, WC_TPut_row, row->row);
	wc_thrift_field_list(w, WC_TPut_columnValues, WC_THRIFT_STRUCT, n);
	for (uint32_t i = first; i < first + n; i++)
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
	if (n > 0 && row->puts[first].ttl_ms > 0)
	{
		uint8_t		ttl[sizeof(uint64_t)];

		/* HBase's Mutation.setTTL is an attribute of this name */
		wc_store_u64(ttl, (uint64_t) row->puts[first].ttl_ms);
		wc_thrift_field_map(w, WC_TPut_attributes, WC_THRIFT_STRING, WC_THRIFT_STRING, 1);
		wc_thrift_bytes(w, wc_slice_cstr("_ttl"));
		wc_thrift_bytes(w, wc_slice(ttl, sizeof(ttl)));
	}
}

uint32_t
wc_thrift_deletes_alike(const WcThriftRow *row, WcThriftDelete kind, uint32_t i)
{
	const WcThriftChange *markers = row->deletes[kind];
	uint32_t	end = i;

	while (end < row->ndeletes[kind] &&
		   (kind != WC_THRIFT_DELETE_FAMILY || end == i || !wc_slice_eq(markers[end].family, markers[end - 1].family)))
		end++;
	return end - i;
}

/* The fields of a TDelete with n markers, from the first on, which are alike. */
static void
put_tdelete(WcThriftWriter *w, const WcThriftRow *row, WcThriftDelete kind, uint32_t first, uint32_t n)
{
	static const int32_t types[WC_THRIFT_DELETES] = {
		[WC_THRIFT_DELETE_VERSION] = WC_TDeleteType_DELETE_COLUMN,
		[WC_THRIFT_DELETE_COLUMN] = WC_TDeleteType_DELETE_COLUMNS,
		[WC_THRIFT_DELETE_FAMILY] = WC_TDeleteType_DELETE_FAMILY,
		[WC_THRIFT_DELETE_FAMILY_VERSION] = WC_TDeleteType_DELETE_FAMILY_VERSION
	};
	bool		of_column = kind == WC_THRIFT_DELETE_VERSION || kind == WC_THRIFT_DELETE_COLUMN;

	wc_thrift_field_bytes(w, WC_TDelete_row, row->row);
	wc_thrift_field_list(w, WC_TDelete_columns, WC_THRIFT_STRUCT, n);
	for (uint32_t i = first; i < first + n; i++)
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
		put_tput(w, rows[i], 0, rows[i]->nputs);
		wc_thrift_end_struct(w);
	}
	wc_thrift_end_message(w);
}

/* The kind of a row's markers, which are all alike. */
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
		WcThriftDelete kind = kind_of(rows[i]);

		wc_thrift_begin_struct(w);
		put_tdelete(w, rows[i], kind, 0, rows[i]->ndeletes[kind]);
		wc_thrift_end_struct(w);
	}
	wc_thrift_end_message(w);
}

/* The fields of a TRowMutations. */
static void
put_mutations(WcThriftWriter *w, const WcThriftRow *row)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < row->nputs; i += wc_thrift_puts_alike(row, i))
		n++;
	for (WcThriftDelete kind = 0; kind < WC_THRIFT_DELETES; kind++)
	{
		for (uint32_t i = 0; i < row->ndeletes[kind]; i += wc_thrift_deletes_alike(row, kind, i))
			n++;
	}
	wc_thrift_field_bytes(w, WC_TRowMutations_row, row->row);
	wc_thrift_field_list(w, WC_TRowMutations_mutations, WC_THRIFT_STRUCT, n);
	for (WcThriftDelete kind = 0; kind < WC_THRIFT_DELETES; kind++)
	{
		for (uint32_t i = 0; i < row->ndeletes[kind]; i += wc_thrift_deletes_alike(row, kind, i))
		{
			wc_thrift_begin_struct(w);
			wc_thrift_field_struct(w, WC_TMutation_deleteSingle);
			put_tdelete(w, row, kind, i, wc_thrift_deletes_alike(row, kind, i));
			wc_thrift_end_struct(w);
			wc_thrift_end_struct(w);
		}
	}
	for (uint32_t i = 0; i < row->nputs; i += wc_thrift_puts_alike(row, i))
	{
		wc_thrift_begin_struct(w);
		wc_thrift_field_struct(w, WC_TMutation_put);
		put_tput(w, row, i, wc_thrift_puts_alike(row, i));
		wc_thrift_end_struct(w);
		wc_thrift_end_struct(w);
	}
}

void
wc_request_mutate(WcThriftWriter *w, int32_t number, WcSlice table, const WcThriftRow *row)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_MUTATE, number);
	wc_thrift_field_bytes(w, WC_mutateRow_table, table);
	wc_thrift_field_struct(w, WC_mutateRow_trowMutations);
	put_mutations(w, row);
	wc_thrift_end_struct(w);
	wc_thrift_end_message(w);
}

void
wc_request_check_and_mutate(WcThriftWriter *w, int32_t number, WcSlice table, const WcThriftRow *row,
							const WcThriftCondition *condition)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_CHECK_AND_MUTATE, number);
	wc_thrift_field_bytes(w, WC_checkAndMutate_table, table);
	wc_thrift_field_bytes(w, WC_checkAndMutate_row, row->row);
	wc_thrift_field_bytes(w, WC_checkAndMutate_family, condition->family);
	wc_thrift_field_bytes(w, WC_checkAndMutate_qualifier, condition->qualifier);
	wc_thrift_field_i32(w, WC_checkAndMutate_compareOp, WC_TCompareOp_EQUAL);
	wc_thrift_field_bytes(w, WC_checkAndMutate_value, condition->value);
	wc_thrift_field_struct(w, WC_checkAndMutate_rowMutations);
	put_mutations(w, row);
	wc_thrift_end_struct(w);
	wc_thrift_end_message(w);
}

void
wc_request_increment(WcThriftWriter *w, int32_t number, WcSlice table, WcSlice row, WcSlice family, WcSlice qualifier,
					 int64_t amount)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_INCREMENT, number);
	wc_thrift_field_bytes(w, WC_increment_table, table);
	wc_thrift_field_struct(w, WC_increment_tincrement);
	wc_thrift_field_bytes(w, WC_TIncrement_row, row);
	wc_thrift_field_list(w, WC_TIncrement_columns, WC_THRIFT_STRUCT, 1);
	wc_thrift_begin_struct(w);
	wc_thrift_field_bytes(w, WC_TColumnIncrement_family, family);
	wc_thrift_field_bytes(w, WC_TColumnIncrement_qualifier, qualifier);
	wc_thrift_field_i64(w, WC_TColumnIncrement_amount, amount);
	wc_thrift_end_struct(w);
	wc_thrift_end_struct(w);
	wc_thrift_end_message(w);
}

void
wc_request_append(WcThriftWriter *w, int32_t number, WcSlice table, WcSlice row, WcSlice family, WcSlice qualifier,
				  WcSlice value)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_APPEND, number);
	wc_thrift_field_bytes(w, WC_append_table, table);
	wc_thrift_field_struct(w, WC_append_tappend);
	wc_thrift_field_bytes(w, WC_TAppend_row, row);
	wc_thrift_field_list(w, WC_TAppend_columns, WC_THRIFT_STRUCT, 1);
	wc_thrift_begin_struct(w);
	wc_thrift_field_bytes(w, WC_TColumnValue_family, family);
	wc_thrift_field_bytes(w, WC_TColumnValue_qualifier, qualifier);
	wc_thrift_field_bytes(w, WC_TColumnValue_value, value);
	wc_thrift_end_struct(w);
	wc_thrift_end_struct(w);
	wc_thrift_end_message(w);
}

/* --- the catalog ------------------------------------------------------------*/

/* Every method that takes a table's name has it as the first argument. */
static void
put_table_name(WcThriftWriter *w, int16_t id, WcSlice ns, WcSlice name)
{
	wc_thrift_field_struct(w, id);
	wc_thrift_field_bytes(w, WC_TTableName_ns, ns);
	wc_thrift_field_bytes(w, WC_TTableName_qualifier, name);
	wc_thrift_end_struct(w);
}

void
wc_request_of_table(WcThriftWriter *w, int32_t number, const char *method, WcSlice ns, WcSlice name)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, method, number);
	put_table_name(w, WC_getTableDescriptor_table, ns, name);
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

void
wc_request_regions(WcThriftWriter *w, int32_t number, WcSlice table)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_REGIONS, number);
	wc_thrift_field_bytes(w, WC_getAllRegionLocations_table, table);
	wc_thrift_end_message(w);
}

/* Copies the fields of a family's description that WcThriftFamily has no members for. */
static void
put_other_attributes(WcThriftWriter *w, WcSlice all)
{
	WcThriftReader r;
	WcThriftField f;

	wc_thrift_reader_of_struct(&r, w->protocol, all);
	while (wc_thrift_next_field(&r, &f))
	{
		switch (f.id)
		{
			case WC_TColumnFamilyDescriptor_name:
			case WC_TColumnFamilyDescriptor_blockSize:
			case WC_TColumnFamilyDescriptor_bloomnFilterType:
			case WC_TColumnFamilyDescriptor_compressionType:
			case WC_TColumnFamilyDescriptor_keepDeletedCells:
			case WC_TColumnFamilyDescriptor_maxVersions:
			case WC_TColumnFamilyDescriptor_minVersions:
			case WC_TColumnFamilyDescriptor_timeToLive:
			case WC_TColumnFamilyDescriptor_blockCacheEnabled:
			case WC_TColumnFamilyDescriptor_inMemory:
				wc_thrift_skip(&r, f);
				break;
			default:
				if (f.type == WC_THRIFT_BOOL && w->protocol == WC_THRIFT_COMPACT)
					wc_thrift_field_bool(w, f.id, wc_thrift_read_bool(&r, f));
				else
					wc_thrift_field_raw(w, f.id, f.type, wc_thrift_read_raw(&r, f));
				break;
		}
	}
	w->out->failed |= wc_thrift_failed(&r);
}

/* The fields of a TColumnFamilyDescriptor; those that are copied come last, so they are not in ascending order. */
static void
put_family(WcThriftWriter *w, const WcThriftFamily *family)
{
	wc_thrift_field_bytes(w, WC_TColumnFamilyDescriptor_name, family->name);
	wc_thrift_field_i32(w, WC_TColumnFamilyDescriptor_blockSize, family->blocksize);
	wc_thrift_field_i32(w, WC_TColumnFamilyDescriptor_bloomnFilterType, family->bloomfilter);
	wc_thrift_field_i32(w, WC_TColumnFamilyDescriptor_compressionType, family->compression);
	wc_thrift_field_i32(w, WC_TColumnFamilyDescriptor_keepDeletedCells, family->keep_deleted);
	wc_thrift_field_i32(w, WC_TColumnFamilyDescriptor_maxVersions, family->versions);
	wc_thrift_field_i32(w, WC_TColumnFamilyDescriptor_minVersions, family->min_versions);
	wc_thrift_field_i32(w, WC_TColumnFamilyDescriptor_timeToLive, family->ttl);
	wc_thrift_field_bool(w, WC_TColumnFamilyDescriptor_blockCacheEnabled, family->blockcache);
	wc_thrift_field_bool(w, WC_TColumnFamilyDescriptor_inMemory, family->in_memory);
	if (family->all.len > 0)
		put_other_attributes(w, family->all);
}

void
wc_request_create_table(WcThriftWriter *w, int32_t number, const WcThriftTable *table, const WcSlice *splits,
						uint32_t nsplits)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_CREATE_TABLE, number);
	wc_thrift_field_struct(w, WC_createTable_desc);
	put_table_name(w, WC_TTableDescriptor_tableName, table->ns, table->name);
	wc_thrift_field_list(w, WC_TTableDescriptor_columns, WC_THRIFT_STRUCT, table->nfamilies);
	for (uint32_t i = 0; i < table->nfamilies; i++)
	{
		wc_thrift_begin_struct(w);
		put_family(w, &table->families[i]);
		wc_thrift_end_struct(w);
	}
	wc_thrift_end_struct(w);
	if (nsplits > 0)
	{
		wc_thrift_field_list(w, WC_createTable_splitKeys, WC_THRIFT_STRING, nsplits);
		for (uint32_t i = 0; i < nsplits; i++)
			wc_thrift_bytes(w, splits[i]);
	}
	wc_thrift_end_message(w);
}

void
wc_request_truncate_table(WcThriftWriter *w, int32_t number, WcSlice ns, WcSlice name, bool keep_splits)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_TRUNCATE_TABLE, number);
	put_table_name(w, WC_truncateTable_tableName, ns, name);
	wc_thrift_field_bool(w, WC_truncateTable_preserveSplits, keep_splits);
	wc_thrift_end_message(w);
}

void
wc_request_family(WcThriftWriter *w, int32_t number, const char *method, WcSlice ns, WcSlice name,
				  const WcThriftFamily *family)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, method, number);
	put_table_name(w, WC_addColumnFamily_tableName, ns, name);
	wc_thrift_field_struct(w, WC_addColumnFamily_column);
	put_family(w, family);
	wc_thrift_end_struct(w);
	wc_thrift_end_message(w);
}

void
wc_request_delete_family(WcThriftWriter *w, int32_t number, WcSlice ns, WcSlice name, WcSlice family)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_DELETE_FAMILY, number);
	put_table_name(w, WC_deleteColumnFamily_tableName, ns, name);
	wc_thrift_field_bytes(w, WC_deleteColumnFamily_column, family);
	wc_thrift_end_message(w);
}

void
wc_request_create_namespace(WcThriftWriter *w, int32_t number, WcSlice ns)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_CREATE_NAMESPACE, number);
	wc_thrift_field_struct(w, WC_createNamespace_namespaceDesc);
	wc_thrift_field_bytes(w, WC_TNamespaceDescriptor_name, ns);
	wc_thrift_end_struct(w);
	wc_thrift_end_message(w);
}

void
wc_request_delete_namespace(WcThriftWriter *w, int32_t number, WcSlice ns)
{
	wc_thrift_begin_message(w, WC_THRIFT_CALL, WC_METHOD_DELETE_NAMESPACE, number);
	wc_thrift_field_bytes(w, WC_deleteNamespace_name, ns);
	wc_thrift_end_message(w);
}
