/*
 * fdw/ddl/guard.h: what making and changing foreign tables takes from the owner of the
 * stored table, and what is said about stored tables that are there already.
 *
 * Mapping a stored table takes its owner.  Who owns a foreign table that somebody
 * else made may change it as long as it shows no more than before (reach.h).
 */
#ifndef WC_FDW_DDL_GUARD_H
#define WC_FDW_DDL_GUARD_H

#include "postgres.h"

#include "nodes/parsenodes.h"

#include "client/client.h"
#include "fdw/relation/relation.h"

/* A foreign table before a statement that may change it. */
typedef struct WcGuard
{
	Oid			relid;
	char	   *table_name;		/* the stored table's */
	char	   *families;		/* option `families`, or NULL */
	WcRelation *wrel;			/* what it showed; NULL: nothing that matters (the stored table is the
								 * user's or is not there), or nothing right */
} WcGuard;

/*
 * Before an ALTER, a RENAME: List of WcGuard *, of our foreign tables that it may change,
 * which are locked as PostgreSQL will lock them.  In CurrentMemoryContext.  Raises what
 * must not be begun (42501).
 */
extern List *wc_guard_before_alter(const AlterTableStmt *stmt);
extern List *wc_guard_before_rename(const RenameStmt *stmt);

/* Those of them that must be looked at behind the statement whatever it did: oids. */
extern List *wc_guard_watched(List *before);

extern const WcGuard *wc_guard_find(List *before, Oid relid);

/* 42501 unless the user has the privileges of the owner of desc, or the foreign table
 * was there before and shows no more now.  before: NULL when it is new. */
extern void wc_guard_check(const WcRelation *wrel, const WcTableDesc *desc, const WcGuard *before);

/* The same of a foreign table whose definition is not right (yet): takes the owner.  Locks
 * the name, so that who makes a stored table of it finds the foreign table. */
extern void wc_guard_require_owner(Oid relid);

/*
 * A foreign table that has come to map a stored table which was there: NOTICE; WARNING when
 * the option `families` (with its specs) would make other families than it has.
 */
extern void wc_guard_announce(const WcRelation *wrel, const WcTableDesc *desc, const char *families, List *specs,
							  const WcGuard *before);

/*
 * Before a TRUNCATE: locks the foreign tables that it names, and those that map the
 * same stored tables, in the order of their oids, if the user may truncate them.
 */
extern void wc_guard_truncate(const TruncateStmt *stmt);

#endif
