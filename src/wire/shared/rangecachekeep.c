/*
 * wire/shared/rangecachekeep.c: the engine's side of the cache of ranges: it appends stretches to the ring, and so overwrites the oldest;
 * it notes which of their rows commits write; and it takes those out of the directories that get further rows.
 */
#include "wire/shared/rangecachestate.h"

/* So many ranges of a shape are kept before any are found; each that is found allows some more.  One of so many others is kept, too: so a
 * shape whose stretches become useful again is found out. */
#define ALLOWED_FIRST	64
#define ALLOWED_BY_FOUND 4
#define ALLOWED_MAX		256
#define TRIED_ONE_OF	32

/* --- directories ---------------------------------------------------------- */

static void
end_stretch(const WcRangeCache *cache, uint64_t position, uint64_t epoch)
{
	atomic_store(wc_stretch_ring(cache) + position % cache->nwords + WC_STRETCH_AT_UNTIL, epoch);
}

static inline void
set_position(const WcRangeCache *cache, const WcStretchDir *d, uint32_t i, uint64_t position)
{
	atomic_store_explicit(wc_stretchdir_positions(cache, d) + i, position, memory_order_release);
}

/* Takes n stretches from the i'th on out of the directory. */
static void
take_out(const WcRangeCache *cache, WcStretchDir *d, uint32_t i, uint32_t n)
{
	uint32_t	total = atomic_load_explicit(&d->n, memory_order_relaxed);

	for (; i + n < total; i++)
		set_position(cache, d, i, wc_stretchdir_position(cache, d, i + n));
	atomic_store_explicit(&d->n, total - n, memory_order_release);
}

static void
put_in(const WcRangeCache *cache, WcStretchDir *d, uint32_t i, uint64_t position)
{
	uint32_t	total = atomic_load_explicit(&d->n, memory_order_relaxed);

	for (uint32_t to = total; to > i; to--)
		set_position(cache, d, to, wc_stretchdir_position(cache, d, to - 1));
	set_position(cache, d, i, position);
	atomic_store_explicit(&d->n, total + 1, memory_order_release);
}

static void
end_all(const WcRangeCache *cache, WcStretchDir *d, uint64_t epoch)
{
	uint32_t	n = wc_stretchdir_count(d);

	for (uint32_t i = 0; i < n; i++)
		end_stretch(cache, wc_stretchdir_position(cache, d, i), epoch);
	atomic_store_explicit(&d->n, 0, memory_order_release);
}

static void
free_dir(WcRangeCache *cache, uint32_t number)
{
	WcStretchDir *d = &cache->dirs[number];

	atomic_store(&d->generation, 0);
	atomic_store_explicit(&d->n, 0, memory_order_release);
	atomic_store_explicit(&cache->tables[number], 0, memory_order_relaxed);
}

/* The number of a free directory.  If there was none, that of the shape whose stretches have been found least since this was last
 * asked. */
static uint32_t
free_one(WcRangeCache *cache)
{
	uint32_t	least = 0;
	uint32_t	fewest = UINT32_MAX;

	for (uint32_t i = 0; i < cache->ndirs; i++)
	{
		WcStretchDir *d = &cache->dirs[i];
		uint32_t	found = atomic_load_explicit(&d->found, memory_order_relaxed);

		if (atomic_load_explicit(&cache->tables[i], memory_order_relaxed) == 0)
			return i;
		if (found - d->found_swept < fewest)
		{
			least = i;
			fewest = found - d->found_swept;
		}
		d->found_swept = found;
	}
	free_dir(cache, least);
	return least;
}

static WcStretchDir *
make_dir(WcRangeCache *cache, uint32_t table_id, WcSlice shape)
{
	uint32_t	number = free_one(cache);
	WcStretchDir *d = &cache->dirs[number];

	/* `generation` is 0: a session that reads one of these words does not find the generation that it has read before */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&cache->hashes[number], wc_stretchdir_hash(table_id, shape), memory_order_relaxed);
	atomic_store_explicit(&cache->tables[number], table_id, memory_order_relaxed);
	atomic_store_explicit(&d->shape_len, (uint32_t) shape.len, memory_order_relaxed);
	wc_words_put(d->shape, shape);
	d->found_seen = d->found_swept = atomic_load_explicit(&d->found, memory_order_relaxed);
	d->allowed = ALLOWED_FIRST;
	d->asked = 0;
	atomic_store(&d->generation, ++cache->generation);

	/* before wc_rangecache_add reads `written`: a commit that does not see the flag is seen there */
	atomic_store(&cache->used[table_id % WC_STRETCH_TABLES], true);
	return d;
}

