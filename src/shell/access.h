/*
 * shell/access.h: what the functions on data may do to the stored table they are given: the
 * one place that decides.
 *
 *   given                  whose                         may
 *   ---------------------  ----------------------------  ---------------------------------
 *   a stored table's name  its owner's                   everything
 *   a foreign table        the stored table's owner's    everything
 *   ... of layout cell     anybody's with the privilege  everything: all of the stored table
 *                          on the foreign table          is mapped
 *   ... of layout row      anybody's                     what SQL could do through it: cells
 *                                                        that its columns show, rows of its
 *                                                        record type, with the privileges on
 *                                                        these columns and on those of the key
 *
 * Through a foreign table nobody may for whom row security policies hold, which are those of
 * the tables that it is a partition or a child of.  "Owner's" means: of whoever has the
 * privileges of the owning role (client/foreign/owner.h).
 *
 * The privileges are those that a statement would need: SELECT on key and columns for what is
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
} WcAccess;

/*
 * Argument 0, `tab`: a regclass, or a text that is the name of a foreign table or, when
 * there is none, of a stored table.  reads: the caller is shown something.
 * writes: one of these privileges must be there, ACL_INSERT, ACL_UPDATE, ACL_DELETE; 0:
 * nothing is written.  Takes PostgreSQL's lock on the foreign table, or the name's, to the
 * end of the transaction, so that nobody drops, empties or changes it meanwhile.  Close it
 * when all is done.
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
