/*
 * fdw/scan/tidlog.h: row ids as ctids of six bytes.
 *
 * PostgreSQL identifies the row that a LockRows node locks by a ctid.  A row of a stored table is identified by its
 * id (rowid.h), which is longer.  So a scan below such a node appends the id of each returned row to a log, and the
 * position in the log is the row's ctid.  The log grows with all returned rows, rescans included: in memory up to
 * work_mem, then in a temporary file, up to 2^47 bytes.
 */
#ifndef WC_FDW_SCAN_TIDLOG_H
#define WC_FDW_SCAN_TIDLOG_H

#include "postgres.h"

#include "storage/itemptr.h"

#include "base/slice.h"

typedef struct WcTidLog WcTidLog;

/* Creates an empty log in CurrentMemoryContext, which frees it.  The file is closed with the current resource owner
 * at the latest. */
extern WcTidLog *wc_tidlog_create(void);

/* Appends bytes (at most 1 GB) and sets *tid to their ctid. */
extern void wc_tidlog_add(WcTidLog *log, WcSlice bytes, ItemPointer tid);

/* The bytes of a ctid from wc_tidlog_add; palloc'd. */
extern WcSlice wc_tidlog_get(WcTidLog *log, ItemPointer tid);

/* Closes the file. */
extern void wc_tidlog_close(WcTidLog *log);

#endif
