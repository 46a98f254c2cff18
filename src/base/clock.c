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

void
wc_clock_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

struct timespec
wc_clock_monotonic_after(int64_t us)
{
	struct timespec then;

	clock_gettime(CLOCK_MONOTONIC, &then);
	then.tv_sec += (time_t) (us / WC_USEC_PER_SEC);
	then.tv_nsec += (long) (us % WC_USEC_PER_SEC) * 1000;
	then.tv_sec += then.tv_nsec / 1000000000;
	then.tv_nsec %= 1000000000;
	return then;
}
