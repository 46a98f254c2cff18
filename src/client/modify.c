/*
 * client/modify.c: changes of rows that the engine makes by itself: one request has the scan and the changes.
 *
 * The operations that the engine has made are the batch's next bytes (txn/batch.c).
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "channel/flight.h"
#include "client/state.h"

bool
wc_client_modifies(const WcTableDesc *table)
{
	return (wc_driver_of(table->id)->features & WC_FEATURE_MODIFY) != 0;
}

/* Cuts the scan's ranges to the rows from `row` on. */
static void
cut_ranges(WcScan *scan, WcSlice row)
{
	WcRange    *ranges = palloc0(sizeof(WcRange) * Max(scan->nranges, 1));
	uint32		n = 0;

	for (uint32 i = 0; i < scan->nranges; i++)
	{
		if (!wc_range_behind_stop(&scan->ranges[i], row))
			ranges[n++] = scan->ranges[i];
	}
	if (scan->nranges == 0)
		n = 1;
	if (n > 0 && !wc_range_before_start(&ranges[0], row))
	{
		ranges[0].start = row;
		ranges[0].start_inclusive = true;
	}
	scan->ranges = ranges;
	scan->nranges = n;
}

/* Changes rows up to one that another transaction has locked; counts the changed rows. */
static void
modify_part(const WcTableDesc *table, const WcClientModify *modify, const WcScan *scan, bool keep, uint64 *rows,
			WcModifyResult *result, WcClientScanStats *stats)
{
	WcDriverOpen open = {
		.scan = scan,.snapshot = modify->snapshot != NULL ? wc_snapshot_number(modify->snapshot) : 0,.cid = modify->cid,
		.clock_offset_us = wc_client_clock_offset_us(),.lock_first = modify->snapshot == NULL,.keep = keep
	};
	WcDriverLocker locker = wc_row_locker(modify->mode);
	WcClientScanStats part = {0};
	bool		had_locks = wc_rows_locked();

	if (modify->snapshot != NULL)
		wc_snapshot_check(modify->snapshot);
	wc_rows_note_locked();
	wc_batch_making();
	wc_driver()->modify(modify, &open, &locker, IsolationUsesXactSnapshot(), wc_batch_bytes_max(), wc_batch_take_made,
						 result, &part);
	wc_client_scan_stats_add(stats, &part);
	if (!had_locks && part.rows == 0)
		wc_rows_forget();		/* the scan has met no row */
	if (result->check)
		wc_batch_must_be_checked();
	if (result->outcome == WC_MODIFY_TOO_LARGE)
		wc_batch_too_large(result->length);
	if (result->outcome == WC_MODIFY_CHANGED)
		wc_client_raise_changed_row(table, result->row);
	if (result->outcome == WC_MODIFY_UNREADABLE)
		return;
	wc_batch_made();
	*rows += result->rows;
}

static void
begin_modify(const WcTableDesc *table, uint64 *rows, WcClientScanStats *stats)
{
	*rows = 0;
	memset(stats, 0, sizeof(*stats));
	wc_client_require_writable();
	wc_lock_for_writing(table);
	wc_xact_join();
}

/* Does the scan, which has no filter, return this cell of its row? */
static bool
gives(const WcScan *scan, const WcCell *cell)
{
	bool		family = scan->nfamilies == 0;

	for (uint32 i = 0; i < scan->nfamilies && !family; i++)
		family = scan->families[i] == cell->family;
	if (!family || scan->ncolumns == 0)
		return family;
	for (uint32 i = 0; i < scan->ncolumns; i++)
	{
		if (scan->columns[i].kind == WC_COLUMN_EXACT && scan->columns[i].family == cell->family &&
			wc_slice_eq(scan->columns[i].qualifier, cell->qualifier))
			return true;
	}
	return false;
}

/* Does a Get that returns the row, without cells, show that the scan returns it? */
static bool
shows_by_row(const WcScan *get, const WcScan *scan)
{
	bool		same = get->rows_by_existence && get->ncolumns == 0 && scan->ncolumns == 0 && get->nfamilies == scan->nfamilies;

	for (uint32 i = 0; i < scan->nfamilies && same; i++)
		same = get->families[i] == scan->families[i];
	return same;
}

