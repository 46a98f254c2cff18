/*
 * wire/shared/getcache.c: pages of answers, and the epochs in which the answers are valid.
 *
 * A row's hash gives its page and one of the page's stamps: the last epoch in which a row with that stamp may have
 * changed.  A page is a ring: a new answer overwrites the oldest, or an older answer to the same Get.  A writer makes
 * the page's `turn` odd while it writes; a reader copies the answer, and then checks that `turn` is unchanged.  In a
 * page that has been full, only a repeated Get is kept, so that Gets that come once do not push out others.  Heads are
 * separate from the words of their pages, so that a lookup without success reads little memory.
 */
#include "wire/shared/getcache.h"
#include "wire/shared/words.h"

#include <stddef.h>
#include <string.h>

/* A page has room for three of the largest answers, or more.  If pages were smaller, large answers of rows that are read often would push
 * out one another in some pages, while other pages have room. */
#define PAGE_STAMPS		24
#define PAGE_TAGS		128
#define PAGE_WORDS		2048
#define PAGE_ASKED		4

/* The page has been full: new answers overwrite old ones. */
#define PAGE_FULL		0x80000000

/* At most so many of the 64 bits of a word of a page's `asked` are set. */
#define ASKED_MAX		32

/* Of the stamps of rows, one commit sets at most a part: else those of its tables (wc_getcache_wants_rows). */
#define ROWS_PART		12

/* So many stamps of tables; tables share them, by their ids. */
#define TABLE_STAMPS	256

/* A tag: an answer's place in words, their number (the answer may need less), both even, its origin until it is found, and 11 bits
 * of its Get's hash.  0: nothing. */
#define TAG(hash, origin, at, words) \
	((uint32_t) ((hash) >> 53) << 21 | (uint32_t) (origin) << 19 | (uint32_t) (at) / 2 << 9 | (uint32_t) (words) / 2)
#define TAG_ORIGIN_BITS	((uint32_t) 3 << 19)
#define TAG_ORIGIN(tag)	((tag) >> 19 & 3)
#define TAG_HASH(tag)	((tag) >> 21)
#define TAG_AT(tag)		(((tag) >> 9 & 0x3FF) * 2)
#define TAG_WORDS(tag)	(((tag) & 0x1FF) * 2)

/* An answer's words: hash of the Get, epoch, times from and up to which it holds, 40 bits of the row's hash with the lengths of
 * Get and answer (12 bits each), then both, each filled up to a word. */
#define HEAD_WORDS		5
#define LENGTHS(row_hash, get, answer) ((row_hash) << 24 | (uint64_t) (get) << 12 | (uint64_t) (answer))
#define ROW_BITS(lengths)	((lengths) >> 24)
#define GET_LEN(lengths)	((size_t) ((lengths) >> 12 & 0xFFF))
#define ANSWER_LEN(lengths)	((size_t) ((lengths) & 0xFFF))

typedef struct Page
{
	_Alignas(64) _Atomic uint32_t turn; /* odd: the page is being written */
	_Atomic uint32_t next;		/* word at which the next answer goes, and PAGE_FULL */
	_Atomic uint64_t asked[PAGE_ASKED]; /* with PAGE_FULL: bits of Gets that were looked up and not found */
	_Atomic uint64_t stamps[PAGE_STAMPS];
	_Atomic uint32_t tags[PAGE_TAGS];
} Page;

#define PAGE_BYTES	(sizeof(Page) + PAGE_WORDS * sizeof(WcWord))

typedef struct Reader
{
	_Alignas(64) _Atomic uint64_t epochs[WC_GETCACHE_PLACES];	/* 0: the place is free */
	_Atomic uint64_t marks[WC_GETCACHE_PLACES]; /* 0: no other process may enter this epoch */
	_Alignas(64) _Atomic uint64_t hits;	/* in a cache line of their own: commits read the epochs */
	_Atomic uint64_t misses;
} Reader;

struct WcGetCache
{
	uint32_t	nreaders;
	uint32_t	npages;
	_Alignas(64) _Atomic uint64_t begun;	/* epoch of the last commit that began, */
	_Atomic uint64_t now;		/* and of the last that ended */
	_Atomic uint64_t tables[TABLE_STAMPS];
	_Atomic uint32_t found_ahead[TABLE_STAMPS][2];	/* with values, without */
	atomic_bool kept[TABLE_STAMPS]; /* answers were kept since the table was touched (now and then not all are counted) */
	Reader		readers[];		/* then the pages, then their words */
};

