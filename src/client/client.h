/*
 * client/client.h: the interface of stored tables for fdw/ and shell/.
 *
 * PostgreSQL side: everything here may ereport(ERROR), is interruptible, and
 * allocates in CurrentMemoryContext unless its comment says otherwise.  A
 * driver (client/driver.h) does the work; callers cannot know which driver, but may
 * ask for feature bits.  client/ keeps the connection, the transaction's batch and
 * snapshots itself, by callbacks of PostgreSQL's (sub)transactions.
 */
#ifndef WC_CLIENT_CLIENT_H
#define WC_CLIENT_CLIENT_H

#include "postgres.h"

#include "nodes/lockoptions.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/jsonb.h"
#include "utils/snapshot.h"

#include "base/lockmode.h"
#include "model/batch.h"
#include "model/cellblock.h"
#include "model/descriptor.h"
#include "model/scan.h"

/* --- errors ---------------------------------------------------------------
 * The one ereport for a WcError: SQLSTATE by status.
 */
extern void wc_raise(const WcError *err) pg_attribute_noreturn();

/* With a SQLSTATE that the caller knows better; 0: by status. */
extern void wc_raise_as(const WcError *err, int sqlstate) pg_attribute_noreturn();

/* 53200: core's allocator has returned NULL. */
extern void wc_raise_no_memory(void) pg_attribute_noreturn();

/* A function that raises a more precise error about a row.  It is called with WC_DUPLICATE_ROW or
 * WC_CONFLICT (the row has been changed since the transaction's snapshot), the stored table's id and
 * the row key.  It raises, or returns when it knows nothing more. */
typedef void (*WcRowRaiser) (WcStatus status, uint32 table, WcSlice row);
extern void wc_raise_rows_by(WcRowRaiser raiser);

/* 40001, naming the row: another transaction has changed the row since this transaction's snapshot. */
extern void wc_client_raise_changed_row(const WcTableDesc *table, WcSlice row) pg_attribute_noreturn();

/* ERROR 55000 with the line to add, unless widecol is in
 * shared_preload_libraries.  Sends nothing to the engine. */
extern void wc_client_require_preload(void);

/* Register the callbacks of (sub)transactions and the hooks of statements.  Called by _PG_init, while the
 * postmaster loads its libraries (a session that loads widecol by itself can use no stored table). */
extern void wc_client_follow_transactions(void);
extern void wc_client_follow_statements(void);

/* Has the COPY FROM that is running a WHERE?  (PostgreSQL does not pass it to the wrapper.) */
extern bool wc_client_copy_filters(void);

/* --- stores -----------------------------------------------------------------
 *
 * A table is in the embedded engine, or in a cluster that a foreign server names.  Functions that take a
 * table's name alone mean the embedded engine; functions that take a descriptor, or a WcScan, find the
 * store by the table's id.
 */
typedef struct WcClientStore WcClientStore;

/* The store of a foreign server of the wrapper widecol; valid to the end of the session.  Connects to
 * nothing. */
extern WcClientStore *wc_client_store(Oid server);
extern bool wc_client_store_is_embedded(const WcClientStore *store);
extern WcClientStore *wc_client_embedded(void);

/* The foreign server; InvalidOid for the embedded engine, which may have several. */
extern Oid	wc_client_store_server(const WcClientStore *store);

/* As wc_client_table, wc_client_catalog_generation, wc_client_list_tables and
 * wc_client_list_namespaces. */
extern WcTableDesc *wc_client_store_table(WcClientStore *store, const char *name, bool missing_ok);
extern uint64 wc_client_store_generation(WcClientStore *store);
extern List *wc_client_store_tables(WcClientStore *store);
extern List *wc_client_store_namespaces(WcClientStore *store);

/* The attributes of a new family for which no others are given. */
extern const WcFamilyAttrs *wc_client_store_family_defaults(const WcClientStore *store);

