/*
 * fdw/write/rowmodify.c: INSERT and DELETE in layout 'row'.
 *
 * INSERT makes the row, as the foreign table shows it, exactly the given one: columns that are NULL are cleared.
 * DELETE deletes the mapped families.  A row without any value keeps a marker cell, so that it exists.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "fdw/relation/rowerror.h"
#include "fdw/write/modify.h"
#include "fdw/write/restoring.h"
#include "fdw/write/rowread.h"
#include "fdw/write/versionwrite.h"

/* --- set-up -----------------------------------------------------------------*/

static int
compare_places(const void *a, const void *b)
{
	const WcPutColumn *x = a;
	const WcPutColumn *y = b;

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	return wc_slice_cmp(x->qualifier, y->qualifier);
}

static void
add_place(const WcModify *m, WcPutColumn *places, int *n, WcRelColumn *col, int index, WcCodec *codec)
{
	WcPutColumn *place = &places[(*n)++];

	place->index = index;
	place->family = col->family;
	place->qualifier = col->qualifier;
	place->codec = codec;
	place->in_map = wc_modify_in_map(m, col->family, col->qualifier);
}

static bool
is_put(const WcModify *m, const WcRelColumn *col)
{
	for (int i = 0; i < m->nputs; i++)
		if (m->puts[i].family == col->family && wc_slice_eq(m->puts[i].qualifier, col->qualifier))
			return true;
	return false;
}

void
wc_rowmodify_init(WcModify *m)
{
	WcRelation *wrel = m->wrel;

	m->maps = palloc0(sizeof(WcMapWriter) * Max(wrel->natts, 1));
	m->puts = palloc0(sizeof(WcPutColumn) * Max(wrel->natts, 1));
	m->shown = palloc0(sizeof(WcPutColumn) * Max(wrel->natts, 1));
	for (int i = 0; i < wrel->natts; i++)
	{
		WcRelColumn *col = &wrel->columns[i];

		if (col->role == WC_ROLE_MAP || col->role == WC_ROLE_PREFIX_MAP)
			wc_mapwrite_init(&m->maps[m->nmaps++], wrel, col);
	}
	for (int i = 0; i < wrel->natts; i++)
	{
		WcRelColumn *col = &wrel->columns[i];

		if (col->role == WC_ROLE_VALUE)
			add_place(m, m->puts, &m->nputs, col, i, &col->codec);
		else if (col->role == WC_ROLE_KEY && col->hashed)
		{
			add_place(m, m->puts, &m->nputs, col, i, &col->original);
			m->short_hash |= col->codec.shape.length < WC_HASH_TRUSTED;
		}
	}
	for (int i = 0; i < wrel->natts; i++)
	{
		WcRelColumn *col = &wrel->columns[i];

		if ((col->role == WC_ROLE_TIMESTAMP || col->role == WC_ROLE_VERSIONS) && !is_put(m, col))
			add_place(m, m->shown, &m->nshown, col, i, NULL);
	}
	qsort(m->puts, m->nputs, sizeof(WcPutColumn), compare_places);
	wc_versionwrite_init(m);
}

/* --- looking before writing -------------------------------------------------*/

/* Do duplicates raise an error?  Not while a dump is restored that may have written other cells of the row
 * before. */
static bool
duplicates_fail(const WcModify *m)
{
	return (m->wrel->duplicates_fail || m->policies) && !m->shared;
}

/* Short hashes may be equal for different originals: a row at this key must have the same originals. */
static void
check_originals(WcModify *m, const Datum *values, const bool *isnull)
{
	WcColumn   *columns = palloc0(sizeof(WcColumn) * m->nputs);
	int			ncolumns = 0;
	int			ncells;
	WcCell	   *cells;
	WcBuf	   *scratch = &m->old.bytes;

	for (int i = 0; i < m->nputs; i++)
	{
		const WcRelColumn *col = &m->wrel->columns[m->puts[i].index];

		if (col->role == WC_ROLE_KEY && col->codec.shape.length < WC_HASH_TRUSTED)
		{
			columns[ncolumns].family = m->puts[i].family;
			columns[ncolumns].kind = WC_COLUMN_EXACT;
			columns[ncolumns++].qualifier = m->puts[i].qualifier;
		}
	}
	cells = wc_rowread_cells(m->wrel, wc_buf_slice(&m->write.key), columns, ncolumns, NULL, 0, &ncells);
	for (int c = 0; c < ncells; c++)
	{
		for (int i = 0; i < m->nputs; i++)
		{
			const WcPutColumn *put = &m->puts[i];

			if (put->family != cells[c].family || !wc_slice_eq(put->qualifier, cells[c].qualifier))
				continue;
			wc_buf_reset(scratch, WC_ROW_MAX);
			wc_codec_encode(put->codec, values[put->index], scratch);
			if (!wc_slice_eq(wc_buf_slice(scratch), cells[c].value))
				ereport(ERROR,
						(errcode(ERRCODE_UNIQUE_VIOLATION),
						 errmsg("the hash of column \"%s\" of foreign table \"%s\" is that of another row",
								NameStr(m->wrel->columns[put->index].name), m->wrel->relname),
						 errdetail("Key %s meets a row with another original value.",
								   wc_rowerror_key(m->wrel, values, isnull)),
						 errhint("Lengthen the hash with the column option length.")));
		}
	}
}