_Static_assert(PAGE_WORDS <= 0x400 * 2, "a tag can name each even word");
_Static_assert(WC_GETCACHE_ENTRY_MAX / 8 + HEAD_WORDS + 3 <= 0x1FF * 2, "a tag can have the number of words of each answer");
_Static_assert(WC_GETCACHE_ENTRY_MAX <= 0xFFF, "a word has the lengths");
_Static_assert(WC_GETCACHE_ENTRY_MAX / 8 + HEAD_WORDS + 3 <= PAGE_WORDS / 3, "a page holds three answers at least");

/* --- layout -----------------------------------------------------------------*/

static size_t
pages_at(uint32_t nreaders)
{
	return offsetof(WcGetCache, readers) + nreaders * sizeof(Reader);
}

static uint32_t
pages_of(uint64_t bytes)
{
	uint64_t	n = bytes / PAGE_BYTES;

	return n > UINT32_MAX ? UINT32_MAX : (uint32_t) n;
}

size_t
wc_getcache_size(uint64_t bytes, uint32_t nreaders)
{
	return pages_at(nreaders) + (size_t) pages_of(bytes) * PAGE_BYTES;
}

void *
wc_getcache_atomics(WcGetCache *cache, size_t *len)
{
	*len = pages_at(cache->nreaders) + (size_t) cache->npages * PAGE_BYTES - offsetof(WcGetCache, begun);
	return &cache->begun;
}

WcGetCache *
wc_getcache_init(void *memory, uint64_t bytes, uint32_t nreaders)
{
	WcGetCache *cache = memory;

	cache->nreaders = nreaders;
	cache->npages = pages_of(bytes);
	atomic_init(&cache->begun, 1);
	atomic_init(&cache->now, 1);
	return cache;
}

/* --- hashing ----------------------------------------------------------------*/

static uint64_t
mix(uint64_t h)
{
	h ^= h >> 32;
	h *= UINT64_C(0x9E3779B97F4A7C15);
	h ^= h >> 29;
	return h;
}

static uint64_t
hash(uint64_t seed, WcSlice s)
{
	uint64_t	h = mix(seed + s.len);
	uint64_t	word;

	for (; s.len >= sizeof(word); s.data += sizeof(word), s.len -= sizeof(word))
	{
		memcpy(&word, s.data, sizeof(word));
		h = mix(h ^ word);
	}
	word = 0;
	if (s.len > 0)
		memcpy(&word, s.data, s.len);
	return mix(mix(h ^ word));
}

static Page *
page_of(const WcGetCache *cache, uint64_t row_hash)
{
	Page	   *pages = (Page *) ((uintptr_t) cache + pages_at(cache->nreaders));

	return &pages[(row_hash >> 32) * cache->npages >> 32];
}

static WcWord *
words_of(const WcGetCache *cache, const Page *page)
{
	Page	   *pages = (Page *) ((uintptr_t) cache + pages_at(cache->nreaders));
	WcWord	   *words = (WcWord *) &pages[cache->npages];

	return words + (size_t) (page - pages) * PAGE_WORDS;
}

static _Atomic uint64_t *
stamp_of(Page *page, uint64_t row_hash)
{
	return &page->stamps[(uint32_t) row_hash % PAGE_STAMPS];
}

static uint64_t
row_hash_of(uint32_t table_id, WcSlice row)
{
	return hash(table_id, row);
}

/* The last epoch in which the row may have changed. */
static uint64_t
changed_at(const WcGetCache *cache, Page *page, uint32_t table_id, uint64_t row_hash)
{
	uint64_t	table = atomic_load_explicit(&cache->tables[table_id % TABLE_STAMPS], memory_order_acquire);
	uint64_t	row = atomic_load_explicit(stamp_of(page, row_hash), memory_order_acquire);

	return row > table ? row : table;
}

/* --- readers ----------------------------------------------------------------*/

uint64_t
wc_getcache_enter(WcGetCache *cache, uint32_t reader, uint32_t place)
{
	uint64_t	epoch = atomic_load(&cache->now);

	if (atomic_load(&cache->begun) != epoch)
		return 0;

	/* Written before `begun` is read again: a commit that begins at this moment sees the place, or is seen here. */
	atomic_store(&cache->readers[reader].epochs[place], epoch);
	if (atomic_load(&cache->begun) == epoch)
		return epoch;
	wc_getcache_leave(cache, reader, place);
	return 0;
}