bool
wc_rangecache_wants(WcRangeCache *cache, uint32_t table_id, WcSlice shape)
{
	uint64_t	generation;
	WcStretchDir *d = wc_stretchdir_find(cache, table_id, shape, &generation);
	uint32_t	found;

	if (cache->ndirs == 0 || shape.len > WC_STRETCH_SHAPE_MAX)
		return false;
	if (d == NULL)
		d = make_dir(cache, table_id, shape);
	d->asked++;
	found = atomic_load_explicit(&d->found, memory_order_relaxed) - d->found_seen;
	d->found_seen += found;
	if (found >= ALLOWED_MAX / ALLOWED_BY_FOUND || d->allowed + found * ALLOWED_BY_FOUND > ALLOWED_MAX)
		d->allowed = ALLOWED_MAX;
	else
		d->allowed += found * ALLOWED_BY_FOUND;
	if (d->allowed == 0)
		return d->asked % TRIED_ONE_OF == 0;
	d->allowed--;
	return true;
}

bool
wc_rangecache_covers(const WcRangeCache *cache, uint32_t table_id, WcSlice shape, WcSlice row, int64_t now_us, WcBuf *end)
{
	uint64_t	generation;
	const WcStretchDir *d = wc_stretchdir_find(cache, table_id, shape, &generation);
	uint32_t	i = d != NULL ? wc_stretchdir_count_before(cache, d, row, false) : 0;
	WcStretchView v;
	WcStretchBytes bytes;

	if (i == 0 || !wc_stretch_view(cache, wc_stretchdir_position(cache, d, i - 1), &v) ||
		!wc_stretch_ends_behind(&v, row) || !wc_stretch_is_valid_at(&v, now_us) || wc_stretch_word(&v, WC_STRETCH_AT_WRITTEN) > 0)
		return false;
	bytes = wc_stretch_end(&v);
	wc_buf_reset(end, WC_STRETCH_KEY_MAX);
	return wc_words_append(bytes.at, bytes.len, end);
}

/* --- stretches ------------------------------------------------------------ */

/* The directory that has the stretch at this position, and its place there.  NULL: none has it any more. */
static WcStretchDir *
dir_with(WcRangeCache *cache, uint64_t position, const WcStretchView *v, uint32_t *i)
{
	uint32_t	number = WC_STRETCH_HIGH(wc_stretch_word(v, WC_STRETCH_AT_SIZE));
	uint8_t		key[WC_STRETCH_KEY_MAX];
	WcStretchBytes start = wc_stretch_start(v);
	WcStretchDir *d;

	if (number >= cache->ndirs)
		return NULL;
	d = &cache->dirs[number];
	if (atomic_load_explicit(&d->generation, memory_order_relaxed) != wc_stretch_word(v, WC_STRETCH_AT_GENERATION))
		return NULL;
	wc_words_get(start.at, key, start.len);
	*i = wc_stretchdir_count_before(cache, d, wc_slice(key, start.len), true);
	return *i < wc_stretchdir_count(d) && wc_stretchdir_position(cache, d, *i) == position ? d : NULL;
}

/* Forgets the oldest stretch of the ring. */
static void
drop_oldest(WcRangeCache *cache)
{
	uint64_t	tail = atomic_load_explicit(&cache->tail, memory_order_relaxed);
	uint32_t	size = WC_STRETCH_LOW(wc_word_get(wc_stretch_ring(cache) + tail % cache->nwords + WC_STRETCH_AT_SIZE));
	WcStretchView v;
	uint32_t	i;
	WcStretchDir *d;

	if (wc_stretch_view(cache, tail, &v) && (d = dir_with(cache, tail, &v, &i)) != NULL)
		take_out(cache, d, i, 1);
	atomic_store_explicit(&cache->tail, tail + size, memory_order_relaxed);
}

/* Room for n words in the ring, all in one piece.  The stretches that were there are forgotten. */
static uint64_t
make_room(WcRangeCache *cache, uint32_t n)
{
	uint64_t	rest = cache->nwords - cache->head % cache->nwords;
	uint64_t	need = rest < n ? rest + n : n;
	uint64_t	position;

	while (cache->head + need - atomic_load_explicit(&cache->tail, memory_order_relaxed) > cache->nwords)
		drop_oldest(cache);
	atomic_thread_fence(memory_order_release);	/* a session that reads one of the new words sees the new tail */
	if (rest < n)
	{
		WcWord	   *filler = wc_stretch_ring(cache) + cache->head % cache->nwords;

		wc_word_put(filler + WC_STRETCH_AT_POSITION, 0);
		wc_word_put(filler + WC_STRETCH_AT_SIZE, WC_STRETCH_PAIR(rest, WC_STRETCH_FILLER));
		cache->head += rest;
	}
	position = cache->head;
	cache->head += n;
	return position;
}

