/*
 * client/client.h: stored tables, as fdw/ and shell/ see them.
 *
 * PostgreSQL side: everything here may ereport(ERROR), is interruptible, and
 * allocates in CurrentMemoryContext unless it says otherwise.  Behind it is a
 * driver (client/driver.h); callers cannot know which, but may ask for feature
 * bits.  The connection, the transaction's batch and snapshots are handled
 * inside: they follow PostgreSQL's (sub)transactions by callbacks.
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

/* Who can say more of a row: called with WC_DUPLICATE_ROW or WC_CONFLICT (the row has been
 * changed since the transaction's snapshot), the stored table's id and the row key; raises, or
 * returns when it cannot. */
typedef void (*WcRowRaiser) (WcStatus status, uint32 table, WcSlice row);
extern void wc_raise_rows_by(WcRowRaiser raiser);

/* 40001, naming the row: another transaction has changed it since this one's snapshot. */
extern void wc_client_raise_changed_row(const WcTableDesc *table, WcSlice row) pg_attribute_noreturn();

/* ERROR 55000 with the line to add, unless widecol is in
 * shared_preload_libraries.  Sends nothing to the engine. */
extern void wc_client_require_preload(void);

/* Follow (sub)transactions and statements from now on; by _PG_init, while the postmaster loads its
 * libraries (in a session that loads this one by itself no stored table can be used). */
extern void wc_client_follow_transactions(void);
extern void wc_client_follow_statements(void);

/* --- tables ---------------------------------------------------------------*/

/*
 * The table as this transaction sees it; name is "[namespace:]table".  Lives in
 * CurrentMemoryContext.  NULL when missing_ok and there is none, else
 * undefined_table.  Costs no round trip when nothing changed since the last look.
 */
extern WcTableDesc *wc_client_table(const char *name, bool missing_ok);

/* Changes whenever a descriptor may have changed, as this transaction sees it
 * (also when own DDL is made or rolled back): caches compare it.  No round trip. */
extern uint64 wc_client_catalog_generation(void);

/* Rows that all commits have written since the engine's start, one written twice counted
 * twice.  No round trip. */
extern uint64 wc_client_writes(void);

/* "[namespace:]name" as the database writes it (stored names are UTF-8), palloc'd:
 * for messages, and for functions here that take a name. */
extern char *wc_client_table_fullname(const WcTableDesc *desc);

/* All tables of this database, of all databases: List of WcTableDesc *. */
extern List *wc_client_list_tables(void);
extern List *wc_client_list_all_tables(void);

typedef struct WcClientNamespace
{
	char	   *name;
	char	   *properties;		/* text of a JSON object; NULL: it has none */
} WcClientNamespace;

/* All namespaces of this database, in the order of their bytes in UTF-8: List of WcClientNamespace *.
 * One by its name: NULL if it is not there. */
extern List *wc_client_list_namespaces(void);
extern const WcClientNamespace *wc_client_namespace(const char *name);

/*
 * Catalog changes: part of the transaction.  Each takes a heavyweight lock on
 * the name to the end of the transaction, so that concurrent DDL (and writers,
 * which take a weaker one) wait.  create gives desc its ids (table and
 * families, generations), and the current user for an owner unless it has one;
 * everything in desc must be filled in otherwise.  Whether the caller may do it is
 * the business of client/owner.h.
 */
extern void wc_client_create_table(WcTableDesc *desc);
extern void wc_client_alter_table(const WcTableDesc *desc);	/* whole new descriptor, made of one that was read
																 * behind the lock; new families with id 0 get one */
/* desc, made of one that was read behind the lock, has another name than that in old_name, which is
 * locked, too. */
extern void wc_client_rename_table(const char *old_name, const WcTableDesc *desc);
extern void wc_client_drop_table(const WcTableDesc *desc);
extern void wc_client_truncate_table(const WcTableDesc *desc);
extern void wc_client_create_namespace(const char *name);
extern void wc_client_drop_namespace(const char *name);

/*
 * Lays properties, a JSON object of strings, numbers and booleans, over those that the namespace has; a null
 * takes one away.  3F000 if there is no such namespace, 22023 for anything else than that, 54000 if they are
 * more than WC_NAMESPACE_PROPERTIES_MAX bytes then.
 */
