/*
 * test/unit/test_rowkey.c: row keys, as rowkey/README specifies them.
 *
 * Mostly properties of random layouts and contents: keys sort as their parts do, splitting returns the composed
 * parts, and start and stop rows include exactly the keys that a filter of every key accepts.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>

#include "random.h"
#include "rowkey/murmur3.h"
#include "rowkey/ordered.h"
#include "base/printable.h"
#include "rowkey/range.h"
#include "rowkey/rowkey.h"

/* --- keys ------------------------------------------------------------------------ */

#define PARTS_MAX 3
#define CONTENT_MAX 4

typedef struct Tuple
{
	uint8_t		room[PARTS_MAX][CONTENT_MAX];
	WcSlice		parts[PARTS_MAX];
	uint8_t		key[64];
	size_t		len;
} Tuple;

static const char *const delimiters[] = {"", "$", "\x01", "\xFF", "ab", "aa", "ba", "cbz", "$\xFF$"};

/* The letters of contents: 0x00, both ends, and the delimiters' own. */
static const char letters[] = "\0\1\xFF" "abc$z";

static void
random_layout(WcKeyLayout *layout, WcPartShape *shapes)
{
	memset(shapes, 0, sizeof(*shapes) * PARTS_MAX);
	memset(layout, 0, sizeof(*layout));
	layout->nparts = 1 + below(PARTS_MAX);
	layout->parts = shapes;
	layout->delimiter = wc_slice_cstr(delimiters[below(sizeof(delimiters) / sizeof(delimiters[0]))]);
	for (uint32_t i = 0; i < layout->nparts; i++)
	{
		WcPartShape *s = &shapes[i];
		bool		last = i + 1 == layout->nparts;

		s->order = WC_ORDER_BYTES;
		switch (below(4))
		{
			case 0:
				s->kind = WC_PART_FIXED;
				s->length = 1 + below(CONTENT_MAX - 1);
				s->padded = below(2) == 0;
				s->desc = below(2) == 0;
				break;
			case 1:
				s->kind = WC_PART_ESCAPED;
				s->desc = below(2) == 0;
				break;
			default:
				if (last)
					s->kind = WC_PART_REST;
				else
					s->kind = layout->delimiter.len > 0 ? WC_PART_DELIMITED : WC_PART_ESCAPED;
				break;
		}
	}
}

static WcSlice
random_content(const WcPartShape *s, uint8_t *room)
{
	WcSlice		c = random_bytes(room, 3, letters, sizeof(letters) - 1);

	if (s->kind == WC_PART_FIXED && !s->padded && below(8) > 0)
	{
		for (uint32_t i = (uint32_t) c.len; i < s->length; i++)
			room[i] = 'a';
		c.len = s->length;
	}
	return c;
}

/* A random key of the layout; false when the contents do not make one. */
static bool
random_tuple(const WcKeyLayout *layout, Tuple *t, WcBuf *buf)
{
	WcError		err;
	WcStatus	status;

	for (uint32_t i = 0; i < layout->nparts; i++)
		t->parts[i] = random_content(&layout->parts[i], t->room[i]);
	wc_buf_reset(buf, 100);
	status = wc_rowkey_compose(layout, t->parts, buf, NULL, &err);
	if (status != WC_OK)
	{
		assert_int_equal(buf->len, 0);
		return false;
	}
	assert_true(buf->len <= sizeof(t->key));
	memcpy(t->key, buf->data, buf->len);
	t->len = buf->len;
	return true;
}

static void
test_compose_and_split(void **test_state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcBuf		scratch = WC_BUF_INIT;
	int			made = 0;

	for (int i = 0; i < 100000; i++)
	{
		WcPartShape shapes[PARTS_MAX];
		WcKeyLayout layout;
		Tuple		t;
		WcSlice		back[PARTS_MAX];
		WcError		err;

		random_layout(&layout, shapes);
		assert_int_equal(wc_rowkey_layout_check(&layout, &err), WC_OK);
		if (!random_tuple(&layout, &t, &buf))
			continue;
		made++;
		assert_int_equal(wc_rowkey_split(&layout, wc_slice(t.key, t.len), &scratch, back, &err), WC_OK);
		for (uint32_t p = 0; p < layout.nparts; p++)
			assert_true(wc_slice_eq(back[p], t.parts[p]));
	}
	assert_true(made > 10000);
	wc_buf_free(&buf);
	wc_buf_free(&scratch);
}

