/*
 * hbase/changes.c: the changes of rows that the transaction has made, until they are sent.
 */
#include "hbase/changes.h"

#include <sys/stat.h>

#include "access/xact.h"
#include "common/file_perm.h"
#include "common/hashfn.h"
#include "storage/fd.h"

#include "base/clock.h"
#include "base/printable.h"
#include "hbase/ddl/ddl.h"
#include "read/txn/txn.h"

/* Bytes of a key or a qualifier that an error shows. */
#define SHOWN_MAX 100

/* In the data directory, which is a backend's current directory. */
static const WcTxnSpill spill = {.directory = "base/" PG_TEMP_FILES_DIR,.memory = WC_TXN_MEMORY};

static WcTxn *txn;				/* NULL until the session's first change */
static uint64 length;			/* of the stream; what txn has behind it has been rolled back */
static uint64 nsent;			/* rows that HBase has acknowledged */
static int64 provisional_from;	/* provisional timestamps that were shown are from this on ... */
static int64 provisional_to;	/* ... to about this; 0: none was shown */
static WcBuf operation = WC_BUF_INIT;	/* the one that was begun last */
static WcBatchBuilder builder;

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

	if (item->ttl_us != 0)
		refuse(ERRCODE_FEATURE_NOT_SUPPORTED, place_of(table, op, item), "a cell's time to live cannot be sent to HBase",
			   NULL, "A family of the table can have one.");
	if (item->value.len > WC_HBASE_VALUE_MAX)
		refuse(ERRCODE_PROGRAM_LIMIT_EXCEEDED, place_of(table, op, item), "value is too large for HBase",
			   psprintf("It has %zu bytes; the limit is %d.", item->value.len, WC_HBASE_VALUE_MAX), NULL);
	if (timed && raw && provisional_to != 0 && item->ts >= provisional_from && item->ts <= provisional_to)
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
	if (op.row.len > WC_HBASE_ROW_MAX)
		refuse(ERRCODE_PROGRAM_LIMIT_EXCEEDED, place_of(table, &op, NULL), "row key is too long for HBase",
			   psprintf("It has %zu bytes; the limit is %d.", op.row.len, WC_HBASE_ROW_MAX), NULL);
	d = wc_decoder(op.items);
	while ((status = wc_op_next_item(&d, &item, &err)) == WC_OK)
		check_item(table, &op, &item);
	if (status != WC_END)
		wc_hbase_raise(&err);
}

/* --- the stream ---------------------------------------------------------------*/

static void
make_stream(uint64 bytes_max)
{
	WcError		err;

	if (txn != NULL)
	{
		wc_txn_limit(txn, bytes_max);
		return;
	}
	if (MakePGDirectory(spill.directory) < 0 && errno != EEXIST)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create directory \"%s\": %m", spill.directory)));
	if (wc_txn_create(InvalidOid, bytes_max, &txn, &err) != WC_OK)
		wc_hbase_raise(&err);
	wc_txn_spill_into(txn, &spill);
}

WcBatchBuilder *
wc_hbase_changes_begin(const WcTableDesc *desc)
{
	wc_hbase_require_isolation(wc_hbase_table_by_id(desc->id), "written");
	wc_buf_reset(&operation, WC_BATCH_CHUNK);
	wc_batch_init(&builder, &operation);
	return &builder;
}

void
wc_hbase_changes_done(uint64 bytes_max)
{
	WcError		err;

	check_operation();
	if (length + operation.len > bytes_max)
		wc_hbase_too_large(length + operation.len);
	make_stream(bytes_max);
	if (wc_txn_append(txn, length, wc_buf_slice(&operation), &err) != WC_OK)
		wc_hbase_raise(&err);
	length += operation.len;
}

uint64
wc_hbase_changes_mark(void)
{
	return length + wc_hbase_ddl_count();
}

/* txn is cut by what comes next: a subtransaction's abort must not fail. */
void
wc_hbase_changes_cut(uint64 mark)
{
	wc_hbase_ddl_cut(mark);
	length = Min(length, mark - wc_hbase_ddl_count());
}

WcTxn *
wc_hbase_changes(void)
{
	WcError		err;

	if (length == 0)
		return NULL;
	if (wc_txn_length(txn) > length && wc_txn_cut(txn, length, &err) != WC_OK)
		wc_hbase_raise(&err);
	return txn;
}

void
wc_hbase_changes_note_sent(uint64 rows)
{
	nsent += rows;
}

uint64
wc_hbase_changes_sent(void)
{
	return nsent;
}

void
wc_hbase_changes_tell_sent(void)
{
	nsent = 0;
}

void
wc_hbase_changes_finish(bool committed)
{
	uint64		sent = nsent;

	wc_hbase_ddl_finish(committed);
	if (txn == NULL)
		return;
	wc_hbase_scans_forget();
	if (wc_txn_length(txn) > WC_TXN_MEMORY)
	{
		/* its lists of operations are large, too */
		wc_txn_destroy(txn);
		txn = NULL;
	}
	else
		wc_txn_reset(txn);
	length = nsent = 0;
	provisional_to = 0;
	if (!committed && sent > 0)
		ereport(WARNING,
				(errcode(ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN),
				 errmsg("changes of " UINT64_FORMAT " rows are in HBase, although the transaction was rolled back", sent),
				 errdetail("HBase had acknowledged them before PostgreSQL's commit failed.")));
}

/* Sessions of any database that use the same gateway exclude each other. */
uint32
wc_hbase_lock_id(uint32 table_id)
{
	const WcHBaseTable *table = wc_hbase_table_by_id(table_id);
	const WcServerOptions *options = &wc_hbase_server(table->server->oid)->options;
	char	   *name = psprintf("%s:%d/%s", options->host, options->port, table->name);
	uint32		hash = hash_bytes((const unsigned char *) name, (int) strlen(name));

	pfree(name);
	return WC_REMOTE_TABLE | hash;
}

int64
wc_hbase_latest(const WcHBaseServer *server)
{
	int64		ms = wc_clock_wall_us() / WC_HBASE_US_PER_MS + WC_HBASE_CLOCKS_MS;

	return server->options.raw_timestamps ? ms : ms * WC_HBASE_US_PER_MS;
}

int64
wc_hbase_provisional_ts(const WcHBaseServer *server)
{
	/* not a whole millisecond */
	int64		ts = wc_hbase_latest(server) + (server->options.raw_timestamps ? 0 : 1);

	if (provisional_to == 0)
		provisional_from = ts;
	provisional_to = ts + WC_HBASE_CLOCKS_MS;
	return ts;
}
