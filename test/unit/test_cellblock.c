/*
 * test/unit/test_cellblock.c: cell blocks: rows and cells, written and read back.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "mangle.h"
#include "model/cellblock.h"

#define S(literal) wc_slice(literal, sizeof(literal) - 1)

static WcBlockReader
open_block(const WcBuf *buf)
{
	WcBlockReader r;

	assert_int_equal(wc_block_open(&r, wc_buf_slice(buf), NULL), WC_OK);
	return r;
}

static void
expect_row(WcBlockReader *r, WcSlice expected)
{
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;

	assert_int_equal(wc_block_next(r, &row, &cell, &colno), WC_BLOCK_ROW);
	assert_true(wc_slice_eq(row, expected));
}

static void
expect_cell(WcBlockReader *r, uint32_t expected_colno, const WcCell *expected)
{
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;

	memset(&cell, 0xAA, sizeof(cell));
	assert_int_equal(wc_block_next(r, &row, &cell, &colno), WC_BLOCK_CELL);
	assert_int_equal(colno, expected_colno);
	if (colno == WC_NO_COLUMN)
	{
		assert_int_equal(cell.family, expected->family);
		assert_true(wc_slice_eq(cell.qualifier, expected->qualifier));
	}
	assert_int_equal(cell.type, expected->type);
	assert_true(cell.ts == expected->ts);
	assert_true(cell.ttl_us == expected->ttl_us);
	assert_true(cell.seq == expected->seq);
	assert_true(wc_slice_eq(cell.value, expected->value));
}

static void
expect_done(WcBlockReader *r)
{
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;

	assert_int_equal(wc_block_next(r, &row, &cell, &colno), WC_BLOCK_DONE);
	assert_int_equal(wc_block_next(r, &row, &cell, &colno), WC_BLOCK_DONE);
}

/* Every column, with and without time and value: the reader returns the written cells. */
static void
cells_read_back(void **state)
{
	static const uint32_t colnos[] = {0, 1, 6, 7, 8, 127, 128, 16384, WC_COLUMNS_MAX - 1, WC_NO_COLUMN};
	static const size_t value_lens[] = {0, 1, 127, 128, 16383, 16384, 100000};
	static const int64_t times[] = {0, 1, 5, INT64_MAX};
	uint8_t    *value = malloc(100000);

	(void) state;
	memset(value, 'v', 100000);
	for (size_t c = 0; c < sizeof(colnos) / sizeof(colnos[0]); c++)
	{
		for (int mode = 0; mode < 4; mode++)
		{
			bool		want_ts = (mode & 1) != 0;
			bool		key_only = (mode & 2) != 0;
			WcBuf		buf = WC_BUF_INIT;
			WcBlockWriter w;
			WcBlockReader r;
			int			ncells = 0;

			wc_block_begin(&w, &buf, false);
			wc_block_row(&w, S("row"), false);
			for (int pass = 0; pass < 2; pass++)
			{
				if (pass == 1)
				{
					wc_block_finish(&w, false, true);
					assert_int_equal(w.ncells, ncells);
					assert_int_equal(w.nrows, 1);
					assert_int_equal(wc_block_size(&w), buf.len);
					r = open_block(&buf);
					assert_true(r.end && !r.open && !r.continues);
					expect_row(&r, S("row"));
				}
				for (size_t v = 0; v < sizeof(value_lens) / sizeof(value_lens[0]); v++)
				{
					for (size_t t = 0; t < sizeof(times) / sizeof(times[0]); t++)
					{
						WcCell		cell = {.family = UINT32_MAX, .type = t == 1 ? WC_DELETE_FAMILY : WC_PUT,
							.qualifier = t == 0 ? S("") : S("q\0q"), .ts = times[t], .ttl_us = times[t],
						.seq = 5, .value = wc_slice(value, value_lens[v])};

						if (pass == 0)
						{
							wc_block_cell(&w, colnos[c], &cell, want_ts, key_only);
							ncells++;
							continue;
						}
						cell.seq = want_ts && cell.ts == 5 ? 5 : WC_SEQ_UNKNOWN;
						if (!want_ts)
						{
							cell.ts = cell.ttl_us = 0;
							cell.type = WC_PUT;
						}
						if (key_only)
							cell.value.len = 0;
						expect_cell(&r, colnos[c], &cell);
					}
				}
			}
			expect_done(&r);
			wc_buf_free(&buf);
		}
	}
	free(value);
}

