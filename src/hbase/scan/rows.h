/*
 * hbase/scan/rows.h: rows of an HBase table as cell sources (read/cell/cellsource.h).
 *
 * HBase sends a row with the cells of all families, but read/ has a source for each family.  So the
 * sources of a scan (of one of its lanes) share a chain of pages.  A page has the rows of one answer.  A source is
 * on a row of a page; a page is freed when all sources have left it.
 *
 * Each page is requested by a separate call, from behind the last row on.  The gateway keeps no scanner open
 * between calls, so a lost connection, a moved region or a restarted gateway only costs a repeated call.
 */
#ifndef WC_HBASE_SCAN_ROWS_H
#define WC_HBASE_SCAN_ROWS_H

#include "hbase/gateway/gateway.h"
#include "model/scan.h"
#include "read/storage.h"

/* The reader of a scan's rows. */
typedef struct WcHBaseReader
{
	WcHBaseTable *table;
	const WcTableDesc *desc;
	const WcScan *scan;			/* ranges ascending */
	uint64		rows_hint;		/* the number of rows that is probably wanted; 0: unknown */
	bool		merged;			/* the transaction's changes will be merged in: all versions are needed, and all cells */
	bool		hidden;			/* merged, and with them markers and the cells that HBase does not show */
	struct WcHBaseRows *lanes;	/* the opened lanes, in their order */
	uint64		calls;
	bool		ahead;			/* each page is requested when the page before has arrived */
	WcBuf		filter;			/* HBase's filter, made from the Scan's filter; empty: none */
} WcHBaseReader;

/* Opens a source of the cells of a family, which is given by its place in the table. */
extern WcStatus wc_hbase_rows_source(WcHBaseReader *reader, uint32 family, const WcSourceOptions *options,
									 WcCellSource **src, WcError *err) WC_WARN_UNUSED;

/*
 * Opens a source of the family's cells in those rows that the transaction has changed and that the reader's scan may
 * meet: all cells, all versions.  Rows may be sought in the order of the scan; going back costs calls.
 */
extern WcStatus wc_hbase_changed_source(const WcHBaseReader *reader, WcTxn *txn, uint32 family, WcCellSource **src,
										WcError *err) WC_WARN_UNUSED;

/*
 * From now on, requests the next page of each lane before it is wanted, as far as connections are free.  *on: a connection
 * whose next answer has to be waited for; NULL: there is nothing to wait for.  *own: this answer is one of the pages, and not
 * another scan's.
 */
extern WcStatus wc_hbase_rows_ahead(WcHBaseReader *reader, const WcHBaseConnection **on, bool *own, WcError *err) WC_WARN_UNUSED;

/* Frees the lanes; all sources must be closed. */
extern void wc_hbase_rows_free(WcHBaseReader *reader);

#endif
