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

/* Compacts the files of all levels that have keys of a range, down to the lowest level: some at a time; cancel is
 * checked in between.  An empty start or stop: unbounded.  running (may be NULL) gets the number of parts that are
 * done. */
extern WcStatus wc_files_compact(WcStore *store, WcSlice start, WcSlice stop, WcRunning *running, const atomic_bool *cancel,
								 WcError *err) WC_WARN_UNUSED;

/* As wc_files_compact, but only the first part of the range: a few files.  *rest, which is not empty before the last part, is where the
 * next part begins. */
extern WcStatus wc_files_compact_part(WcStore *store, WcSlice start, WcSlice stop, WcRunning *running, WcBuf *rest,
									  WcError *err) WC_WARN_UNUSED;

#endif
