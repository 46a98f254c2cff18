/*
 * client/txn/own.c: rows that the transaction has locked and read, and its changes of them since.
 *
 * While the transaction has a row locked, nobody else changes the row.  So the session need not ask for the row again: it has
 * the answer to a Get of the row, from when the row was locked, and its own operations.  A put without a timestamp is then the
 * column's visible cell if no cell of the row, nor a delete marker, has a later timestamp than its commit, which the
 * answer tells (wc_block_note_commit_times).  A column that an operation clears has no visible cell.  Rows with other operations are
 * forgotten.
 *
 * An operation that puts or clears every column of a foreign table makes the row, whatever it was before, as long as no cell or marker
 * has a later timestamp than a commit that comes now: the driver knows (is_timely, leave_row).
 *
 * Answers are kept as bytes, and taken apart when the row is read again, which mostly does not happen.
 */
#include "postgres.h"

#include "access/xact.h"

#include "base/hash.h"
#include "client/txn/txn.h"

/* So many answers are kept, of at most so many bytes, Get included; and values of at most so many bytes. */
#define ROWS_MAX	8
#define BYTES_MAX	4096

/* Columns are compared one by one, so with many of them the engine is faster. */
#define COLUMNS_MAX	100

typedef struct Cell
{
	uint32		colno;			/* of the Get's columns */
	size_t		len;
	size_t		room;			/* for a longer value */
	uint8_t    *value;
} Cell;

typedef struct OwnRow
{
	WcBuf		bytes;			/* the encoded Get, then the answer */
	size_t		get_len;
	uint32		table_id;
	uint64		hash;			/* of the row's key */
	uint32		follows;		/* so many commits in turn have taken over the row, perhaps before they were applied */
	uint64		locked_at;		/* the session's last snapshot when the row was locked: younger ones show the row as it was then */
	CommandId	changed_by;		/* the greatest command of its operations */
	bool		changed;
	bool		made;			/* an operation has put or cleared all of the Get's columns; the row was not read, and may not be locked */

	/* once it is taken apart */
	bool		apart;
	WcArena		arena;
	WcScan		get;
	Cell	   *cells;			/* in their order; room for all of the Get's columns */
	uint32		ncells;
} OwnRow;

static OwnRow rows[ROWS_MAX];
static int	nrows;
static int	oldest;				/* once all are in use */

/* Gets of all columns of foreign tables into which rows are inserted; tables share these places, by their ids. */
#define WHOLE_ROWS	4

typedef struct WholeRow
{
	WcBuf		bytes;
	WcArena		arena;
	WcScan		get;			/* of no row in particular; table_id 0: none */
} WholeRow;

static WholeRow whole_rows[WHOLE_ROWS];
static bool any_whole_row;
static bool dated;				/* an operation of the transaction may have a given timestamp, later than its commit's */

static void
forget(OwnRow *r)
{
	r->table_id = 0;			/* no table has it */
	r->apart = false;
}

void
wc_own_forget(void)
{
	for (int i = 0; i < nrows; i++)
		forget(&rows[i]);
	nrows = oldest = 0;
}

bool
wc_own_any(void)
{
	return nrows > 0;
}

/* A Get of named columns, newest versions, as they are now. */
static bool
is_plain_get(const WcScan *scan)
{
	if (scan->ncolumns > COLUMNS_MAX || scan->nranges != 1 || !wc_range_is_point(&scan->ranges[0]) ||
		!scan->rows_by_existence || scan->versions != 1 || scan->uncapped || scan->ts_min != 0 || scan->ts_max != WC_TS_LATEST || scan->filter_ts_min != 0 ||
		scan->filter_ts_max != WC_TS_LATEST || scan->as_of_ts != WC_TS_LATEST || scan->raw || scan->want_ts || scan->key_only ||
		scan->measured || scan->row_limit != 0 || scan->row_offset != 0 || scan->column_limit != 0 || scan->column_offset != 0 ||
		scan->filter != NULL || scan->filter_text.len > 0 || scan->aggregation != NULL || scan->distinct_parts > 0)
		return false;
	for (uint32 i = 0; i < scan->ncolumns; i++)
	{
		if (scan->columns[i].kind != WC_COLUMN_EXACT)
			return false;
	}
	return true;
}

