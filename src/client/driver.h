/*
 * client/driver.h: the interface of a driver, which does the work of client.h.
 *
 * A driver reaches one kind of storage.  client/ keeps what all kinds need (the
 * transaction's bookkeeping, snapshots, the descriptors' cache, blocks on their
 * way to rows) and calls the driver through this table; no folder above client/
 * may know which driver it is.  A feature bit that a driver does not set is work that
 * the driver cannot do, and the planner does this work in the backend.
 *
 * PostgreSQL side.  Functions may ereport(ERROR) and are interruptible, except
 * functions marked "never fails".
 */
#ifndef WC_CLIENT_DRIVER_H
#define WC_CLIENT_DRIVER_H

#include "postgres.h"

#include "lib/ilist.h"

#include "client/client.h"
#include "client/foreign/serveroption.h"
#include "model/extent.h"
#include "wire/message/message.h"

typedef enum WcDriverFeature
{
	WC_FEATURE_OFFSET = 1 << 0,	/* row_offset of a scan */
	WC_FEATURE_OWN_WRITES = 1 << 1, /* scans read the batch that client/ keeps */
	WC_FEATURE_ESTIMATE = 1 << 2,	/* sizes of ranges */
	WC_FEATURE_SAMPLE = 1 << 3,	/* ranges to sample */
	WC_FEATURE_MODIFY = 1 << 4, /* one change to all rows of a scan */
	WC_FEATURE_SPLIT = 1 << 5,	/* ranges in parts, for several processes at one snapshot */
	WC_FEATURE_GROUPS = 1 << 6,	/* a scan may return groups instead of rows, to transfer less */
	WC_FEATURE_TAKE = 1 << 7,	/* a row can be locked and read in one request */
	WC_FEATURE_CATALOG = 1 << 8,	/* tables and namespaces can be made and changed, by change_catalog */
	WC_FEATURE_ATOMIC = 1 << 9,	/* the store itself can add to a cell, at once */
	WC_FEATURE_DISTINCT = 1 << 10	/* distinct_parts of a scan */
} WcDriverFeature;

/* A change of a store's catalog: of a table, or of a namespace. */
typedef enum WcCatalogChange
{
	WC_CATALOG_CREATE_TABLE,
	WC_CATALOG_ALTER_TABLE,
	WC_CATALOG_DROP_TABLE,
	WC_CATALOG_TRUNCATE_TABLE,
	WC_CATALOG_ENABLE_TABLE,
	WC_CATALOG_DISABLE_TABLE,
	WC_CATALOG_CREATE_NAMESPACE,
	WC_CATALOG_DROP_NAMESPACE
} WcCatalogChange;

/* Table ids from this number on belong to other drivers than the embedded engine's, which give them
 * out for the session. */
#define WC_REMOTE_TABLE 0x80000000u

/* The driver's part of an open scan; embedded in WcClientScan. */
typedef struct WcDriverScan
{
	dlist_node	node;			/* in the driver's list while open */
	uint32		number;			/* the driver's number of the scan */
	bool		open;			/* in the list; the store may keep state for the scan */
	uint64		pending;		/* the request whose answer has not come yet; 0: none */
	size_t		target;			/* wanted size of the next block, in bytes */
	uint64		batches;		/* blocks received */

	WcBuf		block;			/* being consumed: block_len bytes of it */
	size_t		block_len;

	WcBuf		stash;			/* the next block, when it came early */
	size_t		stash_len;
	bool		stashed;
	bool		stash_failed;	/* the stash has an error, not a block */

	bool		complete;		/* the last block has been received; stats are final */
	WcClientScanStats stats;
	void	   *own;			/* state of a driver that is a module of its own */
} WcDriverScan;

typedef struct WcDriverOpen
{
	const WcScan *scan;
	uint64		snapshot;		/* number; 0: the newest state.  A new number means: take a snapshot now */
	CommandId	cid;
	bool		lock_first;		/* modify: the row of a Get at the newest state is locked before it is read */
	bool		quiet;			/* scan_open: the rows are read in the newest state; what the reader must see of them is applied */
	bool		keep;			/* scan_take: the answer should be kept in shared memory; modify: that of the next state */
	bool		own_writes;		/* the scan may see the transaction's own writes, which have been sent */
	int64		clock_offset_us;
	uint64		rows_hint;
} WcDriverOpen;

/* The transaction that locks rows, and the mode. */
typedef struct WcDriverLocker
{
	uint64		owner;			/* the transaction's full id */
	uint64		xid;			/* the full id of the current (sub)transaction */
	SubTransactionId subid;
	WcRowLockMode mode;
} WcDriverLocker;

