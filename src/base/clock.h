/*
 * base/clock.h: time.
 *
 * Wall time is microseconds since 1970-01-01 00:00 UTC, as cells carry it;
 * monotonic time is for measuring waits.  Any thread.
 */
#ifndef WC_BASE_CLOCK_H
#define WC_BASE_CLOCK_H

#include <stdint.h>

extern int64_t wc_clock_wall_us(void);
extern int64_t wc_clock_monotonic_us(void);

#endif