static bool
expires(const WcTableDesc *table)
{
	for (uint32 i = 0; i < table->nfamilies; i++)
	{
		if (table->families[i].attrs.ttl_us > 0)
			return true;
	}
	return false;
}

/* The place of a row that was forgotten, or of the oldest one. */
static OwnRow *
new_row(void)
{
	OwnRow	   *r = &rows[nrows < ROWS_MAX ? nrows++ : oldest++ % ROWS_MAX];

	forget(r);
	return r;
}

/* False: too large, or out of memory. */
static bool
fill(OwnRow *r, const WcScan *get, WcSlice answer)
{
	wc_buf_reset(&r->bytes, BYTES_MAX);
	wc_scan_encode(&r->bytes, get);
	r->get_len = r->bytes.len;
	wc_buf_append_slice(&r->bytes, answer);
	return !r->bytes.failed && r->bytes.len <= BYTES_MAX;
}

void
wc_own_note(const WcTableDesc *table, const WcScan *get, WcSlice answer, uint32 follows)
{
	WcBlockReader reader;
	OwnRow	   *r;
	WcError		err;

	if (IsolationUsesXactSnapshot() || answer.len > BYTES_MAX || !is_plain_get(get) || wc_block_open(&reader, answer, &err) != WC_OK ||
		!reader.commit_times || expires(table))
		return;
	r = new_row();
	if (!fill(r, get, answer))
		return;
	r->hash = wc_hash_bytes(0, get->ranges[0].start);
	r->follows = follows;
	r->locked_at = wc_snapshot_last();
	r->changed = r->made = false;
	r->table_id = table->id;
}

/* Takes the Get apart; there are no cells then. */
static bool
begin_apart(OwnRow *r)
{
	wc_arena_reset(&r->arena);
	r->ncells = 0;
	if (wc_scan_decode(wc_slice(r->bytes.data, r->get_len), &r->arena, &r->get, NULL) != WC_OK)
		return false;
	r->cells = wc_arena_alloc(&r->arena, sizeof(Cell) * Max(r->get.ncolumns, 1));
	return r->cells != NULL;
}

/* Takes the answer apart.  False: it has other cells than those of named columns. */
static bool
take_apart(OwnRow *r)
{
	WcBlockReader reader;
	WcSlice		row;
	WcCell		cell;
	WcBlockEntry entry;
	uint32		colno;
	WcError		err;

	if (r->apart)
		return true;
	if (!begin_apart(r) || wc_block_open(&reader, wc_slice(r->bytes.data + r->get_len, r->bytes.len - r->get_len), &err) != WC_OK ||
		wc_block_next(&reader, &row, &cell, &colno) != WC_BLOCK_ROW)
		return false;
	while ((entry = wc_block_next(&reader, &row, &cell, &colno)) == WC_BLOCK_CELL)
	{
		if (colno >= r->get.ncolumns || r->ncells == r->get.ncolumns)
			return false;
		r->cells[r->ncells++] = (Cell) {colno, cell.value.len, cell.value.len, (uint8_t *) cell.value.data};
	}
	r->apart = entry == WC_BLOCK_DONE;
	return r->apart;
}

static bool
is_of(const OwnRow *r, uint32 table_id, uint64 hash, WcSlice row)
{
	return r->table_id == table_id && r->hash == hash && wc_slice_eq(r->get.ranges[0].start, row);
}

/* --- changes ------------------------------------------------------------------------- */

