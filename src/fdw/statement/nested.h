/*
 * fdw/statement/nested.h: rows that a statement inside of another one changes.
 *
 * A BEFORE trigger, or a function in the query, may run another statement, which changes rows that the outer statement
 * has not changed yet.  PostgreSQL then raises an error (27000); for a heap table it sees the change on the row itself.
 * Here the outer statement remembers the rows that inner ones wrote.  Layout row only.
 */
#ifndef WC_FDW_STATEMENT_NESTED_H
#define WC_FDW_STATEMENT_NESTED_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "base/slice.h"

typedef struct WcNested WcNested;

/*
 * Called when an UPDATE or DELETE of the stored table starts.  The result lives as long as the executor's state.
 */
extern WcNested *wc_nested_open(EState *estate, uint32 table);

/* Called when a statement writes the row with this key: the statements around it note the row. */
extern void wc_nested_note(const EState *estate, uint32 table, WcSlice key);

/* Has a statement inside of this one written the row? */
extern bool wc_nested_wrote(const WcNested *nested, WcSlice key);

/* Has a statement inside of this one written any row? */
extern bool wc_nested_wrote_any(const WcNested *nested);

/* Must a statement around this one be told which rows are written? */
extern bool wc_nested_is_watched(const EState *estate, uint32 table);

#endif
