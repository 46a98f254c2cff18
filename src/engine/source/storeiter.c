/*
 * engine/source/storeiter.c: walks over the key-values of a store, as they are at a snapshot.
 */
#include "engine/source/storeiter.h"

#include <string.h>

#include "engine/source/cellsource_store.h"

static void
make_iterator(WcStoreIter *s, WcSnapshot *snapshot)
{
	WcSourceOptions options = {.snapshot = snapshot,.fill_cache = s->fill_cache,.brief = s->brief};

	s->ro = wc_source_read_options(&options);
	if (s->lower.len > 0)
		rocksdb_readoptions_set_iterate_lower_bound(s->ro, (const char *) s->lower.data, s->lower.len);
	if (s->upper.len > 0)
		rocksdb_readoptions_set_iterate_upper_bound(s->ro, (const char *) s->upper.data, s->upper.len);
	if (s->prefix)
		rocksdb_readoptions_set_prefix_same_as_start(s->ro, 1);
	else
		rocksdb_readoptions_set_total_order_seek(s->ro, 1); /* else RocksDB may leave out rows after the first one */
	s->it = wc_rocks_create_iterator(wc_engine_rocks(s->store->engine), s->ro, s->store->cf);
}

static void
give_back_snapshot(WcStoreIter *s)
{
	if (s->snapshot != NULL)
		wc_snapshot_release(s->store->engine, s->snapshot);
	s->snapshot = NULL;
}

void
wc_storeiter_open(WcStoreIter *s, WcStore *store, const WcSourceOptions *options, bool prefix, bool turns, WcSlice lower, WcSlice upper)
{
	memset(s, 0, sizeof(*s));
	s->store = store;
	s->lower = lower;
	s->upper = upper;
	s->prefix = prefix;
	s->fill_cache = options->fill_cache;
	s->brief = options->brief;
	s->copy = (WcScanCopy) WC_SCAN_COPY_INIT;
	s->cached = !options->point && options->snapshot != NULL && !(options->reversed && turns) && !options->brief;
	s->backward = options->reversed;
	if (!s->cached)
	{
		make_iterator(s, options->snapshot);
		return;
	}
	s->snapshot = options->snapshot;
	wc_snapshot_share(store->engine, s->snapshot);
	s->shown.last_ts = s->snapshot->last_ts;
	s->shown.seq = s->snapshot->seq;
	s->copies = s->fill_cache && wc_scancache_takes(&store->scancache, &s->shown) && wc_store_attrs(store).blockcache;
}

/* Adds the copied key-values as a chunk that ends before `end`; NULL: the store has no more keys.  small: the chunk is
 * wanted although it has few bytes. */
static void
end_copy(WcStoreIter *s, const WcSlice *end, bool small)
{
	if (s->copying)
		s->copies = wc_scancache_add(&s->store->scancache, &s->copy, end, small, &s->shown);
	s->copying = false;
}

/* The scan leaves the key up to which it has copied. */
static void
break_off(WcStoreIter *s)
{
	WcBuf		behind = WC_BUF_INIT;
	WcSlice		end;

	if (!s->copying)
		return;
	wc_buf_append_slice(&behind, s->key);
	wc_buf_append_u8(&behind, 0);
	end = wc_buf_slice(&behind);
	if (!behind.failed)
		end_copy(s, &end, false);
	s->copying = false;
	wc_buf_free(&behind);
}

/* Takes the key-value of RocksDB's iterator. */
static inline void
load(WcStoreIter *s)
{
	size_t		len;
	const char *data;

	s->valid = rocksdb_iter_valid(s->it);
	if (!s->valid)
		return;
	data = rocksdb_iter_key(s->it, &len);
	s->key = wc_slice(data, len);
	data = rocksdb_iter_value(s->it, &len);
	s->value = wc_slice(data, len);
}

/* --- forward, with chunks ------------------------------------------------------------ */

/* Enters the chunk at the first of its key-values that is not before the key.  The key may be in the chunk before. */
static void
enter(WcStoreIter *s, WcScanChunk *chunk, WcSlice key)
{
	WcScanChunk *before = s->chunk;

	s->chunk = chunk;
	if (s->copies)
		wc_scanrun_add(&s->run, &s->store->scancache, chunk);
	s->at = wc_scanchunk_count_before(chunk, key);
	s->behind = chunk->n;
	if (s->upper.len > 0 && (chunk->to_the_end || wc_slice_cmp(chunk->end, s->upper) > 0))
		s->behind = wc_scanchunk_count_before(chunk, s->upper);
	s->valid = s->at < s->behind;
	if (s->valid)
		wc_scanchunk_entry(chunk, s->at, &s->key, &s->value);
	wc_scanchunk_unref(before);
}

