/*
 * shell/check.c: conditional writes.
 *
 * Each locks the row to the end of the transaction, whatever comes of it, and
 * compares with the newest state: so what is written behind a check that held,
 * by this function or by more statements of the transaction, is HBase's
 * checkAndMutate.  SELECT on the foreign table is needed to look, and the
 * privilege to write what follows (for check itself: to write anything).
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_check);
PG_FUNCTION_INFO_V1(widecol_check_and_put);
PG_FUNCTION_INFO_V1(widecol_check_and_delete);

/* "expected OP stored" holds when the order of the two is one of these. */
typedef struct Operator
{
	const char *name;
	bool		less;
	bool		equal;
	bool		greater;
} Operator;

static const Operator operators[] = {
	{"=", false, true, false},
	{"<>", true, false, true},
	{"!=", true, false, true},
	{"<", true, false, false},
	{"<=", true, true, false},
	{">", false, false, true},
	{">=", false, true, true},
};

static const Operator *
operator_argument(FunctionCallInfo fcinfo, int argno)
{
	char	   *name;

	wc_arg_not_null(fcinfo, argno, "op");
	name = wc_arg_cstring(fcinfo, argno);
	for (int i = 0; i < lengthof(operators); i++)
	{
		if (strcmp(operators[i].name, name) == 0)
			return &operators[i];
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown operator \"%s\"", name),
			 errhint("Operators are =, <> (or !=), <, <=, >, >=; they read: expected, operator, stored.")));
}

/*
 * As HBase: no expected value, or an empty one, asks whether there is no cell, or
 * an empty one (whatever the operator, but that <> negates it); another one holds
 * for no cell that is not there.
 */
static bool
holds(const Operator *op, WcSlice expected, const WcCurrentCell *stored)
{
	int			order;

	if (expected.len == 0)
		return (stored->value.len == 0) == !(op->less && op->greater);
	if (!stored->found)
		return false;
	order = wc_slice_cmp(expected, stored->value);
	return order < 0 ? op->less : order > 0 ? op->greater : op->equal;
}

/* Arguments 1 to 3 and the operator: row, check_col, expected. */
static bool
check_row(FunctionCallInfo fcinfo, const WcTableDesc *table, WcSlice row, int opno, const WcScan *scan,
		  WcCurrentCell *stored)
{
	WcColumnName column = wc_arg_column(fcinfo, 2, "check_col", table);
	WcSlice		expected = wc_slice(NULL, 0);
	const Operator *op = operator_argument(fcinfo, opno);

	if (!PG_ARGISNULL(3))
		expected = wc_arg_bytes(fcinfo, 3);
	wc_current_cell(table, row, &column, scan, stored);
	return holds(op, expected, stored);
}

/* check(tab, row, check_col, expected, op, time_range) */
Datum
widecol_check(PG_FUNCTION_ARGS)
{
	WcTableDesc *table = wc_arg_table_read_write(fcinfo, 0, ACL_INSERT | ACL_UPDATE | ACL_DELETE);
	WcSlice		row = wc_arg_row(fcinfo, 1);
	WcCurrentCell stored;
	WcScan		scan;

	wc_scan_init(&scan, table->id);
	wc_arg_time_range(fcinfo, 5, &scan);
	PG_RETURN_BOOL(check_row(fcinfo, table, row, 4, &scan, &stored));
}

/* check_and_put(tab, row, check_col, expected, col, value, op): what is put is
 * not dated before the cell that was checked. */
Datum
widecol_check_and_put(PG_FUNCTION_ARGS)
{
	WcTableDesc *table = wc_arg_table_read_write(fcinfo, 0, ACL_INSERT);
	WcSlice		row = wc_arg_row(fcinfo, 1);
	WcColumnName column = wc_arg_column(fcinfo, 4, "col", table);
	WcCurrentCell stored;
	WcScan		scan;

	wc_arg_not_null(fcinfo, 5, "value");
	wc_scan_init(&scan, table->id);
	if (!check_row(fcinfo, table, row, 6, &scan, &stored))
		PG_RETURN_BOOL(false);
	wc_put_one(table, row, &column, stored.ahead ? stored.ts : WC_TS_LATEST, 0, wc_arg_bytes(fcinfo, 5));
	PG_RETURN_BOOL(true);
}

/* check_and_delete(tab, row, check_col, expected, col, op): as delete, every
 * version up to now. */
Datum
widecol_check_and_delete(PG_FUNCTION_ARGS)
{
	WcTableDesc *table = wc_arg_table_read_write(fcinfo, 0, ACL_DELETE);
	WcSlice		row = wc_arg_row(fcinfo, 1);
	WcColumnName column = wc_arg_column(fcinfo, 4, "col", table);
	WcCurrentCell stored;
	WcScan		scan;

	wc_scan_init(&scan, table->id);
	if (!check_row(fcinfo, table, row, 5, &scan, &stored))
		PG_RETURN_BOOL(false);
	wc_delete_one(table, row, WC_DELETE_COLUMN, column.family, column.qualifier, WC_TS_LATEST);
	PG_RETURN_BOOL(true);
}
