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

int64 *
wc_rowread_versions(const WcRelation *wrel, WcSlice row, uint32 family, WcSlice qualifier, int *nversions, int *nupto_own)
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
	scan.rows_by_existence = false; /* that would read other columns, if the row has none of this one */
	scan.nfamilies = 0;
	scan.ncolumns = 1;
	scan.columns = &column;
	scan.want_ts = true;
	scan.key_only = true;
	scan.versions = WC_VERSIONS_MAX;
	scan.uncapped = true;
	client_scan = wc_client_scan_open(&scan, wc_client_snapshot(NULL), all_own_writes(), 1, CurrentMemoryContext);
	*nversions = *nupto_own = 0;
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
			if (wc_client_cell_provisional(client_scan) && wc_client_store_is_embedded(wrel->store))
				*nupto_own = *nversions;
		}
	}
	wc_client_scan_close(client_scan);
	return versions;
}

/* --- times to live ------------------------------------------------------------ */

struct WcTtlReader
{
	const WcRelation *wrel;
	CommandId	cid;
	MemoryContext context;
	WcBuf		row;			/* the cell that was asked for last is of this row ... */
	uint32		family;			/* ... and this family */
	WcClientScan *scan;			/* the rest of that family; NULL: it is not being read */
	bool		in_row;			/* the scan has begun the row, and cell is its next cell */
	WcCell		cell;
	MemoryContextCallback cleanup;
};

static void
free_ttlreader(void *arg)
{
	wc_buf_free(&((WcTtlReader *) arg)->row);
}

WcTtlReader *
wc_ttlreader_create(const WcRelation *wrel, CommandId cid, MemoryContext context)
{
	WcTtlReader *reader = MemoryContextAllocZero(context, sizeof(WcTtlReader));

	reader->wrel = wrel;
	reader->cid = cid;
	reader->context = context;
	wc_buf_init(&reader->row, WC_ROW_MAX);
	reader->cleanup.func = free_ttlreader;
	reader->cleanup.arg = reader;
	MemoryContextRegisterResetCallback(context, &reader->cleanup);
	return reader;
}

static void
next_ttl(WcTtlReader *reader)
{
	uint32		colno;

	reader->in_row = wc_client_next_cell(reader->scan, &reader->cell, &colno);
}

static WcClientScan *
open_ttls(const WcTtlReader *reader, WcColumn *column, int64 ts_min, int64 ts_max)
{
	WcScan		scan;
	WcRange		range;

	point_scan(&scan, &range, reader->wrel, wc_buf_slice(&reader->row));
	scan.rows_by_existence = false;
	scan.nfamilies = 0;
	scan.ncolumns = 1;
	scan.columns = column;
	scan.want_ts = true;
	scan.key_only = true;
	scan.versions = WC_VERSIONS_MAX;
	scan.ts_min = ts_min;
	scan.ts_max = ts_max;
	return wc_client_scan_open(&scan, wc_client_snapshot(NULL), reader->cid, 1, reader->context);
}

static void
close_rest(WcTtlReader *reader)
{
	if (reader->scan != NULL)
		wc_client_scan_close(reader->scan);
	reader->scan = NULL;
	reader->in_row = false;
}

/* Reads the family from this qualifier on. */
static void
open_rest(WcTtlReader *reader, WcSlice qualifier)
{
	WcColumn	column = {.family = reader->family, .kind = WC_COLUMN_RANGE, .qualifier = qualifier};
	WcSlice		found;

	close_rest(reader);
	reader->scan = open_ttls(reader, &column, 0, WC_TS_LATEST);
	if (wc_client_next_row(reader->scan, &found))
		next_ttl(reader);
}

/* In order of a family's cells: qualifier ascending, timestamp descending. */
static int
compare_next(const WcTtlReader *reader, WcSlice qualifier, int64 ts)
{
	int			c = wc_slice_cmp(reader->cell.qualifier, qualifier);

	if (c != 0)
		return c;
	return reader->cell.ts > ts ? -1 : reader->cell.ts < ts;
}

/* The cell is asked for by its timestamp only: it may be one of many versions. */
static bool
find_alone(WcTtlReader *reader, WcSlice qualifier, int64 ts, int64 *ttl_us)
{
	WcColumn	column = {.family = reader->family, .kind = WC_COLUMN_EXACT, .qualifier = qualifier};
	WcClientScan *scan = open_ttls(reader, &column, ts, ts < WC_TS_LATEST ? ts + 1 : WC_TS_LATEST);
	WcSlice		found;
	WcCell		cell;
	uint32		colno;
	bool		any = wc_client_next_row(scan, &found) && wc_client_next_cell(scan, &cell, &colno);

	*ttl_us = any ? cell.ttl_us : 0;
	wc_client_scan_close(scan);
	return any;
}

bool
wc_ttlreader_find(WcTtlReader *reader, WcSlice row, uint32 family, WcSlice qualifier, int64 ts, int64 *ttl_us)
{
	int			c = 1;

	if (reader->family != family || !wc_slice_eq(wc_buf_slice(&reader->row), row))
	{
		close_rest(reader);
		reader->family = family;
		wc_buf_reset(&reader->row, WC_ROW_MAX);
		wc_buf_append_slice(&reader->row, row);
		if (reader->row.failed)
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory")));
		return find_alone(reader, qualifier, ts, ttl_us);
	}
	if (!reader->in_row || compare_next(reader, qualifier, ts) > 0)
		open_rest(reader, qualifier);
	while (reader->in_row && (c = compare_next(reader, qualifier, ts)) < 0)
		next_ttl(reader);
	*ttl_us = c == 0 ? reader->cell.ttl_us : 0;
	return c == 0;
}