/* The position of the column among those of the Get; ncolumns: it is not one of them. */
static uint32
find_column(const WcScan *get, uint32 family, WcSlice qualifier)
{
	uint32		i = 0;

	while (i < get->ncolumns && !(get->columns[i].family == family && wc_slice_eq(get->columns[i].qualifier, qualifier)))
		i++;
	return i;
}

/* Where the cells have the column, or would have it: among those of its family, which are together (in the order of the families' names,
 * which own.c does not know), or behind all. */
static uint32
place_of(const OwnRow *r, uint32 colno)
{
	const WcColumn *column = &r->get.columns[colno];
	uint32		place = r->ncells;

	for (uint32 i = 0; i < r->ncells; i++)
	{
		const WcColumn *other = &r->get.columns[r->cells[i].colno];

		if (other->family != column->family)
			continue;
		if (wc_slice_cmp(other->qualifier, column->qualifier) >= 0)
			return i;
		place = i + 1;
	}
	return place;
}

/* A value takes the memory of the one before, if that is enough: a row may be changed a million times.  False: the value is too
 * large, or out of memory. */
static bool
set_cell(OwnRow *r, uint32 colno, WcSlice value)
{
	uint32		place = place_of(r, colno);
	Cell	   *cell = &r->cells[place];

	if (value.len > BYTES_MAX)
		return false;
	if (place == r->ncells || cell->colno != colno)
	{
		if (r->ncells == r->get.ncolumns)
			return false;		/* the answer's cells are in no order that is known here */
		memmove(cell + 1, cell, (r->ncells - place) * sizeof(Cell));
		*cell = (Cell) {.colno = colno};
		r->ncells++;
	}
	if (value.len > cell->room)
	{
		cell->room = 2 * value.len;
		cell->value = wc_arena_alloc(&r->arena, cell->room);
	}
	if (cell->value == NULL && cell->room > 0)
		return false;
	cell->len = value.len;
	if (value.len > 0)
		memcpy(cell->value, value.data, value.len);
	return true;
}

static void
clear_cell(OwnRow *r, uint32 colno)
{
	uint32		i = 0;

	while (i < r->ncells && r->cells[i].colno != colno)
		i++;
	if (i == r->ncells)
		return;
	r->ncells--;
	memmove(&r->cells[i], &r->cells[i + 1], (r->ncells - i) * sizeof(Cell));
}

/* False: not all of it is known. */
static bool
change(OwnRow *r, const WcOp *op)
{
	WcDecoder	d = wc_decoder(op->items);
	bool		puts = false;
	WcItem		item;
	WcStatus	status;

	if (op->flags != 0)
		return false;
	while ((status = wc_op_next_item(&d, &item, NULL)) == WC_OK)
	{
		uint32		colno = find_column(&r->get, item.family, item.qualifier);

		puts |= item.kind == WC_ITEM_PUT;
		if (item.kind == WC_ITEM_CLEAR_COLUMN)
			clear_cell(r, colno);
		else if (item.kind != WC_ITEM_PUT || item.ts != WC_TS_LATEST || item.ttl_us != 0 ||
				 (colno < r->get.ncolumns && !set_cell(r, colno, item.value)))
			return false;
	}
	if (!puts && r->ncells == 0)
		return false;			/* perhaps the row does not exist any more */
	r->changed_by = r->changed ? Max(r->changed_by, op->cid) : op->cid;
	r->changed = true;
	return status == WC_END;
}

static bool
has_timestamps(const WcOp *op)
{
	WcDecoder	d = wc_decoder(op->items);
	WcItem		item;

	while (wc_op_next_item(&d, &item, NULL) == WC_OK)
	{
		if (item.ts != WC_TS_LATEST)
			return true;
	}
	return false;
}

