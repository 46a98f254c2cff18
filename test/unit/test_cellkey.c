/*
 * test/unit/test_cellkey.c: packing "cell": exact bytes, order, damage.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/rocks/cellkey.h"

#define S(literal) wc_slice(literal, sizeof(literal) - 1)

static WcCell
cell_at(WcSlice row, WcSlice qualifier, int64_t ts, uint8_t type)
{
	WcCell		c = {.row = row, .family = 1, .type = type, .qualifier = qualifier, .ts = ts, .seq = ts};

	return c;
}

static void
assert_slice(WcSlice got, WcSlice want)
{
	assert_int_equal(got.len, want.len);
	if (want.len > 0)
		assert_memory_equal(got.data, want.data, want.len);
}

static void
test_bytes(void **state)
{
	WcBuf		buf = WC_BUF_INIT;

	wc_cellkey_append(&buf, S("ab"), S("q"), 5, WC_PUT);
	assert_slice(wc_buf_slice(&buf),
				 S("ab\x00\x01" "q\x00\x01" "\xff\xff\xff\xff\xff\xff\xff\xfa" "\xfb"));
	buf.len = 0;
	wc_cellkey_append(&buf, S("a\0b"), S(""), 0, WC_DELETE_FAMILY);
	assert_slice(wc_buf_slice(&buf),
				 S("a\x00\xff" "b\x00\x01" "\x00\x01" "\xff\xff\xff\xff\xff\xff\xff\xff" "\xf1"));
	buf.len = 0;
	wc_cellkey_append_row(&buf, S("ab"));
	assert_slice(wc_buf_slice(&buf), S("ab\x00\x01"));
	buf.len = 0;
	wc_cellkey_append_row_end(&buf, S("ab"));
	assert_slice(wc_buf_slice(&buf), S("ab\x00\x02"));
	buf.len = 0;
	wc_cellkey_append_column(&buf, S("ab"), S("q"));
	assert_slice(wc_buf_slice(&buf), S("ab\x00\x01q\x00\x01"));
	buf.len = 0;
	wc_cellkey_append_column_end(&buf, S("ab"), S("q"));
	assert_slice(wc_buf_slice(&buf), S("ab\x00\x01q\x00\x02"));
	wc_buf_free(&buf);
}

static void
test_value_bytes(void **state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcCell		c = cell_at(S("r"), S("q"), 7, WC_PUT);
	WcCell		back = c;
	WcError		err;

	c.value = S("xyz");
	wc_cellvalue_append(&buf, &c);
	assert_slice(wc_buf_slice(&buf), S("\x00xyz"));

	c.ttl_us = 300;
	c.seq = 0x0102;
	buf.len = 0;
	wc_cellvalue_append(&buf, &c);
	assert_slice(wc_buf_slice(&buf), S("\x03\xac\x02" "\x00\x00\x00\x00\x00\x00\x01\x02" "xyz"));
	assert_int_equal(wc_cellvalue_decode(wc_buf_slice(&buf), &back, &err), WC_OK);
	assert_int_equal(back.ttl_us, 300);
	assert_int_equal(back.seq, 0x0102);
	assert_slice(back.value, S("xyz"));

	/* without a written-at it is the timestamp */
	assert_int_equal(wc_cellvalue_decode(S("\x00"), &back, &err), WC_OK);
	assert_int_equal(back.seq, 7);
	assert_int_equal(back.ttl_us, 0);
	assert_int_equal(back.value.len, 0);
	wc_buf_free(&buf);
}

/* Bytes chosen to be nasty: zeros, what escapes are made of, prefixes. */
static WcSlice
nasty(uint8_t *room)
{
	static const uint8_t bytes[] = {0x00, 0x01, 0x02, 0xff, 'a'};
	size_t		len = (size_t) (rand() % 5);

	for (size_t i = 0; i < len; i++)
		room[i] = bytes[rand() % 5];
	return wc_slice(room, len);
}

static int
sign(int c)
{
	return (c > 0) - (c < 0);
}

