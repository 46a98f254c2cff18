/*
 * worker/worker.h: what the engine's main thread does wherever it waits.
 */
#ifndef WC_WORKER_WORKER_H
#define WC_WORKER_WORKER_H

#include "postgres.h"

/* The log is read this often while anything is in flight. */
#define WC_FOLLOW_EVERY_MS 5

/* Interrupts, catching up with invalidations, settings that are to be read again. */
extern void wc_worker_serve_interrupts(void);

#endif