/* The stretch's words; 0: too many, or a key is too long. */
static uint32_t
size_of(const WcRangeCache *cache, const WcStretch *s)
{
	uint64_t	n = WC_STRETCH_HEAD_WORDS + WC_WORDS(s->start.len) + WC_WORDS(s->end.len) + ((uint64_t) s->nrows + 1) / 2;

	if (s->start.len > WC_STRETCH_KEY_MAX || s->end.len > WC_STRETCH_KEY_MAX)
		return 0;
	for (uint32_t i = 0; i < s->nrows; i++)
		n += WC_STRETCHROW_HEAD_WORDS + WC_WORDS(s->rows[i].key.len) + WC_WORDS(s->rows[i].bytes.len);
	n = (n + WC_STRETCH_UNIT - 1) / WC_STRETCH_UNIT * WC_STRETCH_UNIT;
	return n > WC_STRETCH_BYTES_MAX / sizeof(WcWord) || n > cache->nwords / 4 ? 0 : (uint32_t) n;
}

static void
write_stretch(WcRangeCache *cache, const WcStretchDir *d, uint64_t position, uint32_t size, const WcStretch *s)
{
	WcWord	   *words = wc_stretch_ring(cache) + position % cache->nwords;
	WcWord	   *index = words + WC_STRETCH_HEAD_WORDS + WC_WORDS(s->start.len) + WC_WORDS(s->end.len);
	WcWord	   *to = index + (s->nrows + 1) / 2;
	uint64_t	pair = 0;

	wc_word_put(words + WC_STRETCH_AT_POSITION, position);
	wc_word_put(words + WC_STRETCH_AT_SIZE, WC_STRETCH_PAIR(size, d - cache->dirs));
	wc_word_put(words + WC_STRETCH_AT_GENERATION, atomic_load_explicit(&d->generation, memory_order_relaxed));
	wc_word_put(words + WC_STRETCH_AT_EPOCH, s->epoch);
	wc_word_put(words + WC_STRETCH_AT_UNTIL, WC_STRETCH_FOR_EVER);
	wc_word_put(words + WC_STRETCH_AT_WRITTEN, 0);
	wc_word_put(words + WC_STRETCH_AT_VALID_FROM, (uint64_t) s->valid_from_us);
	wc_word_put(words + WC_STRETCH_AT_VALID_UNTIL, (uint64_t) s->valid_until_us);
	wc_word_put(words + WC_STRETCH_AT_ROWS, s->nrows);
	wc_word_put(words + WC_STRETCH_AT_KEYS, WC_STRETCH_PAIR(s->start.len, s->end.len));
	wc_words_put(words + WC_STRETCH_HEAD_WORDS, s->start);
	wc_words_put(words + WC_STRETCH_HEAD_WORDS + WC_WORDS(s->start.len), s->end);
	for (uint32_t i = 0; i < s->nrows; i++)
	{
		const WcStretchRow *row = &s->rows[i];

		pair = i % 2 == 0 ? (uint64_t) (to - words) : pair | (uint64_t) (to - words) << 32;
		wc_word_put(index + i / 2, pair);
		wc_word_put(to + WC_STRETCHROW_AT_LENGTHS, WC_STRETCH_PAIR(row->key.len, row->bytes.len));
		wc_word_put(to + WC_STRETCHROW_AT_UNTIL, WC_STRETCH_FOR_EVER);
		to += WC_STRETCHROW_HEAD_WORDS;
		wc_words_put(to, row->key);
		to += WC_WORDS(row->key.len);
		wc_words_put(to, row->bytes);
		to += WC_WORDS(row->bytes.len);
	}
}

/* Takes out the stretches with which this one overlaps. */
static void
take_out_overlapping(const WcRangeCache *cache, WcStretchDir *d, const WcStretch *s, uint64_t now)
{
	uint32_t	first = wc_stretchdir_count_before(cache, d, s->start, true);
	uint32_t	behind = s->end.len == 0 ? wc_stretchdir_count(d) : wc_stretchdir_count_before(cache, d, s->end, true);
	WcStretchView v;

	if (first > 0 && wc_stretch_view(cache, wc_stretchdir_position(cache, d, first - 1), &v) && wc_stretch_ends_behind(&v, s->start))
		first--;
	for (uint32_t i = first; i < behind; i++)
		end_stretch(cache, wc_stretchdir_position(cache, d, i), now + 1);
	if (behind > first)
		take_out(cache, d, first, behind - first);
}

/* Takes out the stretch that was read first. */
static void
take_out_oldest(const WcRangeCache *cache, WcStretchDir *d, uint64_t now)
{
	uint32_t	oldest = 0;

	for (uint32_t i = 1; i < wc_stretchdir_count(d); i++)
	{
		if (wc_stretchdir_position(cache, d, i) < wc_stretchdir_position(cache, d, oldest))
			oldest = i;
	}
	end_stretch(cache, wc_stretchdir_position(cache, d, oldest), now + 1);
	take_out(cache, d, oldest, 1);
}

