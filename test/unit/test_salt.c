/*
 * test/unit/test_salt.c: salted keys: their bytes, their buckets, their ranges.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/coding.h"
#include "base/limits.h"
#include "random.h"
#include "rowkey/ordered.h"
#include "rowkey/rowkey.h"

#define NPARTS 3
#define MINUTE_US INT64_C(60000000)

static const WcPartShape shapes[NPARTS] = {
	{WC_PART_ESCAPED, WC_ORDER_BYTES, false, false, 0},
	{WC_PART_FIXED, WC_ORDER_BYTES, true, false, 8},
	{WC_PART_REST, WC_ORDER_BYTES, false, false, 0}
};

/* An escaped text, a descending timestamp, the rest. */
static WcKeyLayout
layout_salted(WcSaltKind kind, uint32_t buckets, const bool *parts)
{
	WcKeyLayout layout = {.nparts = NPARTS,.parts = shapes};

	layout.salt.buckets = buckets;
	layout.salt.kind = (uint8_t) kind;
	layout.salt.parts = parts;
	layout.salt.per_minute = MINUTE_US;
	return layout;
}

typedef struct Key
{
	uint8_t		room[NPARTS][8];
	WcSlice		parts[NPARTS];
} Key;

static void
random_key(Key *key)
{
	key->parts[0] = wc_slice(key->room[0], below(4));
	for (size_t i = 0; i < key->parts[0].len; i++)
		key->room[0][i] = (uint8_t) (below(4) == 0 ? 0 : below(256));
	wc_ordered_store_i64(key->room[1], random_int());
	key->parts[1] = wc_slice(key->room[1], 8);
	key->parts[2] = wc_slice(key->room[2], below(4));
	for (size_t i = 0; i < key->parts[2].len; i++)
		key->room[2][i] = (uint8_t) below(256);
}

/* Later versions must find stored rows: the hash must not change. */
static void
test_stored_buckets(void **test_state)
{
	static const bool all[NPARTS] = {true, true, true};
	static const bool first[NPARTS] = {true, false, false};
	static const bool time[NPARTS] = {false, true, false};
	WcSlice		parts[NPARTS] = {wc_slice_cstr("foo0001"), wc_slice("\x80\0\0\0\0\0\0\0", 8), wc_slice_cstr("x")};
	WcKeyLayout layout = layout_salted(WC_SALT_HASH, 256, first);
	uint32_t	bucket;

	(void) test_state;
	/* reckoned by another implementation of murmur3 */
	assert_true(wc_salt_bucket(&layout.salt, parts, NPARTS, &bucket));
	assert_int_equal(bucket, 176);
	layout.salt.buckets = 16;
	assert_true(wc_salt_bucket(&layout.salt, parts, NPARTS, &bucket));
	assert_int_equal(bucket, 0);
	layout.salt.buckets = 100;
	assert_true(wc_salt_bucket(&layout.salt, parts, NPARTS, &bucket));
	assert_int_equal(bucket, 16);
	layout = layout_salted(WC_SALT_HASH, 256, all);
	assert_true(wc_salt_bucket(&layout.salt, parts, NPARTS, &bucket));
	assert_int_equal(bucket, 145);

	layout = layout_salted(WC_SALT_MINUTE, 60, time);
	assert_true(wc_salt_bucket(&layout.salt, parts, NPARTS, &bucket));
	assert_int_equal(bucket, 0);
}

/* Minutes before 2000 too, in both forms of a timestamp. */
static void
test_minutes(void **test_state)
{
	static const struct
	{
		int64_t		at;
		bool		found;
		int64_t		minute;
		uint32_t	of_60;
		uint32_t	of_7;
	}			cases[] = {
		{0, true, 0, 0, 0},
		{59999999, true, 0, 0, 0},
		{60000000, true, 1, 1, 1},
		{-1, true, -1, 59, 59 % 7},
		{-60000000, true, -1, 59, 59 % 7},
		{-60000001, true, -2, 58, 58 % 7},
		{INT64_C(3600000000), true, 60, 0, 0},
		{INT64_C(3599999999), true, 59, 59, 59 % 7},
		{INT64_MAX, false, 0, 0, 0},
		{INT64_MIN, false, 0, 0, 0},
		{INT64_MIN + 1, true, -INT64_C(153722867281), 59, 59 % 7}
	};
	static const bool only[1] = {true};

	(void) test_state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		for (int form = 0; form < 2; form++)
		{
			WcSalt		salt = {60, WC_SALT_MINUTE, only, form == 1, MINUTE_US};
			uint8_t		content[8];
			WcSlice		part = wc_slice(content, 8);
			int64_t		minute;
			uint32_t	bucket;

			if (form == 1)
				wc_store_u64(content, (uint64_t) cases[i].at);
			else
				wc_ordered_store_i64(content, cases[i].at);
			assert_int_equal(wc_salt_minute(&salt, part, &minute), cases[i].found);
			assert_int_equal(wc_salt_bucket(&salt, &part, 1, &bucket), cases[i].found);
			if (!cases[i].found)
				continue;
			assert_true(minute == cases[i].minute);
			assert_int_equal(bucket, cases[i].of_60);
			salt.buckets = 7;
			assert_true(wc_salt_bucket(&salt, &part, 1, &bucket));
			assert_int_equal(bucket, cases[i].of_7);
		}
	}
}

