/*
 * test/fuzz/fuzz_rowkey.c: row keys (rowkey/rowkey.h), and what describes them (rowkey/keycheck.h).
 *
 * The input is a key check with its length in front, a row likewise, and contents of parts
 * likewise.
 */
#include "fuzz.h"
#include "rowkey/keycheck.h"

static bool
recode_check(WcSlice in, WcBuf *out)
{
	WcArena		arena = WC_ARENA_INIT;
	WcKeyCheck	check;
	bool		good = wc_keycheck_decode(in, &arena, &check, NULL) == WC_OK;

	if (good)
		wc_keycheck_encode(out, &check);
	wc_arena_free(&arena);
	return good;
}

/* The row without its salt is in the range. */
static void
check_inside(const WcKeyLayout *layout, WcSlice row, const WcKeyRange *range)
{
	size_t		salt = layout->salt.buckets > 0 ? 1 : 0;

	HOLDS(!range->empty && wc_range_contains(&range->range, wc_slice(row.data + salt, row.len - salt)));
}

/* A row is in the ranges of all conditions that it satisfies. */
static void
check_ranges(const WcKeyLayout *layout, WcSlice row, const WcSlice *parts, WcArena *arena)
{
	static const WcKeyOp ops[] = {WC_KEY_EQ, WC_KEY_LE, WC_KEY_GE, WC_KEY_PREFIX};
	WcKeyRange	range;
	WcInterval	interval[WC_INTERVALS_MAX];

	for (uint32_t n = 0; n <= layout->nparts; n++)
	{
		HOLDS(wc_rowkey_range(layout, parts, n, NULL, arena, &range, NULL) == WC_OK);
		check_inside(layout, row, &range);
		for (size_t i = 0; n < layout->nparts && i < sizeof(ops) / sizeof(ops[0]); i++)
		{
			HOLDS(wc_interval_of_op(WC_ORDER_BYTES, ops[i], WC_FIT_EXACT, parts[n], interval) == 1);
			HOLDS(wc_rowkey_range(layout, parts, n, &interval[0], arena, &range, NULL) == WC_OK);
			check_inside(layout, row, &range);
		}
	}
}

static void
check_split(const WcKeyCheck *check, WcSlice row, WcSlice *parts, WcArena *arena)
{
	const WcKeyLayout *layout = &check->layout;
	WcBuf		scratch = WC_BUF_INIT;
	WcBuf		again = WC_BUF_INIT;
	bool		reads = wc_keycheck_reads(check, row, &scratch, parts);

	if (wc_rowkey_split(layout, row, &scratch, parts, NULL) == WC_OK)
	{
		/* longer keys than there are rows can be split */
		if (row.len > 0 && row.len <= WC_ROW_MAX)
		{
			HOLDS(wc_rowkey_compose(layout, parts, &again, NULL, NULL) == WC_OK);
			HOLDS(wc_slice_eq(wc_buf_slice(&again), row));
			check_ranges(layout, row, parts, arena);
		}
	}
	else
		HOLDS(!reads);
	wc_buf_free(&again);
	wc_buf_free(&scratch);
}

static void
check_compose(const WcKeyLayout *layout, const WcSlice *contents, WcSlice *parts)
{
	WcBuf		row = WC_BUF_INIT;
	WcBuf		scratch = WC_BUF_INIT;
	uint32_t	bad_part = UINT32_MAX;

	if (wc_rowkey_compose(layout, contents, &row, &bad_part, NULL) == WC_OK)
	{
		HOLDS(wc_rowkey_split(layout, wc_buf_slice(&row), &scratch, parts, NULL) == WC_OK);
		for (uint32_t i = 0; i < layout->nparts; i++)
			HOLDS(wc_slice_eq(contents[i], parts[i]));
	}
	else
		HOLDS(row.len == 0 && bad_part <= layout->nparts);
	wc_buf_free(&row);
	wc_buf_free(&scratch);
}

FUZZ_TARGET(rowkey)
{
	WcArena		arena = WC_ARENA_INIT;
	WcDecoder	d = wc_decoder(in);
	WcSlice		description = wc_decode_bytes(&d);
	WcSlice		row = wc_fuzz_copy(wc_decode_bytes(&d));
	WcKeyCheck	check;

	wc_fuzz_recode(description, recode_check, true);
	if (!d.failed && wc_keycheck_decode(description, &arena, &check, NULL) == WC_OK && check.layout.nparts > 0)
	{
		size_t		size = check.layout.nparts * sizeof(WcSlice);
		WcSlice    *parts = wc_arena_alloc_zero(&arena, size);
		WcSlice    *contents = wc_arena_alloc_zero(&arena, size);

		HOLDS(parts != NULL && contents != NULL);
		check_split(&check, row, parts, &arena);
		for (uint32_t i = 0; i < check.layout.nparts; i++)
			contents[i] = wc_decode_bytes(&d);
		check_compose(&check.layout, contents, parts);
	}
	wc_fuzz_free(row);
	wc_arena_free(&arena);
}
