/*
 * engine/store/scancache.c: copies of a store's key-values in memory, for scans.
 */
#include "engine/store/scancache.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/store/internal.h"

#define CHUNK_BYTES		(64 * 1024)

/* To renew chunks, a commit must change many rows of each, as those do that change ranges. */
#define RENEWING_ROWS	256

/* A chunk has at least this part of these bytes, unless it fills a gap between two others or ends the store. */
#define LEAST_PART		16

/* A run of fewer chunks is not worth joining: a scan of few rows comes to two or three. */
#define LEAST_RUN		4

static _Thread_local uint64_t hits;

void
wc_scanmemory_init(WcScanMemory *m, WcRocksShared *shared)
{
	m->shared = shared;
	m->chunk_bytes = CHUNK_BYTES;
	m->small_chunks = WC_SCAN_SMALL_CHUNKS;
	m->renewing_rows = RENEWING_ROWS;
}

/* --- chunks ------------------------------------------------------------------------- */

void
wc_scanchunk_unref(WcScanChunk *chunk)
{
	if (chunk == NULL || atomic_fetch_sub(&chunk->refs, 1) != 1)
		return;
	wc_rocks_shared_give_back(chunk->shared, chunk->size);
	free(chunk);
}

uint32_t
wc_scanchunk_count_before(const WcScanChunk *chunk, WcSlice key)
{
	uint32_t	lo = 0;
	uint32_t	hi = chunk->n;

	while (lo < hi)
	{
		uint32_t	mid = lo + (hi - lo) / 2;
		WcSlice		here;
		WcSlice		value;

		wc_scanchunk_entry(chunk, mid, &here, &value);
		if (wc_slice_cmp(here, key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Does the chunk end before the key? */
static inline bool
ends_before(const WcScanChunk *chunk, WcSlice key)
{
	return !chunk->to_the_end && wc_slice_cmp(chunk->end, key) <= 0;
}

/* Has the chunk all keys from `from` to before `to`? */
static bool
has(const WcScanChunk *chunk, WcSlice from, WcSlice to)
{
	return wc_slice_cmp(chunk->start, from) <= 0 && (chunk->to_the_end || wc_slice_cmp(to, chunk->end) <= 0);
}

/* Does the snapshot show all that the chunk's snapshot showed?  RocksDB's snapshot may show more than last_ts says, so
 * the same last_ts is not enough. */
static bool
holds_for(const WcScanChunk *chunk, const WcSnapshot *snapshot)
{
	if (snapshot->last_ts != chunk->last_ts)
		return snapshot->last_ts > chunk->last_ts;
	return snapshot->seq != WC_SNAPSHOT_SEQ_UNKNOWN && snapshot->seq >= chunk->seq;
}

/* --- the cache of a store ------------------------------------------------------------ */

void
wc_scancache_init(WcScanCache *c, const WcScanMemory *memory) WC_UNCHECKED
{
	memset(c, 0, sizeof(*c));
	c->memory = memory;
	pthread_mutex_init(&c->mutex, NULL);
}

/* Takes the chunks from..to-1 out. */
static void
drop(WcScanCache *c, uint32_t from, uint32_t to) WC_REQUIRES(c->mutex)
{
	if (from == to)
		return;
	for (uint32_t i = from; i < to; i++)
		wc_scanchunk_unref(c->chunks[i]);
	memmove(c->chunks + from, c->chunks + to, (c->nchunks - to) * sizeof(WcScanChunk *));
	c->nchunks -= to - from;
}

void
wc_scancache_destroy(WcScanCache *c) WC_UNCHECKED
{
	drop(c, 0, c->nchunks);
	free(c->chunks);
	pthread_mutex_destroy(&c->mutex);
}

/* The number of chunks that end before the key. */
static uint32_t
count_before(const WcScanCache *c, WcSlice key) WC_REQUIRES(c->mutex)
{
	uint32_t	lo = 0;
	uint32_t	hi = c->nchunks;

	while (lo < hi)
	{
		uint32_t	mid = lo + (hi - lo) / 2;

		if (ends_before(c->chunks[mid], key))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Do the keys fall between chunk at - 1 and chunk `at`? */
static bool
is_gap(const WcScanCache *c, uint32_t at, WcSlice from, WcSlice to) WC_REQUIRES(c->mutex)
{
	return at <= c->nchunks && (at == 0 || ends_before(c->chunks[at - 1], from)) &&
		(at == c->nchunks || wc_slice_cmp(to, c->chunks[at]->start) <= 0);
}

WcScanChunk *
wc_scancache_take_out(WcScanCache *c, WcSlice from, WcSlice to)
{
	WcScanChunk *chunk = NULL;
	uint32_t	first;
	uint32_t	last;

	pthread_mutex_lock(&c->mutex);
	if (!is_gap(c, c->noted_at, from, to))
	{
		first = last = count_before(c, from);
		while (last < c->nchunks && wc_slice_cmp(c->chunks[last]->start, to) < 0)
			last++;
		if (last == first + 1 && has(c->chunks[first], from, to))
		{
			chunk = c->chunks[first];
			atomic_fetch_add(&chunk->refs, 1);
		}
		drop(c, first, last);
		c->noted_at = first;
	}
	pthread_mutex_unlock(&c->mutex);
	return chunk;
}

void
wc_scancache_written(WcScanCache *c, WcSlice from, WcSlice to)
{
	wc_scanchunk_unref(wc_scancache_take_out(c, from, to));
}

void
wc_scancache_close(WcScanCache *c)
{
	atomic_store(&c->seq, UINT64_MAX);
	pthread_mutex_lock(&c->mutex);
	drop(c, 0, c->nchunks);
	pthread_mutex_unlock(&c->mutex);
}

void
wc_scancache_open(WcScanCache *c, uint64_t seq)
{
	atomic_store(&c->seq, seq);
}

bool
wc_scancache_takes(const WcScanCache *c, const WcSnapshot *snapshot)
{
	return snapshot->seq != WC_SNAPSHOT_SEQ_UNKNOWN && snapshot->seq >= atomic_load(&c->seq) &&
		snapshot->last_ts >= atomic_load(&c->noted_ts);
}

/* Returns a reference to the chunk, if it is valid for the snapshot. */
static WcScanChunk *
use(WcScanChunk *chunk, const WcSnapshot *snapshot)
{
	if (!holds_for(chunk, snapshot))
		return NULL;
	atomic_fetch_add(&chunk->refs, 1);
	atomic_store_explicit(&chunk->used_us, wc_clock_monotonic_us(), memory_order_relaxed);
	hits++;
	return chunk;
}

WcScanChunk *
wc_scancache_find(WcScanCache *c, WcSlice key, const WcSnapshot *snapshot, WcBuf *limit)
{
	WcScanChunk *chunk = NULL;
	uint32_t	at;

	wc_buf_reset(limit, SIZE_MAX);
	if (!atomic_load(&c->used))
		return NULL;
	pthread_mutex_lock(&c->mutex);
	at = count_before(c, key);
	if (at < c->nchunks && wc_slice_cmp(c->chunks[at]->start, key) <= 0)
		chunk = use(c->chunks[at++], snapshot);
	if (chunk == NULL && at < c->nchunks)
		wc_buf_append_slice(limit, c->chunks[at]->start);
	pthread_mutex_unlock(&c->mutex);
	return chunk;
}

/* The number of chunks that start before the key. */
static uint32_t
count_starts_before(const WcScanCache *c, WcSlice key) WC_REQUIRES(c->mutex)
{
	uint32_t	at = count_before(c, key);

	return at + (at < c->nchunks && wc_slice_cmp(c->chunks[at]->start, key) < 0);
}

WcScanChunk *
wc_scancache_find_before(WcScanCache *c, WcSlice key, const WcSnapshot *snapshot, WcBuf *limit)
{
	WcScanChunk *chunk = NULL;
	uint32_t	at;

	wc_buf_reset(limit, SIZE_MAX);
	if (!atomic_load(&c->used))
		return NULL;
	pthread_mutex_lock(&c->mutex);
	at = key.len > 0 ? count_starts_before(c, key) : c->nchunks;
	if (at > 0 && (c->chunks[at - 1]->to_the_end || (key.len > 0 && wc_slice_cmp(c->chunks[at - 1]->end, key) >= 0)))
		chunk = use(c->chunks[--at], snapshot);
	if (chunk == NULL && at > 0)
		wc_buf_append_slice(limit, c->chunks[at - 1]->end);
	pthread_mutex_unlock(&c->mutex);
	return chunk;
}

void
wc_scancache_drop_idle(WcScanCache *c, int64_t before_us)
{
	uint32_t	n = 0;

	if (!atomic_load(&c->used))
		return;
	pthread_mutex_lock(&c->mutex);
	for (uint32_t i = 0; i < c->nchunks; i++)
	{
		WcScanChunk *chunk = c->chunks[i];

		if (atomic_load_explicit(&chunk->used_us, memory_order_relaxed) < before_us)
			wc_scanchunk_unref(chunk);
		else
			c->chunks[n++] = chunk;
	}
	c->nchunks = n;
	pthread_mutex_unlock(&c->mutex);
}

uint64_t
wc_scancache_hits(void)
{
	return hits;
}

/* --- making chunks ---------------------------------------------------------------- */

void
wc_scancopy_free(WcScanCopy *copy)
{
	wc_buf_free(&copy->start);
	wc_buf_free(&copy->bytes);
	wc_buf_free(&copy->at);
}

void
wc_scancopy_begin(WcScanCopy *copy, const WcScanCache *c, WcSlice start)
{
	copy->max = c->memory->chunk_bytes;
	wc_buf_reset(&copy->start, copy->max);
	wc_buf_reset(&copy->bytes, 2 * copy->max);
	wc_buf_reset(&copy->at, copy->max);
	wc_buf_append_slice(&copy->start, start);
	copy->n = 0;
}

bool
wc_scancopy_take(WcScanCopy *copy, WcSlice key, WcSlice value)
{
	uint32_t	at = (uint32_t) copy->bytes.len;
	uint32_t	lens[2] = {(uint32_t) key.len, (uint32_t) value.len};
	size_t		size = sizeof(lens) + key.len + value.len;
	uint8_t    *p;

	if (at >= copy->max || size > copy->max)
		return false;
	p = wc_buf_reserve(&copy->bytes, size);
	wc_buf_append(&copy->at, &at, sizeof(at));
	if (p == NULL || copy->at.failed)
		return false;
	memcpy(p, lens, sizeof(lens));
	memcpy(p + sizeof(lens), key.data, key.len);
	wc_slice_copy(p + sizeof(lens) + key.len, value);
	copy->bytes.len += size;
	copy->n++;
	return true;
}

WcSlice
wc_scancopy_last(const WcScanCopy *copy)
{
	const uint32_t *at = (const uint32_t *) copy->at.data;
	const uint8_t *p = copy->bytes.data + at[copy->n - 1];
	uint32_t	key_len;

	memcpy(&key_len, p, sizeof(key_len));
	return wc_slice(p + 2 * sizeof(uint32_t), key_len);
}

void
wc_scancopy_turn(WcScanCopy *copy, WcSlice start)
{
	uint32_t   *at = (uint32_t *) copy->at.data;

	for (uint32_t i = 0; i < copy->n / 2; i++)
	{
		uint32_t	other = at[copy->n - 1 - i];

		at[copy->n - 1 - i] = at[i];
		at[i] = other;
	}
	wc_buf_append_slice(&copy->start, start);
}

bool
wc_scancopy_is_small(const WcScanCopy *copy)
{
	return copy->bytes.len < copy->max / LEAST_PART;
}

/* With its own copies of everything; NULL: out of memory. */
static WcScanChunk *
make_chunk(WcRocksShared *shared, const WcScanCopy *copy, const WcSlice *end, const WcSnapshot *snapshot)
{
	size_t		keys = copy->start.len + (end != NULL ? end->len : 0);
	size_t		size = sizeof(WcScanChunk) + copy->at.len + copy->bytes.len + keys;
	WcScanChunk *chunk = malloc(size);
	uint8_t    *p = (uint8_t *) (chunk + 1);

	if (chunk == NULL)
		return NULL;
	*chunk = (WcScanChunk) {
		.shared = shared,.size = size,.last_ts = snapshot->last_ts,.seq = snapshot->seq,.to_the_end = end == NULL,.n = copy->n,
		.at = (const uint32_t *) p,.bytes = p + copy->at.len
	};
	atomic_init(&chunk->refs, 1);
	atomic_init(&chunk->used_us, wc_clock_monotonic_us());
	wc_slice_copy(p, wc_buf_slice(&copy->at));
	p += copy->at.len;
	wc_slice_copy(p, wc_buf_slice(&copy->bytes));
	p += copy->bytes.len;
	wc_slice_copy(p, wc_buf_slice(&copy->start));
	chunk->start = wc_slice(p, copy->start.len);
	p += copy->start.len;
	if (end == NULL)
		return chunk;
	wc_slice_copy(p, *end);
	chunk->end = wc_slice(p, end->len);
	return chunk;
}

/* Puts the chunk into its place; false: it overlaps with others, it is too small, or there is no memory. */
static bool
insert(WcScanCache *c, WcScanChunk *chunk) WC_REQUIRES(c->mutex)
{
	uint32_t	at = count_before(c, chunk->start);

	if (c->nchunks >= c->memory->small_chunks && chunk->size < c->memory->chunk_bytes / 2)
		return false;
	if (at < c->nchunks && (chunk->to_the_end || wc_slice_cmp(c->chunks[at]->start, chunk->end) < 0))
		return false;
	if (c->nchunks == c->room)
	{
		uint32_t	room = c->room > 0 ? 2 * c->room : 64;
		WcScanChunk **chunks = realloc(c->chunks, room * sizeof(WcScanChunk *));

		if (chunks == NULL)
			return false;
		c->chunks = chunks;
		c->room = room;
	}
	memmove(c->chunks + at + 1, c->chunks + at, (c->nchunks - at) * sizeof(WcScanChunk *));
	c->chunks[at] = chunk;
	c->nchunks++;
	return true;
}

bool
wc_scancache_add(WcScanCache *c, WcScanCopy *copy, const WcSlice *end, bool small, const WcSnapshot *snapshot)
{
	WcScanChunk *chunk;
	bool		added;

	if (copy->start.failed || copy->bytes.failed || copy->at.failed || (!small && wc_scancopy_is_small(copy)) ||
		!wc_scancache_takes(c, snapshot))
		return true;
	chunk = make_chunk(c->memory->shared, copy, end, snapshot);
	if (chunk == NULL)
		return false;
	if (!wc_rocks_shared_lend(chunk->shared, chunk->size))
	{
		free(chunk);
		return false;
	}
	pthread_mutex_lock(&c->mutex);
	atomic_store(&c->used, true);
	added = wc_scancache_takes(c, snapshot) && insert(c, chunk);
	pthread_mutex_unlock(&c->mutex);
	if (!added)
		wc_scanchunk_unref(chunk);
	return true;
}

/* --- renewing chunks --------------------------------------------------------------- */

WcScanChunk *
wc_scancopy_renew(WcScanCopy *copy, const WcScanCache *c, WcScanChunk *chunk)
{
	const WcSnapshot none = {0};
	bool		complete = !copy->start.failed && !copy->bytes.failed && !copy->at.failed;
	WcScanChunk *renewed = complete ? make_chunk(c->memory->shared, copy, chunk->to_the_end ? NULL : &chunk->end, &none) : NULL;

	if (renewed != NULL)
		atomic_init(&renewed->used_us, atomic_load_explicit(&chunk->used_us, memory_order_relaxed));
	/* first gives its memory back, of which not much may be left */
	wc_scanchunk_unref(chunk);
	if (renewed == NULL || wc_rocks_shared_lend(renewed->shared, renewed->size))
		return renewed;
	free(renewed);
	return NULL;
}

void
wc_scancache_put_back(WcScanCache *c, WcScanChunk *chunk, const WcSnapshot *snapshot)
{
	bool		added;

	chunk->last_ts = snapshot->last_ts;
	chunk->seq = snapshot->seq;
	pthread_mutex_lock(&c->mutex);
	added = wc_scancache_takes(c, snapshot) && insert(c, chunk);
	pthread_mutex_unlock(&c->mutex);
	if (!added)
		wc_scanchunk_unref(chunk);
}

/* --- joining chunks ---------------------------------------------------------------- */

/* Bytes of its keys and values. */
static size_t
bytes_of(const WcScanChunk *chunk)
{
	return (size_t) (chunk->start.data - chunk->bytes);
}

static void
append_chunk(WcScanCopy *copy, const WcScanChunk *chunk)
{
	uint32_t	before = (uint32_t) copy->bytes.len;

	for (uint32_t i = 0; i < chunk->n; i++)
	{
		uint32_t	at = before + chunk->at[i];

		wc_buf_append(&copy->at, &at, sizeof(at));
	}
	wc_buf_append(&copy->bytes, chunk->bytes, bytes_of(chunk));
	copy->n += chunk->n;
}

/* One chunk with the key-values of all; NULL: out of memory. */
static WcScanChunk *
joined(const WcScanRun *run, const WcScanCache *c)
{
	WcScanCopy	copy = WC_SCAN_COPY_INIT;
	WcScanChunk *last = run->chunks[run->n - 1];
	WcScanChunk *newest = last;
	WcScanChunk *chunk = NULL;
	WcSnapshot	shown;

	wc_scancopy_begin(&copy, c, run->chunks[0]->start);
	for (uint32_t i = 0; i < run->n; i++)
	{
		append_chunk(&copy, run->chunks[i]);
		shown = (WcSnapshot) {.last_ts = run->chunks[i]->last_ts,.seq = run->chunks[i]->seq};
		if (holds_for(newest, &shown))
			newest = run->chunks[i];
	}
	shown = (WcSnapshot) {.last_ts = newest->last_ts,.seq = newest->seq};
	if (!copy.start.failed && !copy.bytes.failed && !copy.at.failed)
		chunk = make_chunk(c->memory->shared, &copy, last->to_the_end ? NULL : &last->end, &shown);
	wc_scancopy_free(&copy);
	if (chunk == NULL || wc_rocks_shared_lend(chunk->shared, chunk->size))
		return chunk;
	free(chunk);
	return NULL;
}

/* Puts the chunk into the place of the run's, if these are all there. */
static void
replace(WcScanCache *c, const WcScanRun *run, WcScanChunk *chunk)
{
	uint32_t	at;
	uint32_t	n = 0;

	pthread_mutex_lock(&c->mutex);
	at = count_before(c, chunk->start);
	while (n < run->n && at + n < c->nchunks && c->chunks[at + n] == run->chunks[n])
		n++;
	if (n == run->n)
	{
		drop(c, at + 1, at + n);
		wc_scanchunk_unref(c->chunks[at]);
		c->chunks[at] = chunk;
		chunk = NULL;
	}
	pthread_mutex_unlock(&c->mutex);
	wc_scanchunk_unref(chunk);
}

void
wc_scanrun_end(WcScanRun *run, WcScanCache *c)
{
	if (run->n >= LEAST_RUN)
	{
		WcScanChunk *chunk = joined(run, c);

		if (chunk != NULL)
			replace(c, run, chunk);
	}
	for (uint32_t i = 0; i < run->n; i++)
		wc_scanchunk_unref(run->chunks[i]);
	run->n = 0;
	run->bytes = 0;
}

/* Does the chunk begin where the run ends? */
static bool
goes_on(const WcScanRun *run, const WcScanChunk *chunk)
{
	const WcScanChunk *last = run->chunks[run->n - 1];

	return !last->to_the_end && wc_slice_eq(last->end, chunk->start);
}

void
wc_scanrun_add(WcScanRun *run, WcScanCache *c, WcScanChunk *chunk)
{
	size_t		bytes = bytes_of(chunk);

	if (run->n > 0 && (run->n == WC_SCAN_RUN_MAX || run->bytes + bytes > c->memory->chunk_bytes || !goes_on(run, chunk)))
		wc_scanrun_end(run, c);
	if (bytes >= c->memory->chunk_bytes / 2)
		return;
	atomic_fetch_add(&chunk->refs, 1);
	run->chunks[run->n++] = chunk;
	run->bytes += bytes;
}
