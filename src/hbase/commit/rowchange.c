/*
 * hbase/commit/rowchange.c: makes HBase's puts and deletes of a transaction's operations on rows.
 *
 * read/ resolves the operations (read/txn/resolve.h), over the cells that HBase has of the row.
 *
 * Timestamps.  A put without a timestamp gets one from the region server's clock.  A marker always has one: that of
 * the newest cell of its family that was read, or that the transaction gave a timestamp.  So it deletes what the
 * transaction has seen, and no cell that is written later, not even in the same millisecond.  While resolving, cells
 * without a timestamp have greater ones than that (`first` and more), which tell them from others.
 */
#include "hbase/commit/rowchange.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/printable.h"
#include "hbase/catalog/catalog.h"
#include "read/txn/resolve.h"

/* Explicit timestamps up to so much behind wc_hbase_latest are taken for times, in the unit of timestamps. */
#define AHEAD_MAX 1000000

/* A family of the table, in the current row. */
typedef struct Family
{
	WcHBaseRowChanges *changes;
	const WcFamilyDesc *desc;
	bool		asked;			/* some row's changes depend on the cells of the family ... */
	WcCellSource *cells;		/* ... and this source has them; NULL: not opened yet */
	WcResolver *resolver;		/* NULL: not made yet */
	bool		in_row;			/* the current row's operations name the family */
	int64		newest;			/* timestamp that markers get; -1: none, as there is nothing to delete */
	bool		touched;		/* by the current operation */
	WcResolved	resolved;
} Family;

struct WcHBaseRowChanges
{
	WcHBaseTable *table;
	const WcHBaseRowOps *rows;
	uint32		nrows;
	uint32		next;
	WcArena		arena;			/* of the fields below */
	WcTableDesc desc;
	WcScan		scan;			/* its ranges are the rows that must be read */
	WcHBaseReader reader;
	Family	   *families;		/* desc.nfamilies of them */
	bool		all_versions;
	bool		raw;			/* markers in HBase must be known, too (see ts_of_put), or cells that HBase does not show */
	uint32		asking;			/* the next range: rows are in the ranges' order */
	bool		asks;			/* the current row is read */
	int64		latest;			/* wc_hbase_latest */
};

static WcStatus
no_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for changes of HBase");
}

/* --- rows that must be read -----------------------------------------------------*/

static Family *
family_of(const WcHBaseRowChanges *c, uint32 id)
{
	for (uint32 i = 0; i < c->desc.nfamilies; i++)
	{
		if (c->desc.families[i].id == id)
			return &c->families[i];
	}
	return NULL;
}

static WcStatus
no_family(const WcHBaseRowChanges *c, uint32 id, WcError *err)
{
	return wc_hbase_error(err, WC_NO_FAMILY, ERRCODE_UNDEFINED_OBJECT,
						  "family \"%s\" of table \"%s\" of HBase is not there any more",
						  id > 0 && id <= (uint32) c->table->nfamilies ? c->table->families[id - 1].name : "?",
						  c->table->name);
}

/* Does the item depend on the row's cells? */
static bool
item_asks(const WcItem *item)
{
	return item->kind != WC_ITEM_PUT && (item->kind >= WC_ITEM_CLEAR_COLUMN || item->ts == WC_TS_LATEST);
}

static WcStatus
ask_absent(WcHBaseRowChanges *c, const WcOp *op, WcError *err)
{
	WcDecoder	d = wc_decoder(op->families);

	while (!wc_decoder_done(&d) && !d.failed)
	{
		uint32		id = (uint32) wc_decode_varint(&d);
		Family	   *family = family_of(c, id);

		if (family == NULL)
			return no_family(c, id, err);
		family->asked = true;
	}
	return WC_OK;
}

/*
 * *asks: does this operation, or an earlier one on the row, depend on the row's cells?  *uncovers: does one show older
 * versions, which HBase may not show now?
 */
