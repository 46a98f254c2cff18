/*
 * wire/spin.h: looking again and again before sleeping.
 *
 * Waking a thread costs more than most requests take, and the system may put the
 * woken one elsewhere, so each side of a session yields the processor for a while
 * first.  Any thread.
 */
#ifndef WC_WIRE_SPIN_H
#define WC_WIRE_SPIN_H

#include <stdbool.h>
#include <stdint.h>

/* For how long, of what counts. */
#define WC_SPIN_US			20

/* A yield that takes so long has let another thread have the processor, so it cost
 * nothing: it counts no more than this. */
#define WC_SPIN_YIELD_US	2

typedef struct WcSpin
{
	int64_t		last_us;		/* monotonic */
	int64_t		spent_us;
	bool		crowded;
} WcSpin;

/*
 * Begins at monotonic time now_us.  crowded: all processors are at work, so the other
 * side can only go on where this one lets it.  The system's scheduler may for some time
 * not take up what it is offered, and the less so the oftener it is: then two such
 * yields are enough.
 */
static inline WcSpin
wc_spin_from(int64_t now_us, bool crowded)
{
	return (WcSpin) {.last_us = now_us,.crowded = crowded};
}

/* Yields the processor.  False: it is time to sleep, once one has looked again. */
extern bool wc_spin_yield(WcSpin *spin);

#endif
