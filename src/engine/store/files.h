/*
 * engine/store/files.h: flushing a store, and compacting its files.
 *
 * Nothing of it can be seen: what storage forgets, steps say (model/step.h).  Any thread; of
 * a store that a commit drops meanwhile there is nothing to do, which is no error.
 */
#ifndef WC_ENGINE_STORE_FILES_H
#define WC_ENGINE_STORE_FILES_H

#include "engine/store/store.h"

/* Can the store be written to?  action: "flush", "compact", for the message. */
extern WcStatus wc_files_check(WcStore *store, const char *action, WcError *err) WC_WARN_UNUSED;

/* Memtables to files.  cancel may be NULL. */
extern WcStatus wc_files_flush(WcStore *store, const atomic_bool *cancel, WcError *err) WC_WARN_UNUSED;

/* The files that have keys of a range, all levels, down to the lowest: some at a time, and
 * cancel is looked at in between.  An empty start, stop: unbounded.  running (may be NULL) is told
 * how many of the parts are done. */
extern WcStatus wc_files_compact(WcStore *store, WcSlice start, WcSlice stop, WcRunning *running, const atomic_bool *cancel,
								 WcError *err) WC_WARN_UNUSED;

#endif