static WcStatus
examine_op(WcHBaseRowChanges *c, WcSlice bytes, bool *asks, bool *uncovers, WcError *err)
{
	WcDecoder	d = wc_decoder(bytes);
	bool		behind = *asks; /* a marker of before may delete the operation's puts */
	bool		puts = false;
	WcItem		item;
	WcOp		op;
	WcStatus	status = wc_batch_next_op(&d, &op, err);

	if (status == WC_OK && (op.flags & WC_ROW_MUST_BE_ABSENT) != 0)
	{
		*asks = true;
		status = ask_absent(c, &op, err);
	}
	if (status != WC_OK)
		return status;
	d = wc_decoder(op.items);
	while ((status = wc_op_next_item(&d, &item, err)) == WC_OK)
	{
		Family	   *family = family_of(c, item.family);

		if (family == NULL)
			return no_family(c, item.family, err);
		c->raw |= *uncovers && item_asks(&item);
		*uncovers |= item.kind == WC_ITEM_DELETE || item.kind == WC_ITEM_DELETE_FAMILY_VERSION;
		c->all_versions |= *uncovers;
		puts |= item.kind == WC_ITEM_PUT && item.ts == WC_TS_LATEST;
		if (!item_asks(&item))
			continue;
		behind |= item.kind < WC_ITEM_CLEAR_COLUMN;
		*asks = true;
		family->asked = true;
	}
	c->raw |= puts && behind;
	return status == WC_END ? WC_OK : status;
}

/* Finds the rows that must be read. */
static WcStatus
examine(WcHBaseRowChanges *c, WcError *err)
{
	WcRange    *ranges = wc_arena_alloc_zero(&c->arena, c->nrows * sizeof(WcRange));

	if (ranges == NULL)
		return no_memory(err);
	c->scan.ranges = ranges;
	for (uint32 i = 0; i < c->nrows; i++)
	{
		bool		asks = false;
		bool		uncovers = false;

		for (uint32 k = 0; k < c->rows[i].nops; k++)
		{
			WcStatus	status = examine_op(c, c->rows[i].ops[k], &asks, &uncovers, err);

			if (status != WC_OK)
				return status;
		}
		if (asks)
			ranges[c->scan.nranges++] = (WcRange) {
				.start = c->rows[i].row,.stop = c->rows[i].row,.start_inclusive = true,.stop_inclusive = true
			};
	}
	return WC_OK;
}

/* Opens the sources of all families that are asked for: they share pages. */
static WcStatus
open_sources(WcHBaseRowChanges *c, WcError *err)
{
	WcRange		bounds = c->scan.ranges[0];
	WcSourceOptions options = {.bounds = &bounds};
	WcStatus	status = WC_OK;

	bounds.stop = c->scan.ranges[c->scan.nranges - 1].stop;
	c->scan.raw = c->raw;
	c->scan.versions = c->all_versions || c->raw ? WC_VERSIONS_MAX : 1;
	for (uint32 i = 0; i < c->desc.nfamilies && status == WC_OK; i++)
	{
		if (c->families[i].asked)
			status = wc_hbase_rows_source(&c->reader, i, &options, &c->families[i].cells, err);
	}
	return status;
}

WcStatus
wc_hbase_rowchanges_open(WcHBaseTable *table, const WcHBaseRowOps *rows, uint32 nrows, WcHBaseRowChanges **changes,
						 WcError *err)
{
	WcHBaseRowChanges *c = calloc(1, sizeof(WcHBaseRowChanges));
	WcStatus	status;

	*changes = c;
	if (c == NULL)
		return no_memory(err);
	c->table = table;
	c->rows = rows;
	c->nrows = nrows;
	c->latest = wc_hbase_latest(table->server);
	wc_scan_init(&c->scan, table->id);
	status = wc_hbase_read_desc(table, true, &c->arena, &c->desc, err);
	if (status != WC_OK)
		return status;
	c->reader = (WcHBaseReader) {.table = table,.desc = &c->desc,.scan = &c->scan};
	c->families = wc_arena_alloc_zero(&c->arena, (c->desc.nfamilies + 1) * sizeof(Family));
	if (c->families == NULL)
		return no_memory(err);
	for (uint32 i = 0; i < c->desc.nfamilies; i++)
		c->families[i] = (Family) {.changes = c,.desc = &c->desc.families[i]};
	status = examine(c, err);
	return status == WC_OK && c->scan.nranges > 0 ? open_sources(c, err) : status;
}

