/*
 * shell/data.c: single cells written and deleted by name.
 *
 * Each function appends one operation to the transaction's batch; the caller's
 * privilege on the foreign table decides.  What it does is seen by the commands
 * that follow.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "utils/acl.h"

#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_put);
PG_FUNCTION_INFO_V1(widecol_delete);
PG_FUNCTION_INFO_V1(widecol_delete_version);
PG_FUNCTION_INFO_V1(widecol_delete_family);
PG_FUNCTION_INFO_V1(widecol_delete_family_version);
PG_FUNCTION_INFO_V1(widecol_deleteall);

/* Opens the operation on one row; what follows adds items, then finish_row. */
static WcBatchBuilder *
begin_row(const WcTableDesc *table, WcSlice row)
{
	WcBatchBuilder *batch = wc_client_write(table);
	WcError		err;

	if (wc_batch_row_begin(batch, table->id, GetCurrentCommandId(true), row, 0, NULL, 0, &err) != WC_OK)
		wc_client_write_failed(&err);
	return batch;
}

static void
finish_row(WcBatchBuilder *batch)
{
	WcError		err;

	if (wc_batch_row_end(batch, &err) != WC_OK)
		wc_client_write_failed(&err);
	wc_client_write_done();
}

void
wc_put_one(const WcTableDesc *table, WcSlice row, const WcColumnName *column, int64 ts, int64 ttl_us,
		   WcSlice value)
{
	WcBatchBuilder *batch = begin_row(table, row);
	WcError		err;

	if (wc_batch_put(batch, column->family, column->qualifier, ts, ttl_us, value, &err) != WC_OK)
		wc_client_write_failed(&err);
	finish_row(batch);
}

void
wc_delete_one(const WcTableDesc *table, WcSlice row, WcCellType type, uint32 family,
			  WcSlice qualifier, int64 ts)
{
	WcBatchBuilder *batch = begin_row(table, row);
	WcError		err;

	if (wc_batch_delete(batch, type, family, qualifier, ts, &err) != WC_OK)
		wc_client_write_failed(&err);
	finish_row(batch);
}

/* put(tab, row, col, value, ts, ttl) */
Datum
widecol_put(PG_FUNCTION_ARGS)
{
	WcTableDesc *table = wc_arg_table(fcinfo, 0, ACL_INSERT);
	WcSlice		row = wc_arg_row(fcinfo, 1);
	int64		ts = wc_arg_ts(fcinfo, 4);
	int64		ttl = wc_arg_ttl(fcinfo, 5);
	WcColumnName column = wc_arg_column(fcinfo, 2, "col", table);

	wc_arg_not_null(fcinfo, 3, "value");
	wc_put_one(table, row, &column, ts, ttl, wc_arg_bytes(fcinfo, 3));
	PG_RETURN_VOID();
}

static Datum
delete_column(FunctionCallInfo fcinfo, WcCellType type)
{
	WcTableDesc *table = wc_arg_table(fcinfo, 0, ACL_DELETE);
	WcSlice		row = wc_arg_row(fcinfo, 1);
	int64		ts = wc_arg_ts(fcinfo, 3);
	WcColumnName column = wc_arg_column(fcinfo, 2, "col", table);

	wc_delete_one(table, row, type, column.family, column.qualifier, ts);
	PG_RETURN_VOID();
}

/* delete(tab, row, col, ts): every version up to ts */
Datum
widecol_delete(PG_FUNCTION_ARGS)
{
	return delete_column(fcinfo, WC_DELETE_COLUMN);
}

/* delete_version(tab, row, col, ts): exactly that version; NULL: the newest */
Datum
widecol_delete_version(PG_FUNCTION_ARGS)
{
	return delete_column(fcinfo, WC_DELETE);
}

static Datum
delete_whole_family(FunctionCallInfo fcinfo, WcCellType type)
{
	WcTableDesc *table = wc_arg_table(fcinfo, 0, ACL_DELETE);
	WcSlice		row = wc_arg_row(fcinfo, 1);
	int64		ts = wc_arg_ts(fcinfo, 3);
	const WcFamilyDesc *family;

	wc_arg_not_null(fcinfo, 2, "family");
	if (type == WC_DELETE_FAMILY_VERSION)
		wc_arg_not_null(fcinfo, 3, "ts");
	family = wc_family_lookup(table, wc_arg_cstring(fcinfo, 2));
	wc_delete_one(table, row, type, family->id, wc_slice(NULL, 0), ts);
	PG_RETURN_VOID();
}

/* delete_family(tab, row, family, ts) */
Datum
widecol_delete_family(PG_FUNCTION_ARGS)
{
	return delete_whole_family(fcinfo, WC_DELETE_FAMILY);
}

/* delete_family_version(tab, row, family, ts) */
Datum
widecol_delete_family_version(PG_FUNCTION_ARGS)
{
	return delete_whole_family(fcinfo, WC_DELETE_FAMILY_VERSION);
}

/* deleteall(tab, row, col, ts): the whole row, every family; or one column */
Datum
widecol_deleteall(PG_FUNCTION_ARGS)
{
	WcTableDesc *table = wc_arg_table(fcinfo, 0, ACL_DELETE);
	WcSlice		row = wc_arg_row(fcinfo, 1);
	int64		ts = wc_arg_ts(fcinfo, 3);
	WcBatchBuilder *batch;
	WcError		err;

	if (!PG_ARGISNULL(2))
	{
		WcColumnName column = wc_column_parse(table, wc_arg_cstring(fcinfo, 2), true);

		wc_delete_one(table, row, column.whole_family ? WC_DELETE_FAMILY : WC_DELETE_COLUMN,
					  column.family, column.qualifier, ts);
		PG_RETURN_VOID();
	}
	batch = begin_row(table, row);
	for (uint32 i = 0; i < table->nfamilies; i++)
		if (wc_batch_delete(batch, WC_DELETE_FAMILY, table->families[i].id, wc_slice(NULL, 0), ts, &err) != WC_OK)
			wc_client_write_failed(&err);
	finish_row(batch);
	PG_RETURN_VOID();
}
