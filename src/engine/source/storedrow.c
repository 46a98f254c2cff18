/*
 * engine/source/storedrow.c: a row whose cells are one key-value, without cells that are gone.
 */
#include "engine/source/storedrow.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/limits.h"

void
wc_storedrow_init(WcStoredRow *r, WcGone gone)
{
	*r = (WcStoredRow) {.gone = gone,.left_value = WC_BUF_INIT};
}

void
wc_storedrow_free(WcStoredRow *r)
{
	wc_buf_free(&r->left_value);
	free(r->left);
}

void
wc_storedrow_close(WcStoredRow *r)
{
	r->reader = (WcPackedRow) {.left = 0};
}

static WcStatus
damaged(WcStoredRow *r, WcSlice row, WcError *err)
{
	wc_decoder_fail(&r->reader.d);
	return wc_packedrow_status(&r->reader, row, err);
}

/* Can a cell of the row be gone?  Called when the value's head has been read. */
static inline bool
may_be_gone(const WcStoredRow *r)
{
	if (r->reader.flags & WC_PACKED_PLAIN)
		return r->reader.ts < r->gone.oldest_ts;
	return wc_gone_any(&r->gone) && (r->gone.oldest_ts > 0 || !(r->reader.flags & WC_PACKED_SIMPLE));
}

/* Reads the row without the cells that are gone; none may be left. */
static WcStatus
leave_out_gone(WcStoredRow *r, WcSlice value, WcSlice row, WcError *err)
{
	size_t		n;
	WcStatus	status = wc_gone_unpack(value, &r->gone, &r->left, &r->left_cap, &n);

	if (status == WC_NO_MEMORY)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a row of %" PRIu32 " cells", r->reader.ncells);
	if (status != WC_OK)
		return damaged(r, row, err);
	if (n == r->reader.ncells)
		return WC_OK;
	wc_storedrow_close(r);
	if (n == 0)
		return WC_OK;
	wc_buf_reset(&r->left_value, WC_BLOCK_MAX);
	wc_packedrow_append(&r->left_value, r->left, n);
	if (r->left_value.failed)
		return wc_buf_status(&r->left_value, "row", err);
	return wc_packedrow_open(&r->reader, wc_buf_slice(&r->left_value), err);
}

WcStatus
wc_storedrow_open(WcStoredRow *r, WcSlice value, WcSlice row, WcError *err)
{
	if (wc_packedrow_open(&r->reader, value, err) != WC_OK)
		return damaged(r, row, err);
	return may_be_gone(r) ? leave_out_gone(r, value, row, err) : WC_OK;
}

WcStatus
wc_storedrow_next(WcStoredRow *r, WcSlice row, WcCell *cell, WcError *err)
{
	if (wc_packedrow_next(&r->reader, cell))
		return WC_OK;
	return r->reader.d.failed ? wc_packedrow_status(&r->reader, row, err) : WC_END;
}

WcStatus
wc_storedrow_seek(WcStoredRow *r, WcSlice row, WcSlice qualifier, bool after, WcError *err)
{
	wc_packedrow_seek(&r->reader, qualifier, after);
	return wc_packedrow_status(&r->reader, row, err);
}

bool
wc_storedrow_append(WcBuf *value, const WcCell *cells, size_t n, uint32_t versions, size_t max)
{
	size_t		start = value->len;
	size_t		bytes = 0;
	uint32_t	puts = 0;		/* of the column, so far */
	uint32_t	superseded = 0;

	for (size_t i = 0; i < n && bytes <= max && superseded <= WC_SUPERSEDED_MAX; i++)
	{
		bytes += cells[i].qualifier.len + cells[i].value.len;
		if (i > 0 && !wc_slice_eq(cells[i].qualifier, cells[i - 1].qualifier))
			puts = 0;
		puts += cells[i].type == WC_PUT;
		superseded += cells[i].type == WC_PUT && puts > versions;
	}
	if (bytes > max || superseded > WC_SUPERSEDED_MAX)
		return false;
	wc_packedrow_append(value, cells, n);
	if (value->len - start <= max)
		return true;
	value->len = start;
	return false;
}
