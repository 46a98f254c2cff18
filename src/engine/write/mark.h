/*
 * engine/write/mark.h: the first mark of a store.
 */
#ifndef WC_ENGINE_WRITE_MARK_H
#define WC_ENGINE_WRITE_MARK_H

#include "engine/engine.h"

/* The store follows the server's log from here on.  Not synced. */
extern WcStatus wc_mark_begin(WcEngine *engine, uint64_t read_from, WcError *err) WC_WARN_UNUSED;

#endif
