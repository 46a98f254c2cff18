/*
 * test/fuzz/fuzz_matcher.c: what a matcher knows in the midst of a row (read/cell/matcher.h).
 */
#include "fuzz.h"
#include "read/cell/matcher.h"

static bool
recode(WcSlice in, WcBuf *out)
{
	WcMatcherOptions options = {.mode = WC_MATCH_MINOR,.attrs = wc_family_attrs_default,.now_us = 1000,
		.versions = 1,.ts_max = WC_TS_LATEST,.dated_until_ts = INT64_MAX,.earliest_put_ts = INT64_MIN};
	WcMatcher  *matcher;
	bool		good;

	HOLDS(wc_matcher_create(&options, &matcher, NULL) == WC_OK);
	good = wc_matcher_restore(matcher, in, NULL) == WC_OK;
	if (good)
		wc_matcher_save(matcher, out);
	wc_matcher_free(matcher);
	return good;
}

FUZZ_TARGET(matcher)
{
	wc_fuzz_recode(in, recode, true);
}
