/*
 * test/fuzz/fuzz_storedrow.c: rows that are together, without cells that are gone
 * (engine/source/storedrow.h).
 *
 * The input is the two marks that tell which cells are gone, a qualifier to seek, and the value
 * of a row.
 */
#include "engine/source/storedrow.h"
#include "fuzz.h"

#define CELLS_MAX 256

static const WcSlice row = {(const uint8_t *) "r", 1};

/* Would a writer write these cells as this value? */
static bool
is_written_so(WcSlice value, const WcCell *cells, size_t n)
{
	WcBuf		out = WC_BUF_INIT;
	bool		same;

	for (size_t i = 1; i < n; i++)
	{
		if (wc_cell_cmp(&cells[i - 1], &cells[i]) >= 0)
			return false;
	}
	wc_packedrow_append(&out, cells, n);
	same = wc_slice_eq(wc_buf_slice(&out), value);
	wc_buf_free(&out);
	return same;
}

/* The cells of the value that are not gone, by a plain walk.  False: the bytes are not a writer's, or there are too
 * many cells. */
static bool
read_left(WcSlice value, const WcGone *gone, WcCell *cells, size_t *n)
{
	WcPackedRow r;
	size_t		all = 0;

	*n = 0;
	if (wc_packedrow_open(&r, value, NULL) != WC_OK || r.ncells > CELLS_MAX || r.ncells == 0)
		return false;
	while (wc_packedrow_next(&r, &cells[all]))
	{
		cells[all].row = row;
		cells[all].family = 0;
		all++;
	}
	if (wc_packedrow_status(&r, row, NULL) != WC_OK || !is_written_so(value, cells, all))
		return false;
	for (size_t i = 0; i < all; i++)
	{
		if (!wc_gone_is(gone, &cells[i]))
			cells[(*n)++] = cells[i];
	}
	return true;
}

/* The cells from the present one on are these. */
static void
check_rest(WcStoredRow *stored, const WcCell *cells, size_t n)
{
	WcCell		cell;

	for (size_t i = 0; i < n; i++)
	{
		HOLDS(wc_storedrow_next(stored, row, &cell, NULL) == WC_OK);
		HOLDS(cell.type == cells[i].type && cell.ts == cells[i].ts && cell.seq == cells[i].seq && cell.ttl_us == cells[i].ttl_us);
		HOLDS(wc_slice_eq(cell.qualifier, cells[i].qualifier) && wc_slice_eq(cell.value, cells[i].value));
	}
	HOLDS(wc_storedrow_next(stored, row, &cell, NULL) == WC_END);
}

/* Whatever the bytes are: they are read without harm, up to the first damage. */
static void
read_any(WcStoredRow *stored, WcSlice value, WcSlice qualifier)
{
	WcStatus	status = wc_storedrow_open(stored, value, row, NULL);
	WcCell		cell;

	if (status == WC_OK)
		status = wc_storedrow_seek(stored, row, qualifier, false, NULL);
	while (status == WC_OK && (status = wc_storedrow_next(stored, row, &cell, NULL)) == WC_OK)
	{
		wc_fuzz_touch(cell.qualifier);
		wc_fuzz_touch(cell.value);
	}
	wc_storedrow_close(stored);
}

FUZZ_TARGET(storedrow)
{
	static WcCell cells[CELLS_MAX];
	WcDecoder	d = wc_decoder(in);
	WcGone		gone = {
		.oldest_ts = (int64_t) wc_decode_varint_max(&d, INT64_MAX),
		.oldest_until_ts = (int64_t) wc_decode_varint_max(&d, INT64_MAX),
		.expired_ts = (int64_t) wc_decode_varint_max(&d, INT64_MAX)
	};
	WcSlice		qualifier = wc_decode_bytes(&d);
	WcSlice		value = wc_decode_raw(&d, wc_decoder_left(&d));
	WcStoredRow stored;
	size_t		first = 0;
	size_t		n;

	if (d.failed)
		return;
	wc_storedrow_init(&stored, gone);
	read_any(&stored, value, qualifier);
	if (read_left(value, &gone, cells, &n))
	{
		HOLDS(wc_storedrow_open(&stored, value, row, NULL) == WC_OK);
		check_rest(&stored, cells, n);
		while (first < n && wc_slice_cmp(cells[first].qualifier, qualifier) < 0)
			first++;
		HOLDS(wc_storedrow_open(&stored, value, row, NULL) == WC_OK);
		HOLDS(wc_storedrow_seek(&stored, row, qualifier, false, NULL) == WC_OK);
		check_rest(&stored, cells + first, n - first);
	}
	wc_storedrow_free(&stored);
}
