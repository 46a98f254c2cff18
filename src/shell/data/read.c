/*
 * shell/data/read.c: get, scan and count, cells as they are.
 *
 * A get's result goes to a tuplestore, which spills to disk beyond work_mem; a scan gives
 * out cell by cell.  Both take bounded memory.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "fdw/convert/convert.h"
#include "filterlang/filterlang.h"
#include "shell/access.h"

PG_FUNCTION_INFO_V1(widecol_get);
PG_FUNCTION_INFO_V1(widecol_get_rows);
PG_FUNCTION_INFO_V1(widecol_scan_cells);
PG_FUNCTION_INFO_V1(widecol_count);

#define CELL_COLUMNS 6			/* of widecol.cell */

/* columns text[]: family, or family:qualifier */
static void
parse_columns(FunctionCallInfo fcinfo, int argno, const WcTableDesc *table, WcScan *scan)
{
	Datum	   *elements;
	bool	   *nulls;
	int			n;

	if (PG_ARGISNULL(argno))
		return;
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(argno), TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, &nulls, &n);
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("columns must not be empty"),
				 errhint("Leave it out for all columns.")));
	if (n > WC_COLUMNS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many columns"),
				 errdetail("There are %d; the limit is %d.", n, WC_COLUMNS_MAX)));
	scan->columns = palloc0(sizeof(WcColumn) * n);
	for (int i = 0; i < n; i++)
	{
		WcColumnName name;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("columns must not contain null")));
		name = wc_column_parse(table, TextDatumGetCString(elements[i]), true);
		scan->columns[i].family = name.family;
		scan->columns[i].kind = name.whole_family ? WC_COLUMN_FAMILY : WC_COLUMN_EXACT;
		scan->columns[i].qualifier = name.qualifier;
	}
	scan->ncolumns = n;
}

static void
set_columns(FunctionCallInfo fcinfo, int argno, const WcAccess *access, WcScan *scan)
{
	parse_columns(fcinfo, argno, access->table, scan);
	wc_access_restrict(access, scan);
}

/* The value of the argument `name`; an error if it is less than min. */
static int64
at_least(const char *name, int64 value, int64 min)
{
	if (value < min)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must be at least " INT64_FORMAT, name, min)));
	return value;
}

static void
set_versions(FunctionCallInfo fcinfo, int argno, WcScan *scan)
{
	if (!PG_ARGISNULL(argno))
		scan->versions = (uint32) at_least("versions", PG_GETARG_INT32(argno), 1);
}

static void
set_column_paging(FunctionCallInfo fcinfo, int argno, WcScan *scan)
{
	if (!PG_ARGISNULL(argno))
		scan->column_limit = (uint32) at_least("column_limit", PG_GETARG_INT32(argno), 1);
	if (!PG_ARGISNULL(argno + 1))
		scan->column_offset = (uint32) at_least("column_offset", PG_GETARG_INT32(argno + 1), 0);
}

/*
 * Sets a filter in HBase's language.  The filter may see other cells than the caller gets, so the caller must have the
 * privileges to read all cells that the scan reads.
 */
static void
set_filter(FunctionCallInfo fcinfo, int argno, const WcAccess *access, WcScan *scan)
{
	WcArena		arena = WC_ARENA_INIT;
	WcLangNode *filter;
	char	   *words;
	WcError		err;
	WcStatus	status;

	if (PG_ARGISNULL(argno))
		return;
	wc_access_require_all(access, "a filter");
	words = text_to_cstring(PG_GETARG_TEXT_PP(argno));
	scan->filter_text = wc_text_to_utf8(words, strlen(words));
	status = wc_filterlang_parse(scan->filter_text, &arena, &filter, &err);
	wc_arena_free(&arena);
	if (status != WC_OK)
		wc_raise(&err);
}

/* The name of a family, as text; families are few, so looked up by id. */
static Datum
family_text(const WcTableDesc *table, Datum *names, uint32 id)
{
	for (uint32 i = 0; i < table->nfamilies; i++)
		if (table->families[i].id == id)
			return names[i];
	elog(ERROR, "cell of unknown family %u", id);
}

/* Which family and qualifier a cell has: its own, or those of its column. */
static void
identify(const WcScan *scan, uint32 colno, WcCell *cell)
{
	if (colno == WC_NO_COLUMN)
		return;
	cell->family = scan->columns[colno].family;
	cell->qualifier = scan->columns[colno].qualifier;
}