/*
 * As wc_client_create_table and so on, in any store.  A store outside the embedded engine gets the change at
 * PRE_COMMIT, before changes of rows; it can not be undone then.  Raises what the store would refuse, as far as that
 * can be known, and 0A000 if the store's tables cannot be changed.
 */
extern void wc_client_store_create_table(WcClientStore *store, WcTableDesc *desc);
extern void wc_client_store_alter_table(WcClientStore *store, const WcTableDesc *desc);
extern void wc_client_store_drop_table(WcClientStore *store, const WcTableDesc *desc);
extern void wc_client_store_truncate_table(WcClientStore *store, const WcTableDesc *desc);
extern void wc_client_store_enable_table(WcClientStore *store, const WcTableDesc *desc, bool enable);
/* Sets the table's split points: in the embedded engine it has them already, HBase is asked. */
extern void wc_client_store_read_splits(WcClientStore *store, WcTableDesc *desc);
extern bool wc_client_store_table_enabled(WcClientStore *store, const WcTableDesc *desc);
extern void wc_client_store_create_namespace(WcClientStore *store, const char *name);
extern void wc_client_store_drop_namespace(WcClientStore *store, const char *name);

/* --- tables ---------------------------------------------------------------*/

/*
 * The table as this transaction sees it; name is "[namespace:]table".  Lives in
 * CurrentMemoryContext.  A missing table is NULL with missing_ok, else the error
 * undefined_table.  Costs no round trip when no descriptor has changed since the last call.
 */
extern WcTableDesc *wc_client_table(const char *name, bool missing_ok);

/* A number that changes whenever a descriptor may have changed, as this transaction sees
 * it (also when own DDL is made or rolled back).  Caches compare it.  No round trip. */
extern uint64 wc_client_catalog_generation(void);

/* How many rows all commits have written since the engine's start; a row that was written
 * twice counts twice.  No round trip. */
extern uint64 wc_client_writes(void);

/*
 * Names, and other texts of the catalog, are UTF-8 in the store; but those of a database with encoding SQL_ASCII are
 * its bytes.  to_utf8: a zero byte, which does not count, ends the bytes; these may be the argument itself.
 * from_utf8: palloc'd; where another database's name is not UTF-8, bytes beyond ASCII are shown as \xHH.
 */
extern WcSlice wc_name_to_utf8(const char *name);
extern char *wc_name_from_utf8(WcSlice name);

/* "[namespace:]name" in the database's encoding, palloc'd: for messages, and for functions here that take a name. */
extern char *wc_client_table_fullname(const WcTableDesc *desc);

/* The parts of "[namespace:]name", in UTF-8; raises an error if no table can have this name. */
extern void wc_client_split_name(const char *full, WcSlice *ns, WcSlice *name);

/* All tables of this database, of all databases: List of WcTableDesc *. */
extern List *wc_client_list_tables(void);
extern List *wc_client_list_all_tables(void);

typedef struct WcClientNamespace
{
	char	   *name;
	char	   *properties;		/* text of a JSON object; NULL: no properties */
} WcClientNamespace;

/* All namespaces of this database, in the order of their bytes in UTF-8: List of WcClientNamespace *.
 * wc_client_namespace: one namespace by its name, NULL if it does not exist; wc_client_require_namespace: 3F000 then. */
extern List *wc_client_list_namespaces(void);
extern const WcClientNamespace *wc_client_namespace(const char *name);
extern const WcClientNamespace *wc_client_require_namespace(const char *name);

/*
 * Catalog changes: part of the transaction.  Each takes a heavyweight lock on
 * the name to the end of the transaction, so that concurrent DDL (and writers,
 * which take a weaker one) wait.  create gives desc its ids (table and
 * families, generations), and sets the current user as the owner unless desc has one;
 * the caller must fill in all other fields of desc.  client/catalog/owner.h checks the
 * caller's privileges.
 */
extern void wc_client_create_table(WcTableDesc *desc);
extern void wc_client_alter_table(const WcTableDesc *desc);	/* the whole new descriptor, changed from one that was
																 * read under the lock; new families with id 0 get one */