static void
test_order_and_back(void **state)
{
	static const uint8_t types[] = {WC_PUT, WC_DELETE, WC_DELETE_COLUMN, WC_DELETE_FAMILY, WC_DELETE_FAMILY_VERSION};
	static const int64_t times[] = {0, 1, 255, 256, INT64_MAX - 1};
	WcBuf		keys[2] = {WC_BUF_INIT, WC_BUF_INIT};
	WcBuf		scratch = WC_BUF_INIT;
	WcError		err;

	srand(1);
	for (int i = 0; i < 20000; i++)
	{
		uint8_t		room[2][2][8];
		WcCell		c[2];
		WcCell		back;
		int			want;

		for (int k = 0; k < 2; k++)
		{
			c[k] = cell_at(nasty(room[k][0]), nasty(room[k][1]), times[rand() % 5], types[rand() % 5]);
			keys[k].len = 0;
			wc_cellkey_append_cell(&keys[k], &c[k]);
			assert_int_equal(wc_cellkey_decode(wc_buf_slice(&keys[k]), &scratch, &back, &err), WC_OK);
			assert_slice(back.row, c[k].row);
			assert_slice(back.qualifier, c[k].qualifier);
			assert_int_equal(back.ts, c[k].ts);
			assert_int_equal(back.type, c[k].type);
		}
		want = wc_slice_cmp(c[0].row, c[1].row);
		if (want == 0)
		{
			c[0].seq = c[1].seq = 0;
			want = wc_cell_cmp(&c[0], &c[1]);
		}
		assert_int_equal(sign(wc_slice_cmp(wc_buf_slice(&keys[0]), wc_buf_slice(&keys[1]))), sign(want));
	}
	wc_buf_free(&keys[0]);
	wc_buf_free(&keys[1]);
	wc_buf_free(&scratch);
}

/* What bounds a row or a column holds its keys and no others. */
static void
test_prefixes_and_ends(void **state)
{
	WcBuf		key = WC_BUF_INIT;
	WcBuf		low = WC_BUF_INIT;
	WcBuf		high = WC_BUF_INIT;
	WcTakenRow	taken = {.escapes_end = 0};
	WcError		err;

	srand(2);
	for (int i = 0; i < 20000; i++)
	{
		uint8_t		room[4][8];
		WcSlice		row = nasty(room[0]);
		WcSlice		qualifier = nasty(room[1]);
		WcSlice		a_row = nasty(room[2]);
		WcSlice		a_qualifier = nasty(room[3]);
		bool		inside;

		key.len = low.len = high.len = 0;
		wc_cellkey_append(&key, row, qualifier, rand(), WC_PUT);
		wc_cellkey_append_row(&low, a_row);
		wc_cellkey_append_row_end(&high, a_row);
		inside = wc_slice_cmp(wc_buf_slice(&key), wc_buf_slice(&low)) > 0 &&
			wc_slice_cmp(wc_buf_slice(&key), wc_buf_slice(&high)) < 0;
		assert_int_equal(inside, wc_slice_eq(row, a_row));
		assert_int_equal(wc_slice_starts_with(wc_buf_slice(&key), wc_buf_slice(&low)), wc_slice_eq(row, a_row));

		low.len = high.len = 0;
		wc_cellkey_append_column(&low, row, a_qualifier);
		wc_cellkey_append_column_end(&high, row, a_qualifier);
		inside = wc_slice_cmp(wc_buf_slice(&key), wc_buf_slice(&low)) > 0 &&
			wc_slice_cmp(wc_buf_slice(&key), wc_buf_slice(&high)) < 0;
		assert_int_equal(inside, wc_slice_eq(qualifier, a_qualifier));

		low.len = 0;
		wc_cellkey_append_row(&low, row);
		assert_int_equal(wc_cellkey_row_prefix(wc_buf_slice(&key)), low.len);
		assert_int_equal(wc_cellkey_take_row(&taken, wc_buf_slice(&key), &err), WC_OK);
		assert_true(wc_slice_eq(wc_buf_slice(&taken.row), row));
		assert_true(wc_slice_eq(wc_buf_slice(&taken.prefix), wc_buf_slice(&low)));
		low.len = 0;
		wc_cellkey_append_column(&low, row, qualifier);
		assert_int_equal(wc_cellkey_column_prefix(wc_buf_slice(&key)), low.len);
	}
	wc_buf_free(&key);
	wc_buf_free(&low);
	wc_buf_free(&high);
	wc_cellkey_forget_row(&taken);
}