/* A scan whose cells are given out one by one. */
typedef struct Reader
{
	WcAccess	access;
	WcScan		scan;
	WcClientScan *rows;			/* NULL: nothing can be in it */
	uint64		row_limit;		/* 0: none */
	uint64		rows_shown;
	WcSlice		row;			/* the current one; empty: none */
	Datum	   *families;		/* names of the table's, as text */
} Reader;

/* r->access and r->scan are set.  In the context in which the scan is to live. */
static void
start_reading(Reader *r)
{
	const WcTableDesc *table = r->access.table;
	Snapshot	snapshot = GetActiveSnapshot();
	WcError		err;

	/* hidden rows are recognised here, so the rows are counted here */
	r->row_limit = r->scan.row_limit;
	if (r->access.wrel != NULL)
		r->scan.row_limit = 0;
	r->scan.want_ts = true;
	if (wc_scan_check(&r->scan, &err) != WC_OK)
		wc_raise(&err);
	r->families = palloc(sizeof(Datum) * table->nfamilies);
	for (uint32 i = 0; i < table->nfamilies; i++)
		r->families[i] = CStringGetTextDatum(wc_name_from_utf8(table->families[i].name));
	r->rows = wc_client_scan_open(&r->scan, wc_client_snapshot(snapshot), snapshot->curcid, r->row_limit,
								  CurrentMemoryContext);
}

/* The next row that shows; false: there is none. */
static bool
next_row(Reader *r)
{
	r->row = wc_slice(NULL, 0);
	if (r->row_limit != 0 && r->rows_shown >= r->row_limit)
		return false;
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!wc_client_next_row(r->rows, &r->row))
			return false;
	} while (!wc_access_shows_row(&r->access, r->row));
	r->rows_shown++;
	return true;
}

/* The next cell that shows, as the columns of widecol.cell, in the current context; false: that was all. */
static bool
next_cell(Reader *r, Datum *values)
{
	WcCell		cell;
	uint32		colno;

	for (;;)
	{
		if (r->row.len == 0 || !wc_client_next_cell(r->rows, &cell, &colno))
		{
			if (!next_row(r))
				return false;
			continue;
		}
		identify(&r->scan, colno, &cell);
		if (wc_access_shows_cell(&r->access, cell.family, cell.qualifier))
			break;
	}
	values[0] = wc_bytea_datum(r->row);
	values[1] = family_text(r->access.table, r->families, cell.family);
	values[2] = wc_bytea_datum(cell.qualifier);
	values[3] = Int64GetDatum(cell.ts);
	values[4] = CStringGetTextDatum(wc_cell_type_name(cell.type));
	values[5] = wc_bytea_datum(cell.value);
	return true;
}

/* All of it at once: of a get. */
static void
return_cells(FunctionCallInfo fcinfo, Reader *r)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext per_cell = AllocSetContextCreate(CurrentMemoryContext, "widecol cell", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	Datum		values[CELL_COLUMNS];
	bool		nulls[CELL_COLUMNS] = {false};

	start_reading(r);
	old = MemoryContextSwitchTo(per_cell);
	while (next_cell(r, values))
	{
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		MemoryContextReset(per_cell);
	}
	MemoryContextSwitchTo(old);
	wc_client_scan_close(r->rows);
	MemoryContextDelete(per_cell);
}

static int
compare_rows(const void *a, const void *b)
{
	return wc_slice_cmp(((const WcRange *) a)->start, ((const WcRange *) b)->start);
}

/* rows bytes[]: a range a row, in the order of the keys, each key once */
static void
set_rows(FunctionCallInfo fcinfo, int argno, WcScan *scan)
{
	Datum	   *elements;
	bool	   *nulls;
	int			n;

	wc_arg_not_null(fcinfo, argno, "rows");
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(argno), ARR_ELEMTYPE(PG_GETARG_ARRAYTYPE_P(argno)), -1, false, TYPALIGN_INT,
					  &elements, &nulls, &n);
	scan->ranges = palloc0(sizeof(WcRange) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		bytea	   *row = nulls[i] ? NULL : DatumGetByteaPP(elements[i]);
		WcRange    *range = &scan->ranges[i];

		if (row == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("rows must not contain null")));
		range->start = range->stop = wc_row_check(wc_slice(VARDATA_ANY(row), VARSIZE_ANY_EXHDR(row)));
		range->start_inclusive = range->stop_inclusive = true;
	}
	qsort(scan->ranges, n, sizeof(WcRange), compare_rows);
	for (int i = 0; i < n; i++)
		if (scan->nranges == 0 || !wc_slice_eq(scan->ranges[scan->nranges - 1].start, scan->ranges[i].start))
			scan->ranges[scan->nranges++] = scan->ranges[i];
	if (scan->nranges > WC_RANGES_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many rows"),
				 errdetail("There are %u; the limit is %d.", scan->nranges, WC_RANGES_MAX)));
}

