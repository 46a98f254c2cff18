/*
 * engine/store/counts.h: counters of the engine, and of each store.
 *
 * Counting needs no mutex and never waits: numbers are added with relaxed atomics.  A counter that many threads
 * change is kept in several copies, each for some of the threads; reading it sums them.  Any thread.
 */
#ifndef WC_ENGINE_STORE_COUNTS_H
#define WC_ENGINE_STORE_COUNTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/threads.h"
#include "engine/engine.h"
#include "engine/rocks/rocksplus.h"
#include "model/statistics.h"
#include "read/storage.h"

struct WcEngine;
struct WcStore;

/* Copies of each counter of reads; a thread uses one of them. */
#define WC_COUNT_SHARDS 4

/* The numbers of WcReadCounts, in its order. */
#define WC_READ_NUMBERS (sizeof(WcReadCounts) / sizeof(uint64_t))

/* The counters of one store. */
typedef struct WcStoreCounts
{
	_Atomic uint64_t read[WC_COUNT_SHARDS][WC_READ_NUMBERS];
	_Atomic uint64_t cells_written;
	_Atomic uint64_t deletes;
	_Atomic uint64_t bytes_written;
	_Atomic uint64_t flushes;
	_Atomic uint64_t flush_us;
	_Atomic uint64_t compactions;
	_Atomic uint64_t compaction_us;
} WcStoreCounts;

/* What one commit has written to a store. */
typedef struct WcWriteCounts
{
	uint64_t	cells;
	uint64_t	deletes;
	uint64_t	bytes;
} WcWriteCounts;

extern void wc_storecounts_read(WcStoreCounts *counts, const WcReadCounts *news);
extern void wc_storecounts_written(WcStoreCounts *counts, const WcWriteCounts *news);

/* Sets the fields that are counted here, and leaves the others. */
extern void wc_storecounts_get(const WcStoreCounts *counts, WcFamilyStatistics *to);
extern void wc_storecounts_reset(WcStoreCounts *counts);

/* Sets the counters to values that wc_storecounts_get has returned. */
extern void wc_storecounts_set(WcStoreCounts *counts, const WcFamilyStatistics *from);

/* A flush or a compaction that one of RocksDB's threads is doing. */
typedef struct WcRocksRunning
{
	uint64_t	thread;			/* RocksDB's number of the thread; 0: this entry is free */
	bool		flush;
	char		family[WC_CF_NAME_MAX];
	uint64_t	since_us;
	uint64_t	bytes;			/* of the input; 0: not known */
} WcRocksRunning;

/* More of RocksDB's threads than this are not shown. */
#define WC_ROCKS_RUNNING_MAX 128

/* A flush, a compaction or upkeep of a store, with its progress.  The thread that does the work owns the struct. */
typedef struct WcRunning
{
	struct WcStore *store;
	WcProgressKind	kind;
	uint32_t	pid;			/* of the backend that has requested the work; 0: no backend has */
	uint64_t	since_us;
	_Atomic uint64_t phase;		/* WcProgressPhase */
	_Atomic uint64_t done;
	_Atomic uint64_t total;
	struct WcRunning *next;		/* these two are guarded by the mutex of counts */
	struct WcRunning **link;
} WcRunning;

/* The counters of the engine. */
typedef struct WcEngineCounts
{
	uint64_t	started_us;		/* written when the engine is opened */
	_Atomic uint64_t reset_us;
	_Atomic uint64_t applied_us;	/* commit time of the last commit */
	_Atomic uint64_t commits;
	_Atomic uint64_t operations;
	_Atomic uint64_t steps;
	_Atomic uint64_t flushes;
	_Atomic uint64_t flushed_bytes;
	_Atomic uint64_t compactions;
	_Atomic uint64_t compacted_bytes;
	_Atomic uint64_t stalls;
	_Atomic uint64_t requests;	/* these seven: from wc_engine_add_use */
	_Atomic uint64_t blocks_hit;
	_Atomic uint64_t blocks_read;
	_Atomic uint64_t batches;
	_Atomic uint64_t logged_bytes;
	_Atomic uint64_t get_hits;
	_Atomic uint64_t get_misses;

	WcMutex		mutex;			/* guards the rest */
	bool		open WC_GUARDED_BY(&mutex); /* the catalog is loaded: stores can be found by name */
	WcRocksRunning running[WC_ROCKS_RUNNING_MAX] WC_GUARDED_BY(&mutex);
	WcRunning	   *works WC_GUARDED_BY(&mutex);
} WcEngineCounts;

extern void wc_counts_init(WcEngineCounts *counts);
extern void wc_counts_free(WcEngineCounts *counts);
extern void wc_counts_reset(WcEngineCounts *counts, int64_t now_us);
extern void wc_counts_add_use(WcEngineCounts *counts, const WcUseCounts *use);

/* get: sets the fields that are counted here.  set: sets the counters to such values, except the time at which the
 * engine was opened. */
extern void wc_counts_get(const WcEngineCounts *counts, WcEngineStatistics *to);
extern void wc_counts_set(WcEngineCounts *counts, const WcEngineStatistics *from);

/* A commit with this number of operations and this commit time has been applied; a step has been applied. */
extern void wc_counts_commit(WcEngineCounts *counts, uint64_t operations, int64_t time_us);
extern void wc_counts_step(WcEngineCounts *counts);

/* Adds a listener to the options with which the database is going to be opened: it counts RocksDB's work. */
extern void wc_counts_watch(struct WcEngine *engine, rocksdb_options_t *options);

/* Between these two calls, flushes and compactions are also counted for their stores. */
extern void wc_counts_open(WcEngineCounts *counts);
extern void wc_counts_close(WcEngineCounts *counts);

/* From begin to end other threads see the work; the caller keeps its reference to the store.  A phase begins with
 * done = 0.  Called by the thread that does the work; work may be NULL, except for begin. */
extern void wc_running_begin(WcRunning *work, struct WcStore *store, WcProgressKind kind, uint32_t pid);
extern void wc_running_end(WcRunning *work);
extern void wc_running_phase(WcRunning *work, WcProgressPhase phase, uint64_t total);
extern void wc_running_done(WcRunning *work, uint64_t n);

/* Calls fn for each work; fn must not call back. */
extern void wc_running_each(WcEngineCounts *counts, void (*fn) (void *arg, const WcRunning *work), void *arg);

/* Copies what RocksDB's threads are doing, at most WC_ROCKS_RUNNING_MAX entries; returns their number. */
extern size_t wc_counts_running(WcEngineCounts *counts, WcRocksRunning *to);

#endif
