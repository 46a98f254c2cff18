/*
 * rpc/lock/ranges.h: stretches of rows that sessions may read without asking (wire/shared/rangecache.h).
 *
 * Any thread.  One mutex orders the changes of that memory.
 */
#ifndef WC_RPC_LOCK_RANGES_H
#define WC_RPC_LOCK_RANGES_H

#include "wire/shared/rangecache.h"

typedef struct WcRanges WcRanges;

/* Forgets all stretches.  The cache outlives it.  NULL: out of memory. */
extern WcRanges *wc_ranges_create(WcRangeCache *cache);
extern void wc_ranges_free(WcRanges *ranges);	/* NULL is allowed */

/* As the functions of the cache of these names. */
extern bool wc_ranges_wants(WcRanges *ranges, uint32_t table_id, WcSlice shape);
extern bool wc_ranges_covers(WcRanges *ranges, uint32_t table_id, WcSlice shape, WcSlice row, int64_t now_us, WcBuf *end);
extern bool wc_ranges_is_unwritten(const WcRanges *ranges, uint32_t table_id, uint64_t epoch);
extern bool wc_ranges_add(WcRanges *ranges, uint32_t table_id, WcSlice shape, const WcStretch *stretch, uint64_t now);

/* Is wc_ranges_row to be called for each row of a commit, or step, with so many rows?  False: wc_ranges_table is as good. */
extern bool wc_ranges_wants_rows(const WcRanges *ranges, uint32_t table_id, uint64_t nrows);

/* The commit with which this epoch begins is about to write the row, or to the table; no reader can see that yet. */
extern void wc_ranges_row(WcRanges *ranges, uint32_t table_id, WcSlice row, uint64_t epoch);
extern void wc_ranges_table(WcRanges *ranges, uint32_t table_id, uint64_t epoch);

#endif
