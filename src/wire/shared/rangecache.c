/*
 * wire/shared/rangecache.c: a ring of stretches, and a directory of each shape.
 *
 * The engine appends stretches to the ring, and so overwrites the oldest.  A directory has the positions of its stretches,
 * in the order of their keys.  A session searches the directory, copies rows out of a stretch, and then checks that all of this was the
 * stretch that it wanted: the stretch names itself and its directory, `tail` tells that it has not been overwritten, `until` that
 * nothing has been written to it.  So a session may read a directory while the engine changes it: then it finds the stretch, or does
 * not.  All words that a session reads are bounded before they are used.
 */
#include "wire/shared/rangecache.h"

#include <stddef.h>

#include "base/hash.h"
#include "wire/shared/words.h"

/* Shapes; and the longest one, in bytes. */
#define DIRS_MAX		64
#define SHAPE_MAX		512

/* A shape may have a stretch for so many bytes of the memory, but not more than that: to add one moves half of their positions. */
#define BYTES_A_STRETCH ((uint64_t) 8 * 1024)
#define STRETCHES_MAX	32768

/* Tables share so many stamps and flags, by their ids. */
#define TABLES			256

/* There is a directory for so many bytes of stretches; and with fewer bytes, there is none. */
#define BYTES_A_DIR		((uint64_t) 1024 * 1024)

/* A range may lie in so many stretches. */
#define FOUND_MAX		64

/* So many ranges of a shape are kept before any are found; each that is found allows some more.  One of so many others is kept, too: so a
 * shape whose stretches become useful again is found out. */
#define ALLOWED_FIRST	64
#define ALLOWED_BY_FOUND 4
#define ALLOWED_MAX		256
#define TRIED_ONE_OF	32

/* The words of a stretch.  Its size is a multiple of UNIT words, so that a filler at the end of the ring has room for the first two. */
enum
{
	AT_POSITION,				/* in words, since the first stretch: it grows for ever, and is not 0 */
	AT_SIZE,					/* in words, and the directory's number above 32 bits */
	AT_GENERATION,				/* the directory's */
	AT_EPOCH,					/* in which it was read */
	AT_UNTIL,					/* the first epoch in which it may be different */
	AT_VALID_FROM,
	AT_VALID_UNTIL,
	AT_ROWS,					/* number of rows */
	AT_KEYS,					/* bytes of start, and of end above 32 bits */
	HEAD_WORDS					/* start, end, index (two places of rows a word), rows: lengths of key and bytes, key, bytes */
};

#define UNIT			16
#define FILLER			UINT32_MAX		/* instead of a directory's number */
#define FOR_EVER		UINT64_MAX

#define PAIR(low, high)	((uint64_t) (low) | (uint64_t) (high) << 32)
#define LOW(word)		((uint32_t) (word))
#define HIGH(word)		((uint32_t) ((word) >> 32))

typedef struct Dir
{
	_Alignas(64) _Atomic uint64_t generation;	/* 0: free; another one for each shape that it has had */
	_Atomic uint32_t shape_len;
	_Atomic uint32_t n;			/* stretches */
	WcWord		shape[WC_WORDS(SHAPE_MAX)];

	/* written by sessions: ranges whose first rows they have found */
	_Alignas(64) _Atomic uint32_t found;

	/* only the engine uses these */
	uint32_t	found_seen;		/* as `found` was when more were allowed, */
	uint32_t	found_swept;	/* and when a directory was wanted for another shape */
	uint32_t	allowed;
	uint32_t	asked;
} Dir;

struct WcRangeCache
{
	uint64_t	nwords;			/* of the ring */
	uint32_t	ndirs;
	uint32_t	nstretches;		/* that a shape may have */

	/* only the engine uses these */
	uint64_t	head;			/* position of the next stretch */
	uint64_t	generation;		/* the last one given */

	_Alignas(64) _Atomic uint64_t tail; /* stretches before this position may have been overwritten */
	_Atomic uint64_t written[TABLES];	/* the epoch of the last commit that has written to a table */
	atomic_bool used[TABLES];	/* a shape of the table has a directory */
	_Atomic uint64_t hashes[DIRS_MAX];	/* of each directory: the hash of table and shape, */
	_Atomic uint32_t tables[DIRS_MAX];	/* and the table; 0: the directory is free */
	Dir			dirs[];			/* then of each the positions of its stretches, ascending by start; none overlap; then the ring */
};

