/*
 * engine/write/scanrenewal.c: makes new chunks of the scan cache, of old ones and of a commit's key-values.
 */
#include "engine/write/scanrenewal.h"

#include <stdlib.h>

/* A chunk is renewed if the commit changes at least this part of its key-values: to copy the others takes about as long
 * as to write this part. */
#define LEAST_PART		32

/* A new chunk, and the changes of one, have at most so many times the bytes of a usual chunk. */
#define GROWTH_MAX		4

/* In place of the length of a value: the key is deleted. */
#define DELETED			UINT32_MAX

WcScanRenewal *
wc_scanrenewal_create(WcScanCache *cache)
{
	WcScanRenewal *r = calloc(1, sizeof(WcScanRenewal));

	if (r == NULL)
		return NULL;
	r->cache = cache;
	wc_buf_init(&r->changes, GROWTH_MAX * cache->memory->chunk_bytes);
	r->copy = (WcScanCopy) WC_SCAN_COPY_INIT;
	return r;
}

void
wc_scanrenewal_free(WcScanRenewal *r)
{
	if (r == NULL)
		return;
	wc_scanchunk_unref(r->chunk);
	for (uint32_t i = 0; i < r->nchunks; i++)
		wc_scanchunk_unref(r->chunks[i]);
	free(r->chunks);
	wc_buf_free(&r->changes);
	wc_scancopy_free(&r->copy);
	free(r);
}

/* --- one chunk ---------------------------------------------------------------------- */

/* Copies the chunk's key-values from *at to before the key; skips those of the key. */
static bool
copy_before(WcScanRenewal *r, uint32_t *at, WcSlice key)
{
	for (; *at < r->chunk->n; ++*at)
	{
		WcSlice		old;
		WcSlice		value;
		int			c;

		wc_scanchunk_entry(r->chunk, *at, &old, &value);
		c = wc_slice_cmp(old, key);
		if (c > 0)
			break;
		if (c < 0 && !wc_scancopy_take(&r->copy, old, value))
			return false;
	}
	return true;
}

static bool
copy_rest(WcScanRenewal *r, uint32_t at)
{
	for (; at < r->chunk->n; at++)
	{
		WcSlice		key;
		WcSlice		value;

		wc_scanchunk_entry(r->chunk, at, &key, &value);
		if (!wc_scancopy_take(&r->copy, key, value))
			return false;
	}
	return true;
}

/* Merges the chunk's key-values and the changes; false: they are too many. */
static bool
merge(WcScanRenewal *r)
{
	const uint8_t *p = r->changes.data;
	uint32_t	at = 0;

	wc_scancopy_begin(&r->copy, r->cache, r->chunk->start);
	r->copy.max *= GROWTH_MAX;
	for (uint32_t i = 0; i < r->nchanges; i++)
	{
		uint32_t	lens[2];
		WcSlice		key;

		memcpy(lens, p, sizeof(lens));
		key = wc_slice(p + sizeof(lens), lens[0]);
		p = key.data + key.len;
		if (!copy_before(r, &at, key))
			return false;
		if (lens[1] == DELETED)
			continue;
		if (!wc_scancopy_take(&r->copy, key, wc_slice(p, lens[1])))
			return false;
		p += lens[1];
	}
	return copy_rest(r, at);
}

static bool
make_room(WcScanRenewal *r)
{
	uint32_t	room = r->room > 0 ? 2 * r->room : 16;
	WcScanChunk **chunks;

	if (r->nchunks < r->room)
		return true;
	chunks = realloc(r->chunks, room * sizeof(WcScanChunk *));
	if (chunks == NULL)
		return false;
	r->chunks = chunks;
	r->room = room;
	return true;
}

/* The commit writes no more rows of the chunk. */
static void
leave(WcScanRenewal *r)
{
	WcScanChunk *chunk = r->chunk;
	bool		renew = chunk != NULL && !r->lost && !r->changes.failed && r->nchanges >= chunk->n / LEAST_PART &&
		make_room(r) && merge(r);

	r->chunk = NULL;
	if (renew)
		chunk = wc_scancopy_renew(&r->copy, r->cache, chunk);
	if (renew && chunk != NULL)
		r->chunks[r->nchunks++] = chunk;
	else
		wc_scanchunk_unref(chunk);
}

/* --- the commit --------------------------------------------------------------------- */

void
wc_scanrenewal_written(WcScanRenewal *r, WcSlice from, WcSlice to)
{
	const WcScanChunk *chunk = r->chunk;

	if (chunk != NULL && (chunk->to_the_end || wc_slice_cmp(to, chunk->end) <= 0))
		return;
	/* a row of packing cell may begin in one chunk and end in another */
	r->lost |= chunk != NULL && wc_slice_cmp(from, chunk->end) < 0;
	leave(r);
	r->chunk = wc_scancache_take_out(r->cache, from, to);
	r->lost = false;
	wc_buf_reset(&r->changes, SIZE_MAX);
	r->nchanges = 0;
}

void
wc_scanrenewal_take(WcScanRenewal *r, WcSlice key, const WcSlice *value)
{
	uint32_t	lens[2] = {(uint32_t) key.len, value != NULL ? (uint32_t) value->len : DELETED};

	if (r->chunk == NULL)
		return;
	wc_buf_append(&r->changes, lens, sizeof(lens));
	wc_buf_append_slice(&r->changes, key);
	if (value != NULL)
		wc_buf_append_slice(&r->changes, *value);
	r->nchanges++;
}

void
wc_scanrenewal_add(WcScanRenewal *r, const WcSnapshot *snapshot)
{
	leave(r);
	for (uint32_t i = 0; i < r->nchunks; i++)
		wc_scancache_put_back(r->cache, r->chunks[i], snapshot);
	r->nchunks = 0;
}
