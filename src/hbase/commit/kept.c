/*
 * hbase/commit/kept.c: the driver's part of a transaction: takes its changes of rows, until they are sent or rolled back.
 */
#include "hbase/commit/commit.h"

#include "base/clock.h"
#include "base/printable.h"
#include "hbase/catalog/catalog.h"
#include "hbase/catalog/tablechange.h"
#include "hbase/changes/changes.h"
#include "hbase/changes/condition.h"
#include "hbase/scan/scan.h"
#include "read/txn/txn.h"

/* Bytes of a key or a qualifier that an error shows. */
#define SHOWN_MAX 100

static WcHBaseStream target;	/* of the operation that was begun last */
static WcBuf operation = WC_BUF_INIT;	/* the one that was begun last */
static WcBatchBuilder builder;
static bool held;				/* streamed changes are to be sent at the commit, too: their rows are locked */
static bool sent_early;			/* something was sent before the commit */

/* --- limits -------------------------------------------------------------------*/

/* The cell (item) or the row that an error is about. */
static char *
place_of(const WcHBaseTable *table, const WcOp *op, const WcItem *item)
{
	char		row[WC_PRINTABLE_SIZE(SHOWN_MAX)];
	char		column[WC_PRINTABLE_SIZE(SHOWN_MAX)];

	wc_printable(row, sizeof(row), wc_slice(op->row.data, Min(op->row.len, SHOWN_MAX)));
	if (item == NULL)
		return psprintf("row \"%s\" of table \"%s\" of HBase", row, table->name);
	wc_printable(column, sizeof(column), wc_slice(item->qualifier.data, Min(item->qualifier.len, SHOWN_MAX)));
	return psprintf("column \"%s:%s\" in row \"%s\" of table \"%s\" of HBase",
					table->families[item->family - 1].name, column, row, table->name);
}

static void pg_attribute_noreturn()
refuse(int sqlstate, const char *place, const char *what, const char *detail, const char *hint)
{
	ereport(ERROR,
			(errcode(sqlstate),
			 errmsg("%s", what),
			 detail != NULL ? errdetail("%s", detail) : 0,
			 hint != NULL ? errhint("%s", hint) : 0,
			 errcontext("%s", place)));
}

static void
check_item(const WcHBaseTable *table, const WcOp *op, const WcItem *item)
{
	bool		timed = item->kind < WC_ITEM_CLEAR_COLUMN && item->ts != WC_TS_LATEST;
	bool		raw = table->server->options.raw_timestamps;
	size_t		cell_bytes = WC_HBASE_CELL_OVERHEAD + op->row.len + strlen(table->families[item->family - 1].name) +
		item->qualifier.len + item->value.len;

	if (item->ttl_us % WC_HBASE_US_PER_MS != 0)
		refuse(ERRCODE_INVALID_PARAMETER_VALUE, place_of(table, op, item),
			   psprintf("time to live of %lld microseconds is no whole number of milliseconds", (long long) item->ttl_us),
			   "HBase's times to live are milliseconds.", NULL);
	if (cell_bytes > WC_HBASE_CELL_MAX)
		refuse(ERRCODE_PROGRAM_LIMIT_EXCEEDED, place_of(table, op, item), "value is too large for HBase",
			   psprintf("It has %zu bytes; the limit is %zu, because HBase's limit of %d is for the whole cell.", item->value.len,
						item->value.len - (cell_bytes - WC_HBASE_CELL_MAX), WC_HBASE_CELL_MAX), NULL);
	if (timed && raw && wc_hbase_ts_was_shown(item->ts))
		refuse(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, place_of(table, op, item),
			   psprintf("timestamp %lld cannot be written in this transaction", (long long) item->ts),
			   "The transaction has shown it as that of a cell that it has written, which gets another one at the commit.",
			   NULL);
	if (timed && !raw && item->ts % WC_HBASE_US_PER_MS != 0)
		refuse(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, place_of(table, op, item),
			   psprintf("timestamp %lld is no whole number of milliseconds", (long long) item->ts),
			   "HBase's timestamps are milliseconds.  A cell that this transaction has written has none before the commit.",
			   "Round it: ts / 1000 * 1000.");
}

