/*
 * fdw/write/restoring.c: INSERT and COPY while a dump is restored.
 *
 * A dump has the rows of each foreign table.  If several foreign tables map one stored table, a cell comes several
 * times: with its timestamp from one, without from another, in the order of their names or in parallel sessions.  The
 * restored cell must exist once, with its timestamp if some foreign table dumped that.  So a cell that exists with the
 * same value is not written again, and a session that restores a timestamp deletes the versions that others have
 * written without one.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "utils/memutils.h"

#include "client/catalog/owner.h"
#include "client/foreign/foreign.h"
#include "fdw/write/restoring.h"
#include "fdw/write/rowread.h"

/* --- stored tables that this session fills ---------------------------------------- */

typedef struct Filled
{
	uint32		table_id;
	bool		cells_came;		/* a foreign table has restored every cell with its timestamp */

	/* of the first COPY, and of that with all cells, while their transactions run; then InvalidSubTransactionId */
	SubTransactionId subid;
	SubTransactionId cells_subid;
} Filled;

static List *filled;			/* Filled *, of tables that had no cell at the session's first COPY */

static Filled *
find_filled(uint32 table_id)
{
	ListCell   *lc;

	foreach(lc, filled)
		if (((Filled *) lfirst(lc))->table_id == table_id)
			return lfirst(lc);
	return NULL;
}

static void
note_filled(const WcTableDesc *desc)
{
	MemoryContext old;
	Filled	   *entry;

	if (find_filled(desc->id) != NULL || !wc_client_is_empty(desc, NULL))
		return;
	old = MemoryContextSwitchTo(TopMemoryContext);
	entry = palloc0(sizeof(Filled));
	entry->table_id = desc->id;
	entry->subid = GetCurrentSubTransactionId();
	filled = lappend(filled, entry);
	MemoryContextSwitchTo(old);
}

/*
 * Called before a foreign table restores every cell.  If this session's COPYs have filled the empty stored table with
 * rows without timestamps, this truncates the table: deleting the rows would leave delete markers.  Only its owner may do so.
 */
static void
make_room(const WcTableDesc *desc)
{
	Filled	   *entry = find_filled(desc->id);

	if (entry == NULL || entry->cells_came || !wc_owner_is_mine(desc))
		return;
	if (!wc_client_is_empty(desc, NULL))
		wc_client_truncate_table(desc);
	entry->cells_came = true;
	entry->cells_subid = GetCurrentSubTransactionId();
}

/* --- rollbacks ----------------------------------------------------------------------- */

/* The column of the session's last put.  A dump made of INSERTs has one statement for each cell. */
static struct
{
	uint32		table_id;		/* 0: there is none */
	uint32		family;
	WcBuf		row;
	WcBuf		qualifier;
}			last = {.row = WC_BUF_INIT,.qualifier = WC_BUF_INIT};

/* The subtransaction, and those within it, have written nothing, or nobody knows yet. */
static void
forget(SubTransactionId subid)
{
	ListCell   *lc;

	last.table_id = 0;
	foreach(lc, filled)
	{
		Filled	   *entry = lfirst(lc);

		if (entry->cells_subid >= subid)
			entry->cells_came = false;
		if (entry->subid < subid)
			continue;
		filled = foreach_delete_current(filled, lc);
		pfree(entry);
	}
}

static void
settle(void)
{
	ListCell   *lc;

	foreach(lc, filled)
	{
		Filled	   *entry = lfirst(lc);

		entry->subid = entry->cells_subid = InvalidSubTransactionId;
	}
}

static void
on_xact(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
		forget(TopSubTransactionId);
	else if (event == XACT_EVENT_COMMIT)
		settle();
}

static void
on_subxact(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		forget(subid);
}

static void
watch_rollbacks(void)
{
	static bool watches;

	if (watches)
		return;
	RegisterXactCallback(on_xact, NULL);
	RegisterSubXactCallback(on_subxact, NULL);
	watches = true;
}

/* --- beginning ----------------------------------------------------------------------- */

static bool
brings_cells(Oid relid, bool *whole)
{
	Relation	rel = table_open(relid, AccessShareLock);
	WcRelation *wrel = wc_relation_open(rel);
	bool		cells = wrel->cell_versions == 0 && wc_relation_shows_cells(wrel);

	*whole = cells && wc_relation_shows_whole_cells(wrel);
	wc_relation_close(wrel);
	table_close(rel, NoLock);
	return cells;
}

