/*
 * shell/data/counter.c: incr and append, which compute a cell from its old value, and get_counter, which only reads
 * a cell.
 *
 * incr and append lock the row, so that no change is lost between reading and committing, and read the newest
 * state: under READ COMMITTED they never fail because of another transaction.  They write an ordinary put.  A store
 * outside the embedded engine may change the cell itself (wc_client_acts_at_once).
 * Since they write and return the old content, they need both privileges (shell/access.h).
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/snapmgr.h"

#include "base/coding.h"
#include "base/printable.h"
#include "compat.h"
#include "shell/access.h"

PG_FUNCTION_INFO_V1(widecol_incr);
PG_FUNCTION_INFO_V1(widecol_append);
PG_FUNCTION_INFO_V1(widecol_get_counter);

#define COUNTER_SIZE 8			/* HBase's long, big-endian */

/* Of a row key or qualifier in a message. */
#define SHOWN_MAX 128

typedef struct Change
{
	WcAccess	access;
	const WcTableDesc *table;	/* access's */
	WcSlice		row;
	WcColumnName column;
	int64		ts;				/* as asked for */
	int64		ttl_us;
	WcCurrentCell current;
} Change;

/* tab, row, col, (argument 3), ts, ttl. */
static void
open_change(FunctionCallInfo fcinfo, Change *c)
{
	wc_access_open(fcinfo, &c->access, true, ACL_INSERT);
	c->table = c->access.table;
	c->row = wc_access_row_argument(fcinfo, 1, &c->access);
	c->column = wc_access_column_argument(fcinfo, 2, "col", &c->access, ACL_INSERT);
	wc_access_require_column(&c->access, &c->column, ACL_SELECT);
	c->ts = wc_arg_ts(fcinfo, 4);
	c->ttl_us = wc_arg_ttl_us(fcinfo, 5);
}

/* Does the store itself change the cell? */
static bool
store_changes(const Change *c)
{
	return c->ts == WC_TS_LATEST && c->ttl_us == 0 && wc_client_acts_at_once(c->table);
}

/* Locks the row and reads the cell. */
static void
begin_change(Change *c)
{
	WcScan		scan;

	wc_scan_init(&scan, c->table->id);
	wc_current_cell(c->table, c->row, &c->column, &scan, &c->current);
}

/* "column "f:q" of row "r" of stored table "t"" */
static char *
place(const WcTableDesc *table, WcSlice row_key, const WcColumnName *column)
{
	char		row[SHOWN_MAX];
	char		qualifier[SHOWN_MAX];
	const char *family = "";

	for (uint32 i = 0; i < table->nfamilies; i++)
	{
		if (table->families[i].id == column->family)
			family = wc_name_from_utf8(table->families[i].name);
	}
	return psprintf("column \"%s:%s\" of row \"%s\" of stored table \"%s\"", family,
					wc_printable(qualifier, sizeof(qualifier), column->qualifier),
					wc_printable(row, sizeof(row), row_key),
					wc_client_table_fullname(table));
}

/*
 * The new version is later than the current one, which stays as a version: it
 * has the commit's timestamp, or, over a cell dated ahead of it, the first one after that
 * cell's.  A timestamp of one's own is for a cell that is not there yet.  A TTL
 * is handed on unless there is a new one.
 */
static void
finish_change(Change *c, WcSlice value)
{
	int64		ts = c->ts;
	int64		ttl_us = c->ttl_us;

	if (c->current.found)
	{
		ts = c->current.ahead ? c->current.after : WC_TS_LATEST;
		if (c->current.ahead && ts == WC_TS_LATEST)
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("cannot change %s", place(c->table, c->row, &c->column)),
					 errdetail("Its cell has the greatest timestamp there is, " INT64_FORMAT ".", c->current.ts)));
		if (ttl_us == 0)
			ttl_us = c->current.ttl_us;
	}
	wc_put_one(c->table, c->row, &c->column, ts, ttl_us, value);
	wc_access_close(&c->access);
}

static void pg_attribute_noreturn()
not_a_counter(const char *what, const WcTableDesc *table, WcSlice row, const WcColumnName *column, WcSlice value)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("%s %s", what, place(table, row, column)),
			 errdetail("It holds %zu %s; a counter is %d bytes, a big-endian number.",
					   value.len, wc_bytes_word(value.len), COUNTER_SIZE)));
}

