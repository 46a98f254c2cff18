/*
 * read/cell/cellsource_memory.c: the cells of one row, in memory.
 */
#include <stdlib.h>

#include "read/cell/cellsource.h"

typedef struct MemorySource
{
	WcCellSource base;
	WcSlice		the_row;
	const WcCell *cells;
	size_t		ncells;
	size_t		next;
} MemorySource;

static WcStatus
memory_seek_row(WcCellSource *src, WcSlice row, bool inclusive, WcError *err)
{
	MemorySource *m = (MemorySource *) src;
	int			c = row.len == 0 ? 1 : wc_slice_cmp(m->the_row, row);

	if (src->reversed && row.len > 0)
		c = -c;
	if (m->ncells == 0 || c < 0 || (c == 0 && !inclusive))
		return WC_END;
	src->row = m->the_row;
	m->next = 0;
	return WC_OK;
}

static WcStatus
memory_next_row(WcCellSource *src, WcError *err)
{
	MemorySource *m = (MemorySource *) src;

	m->next = m->ncells;
	return WC_END;
}

static WcStatus
memory_next_cell(WcCellSource *src, WcCell *cell, WcError *err)
{
	MemorySource *m = (MemorySource *) src;

	if (m->next == m->ncells)
		return WC_END;
	*cell = m->cells[m->next++];
	cell->row = m->the_row;
	cell->family = src->family;
	src->cells++;
	return WC_OK;
}

static WcStatus
memory_seek_column(WcCellSource *src, WcSlice qualifier, bool after, WcError *err)
{
	MemorySource *m = (MemorySource *) src;

	while (m->next < m->ncells)
	{
		int			c = wc_slice_cmp(m->cells[m->next].qualifier, qualifier);

		if (c > 0 || (c == 0 && !after))
			break;
		m->next++;
	}
	return WC_OK;
}

static void
memory_close(WcCellSource *src)
{
	free(src);
}

static const WcCellSourceOps memory_ops = {
	.seek_row = memory_seek_row,
	.next_row = memory_next_row,
	.next_cell = memory_next_cell,
	.seek_column = memory_seek_column,
	.close = memory_close
};

WcStatus
wc_cellsource_memory(uint32_t family, WcSlice row, const WcCell *cells, size_t ncells,
					 bool reversed, WcCellSource **src, WcError *err)
{
	MemorySource *m = calloc(1, sizeof(*m));

	*src = NULL;
	if (m == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	m->base.ops = &memory_ops;
	m->base.family = family;
	m->base.reversed = reversed;
	m->the_row = row;
	m->cells = cells;
	m->ncells = ncells;
	m->next = ncells;
	*src = &m->base;
	return WC_OK;
}
