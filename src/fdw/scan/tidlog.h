/*
 * fdw/scan/tidlog.h: names of six bytes for rows.
 *
 * PostgreSQL carries the row that a LockRows node is to lock as a ctid.  A row of a
 * stored table is known by its key, which is longer.  So each row that such a scan gives
 * has its key appended to a log, and the key's place in the log is its ctid.  The log
 * grows by the keys of all rows given, rescans included: in memory up to work_mem, then in
 * a temporary file, up to 2^47 bytes.
 */
#ifndef WC_FDW_SCAN_TIDLOG_H
#define WC_FDW_SCAN_TIDLOG_H

#include "postgres.h"

#include "storage/itemptr.h"

#include "base/slice.h"

typedef struct WcTidLog WcTidLog;

/* Empty; lives in CurrentMemoryContext, which frees it.  The file goes with the current
 * resource owner at the latest. */
extern WcTidLog *wc_tidlog_create(void);

/* Appends bytes (at most 1 GB) and sets *tid to their name. */
extern void wc_tidlog_add(WcTidLog *log, WcSlice bytes, ItemPointer tid);

/* The bytes of a name that wc_tidlog_add gave; palloc'd. */
extern WcSlice wc_tidlog_get(WcTidLog *log, ItemPointer tid);

/* Closes the file. */
extern void wc_tidlog_close(WcTidLog *log);

#endif
