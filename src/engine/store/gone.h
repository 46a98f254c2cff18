/*
 * engine/store/gone.h: cells that are not there any more, for anybody.
 *
 * What had outlived its TTL by the time that a family's last expire step set
 * (model/step.h) is gone: every source of stored cells leaves it out, for raw reads and
 * for commits too.  So it cannot be seen whether RocksDB has it still, and RocksDB's
 * compactions drop it when they like.  They drop nothing else.
 */
#ifndef WC_ENGINE_STORE_GONE_H
#define WC_ENGINE_STORE_GONE_H

#include <stdbool.h>

#include <rocksdb/c.h>

#include "model/cell.h"
#include "read/cell/matcher.h"

typedef struct WcGone
{
	int64_t		oldest_ts;		/* cells with smaller timestamps are gone */
	int64_t		expired_ts;		/* so are those whose own TTL had ended by then */
} WcGone;

/* May any cell be? */
static inline bool
wc_gone_any(const WcGone *gone)
{
	return gone->oldest_ts > 0 || gone->expired_ts > 0;
}

static inline bool
wc_gone_is(const WcGone *gone, const WcCell *cell)
{
	return cell->ts < gone->oldest_ts || (cell->ttl_us > 0 && wc_ttl_end(cell->ts, cell->ttl_us) <= gone->expired_ts);
}

/*
 * Takes the value of a row whose cells are one key-value apart into *cells, which grows as need be, without
 * those that are gone; the cells point into the value and have no row.  False: damaged,
 * or out of memory.
 */
extern bool wc_gone_unpack(WcSlice value, const WcGone *gone, WcCell **cells, size_t *cap, size_t *n) __attribute__((warn_unused_result));

/*
 * What the filters of RocksDB's compactions look at: what is gone for certain, even after
 * a crash.  RocksDB holds on to it beyond its store.  Any thread.
 */
typedef struct WcGoneFilter WcGoneFilter;

/* One reference; NULL: out of memory. */
extern WcGoneFilter *wc_gonefilter_create(uint8_t packing);
extern void wc_gonefilter_unref(WcGoneFilter *filter);

extern void wc_gonefilter_set(WcGoneFilter *filter, const WcGone *gone);

/* A factory for RocksDB, holding a reference of its own. */
extern rocksdb_compactionfilterfactory_t *wc_gonefilter_factory(WcGoneFilter *filter);

#endif
