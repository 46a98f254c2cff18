/*
 * fdw/statement/quiet.h: can anything look at a table while a statement writes to it?  If not, rows may be written later.
 */
#ifndef WC_FDW_STATEMENT_QUIET_H
#define WC_FDW_STATEMENT_QUIET_H

#include "postgres.h"

#include "nodes/execnodes.h"


/* Has the table, or one below it, triggers?  The answer is kept for the statement (the planner's root, or an EState), whose memory
 * `context` is.  foreign: only foreign tables matter. */
extern bool wc_tree_has_triggers(Oid relid, bool foreign, void *statement, MemoryContext context);

/* Is the statement an INSERT or a COPY in which no trigger, function or condition looks at rows of the table that it has
 * inserted? */
extern bool wc_quiet_inserts(EState *estate, const ResultRelInfo *rinfo);

/* The same of an UPDATE or a DELETE, and the rows that it changes. */
extern bool wc_quiet_changes(EState *estate, const ResultRelInfo *rinfo);

#endif