/* Any bytes are either refused or the key of exactly the contents that come out. */
static void
test_split_of_anything(void **test_state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcBuf		scratch = WC_BUF_INIT;
	int			refused = 0;
	int			accepted = 0;

	for (int i = 0; i < 100000; i++)
	{
		WcPartShape shapes[PARTS_MAX];
		WcKeyLayout layout;
		uint8_t		room[10];
		WcSlice		row = random_bytes(room, sizeof(room), letters, sizeof(letters) - 1);
		WcSlice		parts[PARTS_MAX];
		WcError		err;
		uint8_t    *exact = malloc(row.len + 1);	/* so that the sanitizer sees a read behind it */

		memcpy(exact, room, row.len);
		row.data = exact;
		random_layout(&layout, shapes);
		if (wc_rowkey_split(&layout, row, &scratch, parts, &err) != WC_OK)
		{
			assert_int_equal(err.status, WC_BAD_DATA);
			refused++;
		}
		else if (row.len > 0)
		{
			wc_buf_reset(&buf, 100);
			assert_int_equal(wc_rowkey_compose(&layout, parts, &buf, NULL, &err), WC_OK);
			assert_true(wc_slice_eq(wc_buf_slice(&buf), row));
			accepted++;
		}
		free(exact);
	}
	assert_true(refused > 1000 && accepted > 1000);
	wc_buf_free(&buf);
	wc_buf_free(&scratch);
}

/* The first parts of a key alone: the bytes after them are checked only if they are all parts. */
static void
test_split_leading(void **test_state)
{
	static const WcPartShape shapes[] = {
		{WC_PART_FIXED, WC_ORDER_BYTES, false, false, 2},
		{WC_PART_ESCAPED, WC_ORDER_BYTES, false, false, 0},
		{WC_PART_FIXED, WC_ORDER_BYTES, false, false, 4}
	};
	static const bool all[] = {true, true, true};
	WcKeyLayout layout = {.nparts = 3,.parts = shapes};
	WcBuf		scratch = WC_BUF_INIT;
	WcSlice		parts[3];
	WcError		err;

	assert_int_equal(wc_rowkey_split_leading(&layout, wc_slice("abk\0\0?", 6), 2, &scratch, parts, &err), WC_OK);
	assert_true(wc_slice_eq(parts[0], wc_slice_cstr("ab")) && wc_slice_eq(parts[1], wc_slice_cstr("k")));
	assert_int_equal(wc_rowkey_split_leading(&layout, wc_slice("abk\0\0?", 6), 3, &scratch, parts, &err), WC_BAD_DATA);
	assert_int_equal(wc_rowkey_split_leading(&layout, wc_slice("abk", 3), 2, &scratch, parts, &err), WC_BAD_DATA);
	assert_int_equal(wc_rowkey_split_leading(&layout, wc_slice("abk", 3), 1, &scratch, parts, &err), WC_OK);
	assert_int_equal(wc_rowkey_split_leading(&layout, wc_slice("a", 1), 1, &scratch, parts, &err), WC_BAD_DATA);
	assert_int_equal(wc_rowkey_split_leading(&layout, wc_slice("abk\0\0" "12345", 10), 3, &scratch, parts, &err), WC_BAD_DATA);
	assert_int_equal(wc_rowkey_split_leading(&layout, wc_slice("abk\0\0" "1234", 9), 3, &scratch, parts, &err), WC_OK);

	/* salted: which bucket it is in is known when all parts are */
	layout.salt = (WcSalt) {.buckets = 4,.kind = WC_SALT_HASH,.parts = all};
	assert_int_equal(wc_rowkey_split_leading(&layout, wc_slice("\x09" "abk\0\0", 6), 2, &scratch, parts, &err), WC_OK);
	assert_true(wc_slice_eq(parts[0], wc_slice_cstr("ab")) && wc_slice_eq(parts[1], wc_slice_cstr("k")));
	assert_int_equal(wc_rowkey_split_leading(&layout, wc_slice("\x09" "abk\0\0" "1234", 10), 3, &scratch, parts, &err), WC_BAD_DATA);
	wc_buf_free(&scratch);
}

