/*
 * hbase/commit/commit.c: sends the transaction's changes to HBase, at PRE_COMMIT; those of write_mode 'stream' before.
 *
 * The changes go row by row, by table and key, in chunks.  A chunk's rows are first resolved (rowchange.c), so
 * errors that can be found before are found before any row of the chunk is sent.  HBase takes a row whole or not at
 * all; a chunk, or a transaction, it may take in part: after an error the rows stay that it has acknowledged before.
 */
#include "hbase/commit/commit.h"

#include <stdlib.h>

#include "base/printable.h"
#include "hbase/catalog/tablechange.h"
#include "hbase/changes/changes.h"
#include "hbase/changes/condition.h"
#include "hbase/commit/rowchange.h"
#include "read/txn/txn.h"

/* Bytes of a request for a cell and for a row, besides their names and values; about. */
#define CELL_BYTES 40
#define ROW_BYTES 40

/* Bytes of a key that an error shows. */
#define SHOWN_MAX 60

static bool streaming;			/* the changes being sent are streamed ones, not those kept for the commit */
static uint64 nsent;			/* rows that HBase has acknowledged in this transaction ... */
static uint64 ntold;			/* ... so many of them when an error told so */

/* Rows whose changes depend on a cell are sent in a pass of their own. */
typedef enum Pass
{
	PASS_ALL,
	PASS_CONDITIONAL,
	PASS_UNCONDITIONAL
} Pass;

static Pass pass;

/* Rows of one table. */
typedef struct Chunk
{
	WcHBaseTable *table;
	WcArena		arena;			/* of rows, operations, and what HBase is told */
	WcHBaseRowOps *rows;
	WcThriftRow *told;
	uint32		nrows;
	size_t		bytes;			/* of operations */
} Chunk;

static WcStatus
no_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for changes of HBase");
}

/* --- gathering ------------------------------------------------------------------*/

/* Adds a row with copies of its operations, which are valid until the walk's next step. */
static WcStatus
add_row(Chunk *chunk, const WcTxnEntry *const *ops, size_t n, WcError *err)
{
	WcHBaseRowOps *row = &chunk->rows[chunk->nrows];
	bool		conditional = wc_hbase_condition_of(chunk->table->id, wc_txnentry_row(ops[0])) != NULL;

	if (pass != PASS_ALL && conditional != (pass == PASS_CONDITIONAL))
		return WC_OK;
	row->row = wc_arena_copy(&chunk->arena, wc_txnentry_row(ops[0]));
	row->ops = wc_arena_alloc(&chunk->arena, n * sizeof(WcSlice));
	row->nops = (uint32) n;
	if (row->row.data == NULL || row->ops == NULL)
		return no_memory(err);
	for (size_t i = 0; i < n; i++)
	{
		row->ops[i] = wc_arena_copy(&chunk->arena, wc_slice(ops[i]->bytes, ops[i]->len));
		if (row->ops[i].data == NULL)
			return no_memory(err);
		chunk->bytes += ops[i]->len;
	}
	chunk->nrows++;
	return WC_OK;
}

/* A walk whose next row is known. */
typedef struct Rows
{
	WcTxnWalk  *walk;
	const WcTxnEntry *const *ops;
	size_t		n;
	WcStatus	status;			/* WC_END: no more rows */
} Rows;

static void
next_row(Rows *rows, WcError *err)
{
	rows->status = wc_txnwalk_next(rows->walk, &rows->ops, &rows->n, err);
}

/* The next rows of one table; WC_END: there are none. */
static WcStatus
gather(Rows *rows, Chunk *chunk, WcError *err)
{
	memset(chunk, 0, sizeof(*chunk));
	if (rows->status != WC_OK)
		return rows->status;
	chunk->table = wc_hbase_table_by_id(rows->ops[0]->table_id);
	chunk->rows = wc_arena_alloc(&chunk->arena, WC_HBASE_SEND_ROWS * sizeof(WcHBaseRowOps));
	chunk->told = wc_arena_alloc(&chunk->arena, WC_HBASE_SEND_ROWS * sizeof(WcThriftRow));
	if (chunk->rows == NULL || chunk->told == NULL)
		return no_memory(err);
	while (rows->status == WC_OK && rows->ops[0]->table_id == chunk->table->id &&
		   chunk->nrows < WC_HBASE_SEND_ROWS && chunk->bytes < WC_HBASE_SEND_BYTES)
	{
		WcStatus	status = add_row(chunk, rows->ops, rows->n, err);

		if (status != WC_OK)
			return status;
		next_row(rows, err);
	}
	return rows->status == WC_END ? WC_OK : rows->status;
}

