/*
 * shell/data/data.c: single cells written and deleted by name.
 *
 * Each function appends one operation to the transaction's batch; shell/access.h has the privileges.  Its
 * effect is visible to the following commands.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "shell/access.h"

PG_FUNCTION_INFO_V1(widecol_put);
PG_FUNCTION_INFO_V1(widecol_delete);
PG_FUNCTION_INFO_V1(widecol_delete_version);
PG_FUNCTION_INFO_V1(widecol_delete_family);
PG_FUNCTION_INFO_V1(widecol_delete_family_version);
PG_FUNCTION_INFO_V1(widecol_deleteall);

/* Opens the operation on one row: the caller adds items, then calls finish_row. */
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
	WcAccess	access;
	WcColumnName column;
	WcSlice		row;

	wc_access_open(fcinfo, &access, false, ACL_INSERT);
	row = wc_access_row_argument(fcinfo, 1, &access);
	column = wc_access_column_argument(fcinfo, 2, "col", &access, ACL_INSERT);
	wc_arg_not_null(fcinfo, 3, "value");
	wc_put_one(access.table, row, &column, wc_arg_ts(fcinfo, 4), wc_arg_ttl_us(fcinfo, 5), wc_arg_bytes(fcinfo, 3));
	wc_access_close(&access);
	PG_RETURN_VOID();
}

static Datum
delete_column(FunctionCallInfo fcinfo, WcCellType type)
{
	WcAccess	access;
	WcColumnName column;
	WcSlice		row;

	wc_access_open(fcinfo, &access, false, ACL_DELETE);
	row = wc_access_row_argument(fcinfo, 1, &access);
	column = wc_access_column_argument(fcinfo, 2, "col", &access, ACL_DELETE);
	wc_delete_one(access.table, row, type, column.family, column.qualifier, wc_arg_ts(fcinfo, 3));
	wc_access_close(&access);
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
	WcAccess	access;
	const WcFamilyDesc *family;
	WcSlice		row;

	wc_access_open(fcinfo, &access, false, ACL_DELETE);
	row = wc_access_row_argument(fcinfo, 1, &access);
	wc_arg_not_null(fcinfo, 2, "family");
	if (type == WC_DELETE_FAMILY_VERSION)
		wc_arg_not_null(fcinfo, 3, "ts");
	family = wc_family_lookup(access.table, wc_arg_cstring(fcinfo, 2));
	wc_access_require_family(&access, family);
	wc_delete_one(access.table, row, type, family->id, wc_slice(NULL, 0), wc_arg_ts(fcinfo, 3));
	wc_access_close(&access);
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

/* Every family of a row; of a foreign table's row, what DELETE would delete. */
static void
delete_row(const WcAccess *access, WcSlice row, int64 ts)
{
	const WcTableDesc *table = access->table;
	WcBatchBuilder *batch = begin_row(table, row);
	WcError		err;

	for (uint32 i = 0; i < table->nfamilies; i++)
	{
		uint32		family = table->families[i].id;

		if (wc_access_deletes_family(access, family) &&
			wc_batch_delete(batch, WC_DELETE_FAMILY, family, wc_slice(NULL, 0), ts, &err) != WC_OK)
			wc_client_write_failed(&err);
	}
	finish_row(batch);
}

/* The columns that deleteall deletes in each row. */
typedef struct Deletion
{
	bool		whole_row;		/* else the column, or family */
	WcColumnName column;
	int64		ts;
} Deletion;

static void
delete_part(const WcAccess *access, WcSlice row, const Deletion *what)
{
	if (what->whole_row)
		delete_row(access, row, what->ts);
	else
		wc_delete_one(access->table, row, what->column.whole_family ? WC_DELETE_FAMILY : WC_DELETE_COLUMN,
					  what->column.family, what->column.qualifier, what->ts);
}

/* Of each row of the range that is there, and that the caller may see. */
static void
delete_range(WcAccess *access, WcRange *range, const Deletion *what)
{
	Snapshot	snapshot = GetActiveSnapshot();
	WcClientScan *rows;
	WcScan		scan;
	WcSlice		row;

	wc_client_require_writable();
	wc_scan_init(&scan, access->table->id);
	scan.ranges = range;
	scan.nranges = 1;
	scan.rows_by_existence = true;
	if (access->wrel != NULL)
	{
		scan.families = access->wrel->families;
		scan.nfamilies = (uint32) access->wrel->nfamilies;
	}
	rows = wc_client_scan_open(&scan, wc_client_snapshot(snapshot), snapshot->curcid, 0, CurrentMemoryContext);
	while (wc_client_next_row(rows, &row))
	{
		CHECK_FOR_INTERRUPTS();
		if (wc_access_shows_row(access, row))
			delete_part(access, row, what);
	}
	wc_client_scan_close(rows);
}

/* Argument argno, row_prefix: all rows that begin so. */
static void
delete_prefix(FunctionCallInfo fcinfo, int argno, WcAccess *access, const Deletion *what)
{
	WcSlice		prefix = wc_arg_bytes(fcinfo, argno);
	WcArena		arena = WC_ARENA_INIT;
	WcRange		range;

	if (prefix.len == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("row_prefix must not be empty"),
				 errhint("All rows go with widecol.truncate_table.")));
	PG_TRY();
	{
		if (!wc_range_of_prefix(&arena, wc_row_check(prefix), &range))
			wc_raise_no_memory();
		delete_range(access, &range, what);
	}
	PG_FINALLY();
	{
		wc_arena_free(&arena);
	}
	PG_END_TRY();
}

/* deleteall(tab, row, col, ts, row_prefix): whole rows; or one column, or family, of them */
Datum
widecol_deleteall(PG_FUNCTION_ARGS)
{
	Deletion	what = {.whole_row = PG_ARGISNULL(2)};
	WcAccess	access;
	WcSlice		row = {0};

	wc_access_open(fcinfo, &access, false, ACL_DELETE);
	if (PG_ARGISNULL(4))
		row = wc_access_row_argument(fcinfo, 1, &access);
	else if (!PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("row_prefix cannot be combined with a row")));
	what.ts = wc_arg_ts(fcinfo, 3);
	if (!what.whole_row)
	{
		what.column = wc_column_parse(access.table, wc_arg_cstring(fcinfo, 2), true);
		if (what.column.whole_family)
			wc_access_require_family(&access, wc_table_desc_family_by_id(access.table, what.column.family));
		else
			wc_access_require_column(&access, &what.column, ACL_DELETE);
	}
	if (PG_ARGISNULL(4))
		delete_part(&access, row, &what);
	else
		delete_prefix(fcinfo, 4, &access, &what);
	wc_access_close(&access);
	PG_RETURN_VOID();
}