/* A key begins with the prefix of another one if, and only if, their leading parts are the same. */
static void
test_prefix(void **test_state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcBuf		scratch = WC_BUF_INIT;
	int			same = 0;

	for (int round = 0; round < 100000; round++)
	{
		WcPartShape shapes[PARTS_MAX];
		WcKeyLayout layout;
		Tuple		tuples[2];
		WcSlice		parts[PARTS_MAX];
		WcSlice		prefix;
		WcError		err;

		random_layout(&layout, shapes);
		if (!random_tuple(&layout, &tuples[0], &buf) || !random_tuple(&layout, &tuples[1], &buf))
			continue;
		for (uint32_t n = 1; n < layout.nparts; n++)
		{
			bool		equal = true;

			for (uint32_t k = 0; k < n; k++)
				equal = equal && wc_slice_eq(tuples[0].parts[k], tuples[1].parts[k]);
			assert_int_equal(wc_rowkey_prefix(&layout, wc_slice(tuples[0].key, tuples[0].len), n, &scratch, parts, &prefix, &err), WC_OK);
			assert_true(wc_slice_starts_with(wc_slice(tuples[0].key, tuples[0].len), prefix));
			assert_int_equal(wc_slice_starts_with(wc_slice(tuples[1].key, tuples[1].len), prefix), equal);
			same += equal;
		}
	}
	assert_true(same > 1000);
	wc_buf_free(&buf);
	wc_buf_free(&scratch);
}

static void
test_bad_keys(void **test_state)
{
	static const WcPartShape shapes[] = {
		{WC_PART_DELIMITED, WC_ORDER_BYTES, false, false, 0},
		{WC_PART_FIXED, WC_ORDER_BYTES, false, true, 4},
		{WC_PART_REST, WC_ORDER_BYTES, false, false, 0}
	};
	WcKeyLayout layout = {.nparts = 3,.parts = shapes,.delimiter = wc_slice_cstr("$")};
	WcKeyLayout rest = {.nparts = 1,.parts = &shapes[2]};
	WcBuf		buf = WC_BUF_INIT;
	WcError		err;
	uint32_t	bad;
	WcSlice		parts[3] = {wc_slice_cstr("a$b"), wc_slice_cstr("x"), wc_slice_cstr("y")};
	char	   *long_text = malloc(WC_ROW_MAX + 1);

	assert_int_equal(wc_rowkey_compose(&layout, parts, &buf, &bad, &err), WC_INVALID);
	assert_int_equal(bad, 0);
	assert_non_null(strstr(err.message, "delimiter"));

	parts[0] = wc_slice_cstr("a");
	parts[1] = wc_slice_cstr("xxxxx");
	assert_int_equal(wc_rowkey_compose(&layout, parts, &buf, &bad, &err), WC_TOO_LARGE);
	assert_int_equal(bad, 1);
	assert_non_null(strstr(err.message, "5"));
	assert_non_null(strstr(err.message, "4"));

	/* fixed and last parts may hold it */
	parts[1] = wc_slice_cstr("x$");
	parts[2] = wc_slice_cstr("$y");
	assert_int_equal(wc_rowkey_compose(&layout, parts, &buf, &bad, &err), WC_OK);
	assert_true(wc_slice_eq(wc_buf_slice(&buf), wc_slice("a$x$\0\0$$y", 9)));

	wc_buf_reset(&buf, 100);
	parts[0] = wc_slice_cstr("");
	assert_int_equal(wc_rowkey_compose(&rest, parts, &buf, &bad, &err), WC_INVALID);
	assert_int_equal(bad, 1);
	memset(long_text, 'a', WC_ROW_MAX + 1);
	parts[0] = wc_slice(long_text, WC_ROW_MAX + 1);
	assert_int_equal(wc_rowkey_compose(&rest, parts, &buf, &bad, &err), WC_TOO_LARGE);
	assert_int_equal(bad, 1);
	assert_int_equal(buf.len, 0);
	parts[0].len--;
	assert_int_equal(wc_rowkey_compose(&rest, parts, &buf, &bad, &err), WC_OK);
	free(long_text);
	wc_buf_free(&buf);
}

