/*
 * engine/upkeep.h: forgetting in the background.
 *
 * A thread looks at each family once a second, also while it is sweeping families, step by step.  It makes steps
 * (model/step.h) for families in which much could be dropped: cells that others supersede, deleted cells, delete markers
 * that mask nothing any more; and expire steps for cells that have outlived their TTL.  Then it lets RocksDB compact the ranges that have become smaller.  engine/README,
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

/*
 * What the thread does; tests, which have no thread, call it themselves.  A round looks at each family once, and may
 * begin to sweep it: the steps of a major compaction.  A step is one of those, of the family whose turn it is, or the
 * reading of a range in which nothing changes.  *worked_us: how long it took, without waiting for the log.  False: no
 * family is being swept.
 */
extern void wc_upkeeper_round(WcUpkeeper *upkeeper);
extern bool wc_upkeeper_step(WcUpkeeper *upkeeper, int64_t *worked_us);

#endif