/* Locks rows; if only_absent, only those that do not exist, which the locks tell. */
static void
lock_new(WcModify *m, bool only_absent, WcRowLock *locks, int n)
{
	WcRowLockRequest request = {
		.table = m->wrel->desc,
		.mode = WC_LOCK_EXCLUSIVE,
		.wait_policy = LockWaitBlock,
		.snapshot = m->pg_snapshot != NULL && IsolationUsesXactSnapshot() ? wc_modify_snapshot(m) : NULL,
		.may_change = true,
		.nfamilies = m->wrel->nfamilies,
		.families = m->wrel->families,
		.only_absent = only_absent
	};

	wc_client_lock_rows(&request, locks, n);
}

static void pg_attribute_noreturn()
refuse_duplicate(const WcModify *m, WcSlice row, const Datum *values, const bool *isnull)
{
	wc_client_check_readers(m->wrel->desc, row);
	wc_rowerror_duplicate(m->wrel, values, isnull);
}

/*
 * Reads the row at m->write.key if an option requires it, and then locks the row if it does not exist; with locks,
 * locks it in any case.  False: the row exists, and the statement has ON CONFLICT DO NOTHING.
 */
bool
wc_rowmodify_look(WcModify *m, const Datum *values, const bool *isnull, bool locks)
{
	WcRowLock	lock = {.row = wc_buf_slice(&m->write.key)};

	if (duplicates_fail(m) || m->do_nothing)
	{
		lock_new(m, true, &lock, 1);
		if (lock.exists && m->do_nothing && lock.changed && IsolationUsesXactSnapshot())
			wc_rowerror_changed(m->wrel, lock.row);
		if (lock.exists && m->do_nothing)
			return false;
		if (lock.exists)
			refuse_duplicate(m, lock.row, values, isnull);
	}
	else if (locks)
	{
		lock_new(m, false, &lock, 1);
		if (lock.changed && IsolationUsesXactSnapshot())
			wc_rowerror_changed(m->wrel, lock.row);
	}
	if (m->short_hash)
		check_originals(m, values, isnull);
	return true;
}

/*
 * Checks the old row, with this key, before it is changed.  It is an error if a trigger has run a statement that
 * changed it: the trigger saw, and was given, the row before that change.
 */
void
wc_rowmodify_check_old(const WcModify *m, const WcBuf *key, const Datum *values, const bool *isnull, const char *verb)
{
	if (m->nested && wc_nested_wrote(m->nested, wc_buf_slice(key)))
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("tuple to be %s was already modified by an operation triggered by the current command", verb),
				 errdetail("It is the row with key %s of foreign table \"%s\".",
						   wc_rowerror_key(m->wrel, values, isnull), m->wrel->relname),
				 errhint("Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows.")));
	wc_nested_note(m->estate, m->wrel->desc->id, wc_buf_slice(key));
}

/* --- writing ----------------------------------------------------------------*/

void
wc_rowmodify_put_marker(WcModify *m)
{
	const WcRelation *wrel = m->wrel;

	if (wrel->marker_column >= 0)
		ereport(ERROR,
				(errcode(ERRCODE_NOT_NULL_VIOLATION),
				 errmsg("a row of foreign table \"%s\" needs a value", wrel->relname),
				 errdetail("All its values are NULL, and column \"%s\" has the place of the cell that would mark such a row.",
						   NameStr(wrel->columns[wrel->marker_column].name)),
				 errhint("Name another family with the table option \"family\".")));
	wc_rowwrite_put_bytes(&m->write, wrel->default_family, wc_slice(NULL, 0), wc_slice(NULL, 0));
}

