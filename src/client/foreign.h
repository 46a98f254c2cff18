/*
 * client/foreign.h: which stored table a foreign table maps.
 */
#ifndef WC_CLIENT_FOREIGN_H
#define WC_CLIENT_FOREIGN_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* Is it a foreign table whose server belongs to the wrapper "widecol"? False for
 * anything else, also for an oid that is no relation. */
extern bool wc_foreign_is_widecol(Oid relid);

/* "[namespace:]table": the option `table`, else the relation's name; palloc'd.
 * Raises 42809 when it is not a widecol foreign table. */
extern char *wc_foreign_table_name(Oid relid);

/* Oids of this database's foreign tables that map the stored table `fullname`
 * ("default:t" and "t" are the same). */
extern List *wc_foreign_tables_of(const char *fullname);

#endif
