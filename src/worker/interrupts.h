/*
 * worker/interrupts.h: what the engine's main thread does wherever it waits.
 */
#ifndef WC_WORKER_INTERRUPTS_H
#define WC_WORKER_INTERRUPTS_H

#include "postgres.h"

/* Interrupts, catching up with invalidations, settings that are to be read again. */
extern void wc_worker_serve_interrupts(void);

/* So many times settings have been read again. */
extern uint32 wc_worker_reloads(void);

#endif
