/*
 * fdw/scan/prefetch.h: rows of many keys, read with one Scan and kept.
 *
 * What is kept is the table's rows in some ranges (those that satisfy the Scan's filter,
 * when it has one), as they are at the scan's snapshot: they answer for any narrower
 * range, whoever asks.
 */
#ifndef WC_FDW_SCAN_PREFETCH_H
#define WC_FDW_SCAN_PREFETCH_H

#include "postgres.h"

#include "access/htup.h"
#include "access/tupdesc.h"

#include "fdw/condition/bound.h"
#include "fdw/scan/reader.h"

typedef struct WcPrefetch WcPrefetch;

/* In CurrentMemoryContext, and gone with it; wrel must live as long. */
extern WcPrefetch *wc_prefetch_create(WcRelation *wrel, TupleDesc tupdesc);

/* Forgets all. */
extern void wc_prefetch_reset(WcPrefetch *prefetch);

/* Adds the rows that satisfy the conditions with these values (as for
 * wc_bounds_compute) to what is to be read; false: they are too many. */
extern bool wc_prefetch_add(WcPrefetch *prefetch, const List *conds, const Datum *values, const bool *nulls);

/* How many times something was added; the ranges are not exact, so that rechecks
 * will need their columns. */
extern int	wc_prefetch_nkeys(const WcPrefetch *prefetch);
extern bool wc_prefetch_inexact(const WcPrefetch *prefetch);

/* Sets the ranges of the Scan that is to bring all of this, and says how many rows
 * it is likely to bring (0: unknown). */
extern int	wc_prefetch_describe(WcPrefetch *prefetch, WcScan *scan);

/* Is a row to be kept that the Scan's filter could not decide? */
typedef bool (*WcPrefetchDecides) (void *arg, const Datum *values, const bool *isnull);

/* Reads the Scan, which the reader has described, to its end; false: the rows
 * took too much memory, or one cannot be decoded, and nothing is kept. */
extern bool wc_prefetch_read(WcPrefetch *prefetch, WcReader *reader, WcClientScan *scan, bool rechecks,
							 WcPrefetchDecides decides, void *arg);

/* Is all of these ranges kept, with the columns for rechecks if those are needed?
 * Then wc_prefetch_next gives its rows, by their keys. */
extern bool wc_prefetch_seek(WcPrefetch *prefetch, const WcBounds *bounds, bool recheck);

/* NULL: there are no more.  Valid until wc_prefetch_reset; bounds as at the seek. */
extern MinimalTuple wc_prefetch_next(WcPrefetch *prefetch, const WcBounds *bounds);

#endif
