/*
 * engine/upkeep.h: forgetting in the background.
 *
 * A thread looks at all families from time to time.  It makes steps (model/step.h) for families in which much could be
 * dropped: cells that others supersede, deleted cells, delete markers that mask nothing any more; and expire steps for
 * cells that have outlived their TTL.  Then it lets RocksDB compact the ranges that have become smaller.  engine/README,
 * "Upkeep".  It also drops chunks of the stores' scan caches that no scan reads any more (store/scancache.h); this it does
 * with every setting.
 */
#ifndef WC_ENGINE_UPKEEP_H
#define WC_ENGINE_UPKEEP_H

#include "engine/engine.h"

typedef struct WcUpkeeper WcUpkeeper;

/* Without a thread.  NULL: out of memory. */
extern WcUpkeeper *wc_upkeeper_create(WcEngine *engine);

/* Ends the thread, also in the middle of a step's work. */
extern void wc_upkeeper_free(WcUpkeeper *upkeeper);

/* Sets the settings; the thread follows them from its next round on. */
extern void wc_upkeeper_set(WcUpkeeper *upkeeper, const WcUpkeep *settings);

/* One round of the thread.  Tests, which have no thread, call it themselves. */
extern void wc_upkeeper_round(WcUpkeeper *upkeeper);

#endif
