/*
 * client/scanner.c: scans: blocks in, rows and cells out.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "channel/flight.h"
#include "client/settings.h"
#include "client/state.h"

struct WcClientScan
{
	const WcDriver *at;			/* the driver of the table's store */
	WcDriverScan driver;
	WcBlockReader reader;
	bool		in_row;			/* the next cells belong to the row returned last */
	bool		row_read;		/* the start of the next row, `row`, has been read already */
	WcSlice		row;			/* the next row's key */
	WcSlice		given;			/* the key of the row returned last */
	bool		undecided;		/* the filter could not decide on this row */
	uint64		owed;			/* wc_client_rows_owed for this row */
	WcBuf		kept_row;		/* copy of the current row's key, when the row may continue in the next block */
	MemoryContext context;		/* of this scan alone */
	bool		closed;
	MemoryContextCallback cleanup;
};

static void
close_scan(void *arg)
{
	WcClientScan *scan = arg;

	if (scan->closed)
		return;
	scan->closed = true;
	scan->at->scan_close(&scan->driver);
	wc_buf_free(&scan->kept_row);
}

static void
open_block(WcClientScan *scan)
{
	WcError		err;

	if (wc_block_open(&scan->reader, wc_slice(scan->driver.block.data, scan->driver.block_len), &err) != WC_OK)
		wc_raise(&err);
}

/* Makes the next block the current one; false when there is none. */
static bool
next_block(WcClientScan *scan)
{
	CHECK_FOR_INTERRUPTS();
	if (scan->reader.end || !scan->at->scan_next(&scan->driver))
		return false;
	open_block(scan);
	return true;
}

/* A nested loop opens a scan for each row, so closing a scan frees its memory.  The end of the memory
 * context closes the scan, also after an error. */
static WcClientScan *
make_scan(const WcDriver *driver, MemoryContext context)
{
	MemoryContext own = AllocSetContextCreate(context, "widecol scan", ALLOCSET_SMALL_SIZES);
	WcClientScan *s = MemoryContextAllocZero(own, sizeof(WcClientScan));

	s->at = driver;
	s->context = own;
	s->cleanup.func = close_scan;
	s->cleanup.arg = s;
	MemoryContextRegisterResetCallback(own, &s->cleanup);
	return s;					/* the zeroed reader has no block yet */
}

WcClientScan *
wc_scan_take(const WcScan *scan, const WcDriverLocker *locker, bool keep, CommandId cid, MemoryContext context,
			 WcTakeResult *result)
{
	WcClientScan *s = make_scan(wc_driver(), context);
	WcDriverOpen open = {.scan = scan,.cid = cid,.clock_offset_us = wc_client_clock_offset_us(),.keep = keep,.rows_hint = 1};

	if (s->at->scan_take(&s->driver, &open, locker, result))
		return s;
	wc_client_scan_close(s);
	return NULL;
}

/* May the driver have changes of the transaction, perhaps rolled back, of rows of the scan? */
static bool
may_see_own(const WcScan *scan)
{
	WcExtent	written;
	WcExtent	read;

	if (wc_batch_is_stale())
		return true;
	if (wc_batch_empty())
		return false;
	if (scan->nranges == 1 && wc_range_is_point(&scan->ranges[0]))
		return wc_batch_may_write(scan->table_id, scan->ranges[0].start);
	written = wc_batch_extent();
	read = wc_extent_of_scan(scan);
	return wc_extents_overlap(&written, &read);
}

/* After a request of scan_beside that was in vain the next ones are left out, up to so many. */
#define LEFT_OUT_MAX 63

/* The rows in the scan's block, of which none has been read. */
static uint64
count_rows(const WcClientScan *scan)
{
	WcBlockReader reader = scan->reader;
	WcBlockEntry entry;
	WcSlice		row;
	WcCell		cell;
	uint32		colno;
	uint64		n = 0;

	while ((entry = wc_block_next(&reader, &row, &cell, &colno)) == WC_BLOCK_ROW || entry == WC_BLOCK_CELL)
		n += entry == WC_BLOCK_ROW;
	return n;
}

