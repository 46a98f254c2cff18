/*
 * engine/store/gone.h: cells that are gone: no read and no commit finds them.
 *
 * A cell is gone if an expire step (model/step.h) that was applied after the cell's commit found its TTL ended.  No source
 * of stored cells returns it, also for raw reads and for commits.  So no reader can tell whether RocksDB still has the
 * cell, and RocksDB's compactions may drop it at any time.  They drop no other cells.
 */
#ifndef WC_ENGINE_STORE_GONE_H
#define WC_ENGINE_STORE_GONE_H

#include <stdbool.h>

#include <rocksdb/c.h>

#include "model/cell.h"
#include "read/cell/matcher.h"

typedef struct WcGone
{
	int64_t		oldest_ts;		/* cells with smaller timestamps are gone, ... */
	int64_t		oldest_until_ts;	/* ... if they were written (WcCell.seq) up to this commit timestamp */
	int64_t		expired_ts;		/* cells whose own TTL had ended at this time are gone, too */
} WcGone;

/* Can any cell be gone? */
static inline bool
wc_gone_any(const WcGone *gone)
{
	return gone->oldest_ts > 0 || gone->expired_ts > 0;
}

static inline bool
wc_gone_is(const WcGone *gone, const WcCell *cell)
{
	return (cell->ts < gone->oldest_ts && cell->seq <= gone->oldest_until_ts) ||
		(cell->ttl_us > 0 && wc_ttl_end(cell->ts, cell->ttl_us) <= gone->expired_ts);
}

/*
 * Decodes the value of a row whose cells are one key-value into *cells (an array of *cap elements, which the function
 * enlarges), without the cells that are gone.  The cells point into the value and have no row.  WC_CORRUPT or
 * WC_NO_MEMORY: the caller, which knows the row, makes the message.
 */
extern WcStatus wc_gone_unpack(WcSlice value, const WcGone *gone, WcCell **cells, size_t *cap, size_t *n) WC_WARN_UNUSED;

/*
 * The filter for RocksDB's compactions.  It knows only cells that are gone for certain, also after a crash.  RocksDB
 * may keep the filter longer than its store exists.  Any thread.
 */
typedef struct WcGoneFilter WcGoneFilter;

/* One reference; NULL: out of memory. */
extern WcGoneFilter *wc_gonefilter_create(uint8_t packing);
extern void wc_gonefilter_unref(WcGoneFilter *filter);

extern void wc_gonefilter_set(WcGoneFilter *filter, const WcGone *gone);

/* A factory for RocksDB, holding a reference of its own. */
extern rocksdb_compactionfilterfactory_t *wc_gonefilter_factory(WcGoneFilter *filter);

#endif
