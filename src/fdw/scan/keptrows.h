/*
 * fdw/scan/keptrows.h: the rows of a scan that starts over and over.
 *
 * A correlated subquery whose condition is not on the key reads the same rows
 * for each row of the query around it.  They are kept, as values, as long as
 * they fit into work_mem.
 */
#ifndef WC_FDW_SCAN_KEPTROWS_H
#define WC_FDW_SCAN_KEPTROWS_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "nodes/bitmapset.h"

typedef struct WcKeptRows WcKeptRows;

/* Empty.  Of the columns, those in attrs (bits attnum - 1) are kept, the others
 * come back as NULL.  Lives in a context of its own below the given one. */
extern WcKeptRows *wc_keptrows_create(MemoryContext parent, TupleDesc tupdesc, const Bitmapset *attrs);
extern void wc_keptrows_free(WcKeptRows *rows);

/* Copies the row behind the others.  False: there is no room for it. */
extern bool wc_keptrows_add(WcKeptRows *rows, const Datum *values, const bool *isnull);

/* Row n, from 0.  The values live as long as all the rows.  False: there are not so many. */
extern bool wc_keptrows_get(const WcKeptRows *rows, uint64 n, Datum *values, bool *isnull);

#endif