/* Are there no wanted keys after those of the chunk? */
static inline bool
is_last(const WcStoreIter *s)
{
	return s->chunk->to_the_end || (s->upper.len > 0 && wc_slice_cmp(s->chunk->end, s->upper) >= 0);
}

/* Has RocksDB's iterator reached the next chunk? */
static inline bool
is_at_limit(const WcStoreIter *s)
{
	return s->limit.len > 0 && wc_slice_cmp(s->key, wc_buf_slice(&s->limit)) >= 0;
}

/* RocksDB's iterator has no more keys: the chunk ends at the next one, or at the bound. */
static void
copy_end(WcStoreIter *s)
{
	WcSlice		limit = wc_buf_slice(&s->limit);
	bool		fills = limit.len > 0 && (s->upper.len == 0 || wc_slice_cmp(limit, s->upper) < 0);
	char	   *error = NULL;

	rocksdb_iter_get_error(s->it, &error);
	if (error == NULL && fills)
		end_copy(s, &limit, true);
	else if (error == NULL)
		end_copy(s, s->upper.len > 0 ? &s->upper : NULL, s->upper.len == 0);
	rocksdb_free(error);
	s->copying = false;
}

/* No chunk has this place: begins to copy what RocksDB's iterator returns from it on, if chunks are made. */
static void
begin_copy(WcStoreIter *s, WcSlice start)
{
	s->anew = false;
	s->copying = s->copies && wc_scancache_takes(&s->store->scancache, &s->shown);
	if (s->copying)
		wc_scancopy_begin(&s->copy, &s->store->scancache, start);
}

/* RocksDB's iterator is at the first key of the copy.  A key-value that is too large for a chunk is left out, and the
 * next one begins anew. */
static void
copy_first(WcStoreIter *s)
{
	if (!s->copying)
		return;
	if (!s->valid)
		copy_end(s);
	else if (!is_at_limit(s) && !wc_scancopy_take(&s->copy, s->key, s->value))
	{
		s->copying = false;
		s->anew = true;
	}
}

/* RocksDB's iterator is on the first key behind the copied ones.  The scan goes on in the chunk that has this key; if
 * there is none, it begins to copy. */
static void
go_on(WcStoreIter *s)
{
	WcScanChunk *chunk = wc_scancache_find(&s->store->scancache, s->key, &s->shown, &s->limit);

	if (chunk != NULL)
	{
		enter(s, chunk, s->key);
		return;
	}
	begin_copy(s, s->key);
	copy_first(s);
}

/* RocksDB's iterator has made a step. */
static void
take(WcStoreIter *s)
{
	if (!s->valid)
		copy_end(s);
	else if (is_at_limit(s))
	{
		WcSlice		limit = wc_buf_slice(&s->limit);

		end_copy(s, &limit, true);
		go_on(s);
	}
	else if (s->anew)
		go_on(s);
	else if (s->copying && !wc_scancopy_take(&s->copy, s->key, s->value))
	{
		end_copy(s, &s->key, false);
		go_on(s);
	}
}

/* Makes RocksDB's iterator, if that was not needed before. */
static void
need_iterator(WcStoreIter *s)
{
	if (s->it != NULL)
		return;
	make_iterator(s, s->snapshot);
	give_back_snapshot(s);
}

static void
seek_rocks(WcStoreIter *s, WcSlice key)
{
	need_iterator(s);
	if (key.len == 0)
		wc_rocks_iter_seek_to_first(s->it);
	else
		wc_rocks_iter_seek(s->it, (const char *) key.data, key.len);
	load(s);
}

/* To the first key from this one on, which may be in the present chunk's memory. */
static void
go_to(WcStoreIter *s, WcSlice key)
{
	for (;;)
	{
		WcScanChunk *chunk;

		s->valid = false;
		if (s->upper.len > 0 && wc_slice_cmp(key, s->upper) >= 0)
			return;
		chunk = wc_scancache_find(&s->store->scancache, key, &s->shown, &s->limit);
		if (chunk == NULL)
			break;
		enter(s, chunk, key);
		if (s->valid || is_last(s))
			return;
		key = chunk->end;
	}
	begin_copy(s, key);
	seek_rocks(s, key);
	wc_scanchunk_unref(s->chunk);	/* the key may be in it, or in RocksDB's iterator: it is not used from here on */
	s->chunk = NULL;
	copy_first(s);
	if (s->valid && is_at_limit(s))
		take(s);
}