void
wc_getcache_leave(WcGetCache *cache, uint32_t reader, uint32_t place)
{
	Reader	   *r = &cache->readers[reader];

	if (atomic_load_explicit(&r->marks[place], memory_order_relaxed) != 0)
		atomic_store(&r->marks[place], 0);
	atomic_store_explicit(&r->epochs[place], 0, memory_order_release);
}

void
wc_getcache_mark(WcGetCache *cache, uint32_t reader, uint32_t place, uint64_t mark)
{
	atomic_store(&cache->readers[reader].marks[place], mark);
}

uint64_t
wc_getcache_enter_marked(WcGetCache *cache, uint32_t reader, uint32_t place, uint32_t other, uint64_t mark)
{
	const Reader *r = &cache->readers[other];

	for (int i = 0; i < WC_GETCACHE_PLACES; i++)
	{
		uint64_t	epoch;

		if (atomic_load(&r->marks[i]) != mark)
			continue;
		epoch = atomic_load(&r->epochs[i]);
		if (epoch == 0)
			continue;

		/* written before the check: while the other reader is in the epoch, the epoch is kept */
		atomic_store(&cache->readers[reader].epochs[place], epoch);
		if (atomic_load(&r->marks[i]) == mark && atomic_load(&r->epochs[i]) == epoch)
			return epoch;
		wc_getcache_leave(cache, reader, place);
	}
	return 0;
}

/* The words of the answer to which the tag points, if it is valid at now_us; NULL: it is not.  *epoch: the epoch in which it was
 * read. */
static const WcWord *
valid_answer(const WcWord *words, uint32_t tag, int64_t now_us, uint64_t *epoch, uint64_t *lengths)
{
	const WcWord *at = words + TAG_AT(tag);

	/* words that are being overwritten may have any value */
	if (TAG_AT(tag) + TAG_WORDS(tag) > PAGE_WORDS || TAG_WORDS(tag) < HEAD_WORDS)
		return NULL;
	*epoch = wc_word_get(at + 1);
	*lengths = wc_word_get(at + 4);
	if (now_us < (int64_t) wc_word_get(at + 2) || now_us >= (int64_t) wc_word_get(at + 3) ||
		HEAD_WORDS + WC_WORDS(GET_LEN(*lengths)) + WC_WORDS(ANSWER_LEN(*lengths)) > TAG_WORDS(tag))
		return NULL;
	return at;
}

/* Copies the answer to which the tag points, if it is the answer to this Get. */
static bool
copy_answer(const WcWord *words, uint32_t tag, uint64_t get_hash, WcSlice get, int64_t now_us,
			WcBuf *out, uint64_t *epoch)
{
	uint64_t	lengths;
	const WcWord *at = valid_answer(words, tag, now_us, epoch, &lengths);

	return at != NULL && wc_word_get(at) == get_hash && GET_LEN(lengths) == get.len && wc_words_are(at + HEAD_WORDS, get) &&
		wc_words_append(at + HEAD_WORDS + WC_WORDS(get.len), ANSWER_LEN(lengths), out);
}

/* Copies the Get and the answer to which the tag points, if they are probably of this row. */
static bool
copy_both(const WcWord *words, uint32_t tag, uint64_t row_hash, int64_t now_us, WcBuf *get, WcBuf *out, uint64_t *epoch)
{
	uint64_t	lengths;
	const WcWord *at = valid_answer(words, tag, now_us, epoch, &lengths);

	return at != NULL && ROW_BITS(lengths) == ROW_BITS(LENGTHS(row_hash, 0, 0)) &&
		wc_words_append(at + HEAD_WORDS, GET_LEN(lengths), get) &&
		wc_words_append(at + HEAD_WORDS + WC_WORDS(GET_LEN(lengths)), ANSWER_LEN(lengths), out);
}

/* Shall the answer be kept?  Yes if the page has never been full, or the Get was asked for before.  False positives are
 * rare: a word of the bitmap is cleared when half full. */
static bool
is_wanted(Page *page, uint64_t get_hash)
{
	_Atomic uint64_t *word = &page->asked[(get_hash >> 6) % PAGE_ASKED];
	uint64_t	asked = atomic_load_explicit(word, memory_order_relaxed);
	uint64_t	bit = UINT64_C(1) << (get_hash & 63);

	if ((asked & bit) || (atomic_load_explicit(&page->next, memory_order_relaxed) & PAGE_FULL) == 0)
		return true;
	if (__builtin_popcountll(asked) >= ASKED_MAX)
		asked = 0;
	atomic_store_explicit(word, asked | bit, memory_order_relaxed);
	return false;
}