/* incr(tab, row, col, by, ts, ttl): adds to a counter, which wraps around as HBase's does; returns its new
 * value.  A missing cell counts as 0. */
Datum
widecol_incr(PG_FUNCTION_ARGS)
{
	uint8		bytes[COUNTER_SIZE];
	uint64		sum;
	Change		c;

	wc_arg_not_null(fcinfo, 3, "by");
	open_change(fcinfo, &c);
	if (store_changes(&c))
	{
		sum = (uint64) wc_client_increment(c.table, c.row, c.column.family, c.column.qualifier, PG_GETARG_INT64(3));
		wc_access_close(&c.access);
		PG_RETURN_INT64((int64) sum);
	}
	begin_change(&c);
	sum = (uint64) PG_GETARG_INT64(3);
	if (c.current.found)
	{
		if (c.current.value.len != COUNTER_SIZE)
			not_a_counter("cannot increment", c.table, c.row, &c.column, c.current.value);
		sum += wc_load_u64(c.current.value.data);
	}
	wc_store_u64(bytes, sum);
	finish_change(&c, wc_slice(bytes, COUNTER_SIZE));
	PG_RETURN_INT64((int64) sum);
}

/* get_counter(tab, row, col): what the statement's snapshot shows, without a lock; NULL: no cell */
Datum
widecol_get_counter(PG_FUNCTION_ARGS)
{
	Snapshot	snapshot = GetActiveSnapshot();
	WcRange		range = {.start_inclusive = true,.stop_inclusive = true};
	WcColumn	column = {.kind = WC_COLUMN_EXACT};
	WcColumnName name;
	WcClientScan *rows;
	WcAccess	access;
	WcScan		scan;
	WcSlice		row;
	WcCell		cell;
	uint32		colno;
	uint64		value = 0;
	bool		found;

	wc_access_open(fcinfo, &access, true, 0);
	range.start = range.stop = wc_arg_row(fcinfo, 1);
	name = wc_access_column_argument(fcinfo, 2, "col", &access, ACL_SELECT);
	column.family = name.family;
	column.qualifier = name.qualifier;
	wc_scan_init(&scan, access.table->id);
	scan.ranges = &range;
	scan.nranges = 1;
	scan.columns = &column;
	scan.ncolumns = 1;
	rows = wc_client_scan_open(&scan, wc_client_snapshot(snapshot), snapshot->curcid, 1, CurrentMemoryContext);
	found = wc_client_next_row(rows, &row) && wc_access_shows_row(&access, row) && wc_client_next_cell(rows, &cell, &colno);
	if (found)
	{
		if (cell.value.len != COUNTER_SIZE)
			not_a_counter("cannot read", access.table, range.start, &name, cell.value);
		value = wc_load_u64(cell.value.data);
	}
	wc_client_scan_close(rows);
	wc_access_close(&access);
	if (!found)
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) value);
}

/* append(tab, row, col, value, ts, ttl): returns the whole new value. */
Datum
widecol_append(PG_FUNCTION_ARGS)
{
	WcSlice		more;
	WcSlice		whole;
	bytea	   *result;
	Change		c;

	wc_arg_not_null(fcinfo, 3, "value");
	open_change(fcinfo, &c);
	more = wc_arg_bytes(fcinfo, 3);
	if (store_changes(&c))
	{
		whole = wc_client_append(c.table, c.row, c.column.family, c.column.qualifier, more);
		wc_access_close(&c.access);
		PG_RETURN_DATUM(wc_bytea_datum(whole));
	}
	begin_change(&c);
	if (c.current.value.len + more.len > WC_VALUE_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot append to %s", place(c.table, c.row, &c.column)),
				 errdetail("Its value would have %zu bytes; the limit is %d.",
						   c.current.value.len + more.len, WC_VALUE_MAX)));
	result = palloc(VARHDRSZ + c.current.value.len + more.len);
	SET_VARSIZE(result, VARHDRSZ + c.current.value.len + more.len);
	whole = wc_slice(VARDATA(result), c.current.value.len + more.len);
	if (c.current.value.len > 0)
		memcpy(VARDATA(result), c.current.value.data, c.current.value.len);
	if (more.len > 0)
		memcpy(VARDATA(result) + c.current.value.len, more.data, more.len);
	finish_change(&c, whole);
	PG_RETURN_BYTEA_P(result);
}
