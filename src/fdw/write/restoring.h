/*
 * fdw/write/restoring.h: INSERT and COPY while a dump is restored.
 */
#ifndef WC_FDW_WRITE_RESTORING_H
#define WC_FDW_WRITE_RESTORING_H

#include "postgres.h"

#include "fdw/write/modify.h"

/*
 * Called before the foreign table is opened for INSERT or COPY (copy).  *shared: a dump is being
 * restored, and the stored table has cells already, or others map it, too, so that cells come
 * twice; *cells: one of the foreign tables brings every cell with its timestamp.
 */
extern void wc_restoring_begin(Relation rel, bool copy, bool *shared, bool *cells);

/* Layout row, shared: takes the puts back of what the row holds already.  True when the row
 * has a cell that the foreign table maps. */
extern bool wc_restoring_drop_known(WcModify *m);

/*
 * Layout cell: is this put to be written?  Not when the foreign table does not name whole
 * cells; of versions without timestamps only the newest, unless it is there.  The put of a
 * column's newest version deletes newer ones, which another foreign table has written without
 * a timestamp.
 */
extern bool wc_restoring_cell(WcModify *m, uint32 family, WcSlice qualifier, int64 ts, WcSlice value);

/* Tells that what is given to this foreign table of layout cell will not be written. */
extern void wc_restoring_warn(const WcRelation *wrel);

#endif
