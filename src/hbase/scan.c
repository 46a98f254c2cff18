/*
 * hbase/scan.c: scans of HBase tables.
 *
 * read/ makes the result of a scan, as in the engine, from cells that HBase sends.  HBase has decided
 * which cells are visible.  Conditions that HBase does not get, such as most filters, are evaluated in this
 * process.
 */
#include "hbase/filter.h"
#include "hbase/rows.h"

#include <stdlib.h>

#include "access/xact.h"

#include "base/clock.h"
#include "read/scan/scanner.h"

/* A family, for read/. */
struct WcStore
{
	WcHBaseReader *reader;
	uint32		place;			/* in the table */
};

/* HBase has no snapshots: each answer shows the state at its time. */
struct WcSnapshot
{
	int			nothing;
};

static WcSnapshot now_only;

/* The driver's part of a WcDriverScan. */
typedef struct HBaseScan
{
	WcStorage	storage;		/* first */
	WcArena		arena;			/* of the fields below, except the scanner */
	WcScan		scan;
	WcTable		table;
	WcHBaseReader reader;
	WcScanner  *scanner;
	size_t		target;			/* target size of the next block in bytes */
} HBaseScan;

/* --- the storage ------------------------------------------------------------*/

static WcStatus
open_table(WcStorage *storage, const WcReadPoint *at, uint32_t table_id, WcTable **table, bool *base_hidden, WcError *err)
{
	*table = &((HBaseScan *) storage)->table;
	*base_hidden = false;
	return WC_OK;
}

static void
close_table(WcTable *table)
{
}

static bool
is_committed(WcStorage *storage, uint32_t table_id)
{
	return true;
}

static WcSnapshot *
take_snapshot(WcStorage *storage)
{
	return &now_only;
}

static void
release_snapshot(WcStorage *storage, WcSnapshot *snapshot)
{
}

static uint64_t
moment(const WcSnapshot *snapshot)
{
	return 0;
}

static int64_t
now(WcStorage *storage)
{
	return wc_clock_wall_us();
}

static WcStatus
open_source(WcStore *store, const WcSourceOptions *options, WcCellSource **src, WcError *err)
{
	return wc_hbase_rows_source(store->reader, store->place, options, src, err);
}

static WcReadMeter
meter(void)
{
	return (WcReadMeter) {0};
}

static void
count(const WcTable *table, uint32_t family, const WcReadCounts *counts)
{
}

/* check_scan refuses scans as of a past time, so read/ does not call the functions of histories. */
static const WcStorageOps storage_ops = {
	.open_table = open_table,
	.close_table = close_table,
	.is_committed = is_committed,
	.take_snapshot = take_snapshot,
	.release_snapshot = release_snapshot,
	.moment = moment,
	.now = now,
	.provisional_ts = now,
	.open_source = open_source,
	.meter = meter,
	.count = count
};

/* --- opening ----------------------------------------------------------------*/

static void
check_scan(const WcDriverOpen *open, const WcHBaseTable *table)
{
	if (open->scan->as_of_ts != WC_TS_LATEST)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" of HBase cannot be read as of an earlier time", table->name),
				 errhint("RESET widecol.read_timestamp reads it as it is.")));
	if (IsolationUsesXactSnapshot() && !table->server->options.any_isolation)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" of HBase cannot be read in a transaction with isolation level %s", table->name,
						IsolationIsSerializable() ? "SERIALIZABLE" : "REPEATABLE READ"),
				 errdetail("HBase has no snapshots: two scans of a transaction may see different states."),
				 errhint("Use READ COMMITTED, or set option \"isolation\" of the server to 'none'.")));
}