/* desc, changed from a descriptor that was read under the lock, has the new name.  Locks both names. */
extern void wc_client_rename_table(const char *old_name, const WcTableDesc *desc);
extern void wc_client_drop_table(const WcTableDesc *desc);
extern void wc_client_truncate_table(const WcTableDesc *desc);
extern void wc_client_create_namespace(const char *name);
/* Makes it unless there is one.  Waits for a transaction that makes it. */
extern void wc_client_ensure_namespace(const char *name);
extern void wc_client_drop_namespace(const char *name);

/*
 * Sets properties of the namespace: properties is a JSON object of strings, numbers and booleans; a null
 * removes a property.  3F000 if the namespace does not exist, 22023 if properties is any other JSON, 54000 if
 * the namespace then has more than WC_NAMESPACE_PROPERTIES_MAX bytes of properties.
 */
extern void wc_client_change_properties(const char *name, Jsonb *properties);

/* Drops the stored tables of another database with the transaction's commit.  Called before
 * DROP DATABASE, because this call may fail; and for a database that does not exist any more. */
extern void wc_client_drop_database(Oid database);

/* Has the database, which may be another than the session's, stored tables?  False also when this is
 * unknown, because no engine runs. */
extern bool wc_client_database_has_tables(Oid database);

/* Takes the lock on the name that the functions above take (before the caller checks whether the table exists). */
extern void wc_client_lock_table(const char *name, LOCKMODE mode);

/* --- reading --------------------------------------------------------------*/
typedef struct WcClientScan WcClientScan;

/*
 * The engine's snapshot that stands for a PostgreSQL snapshot.  All scans of a statement,
 * and of the functions that read by its snapshot, share one, which the first of them
 * takes; under REPEATABLE READ and above there is one a transaction.  It is kept as long
 * as PostgreSQL's snapshot is registered or active, and is released without a call.
 * snapshot NULL: each scan reads the newest state.
 *
 * The snapshot shows the state at the moment of this call, unless a commit is being written
 * at that moment: then the state at the first scan, or at wc_client_snapshot_take, which makes
 * the engine take the snapshot, with a round trip.
 */
typedef struct WcClientSnapshot WcClientSnapshot;
extern WcClientSnapshot *wc_client_snapshot(Snapshot snapshot);
extern void wc_client_snapshot_take(WcClientSnapshot *snapshot);

/*
 * Opens a scan: sends the request for its first rows, without waiting.  Only wc_client_next_row
 * waits (a round trip), and raises the errors of the scan.  The scan is serialised at once, so the
 * caller may free it.  Own writes with cid less than `cid` are seen (usually the PostgreSQL
 * snapshot's curcid).  rows_hint: how many rows the caller is likely to read; 0: unknown.  If these are at most WC_ROWS_FEW,
 * the first block of a range is very small.  The scan and its blocks live in a child of the memory context.
 */
#define WC_ROWS_FEW	16
extern WcClientScan *wc_client_scan_open(const WcScan *scan, WcClientSnapshot *snapshot, CommandId cid,
										 uint64 rows_hint, MemoryContext context);

/*
 * The same at the newest state, if the scan's rows are quiet: no commit that has written one of them is in flight.  So the caller
 * does not wait for other commits.  NULL: a row may not be quiet, or the transaction may have written it.
 */
extern WcClientScan *wc_client_scan_quiet(const WcScan *scan, CommandId cid, uint64 rows_hint, MemoryContext context);

/* What a scan waits for, by the clock of wc_clock_monotonic_us. */
typedef struct WcClientWait
{
	pgsocket	socket;			/* until it is readable; several scans may have the same */
	bool		own;			/* the bytes that arrive next are for this scan */
	int64		until_ms;		/* and no longer: from then on wc_client_next_row raises an error at once */
} WcClientWait;

/*
 * Will wc_client_next_row return without waiting for a socket?  If not, the store is at work on the rows, and *wait is
 * set.  So several scans can be waited for at a time.  Always true for a scan of the embedded engine, which has no socket.
 */
