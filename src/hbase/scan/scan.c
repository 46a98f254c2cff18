/*
 * hbase/scan/scan.c: scans of HBase tables.
 *
 * read/ makes the result of a scan, as in the engine, from cells that HBase sends.  HBase has decided
 * which cells are visible.  Conditions that HBase does not get, such as most filters, are evaluated in this
 * process.
 */
#include "hbase/scan/scan.h"

#include <stdlib.h>

#include "base/clock.h"
#include "hbase/catalog/catalog.h"
#include "hbase/catalog/tablechange.h"
#include "hbase/changes/changes.h"
#include "hbase/scan/filter.h"
#include "read/scan/scanner.h"
#include "read/txn/txn.h"

/* A family, for read/. */
struct WcStore
{
	struct HBaseScan *scan;
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
	WcScanner  *scanner;		/* NULL also when the transaction has ended */
	size_t		target;			/* target size of the next block in bytes */
	WcTxn	   *txn;			/* the transaction's changes, which are merged in; NULL: none */
	dlist_node	node;			/* in `opened` */
	bool		complete;		/* all rows have been read */
} HBaseScan;

static dlist_head opened = DLIST_STATIC_INIT(opened);

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

/* Without bounds: for the rows that the transaction has changed. */
static WcStatus
open_source(WcStore *store, const WcSourceOptions *options, WcCellSource **src, WcError *err)
{
	HBaseScan  *h = store->scan;

	if (options->bounds == NULL)
		return wc_hbase_changed_source(&h->reader, h->txn, store->place, src, err);
	return wc_hbase_rows_source(&h->reader, store->place, options, src, err);
}

static int64_t
provisional_ts(WcStorage *storage)
{
	return wc_hbase_provisional_ts(((HBaseScan *) storage)->reader.table->server);
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
	.provisional_ts = provisional_ts,
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
	if (wc_hbase_table_state(table) == WC_HBASE_ALTERED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" of HBase cannot be read by the transaction that alters it", table->name),
				 errdetail("HBase gets changes of tables at COMMIT.")));
	wc_hbase_require_isolation(table, "read");
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
	status = wc_scan_decode(copy, &h->arena, &h->scan, err);
	if (status == WC_OK)
		wc_scan_shorten_bounds(&h->scan, WC_HBASE_KEY_MAX);
	return status;
}

/* Makes the picture of the table for read/. */
static WcStatus
make_table(HBaseScan *h, WcHBaseTable *table, WcError *err)
{
	WcTableDesc *desc = &h->table.desc;
	WcStatus	status = wc_hbase_read_desc(table, h->reader.merged, &h->arena, desc, err);
	WcStore    *stores;

	if (status != WC_OK)
		return status;
	h->table.stores = wc_arena_alloc_zero(&h->arena, sizeof(WcStore *) * (desc->nfamilies + 1));
	stores = wc_arena_alloc_zero(&h->arena, sizeof(WcStore) * (desc->nfamilies + 1));
	if (h->table.stores == NULL || stores == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		stores[i] = (WcStore) {.scan = h,.place = i};
		h->table.stores[i] = &stores[i];
	}
	return WC_OK;
}

/*
 * Does the scan need markers and the cells that HBase does not show?  Not if a time to live hides cells, and timestamps
 * are numbers: then only HBase knows how old a cell is.
 */
static bool
needs_hidden(const WcHBaseReader *reader)
{
	const WcHBaseTable *table = reader->table;
	bool		known = true;

	for (int i = 0; i < table->nfamilies && table->server->options.raw_timestamps; i++)
		known &= table->families[i].attrs.ttl_us == 0;
	return reader->merged && !reader->scan->raw && known && (reader->scan->uncapped || wc_hbase_changes_are_dated());
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
	WcReadPoint at = {.cid = open->cid};
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
	dlist_push_tail(&opened, &h->node);
	h->reader.table = table;
	h->txn = at.txn = wc_hbase_changes_of(table->id, open->cid);
	h->storage.ops = &storage_ops;
	h->target = WC_BLOCK_FIRST;
	status = copy_scan(h, open->scan, &err);
	h->reader.merged = h->txn != NULL || h->scan.uncapped;	/* HBase caps versions, too */
	if (status == WC_OK)
		status = make_table(h, table, &err);
	h->reader.desc = &h->table.desc;
	h->reader.scan = &h->scan;
	h->reader.hidden = needs_hidden(&h->reader);
	h->reader.rows_hint = rows_wanted(&h->scan, open->rows_hint);
	if (status == WC_OK && !h->reader.merged)
	{
		wc_hbase_filter(&h->reader, &h->reader.filter);
		if (h->scan.filter_text.len > 0 && h->reader.filter.len == 0)
			status = wc_hbase_text_filter(&h->reader, &h->reader.filter, &err);
		if (status == WC_OK)
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
	if (h->scanner == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("the transaction whose changes a scan of HBase reads has ended")));
	wc_buf_reset(&scan->block, 2 * WC_BLOCK_MAX);
	status = wc_scanner_next(h->scanner, &scan->block, h->target, 0, &err);
	if (status != WC_OK && status != WC_END)
		wc_hbase_raise(&err);
	scan->block_len = scan->block.len;
	scan->complete = h->complete = status == WC_END;
	scan->batches++;
	h->target = Min(4 * h->target, WC_BLOCK_MAX);
	set_stats(scan);
	return true;
}

bool
wc_hbase_scan_ready(WcDriverScan *scan, WcClientWait *wait)
{
	HBaseScan  *h = scan->own;
	const WcHBaseConnection *c;
	bool		own;
	WcError		err;

	if (scan->complete || h->scanner == NULL)
		return true;
	if (wc_hbase_rows_ahead(&h->reader, &c, &own, &err) != WC_OK)
		wc_hbase_raise(&err);
	if (c == NULL || c->ahead->deadline <= wc_clock_monotonic_us() / 1000)
		return true;
	*wait = (WcClientWait) {.socket = c->socket,.own = own,.until_ms = c->ahead->deadline};
	return false;
}

void
wc_hbase_scan_stats(WcDriverScan *scan)
{
	HBaseScan  *h = scan->own;

	if (h != NULL && h->scanner != NULL)
		set_stats(scan);
}

/* Frees what reads rows, and the transaction's changes. */
static void
end_scanner(HBaseScan *h)
{
	wc_scanner_close(h->scanner);
	h->scanner = NULL;
	wc_hbase_rows_free(&h->reader);
	h->txn = NULL;
}

void
wc_hbase_scan_close(WcDriverScan *scan)
{
	HBaseScan  *h = scan->own;

	scan->own = NULL;
	wc_buf_free(&scan->block);
	if (h == NULL)
		return;
	end_scanner(h);
	dlist_delete(&h->node);
	wc_arena_free(&h->arena);
	free(h);
}

void
wc_hbase_scans_forget(void)
{
	dlist_iter	iter;

	dlist_foreach(iter, &opened)
	{
		HBaseScan  *h = dlist_container(HBaseScan, node, iter.cur);

		if (h->txn != NULL)
			end_scanner(h);
	}
}

bool
wc_hbase_scans_need(WcTxn *txn)
{
	dlist_iter	iter;

	dlist_foreach(iter, &opened)
	{
		const HBaseScan *h = dlist_container(HBaseScan, node, iter.cur);

		if (h->txn == txn || (!h->complete && h->scanner != NULL && wc_txn_touches(txn, h->reader.table->id, InvalidCommandId)))
			return true;
	}
	return false;
}