/* How tuples sort: part by part, descending ones the other way round. */
static int
cmp_tuples(const WcKeyLayout *layout, const Tuple *a, const Tuple *b)
{
	for (uint32_t i = 0; i < layout->nparts; i++)
	{
		int			c = sign(wc_slice_cmp(a->parts[i], b->parts[i]));

		if (c != 0)
			return layout->parts[i].desc ? -c : c;
	}
	return 0;
}

static void
test_key_order(void **test_state)
{
	WcBuf		buf = WC_BUF_INIT;

	for (int i = 0; i < 100000; i++)
	{
		WcPartShape shapes[PARTS_MAX];
		WcKeyLayout layout;
		Tuple		a;
		Tuple		b;
		bool		sorts = true;

		random_layout(&layout, shapes);
		for (uint32_t p = 0; p < layout.nparts; p++)
		{
			bool		reversed;

			sorts = wc_rowkey_part_sorts(&layout, p, &reversed) && sorts;
			assert_true(reversed == layout.parts[p].desc);
		}
		if (!sorts || !random_tuple(&layout, &a, &buf) || !random_tuple(&layout, &b, &buf))
			continue;
		assert_int_equal(sign(wc_slice_cmp(wc_slice(a.key, a.len), wc_slice(b.key, b.len))),
						 cmp_tuples(&layout, &a, &b));
	}
	wc_buf_free(&buf);
}

/* --- bounds ----------------------------------------------------------------------- */

static bool
in_range(const WcKeyRange *r, WcSlice key)
{
	return !r->empty && wc_range_contains(&r->range, key);
}

/* Does a comparison with this outcome satisfy op?  above: the value is a little
 * greater than the content it was compared by. */
static bool
satisfies(WcKeyOp op, int c, bool above)
{
	if (above && c == 0)
		c = -1;
	switch (op)
	{
		case WC_KEY_EQ:
			return c == 0;
		case WC_KEY_LT:
			return c < 0;
		case WC_KEY_LE:
			return c <= 0;
		case WC_KEY_GT:
			return c > 0;
		default:
			return c >= 0;
	}
}

/*
 * Random layouts, conditions "parts before are equal, this one op value", and
 * keys near to them; each key against the range.
 */
static void
test_bounds(void **test_state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcArena		arena = WC_ARENA_INIT;
	uint64_t	inside = 0;
	uint64_t	outside = 0;
	uint64_t	widened = 0;

	for (int i = 0; i < 40000; i++)
	{
		WcPartShape shapes[PARTS_MAX];
		WcKeyLayout layout;
		Tuple		condition;
		uint32_t	part;
		WcKeyOp		op = (WcKeyOp) below(6);
		bool		above = op != WC_KEY_PREFIX && below(4) == 0;
		WcInterval	intervals[WC_INTERVALS_MAX];
		int			n;
		WcKeyRange	range = {{{NULL, 0}, {NULL, 0}, false, false}, true, true};
		WcError		err;

		random_layout(&layout, shapes);
		part = below(layout.nparts);
		for (uint32_t p = 0; p <= part; p++)
			condition.parts[p] = random_content(&shapes[p], condition.room[p]);
		n = wc_interval_of_op(WC_ORDER_BYTES, op, above ? WC_FIT_ABOVE : WC_FIT_EXACT, condition.parts[part], intervals);
		assert_true(n == 0 || n == 1);
		if (n == 1)
			assert_int_equal(wc_rowkey_range(&layout, condition.parts, part, &intervals[0], &arena, &range, &err), WC_OK);

		for (int k = 0; k < 60; k++)
		{
			Tuple		t;
			bool		matches = true;
			WcSlice		key;

			if (!random_tuple(&layout, &t, &buf))
				continue;
			/* most keys share the equal parts, else few would come near */
			for (uint32_t p = 0; p < part && below(16) > 0; p++)
				t.parts[p] = condition.parts[p];
			wc_buf_reset(&buf, 100);
			if (wc_rowkey_compose(&layout, t.parts, &buf, NULL, &err) != WC_OK)
				continue;
			key = wc_buf_slice(&buf);
			for (uint32_t p = 0; p < part; p++)
				matches = matches && wc_slice_eq(t.parts[p], condition.parts[p]);
			if (op == WC_KEY_PREFIX)
				matches = matches && wc_slice_starts_with(t.parts[part], condition.parts[part]);
			else
				matches = matches && satisfies(op, wc_slice_cmp(t.parts[part], condition.parts[part]), above);

			if (matches && !in_range(&range, key))
				fail_msg("a row that matches is outside (round %d)", i);
			if (!matches && in_range(&range, key))
			{
				if (range.exact)
					fail_msg("a row that does not match is inside an exact range (round %d)", i);
				widened++;
			}
			inside += matches;
			outside += !matches;
		}
		wc_arena_reset(&arena);
	}
	assert_true(inside > 10000 && outside > 10000);
	/* widening is for delimiters only, and keeps most out */
	assert_true(widened < outside / 10);
	wc_buf_free(&buf);
	wc_arena_free(&arena);
}

