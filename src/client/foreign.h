/*
 * client/foreign.h: which stored table a foreign table maps.
 */
#ifndef WC_CLIENT_FOREIGN_H
#define WC_CLIENT_FOREIGN_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* The family of columns that name none, when the foreign table does not either. */
#define WC_FAMILY_DEFAULT "cf"

/* Is it a foreign table whose server belongs to the wrapper "widecol"? False for
 * anything else, also for an oid that is no relation. */
extern bool wc_foreign_is_widecol(Oid relid);

/* "[namespace:]table": the option `table`, else the relation's name; palloc'd.
 * Raises 42809 when it is not a widecol foreign table. */
extern char *wc_foreign_table_name(Oid relid);

/* Oids of this database's foreign tables that map the stored table `fullname`
 * ("default:t" and "t" are the same). */
extern List *wc_foreign_tables_of(const char *fullname);

/* Does a column of this foreign table live in the family (UTF-8)?  False: also when it is
 * gone; else it stays locked. */
extern bool wc_foreign_uses_family(Oid relid, const char *family);

#endif
