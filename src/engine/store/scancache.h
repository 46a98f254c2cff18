/*
 * engine/store/scancache.h: copies of a store's key-values in memory, for scans.
 *
 * A step of RocksDB's iterator takes longer than all else that a scan does with a row.  So a scan copies the key-values
 * that it walks over into chunks, and later scans walk over the chunks.  A chunk has all key-values from its start to
 * its end, as RocksDB returned them at one snapshot; it never changes.
 *
 * A chunk is valid for snapshots that are at least as new as its own.  A thread that writes a row calls
 * wc_scancache_note before a reader can see the write: chunks that have the row are dropped, or taken out and renewed
 * (engine/write/scanrenewal.h).  A chunk is added only if its snapshot shows all writes of the store that were noted.
 * So a scan over chunks returns what a scan of RocksDB would return.
 *
 * All chunks of an engine share a part of the memory of the block cache (WcScanMemory), which RocksDB's cache lends them.
 * When that is used up, no more chunks are added.  A store with very many chunks gets no small ones any more, since
 * each is put into a sorted array.  Chunks that no scan has read for WC_SCAN_CHUNK_IDLE_US are dropped
 * (wc_scancache_drop_idle).
 *
 * Any thread.  A chunk is counted: a scan that walks over it holds a reference.
 */
#ifndef WC_ENGINE_STORE_SCANCACHE_H
#define WC_ENGINE_STORE_SCANCACHE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/threads.h"
#include "engine/rocks/rocks.h"
#include "read/storage.h"

/* What the caches of all stores of an engine have in common. */
typedef struct WcScanMemory
{
	WcRocksShared *shared;		/* lends the memory (wc_rocks_shared_lend) */

	/* only tests change these three, before the first chunk */
	size_t		chunk_bytes;	/* a chunk has about so many at most */
	uint32_t	small_chunks;	/* while a store has so many chunks, it gets none of less than half as many bytes */
	uint64_t	renewing_rows;	/* a commit that writes so many rows renews chunks */
} WcScanMemory;

extern void wc_scanmemory_init(WcScanMemory *memory, WcRocksShared *shared);

typedef struct WcScanChunk
{
	atomic_uint refs;
	_Atomic int64_t used_us;	/* monotonic: when a scan last came to it */
	WcRocksShared *shared;
	size_t		size;			/* of its allocation */
	int64_t		last_ts;		/* these two: of its snapshot */
	uint64_t	seq;
	bool		to_the_end;		/* it has all keys from start on */
	WcSlice		start;			/* no key before it */
	WcSlice		end;			/* the keys are before it, unless to_the_end */
	uint32_t	n;				/* key-values */
	const uint32_t *at;			/* [n]: where each begins in bytes */
	const uint8_t *bytes;		/* of each: length of the key and of the value, 4 bytes each, the key, the value */
} WcScanChunk;

extern void wc_scanchunk_unref(WcScanChunk *chunk);

/* The i'th key-value. */
static inline void
wc_scanchunk_entry(const WcScanChunk *chunk, uint32_t i, WcSlice *key, WcSlice *value)
{
	const uint8_t *p = chunk->bytes + chunk->at[i];
	uint32_t	lens[2];

	memcpy(lens, p, sizeof(lens));
	*key = wc_slice(p + sizeof(lens), lens[0]);
	*value = wc_slice(p + sizeof(lens) + lens[0], lens[1]);
}

/* The number of keys in the chunk that are before this key. */
extern uint32_t wc_scanchunk_count_before(const WcScanChunk *chunk, WcSlice key);

/* The chunks of one store. */
typedef struct WcScanCache
{
	const WcScanMemory *memory;
	atomic_bool used;			/* chunks were added */
	_Atomic int64_t noted_ts;	/* the greatest timestamp of a commit that has written a row, or is going to */
	_Atomic uint64_t seq;		/* snapshots with a lower sequence number may not show all steps */
	WcMutex		mutex;
	WcScanChunk **chunks WC_GUARDED_BY(&mutex);	/* ascending; none overlap */
	uint32_t	nchunks WC_GUARDED_BY(&mutex);
	uint32_t	room WC_GUARDED_BY(&mutex);
	uint32_t	noted_at WC_GUARDED_BY(&mutex);	/* chunks before the last noted row, a guess */
} WcScanCache;

extern void wc_scancache_init(WcScanCache *cache, const WcScanMemory *memory);
extern void wc_scancache_destroy(WcScanCache *cache);

/* The commit with this timestamp is writing to the store, and no reader can see the write yet.  True: the caller names
 * the keys with wc_scancache_written.  Both with the engine's write mutex locked. */
static inline bool
wc_scancache_note(WcScanCache *cache, int64_t ts)
{
	/* written before `used` is read, and wc_scancache_add sets `used` before it reads noted_ts: so either the chunk is
	 * not added, or wc_scancache_written finds it */
	if (ts > atomic_load_explicit(&cache->noted_ts, memory_order_relaxed))
		atomic_store(&cache->noted_ts, ts);
	return atomic_load(&cache->used);
}

