/*
 * hbase/commit/rowchange.h: makes HBase's puts and deletes of a transaction's operations on rows.
 */
#ifndef WC_HBASE_COMMIT_ROWCHANGE_H
#define WC_HBASE_COMMIT_ROWCHANGE_H

#include "hbase/changes/changes.h"
#include "hbase/scan/rows.h"
#include "thrift/request.h"

/* A row, and the operations on it in their order. */
typedef struct WcHBaseRowOps
{
	WcSlice		row;
	WcSlice    *ops;
	uint32		nops;
} WcHBaseRowOps;

typedef struct WcHBaseRowChanges WcHBaseRowChanges;

/*
 * Begins with rows of one table (ascending, none twice), which must outlive it.  Rows whose changes depend on their cells
 * in HBase are read with one call or few, when the first of them is resolved.
 */
extern WcStatus wc_hbase_rowchanges_open(WcHBaseTable *table, const WcHBaseRowOps *rows, uint32 nrows,
										 WcHBaseRowChanges **changes, WcError *err) WC_WARN_UNUSED;
extern void wc_hbase_rowchanges_close(WcHBaseRowChanges *changes);	/* NULL is passed over */

/*
 * The next row's puts and deletes: *out lives in the arena, or points into the operations.  It has none of either if
 * nothing is to be done.  WC_DUPLICATE_ROW: the row exists, and must not.
 */
extern WcStatus wc_hbase_rowchanges_next(WcHBaseRowChanges *changes, WcArena *arena, WcThriftRow *out,
										 WcError *err) WC_WARN_UNUSED;

#endif