void
wc_restoring_begin(Relation rel, bool copy, bool *shared, bool *cells)
{
	Oid			relid = RelationGetRelid(rel);
	List	   *relids;
	WcTableDesc *desc;
	char	   *name;
	bool		whole;
	ListCell   *lc;

	*shared = *cells = false;
	if (!wc_foreign_restoring() || wc_foreign_is_remote(relid))
		return;
	name = wc_foreign_table_name(relid);
	relids = wc_foreign_tables_of(InvalidOid, name);
	wc_client_lock_table(name, list_length(relids) > 1 ? ShareRowExclusiveLock : RowExclusiveLock);
	desc = wc_client_table(name, true);
	if (desc == NULL)
		return;
	watch_rollbacks();
	*shared = list_length(relids) > 1 || !wc_client_is_empty(desc, NULL);
	foreach(lc, relids)
		*cells = brings_cells(lfirst_oid(lc), &whole) || *cells;
	if (!copy || list_length(relids) < 2)
		return;
	note_filled(desc);
	(void) brings_cells(relid, &whole);
	if (whole)
		make_room(desc);
}

/* --- layout row ------------------------------------------------------------------------ */

/* A row may have very many cells: columns that it has, or that are put, are looked for in sorted arrays. */
typedef struct Column
{
	uint32		family;
	WcSlice		qualifier;
	WcSlice		value;			/* of a cell of the row */
} Column;

typedef struct Columns
{
	Column	   *columns;		/* sorted */
	int			n;
} Columns;

static int
compare_columns(const void *a, const void *b)
{
	const Column *left = a;
	const Column *right = b;

	if (left->family != right->family)
		return left->family < right->family ? -1 : 1;
	return wc_slice_cmp(left->qualifier, right->qualifier);
}

static const Column *
find_column(const Columns *columns, uint32 family, WcSlice qualifier)
{
	Column		key = {.family = family,.qualifier = qualifier};

	return columns->n == 0 ? NULL : bsearch(&key, columns->columns, columns->n, sizeof(Column), compare_columns);
}

static Columns
columns_of_cells(const WcCell *cells, int ncells)
{
	Columns		there = {.columns = palloc_extended(sizeof(Column) * (ncells + 1), MCXT_ALLOC_HUGE),.n = ncells};

	for (int i = 0; i < ncells; i++)
		there.columns[i] = (Column) {.family = cells[i].family,.qualifier = cells[i].qualifier,.value = cells[i].value};
	qsort(there.columns, there.n, sizeof(Column), compare_columns);
	return there;
}

static Columns
columns_of_puts(const WcRowItem *items, int nitems)
{
	Columns		puts = {.columns = palloc_extended(sizeof(Column) * (nitems + 1), MCXT_ALLOC_HUGE)};

	for (int i = 0; i < nitems; i++)
		if (items[i].kind == WC_ITEM_PUT)
			puts.columns[puts.n++] = (Column) {.family = items[i].family,.qualifier = items[i].qualifier};
	qsort(puts.columns, puts.n, sizeof(Column), compare_columns);
	return puts;
}

static bool
is_known(const WcRowWrite *w, const WcRowItem *item, const Columns *there)
{
	const Column *cell;

	if (item->kind != WC_ITEM_PUT || item->ts != WC_TS_LATEST)
		return false;
	cell = find_column(there, item->family, item->qualifier);
	return cell != NULL && wc_slice_eq(cell->value, wc_slice(w->bytes.data + item->value_start, item->value_len));
}

static bool
clears(const WcRowItem *clear, const Column *cell)
{
	if (cell->family != clear->family)
		return false;
	if (clear->kind == WC_ITEM_CLEAR_COLUMN)
		return wc_slice_eq(cell->qualifier, clear->qualifier);
	return clear->kind != WC_ITEM_CLEAR_PREFIX || wc_slice_starts_with(cell->qualifier, clear->qualifier);
}

/* An operation clears the cells that it does not put, so a cell that is to stay must be put, or must not be
 * cleared.  This replaces a clear by clears of the columns that exist and are not put. */
static void
clear_others(WcRowWrite *w, const WcRowItem *clear, const Columns *puts, const Columns *there)
{
	for (int i = 0; i < there->n; i++)
	{
		const Column *cell = &there->columns[i];
		bool		marker = cell->qualifier.len == 0 && cell->value.len == 0;	/* not a value of a map */

		if (clears(clear, cell) && !marker && find_column(puts, cell->family, cell->qualifier) == NULL)
			wc_rowwrite_clear(w, WC_ITEM_CLEAR_COLUMN, cell->family, cell->qualifier);
	}
}

