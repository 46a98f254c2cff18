/*
 * fdw/write/returning.c: the row as RETURNING and AFTER triggers see it after a write.
 *
 * Stored bytes do not hold all of a given value: timestamps in milliseconds, keys without a numeric's scale, maps whose
 * members are text.  So the written bytes are decoded again.  The timestamp of a cell is that of the commit, which is
 * not known yet: it shows as NULL.  If the row was given the versions of a cell, the newest is the cell's value.
 */
#include "postgres.h"

#include "utils/datum.h"

#include "fdw/row/map.h"
#include "fdw/write/returning.h"
#include "fdw/write/versionwrite.h"

typedef struct Shown
{
	Datum	   *values;
	bool	   *isnull;
} Shown;

static void
show_key(WcModify *m, Shown *shown)
{
	WcCodecWhere where = {.table = m->wrel->relname,.row = wc_buf_slice(&m->write.key)};

	wc_relation_decode_key(m->wrel, &where, NULL, shown->values, shown->isnull);
}

static void
show_values(WcModify *m, TupleTableSlot *old, TupleTableSlot *new, Shown *shown)
{
	WcBuf	   *scratch = &m->old.bytes;

	for (int i = 0; i < m->nputs; i++)
	{
		const WcPutColumn *put = &m->puts[i];
		WcCodecWhere where = {.table = m->wrel->relname,.row = wc_buf_slice(&m->write.key)};

		if (new->tts_isnull[put->index] || (old != NULL && !wc_modify_changes(m, put->index, old, new)))
			continue;
		wc_buf_reset(scratch, WC_ROW_MAX);
		wc_codec_encode(put->codec, new->tts_values[put->index], scratch);
		shown->values[put->index] = wc_codec_decode(put->codec, wc_buf_slice(scratch), &where);
	}
}

static void
show_maps(WcModify *m, TupleTableSlot *old, TupleTableSlot *new, Shown *shown)
{
	for (int i = 0; i < m->nmaps; i++)
	{
		const WcRelColumn *col = m->maps[i].column;
		int			index = col->attnum - 1;
		WcCodecWhere where = {.table = m->wrel->relname,.row = wc_buf_slice(&m->write.key)};
		WcMapEntry *entries;
		WcMap	   *map;
		int			n;

		if (new->tts_isnull[index] || (old != NULL && !wc_modify_changes(m, index, old, new)))
			continue;
		n = wc_mapwrite_entries(&m->maps[i], new->tts_values[index], false, &entries);
		map = wc_map_create(m->wrel, col);
		for (int e = 0; e < n; e++)
		{
			WcCell		cell = {.family = col->family,.qualifier = entries[e].qualifier,.value = entries[e].value};

			wc_map_add(map, &cell, &where);
		}
		shown->isnull[index] = !wc_map_finish(map, false, &shown->values[index]);
	}
}

/* Has the UPDATE written the cell whose timestamp or versions the column shows? */
static bool
is_rewritten(WcModify *m, const WcRelColumn *col, TupleTableSlot *old, TupleTableSlot *new)
{
	const WcPlace *place = wc_versionwrite_place(m, col->family, col->qualifier);

	if (m->key_moved || (place != NULL && wc_versionwrite_changes(m, place, old, new)))
		return true;
	for (int i = 0; i < m->nputs; i++)
	{
		if (m->puts[i].family == col->family && wc_slice_eq(m->puts[i].qualifier, col->qualifier))
			return wc_modify_changes(m, m->puts[i].index, old, new);
	}
	return false;
}

/* Does the UPDATE say what the column shows?  A timestamp may be assigned again, versions that are the same do not count. */
static bool
is_given(WcModify *m, int i, TupleTableSlot *old, TupleTableSlot *new)
{
	return wc_modify_changes(m, i, old, new) &&
		(m->wrel->columns[i].role == WC_ROLE_TIMESTAMP || wc_modify_differs(i, old, new));
}

static void
hide_old_times(WcModify *m, TupleTableSlot *old, TupleTableSlot *new, Shown *shown)
{
	for (int i = 0; i < m->wrel->natts; i++)
	{
		const WcRelColumn *col = &m->wrel->columns[i];

		if ((col->role == WC_ROLE_TIMESTAMP || col->role == WC_ROLE_VERSIONS) &&
			!is_given(m, i, old, new) && is_rewritten(m, col, old, new))
			shown->isnull[i] = true;
	}
}

void
wc_returning_show(WcModify *m, const ResultRelInfo *rinfo, TupleTableSlot *old, TupleTableSlot *slot)
{
	int			natts = slot->tts_tupleDescriptor->natts;
	Shown		shown;

	if (rinfo->ri_projectReturning == NULL && rinfo->ri_TrigDesc == NULL)
		return;
	shown.values = palloc(natts * sizeof(Datum));
	shown.isnull = palloc(natts * sizeof(bool));
	for (int i = 0; i < natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(slot->tts_tupleDescriptor, i);

		shown.isnull[i] = slot->tts_isnull[i];
		shown.values[i] = shown.isnull[i] ? (Datum) 0 : datumCopy(slot->tts_values[i], attr->attbyval, attr->attlen);
	}
	show_key(m, &shown);
	show_values(m, old, slot, &shown);
	show_maps(m, old, slot, &shown);
	if (old != NULL)
		hide_old_times(m, old, slot, &shown);
	for (int i = 0; i < m->nplaces; i++)
		wc_versionwrite_show(m, &m->places[i], old, slot, shown.values, shown.isnull);
	ExecClearTuple(slot);
	memcpy(slot->tts_values, shown.values, natts * sizeof(Datum));
	memcpy(slot->tts_isnull, shown.isnull, natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	ExecMaterializeSlot(slot);
}