extern void wc_client_change_properties(const char *name, Jsonb *properties);

/* The stored tables of a database, another than this, go with the transaction's commit.
 * For DROP DATABASE, before it, since this may fail; and for one that is gone. */
extern void wc_client_drop_database(Oid database);

/* Has this database, which may be another, stored tables?  False also when that cannot be
 * said, since there is no engine now. */
extern bool wc_client_database_has_tables(Oid database);

/* Takes the lock that the above take (before looking whether the table exists). */
extern void wc_client_lock_table(const char *name, LOCKMODE mode);

/* --- reading --------------------------------------------------------------*/
typedef struct WcClientScan WcClientScan;

/*
 * The engine's snapshot that stands for a PostgreSQL snapshot.  All scans of a statement,
 * and of the functions that read by its snapshot, share one, from whichever comes first
 * on; under REPEATABLE READ and above there is one a transaction.  It is there as long
 * as anybody has PostgreSQL's snapshot registered or active, and goes by itself.
 * snapshot NULL: the newest state, at each scan anew.
 *
 * It shows the state at the moment of this call, unless a commit is being written just
 * now: then that of the first scan, or of wc_client_snapshot_take, which makes the engine
 * take it, with a round trip.
 */
typedef struct WcClientSnapshot WcClientSnapshot;
extern WcClientSnapshot *wc_client_snapshot(Snapshot snapshot);
extern void wc_client_snapshot_take(WcClientSnapshot *snapshot);

/*
 * Starts a scan: asks for its first rows, for which only wc_client_next_row waits
 * (a round trip), and raises what is wrong with the scan.  The scan is
 * serialised at once; nothing it points to is kept.  own writes with cid less
 * than `cid` are seen (usually the PostgreSQL snapshot's curcid).  once: the
 * caller will open no other scan at this snapshot (lets the engine not keep it).
 * rows_hint: how many rows the caller is likely to read; 0: unknown.
 * The memory context is the one the scan and its blocks live in.
 */
extern WcClientScan *wc_client_scan_open(const WcScan *scan, WcClientSnapshot *snapshot, CommandId cid,
										 uint64 rows_hint, MemoryContext context);

/* Is there room for scans that are opened well before their rows are wanted? */
extern bool wc_client_scans_ahead(void);

/*
 * The next row: false at the end.  Leaves what was not read of the row before.
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
 * Do the slices of the current row's cells stay valid until the next row is asked for, and
 * not only until the next cell?  (The row lies in one block.)
 */
extern bool wc_client_cells_stay(const WcClientScan *scan);

/* Is the row that wc_client_next_row gave last one that the scan's filter could not
 * decide? */
extern bool wc_client_row_undecided(const WcClientScan *scan);

/*
 * The keys of the row that wc_client_next_row gave last and of those behind it that have
 * come already, up to the first that is undecided: at most max, at least one.  Valid
 * until the next call on this scan.
 */
extern int	wc_client_rows_ahead(const WcClientScan *scan, WcSlice *rows, int max);

/*
 * When that one was met before the scan's row_offset was reached: the caller has to
 * skip so many rows himself, of this one and those that follow, not counting what
 * does not satisfy the filter.  Else 0.  It is said once in a scan at most.
 */
extern uint64 wc_client_rows_owed(const WcClientScan *scan);

/* May a scan have a row_offset? */
extern bool wc_client_skips_rows(void);

extern void wc_client_scan_close(WcClientScan *scan);

/* For EXPLAIN ANALYZE; costs a round trip for an unfinished scan. */
typedef struct WcClientScanStats
{
	uint64		rows;
	uint64		rows_examined;
	uint64		rows_filtered;	/* that the scan's filter did not let through */
	uint64		cells_examined;
	uint64		seeks;
	uint64		batches;
	uint64		cache_hits;		/* blocks that were in memory, and those that were not */
	uint64		blocks_read;
} WcClientScanStats;
extern void wc_client_scan_stats(WcClientScan *scan, WcClientScanStats *stats);

