/*
 * read/cell/cellsource_merge.c: two cell sources as one.
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
} MergeSource;

static void
count_seeks(MergeSource *m)
{
	m->base.seeks = m->lower.src->seeks + m->upper.src->seeks;
}

/* The merge's row is the first of the two sides'. */
static WcStatus
choose_row(MergeSource *m)
{
	Side	   *sides[2] = {&m->lower, &m->upper};
	int			c;

	count_seeks(m);
	if (m->lower.ended && m->upper.ended)
	{
		m->lower.here = m->upper.here = false;
		return WC_END;
	}
	if (m->lower.ended || m->upper.ended)
		c = m->lower.ended ? 1 : -1;
	else
	{
		c = wc_slice_cmp(m->lower.src->row, m->upper.src->row);
		if (m->base.reversed)
			c = -c;
	}
	m->lower.here = c <= 0;
	m->upper.here = c >= 0;
	for (int i = 0; i < 2; i++)
		sides[i]->drained = sides[i]->fetched = false;
	m->base.row = c <= 0 ? m->lower.src->row : m->upper.src->row;
	return WC_OK;
}

/* Takes what a side's seek_row or next_row said. */
static WcStatus
settle(Side *side, WcStatus status)
{
	side->ended = status != WC_OK;
	return status == WC_END ? WC_OK : status;
}

static WcStatus
merge_seek_row(WcCellSource *src, WcSlice row, bool inclusive, WcError *err)
{
	MergeSource *m = (MergeSource *) src;
	WcStatus	status;

	status = settle(&m->lower, m->lower.src->ops->seek_row(m->lower.src, row, inclusive, err));
	if (status == WC_OK)
		status = settle(&m->upper, m->upper.src->ops->seek_row(m->upper.src, row, inclusive, err));
	return status == WC_OK ? choose_row(m) : status;
}

static WcStatus
merge_next_row(WcCellSource *src, WcError *err)
{
	MergeSource *m = (MergeSource *) src;
	bool		lower_here = m->lower.here;
	bool		upper_here = m->upper.here;
	WcStatus	status = WC_OK;

	if (lower_here)
		status = settle(&m->lower, m->lower.src->ops->next_row(m->lower.src, err));
	if (status == WC_OK && upper_here)
		status = settle(&m->upper, m->upper.src->ops->next_row(m->upper.src, err));
	return status == WC_OK ? choose_row(m) : status;
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
	WcStatus	status;
	int			c;

	status = fetch(&m->lower, err);
	if (status == WC_OK)
		status = fetch(&m->upper, err);
	if (status != WC_OK)
		return status;
	if (!m->lower.fetched && !m->upper.fetched)
		return WC_END;
	if (m->lower.fetched && m->upper.fetched)
		c = cmp_coordinates(&m->lower.cell, &m->upper.cell);
	else
		c = m->lower.fetched ? -1 : 1;
	*cell = c < 0 ? m->lower.cell : m->upper.cell;
	cell->row = src->row;
	if (c <= 0)
		m->lower.fetched = false;
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
	WcStatus	status = side_seek_column(&m->lower, qualifier, after, err);

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
wc_cellsource_merge(WcCellSource *lower, WcCellSource *upper, WcCellSource **src, WcError *err)
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
	m->lower.ended = m->upper.ended = true;
	*src = &m->base;
	return WC_OK;
}