/* Sends a whole new row: applying the batch checks again that the row does not exist. */
void
wc_rowmodify_send(WcModify *m)
{
	if (duplicates_fail(m))
		wc_rowerror_expect_duplicate(m->wrel);
	wc_rowwrite_send(&m->write, m->cid, m->wrel->families,
					 duplicates_fail(m) ? m->wrel->nfamilies : 0);
}

void
wc_rowmodify_read_only(const WcModify *m, const WcRelColumn *col)
{
	ereport(ERROR,
			(errcode(ERRCODE_GENERATED_ALWAYS),
			 errmsg("column \"%s\" of foreign table \"%s\" cannot be written", NameStr(col->name), m->wrel->relname),
			 errdetail("It shows the row key that the other key columns make.")));
}

/* The raw key beside parts may be given, but must be the key that the parts make. */
static bool
raw_key_agrees(Datum value, const WcBuf *key)
{
	bytea	   *raw = DatumGetByteaPP(value);

	return wc_slice_eq(wc_slice(VARDATA_ANY(raw), VARSIZE_ANY_EXHDR(raw)), wc_buf_slice(key));
}

bool
wc_rowmodify_shows_only(const WcRelation *wrel, const WcRelColumn *col)
{
	return col->role == WC_ROLE_RAW_KEY && wrel->nkeys > 0;
}

static void
check_insert(const WcModify *m, TupleTableSlot *slot)
{
	const WcRelation *wrel = m->wrel;

	for (int i = 0; i < wrel->natts; i++)
	{
		const WcRelColumn *col = &wrel->columns[i];

		if (slot->tts_isnull[i] || !wc_rowmodify_shows_only(wrel, col))
			continue;
		if (!raw_key_agrees(slot->tts_values[i], &m->write.key))
			wc_rowmodify_read_only(m, col);
	}
}

/* Adds the items that make the row exactly this one; false: the row has no cell. */
static bool
gather_row(WcModify *m, const Datum *values, const bool *isnull)
{
	WcRowWrite *w = &m->write;
	bool		any = false;

	for (int i = 0; i < m->nmaps; i++)
	{
		const WcRelColumn *col = m->maps[i].column;
		WcMapEntry *entries;
		int			n = wc_mapwrite_entries(&m->maps[i], values[col->attnum - 1],
											isnull[col->attnum - 1], &entries);

		wc_rowwrite_clear(w, col->role == WC_ROLE_MAP ? WC_ITEM_CLEAR_FAMILY : WC_ITEM_CLEAR_PREFIX,
						  col->family, col->qualifier);
		wc_mapwrite_put(&m->maps[i], w, entries, n);
		any |= n > 0;
	}
	for (int i = 0; i < m->nputs; i++)
	{
		const WcPutColumn *put = &m->puts[i];

		if (put->versioned)
			continue;
		if (!isnull[put->index])
		{
			wc_rowwrite_put(w, put->family, put->qualifier, put->codec, values[put->index]);
			any = true;
		}
		else if (!put->in_map)
			wc_rowwrite_clear(w, WC_ITEM_CLEAR_COLUMN, put->family, put->qualifier);
	}
	for (int i = 0; i < m->nplaces; i++)
		any |= wc_versionwrite_insert(m, &m->places[i], values, isnull);
	return any;
}

/* --- rows that are kept aside ------------------------------------------------------- */

/* A request for the lock of each row takes most of the time of a COPY that refuses duplicates.  So the operations of some
 * rows are kept aside until the rows have been locked, and found absent, with one request. */

/* The rows are sent when their operations have so many bytes. */
#define ASIDE_BYTES_MAX (256 * 1024)

static void
free_aside(void *arg)
{
	wc_buf_free(&((WcAsideRows *) arg)->ops);
}

void
wc_rowmodify_keep_aside(WcModify *m, TupleDesc tupdesc)
{
	MemoryContext old;
	MemoryContextCallback *callback;

	if (!duplicates_fail(m) || m->do_nothing || m->short_hash)
		return;
	old = MemoryContextSwitchTo(m->context);
	m->aside = palloc0(sizeof(WcAsideRows));
	m->aside->context = AllocSetContextCreate(m->context, "widecol rows aside", ALLOCSET_DEFAULT_SIZES);
	m->aside->tupdesc = tupdesc;
	wc_buf_init(&m->aside->ops, 0);
	callback = palloc0(sizeof(*callback));
	callback->func = free_aside;
	callback->arg = m->aside;
	MemoryContextRegisterResetCallback(m->context, callback);
	wc_batch_init(&m->aside->builder, &m->aside->ops);
	m->write.aside = &m->aside->builder;
	MemoryContextSwitchTo(old);
}

