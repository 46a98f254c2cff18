/*
 * wire/spin.c: looking again and again before sleeping.
 */
#include "wire/spin.h"

#include <sched.h>

#include "base/clock.h"

bool
wc_spin_yield(WcSpin *spin)
{
	int64_t		now;
	int64_t		took;

	sched_yield();
	now = wc_clock_monotonic_us();
	took = now - spin->last_us;
	spin->last_us = now;
	if (took >= WC_SPIN_YIELD_US)
		spin->left_us -= WC_SPIN_YIELD_US;
	else
		spin->left_us -= spin->crowded ? WC_SPIN_US / 2 : took;
	return spin->left_us > 0;
}
