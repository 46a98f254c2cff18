/*
 * engine/forget/compact.h: where storage forgets.
 *
 * Each store has a WcCompaction, which outlives it if need be: RocksDB's
 * compactions hold on to it.  Background compactions run the matcher as a minor
 * compaction, through a compaction filter; what a user asks for (flush, compact,
 * major compact) is done by a pass of the matcher that deletes what it does not
 * keep by ordinary writes, which open snapshots do not notice.
 */
#ifndef WC_ENGINE_FORGET_COMPACT_H
#define WC_ENGINE_FORGET_COMPACT_H

#include <rocksdb/c.h>

#include "engine/forget/history.h"
#include "engine/store/store.h"
#include "read/cell/matcher.h"

/* What stores call (store/store.h). */
extern const WcCompactionOps wc_compaction_ops;

/* How far ahead the clock is of compactions that a user asks for. */
extern void wc_compaction_set_clock_offset(WcCompaction *compaction, int64_t offset_us);

/* Since when the store remembers what it held. */
extern WcHistory *wc_compaction_history(WcCompaction *compaction);

/*
 * HBase's memstore, as far as a user can tell: cells that no flush has seen.
 * RocksDB may have them in files already; compactions pass over them then, since
 * HBase's compactions do not see the memstore.  from > until: there are none.
 */
extern void wc_compaction_set_memstore(WcCompaction *compaction, int64_t from_ts, int64_t until_ts);
extern void wc_compaction_memstore(WcCompaction *compaction, int64_t *from_ts, int64_t *until_ts);

/* --- packing row, for the filter and the pass ----------------------------- */

/* Takes a row's value apart into *cells, which grows as need be; the cells point
 * into the value.  False: damaged, or out of memory. */
extern bool wc_compaction_decode(WcSlice value, WcCell **cells, size_t *cap, size_t *n);

/* Moves what the matcher keeps to the front; how many, SIZE_MAX: out of memory.
 * *needed: the time before which reads as of a time need what it does not keep
 * (markers, which they do not, aside). */
extern size_t wc_compaction_keep(WcMatcher *matcher, WcCell *cells, size_t ncells, int64_t *needed);

#endif