/* Rows that begin as the one before them, in keys of cells, in heads, and in what is left of a key. */
static void
test_rows_one_behind_another(void **state)
{
	WcBuf		key = WC_BUF_INIT;
	WcBuf		prefix = WC_BUF_INIT;
	WcTakenRow	taken = {.escapes_end = 0};
	uint8_t		row[32] = {'r'};
	size_t		len = 1;
	WcError		err;

	srand(3);
	for (int i = 0; i < 100000; i++)
	{
		uint8_t		room[8];
		size_t		longest = rand() % 4 == 0 ? sizeof(row) : len;
		bool		whole = rand() % 20 > 0;

		len = rand() % (longest + 1);
		do
		{
			WcSlice		more = nasty(room);

			more.len = more.len < sizeof(row) - len ? more.len : sizeof(row) - len;
			wc_slice_copy(row + len, more);
			len += more.len;
		} while (len < sizeof(row) && rand() % 4 > 0);
		key.len = prefix.len = 0;
		wc_cellkey_append_row(&prefix, wc_slice(row, len));
		if (rand() % 2 == 0)
			wc_cellkey_append_row(&key, wc_slice(row, len));
		else
			wc_cellkey_append(&key, wc_slice(row, len), nasty(room), rand(), WC_PUT);
		if (!whole)
			key.len = rand() % prefix.len;
		assert_int_equal(wc_cellkey_take_row(&taken, wc_buf_slice(&key), &err), whole ? WC_OK : WC_CORRUPT);
		if (whole)
		{
			assert_true(wc_slice_eq(wc_buf_slice(&taken.row), wc_slice(row, len)));
			assert_true(wc_slice_eq(wc_buf_slice(&taken.prefix), wc_buf_slice(&prefix)));
			assert_int_equal(wc_cellkey_is_head(wc_buf_slice(&key)), key.len == prefix.len);
		}
	}
	wc_buf_free(&key);
	wc_buf_free(&prefix);
	wc_cellkey_forget_row(&taken);
}

static void
assert_key_damaged(WcSlice key)
{
	WcTakenRow	taken = {.escapes_end = 0};
	WcBuf		scratch = WC_BUF_INIT;
	WcError		err;
	WcCell		c;
	uint8_t    *copy = malloc(key.len > 0 ? key.len : 1);	/* so that reading on is seen */

	if (key.len > 0)
		memcpy(copy, key.data, key.len);
	assert_int_equal(wc_cellkey_decode(wc_slice(copy, key.len), &scratch, &c, &err), WC_CORRUPT);
	/* its row may be there */
	assert_int_equal(wc_cellkey_take_row(&taken, wc_slice(copy, key.len), &err),
					 wc_cellkey_row_prefix(wc_slice(copy, key.len)) > 0 ? WC_OK : WC_CORRUPT);
	free(copy);
	wc_cellkey_forget_row(&taken);
	wc_buf_free(&scratch);
}

static void
test_damage(void **state)
{
	WcBuf		key = WC_BUF_INIT;
	WcCell		c = cell_at(S("r"), S("q"), 1, WC_PUT);
	WcError		err;

	wc_cellkey_append(&key, S("a\0b"), S("\0q"), 5, WC_PUT);
	for (size_t len = 0; len < key.len; len++)
		assert_key_damaged(wc_slice(key.data, len));
	wc_buf_append_u8(&key, 0);
	assert_key_damaged(wc_buf_slice(&key));
	key.len--;
	key.data[key.len - 1] = (uint8_t) ~5;	/* no type */
	assert_key_damaged(wc_buf_slice(&key));
	key.data[key.len - 1] = (uint8_t) ~WC_PUT;
	key.data[key.len - 9] = 0;	/* a negative timestamp */
	assert_key_damaged(wc_buf_slice(&key));
	assert_key_damaged(S("a\x00\x03" "b\x00\x01\x00\x01" "12345678\xfb"));

	assert_int_equal(wc_cellvalue_decode(S(""), &c, &err), WC_CORRUPT);
	assert_int_equal(wc_cellvalue_decode(S("\x04" "abc"), &c, &err), WC_CORRUPT);
	assert_int_equal(wc_cellvalue_decode(S("\x01\x80"), &c, &err), WC_CORRUPT);
	assert_int_equal(wc_cellvalue_decode(S("\x02" "1234567"), &c, &err), WC_CORRUPT);
	wc_buf_free(&key);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_value_bytes),
		cmocka_unit_test(test_order_and_back),
		cmocka_unit_test(test_prefixes_and_ends),
		cmocka_unit_test(test_rows_one_behind_another),
		cmocka_unit_test(test_damage)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
