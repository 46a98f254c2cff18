/*
 * test/unit/test_packedrow.c: packing "row": exact bytes, every shape of row written and read, searches for columns,
 * damaged bytes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "read/cell/packedrow.h"

#define S(literal) wc_slice(literal, sizeof(literal) - 1)

static WcCell
put(const char *qualifier, int64_t ts, const char *value)
{
	WcCell		c = {.type = WC_PUT, .qualifier = wc_slice_cstr(qualifier), .ts = ts, .seq = ts,
	.value = wc_slice_cstr(value)};

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
assert_cell(const WcCell *got, const WcCell *want)
{
	assert_slice(got->qualifier, want->qualifier);
	assert_int_equal(got->type, want->type);
	assert_int_equal(got->ts, want->ts);
	assert_int_equal(got->ttl_us, want->ttl_us);
	assert_int_equal(got->seq, want->seq);
	assert_slice(got->value, want->value);
}

static void
test_plain_bytes(void **state)
{
	WcCell		cells[] = {put("a", 5, "x"), put("b", 5, "")};
	WcBuf		buf = WC_BUF_INIT;

	wc_packedrow_append(&buf, cells, 2);
	assert_slice(wc_buf_slice(&buf), S("\x01\x07\x02" "\0\0\0\0\0\0\0\x05" "\x01" "a\x01x" "\x01" "b\x00"));
	cells[0].seq = cells[1].seq = 9;
	buf.len = 0;
	wc_packedrow_append(&buf, cells, 2);
	assert_slice(wc_buf_slice(&buf),
				 S("\x01\x0f\x02" "\0\0\0\0\0\0\0\x05" "\0\0\0\0\0\0\0\x09" "\x01" "a\x01x" "\x01" "b\x00"));
	wc_buf_free(&buf);
}

static void
test_headed_bytes(void **state)
{
	WcCell		cells[] = {
		{.type = WC_DELETE_FAMILY, .ts = 4, .seq = 4, .qualifier = S("")},
		put("a", 5, "x"),
		put("a", 4, "y"),
		put("b", 4, "z")
	};
	WcBuf		buf = WC_BUF_INIT;

	cells[2].ttl_us = 1;
	cells[3].seq = 6;
	wc_packedrow_append(&buf, cells, 4);
	assert_slice(wc_buf_slice(&buf),
				 S("\x01\x04\x04" "\0\0\0\0\0\0\0\x04"
				   "\x0e\x00\x00"
				   "\x24\x01" "a" "\0\0\0\0\0\0\0\x05" "\x01" "x"
				   "\x54\x01\x01" "y"
				   "\x84\x01" "b" "\0\0\0\0\0\0\0\x06" "\x01" "z"));
	wc_buf_free(&buf);
}

/* A random row in cell order; returns its number of cells. */
static size_t
random_row(WcCell *cells, char (*names)[8], bool puts_only)
{
	static const uint8_t types[] = {WC_DELETE_COLUMN, WC_DELETE, WC_PUT};
	size_t		n = 0;
	size_t		ncolumns = 1 + (size_t) (rand() % 6);
	int			shape = rand() % 4;

	for (size_t i = 0; i < ncolumns; i++)
	{
		int64_t		ts = 1000;
		size_t		nversions = shape == 0 ? 1 : 1 + (size_t) (rand() % 3);

		snprintf(names[i], sizeof(names[i]), "q%02zu", i * 2);
		for (size_t v = 0; v < nversions; v++)
		{
			WcCell		c = put(names[i], ts, &"value"[rand() % 6]);

			if (!puts_only && shape == 3)
				c.type = types[rand() % 3];
			if (shape == 2 && rand() % 3 == 0)
				c.ttl_us = 1 + rand();
			if (shape > 0 && rand() % 3 == 0)
				c.seq = 5000;
			cells[n++] = c;
			ts -= 1 + rand() % 3;
		}
		if (shape == 0 && rand() % 4 == 0)
			cells[n - 1].ts = cells[n - 1].seq = 2000;
	}
	return n;
}

static void
test_there_and_back(void **state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcCell		cells[32];
	char		names[8][8];
	WcError		err;

	srand(3);
	for (int i = 0; i < 5000; i++)
	{
		size_t		n = random_row(cells, names, false);
		WcPackedRow r;
		WcCell		c;
		bool		puts = true;
		bool		one_a_column = true;

		buf.len = 0;
		wc_packedrow_append(&buf, cells, n);
		assert_int_equal(wc_packedrow_open(&r, wc_buf_slice(&buf), &err), WC_OK);
		assert_int_equal(r.ncells, n);
		for (size_t k = 0; k < n; k++)
		{
			assert_true(wc_packedrow_next(&r, &c));
			assert_cell(&c, &cells[k]);
			puts &= c.type == WC_PUT && c.ttl_us == 0;
			one_a_column &= k == 0 || !wc_slice_eq(c.qualifier, cells[k - 1].qualifier);
		}
		assert_false(wc_packedrow_next(&r, &c));
		assert_int_equal(wc_packedrow_status(&r, S("row"), &err), WC_OK);
		assert_int_equal((r.flags & WC_PACKED_SIMPLE) != 0, puts && one_a_column);
		assert_int_equal((r.flags & WC_PACKED_PUTS) != 0, puts && !one_a_column);
	}
	wc_buf_free(&buf);
}

