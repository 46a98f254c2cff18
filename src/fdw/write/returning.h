/*
 * fdw/write/returning.h: what RETURNING and AFTER triggers see of a row that was written.
 */
#ifndef WC_FDW_WRITE_RETURNING_H
#define WC_FDW_WRITE_RETURNING_H

#include "postgres.h"

#include "fdw/write/modify.h"

/*
 * Layout row: makes the slot's row what a reader will see of it, when somebody looks.  old: the
 * row before an UPDATE, NULL for an INSERT.  The row's key is in m->write.key.  Called in m's row
 * context, with all attributes of the slots deformed.
 */
extern void wc_returning_show(WcModify *m, const ResultRelInfo *rinfo, TupleTableSlot *old, TupleTableSlot *slot);

#endif
