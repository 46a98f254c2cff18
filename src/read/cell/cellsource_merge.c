/*
 * read/cell/cellsource_merge.c: two cell sources as one.
 *
 * A stored source may leave out runs of dead rows, but a delete marker there may hide a cell of the transaction's: so rows that only upper
 * has are looked for in a second source of lower's cells, if lower has just jumped over rows.
 */
#include <assert.h>
#include <stdlib.h>

#include "read/cell/cellsource.h"

/* One of the two. */
typedef struct Side
{
	WcCellSource *src;
	bool		ended;			/* it has no row any more */
	bool		here;			/* its current row is the merge's */
	bool		drained;		/* and has no more cells */
	bool		fetched;		/* cell is its next one */
	WcCell		cell;
} Side;

typedef struct MergeSource
{
	WcCellSource base;
	Side		lower;
	Side		upper;

	WcCellSourceOpen open_all;
	void	   *arg;
	Side		left_out;		/* lower's cells of a row that lower has left out; src is NULL until it is needed */
	bool		sought;			/* left_out has sought a row since the merge has */
	bool		jumped;			/* lower has left out rows with its last move */
} MergeSource;

static void
count_seeks(MergeSource *m)
{
	m->base.seeks = m->lower.src->seeks + m->upper.src->seeks + (m->left_out.src ? m->left_out.src->seeks : 0);
}

/* Takes what a side's seek_row or next_row said. */
static WcStatus
settle(Side *side, WcStatus status)
{
	side->ended = status != WC_OK;
	return status == WC_END ? WC_OK : status;
}

/* Is the row a before the row b, in scan order? */
static bool
is_before(const MergeSource *m, WcSlice a, WcSlice b)
{
	int			c = wc_slice_cmp(a, b);

	return m->base.reversed ? c > 0 : c < 0;
}

/* The merge's row is one of upper's alone: finds out whether lower has left it out. */
static WcStatus
look_behind(MergeSource *m, WcSlice row, WcError *err)
{
	Side	   *side = &m->left_out;
	WcStatus	status = WC_OK;

	if (!m->jumped || m->open_all == NULL)
		return WC_OK;
	if (side->src == NULL)
		status = m->open_all(m->arg, &side->src, err);
	if (status == WC_OK && (!m->sought || (!side->ended && is_before(m, side->src->row, row))))
		status = settle(side, side->src->ops->seek_row(side->src, row, true, err));
	if (status != WC_OK)
		return status;
	m->sought = true;
	side->here = !side->ended && wc_slice_eq(side->src->row, row);
	return WC_OK;
}

/* The merge's row is the first of the two sides'. */
static WcStatus
choose_row(MergeSource *m, WcError *err)
{
	Side	   *sides[] = {&m->lower, &m->left_out, &m->upper};
	WcStatus	status = WC_OK;
	int			c;

	for (size_t i = 0; i < 3; i++)
		sides[i]->here = sides[i]->drained = sides[i]->fetched = false;
	if (m->lower.ended && m->upper.ended)
		status = WC_END;
	else
	{
		if (m->lower.ended || m->upper.ended)
			c = m->lower.ended ? 1 : -1;
		else
			c = wc_slice_cmp(m->lower.src->row, m->upper.src->row) * (m->base.reversed ? -1 : 1);
		m->lower.here = c <= 0;
		m->upper.here = c >= 0;
		m->base.row = c <= 0 ? m->lower.src->row : m->upper.src->row;
		if (c > 0)
			status = look_behind(m, m->base.row, err);
	}
	count_seeks(m);
	return status;
}

/* The side that has lower's cells of the merge's row. */
static Side *
lower_side(MergeSource *m)
{
	return m->left_out.here ? &m->left_out : &m->lower;
}

static WcStatus
merge_seek_row(WcCellSource *src, WcSlice row, bool inclusive, WcError *err)
{
	MergeSource *m = (MergeSource *) src;
	uint64_t	jumps = m->lower.src->jumps;
	WcStatus	status;

	status = settle(&m->lower, m->lower.src->ops->seek_row(m->lower.src, row, inclusive, err));
	m->jumped = m->lower.src->jumps != jumps;
	m->sought = false;
	if (status == WC_OK)
		status = settle(&m->upper, m->upper.src->ops->seek_row(m->upper.src, row, inclusive, err));
	return status == WC_OK ? choose_row(m, err) : status;
}