void
wc_storeiter_seek(WcStoreIter *s, WcSlice key)
{
	if (!s->cached)
	{
		seek_rocks(s, key);
		return;
	}
	break_off(s);
	go_to(s, wc_slice_cmp(key, s->lower) < 0 ? s->lower : key);
}

void
wc_storeiter_leave(WcStoreIter *s)
{
	if (s->chunk == NULL)
	{
		wc_rocks_iter_next(s->it);
		load(s);
		if (s->cached)
			take(s);
	}
	else if (s->behind < s->chunk->n || is_last(s))
		s->valid = false;
	else
		go_to(s, s->chunk->end);
}

/*
 * The scan ends; it has copied up to its key.  If the copy is too small for a chunk, this function copies on until it is
 * large enough: the next key-values are mostly in the same block of RocksDB's, so a later scan of this place gains more than
 * this one loses.  The chunk ends before a key, and the next chunk may begin there.
 */
static void
complete_copy(WcStoreIter *s)
{
	if (!s->copying || !wc_scancopy_is_small(&s->copy))
	{
		break_off(s);
		return;
	}
	while (s->copying)
	{
		wc_rocks_iter_next(s->it);
		load(s);
		if (!s->valid)
			copy_end(s);
		else if (is_at_limit(s))
		{
			WcSlice		limit = wc_buf_slice(&s->limit);

			end_copy(s, &limit, true);
		}
		else if (!wc_scancopy_is_small(&s->copy) || !wc_scancopy_take(&s->copy, s->key, s->value))
			end_copy(s, &s->key, false);
	}
}

/* --- backward, with chunks ----------------------------------------------------------- */

static void
set(WcStoreIter *s, WcBuf *buf, WcSlice bytes)
{
	wc_buf_reset(buf, SIZE_MAX);
	wc_buf_append_slice(buf, bytes);
	s->failed |= buf->failed;
}

/* Adds the copied key-values as a chunk that begins at `start`. */
static void
end_copy_back(WcStoreIter *s, WcSlice start, bool small)
{
	WcSlice		end = wc_buf_slice(&s->until);

	/* without memory for `until` it is empty, which would mean that there are no more keys */
	if (s->copying && !s->failed)
	{
		wc_scancopy_turn(&s->copy, start);
		s->copies = wc_scancache_add(&s->store->scancache, &s->copy, end.len > 0 ? &end : NULL, small, &s->shown);
	}
	s->copying = false;
}

/* Enters the chunk at the last of its key-values that is before s->before. */
static void
enter_back(WcStoreIter *s, WcScanChunk *chunk)
{
	WcScanChunk *last = s->chunk;
	WcSlice		before = wc_buf_slice(&s->before);

	s->chunk = chunk;
	s->at = before.len > 0 ? wc_scanchunk_count_before(chunk, before) : chunk->n;
	s->first = wc_slice_cmp(chunk->start, s->lower) < 0 ? wc_scanchunk_count_before(chunk, s->lower) : 0;
	s->valid = s->at > s->first;
	if (s->valid)
		wc_scanchunk_entry(chunk, --s->at, &s->key, &s->value);
	wc_scanchunk_unref(last);
}

/* Are there no wanted keys before those of the chunk? */
static inline bool
is_first(const WcStoreIter *s)
{
	return wc_slice_cmp(s->chunk->start, s->lower) <= 0;
}

/* No chunk has the keys before s->before: begins to copy what RocksDB's iterator returns, if chunks are made. */
static void
begin_copy_back(WcStoreIter *s)
{
	s->anew = false;
	s->copying = s->copies && wc_scancache_takes(&s->store->scancache, &s->shown);
	if (!s->copying)
		return;
	wc_scancopy_begin(&s->copy, &s->store->scancache, wc_slice(NULL, 0));
	set(s, &s->until, wc_buf_slice(&s->before));
}

/* Copies the present key-value, into the next chunk if this one is full.  One that is too large for a chunk is left out, and the next
 * one begins anew. */
static void
copy_back(WcStoreIter *s)
{
	if (s->anew)
		begin_copy_back(s);
	if (!s->copying || wc_scancopy_take(&s->copy, s->key, s->value))
		return;
	if (s->copy.n > 0)
	{
		set(s, &s->before, wc_scancopy_last(&s->copy));
		end_copy_back(s, wc_buf_slice(&s->before), false);
		begin_copy_back(s);
		if (!s->copying || wc_scancopy_take(&s->copy, s->key, s->value))
			return;
	}
	set(s, &s->before, s->key);
	s->copying = false;
	s->anew = true;
}

