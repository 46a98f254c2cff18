/*
 * wire/shared/rangecachestate.h: the memory of the cache of ranges, for its two sides: sessions (rangecache.c) and the engine
 * (rangecachekeep.c).
 *
 * A session reads all of it while the engine changes it: so a session bounds each number before it uses it, and reads it once.
 */
#ifndef WC_WIRE_SHARED_RANGECACHESTATE_H
#define WC_WIRE_SHARED_RANGECACHESTATE_H

#include <stddef.h>

#include "base/hash.h"
#include "wire/shared/rangecache.h"
#include "wire/shared/words.h"

/* Shapes; and the longest one, in bytes. */
#define WC_STRETCH_DIRS_MAX		64
#define WC_STRETCH_SHAPE_MAX	512

/* Tables share so many stamps and flags, by their ids. */
#define WC_STRETCH_TABLES		256

/* The words of a stretch.  Its size is a multiple of WC_STRETCH_UNIT words, so that a filler at the end of the ring has room for the
 * first two. */
enum
{
	WC_STRETCH_AT_POSITION,	/* in words, since the first stretch: it grows for ever, and is not 0 */
	WC_STRETCH_AT_SIZE,	/* in words, and the directory's number above 32 bits */
	WC_STRETCH_AT_GENERATION,	/* the directory's */
	WC_STRETCH_AT_EPOCH,	/* in which it was read */
	WC_STRETCH_AT_UNTIL,	/* the first epoch in which it may have other rows */
	WC_STRETCH_AT_WRITTEN,	/* number of its rows that have been written since */
	WC_STRETCH_AT_VALID_FROM,
	WC_STRETCH_AT_VALID_UNTIL,
	WC_STRETCH_AT_ROWS,	/* number of rows */
	WC_STRETCH_AT_KEYS,	/* bytes of start, and of end above 32 bits */
	WC_STRETCH_HEAD_WORDS	/* start, end, index (two places of rows a word), rows */
};

/* The words of a row. */
enum
{
	WC_STRETCHROW_AT_LENGTHS,	/* bytes of the key, and of the row above 32 bits */
	WC_STRETCHROW_AT_UNTIL,	/* the first epoch in which it may be different */
	WC_STRETCHROW_HEAD_WORDS	/* key, row */
};

#define WC_STRETCH_UNIT			16
#define WC_STRETCH_FILLER		UINT32_MAX	/* instead of a directory's number */
#define WC_STRETCH_FOR_EVER		UINT64_MAX

#define WC_STRETCH_PAIR(low, high)	((uint64_t) (low) | (uint64_t) (high) << 32)
#define WC_STRETCH_LOW(pair)	((uint32_t) (pair))
#define WC_STRETCH_HIGH(pair)	((uint32_t) ((pair) >> 32))

typedef struct WcStretchDir
{
	_Alignas(64) _Atomic uint64_t generation;	/* 0: free; another one for each shape that it has had */
	_Atomic uint32_t shape_len;
	_Atomic uint32_t n;			/* stretches */
	WcWord		shape[WC_WORDS(WC_STRETCH_SHAPE_MAX)];

	/* written by sessions: ranges whose first rows they have found */
	_Alignas(64) _Atomic uint32_t found;

	/* only the engine uses these */
	uint32_t	found_seen;		/* as `found` was when more were allowed, */
	uint32_t	found_swept;	/* and when a directory was wanted for another shape */
	uint32_t	allowed;
	uint32_t	asked;
} WcStretchDir;

struct WcRangeCache
{
	uint64_t	nwords;			/* of the ring */
	uint32_t	ndirs;
	uint32_t	nstretches;		/* that a shape may have */

	/* only the engine uses these */
	uint64_t	head;			/* position of the next stretch */
	uint64_t	generation;		/* the last one given */

	_Alignas(64) _Atomic uint64_t tail; /* stretches before this position may have been overwritten */
	_Atomic uint64_t written[WC_STRETCH_TABLES];	/* the epoch of the last commit that has written to a table */
	atomic_bool used[WC_STRETCH_TABLES];	/* a shape of the table has a directory */
	_Atomic uint64_t hashes[WC_STRETCH_DIRS_MAX];	/* of each directory: the hash of table and shape, */
	_Atomic uint32_t tables[WC_STRETCH_DIRS_MAX];	/* and the table; 0: the directory is free */
	WcStretchDir dirs[];		/* then of each the positions of its stretches, ascending by start; none overlap; then the ring */
};

/* --- where the parts are ---------------------------------------------------------- */

static inline size_t
wc_stretchdirs_size(uint32_t ndirs, uint32_t nstretches)
{
	return ndirs * (sizeof(WcStretchDir) + nstretches * sizeof(WcWord));
}

static inline WcWord *
wc_stretch_ring(const WcRangeCache *cache)
{
	return (WcWord *) ((uintptr_t) cache + offsetof(WcRangeCache, dirs) + wc_stretchdirs_size(cache->ndirs, cache->nstretches));
}

