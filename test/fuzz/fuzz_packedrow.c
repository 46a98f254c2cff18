/*
 * test/fuzz/fuzz_packedrow.c: rows in packing "row" (read/cell/packedrow.h).
 *
 * The input is a number (where wc_packedrow_find looks first), a qualifier to look for, and
 * the value of a row.
 */
#include "fuzz.h"
#include "read/cell/packedrow.h"

#define CELLS_MAX 256

/* All cells.  False: the bytes make no sense, or there are more than CELLS_MAX. */
static bool
read_all(WcSlice value, WcCell *cells, size_t *n)
{
	WcPackedRow r;

	*n = 0;
	if (wc_packedrow_open(&r, value, NULL) != WC_OK || r.ncells > CELLS_MAX)
		return false;
	HOLDS(r.ncells <= value.len / 2);
	while (wc_packedrow_next(&r, &cells[*n]))
	{
		wc_fuzz_touch(cells[*n].qualifier);
		wc_fuzz_touch(cells[*n].value);
		HOLDS(cells[*n].ts >= 0 && cells[*n].seq >= 0 && cells[*n].ttl_us >= 0 && wc_cell_type_valid(cells[*n].type));
		++*n;
	}
	HOLDS(*n <= r.ncells);
	return wc_packedrow_status(&r, wc_slice("r", 1), NULL) == WC_OK;
}

static bool
is_same(const WcCell *a, const WcCell *b)
{
	return a->type == b->type && a->ts == b->ts && a->seq == b->seq && a->ttl_us == b->ttl_us &&
		wc_slice_eq(a->qualifier, b->qualifier) && wc_slice_eq(a->value, b->value);
}

/* As a writer has them: in cell order, none twice. */
static bool
in_order(const WcCell *cells, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		if (wc_cell_cmp(&cells[i - 1], &cells[i]) >= 0)
			return false;
	}
	return true;
}

static void
check_written(const WcCell *cells, size_t n)
{
	static WcCell again[CELLS_MAX];
	WcBuf		out = WC_BUF_INIT;
	WcSlice		copy;
	size_t		nagain;

	wc_packedrow_append(&out, cells, n);
	HOLDS(!out.failed);
	copy = wc_fuzz_copy(wc_buf_slice(&out));
	HOLDS(read_all(copy, again, &nagain) && nagain == n);
	for (size_t i = 0; i < n; i++)
		HOLDS(is_same(&cells[i], &again[i]));
	wc_fuzz_free(copy);
	wc_buf_free(&out);
}

/* Seeking and finding give what looking at one cell after the other gives. */
static void
check_search(WcSlice value, const WcCell *cells, size_t n, WcSlice qualifier, uint32_t before)
{
	WcPackedRow r;
	WcCell		cell;
	size_t		first = 0;
	size_t		behind;

	while (first < n && wc_slice_cmp(cells[first].qualifier, qualifier) < 0)
		first++;
	behind = first;
	while (behind < n && wc_slice_eq(cells[behind].qualifier, qualifier))
		behind++;

	HOLDS(wc_packedrow_open(&r, value, NULL) == WC_OK);
	HOLDS(wc_packedrow_find(&r, qualifier, &before, &cell) == (behind > first));
	HOLDS(behind == first || is_same(&cell, &cells[first]));
	for (size_t i = behind > first ? first + 1 : first; i < n; i++)
		HOLDS(wc_packedrow_next(&r, &cell) && is_same(&cell, &cells[i]));
	HOLDS(!wc_packedrow_next(&r, &cell));

	for (int after = 0; after <= 1; after++)
	{
		HOLDS(wc_packedrow_open(&r, value, NULL) == WC_OK);
		wc_packedrow_seek(&r, qualifier, after == 1);
		for (size_t i = after == 1 ? behind : first; i < n; i++)
			HOLDS(wc_packedrow_next(&r, &cell) && is_same(&cell, &cells[i]));
		HOLDS(!wc_packedrow_next(&r, &cell));
	}
}

FUZZ_TARGET(packedrow)
{
	static WcCell cells[CELLS_MAX];
	WcDecoder	d = wc_decoder(in);
	uint32_t	before = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	WcSlice		qualifier = wc_decode_bytes(&d);
	WcSlice		value = wc_decode_raw(&d, wc_decoder_left(&d));
	WcPackedRow r;
	WcCell		cell;
	uint32_t	hint = before;
	size_t		n;

	if (d.failed)
		return;

	/* whatever the bytes are, they are not left */
	if (wc_packedrow_open(&r, value, NULL) == WC_OK && wc_packedrow_find(&r, qualifier, &hint, &cell))
	{
		wc_fuzz_touch(cell.value);
		wc_packedrow_seek(&r, cell.value, true);
	}
	if (!read_all(value, cells, &n) || n == 0 || !in_order(cells, n))
		return;
	check_written(cells, n);
	check_search(value, cells, n, qualifier, before);
}
