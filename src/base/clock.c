/*
 * base/clock.c: time.
 */
#include "base/clock.h"

#include <time.h>

#include "base/limits.h"

static int64_t
now_us(clockid_t id)
{
	struct timespec t;

	/* Cannot fail: both clocks exist everywhere we build. */
	(void) clock_gettime(id, &t);
	return (int64_t) t.tv_sec * WC_USEC_PER_SEC + t.tv_nsec / 1000;
}

int64_t
wc_clock_wall_us(void)
{
	return now_us(CLOCK_REALTIME);
}

int64_t
wc_clock_monotonic_us(void)
{
	return now_us(CLOCK_MONOTONIC);
}
