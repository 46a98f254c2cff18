/*
 * fdw/write/rowupdate.c: UPDATE in layout 'row'.
 *
 * In place, the changed columns are written.  If the key changes, the row is moved to its new key with all cells of the
 * mapped families, including those that no column maps, and replaces a row that exists there.  The cells get new
 * timestamps: with their old ones, a delete marker of the new key's earlier row would hide them.
 *
 * One statement may move row 1 to 2 and row 2 to 3, in any order.  The cells of a row are read at the statement's
 * snapshot, so they are those from before the statement.  If row 2 is moved after row 1 has replaced it, its old key
 * must not be deleted: the statement remembers the keys that it has moved rows to.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "common/int.h"
#include "utils/memutils.h"

#include "base/clock.h"
#include "fdw/write/absent.h"
#include "fdw/write/modify.h"
#include "fdw/write/rowread.h"
#include "fdw/write/versionwrite.h"

/* --- to another key ---------------------------------------------------------------*/

typedef struct MovedKey
{
	WcSlice		key;
	char		status;
} MovedKey;

#define SH_PREFIX movedkeys
#define SH_ELEMENT_TYPE MovedKey
#define SH_KEY_TYPE WcSlice
#define SH_KEY key
#define SH_HASH_KEY(table, k) hash_bytes((k).data, (int) (k).len)
#define SH_EQUAL(table, a, b) wc_slice_eq(a, b)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static bool
was_moved_to(const WcModify *m, WcSlice key)
{
	return m->moved && movedkeys_lookup(m->moved, key) != NULL;
}

static void
remember_moved(WcModify *m, WcSlice key)
{
	MovedKey   *entry;
	bool		found;

	if (m->moved == NULL)
		m->moved = movedkeys_create(m->context, 256, NULL);
	entry = movedkeys_insert(m->moved, key, &found);
	if (!found)
	{
		char	   *copy = MemoryContextAlloc(m->context, key.len);

		memcpy(copy, key.data, key.len);
		entry->key = wc_slice(copy, key.len);
	}
}

/* Does this UPDATE write the cell by itself, or is the cell the marker? */
static bool
is_rewritten(const WcModify *m, const WcCell *cell, TupleTableSlot *old, TupleTableSlot *new)
{
	const WcRelation *wrel = m->wrel;
	const WcPlace *place = wc_versionwrite_place(m, cell->family, cell->qualifier);

	if (place && wc_versionwrite_changes(m, place, old, new))
		return true;
	for (int i = 0; i < m->nputs; i++)
		if (m->puts[i].family == cell->family && wc_slice_eq(m->puts[i].qualifier, cell->qualifier))
			return wrel->columns[m->puts[i].index].role == WC_ROLE_KEY ||
				wc_modify_changes(m, m->puts[i].index, old, new);
	for (int i = 0; i < m->nshown; i++)
		if (m->shown[i].family == cell->family && wc_slice_eq(m->shown[i].qualifier, cell->qualifier))
			return false;
	if (cell->family == wrel->default_family && cell->qualifier.len == 0 && cell->value.len == 0)
		return true;
	for (int i = 0; i < m->nmaps; i++)
	{
		const WcRelColumn *map = m->maps[i].column;

		if (map->family == cell->family && wc_slice_starts_with(cell->qualifier, map->qualifier))
			return wc_modify_changes(m, map->attnum - 1, old, new);
	}
	return false;
}

/* The rest of a cell's time to live; 0: it has none. */
static int64
remaining_ttl(const WcCell *cell)
{
	int64		end;

	if (cell->ttl_us == 0)
		return 0;
	if (pg_add_s64_overflow(cell->ts, cell->ttl_us, &end))
		end = PG_INT64_MAX;
	return Max(end - (wc_clock_wall_us() + wc_client_clock_offset_us()), 1);
}