/* Another answer to the same Get may have got the same tag meanwhile: then this one is counted. */
static void
count_ahead(WcGetCache *cache, _Atomic uint32_t *at, uint32_t tag, uint32_t table_id)
{
	if (atomic_compare_exchange_strong_explicit(at, &tag, tag & ~TAG_ORIGIN_BITS, memory_order_relaxed, memory_order_relaxed))
		atomic_fetch_add_explicit(&cache->found_ahead[table_id % TABLE_STAMPS][TAG_ORIGIN(tag) == WC_GET_AHEAD_KEY_ONLY], 1,
								  memory_order_relaxed);
}

/* Was the answer that has been copied valid in the epoch? */
static bool
was_valid(WcGetCache *cache, Page *page, int i, uint32_t tag, uint32_t turn, uint64_t read_at, uint64_t epoch,
		  uint32_t table_id, uint64_t row_hash)
{
	uint64_t	changed;

	atomic_thread_fence(memory_order_acquire);
	changed = changed_at(cache, page, table_id, row_hash);
	if (atomic_load_explicit(&page->turn, memory_order_relaxed) != turn || changed > read_at || changed > epoch)
		return false;
	if (TAG_ORIGIN(tag) != WC_GET_ASKED)
		count_ahead(cache, &page->tags[i], tag, table_id);
	return true;
}

void
wc_getcache_prefetch(const WcGetCache *cache, uint32_t table_id, WcSlice row)
{
	const uint8_t *head;

	if (cache->npages == 0)
		return;
	head = (const uint8_t *) page_of(cache, row_hash_of(table_id, row));
	for (size_t at = 0; at < sizeof(Page); at += 64)
		__builtin_prefetch(head + at);
}

/* The row's page and the Get have these hashes. */
static bool
find_in(WcGetCache *cache, Page *page, uint64_t epoch, uint32_t table_id, uint64_t row_hash, WcSlice get, uint64_t get_hash, int64_t now_us,
		WcBuf *out)
{
	uint32_t	turn = atomic_load_explicit(&page->turn, memory_order_acquire);
	size_t		len = out->len;

	for (int i = 0; i < PAGE_TAGS && turn % 2 == 0; i++)
	{
		uint32_t	tag = atomic_load_explicit(&page->tags[i], memory_order_relaxed);
		uint64_t	read_at;

		if (tag == 0 || TAG_HASH(tag) != TAG_HASH(TAG(get_hash, 0, 0, 0)) ||
			!copy_answer(words_of(cache, page), tag, get_hash, get, now_us, out, &read_at))
			continue;
		if (was_valid(cache, page, i, tag, turn, read_at, epoch, table_id, row_hash))
			return true;
		break;
	}
	out->len = len;
	return false;
}

WcGetFound
wc_getcache_find(WcGetCache *cache, uint64_t epoch, uint32_t table_id, WcSlice row, WcSlice get, int64_t now_us, WcBuf *out)
{
	uint64_t	row_hash = row_hash_of(table_id, row);
	uint64_t	get_hash = hash(row_hash, get);
	Page	   *page;

	if (cache->npages == 0)
		return WC_GET_ABSENT;
	page = page_of(cache, row_hash);
	if (find_in(cache, page, epoch, table_id, row_hash, get, get_hash, now_us, out))
		return WC_GET_FOUND;
	return is_wanted(page, get_hash) ? WC_GET_WANTED : WC_GET_ABSENT;
}

bool
wc_getcache_look(WcGetCache *cache, uint64_t epoch, uint32_t table_id, WcSlice row, WcSlice get, int64_t now_us, WcBuf *out)
{
	uint64_t	row_hash = row_hash_of(table_id, row);

	return cache->npages > 0 &&
		find_in(cache, page_of(cache, row_hash), epoch, table_id, row_hash, get, hash(row_hash, get), now_us, out);
}

/* Numbers of answers grow with their lengths; they are 1 greater than number % PAGE_TAGS says.  Among the row's, finds the greatest number
 * below *number, or of all if that is 0.  False: there is none. */
