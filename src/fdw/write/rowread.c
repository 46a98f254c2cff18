/*
 * fdw/write/rowread.c: reads of rows that writes need.
 */
#include "postgres.h"

#include "access/xact.h"

#include "fdw/write/rowread.h"

/* The command after the current one, which sees all own writes so far. */
static CommandId
all_own_writes(void)
{
	return GetCurrentCommandId(false) + 1;
}

static void
point_scan(WcScan *scan, WcRange *range, const WcRelation *wrel, WcSlice row)
{
	wc_scan_init(scan, wrel->desc->id);
	range->start = row;
	range->stop = row;
	range->start_inclusive = true;
	range->stop_inclusive = true;
	scan->nranges = 1;
	scan->ranges = range;
	scan->rows_by_existence = true;
	scan->nfamilies = wrel->nfamilies;
	scan->families = wrel->families;
	scan->row_limit = 1;
}

static WcSlice
copy_slice(WcSlice s)
{
	char	   *copy = MemoryContextAllocHuge(CurrentMemoryContext, Max(s.len, 1));

	if (s.len > 0)
		memcpy(copy, s.data, s.len);
	return wc_slice(copy, s.len);
}

WcCell *
wc_rowread_cells(const WcRelation *wrel, WcSlice row, const WcColumn *columns, int ncolumns,
				 WcClientSnapshot *snapshot, CommandId cid, int *ncells)
{
	WcColumn   *all = NULL;
	int			capacity = 16;
	WcCell	   *cells = palloc(sizeof(WcCell) * capacity);
	WcClientScan *client_scan;
	WcScan		scan;
	WcRange		range;
	WcSlice		found;
	WcCell		cell;
	uint32		colno;

	if (ncolumns == 0)
	{
		ncolumns = wrel->nfamilies;
		all = palloc0(sizeof(WcColumn) * ncolumns);
		for (int i = 0; i < ncolumns; i++)
		{
			all[i].family = wrel->families[i];
			all[i].kind = WC_COLUMN_FAMILY;
		}
		columns = all;
	}
	point_scan(&scan, &range, wrel, row);
	scan.ncolumns = ncolumns;
	scan.columns = unconstify(WcColumn *, columns);
	scan.want_ts = true;
	client_scan = wc_client_scan_open(&scan, snapshot ? snapshot : wc_client_snapshot(NULL),
									  snapshot ? cid : all_own_writes(), 1, CurrentMemoryContext);
	*ncells = 0;
	while (wc_client_next_row(client_scan, &found))
	{
		while (wc_client_next_cell(client_scan, &cell, &colno))
		{
			if (*ncells == capacity)
			{
				capacity *= 2;
				cells = repalloc_huge(cells, sizeof(WcCell) * capacity);
			}
			if (colno != WC_NO_COLUMN)
			{
				cell.family = columns[colno].family;
				cell.qualifier = columns[colno].qualifier;
			}
			cell.qualifier = copy_slice(cell.qualifier);
			cell.value = copy_slice(cell.value);
			cells[(*ncells)++] = cell;
		}
	}
	wc_client_scan_close(client_scan);
	return cells;
}

int64
wc_rowread_ttl_us(const WcRelation *wrel, WcSlice row, uint32 family, WcSlice qualifier, int64 ts,
			   WcClientSnapshot *snapshot, CommandId cid)
{
	WcColumn	column = {.family = family, .kind = WC_COLUMN_EXACT, .qualifier = qualifier};
	WcClientScan *client_scan;
	WcScan		scan;
	WcRange		range;
	WcSlice		found;
	WcCell		cell;
	uint32		colno;
	int64		ttl_us = 0;

	point_scan(&scan, &range, wrel, row);
	scan.ncolumns = 1;
	scan.columns = &column;
	scan.want_ts = true;
	scan.key_only = true;
	scan.versions = WC_VERSIONS_MAX;
	scan.ts_min = ts;
	scan.ts_max = ts < WC_TS_LATEST ? ts + 1 : WC_TS_LATEST;
	client_scan = wc_client_scan_open(&scan, snapshot, cid, 1, CurrentMemoryContext);
	if (wc_client_next_row(client_scan, &found) && wc_client_next_cell(client_scan, &cell, &colno))
		ttl_us = cell.ttl_us;
	wc_client_scan_close(client_scan);
	return ttl_us;
}

int64 *
wc_rowread_versions(const WcRelation *wrel, WcSlice row, uint32 family, WcSlice qualifier, int *nversions)
{
	WcColumn	column = {.family = family,.kind = WC_COLUMN_EXACT,.qualifier = qualifier};
	int			capacity = 8;
	int64	   *versions = palloc(sizeof(int64) * capacity);
	WcClientScan *client_scan;
	WcScan		scan;
	WcRange		range;
	WcSlice		found;
	WcCell		cell;
	uint32		colno;

	point_scan(&scan, &range, wrel, row);
	scan.ncolumns = 1;
	scan.columns = &column;
	scan.want_ts = true;
	scan.key_only = true;
	scan.versions = WC_VERSIONS_MAX;
	client_scan = wc_client_scan_open(&scan, wc_client_snapshot(NULL), all_own_writes(), 1, CurrentMemoryContext);
	*nversions = 0;
	while (wc_client_next_row(client_scan, &found))
	{
		while (wc_client_next_cell(client_scan, &cell, &colno))
		{
			if (*nversions == capacity)
			{
				capacity *= 2;
				versions = repalloc_huge(versions, sizeof(int64) * capacity);
			}
			versions[(*nversions)++] = cell.ts;
		}
	}
	wc_client_scan_close(client_scan);
	return versions;
}
