/*
 * fdw/write/rowmodify.c: INSERT and DELETE in layout 'row'.
 *
 * INSERT makes the row, as the foreign table shows it, exactly the given one: columns that are NULL are cleared.
 * DELETE deletes the mapped families.  A row without any value keeps a marker cell, so that it exists.
 */
#include "postgres.h"

#include "fdw/relation/rowerror.h"
#include "fdw/write/absent.h"
#include "fdw/write/modify.h"
#include "fdw/write/restoring.h"
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

/* --- checks ---------------------------------------------------------------------*/

/*
 * Checks the old row, with this key, before it is changed.  It is an error if a trigger has run a statement that
 * changed it: the trigger saw, and was given, the row before that change.
 */
void
wc_rowmodify_check_old(const WcModify *m, const WcBuf *key, const Datum *values, const bool *isnull, const char *verb)
{
	if (m->nested && wc_nested_wrote(m->nested, wc_buf_slice(key)))
	{
		const char *shown = wc_rowerror_key(m->wrel, values, isnull);

		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("tuple to be %s was already modified by an operation triggered by the current command", verb),
				 shown != NULL ? errdetail("It is the row with key %s of foreign table \"%s\".", shown, m->wrel->relname) : 0,
				 errhint("Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows.")));
	}
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
	bool		absent = wc_absent_is_required(m);

	if (absent)
		wc_rowerror_expect_duplicate(m->wrel);
	wc_rowwrite_send(&m->write, m->cid, m->wrel->families, absent ? m->wrel->nfamilies : 0);
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

/* Tells the session that each row is written as a whole, so that it knows the row, and need not ask the engine for it. */
static void
note_whole_row(const WcModify *m)
{
	const WcRelation *wrel = m->wrel;
	WcRange		range = {.start_inclusive = true,.stop_inclusive = true};
	WcScan		get;

	if (m->nputs == 0 || m->nmaps > 0 || m->nplaces > 0 || wc_absent_is_required(m))
		return;
	wc_scan_init(&get, wrel->desc->id);
	range.start = range.stop = wc_buf_slice(&m->write.key);
	get.nranges = 1;
	get.ranges = &range;
	get.rows_by_existence = true;
	get.nfamilies = wrel->nfamilies;
	get.families = wrel->families;
	get.columns = palloc0(sizeof(WcColumn) * m->nputs);

	/* in the order in which SELECT * names them */
	for (int i = 0; i < wrel->natts; i++)
	{
		const WcRelColumn *col = &wrel->columns[i];

		if (col->role == WC_ROLE_VALUE || (col->role == WC_ROLE_KEY && col->hashed))
			get.columns[get.ncolumns++] = (WcColumn) {.kind = WC_COLUMN_EXACT,.family = col->family,.qualifier = col->qualifier};
	}
	wc_client_note_whole_row(wrel->desc, &get);
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
	if (m->ninserted == 1)
		note_whole_row(m);
	if (m->aside != NULL ? !wc_absent_makes_room(m) : !wc_absent_look(m, values, isnull, false))
		return false;
	any = gather_row(m, values, isnull);
	if (m->shared)
		any |= wc_restoring_drop_known(m) || m->cells_come;
	if (!any)
		wc_rowmodify_put_marker(m);
	wc_rowmodify_send(m);
	if (m->aside != NULL)
		wc_absent_keep_aside(m, slot);
	else
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