/* --- writing --------------------------------------------------------------
 *
 * wc_client_write gives the builder of the transaction's batch; fill in exactly
 * one whole operation with model/batch.h's functions (raise their errors with
 * wc_client_write_failed, which takes the unfinished operation back first),
 * then call wc_client_write_done.  It takes the writer's lock on the table once
 * a transaction.  Nothing is sent before it must be.  Refuses in a read-only
 * transaction (25006), while widecol.read_timestamp is set, in parallel mode, and
 * when the table is disabled (55000).
 */
extern WcBatchBuilder *wc_client_write(const WcTableDesc *table);
extern void wc_client_write_done(void);
extern void wc_client_write_failed(const WcError *err) pg_attribute_noreturn();

/* Raises what wc_client_write would, for statements that may come to write nothing. */
extern void wc_client_require_writable(void);

typedef struct WcRowLock
{
	WcSlice		row;			/* in */
	bool		locked;			/* out: false: another transaction has it, and wait_policy is not LockWaitBlock */
	bool		changed;		/* out: since `snapshot`, by a commit */
	bool		rewritten;		/* out, when asked: by own commands that the request's does not see */
	bool		gone;			/* out: changed, and not there any more; not locked, though `locked` is set */
	bool		waited;			/* out: another transaction had it */
	bool		exists;			/* out, if only_absent: has a visible cell in the families now, own writes included */
} WcRowLock;

typedef struct WcRowLockRequest
{
	const WcTableDesc *table;
	WcRowLockMode mode;
	LockWaitPolicy wait_policy; /* LockWaitError: as LockWaitSkip; the caller knows the relation to name */
	WcClientSnapshot *snapshot; /* changed since it; NULL: changed is not looked at */
	bool		may_change;		/* changed is said under REPEATABLE READ and above, too */
	uint32		nfamilies;
	const uint32 *families;		/* 0: all */
	bool		only_absent;	/* rows that are there are not locked (though `locked` is set) */
	bool		tell_rewritten;
	CommandId	cid;			/* with tell_rewritten: sees own writes of commands before it */
} WcRowLockRequest;

/*
 * Locks rows, whether they are there or not, in the order given, to the end of the
 * (sub)transaction, and takes the writer's lock on the table.  Waits for the transactions
 * that have them, as PostgreSQL waits for a row: lock_timeout and the deadlock detector
 * see it.  Under REPEATABLE READ and above a row that has changed is the error 40001,
 * without waiting, unless it may.  Who has locked a row in a mode that keeps writers out reads at
 * wc_client_snapshot(NULL) what nobody else will change.  Refuses as wc_client_write
 * does.  One round trip for up to WC_LOCK_BATCH rows that nobody else has.
 */
extern void wc_client_lock_rows(const WcRowLockRequest *request, WcRowLock *rows, int nrows);

/*
 * Under READ COMMITTED, for a statement that has read nothing of stored tables yet: a row that the transaction
 * has locked so that nobody else changes it looks at the newest state as it does at the statement's
 * snapshot, which need not be taken for it, nor commits be waited for.  wc_client_snapshot_of_held: that state, or NULL
 * when the row is not known to be such a one; only the last few are.  wc_client_holds_rows: are there any?
 */
extern bool wc_client_holds_rows(void);
extern WcClientSnapshot *wc_client_snapshot_of_held(const WcTableDesc *table, WcSlice row);

/* One row, in mode EXCLUSIVE. */
extern void wc_client_lock_row(const WcTableDesc *table, WcSlice row);

/*
 * One change to all rows of a scan, made where they are: an operation with the
 * same items for each (model/batch.h; WcOp.items) goes into the transaction's
 * batch.  Rows are seen as a scan would see them, own writes with cid less than
 * `cid` included.  Each is locked first: when another transaction has changed it since
 * the snapshot, it is seen as it is now, and changed if the scan still returns it;
 * under REPEATABLE READ and above that is 40001.  Takes the writer's lock on the table.
 * A round trip, and another for each row that has to be waited for.
 */
