/*
 * engine/write/tally.c: a commit's changes of a family's marks.
 */
#include "engine/write/tally.h"

#include "engine/forget/history.h"

/* For one row in ROWS_LOOKED_AT the puts that new ones supersede are counted, and count that many times; if VERSIONS
 * is not greater, and the row has not more columns, than the next two. */
#define ROWS_LOOKED_AT 64
#define VERSIONS_LOOKED_AT 128
#define COLUMNS_LOOKED_AT 16

void
wc_tally_init(WcTally *t, WcStore *store, const WcFamilyAttrs *attrs, int64_t ts)
{
	t->attrs = attrs;
	t->ts = ts;
	t->marks = wc_marks(store);
	t->changed = false;
}

void
wc_tally_history(WcTally *t, int64_t needed, bool seen_until_now)
{
	needed = wc_history_needed(t->marks.single || seen_until_now, needed, t->ts);
	if (needed <= t->marks.history_from_us)
		return;
	t->marks.history_from_us = needed;
	t->changed = true;
}

static void
count(WcTally *t, uint64_t *counter, uint64_t n)
{
	*counter += n;
	t->changed = true;
}

/* A marker can go when it has done its work. */
static void
note_marker(WcTally *t, const WcCell *marker)
{
	bool		single = t->marks.single;
	int64_t		needed = wc_history_of_marker(t->attrs, marker, t->ts, &single);

	if (needed > t->marks.history_from_us)
		t->marks.history_from_us = needed;
	t->marks.single = single;
	t->changed = true;
	if (t->attrs->keep_deleted == WC_KEEP_DELETED_FALSE)
		count(t, marker->ts == marker->seq ? &t->marks.superseded : &t->marks.dated, 1);
}

/* A later commit's cells are not the newest ones if cells with later timestamps are there before. */
static void
note_ahead(WcTally *t, const WcResolved *resolved)
{
	int64_t		latest = t->ts;

	for (size_t i = 0; i < resolved->n; i++)
		latest = resolved->cells[i].ts > latest ? resolved->cells[i].ts : latest;
	if (latest == t->ts || latest <= t->marks.ahead_ts)
		return;
	t->marks.ahead_ts = latest;
	t->changed = true;
}

void
wc_tally_cells(WcTally *t, const WcResolved *resolved, bool simple)
{
	note_ahead(t, resolved);
	for (size_t i = 0; !simple && i < resolved->n; i++)
	{
		const WcCell *cell = &resolved->cells[i];

		if (wc_cell_is_marker(cell))
			note_marker(t, cell);
		else if (cell->ttl_us > 0 && !t->marks.cell_ttl)
			t->marks.cell_ttl = t->changed = true;
	}
}

/* --- superseded puts of packing cell ------------------------------------------ */

bool
wc_tally_looks_at(const WcTally *t, WcSlice row)
{
	uint64_t	hash = (uint64_t) t->ts;

	if (t->attrs->versions == WC_VERSIONS_MAX)
		return false;			/* none is */
	for (size_t i = 0; i < row.len; i++)
		hash = (hash ^ row.data[i]) * UINT64_C(0x100000001b3);
	return (hash ^ hash >> 32) % ROWS_LOOKED_AT == 0;
}

/* Has the column at least n puts? */
static WcStatus
has_puts(WcCellSource *src, WcSlice qualifier, uint32_t n, bool *has, WcError *err)
{
	WcStatus	status = src->ops->seek_column(src, qualifier, false, err);
	WcCell		cell;

	while (status == WC_OK && n > 0)
	{
		status = src->ops->next_cell(src, &cell, err);
		if (status == WC_OK && !wc_slice_eq(cell.qualifier, qualifier))
			break;
		n -= status == WC_OK && cell.type == WC_PUT;
	}
	*has = n == 0;
	return status == WC_END ? WC_OK : status;
}

WcStatus
wc_tally_superseded(WcTally *t, WcCellSource *stored, const WcResolved *resolved, WcError *err)
{
	uint32_t	versions = t->attrs->versions < VERSIONS_LOOKED_AT ? t->attrs->versions : VERSIONS_LOOKED_AT;
	uint32_t	columns = 0;
	WcStatus	status = WC_OK;

	for (size_t i = 0; status == WC_OK && i < resolved->n && columns < COLUMNS_LOOKED_AT; i++)
	{
		const WcCell *cell = &resolved->cells[i];
		bool		has;

		if (cell->type != WC_PUT)
			continue;
		columns++;
		status = has_puts(stored, cell->qualifier, versions, &has, err);
		if (status == WC_OK && has)
			count(t, &t->marks.superseded, ROWS_LOOKED_AT);
	}
	return status;
}
