/*
 * client/rowlock.c: locks rows to the end of the (sub)transaction.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "channel/flight.h"
#include "client/state.h"

/* --- locking ------------------------------------------------------------------------ */

static void
note_held(const WcRowLockRequest *request, const WcRowLock *row)
{
	wc_rows_note_held(request->table->id, row->row, request->mode, request->only_absent);
	if (!row->changed && !request->only_absent)
		wc_rows_note_same(request, row->row);
}

/* Sends one request for some of the rows; returns how many of them were locked. */
static uint32
ask(const WcRowLockRequest *request, const WcDriverLocker *locker, WcRowLock *rows, uint32 nrows, WcLockResult *result)
{
	WcLockMessage m = {
		.table_id = request->table->id,.mode = (uint8) request->mode,.only_absent = request->only_absent,
		.serializable = request->snapshot != NULL && !request->may_change && IsolationUsesXactSnapshot(),
		.tell_rewritten = request->tell_rewritten && !wc_batch_empty(),
		.owner = locker->owner,.xid = locker->xid,.subid = locker->subid,.cid = request->tell_rewritten ? request->cid : InvalidCommandId,
		.clock_offset_us = wc_client_clock_offset_us(),
		.nfamilies = request->nfamilies,.families = request->families,.nrows = nrows
	};
	WcSlice    *keys = palloc(sizeof(WcSlice) * nrows);

	for (uint32 i = 0; i < nrows; i++)
		keys[i] = rows[i].row;
	m.rows = keys;
	if (request->snapshot != NULL)
		m.snapshot = wc_snapshot_number(request->snapshot);
	wc_driver()->lock_rows(&m, result);
	pfree(keys);
	for (uint32 i = 0; i < result->nlocked; i++)
	{
		rows[i].locked = true;
		rows[i].changed = (result->rows[i] & WC_LOCKED_CHANGED) != 0;
		rows[i].rewritten = (result->rows[i] & WC_LOCKED_REWRITTEN) != 0;
		rows[i].gone = (result->rows[i] & WC_LOCKED_GONE) != 0;
		rows[i].exists = (result->rows[i] & WC_LOCKED_EXISTS) != 0;
		if (nrows <= WC_ROWS_HELD_MAX && request->mode >= WC_LOCK_NO_KEY_UPDATE && !rows[i].gone && !rows[i].exists)
			note_held(request, &rows[i]);
	}
	if (result->check)
		wc_batch_must_be_checked();
	if (m.serializable && result->nlocked > 0 && rows[result->nlocked - 1].changed)
		wc_client_raise_changed_row(request->table, rows[result->nlocked - 1].row);
	return result->nlocked;
}

/* Locks a row that a scan has returned without the engine, if the row is as it was.  False: *holder has locked it, or, if that is
 * 0, the engine must be asked. */
static bool
claim_same(const WcRowLockRequest *request, const WcDriverLocker *locker, WcRowLock *row, uint64 *holder)
{
	*holder = 0;
	if (request->snapshot == NULL || !request->seen || request->only_absent || IsolationUsesXactSnapshot() ||
		wc_batch_may_write(request->table->id, row->row) ||
		!wc_driver()->claim_same(wc_snapshot_number(request->snapshot), request->table->id, row->row, locker, holder))
		return false;
	row->locked = true;
	if (request->mode >= WC_LOCK_NO_KEY_UPDATE)
		note_held(request, row);
	return true;
}

/* Locks some of the rows; returns how many. */
static uint32
lock_some(const WcRowLockRequest *request, const WcDriverLocker *locker, WcRowLock *rows, uint32 nrows, bool alone, WcLockResult *result)
{
	memset(result, 0, sizeof(*result));
	if (alone && claim_same(request, locker, rows, &result->holder))
		return 1;
	return result->holder != 0 ? 0 : ask(request, locker, rows, nrows, result);
}

