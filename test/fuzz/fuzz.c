/*
 * test/fuzz/fuzz.c: what the fuzz targets share, and the entry that libFuzzer calls.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

WcFuzzTarget wc_fuzz_targets[WC_FUZZ_TARGETS_MAX];
size_t		wc_fuzz_ntargets;

void
wc_fuzz_enlist(const char *name, WcFuzzRun run)
{
	HOLDS(wc_fuzz_ntargets < WC_FUZZ_TARGETS_MAX);
	wc_fuzz_targets[wc_fuzz_ntargets++] = (WcFuzzTarget) {name, run};
}

void
wc_fuzz_fail(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	abort();
}

void
wc_fuzz_touch(WcSlice s)
{
	volatile uint8_t sum = 0;

	for (size_t i = 0; i < s.len; i++)
		sum = (uint8_t) (sum + s.data[i]);
}

WcSlice
wc_fuzz_copy(WcSlice s)
{
	uint8_t    *copy = NULL;

	if (s.len > 0)
	{
		copy = malloc(s.len);
		HOLDS(copy != NULL);
		memcpy(copy, s.data, s.len);
	}
	return wc_slice(copy, s.len);
}

void
wc_fuzz_free(WcSlice s)
{
	free((void *) s.data);
}

void
wc_fuzz_recode(WcSlice in, WcFuzzRecode recode, bool exact)
{
	WcBuf		first = WC_BUF_INIT;
	WcBuf		second = WC_BUF_INIT;

	if (recode(in, &first))
	{
		WcSlice		again = wc_fuzz_copy(wc_buf_slice(&first));

		HOLDS(!first.failed);
		if (exact)
			HOLDS(again.len < in.len || wc_slice_eq(again, in));
		HOLDS(recode(again, &second));
		HOLDS(wc_slice_eq(again, wc_buf_slice(&second)));
		wc_fuzz_free(again);
	}
	wc_buf_free(&first);
	wc_buf_free(&second);
}

/* In a program of one target. */
extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	wc_fuzz_targets[0].run(wc_slice(data, size));
	return 0;
}
