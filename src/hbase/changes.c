/*
 * hbase/changes.c: the changes of rows that the transaction has made, until they are sent.
 */
#include "hbase/changes.h"

#include <sys/stat.h>

#include "access/xact.h"
#include "common/file_perm.h"
#include "common/file_utils.h"	/* PG_TEMP_FILES_DIR, since 17 */
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

/* A stream of changes. */
typedef struct Changes
{
	WcTxn	   *txn;			/* its bytes that have not been sent; NULL until the session's first change */
	uint64		sent;			/* bytes that have been sent, and are not in txn */
	uint64		length;			/* with those; what txn has behind it has been rolled back */
} Changes;

static Changes kept;			/* for the commit */
static Changes streamed;		/* sent in chunks before */
static Changes *target;			/* of the operation that was begun last */
static bool held;				/* streamed has changes that are to be sent at the commit, too */
static bool sent_early;			/* something was sent before the commit */
static uint64 nsent;			/* rows that HBase has acknowledged ... */
static uint64 ntold;			/* ... so many of them when an error told so */
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

/* --- the streams --------------------------------------------------------------*/

static void
make_txn(Changes *changes, uint64 bytes_max)
{
	WcError		err;

	if (changes->txn != NULL)
	{
		wc_txn_limit(changes->txn, bytes_max);
		return;
	}
	if (MakePGDirectory(spill.directory) < 0 && errno != EEXIST)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create directory \"%s\": %m", spill.directory)));
	if (wc_txn_create(InvalidOid, bytes_max, &changes->txn, &err) != WC_OK)
		wc_hbase_raise(&err);
	wc_txn_spill_into(changes->txn, &spill);
}

/* The changes that have not been sent; NULL: there are none. */
static WcTxn *
unsent(Changes *changes)
{
	uint64		bytes = changes->length - changes->sent;
	WcError		err;

	if (bytes == 0)
		return NULL;
	if (wc_txn_length(changes->txn) > bytes && wc_txn_cut(changes->txn, bytes, &err) != WC_OK)
		wc_hbase_raise(&err);
	return changes->txn;
}

static bool
touches(Changes *changes, uint32 table_id, CommandId cid)
{
	WcTxn	   *txn = unsent(changes);

	return txn != NULL && wc_txn_touches(txn, table_id, cid);
}

static void
append(Changes *changes, uint64 bytes_max)
{
	uint64		bytes = changes->length - changes->sent;
	WcError		err;

	if (bytes + operation.len > bytes_max)
		wc_hbase_too_large(bytes + operation.len);
	make_txn(changes, bytes_max);
	if (wc_txn_append(changes->txn, bytes, wc_buf_slice(&operation), &err) != WC_OK)
		wc_hbase_raise(&err);
	changes->length += operation.len;
}

WcTxn *
wc_hbase_changes_kept(void)
{
	return unsent(&kept);
}

WcTxn *
wc_hbase_changes_streamed(void)
{
	return unsent(&streamed);
}

WcTxn *
wc_hbase_changes_of(uint32 table_id, CommandId cid)
{
	/* not both: see choose_target */
	return touches(&kept, table_id, cid) ? kept.txn : touches(&streamed, table_id, cid) ? streamed.txn : NULL;
}