/* Puts all cells of the new row; false: it has none. */
static bool
put_new_row(WcModify *m, TupleTableSlot *old, TupleTableSlot *new)
{
	/* the row is locked, and old is its newest state */
	int			ncells;
	WcCell	   *cells = wc_rowread_cells(m->wrel, wc_buf_slice(&m->old.key), NULL, 0, wc_client_snapshot(NULL),
										 m->pg_snapshot->curcid, &ncells);
	bool		any = false;

	for (int i = 0; i < ncells; i++)
	{
		if (is_rewritten(m, &cells[i], old, new))
			continue;
		wc_rowwrite_put_cell(&m->write, cells[i].family, cells[i].qualifier, WC_TS_LATEST,
							 remaining_ttl(&cells[i]), cells[i].value);
		any = true;
	}
	for (int i = 0; i < m->nputs; i++)
	{
		const WcPutColumn *put = &m->puts[i];
		bool		original = m->wrel->columns[put->index].role == WC_ROLE_KEY;

		if (put->versioned && wc_versionwrite_changes(m, wc_versionwrite_place(m, put->family, put->qualifier), old, new))
			continue;
		if (new->tts_isnull[put->index] || !(original || wc_modify_changes(m, put->index, old, new)))
			continue;
		wc_rowwrite_put(&m->write, put->family, put->qualifier, put->codec, new->tts_values[put->index]);
		any = true;
	}
	for (int i = 0; i < m->nplaces; i++)
		if (wc_versionwrite_changes(m, &m->places[i], old, new))
			any |= wc_versionwrite_update(m, &m->places[i], old, new);
	for (int i = 0; i < m->nmaps; i++)
	{
		int			index = m->maps[i].column->attnum - 1;
		WcMapEntry *entries;
		int			n;

		if (!wc_modify_changes(m, index, old, new))
			continue;
		n = wc_mapwrite_entries(&m->maps[i], new->tts_values[index], new->tts_isnull[index], &entries);
		wc_mapwrite_put(&m->maps[i], &m->write, entries, n);
		any |= n > 0;
	}
	return any;
}

static void
move(WcModify *m, TupleTableSlot *old, TupleTableSlot *new)
{
	const WcRelation *wrel = m->wrel;

	/* the planner did not know that a trigger would move the row */
	if (m->triggers)
		wc_client_lock_row(wrel->desc, wc_buf_slice(&m->old.key));
	(void) wc_absent_look(m, new->tts_values, new->tts_isnull, true);

	/* wc_absent_look uses the buffers of m->old, but not its key */
	for (int i = 0; i < wrel->nfamilies; i++)
		wc_rowwrite_clear(&m->write, WC_ITEM_CLEAR_FAMILY, wrel->families[i], wc_slice(NULL, 0));
	if (!put_new_row(m, old, new))
		wc_rowmodify_put_marker(m);

	if (!was_moved_to(m, wc_buf_slice(&m->old.key)))
	{
		for (int i = 0; i < wrel->nfamilies; i++)
			wc_rowwrite_delete(&m->old, WC_ITEM_DELETE_FAMILY, wrel->families[i], wc_slice(NULL, 0), WC_TS_LATEST);
		wc_rowwrite_send(&m->old, m->cid, NULL, 0);
	}
	wc_rowmodify_send(m);
	remember_moved(m, wc_buf_slice(&m->write.key));
}

/* --- in place ---------------------------------------------------------------------*/

/* Has the UPDATE deleted the cell, which columns of the new row may still show? (gone: of each place; NULL: nothing) */
static bool
is_gone(const WcModify *m, const bool *gone, uint32 family, WcSlice qualifier)
{
	const WcPlace *place = gone == NULL ? NULL : wc_versionwrite_place(m, family, qualifier);

	return place != NULL && gone[place - m->places];
}

/* Has the row no value for this foreign table? */
static bool
is_empty(WcModify *m, TupleTableSlot *slot, const bool *gone)
{
	for (int i = 0; i < m->nputs; i++)
		if (!slot->tts_isnull[m->puts[i].index] && !is_gone(m, gone, m->puts[i].family, m->puts[i].qualifier))
			return false;
	for (int i = 0; i < m->nshown; i++)
		if (!slot->tts_isnull[m->shown[i].index] && !is_gone(m, gone, m->shown[i].family, m->shown[i].qualifier))
			return false;
	for (int i = 0; i < m->nmaps; i++)
	{
		int			index = m->maps[i].column->attnum - 1;

		if (!wc_mapwrite_is_empty(&m->maps[i], slot->tts_values[index], slot->tts_isnull[index]))
			return false;
	}
	return true;
}