typedef struct WcClientModify
{
	const WcScan *scan;			/* neither reversed nor merged */
	WcRowLockMode mode;
	WcClientSnapshot *snapshot;
	CommandId	cid;
	CommandId	write_cid;		/* of the operations */
	WcSlice		keys;			/* keys that the caller could read: an encoded WcKeyCheck */
	WcSlice		items;			/* for rows that the scan returns with a cell */
	WcSlice		items_bare;		/* for those that it returns without any */
} WcClientModify;

/* Can it be had? */
extern bool wc_client_modifies(void);

/* False, and nothing has been changed, when there is a key that the caller perhaps
 * could not read.  stats are set either way. */
extern bool wc_client_modify(const WcTableDesc *table, const WcClientModify *modify, uint64 *rows,
							 WcClientScanStats *stats);

/*
 * The same of a Get, under READ COMMITTED, at the newest state (snapshot is NULL): the row is locked first, and given up
 * again when the scan does not give it.  So there need be no snapshot, nor any wait for commits that
 * have not changed this row.  Waits for who has the row, if the scan gives what is committed of it.
 */
extern bool wc_client_modify_row(const WcTableDesc *table, const WcClientModify *modify, uint64 *rows,
								 WcClientScanStats *stats);

/*
 * And a scan of this kind: a Get of which the row is locked, if the scan gives it, with the first block
 * that comes.  NULL: the scan gives no row, whatever becomes of the transaction that has it.
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

/* family NULL: every family.  Without wait it is only asked for; what goes wrong then is in the
 * server's log. */
extern void wc_client_work(WcClientWork work, const WcTableDesc *table, const WcFamilyDesc *family, bool wait);

/* Are compactions of the table under way, or waiting, that were asked for so? */
extern void wc_client_compacting(const WcTableDesc *table, bool *minor, bool *major);

typedef struct WcProblem
{
	uint32		family;			/* id; 0: it is of none */
	char	   *text;
} WcProblem;

/* Reads all that is stored of a table, NULL: the catalog, committed; a List of WcProblem *, what is wrong. */
extern List *wc_client_check_store(const WcTableDesc *table);

/* About how many bytes and rows a range has, in these families (nfamilies 0: in all). */
extern void wc_client_estimate(const WcTableDesc *table, const WcRange *range, const uint32 *families, uint32 nfamilies,
							   uint64 *bytes, uint64 *rows);

/*
 * May parallel workers read now what this session reads?  They see what is committed, and read
 * parts of a range at one snapshot.  A hint, for planning: a query that begins when they may not
 * runs without them.
 */
extern bool wc_client_workers_may_read(void);

/*
 * Row keys that part a range of the table into at most nparts parts (1 .. WC_PARTS_MAX) of about
 * equal bytes in these families (nfamilies 0: in all), ascending, each the first of its part.  The
 * bytes live in CurrentMemoryContext, as the array.  A round trip.
 */
extern WcSlice *wc_client_split(const WcTableDesc *table, const WcRange *range, const uint32 *families,
								uint32 nfamilies, int nparts, int *npoints);

typedef struct WcSampleRange
{
	WcRange		range;
	double		weight;			/* so many rows of the table each of its rows stands for */
} WcSampleRange;

/*
 * About nranges ranges of about range_rows rows each, ascending and disjoint, drawn
 * by chance from all over a range of the table (start inclusive, stop exclusive), for a
 * sample; the range itself, with weight 1, when nothing better is known.  The bytes live in CurrentMemoryContext, as the array.
 */
extern WcSampleRange *wc_client_sample(const WcTableDesc *table, const WcRange *range, int nranges,
									   uint64 range_rows, uint64 seed, int *nfound);

/* This session's widecol.read_timestamp: every scan sees the tables as of then, and
 * nothing is written; WC_TS_LATEST: now. */
extern int64 wc_client_read_timestamp(void);

/*
 * A moment that nobody else in the cluster is given: a second since 1970, and in the lower
 * WC_MOMENT_BITS a number in it.  They only grow.  Waits for the next second when
 * this one's are used up, at most a second, interruptibly.
 */
extern uint64 wc_client_unique_moment(void);

/* This session's widecol.debug_clock_offset in microseconds. */
extern int64 wc_client_clock_offset_us(void);

#endif
