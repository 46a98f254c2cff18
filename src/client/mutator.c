/*
 * client/mutator.c: the transaction's batch, as far as it is still here.
 *
 * Operations gather in a buffer and go to the driver in chunks, or when the
 * transaction reads or commits.  A savepoint is a mark; cutting back to one that
 * is behind what was sent tells the driver.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"

#include "client/settings.h"
#include "client/state.h"

/* Tables whose writer's lock this transaction is known to hold. */
#define LOCKED_MAX 8

static WcBuf buffer = WC_BUF_INIT;
static WcBatchBuilder builder;
static uint64 sent;				/* operations with the driver */
static uint64 sent_bytes;
static bool unsure;				/* the driver may have more: a change was interrupted */
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
	wc_xact_join();
	if (builder.buf == NULL)
		wc_batch_init(&builder, &buffer);
	/* one that an error interrupted */
	if (builder.op_open)
		wc_batch_row_abandon(&builder);
	return &builder;
}

/* Who waited for the lock may find that the table it meant is gone. */
void
wc_lock_for_writing(const WcTableDesc *table)
{
	char	   *name;

	for (int i = 0; i < nlocked; i++)
	{
		if (locked[i] == table->id)
			return;
	}
	name = wc_client_table_fullname(table);
	wc_client_lock_table(name, RowExclusiveLock);
	if (!wc_table_is_current(table))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("stored table \"%s\" does not exist", name),
				 errdetail("Another transaction has dropped it meanwhile.")));
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
	wc_client_require_writable();
	wc_lock_for_writing(table);
	return wc_batch_builder();
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

static void pg_attribute_noreturn()
too_large(uint64 bytes)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("transaction writes too much to stored tables"),
			 errdetail("It has " UINT64_FORMAT " bytes of changes; widecol.max_transaction_size is " UINT64_FORMAT ".",
					   bytes, bytes_max()),
			 errhint("Commit more often, or raise widecol.max_transaction_size.")));
}

static void
send(bool more)
{
	if (builder.op_open)
		wc_batch_row_abandon(&builder);
	if (builder.nops == 0)
		return;
	if (sent_bytes + buffer.len > bytes_max())
		too_large(sent_bytes + buffer.len);
	wc_driver()->write(wc_buf_slice(&buffer), bytes_max(), more);
	sent += builder.nops;
	sent_bytes += buffer.len;
	wc_buf_reset(&buffer, 2 * WC_BATCH_CHUNK);
	wc_batch_init(&builder, &buffer);
}

void
wc_client_write_done(void)
{
	if (buffer.len >= WC_BATCH_CHUNK)
		send(false);
}

void
wc_batch_send(void)
{
	send(true);
}

bool
wc_client_modifies(void)
{
	return (wc_driver()->features & WC_FEATURE_MODIFY) != 0;
}

bool
wc_client_modify(const WcTableDesc *table, const WcClientModify *modify, uint64 *rows, WcClientScanStats *stats)
{
	WcDriverOpen open = {
		.scan = modify->scan,.snapshot = wc_snapshot_number(modify->snapshot),.cid = modify->cid,
		.clock_offset_us = wc_client_clock_offset_us()
	};
	WcModifyResult result;

	wc_client_require_writable();
	wc_lock_for_writing(table);
	wc_xact_join();
	wc_batch_send();
	unsure = true;
	wc_driver()->modify(modify, &open, bytes_max(), &result, stats);
	unsure = false;
	if (result.outcome == WC_MODIFY_TOO_LARGE)
		too_large(sent_bytes + result.bytes);
	if (result.outcome != WC_MODIFY_DONE)
		return false;
	*rows = result.rows;
	sent += result.operations;
	sent_bytes += result.bytes;
	return true;
}

bool
wc_batch_empty(void)
{
	return sent + builder.nops == 0 && !unsure;
}

void
wc_batch_mark(WcBatchMark *mark)
{
	if (builder.op_open)
		wc_batch_row_abandon(&builder);
	mark->nops = sent + builder.nops;
	mark->sent = sent;
	mark->offset = buffer.len;
	mark->bytes = sent_bytes + buffer.len;
}

void
wc_batch_cut(const WcBatchMark *mark)
{
	if (builder.op_open)
		wc_batch_row_abandon(&builder);
	if (sent + builder.nops == mark->nops && !unsure)
		return;
	if (sent == mark->sent && !unsure)
		buffer.len = mark->offset;
	else
	{
		/* what is here came after it, and perhaps some that was sent */
		buffer.len = 0;
		if (sent > mark->nops || unsure)
		{
			wc_driver()->rollback_to(mark->nops);
			unsure = false;
			sent = mark->nops;
			sent_bytes = mark->bytes;
		}
	}
	builder.nops = mark->nops - sent;
}

void
wc_batch_forget(void)
{
	sent = 0;
	sent_bytes = 0;
	unsure = false;
	nlocked = 0;
	if (builder.buf != NULL)
	{
		wc_buf_reset(&buffer, 2 * WC_BATCH_CHUNK);
		wc_batch_init(&builder, &buffer);
	}
}