/* Copies the scan and all that it points to, which belong to the caller. */
static WcStatus
copy_scan(HBaseScan *h, const WcScan *scan, WcError *err)
{
	WcBuf		bytes = WC_BUF_INIT;
	WcSlice		copy;
	WcStatus	status;

	wc_scan_encode(&bytes, scan);
	status = wc_buf_status(&bytes, "scan", err);
	copy = wc_arena_copy(&h->arena, wc_buf_slice(&bytes));
	wc_buf_free(&bytes);
	if (status != WC_OK)
		return status;
	if (copy.data == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	return wc_scan_decode(copy, &h->arena, &h->scan, err);
}

/* Makes the table description for read/: HBase has decided which cells are visible. */
static WcStatus
make_table(HBaseScan *h, WcHBaseTable *table, WcError *err)
{
	WcTableDesc *desc = &h->table.desc;
	WcStore    *stores;

	desc->id = table->id;
	desc->name = wc_slice_cstr(table->name);
	desc->ns = wc_slice_cstr(WC_NAMESPACE_DEFAULT);
	desc->families = wc_arena_alloc_zero(&h->arena, sizeof(WcFamilyDesc) * (table->nfamilies + 1));
	h->table.stores = wc_arena_alloc_zero(&h->arena, sizeof(WcStore *) * (table->nfamilies + 1));
	stores = wc_arena_alloc_zero(&h->arena, sizeof(WcStore) * (table->nfamilies + 1));
	if (desc->families == NULL || h->table.stores == NULL || stores == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	for (int i = 0; i < table->nfamilies && desc->nfamilies < WC_FAMILIES_MAX; i++)
	{
		uint32		place = desc->nfamilies;
		WcFamilyDesc *family = &desc->families[place];

		if (!table->families[i].present)
			continue;
		family->id = (uint32) i + 1;
		family->name = wc_slice_cstr(table->families[i].name);
		family->attrs = wc_family_attrs_default;
		family->attrs.versions = WC_VERSIONS_MAX;
		stores[place] = (WcStore) {.reader = &h->reader,.place = place};
		h->table.stores[place] = &stores[place];
		desc->nfamilies++;
	}
	return WC_OK;
}

/* The number of rows that will be wanted; 0: unknown. */
static uint64
rows_wanted(const WcScan *scan, uint64 hint)
{
	if (scan->row_limit > 0 && scan->filter == NULL && !scan->count_cells)
		return scan->row_limit + scan->row_offset;
	return hint;
}

void
wc_hbase_scan_open(WcDriverScan *scan, const WcDriverOpen *open)
{
	WcHBaseTable *table = wc_hbase_table_by_id(open->scan->table_id);
	WcReadPoint at = {0};
	WcStatus	status;
	HBaseScan  *h;
	WcError		err;

	memset(scan, 0, sizeof(*scan));
	(void) wc_hbase_server(table->server->oid); /* reads changed options */
	check_scan(open, table);
	h = calloc(1, sizeof(HBaseScan));
	if (h == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	scan->own = h;
	h->storage.ops = &storage_ops;
	h->target = WC_BLOCK_FIRST;
	status = copy_scan(h, open->scan, &err);
	if (status == WC_OK)
		status = make_table(h, table, &err);
	h->reader.table = table;
	h->reader.desc = &h->table.desc;
	h->reader.scan = &h->scan;
	h->reader.rows_hint = rows_wanted(&h->scan, open->rows_hint);
	if (status == WC_OK)
	{
		wc_hbase_filter(&h->reader, &h->reader.filter);
		status = wc_buf_status(&h->reader.filter, "filter", &err);
	}
	if (status == WC_OK)
		status = wc_scanner_open(&h->storage, &h->scan, &at, &h->scanner, &err);
	if (status != WC_OK)
		wc_hbase_raise(&err);
}

/* --- reading ----------------------------------------------------------------*/

static void
set_stats(WcDriverScan *scan)
{
	HBaseScan  *h = scan->own;
	WcScanStats stats;

	wc_scanner_stats(h->scanner, &stats);
	scan->stats = (WcClientScanStats) {
		.rows = stats.rows_returned,.rows_examined = stats.rows_examined,.rows_filtered = stats.rows_filtered,
		.cells_examined = stats.cells_examined,.seeks = h->reader.calls,.batches = scan->batches
	};
}

bool
wc_hbase_scan_next(WcDriverScan *scan)
{
	HBaseScan  *h = scan->own;
	WcStatus	status;
	WcError		err;

	if (scan->complete)
		return false;
	wc_buf_reset(&scan->block, 2 * WC_BLOCK_MAX);
	status = wc_scanner_next(h->scanner, &scan->block, h->target, 0, &err);
	if (status != WC_OK && status != WC_END)
		wc_hbase_raise(&err);
	scan->block_len = scan->block.len;
	scan->complete = status == WC_END;
	scan->batches++;
	h->target = Min(4 * h->target, WC_BLOCK_MAX);
	set_stats(scan);
	return true;
}

void
wc_hbase_scan_stats(WcDriverScan *scan)
{
	if (scan->own != NULL)
		set_stats(scan);
}

void
wc_hbase_scan_close(WcDriverScan *scan)
{
	HBaseScan  *h = scan->own;

	scan->own = NULL;
	wc_buf_free(&scan->block);
	if (h == NULL)
		return;
	wc_scanner_close(h->scanner);
	wc_hbase_rows_free(&h->reader);
	wc_arena_free(&h->arena);
	free(h);
}
