/*
 * hbase/changes.h: the changes of rows that the transaction has made, until they are sent.
 *
 * They are one stream of operations (read/txn/txn.h) for all tables of all servers.
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
extern WcBatchBuilder *wc_hbase_changes_begin(const WcTableDesc *desc);
extern void wc_hbase_changes_done(uint64 bytes_max);
extern uint64 wc_hbase_changes_mark(void);
extern void wc_hbase_changes_cut(uint64 mark);
extern void wc_hbase_changes_send(void);
extern void wc_hbase_changes_finish(bool committed);
extern uint32 wc_hbase_lock_id(uint32 table_id);

/* All changes; NULL: there are none.  Raises an error when memory is out. */
extern WcTxn *wc_hbase_changes(void);

/* HBase has acknowledged the changes of so many rows of this transaction. */
extern void wc_hbase_changes_note_sent(uint64 rows);
extern uint64 wc_hbase_changes_sent(void);

/* An error tells so: a warning at the transaction's end need not. */
extern void wc_hbase_changes_tell_sent(void);

/*
 * The time in the unit of the server's timestamps as widecol has them, later by WC_HBASE_CLOCKS_MS: later than the
 * timestamp of each cell that HBase has given one itself.
 */
extern int64 wc_hbase_latest(const WcHBaseServer *server);

/*
 * The timestamp that own cells without one have in own reads: at least wc_hbase_latest.  Reads of later commands may
 * add some microseconds.  No cell that is sent may name it: see check_item.
 */
extern int64 wc_hbase_provisional_ts(const WcHBaseServer *server);

#endif
