/*
 * test/unit/test_keycheck.c: the engine decides which row keys a foreign table can read.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/limits.h"
#include "mangle.h"
#include "rowkey/keycheck.h"
#include "rowkey/ordered.h"

/* One part, which is the whole key. */
static bool
reads_one(WcPartKind kind, uint32_t length, bool desc, WcContentCheck content, const void *key, size_t len)
{
	WcPartShape shape = {kind, WC_ORDER_BYTES, desc, false, length};
	WcKeyCheck	check = {.layout = {.nparts = 1,.parts = &shape},.contents = &content};
	WcBuf		scratch = WC_BUF_INIT;
	WcSlice		part;
	bool		reads = wc_keycheck_reads(&check, wc_slice(key, len), &scratch, &part);

	wc_buf_free(&scratch);
	return reads;
}

static bool
reads_text(const char *bytes, size_t len, int64_t max)
{
	return reads_one(WC_PART_REST, 0, false, (WcContentCheck) {WC_CONTENT_TEXT, 0, max}, bytes, len);
}

#define TEXT(s) reads_text(s, sizeof(s) - 1, WC_ROW_MAX)

static void
text_is_utf8_without_zero(void **state)
{
	assert_true(TEXT(""));
	assert_true(TEXT("plain \x7f"));
	assert_true(TEXT("\xc2\x80\xdf\xbf"));
	assert_true(TEXT("\xe0\xa0\x80\xec\xbf\xbf\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"));
	assert_true(TEXT("\xf0\x90\x80\x80\xf3\xbf\xbf\xbf\xf4\x8f\xbf\xbf"));

	assert_false(TEXT("a\0b"));
	assert_false(TEXT("\x80"));
	assert_false(TEXT("\xc1\xbf"));
	assert_false(TEXT("\xc2"));
	assert_false(TEXT("a\xc2q"));
	assert_false(TEXT("\xe0\x9f\xbf"));
	assert_false(TEXT("\xed\xa0\x80"));
	assert_false(TEXT("\xe2\x82"));
	assert_false(TEXT("\xf0\x8f\xbf\xbf"));
	assert_false(TEXT("\xf4\x90\x80\x80"));
	assert_false(TEXT("\xf5\x80\x80\x80"));
	assert_false(TEXT("\xff"));

	assert_true(reads_text("abc", 3, 3));
	assert_false(reads_text("abc", 3, 2));
}

static bool
reads_i64(int64_t v, bool desc)
{
	WcContentCheck content = {WC_CONTENT_INTEGER, -5, 5};
	uint8_t		key[8];

	wc_ordered_store_i64(key, v);
	if (desc)
		wc_ordered_invert(key, sizeof(key));
	return reads_one(WC_PART_FIXED, 8, desc, content, key, sizeof(key));
}

static bool
reads_i32(int32_t v)
{
	WcContentCheck content = {WC_CONTENT_INTEGER, -5, 5};
	uint8_t		key[4];

	wc_ordered_store_i32(key, v);
	return reads_one(WC_PART_FIXED, 4, false, content, key, sizeof(key));
}

static void
numbers_are_in_their_range_or_infinite(void **state)
{
	for (int desc = 0; desc <= 1; desc++)
	{
		assert_true(reads_i64(-5, desc));
		assert_true(reads_i64(5, desc));
		assert_false(reads_i64(-6, desc));
		assert_false(reads_i64(6, desc));
		assert_true(reads_i64(INT64_MIN, desc));
		assert_true(reads_i64(INT64_MAX, desc));
		assert_false(reads_i64(INT64_MAX - 1, desc));
		assert_false(reads_i64(INT32_MAX, desc));
	}
	assert_true(reads_i32(0));
	assert_false(reads_i32(-6));
	assert_true(reads_i32(INT32_MIN));
	assert_true(reads_i32(INT32_MAX));
	assert_false(reads_i32(INT32_MIN + 1));
}

static void
bools_and_floats_are_those_that_are_written(void **state)
{
	WcContentCheck bool_ = {WC_CONTENT_BOOL, 0, 0};
	WcContentCheck float_ = {WC_CONTENT_FLOAT, 0, 0};
	uint8_t		key[8];

	assert_true(reads_one(WC_PART_FIXED, 1, false, bool_, "\x01", 1));
	assert_true(reads_one(WC_PART_FIXED, 1, true, bool_, "\xff", 1));
	assert_false(reads_one(WC_PART_FIXED, 1, false, bool_, "\x02", 1));

	wc_ordered_store_f64(key, -1.5);
	assert_true(reads_one(WC_PART_FIXED, 8, false, float_, key, 8));
	memcpy(key, "\x7f\xff\xff\xff\xff\xff\xff\xff", 8);	/* -0 */
	assert_false(reads_one(WC_PART_FIXED, 8, false, float_, key, 8));
	wc_ordered_store_f32(key, 2);
	assert_true(reads_one(WC_PART_FIXED, 4, false, float_, key, 4));
	assert_false(reads_one(WC_PART_FIXED, 4, false, float_, "\x7f\xff\xff\xff", 4));
}

