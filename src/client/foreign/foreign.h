/*
 * client/foreign/foreign.h: the stored table that a foreign table maps.
 */
#ifndef WC_CLIENT_FOREIGN_FOREIGN_H
#define WC_CLIENT_FOREIGN_FOREIGN_H

#include "postgres.h"

#include "foreign/foreign.h"
#include "nodes/pg_list.h"

#include "client/foreign/families.h"

/* The family of columns that name none, when the foreign table has no option `family`, either. */
#define WC_FAMILY_DEFAULT "cf"

/* Does the oid belong to a foreign table that maps a stored table of the embedded engine, on a server of
 * the wrapper "widecol"?  False for every other oid, also if no relation has it. */
extern bool wc_foreign_is_widecol(Oid relid);

/* Does the foreign table map a table of another store, an HBase cluster? */
extern bool wc_foreign_is_remote(Oid relid);

/* Is it widecol.dump, the extension's foreign table of all data that no other foreign table shows? */
extern bool wc_foreign_is_dump(Oid relid);

/* The server of a foreign table. */
extern ForeignServer *wc_foreign_server_of(Oid relid);

/* Does the current user own the server, or have USAGE on it?  require: else 42501, with a hint. */
extern bool wc_foreign_has_usage(const ForeignServer *server);
extern void wc_foreign_require_usage(const ForeignServer *server);

/* The server of this name if it belongs to the wrapper "widecol", with any engine; else NULL. */
extern ForeignServer *wc_foreign_server(const char *name);

/* A foreign table of the server, of those that there are the one with the least oid; InvalidOid: there is none. */
extern Oid	wc_foreign_first_of_server(Oid serverid);

/* "[namespace:]table": the option `table`, else the relation's name; palloc'd.
 * Raises 42809 when relid is not a widecol foreign table. */
extern char *wc_foreign_table_name(Oid relid);

/* Do two names mean the same stored table?  "default:t" and "t" do. */
extern bool wc_foreign_same_name(const char *a, const char *b);

typedef struct WcForeignTable
{
	Oid			relid;
	Oid			server;			/* of an HBase cluster; InvalidOid: the embedded engine, here and below */
	char	   *name;			/* of the stored table, without "default:" */
} WcForeignTable;

/* This database's foreign tables: List of WcForeignTable *, by ascending oid. */
extern List *wc_foreign_all(void);

/* Does the foreign table map the stored table `fullname` ("default:t" and "t" are the same)? */
extern bool wc_foreign_maps(const WcForeignTable *table, Oid server, const char *fullname);

/* Oids of this database's foreign tables that map the stored table `fullname`
 * ("default:t" and "t" are the same), ascending. */
extern List *wc_foreign_tables_of(Oid server, const char *fullname);

/*
 * Locks all of these foreign tables in mode AccessExclusiveLock, to the end of the transaction, in the order
 * of their oids.  55006 when a query of this session uses one that is not in `checked`; `action` names in the
 * message the refused change.  Returns the locked foreign tables.  May miss a foreign table that another session
 * makes meanwhile: see wc_owner_open.
 */
extern List *wc_foreign_lock_tables_of(Oid server, const char *fullname, const char *action, List *checked);

/* Before a stored table is made: 42501 when a foreign table already maps its name, and the foreign table's
 * owner has not the privileges of the stored table's owner: the foreign table would show its owner data that
 * this role may not read. */
extern void wc_foreign_check_owners(const WcTableDesc *desc);

/* Has the foreign table layout 'cell'? */
extern bool wc_foreign_shows_cells(Oid relid);

/* schema.name, quoted where necessary, for messages; palloc'd. */
extern char *wc_foreign_qualified_name(Oid relid);

/*
 * Sets the foreign table's option `families`, unless its value already gives the mapped families the attributes
 * that they have in desc (see wc_families_tell).  So the foreign table's definition alone can make the families
 * again.  told has a member for each family of desc.  Needs only the privilege to change the stored table.
 */
extern void wc_foreign_tell_families(Oid relid, const WcTableDesc *desc, const WcFamilyTold *told);

/* Sets the foreign table's option `table` to this name, when its stored table has been renamed. */
extern void wc_foreign_set_table(Oid relid, char *name);

/* As wc_foreign_tell_families, for all foreign tables that map the stored table. */
extern void wc_foreign_tell_all(const WcTableDesc *desc);

/*
 * Is this session restoring a dump?  The scripts of pg_dump and pg_restore turn check_function_bodies
 * off and empty the search_path.  Any role can do both: this must never give a right that the role has not.
 */
extern bool wc_foreign_restoring(void);

/* Does a column of this foreign table live in the family (UTF-8)?  Also false when the foreign table does not
 * exist any more; else the foreign table stays locked. */
extern bool wc_foreign_uses_family(Oid relid, const char *family);

#endif