/* Two's complement and IEEE contents, ascending and descending. */
static void
test_signed_bounds(void **test_state)
{
	static const float floats[] = {0, 1, -1, 1.5F, -1.5F, INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, 1e-45F, -1e-45F};
	WcArena		arena = WC_ARENA_INIT;

	for (int i = 0; i < 50000; i++)
	{
		WcPartOrder order = below(2) ? WC_ORDER_SIGNED : WC_ORDER_FLOAT;
		WcPartShape shape = {WC_PART_FIXED, (uint8_t) order, below(2) == 0, false, 4};
		WcKeyLayout layout = {.nparts = 1,.parts = &shape};
		WcKeyOp		op = (WcKeyOp) below(5);
		double		v[2];
		uint8_t		content[2][4];
		uint8_t		key[4];
		WcInterval	intervals[WC_INTERVALS_MAX];
		int			n;
		bool		found = false;

		for (int j = 0; j < 2; j++)
		{
			int32_t		number = (int32_t) random_int();
			float		f = floats[below(sizeof(floats) / sizeof(floats[0]))];
			uint32_t	bits;

			memcpy(&bits, &f, 4);
			wc_store_u32(content[j], order == WC_ORDER_SIGNED ? (uint32_t) number : isnan(f) ? 0x7FC00000 : bits);
			v[j] = order == WC_ORDER_SIGNED ? number : (double) f;
		}
		n = wc_interval_of_op(order, op, WC_FIT_EXACT, wc_slice(content[1], 4), intervals);
		assert_true(n >= 1 && n <= 2);
		memcpy(key, content[0], 4);
		if (shape.desc)
			wc_ordered_invert(key, 4);
		for (int j = 0; j < n; j++)
		{
			WcKeyRange	range;
			WcError		err;

			assert_int_equal(wc_rowkey_range(&layout, NULL, 0, &intervals[j], &arena, &range, &err), WC_OK);
			assert_true(range.exact);
			found = found || in_range(&range, wc_slice(key, 4));
		}
		assert_true(found == satisfies(op, cmp_float(v[0], v[1]), false));
		wc_arena_reset(&arena);
	}
	wc_arena_free(&arena);
}

static void
test_fits(void **test_state)
{
	WcInterval	out[WC_INTERVALS_MAX];
	WcSlice		none = {NULL, 0};

	assert_int_equal(wc_interval_of_op(WC_ORDER_BYTES, WC_KEY_LT, WC_FIT_BEFORE_ALL, none, out), 0);
	assert_int_equal(wc_interval_of_op(WC_ORDER_BYTES, WC_KEY_EQ, WC_FIT_BEFORE_ALL, none, out), 0);
	assert_int_equal(wc_interval_of_op(WC_ORDER_SIGNED, WC_KEY_GE, WC_FIT_BEFORE_ALL, none, out), 1);
	assert_false(out[0].has_lo || out[0].has_hi);
	assert_int_equal(wc_interval_of_op(WC_ORDER_BYTES, WC_KEY_GT, WC_FIT_AFTER_ALL, none, out), 0);
	assert_int_equal(wc_interval_of_op(WC_ORDER_BYTES, WC_KEY_LE, WC_FIT_AFTER_ALL, none, out), 1);
	assert_int_equal(wc_interval_of_op(WC_ORDER_BYTES, WC_KEY_EQ, WC_FIT_NEVER, none, out), 0);
	assert_int_equal(wc_interval_of_op(WC_ORDER_BYTES, WC_KEY_LT, WC_FIT_NEVER, none, out), -1);
	assert_int_equal(wc_interval_of_op(WC_ORDER_NONE, WC_KEY_LT, WC_FIT_EXACT, wc_slice_cstr("a"), out), -1);
	assert_int_equal(wc_interval_of_op(WC_ORDER_NONE, WC_KEY_EQ, WC_FIT_EXACT, wc_slice_cstr("a"), out), 1);
	assert_int_equal(wc_interval_of_op(WC_ORDER_BYTES, WC_KEY_EQ, WC_FIT_UNKNOWN, none, out), -1);
}

