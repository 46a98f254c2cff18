/*
 * engine/store/internal.h: declarations for the folders of engine/ alone.
 */
#ifndef WC_ENGINE_STORE_INTERNAL_H
#define WC_ENGINE_STORE_INTERNAL_H

#include <rocksdb/c.h>

#include "engine/engine.h"
#include "engine/rocks/rocksplus.h"
#include "engine/store/store.h"

/* No sequence number of RocksDB's. */
#define WC_SNAPSHOT_SEQ_UNKNOWN UINT64_MAX

struct WcSnapshot
{
	const rocksdb_snapshot_t *rocks;
	int64_t		last_ts;		/* last commit timestamp given when it was taken */
	int64_t		taken_us;		/* the clock then */
	uint64_t	seq;			/* RocksDB's last sequence number then, or WC_SNAPSHOT_SEQ_UNKNOWN */
	uint32_t	readers;		/* 0: idle, and the newest */
	WcSnapshot *prev,
			   *next;			/* the engine's list of live ones, oldest first */
};

/* state.c */
extern rocksdb_t *wc_engine_rocks(WcEngine *engine);
extern int64_t wc_engine_now(WcEngine *engine);	/* the clock, by which TTLs go: timestamps may be later */

/* The commit timestamp a transaction would get now: greater than that of every
 * cell in the store which came without one. */
extern int64_t wc_engine_provisional_ts(WcEngine *engine);

/* Makes a source of a store's cells. */
extern WcStatus wc_cellsource_store(WcStore *store, const WcSourceOptions *options,
									WcCellSource **src, WcError *err) WC_WARN_UNUSED;

#endif