static bool
reads_time(int64_t ms, bool desc)
{
	WcContentCheck content = {WC_CONTENT_TIME, -5, 5};
	uint8_t		key[8];

	if (desc)
		wc_ordered_store_i64(key, ms);
	else
		wc_store_u64(key, (uint64_t) ms);
	if (desc)
		wc_ordered_invert(key, sizeof(key));
	return reads_one(WC_PART_FIXED, 8, desc, content, key, sizeof(key));
}

static void
times_have_no_infinities(void **state)
{
	for (int desc = 0; desc <= 1; desc++)
	{
		assert_true(reads_time(-5, desc));
		assert_true(reads_time(5, desc));
		assert_false(reads_time(-6, desc));
		assert_false(reads_time(6, desc));
		assert_false(reads_time(INT64_MIN, desc));
		assert_false(reads_time(INT64_MAX, desc));
	}
}

/* The decoder accepts all bytes that the check calls plain, and only such, except for exponents. */
static void
numerics_are_those_that_are_read(void **state)
{
	static const char *const digits[] = {"", "1", "15", "105", "9999999", "1000000000000000000001"};
	static const int32_t exponents[] = {-101, -100, -1, 0, 3, 100, 101};
	const WcContentCheck content = {WC_CONTENT_NUMERIC, 0, 100};
	WcBuf		bytes = WC_BUF_INIT;
	WcBuf		room = WC_BUF_INIT;
	int			plain = 0;

	for (int i = 0; i < 6 * 7 * 2; i++)
	{
		const char *d = digits[i % 6];
		WcNumeric	v = {WC_NUMERIC_FINITE, i >= 42 && *d, *d ? exponents[i / 6 % 7] : 0, d, strlen(d)};
		bool		is_short = v.exponent >= -100 && v.exponent <= 100;

		bytes.len = 0;
		wc_ordered_append_numeric(&bytes, &v);
		assert_int_equal(reads_one(WC_PART_REST, 0, false, content, bytes.data, bytes.len), is_short);
		/* other bytes, shorter and longer */
		for (size_t k = 0; k < bytes.len; k++)
		{
			uint8_t		good = bytes.data[k];

			for (int b = 0; b < 256; b++)
			{
				bytes.data[k] = (uint8_t) b;
				room.len = 0;
				if (!wc_ordered_is_plain_numeric(wc_buf_slice(&bytes)))
					continue;
				assert_true(wc_ordered_read_numeric(wc_buf_slice(&bytes), &room, &v));
				plain++;
			}
			bytes.data[k] = good;
			assert_false(wc_ordered_is_plain_numeric(wc_slice(bytes.data, k)));
		}
		wc_buf_append_u8(&bytes, 1);
		assert_false(wc_ordered_is_plain_numeric(wc_buf_slice(&bytes)));
	}
	assert_true(plain > 1000);
	assert_true(reads_one(WC_PART_REST, 0, false, content, "\x60", 1));
	assert_false(reads_one(WC_PART_REST, 0, false, content, "\x20", 1));
	assert_false(reads_one(WC_PART_REST, 0, false, (WcContentCheck) {WC_CONTENT_NUMERIC, 0, 3}, "\x40\x81\x0c\x01", 4));
	assert_true(reads_one(WC_PART_REST, 0, false, (WcContentCheck) {WC_CONTENT_NUMERIC, 0, 4}, "\x40\x81\x0c\x01", 4));
	wc_buf_free(&bytes);
	wc_buf_free(&room);
}

/* Text up to a delimiter, an escaped descending text, any four bytes; salted. */
static const WcPartShape shapes[] = {
	{WC_PART_DELIMITED, WC_ORDER_NONE, false, false, 0},
	{WC_PART_ESCAPED, WC_ORDER_BYTES, true, false, 0},
	{WC_PART_FIXED, WC_ORDER_BYTES, false, true, 4}
};
static const WcContentCheck contents[] = {
	{WC_CONTENT_TEXT, 0, 3}, {WC_CONTENT_TEXT, 0, 100}, {WC_CONTENT_ANY, INT64_MIN, INT64_MAX}
};
static const bool salting[] = {true, false, true};

static WcKeyCheck
three_parts(uint32_t buckets)
{
	WcKeyCheck	check = {.layout = {.nparts = 3,.parts = shapes,.delimiter = wc_slice("$", 1)},.contents = contents};

	check.layout.salt = (WcSalt) {.buckets = buckets,.kind = WC_SALT_HASH,.parts = salting,.per_minute = 1};
	return check;
}

