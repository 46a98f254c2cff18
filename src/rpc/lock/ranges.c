/*
 * rpc/lock/ranges.c: the engine's side of the cache of ranges, one call at a time.
 */
#include "rpc/lock/ranges.h"

#include <stdlib.h>

#include "base/threads.h"

/* Of a commit with more rows than that all stretches of the table are forgotten: to find those of its rows takes long. */
#define ROWS_MAX 10000

struct WcRanges
{
	WcRangeCache *cache;
	WcMutex		mutex;			/* the cache is changed */
};

WcRanges *
wc_ranges_create(WcRangeCache *cache)
{
	WcRanges   *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->cache = cache;
	pthread_mutex_init(&r->mutex, NULL);
	wc_rangecache_reset(cache);
	return r;
}

void
wc_ranges_free(WcRanges *r)
{
	if (r == NULL)
		return;
	pthread_mutex_destroy(&r->mutex);
	free(r);
}

bool
wc_ranges_wants(WcRanges *r, uint32_t table_id, WcSlice shape)
{
	bool		wants;

	pthread_mutex_lock(&r->mutex);
	wants = wc_rangecache_wants(r->cache, table_id, shape);
	pthread_mutex_unlock(&r->mutex);
	return wants;
}

bool
wc_ranges_covers(WcRanges *r, uint32_t table_id, WcSlice shape, WcSlice row, int64_t now_us, WcBuf *end)
{
	bool		covers;

	pthread_mutex_lock(&r->mutex);
	covers = wc_rangecache_covers(r->cache, table_id, shape, row, now_us, end);
	pthread_mutex_unlock(&r->mutex);
	return covers;
}

bool
wc_ranges_is_unwritten(const WcRanges *r, uint32_t table_id, uint64_t epoch)
{
	return wc_rangecache_is_unwritten(r->cache, table_id, epoch);
}

bool
wc_ranges_add(WcRanges *r, uint32_t table_id, WcSlice shape, const WcStretch *stretch, uint64_t now)
{
	bool		added;

	pthread_mutex_lock(&r->mutex);
	added = wc_rangecache_add(r->cache, table_id, shape, stretch, now);
	pthread_mutex_unlock(&r->mutex);
	return added;
}

bool
wc_ranges_wants_rows(const WcRanges *r, uint32_t table_id, uint64_t nrows)
{
	return nrows <= ROWS_MAX && wc_rangecache_uses(r->cache, table_id);
}

void
wc_ranges_row(WcRanges *r, uint32_t table_id, WcSlice row, uint64_t epoch)
{
	if (!wc_rangecache_note(r->cache, table_id, epoch))
		return;
	pthread_mutex_lock(&r->mutex);
	wc_rangecache_touch_row(r->cache, table_id, row, epoch);
	pthread_mutex_unlock(&r->mutex);
}

void
wc_ranges_table(WcRanges *r, uint32_t table_id, uint64_t epoch)
{
	if (!wc_rangecache_note(r->cache, table_id, epoch))
		return;
	pthread_mutex_lock(&r->mutex);
	wc_rangecache_touch_table(r->cache, table_id, epoch);
	pthread_mutex_unlock(&r->mutex);
}
