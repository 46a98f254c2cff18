/*
 * engine/source/cellsource_packed.c: the cells of a store of packing "row", row by row.
 */
#include <stdlib.h>

#include "engine/source/cellsource_store.h"
#include "engine/source/deadskip.h"
#include "engine/source/storedrow.h"
#include "engine/source/storeiter.h"

typedef struct PackedSource
{
	WcCellSource base;
	WcStore    *store;
	WcStoreIter iter;
	WcBuf		lower;			/* bounds of the iterator, which points to them */
	WcBuf		upper;
	bool		on_row;
	WcStoredRow stored;
	WcDeadSkip	dead;
} PackedSource;

static WcStatus
packed_next_cell(WcCellSource *src, WcCell *cell, WcError *err)
{
	PackedSource *p = (PackedSource *) src;
	WcStatus	status = wc_storedrow_next(&p->stored, src->row, cell, err);

	if (status != WC_OK)
		return status;
	cell->row = src->row;
	cell->family = src->family;
	src->cells++;
	return WC_OK;
}

static WcStatus
packed_seek_column(WcCellSource *src, WcSlice qualifier, bool after, WcError *err)
{
	return wc_storedrow_seek(&((PackedSource *) src)->stored, src->row, qualifier, after, err);
}

static WcPackedRow *
packed_row(WcCellSource *src)
{
	return &((PackedSource *) src)->stored.reader;
}

static void
packed_close(WcCellSource *src)
{
	PackedSource *p = (PackedSource *) src;

	wc_storeiter_close(&p->iter);
	wc_buf_free(&p->lower);
	wc_buf_free(&p->upper);
	wc_storedrow_free(&p->stored);
	wc_deadskip_free(&p->dead);
	wc_store_unref(p->store);
	free(p);
}

/* (Re)starts reading the current row. */
static WcStatus
open_value(PackedSource *p, WcError *err)
{
	p->on_row = true;
	return wc_storedrow_open(&p->stored, p->iter.value, p->base.row, err);
}

/* Makes the row the iterator stands on the current one. */
static WcStatus
load_row(PackedSource *p, WcError *err)
{
	WcStatus	status;

	if (!p->iter.valid)
	{
		p->on_row = false;
		status = wc_storeiter_status(&p->iter, err);
		return status == WC_OK ? WC_END : status;
	}
	if (p->iter.key.len == 0 || p->iter.key.len > WC_ROW_MAX)
		return wc_error(err, WC_CORRUPT, "a stored key of %zu bytes is damaged", p->iter.key.len);
	p->base.row = p->iter.key;
	return open_value(p, err);
}

static inline void
step(PackedSource *p)
{
	if (p->base.reversed)
		wc_storeiter_prev(&p->iter);
	else
		wc_storeiter_next(&p->iter);
}

static WcStatus
seek(PackedSource *p, WcSlice row, bool inclusive, WcError *err)
{
	WcCellSource *src = &p->base;

	src->seeks++;
	if (src->reversed)
		wc_storeiter_seek_backward(&p->iter, row);
	else
		wc_storeiter_seek(&p->iter, row);
	if (!inclusive && row.len > 0 && p->iter.valid && wc_slice_eq(p->iter.key, row))
		step(p);
	return load_row(p, err);
}

/* The source has moved: leaves dead rows behind. */
static inline WcStatus
pass_dead(PackedSource *p, WcStatus status, WcError *err)
{
	if (p->dead.runs == NULL)
		return status;
	while (status == WC_OK && wc_deadskip_is_dead(&p->stored.reader))
	{
		if (!wc_deadskip_row(&p->dead, p->base.row))
			return WC_OK;
		p->base.jumps++;
		status = seek(p, wc_buf_slice(&p->dead.to), !p->base.reversed, err);
	}
	if (p->dead.n > 0)
		wc_deadskip_end(&p->dead);
	return status;
}

static WcStatus
packed_seek_row(WcCellSource *src, WcSlice row, bool inclusive, WcError *err)
{
	PackedSource *p = (PackedSource *) src;

	if (p->on_row && inclusive && wc_slice_eq(src->row, row))
		return open_value(p, err);
	wc_deadskip_end(&p->dead);
	return pass_dead(p, seek(p, row, inclusive, err), err);
}

static WcStatus
packed_next_row(WcCellSource *src, WcError *err)
{
	PackedSource *p = (PackedSource *) src;

	if (!p->on_row)
		return WC_END;
	step(p);
	return pass_dead(p, load_row(p, err), err);
}

static const WcCellSourceOps packed_ops = {
	.seek_row = packed_seek_row,
	.next_row = packed_next_row,
	.next_cell = packed_next_cell,
	.seek_column = packed_seek_column,
	.packed_row = packed_row,
	.close = packed_close
};

/* The first key of [start, ...), or the first behind [..., stop]: row itself,
 * or its successor, which is the row and a zero byte. */
static void
append_bound(WcBuf *buf, WcSlice row, bool behind)
{
	wc_buf_append_slice(buf, row);
	if (behind)
		wc_buf_append_u8(buf, 0);
}

WcStatus
wc_cellsource_packed(WcStore *store, const WcSourceOptions *options, WcCellSource **src, WcError *err)
{
	PackedSource *p = calloc(1, sizeof(*p));
	const WcRange *bounds = options->bounds;

	*src = NULL;
	if (p == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	p->base.ops = &packed_ops;
	p->base.family = store->family_id;
	p->base.reversed = options->reversed;
	p->store = wc_store_ref(store);
	wc_storedrow_init(&p->stored, wc_store_gone(store));
	wc_deadskip_init(&p->dead, &store->dead, options);
	if (bounds && bounds->start.len > 0)
		append_bound(&p->lower, bounds->start, !bounds->start_inclusive);
	if (bounds && bounds->stop.len > 0)
		append_bound(&p->upper, bounds->stop, bounds->stop_inclusive);
	if (p->lower.failed || p->upper.failed)
	{
		packed_close(&p->base);
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	}
	wc_storeiter_open(&p->iter, store, options, false, false, wc_buf_slice(&p->lower), wc_buf_slice(&p->upper));
	*src = &p->base;
	return WC_OK;
}