/* Does the operation put or clear each column of the Get, and put anything? */
static bool
makes_row(const WcOp *op, const WcScan *get)
{
	WcDecoder	d = wc_decoder(op->items);
	bool		written[COLUMNS_MAX] = {false};
	uint32		nwritten = 0;
	bool		puts = false;
	WcItem		item;

	while (wc_op_next_item(&d, &item, NULL) == WC_OK)
	{
		uint32		colno = find_column(get, item.family, item.qualifier);

		puts |= item.kind == WC_ITEM_PUT;
		if (colno == get->ncolumns || written[colno])
			continue;
		written[colno] = true;
		nwritten++;
	}
	return puts && nwritten == get->ncolumns;
}

/* If the operation makes the row, the row is kept from now on. */
static void
make(const WcOp *op, uint64 hash)
{
	WcScan	   *get = &whole_rows[op->table_id % WHOLE_ROWS].get;
	OwnRow	   *r;

	if (get->table_id != op->table_id || op->flags != 0 || !makes_row(op, get))
		return;
	r = new_row();
	r->changed = false;
	get->ranges[0].start = get->ranges[0].stop = op->row;
	if (!fill(r, get, wc_slice(NULL, 0)) || !begin_apart(r) || !change(r, op))
		return;
	r->apart = r->made = true;
	r->hash = hash;
	r->follows = 0;
	r->locked_at = 0;
	r->table_id = op->table_id;
}

void
wc_own_change(const WcOp *op, bool early)
{
	bool		known = false;
	bool		may_make;
	uint64		hash;

	dated |= early && op->kind == WC_OP_ROW && has_timestamps(op);
	may_make = early && any_whole_row && !dated;
	if (nrows == 0 && !may_make)
		return;
	if (op->kind != WC_OP_ROW)
	{
		wc_own_forget();
		return;
	}
	hash = wc_hash_bytes(0, op->row);
	for (int i = 0; i < nrows; i++)
	{
		OwnRow	   *r = &rows[i];

		if (r->table_id != op->table_id || r->hash != hash)
			continue;
		if (!take_apart(r) || (is_of(r, op->table_id, hash, op->row) && !change(r, op)))
			forget(r);
		else
			known |= is_of(r, op->table_id, hash, op->row);
	}
	if (may_make && !known)
		make(op, hash);
}

/* --- whole rows ------------------------------------------------------------------------ */

void
wc_own_note_whole_row(const WcTableDesc *table, const WcScan *get)
{
	WholeRow   *whole = &whole_rows[table->id % WHOLE_ROWS];

	whole->get.table_id = 0;
	if (IsolationUsesXactSnapshot() || !is_plain_get(get) || expires(table))
		return;
	wc_buf_reset(&whole->bytes, BYTES_MAX);
	wc_arena_reset(&whole->arena);
	wc_scan_encode(&whole->bytes, get);
	if (whole->bytes.failed || wc_scan_decode(wc_buf_slice(&whole->bytes), &whole->arena, &whole->get, NULL) != WC_OK)
		whole->get.table_id = 0;
	else
		any_whole_row = true;
}

void
wc_own_begin(void)
{
	dated = false;
	wc_own_forget_whole_rows();
}

void
wc_own_forget_whole_rows(void)
{
	for (int i = 0; any_whole_row && i < WHOLE_ROWS; i++)
		whole_rows[i].get.table_id = 0;
	any_whole_row = false;
}

/* --- reading ------------------------------------------------------------------------- */

static bool
same_families(const WcScan *a, const WcScan *b)
{
	if (a->nfamilies != b->nfamilies)
		return false;
	for (uint32 i = 0; i < a->nfamilies; i++)
	{
		if (a->families[i] != b->families[i])
			return false;
	}
	return true;
}

/* Do the columns of a have those of b? */
static bool
has_columns(const WcScan *a, const WcScan *b)
{
	for (uint32 i = 0; i < b->ncolumns; i++)
	{
		if (find_column(a, b->columns[i].family, b->columns[i].qualifier) == a->ncolumns)
			return false;
	}
	return true;
}

