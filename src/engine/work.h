/*
 * engine/work.h: flushes and compactions that were asked for.
 *
 * Who waits for one does it in its own thread; the others wait in a queue for a thread of
 * the engine's, which is made when the first comes.  What is under way and what waits is
 * known, for who asks what a table's compactions are.
 */
#ifndef WC_ENGINE_WORK_H
#define WC_ENGINE_WORK_H

#include "engine/engine.h"

typedef struct WcWorkers WcWorkers;

/* Without a thread.  NULL: out of memory. */
extern WcWorkers *wc_workers_create(WcEngine *engine);

/* Ends the thread, in the midst of what it does; what waits is forgotten. */
extern void wc_workers_free(WcWorkers *workers);

#endif
