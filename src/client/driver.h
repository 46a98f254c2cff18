/*
 * client/driver.h: what stands behind client.h.
 *
 * A driver reaches one kind of storage.  client/ keeps what all kinds need (the
 * transaction's bookkeeping, snapshots, the descriptors' cache, blocks on their
 * way to rows) and calls the driver through this table; nothing above client/
 * may know which driver it is.  What a driver cannot do is missing in its
 * feature bits, and the planner keeps that part local.
 *
 * PostgreSQL side.  Functions may ereport(ERROR) and are interruptible, except
 * those marked "never fails".
 */
#ifndef WC_CLIENT_DRIVER_H
#define WC_CLIENT_DRIVER_H

#include "postgres.h"

#include "lib/ilist.h"

#include "client/client.h"
#include "wire/message.h"

typedef enum WcDriverFeature
{
	WC_FEATURE_REVERSED = 1 << 0,	/* reversed scans */
	WC_FEATURE_OFFSET = 1 << 1,	/* row_offset of a scan */
	WC_FEATURE_SNAPSHOT = 1 << 2,	/* several scans may share what they see */
	WC_FEATURE_TRANSACTION = 1 << 3,	/* a batch is applied whole or not at all */
	WC_FEATURE_OWN_WRITES = 1 << 4, /* scans see the batch so far */
	WC_FEATURE_RAW = 1 << 5,	/* raw scans */
	WC_FEATURE_ESTIMATE = 1 << 6,	/* sizes of ranges */
	WC_FEATURE_SAMPLE = 1 << 7,	/* ranges to sample */
	WC_FEATURE_MODIFY = 1 << 8,	/* one change to all rows of a scan */
	WC_FEATURE_SPLIT = 1 << 9	/* ranges in parts, for several processes at one snapshot */
} WcDriverFeature;

/* One open scan, the driver's part; embedded in the client's. */
typedef struct WcDriverScan
{
	dlist_node	node;			/* in the driver's list while open */
	uint32		number;			/* the driver's name for it */
	bool		open;			/* in the list; the other side may hold something for it */
	uint64		pending;		/* request whose answer is under way; 0: none */
	size_t		target;			/* bytes the next block should have */
	uint64		batches;		/* blocks received */

	WcBuf		block;			/* being consumed: block_len bytes of it */
	size_t		block_len;

	WcBuf		stash;			/* the next one, when it came early */
	size_t		stash_len;
	bool		stashed;
	bool		stash_failed;	/* it is an error, not a block */

	bool		complete;		/* the last block has been received; stats are final */
	WcClientScanStats stats;
} WcDriverScan;

typedef struct WcDriverOpen
{
	const WcScan *scan;
	uint64		snapshot;		/* number; 0: the newest state.  A new number means: take one now */
	CommandId	cid;
	bool		lock_first;		/* modify: the row of a Get at the newest state is locked before it is looked at */
	bool		own_writes;		/* the transaction has written: the scan may see that */
	int64		clock_offset_us;
	uint64		rows_hint;
} WcDriverOpen;

/* Who locks rows, and how. */
typedef struct WcDriverLocker
{
	uint64		owner;			/* the transaction's full id */
	uint64		xid;			/* the subtransaction's, if it is one */
	SubTransactionId subid;
	WcRowLockMode mode;
} WcDriverLocker;

typedef struct WcTakeResult
{
	uint64		holder;			/* who is in the way ... */
	bool		has_weaker;		/* as in WcLockResult */
	bool		there;			/* ... of a row that the scan gives, as far as is committed */
	bool		taken;
	bool		check;			/* as in WcLockResult */
} WcTakeResult;

/* The next bytes of the transaction's stream, which begin at an offset of it. */
typedef void (*WcDriverTake) (uint64 at, WcSlice bytes);

