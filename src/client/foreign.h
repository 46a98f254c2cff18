/*
 * client/foreign.h: which stored table a foreign table maps.
 */
#ifndef WC_CLIENT_FOREIGN_H
#define WC_CLIENT_FOREIGN_H

#include "postgres.h"

#include "foreign/foreign.h"
#include "nodes/pg_list.h"

#include "client/families.h"

/* The family of columns that name none, when the foreign table does not either. */
#define WC_FAMILY_DEFAULT "cf"

/* Is it a foreign table that maps a stored table of the embedded engine, on a server that belongs to
 * the wrapper "widecol"? False for anything else, also for an oid that is no relation. */
extern bool wc_foreign_is_widecol(Oid relid);

/* Is it one that maps a table of another store, an HBase cluster? */
extern bool wc_foreign_is_remote(Oid relid);

/* Is it widecol.dump, the extension's foreign table of what no foreign table shows? */
extern bool wc_foreign_is_dump(Oid relid);

/* Raises 42501, with a hint, unless the user owns the server or may use it. */
extern void wc_foreign_require_usage(const ForeignServer *server);

/* The server by this name when it belongs to the wrapper "widecol", whatever its engine, else NULL. */
extern ForeignServer *wc_foreign_server(const char *name);

/* "[namespace:]table": the option `table`, else the relation's name; palloc'd.
 * Raises 42809 when it is not a widecol foreign table, 0A000 when it is remote. */
extern char *wc_foreign_table_name(Oid relid);

typedef struct WcForeignTable
{
	Oid			relid;
	bool		remote;			/* of an HBase cluster */
	char	   *name;			/* of the stored table, without "default:" */
} WcForeignTable;

/* This database's foreign tables: List of WcForeignTable *, by ascending oid. */
extern List *wc_foreign_all(void);

/* Does it map the stored table `fullname` ("default:t" and "t" are the same)? */
extern bool wc_foreign_maps(const WcForeignTable *table, const char *fullname);

/* Oids of this database's foreign tables that map the stored table `fullname`
 * ("default:t" and "t" are the same), ascending. */
extern List *wc_foreign_tables_of(const char *fullname);

/*
 * Locks them all against everybody, to the end of the transaction, in the order of
 * their oids; 55006 when a query of this session is using one (`action` says in the
 * message what cannot be done to it), but for those in `checked`.  Returns those that are locked.  A foreign table
 * that others are making meanwhile may be missed: see wc_owner_open.
 */
extern List *wc_foreign_lock_tables_of(const char *fullname, const char *action, List *checked);

/* Has it layout 'cell'? */
extern bool wc_foreign_shows_cells(Oid relid);

/* "schema"."name", quoted where it must be, for messages; palloc'd. */
extern char *wc_foreign_qualified_name(Oid relid);

/*
 * The foreign table's option `families` tells the attributes of the families it maps: sets it
 * where it does not (see wc_families_tell), so that its definition alone makes them so again.
 * told has a member for each family of desc.  Whoever may change the stored table may do so.
 */
extern void wc_foreign_tell_families(Oid relid, const WcTableDesc *desc, const WcFamilyTold *told);

/* Its option `table` becomes this name: the stored table that it maps has been renamed. */
extern void wc_foreign_set_table(Oid relid, char *name);

/* As wc_foreign_tell_families, for all foreign tables that map the stored table. */
extern void wc_foreign_tell_all(const WcTableDesc *desc);

/*
 * Is this session restoring a dump?  The scripts of pg_dump and pg_restore turn check_function_bodies
 * off and empty the search_path, which nothing else does together.
 */
extern bool wc_foreign_restoring(void);

/* Does a column of this foreign table live in the family (UTF-8)?  False: also when it is
 * gone; else it stays locked. */
extern bool wc_foreign_uses_family(Oid relid, const char *family);

#endif
