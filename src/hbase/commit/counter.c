/*
 * hbase/commit/counter.c: counters and appended bytes, changed by HBase itself, at once.
 */
#include "hbase/commit/commit.h"

#include "access/xact.h"

#include "base/coding.h"
#include "base/printable.h"
#include "hbase/catalog/tablechange.h"
#include "hbase/changes/changes.h"
#include "thrift/request.h"

/* Bytes of a key that an error shows. */
#define SHOWN_MAX 60

/*
 * In a transaction block, what HBase has done could not be rolled back; and HBase does not know of changes that it
 * has not got yet.
 */
bool
wc_hbase_acts_at_once(const WcTableDesc *desc)
{
	const WcHBaseTable *table = wc_hbase_table_by_id(desc->id);
	bool		in_block = IsTransactionBlock() || GetCurrentTransactionNestLevel() > 1;

	return (!in_block || wc_hbase_server(table->server->oid)->options.atomic_in_transaction) &&
		wc_hbase_table_state(table) == WC_HBASE_AS_IT_IS && wc_hbase_changes_of(desc->id, InvalidCommandId) == NULL;
}

/* Sends the request that was begun; *value: of the changed cell, in the connection's answer. */
static WcStatus
change(WcHBaseTable *table, const char *method, int32 number, WcSlice *value, bool *unsure, WcError *err)
{
	WcThriftCell cell;
	WcAnswer	answer;
	WcStatus	status;

	wc_hbase_note_sending();
	status = wc_hbase_send(table->server, method, number, &answer, unsure, err);
	wc_hbase_note_sending();
	if (status != WC_OK)
		return status;
	status = wc_hbase_check(table->server, table->name, &answer, err);
	*unsure = status == WC_OK || status == WC_CORRUPT;	/* HBase has done it, or an answer that makes no sense tells nothing */
	if (status == WC_OK)
		status = wc_answer_changed_cell(&answer, &cell, err);
	if (status == WC_OK)
		*value = cell.value;
	return status;
}

/* Raises the error of a failed change. */
static void
finish(WcStatus status, WcSlice row, const char *family, WcSlice qualifier, bool unsure, WcError *err)
{
	char		shown[WC_PRINTABLE_SIZE(SHOWN_MAX)];
	char		column[WC_PRINTABLE_SIZE(SHOWN_MAX)];

	if (status == WC_OK)
		return;
	wc_printable(shown, sizeof(shown), wc_slice(row.data, Min(row.len, SHOWN_MAX)));
	wc_printable(column, sizeof(column), wc_slice(qualifier.data, Min(qualifier.len, SHOWN_MAX)));
	wc_hbase_error_more(err, unsure ? ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN : 0,
						psprintf("It was about column \"%s:%s\" of row \"%s\".%s", family, column, shown,
								 unsure ? " HBase may have changed it all the same." : ""));
	wc_hbase_raise(err);
}

int64
wc_hbase_increment(const WcTableDesc *desc, WcSlice row, uint32 family, WcSlice qualifier, int64 amount)
{
	WcHBaseTable *table = wc_hbase_table_by_id(desc->id);
	WcThriftWriter w;
	WcSlice		value = {0};
	WcStatus	status;
	WcError		err;
	int32		number;
	bool		unsure;

	wc_hbase_require_isolation(table, "written");
	wc_hbase_require_row(table, row);
	wc_hbase_begin(table->server, &w, &number);
	wc_request_increment(&w, number, wc_slice_cstr(table->name), row, wc_slice_cstr(table->families[family - 1].name),
						 qualifier, amount);
	status = change(table, WC_METHOD_INCREMENT, number, &value, &unsure, &err);
	if (status == WC_OK && value.len != sizeof(uint64))
		status = wc_error(&err, WC_CORRUPT, "HBase has answered a counter of %zu bytes", value.len);
	finish(status, row, table->families[family - 1].name, qualifier, unsure, &err);
	return (int64) wc_load_u64(value.data);
}

WcSlice
wc_hbase_append(const WcTableDesc *desc, WcSlice row, uint32 family, WcSlice qualifier, WcSlice more)
{
	WcHBaseTable *table = wc_hbase_table_by_id(desc->id);
	WcThriftWriter w;
	WcSlice		value = {0};
	WcStatus	status;
	WcError		err;
	int32		number;
	bool		unsure;

	wc_hbase_require_isolation(table, "written");
	wc_hbase_require_row(table, row);
	wc_hbase_begin(table->server, &w, &number);
	wc_request_append(&w, number, wc_slice_cstr(table->name), row, wc_slice_cstr(table->families[family - 1].name),
					  qualifier, more);
	status = change(table, WC_METHOD_APPEND, number, &value, &unsure, &err);
	finish(status, row, table->families[family - 1].name, qualifier, unsure, &err);
	return value;
}