/* Seeking and finding give what walking gives, wherever the column is expected. */
static void
test_seek_and_find(void **state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcCell		cells[32];
	char		names[8][8];
	WcError		err;

	srand(4);
	for (int i = 0; i < 5000; i++)
	{
		size_t		n = random_row(cells, names, i % 2 == 0);
		char		name[8];
		bool		after = rand() % 2 == 0;
		size_t		at = 0;
		uint32_t	before = (uint32_t) rand() % 9;
		WcPackedRow r;
		WcPackedRow f;
		WcCell		c;
		WcSlice		wanted;

		wanted = wc_slice(name, (size_t) snprintf(name, sizeof(name), "q%02d", rand() % 14));
		buf.len = 0;
		wc_packedrow_append(&buf, cells, n);
		assert_int_equal(wc_packedrow_open(&r, wc_buf_slice(&buf), &err), WC_OK);
		f = r;

		wc_packedrow_seek(&r, wanted, after);
		while (at < n && wc_slice_cmp(cells[at].qualifier, wanted) < (after ? 1 : 0))
			at++;
		if (at < n)
		{
			assert_true(wc_packedrow_next(&r, &c));
			assert_cell(&c, &cells[at]);
		}
		else
			assert_false(wc_packedrow_next(&r, &c));

		for (at = 0; at < n && wc_slice_cmp(cells[at].qualifier, wanted) < 0;)
			at++;
		if (at < n && wc_slice_eq(cells[at].qualifier, wanted))
		{
			assert_true(wc_packedrow_find(&f, wanted, &before, &c));
			assert_cell(&c, &cells[at++]);
		}
		else
			assert_false(wc_packedrow_find(&f, wanted, &before, &c));
		if (at < n)
		{
			assert_true(wc_packedrow_next(&f, &c));
			assert_cell(&c, &cells[at]);
		}
		else
			assert_false(wc_packedrow_next(&f, &c));
	}
	wc_buf_free(&buf);
}

/* Bytes that no writer wrote: two cells of a column, and the second does not say so.  The first is found from everywhere. */
static void
test_repeated_column(void **state)
{
	WcSlice		value = S("\x01\x04\x03" "\0\0\0\0\0\0\0\x05" "\x04\x01" "a\x01x" "\x24\x01" "b" "\0\0\0\0\0\0\0\x06" "\x01y"
						  "\x04\x01" "b\x01z");
	WcError		err;

	for (uint32_t expected = 0; expected < 4; expected++)
	{
		uint32_t	before = expected;
		WcPackedRow r;
		WcCell		c;

		assert_int_equal(wc_packedrow_open(&r, value, &err), WC_OK);
		assert_true(wc_packedrow_find(&r, S("b"), &before, &c));
		assert_slice(c.value, S("y"));
		assert_int_equal(c.ts, 6);
		assert_int_equal(before, expected == 0 ? 0 : 1);
		assert_true(wc_packedrow_next(&r, &c));
		assert_slice(c.value, S("z"));
	}
}

/* The first cell of each column, and whether no other can decide about it. */
static void
test_columns(void **state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcCell		cells[32];
	char		names[8][8];
	WcError		err;

	srand(6);
	for (int i = 0; i < 5000; i++)
	{
		size_t		n = random_row(cells, names, i % 2 == 0);
		bool		puts_only = true;
		bool		commit_times = true;
		WcPackedRow r;
		WcPackedRow s;
		WcCell		c;

		buf.len = 0;
		wc_packedrow_append(&buf, cells, n);
		for (size_t at = 0; at < n; at++)
		{
			puts_only &= cells[at].type == WC_PUT && cells[at].ttl_us == 0;
			commit_times &= cells[at].seq == cells[at].ts;
		}
		assert_int_equal(wc_packedrow_open(&r, wc_buf_slice(&buf), &err), WC_OK);
		assert_int_equal(wc_packedrow_puts_only(&r), puts_only);
		/* older rows do not say so */
		s = r;
		s.flags &= (uint8_t) ~WC_PACKED_PUTS;
		assert_int_equal(wc_packedrow_puts_only(&s), puts_only);
		assert_int_equal(wc_packedrow_has_commit_times(&r), puts_only && commit_times);
		for (size_t at = 0; at < n; at++)
		{
			if (at > 0 && wc_slice_eq(cells[at].qualifier, cells[at - 1].qualifier))
				continue;
			assert_true(wc_packedrow_next_column(&r, &c));
			assert_cell(&c, &cells[at]);
		}
		assert_false(wc_packedrow_next_column(&r, &c));
		assert_int_equal(wc_packedrow_status(&r, S("row"), &err), WC_OK);
	}
	wc_buf_free(&buf);
}

