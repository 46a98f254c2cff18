/*
 * fdw/write/versionwrite.h: writes through columns that show a cell's timestamp or its versions.
 */
#ifndef WC_FDW_WRITE_VERSIONWRITE_H
#define WC_FDW_WRITE_VERSIONWRITE_H

#include "postgres.h"

#include "fdw/write/modify.h"

/* Sets m->places: the cells that TIMESTAMP and VERSIONS columns show.  Called after m->puts is set. */
extern void wc_versionwrite_init(WcModify *m);

/*
 * The cell becomes exactly what its columns give: the versions; or the value, at the given timestamp (NULL: now);
 * nothing if all are NULL.  Other versions that would be shown instead of these, or among them, are deleted.  Columns
 * that contradict each other raise 22023.  Returns false if the cell does not exist then.
 */
extern bool wc_versionwrite_insert(WcModify *m, const WcPlace *place, const Datum *values, const bool *isnull);

/* Does an UPDATE change one of the place's columns? */
extern bool wc_versionwrite_changes(const WcModify *m, const WcPlace *place, TupleTableSlot *old, TupleTableSlot *new);

/* As wc_versionwrite_insert, for an UPDATE that changes one of the place's columns: columns that it does not
 * assign are ignored. */
extern bool wc_versionwrite_update(WcModify *m, const WcPlace *place, TupleTableSlot *old, TupleTableSlot *new);

/*
 * After an INSERT (old: NULL) or an UPDATE that gives the place's timestamp or versions: sets what the columns of its value and of
 * its timestamp show then.  Raises 22P03 if the newest version is no value of the column.
 */
extern void wc_versionwrite_show(const WcModify *m, const WcPlace *place, TupleTableSlot *old, TupleTableSlot *new,
								 Datum *values, bool *isnull);

/* The place of this cell; NULL: none. */
extern const WcPlace *wc_versionwrite_place(const WcModify *m, uint32 family, WcSlice qualifier);

#endif
