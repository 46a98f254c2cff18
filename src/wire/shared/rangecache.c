/*
 * wire/shared/rangecache.c: a ring of stretches, and a directory of each shape; what sessions find there.
 *
 * A directory has the positions of its stretches, in the order of their keys.  A session searches the directory, copies rows out of a
 * stretch, and then checks that all of this was the stretch that it wanted: the stretch names itself and its directory, `tail` tells that
 * it has not been overwritten, `until` that it has no other rows, and that of each row that the row has not been written.  So a session may read a directory while the engine
 * changes it: then it finds the stretch, or does not.
 */
#include "wire/shared/rangecachestate.h"

/* A shape may have a stretch for so many bytes of the memory, but not more than that: to add one moves half of their positions. */
#define BYTES_A_STRETCH ((uint64_t) 8 * 1024)
#define STRETCHES_MAX	32768

/* There is a directory for so many bytes of stretches; and with fewer bytes, there is none. */
#define BYTES_A_DIR		((uint64_t) 1024 * 1024)

/* A range may lie in so many stretches. */
#define FOUND_MAX		64

static uint32_t
dirs_of(uint64_t bytes)
{
	return bytes / BYTES_A_DIR > WC_STRETCH_DIRS_MAX ? WC_STRETCH_DIRS_MAX : (uint32_t) (bytes / BYTES_A_DIR);
}

static uint64_t
words_of(uint64_t bytes)
{
	return dirs_of(bytes) == 0 ? 0 : bytes / sizeof(WcWord) / WC_STRETCH_UNIT * WC_STRETCH_UNIT;
}

static uint32_t
stretches_of(uint64_t bytes)
{
	return bytes / BYTES_A_STRETCH > STRETCHES_MAX ? STRETCHES_MAX : (uint32_t) (bytes / BYTES_A_STRETCH);
}

size_t
wc_rangecache_size(uint64_t bytes)
{
	return offsetof(WcRangeCache, dirs) + wc_stretchdirs_size(dirs_of(bytes), stretches_of(bytes)) + words_of(bytes) * sizeof(WcWord);
}

WcRangeCache *
wc_rangecache_init(void *memory, uint64_t bytes)
{
	WcRangeCache *cache = memory;

	cache->nwords = words_of(bytes);
	cache->ndirs = dirs_of(bytes);
	cache->nstretches = stretches_of(bytes);
	cache->head = cache->nwords;	/* so that no position is 0 */
	atomic_init(&cache->tail, cache->head);
	return cache;
}

/* --- looking ------------------------------------------------------------------------ */

bool
wc_stretch_view(const WcRangeCache *cache, uint64_t position, WcStretchView *v)
{
	uint64_t	at = position % cache->nwords;
	uint64_t	keys;

	v->words = wc_stretch_ring(cache) + at;
	v->n = WC_STRETCH_LOW(wc_word_get(v->words + WC_STRETCH_AT_SIZE));
	if (position == 0 || v->n < WC_STRETCH_HEAD_WORDS || v->n > cache->nwords - at ||
		wc_word_get(v->words + WC_STRETCH_AT_POSITION) != position)
		return false;
	keys = wc_stretch_word(v, WC_STRETCH_AT_KEYS);
	v->start_len = WC_STRETCH_LOW(keys);
	v->end_len = WC_STRETCH_HIGH(keys);
	v->nrows = WC_STRETCH_LOW(wc_stretch_word(v, WC_STRETCH_AT_ROWS));
	if (v->start_len > WC_STRETCH_KEY_MAX || v->end_len > WC_STRETCH_KEY_MAX)
		return false;
	v->index = WC_STRETCH_HEAD_WORDS + WC_WORDS(v->start_len) + WC_WORDS(v->end_len);
	return v->index <= v->n && v->nrows / 2 < v->n;
}

WcStretchDir *
wc_stretchdir_find(const WcRangeCache *cache, uint32_t table_id, WcSlice shape, uint64_t *generation)
{
	uint64_t	hash = wc_stretchdir_hash(table_id, shape);

	for (uint32_t i = 0; i < cache->ndirs; i++)
	{
		const WcStretchDir *d = &cache->dirs[i];

		if (atomic_load_explicit(&cache->hashes[i], memory_order_relaxed) != hash)
			continue;
		*generation = atomic_load_explicit(&d->generation, memory_order_acquire);
		if (*generation != 0 && atomic_load_explicit(&cache->tables[i], memory_order_relaxed) == table_id &&
			atomic_load_explicit(&d->shape_len, memory_order_relaxed) == shape.len && wc_words_are(d->shape, shape))
			return (WcStretchDir *) d;
	}
	return NULL;
}

