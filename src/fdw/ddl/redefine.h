/*
 * fdw/ddl/redefine.h: a foreign table whose definition changes over stored rows.
 */
#ifndef WC_FDW_DDL_REDEFINE_H
#define WC_FDW_DDL_REDEFINE_H

#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"
#include "utils/relcache.h"

#include "fdw/relation/relation.h"

/* Of one foreign table, before a statement. */
typedef struct WcDefinition
{
	Oid			relid;
	WcRelation *wrel;			/* without a stored table; NULL: the definition was not valid */
} WcDefinition;

/* The foreign table's mapping, as `read` makes it; NULL if the definition is not valid, which a statement may be about to
 * correct.  (A cancelled statement, or one without memory, fails nevertheless.) */
extern WcRelation *wc_definition_read(Oid relid, WcRelation *(*read) (Relation rel));

/*
 * The foreign tables whose columns, options or constant parts this ALTER TABLE may
 * change, those below it and a partition to be attached included: List of WcDefinition *,
 * in CurrentMemoryContext.  Takes no lock that is kept.
 */
extern List *wc_redefine_note(AlterTableStmt *stmt);

/* Adds the foreign table that an object belongs to which is about to be dropped (a column,
 * a constraint, an expression), when it belongs to one that is not in the list yet. */
extern List *wc_redefine_note_drop(List *definitions, Oid class_id, Oid object_id, int sub_id);

/* Has a part of the row key been dropped, and do the others not make a key? 22023, which names the column. */
extern void wc_redefine_check_drop(const WcDefinition *before, Relation rel);

/* Has the foreign table another stored table than before? */
extern bool wc_redefine_moves(const WcDefinition *before, const WcRelation *wrel);

/*
 * Compares the definition with the one before, both over the stored table desc. 55000 when stored bytes would
 * be read as other values, or other keys be shown than before; a NOTICE about cells that columns leave behind
 * or read with another encoding, and about families with cells that are not mapped any more.  Waits for
 * transactions that have written to the stored table, and keeps others from it to the end of the transaction,
 * when there is something to find out.
 */
extern void wc_redefine_check(const WcDefinition *before, WcRelation *wrel, const WcTableDesc *desc);

#endif
