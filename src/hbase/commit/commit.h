/*
 * hbase/commit/commit.h: changes of rows and of tables: taken, sent at the commit or before, made at once.
 */
#ifndef WC_HBASE_COMMIT_COMMIT_H
#define WC_HBASE_COMMIT_COMMIT_H

#include "hbase/gateway/gateway.h"

/* --- kept.c: those of WcDriverKept (client/driver.h) ------------------------------*/
extern WcBatchBuilder *wc_hbase_kept_begin(const WcTableDesc *desc, WcWriteMode mode);
extern void wc_hbase_kept_done(uint64 bytes_max);
extern WcKeptMark wc_hbase_kept_mark(void);
extern void wc_hbase_kept_cut(WcKeptMark mark);
extern void wc_hbase_kept_send(void);
extern void wc_hbase_kept_finish(bool committed);
extern bool wc_hbase_ts_ahead(const WcTableDesc *table, int64 ts, int64 *after);

/* Raises 54000 if the row's key is too long for a change. */
extern void wc_hbase_require_row(const WcHBaseTable *table, WcSlice row);

/* --- counter.c: those of WcDriver -----------------------------------------------*/
extern bool wc_hbase_acts_at_once(const WcTableDesc *table);
extern int64 wc_hbase_increment(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, int64 amount);
extern WcSlice wc_hbase_append(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, WcSlice more);

/* --- ddl.c: that of WcDriver ------------------------------------------------------*/
extern void wc_hbase_change_catalog(Oid server, WcCatalogChange what, const WcTableDesc *desc);

/* --- commit.c ---------------------------------------------------------------------*/

/* Sends the changes that are not kept for the commit.  locked: locks their rows, as the commit does. */
extern void wc_hbase_stream_send(bool locked);

/* Sends the changes of tables, then the changes of rows that were kept for the commit. */
extern void wc_hbase_commit_send(void);

/* The number of rows whose changes HBase has acknowledged in this transaction. */
extern uint64 wc_hbase_rows_sent(void);

/* The same, and how many of them no error has told of; then forgets them. */
extern uint64 wc_hbase_rows_forget_sent(uint64 *untold);

/* --- ddlsend.c --------------------------------------------------------------------*/

/* Sends the changes, in their order; they are not pending any more then. */
extern WcStatus wc_hbase_ddl_send(WcError *err) WC_WARN_UNUSED;

/* The number of changes that HBase has made in this transaction.  tell: an error tells so. */
extern int	wc_hbase_ddl_done(bool tell);

/* The end of the transaction; never fails. */
extern void wc_hbase_ddl_finish(bool committed);

#endif