/* Reads a value to its end in every way; true when nothing was wrong with it. */
static bool
read_all(const uint8_t *data, size_t len)
{
	uint8_t    *copy = malloc(len > 0 ? len : 1);
	WcPackedRow r;
	WcPackedRow s;
	WcCell		c;
	WcError		err;
	bool		ok;

	if (len > 0)
		memcpy(copy, data, len);
	ok = wc_packedrow_open(&r, wc_slice(copy, len), &err) == WC_OK;
	if (ok)
	{
		s = r;
		while (wc_packedrow_next(&s, &c))
		{
		}
		ok = wc_packedrow_status(&s, S("row"), &err) == WC_OK;
		for (uint32_t expected = 0; expected < 4; expected++)
		{
			uint32_t	before = expected;

			s = r;
			(void) wc_packedrow_find(&s, S("q4"), &before, &c);
		}
		s = r;
		for (int i = 0; i < 10; i++)
		{
			char		name[4];
			uint32_t	before = 0;

			snprintf(name, sizeof(name), "q%02d", i);
			(void) wc_packedrow_find(&s, wc_slice_cstr(name), &before, &c);
		}
		s = r;
		(void) wc_packedrow_puts_only(&s);
		(void) wc_packedrow_has_commit_times(&s);
		while (wc_packedrow_next_column(&s, &c))
		{
		}
		s = r;
		wc_packedrow_seek(&s, S("zz"), true);
	}
	free(copy);
	return ok;
}

/* Of a plain row: qualifier and value as bytes, with their lengths. */
static void
test_bytes_of_cells(void **state)
{
	static const size_t lens[] = {0, 1, 127, 128, 300};
	char		value[300];
	WcCell		cells[5];
	WcBuf		buf = WC_BUF_INIT;
	WcPackedRow r;
	WcSlice		bytes;
	WcError		err;

	memset(value, 'v', sizeof(value));
	for (size_t i = 0; i < 5; i++)
	{
		cells[i] = put(&"a\0b\0c\0d\0e"[2 * i], 5, "");
		cells[i].value = wc_slice(value, lens[i]);
	}
	wc_packedrow_append(&buf, cells, 5);
	assert_int_equal(wc_packedrow_open(&r, wc_buf_slice(&buf), &err), WC_OK);
	for (size_t i = 0; i < 5; i++)
	{
		WcDecoder	d;

		assert_true(wc_packedrow_next_bytes(&r, &bytes));
		d = wc_decoder(bytes);
		assert_slice(wc_decode_bytes(&d), cells[i].qualifier);
		assert_slice(wc_decode_bytes(&d), cells[i].value);
		assert_true(wc_decoder_done(&d));
	}
	assert_false(wc_packedrow_next_bytes(&r, &bytes));
	assert_int_equal(wc_packedrow_status(&r, S("r"), &err), WC_OK);

	/* damaged: it ends too soon */
	assert_int_equal(wc_packedrow_open(&r, wc_slice(buf.data, buf.len - 1), &err), WC_OK);
	for (size_t i = 0; i < 4; i++)
		assert_true(wc_packedrow_next_bytes(&r, &bytes));
	assert_false(wc_packedrow_next_bytes(&r, &bytes));
	assert_int_equal(wc_packedrow_status(&r, S("r"), &err), WC_CORRUPT);
	wc_buf_free(&buf);
}

static void
test_damage(void **state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcCell		cells[32];
	char		names[8][8];

	srand(5);
	for (int i = 0; i < 300; i++)
	{
		size_t		n = random_row(cells, names, i % 2 == 0);

		buf.len = 0;
		wc_packedrow_append(&buf, cells, n);
		for (size_t len = 0; len < buf.len; len++)
			assert_false(read_all(buf.data, len));
		assert_true(read_all(buf.data, buf.len));

		/* whatever a changed byte makes of it, nothing is read outside */
		for (int k = 0; k < 50; k++)
		{
			size_t		at = (size_t) rand() % buf.len;
			uint8_t		old = buf.data[at];

			buf.data[at] = (uint8_t) rand();
			(void) read_all(buf.data, buf.len);
			buf.data[at] = old;
		}
	}
	assert_false(read_all((const uint8_t *) "\x02\x07\x01" "12345678" "\x01" "a\x00", 14));
	assert_false(read_all((const uint8_t *) "\x01\x02\x00", 3));
	wc_buf_free(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_bytes),
		cmocka_unit_test(test_headed_bytes),
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_seek_and_find),
		cmocka_unit_test(test_repeated_column),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_bytes_of_cells),
		cmocka_unit_test(test_damage)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
