/*
 * fdw/write/restoring.h: INSERT and COPY while a dump is restored.
 */
#ifndef WC_FDW_WRITE_RESTORING_H
#define WC_FDW_WRITE_RESTORING_H

#include "postgres.h"

#include "fdw/write/modify.h"

/*
 * Called before the foreign table is opened for INSERT or COPY (copy).  *shared: a dump is being restored, and cells
 * may come twice, since the stored table has cells already or other foreign tables map it, too.  *cells: one of the
 * foreign tables restores every cell with its timestamp.
 */
extern void wc_restoring_begin(Relation rel, bool copy, bool *shared, bool *cells);

/* Layout row, shared: removes the puts of cells that the row has already.  Returns true if the row has a cell
 * that the foreign table maps. */
extern bool wc_restoring_drop_known(WcModify *m);

/*
 * Layout cell: is this put to be written?  Not if the foreign table does not name whole cells.  Of versions without
 * timestamps, only the newest is written, unless it exists.  The put of a column's newest version deletes newer ones,
 * which another foreign table has written without a timestamp.
 */
extern bool wc_restoring_cell(WcModify *m, uint32 family, WcSlice qualifier, int64 ts, WcSlice value);

/* Warns that rows given to this foreign table of layout cell will not be written. */
extern void wc_restoring_warn(const WcRelation *wrel);

#endif
