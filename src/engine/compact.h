/*
 * engine/compact.h: where storage forgets.
 *
 * Each store has a WcCompaction, which outlives it if need be: RocksDB's
 * compactions hold on to it.  Background compactions run the matcher as a minor
 * compaction, through a compaction filter; what a user asks for (flush, compact,
 * major compact) is done by a pass of the matcher that deletes what it does not
 * keep by ordinary writes, which open snapshots do not notice.
 */
#ifndef WC_ENGINE_COMPACT_H
#define WC_ENGINE_COMPACT_H

#include <rocksdb/c.h>

#include "engine/store.h"

typedef struct WcCompaction WcCompaction;

/* One reference, the store's; NULL: out of memory. */
extern WcCompaction *wc_compaction_create(WcStore *store);

/* The store is going away: filters made from now on let everything pass. */
extern void wc_compaction_detach(WcCompaction *compaction);

/* A factory for RocksDB, holding a reference of its own. */
extern rocksdb_compactionfilterfactory_t *wc_compaction_factory(WcCompaction *compaction);

#endif