static void
lock_all(const WcRowLockRequest *request, WcRowLock *rows, int nrows)
{
	WcDriverLocker locker = wc_row_locker(request->mode);
	WcRowWait	wait = {0};
	int			batch = WC_LOCK_BATCH;
	int			done = 0;

	wc_rows_note_locked();
	while (done < nrows)
	{
		WcLockResult result;
		uint32		n = lock_some(request, &locker, rows + done, Min(nrows - done, batch), nrows == 1, &result);

		/* after a row that another transaction has locked, there may be more such rows */
		batch = result.holder != 0 ? 1 : Min(2 * batch, WC_LOCK_BATCH);

		done += n;
		if (n > 0)
			wc_row_wait_over(&wait);
		if (result.holder == 0)
			continue;
		rows[done].waited = true;
		if (!wc_row_wait(&wait, request->table, rows[done].row, request->mode, request->wait_policy,
						 result.holder, result.has_weaker))
		{
			wc_row_wait_over(&wait);
			rows[done] = (WcRowLock) {.row = rows[done].row};
			done++;
		}
	}
	wc_row_wait_over(&wait);
}

/* --- tables outside the embedded engine ---------------------------------------------- */

/* Has the row a visible cell in the families, own writes included? */
static bool
exists_elsewhere(const WcRowLockRequest *request, WcSlice row)
{
	WcRange		range = {.start = row,.stop = row,.start_inclusive = true,.stop_inclusive = true};
	WcColumn	column = {.family = request->table->families[0].id,.kind = WC_COLUMN_EXACT};
	WcClientScan *client_scan;
	WcScan		scan;
	WcSlice		found;
	bool		exists;

	wc_scan_init(&scan, request->table->id);
	scan.nranges = 1;
	scan.ranges = &range;
	scan.rows_by_existence = true;
	scan.nfamilies = request->nfamilies;
	scan.families = (uint32_t *) request->families;
	scan.row_limit = 1;
	scan.key_only = true;
	scan.ncolumns = 1;			/* a scan names a column; the row need not have it */
	scan.columns = &column;
	client_scan = wc_client_scan_open(&scan, wc_snapshot_newest(), GetCurrentCommandId(false) + 1, 1, CurrentMemoryContext);
	exists = wc_client_next_row(client_scan, &found);
	wc_client_scan_close(client_scan);
	return exists;
}

/*
 * The engine locks the rows, under the id that all sessions have for the table, and knows nothing of the rows.  A row
 * may have changed since the snapshot if this session has waited for it, or if any session has sent
 * changes since.
 */
static void
lock_elsewhere(const WcRowLockRequest *request, WcRowLock *rows, int nrows)
{
	WcTableDesc table = *request->table;
	WcRowLockRequest plain = {.table = &table,.mode = request->mode,.wait_policy = request->wait_policy};
	bool		compare = request->snapshot != NULL && !IsolationUsesXactSnapshot();

	wc_xact_join();
	table.id = wc_kept()->lock_id(request->table->id);
	lock_all(&plain, rows, nrows);
	for (int i = 0; i < nrows; i++)
	{
		if (!rows[i].locked)
			continue;
		rows[i].changed = compare &&
			(rows[i].waited || wc_snapshot_sent_elsewhere(request->snapshot) != wc_sent_elsewhere());
		if (request->only_absent)
			rows[i].exists = exists_elsewhere(request, rows[i].row);
	}
}

void
wc_lock_changed_rows(uint32 lock_id, const WcSlice *keys, int nrows)
{
	WcTableDesc table = {.id = lock_id};
	WcRowLockRequest request = {.table = &table,.mode = WC_LOCK_NO_KEY_UPDATE,.wait_policy = LockWaitBlock};
	WcRowLock  *rows = palloc0(sizeof(WcRowLock) * nrows);

	wc_xact_join();
	for (int i = 0; i < nrows; i++)
		rows[i].row = keys[i];
	lock_all(&request, rows, nrows);
	pfree(rows);
}

