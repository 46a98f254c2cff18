/*
 * read/cell/cellsource.h: cell sources, the interface from which the matcher reads cells.
 *
 * A cell source walks the rows of one family (of one store, one open transaction, or a merge of these) in scan order,
 * and the cells of a row in HBase's order (model/cell.h), also when rows are walked in reverse.  It returns all cells,
 * visible or not: the matcher decides.  Both packings, the session's own writes, and tests have a cell source.
 *
 * One thread.  row, and every slice of a cell, stays valid until the source is
 * moved to another row or closed; a cell's slices until the next call that
 * moves to another cell.
 */
#ifndef WC_READ_CELL_CELLSOURCE_H
#define WC_READ_CELL_CELLSOURCE_H

#include "base/status.h"
#include "model/cell.h"

typedef struct WcCellSource WcCellSource;

typedef struct WcCellSourceOps
{
	/*
	 * Moves to the first row at or after `row` in scan order (after it when
	 * not inclusive; forward: the least such row, reversed: the greatest).
	 * An empty row is the very first one in scan order.  WC_OK: src->row is
	 * set; WC_END: there is none.  The row may have no cell.  A source may leave out rows that are of no
	 * interest (WcSourceOptions), but not the current row: to seek it, inclusive,
	 * starts it once more.
	 */
	WcStatus	(*seek_row) (WcCellSource *src, WcSlice row, bool inclusive, WcError *err);

	/* Moves to the next row in scan order, and skips the rest of this row. */
	WcStatus	(*next_row) (WcCellSource *src, WcError *err);

	/* The next cell of the current row; WC_END behind its last. */
	WcStatus	(*next_cell) (WcCellSource *src, WcCell *cell, WcError *err);

	/*
	 * Skips forward in the current row, so that the next next_cell gives the
	 * first cell whose qualifier is >= qualifier (or > when after is set).
	 * Never moves backward.  qualifier must not point into a cell of the source.
	 */
	WcStatus	(*seek_column) (WcCellSource *src, WcSlice qualifier, bool after, WcError *err);

	/*
	 * The current row as packing row stores it, and how far it is read, for readers that
	 * take cells from there (next_cell goes on behind them).  It is in one place for as long as
	 * the source lives, and has no flags while the current row is stored otherwise.  NULL: the
	 * source does not have rows in that form.
	 */
	struct WcPackedRow *(*packed_row) (WcCellSource *src);

	void		(*close) (WcCellSource *src);
} WcCellSourceOps;

struct WcCellSource
{
	const WcCellSourceOps *ops;
	bool		reversed;
	uint32_t	family;			/* family id of its cells */
	WcSlice		row;			/* the current row */
	uint64_t	seeks;			/* in the storage below, for statistics */
	uint64_t	jumps;			/* over rows that it has left out */
	uint64_t	cells;			/* given by next_cell */
};

/* Cells in memory, all of one row, already in order (resolved rows, tests);
 * neither the cells nor the row are copied. */
extern WcStatus wc_cellsource_memory(uint32_t family, WcSlice row, const WcCell *cells, size_t ncells,
									 bool reversed, WcCellSource **src, WcError *err) WC_WARN_UNUSED;

/* Opens a source of the same cells as another one, which leaves no rows out. */
typedef WcStatus (*WcCellSourceOpen) (void *arg, WcCellSource **src, WcError *err);

/*
 * Merges two sources of the same family and direction (closing it closes both); of equal coordinates upper's cell hides lower's.
 * open_all: of lower's cells; called, with arg, when upper has a row that lower may have left out.  NULL: lower leaves none out.
 */
extern WcStatus wc_cellsource_merge(WcCellSource *lower, WcCellSource *upper, WcCellSourceOpen open_all, void *arg,
									WcCellSource **src, WcError *err) WC_WARN_UNUSED;

static inline void
wc_cellsource_close(WcCellSource *src)
{
	if (src)
		src->ops->close(src);
}

#endif
