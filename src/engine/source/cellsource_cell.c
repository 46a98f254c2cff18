/*
 * engine/source/cellsource_cell.c: the cells of a store of packing "cell".
 *
 * The first key of a row is its head, if it has one.  If the head has the row's cells (the row is together), the
 * iterator stays on it; keys of cells after such a head are left over, and gone.
 */
#include <stdlib.h>

#include "engine/rocks/cellkey.h"
#include "engine/source/cellsource_store.h"
#include "engine/source/deadskip.h"
#include "engine/source/storedrow.h"
#include "engine/source/storeiter.h"

/* So many steps of the iterator cost about as much as a seek. */
#define PATIENCE_MAX 16

typedef enum Position
{
	BEYOND,						/* behind the current row, or at no key at all */
	ON_NEXT,					/* on a cell that next_cell is to give, or on a head */
	ON_GIVEN					/* on the one it gave last */
} Position;

typedef struct CellSource
{
	WcCellSource base;
	WcStore    *store;
	WcStoreIter iter;
	bool		point;
	WcGone		gone;
	WcStoredRow stored;			/* of the current row, if it is together */
	bool		together;
	const atomic_bool *cancel;
	uint32_t	npassed;		/* cells that are gone */
	Position	at;
	int			patience;		/* steps to try before a seek, when leaving a row */
	WcBuf		lower;			/* bounds of the iterator, which points to them */
	WcBuf		upper;
	WcTakenRow	taken;			/* the current row */
	WcBuf		qualifier;		/* the last cell's, when it needs that */
	WcBuf		target;			/* of a seek */
	WcDeadSkip	dead;			/* over rows that are together */
} CellSource;

/* Finds out whether the iterator is on a cell of the current row, or beyond the row. */
static WcStatus
settle(CellSource *s, WcError *err)
{
	s->at = BEYOND;
	if (!s->iter.valid)
		return wc_storeiter_status(&s->iter, err);
	if (wc_slice_starts_with(s->iter.key, wc_buf_slice(&s->taken.prefix)))
		s->at = ON_NEXT;
	return WC_OK;
}

static WcStatus
step(CellSource *s, WcError *err)
{
	wc_storeiter_next(&s->iter);
	return settle(s, err);
}

static WcStatus
seek_to_target(CellSource *s, bool backward, WcError *err)
{
	if (s->target.failed)
		return wc_buf_status(&s->target, "row key", err);
	s->base.seeks++;
	if (backward)
		wc_storeiter_seek_backward(&s->iter, wc_buf_slice(&s->target));
	else
		wc_storeiter_seek(&s->iter, wc_buf_slice(&s->target));
	return WC_OK;
}

/* --- rows -----------------------------------------------------------------*/

/* Is the iterator on the head of the current row? */
static inline bool
on_head(const CellSource *s)
{
	return s->iter.valid && wc_slice_eq(s->iter.key, wc_buf_slice(&s->taken.prefix));
}

static void
forget_row(CellSource *s)
{
	s->at = BEYOND;
	s->together = false;
	wc_storedrow_close(&s->stored);
}

/* The iterator is on the first key of the current row; head: which is its head. */
static WcStatus
enter_row(CellSource *s, bool head, WcError *err)
{
	s->together = head && !wc_cellkey_is_apart(s->iter.value);
	if (s->together)
	{
		s->at = ON_NEXT;
		return wc_storedrow_open(&s->stored, s->iter.value, s->base.row, err);
	}
	forget_row(s);
	s->at = ON_NEXT;
	return head ? step(s, err) : WC_OK;
}

/* The iterator has no key: WC_END, or why not. */
static WcStatus
at_end(CellSource *s, WcError *err)
{
	WcStatus	status = wc_storeiter_status(&s->iter, err);

	return status == WC_OK ? WC_END : status;
}

/* Makes the row of the iterator's key the current row. */
static WcStatus
take_row(CellSource *s, WcSlice key, WcError *err)
{
	WcStatus	status = wc_cellkey_take_row(&s->taken, key, err);

	s->base.row = wc_buf_slice(&s->taken.row);
	if (status == WC_OK && (s->base.row.len == 0 || s->base.row.len > WC_ROW_MAX))
		status = wc_error(err, WC_CORRUPT, "a stored key of %zu bytes is damaged", key.len);
	return status;
}

static WcStatus
take_key_forward(CellSource *s, WcSlice key, WcError *err)
{
	WcStatus	status = take_row(s, key, err);

	if (status == WC_OK)
		return enter_row(s, key.len == s->taken.prefix.len, err);
	forget_row(s);
	return status;
}

static WcStatus
take_row_forward(CellSource *s, WcError *err)
{
	if (s->iter.valid)
		return take_key_forward(s, s->iter.key, err);
	forget_row(s);
	return at_end(s, err);
}

