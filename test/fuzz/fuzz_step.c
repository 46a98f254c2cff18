/*
 * test/fuzz/fuzz_step.c: steps of flushes and compactions (model/step.h).
 */
#include "fuzz.h"
#include "model/step.h"

static bool
recode(WcSlice in, WcBuf *out)
{
	WcStep		step;

	if (wc_step_decode(in, &step, NULL) != WC_OK)
		return false;
	wc_step_encode(out, &step);
	return true;
}

FUZZ_TARGET(step)
{
	wc_fuzz_recode(in, recode, true);
}