static void pg_attribute_noreturn()
malformed(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("cell block in shared memory is malformed")));
}

/* What an answer has to show, so that the row can be changed without the engine. */
typedef struct Wanted
{
	const WcScan *scan;			/* that it returns the row; */
	const WcItem *member;		/* and, if not NULL, that the row has another value of this member, which the scan reads */
	WcScan	   *shown_by;		/* is set to the Get whose answer shows this; its arrays are valid until the next claim */
} Wanted;

/* Does the answer to the Get show enough? */
static bool
shows_enough(const void *arg, const WcScan *get, WcSlice answer)
{
	const Wanted *wanted = arg;
	WcBlockReader reader;
	WcSlice		row;
	WcCell		cell;
	uint32		colno;
	WcError		err;

	if (wc_block_open(&reader, answer, &err) != WC_OK)
		wc_raise(&err);
	for (;;)
	{
		switch (wc_block_next(&reader, &row, &cell, &colno))
		{
			case WC_BLOCK_ROW:
				if (wanted->member != NULL || !shows_by_row(get, wanted->scan))
					break;
				*wanted->shown_by = *get;
				return true;
			case WC_BLOCK_CELL:
				if (colno != WC_NO_COLUMN)
				{
					if (colno >= get->ncolumns)
						malformed();
					cell.family = get->columns[colno].family;
					cell.qualifier = get->columns[colno].qualifier;
				}
				if (!gives(wanted->scan, &cell))
					break;
				*wanted->shown_by = *get;
				return wanted->member == NULL || (!get->key_only && !wc_slice_eq(cell.value, wanted->member->value));
			case WC_BLOCK_DONE:
				return false;
			case WC_BLOCK_CORRUPT:
				malformed();
		}
	}
}

static void
write_row(const WcClientModify *modify)
{
	WcBatchBuilder *b = wc_batch_begin_rows(modify->scan->table_id);
	WcError		err;

	if (wc_batch_row_begin(b, modify->scan->table_id, modify->write_cid, modify->scan->ranges[0].start, 0, NULL, 0, &err) != WC_OK ||
		wc_batch_items(b, modify->items, &err) != WC_OK ||
		wc_batch_row_end(b, &err) != WC_OK)
		wc_client_write_failed(&err);
	wc_batch_done();
}

/* Can an answer show how the row is to be changed?  *member is set for a change of one member of a map. */
static bool
is_shown(const WcClientModify *modify, WcItem *member, Wanted *wanted)
{
	const WcScan *scan = modify->scan;
	WcDecoder	d = wc_decoder(modify->items);
	WcError		err;

	wanted->scan = scan;
	wanted->member = NULL;
	if (modify->items.len == 0 || !scan->rows_by_existence || scan->filter != NULL)
		return false;
	if (modify->kind == WC_MODIFY_ITEMS)
		return scan->ncolumns > 0 || wc_slice_eq(modify->items, modify->items_bare);
	wanted->member = member;
	return scan->ncolumns == 1 && wc_op_next_item(&d, member, &err) == WC_OK;
}

/*
 * Changes the row without the engine, if shared memory, or the session itself, has an answer that shows that it is to be changed.
 * False: the row is not locked; if there is no *holder, which has locked it and runs, the engine must be asked; *keep: it should
 * answer the Get in advance, for the next change.
 */