static WcStatus
merge_next_row(WcCellSource *src, WcError *err)
{
	MergeSource *m = (MergeSource *) src;
	uint64_t	jumps = m->lower.src->jumps;
	bool		lower_here = m->lower.here;
	bool		upper_here = m->upper.here;
	WcStatus	status = WC_OK;

	if (lower_here)
	{
		status = settle(&m->lower, m->lower.src->ops->next_row(m->lower.src, err));
		m->jumped = m->lower.src->jumps != jumps;
	}
	if (status == WC_OK && upper_here)
		status = settle(&m->upper, m->upper.src->ops->next_row(m->upper.src, err));
	return status == WC_OK ? choose_row(m, err) : status;
}

static WcStatus
fetch(Side *side, WcError *err)
{
	WcStatus	status;

	if (!side->here || side->drained || side->fetched)
		return WC_OK;
	status = side->src->ops->next_cell(side->src, &side->cell, err);
	if (status == WC_OK)
		side->fetched = true;
	else if (status == WC_END)
	{
		side->drained = true;
		status = WC_OK;
	}
	return status;
}

/* As wc_cell_cmp, but for the sequence: upper's is the later write anyway. */
static int
cmp_coordinates(const WcCell *a, const WcCell *b)
{
	int			c = wc_slice_cmp(a->qualifier, b->qualifier);

	if (c != 0)
		return c;
	if (a->ts != b->ts)
		return a->ts > b->ts ? -1 : 1;
	return (int) b->type - (int) a->type;
}

static WcStatus
merge_next_cell(WcCellSource *src, WcCell *cell, WcError *err)
{
	MergeSource *m = (MergeSource *) src;
	Side	   *lower = lower_side(m);
	WcStatus	status;
	int			c;

	status = fetch(lower, err);
	if (status == WC_OK)
		status = fetch(&m->upper, err);
	if (status != WC_OK)
		return status;
	if (!lower->fetched && !m->upper.fetched)
		return WC_END;
	if (lower->fetched && m->upper.fetched)
		c = cmp_coordinates(&lower->cell, &m->upper.cell);
	else
		c = lower->fetched ? -1 : 1;
	*cell = c < 0 ? lower->cell : m->upper.cell;
	cell->row = src->row;
	if (c <= 0)
		lower->fetched = false;
	if (c >= 0)
		m->upper.fetched = false;
	src->cells++;
	return WC_OK;
}

static WcStatus
side_seek_column(Side *side, WcSlice qualifier, bool after, WcError *err)
{
	if (!side->here || side->drained)
		return WC_OK;
	if (side->fetched)
	{
		int			c = wc_slice_cmp(side->cell.qualifier, qualifier);

		if (c > 0 || (c == 0 && !after))
			return WC_OK;
		side->fetched = false;
	}
	return side->src->ops->seek_column(side->src, qualifier, after, err);
}

static WcStatus
merge_seek_column(WcCellSource *src, WcSlice qualifier, bool after, WcError *err)
{
	MergeSource *m = (MergeSource *) src;
	WcStatus	status = side_seek_column(lower_side(m), qualifier, after, err);

	if (status == WC_OK)
		status = side_seek_column(&m->upper, qualifier, after, err);
	count_seeks(m);
	return status;
}

static void
merge_close(WcCellSource *src)
{
	MergeSource *m = (MergeSource *) src;

	wc_cellsource_close(m->lower.src);
	wc_cellsource_close(m->left_out.src);
	wc_cellsource_close(m->upper.src);
	free(m);
}

static const WcCellSourceOps merge_ops = {
	.seek_row = merge_seek_row,
	.next_row = merge_next_row,
	.next_cell = merge_next_cell,
	.seek_column = merge_seek_column,
	.close = merge_close
};

WcStatus
wc_cellsource_merge(WcCellSource *lower, WcCellSource *upper, WcCellSourceOpen open_all, void *arg, WcCellSource **src,
					WcError *err)
{
	MergeSource *m = calloc(1, sizeof(*m));

	assert(lower->reversed == upper->reversed);
	*src = NULL;
	if (m == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	m->base.ops = &merge_ops;
	m->base.family = lower->family;
	m->base.reversed = lower->reversed;
	m->lower.src = lower;
	m->upper.src = upper;
	m->open_all = open_all;
	m->arg = arg;
	m->lower.ended = m->upper.ended = true;
	*src = &m->base;
	return WC_OK;
}
