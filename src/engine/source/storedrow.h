/*
 * engine/source/storedrow.h: a row whose cells are one key-value, without cells that are gone.
 *
 * For the cell sources over RocksDB, of both packings.  One thread.
 */
#ifndef WC_ENGINE_SOURCE_STOREDROW_H
#define WC_ENGINE_SOURCE_STOREDROW_H

#include "engine/store/gone.h"
#include "read/cell/packedrow.h"

typedef struct WcStoredRow
{
	WcPackedRow reader;			/* of the cells that are left */
	WcGone		gone;
	WcCell	   *left;			/* of a row of which some cells are gone: the others */
	size_t		left_cap;
	WcBuf		left_value;		/* ... and they as a value */
} WcStoredRow;

extern void wc_storedrow_init(WcStoredRow *stored, WcGone gone);
extern void wc_storedrow_free(WcStoredRow *stored);

/* Begins to read a row; its value must live until the next one is opened.  row: for messages. */
extern WcStatus wc_storedrow_open(WcStoredRow *stored, WcSlice value, WcSlice row, WcError *err) WC_WARN_UNUSED;

/* There is no such row now: the reader has no cells, and no flags. */
extern void wc_storedrow_close(WcStoredRow *stored);

/* As the functions of a cell source; of the cell, row and family are the caller's to set. */
extern WcStatus wc_storedrow_next(WcStoredRow *stored, WcSlice row, WcCell *cell, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_storedrow_seek(WcStoredRow *stored, WcSlice row, WcSlice qualifier, bool after, WcError *err) WC_WARN_UNUSED;

/* Of the puts of a row that is together, so many may be beyond the family's VERSIONS. */
#define WC_SUPERSEDED_MAX 32

/*
 * Appends the value of a row of so many cells (at least one, in cell order), if it has max
 * bytes at most, and not too many of the puts are superseded: so a column that is
 * written again and again does not have the row written with all it was each time.  Else false, and
 * nothing is appended.  Depends on the cells, and on VERSIONS, alone.
 */
extern bool wc_storedrow_append(WcBuf *value, const WcCell *cells, size_t n, uint32_t versions, size_t max);

#endif
