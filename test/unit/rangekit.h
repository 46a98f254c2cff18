/*
 * test/unit/rangekit.h: a cache of ranges (wire/shared/rangecache.h) for tests, and text for what is in it.
 *
 * Rows are text: "a=1 b=2" are two rows, whose bytes are "a=1 " and "b=2 ".  So are ranges: "[a,c)" is one without c.
 */
#ifndef WC_TEST_RANGEKIT_H
#define WC_TEST_RANGEKIT_H

#include "enginekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "wire/shared/rangecache.h"

#define TABLE	7
#define OTHER	(TABLE + 1)
#define SHARING (TABLE + 256)	/* it has the same stamp as TABLE */
#define SHAPE	"shape"
#define NOW		1000
#define MIB		((uint64_t) 1 << 20)

static WcRangeCache *cache;
static uint64_t epoch;			/* the current one */
static WcBuf found;

/* What is known of rows that have been written: texts like "b=2", or "b" if there is no row any more. */
static const char *const *known;
static int nasked;				/* how often rows have been asked for */

static inline void
set_up_anew(uint64_t bytes)
{
	size_t		size = (wc_rangecache_size(bytes) + 63) & ~(size_t) 63;

	free(cache);
	cache = aligned_alloc(64, size);
	assert_non_null(cache);
	memset(cache, 0, size);
	assert_ptr_equal(wc_rangecache_init(cache, bytes), cache);
	wc_rangecache_reset(cache);
	epoch = 1;
}

static inline int
set_up(void **state)
{
	seed(state);
	set_up_anew(4 * MIB);
	wc_buf_init(&found, 0);
	known = NULL;
	nasked = 0;
	return 0;
}

static inline int
tear_down(void **state)
{
	(void) state;
	free(cache);
	cache = NULL;
	wc_buf_free(&found);
	return 0;
}

/* Room for the rows of a stretch, and for their text. */
typedef struct Rows
{
	WcStretchRow rows[64];
	char		text[1024];
} Rows;

static inline WcStretch
stretch_of(Rows *r, const char *start, const char *rows, const char *end)
{
	WcStretch	s = {kit_s(start), kit_s(end), r->rows, 0, epoch, 0, INT64_MAX};
	char	   *p = r->text;

	assert_true((size_t) snprintf(r->text, sizeof(r->text), "%s%s", rows, *rows != '\0' ? " " : "") < sizeof(r->text));
	while (*p != '\0')
	{
		size_t		len = strcspn(p, " ") + 1;

		r->rows[s.nrows++] = (WcStretchRow) {wc_slice(p, strcspn(p, "=")), wc_slice(p, len)};
		p += len;
	}
	return s;
}

static inline bool
add_to(uint32_t table, const char *shape, const WcStretch *s)
{
	(void) wc_rangecache_wants(cache, table, kit_s(shape));
	return wc_rangecache_add(cache, table, kit_s(shape), s, epoch);
}

static inline void
keep_of(uint32_t table, const char *shape, const char *start, const char *rows, const char *end)
{
	Rows		r;
	WcStretch	s = stretch_of(&r, start, rows, end);

	assert_true(add_to(table, shape, &s));
}

static inline void
keep(const char *start, const char *rows, const char *end)
{
	keep_of(TABLE, SHAPE, start, rows, end);
}

static inline bool
tell_known(void *arg, WcSlice key, WcBuf *out, uint32_t *n)
{
	(void) arg;
	nasked++;
	for (const char *const *text = known; text != NULL && *text != NULL; text++)
	{
		size_t		len = strlen(*text);

		if (!wc_slice_eq(key, wc_slice(*text, strcspn(*text, "="))))
			continue;
		*n = key.len < len;
		if (*n > 0)
		{
			wc_buf_append(out, *text, len);
			wc_buf_append(out, " ", 1);
		}
		return true;
	}
	return false;
}

static inline WcRangeQuery
query(void)
{
	return (WcRangeQuery) {.table_id = TABLE,.shape = kit_s(SHAPE),.epoch = UINT64_MAX,.now_us = NOW,
		.written_row = known != NULL ? tell_known : NULL};
}

/* The rows that are found; NULL: they are not. */
static inline const char *
look(WcRangeQuery q, const char *range)
{
	size_t		comma = strcspn(range, ",");
	size_t		len = strlen(range);
	WcRange		r = {wc_slice(range + 1, comma - 1), wc_slice(range + comma + 1, len - comma - 2), range[0] == '[',
		range[len - 1] == ']'};

	q.range = &r;
	wc_buf_reset(&found, SIZE_MAX);
	wc_buf_append(&found, "+", 1);
	if (!wc_rangecache_find(cache, &q, &found))
	{
		assert_int_equal(found.len, 1);
		return NULL;
	}
	assert_int_equal(found.data[0], '+');
	wc_buf_append_u8(&found, '\0');
	return (const char *) found.data + 1;
}

/* In the newest state; and then it is also found in the current epoch. */
static inline const char *
find(const char *range)
{
	WcRangeQuery q = query();
	const char *is = look(q, range);
	char	   *copy;

	q.epoch = epoch;
	if (is == NULL)
	{
		assert_null(look(q, range));
		return NULL;
	}
	copy = strdup(is);
	is = look(q, range);
	assert_non_null(is);
	assert_string_equal(is, copy);
	free(copy);
	return is;
}

static inline const char *
find_reversed(const char *range)
{
	WcRangeQuery q = query();

	q.reversed = true;
	return look(q, range);
}

static inline const char *
find_some(const char *range, bool reversed, uint64_t limit)
{
	WcRangeQuery q = query();

	q.reversed = reversed;
	q.row_limit = limit;
	return look(q, range);
}

static inline const char *
find_in(uint64_t in, const char *range)
{
	WcRangeQuery q = query();

	q.epoch = in;
	return look(q, range);
}

static inline const char *
find_at(int64_t now_us, const char *range)
{
	WcRangeQuery q = query();

	q.now_us = now_us;
	return look(q, range);
}

static inline const char *
find_of(uint32_t table, const char *shape, const char *range)
{
	WcRangeQuery q = query();

	q.table_id = table;
	q.shape = kit_s(shape);
	return look(q, range);
}

static inline void
commit_to(uint32_t table, const char *row)
{
	if (wc_rangecache_note(cache, table, epoch + 1))
		wc_rangecache_touch_row(cache, table, kit_s(row), epoch + 1);
	epoch++;
}

static inline void
commit_to_table(uint32_t table)
{
	if (wc_rangecache_note(cache, table, epoch + 1))
		wc_rangecache_touch_table(cache, table, epoch + 1);
	epoch++;
}

/* The end of the stretch that covers the row at this time; NULL: there is none. */
static inline const char *
covering_at(int64_t now_us, const char *row)
{
	static char text[WC_STRETCH_KEY_MAX + 1];
	WcBuf		end = WC_BUF_INIT;
	bool		covers = wc_rangecache_covers(cache, TABLE, kit_s(SHAPE), kit_s(row), now_us, &end);

	if (covers)
	{
		assert_true(end.len < sizeof(text));
		wc_slice_copy(text, wc_buf_slice(&end));
		text[end.len] = '\0';
	}
	wc_buf_free(&end);
	return covers ? text : NULL;
}

static inline const char *
covering(const char *row)
{
	return covering_at(NOW, row);
}

#endif