void
wc_hbase_rowchanges_close(WcHBaseRowChanges *c)
{
	if (c == NULL)
		return;
	for (uint32 i = 0; c->families != NULL && i < c->desc.nfamilies; i++)
	{
		wc_cellsource_close(c->families[i].cells);
		wc_resolver_free(c->families[i].resolver);
	}
	wc_hbase_rows_free(&c->reader);
	wc_arena_free(&c->arena);
	free(c);
}

/* --- resolving ------------------------------------------------------------------*/

/* HBase's cells of the row, for the resolver and for find_newest. */
static WcStatus
stored_row(void *arg, WcSlice row, WcCellSource **src, WcError *err)
{
	Family	   *family = arg;
	WcStatus	status;

	*src = NULL;
	if (!family->changes->asks || family->cells == NULL)
		return WC_OK;
	status = family->cells->ops->seek_row(family->cells, row, true, err);
	if (status == WC_OK && wc_slice_eq(family->cells->row, row))
		*src = family->cells;
	return status == WC_END ? WC_OK : status;
}

static void
note_newest(Family *family, int64 ts, int64 latest)
{
	if (ts <= latest && ts > family->newest)
		family->newest = ts;
}

static WcStatus
find_newest(Family *family, WcSlice row, WcError *err)
{
	WcCellSource *src;
	WcCell		cell;
	WcStatus	status = stored_row(family, row, &src, err);

	if (status != WC_OK || src == NULL)
		return status;
	while ((status = src->ops->next_cell(src, &cell, err)) == WC_OK)
		note_newest(family, cell.ts, family->changes->latest);
	return status == WC_END ? WC_OK : status;
}

static void
enter_family(Family *family)
{
	if (family->in_row)
		return;
	family->in_row = true;
	family->newest = -1;
}

/* Notes which families the operation names, and its timestamps. */
static WcStatus
note_op(WcHBaseRowChanges *c, WcSlice bytes, WcError *err)
{
	WcDecoder	d = wc_decoder(bytes);
	WcDecoder	absent;
	WcItem		item;
	WcOp		op;
	WcStatus	status = wc_batch_next_op(&d, &op, err);

	if (status != WC_OK)
		return status;
	absent = wc_decoder(op.families);
	while (!wc_decoder_done(&absent) && !absent.failed)
		enter_family(family_of(c, (uint32) wc_decode_varint(&absent)));
	d = wc_decoder(op.items);
	while ((status = wc_op_next_item(&d, &item, err)) == WC_OK)
	{
		Family	   *family = family_of(c, item.family);

		enter_family(family);
		if (item.kind < WC_ITEM_CLEAR_COLUMN && item.ts != WC_TS_LATEST)
			note_newest(family, item.ts, c->latest + AHEAD_MAX);
	}
	return status == WC_END ? WC_OK : status;
}

static WcStatus
start_family(WcHBaseRowChanges *c, Family *family, WcSlice row, WcError *err)
{
	WcResolverOptions options = {
		.family = family->desc->id,.attrs = family->desc->attrs,.now_us = wc_clock_wall_us(),
		.base = stored_row,.arg = family
	};
	WcStatus	status = find_newest(family, row, err);

	if (status == WC_OK && family->resolver == NULL)
		status = wc_resolver_create(&options, &family->resolver, err);
	if (status == WC_OK)
		wc_resolver_start(family->resolver, row, family->newest + 1);
	return status;
}

