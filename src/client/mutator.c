/*
 * client/mutator.c: the part of the transaction's batch that is not sent yet.
 *
 * The batch is one stream of bytes, one operation after the other.  Operations gather in a
 * buffer and go to the driver in pieces: when the buffer is full, or when the transaction
 * reads or commits.  Each piece says at which offset of the stream it begins.  So a savepoint is an
 * offset, and a rollback to it needs no message: the next piece begins at the savepoint.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"

#include "base/clock.h"
#include "channel/flight.h"
#include "client/local/logwrite.h"
#include "client/settings.h"
#include "client/state.h"

/* Tables whose writer's lock this transaction is known to hold. */
#define LOCKED_MAX 8

static WcBuf buffer = WC_BUF_INIT;
static WcBatchBuilder builder;
static uint64 start;			/* the buffer's offset in the stream; the driver has the bytes before it ... */
static bool stale;				/* ... and may have bytes after it, which must be cut */
static uint64 settled;			/* all operations before this offset are on rows that were locked before the operation was written */
static uint64 writing;			/* the offset of the operations that were begun last */
static uint32 writing_table;	/* the table of the rows that they write */
static bool must_be_checked;
static bool elsewhere;			/* the operation that was begun last is on a table outside the embedded engine */
static uint32 locked[LOCKED_MAX];
static int	nlocked;

void
wc_client_require_writable(void)
{
	if (XactReadOnly)
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot write to stored tables in a read-only transaction")));
	if (wc_client_read_timestamp() != WC_TS_LATEST)
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot write to stored tables while they are seen as of an earlier time"),
				 errdetail("widecol.read_timestamp is \"%s\".", wc_read_timestamp_text),
				 errhint("RESET widecol.read_timestamp ends that.")));
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot write to stored tables during recovery")));
	if (IsInParallelMode())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("cannot write to stored tables during a parallel operation")));
}

WcBatchBuilder *
wc_batch_builder(void)
{
	wc_client_require_writable();
	return wc_batch_open();
}

WcBatchBuilder *
wc_batch_open(void)
{
	elsewhere = false;
	wc_xact_join();
	if (builder.buf == NULL)
		wc_batch_init(&builder, &buffer);
	/* without an operation that an error interrupted */
	writing = wc_batch_mark();
	return &builder;
}

/* During the wait for the lock, another transaction may have dropped, renamed or disabled the table. */
void
wc_lock_for_writing(const WcTableDesc *table)
{
	const WcTableDesc *now;
	char	   *name;

	for (int i = 0; i < nlocked; i++)
	{
		if (locked[i] == table->id)
			return;
	}
	wc_following_await_promotion();
	name = wc_client_table_fullname(table);
	wc_client_lock_table(name, RowExclusiveLock);
	now = wc_table_now(table);
	if (now == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("stored table \"%s\" does not exist", name),
				 errdetail("Another transaction has dropped or renamed it meanwhile.")));
	if (now->disabled)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stored table \"%s\" is disabled", name),
				 errdetail("It can be read, but not written to."),
				 now->origin.len > 0 ? errhint("It is a snapshot: widecol.clone_snapshot makes a table of it that can be changed.") :
				 errhint("Its owner can enable it with widecol.enable.")));
	if (nlocked < LOCKED_MAX)
		locked[nlocked++] = table->id;
}

void
wc_batch_forget_locks(void)
{
	nlocked = 0;
}

WcBatchBuilder *
wc_client_write(const WcTableDesc *table)
{
	return wc_client_write_in_mode(table, WC_WRITE_AS_SERVER);
}

WcBatchBuilder *
wc_client_write_in_mode(const WcTableDesc *table, WcWriteMode mode)
{
	WcBatchBuilder *b;

	wc_client_require_writable();
	elsewhere = table->id >= WC_REMOTE_TABLE;
	if (unlikely(elsewhere))
		return wc_kept()->begin(table, mode);
	wc_lock_for_writing(table);
	b = wc_batch_builder();
	writing_table = table->id;
	return b;
}

void
wc_client_write_failed(const WcError *err)
{
	if (builder.op_open)
		wc_batch_row_abandon(&builder);
	wc_raise(err);
}

static uint64
bytes_max(void)
{
	return (uint64) wc_max_transaction_mb * 1024 * 1024;
}

void
wc_batch_too_large(uint64 bytes)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("transaction writes too much to stored tables"),
			 errdetail("It has " UINT64_FORMAT " bytes of changes; widecol.max_transaction_size is " UINT64_FORMAT ".",
					   bytes, bytes_max()),
			 errhint("Commit more often, or raise widecol.max_transaction_size.")));
}

