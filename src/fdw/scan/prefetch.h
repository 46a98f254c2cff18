/*
 * fdw/scan/prefetch.h: rows of many keys, read with one Scan and kept.
 *
 * The kept rows are the table's rows in some ranges (with a filter, those that satisfy it), at the scan's
 * snapshot.  The rows of any narrower range are found among them.
 */
#ifndef WC_FDW_SCAN_PREFETCH_H
#define WC_FDW_SCAN_PREFETCH_H

#include "postgres.h"

#include "access/htup.h"
#include "access/tupdesc.h"

#include "fdw/condition/bound.h"
#include "fdw/row/reader.h"

typedef struct WcPrefetch WcPrefetch;

/* Allocates in CurrentMemoryContext, and is freed with it; wrel must live as long. */
extern WcPrefetch *wc_prefetch_create(WcRelation *wrel, TupleDesc tupdesc);

/* Removes all keys and rows. */
extern void wc_prefetch_reset(WcPrefetch *prefetch);

/* Adds the ranges of the rows that satisfy the conditions with these values (as for wc_bounds_compute); false:
 * too many ranges, or all rows. */
extern bool wc_prefetch_add(WcPrefetch *prefetch, const List *conds, const Datum *values, const bool *nulls);

/* The number of calls of wc_prefetch_add that added ranges; are ranges inexact, so that rechecks will need their
 * columns? */
extern int	wc_prefetch_nkeys(const WcPrefetch *prefetch);
extern bool wc_prefetch_inexact(const WcPrefetch *prefetch);

/* Sets the Scan's ranges to the added ranges.  Returns the probable number of rows (0: unknown). */
extern int	wc_prefetch_describe(WcPrefetch *prefetch, WcScan *scan);

/* Is a row kept that the Scan's filter could not decide? */
typedef bool (*WcPrefetchDecides) (void *arg, const Datum *values, const bool *isnull);

/* Reads the Scan, which the reader has described, to its end; false: the rows take too much memory, or a row
 * cannot be decoded; then nothing is kept. */
extern bool wc_prefetch_read(WcPrefetch *prefetch, WcReader *reader, WcClientScan *scan, bool rechecks,
							 WcPrefetchDecides decides, void *arg);

/* Are all rows of these ranges kept, and with recheck also the columns for rechecks?  Then wc_prefetch_next
 * returns the rows, in the order of their keys. */
extern bool wc_prefetch_seek(WcPrefetch *prefetch, const WcBounds *bounds, bool recheck);

/* The next row; NULL: no more rows.  Valid until wc_prefetch_reset; bounds as for wc_prefetch_seek. */
extern MinimalTuple wc_prefetch_next(WcPrefetch *prefetch, const WcBounds *bounds);

#endif