typedef struct WcTakeResult
{
	uint64		holder;			/* the transaction that has locked the row ... */
	bool		has_weaker;		/* as in WcLockResult */
	bool		there;			/* ... and the scan returns the row's committed version */
	bool		taken;
	bool		taken_over;		/* as in WcDriverClaim */
	bool		check;			/* as in WcLockResult */
} WcTakeResult;

/* A row that is locked without a round trip. */
typedef struct WcDriverClaim
{
	bool		held;			/* in: the transaction has locked the row before, in this mode or a stronger one */

	/* in: does the answer to this Get of the scan's row, a cell block, show enough?  Then it will do.  NULL: only the answer to
	 * the scan itself will do. */
	bool		(*shows) (const void *arg, const WcScan *get, WcSlice answer);
	const void *arg;

	/* in: will the answer to this Get do, if the row is taken over from a commit that is not applied yet?  NULL: it is not taken over */
	bool		(*takes_over) (const void *arg, const WcScan *get, WcSlice answer);

	bool		added;			/* the row was not locked before: claim_end must follow */
	const WcScan *taken_over;	/* the row was taken over, and this is the Get of the answer, valid until the next call; else NULL */
	uint32		follows;		/* so many commits in turn have taken over the row */
	bool		wanted;			/* the answer was not found: it should be kept */
	uint64		holder;			/* not locked, since this transaction has claimed the row; 0: not known */
	bool		there;			/* and the row exists, or the holder has claimed it for a moment; there is no answer */
	WcSlice		answer;			/* a cell block, valid until the next call */
} WcDriverClaim;

/* Receives the next bytes of the transaction's stream; at: their offset in the stream. */
typedef void (*WcDriverTake) (uint64 at, WcSlice bytes);

/* A savepoint, for a driver that keeps changes. */
typedef struct WcKeptMark
{
	uint64		kept;			/* bytes of the stream of changes that are sent at the commit */
	uint64		streamed;		/* bytes of the stream of changes that are sent before it, those that were sent included */
	uint64		sent;			/* rows whose changes the store has acknowledged */
	int			tables;			/* changes of tables and namespaces */
	int			conditions;		/* rows whose changes depend on a cell */
} WcKeptMark;

/*
 * The changes of rows in a store whose driver keeps them itself, in the session, until the commit, or (WC_WRITE_STREAM)
 * until there are enough for a request.  Their streams are like the batch: a savepoint is an offset in them, and a rollback
 * cuts them back.  Scans of the driver read them.
 */
typedef struct WcDriverKept
{
	/* Returns the builder for one whole operation on a row of the table.  Raises an error if the table cannot be
	 * written now. */
	WcBatchBuilder *(*begin) (const WcTableDesc *table, WcWriteMode mode);

	/* Keeps the operation.  bytes_max: bytes that the stream may have.  Raises an error if the store could not
	 * take the operation; then the stream is as before.  May send changes that are not kept for the commit. */
	void		(*done) (uint64 bytes_max);

	WcKeptMark	(*mark) (void); /* never fails; all is 0: the transaction has changed nothing */
	void		(*cut) (WcKeptMark mark);	/* never fails */

	/*
	 * Locks the rows of the changes with WcDriverHost.lock_rows, and sends all changes to the store, interruptibly.
	 * An error does not take back what the store has acknowledged.
	 */
	void		(*send) (void);

	/* An id of the table that is the same in all sessions, for locks on its rows. */
	uint32		(*lock_id) (uint32 table_id);

	/*
	 * The transaction has read a cell, and its changes of the row depend on the value (empty: no cell, or an empty one):
	 * send fails with 40001 if the store then has another value.  Only the first such cell of a row counts.
	 * bytes_max: of all such rows and values.
	 */
	void		(*expect) (const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, WcSlice value,
						   uint64 bytes_max);

	/* As wc_client_ts_ahead; never fails. */
	bool		(*ts_ahead) (const WcTableDesc *table, int64 ts, int64 *after);

	/* The end of the transaction: forgets the stream, and scans that read it.  Never fails. */
	void		(*finish) (bool committed);
} WcDriverKept;

/* Of WcDriver, WcDriverKept and WcDriverHost.  A module that was installed while the server runs may have others than the library that
 * the server has loaded. */
#define WC_DRIVER_VERSION 2