/* --- both --------------------------------------------------------------------------- */

void
wc_client_lock_rows(const WcRowLockRequest *request, WcRowLock *rows, int nrows)
{
	wc_client_require_writable();
	if (request->table->id >= WC_REMOTE_TABLE)
	{
		lock_elsewhere(request, rows, nrows);
		return;
	}
	wc_lock_for_writing(request->table);
	wc_xact_join();
	if (nrows == 1 && !(request->tell_rewritten && !wc_batch_empty()) && wc_rows_held_same(request, rows->row))
	{
		rows->locked = true;
		return;
	}
	if (request->snapshot == NULL)
		wc_following_await_catalog(MyDatabaseId);
	if (request->only_absent || request->snapshot != NULL || request->tell_rewritten)
		wc_batch_send();		/* a row may exist by own writes only, or own writes may have changed it */
	lock_all(request, rows, nrows);
}

bool
wc_client_takes(const WcTableDesc *table)
{
	return (wc_driver_of(table->id)->features & WC_FEATURE_TAKE) != 0;
}

/* Locks and reads the row: without the engine if possible, also after a wait; waits as wc_client_modify_row does. */
static WcClientScan *
take(const WcTableDesc *table, const WcScan *scan, const WcDriverLocker *locker, CommandId cid, MemoryContext context,
	 WcTakeResult *result)
{
	bool		writes = wc_batch_may_write(table->id, scan->ranges[0].start);
	WcRowWait	wait = {0};
	WcClientScan *taken;
	bool		keep = false;

	memset(result, 0, sizeof(*result));
	if (writes && wc_rows_held(table->id, scan->ranges[0].start, locker->mode) &&
		(taken = wc_scan_own(scan, cid, context)) != NULL)
	{
		result->taken = true;
		return taken;
	}
	for (;;)
	{
		result->holder = 0;
		taken = writes ? NULL : wc_scan_claim(table, scan, locker, cid, context, &keep, result);
		wait.holder.takes_over = result->holder != 0;
		if (taken == NULL && result->holder == 0)
		{
			wc_batch_send();
			taken = wc_scan_take(scan, locker, keep, cid, context, result);
		}
		if (taken != NULL || (!result->there && wc_row_holder_runs(result->holder)))
			break;
		(void) wc_row_wait(&wait, table, scan->ranges[0].start, locker->mode, LockWaitBlock, result->holder, result->has_weaker);
	}
	wc_row_wait_over(&wait);
	if (taken != NULL && result->check)
		wc_batch_must_be_checked();
	if (taken != NULL && result->taken && !result->taken_over && !writes && locker->mode >= WC_LOCK_NO_KEY_UPDATE)
		wc_scan_note_own(taken, table, scan);
	return taken;
}

WcClientScan *
wc_client_scan_take(const WcTableDesc *table, const WcScan *scan, WcRowLockMode mode, CommandId cid, MemoryContext context)
{
	WcDriverLocker locker;
	WcClientScan *taken;
	WcTakeResult result;

	Assert(!IsolationUsesXactSnapshot());
	wc_client_require_writable();
	wc_lock_for_writing(table);
	wc_xact_join();
	wc_following_await_catalog(MyDatabaseId);
	locker = wc_row_locker(mode);
	wc_rows_note_locked();
	taken = take(table, scan, &locker, cid, context, &result);
	if (taken != NULL && result.taken && mode >= WC_LOCK_NO_KEY_UPDATE)
		wc_rows_note_held(table->id, scan->ranges[0].start, mode, false);
	return taken;
}

void
wc_client_lock_row(const WcTableDesc *table, WcSlice row)
{
	WcRowLockRequest request = {.table = table,.mode = WC_LOCK_EXCLUSIVE,.wait_policy = LockWaitBlock};
	WcRowLock	lock = {.row = row};

	wc_client_lock_rows(&request, &lock, 1);
}
