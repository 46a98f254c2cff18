/*
 * fdw/relation/ddl.h: what CREATE, ALTER and DROP of a foreign table mean for stored tables.
 */
#ifndef WC_FDW_RELATION_DDL_H
#define WC_FDW_RELATION_DDL_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* ALTER COLUMN column OPTIONS (action option 'value'); value NULL when it is dropped. */
extern AlterTableCmd *wc_ddl_option_cmd(const char *column, const char *option, const char *value,
										DefElemAction action);

/* ALTER FOREIGN TABLE with these, as if its owner said it. */
extern void wc_ddl_alter_as_owner(Oid relid, List *cmds);

/* Installs the hooks; once, from _PG_init. */
extern void wc_ddl_hook_install(void);

#endif