/* The provisional timestamp of an open transaction's cell is told apart from given ones, and from those of commits. */
static void
provisional_timestamps_are_told(void **state)
{
	static const struct
	{
		int64_t		ts;
		int64_t		seq;
		bool		provisional;
	}			cells[] = {{4, 4, false}, {5, 5, true}, {6, 6, true}, {6, 5, false}, {4, 5, false}};
	WcBuf		buf = WC_BUF_INIT;
	WcBlockWriter w;
	WcBlockReader r;

	(void) state;
	wc_block_begin(&w, &buf, false);
	w.provisional_after = 4;
	wc_block_row(&w, S("row"), false);
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
	{
		WcCell		cell = {.type = WC_PUT, .ts = cells[i].ts, .seq = cells[i].seq, .value = S("v")};

		wc_block_cell(&w, 0, &cell, true, false);
		wc_block_cell(&w, 0, &cell, false, false);
	}
	wc_block_finish(&w, false, true);
	r = open_block(&buf);
	assert_false(r.commit_times);
	wc_block_note_commit_times(&w);
	r = open_block(&buf);
	assert_true(r.commit_times && r.end);
	expect_row(&r, S("row"));
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
	{
		int64_t		seq = cells[i].ts == cells[i].seq ? cells[i].ts : WC_SEQ_UNKNOWN;
		WcCell		timed = {.type = WC_PUT, .ts = cells[i].ts, .seq = seq, .value = S("v")};
		WcCell		untimed = {.type = WC_PUT, .seq = WC_SEQ_UNKNOWN, .value = S("v")};

		expect_cell(&r, 0, &timed);
		assert_int_equal(r.provisional, cells[i].provisional);
		expect_cell(&r, 0, &untimed);
		assert_false(r.provisional);
	}
	expect_done(&r);
	wc_buf_free(&buf);
}

static void
blocks_continue_each_other(void **state)
{
	WcCell		cell = {.family = 3, .type = WC_PUT, .seq = WC_SEQ_UNKNOWN, .value = S("v")};
	WcBuf		buf = WC_BUF_INIT;
	WcBlockWriter w;
	WcBlockReader r;
	size_t		first;

	/* Two blocks in one buffer; the row with no cell is a row. */
	(void) state;
	wc_block_begin(&w, &buf, false);
	wc_block_row(&w, S("a"), false);
	wc_block_row(&w, S("b"), false);
	wc_block_cell(&w, 0, &cell, false, false);
	wc_block_finish(&w, true, false);
	first = buf.len;
	wc_block_begin(&w, &buf, true);
	wc_block_cell(&w, 1, &cell, false, false);
	wc_block_row(&w, S("c"), true);
	wc_block_row_owing(&w, S("d"), 300);
	wc_block_row(&w, S("e"), true);
	wc_block_finish(&w, false, true);
	assert_int_equal(wc_block_size(&w), buf.len - first);
	assert_int_equal(w.nrows, 3);
	assert_int_equal(w.ncells, 1);

	assert_int_equal(wc_block_open(&r, wc_slice(buf.data, first), NULL), WC_OK);
	assert_true(!r.continues && r.open && !r.end);
	expect_row(&r, S("a"));
	expect_row(&r, S("b"));
	assert_false(r.undecided);
	expect_cell(&r, 0, &cell);
	expect_done(&r);
	assert_int_equal(wc_block_open(&r, wc_slice(buf.data + first, buf.len - first), NULL), WC_OK);
	assert_true(r.continues && !r.open && r.end);
	expect_cell(&r, 1, &cell);
	expect_row(&r, S("c"));
	assert_true(r.undecided);
	assert_int_equal(r.owed, 0);
	expect_row(&r, S("d"));
	assert_true(r.undecided);
	assert_int_equal(r.owed, 300);
	expect_row(&r, S("e"));
	assert_true(r.undecided);
	assert_int_equal(r.owed, 0);
	expect_done(&r);
	wc_buf_free(&buf);
}

