/*
 * fdw/write/nested.h: rows changed behind a statement's back.
 *
 * A BEFORE trigger, or a function in the query, may change rows that the
 * statement is yet to change: by another statement, inside of it.  PostgreSQL
 * refuses to go on then (27000), which heap tables see on the row itself.  Here
 * the outer statement remembers what inner ones wrote.  Layout row only.
 */
#ifndef WC_FDW_WRITE_NESTED_H
#define WC_FDW_WRITE_NESTED_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "base/slice.h"

typedef struct WcNested WcNested;

/*
 * An UPDATE or DELETE of the stored table starts.  Lives as long as the
 * executor's state.
 */
extern WcNested *wc_nested_open(EState *estate, uint32 table);

/* A statement writes the row with this key: those around it take note. */
extern void wc_nested_note(const EState *estate, uint32 table, WcSlice key);

/* Has a statement inside of this one written the row? */
extern bool wc_nested_wrote(const WcNested *nested, WcSlice key);

/* Has one written any row? */
extern bool wc_nested_wrote_any(const WcNested *nested);

/* Is there a statement around this one that wants to know which rows are written? */
extern bool wc_nested_is_watched(const EState *estate, uint32 table);

#endif
