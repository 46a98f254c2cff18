/*
 * engine/store/rangewatch.h: has a range of a store been written to since it was read?
 *
 * Steps work out a change of a range without the engine's write mutex, since that takes long: they put a watch
 * on the range, read, and then, with the mutex held, ask whether the range has been written to meanwhile.  All
 * functions with the write mutex held.
 */
#ifndef WC_ENGINE_STORE_RANGEWATCH_H
#define WC_ENGINE_STORE_RANGEWATCH_H

#include "base/buf.h"
#include "engine/store/store.h"

typedef struct WcRangeWatch
{
	struct WcRangeWatch *next;	/* in the store's list */
	WcStore    *store;			/* NULL: it is not on watch */
	WcSlice		start;			/* a row; its owner's */
	bool		written;
	bool		everything;		/* any row may have been written */
	WcBuf		lowest;			/* when written: the least row from start on that was */
} WcRangeWatch;

/* Watches rows from start on; the bytes of start must stay until the end. */
extern void wc_rangewatch_begin(WcRangeWatch *watch, WcStore *store, WcSlice start);
extern void wc_rangewatch_end(WcRangeWatch *watch);

/* Has a row up to stop (empty: any) been written? */
extern bool wc_rangewatch_was_written(const WcRangeWatch *watch, WcSlice stop);

/* Called by writers: this row, or any row of the store, is being written. */
extern void wc_rangewatch_row(WcStore *store, WcSlice row);
extern void wc_rangewatch_store(WcStore *store);

/* Frees the watch's memory. */
extern void wc_rangewatch_free(WcRangeWatch *watch);

#endif