/* --- a stretch's words ------------------------------------------------------------ */

/* The words from a position on to the end of the stretch; none of them is behind the ring's end.  The numbers here have been checked,
 * and are not read again: the words may be overwritten at any time. */
typedef struct WcStretchView
{
	const WcWord *words;
	uint32_t	n;
	uint32_t	start_len;
	uint32_t	end_len;
	uint32_t	index;			/* where the index begins */
	uint32_t	nrows;
} WcStretchView;

static inline uint64_t
wc_stretch_word(const WcStretchView *v, size_t at)
{
	return at < v->n ? wc_word_get(v->words + at) : 0;
}

/* Where bytes are among a stretch's words. */
typedef struct WcStretchBytes
{
	const WcWord *at;
	uint32_t	len;
} WcStretchBytes;

static inline WcStretchBytes
wc_stretch_start(const WcStretchView *v)
{
	return (WcStretchBytes) {v->words + WC_STRETCH_HEAD_WORDS, v->start_len};
}

static inline WcStretchBytes
wc_stretch_end(const WcStretchView *v)
{
	return (WcStretchBytes) {v->words + WC_STRETCH_HEAD_WORDS + WC_WORDS(v->start_len), v->end_len};
}

/* A row of a stretch. */
typedef struct WcStretchRowView
{
	const WcWord *words;
	WcStretchBytes key;
	WcStretchBytes bytes;
} WcStretchRowView;

/* Looks at the i'th row.  False: the words are being overwritten. */
static inline bool
wc_stretch_row(const WcStretchView *v, uint32_t i, WcStretchRowView *row)
{
	uint64_t	pair = wc_stretch_word(v, v->index + i / 2);
	uint32_t	at = i % 2 == 0 ? WC_STRETCH_LOW(pair) : WC_STRETCH_HIGH(pair);
	uint64_t	lens = wc_stretch_word(v, at);
	uint64_t	key_words = WC_WORDS((uint64_t) WC_STRETCH_LOW(lens));

	if (at >= v->n || at + WC_STRETCHROW_HEAD_WORDS + key_words + WC_WORDS((uint64_t) WC_STRETCH_HIGH(lens)) > v->n)
		return false;
	row->words = v->words + at;
	row->key = (WcStretchBytes) {row->words + WC_STRETCHROW_HEAD_WORDS, WC_STRETCH_LOW(lens)};
	row->bytes = (WcStretchBytes) {row->key.at + key_words, WC_STRETCH_HIGH(lens)};
	return true;
}

static inline int
wc_stretch_cmp(WcStretchBytes a, WcSlice b)
{
	return wc_words_cmp(a.at, a.len, b);
}

/* The number of rows before this key; with_key: and of the row that has it.  While the stretch is overwritten, a guess. */
extern uint32_t wc_stretch_rows_before(const WcStretchView *v, WcSlice key, bool with_key);

/* Looks at the stretch at this position.  False: there is none, or none that can be read. */
extern bool wc_stretch_view(const WcRangeCache *cache, uint64_t position, WcStretchView *v);

/* --- directories ------------------------------------------------------------------- */

static inline uint64_t
wc_stretchdir_hash(uint32_t table_id, WcSlice shape)
{
	return wc_hash_bytes(table_id, shape);
}

static inline uint32_t
wc_stretchdir_count(const WcStretchDir *d)
{
	return atomic_load_explicit(&d->n, memory_order_acquire);
}

static inline WcWord *
wc_stretchdir_positions(const WcRangeCache *cache, const WcStretchDir *d)
{
	return (WcWord *) &cache->dirs[cache->ndirs] + (size_t) (d - cache->dirs) * cache->nstretches;
}

static inline uint64_t
wc_stretchdir_position(const WcRangeCache *cache, const WcStretchDir *d, uint32_t i)
{
	return atomic_load_explicit(wc_stretchdir_positions(cache, d) + i, memory_order_acquire);
}

/* Is the key before the stretch's end? */
static inline bool
wc_stretch_ends_behind(const WcStretchView *v, WcSlice key)
{
	WcStretchBytes end = wc_stretch_end(v);

	return end.len == 0 || wc_stretch_cmp(end, key) > 0;
}

static inline bool
wc_stretch_is_valid_at(const WcStretchView *v, int64_t now_us)
{
	return now_us >= (int64_t) wc_stretch_word(v, WC_STRETCH_AT_VALID_FROM) &&
		now_us < (int64_t) wc_stretch_word(v, WC_STRETCH_AT_VALID_UNTIL);
}

/* The directory of a shape, and its generation; NULL: there is none. */
extern WcStretchDir *wc_stretchdir_find(const WcRangeCache *cache, uint32_t table_id, WcSlice shape, uint64_t *generation);

/* How many stretches begin at or before the key; before: only those that begin before it.  While the directory changes, a guess. */
extern uint32_t wc_stretchdir_count_before(const WcRangeCache *cache, const WcStretchDir *d, WcSlice key, bool before);

#endif