/*
 * Reads the scan's rows as far as its limit, in the newest state but without those of `written`.  NULL: there may be rows of
 * `written` among them.
 */
static WcClientScan *
scan_beside(const WcDriverOpen *open, const WcExtent *written, MemoryContext context)
{
	static int	in_vain;		/* so many are left out after the last request that was in vain, if none was useful since */
	static int	left_out;		/* of these, still */
	WcScan		scan = *open->scan;
	WcDriverOpen to = *open;
	uint8_t		bound[WC_EXTENT_KEY];
	WcRange		range = {.start = {NULL, 0}};
	WcClientScan *s;

	if (scan.row_limit == 0 || scan.nranges > 1 || scan.count_cells || scan.distinct_parts > 0 || scan.filter != NULL ||
		scan.filter_text.len > 0)
		return NULL;
	if (scan.nranges == 1)
		range = scan.ranges[0];
	if (!wc_extent_cut_range(written, scan.reversed, &range, bound))
		return NULL;
	if (left_out > 0)
	{
		left_out--;
		return NULL;
	}
	scan.nranges = 1;
	scan.ranges = &range;
	to.scan = &scan;
	s = make_scan(wc_driver_of(scan.table_id), context);
	s->at->scan_open(&s->driver, &to);
	if (next_block(s) && s->driver.complete && count_rows(s) == scan.row_limit)
	{
		in_vain = 0;
		return s;
	}
	wc_client_scan_close(s);
	left_out = in_vain = Min(2 * in_vain + 1, LEFT_OUT_MAX);
	return NULL;
}

/* The driver's block has the whole answer. */
static void
begin_answer(WcClientScan *s)
{
	if (s->driver.block.failed)
		wc_raise_no_memory();
	s->driver.block_len = s->driver.block.len;
	s->driver.complete = true;
	open_block(s);
}

/* A scan whose answer the session knows, without the driver; NULL: it does not. */
static WcClientScan *
scan_own(const WcScan *scan, uint64 snapshot, CommandId cid, MemoryContext context)
{
	static WcBuf block = WC_BUF_INIT;
	WcClientScan *s;

	wc_buf_reset(&block, WC_BATCH_CHUNK);
	if (wc_driver_of(scan->table_id) != wc_driver() || wc_client_read_timestamp() != WC_TS_LATEST ||
		!wc_batch_find_own(scan, snapshot, cid, &block) || block.failed)
		return NULL;
	s = make_scan(wc_driver(), context);
	wc_buf_append_slice(&s->driver.block, wc_buf_slice(&block));
	begin_answer(s);
	return s;
}

WcClientScan *
wc_scan_own(const WcScan *scan, CommandId cid, MemoryContext context)
{
	return scan_own(scan, 0, cid, context);
}

void
wc_scan_note_own(WcClientScan *s, const WcTableDesc *table, const WcScan *scan)
{
	if (!s->row_read)
		s->row_read = wc_client_next_row(s, &s->row);
	if (s->row_read && s->driver.complete)
		wc_own_note(table, scan, wc_slice(s->driver.block.data, s->driver.block_len), 0);
}

static bool
answers(const void *scan, const WcScan *get, WcSlice answer)
{
	return wc_own_answers(get, scan);
}

/* A Get of a row that a commit has changed that is not applied yet, but has left the row; NULL: it has not. */
static WcClientScan *
scan_unapplied(const WcDriverOpen *open, MemoryContext context)
{
	static WcBuf block = WC_BUF_INIT;
	WcDriverClaim claim = {.takes_over = answers,.arg = open->scan};
	WcClientScan *s;

	wc_buf_reset(&block, WC_BATCH_CHUNK);
	if (!wc_driver()->find_unapplied(open, &claim) || !wc_own_convert(claim.taken_over, claim.answer, open->scan, &block) ||
		block.failed)
		return NULL;
	s = make_scan(wc_driver(), context);
	wc_buf_append_slice(&s->driver.block, wc_buf_slice(&block));
	begin_answer(s);
	return s;
}

