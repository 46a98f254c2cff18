/*
 * wire/wait/busy.h: the number of sessions that were busy lately.
 *
 * Busy-waiting is the cheapest wait, but only while processors are free.  Both sides of a session ask here
 * before they busy-wait.  Time is cut into windows; a session counts in those in which the engine worked on
 * one of its requests.  A session whose transactions wait for the disk leaves its processor idle for about half of
 * the time, and counts half.  One word of shared memory; any thread, any process.
 */
#ifndef WC_WIRE_WAIT_BUSY_H
#define WC_WIRE_WAIT_BUSY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The newest window, the sessions in it, and those in the window before, both in halves: all of
 * one word, so that they change as one. */
typedef _Atomic uint64_t WcBusy;

/* A window, in microseconds (a power of two). */
#define WC_BUSY_WINDOW_US	16384

/*
 * A session works on a request, at monotonic time now_us.  *window is the session's
 * own, 0 at first: the window in which it was counted last.  waits: its transactions wait for the disk.
 */
extern void wc_busy_note(WcBusy *busy, uint32_t *window, int64_t now_us, bool waits);

/* How many there were in this window or the one before, whichever are more, rounded down; at most 32,767. */
extern uint32_t wc_busy_sessions(WcBusy *busy, int64_t now_us);

#endif