/*
 * The embedded engine's driver sets all members but `kept` and scan_ready.  Another driver sets the functions
 * of the catalog and those of scans (not new_table_id and scans_open), and `kept` if rows can be written.  A feature's
 * function is set when the feature bit is.
 */
typedef struct WcDriver
{
	uint32		version;		/* WC_DRIVER_VERSION */
	uint32		features;		/* WcDriverFeature */
	const WcDriverKept *kept;	/* NULL: the driver keeps no changes */

	/* Connects unless connected.  When the connection was lost during a transaction that
	 * needs it, connect fails until the transaction has ended. */
	void		(*connect) (void);

	/* Does the engine serve sessions, so that connect need not wait? never fails */
	bool		(*ready) (void);

	/* A request may be sent soon: the engine may get ready for it.  NULL: there is nothing to get ready.  Never fails. */
	void		(*rouse) (void);

	/* Grows whenever a committed catalog change may have been made; no round trip.  server: the
	 * foreign server, here and below; the embedded engine has only one store, and ignores server. */
	uint64		(*catalog_generation) (Oid server);

	/* Grows by the number of rows that commits write; no round trip, never fails */
	uint64		(*writes) (void);

	/* The catalog, with the transaction's own changes.  The slice (the driver's, valid
	 * until the next call) is encoded as engine.h says.  describe: false when there is no
	 * such table. */
	bool		(*describe) (Oid server, WcSlice ns, WcSlice name, WcSlice *desc);
	void		(*list_tables) (Oid server, bool all_databases, WcSlice *list);
	void		(*list_namespaces) (Oid server, WcSlice *list);
	uint32		(*new_table_id) (void);

	/*
	 * With WC_FEATURE_CATALOG: keeps a change for the commit (WcKeptMark.tables).  Raises what the store would refuse,
	 * as far as that can be known.  desc: CREATE and ALTER, the whole new table; of the others its names alone, of a
	 * namespace `ns`.  The catalog functions show the table as changed.
	 */
	void		(*change_catalog) (Oid server, WcCatalogChange change, const WcTableDesc *desc);
	bool		(*is_enabled) (Oid server, const WcTableDesc *desc);

	/* The keys between the table's regions, ascending, encoded as those of `split`; valid until the next call. */
	void		(*regions) (Oid server, const WcTableDesc *desc, WcSlice *points);
	const WcFamilyAttrs *family_defaults;	/* of a new family */

	/*
	 * With WC_FEATURE_ATOMIC: changes a cell in the store at once, atomically for all its clients; an abort does not undo
	 * it.  Return the new value; that of append is valid until the next call of the driver.  acts_at_once: false if
	 * the transaction has to write the cell itself, to be able to undo it, or because it has changed the table.
	 */
	bool		(*acts_at_once) (const WcTableDesc *table);
	int64		(*increment) (const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, int64 amount);
	WcSlice		(*append) (const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, WcSlice more);

	/*
	 * scan_open requests the first block and does not wait for it: many scans may be
	 * opened before any of them is read.  scan_next puts the next block, beginning with the
	 * first, into scan->block; false when there is none.  scan_next also raises the errors of
	 * scan_open's request.  scan_close never fails.
	 */
	void		(*scan_open) (WcDriverScan *scan, const WcDriverOpen *open);
	bool		(*scan_next) (WcDriverScan *scan);

	/* As wc_client_scan_ready, for the next block; NULL: the driver has no socket. */
	bool		(*scan_ready) (WcDriverScan *scan, WcClientWait *wait);

	/* May the scan be opened as `quiet`?  No round trip, never fails.  False: only for rows that are not in `written`. */
	bool		(*is_quiet) (const WcDriverOpen *open, WcExtent *written);

	/* The answer to a Get of the row as the last commit has left it, which has ended and is not applied yet: sets claim->taken_over, and
	 * claim->answer.  No round trip, never fails.  False: it is not known. */
	bool		(*find_unapplied) (const WcDriverOpen *open, WcDriverClaim *claim);

	/*
	 * Locks the row of a Get, and finds the Get's answer in the newest state, both without a round trip; may wait for a
	 * moment, interruptibly, for a commit that has to be applied.  The transaction has not written the row.  False: the row
	 * is not locked so; scan_take and `modify` lock it and read it.  If there is a holder nevertheless, the answer is that of the
	 * row's committed state, and the call can be repeated after the holder's end.  claim_end keeps the row of the last call locked, if the
	 * call has added a lock, or unlocks it; it never fails.
	 */
	bool		(*claim) (const WcDriverOpen *open, const WcDriverLocker *locker, WcDriverClaim *claim);
	void		(*claim_end) (bool keep);

	/* Locks a row that has not changed since a scan at the snapshot returned it, as `claim` does.  False: lock_rows locks it; if
	 * there is a holder nevertheless, the call can be repeated after its end. */
	bool		(*claim_same) (uint64 snapshot, uint32 table_id, WcSlice row, const WcDriverLocker *locker, uint64 *holder);

	/* Would a put without a timestamp be the newest cell of its column, if it were committed now?  False if in doubt. */
	bool		(*is_timely) (uint32 table_id, WcSlice row);

	/* At the commit, behind hand_over: lets others take over the row from it, with this answer to an encoded Get.  follows: as in
	 * WcDriverClaim, this commit included; 0: the transaction has not read the row, and the answer is right if no earlier
	 * commit has cells with later timestamps.  Never fails. */
	void		(*leave_row) (uint64 xid, uint32 table_id, WcSlice row, uint32 follows, WcSlice get, WcSlice answer);

	/*
	 * As scan_open of a Get at the newest state, but locks the row before it reads the row, and
	 * waits for the first block.  result->taken: the row exists and is locked.  False: another
	 * transaction (result->holder) has locked the row, and no scan was opened, no row locked.
	 */
	bool		(*scan_take) (WcDriverScan *scan, const WcDriverOpen *open, const WcDriverLocker *locker, WcTakeResult *result);

	void		(*scan_stats) (WcDriverScan *scan);
	void		(*scan_close) (WcDriverScan *scan);

	/* How many open scans the engine may keep state for; never fails. */
	uint32		(*scans_open) (void);

	/*
	 * Makes a new snapshot number stand for the newest state, if this is possible without
	 * a message to the engine.  True also if the number stands for a state already.  Needs no
	 * connection.  wait: waits while a commit is being written (interruptible; without wait it
	 * never fails).  False: snapshot_take, or the first scan at the snapshot, takes it.
	 */
	bool		(*snapshot_enter) (uint64 snapshot, bool wait);

	/*
	 * A mark (not 0) lets snapshots of other processes stand for the same state as an entered
	 * snapshot, as long as this one is held.  snapshot_enter_marked makes a new number stand for
	 * the state of the snapshot that `process` has marked so last.  Never fail.  False: the snapshot
	 * was not entered (snapshot_mark), the process has no such mark (snapshot_enter_marked).
	 */
	bool		(*snapshot_mark) (uint64 snapshot, uint64 mark);
	bool		(*snapshot_enter_marked) (uint64 snapshot, uint32 process, uint64 mark);

	/* Takes the snapshot of a number now, unless it has been taken; perhaps a round trip. */
	void		(*snapshot_take) (uint64 snapshot);

	/* Forgets a snapshot number; never fails. */
	void		(*snapshot_release) (uint64 snapshot);

	/* A piece of the transaction's batch (model/batch.h), which may hold bytes_max bytes:
	 * the driver cuts its copy of the batch to `at` bytes, and appends these.  A piece may
	 * end within an operation.  more: another call follows at once. */
	void		(*write) (uint64 at, WcSlice bytes, uint64 bytes_max, bool more);

	/*
	 * Locks the rows of a scan and makes an operation for each row.  It appends the operations to
	 * the driver's copy of the batch, which may hold bytes_max bytes, and passes all their
	 * bytes to take, as they are made, so that the caller has them as well; the bytes are
	 * valid during that call only.  serializable: no row may have changed since the
	 * snapshot.  After an error, and all outcomes but DONE and BLOCKED, the caller must cut the
	 * batch back: a call of write must follow.  result->row is valid until the next call.
	 */
	void		(*modify) (const WcClientModify *modify, const WcDriverOpen *open, const WcDriverLocker *locker,
						   bool serializable, uint64 bytes_max, WcDriverTake take, WcModifyResult *result,
						   WcClientScanStats *stats);

	/* Locks rows for this transaction until it has been applied or rolled back, or unlock.  Does not
	 * wait (see WcLockResult); lock_rows sets the message's epoch.  result->rows is
	 * valid until the next call. */
	void		(*lock_rows) (WcLockMessage *m, WcLockResult *result);

	/* Releases the rows that this subtransaction and later ones have locked; never fails. */
	void		(*unlock) (SubTransactionId subid);

	/*
	 * Locks and checks the written rows: every error that a commit can meet is raised
	 * here.  xid: of the transaction; length: bytes of the batch.  Returns 0 when it is done: then the driver
	 * has no state of the transaction any more, and the engine releases the row locks when the server's log
	 * tells how the transaction ended.  Else another transaction has locked a written row, and the result is
	 * its full transaction id, or WC_LOCK_HOLDER_COMMITTING; call again when that transaction has ended.
	 * snapshot: if it stands for a state, no written row may have changed since (40001); 0: rows may have.
	 */
	uint64		(*precommit) (uint64 xid, uint64 length, uint64 snapshot);

	/*
	 * The same without a round trip, for a transaction that needs no checks, and has locked all rows that it
	 * has written before it wrote them, except those of the operations `rest` (wc_batch_unsettled), which are locked
	 * here.  place: the transaction's in flight; 40001 if the engine had lost the transaction's locks before the
	 * place was taken.  False: the caller has to call precommit.
	 */
	bool		(*hand_over) (uint64 xid, uint16 place, WcSlice rest);

	/*
	 * As precommit, for PREPARE TRANSACTION, and also for a transaction that has only locked
	 * rows.  When it is done, take has received operations that list the row locks: the
	 * stream's next bytes, after the batch's `length`.  The row locks are kept until the server's
	 * log tells how the transaction ended, also by another engine, which locks by these operations.
	 */
	uint64		(*prepare) (uint64 xid, uint64 length, uint64 snapshot, WcDriverTake take);

	/* Forgets batch, scans, snapshots and row locks; never fails. */
	void		(*abort) (void);

	/* Ends a transaction that wrote nothing or has committed; never fails. */
	void		(*finish) (void);

	/* family 0: every family.  Without wait it returns at once; errors are then written to the server's log. */
	void		(*work) (WcClientWork work, uint32 table_id, uint32 family, bool wait, CommandId cid, int64 clock_offset_us);

	/* Are compactions of the table under way, or waiting? */
	void		(*compacting) (uint32 table_id, bool *minor, bool *major);
	/* The problems of a table's stored data (table_id 0: of the catalog), as engine.h encodes them; valid
	 * until the next call. */
	void		(*check_store) (uint32 table_id, WcSlice *problems);
	void		(*estimate) (uint32 table_id, const WcRange *range, const uint32 *families, uint32 nfamilies,
							 uint64 *bytes, uint64 *rows);

	/* Row keys between parts of a range, as engine.h encodes them; valid until the next call. */
	void		(*split) (uint32 table_id, const WcRange *range, const uint32 *families, uint32 nfamilies, uint32 nparts,
						  WcSlice *points);

	/* The ranges as engine.h encodes them; valid until the next call. */
	void		(*sample) (uint32 table_id, const WcRange *range, uint32 nranges, uint64 range_rows, uint64 seed, WcSlice *ranges);

	/* The current rows of a view of statistics (model/statistics.h); valid until the
	 * next call. */
	void		(*statistics) (uint8 view, WcSlice *rows);
} WcDriver;