static void
what_was_written_can_be_taken_back(void **state)
{
	WcCell		cell = {.family = 3, .type = WC_PUT, .seq = WC_SEQ_UNKNOWN, .value = S("v")};
	WcBuf		buf = WC_BUF_INIT;
	WcBlockMark mark;
	WcBlockWriter w;
	WcBlockReader r;

	wc_block_begin(&w, &buf, false);
	wc_block_row(&w, S("a"), false);
	mark = wc_block_mark(&w);
	wc_block_row(&w, S("b"), true);
	wc_block_cell(&w, 0, &cell, false, false);
	wc_block_rewind(&w, &mark);
	wc_block_cell(&w, 1, &cell, false, false);
	wc_block_finish(&w, false, true);
	assert_int_equal(w.nrows, 1);
	assert_int_equal(w.ncells, 1);
	assert_int_equal(wc_block_open(&r, wc_buf_slice(&buf), NULL), WC_OK);
	expect_row(&r, S("a"));
	expect_cell(&r, 1, &cell);
	expect_done(&r);
	wc_buf_free(&buf);
}

static void
block_bytes_are_the_documented_ones(void **state)
{
	static const uint8_t expected[] = "\x04\x80\x01r\x00\x01v";
	WcCell		cell = {.type = WC_PUT, .value = S("v")};
	WcBuf		buf = WC_BUF_INIT;
	WcBlockWriter w;

	(void) state;
	wc_block_begin(&w, &buf, false);
	wc_block_row(&w, S("r"), false);
	wc_block_cell(&w, 0, &cell, false, false);
	wc_block_finish(&w, false, true);
	assert_int_equal(buf.len, sizeof(expected) - 1);
	assert_memory_equal(buf.data, expected, buf.len);
	wc_buf_free(&buf);
}

static void
full_buffer_is_seen_at_the_end(void **state)
{
	WcCell		cell = {.type = WC_PUT, .value = S("0123456789")};

	(void) state;
	for (size_t limit = 1; limit < 200; limit++)
	{
		WcBuf		buf;
		WcBlockWriter w;

		wc_buf_init(&buf, limit);
		wc_block_begin(&w, &buf, false);
		for (int i = 0; i < 100; i++)
		{
			wc_block_row(&w, S("row"), false);
			wc_block_cell(&w, 0, &cell, true, false);
		}
		wc_block_finish(&w, false, true);
		assert_int_equal(wc_buf_status(&buf, "block", NULL), WC_TOO_LARGE);
		assert_true(buf.len <= limit);
		assert_true(w.nrows < 100 && w.ncells < 100);
		wc_buf_free(&buf);
	}
}

static void
rows_of_whole_blocks(void **state)
{
	WcCell		cell = {.family = 1,.qualifier = S("q"),.ts = 5,.value = S("v")};
	WcSlice		rows;

	(void) state;
	for (int kind = 0; kind < 8; kind++)
	{
		bool		continues = (kind & 1) != 0;
		bool		open = (kind & 2) != 0;
		WcBuf		buf = WC_BUF_INIT;
		WcBlockWriter w;

		wc_block_begin(&w, &buf, continues);
		if ((kind & 4) != 0)
		{
			wc_block_row(&w, S("r"), false);
			wc_block_cell(&w, 0, &cell, true, false);
		}
		wc_block_finish(&w, open, false);
		assert_int_equal(wc_block_whole_rows(wc_buf_slice(&buf), &rows), !continues && !open);
		if (!continues && !open)
			assert_true(wc_slice_eq(rows, wc_slice(buf.data + 1, buf.len - 1)));
		wc_buf_free(&buf);
	}
	assert_false(wc_block_whole_rows(S(""), &rows));
	assert_false(wc_block_whole_rows(S("\xff"), &rows));
}

