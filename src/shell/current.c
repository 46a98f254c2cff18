/*
 * shell/current.c: a cell as it is now, for functions that compute from it.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/snapmgr.h"

#include "base/clock.h"
#include "shell/shell.h"

/* The newest version of the scan's one column. */
static void
read_cell(const WcScan *scan, WcClientSnapshot *at, WcCurrentCell *current)
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
		 * What has its commit's timestamp, or will have this one's, is not ahead
		 * of this commit, whatever the clock says.
		 */
		current->ahead = cell.ts != cell.seq && cell.ts >= wc_clock_wall_us();
	}
	wc_client_scan_close(rows);
}

static bool
same_cell(const WcCurrentCell *a, const WcCurrentCell *b)
{
	return a->found == b->found && wc_slice_eq(a->value, b->value);
}

void
wc_current_cell(const WcTableDesc *table, WcSlice row, const WcColumnName *name,
				const WcScan *scan, WcCurrentCell *current)
{
	WcRange		range = {.start = row,.stop = row,.start_inclusive = true,.stop_inclusive = true};
	WcColumn	column = {.family = name->family,.kind = WC_COLUMN_EXACT,.qualifier = name->qualifier};
	WcScan		one = *scan;
	WcClientSnapshot *then = NULL;

	one.nranges = 1;
	one.ranges = &range;
	one.ncolumns = 1;
	one.columns = &column;
	one.row_limit = 1;
	one.want_ts = true;

	/* What others commit while we wait for the row is not in the snapshot. */
	if (IsolationUsesXactSnapshot())
	{
		then = wc_client_snapshot(GetActiveSnapshot());
		wc_client_snapshot_take(then);
	}
	wc_client_lock_row(table, row);
	read_cell(&one, wc_client_snapshot(NULL), current);
	if (then != NULL)
	{
		WcCurrentCell before;

		read_cell(&one, then, &before);
		if (!same_cell(&before, current))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not serialize access due to concurrent update")));
	}
}
