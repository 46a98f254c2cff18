/*
 * hbase/changes/changes.h: the changes of rows that the transaction has made, until they are sent.
 *
 * They are two streams of operations (read/txn/txn.h) for all tables of all servers.  All changes of a table are in one of
 * the streams.
 */
#ifndef WC_HBASE_CHANGES_CHANGES_H
#define WC_HBASE_CHANGES_CHANGES_H

#include "hbase/gateway/gateway.h"
#include "read/storage.h"

/*
 * The clocks of this session's machine and of HBase's servers may differ by so much (milliseconds); HBase itself
 * refuses region servers whose clock differs more from the master's.
 */
#define WC_HBASE_CLOCKS_MS 30000

typedef enum WcHBaseStream
{
	WC_HBASE_KEPT,				/* for the commit */
	WC_HBASE_STREAMED,			/* sent in chunks before (write_mode 'stream') */
	WC_HBASE_STREAMS
} WcHBaseStream;

/* Appends an operation; a stream has at most bytes_max bytes. */
extern void wc_hbase_changes_append(WcHBaseStream stream, WcSlice operation, uint64 bytes_max);

/* The changes that have not been sent; NULL: there are none.  Raises an error when memory is out. */
extern WcTxn *wc_hbase_changes_unsent(WcHBaseStream stream);

/* Has the stream unsent changes of the table, by commands before cid? */
extern bool wc_hbase_changes_touch(WcHBaseStream stream, uint32 table_id, CommandId cid);

/* The changes that have some of the table by earlier commands; NULL: there are none. */
extern WcTxn *wc_hbase_changes_of(uint32 table_id, CommandId cid);

/*
 * Some change names a timestamp, or deletes single versions: it may uncover cells that HBase does not show any more, or be
 * hidden by a marker in HBase.  It stays so until the end of the transaction.
 */
extern void wc_hbase_changes_note_dated(void);
extern bool wc_hbase_changes_are_dated(void);

/* Has the row changes that have not been sent? */
extern bool wc_hbase_changes_row(uint32 table_id, WcSlice row);

/* All that the stream has was sent. */
extern void wc_hbase_changes_sent(WcHBaseStream stream);

/* The stream's length in bytes.  Cuts the stream to a former length; false: what is behind that was sent in part, which
 * stays.  Never fails. */
extern uint64 wc_hbase_changes_length(WcHBaseStream stream);
extern bool wc_hbase_changes_cut(WcHBaseStream stream, uint64 length);

/* Forgets all changes; never fails. */
extern void wc_hbase_changes_forget(void);

/*
 * The time in the unit of the server's timestamps as widecol has them, later by WC_HBASE_CLOCKS_MS: later than the
 * timestamp of each cell that HBase has given one itself.
 */
extern int64 wc_hbase_latest(const WcHBaseServer *server);

/*
 * The timestamp that own cells without one have in own reads: at least wc_hbase_latest.  Reads of later commands may
 * add some microseconds.  No cell that is sent may name a timestamp that was shown: see check_item (commit/kept.c).
 */
extern int64 wc_hbase_provisional_ts(const WcHBaseServer *server);
extern bool wc_hbase_ts_was_shown(int64 ts);

#endif
