/*
 * client/txn/batch.c: the part of the transaction's batch that is not sent yet.
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

#include "client/local/logwrite.h"
#include "client/txn/txn.h"
#include "wire/shared/claims.h"

static WcBuf buffer = WC_BUF_INIT;
static WcBatchBuilder builder;
static uint64 start;			/* the buffer's offset in the stream; the driver has the bytes before it ... */
static bool stale;				/* ... and may have bytes after it, which must be cut */
static uint64 settled;			/* all operations before this offset are on rows that were locked before the operation was written */
static uint64 writing;			/* the offset of the operations that were begun last */
static uint32 writing_table;	/* the table of the rows that they write */
static bool must_be_checked;

static uint64 noted;			/* the rows of the operations before this offset are in the set of written rows (written.c), and in `extent` */
static WcExtent extent = {0, UINT64_MAX, 0};	/* has these rows, and perhaps others */

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
	wc_xact_join();
	if (builder.buf == NULL)
		wc_batch_init(&builder, &buffer);
	/* without an operation that an error interrupted */
	writing = wc_batch_mark();
	return &builder;
}

WcBatchBuilder *
wc_batch_begin_rows(uint32 table_id)
{
	writing_table = table_id;
	return wc_batch_open();
}

void
wc_client_write_failed(const WcError *err)
{
	if (builder.op_open)
		wc_batch_row_abandon(&builder);
	wc_raise(err);
}

void
wc_batch_too_large(uint64 bytes)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("transaction writes too much to stored tables"),
			 errdetail("It has " UINT64_FORMAT " bytes of changes; widecol.max_transaction_size is " UINT64_FORMAT ".",
					   bytes, wc_batch_bytes_max()),
			 errhint("Commit more often, or raise widecol.max_transaction_size.")));
}

/* Prepares the buffer for the log, and gives the transaction an id, which may fail. */
static void
close_piece(void)
{
	if (builder.op_open)
		wc_batch_row_abandon(&builder);
	if (start + buffer.len > wc_batch_bytes_max())
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

/* Any row may have been written. */
static void
note_any(void)
{
	wc_written_add_any();
	wc_own_forget();
	extent = WC_EXTENT_ALL;
}

/* Notes the rows of these operations, which begin at this offset. */
static void
note_rows(uint64 at, WcSlice ops)
{
	WcDecoder	d = wc_decoder(ops);
	WcOp		op;
	WcStatus	status = WC_END;

	if (noted != at)
		note_any();
	wc_extent_add_batch(&extent, ops);
	while ((!wc_written_has_any() || wc_own_any()) && (status = wc_batch_next_op(&d, &op, NULL)) == WC_OK)
	{
		/* a commit with more changes leaves no row */
		wc_own_change(&op, at + (uint64) (op.bytes.data + op.bytes.len - ops.data) <= WC_CLAIMS_FOLLOW_BYTES);
		if (op.kind == WC_OP_ROW)
			wc_written_add(op.table_id, op.row);
		else
			wc_written_add_any();
	}
	if (status != WC_END)
		note_any();
	noted = at + ops.len;
}

/* Those in the buffer that are not noted yet. */
static void
note_buffer(void)
{
	if (noted >= start)
		note_rows(noted, wc_slice(buffer.data + (noted - start), buffer.len - (noted - start)));
	else
		note_any();
}

static void
send(bool more)
{
	size_t		done = 0;

	if (builder.op_open)
		wc_batch_row_abandon(&builder);
	if (buffer.len == 0 && !stale)
		return;
	note_buffer();
	if (start + buffer.len > wc_batch_bytes_max())
		wc_batch_too_large(start + buffer.len);
	(void) GetTopFullTransactionId();	/* may fail, so it comes before the driver gets the piece */
	stale = true;
	do
	{
		size_t		n = Min(buffer.len - done, WC_BATCH_CHUNK);
		uint64		at = start + done;

		done += n;
		wc_driver()->write(at, wc_slice(buffer.data + done - n, n), wc_batch_bytes_max(), more || done < buffer.len);
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
wc_batch_done(void)
{
	settle();
	note_writes();
	if (buffer.len >= WC_BATCH_CHUNK)
		send(false);
}

void
wc_batch_send(void)
{
	send(true);
}

void
wc_batch_making(void)
{
	stale = true;
}

void
wc_batch_made(void)
{
	stale = false;
}

void
wc_batch_take_made(uint64 at, WcSlice bytes)
{
	if (at != start)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the engine has changed rows from byte " UINT64_FORMAT " of a transaction on instead of byte " UINT64_FORMAT,
						at, start)));
	note_rows(at, bytes);
	wc_stream_write(at, bytes);
	/* the driver has locked each row before */
	if (settled == start)
		settled += bytes.len;
	start += bytes.len;
}

bool
wc_batch_empty(void)
{
	return start + buffer.len == 0;
}

bool
wc_batch_is_stale(void)
{
	return stale;
}

WcExtent
wc_batch_extent(void)
{
	note_buffer();
	return extent;
}

bool
wc_batch_find_own(const WcScan *get, uint64 snapshot, CommandId cid, WcBuf *block)
{
	if (wc_batch_mark() > 0)
		note_buffer();
	return wc_own_find(get, snapshot, cid, block);
}

bool
wc_batch_own_shows(uint32 table_id, WcSlice row, CommandId cid, bool (*shows) (const void *arg, const WcScan *get, WcSlice answer),
				   const void *arg)
{
	if (wc_batch_mark() > 0)
		note_buffer();
	return wc_own_shows(table_id, row, cid, shows, arg);
}

bool
wc_batch_may_write(uint32 table_id, WcSlice row)
{
	if (wc_batch_mark() == 0)
		return false;
	note_buffer();
	return wc_written_may_have(table_id, row);
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
	noted = Min(noted, mark);
	wc_own_forget();
	wc_own_forget_whole_rows();
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
	start = settled = writing = noted = 0;
	wc_written_forget();
	stale = must_be_checked = false;
	extent = WC_EXTENT_NONE;
	if (builder.buf != NULL)
	{
		wc_buf_reset(&buffer, 2 * WC_BATCH_CHUNK);
		wc_batch_init(&builder, &buffer);
	}
}
