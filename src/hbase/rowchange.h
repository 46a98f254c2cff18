/*
 * hbase/rowchange.h: from a transaction's operations on rows to what HBase is told.
 */
#ifndef WC_HBASE_ROWCHANGE_H
#define WC_HBASE_ROWCHANGE_H

#include "hbase/changes.h"
#include "hbase/rows.h"
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
 * Begins with rows of one table (ascending, none twice), which must outlive it.  Rows whose changes depend on what
 * HBase has of them are read with one call or few, when the first of them is resolved.
 */
extern WcStatus wc_hbase_rowchanges_open(WcHBaseTable *table, const WcHBaseRowOps *rows, uint32 nrows,
										 WcHBaseRowChanges **changes, WcError *err) WC_WARN_UNUSED;
extern void wc_hbase_rowchanges_close(WcHBaseRowChanges *changes);	/* NULL is passed over */

/*
 * What HBase is told about the next row: *out lives in the arena, or points into the operations.  It is without
 * puts and deletes if nothing is to be done.  WC_DUPLICATE_ROW: the row exists, and must not.
 */
extern WcStatus wc_hbase_rowchanges_next(WcHBaseRowChanges *changes, WcArena *arena, WcThriftRow *out,
										 WcError *err) WC_WARN_UNUSED;

#endif