static WcStatus
check_absent(WcHBaseRowChanges *c, const WcOp *op, WcError *err)
{
	WcDecoder	d = wc_decoder(op->families);
	bool		exists = false;
	WcStatus	status = WC_OK;
	char		shown[WC_PRINTABLE_SIZE(100)];

	while (!wc_decoder_done(&d) && !d.failed && status == WC_OK && !exists)
		status = wc_resolver_exists(family_of(c, (uint32) wc_decode_varint(&d))->resolver, &exists, err);
	if (status != WC_OK || !exists)
		return status;
	wc_error(err, WC_DUPLICATE_ROW, "row \"%s\" of table \"%s\" of HBase exists already",
			 wc_printable(shown, sizeof(shown), wc_slice(op->row.data, Min(op->row.len, 100))), c->table->name);
	wc_error_row(err, c->table->id, op->row.data, op->row.len);
	return WC_DUPLICATE_ROW;
}

static WcStatus
resolve_op(WcHBaseRowChanges *c, WcSlice bytes, WcError *err)
{
	WcDecoder	d = wc_decoder(bytes);
	WcItem		item;
	WcOp		op;
	WcStatus	status = wc_batch_next_op(&d, &op, err);

	if (status == WC_OK && (op.flags & WC_ROW_MUST_BE_ABSENT) != 0)
		status = check_absent(c, &op, err);
	if (status != WC_OK)
		return status;
	d = wc_decoder(op.items);
	while ((status = wc_op_next_item(&d, &item, err)) == WC_OK)
	{
		Family	   *family = family_of(c, item.family);

		family->touched = true;
		status = wc_resolver_item(family->resolver, &item, err);
		if (status != WC_OK)
			return status;
	}
	status = status == WC_END ? WC_OK : status;
	for (uint32 i = 0; i < c->desc.nfamilies; i++)
	{
		if (c->families[i].touched && status == WC_OK)
			status = wc_resolver_end_op(c->families[i].resolver, err);
		c->families[i].touched = false;
	}
	return status;
}

/* --- puts and deletes -------------------------------------------------------------*/

/* Did the cell get its timestamp while resolving? */
static bool
is_timeless(const Family *family, const WcCell *cell)
{
	return cell->ts > family->newest && cell->ts <= family->resolved.last_ts &&
		(cell->type != WC_PUT || cell->ts == cell->seq);
}

/* The kind of HBase's delete; WC_THRIFT_DELETES: HBase need not be told, as only own puts are deleted. */
static WcThriftDelete
delete_of(const Family *family, const WcCell *marker)
{
	bool		timeless = is_timeless(family, marker);

	switch (marker->type)
	{
		case WC_DELETE:
			return timeless ? WC_THRIFT_DELETES : WC_THRIFT_DELETE_VERSION;
		case WC_DELETE_FAMILY_VERSION:
			return timeless ? WC_THRIFT_DELETES : WC_THRIFT_DELETE_FAMILY_VERSION;
		case WC_DELETE_COLUMN:
			return timeless && family->newest < 0 ? WC_THRIFT_DELETES : WC_THRIFT_DELETE_COLUMN;
		default:
			return timeless && family->newest < 0 ? WC_THRIFT_DELETES : WC_THRIFT_DELETE_FAMILY;
	}
}

/* A walk over a family's resolved cells, in cell order: in a column, markers come before the cells that they delete. */
typedef struct CellWalk
{
	const Family *family;
	size_t		column;			/* the current column's first cell */
	int64		family_ts;		/* of the newest DeleteFamily without a timestamp of its own; -1: none */
	bool		column_put;		/* a put without a timestamp of the current column has been given */
} CellWalk;

/* The family's markers stand in the column without a name, which is the first. */
static CellWalk
begin_walk(const Family *family)
{
	CellWalk	w = {.family = family,.family_ts = -1};
	const WcCell *cells = family->resolved.cells;

	for (size_t i = 0; i < family->resolved.n && cells[i].qualifier.len == 0; i++)
	{
		if (cells[i].type == WC_DELETE_FAMILY && is_timeless(family, &cells[i]))
			w.family_ts = Max(w.family_ts, cells[i].ts);
	}
	return w;
}