extern bool wc_client_scan_ready(WcClientScan *scan, WcClientWait *wait);

/* May a caller open another scan well before its rows are wanted? */
extern bool wc_client_scans_ahead(void);

/*
 * The next row: false at the end.  Skips the cells of the row before that were not read.
 * *row is valid until the next call of wc_client_next_row.
 */
extern bool wc_client_next_row(WcClientScan *scan, WcSlice *row);

/*
 * The next cell of the current row; false when it has no more.  The cell's
 * slices are valid until the next call on this scan.  colno as in
 * model/cellblock.h.
 */
extern bool wc_client_next_cell(WcClientScan *scan, WcCell *cell, uint32 *colno);

/*
 * Is the timestamp of the cell that wc_client_next_cell returned last provisional?  The transaction has written the cell
 * without a timestamp, so each scan, and the commit, gives the cell another one.  Only of scans with want_ts.  note: ts is such a
 * timestamp; is: it was noted, in this transaction.
 */
extern bool wc_client_cell_provisional(const WcClientScan *scan);
extern void wc_client_note_provisional(int64 ts);
extern bool wc_client_is_provisional(int64 ts);

/*
 * Do the slices of the current row's cells stay valid until the next wc_client_next_row, and
 * not only until the next cell?  (The row lies in one block.)
 */
extern bool wc_client_cells_stay(const WcClientScan *scan);

/* Could the scan's filter not decide on the row that wc_client_next_row returned last? */
extern bool wc_client_row_undecided(const WcClientScan *scan);

/*
 * The keys of the row that wc_client_next_row returned last and of the following rows that have
 * been received already, up to the first undecided row: at most max, at least one.  Valid
 * until the next call on this scan.
 */
extern int	wc_client_rows_ahead(const WcClientScan *scan, WcSlice *rows, int max);

/*
 * When that row is undecided and came before the scan's row_offset was reached: the number of rows
 * that the caller has to skip, from this row on, not counting rows that do not satisfy the
 * filter.  Else 0.  At most one row of a scan has another value than 0.
 */
extern uint64 wc_client_rows_owed(const WcClientScan *scan);

/* May a scan of the table have a row_offset? */
extern bool wc_client_skips_rows(const WcTableDesc *table);

/* Should a scan of the table return groups of rows, to transfer less? */
extern bool wc_client_groups(const WcTableDesc *table);

/* Does a scan of the table pass over rows because of its distinct_parts? */
extern bool wc_client_passes_prefixes(const WcTableDesc *table);

extern void wc_client_scan_close(WcClientScan *scan);

/* Has the table, or only this family (NULL: all of them), no cells at all, in the newest state with all own writes?  Stored
 * cells count also if they are deleted. */
extern bool wc_client_is_empty(const WcTableDesc *table, const WcFamilyDesc *family);

/* Are there visible rows in the ranges (ascending, disjoint), in the newest state with all own writes? */
extern bool wc_client_has_rows(const WcTableDesc *table, WcRange *ranges, int nranges);

/* For EXPLAIN ANALYZE; costs a round trip for an unfinished scan. */
typedef struct WcClientScanStats
{
	uint64		rows;
	uint64		rows_examined;
	uint64		rows_filtered;	/* rows that the scan's filter rejected */
	uint64		cells_examined;
	uint64		seeks;
	uint64		batches;
	uint64		cache_hits;		/* blocks that were in memory; blocks_read: blocks that were not */
	uint64		blocks_read;
} WcClientScanStats;
extern void wc_client_scan_stats(WcClientScan *scan, WcClientScanStats *stats);
extern void wc_client_scan_stats_add(WcClientScanStats *sum, const WcClientScanStats *more);

