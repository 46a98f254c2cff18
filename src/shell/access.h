/*
 * shell/access.h: decides which data of a stored table a call of a function may read and write.
 *
 *   argument               caller                        may
 *   ---------------------  ----------------------------  ---------------------------------
 *   a stored table's name  its owner                     everything
 *   a foreign table        the stored table's owner      everything
 *   ... of layout cell     a role with the privilege     everything, if the columns name and show
 *                          on the foreign table          cells; else nothing
 *   ... of layout row      any role                      what SQL could do through it: cells
 *                                                        that its columns show, rows of its
 *                                                        record type, with the privileges on
 *                                                        these columns and on those of the key
 *
 * The owner's rights in a table of an HBase cluster, which has no owner, are those of the roles with USAGE on the
 * server.
 *
 * A role to which row security policies apply may do nothing through a foreign table; the policies are those of the
 * tables of which it is a partition or a child.  "Owner": a role with the privileges of the owning role
 * (client/catalog/owner.h).
 *
 * The privileges are those that a statement would need: SELECT on the key and on the columns that are
 * read, INSERT on them for put, incr and append (with on_duplicate 'error' also UPDATE on the
 * columns), DELETE for deletes, SELECT and any of the three for check.  Columns that SQL cannot
 * write (timestamps, generated ones, the original of a hash) are not written.  A row that is deleted
 * whole loses the families that are mapped, as by DELETE; raw scans are the owner's.  Older
 * versions show, since SQL shows them too (widecol.read_timestamp).
 */
#ifndef WC_SHELL_ACCESS_H
#define WC_SHELL_ACCESS_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/acl.h"

#include "client/client.h"
#include "fdw/relation/relation.h"
#include "shell/shell.h"

typedef struct WcAccess
{
	WcTableDesc *table;
	WcRelation *wrel;			/* NULL: everything; else only the cells that this foreign table shows */
	WcRelation *held;			/* has `table`, of an HBase cluster; else NULL */
} WcAccess;

/*
 * Argument 0, `tab`: a regclass, or a text that is the name of a foreign table or, when
 * there is none, of a stored table.  reads: the function returns data.
 * writes: the caller must have one of these privileges, ACL_INSERT, ACL_UPDATE, ACL_DELETE; 0: nothing is written.
 * Takes PostgreSQL's lock on the foreign table, or on the name, to the end of the transaction, so that no other session
 * drops, empties or changes it.  The caller closes it at the end.
 */
extern void wc_access_open(FunctionCallInfo fcinfo, WcAccess *access, bool reads, AclMode writes);
extern void wc_access_close(WcAccess *access);

/* Argument argno, a row key (wc_arg_row), that is to be written (or locked): 42501 when the foreign table
 * does not show rows of this type, 22P03 when it could not read the key. */
extern WcSlice wc_access_row_argument(FunctionCallInfo fcinfo, int argno, WcAccess *access);

/* Does the row show? */
extern bool wc_access_shows_row(WcAccess *access, WcSlice row);

/* Does the cell, in a row that shows? */
extern bool wc_access_shows_cell(const WcAccess *access, uint32 family, WcSlice qualifier);

/* Argument argno, a column (wc_arg_column): 42501 unless it may be read (ACL_SELECT), written
 * (ACL_INSERT) or deleted (ACL_DELETE). */
extern WcColumnName wc_access_column_argument(FunctionCallInfo fcinfo, int argno, const char *name,
											  const WcAccess *access, AclMode mode);
extern void wc_access_require_column(const WcAccess *access, const WcColumnName *column, AclMode mode);

/* 42501 unless all of a family may be deleted. */
extern void wc_access_require_family(const WcAccess *access, const WcFamilyDesc *family);

/* 42501 unless everything may be read: `what` is the argument that asks for it. */
extern void wc_access_require_all(const WcAccess *access, const char *what);

/* Is it one of the families whose cells the caller may delete with the row? */
extern bool wc_access_deletes_family(const WcAccess *access, uint32 family);

/* Restricts the scan to what shows: replaces whole families, and no columns at all, by the columns
 * that are mapped.  42501 when one of them may not be read. */
extern void wc_access_restrict(const WcAccess *access, WcScan *scan);

#endif
