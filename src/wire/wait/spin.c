/*
 * wire/wait/spin.c: looking again and again before sleeping.
 */
#include "wire/wait/spin.h"

#include "base/clock.h"
#include "base/cpu.h"

/* This thread does not yield before that time. */
static _Thread_local int64_t paused_until_us;

WcSpin
wc_spin_from(int64_t now_us, int64_t for_us, bool crowded)
{
	return (WcSpin) {.last_us = now_us,.left_us = now_us < paused_until_us ? 0 : for_us,.crowded = crowded};
}

bool
wc_spin_yield(WcSpin *spin)
{
	int64_t		now;
	int64_t		took;

	if (spin->left_us <= 0)
		return false;
	wc_cpu_give_way();
	now = wc_clock_monotonic_us();
	took = now - spin->last_us;
	spin->last_us = now;
	if (took >= WC_SPIN_LONG_US)
	{
		paused_until_us = now + WC_SPIN_PAUSE_US;
		spin->left_us = 0;
		return false;
	}
	if (took >= WC_SPIN_YIELD_US)
		spin->left_us -= WC_SPIN_YIELD_US;
	else
		spin->left_us -= spin->crowded ? WC_SPIN_US / 2 : took;
	return spin->left_us > 0;
}
