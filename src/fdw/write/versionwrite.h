/*
 * fdw/write/versionwrite.h: writes through columns that show a cell's timestamp or its versions.
 */
#ifndef WC_FDW_WRITE_VERSIONWRITE_H
#define WC_FDW_WRITE_VERSIONWRITE_H

#include "postgres.h"

#include "fdw/write/modify.h"

/* Sets m->places: the cells that TIMESTAMP and VERSIONS columns show.  After m->puts. */
extern void wc_versionwrite_init(WcModify *m);

/*
 * The cell becomes exactly what its columns say: the versions that are given; the
 * value, at the timestamp that is given (NULL: now); nothing when all are NULL.  Versions
 * that would be shown instead of these, or among them, are deleted.  Columns that
 * contradict each other are 22023.  False when the cell is not there then.
 */
extern bool wc_versionwrite_insert(WcModify *m, const WcPlace *place, const Datum *values, const bool *isnull);

/* Does an UPDATE change one of its columns? */
extern bool wc_versionwrite_changes(const WcModify *m, const WcPlace *place, TupleTableSlot *old, TupleTableSlot *new);

/* The same as INSERT for an UPDATE that changes one of its columns: those that it does not
 * assign say nothing about the cell. */
extern bool wc_versionwrite_update(WcModify *m, const WcPlace *place, TupleTableSlot *old, TupleTableSlot *new);

/* The place of this cell, or NULL. */
extern const WcPlace *wc_versionwrite_place(const WcModify *m, uint32 family, WcSlice qualifier);

#endif
