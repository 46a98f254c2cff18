/*
 * fdw/rowcache.h: the rows of a scan that starts over and over.
 *
 * A correlated subquery whose condition is not on the key reads the same rows
 * for each row of the query around it.  They are kept, as values, as long as
 * they fit into work_mem.
 */
#ifndef WC_FDW_ROWCACHE_H
#define WC_FDW_ROWCACHE_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "nodes/bitmapset.h"

typedef struct WcRowCache WcRowCache;

/* Empty.  Of the columns, those in attrs (bits attnum - 1) are kept, the others
 * come back as NULL.  Lives in a context of its own below the given one. */
extern WcRowCache *wc_rowcache_create(MemoryContext parent, TupleDesc tupdesc, const Bitmapset *attrs);
extern void wc_rowcache_free(WcRowCache *cache);

/* Copies the row behind the others.  False: there is no room for it. */
extern bool wc_rowcache_add(WcRowCache *cache, const Datum *values, const bool *isnull);

/* Row n, from 0.  The values live as long as the cache.  False: there are not so many. */
extern bool wc_rowcache_get(const WcRowCache *cache, uint64 n, Datum *values, bool *isnull);

#endif
