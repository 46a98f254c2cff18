/*
 * fdw/write/returning.h: the row as RETURNING and AFTER triggers see it after a write.
 */
#ifndef WC_FDW_WRITE_RETURNING_H
#define WC_FDW_WRITE_RETURNING_H

#include "postgres.h"

#include "fdw/write/modify.h"

/*
 * Layout row: replaces the slot's row by the row that a reader will see, if RETURNING or a trigger uses it. old: the
 * row before an UPDATE; NULL for an INSERT.  The row's key is in m->write.key.  Called in m's row context, with all
 * attributes of the slots deformed.
 */
extern void wc_returning_show(WcModify *m, const ResultRelInfo *rinfo, TupleTableSlot *old, TupleTableSlot *slot);

#endif
