/*
 * fdw/ddl/rename.h: names that are renamed, and places in stored tables that are named after them.
 *
 * A stored table and a qualifier that took their names from the foreign table
 * and its column keep them when these are renamed: the name becomes an option.
 * An option that names a column follows it.
 */
#ifndef WC_FDW_DDL_RENAME_H
#define WC_FDW_DDL_RENAME_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* Before the statement: gives our foreign tables that it renames, or whose column it renames, the
 * old name as an option. */
extern void wc_rename_before(const RenameStmt *stmt);

/* After it; relids: the relations that it has changed.  Those of ours that are salted by the column get
 * its new name in their option salt_by. */
extern void wc_rename_after(const RenameStmt *stmt, List *relids);

/*
 * After ALTER TABLE ... ADD COLUMN; relids: the relations that it has changed.  A column that was renamed
 * has kept its qualifier, so that a new column by its old name gets another one, as an option.
 */
extern void wc_rename_place_new(const AlterTableStmt *stmt, List *relids);

#endif