/* Does the row get a cell that is visible for certain?  A delete marker may have a later time than a timestamp that is given. */
static bool
puts_now(const WcRowWrite *w)
{
	for (int i = 0; i < w->nitems; i++)
		if (w->items[i].kind == WC_ITEM_PUT && w->items[i].ts == WC_TS_LATEST)
			return true;
	return false;
}

static void
update_in_place(WcModify *m, TupleTableSlot *old, TupleTableSlot *new)
{
	WcRowWrite *w = &m->write;
	bool	   *gone = palloc0(sizeof(bool) * Max(m->nplaces, 1));
	bool		any = false;

	for (int i = 0; i < m->nputs; i++)
	{
		const WcPutColumn *put = &m->puts[i];

		if (put->versioned || m->wrel->columns[put->index].role == WC_ROLE_KEY ||
			!wc_modify_changes(m, put->index, old, new))
			continue;
		if (new->tts_isnull[put->index])
			wc_rowwrite_clear(w, WC_ITEM_CLEAR_COLUMN, put->family, put->qualifier);
		else
			wc_rowwrite_put(w, put->family, put->qualifier, put->codec, new->tts_values[put->index]);
	}
	for (int i = 0; i < m->nmaps; i++)
	{
		int			index = m->maps[i].column->attnum - 1;

		if (wc_modify_changes(m, index, old, new))
			wc_mapwrite_diff(&m->maps[i], w, old->tts_values[index], old->tts_isnull[index],
							 new->tts_values[index], new->tts_isnull[index]);
	}
	for (int i = 0; i < m->nplaces; i++)
		if (wc_versionwrite_changes(m, &m->places[i], old, new))
		{
			gone[i] = !wc_versionwrite_update(m, &m->places[i], old, new);
			any |= !gone[i];
		}

	if (w->nitems == 0)
		return;
	if (!any && is_empty(m, new, gone))
		wc_rowmodify_put_marker(m);
	else if (m->wrel->marker_column < 0 && puts_now(w) && is_empty(m, old, NULL))
		wc_rowwrite_clear(w, WC_ITEM_CLEAR_COLUMN, m->wrel->default_family, wc_slice(NULL, 0));
	wc_rowwrite_send(w, m->cid, NULL, 0);
}

/* --- either -----------------------------------------------------------------------*/

/* Columns that cannot be written may be assigned the value that they show. */
static void
check_update(const WcModify *m, TupleTableSlot *old, TupleTableSlot *new)
{
	for (int i = 0; i < m->wrel->natts; i++)
		if (wc_rowmodify_shows_only(m->wrel, &m->wrel->columns[i]) &&
			wc_modify_changes(m, i, old, new) && wc_modify_differs(i, old, new))
			wc_rowmodify_read_only(m, &m->wrel->columns[i]);
}

static bool
key_may_change(const WcModify *m, TupleTableSlot *old, TupleTableSlot *new)
{
	for (int k = 0; k < m->wrel->nkeys; k++)
		if (wc_modify_changes(m, m->wrel->keys[k], old, new))
			return true;
	return m->wrel->nkeys == 0 && wc_modify_changes(m, m->wrel->raw_key, old, new);
}

void
wc_rowupdate(WcModify *m, TupleTableSlot *old, TupleTableSlot *new)
{
	wc_rowwrite_start(&m->write);
	m->key_moved = false;
	check_update(m, old, new);
	wc_relation_encode_key(m->wrel, new->tts_values, new->tts_isnull, &m->write.key);
	if (key_may_change(m, old, new))
	{
		wc_rowwrite_start(&m->old);
		wc_relation_encode_key(m->wrel, old->tts_values, old->tts_isnull, &m->old.key);
		if (!wc_slice_eq(wc_buf_slice(&m->old.key), wc_buf_slice(&m->write.key)))
		{
			wc_rowmodify_check_old(m, &m->old.key, old->tts_values, old->tts_isnull, "updated");
			m->key_moved = true;
			move(m, old, new);
			wc_nested_note(m->estate, m->wrel->desc->id, wc_buf_slice(&m->write.key));
			return;
		}
	}
	wc_rowmodify_check_old(m, &m->write.key, old->tts_values, old->tts_isnull, "updated");
	update_in_place(m, old, new);
}