/* --- writing --------------------------------------------------------------
 *
 * wc_client_write returns the builder of the transaction's batch; fill in exactly
 * one whole operation with model/batch.h's functions (raise their errors with
 * wc_client_write_failed, which removes the unfinished operation first),
 * then call wc_client_write_done.  wc_client_write takes the writer's lock on the table
 * once a transaction.  Operations are sent as late as possible.  Fails in a read-only
 * transaction (25006), while widecol.read_timestamp is set, in parallel mode, and
 * when the table is disabled (55000).  Operations on a table outside the embedded engine are kept by the
 * driver of its store, and sent at PRE_COMMIT.
 */
extern WcBatchBuilder *wc_client_write(const WcTableDesc *table);

/* When changes of a table outside the embedded engine are sent. */
typedef enum WcWriteMode
{
	WC_WRITE_AS_SERVER,			/* as the option of the server says */
	WC_WRITE_AT_COMMIT,
	WC_WRITE_STREAM				/* in chunks, before the commit: a rollback does not take them back */
} WcWriteMode;

extern WcBatchBuilder *wc_client_write_in_mode(const WcTableDesc *table, WcWriteMode mode);
extern void wc_client_write_done(void);
extern void wc_client_write_failed(const WcError *err) pg_attribute_noreturn();

/*
 * The caller writes whole rows: this Get, of any row, reads all columns that the next operations on the table put or clear.  What such an
 * operation makes of a row the session knows from then on, up to the end of the transaction, and leaves to others at the commit.
 */
extern void wc_client_note_whole_row(const WcTableDesc *table, const WcScan *get);

/* Raises those errors of wc_client_write that do not depend on a table, for statements that may write nothing. */
extern void wc_client_require_writable(void);

/* Can wc_client_scan_take be used on the table? */
extern bool wc_client_takes(const WcTableDesc *table);

typedef struct WcRowLock
{
	WcSlice		row;			/* in */
	bool		locked;			/* out: false: another transaction has locked the row, and wait_policy is not LockWaitBlock */
	bool		changed;		/* out: a commit has changed the row since `snapshot` */
	bool		rewritten;		/* out, with tell_rewritten: changed by own commands that `cid` does not see */
	bool		gone;			/* out: changed, and does not exist any more; not locked, though `locked` is set */
	bool		waited;			/* out: another transaction had locked the row */
	bool		exists;			/* out, with only_absent: the row has a visible cell in the families now, own writes included */
} WcRowLock;

typedef struct WcRowLockRequest
{
	const WcTableDesc *table;
	WcRowLockMode mode;
	LockWaitPolicy wait_policy; /* LockWaitError: as LockWaitSkip; the caller knows the relation to name */
	WcClientSnapshot *snapshot; /* for `changed`; NULL: `changed` is not determined */
	bool		seen;			/* scans at `snapshot` have returned the rows, which exist in `families` */
	bool		may_change;		/* a changed row is no error under REPEATABLE READ and above, either */
	uint32		nfamilies;
	const uint32 *families;		/* 0: all */
	bool		only_absent;	/* rows that exist are not locked (though `locked` is set) */
	bool		tell_rewritten;
	CommandId	cid;			/* with tell_rewritten: own writes of earlier commands are seen */
} WcRowLockRequest;

/*
 * Locks rows, whether they exist or not, in the order given, to the end of the
 * (sub)transaction, and takes the writer's lock on the table.  Waits for the transactions
 * that have locked them, as PostgreSQL waits for a row: lock_timeout and the deadlock detector
 * include the wait.  Under REPEATABLE READ and above a row that has changed is the error 40001,
 * without waiting, unless may_change.  A transaction that has locked a row in a mode that excludes
 * writers can read the row at wc_client_snapshot(NULL): no other transaction will change it.  Fails as
 * wc_client_write does.  One round trip for up to WC_LOCK_BATCH rows that no other transaction has locked.
 *
 * Rows of tables outside the embedded engine are locked there, too: the locks exclude this server's sessions only.
 * Then `changed` is set if the row may have changed, `gone` is not set, `rewritten` is not determined, and rows
 * that exist are locked with only_absent as well.
 */