/* Keys from `from` to before `to`. */
extern void wc_scancache_written(WcScanCache *cache, WcSlice from, WcSlice to);

/* The same.  If one chunk has all of these keys: a reference to this chunk, which is not in the cache any more; else
 * NULL. */
extern WcScanChunk *wc_scancache_take_out(WcScanCache *cache, WcSlice from, WcSlice to);

/* Drops all chunks: any key may be written between these two calls.  seq: the last sequence number of RocksDB's then.
 * With the engine's write mutex locked. */
extern void wc_scancache_close(WcScanCache *cache);
extern void wc_scancache_open(WcScanCache *cache, uint64_t seq);

/* May chunks be added that the snapshot shows? */
extern bool wc_scancache_takes(const WcScanCache *cache, const WcSnapshot *snapshot);

/*
 * The chunk that has the key, or would have it, and is valid for the snapshot: a reference.  NULL: there is none; then
 * *limit is the start of the next chunk, valid or not, after the key (empty: there is none).
 */
extern WcScanChunk *wc_scancache_find(WcScanCache *cache, WcSlice key, const WcSnapshot *snapshot, WcBuf *limit);

/*
 * The same for the keys right before this one (empty: the last keys of the store): the chunk that has them, or would have them.
 * NULL: there is none; then *limit is the end of the next chunk before the key, valid or not (empty: there is none).
 */
extern WcScanChunk *wc_scancache_find_before(WcScanCache *cache, WcSlice key, const WcSnapshot *snapshot, WcBuf *limit);

/* Drops chunks that no scan has come to since this time (monotonic). */
extern void wc_scancache_drop_idle(WcScanCache *cache, int64_t before_us);

/* How often this thread has found a chunk. */
extern uint64_t wc_scancache_hits(void);

/* --- making chunks ---------------------------------------------------------------- */

/* Keys and values for the next chunk.  One thread. */
typedef struct WcScanCopy
{
	size_t		max;			/* bytes of keys and values, about */
	WcBuf		start;
	WcBuf		bytes;
	WcBuf		at;				/* uint32_t each */
	uint32_t	n;
} WcScanCopy;

#define WC_SCAN_COPY_INIT	{.start = WC_BUF_INIT,.bytes = WC_BUF_INIT,.at = WC_BUF_INIT}

extern void wc_scancopy_free(WcScanCopy *copy);

/* Begins anew, for this cache: the first key-value is not before start. */
extern void wc_scancopy_begin(WcScanCopy *copy, const WcScanCache *cache, WcSlice start);

/* False: the key-value does not fit into the chunk, which is to end before it. */
extern bool wc_scancopy_take(WcScanCopy *copy, WcSlice key, WcSlice value);

/* The key that was taken last. */
extern WcSlice wc_scancopy_last(const WcScanCopy *copy);

/* The keys were taken in descending order: none of them is before start. */
extern void wc_scancopy_turn(WcScanCopy *copy, WcSlice start);

/* Does it have too few bytes for a chunk? */
extern bool wc_scancopy_is_small(const WcScanCopy *copy);

/* Adds a chunk of the key-values.  end NULL: the store has no more keys.  small: also if it has few bytes.  False: no
 * memory is left for chunks. */
extern bool wc_scancache_add(WcScanCache *cache, WcScanCopy *copy, const WcSlice *end, bool small, const WcSnapshot *snapshot);

/* A chunk of the key-values, which is not in the cache, with the range of this one; drops the reference to this one.
 * NULL: there is no memory for it. */
extern WcScanChunk *wc_scancopy_renew(WcScanCopy *copy, const WcScanCache *cache, WcScanChunk *chunk);

/* Adds such a chunk: it has what these snapshots show.  Takes the reference. */
extern void wc_scancache_put_back(WcScanCache *cache, WcScanChunk *chunk, const WcSnapshot *snapshot);

/* --- joining chunks --------------------------------------------------------------- */

#define WC_SCAN_RUN_MAX 32

/* Small chunks that a scan has walked over, each of which begins where the one before it ends: references.  One thread. */
typedef struct WcScanRun
{
	uint32_t	n;
	size_t		bytes;			/* of their keys and values */
	WcScanChunk *chunks[WC_SCAN_RUN_MAX];
} WcScanRun;

/* The scan has come to the chunk: adds it.  If the run cannot go on with it, the run is ended first. */
extern void wc_scanrun_add(WcScanRun *run, WcScanCache *cache, WcScanChunk *chunk);

/* Replaces several chunks of the run in the cache with one that has all of their key-values; and makes the run empty.  Later
 * scans need not look for the next chunk so often. */
extern void wc_scanrun_end(WcScanRun *run, WcScanCache *cache);

#endif