static void
test_sets_of_minutes(void **test_state)
{
	static const bool only[1] = {true};

	(void) test_state;
	for (int i = 0; i < 5000; i++)
	{
		WcSalt		salt = {1 + below(60), WC_SALT_MINUTE, only, false, MINUTE_US};
		int64_t		first = (int64_t) below(400) - 200;
		int64_t		last = first - 5 + below(100);
		WcBucketSet set = {{0}};
		WcBucketSet want = {{0}};

		wc_bucketset_add_minutes(&set, &salt, first, last);
		for (int64_t m = first; m <= last; m++)
			wc_bucketset_add(&want, (uint32_t) ((m + 600) % 60) % salt.buckets);
		assert_memory_equal(&set, &want, sizeof(set));
	}
	{
		WcSalt		salt = {60, WC_SALT_MINUTE, only, false, MINUTE_US};
		WcBucketSet set = {{0}};

		wc_bucketset_add_minutes(&set, &salt, INT64_MIN / MINUTE_US - 1, INT64_MAX / MINUTE_US);
		assert_int_equal(wc_bucketset_count(&set), 60);
	}
}

static void
test_round_trip(void **test_state)
{
	static const bool choices[][NPARTS] = {{true, true, true}, {true, false, false}, {false, true, false}, {true, false, true}};
	WcBuf		buf = WC_BUF_INIT;
	WcBuf		plain = WC_BUF_INIT;
	WcBuf		scratch = WC_BUF_INIT;
	uint32_t	seen[8] = {0};
	WcError		err;

	(void) test_state;
	for (int i = 0; i < 20000; i++)
	{
		bool		minute = below(4) == 0;
		WcKeyLayout layout = layout_salted(minute ? WC_SALT_MINUTE : WC_SALT_HASH, 8,
										   choices[minute ? 2 : below(4)]);
		WcKeyLayout unsalted = {.nparts = NPARTS,.parts = shapes};
		Key			key;
		WcSlice		back[NPARTS];
		WcSlice		row;
		uint32_t	bucket;
		int64_t		at;
		uint32_t	bad;

		random_key(&key);
		wc_buf_reset(&buf, 100);
		wc_buf_reset(&plain, 100);
		at = wc_ordered_load_i64(key.room[1]);
		if (minute && (at == INT64_MIN || at == INT64_MAX))
		{
			assert_int_equal(wc_rowkey_compose(&layout, key.parts, &buf, &bad, &err), WC_INVALID);
			assert_int_equal(bad, NPARTS);
			assert_int_equal(buf.len, 0);
			continue;
		}
		assert_int_equal(wc_rowkey_compose(&layout, key.parts, &buf, NULL, &err), WC_OK);
		assert_int_equal(wc_rowkey_compose(&unsalted, key.parts, &plain, NULL, &err), WC_OK);
		row = wc_buf_slice(&buf);
		assert_true(wc_salt_bucket(&layout.salt, key.parts, NPARTS, &bucket));
		assert_int_equal(row.data[0], bucket);
		assert_true(wc_slice_eq(wc_slice(row.data + 1, row.len - 1), wc_buf_slice(&plain)));
		seen[bucket]++;
		assert_int_equal(wc_rowkey_split(&layout, row, &scratch, back, &err), WC_OK);
		for (int p = 0; p < NPARTS; p++)
			assert_true(wc_slice_eq(back[p], key.parts[p]));

		/* in any other bucket it is no key */
		buf.data[0] = (uint8_t) (bucket + 1 + below(255));
		assert_int_equal(wc_rowkey_split(&layout, row, &scratch, back, &err), WC_BAD_DATA);
	}
	for (int i = 0; i < 8; i++)
		assert_true(seen[i] > 1500);
	wc_buf_free(&buf);
	wc_buf_free(&plain);
	wc_buf_free(&scratch);
}