uint32_t
wc_stretchdir_count_before(const WcRangeCache *cache, const WcStretchDir *d, WcSlice key, bool before)
{
	uint32_t	low = 0;
	uint32_t	high = wc_stretchdir_count(d);

	while (low < high)
	{
		uint32_t	mid = low + (high - low) / 2;
		WcStretchView v;

		if (wc_stretch_view(cache, wc_stretchdir_position(cache, d, mid), &v) &&
			wc_stretch_cmp(wc_stretch_start(&v), key) < (before ? 0 : 1))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

uint32_t
wc_stretch_rows_before(const WcStretchView *v, WcSlice key, bool with_key)
{
	uint32_t	low = 0;
	uint32_t	high = v->nrows;

	while (low < high)
	{
		uint32_t	mid = low + (high - low) / 2;
		WcStretchRowView row;
		int			c;

		if (!wc_stretch_row(v, mid, &row))
			return low;
		c = wc_stretch_cmp(row.key, key);
		if (c < 0 || (c == 0 && with_key))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* --- reading ------------------------------------------------------------------------ */

/* Where the search for rows has come to: the next rows are from this key on, or behind it (reversed: up to it, or before it). */
typedef struct Search
{
	const WcRangeQuery *query;
	WcBuf	   *out;
	WcSlice		key;			/* empty: from the table's first row on, or from its last */
	bool		inclusive;
	uint64_t	left;			/* rows that may still be found */
	bool		ends_at_written;		/* the search has ended at a row of which nothing is known since it was written */
	uint8_t		edge[WC_STRETCH_KEY_MAX];	/* the bytes of key, once it is an end of a stretch */
	uint32_t	n;				/* the stretches that have been read */
	uint64_t	positions[FOUND_MAX];
	uint64_t	written[FOUND_MAX]; /* of each: the number of its rows that had been written */
} Search;

/* The stretch that has the key of the search, or would have it. */
static bool
find_stretch(const WcRangeCache *cache, const WcStretchDir *d, uint64_t generation, const Search *s, WcStretchView *v, uint64_t *position)
{
	const WcRangeQuery *q = s->query;
	uint32_t	i;

	if (q->reversed && s->key.len == 0)
		i = wc_stretchdir_count(d);
	else
		i = wc_stretchdir_count_before(cache, d, s->key, q->reversed && !s->inclusive);
	if (i == 0)
		return false;
	*position = wc_stretchdir_position(cache, d, i - 1);
	if (!wc_stretch_view(cache, *position, v) || wc_stretch_word(v, WC_STRETCH_AT_GENERATION) != generation ||
		wc_stretch_word(v, WC_STRETCH_AT_EPOCH) > q->epoch ||
		!wc_stretch_is_valid_at(v, q->now_us))
		return false;
	if (q->reversed && s->key.len == 0)
		return wc_stretch_end(v).len == 0;
	if (q->reversed && !s->inclusive)
	{
		WcStretchBytes end = wc_stretch_end(v);

		return wc_stretch_cmp(wc_stretch_start(v), s->key) < 0 && (end.len == 0 || wc_stretch_cmp(end, s->key) >= 0);
	}
	return wc_stretch_cmp(wc_stretch_start(v), s->key) <= 0 && wc_stretch_ends_behind(v, s->key);
}

/* The number of the stretch's rows that come before the place of the search, in the order of the keys. */
static uint32_t
rows_before(const WcStretchView *v, const Search *s)
{
	bool		reversed = s->query->reversed;

	if (s->key.len == 0)
		return reversed ? v->nrows : 0;
	return wc_stretch_rows_before(v, s->key, s->inclusive == reversed);
}

typedef enum Outcome
{
	FOUND_ALL,
	GO_ON,						/* behind the stretch */
	NOT_FOUND
} Outcome;

/* Is the row beyond the range, as the search goes? */
static bool
is_beyond(const WcRangeQuery *q, WcStretchBytes key)
{
	WcSlice		bound = q->reversed ? q->range->start : q->range->stop;
	bool		inclusive = q->reversed ? q->range->start_inclusive : q->range->stop_inclusive;
	int			c;

	if (bound.len == 0)
		return false;
	c = wc_stretch_cmp(key, bound);
	return c == 0 ? !inclusive : (c < 0) == q->reversed;
}

/* Is this `until` behind the session's epoch? */
static bool
is_behind(const WcRangeQuery *q, uint64_t until)
{
	return q->epoch == UINT64_MAX ? until == WC_STRETCH_FOR_EVER : until > q->epoch;
}

/* Appends the row's bytes; of a row that has been written, those that query->written_row knows.  False: it knows none, or out has no room. */
static bool
copy_row(Search *s, const WcStretchRowView *row)
{
	const WcRangeQuery *q = s->query;
	uint8_t		key[WC_STRETCH_KEY_MAX];
	uint32_t	n = 1;

	if (is_behind(q, wc_word_get(row->words + WC_STRETCHROW_AT_UNTIL)))
	{
		if (s->out->len + row->bytes.len > WC_RANGECACHE_FOUND_MAX || !wc_words_append(row->bytes.at, row->bytes.len, s->out))
			return false;
	}
	else
	{
		s->ends_at_written = true;
		if (q->written_row == NULL || row->key.len > sizeof(key))
			return false;
		wc_words_get(row->key.at, key, row->key.len);
		if (!q->written_row(q->arg, wc_slice(key, row->key.len), s->out, &n) || s->out->len > WC_RANGECACHE_FOUND_MAX)
			return false;
		s->ends_at_written = false;
	}
	s->left -= n;
	return true;
}

static Outcome
copy_rows(const WcStretchView *v, Search *s)
{
	const WcRangeQuery *q = s->query;
	uint32_t	i = rows_before(v, s);

	for (uint32_t n = q->reversed ? i : v->nrows - i; n > 0 && s->left > 0; n--)
	{
		WcStretchRowView row;

		if (!wc_stretch_row(v, q->reversed ? --i : i++, &row))
			return NOT_FOUND;
		if (is_beyond(q, row.key))
			return FOUND_ALL;
		if (!copy_row(s, &row))
			return NOT_FOUND;
	}
	if (s->left > 0)
		return GO_ON;
	return q->row_limit > 0 ? FOUND_ALL : NOT_FOUND;
}

/* All rows of the stretch have been copied.  Goes on behind it, unless nothing of the range is there. */
static Outcome
go_on(const WcStretchView *v, Search *s)
{
	const WcRangeQuery *q = s->query;
	WcStretchBytes edge = q->reversed ? wc_stretch_start(v) : wc_stretch_end(v);
	WcSlice		bound = q->reversed ? q->range->start : q->range->stop;
	int			c = bound.len == 0 ? (q->reversed ? 1 : -1) : wc_stretch_cmp(edge, bound);

	/* a stretch has its start, and does not have its end */
	if (edge.len == 0 || (q->reversed ? c <= 0 : c > 0 || (c == 0 && !q->range->stop_inclusive)))
		return FOUND_ALL;
	wc_words_get(edge.at, s->edge, edge.len);
	s->key = wc_slice(s->edge, edge.len);
	s->inclusive = !q->reversed;
	return GO_ON;
}

static Outcome
read_stretch(const WcRangeCache *cache, const WcStretchDir *d, uint64_t generation, Search *s)
{
	Outcome		outcome;
	WcStretchView v;

	if (s->n == FOUND_MAX || !find_stretch(cache, d, generation, s, &v, &s->positions[s->n]))
		return NOT_FOUND;
	s->written[s->n++] = wc_stretch_word(&v, WC_STRETCH_AT_WRITTEN);
	atomic_thread_fence(memory_order_acquire);	/* before the rows are read */
	outcome = copy_rows(&v, s);
	return outcome == GO_ON ? go_on(&v, s) : outcome;
}

/* Did the stretches have the rows that have been read in the session's epoch, and are they not overwritten?  In the newest state: was
 * none of their rows written since?  All are asked at this moment, so that their rows are of one state of the table. */
static bool
were_valid(const WcRangeCache *cache, const WcStretchDir *d, uint64_t generation, const Search *s)
{
	uint64_t	tail;

	atomic_thread_fence(memory_order_acquire);
	for (uint32_t i = 0; i < s->n; i++)
	{
		const WcWord *words = wc_stretch_ring(cache) + s->positions[i] % cache->nwords;

		if (!is_behind(s->query, wc_word_get(words + WC_STRETCH_AT_UNTIL)) ||
			(s->query->epoch == UINT64_MAX && wc_word_get(words + WC_STRETCH_AT_WRITTEN) != s->written[i]))
			return false;
	}
	atomic_thread_fence(memory_order_acquire);
	tail = atomic_load_explicit(&cache->tail, memory_order_relaxed);
	for (uint32_t i = 0; i < s->n; i++)
	{
		if (s->positions[i] < tail)
			return false;
	}
	return atomic_load_explicit(&d->generation, memory_order_relaxed) == generation;
}

bool
wc_rangecache_find(WcRangeCache *cache, const WcRangeQuery *query, WcBuf *out)
{
	uint64_t	generation;
	WcStretchDir *d = wc_stretchdir_find(cache, query->table_id, query->shape, &generation);
	size_t		len = out->len;
	Outcome		outcome = GO_ON;
	Search		s;

	if (d == NULL)
		return false;
	s.query = query;
	s.out = out;
	s.key = query->reversed ? query->range->stop : query->range->start;
	s.inclusive = query->reversed ? query->range->stop_inclusive : query->range->start_inclusive;
	s.left = query->row_limit > 0 ? query->row_limit : WC_RANGECACHE_ROWS_MAX;
	s.ends_at_written = false;
	s.n = 0;
	if (s.key.len == 0)
		s.inclusive = true;
	while (outcome == GO_ON)
		outcome = read_stretch(cache, d, generation, &s);
	if (s.n > 0 && !s.ends_at_written)
		atomic_fetch_add_explicit(&d->found, 1, memory_order_relaxed);
	if (outcome == FOUND_ALL && were_valid(cache, d, generation, &s))
		return true;
	out->len = len;
	return false;
}