bool
wc_rangecache_is_unwritten(const WcRangeCache *cache, uint32_t table_id, uint64_t epoch)
{
	return atomic_load(&cache->written[table_id % WC_STRETCH_TABLES]) <= epoch;
}

bool
wc_rangecache_add(WcRangeCache *cache, uint32_t table_id, WcSlice shape, const WcStretch *stretch, uint64_t now)
{
	uint64_t	generation;
	WcStretchDir *d = wc_stretchdir_find(cache, table_id, shape, &generation);
	uint32_t	size = size_of(cache, stretch);
	uint64_t	position;

	if (d == NULL || size == 0 || !wc_rangecache_is_unwritten(cache, table_id, stretch->epoch))
		return false;
	position = make_room(cache, size);	/* first: it may take stretches out of the directory */
	take_out_overlapping(cache, d, stretch, now);
	if (wc_stretchdir_count(d) == cache->nstretches)
		take_out_oldest(cache, d, now);
	write_stretch(cache, d, position, size, stretch);
	put_in(cache, d, wc_stretchdir_count_before(cache, d, stretch->start, true), position);
	return true;
}

/* --- commits ---------------------------------------------------------------- */

void
wc_rangecache_reset(WcRangeCache *cache)
{
	for (uint32_t i = 0; i < cache->ndirs; i++)
		free_dir(cache, i);
	for (int i = 0; i < WC_STRETCH_TABLES; i++)
	{
		atomic_store(&cache->written[i], 0);
		atomic_store(&cache->used[i], false);
	}
	cache->head += cache->nwords - cache->head % (cache->nwords > 0 ? cache->nwords : 1);
	atomic_store(&cache->tail, cache->head);
}

bool
wc_rangecache_note(WcRangeCache *cache, uint32_t table_id, uint64_t epoch)
{
	/* written before `used` is read: see make_dir */
	atomic_store(&cache->written[table_id % WC_STRETCH_TABLES], epoch);
	return atomic_load(&cache->used[table_id % WC_STRETCH_TABLES]);
}

bool
wc_rangecache_uses(const WcRangeCache *cache, uint32_t table_id)
{
	return atomic_load_explicit(&cache->used[table_id % WC_STRETCH_TABLES], memory_order_relaxed);
}

/* Notes that a commit writes the row in this epoch.  False: the stretch has no row with this key. */
static bool
note_row(const WcStretchView *v, WcSlice key, uint64_t epoch)
{
	WcWord	   *words = (WcWord *) v->words;
	uint32_t	i = wc_stretch_rows_before(v, key, false);
	WcStretchRowView row;
	WcWord	   *until;

	if (i == v->nrows || !wc_stretch_row(v, i, &row) || wc_stretch_cmp(row.key, key) != 0)
		return false;
	until = (WcWord *) row.words + WC_STRETCHROW_AT_UNTIL;
	if (wc_word_get(until) != WC_STRETCH_FOR_EVER)
		return true;
	atomic_store(until, epoch);
	atomic_store(words + WC_STRETCH_AT_WRITTEN, wc_stretch_word(v, WC_STRETCH_AT_WRITTEN) + 1);
	return true;
}

void
wc_rangecache_touch_row(WcRangeCache *cache, uint32_t table_id, WcSlice row, uint64_t epoch)
{
	for (uint32_t i = 0; i < cache->ndirs; i++)
	{
		WcStretchDir *d = &cache->dirs[i];
		uint32_t	at;
		WcStretchView v;

		if (atomic_load_explicit(&cache->tables[i], memory_order_relaxed) != table_id)
			continue;
		at = wc_stretchdir_count_before(cache, d, row, false);
		if (at == 0 || !wc_stretch_view(cache, wc_stretchdir_position(cache, d, at - 1), &v) || !wc_stretch_ends_behind(&v, row) ||
			note_row(&v, row, epoch))
			continue;
		end_stretch(cache, wc_stretchdir_position(cache, d, at - 1), epoch);
		take_out(cache, d, at - 1, 1);
	}
}

void
wc_rangecache_touch_table(WcRangeCache *cache, uint32_t table_id, uint64_t epoch)
{
	bool		used = false;

	for (uint32_t i = 0; i < cache->ndirs; i++)
	{
		uint32_t	its = atomic_load_explicit(&cache->tables[i], memory_order_relaxed);

		if (its == table_id)
		{
			end_all(cache, &cache->dirs[i], epoch);
			free_dir(cache, i);
		}
		else if (its != 0 && its % WC_STRETCH_TABLES == table_id % WC_STRETCH_TABLES)
			used = true;
	}
	if (!used)
		atomic_store(&cache->used[table_id % WC_STRETCH_TABLES], false);
}
