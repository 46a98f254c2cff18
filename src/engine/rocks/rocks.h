/*
 * engine/rocks/rocks.h: the edges of RocksDB's C API, smoothed in one place.
 *
 * Errors of the C API are text; this is the only file that reads it.  Options
 * of the database and of a family are built here and nowhere else.
 */
#ifndef WC_ENGINE_ROCKS_ROCKS_H
#define WC_ENGINE_ROCKS_ROCKS_H

#include <stdatomic.h>

#include <rocksdb/c.h>

#include "base/slice.h"
#include "base/status.h"
#include "base/threads.h"
#include "model/descriptor.h"

/* RocksDB's kMemtableTier, which its C API has no name for. */
#define WC_READ_TIER_MEMTABLE 3

/* Objects that all families of one open database share. */
typedef struct WcRocksShared
{
	rocksdb_cache_t *cache;
	rocksdb_cache_t *memory_cache;	/* of families that are in_memory; NULL: there was none yet */
	uint64_t	cache_bytes;	/* the memory of both caches and of the scan cache */
	WcMutex		capacity_mutex;
	uint64_t	reserved_bytes WC_GUARDED_BY(&capacity_mutex);	/* for memory_cache */
	uint64_t	lent_bytes WC_GUARDED_BY(&capacity_mutex);	/* to the scan cache: wc_rocks_shared_lend */
	uint64_t	left_bytes WC_GUARDED_BY(&capacity_mutex);	/* lent_bytes when the capacity of `cache` was set last */
	uint64_t	write_buffer_bytes;
	_Atomic uint32_t families;	/* that are open */
} WcRocksShared;

extern void wc_rocks_shared_init(WcRocksShared *shared, uint64_t cache_bytes, uint64_t write_buffer_bytes);
extern void wc_rocks_shared_free(WcRocksShared *shared);

/*
 * Lends bytes of the blocks' memory to the scan cache: the capacity of `cache` becomes that much smaller, in steps of
 * 1 MiB.  False: more than a half (WC_SCAN_MEMORY_PART) would be lent.  Any thread.
 */
extern bool wc_rocks_shared_lend(WcRocksShared *shared, uint64_t bytes) WC_WARN_UNUSED;
extern void wc_rocks_shared_give_back(WcRocksShared *shared, uint64_t bytes);
extern uint64_t wc_rocks_shared_lent(WcRocksShared *shared);

/*
 * The status of an error text of RocksDB; frees the text. what: the action that failed ("write"); NULL text is
 * WC_OK.
 */
extern WcStatus wc_rocks_status(char *text, const char *what, WcError *err) WC_WARN_UNUSED;

/* The same for a text that is not NULL and remains the caller's; adds a hint. */
extern WcStatus wc_rocks_text_status(const char *text, const char *what, WcError *err);

/* Options of the database, and of the column family that has the catalog.  The caller destroys them. */
extern rocksdb_options_t *wc_rocks_db_options(const WcRocksShared *shared, int max_open_files, int max_background_jobs);

/* How much of a damaged log is taken. */
typedef enum WcRecover
{
	WC_RECOVER_TO_DAMAGE,		/* the log up to the damage */
	WC_RECOVER_READABLE			/* everything that can be read */
} WcRecover;

/* A copy of `options` for a log in which records are missing or damaged.  The caller destroys it. */
extern rocksdb_options_t *wc_rocks_salvage_options(const rocksdb_options_t *options, WcRecover recover);

/* With all its families, for writing: the log is written to files. */
extern WcStatus wc_rocks_open_and_close(const rocksdb_options_t *options, const char *path, WcError *err) WC_WARN_UNUSED;

/* Of one family; factory (may be NULL) now belongs to the options.  One thread
 * at a time with the same shared. */
extern rocksdb_options_t *wc_rocks_family_options(WcRocksShared *shared, const WcFamilyAttrs *attrs, uint8_t packing,
												  rocksdb_compactionfilterfactory_t *factory);

/* After ALTER: changes the options that an open column family can change (compression, block size).  The others take
 * effect when the engine is opened the next time. */
extern WcStatus wc_rocks_family_alter(rocksdb_t *db, rocksdb_column_family_handle_t *cf,
									  const WcFamilyAttrs *attrs, WcError *err) WC_WARN_UNUSED;

/* An integer property of a family, 0 when RocksDB does not give it. */
extern uint64_t wc_rocks_property(rocksdb_t *db, rocksdb_column_family_handle_t *cf, const char *name);

/* Bytes of the files, estimated, that lie between two keys of a family; an empty
 * stop: all behind start. */
extern WcStatus wc_rocks_bytes_between(rocksdb_t *db, rocksdb_column_family_handle_t *cf, WcSlice start, WcSlice stop,
									   uint64_t *bytes, WcError *err) WC_WARN_UNUSED;

#endif