static bool
modify_claimed(const WcTableDesc *table, const WcClientModify *modify, bool *keep, uint64 *holder)
{
	const WcScan *scan = modify->scan;
	WcSlice		row = scan->ranges[0].start;
	WcItem		member;
	WcScan		shown_by;
	Wanted		wanted = {.shown_by = &shown_by};
	WcDriverOpen open = {.scan = scan,.clock_offset_us = wc_client_clock_offset_us()};
	WcDriverClaim claim = {.shows = shows_enough,.takes_over = shows_enough,.arg = &wanted,.held = wc_rows_held(scan->table_id, row, modify->mode)};
	WcDriverLocker locker;

	*keep = false;
	*holder = 0;
	if (!is_shown(modify, &member, &wanted))
		return false;
	if (claim.held && wc_batch_own_shows(scan->table_id, row, modify->cid, shows_enough, &wanted))
	{
		write_row(modify);
		return true;
	}
	if (wc_batch_may_write(scan->table_id, row))
		return false;
	locker = wc_row_locker(modify->mode);
	if (!wc_driver()->claim(&open, &locker, &claim))
	{
		*keep = claim.wanted;
		*holder = claim.holder;
		return false;
	}
	if (claim.added)
		wc_driver()->claim_end(true);
	wc_rows_note_locked();
	wc_rows_note_held(scan->table_id, row, modify->mode, false);
	wc_own_note(table, &shown_by, claim.answer, claim.follows);
	write_row(modify);
	return true;
}

/*
 * A transaction that has ended, and is not applied yet, still has its row locks: so the scan cannot miss a
 * version of the row that the statement's snapshot shows.  While a running transaction has locked the row,
 * the row's committed version is the one that the snapshot shows: if the scan does not return this version,
 * the statement has nothing to change, and need not wait.
 */
bool
wc_client_modify_row(const WcTableDesc *table, const WcClientModify *modify, uint64 *rows, WcClientScanStats *stats)
{
	WcSlice		row = modify->scan->ranges[0].start;
	WcRowWait	wait = {0};
	WcModifyResult result;
	WcBatchMark before;
	uint64		holder;
	bool		keep;

	Assert(modify->snapshot == NULL && !IsolationUsesXactSnapshot());
	begin_modify(table, rows, stats);
	wc_following_await_catalog(MyDatabaseId);
	for (;;)
	{
		if (modify_claimed(table, modify, &keep, &holder))
		{
			wc_row_wait_over(&wait);
			*rows = 1;
			return true;
		}
		result.has_weaker = false;
		wait.holder.takes_over = holder != 0;
		if (holder == 0)
		{
			wc_batch_send();
			before = wc_batch_mark();
			modify_part(table, modify, modify->scan, keep, rows, &result, stats);
			if (result.outcome != WC_MODIFY_BLOCKED || (!result.there && wc_row_holder_runs(result.holder)))
				break;
			holder = result.holder;
		}
		(void) wc_row_wait(&wait, table, row, modify->mode, LockWaitBlock, holder, result.has_weaker);
	}
	wc_row_wait_over(&wait);
	if (*rows > 0)
		wc_rows_note_held(table->id, row, modify->mode, false);
	if (result.outcome != WC_MODIFY_UNREADABLE)
		return true;
	wc_batch_cut(before);
	return false;
}

bool
wc_client_modify(const WcTableDesc *table, const WcClientModify *modify, uint64 *rows, WcClientScanStats *stats)
{
	WcScan		rest = *modify->scan;
	WcRowWait	wait = {0};
	WcModifyResult result;
	WcBatchMark before;

	Assert(!rest.reversed && !rest.merged);
	begin_modify(table, rows, stats);
	wc_batch_send();
	wc_serial_read(modify->scan);
	wc_serial_write_scan(modify->scan);
	before = wc_batch_mark();
	for (;;)
	{
		WcSlice		row;

		modify_part(table, modify, &rest, false, rows, &result, stats);
		if (result.outcome != WC_MODIFY_BLOCKED)
			break;

		/* the next answer reuses this answer's memory */
		row = wc_slice(memcpy(palloc(result.row.len), result.row.data, result.row.len), result.row.len);
		if (rest.nranges == 0 || !wc_slice_eq(rest.ranges[0].start, row))
			wc_row_wait_over(&wait);
		cut_ranges(&rest, row);
		(void) wc_row_wait(&wait, table, row, modify->mode, LockWaitBlock, result.holder, result.has_weaker);
	}
	wc_row_wait_over(&wait);
	if (result.outcome == WC_MODIFY_DONE)
		return true;

	/* the next piece tells the driver to drop the operations that it has made */
	wc_batch_cut(before);
	return false;
}