static bool
longest_below(const Page *page, const WcWord *words, uint64_t row_hash, int64_t now_us, uint32_t *number)
{
	uint32_t	greatest = 0;

	for (uint32_t i = 0; i < PAGE_TAGS; i++)
	{
		uint32_t	tag = atomic_load_explicit(&page->tags[i], memory_order_relaxed);
		uint32_t	this;
		uint64_t	epoch;
		uint64_t	lengths;

		if (tag == 0 || valid_answer(words, tag, now_us, &epoch, &lengths) == NULL ||
			ROW_BITS(lengths) != ROW_BITS(LENGTHS(row_hash, 0, 0)))
			continue;
		this = (uint32_t) ((GET_LEN(lengths) + ANSWER_LEN(lengths)) * PAGE_TAGS + i + 1);
		if (this > greatest && (*number == 0 || this < *number))
			greatest = this;
	}
	*number = greatest;
	return greatest != 0;
}

bool
wc_getcache_find_any(WcGetCache *cache, uint32_t table_id, WcSlice row, int64_t now_us, uint32_t *next, WcBuf *get, WcBuf *out)
{
	uint64_t	row_hash = row_hash_of(table_id, row);
	size_t		get_len = get->len;
	size_t		out_len = out->len;
	Page	   *page;
	uint32_t	turn;

	if (cache->npages == 0)
		return false;
	page = page_of(cache, row_hash);
	turn = atomic_load_explicit(&page->turn, memory_order_acquire);
	while (turn % 2 == 0 && longest_below(page, words_of(cache, page), row_hash, now_us, next))
	{
		uint32_t	i = (*next - 1) % PAGE_TAGS;
		uint32_t	tag = atomic_load_explicit(&page->tags[i], memory_order_relaxed);
		uint64_t	read_at;

		if (tag != 0 && copy_both(words_of(cache, page), tag, row_hash, now_us, get, out, &read_at) &&
			was_valid(cache, page, (int) i, tag, turn, read_at, UINT64_MAX, table_id, row_hash))
			return true;
		get->len = get_len;
		out->len = out_len;
	}
	return false;
}

bool
wc_getcache_is_unchanged(const WcGetCache *cache, uint64_t epoch, uint32_t table_id, WcSlice row)
{
	uint64_t	row_hash = row_hash_of(table_id, row);

	return cache->npages > 0 && changed_at(cache, page_of(cache, row_hash), table_id, row_hash) <= epoch;
}

/* --- counting ---------------------------------------------------------------*/

void
wc_getcache_count(WcGetCache *cache, uint32_t reader, bool found)
{
	Reader	   *r = &cache->readers[reader];

	atomic_fetch_add_explicit(found ? &r->hits : &r->misses, 1, memory_order_relaxed);
}

void
wc_getcache_counts(const WcGetCache *cache, uint64_t *hits, uint64_t *misses)
{
	*hits = *misses = 0;
	for (uint32_t i = 0; i < cache->nreaders; i++)
	{
		*hits += atomic_load_explicit(&cache->readers[i].hits, memory_order_relaxed);
		*misses += atomic_load_explicit(&cache->readers[i].misses, memory_order_relaxed);
	}
}

void
wc_getcache_reset_counts(WcGetCache *cache)
{
	for (uint32_t i = 0; i < cache->nreaders; i++)
	{
		atomic_store_explicit(&cache->readers[i].hits, 0, memory_order_relaxed);
		atomic_store_explicit(&cache->readers[i].misses, 0, memory_order_relaxed);
	}
}

/* --- the engine -------------------------------------------------------------*/

void
wc_getcache_reset(WcGetCache *cache)
{
	uint64_t	epoch = atomic_load(&cache->begun) + 1;

	for (int i = 0; i < TABLE_STAMPS; i++)
		atomic_store(&cache->tables[i], epoch);
	atomic_store(&cache->begun, epoch);
	atomic_store(&cache->now, epoch);
}

uint64_t
wc_getcache_epoch(const WcGetCache *cache)
{
	return atomic_load(&cache->now);
}

bool
wc_getcache_is_now(const WcGetCache *cache, uint64_t epoch)
{
	return atomic_load(&cache->begun) == epoch && atomic_load(&cache->now) == epoch;
}

bool
wc_getcache_reads(const WcGetCache *cache, uint32_t reader, uint64_t epoch)
{
	for (int place = 0; reader < cache->nreaders && place < WC_GETCACHE_PLACES; place++)
	{
		if (atomic_load(&cache->readers[reader].epochs[place]) == epoch)
			return true;
	}
	return false;
}

