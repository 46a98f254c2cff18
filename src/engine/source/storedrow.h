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
	WcCell	   *left;			/* if some cells of the row are gone: the others */
	size_t		left_cap;
	WcBuf		left_value;		/* ... and they as a value */
} WcStoredRow;

extern void wc_storedrow_init(WcStoredRow *stored, WcGone gone);
extern void wc_storedrow_free(WcStoredRow *stored);

/* Begins to read a row; its value must live until the next one is opened.  row: for messages. */
extern WcStatus wc_storedrow_open(WcStoredRow *stored, WcSlice value, WcSlice row, WcError *err) WC_WARN_UNUSED;

/* There is no such row now: the reader has no cells, and no flags. */
extern void wc_storedrow_close(WcStoredRow *stored);

/* As the functions of a cell source; the caller sets the cell's row and family. */
extern WcStatus wc_storedrow_next(WcStoredRow *stored, WcSlice row, WcCell *cell, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_storedrow_seek(WcStoredRow *stored, WcSlice row, WcSlice qualifier, bool after, WcError *err) WC_WARN_UNUSED;

/* A row that is together may have so many puts beyond the family's VERSIONS. */
#define WC_SUPERSEDED_MAX 32

/*
 * Appends the value of a row of n cells (at least one, in cell order), if it has at most max bytes and not too many
 * superseded puts (else each write of a column that is written often would write all its old versions again).
 * Otherwise returns false, and appends nothing.  The result depends only on the cells and on VERSIONS.
 */
extern bool wc_storedrow_append(WcBuf *value, const WcCell *cells, size_t n, uint32_t versions, size_t max);

#endif
