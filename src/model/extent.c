/*
 * model/extent.c: extents of operations and of ranges.
 */
#include "model/extent.h"

#include "model/batch.h"

static uint64_t
table_bit(uint32_t table_id)
{
	return UINT64_C(1) << table_id % 64;
}

/* The first eight bytes, as a number; a shorter key is filled up with zeros.  Keys in their order have numbers in the same order, or
 * the same number. */
static uint64_t
number_of(WcSlice row)
{
	uint64_t	number = 0;

	for (size_t i = 0; i < WC_EXTENT_KEY; i++)
		number = number << 8 | (i < row.len ? row.data[i] : 0);
	return number;
}

void
wc_extent_add(WcExtent *extent, const WcExtent *other)
{
	extent->tables |= other->tables;
	if (other->least < extent->least)
		extent->least = other->least;
	if (other->greatest > extent->greatest)
		extent->greatest = other->greatest;
}

void
wc_extent_add_row(WcExtent *extent, uint32_t table_id, WcSlice row)
{
	uint64_t	number = number_of(row);

	wc_extent_add(extent, &(WcExtent) {table_bit(table_id), number, number});
}

void
wc_extent_add_batch(WcExtent *extent, WcSlice operations)
{
	WcDecoder	d = wc_decoder(operations);
	WcOp		op;
	WcStatus	status;

	while ((status = wc_batch_next_op(&d, &op, NULL)) == WC_OK)
	{
		if (op.kind == WC_OP_ROW)
			wc_extent_add_row(extent, op.table_id, op.row);
		else if (op.kind != WC_OP_LOCK)
			*extent = WC_EXTENT_ALL;
	}
	if (status != WC_END)
		*extent = WC_EXTENT_ALL;
}

static WcExtent
extent_of(uint32_t table_id, const WcRange *range)
{
	return (WcExtent) {table_bit(table_id), number_of(range->start), range->stop.len > 0 ? number_of(range->stop) : UINT64_MAX};
}

WcExtent
wc_extent_of_scan(const WcScan *scan)
{
	const WcRange all = {.stop = {NULL, 0}};
	WcExtent	extent = extent_of(scan->table_id, scan->nranges > 0 ? &scan->ranges[0] : &all);

	for (uint32_t i = 1; i < scan->nranges; i++)
	{
		WcExtent	next = extent_of(scan->table_id, &scan->ranges[i]);

		wc_extent_add(&extent, &next);
	}
	return extent;
}

/* The least key with this number, which is not 0. */
static WcSlice
least_key(uint64_t number, uint8_t bytes[WC_EXTENT_KEY])
{
	size_t		len = WC_EXTENT_KEY;

	for (int i = WC_EXTENT_KEY - 1; i >= 0; i--, number >>= 8)
		bytes[i] = (uint8_t) number;
	while (bytes[len - 1] == 0)
		len--;
	return wc_slice(bytes, len);
}

bool
wc_extent_cut_range(const WcExtent *extent, bool reversed, WcRange *range, uint8_t bytes[WC_EXTENT_KEY])
{
	WcExtent	whole = extent_of(0, range);

	if (reversed ? extent->greatest >= whole.greatest : extent->least <= whole.least)
		return false;
	if (reversed && extent->greatest >= whole.least)
	{
		range->start = least_key(extent->greatest + 1, bytes);
		range->start_inclusive = true;
	}
	else if (!reversed && extent->least <= whole.greatest)
	{
		range->stop = least_key(extent->least, bytes);
		range->stop_inclusive = false;
	}
	return true;
}
