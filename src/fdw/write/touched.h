/*
 * fdw/write/touched.h: the rows that a statement has changed already.
 *
 * A statement changes a row once: where UPDATE ... FROM or DELETE ... USING meet
 * it again by another row of the other table, or a second part of a WITH wants
 * it too, PostgreSQL passes over it.  Heap tables see it on the row itself; our
 * writes are in a batch, so it has to be remembered.
 */
#ifndef WC_FDW_WRITE_TOUCHED_H
#define WC_FDW_WRITE_TOUCHED_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "nodes/execnodes.h"

#include "fdw/relation/relation.h"

typedef struct WcTouched WcTouched;

/*
 * What the whole statement remembers, or NULL when its plan meets every row once
 * at most, as a scan does: then nothing has to be.  Lives as long as the
 * executor's state.
 */
extern WcTouched *wc_touched_open(ModifyTableState *mtstate);

/*
 * Notes the row (layout cell: the cell) with these values of the columns that
 * identify it.  False: the statement has changed it already.  Uses
 * CurrentMemoryContext for a moment.
 */
extern bool wc_touched_note(WcTouched *touched, const WcRelation *wrel, TupleDesc tupdesc,
							const Datum *values, const bool *isnull);

#endif