extern void wc_client_lock_rows(const WcRowLockRequest *request, WcRowLock *rows, int nrows);

/*
 * Under READ COMMITTED, for a statement that has not read stored tables yet.  A row that the transaction has
 * locked against writers looks the same at the newest state as at the statement's snapshot.  So the statement
 * need not take a snapshot for the row, nor wait for commits.  wc_client_snapshot_of_held: the newest state, or
 * NULL when the row is not remembered as locked so; only the last few rows are.  wc_client_holds_rows: are any
 * rows remembered?
 */
extern bool wc_client_holds_rows(void);
extern WcClientSnapshot *wc_client_snapshot_of_held(const WcTableDesc *table, WcSlice row);

/*
 * A change of a cell by the store itself, at once: atomic for all its clients, and not undone by ROLLBACK.  Only where
 * wc_client_acts_at_once: of tables outside the embedded engine, when the driver allows it in this transaction.  Locks
 * the row before.  append returns the new value, palloc'd.
 */
extern bool wc_client_acts_at_once(const WcTableDesc *table);
extern int64 wc_client_increment(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, int64 amount);
extern WcSlice wc_client_append(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, WcSlice more);

/*
 * Under the row's lock, the transaction has read this cell, and its changes of the row depend on the value (empty: no
 * cell, or an empty one).  For tables of the embedded engine, whose writers all respect the lock, this does nothing.  For
 * other tables the commit fails with 40001 if the cell has changed.
 */
extern void wc_client_expect(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, WcSlice value);

/*
 * Is the timestamp in the future, so that a cell which is written now without a timestamp may be older?  *after: the first
 * timestamp behind it, in steps of the table's store; WC_TS_LATEST: there is none.  Only while the transaction reads or
 * writes the table.
 */
extern bool wc_client_ts_ahead(const WcTableDesc *table, int64 ts, int64 *after);

/*
 * Before the error that the row, which is to be inserted, exists.  Under SERIALIZABLE, raises 40001 instead if no order of
 * this transaction and of those that have read the row explains that this one has not seen it.
 */
extern void wc_client_check_readers(const WcTableDesc *table, WcSlice row);

/* One row, in mode EXCLUSIVE. */
extern void wc_client_lock_row(const WcTableDesc *table, WcSlice row);

/*
 * One change to all rows of a scan, made in the store: an operation with the
 * same items for each row (model/batch.h; WcOp.items) goes into the transaction's
 * batch.  Rows are read as a scan reads them, own writes with cid less than
 * `cid` included.  Each row is locked first: when another transaction has changed the row since
 * the snapshot, the row is read at the newest state, and changed if the scan still returns it;
 * under REPEATABLE READ and above such a row is 40001.  Takes the writer's lock on the table.
 * A round trip, and another for each row that another transaction has locked.
 */
typedef struct WcClientModify
{
	const WcScan *scan;			/* neither reversed nor merged */
	WcRowLockMode mode;
	WcClientSnapshot *snapshot;
	CommandId	cid;
	CommandId	write_cid;		/* of the operations */
	WcModifyKind kind;			/* of items */
	WcSlice		keys;			/* keys that the caller could read: an encoded WcKeyCheck */
	WcSlice		items;			/* for rows that the scan returns with a cell */
	WcSlice		items_bare;		/* for rows that the scan returns without a cell */
} WcClientModify;

/* The engine may soon be asked to change or lock rows of the table, and may get ready for the request.  Never fails. */
extern void wc_client_rouse(const WcTableDesc *table);

/* Can wc_client_modify be used on the table? */
extern bool wc_client_modifies(const WcTableDesc *table);

/* False, and nothing has been changed, when the caller might be unable to read one of the
 * keys.  stats are set in both cases. */
extern bool wc_client_modify(const WcTableDesc *table, const WcClientModify *modify, uint64 *rows,
							 WcClientScanStats *stats);