/* Locks the rows.  One that exists is an error. */
static void
lock_aside(WcModify *m)
{
	WcAsideRows *aside = m->aside;
	WcRowLock	locks[WC_ASIDE_ROWS_MAX] = {0};

	for (int i = 0; i < aside->n; i++)
		locks[i].row = aside->keys[i];
	lock_new(m, true, locks, aside->n);
	for (int i = 0; i < aside->n; i++)
	{
		TupleTableSlot *slot;

		if (!locks[i].exists)
			continue;
		slot = MakeSingleTupleTableSlot(aside->tupdesc, &TTSOpsMinimalTuple);
		ExecStoreMinimalTuple(aside->tuples[i], slot, false);
		slot_getallattrs(slot);
		refuse_duplicate(m, locks[i].row, slot->tts_values, slot->tts_isnull);
	}
}

void
wc_rowmodify_send_aside(WcModify *m)
{
	WcAsideRows *aside = m->aside;
	WcDecoder	d;
	WcError		err;
	WcOp		op;

	if (aside == NULL || aside->n == 0)
		return;
	lock_aside(m);
	d = wc_decoder(wc_buf_slice(&aside->ops));
	for (int i = 0; i < aside->n; i++)
	{
		if (wc_batch_next_op(&d, &op, &err) != WC_OK ||
			wc_batch_row(wc_client_write_in_mode(m->wrel->desc, m->write.mode), op.bytes, &err) != WC_OK)
			wc_client_write_failed(&err);
		wc_client_write_done();
	}
	aside->n = 0;
	MemoryContextReset(aside->context);
	wc_buf_reset(&aside->ops, ASIDE_BYTES_MAX);
	wc_batch_init(&aside->builder, &aside->ops);
}

/* Sends the rows that are kept aside if there are enough, or one has the new row's key: so the new row is found to be a
 * duplicate. */
static void
await_room(WcModify *m)
{
	WcAsideRows *aside = m->aside;
	bool		full = aside->n == WC_ASIDE_ROWS_MAX || aside->ops.len >= ASIDE_BYTES_MAX;

	for (int i = 0; i < aside->n && !full; i++)
		full = wc_slice_eq(aside->keys[i], wc_buf_slice(&m->write.key));
	if (full)
		wc_rowmodify_send_aside(m);
}

static void
note_aside(WcModify *m, TupleTableSlot *slot)
{
	WcAsideRows *aside = m->aside;
	MemoryContext old = MemoryContextSwitchTo(aside->context);
	WcSlice		key = wc_buf_slice(&m->write.key);

	aside->keys[aside->n] = wc_slice(memcpy(palloc(key.len), key.data, key.len), key.len);
	aside->tuples[aside->n++] = ExecCopySlotMinimalTuple(slot);
	MemoryContextSwitchTo(old);
}

/* --- rows ----------------------------------------------------------------------------- */

bool
wc_rowmodify_insert(WcModify *m, TupleTableSlot *slot)
{
	const Datum *values = slot->tts_values;
	const bool *isnull = slot->tts_isnull;
	bool		any;

	wc_rowwrite_start(&m->write);
	wc_relation_encode_key(m->wrel, values, isnull, &m->write.key);
	check_insert(m, slot);
	if (m->aside != NULL)
		await_room(m);
	else if (!wc_rowmodify_look(m, values, isnull, false))
		return false;
	any = gather_row(m, values, isnull);
	if (m->shared)
		any |= wc_restoring_drop_known(m) || m->cells_come;
	if (!any)
		wc_rowmodify_put_marker(m);
	wc_rowmodify_send(m);
	if (m->aside != NULL)
		note_aside(m, slot);
	wc_nested_note(m->estate, m->wrel->desc->id, wc_buf_slice(&m->write.key));
	return true;
}

void
wc_rowmodify_delete(WcModify *m)
{
	wc_rowwrite_start(&m->write);
	wc_relation_encode_key(m->wrel, m->values, m->isnull, &m->write.key);
	wc_rowmodify_check_old(m, &m->write.key, m->values, m->isnull, "deleted");
	for (int i = 0; i < m->wrel->nfamilies; i++)
		wc_rowwrite_delete(&m->write, WC_ITEM_DELETE_FAMILY, m->wrel->families[i], wc_slice(NULL, 0), WC_TS_LATEST);
	wc_rowwrite_send(&m->write, m->cid, NULL, 0);
}