WcClientScan *
wc_client_scan_quiet(const WcScan *scan, CommandId cid, uint64 rows_hint, MemoryContext context)
{
	const WcDriver *driver = wc_driver_of(scan->table_id);
	WcDriverOpen open = {
		.scan = scan,.cid = cid,.clock_offset_us = wc_client_clock_offset_us(),.quiet = true,.rows_hint = rows_hint
	};
	WcExtent	written;
	WcClientScan *s;

	if (driver->is_quiet == NULL || wc_client_read_timestamp() != WC_TS_LATEST || RecoveryInProgress())
		return NULL;
	if (may_see_own(scan))
		return scan_own(scan, 0, cid, context);
	wc_xact_join();
	wc_following_await_catalog(MyDatabaseId);
	if (!driver->is_quiet(&open, &written))
		return (s = scan_unapplied(&open, context)) != NULL ? s : scan_beside(&open, &written, context);
	s = make_scan(driver, context);
	driver->scan_open(&s->driver, &open);
	return s;
}

/* The answer to a Get of a row without columns. */
static void
answer_with_row(WcClientScan *s, WcSlice row)
{
	WcBlockWriter w;

	wc_block_begin(&w, &s->driver.block, false);
	wc_block_row(&w, row, false);
	wc_block_finish(&w, false, true);
	begin_answer(s);
}

static bool
has_row(WcSlice answer)
{
	WcBlockReader reader;
	WcSlice		row;
	WcCell		cell;
	uint32		colno;
	WcError		err;

	if (wc_block_open(&reader, answer, &err) != WC_OK)
		wc_raise(&err);
	return wc_block_next(&reader, &row, &cell, &colno) == WC_BLOCK_ROW;
}

/* The scan of a row that was taken over: it is answered as one of a row that the transaction has changed. */
static WcClientScan *
scan_taken_over(const WcTableDesc *table, const WcScan *scan, const WcDriverClaim *claim, CommandId cid, MemoryContext context)
{
	WcClientScan *s;

	wc_own_note(table, claim->taken_over, claim->answer, claim->follows);
	s = scan_own(scan, 0, cid, context);
	if (s == NULL)
	{
		wc_own_forget();		/* the row is not locked any more */
		wc_driver()->claim_end(false);
	}
	return s;
}

WcClientScan *
wc_scan_claim(const WcTableDesc *table, const WcScan *scan, const WcDriverLocker *locker, CommandId cid, MemoryContext context,
			  bool *keep, WcTakeResult *result)
{
	WcDriverOpen open = {.scan = scan,.clock_offset_us = wc_client_clock_offset_us()};
	WcDriverClaim claim = {
		.held = wc_rows_held(scan->table_id, scan->ranges[0].start, locker->mode),.arg = scan,
		.takes_over = locker->mode >= WC_LOCK_NO_KEY_UPDATE ? answers : NULL	/* else others may change the row */
	};
	WcClientScan *s;

	memset(result, 0, sizeof(*result));
	if (!wc_driver()->claim(&open, locker, &claim))
	{
		*keep = claim.wanted;
		result->there = claim.holder != 0 && (claim.there || has_row(claim.answer));
		result->holder = result->there ? claim.holder : 0;
		return NULL;
	}
	if (claim.taken_over != NULL && (s = scan_taken_over(table, scan, &claim, cid, context)) == NULL)
		return NULL;
	if (claim.taken_over == NULL)
	{
		s = make_scan(wc_driver(), context);
		wc_buf_append_slice(&s->driver.block, claim.answer);
		begin_answer(s);
	}
	result->taken_over = claim.taken_over != NULL;
	s->row_read = result->taken = wc_client_next_row(s, &s->row);
	if (claim.added)
		wc_driver()->claim_end(result->taken);
	return s;
}