/* Prepares the buffer for the log, and gives the transaction an id, which may fail. */
static void
close_piece(void)
{
	if (builder.op_open)
		wc_batch_row_abandon(&builder);
	if (start + buffer.len > bytes_max())
		wc_batch_too_large(start + buffer.len);
	if (buffer.len > 0)
		(void) GetTopFullTransactionId();
}

void
wc_batch_log(void)
{
	close_piece();
	if (buffer.len > 0)
		wc_stream_write(start, wc_buf_slice(&buffer));
	start += buffer.len;
	wc_buf_reset(&buffer, 2 * WC_BATCH_CHUNK);
	wc_batch_init(&builder, &buffer);
}

static void
send(bool more)
{
	size_t		done = 0;

	if (builder.op_open)
		wc_batch_row_abandon(&builder);
	if (buffer.len == 0 && !stale)
		return;
	if (start + buffer.len > bytes_max())
		wc_batch_too_large(start + buffer.len);
	(void) GetTopFullTransactionId();	/* may fail, so it comes before the driver gets the piece */
	stale = true;
	do
	{
		size_t		n = Min(buffer.len - done, WC_BATCH_CHUNK);
		uint64		at = start + done;

		done += n;
		wc_driver()->write(at, wc_slice(buffer.data + done - n, n), bytes_max(), more || done < buffer.len);
		if (n > 0)
			wc_stream_write(at, wc_slice(buffer.data + done - n, n));
	} while (done < buffer.len);
	start += done;
	stale = false;
	wc_buf_reset(&buffer, 2 * WC_BATCH_CHUNK);
	wc_batch_init(&builder, &buffer);
}

/* Tells PostgreSQL which rows the operations write that have just been written. */
static void
note_writes(void)
{
	if (writing >= start)
		wc_serial_write_ops(wc_slice(buffer.data + (writing - start), buffer.len - (writing - start)));
	else
		wc_serial_write_table(writing_table);	/* some have been sent, since the session has read meanwhile */
}

/* Advances `settled` over the operations that have just been written, as far as their rows are locked. */
static void
settle(void)
{
	WcDecoder	d;
	WcOp		op;

	if (settled != writing || writing < start)
		return;
	d = wc_decoder(wc_slice(buffer.data + (writing - start), buffer.len - (writing - start)));
	while (wc_batch_next_op(&d, &op, NULL) == WC_OK && wc_rows_hold(&op))
		settled += op.bytes.len;
}

bool
wc_batch_unsettled(WcSlice *rest)
{
	uint64		length = wc_batch_mark();

	*rest = wc_slice(NULL, 0);
	if (length > WC_UNCHECKED_BYTES_MAX || must_be_checked)
		return false;
	if (settled == length)
		return true;
	/* under REPEATABLE READ they must not have changed, which the engine knows */
	if (settled < start || IsolationUsesXactSnapshot())
		return false;
	*rest = wc_slice(buffer.data + (settled - start), length - settled);
	return true;
}

void
wc_batch_must_be_checked(void)
{
	must_be_checked = true;
}

void
wc_client_write_done(void)
{
	if (unlikely(elsewhere))
	{
		wc_kept()->done(bytes_max());
		return;
	}
	settle();
	note_writes();
	if (buffer.len >= WC_BATCH_CHUNK)
		send(false);
}

bool
wc_client_acts_at_once(const WcTableDesc *table)
{
	const WcDriver *driver = wc_driver_of(table->id);

	return (driver->features & WC_FEATURE_ATOMIC) != 0 && driver->acts_at_once(table);
}

int64
wc_client_increment(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, int64 amount)
{
	wc_client_lock_row(table, row);
	return wc_driver_of(table->id)->increment(table, row, family, qualifier, amount);
}

WcSlice
wc_client_append(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, WcSlice more)
{
	WcSlice		value;
	uint8	   *copy;

	wc_client_lock_row(table, row);
	value = wc_driver_of(table->id)->append(table, row, family, qualifier, more);
	copy = palloc(value.len + 1);
	wc_slice_copy(copy, value);
	return wc_slice(copy, value.len);
}

void
wc_client_expect(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, WcSlice value)
{
	if (table->id >= WC_REMOTE_TABLE)
		wc_kept()->expect(table, row, family, qualifier, value, bytes_max());
}

bool
wc_client_ts_ahead(const WcTableDesc *table, int64 ts, int64 *after)
{
	if (table->id >= WC_REMOTE_TABLE)
		return wc_kept()->ts_ahead(table, ts, after);
	*after = ts < WC_TS_LATEST ? ts + 1 : ts;
	return ts >= wc_clock_wall_us();
}