/* What a user sees in EXPLAIN for the game platform's questions. */
static void
test_bounds_as_printed(void **test_state)
{
	static const WcPartShape shapes[] = {
		{WC_PART_DELIMITED, WC_ORDER_BYTES, false, false, 0},
		{WC_PART_REST, WC_ORDER_BYTES, false, false, 0}
	};
	WcKeyLayout layout = {.nparts = 2,.parts = shapes,.delimiter = wc_slice_cstr("$")};
	WcSlice		equal[2] = {wc_slice_cstr("QQ121102645"), wc_slice_cstr("20141216")};
	WcArena		arena = WC_ARENA_INIT;
	WcInterval	next[WC_INTERVALS_MAX];
	WcKeyRange	r;
	WcError		err;

	assert_int_equal(wc_rowkey_range(&layout, equal, 1, NULL, &arena, &r, &err), WC_OK);
	assert_true(r.exact && !r.empty);
	assert_true(wc_slice_eq(r.range.start, wc_slice_cstr("QQ121102645$")));
	assert_true(wc_slice_eq(r.range.stop, wc_slice_cstr("QQ121102645%")));
	assert_true(r.range.start_inclusive && !r.range.stop_inclusive);

	assert_int_equal(wc_rowkey_range(&layout, equal, 2, NULL, &arena, &r, &err), WC_OK);
	assert_true(wc_slice_eq(r.range.start, wc_slice_cstr("QQ121102645$20141216")));
	assert_true(wc_slice_eq(r.range.stop, r.range.start));
	assert_true(r.range.start_inclusive && r.range.stop_inclusive);

	/* paging on the last part: exclusive start row */
	assert_int_equal(wc_interval_of_op(WC_ORDER_BYTES, WC_KEY_GT, WC_FIT_EXACT, equal[1], next), 1);
	assert_int_equal(wc_rowkey_range(&layout, equal, 1, next, &arena, &r, &err), WC_OK);
	assert_true(r.exact && !r.range.start_inclusive);
	assert_true(wc_slice_eq(r.range.start, wc_slice_cstr("QQ121102645$20141216")));
	assert_true(wc_slice_eq(r.range.stop, wc_slice_cstr("QQ121102645%")));

	/* nothing has a player with the delimiter in it, and no row is empty */
	equal[0] = wc_slice_cstr("QQ$1");
	assert_int_equal(wc_rowkey_range(&layout, equal, 1, NULL, &arena, &r, &err), WC_OK);
	assert_true(r.empty);
	layout.nparts = 1;
	layout.parts = &shapes[1];
	equal[0] = wc_slice_cstr("");
	assert_int_equal(wc_rowkey_range(&layout, equal, 1, NULL, &arena, &r, &err), WC_OK);
	assert_true(r.empty);
	assert_int_equal(wc_interval_of_op(WC_ORDER_BYTES, WC_KEY_LE, WC_FIT_EXACT, equal[0], next), 1);
	assert_int_equal(wc_rowkey_range(&layout, NULL, 0, next, &arena, &r, &err), WC_OK);
	assert_true(r.empty);

	/* no condition: the whole table */
	assert_int_equal(wc_rowkey_range(&layout, NULL, 0, NULL, &arena, &r, &err), WC_OK);
	assert_true(!r.empty && r.range.start.len == 0 && r.range.stop.len == 0);
	wc_arena_free(&arena);
}

