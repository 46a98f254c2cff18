/*
 * fdw/statement/touched.h: the rows that a statement has changed already.
 *
 * A statement changes a row once: if UPDATE ... FROM or DELETE ... USING meets the row again with another row of the
 * other table, or another part of a WITH changes it too, PostgreSQL skips it.  For heap tables it sees the change on
 * the row itself.  Our writes are in a batch, so the statement has to remember the rows.
 */
#ifndef WC_FDW_STATEMENT_TOUCHED_H
#define WC_FDW_STATEMENT_TOUCHED_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "nodes/execnodes.h"

#include "fdw/relation/relation.h"

typedef struct WcTouched WcTouched;

/*
 * The rows that the whole statement remembers; NULL if its plan meets every row at most once, as a scan does: then none
 * need be remembered.  Lives as long as the executor's state.
 */
extern WcTouched *wc_touched_open(ModifyTableState *mtstate);

/*
 * Notes the row (layout cell: the cell) with these values of the columns that identify it.  False: the statement has
 * changed it already.  Uses CurrentMemoryContext temporarily.
 */
extern bool wc_touched_note(WcTouched *touched, const WcRelation *wrel, TupleDesc tupdesc,
							const Datum *values, const bool *isnull);

#endif