/* RocksDB's iterator has made a step back.  False: it has come to the chunk that ends at s->before. */
static bool
take_back(WcStoreIter *s)
{
	WcSlice		limit = wc_buf_slice(&s->limit);
	char	   *error = NULL;

	if (!s->valid)
	{
		bool		fills = limit.len > 0 && wc_slice_cmp(limit, s->lower) > 0;

		rocksdb_iter_get_error(s->it, &error);
		if (error == NULL)
			end_copy_back(s, fills ? limit : s->lower, fills || s->lower.len == 0);
		rocksdb_free(error);
		s->copying = false;
	}
	else if (limit.len > 0 && wc_slice_cmp(s->key, limit) < 0)
	{
		end_copy_back(s, limit, true);
		set(s, &s->before, limit);
		return false;
	}
	else
		copy_back(s);
	return true;
}

/* Moves RocksDB's iterator to the last key before s->before. */
static void
seek_rocks_back(WcStoreIter *s)
{
	WcSlice		before = wc_buf_slice(&s->before);

	need_iterator(s);
	if (before.len == 0)
		wc_rocks_iter_seek_to_last(s->it);
	else
		wc_rocks_iter_seek_for_prev(s->it, (const char *) before.data, before.len);
	load(s);
	if (s->valid && before.len > 0 && wc_slice_eq(s->key, before))
	{
		wc_rocks_iter_prev(s->it);
		load(s);
	}
}

/* To the last key before s->before, in a chunk or with RocksDB's iterator. */
static void
go_back(WcStoreIter *s)
{
	for (;;)
	{
		WcSlice		before = wc_buf_slice(&s->before);
		WcScanChunk *chunk;

		s->valid = false;
		if (s->failed || (before.len > 0 && wc_slice_cmp(before, s->lower) <= 0))
			return;
		chunk = wc_scancache_find_before(&s->store->scancache, before, &s->shown, &s->limit);
		if (chunk != NULL)
		{
			enter_back(s, chunk);
			if (s->valid || is_first(s))
				return;
			set(s, &s->before, chunk->start);
			continue;
		}
		begin_copy_back(s);
		seek_rocks_back(s);
		wc_scanchunk_unref(s->chunk);	/* the key is RocksDB's */
		s->chunk = NULL;
		if (take_back(s))
			return;
	}
}

void
wc_storeiter_seek_backward(WcStoreIter *s, WcSlice key)
{
	if (!s->cached)
	{
		if (key.len == 0)
			wc_rocks_iter_seek_to_last(s->it);
		else
			wc_rocks_iter_seek_for_prev(s->it, (const char *) key.data, key.len);
		load(s);
		return;
	}
	set(s, &s->before, key);
	if (key.len > 0)
		wc_buf_append_u8(&s->before, 0);
	if (s->upper.len > 0 && (key.len == 0 || wc_slice_cmp(wc_buf_slice(&s->before), s->upper) > 0))
		set(s, &s->before, s->upper);
	s->failed |= s->before.failed;
	end_copy_back(s, s->key, false);	/* the copy has come down to this key */
	go_back(s);
}

void
wc_storeiter_leave_backward(WcStoreIter *s)
{
	if (s->chunk == NULL)
	{
		wc_rocks_iter_prev(s->it);
		load(s);
		if (s->cached && !take_back(s))
			go_back(s);
	}
	else if (is_first(s))
		s->valid = false;
	else
	{
		set(s, &s->before, s->chunk->start);
		go_back(s);
	}
}

/* As complete_copy, towards the first key. */
static void
complete_copy_back(WcStoreIter *s)
{
	while (s->copying && wc_scancopy_is_small(&s->copy))
	{
		wc_rocks_iter_prev(s->it);
		load(s);
		(void) take_back(s);
	}
	end_copy_back(s, s->key, false);
}

/* --- the end ------------------------------------------------------------------------- */

void
wc_storeiter_close(WcStoreIter *s)
{
	if (s->backward)
		complete_copy_back(s);
	else
		complete_copy(s);
	if (s->run.n > 0)
		wc_scanrun_end(&s->run, &s->store->scancache);
	give_back_snapshot(s);
	if (s->it)
		rocksdb_iter_destroy(s->it);
	if (s->ro)
		rocksdb_readoptions_destroy(s->ro);
	wc_scanchunk_unref(s->chunk);
	wc_scancopy_free(&s->copy);
	wc_buf_free(&s->limit);
	wc_buf_free(&s->before);
	wc_buf_free(&s->until);
}

WcStatus
wc_storeiter_status(const WcStoreIter *s, WcError *err)
{
	if (s->failed)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	return s->chunk != NULL || s->it == NULL ? WC_OK : wc_source_iter_status(s->store, s->it, err);
}
