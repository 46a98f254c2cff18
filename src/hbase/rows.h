/*
 * hbase/rows.h: rows of an HBase table as cell sources (read/cell/cellsource.h).
 *
 * HBase sends a row with the cells of all families, while read/ has a source for each family.  So the
 * sources of a scan (of a lane of it) share what comes: pages of rows, each one answer, in a chain.
 * A source stands on a row of a page; a page goes when all sources have left it.
 *
 * Each page is asked for by a call of its own, from behind the last row on: nothing is open in
 * the gateway between them, so a lost connection, a moved region or a restarted gateway cost a
 * call and nothing else.
 */
#ifndef WC_HBASE_ROWS_H
#define WC_HBASE_ROWS_H

#include "hbase/hbase.h"
#include "model/scan.h"
#include "read/storage.h"

/* What the rows of a scan are read by. */
typedef struct WcHBaseReader
{
	WcHBaseTable *table;
	const WcTableDesc *desc;
	const WcScan *scan;			/* ranges ascending */
	uint64		rows_hint;		/* so many are likely to be wanted; 0: unknown */
	struct WcHBaseRows *lanes;	/* what was opened: one for each lane */
	uint64		calls;
	WcBuf		filter;			/* HBase's, of the Scan's filter; empty: it gets none */
} WcHBaseReader;

/* A source of the family's cells (its place in the table). */
extern WcStatus wc_hbase_rows_source(WcHBaseReader *reader, uint32 family, const WcSourceOptions *options,
									 WcCellSource **src, WcError *err) WC_WARN_UNUSED;

/* Forgets what was opened; all sources are closed. */
extern void wc_hbase_rows_free(WcHBaseReader *reader);

#endif