/* --- any bytes -------------------------------------------------------------- */

typedef struct Tally
{
	int			whole;
	int			corrupt;
} Tally;

static void
read_block(WcSlice bytes, void *arg)
{
	Tally	   *tally = arg;
	WcBlockReader r;
	WcBlockEntry entry;
	WcError		err;
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;
	bool		in_row;

	if (wc_block_open(&r, bytes, &err) != WC_OK)
	{
		assert_int_equal(err.status, WC_CORRUPT);
		assert_int_equal(wc_block_next(&r, &row, &cell, &colno), WC_BLOCK_CORRUPT);
		tally->corrupt++;
		return;
	}
	in_row = r.continues;
	while ((entry = wc_block_next(&r, &row, &cell, &colno)) == WC_BLOCK_ROW || entry == WC_BLOCK_CELL)
	{
		if (entry == WC_BLOCK_ROW)
		{
			assert_true(row.len > 0 && row.len <= WC_ROW_MAX);
			wc_mangle_touch(row);
			in_row = true;
			continue;
		}
		assert_true(in_row);
		wc_mangle_touch(cell.value);
		if (colno == WC_NO_COLUMN)
		{
			assert_true(cell.qualifier.len <= WC_QUALIFIER_MAX);
			wc_mangle_touch(cell.qualifier);
		}
		else
			assert_true(colno < WC_COLUMNS_MAX);
		assert_true(cell.ts >= 0 && cell.ttl_us >= 0);
		assert_true(wc_cell_type_valid(cell.type));
	}
	if (entry == WC_BLOCK_CORRUPT)
	{
		assert_int_equal(wc_block_next(&r, &row, &cell, &colno), WC_BLOCK_CORRUPT);
		tally->corrupt++;
	}
	else
		tally->whole++;
}

static void
blocks_survive_any_bytes(void **state)
{
	WcCell		put = {.family = 300, .type = WC_PUT, .qualifier = S("qualifier"), .ts = 1, .ttl_us = 1000000, .value = S("value")};
	WcCell		marker = {.family = 1, .type = WC_DELETE_COLUMN, .qualifier = S(""), .ts = INT64_MAX - 1};
	static const uint8_t long_value[300] = {1};
	WcBuf		buf = WC_BUF_INIT;
	WcBlockWriter w;
	Tally		tally = {0, 0};

	(void) state;
	wc_block_begin(&w, &buf, true);
	wc_block_cell(&w, 3, &put, false, false);
	wc_block_row(&w, S("a"), false);
	wc_block_cell(&w, 3, &put, true, false);
	wc_block_cell(&w, 300, &put, true, true);
	wc_block_cell(&w, WC_NO_COLUMN, &put, true, false);
	wc_block_cell(&w, WC_NO_COLUMN, &marker, true, false);
	put.value = wc_slice(long_value, sizeof(long_value));
	wc_block_row(&w, wc_slice(long_value, sizeof(long_value)), false);
	wc_block_cell(&w, WC_NO_COLUMN, &put, false, false);
	wc_block_finish(&w, true, false);

	/* Cut behind the head or behind one of the 8 entries it is a block. */
	wc_mangle_prefixes(wc_buf_slice(&buf), read_block, &tally);
	assert_int_equal(tally.whole, 1 + 8);
	assert_int_equal(tally.corrupt, buf.len + 1 - 9);
	wc_mangle_randomly(wc_buf_slice(&buf), 50000, read_block, &tally);
	wc_buf_free(&buf);
}

