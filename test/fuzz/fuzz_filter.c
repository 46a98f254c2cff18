/*
 * test/fuzz/fuzz_filter.c: a Scan's filter (model/filter.h).
 *
 * A byte says how many columns the Scan has.
 */
#include "fuzz.h"
#include "model/filter.h"

static bool
recode(WcSlice in, WcBuf *out)
{
	WcArena		arena = WC_ARENA_INIT;
	WcDecoder	d = wc_decoder(in);
	uint8_t		ncolumns = wc_decode_u8(&d);
	WcFilter   *filter;
	bool		good;

	wc_filter_decode(&d, &arena, &filter);
	HOLDS(filter != NULL);
	good = wc_decoder_done(&d) && wc_filter_check(filter, ncolumns, NULL) == WC_OK;
	if (good)
	{
		wc_buf_append_u8(out, ncolumns);
		wc_filter_encode(out, filter);
	}
	wc_arena_free(&arena);
	return good;
}

FUZZ_TARGET(filter)
{
	wc_fuzz_recode(in, recode, true);
}