bool
wc_getcache_is_read(const WcGetCache *cache, uint64_t epoch)
{
	for (uint32_t i = 0; i < cache->nreaders; i++)
	{
		if (wc_getcache_reads(cache, i, epoch))
			return true;
	}
	return false;
}

uint32_t
wc_getcache_places(const WcGetCache *cache)
{
	return cache->nreaders * WC_GETCACHE_PLACES;
}

uint32_t
wc_getcache_epochs_read(const WcGetCache *cache, uint64_t *epochs)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < cache->nreaders; i++)
	{
		for (int place = 0; place < WC_GETCACHE_PLACES; place++)
		{
			epochs[n] = atomic_load(&cache->readers[i].epochs[place]);
			n += epochs[n] != 0;
		}
	}
	return n;
}

/* The place of an older answer to this Get, if it has *n words or more, which *n becomes; PAGE_WORDS: there is none. */
static size_t
place_of(const Page *page, const WcWord *words, uint64_t get_hash, size_t *n)
{
	for (int i = 0; i < PAGE_TAGS; i++)
	{
		uint32_t	tag = atomic_load_explicit(&page->tags[i], memory_order_relaxed);

		if (tag != 0 && TAG_HASH(tag) == TAG_HASH(TAG(get_hash, 0, 0, 0)) && TAG_WORDS(tag) >= *n &&
			wc_word_get(words + TAG_AT(tag)) == get_hash)
		{
			*n = TAG_WORDS(tag);
			return TAG_AT(tag);
		}
	}
	return PAGE_WORDS;
}

/* The page's next n words. */
static size_t
take_next(Page *page, size_t n)
{
	uint32_t	next = atomic_load_explicit(&page->next, memory_order_relaxed);
	uint32_t	full = next & PAGE_FULL;
	size_t		at = next & ~PAGE_FULL;

	if (at + n > PAGE_WORDS)
	{
		at = 0;
		full = PAGE_FULL;
	}
	atomic_store_explicit(&page->next, (uint32_t) (at + n) | full, memory_order_relaxed);
	return at;
}

/* Makes room for n words from `at` on: removes the answers that they overwrite, and an older answer to the same Get.
 * Returns the number of a tag that may be overwritten. */
static int
make_room(Page *page, const WcWord *words, size_t at, size_t n, uint64_t get_hash)
{
	int			room = -1;
	int			next = 0;		/* the tag of the answer that is overwritten next */
	size_t		distance = SIZE_MAX;

	for (int i = 0; i < PAGE_TAGS; i++)
	{
		uint32_t	tag = atomic_load_explicit(&page->tags[i], memory_order_relaxed);
		size_t		begin = TAG_AT(tag);
		size_t		ahead = begin >= at ? begin - at : begin + PAGE_WORDS - at;

		if (tag != 0 && ((begin < at + n && at < begin + TAG_WORDS(tag)) ||
						 (TAG_HASH(tag) == TAG_HASH(TAG(get_hash, 0, 0, 0)) && wc_word_get(words + begin) == get_hash)))
		{
			atomic_store_explicit(&page->tags[i], 0, memory_order_relaxed);
			tag = 0;
		}
		if (tag == 0)
			room = i;
		else if (ahead < distance)
		{
			distance = ahead;
			next = i;
		}
	}
	return room >= 0 ? room : next;
}

bool
wc_getcache_has_room(const WcGetCache *cache, uint32_t table_id, WcSlice row)
{
	return cache->npages > 0 &&
		(atomic_load_explicit(&page_of(cache, row_hash_of(table_id, row))->next, memory_order_relaxed) & PAGE_FULL) == 0;
}

bool
wc_getcache_has(const WcGetCache *cache, uint64_t epoch, uint32_t table_id, WcSlice row, WcSlice get)
{
	uint64_t	row_hash = row_hash_of(table_id, row);
	uint64_t	get_hash = hash(row_hash, get);
	size_t		n = 0;
	Page	   *page;
	const WcWord *words;
	size_t		at;

	if (cache->npages == 0)
		return false;
	page = page_of(cache, row_hash);
	words = words_of(cache, page);
	at = place_of(page, words, get_hash, &n);
	return at != PAGE_WORDS && changed_at(cache, page, table_id, row_hash) <= wc_word_get(words + at + 1) &&
		wc_word_get(words + at + 1) <= epoch;
}