bool
wc_own_answers(const WcScan *get, const WcScan *scan)
{
	return is_plain_get(get) && is_plain_get(scan) && same_families(get, scan) && has_columns(get, scan);
}

/* Writes the answer to a Get of columns that the row's own Get has. */
static void
write_answer(const OwnRow *r, const WcScan *get, WcBuf *block)
{
	WcBlockWriter w;

	wc_block_begin(&w, block, false);
	wc_block_row(&w, get->ranges[0].start, false);
	for (uint32 i = 0; i < r->ncells; i++)
	{
		const WcColumn *column = &r->get.columns[r->cells[i].colno];
		uint32		colno = find_column(get, column->family, column->qualifier);
		WcCell		cell = {.value = wc_slice(r->cells[i].value, r->cells[i].len)};

		if (colno < get->ncolumns)
			wc_block_cell(&w, colno, &cell, false, false);
	}
	wc_block_note_commit_times(&w);
	wc_block_finish(&w, false, true);
}

bool
wc_own_convert(const WcScan *get, WcSlice answer, const WcScan *scan, WcBuf *block)
{
	static OwnRow r;

	forget(&r);
	if (!fill(&r, get, answer) || !take_apart(&r))
		return false;
	write_answer(&r, scan, block);
	return true;
}

/* The next answer to a Get of the row, behind that before *i; NULL: there is none. */
static const OwnRow *
next_of(int *i, uint32 table_id, WcSlice row, uint64 snapshot, CommandId cid)
{
	uint64		hash = nrows > 0 && wc_client_clock_offset_us() == 0 ? wc_hash_bytes(0, row) : 0;

	while (hash != 0 && --*i >= 0)
	{
		OwnRow	   *r = &rows[*i];

		if (r->table_id == table_id && r->hash == hash && (snapshot == 0 || snapshot > r->locked_at) &&
			(!r->changed || r->changed_by < cid) && take_apart(r) && is_of(r, table_id, hash, row) &&
			(!r->made || wc_driver()->is_timely(table_id, row)))
			return r;
	}
	return NULL;
}

bool
wc_own_find(const WcScan *get, uint64 snapshot, CommandId cid, WcBuf *block)
{
	const OwnRow *r;
	int			i = nrows;

	if (nrows == 0 || !is_plain_get(get))
		return false;
	while ((r = next_of(&i, get->table_id, get->ranges[0].start, snapshot, cid)) != NULL)
	{
		if (!same_families(&r->get, get) || !has_columns(&r->get, get))
			continue;
		write_answer(r, get, block);
		return true;
	}
	return false;
}

bool
wc_own_shows(uint32 table_id, WcSlice row, CommandId cid, bool (*shows) (const void *arg, const WcScan *get, WcSlice answer),
			 const void *arg)
{
	static WcBuf block = WC_BUF_INIT;
	const OwnRow *r;
	int			i = nrows;

	while ((r = next_of(&i, table_id, row, 0, cid)) != NULL)
	{
		wc_buf_reset(&block, BYTES_MAX);
		write_answer(r, &r->get, &block);
		if (!block.failed && shows(arg, &r->get, wc_buf_slice(&block)))
			return true;
	}
	return false;
}

/* --- the commit ---------------------------------------------------------------------- */

void
wc_own_leave(uint64 xid)
{
	static WcBuf block = WC_BUF_INIT;

	for (int i = 0; i < nrows; i++)
	{
		const OwnRow *r = &rows[i];

		if (r->table_id == 0 || !r->changed)
			continue;
		wc_buf_reset(&block, BYTES_MAX);
		write_answer(r, &r->get, &block);
		if (!block.failed)
			wc_driver()->leave_row(xid, r->table_id, r->get.ranges[0].start, r->made ? 0 : r->follows + 1,
								   wc_slice(r->bytes.data, r->get_len), wc_buf_slice(&block));
	}
}
