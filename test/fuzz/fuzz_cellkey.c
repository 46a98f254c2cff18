/*
 * test/fuzz/fuzz_cellkey.c: keys and values in packing "cell" (engine/rocks/cellkey.h).
 *
 * The input is two keys, each with its length in front, and the value of the first.
 */
#include "engine/rocks/cellkey.h"
#include "fuzz.h"

/* The key of a cell, and what can be told of it without taking it all apart. */
static bool
read_key(WcSlice key, WcBuf *scratch, WcCell *cell)
{
	WcBuf		again = WC_BUF_INIT;
	WcBuf		rest_scratch = WC_BUF_INIT;
	size_t		row = wc_cellkey_row_prefix(key);
	size_t		column = wc_cellkey_column_prefix(key);
	WcCell		rest;

	HOLDS(row <= key.len && column <= key.len && (column == 0 || row < column || wc_cellkey_is_head(key)));
	HOLDS(!wc_cellkey_is_head(key) || (row == key.len && column == row));
	if (wc_cellkey_decode(key, scratch, cell, NULL) != WC_OK)
		return false;
	wc_cellkey_append_cell(&again, cell);
	HOLDS(wc_slice_eq(wc_buf_slice(&again), key));

	again.len = 0;
	wc_cellkey_append_column(&again, cell->row, cell->qualifier);
	HOLDS(again.len == column && memcmp(again.data, key.data, column) == 0);
	again.len = 0;
	wc_cellkey_append_row(&again, cell->row);
	HOLDS(again.len == row && memcmp(again.data, key.data, row) == 0);
	wc_cellkey_end_of_prefix(&again);
	HOLDS(wc_slice_cmp(wc_buf_slice(&again), key) > 0);

	HOLDS(wc_cellkey_decode_rest(wc_slice(key.data + row, key.len - row), &rest_scratch, &rest, NULL) == WC_OK);
	HOLDS(wc_slice_eq(rest.qualifier, cell->qualifier) && rest.ts == cell->ts && rest.type == cell->type);
	again.len = 0;
	HOLDS(wc_cellkey_row(key, &again, NULL) == WC_OK && wc_slice_eq(wc_buf_slice(&again), cell->row));
	wc_buf_free(&again);
	wc_buf_free(&rest_scratch);
	return true;
}

/* memcmp of the keys is the order of the cells. */
static void
check_order(WcSlice key_a, const WcCell *a, WcSlice key_b, const WcCell *b)
{
	int			keys = wc_slice_cmp(key_a, key_b);
	int			cells = wc_slice_cmp(a->row, b->row);

	if (cells == 0)
		cells = wc_cell_cmp(a, b);
	HOLDS((keys > 0) == (cells > 0) && (keys < 0) == (cells < 0));
}

static bool
recode_value(WcSlice in, WcBuf *out)
{
	WcCell		cell = {.ts = 7};

	if (wc_cellvalue_decode(in, &cell, NULL) != WC_OK)
		return false;
	HOLDS(cell.ttl_us >= 0 && cell.seq >= 0);
	wc_cellvalue_append(out, &cell);
	return true;
}

FUZZ_TARGET(cellkey)
{
	WcDecoder	d = wc_decoder(in);
	WcSlice		key_a = wc_fuzz_copy(wc_decode_bytes(&d));
	WcSlice		key_b = wc_fuzz_copy(wc_decode_bytes(&d));
	WcSlice		value = wc_decode_raw(&d, wc_decoder_left(&d));
	WcBuf		scratch_a = WC_BUF_INIT;
	WcBuf		scratch_b = WC_BUF_INIT;
	WcCell		a = {.seq = 0};
	WcCell		b = {.seq = 0};

	if (read_key(key_a, &scratch_a, &a) && read_key(key_b, &scratch_b, &b))
		check_order(key_a, &a, key_b, &b);
	wc_fuzz_recode(value, recode_value, true);
	wc_buf_free(&scratch_a);
	wc_buf_free(&scratch_b);
	wc_fuzz_free(key_a);
	wc_fuzz_free(key_b);
}
