/*
 * wire/wait/spin.h: busy-waiting: a thread yields the processor for a while before it sleeps.
 *
 * To wake a thread costs more than most requests, and the system may move the woken thread to another processor.  So each
 * side of a session first yields the processor repeatedly, and checks its condition each time.  Any thread.
 */
#ifndef WC_WIRE_WAIT_SPIN_H
#define WC_WIRE_WAIT_SPIN_H

#include <stdbool.h>
#include <stdint.h>

/* The time of a spin, as counted below. */
#define WC_SPIN_US			20

/* A yield counts at most so long: in a longer one another thread has used the processor. */
#define WC_SPIN_YIELD_US	2

/*
 * A yield that takes so long has given the processor to a thread that runs for long and for which this one does not wait:
 * a compiler, for example, or a long scan.  Then it is better to sleep, since the system runs a woken thread first; so
 * this thread does not yield for a while.
 */
#define WC_SPIN_LONG_US		500
#define WC_SPIN_PAUSE_US	50000

typedef struct WcSpin
{
	int64_t		last_us;		/* monotonic */
	int64_t		left_us;		/* the rest of the time, as counted */
	bool		crowded;
} WcSpin;

/*
 * Begins a spin at monotonic time now_us, for the time for_us.  crowded: all processors are busy, so the other side can
 * run only when this thread yields.  The system's scheduler may ignore yields for some time, and more so if there are
 * many: then two ignored yields end the spin.
 */
extern WcSpin wc_spin_from(int64_t now_us, int64_t for_us, bool crowded);

/* Yields the processor.  False: the caller checks its condition once more and then sleeps.  (The time may have ended
 * before the call.) */
extern bool wc_spin_yield(WcSpin *spin);

#endif