void
wc_batch_send(void)
{
	send(true);
}

bool
wc_client_modifies(const WcTableDesc *table)
{
	return (wc_driver_of(table->id)->features & WC_FEATURE_MODIFY) != 0;
}

void
wc_client_rouse(const WcTableDesc *table)
{
	const WcDriver *driver = wc_driver_of(table->id);

	if (driver->rouse != NULL)
		driver->rouse();
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

static void
add_stats(WcClientScanStats *sum, const WcClientScanStats *part)
{
	sum->rows += part->rows;
	sum->rows_examined += part->rows_examined;
	sum->rows_filtered += part->rows_filtered;
	sum->cells_examined += part->cells_examined;
	sum->seeks += part->seeks;
	sum->batches += part->batches;
	sum->cache_hits += part->cache_hits;
	sum->blocks_read += part->blocks_read;
}

/* Operations that the driver has made are the stream's next bytes.  The driver has these bytes already; the
 * log gets them here. */
static void
take_made(uint64 at, WcSlice bytes)
{
	if (at != start)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the engine has changed rows from byte " UINT64_FORMAT " of a transaction on instead of byte " UINT64_FORMAT,
						at, start)));
	wc_stream_write(at, bytes);
	/* the driver has locked each row before */
	if (settled == start)
		settled += bytes.len;
	start += bytes.len;
}

/* Changes rows up to one that another transaction has locked; counts the changed rows. */
static void
modify_part(const WcTableDesc *table, const WcClientModify *modify, const WcScan *scan, uint64 *rows,
			WcModifyResult *result, WcClientScanStats *stats)
{
	WcDriverOpen open = {
		.scan = scan,.snapshot = modify->snapshot != NULL ? wc_snapshot_number(modify->snapshot) : 0,.cid = modify->cid,
		.clock_offset_us = wc_client_clock_offset_us(),.lock_first = modify->snapshot == NULL
	};
	WcDriverLocker locker = wc_row_locker(modify->mode);
	WcClientScanStats part = {0};
	bool		had_locks = wc_rows_locked();

	wc_rows_note_locked();
	stale = true;
	wc_driver()->modify(modify, &open, &locker, IsolationUsesXactSnapshot(), bytes_max(), take_made,
						 result, &part);
	add_stats(stats, &part);
	if (!had_locks && part.rows == 0)
		wc_rows_forget();		/* the scan has met no row */
	must_be_checked |= result->check;
	if (result->outcome == WC_MODIFY_TOO_LARGE)
		wc_batch_too_large(result->length);
	if (result->outcome == WC_MODIFY_CHANGED)
		wc_client_raise_changed_row(table, result->row);
	if (result->outcome == WC_MODIFY_UNREADABLE)
		return;
	stale = false;
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
	wc_batch_send();
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

	Assert(modify->snapshot == NULL && !IsolationUsesXactSnapshot());
	begin_modify(table, rows, stats);
	wc_following_await_catalog(MyDatabaseId);
	before = wc_batch_mark();
	for (;;)
	{
		modify_part(table, modify, modify->scan, rows, &result, stats);
		if (result.outcome != WC_MODIFY_BLOCKED || (!result.there && wc_row_holder_runs(result.holder)))
			break;
		(void) wc_row_wait(&wait, table, row, modify->mode, LockWaitBlock, result.holder, result.has_weaker);
	}
	wc_row_wait_over(&wait);
	if (*rows > 0)
		wc_rows_note_held(table->id, row);
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
	wc_serial_read(modify->scan);
	wc_serial_write_scan(modify->scan);
	before = wc_batch_mark();
	for (;;)
	{
		WcSlice		row;

		modify_part(table, modify, &rest, rows, &result, stats);
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

bool
wc_batch_empty(void)
{
	return start + buffer.len == 0;
}

WcBatchMark
wc_batch_mark(void)
{
	if (builder.op_open)
		wc_batch_row_abandon(&builder);
	return start + buffer.len;
}

void
wc_batch_cut(WcBatchMark mark)
{
	if (builder.op_open)
		wc_batch_row_abandon(&builder);
	settled = Min(settled, mark);
	if (mark >= start)
	{
		buffer.len = mark - start;
		return;
	}
	buffer.len = 0;
	start = mark;
	stale = true;
}

void
wc_batch_forget(void)
{
	start = settled = writing = 0;
	stale = must_be_checked = false;
	nlocked = 0;
	if (builder.buf != NULL)
	{
		wc_buf_reset(&buffer, 2 * WC_BATCH_CHUNK);
		wc_batch_init(&builder, &buffer);
	}
}
