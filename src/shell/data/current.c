/*
 * shell/data/current.c: a cell as it is now, for functions that compute from it.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/snapmgr.h"

#include "shell/shell.h"

/* The newest version of the scan's one column. */
static void
read_cell(const WcTableDesc *table, const WcScan *scan, WcClientSnapshot *at, WcCurrentCell *current)
{
	/* the command after this one sees all that was written so far */
	WcClientScan *rows = wc_client_scan_open(scan, at, GetCurrentCommandId(true) + 1, 1, CurrentMemoryContext);
	WcSlice		row;
	WcCell		cell;
	uint32		colno;

	memset(current, 0, sizeof(*current));
	if (wc_client_next_row(rows, &row) && wc_client_next_cell(rows, &cell, &colno))
	{
		char	   *value = palloc(cell.value.len + 1);

		if (cell.value.len > 0)
			memcpy(value, cell.value.data, cell.value.len);
		current->found = true;
		current->ts = cell.ts;
		current->ttl_us = cell.ttl_us;
		current->value = wc_slice(value, cell.value.len);

		/*
		 * A cell with the timestamp of its own commit, or of this one, is not ahead of this commit, whatever
		 * the clock is.
		 */
		current->ahead = wc_client_ts_ahead(table, cell.ts, &current->after) && cell.ts != cell.seq;
	}
	wc_client_scan_close(rows);
}

void
wc_current_cell(const WcTableDesc *table, WcSlice row, const WcColumnName *name,
				const WcScan *scan, WcCurrentCell *current)
{
	WcRange		range = {.start = row,.stop = row,.start_inclusive = true,.stop_inclusive = true};
	WcColumn	column = {.family = name->family,.kind = WC_COLUMN_EXACT,.qualifier = name->qualifier};
	WcScan		one = *scan;
	WcRowLockRequest lock = {.table = table,.mode = WC_LOCK_EXCLUSIVE,.wait_policy = LockWaitBlock};
	WcRowLock	locked = {.row = row};

	one.nranges = 1;
	one.ranges = &range;
	one.ncolumns = 1;
	one.columns = &column;
	one.row_limit = 1;
	one.want_ts = true;

	if (IsolationUsesXactSnapshot())
		lock.snapshot = wc_client_snapshot(GetActiveSnapshot());
	wc_client_lock_rows(&lock, &locked, 1);
	read_cell(table, &one, wc_client_snapshot(NULL), current);
	if (scan->ts_min == 0 && scan->ts_max == WC_TS_LATEST)
		wc_client_expect(table, row, name->family, name->qualifier, current->value);
}
