/*
 * shell/data/check.c: conditional writes.
 *
 * Each locks the row to the end of the transaction, whatever the result, and compares with the newest state.
 * A write after a check that held, by the same function or by later statements of the transaction, is HBase's
 * checkAndMutate.  It needs the privilege to read the column that is checked, and the privileges for the write
 * (check itself: to write anything); shell/access.h.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "shell/access.h"

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
 * As in HBase: with no expected value, or an empty one, the check holds if there is no cell, or an empty one
 * (for every operator; <> negates it).  With another expected value it never holds for a missing cell.
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
check_row(FunctionCallInfo fcinfo, const WcAccess *access, WcSlice row, int opno, const WcScan *scan,
		  WcCurrentCell *stored)
{
	WcColumnName column = wc_access_column_argument(fcinfo, 2, "check_col", access, ACL_SELECT);
	WcSlice		expected = wc_slice(NULL, 0);
	const Operator *op = operator_argument(fcinfo, opno);

	if (!PG_ARGISNULL(3))
		expected = wc_arg_bytes(fcinfo, 3);
	wc_current_cell(access->table, row, &column, scan, stored);
	return holds(op, expected, stored);
}

/* check(tab, row, check_col, expected, op, time_range) */
Datum
widecol_check(PG_FUNCTION_ARGS)
{
	WcAccess	access;
	WcCurrentCell stored;
	WcSlice		row;
	WcScan		scan;
	bool		held;

	wc_access_open(fcinfo, &access, true, ACL_INSERT | ACL_UPDATE | ACL_DELETE);
	row = wc_access_row_argument(fcinfo, 1, &access);
	wc_scan_init(&scan, access.table->id);
	wc_arg_time_range(fcinfo, 5, &scan);
	held = check_row(fcinfo, &access, row, 4, &scan, &stored);
	wc_access_close(&access);
	PG_RETURN_BOOL(held);
}

/* check_and_put(tab, row, check_col, expected, col, value, op): the new cell's timestamp is not before that of
 * the cell that was checked. */
Datum
widecol_check_and_put(PG_FUNCTION_ARGS)
{
	WcAccess	access;
	WcColumnName column;
	WcCurrentCell stored;
	WcSlice		row;
	WcScan		scan;
	bool		held;

	wc_access_open(fcinfo, &access, true, ACL_INSERT);
	row = wc_access_row_argument(fcinfo, 1, &access);
	column = wc_access_column_argument(fcinfo, 4, "col", &access, ACL_INSERT);
	wc_arg_not_null(fcinfo, 5, "value");
	wc_scan_init(&scan, access.table->id);
	held = check_row(fcinfo, &access, row, 6, &scan, &stored);
	if (held)
		wc_put_one(access.table, row, &column, stored.ahead ? stored.ts : WC_TS_LATEST, 0, wc_arg_bytes(fcinfo, 5));
	wc_access_close(&access);
	PG_RETURN_BOOL(held);
}

/* check_and_delete(tab, row, check_col, expected, col, op): as delete, every
 * version up to now. */
Datum
widecol_check_and_delete(PG_FUNCTION_ARGS)
{
	WcAccess	access;
	WcColumnName column;
	WcCurrentCell stored;
	WcSlice		row;
	WcScan		scan;
	bool		held;

	wc_access_open(fcinfo, &access, true, ACL_DELETE);
	row = wc_access_row_argument(fcinfo, 1, &access);
	column = wc_access_column_argument(fcinfo, 4, "col", &access, ACL_DELETE);
	wc_scan_init(&scan, access.table->id);
	held = check_row(fcinfo, &access, row, 5, &scan, &stored);
	if (held)
		wc_delete_one(access.table, row, WC_DELETE_COLUMN, column.family, column.qualifier, WC_TS_LATEST);
	wc_access_close(&access);
	PG_RETURN_BOOL(held);
}