WcClientScan *
wc_client_scan_open(const WcScan *scan, WcClientSnapshot *snapshot, CommandId cid,
					uint64 rows_hint, MemoryContext context)
{
	const WcDriver *driver = wc_driver_of(scan->table_id);
	WcClientScan *s;
	WcScan		as_of = *scan;
	WcDriverOpen open = {
		.scan = &as_of,.snapshot = wc_snapshot_number(snapshot),.cid = cid,
		.clock_offset_us = wc_client_clock_offset_us(),.rows_hint = rows_hint
	};

	as_of.as_of_ts = wc_client_read_timestamp();
	if (driver == wc_driver())
		wc_snapshot_check(snapshot);
	if (driver->features & WC_FEATURE_OWN_WRITES)
	{
		wc_xact_join();
		open.own_writes = may_see_own(scan);
		if (open.own_writes && (s = scan_own(&as_of, open.snapshot, cid, context)) != NULL)
			return s;
		if (open.own_writes)
			wc_batch_send();
	}
	wc_serial_read(scan);

	s = make_scan(driver, context);
	if (!open.own_writes && wc_rows_known(&as_of, open.snapshot))
	{
		answer_with_row(s, as_of.ranges[0].start);
		return s;
	}
	driver->scan_open(&s->driver, &open);
	return s;
}

bool
wc_client_scans_ahead(void)
{
	return wc_driver()->scans_open() < WC_SCANS_AHEAD_MAX;
}

bool
wc_client_scan_ready(WcClientScan *scan, WcClientWait *wait)
{
	const WcBlockReader *r = &scan->reader;

	return scan->at->scan_ready == NULL || scan->row_read || r->end || r->d.p < r->d.end ||
		scan->at->scan_ready(&scan->driver, wait);
}

static void pg_attribute_noreturn()
corrupt(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("cell block from the engine is malformed")));
}

/* If the block ends within the row, the row's key must outlive the block. */
static void
give_row(WcClientScan *scan, WcSlice *row)
{
	scan->in_row = true;
	scan->undecided = scan->reader.undecided;
	scan->owed = scan->reader.owed;
	*row = scan->given = scan->row;
	if (!scan->reader.open)
		return;
	wc_buf_reset(&scan->kept_row, WC_ROW_MAX);
	wc_buf_append_slice(&scan->kept_row, scan->row);
	if (scan->kept_row.failed)
		wc_raise_no_memory();
	*row = scan->given = wc_buf_slice(&scan->kept_row);
}

bool
wc_client_next_row(WcClientScan *scan, WcSlice *row)
{
	WcCell		cell;
	uint32		colno;

	scan->in_row = false;
	if (scan->row_read)
	{
		scan->row_read = false;
		give_row(scan, row);
		return true;
	}
	for (;;)
	{
		switch (wc_block_next(&scan->reader, &scan->row, &cell, &colno))
		{
			case WC_BLOCK_ROW:
				give_row(scan, row);
				return true;
			case WC_BLOCK_CELL:
				break;			/* a cell of the row before, skipped */
			case WC_BLOCK_DONE:
				if (!next_block(scan))
					return false;
				break;
			case WC_BLOCK_CORRUPT:
				corrupt();
		}
	}
}

bool
wc_client_next_cell(WcClientScan *scan, WcCell *cell, uint32 *colno)
{
	while (scan->in_row)
	{
		switch (wc_block_next(&scan->reader, &scan->row, cell, colno))
		{
			case WC_BLOCK_CELL:
				return true;
			case WC_BLOCK_ROW:
				scan->row_read = true;
				scan->in_row = false;
				break;
			case WC_BLOCK_DONE:
				if (!scan->reader.open)
					scan->in_row = false;
				else if (!next_block(scan))
					corrupt();
				break;
			case WC_BLOCK_CORRUPT:
				corrupt();
		}
	}
	return false;
}