/*
 * The same for a Get, under READ COMMITTED, at the newest state (snapshot is NULL): the row is locked first, and
 * unlocked when the scan does not return it.  So the statement needs no snapshot, and does not wait for commits
 * that have not changed this row.  Waits for the transaction that has locked the row, if the scan returns the
 * row's committed version.
 */
extern bool wc_client_modify_row(const WcTableDesc *table, const WcClientModify *modify, uint64 *rows,
								 WcClientScanStats *stats);

/*
 * A Get that locks its row in the same way, if the scan returns the row; the first block has been received.
 * NULL: the scan returns no row, whether the transaction that has locked the row commits or not.
 */
extern WcClientScan *wc_client_scan_take(const WcTableDesc *table, const WcScan *scan, WcRowLockMode mode, CommandId cid,
										 MemoryContext context);

/* --- administration: a round trip each ------------------------------------*/
typedef enum WcClientWork
{
	WC_CLIENT_FLUSH,
	WC_CLIENT_COMPACT,
	WC_CLIENT_MAJOR_COMPACT
} WcClientWork;

/* family NULL: every family.  Without wait the work is only requested; errors are then written to the
 * server's log. */
extern void wc_client_work(WcClientWork work, const WcTableDesc *table, const WcFamilyDesc *family, bool wait);

/* Are compactions of the table that wc_client_work requested under way, or waiting? */
extern void wc_client_compacting(const WcTableDesc *table, bool *minor, bool *major);

typedef struct WcProblem
{
	uint32		family;			/* id; 0: the problem concerns no single family */
	char	   *text;
} WcProblem;

/* Reads and checks all stored data of a table (NULL: the committed catalog): List of WcProblem *. */
extern List *wc_client_check_store(const WcTableDesc *table);

/* About how many bytes and rows a range has, in these families (nfamilies 0: in all).  0 rows when the
 * table's store has no estimates: then wc_client_estimates is false. */
extern bool wc_client_estimates(const WcTableDesc *table);
extern void wc_client_estimate(const WcTableDesc *table, const WcRange *range, const uint32 *families, uint32 nfamilies,
							   uint64 *bytes, uint64 *rows);

/*
 * May parallel workers read stored tables for this session now?  Workers see committed data only, and read
 * parts of a range at one snapshot.  A hint, for planning: a query that begins when workers may not read
 * runs without workers.
 */
extern bool wc_client_workers_may_read(void);

/*
 * Row keys that divide a range of the table into at most nparts parts (1 .. WC_PARTS_MAX) of about
 * equal size in these families (nfamilies 0: in all), ascending, each the first key of its part.  The
 * bytes live in CurrentMemoryContext, as the array.  A round trip.
 */
extern WcSlice *wc_client_split(const WcTableDesc *table, const WcRange *range, const uint32 *families,
								uint32 nfamilies, int nparts, int *npoints);

typedef struct WcSampleRange
{
	WcRange		range;
	double		weight;			/* how many rows of the table each row of the range stands for */
} WcSampleRange;

/*
 * For a sample: about nranges ranges of about range_rows rows each, ascending and disjoint, drawn
 * at random from a range of the table (start inclusive, stop exclusive); the range itself, with
 * weight 1, when no better division is known.  The bytes live in CurrentMemoryContext, as the array.
 */
extern WcSampleRange *wc_client_sample(const WcTableDesc *table, const WcRange *range, int nranges,
									   uint64 range_rows, uint64 seed, int *nfound);

/* This session's widecol.read_timestamp: every scan reads the tables as of this time, and
 * writing fails; WC_TS_LATEST: the setting is empty. */
extern int64 wc_client_read_timestamp(void);

/*
 * A moment that no other call in the cluster returns: a second since 1970, and in the lower
 * WC_MOMENT_BITS a number within the second.  Moments only grow.  When the numbers of this second are
 * used up, waits for the next second, at most a second, interruptibly.
 */
extern uint64 wc_client_unique_moment(void);

/* This session's widecol.debug_clock_offset in microseconds. */
extern int64 wc_client_clock_offset_us(void);

#endif