void
wc_hbase_require_row(const WcHBaseTable *table, WcSlice row)
{
	if (row.len > WC_HBASE_ROW_MAX)
		refuse(ERRCODE_PROGRAM_LIMIT_EXCEEDED, place_of(table, &(WcOp) {.row = row}, NULL), "row key is too long for HBase",
			   psprintf("It has %zu bytes; the limit is %d.", row.len, WC_HBASE_ROW_MAX), NULL);
}

static bool
is_dated(const WcItem *item)
{
	return item->kind == WC_ITEM_PUT ? item->ts != WC_TS_LATEST :
		item->kind == WC_ITEM_DELETE || item->kind == WC_ITEM_DELETE_FAMILY_VERSION;
}

static void
check_operation(void)
{
	WcDecoder	d = wc_decoder(wc_buf_slice(&operation));
	const WcHBaseTable *table;
	WcStatus	status;
	WcItem		item;
	WcError		err;
	WcOp		op;

	if (wc_batch_next_op(&d, &op, &err) != WC_OK)
		wc_hbase_raise(&err);
	table = wc_hbase_table_by_id(op.table_id);
	wc_hbase_require_row(table, op.row);
	d = wc_decoder(op.items);
	while ((status = wc_op_next_item(&d, &item, &err)) == WC_OK)
	{
		check_item(table, &op, &item);
		if (is_dated(&item))
			wc_hbase_changes_note_dated();
	}
	if (status != WC_END)
		wc_hbase_raise(&err);
}

/* --- sending before the commit ---------------------------------------------------*/

/* Of each table, once a session. */
static void
tell_stream(WcTxn *txn)
{
	size_t		n;
	const WcTxnTable *tables = wc_txn_tables(txn, &n);

	for (size_t i = 0; i < n; i++)
	{
		WcHBaseTable *table = wc_hbase_table_by_id(tables[i].id);

		if (table->told_stream || tables[i].nops == 0)
			continue;
		table->told_stream = true;
		ereport(NOTICE,
				(errmsg("changes of table \"%s\" of HBase are sent before the commit", table->name),
				 errdetail("ROLLBACK does not take back what HBase has (write_mode 'stream').")));
	}
}

/* Sends all that is streamed.  False: it cannot be sent now, because an open scan must not meet, in HBase, what the
 * statement that it belongs to has changed. */
static bool
send_streamed(void)
{
	WcTxn	   *txn = wc_hbase_changes_unsent(WC_HBASE_STREAMED);

	if (held || wc_hbase_scans_need(txn))
		return false;
	tell_stream(txn);
	sent_early = true;
	wc_hbase_stream_send(false);
	wc_hbase_changes_sent(WC_HBASE_STREAMED);
	return true;
}

/* Sends the streamed changes if they fill a chunk. */
static void
stream_on(void)
{
	WcTxn	   *txn = wc_hbase_changes_unsent(WC_HBASE_STREAMED);

	if (wc_txn_nrows(txn) >= WC_HBASE_SEND_ROWS || wc_txn_length(txn) >= WC_HBASE_SEND_BYTES)
		(void) send_streamed();
}

/* --- writing ----------------------------------------------------------------------*/

/*
 * All changes of a table that have not been sent are in one stream, in their order: behind kept changes all are kept, and
 * before a kept one the others are sent; if they cannot be sent now, all of the stream waits for the commit.
 */
static WcHBaseStream
choose_target(const WcHBaseTable *table, WcWriteMode mode)
{
	if (wc_hbase_table_state(table) != WC_HBASE_AS_IT_IS)
		return WC_HBASE_KEPT;	/* its change is sent at the commit */
	if (mode == WC_WRITE_AS_SERVER)
		mode = wc_hbase_server(table->server->oid)->options.stream ? WC_WRITE_STREAM : WC_WRITE_AT_COMMIT;
	if (mode == WC_WRITE_STREAM)
		return wc_hbase_changes_touch(WC_HBASE_KEPT, table->id, InvalidCommandId) ? WC_HBASE_KEPT : WC_HBASE_STREAMED;
	if (!wc_hbase_changes_touch(WC_HBASE_STREAMED, table->id, InvalidCommandId) || send_streamed())
		return WC_HBASE_KEPT;
	held = true;
	return WC_HBASE_STREAMED;
}