static void
step(CellWalk *w, size_t i)
{
	const WcCell *cells = w->family->resolved.cells;

	if (i > 0 && wc_slice_eq(cells[i].qualifier, cells[w->column].qualifier))
		return;
	w->column = i;
	w->column_put = false;
}

/* Has the transaction deleted its own put, which has no timestamp, again? */
static bool
is_deleted(const CellWalk *w, size_t i)
{
	const Family *family = w->family;
	const WcCell *cells = family->resolved.cells;
	int64		ts = cells[i].ts;

	if (w->family_ts >= ts)
		return true;
	for (size_t k = 0; k < family->resolved.n && cells[k].qualifier.len == 0; k++)
	{
		if (cells[k].type == WC_DELETE_FAMILY_VERSION && cells[k].ts == ts)
			return true;
	}
	for (size_t k = w->column; k < i; k++)
	{
		if (!is_timeless(family, &cells[k]))
			continue;
		if (cells[k].type == WC_DELETE_COLUMN || (cells[k].type == WC_DELETE && cells[k].ts == ts))
			return true;
	}
	return false;
}

/* Does a marker that HBase is told, and that had no timestamp, delete older cells of the put's column? */
static bool
is_behind_marker(const CellWalk *w, size_t i)
{
	const Family *family = w->family;
	const WcCell *cells = family->resolved.cells;

	if (family->newest < 0 || w->family_ts >= 0)
		return family->newest >= 0;
	for (size_t k = i + 1; k < family->resolved.n && wc_slice_eq(cells[k].qualifier, cells[i].qualifier); k++)
	{
		if (cells[k].type == WC_DELETE_COLUMN && is_timeless(family, &cells[k]))
			return true;
	}
	return false;
}

static int64
hbase_ts(const WcHBaseRowChanges *c, int64 ts)
{
	return c->table->server->options.raw_timestamps ? ts : ts / WC_HBASE_US_PER_MS;
}

/*
 * The timestamp of a put that has none.  Behind a marker it must be greater than the marker's.  The server's clock
 * may be behind this one: so if the marker is of the last moments, the put gets the next timestamp.  That is also
 * greater than those of markers in HBase, which would delete the put: they have been read, too (raw).
 */
static int64
ts_of_put(const WcHBaseRowChanges *c, const Family *family, bool behind)
{
	if (!behind || hbase_ts(c, family->newest) <= hbase_ts(c, c->latest) - 2 * WC_HBASE_CLOCKS_MS)
		return WC_THRIFT_NO_TS;
	return hbase_ts(c, family->newest) + 1;
}

/* The arrays that a row's changes are put into; NULL: they are only counted. */
typedef struct Told
{
	WcThriftChange *puts;
	WcThriftChange *deletes[WC_THRIFT_DELETES];
} Told;

static void
tell_cell(const WcHBaseRowChanges *c, CellWalk *w, size_t i, Told *told, WcThriftRow *out)
{
	const Family *family = w->family;
	const WcCell *cell = &family->resolved.cells[i];
	bool		timeless = is_timeless(family, cell);
	WcThriftChange change = {
		.family = family->desc->name,.qualifier = cell->qualifier,.value = cell->value,.ttl_ms = cell->ttl_us / WC_HBASE_US_PER_MS
	};
	WcThriftDelete kind;

	step(w, i);
	change.ts = timeless ? hbase_ts(c, family->newest) : hbase_ts(c, cell->ts);
	if (cell->type == WC_PUT)
	{
		/* of several puts of a column without a timestamp, the last one counts */
		if (timeless && (w->column_put || is_deleted(w, i)))
			return;
		w->column_put |= timeless;
		if (timeless)
			change.ts = ts_of_put(c, family, is_behind_marker(w, i));
		if (told != NULL)
			told->puts[out->nputs] = change;
		out->nputs++;
		return;
	}
	kind = delete_of(family, cell);
	if (kind == WC_THRIFT_DELETES)
		return;
	if (told != NULL)
		told->deletes[kind][out->ndeletes[kind]] = change;
	out->ndeletes[kind]++;
}

