/*
 * base/clock.h: time.
 *
 * Wall time is microseconds since 1970-01-01 00:00 UTC, as cells carry it;
 * monotonic time is for measuring waits.  Any thread.
 */
#ifndef WC_BASE_CLOCK_H
#define WC_BASE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

extern int64_t wc_clock_wall_us(void);
extern int64_t wc_clock_monotonic_us(void);

/* Initialises a condition whose timed waits end at a monotonic time; wc_clock_monotonic_after returns such a time. */
extern void wc_clock_cond_init(pthread_cond_t *cond);
extern struct timespec wc_clock_monotonic_after(int64_t us);

#endif