/* Backward the iterator meets a row's last key first: go to the first. */
static WcStatus
take_row_backward(CellSource *s, WcError *err)
{
	WcStatus	status;

	forget_row(s);
	if (!s->iter.valid)
		return at_end(s, err);
	status = take_row(s, s->iter.key, err);
	if (status != WC_OK || on_head(s))
		return status == WC_OK ? enter_row(s, true, err) : status;
	s->target.len = 0;
	wc_buf_append_slice(&s->target, wc_buf_slice(&s->taken.prefix));
	status = seek_to_target(s, false, err);
	if (status == WC_OK)
		status = settle(s, err);
	if (status == WC_OK && s->at == BEYOND)
		status = wc_error(err, WC_CORRUPT, "a row that was just met is not found again");
	return status == WC_OK ? enter_row(s, on_head(s), err) : status;
}

/* Moves backward to the last key before the target; it may be a head's. */
static WcStatus
seek_before_target(CellSource *s, WcError *err)
{
	WcStatus	status = seek_to_target(s, true, err);

	if (status == WC_OK && s->iter.valid && wc_slice_eq(s->iter.key, wc_buf_slice(&s->target)))
		wc_storeiter_prev(&s->iter);
	return status;
}

static WcStatus
seek_row(CellSource *s, WcSlice row, bool inclusive, WcError *err)
{
	WcCellSource *src = &s->base;
	bool		backward = src->reversed && !s->point;
	WcStatus	status = WC_OK;

	s->target.len = 0;
	if (row.len == 0)
	{
		src->seeks++;
		if (backward)
			wc_storeiter_seek_backward(&s->iter, row);
		else
			wc_storeiter_seek(&s->iter, row);
	}
	else
	{
		if (inclusive == backward)
			wc_cellkey_append_row_end(&s->target, row);
		else
			wc_cellkey_append_row(&s->target, row);
		status = backward ? seek_before_target(s, err) : seek_to_target(s, false, err);
	}
	if (status != WC_OK)
		return status;
	if (backward)
		return take_row_backward(s, err);
	status = take_row_forward(s, err);
	if (status == WC_OK && s->point && !wc_slice_eq(src->row, row))
	{
		s->at = BEYOND;
		return WC_END;
	}
	return status;
}

/* The source has moved: leaves dead rows behind. */
static inline WcStatus
pass_dead(CellSource *s, WcStatus status, WcError *err)
{
	if (s->dead.runs == NULL)
		return status;
	while (status == WC_OK && s->together && wc_deadskip_is_masked(&s->stored.reader))
	{
		if (!wc_deadskip_row(&s->dead, s->base.row))
			return WC_OK;
		s->base.jumps++;
		status = seek_row(s, wc_buf_slice(&s->dead.to), !s->base.reversed, err);
	}
	if (s->dead.n > 0)
		wc_deadskip_end(&s->dead);
	return status;
}

static WcStatus
cell_seek_row(WcCellSource *src, WcSlice row, bool inclusive, WcError *err)
{
	CellSource *s = (CellSource *) src;

	if (inclusive && row.len > 0 && wc_slice_eq(src->row, row))
		return seek_row(s, row, true, err);
	wc_deadskip_end(&s->dead);
	return pass_dead(s, seek_row(s, row, inclusive, err), err);
}

/* Moves forward out of the row: a few steps are cheaper for a narrow row, a seek for a wide one.  The width of the
 * rows before decides. */
static WcStatus
leave_row(CellSource *s, WcError *err)
{
	WcStatus	status = WC_OK;

	for (int i = 0; i < s->patience && s->at != BEYOND && status == WC_OK; i++)
		status = step(s, err);
	if (status != WC_OK)
		return status;
	if (s->at == BEYOND)
	{
		if (s->patience < PATIENCE_MAX)
			s->patience++;
		return WC_OK;
	}
	s->patience = s->patience > 1 ? s->patience / 2 : 1;
	s->target.len = 0;
	wc_cellkey_append_row_end(&s->target, s->base.row);
	return seek_to_target(s, false, err);
}

/* Forward from the head of a row that is together: what follows is another row, unless cells are left from before. */
static WcStatus
leave_head(CellSource *s, WcError *err)
{
	WcStatus	status;

	wc_storeiter_next(&s->iter);
	if (!s->iter.valid || !wc_slice_starts_with(s->iter.key, wc_buf_slice(&s->taken.prefix)))
		return take_row_forward(s, err);
	s->at = ON_NEXT;
	status = leave_row(s, err);
	return status == WC_OK ? take_row_forward(s, err) : status;
}

static WcStatus
next_row(CellSource *s, WcError *err)
{
	WcStatus	status = WC_OK;

	if (s->base.reversed)
	{
		s->target.len = 0;
		wc_buf_append_slice(&s->target, wc_buf_slice(&s->taken.prefix));
		if (s->together)
			wc_storeiter_prev(&s->iter);
		else
			status = seek_before_target(s, err);
		return status == WC_OK ? take_row_backward(s, err) : status;
	}
	if (s->together)
		return leave_head(s, err);
	status = leave_row(s, err);
	return status == WC_OK ? take_row_forward(s, err) : status;
}

