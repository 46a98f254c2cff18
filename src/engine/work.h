/*
 * engine/work.h: flushes and compactions that were asked for.
 *
 * A session that waits for one does it in its own thread; the others wait in a queue for a thread of the
 * engine, which is made for the first one.  Tasks that run or wait can be asked for (wc_engine_compacting).
 */
#ifndef WC_ENGINE_WORK_H
#define WC_ENGINE_WORK_H

#include "engine/engine.h"

typedef struct WcWorkers WcWorkers;

/* Without a thread.  NULL: out of memory. */
extern WcWorkers *wc_workers_create(WcEngine *engine);

/* Ends the thread, also in the middle of a task; waiting tasks are discarded. */
extern void wc_workers_free(WcWorkers *workers);

#endif