typedef struct WcDriver
{
	const char *name;
	uint32		features;		/* WcDriverFeature */

	/* Connects unless connected; a connection that was lost in the midst of a
	 * transaction that needs it is an error until that has ended. */
	void		(*connect) (void);

	/* Is the other side there, so that connect need not wait? never fails */
	bool		(*ready) (void);

	/* Has the transaction anything on the other side? never fails */
	bool		(*in_use) (void);

	/* Grows whenever a committed catalog change may have been made; no round trip, never fails */
	uint64		(*catalog_generation) (void);

	/* Grows by the rows that are written; no round trip, never fails */
	uint64		(*writes) (void);

	/* Catalog, with the transaction's own changes: append to out (WcBuf of the
	 * driver, valid until the next call) what engine.h says. describe: false when
	 * there is no such table. */
	bool		(*describe) (WcSlice ns, WcSlice name, WcSlice *desc);
	void		(*list_tables) (bool all_databases, WcSlice *list);
	void		(*list_namespaces) (WcSlice *list);
	uint32		(*new_table_id) (void);

	/*
	 * scan_open asks for the first block and does not wait for it: many scans may be
	 * opened before any of them is read.  scan_next brings the next block, the first
	 * one first, into scan->block; false when there is none.  What is wrong with the
	 * opening it raises.  scan_close never fails.
	 */
	void		(*scan_open) (WcDriverScan *scan, const WcDriverOpen *open);
	bool		(*scan_next) (WcDriverScan *scan);
	/*
	 * As scan_open of a Get at the newest state, waiting for the first block, of a row that is
	 * locked before it is looked at; result->taken: it is there, and locked.  False: another
	 * transaction is in the way (result->holder), and nothing was opened or locked.
	 */
	bool		(*scan_take) (WcDriverScan *scan, const WcDriverOpen *open, const WcDriverLocker *locker, WcTakeResult *result);

	void		(*scan_stats) (WcDriverScan *scan);
	void		(*scan_close) (WcDriverScan *scan);

	/* How many scans the other side holds something for; never fails. */
	uint32		(*scans_open) (void);

	/*
	 * Makes a new number stand for the state that is now, if that can be had without
	 * asking the other side, or it does already; needs no connection.  wait: not only
	 * if that can be had at once (interruptible; else it never fails).  False: it is
	 * taken by snapshot_take, or when the first scan at it is opened.
	 */
	bool		(*snapshot_enter) (uint64 snapshot, bool wait);

	/*
	 * Other processes' snapshots may stand for the same state as one that was entered,
	 * by a mark (not 0), as long as it is held: snapshot_enter_marked makes a new number
	 * one of the snapshot that the process has marked so last.  Never fail; false: it was
	 * not entered; there is none of that mark.
	 */
	bool		(*snapshot_mark) (uint64 snapshot, uint64 mark);
	bool		(*snapshot_enter_marked) (uint64 snapshot, uint32 process, uint64 mark);

	/* Takes the snapshot of a number now, unless it is there; perhaps a round trip. */
	void		(*snapshot_take) (uint64 snapshot);

	/* Forgets a snapshot number; never fails. */
	void		(*snapshot_release) (uint64 snapshot);

	/* A piece of the transaction's batch (model/batch.h), which may hold bytes_max bytes:
	 * what the driver has of it is cut to at bytes, and these are appended.  A piece may
	 * end amid an operation.  more: another call follows at once. */
	void		(*write) (uint64 at, WcSlice bytes, uint64 bytes_max, bool more);

	/*
	 * Locks the rows of a scan and makes an operation for each, which it appends to the
	 * batch as the driver has it; that may hold bytes_max bytes.  All of these bytes are
	 * given to take, as they are made, so that the caller has them as well; they are in
	 * its hands for that call only.  serializable: no row may have changed since the
	 * snapshot.  After an error, and all outcomes but DONE and BLOCKED, the batch is to be
	 * cut back: a piece must follow.  result->row is valid until the next call.
	 */
	void		(*modify) (const WcClientModify *modify, const WcDriverOpen *open, const WcDriverLocker *locker,
						   bool serializable, uint64 bytes_max, WcDriverTake take, WcModifyResult *result,
						   WcClientScanStats *stats);

	/* Locks rows for this transaction until it has been applied, is over, or unlock.  Does not
	 * wait (see WcLockResult); the message's epoch is filled in here.  result->rows is
	 * valid until the next call. */
	void		(*lock_rows) (WcLockMessage *m, WcLockResult *result);

	/* Gives up what was locked in this subtransaction, and in later ones; never fails. */
	void		(*unlock) (SubTransactionId subid);

	/*
	 * Locks and looks at the rows that were written: all that can fail about a commit fails
	 * here.  xid: of the transaction; length: bytes of the batch.  Returns 0 when it is done: then the driver has nothing of
	 * the transaction any more, and its row locks are given up when the server's log has said
	 * how it ended.  Else somebody has a row that was written: his full transaction id, or
	 * WC_LOCK_HOLDER_COMMITTING; call again when that has ended.  snapshot: if it stands for a
	 * state, no row that was written may have changed since (40001); 0: rows may have.
	 */
	uint64		(*precommit) (uint64 xid, uint64 length, uint64 snapshot);

	/*
	 * The same without a round trip, for a transaction that has locked all rows that it has
	 * written, and of which nothing is to be looked at (wc_batch_is_settled).  It must have a place
	 * in flight; 40001 if the other side has lost its locks before it took that.  False: precommit has
	 * to do it.
	 */
	bool		(*hand_over) (uint64 xid);

	/*
	 * As precommit, for PREPARE TRANSACTION, and also for a transaction that has only locked
	 * rows.  When it is done, take has been given operations that say what is locked: the
	 * stream's next bytes, behind the batch's `length`.  Its row locks stay until the server's
	 * log has said how it ended, also in another engine, which locks by these operations.
	 */
	uint64		(*prepare) (uint64 xid, uint64 length, uint64 snapshot, WcDriverTake take);

	/* Forgets batch, scans, snapshots and row locks; never fails. */
	void		(*abort) (void);

	/* The end of a transaction that wrote nothing (or committed); never fails. */
	void		(*finish) (void);

	/* family 0: every family.  Unless wait it returns at once; what goes wrong then is in the server's log. */
	void		(*work) (WcClientWork work, uint32 table_id, uint32 family, bool wait, CommandId cid, int64 clock_offset_us);

	/* Are compactions of the table under way, or waiting? */
	void		(*compacting) (uint32 table_id, bool *minor, bool *major);
	/* What is wrong with what is stored of a table, 0: with the catalog, as engine.h encodes it; valid
	 * until the next call. */
	void		(*check_store) (uint32 table_id, WcSlice *problems);
	void		(*estimate) (uint32 table_id, const WcRange *range, const uint32 *families, uint32 nfamilies,
							 uint64 *bytes, uint64 *rows);

	/* Row keys between parts of a range, as engine.h encodes them; valid until the next call. */
	void		(*split) (uint32 table_id, const WcRange *range, const uint32 *families, uint32 nfamilies, uint32 nparts,
						  WcSlice *points);

	/* The ranges as engine.h encodes them; valid until the next call. */
	void		(*sample) (uint32 table_id, const WcRange *range, uint32 nranges, uint64 range_rows, uint64 seed, WcSlice *ranges);

	/* Rows of a view of statistics (model/statistics.h), as they are at this moment; valid until the
	 * next call. */
	void		(*statistics) (uint8 view, WcSlice *rows);
} WcDriver;

/* The embedded engine (client/local.c). */
extern const WcDriver wc_local_driver;

/* The driver of this session. */
static inline const WcDriver *
wc_driver(void)
{
	return &wc_local_driver;
}

#endif