static WcStatus
cell_next_row(WcCellSource *src, WcError *err)
{
	CellSource *s = (CellSource *) src;

	if (s->point)
	{
		s->at = BEYOND;
		return WC_END;
	}
	return pass_dead(s, next_row(s, err), err);
}

/* --- cells ----------------------------------------------------------------*/

static WcStatus
cell_next_cell(WcCellSource *src, WcCell *cell, WcError *err)
{
	CellSource *s = (CellSource *) src;
	WcStatus	status = WC_OK;
	bool		gone = false;

	if (s->together)
	{
		status = wc_storedrow_next(&s->stored, src->row, cell, err);
		cell->row = src->row;
		cell->family = src->family;
		src->cells += status == WC_OK;
		return status;
	}
	do
	{
		if (gone)
			status = wc_source_pass_over(&s->npassed, s->cancel, err);
		if (status == WC_OK && s->at == ON_GIVEN)
			status = step(s, err);
		if (status != WC_OK)
			return status;
		if (s->at == BEYOND)
			return WC_END;
		status = wc_source_take_cell(src, s->iter.key, s->iter.value, s->taken.prefix.len, &s->qualifier, cell, err);
		if (status == WC_OK)
			s->at = ON_GIVEN;
		gone = status == WC_OK && wc_gone_is(&s->gone, cell);
	} while (gone);
	return status;
}

static WcStatus
cell_seek_column(WcCellSource *src, WcSlice qualifier, bool after, WcError *err)
{
	CellSource *s = (CellSource *) src;
	WcStatus	status = WC_OK;

	if (s->together)
		return wc_storedrow_seek(&s->stored, src->row, qualifier, after, err);
	if (s->at == BEYOND)
		return WC_OK;
	s->target.len = 0;
	if (after)
		wc_cellkey_append_column_end(&s->target, src->row, qualifier);
	else
		wc_cellkey_append_column(&s->target, src->row, qualifier);
	if (s->target.failed)
		return wc_buf_status(&s->target, "row key", err);

	for (int i = 0; i < PATIENCE_MAX && status == WC_OK; i++)
	{
		if (s->at == BEYOND || (s->at == ON_NEXT && wc_slice_cmp(s->iter.key, wc_buf_slice(&s->target)) >= 0))
			return WC_OK;
		status = step(s, err);
	}
	if (status == WC_OK)
		status = seek_to_target(s, false, err);
	return status == WC_OK ? settle(s, err) : status;
}

static WcPackedRow *
cell_packed_row(WcCellSource *src)
{
	return &((CellSource *) src)->stored.reader;
}

static void
cell_close(WcCellSource *src)
{
	CellSource *s = (CellSource *) src;

	wc_storeiter_close(&s->iter);
	wc_buf_free(&s->lower);
	wc_buf_free(&s->upper);
	wc_cellkey_forget_row(&s->taken);
	wc_buf_free(&s->qualifier);
	wc_buf_free(&s->target);
	wc_storedrow_free(&s->stored);
	wc_deadskip_free(&s->dead);
	wc_store_unref(s->store);
	free(s);
}

static const WcCellSourceOps cell_ops = {
	.seek_row = cell_seek_row,
	.next_row = cell_next_row,
	.next_cell = cell_next_cell,
	.seek_column = cell_seek_column,
	.packed_row = cell_packed_row,
	.close = cell_close
};

static void
append_bound(WcBuf *buf, WcSlice row, bool behind)
{
	if (behind)
		wc_cellkey_append_row_end(buf, row);
	else
		wc_cellkey_append_row(buf, row);
}

WcStatus
wc_cellsource_cell(WcStore *store, const WcSourceOptions *options, WcCellSource **src, WcError *err)
{
	CellSource *s = calloc(1, sizeof(*s));
	const WcRange *bounds = options->bounds;

	*src = NULL;
	if (s == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	s->base.ops = &cell_ops;
	s->base.family = store->family_id;
	s->base.reversed = options->reversed;
	s->point = options->point;
	s->patience = PATIENCE_MAX;
	s->gone = wc_store_gone(store);
	wc_storedrow_init(&s->stored, s->gone);
	if (options->skip_masked)
		wc_deadskip_init(&s->dead, &store->dead, options);
	s->cancel = options->cancel;
	s->store = wc_store_ref(store);
	if (bounds && bounds->start.len > 0)
		append_bound(&s->lower, bounds->start, !bounds->start_inclusive);
	if (bounds && bounds->stop.len > 0)
		append_bound(&s->upper, bounds->stop, bounds->stop_inclusive);
	if (s->lower.failed || s->upper.failed)
	{
		cell_close(&s->base);
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	}
	/* The prefix that filters are made of is the row, with "row"; so only a
	 * single row may be looked for with their help. */
	wc_storeiter_open(&s->iter, store, options, options->point && store->built_filter == WC_BLOOM_ROW, true, wc_buf_slice(&s->lower),
					  wc_buf_slice(&s->upper));
	*src = &s->base;
	return WC_OK;
}