static uint32_t
dirs_of(uint64_t bytes)
{
	return bytes / BYTES_A_DIR > DIRS_MAX ? DIRS_MAX : (uint32_t) (bytes / BYTES_A_DIR);
}

static uint64_t
words_of(uint64_t bytes)
{
	return dirs_of(bytes) == 0 ? 0 : bytes / sizeof(WcWord) / UNIT * UNIT;
}

static uint32_t
stretches_of(uint64_t bytes)
{
	return bytes / BYTES_A_STRETCH > STRETCHES_MAX ? STRETCHES_MAX : (uint32_t) (bytes / BYTES_A_STRETCH);
}

static size_t
dirs_size(uint32_t ndirs, uint32_t nstretches)
{
	return ndirs * (sizeof(Dir) + nstretches * sizeof(WcWord));
}

size_t
wc_rangecache_size(uint64_t bytes)
{
	return offsetof(WcRangeCache, dirs) + dirs_size(dirs_of(bytes), stretches_of(bytes)) + words_of(bytes) * sizeof(WcWord);
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

static WcWord *
ring_of(const WcRangeCache *cache)
{
	return (WcWord *) ((uintptr_t) cache + offsetof(WcRangeCache, dirs) + dirs_size(cache->ndirs, cache->nstretches));
}

/* --- a stretch's words ------------------------------------------------------------ */

/* The words from a position on to the end of the stretch; none of them is behind the ring's end.  The numbers here have been checked,
 * and are not read again: the words may be overwritten at any time. */
typedef struct View
{
	const WcWord *words;
	uint32_t	n;
	uint32_t	start_len;
	uint32_t	end_len;
	uint32_t	index;			/* where the index begins */
	uint32_t	nrows;
} View;

static inline uint64_t
word(const View *v, size_t at)
{
	return at < v->n ? wc_word_get(v->words + at) : 0;
}

/* False: at this position there is no stretch, or none that can be read. */
static bool
view(const WcRangeCache *cache, uint64_t position, View *v)
{
	uint64_t	at = position % cache->nwords;
	uint64_t	keys;

	v->words = ring_of(cache) + at;
	v->n = LOW(wc_word_get(v->words + AT_SIZE));
	if (position == 0 || v->n < HEAD_WORDS || v->n > cache->nwords - at || wc_word_get(v->words + AT_POSITION) != position)
		return false;
	keys = word(v, AT_KEYS);
	v->start_len = LOW(keys);
	v->end_len = HIGH(keys);
	v->nrows = LOW(word(v, AT_ROWS));
	if (v->start_len > WC_STRETCH_KEY_MAX || v->end_len > WC_STRETCH_KEY_MAX)
		return false;
	v->index = HEAD_WORDS + WC_WORDS(v->start_len) + WC_WORDS(v->end_len);
	return v->index <= v->n && v->nrows / 2 < v->n;
}

/* Where bytes are among a stretch's words. */
typedef struct Bytes
{
	const WcWord *at;
	uint32_t	len;
} Bytes;

static Bytes
start_of(const View *v)
{
	return (Bytes) {v->words + HEAD_WORDS, v->start_len};
}

static Bytes
end_of(const View *v)
{
	return (Bytes) {v->words + HEAD_WORDS + WC_WORDS(v->start_len), v->end_len};
}

/* Key and bytes of the i'th row.  False: the words are being overwritten. */
static bool
row_of(const View *v, uint32_t i, Bytes *key, Bytes *bytes)
{
	uint64_t	pair = word(v, v->index + i / 2);
	uint32_t	at = i % 2 == 0 ? LOW(pair) : HIGH(pair);
	uint64_t	lens = word(v, at);

	if (at >= v->n || (uint64_t) at + 1 + WC_WORDS((uint64_t) LOW(lens)) + WC_WORDS((uint64_t) HIGH(lens)) > v->n)
		return false;
	*key = (Bytes) {v->words + at + 1, LOW(lens)};
	*bytes = (Bytes) {v->words + at + 1 + WC_WORDS(LOW(lens)), HIGH(lens)};
	return true;
}

static int
compare(Bytes a, WcSlice b)
{
	return wc_words_cmp(a.at, a.len, b);
}

/* --- directories ------------------------------------------------------------------- */

static uint64_t
hash_of(uint32_t table_id, WcSlice shape)
{
	return wc_hash_bytes(table_id, shape);
}

static Dir *
dir_of(const WcRangeCache *cache, uint32_t table_id, WcSlice shape, uint64_t *generation)
{
	uint64_t	hash = hash_of(table_id, shape);

	for (uint32_t i = 0; i < cache->ndirs; i++)
	{
		const Dir  *d = &cache->dirs[i];

		if (atomic_load_explicit(&cache->hashes[i], memory_order_relaxed) != hash)
			continue;
		*generation = atomic_load_explicit(&d->generation, memory_order_acquire);
		if (*generation != 0 && atomic_load_explicit(&cache->tables[i], memory_order_relaxed) == table_id &&
			atomic_load_explicit(&d->shape_len, memory_order_relaxed) == shape.len && wc_words_are(d->shape, shape))
			return (Dir *) d;
	}
	return NULL;
}

static inline uint32_t
count_of(const Dir *d)
{
	return atomic_load_explicit(&d->n, memory_order_acquire);
}

static inline WcWord *
positions_of(const WcRangeCache *cache, const Dir *d)
{
	return (WcWord *) &cache->dirs[cache->ndirs] + (size_t) (d - cache->dirs) * cache->nstretches;
}

static inline uint64_t
position_of(const WcRangeCache *cache, const Dir *d, uint32_t i)
{
	return atomic_load_explicit(positions_of(cache, d) + i, memory_order_acquire);
}

static inline void
set_position(const WcRangeCache *cache, const Dir *d, uint32_t i, uint64_t position)
{
	atomic_store_explicit(positions_of(cache, d) + i, position, memory_order_release);
}

/* How many stretches begin at or before the key; before: only those that begin before it.  While the directory changes, a guess. */
static uint32_t
count_before(const WcRangeCache *cache, const Dir *d, WcSlice key, bool before)
{
	uint32_t	low = 0;
	uint32_t	high = count_of(d);

	while (low < high)
	{
		uint32_t	mid = low + (high - low) / 2;
		View		v;

		if (view(cache, position_of(cache, d, mid), &v) && compare(start_of(&v), key) < (before ? 0 : 1))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Is the key before the stretch's end? */
static bool
is_before_end(const View *v, WcSlice key)
{
	Bytes		end = end_of(v);

	return end.len == 0 || compare(end, key) > 0;
}

static bool
is_valid_at(const View *v, int64_t now_us)
{
	return now_us >= (int64_t) word(v, AT_VALID_FROM) && now_us < (int64_t) word(v, AT_VALID_UNTIL);
}

/* --- sessions ------------------------------------------------------------------------ */

/* Where the search for rows has come to: the next rows are from this key on, or behind it (reversed: up to it, or before it). */
typedef struct Search
{
	const WcRangeQuery *query;
	WcBuf	   *out;
	WcSlice		key;			/* empty: from the table's first row on, or from its last */
	bool		inclusive;
	uint64_t	left;			/* rows that may still be found */
	uint8_t		edge[WC_STRETCH_KEY_MAX];	/* the bytes of key, once it is an end of a stretch */
	uint32_t	n;				/* the stretches that have been read */
	uint64_t	positions[FOUND_MAX];
} Search;

/* The stretch that has the key of the search, or would have it. */
static bool
find_stretch(const WcRangeCache *cache, const Dir *d, uint64_t generation, const Search *s, View *v, uint64_t *position)
{
	const WcRangeQuery *q = s->query;
	uint32_t	i;

	if (q->reversed && s->key.len == 0)
		i = count_of(d);
	else
		i = count_before(cache, d, s->key, q->reversed && !s->inclusive);
	if (i == 0)
		return false;
	*position = position_of(cache, d, i - 1);
	if (!view(cache, *position, v) || word(v, AT_GENERATION) != generation || word(v, AT_EPOCH) > q->epoch ||
		!is_valid_at(v, q->now_us))
		return false;
	if (q->reversed && s->key.len == 0)
		return end_of(v).len == 0;
	if (q->reversed && !s->inclusive)
	{
		Bytes		end = end_of(v);

		return compare(start_of(v), s->key) < 0 && (end.len == 0 || compare(end, s->key) >= 0);
	}
	return compare(start_of(v), s->key) <= 0 && is_before_end(v, s->key);
}

/* The number of the stretch's rows that come before the place of the search, in the order of the keys. */
static uint32_t
rows_before(const View *v, const Search *s)
{
	bool		reversed = s->query->reversed;
	uint32_t	low = 0;
	uint32_t	high = v->nrows;

	if (s->key.len == 0)
		return reversed ? high : 0;
	while (low < high)
	{
		uint32_t	mid = low + (high - low) / 2;
		Bytes		key;
		Bytes		bytes;
		int			c;

		if (!row_of(v, mid, &key, &bytes))
			return low;
		c = compare(key, s->key);
		if (c < 0 || (c == 0 && s->inclusive == reversed))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

typedef enum Outcome
{
	FOUND_ALL,
	GO_ON,						/* behind the stretch */
	NOT_FOUND
} Outcome;

/* Is the row beyond the range, as the search goes? */
static bool
is_beyond(const WcRangeQuery *q, Bytes key)
{
	WcSlice		bound = q->reversed ? q->range->start : q->range->stop;
	bool		inclusive = q->reversed ? q->range->start_inclusive : q->range->stop_inclusive;
	int			c;

	if (bound.len == 0)
		return false;
	c = compare(key, bound);
	return c == 0 ? !inclusive : (c < 0) == q->reversed;
}

static Outcome
copy_rows(const View *v, Search *s)
{
	const WcRangeQuery *q = s->query;
	uint32_t	i = rows_before(v, s);

	for (uint32_t n = q->reversed ? i : v->nrows - i; n > 0 && s->left > 0; n--)
	{
		Bytes		key;
		Bytes		bytes;

		if (!row_of(v, q->reversed ? --i : i++, &key, &bytes))
			return NOT_FOUND;
		if (is_beyond(q, key))
			return FOUND_ALL;
		if (s->out->len + bytes.len > WC_RANGECACHE_FOUND_MAX || !wc_words_append(bytes.at, bytes.len, s->out))
			return NOT_FOUND;
		s->left--;
	}
	if (s->left > 0)
		return GO_ON;
	return q->row_limit > 0 ? FOUND_ALL : NOT_FOUND;
}

/* All rows of the stretch have been copied.  Goes on behind it, unless nothing of the range is there. */
static Outcome
go_on(const View *v, Search *s)
{
	const WcRangeQuery *q = s->query;
	Bytes		edge = q->reversed ? start_of(v) : end_of(v);
	WcSlice		bound = q->reversed ? q->range->start : q->range->stop;
	int			c = bound.len == 0 ? (q->reversed ? 1 : -1) : compare(edge, bound);

	/* a stretch has its start, and does not have its end */
	if (edge.len == 0 || (q->reversed ? c <= 0 : c > 0 || (c == 0 && !q->range->stop_inclusive)))
		return FOUND_ALL;
	wc_words_get(edge.at, s->edge, edge.len);
	s->key = wc_slice(s->edge, edge.len);
	s->inclusive = !q->reversed;
	return GO_ON;
}

static Outcome
read_stretch(const WcRangeCache *cache, const Dir *d, uint64_t generation, Search *s)
{
	Outcome		outcome;
	View		v;

	if (s->n == FOUND_MAX || !find_stretch(cache, d, generation, s, &v, &s->positions[s->n]))
		return NOT_FOUND;
	s->n++;
	outcome = copy_rows(&v, s);
	return outcome == GO_ON ? go_on(&v, s) : outcome;
}

/* Were all stretches that have been read what they seemed to be?  All of them at this moment, so that they are one state of the
 * table. */
static bool
were_valid(const WcRangeCache *cache, const Dir *d, uint64_t generation, const Search *s)
{
	uint64_t	tail;

	atomic_thread_fence(memory_order_acquire);
	for (uint32_t i = 0; i < s->n; i++)
	{
		const WcWord *words = ring_of(cache) + s->positions[i] % cache->nwords;
		uint64_t	until = wc_word_get(words + AT_UNTIL);

		if (s->query->epoch == UINT64_MAX ? until != FOR_EVER : until <= s->query->epoch)
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
	Dir		   *d = dir_of(cache, query->table_id, query->shape, &generation);
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
	s.n = 0;
	if (s.key.len == 0)
		s.inclusive = true;
	while (outcome == GO_ON)
		outcome = read_stretch(cache, d, generation, &s);
	if (s.n > 0)
		atomic_fetch_add_explicit(&d->found, 1, memory_order_relaxed);
	if (outcome == FOUND_ALL && were_valid(cache, d, generation, &s))
		return true;
	out->len = len;
	return false;
}

/* --- the engine: directories ---------------------------------------------------------- */

static void
end_stretch(const WcRangeCache *cache, uint64_t position, uint64_t epoch)
{
	atomic_store(ring_of(cache) + position % cache->nwords + AT_UNTIL, epoch);
}

/* Takes n stretches from the i'th on out of the directory. */
static void
take_out(const WcRangeCache *cache, Dir *d, uint32_t i, uint32_t n)
{
	uint32_t	total = atomic_load_explicit(&d->n, memory_order_relaxed);

	for (; i + n < total; i++)
		set_position(cache, d, i, position_of(cache, d, i + n));
	atomic_store_explicit(&d->n, total - n, memory_order_release);
}

static void
put_in(const WcRangeCache *cache, Dir *d, uint32_t i, uint64_t position)
{
	uint32_t	total = atomic_load_explicit(&d->n, memory_order_relaxed);

	for (uint32_t to = total; to > i; to--)
		set_position(cache, d, to, position_of(cache, d, to - 1));
	set_position(cache, d, i, position);
	atomic_store_explicit(&d->n, total + 1, memory_order_release);
}

static void
end_all(const WcRangeCache *cache, Dir *d, uint64_t epoch)
{
	uint32_t	n = count_of(d);

	for (uint32_t i = 0; i < n; i++)
		end_stretch(cache, position_of(cache, d, i), epoch);
	atomic_store_explicit(&d->n, 0, memory_order_release);
}

static void
free_dir(WcRangeCache *cache, uint32_t number)
{
	Dir		   *d = &cache->dirs[number];

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
		Dir		   *d = &cache->dirs[i];
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

static Dir *
make_dir(WcRangeCache *cache, uint32_t table_id, WcSlice shape)
{
	uint32_t	number = free_one(cache);
	Dir		   *d = &cache->dirs[number];

	/* `generation` is 0: a session that reads one of these words does not find the generation that it has read before */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&cache->hashes[number], hash_of(table_id, shape), memory_order_relaxed);
	atomic_store_explicit(&cache->tables[number], table_id, memory_order_relaxed);
	atomic_store_explicit(&d->shape_len, (uint32_t) shape.len, memory_order_relaxed);
	wc_words_put(d->shape, shape);
	d->found_seen = d->found_swept = atomic_load_explicit(&d->found, memory_order_relaxed);
	d->allowed = ALLOWED_FIRST;
	d->asked = 0;
	atomic_store(&d->generation, ++cache->generation);

	/* before wc_rangecache_add reads `written`: a commit that does not see the flag is seen there */
	atomic_store(&cache->used[table_id % TABLES], true);
	return d;
}

bool
wc_rangecache_wants(WcRangeCache *cache, uint32_t table_id, WcSlice shape)
{
	uint64_t	generation;
	Dir		   *d = dir_of(cache, table_id, shape, &generation);
	uint32_t	found;

	if (cache->ndirs == 0 || shape.len > SHAPE_MAX)
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
	const Dir  *d = dir_of(cache, table_id, shape, &generation);
	uint32_t	i = d != NULL ? count_before(cache, d, row, false) : 0;
	View		v;
	Bytes		bytes;

	if (i == 0 || !view(cache, position_of(cache, d, i - 1), &v) || !is_before_end(&v, row) || !is_valid_at(&v, now_us))
		return false;
	bytes = end_of(&v);
	wc_buf_reset(end, WC_STRETCH_KEY_MAX);
	return wc_words_append(bytes.at, bytes.len, end);
}

/* --- the engine: stretches ------------------------------------------------------------ */

/* The directory that has the stretch at this position, and its place there.  NULL: none has it any more. */
static Dir *
dir_with(WcRangeCache *cache, uint64_t position, const View *v, uint32_t *i)
{
	uint32_t	number = HIGH(word(v, AT_SIZE));
	uint8_t		key[WC_STRETCH_KEY_MAX];
	Bytes		start = start_of(v);
	Dir		   *d;

	if (number >= cache->ndirs)
		return NULL;
	d = &cache->dirs[number];
	if (atomic_load_explicit(&d->generation, memory_order_relaxed) != word(v, AT_GENERATION))
		return NULL;
	wc_words_get(start.at, key, start.len);
	*i = count_before(cache, d, wc_slice(key, start.len), true);
	return *i < count_of(d) && position_of(cache, d, *i) == position ? d : NULL;
}

/* Forgets the oldest stretch of the ring. */
static void
drop_oldest(WcRangeCache *cache)
{
	uint64_t	tail = atomic_load_explicit(&cache->tail, memory_order_relaxed);
	uint32_t	size = LOW(wc_word_get(ring_of(cache) + tail % cache->nwords + AT_SIZE));
	View		v;
	uint32_t	i;
	Dir		   *d;

	if (view(cache, tail, &v) && (d = dir_with(cache, tail, &v, &i)) != NULL)
		take_out(cache, d, i, 1);
	atomic_store_explicit(&cache->tail, tail + size, memory_order_relaxed);
}

/* Room for n words in the ring, all in one piece.  What was there is forgotten. */
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
		WcWord	   *filler = ring_of(cache) + cache->head % cache->nwords;

		wc_word_put(filler + AT_POSITION, 0);
		wc_word_put(filler + AT_SIZE, PAIR(rest, FILLER));
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
	uint64_t	n = HEAD_WORDS + WC_WORDS(s->start.len) + WC_WORDS(s->end.len) + ((uint64_t) s->nrows + 1) / 2;

	if (s->start.len > WC_STRETCH_KEY_MAX || s->end.len > WC_STRETCH_KEY_MAX)
		return 0;
	for (uint32_t i = 0; i < s->nrows; i++)
		n += 1 + WC_WORDS(s->rows[i].key.len) + WC_WORDS(s->rows[i].bytes.len);
	n = (n + UNIT - 1) / UNIT * UNIT;
	return n > WC_STRETCH_BYTES_MAX / sizeof(WcWord) || n > cache->nwords / 4 ? 0 : (uint32_t) n;
}

static void
write_stretch(WcRangeCache *cache, const Dir *d, uint64_t position, uint32_t size, const WcStretch *s)
{
	WcWord	   *words = ring_of(cache) + position % cache->nwords;
	WcWord	   *index = words + HEAD_WORDS + WC_WORDS(s->start.len) + WC_WORDS(s->end.len);
	WcWord	   *to = index + (s->nrows + 1) / 2;
	uint64_t	pair = 0;

	wc_word_put(words + AT_POSITION, position);
	wc_word_put(words + AT_SIZE, PAIR(size, d - cache->dirs));
	wc_word_put(words + AT_GENERATION, atomic_load_explicit(&d->generation, memory_order_relaxed));
	wc_word_put(words + AT_EPOCH, s->epoch);
	wc_word_put(words + AT_UNTIL, FOR_EVER);
	wc_word_put(words + AT_VALID_FROM, (uint64_t) s->valid_from_us);
	wc_word_put(words + AT_VALID_UNTIL, (uint64_t) s->valid_until_us);
	wc_word_put(words + AT_ROWS, s->nrows);
	wc_word_put(words + AT_KEYS, PAIR(s->start.len, s->end.len));
	wc_words_put(words + HEAD_WORDS, s->start);
	wc_words_put(words + HEAD_WORDS + WC_WORDS(s->start.len), s->end);
	for (uint32_t i = 0; i < s->nrows; i++)
	{
		const WcStretchRow *row = &s->rows[i];

		pair = i % 2 == 0 ? (uint64_t) (to - words) : pair | (uint64_t) (to - words) << 32;
		wc_word_put(index + i / 2, pair);
		wc_word_put(to, PAIR(row->key.len, row->bytes.len));
		wc_words_put(to + 1, row->key);
		wc_words_put(to + 1 + WC_WORDS(row->key.len), row->bytes);
		to += 1 + WC_WORDS(row->key.len) + WC_WORDS(row->bytes.len);
	}
}

/* Takes out the stretches with which this one overlaps. */
static void
take_out_overlapping(const WcRangeCache *cache, Dir *d, const WcStretch *s, uint64_t now)
{
	uint32_t	first = count_before(cache, d, s->start, true);
	uint32_t	behind = s->end.len == 0 ? count_of(d) : count_before(cache, d, s->end, true);
	View		v;

	if (first > 0 && view(cache, position_of(cache, d, first - 1), &v) && is_before_end(&v, s->start))
		first--;
	for (uint32_t i = first; i < behind; i++)
		end_stretch(cache, position_of(cache, d, i), now + 1);
	if (behind > first)
		take_out(cache, d, first, behind - first);
}

/* Takes out the stretch that was read first. */
static void
take_out_oldest(const WcRangeCache *cache, Dir *d, uint64_t now)
{
	uint32_t	oldest = 0;

	for (uint32_t i = 1; i < count_of(d); i++)
	{
		if (position_of(cache, d, i) < position_of(cache, d, oldest))
			oldest = i;
	}
	end_stretch(cache, position_of(cache, d, oldest), now + 1);
	take_out(cache, d, oldest, 1);
}

bool
wc_rangecache_is_unwritten(const WcRangeCache *cache, uint32_t table_id, uint64_t epoch)
{
	return atomic_load(&cache->written[table_id % TABLES]) <= epoch;
}

bool
wc_rangecache_add(WcRangeCache *cache, uint32_t table_id, WcSlice shape, const WcStretch *stretch, uint64_t now)
{
	uint64_t	generation;
	Dir		   *d = dir_of(cache, table_id, shape, &generation);
	uint32_t	size = size_of(cache, stretch);
	uint64_t	position;

	if (d == NULL || size == 0 || !wc_rangecache_is_unwritten(cache, table_id, stretch->epoch))
		return false;
	position = make_room(cache, size);	/* first: it may take stretches out of the directory */
	take_out_overlapping(cache, d, stretch, now);
	if (count_of(d) == cache->nstretches)
		take_out_oldest(cache, d, now);
	write_stretch(cache, d, position, size, stretch);
	put_in(cache, d, count_before(cache, d, stretch->start, true), position);
	return true;
}

/* --- the engine: commits ---------------------------------------------------------------- */

void
wc_rangecache_reset(WcRangeCache *cache)
{
	for (uint32_t i = 0; i < cache->ndirs; i++)
		free_dir(cache, i);
	for (int i = 0; i < TABLES; i++)
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
	atomic_store(&cache->written[table_id % TABLES], epoch);
	return atomic_load(&cache->used[table_id % TABLES]);
}

bool
wc_rangecache_uses(const WcRangeCache *cache, uint32_t table_id)
{
	return atomic_load_explicit(&cache->used[table_id % TABLES], memory_order_relaxed);
}

void
wc_rangecache_touch_row(WcRangeCache *cache, uint32_t table_id, WcSlice row, uint64_t epoch)
{
	for (uint32_t i = 0; i < cache->ndirs; i++)
	{
		Dir		   *d = &cache->dirs[i];
		uint32_t	at;
		View		v;

		if (atomic_load_explicit(&cache->tables[i], memory_order_relaxed) != table_id)
			continue;
		at = count_before(cache, d, row, false);
		if (at == 0 || !view(cache, position_of(cache, d, at - 1), &v) || !is_before_end(&v, row))
			continue;
		end_stretch(cache, position_of(cache, d, at - 1), epoch);
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
		else if (its != 0 && its % TABLES == table_id % TABLES)
			used = true;
	}
	if (!used)
		atomic_store(&cache->used[table_id % TABLES], false);
}