static void
what_is_sent_checks_the_same(void **state)
{
	const WcSlice good[] = {wc_slice_cstr("abc"), wc_slice_cstr("d\xc3\xa9"), wc_slice("\x01", 1)};
	const WcSlice bad[] = {wc_slice_cstr("abcd"), wc_slice_cstr("d"), wc_slice("\x01", 1)};

	for (uint32_t buckets = 0; buckets <= 7; buckets += 7)
	{
		WcKeyCheck	check = three_parts(buckets);
		WcKeyCheck	got;
		WcBuf		message = WC_BUF_INIT,
					key = WC_BUF_INIT,
					scratch = WC_BUF_INIT;
		WcArena		arena = WC_ARENA_INIT;
		WcSlice		parts[3];
		WcError		err;

		wc_keycheck_encode(&message, &check);
		assert_int_equal(wc_keycheck_decode(wc_buf_slice(&message), &arena, &got, &err), WC_OK);
		assert_int_equal(wc_rowkey_compose(&check.layout, good, &key, NULL, &err), WC_OK);
		assert_true(wc_keycheck_reads(&got, wc_buf_slice(&key), &scratch, parts));
		assert_false(wc_keycheck_reads(&got, wc_slice(key.data, key.len - 1), &scratch, parts));
		key.data[0]++;			/* another bucket, if it is salted, else another text */
		assert_int_equal(wc_keycheck_reads(&got, wc_buf_slice(&key), &scratch, parts), buckets == 0);
		wc_buf_reset(&key, 0);
		assert_int_equal(wc_rowkey_compose(&check.layout, bad, &key, NULL, &err), WC_OK);
		assert_false(wc_keycheck_reads(&got, wc_buf_slice(&key), &scratch, parts));
		wc_buf_free(&message);
		wc_buf_free(&key);
		wc_buf_free(&scratch);
		wc_arena_free(&arena);
	}
}

static void
without_parts_any_key_will_do(void **state)
{
	WcKeyCheck	check = {0};
	WcBuf		message = WC_BUF_INIT;
	WcArena		arena = WC_ARENA_INIT;
	WcError		err;

	wc_keycheck_encode(&message, &check);
	assert_int_equal(wc_keycheck_decode(wc_buf_slice(&message), &arena, &check, &err), WC_OK);
	assert_true(wc_keycheck_reads(&check, wc_slice("\x00\xff", 2), NULL, NULL));
	wc_buf_free(&message);
	wc_arena_free(&arena);
}

/* Flags are 0 or 1, and no part gives a salt where there is none. */
static void
odd_flags_are_refused(void **state)
{
	const WcPartShape shape = {.kind = WC_PART_REST};
	const WcContentCheck content = {.kind = WC_CONTENT_ANY};
	const WcKeyCheck good = {.layout = {.nparts = 1,.parts = &shape},.contents = &content};
	const struct
	{
		size_t		place;		/* of the byte; the part begins at 13 */
		uint8_t		byte;
	}			odd[] = {{3, 2}, {15, 2}, {16, 2}, {17, 1}};
	WcBuf		message = WC_BUF_INIT;
	WcArena		arena = WC_ARENA_INIT;
	WcKeyCheck	check;
	WcError		err;

	wc_keycheck_encode(&message, &good);
	assert_int_equal(wc_keycheck_decode(wc_buf_slice(&message), &arena, &check, &err), WC_OK);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
	{
		assert_int_equal(message.data[odd[i].place], 0);
		message.data[odd[i].place] = odd[i].byte;
		assert_int_equal(wc_keycheck_decode(wc_buf_slice(&message), &arena, &check, &err), WC_CORRUPT);
		message.data[odd[i].place] = 0;
	}
	wc_buf_free(&message);
	wc_arena_free(&arena);
}

static void
decode_any(WcSlice bytes, void *arg)
{
	WcBuf		scratch = WC_BUF_INIT;
	WcArena		arena = WC_ARENA_INIT;
	WcKeyCheck	check;
	WcError		err;
	WcStatus	status = wc_keycheck_decode(bytes, &arena, &check, &err);

	if (status == WC_OK && check.layout.nparts <= 64)
	{
		WcSlice		parts[64];

		(void) wc_mangle_touch(check.layout.delimiter);
		(void) wc_keycheck_reads(&check, wc_slice_cstr("some key$\xff\xff\x12\x34\x56\x78"), &scratch, parts);
	}
	else
		assert_true(status == WC_CORRUPT || status == WC_OK);
	if (arg != NULL && bytes.len < *(size_t *) arg)
		assert_int_equal(status, WC_CORRUPT);
	wc_buf_free(&scratch);
	wc_arena_free(&arena);
}

static void
any_bytes_are_survived(void **state)
{
	WcKeyCheck	check = three_parts(5);
	WcBuf		message = WC_BUF_INIT;

	wc_keycheck_encode(&message, &check);
	wc_mangle_prefixes(wc_buf_slice(&message), decode_any, &message.len);
	wc_mangle_randomly(wc_buf_slice(&message), 5000, decode_any, NULL);
	wc_buf_free(&message);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_utf8_without_zero),
		cmocka_unit_test(numbers_are_in_their_range_or_infinite),
		cmocka_unit_test(bools_and_floats_are_those_that_are_written),
		cmocka_unit_test(times_have_no_infinities),
		cmocka_unit_test(numerics_are_those_that_are_read),
		cmocka_unit_test(what_is_sent_checks_the_same),
		cmocka_unit_test(without_parts_any_key_will_do),
		cmocka_unit_test(odd_flags_are_refused),
		cmocka_unit_test(any_bytes_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