/* get, of one row or of an array of rows. */
static Datum
get(FunctionCallInfo fcinfo, bool many)
{
	WcRange		range = {.start_inclusive = true,.stop_inclusive = true};
	Reader		r = {0};

	InitMaterializedSRF(fcinfo, 0);
	wc_access_open(fcinfo, &r.access, true, 0);
	wc_scan_init(&r.scan, r.access.table->id);
	if (many)
		set_rows(fcinfo, 1, &r.scan);
	else
	{
		range.start = range.stop = wc_arg_row(fcinfo, 1);
		r.scan.ranges = &range;
		r.scan.nranges = 1;
	}
	set_columns(fcinfo, 2, &r.access, &r.scan);
	set_versions(fcinfo, 3, &r.scan);
	wc_arg_time_range(fcinfo, 4, &r.scan);
	set_column_paging(fcinfo, 5, &r.scan);
	set_filter(fcinfo, 7, &r.access, &r.scan);

	/* without a range it would be a scan of the whole table */
	if (r.scan.nranges > 0)
		return_cells(fcinfo, &r);
	wc_access_close(&r.access);
	return (Datum) 0;
}

/* get(tab, row, columns, versions, time_range, column_limit, column_offset, filter) */
Datum
widecol_get(PG_FUNCTION_ARGS)
{
	return get(fcinfo, false);
}

/* get(tab, rows, columns, versions, time_range, column_limit, column_offset, filter) */
Datum
widecol_get_rows(PG_FUNCTION_ARGS)
{
	return get(fcinfo, true);
}

/* The rows that begin with a prefix, in the current context. */
static void
set_prefix(WcSlice prefix, WcRange *range)
{
	WcArena		arena = WC_ARENA_INIT;
	uint8	   *stop;

	if (!wc_range_of_prefix(&arena, prefix, range))
		wc_raise_no_memory();
	stop = MemoryContextAllocExtended(CurrentMemoryContext, range->stop.len + 1, MCXT_ALLOC_NO_OOM);
	if (stop != NULL)
		wc_slice_copy(stop, range->stop);
	range->stop = wc_slice(stop, range->stop.len);
	wc_arena_free(&arena);
	if (stop == NULL)
		wc_raise_no_memory();
}

/* start_row, stop_row and row_prefix together; false when nothing can be in it. */
static bool
set_range(FunctionCallInfo fcinfo, WcScan *scan, bool include_start, bool include_stop)
{
	bool		has_start = !PG_ARGISNULL(1);
	bool		has_stop = !PG_ARGISNULL(2);
	WcRange    *range = palloc0(sizeof(WcRange));

	if (!PG_ARGISNULL(3))
	{
		if (has_start || has_stop)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("row_prefix cannot be combined with start_row or stop_row")));
		set_prefix(wc_arg_bytes(fcinfo, 3), range);
	}
	else
	{
		/* of a reversed scan, start_row is the greater bound */
		bool		reversed = scan->reversed;
		WcSlice		start = has_start ? wc_arg_bytes(fcinfo, 1) : wc_slice(NULL, 0);
		WcSlice		stop = has_stop ? wc_arg_bytes(fcinfo, 2) : wc_slice(NULL, 0);

		range->start = reversed ? stop : start;
		range->start_inclusive = reversed ? include_stop : include_start;
		range->stop = reversed ? start : stop;
		range->stop_inclusive = reversed ? include_start : include_stop;
	}
	scan->ranges = range;
	scan->nranges = 1;
	return !wc_range_is_empty(range);
}

