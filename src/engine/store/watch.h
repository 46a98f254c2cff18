/*
 * engine/store/watch.h: telling whoever keeps what was read (WcWriteWatch, engine.h) of what
 * is written.  With write_mutex held.
 */
#ifndef WC_ENGINE_STORE_WATCH_H
#define WC_ENGINE_STORE_WATCH_H

#include "engine/store/state.h"

/* What is going to be written: a row, or anything of a table.  ts: of the commit; 0: none. */
extern void wc_watch_row(WcEngine *engine, uint32_t table_id, WcSlice row, int64_t ts);
extern void wc_watch_table(WcEngine *engine, uint32_t table_id, int64_t ts);

/* In front of the write, and behind it, whether or not it has succeeded. */
extern void wc_watch_begin(WcEngine *engine);
extern void wc_watch_end(WcEngine *engine);

#endif