void
wc_getcache_add(WcGetCache *cache, WcGetOrigin origin, uint64_t epoch, uint32_t table_id, WcSlice row, WcSlice get,
				WcSlice answer, int64_t valid_from_us, int64_t valid_until_us)
{
	uint64_t	row_hash = row_hash_of(table_id, row);
	uint64_t	get_hash = hash(row_hash, get);
	size_t		n = (HEAD_WORDS + WC_WORDS(get.len) + WC_WORDS(answer.len) + 1) & ~(size_t) 1;
	Page	   *page;
	WcWord	   *words;
	uint32_t	turn;
	size_t		at;
	int			tag;

	if (cache->npages == 0 || get.len + answer.len > WC_GETCACHE_ENTRY_MAX)
		return;
	page = page_of(cache, row_hash);
	turn = atomic_load_explicit(&page->turn, memory_order_relaxed);
	if (changed_at(cache, page, table_id, row_hash) > epoch || turn % 2 == 1 ||
		!atomic_compare_exchange_strong_explicit(&page->turn, &turn, turn + 1,
												 memory_order_acquire, memory_order_relaxed))
		return;
	atomic_thread_fence(memory_order_release);
	if (!atomic_load_explicit(&cache->kept[table_id % TABLE_STAMPS], memory_order_relaxed))
		atomic_store_explicit(&cache->kept[table_id % TABLE_STAMPS], true, memory_order_relaxed);

	words = words_of(cache, page);
	at = place_of(page, words, get_hash, &n);
	if (at == PAGE_WORDS && origin == WC_GET_LEFT && (atomic_load_explicit(&page->next, memory_order_relaxed) & PAGE_FULL) != 0)
	{
		atomic_store_explicit(&page->turn, turn + 2, memory_order_release);
		return;
	}
	if (at == PAGE_WORDS)
		at = take_next(page, n);
	tag = make_room(page, words, at, n, get_hash);
	wc_word_put(words + at, get_hash);
	wc_word_put(words + at + 1, epoch);
	wc_word_put(words + at + 2, (uint64_t) valid_from_us);
	wc_word_put(words + at + 3, (uint64_t) valid_until_us);
	wc_word_put(words + at + 4, LENGTHS(row_hash, get.len, answer.len));
	wc_words_put(words + at + HEAD_WORDS, get);
	wc_words_put(words + at + HEAD_WORDS + WC_WORDS(get.len), answer);
	atomic_store_explicit(&page->tags[tag], TAG(get_hash, origin == WC_GET_LEFT ? WC_GET_ASKED : origin, at, n),
						  memory_order_relaxed);
	atomic_store_explicit(&page->turn, turn + 2, memory_order_release);
}

uint32_t
wc_getcache_found_ahead(const WcGetCache *cache, uint32_t table_id, WcGetOrigin origin)
{
	return atomic_load_explicit(&cache->found_ahead[table_id % TABLE_STAMPS][origin == WC_GET_AHEAD_KEY_ONLY],
								memory_order_relaxed);
}

void
wc_getcache_touch_row(WcGetCache *cache, uint32_t table_id, WcSlice row)
{
	uint64_t	row_hash = row_hash_of(table_id, row);
	uint64_t	next = atomic_load(&cache->now) + 1;

	if (cache->npages > 0)
		atomic_store(stamp_of(page_of(cache, row_hash), row_hash), next);
}

void
wc_getcache_touch_table(WcGetCache *cache, uint32_t table_id)
{
	atomic_store(&cache->tables[table_id % TABLE_STAMPS], atomic_load(&cache->now) + 1);
	atomic_store_explicit(&cache->kept[table_id % TABLE_STAMPS], false, memory_order_relaxed);
}

bool
wc_getcache_wants_rows(const WcGetCache *cache, uint32_t table_id, uint64_t nrows)
{
	return nrows <= (uint64_t) cache->npages * PAGE_STAMPS / ROWS_PART &&
		atomic_load_explicit(&cache->kept[table_id % TABLE_STAMPS], memory_order_relaxed);
}

void
wc_getcache_begin(WcGetCache *cache)
{
	atomic_store(&cache->begun, atomic_load(&cache->now) + 1);
}

void
wc_getcache_end(WcGetCache *cache)
{
	atomic_store(&cache->now, atomic_load(&cache->begun));
}
