/*
 * engine/store/files.h: flushing a store, and compacting its files.
 *
 * No read can tell the difference: only steps (model/step.h) forget cells.  Any thread.  If a commit drops the store
 * meanwhile, the functions return WC_OK.
 */
#ifndef WC_ENGINE_STORE_FILES_H
#define WC_ENGINE_STORE_FILES_H

#include "engine/store/store.h"

/* Can the store be written to?  action: "flush", "compact", for the message. */
extern WcStatus wc_files_check(WcStore *store, const char *action, WcError *err) WC_WARN_UNUSED;

/* Memtables to files.  cancel may be NULL. */
extern WcStatus wc_files_flush(WcStore *store, const atomic_bool *cancel, WcError *err) WC_WARN_UNUSED;

/* Compacts the files of all levels that have keys of a range, down to the lowest level: some at a time; cancel (may be NULL) is
 * checked in between.  An empty start or stop: unbounded.  With rest, an empty buffer, only the first part is compacted, a few files,
 * and *rest is where the next part begins; it stays empty if there is none.  running (may be NULL) gets the number of parts that are
 * done. */
extern WcStatus wc_files_compact(WcStore *store, WcSlice start, WcSlice stop, WcBuf *rest, WcRunning *running, const atomic_bool *cancel,
								 WcError *err) WC_WARN_UNUSED;

#endif