static WcStatus
resolve(Chunk *chunk, WcError *err)
{
	WcHBaseRowChanges *changes;
	WcStatus	status = wc_hbase_rowchanges_open(chunk->table, chunk->rows, chunk->nrows, &changes, err);

	for (uint32 i = 0; i < chunk->nrows && status == WC_OK; i++)
		status = wc_hbase_rowchanges_next(changes, &chunk->arena, &chunk->told[i], err);
	wc_hbase_rowchanges_close(changes);
	return status;
}

/* --- calls ----------------------------------------------------------------------*/

static const char *
show(char *buf, WcSlice row)
{
	return wc_printable(buf, WC_PRINTABLE_SIZE(SHOWN_MAX), wc_slice(row.data, Min(row.len, SHOWN_MAX)));
}

/* Adds to the error the rows of the failed call, and the rows that HBase has taken already. */
static void
tell_where(const WcHBaseTable *table, const WcThriftRow *const *rows, uint32 n, bool unsure, WcError *err)
{
	char		first[WC_PRINTABLE_SIZE(SHOWN_MAX)];
	char		last[WC_PRINTABLE_SIZE(SHOWN_MAX)];
	char		where[2 * WC_PRINTABLE_SIZE(SHOWN_MAX) + 2 * WC_NAME_MAX + 400];
	uint64		sent = nsent;
	int			len;

	if (n == 1)
		len = snprintf(where, sizeof(where), "It was about row \"%s\" of table \"%s\".", show(first, rows[0]->row), table->name);
	else
		len = snprintf(where, sizeof(where), "It was about %u rows of table \"%s\", from \"%s\" to \"%s\".", n, table->name,
					   show(first, rows[0]->row), show(last, rows[n - 1]->row));
	if (unsure)
		len += snprintf(where + len, sizeof(where) - len, n == 1 ? " It may be in HBase." : " Some or all of them may be in HBase.");
	if (sent > 0)
		snprintf(where + len, sizeof(where) - len, " Changes of " UINT64_FORMAT " other rows are in HBase.", sent);
	ntold = nsent;
	wc_hbase_error_more(err, unsure || sent > 0 ? ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN : 0, where);
	if ((unsure || sent > 0) && err->hint[0] == '\0')
		wc_error_hint(err, "%s: look at the rows before you repeat the transaction.",
					  streaming ? "With write_mode 'stream', what HBase has taken stays there" : "A commit is not atomic in HBase");
}

/* Sends the request that was begun, which is about these rows. */
static WcStatus
call(WcHBaseTable *table, const char *method, int32 number, const WcThriftRow *const *rows, uint32 n, WcError *err)
{
	WcAnswer	answer;
	bool		unsure;
	WcStatus	status = wc_hbase_send(table->server, method, number, &answer, &unsure, err);

	if (status == WC_OK)
	{
		/* without a result it is a success of a call that gives none */
		if (answer.kind != WC_ANSWER_NOTHING)
			status = wc_hbase_check(table->server, table->name, &answer, err);
		/* HBase has refused; it refuses a row as a whole */
		unsure = n > 1;
	}
	if (status == WC_OK)
		nsent += n;
	else
		tell_where(table, rows, n, unsure, err);
	return status;
}

/* --- sending --------------------------------------------------------------------*/

typedef enum RowKind
{
	ROW_NOTHING,
	ROW_PUTS,					/* puts alone, with one time to live */
	ROW_DELETES,				/* markers of one kind alone, that are alike */
	ROW_MIXED
} RowKind;

static RowKind
kind_of(const WcThriftRow *row)
{
	int			kinds = 0;
	bool		alike = true;

	for (WcThriftDelete kind = 0; kind < WC_THRIFT_DELETES; kind++)
	{
		kinds += row->ndeletes[kind] > 0;
		alike &= wc_thrift_deletes_alike(row, kind, 0) == row->ndeletes[kind];
	}
	if (kinds == 0 && row->nputs == 0)
		return ROW_NOTHING;
	if (kinds == 0 && wc_thrift_puts_alike(row, 0) == row->nputs)
		return ROW_PUTS;
	return kinds == 1 && alike && row->nputs == 0 ? ROW_DELETES : ROW_MIXED;
}

static size_t
bytes_of(const WcThriftRow *row)
{
	size_t		bytes = ROW_BYTES + row->row.len;

	for (uint32 i = 0; i < row->nputs; i++)
		bytes += CELL_BYTES + row->puts[i].family.len + row->puts[i].qualifier.len + row->puts[i].value.len;
	for (int kind = 0; kind < WC_THRIFT_DELETES; kind++)
	{
		for (uint32 i = 0; i < row->ndeletes[kind]; i++)
			bytes += CELL_BYTES + row->deletes[kind][i].family.len + row->deletes[kind][i].qualifier.len;
	}
	return bytes;
}