static void
test_bad_keys(void **test_state)
{
	static const WcPartShape rest = {WC_PART_REST, WC_ORDER_BYTES, false, false, 0};
	static const bool only[1] = {true};
	static const bool none[1] = {false};
	WcKeyLayout layout = {.nparts = 1,.parts = &rest,.salt = {4, WC_SALT_HASH, only, false, 0}};
	char	   *text = malloc(WC_ROW_MAX);
	WcBuf		buf = WC_BUF_INIT;
	WcBuf		scratch = WC_BUF_INIT;
	WcSlice		part = {NULL, 0};
	WcError		err;

	(void) test_state;
	assert_int_equal(wc_rowkey_layout_check(&layout, &err), WC_OK);
	layout.salt.buckets = WC_SALT_BUCKETS_MAX + 1;
	assert_int_equal(wc_rowkey_layout_check(&layout, &err), WC_INVALID);
	layout.salt.buckets = 4;
	layout.salt.parts = none;
	assert_int_equal(wc_rowkey_layout_check(&layout, &err), WC_INVALID);
	layout.salt.parts = only;

	/* the salt alone is no key, and counts for the length */
	wc_buf_reset(&buf, WC_ROW_MAX + 1);
	assert_int_equal(wc_rowkey_compose(&layout, &part, &buf, NULL, &err), WC_INVALID);
	assert_int_equal(buf.len, 0);
	assert_int_equal(wc_rowkey_split(&layout, wc_slice("\0", 1), &scratch, &part, &err), WC_BAD_DATA);
	assert_int_equal(wc_rowkey_split(&layout, wc_slice("", 0), &scratch, &part, &err), WC_BAD_DATA);
	memset(text, 'a', WC_ROW_MAX);
	part = wc_slice(text, WC_ROW_MAX);
	assert_int_equal(wc_rowkey_compose(&layout, &part, &buf, NULL, &err), WC_TOO_LARGE);
	part.len--;
	assert_int_equal(wc_rowkey_compose(&layout, &part, &buf, NULL, &err), WC_OK);
	free(text);
	wc_buf_free(&buf);
	wc_buf_free(&scratch);
}

/* A salted row is in the bucket's range if the row without its salt is in the range. */
static void
test_ranges(void **test_state)
{
	static const uint32_t buckets[] = {0, 1, 7, 254, 255};
	WcArena		arena = WC_ARENA_INIT;
	WcError		err;

	(void) test_state;
	for (int i = 0; i < 20000; i++)
	{
		uint8_t		room[3][5];
		WcRange		behind;
		WcRange		range;
		uint32_t	bucket = buckets[below(5)];

		for (int k = 0; k < 2; k++)
			for (int at = 0; at < 4; at++)
				room[k][at] = (uint8_t) (below(3) == 0 ? 0xFF : below(3));
		behind = (WcRange) {wc_slice(room[0], below(4)), wc_slice(room[1], below(4)), below(2) == 0, below(2) == 0};
		assert_int_equal(wc_salt_range(&behind, bucket, &arena, &range, &err), WC_OK);
		for (int k = 0; k < 20; k++)
		{
			WcSlice		row = wc_slice(room[2], 2 + below(3));
			bool		want;

			room[2][0] = (uint8_t) buckets[below(5)];
			for (int at = 1; at < 5; at++)
				room[2][at] = (uint8_t) (below(3) == 0 ? 0xFF : below(3));
			want = room[2][0] == bucket && wc_range_contains(&behind, wc_slice(room[2] + 1, row.len - 1));
			assert_int_equal(wc_range_contains(&range, row), want);
		}
		wc_arena_reset(&arena);
	}
	wc_arena_free(&arena);
}

/* Bounds as long as a row are too long behind a salt. */
static void
test_long_bounds(void **test_state)
{
	char	   *text = malloc(WC_ROW_MAX);
	char	   *longest = malloc(WC_ROW_MAX);
	WcSlice		bound = wc_slice(text, WC_ROW_MAX);
	WcSlice		row = wc_slice(longest, WC_ROW_MAX);
	WcArena		arena = WC_ARENA_INIT;
	WcRange		range;
	WcError		err;

	(void) test_state;
	memset(text, 'a', WC_ROW_MAX);
	memset(longest, 'a', WC_ROW_MAX);
	longest[0] = 3;
	assert_int_equal(wc_salt_range(&(WcRange) {bound, {NULL, 0}, true, true}, 3, &arena, &range, &err), WC_OK);
	assert_int_equal(range.start.len, WC_ROW_MAX);
	assert_false(wc_range_contains(&range, row));
	assert_int_equal(wc_salt_range(&(WcRange) {{NULL, 0}, bound, true, false}, 3, &arena, &range, &err), WC_OK);
	assert_int_equal(range.stop.len, WC_ROW_MAX);
	assert_true(wc_range_contains(&range, row));
	/* a row that cannot be */
	assert_int_equal(wc_salt_range(&(WcRange) {bound, bound, true, true}, 3, &arena, &range, &err), WC_OK);
	assert_true(wc_range_is_empty(&range));
	free(text);
	free(longest);
	wc_arena_free(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stored_buckets),
		cmocka_unit_test(test_minutes),
		cmocka_unit_test(test_sets_of_minutes),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_bad_keys),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_long_bounds)
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
