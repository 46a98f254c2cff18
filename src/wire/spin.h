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

/* For how long, of what counts: for an answer, or where all processors are at work; and
 * with processors to spare for the next request, which a client that goes on at once
 * sends within this time. */
#define WC_SPIN_US			20
#define WC_SPIN_NEXT_US		60

/* A yield that takes so long has let another thread have the processor, so it cost
 * nothing: it counts no more than this. */
#define WC_SPIN_YIELD_US	2

/*
 * One that takes so long has let a thread have the processor that goes on and on, which this one
 * does not wait for: a build, say, or a long scan.  Sleeping is better then, since whoever is
 * woken goes first; so this thread does not yield for a while.
 */
#define WC_SPIN_LONG_US		500
#define WC_SPIN_PAUSE_US	50000

typedef struct WcSpin
{
	int64_t		last_us;		/* monotonic */
	int64_t		left_us;		/* of what counts */
	bool		crowded;
} WcSpin;

/*
 * Begins at monotonic time now_us, for so long.  crowded: all processors are at work, so
 * the other side can only go on where this one lets it.  The system's scheduler may for
 * some time not take up what it is offered, and the less so the oftener it is: then two
 * such yields are enough.
 */
extern WcSpin wc_spin_from(int64_t now_us, int64_t for_us, bool crowded);

/* Yields the processor.  False: it is time to sleep, once one has looked again; it may have been
 * before. */
extern bool wc_spin_yield(WcSpin *spin);

#endif