static void
impossible_blocks_are_corrupt(void **state)
{
	static const struct
	{
		const char *why;
		WcSlice		bytes;
	}			blocks[] = {
#define BLOCK(why, literal) {why, {(const uint8_t *) (literal), sizeof(literal) - 1}}
		BLOCK("no head", ""),
		BLOCK("unknown flag", "\x10"),
		BLOCK("times of a row that goes on", "\x0a"),
		BLOCK("times of a row that has begun before", "\x09"),
		BLOCK("open and end", "\x06"),
		BLOCK("tag above a row's", "\x00\x84\x01r\x01"),
		BLOCK("decided and owed", "\x00\x82\x01r\x01"),
		BLOCK("owed, but not how many", "\x00\x83\x01r"),
		BLOCK("empty row", "\x00\x80\x00"),
		BLOCK("cell without a row", "\x00\x00\x01v"),
		BLOCK("position too large", "\x01\x70\x80\x80\x04\x01v"),
		BLOCK("named, with a position", "\x01\x11\x01\x00\x01v"),
		BLOCK("family id of 33 bits", "\x01\x01\x80\x80\x80\x80\x10\x00\x00"),
		BLOCK("ttl without a timestamp", "\x01\x04\x01\x01v"),
		BLOCK("ttl 0", "\x01\x06\0\0\0\0\0\0\0\1\x04\x00\x00"),
		BLOCK("unknown cell type", "\x01\x02\0\0\0\0\0\0\0\1\x05\x00"),
		BLOCK("timestamp given and provisional", "\x01\x02\0\0\0\0\0\0\0\1\xC4\x00"),
		BLOCK("negative timestamp", "\x01\x02\x80\0\0\0\0\0\0\1\x04\x00"),
		BLOCK("value longer than the block", "\x01\x00\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01v"),
#undef BLOCK
	};
	Tally		tally = {0, 0};

	(void) state;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
	{
		tally.corrupt = 0;
		read_block(blocks[i].bytes, &tally);
		if (tally.corrupt != 1)
			fail_msg("accepted: %s", blocks[i].why);
	}
}

/* As wc_block_cell would write it. */
static void
bytes_of_a_cell(void **state)
{
	WcCell		cell = {.family = 300,.qualifier = S("a"),.type = WC_PUT,.ts = WC_TS_LATEST,.seq = WC_TS_LATEST,.value = S("xy")};
	WcBuf		one = WC_BUF_INIT;
	WcBuf		other = WC_BUF_INIT;
	WcBlockWriter w;

	wc_block_begin(&w, &one, false);
	wc_block_row(&w, S("r"), false);
	wc_block_cell(&w, WC_NO_COLUMN, &cell, false, false);
	assert_int_equal(w.ncells, 1);
	wc_block_finish(&w, false, true);
	wc_block_begin(&w, &other, false);
	wc_block_row(&w, S("r"), false);
	wc_block_named(&w, 300, S("\x01" "a" "\x02" "xy"));
	assert_int_equal(w.ncells, 1);
	wc_block_finish(&w, false, true);
	assert_true(wc_slice_eq(wc_buf_slice(&one), wc_buf_slice(&other)));
	wc_buf_free(&one);
	wc_buf_free(&other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_of_a_cell),
		cmocka_unit_test(cells_read_back),
		cmocka_unit_test(provisional_timestamps_are_told),
		cmocka_unit_test(blocks_continue_each_other),
		cmocka_unit_test(what_was_written_can_be_taken_back),
		cmocka_unit_test(block_bytes_are_the_documented_ones),
		cmocka_unit_test(full_buffer_is_seen_at_the_end),
		cmocka_unit_test(rows_of_whole_blocks),
		cmocka_unit_test(blocks_survive_any_bytes),
		cmocka_unit_test(impossible_blocks_are_corrupt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