/* A constant longer than any row: bounds are cut, rows are still told apart. */
static void
test_long_bounds(void **test_state)
{
	static const WcPartShape shape = {WC_PART_REST, WC_ORDER_BYTES, false, false, 0};
	WcKeyLayout layout = {.nparts = 1,.parts = &shape};
	size_t		n = WC_ROW_MAX + 100;
	char	   *text = malloc(n);
	WcArena		arena = WC_ARENA_INIT;
	WcInterval	next[WC_INTERVALS_MAX];
	WcSlice		content;
	WcSlice		longest;
	WcError		err;

	memset(text, 'a', n);
	content = wc_slice(text, n);
	longest = wc_slice(text, WC_ROW_MAX);
	for (int op = WC_KEY_EQ; op <= WC_KEY_GE; op++)
	{
		WcKeyRange	r;

		assert_int_equal(wc_interval_of_op(WC_ORDER_BYTES, (WcKeyOp) op, WC_FIT_EXACT, content, next), 1);
		assert_int_equal(wc_rowkey_range(&layout, NULL, 0, next, &arena, &r, &err), WC_OK);
		assert_true(r.range.start.len <= WC_ROW_MAX && r.range.stop.len <= WC_ROW_MAX);
		assert_true(in_range(&r, longest) == (op == WC_KEY_LT || op == WC_KEY_LE));
		assert_true(in_range(&r, wc_slice_cstr("b")) == (op == WC_KEY_GT || op == WC_KEY_GE));
	}
	free(text);
	wc_arena_free(&arena);
}

/* --- ranges ------------------------------------------------------------------------ */

static uint32_t
random_ranges(WcRange *ranges, uint8_t (*room)[4], uint32_t max)
{
	uint32_t	n = below(max + 1);

	for (uint32_t i = 0; i < n; i++)
	{
		WcRange		r = {random_bytes(room[i * 2], 2, "\0ab", 3), random_bytes(room[i * 2 + 1], 2, "\0ab", 3),
		below(2) == 0, below(2) == 0};

		ranges[i] = r;
	}
	return n;
}

static bool
in_any(const WcRange *ranges, uint32_t n, WcSlice key)
{
	for (uint32_t i = 0; i < n; i++)
	{
		if (wc_range_contains(&ranges[i], key))
			return true;
	}
	return false;
}

static void
check_normal(const WcRange *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
	{
		assert_false(wc_range_is_empty(&r[i]));
		if (i > 0)
		{
			int			c = wc_slice_cmp(r[i - 1].stop, r[i].start);

			assert_true(r[i - 1].stop.len > 0 && r[i].start.len > 0);
			assert_true(c < 0 || (c == 0 && !r[i - 1].stop_inclusive && !r[i].start_inclusive));
		}
	}
}

static void
test_ranges(void **test_state)
{
	WcArena		arena = WC_ARENA_INIT;

	for (int i = 0; i < 20000; i++)
	{
		WcRange		a[6];
		WcRange		b[6];
		WcRange		before[6];
		uint8_t		room_a[12][4];
		uint8_t		room_b[12][4];
		uint32_t	na = random_ranges(a, room_a, 6);
		uint32_t	nb = random_ranges(b, room_b, 6);
		uint32_t	nbefore = na;
		WcRange    *both;
		uint32_t	nboth;
		WcError		err;

		memcpy(before, a, sizeof(a[0]) * na);
		na = wc_ranges_normalise(a, na);
		nb = wc_ranges_normalise(b, nb);
		check_normal(a, na);
		assert_int_equal(wc_ranges_intersect(a, na, b, nb, &arena, &both, &nboth, &err), WC_OK);
		check_normal(both, nboth);
		for (int k = 0; k < 40; k++)
		{
			uint8_t		room[4];
			WcSlice		key = random_bytes(room, 3, "\0ab", 3);

			if (key.len == 0)
				continue;
			assert_true(in_any(before, nbefore, key) == in_any(a, na, key));
			assert_true(in_any(both, nboth, key) == (in_any(a, na, key) && in_any(b, nb, key)));
		}
		wc_arena_reset(&arena);
	}
	wc_arena_free(&arena);
}

/* --- the rest ----------------------------------------------------------------------- */

