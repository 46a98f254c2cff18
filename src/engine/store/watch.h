/*
 * engine/store/watch.h: notifies caches (WcWriteWatch, engine.h) of writes.  With write_mutex held.
 */
#ifndef WC_ENGINE_STORE_WATCH_H
#define WC_ENGINE_STORE_WATCH_H

#include "engine/store/state.h"

/* Before a write of this row, or of any row of the table.  ts: the commit's timestamp; 0: a step, or wc_watch_range will tell
 * it.  xid: the commit's; 0 if ts is 0. */
extern void wc_watch_row(WcEngine *engine, uint32_t table_id, WcSlice row, int64_t ts, uint64_t xid);
extern void wc_watch_table(WcEngine *engine, uint32_t table_id, int64_t ts);

/* Is wc_watch_row to be called for each row of a step, or of a commit with so many?  False: wc_watch_table. */
extern bool wc_watch_wants_rows(WcEngine *engine, uint32_t table_id, uint64_t nrows);

/* Before a commit writes many rows of the table, none of which is before the first one or behind the last one.  wc_watch_row
 * was called for each of them, or wc_watch_table, with 0 as timestamp. */
extern void wc_watch_range(WcEngine *engine, uint32_t table_id, WcSlice first, WcSlice last, int64_t ts);

/* Before the write, and after it, whether or not it has succeeded. */
extern void wc_watch_begin(WcEngine *engine);
extern void wc_watch_end(WcEngine *engine);

#endif