static bool
has_row(Changes *changes, uint32 table_id, WcSlice row)
{
	WcTxn	   *txn = unsent(changes);
	WcTxnSorted sorted;
	WcError		err;
	size_t		lo = 0;
	size_t		hi;

	if (txn == NULL || !wc_txn_touches(txn, table_id, InvalidCommandId))
		return false;
	if (wc_txn_sorted(txn, &sorted, &err) != WC_OK)
		wc_hbase_raise(&err);
	hi = sorted.n;
	while (lo < hi)
	{
		size_t		mid = lo + (hi - lo) / 2;
		const WcTxnEntry *entry = wc_txnsorted_at(&sorted, mid);

		if (entry->table_id < table_id || (entry->table_id == table_id && wc_slice_cmp(wc_txnentry_row(entry), row) < 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < sorted.n && wc_txnsorted_at(&sorted, lo)->table_id == table_id &&
		wc_slice_eq(wc_txnentry_row(wc_txnsorted_at(&sorted, lo)), row);
}

bool
wc_hbase_changes_row(uint32 table_id, WcSlice row)
{
	return has_row(&kept, table_id, row) || has_row(&streamed, table_id, row);
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
	WcTxn	   *txn = unsent(&streamed);

	if (held || wc_hbase_scans_need(txn))
		return false;
	tell_stream(txn);
	sent_early = true;
	wc_hbase_stream_send();
	streamed.sent = streamed.length;
	wc_txn_reset(txn);
	return true;
}

/* Sends the streamed changes if they fill a chunk. */
static void
stream_on(void)
{
	WcTxn	   *txn = unsent(&streamed);

	if (wc_txn_nrows(txn) >= WC_HBASE_SEND_ROWS || wc_txn_length(txn) >= WC_HBASE_SEND_BYTES)
		(void) send_streamed();
}

/* --- writing ----------------------------------------------------------------------*/

/*
 * All changes of a table that have not been sent are in one stream, in their order: behind kept changes all are kept, and
 * before a kept one the others are sent; if they cannot be sent now, all of the stream waits for the commit.
 */
static Changes *
choose_target(const WcHBaseTable *table, WcWriteMode mode)
{
	if (wc_hbase_table_state(table) != WC_HBASE_AS_IT_IS)
		return &kept;			/* its change is sent at the commit */
	if (mode == WC_WRITE_AS_SERVER)
		mode = wc_hbase_server(table->server->oid)->options.stream ? WC_WRITE_STREAM : WC_WRITE_AT_COMMIT;
	if (mode == WC_WRITE_STREAM)
		return touches(&kept, table->id, InvalidCommandId) ? &kept : &streamed;
	if (!touches(&streamed, table->id, InvalidCommandId) || send_streamed())
		return &kept;
	held = true;
	return &streamed;
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
wc_hbase_changes_begin(const WcTableDesc *desc, WcWriteMode mode)
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
wc_hbase_changes_done(uint64 bytes_max)
{
	check_operation();
	append(target, bytes_max);
	if (target == &streamed)
		stream_on();
}

WcKeptMark
wc_hbase_changes_mark(void)
{
	return (WcKeptMark) {
		.kept = kept.length,.streamed = streamed.length,.sent = nsent,.tables = wc_hbase_ddl_count(),
		.conditions = wc_hbase_conditions()
	};
}

/* A txn is cut by what comes next: a subtransaction's abort must not fail. */
void
wc_hbase_changes_cut(WcKeptMark mark)
{
	wc_hbase_ddl_forget(mark.tables);
	wc_hbase_conditions_forget(mark.conditions);
	kept.length = Min(kept.length, mark.kept);
	if (mark.streamed < streamed.sent && nsent > mark.sent)
		ereport(WARNING,
				(errcode(ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN),
				 errmsg("changes of " UINT64_FORMAT " rows stay in HBase, although a subtransaction was rolled back", nsent - mark.sent),
				 errdetail("They were sent during the subtransaction (write_mode 'stream').")));
	streamed.length = Max(streamed.sent, Min(streamed.length, mark.streamed));
}

bool
wc_hbase_changes_held(void)
{
	return held;
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
	ntold = nsent;
}

static void
forget(Changes *changes)
{
	if (changes->txn != NULL && wc_txn_length(changes->txn) > WC_TXN_MEMORY)
	{
		/* its lists of operations are large, too */
		wc_txn_destroy(changes->txn);
		changes->txn = NULL;
	}
	else if (changes->txn != NULL)
		wc_txn_reset(changes->txn);
	changes->sent = changes->length = 0;
}

void
wc_hbase_changes_finish(bool committed)
{
	uint64		sent = nsent;
	bool		untold = nsent > ntold;
	bool		early = sent_early;

	wc_hbase_ddl_finish(committed);
	wc_hbase_conditions_forget(0);
	if (kept.txn == NULL && streamed.txn == NULL)
		return;
	wc_hbase_scans_forget();
	forget(&kept);
	forget(&streamed);
	nsent = ntold = 0;
	sent_early = held = false;
	provisional_to = 0;
	if (!committed && untold)
		ereport(WARNING,
				(errcode(ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN),
				 errmsg("changes of " UINT64_FORMAT " rows are in HBase, although the transaction was rolled back", sent),
				 early ? errdetail("HBase had acknowledged them before the commit (write_mode 'stream').") :
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

bool
wc_hbase_ts_ahead(const WcTableDesc *desc, int64 ts, int64 *after)
{
	bool		raw = wc_hbase_table_by_id(desc->id)->server->options.raw_timestamps;
	int64		step = raw ? 1 : WC_HBASE_US_PER_MS;
	int64		now = wc_clock_wall_us();

	*after = ts < WC_TS_LATEST - step ? (ts / step + 1) * step : WC_TS_LATEST;
	return ts >= (raw ? now / WC_HBASE_US_PER_MS : now);
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
