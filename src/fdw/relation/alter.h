/*
 * fdw/relation/alter.h: changes of a foreign table's options that widecol makes by itself.
 *
 * Each is an ALTER FOREIGN TABLE behind a statement of the user's: event triggers and hooks see it as
 * part of that statement.
 */
#ifndef WC_FDW_RELATION_ALTER_H
#define WC_FDW_RELATION_ALTER_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* Adds or sets an option of a foreign table, or (column not NULL) of its column.  The user must own
 * the table. */
extern void wc_alter_option(Oid relid, const char *column, const char *option, const char *value,
							DefElemAction action);

/* ALTER COLUMN column OPTIONS (action option 'value'); value NULL when it is dropped. */
extern AlterTableCmd *wc_alter_option_cmd(const char *column, const char *option, const char *value,
										  DefElemAction action);

/* ALTER FOREIGN TABLE with these commands, with the rights of the table's owner. */
extern void wc_alter_as_owner(Oid relid, List *cmds);

#endif