bool
wc_restoring_drop_known(WcModify *m)
{
	WcRowWrite *w = &m->write;
	int			ncells;
	WcCell	   *cells = wc_rowread_cells(m->wrel, wc_buf_slice(&w->key), NULL, 0, NULL, 0, &ncells);
	int			nitems = w->nitems;
	WcRowItem  *items = palloc_extended(sizeof(WcRowItem) * (nitems + 1), MCXT_ALLOC_HUGE);
	Columns		there = columns_of_cells(cells, ncells);
	Columns		puts = columns_of_puts(w->items, nitems);

	memcpy(items, w->items, sizeof(WcRowItem) * nitems);
	w->nitems = 0;
	for (int i = 0; i < nitems; i++)
	{
		if (items[i].kind == WC_ITEM_CLEAR_COLUMN || items[i].kind == WC_ITEM_CLEAR_FAMILY ||
			items[i].kind == WC_ITEM_CLEAR_PREFIX)
			clear_others(w, &items[i], &puts, &there);
		else if (!is_known(w, &items[i], &there))
			wc_rowwrite_item(w, &items[i]);
	}
	return ncells > 0;
}

/* --- layout cell ----------------------------------------------------------------------- */

static void
remember(WcBuf *buf, WcSlice s)
{
	WcError		err;

	wc_buf_reset(buf, WC_ROW_MAX + WC_QUALIFIER_MAX);
	wc_buf_append_slice(buf, s);
	if (wc_buf_status(buf, "row key", &err) != WC_OK)
		wc_raise(&err);
}

/* Is the column another than that of the last put?  Versions come newest first. */
static bool
is_newest(WcModify *m, uint32 family, WcSlice qualifier)
{
	WcSlice		row = wc_buf_slice(&m->write.key);

	if (last.table_id == m->wrel->desc->id && last.family == family && wc_slice_eq(wc_buf_slice(&last.row), row) &&
		wc_slice_eq(wc_buf_slice(&last.qualifier), qualifier))
		return false;
	last.table_id = m->wrel->desc->id;
	last.family = family;
	remember(&last.row, row);
	remember(&last.qualifier, qualifier);
	return true;
}

/* Returns false if the version itself exists and its time to live would be lost. */
static bool
replace(WcModify *m, uint32 family, WcSlice qualifier, int64 ts, bool newest)
{
	int			n;
	int			nupto_own;
	int64	   *versions = wc_rowread_versions(m->wrel, wc_buf_slice(&m->write.key), family, qualifier, &n, &nupto_own);
	bool		there = false;

	for (int i = 0; i < n; i++)
	{
		there |= versions[i] == ts;
		if (newest && versions[i] > ts)
			wc_rowwrite_delete(&m->write, WC_ITEM_DELETE, family, qualifier, i < nupto_own ? WC_TS_LATEST : versions[i]);
	}
	return !there || wc_relation_shows_whole_cells(m->wrel);
}

/* value: NULL: any. */
static bool
is_there(WcModify *m, uint32 family, WcSlice qualifier, const WcSlice *value)
{
	WcColumn	column = {.family = family,.kind = WC_COLUMN_EXACT,.qualifier = qualifier};
	int			ncells;
	WcCell	   *cells = wc_rowread_cells(m->wrel, wc_buf_slice(&m->write.key), &column, 1, NULL, 0, &ncells);

	return ncells > 0 && (value == NULL || wc_slice_eq(cells[0].value, *value));
}

bool
wc_restoring_cell(WcModify *m, uint32 family, WcSlice qualifier, int64 ts, WcSlice value)
{
	bool		newest;

	if (!m->names_cells)
		return false;
	newest = is_newest(m, family, qualifier);
	if (ts != WC_TS_LATEST && m->shared && (newest || !wc_relation_shows_whole_cells(m->wrel)))
		return replace(m, family, qualifier, ts, newest);
	if (ts != WC_TS_LATEST)
		return true;
	/* the put before may have been of a version that is newer; or it has been deleted since */
	if (!newest)
		return !is_there(m, family, qualifier, NULL);
	return !(m->shared && is_there(m, family, qualifier, &value));
}

void
wc_restoring_warn(const WcRelation *wrel)
{
	ereport(WARNING,
			(errmsg("rows of foreign table \"%s\" are not restored", wrel->relname),
			 errdetail("It does not show all that is needed to write a cell again: row, family, qualifier and value, "
					   "of raw cells also type and ts."),
			 errhint("The cells come with widecol.dump, which is part of a dump of the whole database.")));
}