static void
test_murmur3(void **test_state)
{
	uint8_t		out[WC_MURMUR3_SIZE];

	/* the reference implementation's results */
	wc_murmur3(wc_slice_cstr(""), 0, out);
	assert_memory_equal(out, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	wc_murmur3(wc_slice_cstr("hello"), 0, out);
	assert_memory_equal(out, "\x02\x9b\xbd\x41\xb3\xa7\xd8\xcb\x19\x1d\xae\x48\x6a\x90\x1e\x5b", 16);
	wc_murmur3(wc_slice_cstr("The quick brown fox jumps over the lazy dog"), 0, out);
	assert_memory_equal(out, "\x6c\x1b\x07\xbc\x7b\xbc\x4b\xe3\x47\x93\x9a\xc4\xa9\x3c\x43\x7a", 16);
}

/* Of bounds of up to 3 bytes, shortened to 2, two ranges have the same keys of up to 2 bytes. */
static void
test_shorter_bounds(void **test_state)
{
	static const char *const bounds[] = {"", "a", "ab", "aba", "abb", "b", "bb", "bba", "c"};
	static const char *const keys[] = {"a", "aa", "ab", "ac", "b", "ba", "bb", "bc", "c", "ca"};

	(void) test_state;
	for (int i = 0; i < 9 * 9 * 9 * 16; i++)
	{
		WcRange		before[2] = {
			{wc_slice_cstr(bounds[i / 16 % 9]), wc_slice_cstr(bounds[i / 16 / 9 % 9]), (i & 1) != 0, (i & 2) != 0},
			{wc_slice_cstr(bounds[i / 16 / 9 % 9]), wc_slice_cstr(bounds[i / 16 / 81]), (i & 4) != 0, (i & 8) != 0}
		};
		WcRange		after[2] = {before[0], before[1]};
		WcScan		scan;

		wc_scan_init(&scan, 1);
		scan.ranges = after;
		scan.nranges = 1 + !wc_range_is_empty(&before[1]);
		wc_scan_shorten_bounds(&scan, 2);
		assert_in_range(scan.nranges, 1, 2);
		for (uint32_t k = 0; k < scan.nranges; k++)
		{
			assert_true(after[k].start.len <= 2 && after[k].stop.len <= 2);
			assert_true(scan.nranges == 1 || !wc_range_is_empty(&after[k]));
		}
		for (int k = 0; k < 10; k++)
		{
			WcSlice		key = wc_slice_cstr(keys[k]);
			int			was = (!wc_range_is_empty(&before[0]) && wc_range_contains(&before[0], key)) +
				(!wc_range_is_empty(&before[1]) && wc_range_contains(&before[1], key));
			int			is = 0;

			for (uint32_t n = 0; n < scan.nranges; n++)
				is += !wc_range_is_empty(&after[n]) && wc_range_contains(&after[n], key);
			assert_int_equal(is, was);
		}
	}
}

static void
test_printable(void **test_state)
{
	char		buf[12];

	assert_string_equal(wc_printable(buf, sizeof(buf), wc_slice("a\0\xFF", 3)), "a\\x00\\xFF");
	assert_string_equal(wc_printable(buf, sizeof(buf), wc_slice("a\\b", 3)), "a\\x5Cb");
	assert_string_equal(wc_printable(buf, sizeof(buf), wc_slice_cstr("12345678901")), "12345678901");
	assert_string_equal(wc_printable(buf, sizeof(buf), wc_slice_cstr("123456789012")), "12345678...");
	assert_string_equal(wc_printable(buf, sizeof(buf), wc_slice("\0\0\0", 3)), "\\x00\\x00...");
	assert_string_equal(wc_printable(buf, sizeof(buf), wc_slice(NULL, 0)), "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_compose_and_split, seed),
		cmocka_unit_test_setup(test_split_of_anything, seed),
		cmocka_unit_test_setup(test_split_leading, seed),
		cmocka_unit_test_setup(test_prefix, seed),
		cmocka_unit_test_setup(test_bad_keys, seed),
		cmocka_unit_test_setup(test_key_order, seed),
		cmocka_unit_test_setup(test_bounds, seed),
		cmocka_unit_test_setup(test_signed_bounds, seed),
		cmocka_unit_test_setup(test_fits, seed),
		cmocka_unit_test_setup(test_bounds_as_printed, seed),
		cmocka_unit_test_setup(test_long_bounds, seed),
		cmocka_unit_test_setup(test_ranges, seed),
		cmocka_unit_test(test_shorter_bounds),
		cmocka_unit_test_setup(test_murmur3, seed),
		cmocka_unit_test_setup(test_printable, seed),
	};

	return cmocka_run_group_tests_name("rowkey", tests, NULL, NULL);
}