/* The embedded engine (client/local/local.c). */
extern const WcDriver wc_local_driver;

/* The driver of this session's transactions. */
static inline const WcDriver *
wc_driver(void)
{
	return &wc_local_driver;
}

/* The driver of tables outside the embedded engine; NULL until the session uses such a store (client/txn/drivers.c). */
extern const WcDriver *wc_remote_driver;

static inline const WcDriver *
wc_driver_of(uint32 table_id)
{
	return likely(table_id < WC_REMOTE_TABLE) ? &wc_local_driver : wc_remote_driver;
}

/* Functions of client/ for a driver that is a module of its own. */
typedef struct WcDriverHost
{
	uint32		version;		/* WC_DRIVER_VERSION */
	void		(*raise) (const WcError *err) pg_attribute_noreturn();	/* wc_raise */
	void		(*raise_as) (const WcError *err, int sqlstate) pg_attribute_noreturn();	/* wc_raise_as */
	void		(*server_options) (Oid server, WcServerOptions *options);	/* wc_server_options */
	void		(*user_options) (Oid server, Oid user, WcUserOptions *options); /* wc_user_options */
	void		(*too_large) (uint64 bytes) pg_attribute_noreturn();	/* wc_batch_too_large */
	void		(*lock_rows) (uint32 lock_id, const WcSlice *rows, int nrows);	/* wc_lock_changed_rows */
	void		(*note_sending) (void); /* wc_note_sending */
} WcDriverHost;

/* The one function that such a module exports. */
typedef const WcDriver *(*WcDriverLoad) (const WcDriverHost *host);
#define WC_HBASE_MODULE "$libdir/widecol_hbase"
#define WC_HBASE_LOAD "wc_hbase_driver"

#endif