/* Reads the arguments, and begins unless nothing can be in it. */
static Reader *
begin_scan(FunctionCallInfo fcinfo)
{
	Reader	   *r = palloc0(sizeof(Reader));
	WcScan	   *scan = &r->scan;
	bool		any;

	wc_access_open(fcinfo, &r->access, true, 0);
	wc_scan_init(scan, r->access.table->id);
	scan->reversed = !PG_ARGISNULL(7) && PG_GETARG_BOOL(7);
	scan->raw = !PG_ARGISNULL(9) && PG_GETARG_BOOL(9);
	if (scan->raw)
		wc_access_require_all(&r->access, "a raw scan");
	set_columns(fcinfo, 4, &r->access, scan);
	set_versions(fcinfo, 5, scan);
	wc_arg_time_range(fcinfo, 6, scan);
	if (!PG_ARGISNULL(8))
		scan->row_limit = (uint64) at_least("row_limit", PG_GETARG_INT64(8), 1);
	set_column_paging(fcinfo, 12, scan);
	set_filter(fcinfo, 14, &r->access, scan);
	any = set_range(fcinfo, scan, PG_ARGISNULL(10) || PG_GETARG_BOOL(10), !PG_ARGISNULL(11) && PG_GETARG_BOOL(11));
	if (any)
		start_reading(r);
	return r;
}

/*
 * scan_cells(tab, start_row, stop_row, row_prefix, columns, versions, time_range,
 * reversed, row_limit, raw, include_start, include_stop, column_limit,
 * column_offset, filter): a cell each time it is called.
 *
 * scan is this as a function in SQL, which the planner writes into the query: below a LIMIT no
 * more is read than is wanted.  (Of a function in FROM PostgreSQL takes all rows before it gives
 * out the first.)  If the query wants no more, the scan goes with the function's memory context.
 */
Datum
widecol_scan_cells(PG_FUNCTION_ARGS)
{
	FuncCallContext *call;
	Reader	   *r;
	Datum		values[CELL_COLUMNS];
	bool		nulls[CELL_COLUMNS] = {false};

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;
		TupleDesc	desc;

		call = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "return type must be a row type");
		call->tuple_desc = BlessTupleDesc(desc);
		call->user_fctx = begin_scan(fcinfo);
		MemoryContextSwitchTo(old);
	}
	call = SRF_PERCALL_SETUP();
	r = call->user_fctx;
	if (r->rows != NULL && next_cell(r, values))
		SRF_RETURN_NEXT(call, HeapTupleGetDatum(heap_form_tuple(call->tuple_desc, values, nulls)));
	if (r->rows != NULL)
		wc_client_scan_close(r->rows);
	wc_access_close(&r->access);
	SRF_RETURN_DONE(call);
}

/* Rows with a cell that the caller may see. */
static int64
count_rows(WcAccess *access, WcScan *scan)
{
	Snapshot	snapshot = GetActiveSnapshot();
	WcClientScan *rows;
	WcSlice		row;
	int64		n = 0;
	WcError		err;

	/* a cell of each family tells enough, where none needs to be looked at */
	scan->key_only = true;
	scan->rows_by_existence = scan->ncolumns == 0 && scan->filter_text.len == 0;
	if (!scan->rows_by_existence && access->wrel == NULL && scan->filter_text.len == 0)
		scan->column_limit = 1;
	if (wc_scan_check(scan, &err) != WC_OK)
		wc_raise(&err);
	rows = wc_client_scan_open(scan, wc_client_snapshot(snapshot), snapshot->curcid, 0, CurrentMemoryContext);
	while (wc_client_next_row(rows, &row))
	{
		bool		shows = access->wrel == NULL;
		WcCell		cell;
		uint32		colno;

		CHECK_FOR_INTERRUPTS();
		if (!wc_access_shows_row(access, row))
			continue;
		while (!shows && wc_client_next_cell(rows, &cell, &colno))
		{
			identify(scan, colno, &cell);
			shows = wc_access_shows_cell(access, cell.family, cell.qualifier);
		}
		n += shows;
	}
	wc_client_scan_close(rows);
	return n;
}

/* count(tab, start_row, stop_row, row_prefix, columns, time_range, filter) */
Datum
widecol_count(PG_FUNCTION_ARGS)
{
	WcAccess	access;
	WcScan		scan;
	int64		n = 0;

	wc_access_open(fcinfo, &access, true, 0);
	wc_scan_init(&scan, access.table->id);
	set_columns(fcinfo, 4, &access, &scan);
	wc_arg_time_range(fcinfo, 5, &scan);
	set_filter(fcinfo, 6, &access, &scan);
	if (set_range(fcinfo, &scan, true, false))
		n = count_rows(&access, &scan);
	wc_access_close(&access);
	PG_RETURN_INT64(n);
}
