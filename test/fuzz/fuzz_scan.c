/*
 * test/fuzz/fuzz_scan.c: Scans (model/scan.h).
 */
#include "fuzz.h"
#include "model/scan.h"

static void
check_ranges(const WcScan *scan)
{
	for (uint32_t i = 0; i < scan->nranges; i++)
	{
		const WcRange *r = &scan->ranges[i];

		HOLDS(!wc_range_is_empty(r) || scan->nranges == 1);
		if (r->start.len > 0)
			HOLDS(wc_range_is_empty(r) || wc_range_contains(r, r->start) == r->start_inclusive);
		if (wc_range_is_point(r))
			HOLDS(wc_range_contains(r, r->start) && wc_range_contains(r, r->stop));
		if (i > 0)
			HOLDS(wc_slice_cmp(scan->ranges[i - 1].start, r->start) <= 0);
	}
}

static bool
recode(WcSlice in, WcBuf *out)
{
	WcArena		arena = WC_ARENA_INIT;
	WcScan		scan;
	bool		good = wc_scan_decode(in, &arena, &scan, NULL) == WC_OK;

	if (good)
	{
		check_ranges(&scan);
		wc_scan_encode(out, &scan);
	}
	wc_arena_free(&arena);
	return good;
}

FUZZ_TARGET(scan)
{
	wc_fuzz_recode(in, recode, true);
}