static WcStatus
send_rows(WcHBaseTable *table, RowKind kind, const WcThriftRow *const *rows, uint32 n, WcError *err)
{
	WcSlice		name = wc_slice_cstr(table->name);
	const char *method;
	WcThriftWriter w;
	int32		number;

	wc_hbase_begin(table->server, &w, &number);
	if (kind == ROW_PUTS)
	{
		method = WC_METHOD_PUTS;
		wc_request_puts(&w, number, name, rows, n);
	}
	else if (kind == ROW_DELETES)
	{
		method = WC_METHOD_DELETES;
		wc_request_deletes(&w, number, name, rows, n);
	}
	else
	{
		method = WC_METHOD_MUTATE;
		wc_request_mutate(&w, number, name, rows[0]);
	}
	return call(table, method, number, rows, n, err);
}

/* Sends the chunk's rows of a kind: mixed ones in a call each, the others together. */
static WcStatus
send_kind(const Chunk *chunk, RowKind kind, WcError *err)
{
	const WcThriftRow *rows[WC_HBASE_SEND_ROWS];
	uint32		n = 0;
	size_t		bytes = 0;
	WcStatus	status = WC_OK;

	for (uint32 i = 0; i < chunk->nrows && status == WC_OK; i++)
	{
		const WcThriftRow *row = &chunk->told[i];
		size_t		more;

		if (kind_of(row) != kind)
			continue;
		more = bytes_of(row);
		if (n > 0 && (kind == ROW_MIXED || bytes + more > WC_HBASE_SEND_BYTES))
		{
			status = send_rows(chunk->table, kind, rows, n, err);
			n = 0;
			bytes = 0;
		}
		rows[n++] = row;
		bytes += more;
	}
	return status == WC_OK && n > 0 ? send_rows(chunk->table, kind, rows, n, err) : status;
}

/* --- the commit -------------------------------------------------------------------*/

typedef WcStatus (*ChunkFunction) (Chunk *chunk, WcError *err);

/* Other sessions' transactions may have locked rows: it waits for them. */
static WcStatus
lock_chunk(Chunk *chunk, WcError *err)
{
	WcSlice    *rows = wc_arena_alloc(&chunk->arena, chunk->nrows * sizeof(WcSlice));

	if (rows == NULL)
		return no_memory(err);
	for (uint32 i = 0; i < chunk->nrows; i++)
		rows[i] = chunk->rows[i].row;
	return wc_hbase_lock_rows(wc_hbase_lock_id(chunk->table->id), rows, (int) chunk->nrows, err);
}

static WcStatus
send_chunk(Chunk *chunk, WcError *err)
{
	WcStatus	status = resolve(chunk, err);

	for (RowKind kind = ROW_PUTS; kind <= ROW_MIXED && status == WC_OK; kind++)
		status = send_kind(chunk, kind, err);
	return status;
}

/* HBase changes the row only if the cell that the transaction has read is still the same. */
static WcStatus
send_conditional(WcHBaseTable *table, const WcThriftRow *row, WcError *err)
{
	const WcHBaseCondition *on = wc_hbase_condition_of(table->id, row->row);
	WcThriftCondition condition = {
		.family = wc_slice_cstr(on->family),.qualifier = on->qualifier,.value = on->value
	};
	WcThriftWriter w;
	WcAnswer	answer;
	WcStatus	status;
	int32		number;
	bool		unsure;
	bool		same = true;

	wc_hbase_begin(table->server, &w, &number);
	wc_request_check_and_mutate(&w, number, wc_slice_cstr(table->name), row, &condition);
	status = wc_hbase_send(table->server, WC_METHOD_CHECK_AND_MUTATE, number, &answer, &unsure, err);
	if (status == WC_OK)
	{
		status = wc_hbase_check(table->server, table->name, &answer, err);
		unsure = status == WC_CORRUPT;	/* an answer that makes no sense tells nothing */
	}
	if (status == WC_OK)
	{
		status = wc_answer_bool(&answer, &same, err);
		unsure = status != WC_OK;
	}
	if (status == WC_OK && !same)
	{
		status = wc_hbase_error(err, WC_CONFLICT, ERRCODE_T_R_SERIALIZATION_FAILURE,
								"another client of HBase has changed a cell that the transaction has read");
		wc_error_hint(err, "Repeat the transaction.");
	}
	if (status == WC_OK)
	{
		nsent++;
		wc_hbase_condition_compared(table->id, row->row);
	}
	else
		tell_where(table, &row, 1, unsure, err);
	return status;
}

static WcStatus
send_conditional_chunk(Chunk *chunk, WcError *err)
{
	WcStatus	status = resolve(chunk, err);

	for (uint32 i = 0; i < chunk->nrows && status == WC_OK; i++)
	{
		if (kind_of(&chunk->told[i]) != ROW_NOTHING)
			status = send_conditional(chunk->table, &chunk->told[i], err);
	}
	return status;
}

