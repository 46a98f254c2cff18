/*
 * fdw/scan/keptrows.h: rows kept for the rescans of a scan.
 *
 * A correlated subquery whose condition is not on the key reads the same rows for each row of the outer query.  The
 * rows are kept, as values, as long as they fit into work_mem.
 */
#ifndef WC_FDW_SCAN_KEPTROWS_H
#define WC_FDW_SCAN_KEPTROWS_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "nodes/bitmapset.h"

typedef struct WcKeptRows WcKeptRows;

/* Creates an empty set of rows.  The columns in attrs (bits attnum - 1) are kept; the others are returned as NULL.
 * Lives in a new memory context below `parent`. */
extern WcKeptRows *wc_keptrows_create(MemoryContext parent, TupleDesc tupdesc, const Bitmapset *attrs);
extern void wc_keptrows_free(WcKeptRows *rows);

/* Appends a copy of the row.  False: work_mem has no room for the row. */
extern bool wc_keptrows_add(WcKeptRows *rows, const Datum *values, const bool *isnull);

/* Row n, from 0.  The values live as long as all the rows.  False: there are not so many rows. */
extern bool wc_keptrows_get(const WcKeptRows *rows, uint64 n, Datum *values, bool *isnull);

#endif