/*
 * Raises an error if the table is disabled.  HBase itself would say so when its client has tried puts again and again, for
 * minutes, and not by name.
 */
static void
require_enabled(WcHBaseTable *table, const WcTableDesc *desc)
{
	uint64		generation = table->server->generation + 1;

	if (table->enabled_at == generation)
		return;
	if (!wc_hbase_is_enabled(table->server->oid, desc))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" of HBase is disabled", table->name),
				 errhint("widecol.enable enables it.")));
	table->enabled_at = generation;
}

WcBatchBuilder *
wc_hbase_kept_begin(const WcTableDesc *desc, WcWriteMode mode)
{
	WcHBaseTable *table = wc_hbase_table_by_id(desc->id);

	wc_hbase_require_isolation(table, "written");
	require_enabled(table, desc);
	target = choose_target(table, mode);
	wc_buf_reset(&operation, WC_BATCH_CHUNK);
	wc_batch_init(&builder, &operation);
	return &builder;
}

void
wc_hbase_kept_done(uint64 bytes_max)
{
	check_operation();
	wc_hbase_changes_append(target, wc_buf_slice(&operation), bytes_max);
	if (target == WC_HBASE_STREAMED)
		stream_on();
}

WcKeptMark
wc_hbase_kept_mark(void)
{
	return (WcKeptMark) {
		.kept = wc_hbase_changes_length(WC_HBASE_KEPT),.streamed = wc_hbase_changes_length(WC_HBASE_STREAMED),
		.sent = wc_hbase_rows_sent(),.tables = wc_hbase_ddl_count(),
		.conditions = wc_hbase_conditions()
	};
}

/* A subtransaction's abort: must not fail. */
void
wc_hbase_kept_cut(WcKeptMark mark)
{
	uint64		sent = wc_hbase_rows_sent() - mark.sent;

	wc_hbase_ddl_forget(mark.tables);
	wc_hbase_conditions_forget(mark.conditions);
	(void) wc_hbase_changes_cut(WC_HBASE_KEPT, mark.kept);
	if (!wc_hbase_changes_cut(WC_HBASE_STREAMED, mark.streamed) && sent > 0)
		ereport(WARNING,
				(errcode(ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN),
				 errmsg("changes of " UINT64_FORMAT " rows stay in HBase, although a subtransaction was rolled back", sent),
				 errdetail("They were sent during the subtransaction (write_mode 'stream').")));
}

void
wc_hbase_kept_send(void)
{
	wc_hbase_stream_send(held);
	wc_hbase_commit_send();
}

void
wc_hbase_kept_finish(bool committed)
{
	uint64		untold;
	uint64		sent = wc_hbase_rows_forget_sent(&untold);
	bool		early = sent_early;

	wc_hbase_ddl_finish(committed);
	wc_hbase_conditions_forget(0);
	sent_early = held = false;
	wc_hbase_scans_forget();
	wc_hbase_changes_forget();
	if (!committed && untold > 0)
		ereport(WARNING,
				(errcode(ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN),
				 errmsg("changes of " UINT64_FORMAT " rows are in HBase, although the transaction was rolled back", sent),
				 early ? errdetail("HBase had acknowledged them before the commit (write_mode 'stream').") :
				 errdetail("HBase had acknowledged them before PostgreSQL's commit failed.")));
}

bool
wc_hbase_ts_ahead(const WcTableDesc *desc, int64 ts, int64 *after)
{
	bool		raw = wc_hbase_table_by_id(desc->id)->server->options.raw_timestamps;
	int64		step = raw ? 1 : WC_HBASE_US_PER_MS;
	int64		now = wc_clock_wall_us();

	*after = ts < WC_TS_LATEST - step ? (ts / step + 1) * step : WC_TS_LATEST;
	return ts >= (raw ? now / WC_HBASE_US_PER_MS : now);
}
