/*
 * hbase/changes.h: the changes of rows that the transaction has made, until they are sent.
 *
 * They are two streams of operations (read/txn/txn.h) for all tables of all servers: one is kept until the commit, the
 * other one (write_mode 'stream') is sent in chunks before.
 */
#ifndef WC_HBASE_CHANGES_H
#define WC_HBASE_CHANGES_H

#include "hbase/hbase.h"
#include "read/storage.h"

/*
 * The clocks of this session's machine and of HBase's servers may differ by so much (milliseconds); HBase itself
 * refuses region servers whose clock differs more from the master's.
 */
#define WC_HBASE_CLOCKS_MS 30000

/* Those of WcDriverKept (client/driver.h); send is in commit.c. */
extern WcBatchBuilder *wc_hbase_changes_begin(const WcTableDesc *desc, WcWriteMode mode);
extern void wc_hbase_changes_done(uint64 bytes_max);
extern WcKeptMark wc_hbase_changes_mark(void);
extern void wc_hbase_changes_cut(WcKeptMark mark);
extern void wc_hbase_changes_send(void);
extern void wc_hbase_changes_finish(bool committed);
extern uint32 wc_hbase_lock_id(uint32 table_id);

/* The changes that are kept for the commit, or those that are not; NULL: there are none.  Raise an error when memory
 * is out. */
extern WcTxn *wc_hbase_changes_kept(void);
extern WcTxn *wc_hbase_changes_streamed(void);

/* Do changes that were to be kept wait, with others, in the stream of those that were not?  Then their rows are locked. */
extern bool wc_hbase_changes_held(void);

/* The changes that have some of the table by earlier commands; NULL: there are none. */
extern WcTxn *wc_hbase_changes_of(uint32 table_id, CommandId cid);

/* Has the row changes that have not been sent? */
extern bool wc_hbase_changes_row(uint32 table_id, WcSlice row);

/* --- condition.c: the changes of a row are made only if a cell has this value at the commit -------*/
typedef struct WcHBaseCondition
{
	const char *family;
	WcSlice		qualifier;
	WcSlice		value;			/* empty: there is no cell, or an empty one */
} WcHBaseCondition;

/* That of WcDriverKept. */
extern void wc_hbase_expect(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, WcSlice value,
							uint64 bytes_max);

extern int	wc_hbase_conditions(void);	/* their number */
extern const WcHBaseCondition *wc_hbase_condition_of(uint32 table_id, WcSlice row); /* NULL: none */

/* Forgets those behind the first n; never fails. */
extern void wc_hbase_conditions_forget(int n);

/* --- counter.c: those of WcDriver -----------------------------------------------*/
extern bool wc_hbase_acts_at_once(const WcTableDesc *table);
extern int64 wc_hbase_increment(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, int64 amount);
extern WcSlice wc_hbase_append(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, WcSlice more);

/* commit.c: sends the changes that are not kept for the commit. */
extern void wc_hbase_stream_send(void);

/* HBase has acknowledged the changes of so many rows of this transaction. */
extern void wc_hbase_changes_note_sent(uint64 rows);
extern uint64 wc_hbase_changes_sent(void);

/* An error tells so now: a warning at the transaction's end need not, unless more is sent. */
extern void wc_hbase_changes_tell_sent(void);

/*
 * The time in the unit of the server's timestamps as widecol has them, later by WC_HBASE_CLOCKS_MS: later than the
 * timestamp of each cell that HBase has given one itself.
 */
extern int64 wc_hbase_latest(const WcHBaseServer *server);

extern bool wc_hbase_ts_ahead(const WcTableDesc *table, int64 ts, int64 *after);	/* of WcDriverKept */

/*
 * The timestamp that own cells without one have in own reads: at least wc_hbase_latest.  Reads of later commands may
 * add some microseconds.  No cell that is sent may name it: see check_item.
 */
extern int64 wc_hbase_provisional_ts(const WcHBaseServer *server);

#endif