static void
tell(const WcHBaseRowChanges *c, Told *told, WcThriftRow *out)
{
	out->nputs = 0;
	memset(out->ndeletes, 0, sizeof(out->ndeletes));
	for (uint32 i = 0; i < c->desc.nfamilies; i++)
	{
		const Family *family = &c->families[i];
		CellWalk	walk;

		if (!family->in_row)
			continue;
		walk = begin_walk(family);
		for (size_t k = 0; k < family->resolved.n; k++)
			tell_cell(c, &walk, k, told, out);
	}
}

/* Qualifiers of markers may be the resolver's, which reuses their memory for the next row. */
static WcStatus
copy_qualifiers(WcArena *arena, const Told *told, const WcThriftRow *out, WcError *err)
{
	for (int kind = 0; kind < WC_THRIFT_DELETES; kind++)
	{
		for (uint32 i = 0; i < out->ndeletes[kind]; i++)
		{
			WcThriftChange *marker = &told->deletes[kind][i];

			marker->qualifier = wc_arena_copy(arena, marker->qualifier);
			if (marker->qualifier.data == NULL && marker->qualifier.len > 0)
				return no_memory(err);
		}
	}
	return WC_OK;
}

static int
compare_ttl(const void *a, const void *b)
{
	int64		x = ((const WcThriftChange *) a)->ttl_ms;
	int64		y = ((const WcThriftChange *) b)->ttl_ms;

	return (x > y) - (x < y);
}

static WcStatus
take_row(const WcHBaseRowChanges *c, WcArena *arena, WcThriftRow *out, WcError *err)
{
	Told		told;
	bool		failed = false;

	tell(c, NULL, out);
	told.puts = wc_arena_alloc(arena, Max(out->nputs, 1) * sizeof(WcThriftChange));
	failed |= told.puts == NULL;
	out->puts = told.puts;
	for (int kind = 0; kind < WC_THRIFT_DELETES; kind++)
	{
		told.deletes[kind] = wc_arena_alloc(arena, Max(out->ndeletes[kind], 1) * sizeof(WcThriftChange));
		failed |= told.deletes[kind] == NULL;
		out->deletes[kind] = told.deletes[kind];
	}
	if (failed)
		return no_memory(err);
	tell(c, &told, out);
	if (out->nputs > 0 && wc_thrift_puts_alike(out, 0) < out->nputs)
		qsort(told.puts, out->nputs, sizeof(WcThriftChange), compare_ttl);
	return copy_qualifiers(arena, &told, out, err);
}

WcStatus
wc_hbase_rowchanges_next(WcHBaseRowChanges *c, WcArena *arena, WcThriftRow *out, WcError *err)
{
	const WcHBaseRowOps *row = &c->rows[c->next++];
	WcStatus	status = WC_OK;

	memset(out, 0, sizeof(*out));
	out->row = row->row;
	c->asks = c->asking < c->scan.nranges && wc_slice_eq(c->scan.ranges[c->asking].start, row->row);
	c->asking += c->asks;
	for (uint32 i = 0; i < c->desc.nfamilies; i++)
		c->families[i].in_row = false;
	for (uint32 i = 0; i < row->nops && status == WC_OK; i++)
		status = note_op(c, row->ops[i], err);
	for (uint32 i = 0; i < c->desc.nfamilies && status == WC_OK; i++)
	{
		if (c->families[i].in_row)
			status = start_family(c, &c->families[i], row->row, err);
	}
	for (uint32 i = 0; i < row->nops && status == WC_OK; i++)
		status = resolve_op(c, row->ops[i], err);
	for (uint32 i = 0; i < c->desc.nfamilies && status == WC_OK; i++)
	{
		if (c->families[i].in_row)
			status = wc_resolver_finish(c->families[i].resolver, &c->families[i].resolved, err);
	}
	return status == WC_OK ? take_row(c, arena, out, err) : status;
}
