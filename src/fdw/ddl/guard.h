/*
 * fdw/ddl/guard.h: the rights of the stored table's owner when foreign tables are made and changed, and
 * messages about stored tables that are there already.
 *
 * Only its owner may map a stored table.  The owner of a foreign table that another role made may change it as
 * long as it shows no more than before (reach.h).
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
	WcRelation *wrel;			/* its definition before the statement; NULL: that was wrong already, or the statement is
								 * not checked, since the user owns the stored table or there is none */
} WcGuard;

/*
 * Before an ALTER, a RENAME:  List of WcGuard *, of our foreign tables that it may change, which are locked as
 * PostgreSQL will lock them.  In CurrentMemoryContext.  Raises 42501 for a statement that must not be begun.
 */
extern List *wc_guard_before_alter(const AlterTableStmt *stmt);
extern List *wc_guard_before_rename(const RenameStmt *stmt);

/* Those of them that must be checked after the statement in any case: oids. */
extern List *wc_guard_watched(List *before);

extern const WcGuard *wc_guard_find(List *before, Oid relid);

/* 42501 unless the user has the privileges of the owner of desc, or the foreign table
 * was there before and shows no more now.  before: NULL when it is new. */
extern void wc_guard_check(const WcRelation *wrel, const WcTableDesc *desc, const WcGuard *before);

/* The same for a foreign table whose definition is not valid (yet): only the owner may have it.  Locks the
 * name, so that a session that makes a stored table of that name finds the foreign table. */
extern void wc_guard_require_owner(Oid relid);

/*
 * For a foreign table that now maps an existing stored table: a NOTICE, and a WARNING when the option
 * `families` (with its specs) would make other families than the stored table has.
 */
extern void wc_guard_announce(const WcRelation *wrel, const WcTableDesc *desc, const char *families, List *specs,
							  const WcGuard *before);

/* That WARNING, for each family. */
extern void wc_guard_warn_about_families(const WcTableDesc *desc, List *specs);

/*
 * Before a TRUNCATE: locks the foreign tables that it names, and those that map the
 * same stored tables, in the order of their oids, if the user may truncate them.
 */
extern void wc_guard_truncate(const TruncateStmt *stmt);

#endif