/* Goes through all changes, chunk by chunk. */
static WcStatus
for_chunks(WcTxn *txn, ChunkFunction function, WcError *err)
{
	Rows		rows = {0};
	Chunk		chunk;
	WcStatus	status = wc_txnwalk_open(txn, &rows.walk, err);

	if (status == WC_OK)
		next_row(&rows, err);
	while (status == WC_OK)
	{
		status = gather(&rows, &chunk, err);
		if (status == WC_OK && chunk.nrows > 0)
			status = function(&chunk, err);
		wc_arena_free(&chunk.arena);
	}
	wc_txnwalk_close(rows.walk);
	return status == WC_END ? WC_OK : status;
}

/* Must a row be absent, and may the changes not be one chunk?  Then this is looked at before anything is sent. */
static bool
checks_first(WcTxn *txn)
{
	size_t		n;
	const WcTxnTable *tables = wc_txn_tables(txn, &n);
	bool		absent = false;

	for (size_t i = 0; i < n; i++)
		absent |= tables[i].absent;
	return absent && (n > 1 || wc_txn_nrows(txn) > WC_HBASE_SEND_ROWS || wc_txn_length(txn) > WC_HBASE_SEND_BYTES);
}

/* Reads changed options of servers, which may raise an error: later, memory of core would not be freed. */
static void
refresh_servers(WcTxn *txn)
{
	size_t		n = 0;
	const WcTxnTable *tables = txn != NULL ? wc_txn_tables(txn, &n) : NULL;

	wc_hbase_ddl_refresh_servers();
	for (size_t i = 0; i < n; i++)
		(void) wc_hbase_server(wc_hbase_table_by_id(tables[i].id)->server->oid);
}

static WcStatus
send_txn(WcTxn *txn, WcError *err)
{
	WcStatus	status = WC_OK;

	if (checks_first(txn))
		status = for_chunks(txn, resolve, err);
	if (status != WC_OK)
		return status;
	wc_hbase_note_sending();
	if (wc_hbase_conditions() > 0)
	{
		pass = PASS_CONDITIONAL;
		status = for_chunks(txn, send_conditional_chunk, err);
		pass = PASS_UNCONDITIONAL;
	}
	if (status == WC_OK)
		status = for_chunks(txn, send_chunk, err);
	pass = PASS_ALL;
	if (status == WC_OK)
		wc_hbase_conditions_spend();
	wc_hbase_note_sending();
	return status;
}

/* Mostly rows are not locked: a load of any size would have to hold that many locks, and others see the rows already. */
void
wc_hbase_stream_send(bool locked)
{
	WcTxn	   *txn = wc_hbase_changes_unsent(WC_HBASE_STREAMED);
	WcStatus	status;
	WcError		err;

	if (txn == NULL)
		return;
	refresh_servers(txn);
	status = locked ? for_chunks(txn, lock_chunk, &err) : WC_OK;
	streaming = true;
	if (status == WC_OK)
		status = send_txn(txn, &err);
	streaming = false;
	if (status != WC_OK)
		wc_hbase_raise(&err);
}

/* Changes of tables come before those of rows, which may be of new tables, or families. */
static WcStatus
send_kept(WcTxn *txn, WcError *err)
{
	WcStatus	status = txn != NULL ? for_chunks(txn, lock_chunk, err) : WC_OK;

	if (status == WC_OK && wc_hbase_ddl_count() > 0)
	{
		wc_hbase_note_sending();
		status = wc_hbase_ddl_send(err);
		wc_hbase_note_sending();
	}
	return status == WC_OK && txn != NULL ? send_txn(txn, err) : status;
}

void
wc_hbase_commit_send(void)
{
	WcTxn	   *txn = wc_hbase_changes_unsent(WC_HBASE_KEPT);
	WcStatus	status;
	WcError		err;
	int			ndone;

	refresh_servers(txn);
	status = send_kept(txn, &err);
	if (status == WC_OK)
		return;
	ndone = wc_hbase_ddl_done(true);
	if (ndone > 0)
		wc_hbase_error_more(&err, ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN,
							psprintf(ndone == 1 ? "HBase has made %d other change of a table or namespace." :
									 "HBase has made %d other changes of tables and namespaces.", ndone));
	wc_hbase_raise(&err);
}

uint64
wc_hbase_rows_sent(void)
{
	return nsent;
}

uint64
wc_hbase_rows_forget_sent(uint64 *untold)
{
	uint64		sent = nsent;

	*untold = nsent - ntold;
	nsent = ntold = 0;
	return sent;
}