bool
wc_client_cell_provisional(const WcClientScan *scan)
{
	return scan->reader.provisional;
}

bool
wc_client_cells_stay(const WcClientScan *scan)
{
	/* the next block continues the current row only when this block ends within a row */
	return !scan->reader.open;
}

bool
wc_client_row_undecided(const WcClientScan *scan)
{
	return scan->undecided;
}

int
wc_client_rows_ahead(const WcClientScan *scan, WcSlice *rows, int max)
{
	WcBlockReader reader = scan->reader;
	WcSlice		row = scan->row;
	WcCell		cell;
	uint32		colno;
	int			n = 0;

	rows[n++] = scan->given;
	if (scan->row_read && n < max && !reader.undecided)
		rows[n++] = row;
	else if (scan->row_read)
		return n;
	while (n < max)
	{
		switch (wc_block_next(&reader, &row, &cell, &colno))
		{
			case WC_BLOCK_ROW:
				if (reader.undecided)
					return n;
				rows[n++] = row;
				break;
			case WC_BLOCK_CELL:
				break;
			case WC_BLOCK_DONE:
			case WC_BLOCK_CORRUPT:
				return n;		/* wc_client_next_row meets it again and reports it */
		}
	}
	return n;
}

uint64
wc_client_rows_owed(const WcClientScan *scan)
{
	return scan->owed;
}

bool
wc_client_skips_rows(const WcTableDesc *table)
{
	return (wc_driver_of(table->id)->features & WC_FEATURE_OFFSET) != 0;
}

bool
wc_client_groups(const WcTableDesc *table)
{
	return (wc_driver_of(table->id)->features & WC_FEATURE_GROUPS) != 0;
}

bool
wc_client_passes_prefixes(const WcTableDesc *table)
{
	return (wc_driver_of(table->id)->features & WC_FEATURE_DISTINCT) != 0;
}

void
wc_client_scan_close(WcClientScan *scan)
{
	MemoryContextDelete(scan->context);
}

void
wc_client_scan_stats(WcClientScan *scan, WcClientScanStats *stats)
{
	scan->at->scan_stats(&scan->driver);
	*stats = scan->driver.stats;
}

void
wc_client_scan_stats_add(WcClientScanStats *sum, const WcClientScanStats *more)
{
	sum->rows += more->rows;
	sum->rows_filtered += more->rows_filtered;
	sum->cells_examined += more->cells_examined;
	sum->seeks += more->seeks;
	sum->batches += more->batches;
	sum->rows_examined += more->rows_examined;
	sum->cache_hits += more->cache_hits;
	sum->blocks_read += more->blocks_read;
}

/* Does the scan return a row, in the newest state with all own writes? */
static bool
returns_row(WcScan *scan)
{
	WcClientScan *client_scan;
	WcSlice		row;
	bool		found;

	scan->key_only = true;
	scan->row_limit = 1;
	client_scan = wc_client_scan_open(scan, wc_client_snapshot(NULL), GetCurrentCommandId(false) + 1, 1, CurrentMemoryContext);
	found = wc_client_next_row(client_scan, &row);
	wc_client_scan_close(client_scan);
	return found;
}

bool
wc_client_is_empty(const WcTableDesc *table, const WcFamilyDesc *family)
{
	WcColumn	column = {.kind = WC_COLUMN_FAMILY};
	WcScan		scan;

	wc_scan_init(&scan, table->id);
	scan.raw = true;
	if (family != NULL)
	{
		column.family = family->id;
		scan.ncolumns = 1;
		scan.columns = &column;
	}
	return !returns_row(&scan);
}

bool
wc_client_has_rows(const WcTableDesc *table, WcRange *ranges, int nranges)
{
	WcScan		scan;

	wc_scan_init(&scan, table->id);
	scan.ranges = ranges;
	scan.nranges = (uint32) nranges;
	return returns_row(&scan);
}
