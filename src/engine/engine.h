/*
 * engine/engine.h: the storage engine; the only header of engine/ that other folders include.
 *
 * One process at a time has a store open, as a WcEngine.  Any thread may call any function, also while other
 * threads call others, unless the function's comment says otherwise.  A WcTxn and a WcReadPoint belong to one
 * thread at a time.  Functions that can take long check the cancel flag that they get.
 */
#ifndef WC_ENGINE_ENGINE_H
#define WC_ENGINE_ENGINE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/status.h"
#include "model/statistics.h"
#include "model/step.h"
#include "read/storage.h"

typedef struct WcEngine WcEngine;

/* The live database, in the directory of images. */
#define WC_LIVE_DIRECTORY "pgsql_tmp.live"

typedef struct WcEngineOptions
{
	const char *path;			/* directory; made if the cluster has never had a store */
	const char *images;			/* directory of images, path is WC_LIVE_DIRECTORY in it; NULL: there are none */
	const char *record;			/* file of the cluster, outside of path, that names the cluster's store */
	uint64_t	cluster;		/* the cluster's system identifier */
	const char *new_store;		/* id of a lost store in whose place a new one is made; NULL, "": none */
	const char *accept_store;	/* id of a store that is opened although checks refuse it; NULL, "": none */
	bool		may_create;		/* may a new store be made at all? */
	unsigned	directory_mode; /* of path, if it is made */
	uint64_t	block_cache_bytes;	/* shared by all families */
	uint64_t	write_buffer_bytes; /* memtables are flushed when all together have so many */
	int			max_open_files;	/* -1: no limit */
	int			max_background_jobs;
	int64_t		(*clock_us) (void);	/* NULL: wc_clock_wall_us; tests set their own */
	size_t		packed_row_max; /* 0: WC_PACKED_ROW_MAX; tests set a smaller one */
	size_t		row_together_max;	/* 0: WC_ROW_TOGETHER_MAX; tests set a smaller one */
	uint64_t	txn_memory;		/* bytes of one transaction's operations; 0: WC_TXN_MEMORY; tests set less */
	const char *statistics;		/* file that has the counters while no engine is open; NULL: counters are lost */
} WcEngineOptions;

/*
 * Opens the store, or makes a new one.  The caller's thread must have all signals blocked: this function starts
 * threads.  Refuses a directory that has another cluster's store, or an incomplete store, and changes nothing in
 * it then (engine/README, "Identity").
 */
extern WcStatus wc_engine_open(const WcEngineOptions *options, WcEngine **engine, WcError *err) WC_WARN_UNUSED;

/* Syncs all applied commits, and closes the store.  The caller has freed all snapshots, scanners and transactions. */
extern void wc_engine_close(WcEngine *engine);

/* The store's interface for read/ (read/storage.h); it lives as long as the engine. */
extern WcStorage *wc_engine_storage(WcEngine *engine);

/* The store's id, which is not 0 and stays the same while it is open. */
extern uint32_t wc_engine_store_id(const WcEngine *engine);

/* The files to which large transactions write the operations that do not stay in memory (wc_txn_spill_into).  They are in
 * a directory beside the store's, which is emptied when the store is opened.  Valid while the engine is open. */
extern const struct WcTxnSpill *wc_engine_spill(const WcEngine *engine);

/* Can nothing be written until the engine is closed and opened again?  (Not after errors of the operating
 * system, such as a full disk: then writing resumes by itself.) */
extern bool wc_engine_must_restart(WcEngine *engine);

/* --- snapshots ------------------------------------------------------------
 * A snapshot shows all tables as they were when it was taken.  While it exists, nothing that it shows is dropped.
 * wc_snapshot_take: a snapshot of the present state; callers share one until something is written.  NULL: out of
 * memory. */
extern WcSnapshot *wc_snapshot_take(WcEngine *engine);
extern void wc_snapshot_release(WcEngine *engine, WcSnapshot *snapshot);

/* One more reference to a snapshot that the caller has: it must be released once more. */
extern void wc_snapshot_share(WcEngine *engine, WcSnapshot *snapshot);

/* The snapshot shows all commits with this timestamp or a smaller one, and perhaps later ones. */
extern int64_t wc_snapshot_last_ts(const WcSnapshot *snapshot);

/* --- checking -------------------------------------------------------------
 * Checks a transaction for errors before its commit: names that exist already (WC_EXISTS), tables that have
 * changed (WC_STALE), rows that exist and must not (WC_DUPLICATE_ROW), rows that become too large
 * (WC_TOO_LARGE), and others.  Reads only tables and rows for which an error is possible.  The caller has locked
 * the rows that the transaction has written, and keeps them locked until the commit is applied.  Changes
 * nothing.  cancel (or NULL) is checked once in WC_CANCEL_CELLS rows (WC_CANCELLED).
 */
extern WcStatus wc_engine_check(WcEngine *engine, WcTxn *txn, const atomic_bool *cancel, WcError *err) WC_WARN_UNUSED;

/*
 * Can rows of the table become too large by small changes (WC_UNCHECKED_BYTES_MAX)?  Then such changes must be
 * checked, too.  For a row that the caller has locked, the answer is right as long as the row is locked.
 */
extern bool wc_engine_has_large_rows(WcEngine *engine, uint32_t table_id);

/* Is that so of all tables, because the limit of a row is small?  (In tests.) */
extern bool wc_engine_has_small_limit(const WcEngine *engine);

/*
 * Calls on_table for all committed tables that have large rows, if there are more families with large rows than *seen, and
 * sets *seen to their number; else costs one load.  on_table calls no function of the engine.
 */
extern void wc_engine_large_tables(WcEngine *engine, uint64_t *seen, void (*on_table) (void *arg, uint32_t table_id), void *arg);

/*
 * The same of tables that may have a cell or marker with a later timestamp than a commit that comes next.  Of other tables a put
 * without a timestamp makes the newest cell of its column.
 */
extern void wc_engine_ahead_tables(WcEngine *engine, uint64_t *seen, void (*on_table) (void *arg, uint32_t table_id), void *arg);

/* --- applying -------------------------------------------------------------
 * wc_engine_apply applies a commit.  One thread calls it, in commit order.  Applies the whole batch in
 * one atomic write.  The effect depends only on the arguments and on the store's content: the same batches at
 * the same positions and times make the same store.  An operation that the check would refuse (because another
 * commit came first) is void, and counted.  After an error (memory, disk, damaged bytes) nothing has been
 * applied, and the caller may try again.  Not synced: wc_engine_sync makes everything that was applied durable.
 */
typedef struct WcCommit
{
	uint64_t	xid;			/* PostgreSQL's full transaction id, 0: none */
	uint64_t	position;		/* of the commit in the log, greater than any before (WC_INVALID) */
	int64_t		time_us;		/* commit time, the clock for TTLs; the commit timestamp is max(last one + 1, time_us) */
} WcCommit;

/* A later commit time counts as this: timestamps never run out. */
#define WC_COMMIT_TIME_MAX (WC_TS_LATEST - (INT64_C(1) << 60))

/*
 * Makes the storage of new families that the commit of a transaction will need, according to the present tables.
 * This takes long; called before the commit's turn, other commits do not wait for it.  wc_engine_apply makes what
 * is still missing.  After an error nothing has been made.  wc_engine_forget: the transaction has ended; drops
 * the storage that was made for it and not used.
 */
extern WcStatus wc_engine_prepare(WcEngine *engine, uint64_t xid, const WcTxn *txn, WcError *err) WC_WARN_UNUSED;
extern void wc_engine_forget(WcEngine *engine, uint64_t xid);

extern WcStatus wc_engine_apply(WcEngine *engine, const WcCommit *commit, WcTxn *txn,
								int64_t *commit_ts, WcError *err) WC_WARN_UNUSED;

/*
 * Applies the first of these commits, n > 0, and as many of the following ones as fit into the same atomic write: small
 * ones of different rows.  *applied is their number; after an error it is 0, and none has been applied.  gives_way: the
 * thread gives way to others between two commits (wc_cpu_give_way).
 */
#define WC_GROUP_MAX 32

typedef struct WcApplying
{
	WcCommit	commit;
	WcTxn	   *txn;
	int64_t		ts;				/* out: the commit timestamp */
} WcApplying;

extern WcStatus wc_engine_apply_group(WcEngine *engine, WcApplying *commits, size_t n, bool gives_way, size_t *applied,
									  WcError *err) WC_WARN_UNUSED;

extern WcStatus wc_engine_sync(WcEngine *engine, WcError *err) WC_WARN_UNUSED;

/* --- following the server's log ---------------------------------------------
 * The server's log has all commits; RocksDB's own log is synced at marks only.  After a crash the engine reads
 * the server's log again, from the last mark that is on disk, and skips commits that are applied already
 * (wc_engine_applied_position).
 */

/* In addition to the flags of BATCHes (model/logrecord.h): the transaction has been prepared. */
#define WC_PENDING_PREPARED		0x80

/* What a transaction that has not ended has logged so far, or a piece of that. */
typedef struct WcPendingBytes
{
	uint64_t	xid;
	uint32_t	database;
	uint16_t	place;			/* as its last BATCH said (model/logrecord.h) */
	uint8_t		flags;			/* of its BATCHes; WC_PENDING_PREPARED */
	uint64_t	at;				/* where in its stream the bytes begin */
	WcSlice		bytes;
} WcPendingBytes;

/* A piece of a transaction's stream that a mark has written into the store; at: the piece's offset. */
typedef struct WcPendingKey
{
	uint64_t	xid;
	uint64_t	at;
} WcPendingKey;

/* The pieces that a mark writes and deletes. */
typedef struct WcPendingMark
{
	const WcPendingBytes *put;	/* one of more than WC_PENDING_PIECE bytes is written as several pieces */
	size_t		nput;
	const WcPendingKey *gone;	/* deleted first */
	size_t		ngone;
} WcPendingMark;

/* From now on the store follows the server's log, from this position on; before, it was new, or had a log of its
 * own.  Durable when the function returns.  0: it follows no log until the next call. */
extern WcStatus wc_engine_begin_log(WcEngine *engine, uint64_t read_from, WcError *err) WC_WARN_UNUSED;

/* Makes a mark.  Called in order with wc_engine_apply, when all commits before read_from are applied; pending: the
 * changes by which the store has the streams of the transactions that have not ended at read_from.  Not synced. */
extern WcStatus wc_engine_mark(WcEngine *engine, uint64_t read_from, const WcPendingMark *pending, WcError *err) WC_WARN_UNUSED;

/* Replaces the content of `bytes` by a piece.  WC_CORRUPT: there is no such piece. */
extern WcStatus wc_engine_pending_piece(WcEngine *engine, uint64_t xid, uint64_t at, WcBuf *bytes, WcError *err) WC_WARN_UNUSED;

/* Sets *read_from to the position of the last mark, from which the log must be read (0: there is no mark).  Calls
 * take with the pieces in the store, transaction by transaction, in order.  A piece may begin before the end of the
 * previous one, which is cut there. */
typedef WcStatus (*WcPendingTaker) (void *arg, const WcPendingBytes *piece, WcError *err);
extern WcStatus wc_engine_marked(WcEngine *engine, uint64_t *read_from, WcPendingTaker take, void *arg,
								 WcError *err) WC_WARN_UNUSED;

/*
 * From now on the steps that this engine makes (in flush, compactions and upkeep) are written into the log before
 * they are applied: `log` has a step written, and returns after wc_engine_step has applied it, or with an error.
 * Any thread calls it.  When cancel (or NULL) becomes true, `log` returns WC_CANCELLED soon.  log NULL: no more
 * steps are made; the function returns when no thread is in the old `log` any more.
 */
typedef WcStatus (*WcStepLog) (void *arg, WcSlice step, const atomic_bool *cancel, WcError *err);
extern void wc_engine_log_steps(WcEngine *engine, WcStepLog log, void *arg);

/*
 * Images (engine/README): an image is built while commits are applied, and installed with the position of a mark that
 * was synced before the building began.  One thread at a time.  Prune keeps the newest `keep` images, and those
 * younger than min_age_s seconds.
 */
extern WcStatus wc_engine_image_build(WcEngine *engine, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_image_install(WcEngine *engine, uint64_t position, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_images_prune(WcEngine *engine, unsigned keep, int64_t min_age_s, WcError *err) WC_WARN_UNUSED;

/*
 * Applies a step (model/step.h), in order with commits, in one atomic write.  After an error nothing has been
 * applied.  As with commits, the effect depends only on the arguments and the store.  position as in WcCommit.  A
 * step of a table, family or generation that does not exist is void: only the applied position changes.
 */
extern WcStatus wc_engine_step(WcEngine *engine, uint64_t position, const WcStep *step, WcError *err) WC_WARN_UNUSED;

/*
 * Functions for a keeper of answers: the engine calls them for each write that may change visible cells, in the
 * writing thread, for one write at a time.  First `row` for each row, or `table` (if the write changes the table's
 * families, is an expire step, or has many rows, and wants_rows says that `row` need not be called for so many); then `begin`,
 * when no reader sees the write yet; then `end`, when new readers see all of it, or it has failed.  The functions may take and
 * release snapshots.  ts: the commit's timestamp; 0: a step, or a commit with many rows: `range` then tells its timestamp, and
 * between which rows of the table (these included) all its rows are.  xid: the commit's; 0 if ts is 0.
 */
typedef struct WcWriteWatch
{
	void	   *arg;
	void		(*row) (void *arg, uint32_t table_id, WcSlice row, int64_t ts, uint64_t xid);
	void		(*table) (void *arg, uint32_t table_id, int64_t ts);
	bool		(*wants_rows) (void *arg, uint32_t table_id, uint64_t nrows);
	void		(*range) (void *arg, uint32_t table_id, WcSlice first, WcSlice last, int64_t ts);
	void		(*begin) (void *arg);
	void		(*end) (void *arg);
} WcWriteWatch;

/* Sets the watch; NULL: no watch.  Called before the first commit, or after the last. */
extern void wc_engine_watch(WcEngine *engine, const WcWriteWatch *watch);
extern uint64_t wc_engine_applied_position(WcEngine *engine);

/*
 * The timeline of the server's log (a number of the server's; 0: not known) to which the applied position belongs, or one that goes
 * on behind the position.  wc_engine_set_timeline: called before a commit or step of another timeline is handed in.  Any thread.
 */
extern uint32_t wc_engine_timeline(const WcEngine *engine);
extern void wc_engine_set_timeline(WcEngine *engine, uint32_t timeline);

/* The store does not fit the cluster's log: the next opening takes the newest image instead (engine/README, "Images").  Durable. */
extern WcStatus wc_engine_disown(WcEngine *engine, WcError *err) WC_WARN_UNUSED;

/* The number of operations that were void, or partly void, since the engine was opened. */
extern uint64_t wc_engine_void_operations(WcEngine *engine);

/* --- statistics -----------------------------------------------------------
 * The engine's part of the statistics (model/statistics.h).  Reading them delays no other thread.
 * wc_engine_statistics sets the engine's fields, and leaves the others; why: the reason why the store takes no
 * writes, empty if it does.  wc_engine_table_statistics: committed tables of one database; wc_engine_progress: work
 * of all databases.
 */
extern WcStatus wc_engine_statistics(WcEngine *engine, WcEngineStatistics *to, WcError *why, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_table_statistics(WcEngine *engine, uint32_t database, WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* What a user of the engine, for example a session, has counted: it adds its counters to the engine's before it
 * ends. */
typedef struct WcUseCounts
{
	uint64_t	requests;
	uint64_t	blocks_hit;
	uint64_t	blocks_read;
	uint64_t	batches;
	uint64_t	logged_bytes;
	uint64_t	get_hits;
	uint64_t	get_misses;
} WcUseCounts;

extern void wc_engine_add_use(WcEngine *engine, const WcUseCounts *use);
extern WcStatus wc_engine_progress(WcEngine *engine, WcBuf *out, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_reset_statistics(WcEngine *engine, WcError *err) WC_WARN_UNUSED;

/* Namespace and name of a committed table, which point into the buffer; empty: there is no such table. */
extern void wc_engine_table_name(WcEngine *engine, uint32_t table_id, WcBuf *buf, WcSlice names[2]);

/* When a snapshot was taken. */
extern int64_t wc_snapshot_taken_us(const WcSnapshot *snapshot);

/* --- catalog --------------------------------------------------------------
 * The catalog as the transaction txn (NULL: none) sees it.  Descriptors are appended to out, encoded
 * (wc_table_desc_encode); lists as a varint count, then each element with wc_buf_append_bytes.  Only the list of
 * tables has the present "history from" of families: writes change it without a new generation of the catalog.
 */
extern WcStatus wc_engine_describe(WcEngine *engine, uint32_t database, WcTxn *txn, WcSlice ns, WcSlice name,
								   WcBuf *out, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_list_tables(WcEngine *engine, uint32_t database, WcTxn *txn, WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* The tables of all databases; database: the transaction's. */
extern WcStatus wc_engine_list_all_tables(WcEngine *engine, uint32_t database, WcTxn *txn, WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* For each namespace its name, then its properties; "default" is always in the list. */
extern WcStatus wc_engine_list_namespaces(WcEngine *engine, uint32_t database, WcTxn *txn, WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* A new table id.  No id is returned twice while the engine is open, and a used id also not after a restart. */
extern uint32_t wc_engine_new_table_id(WcEngine *engine);

/* A CREATE_TABLE with this id is in the log: no other table gets the id, however the transaction ends. */
extern void wc_engine_note_table_id(WcEngine *engine, uint32_t table_id);

/* Grows with every applied catalog change. */
extern uint64_t wc_engine_catalog_generation(WcEngine *engine);

/* --- administration -------------------------------------------------------*/
typedef enum WcWorkKind
{
	WC_WORK_FLUSH,
	WC_WORK_COMPACT,
	WC_WORK_MAJOR
} WcWorkKind;

typedef struct WcWork
{
	WcWorkKind	kind;
	uint32_t	table_id;
	uint32_t	family_id;		/* 0: every family */
} WcWork;

/* Does the work in the calling thread. */
extern WcStatus wc_engine_work(WcEngine *engine, const WcWork *work, const WcReadPoint *at, WcError *err) WC_WARN_UNUSED;

/*
 * Puts the work into a queue and returns.  A thread of the engine does the works one after another, on the state
 * that is committed then.  Of `at`, the database and the clock count.  Errors are written to the server's log.  Work
 * that is in the queue already is not added again; WC_TOO_LARGE: there are WC_WORKS_MAX.  The caller's thread must
 * have all signals blocked: this function may start the thread.
 */
extern WcStatus wc_engine_work_later(WcEngine *engine, const WcWork *work, const WcReadPoint *at, WcError *err) WC_WARN_UNUSED;

/* Are compactions of the table from this queue running or waiting? */
extern void wc_engine_compacting(WcEngine *engine, uint32_t table_id, bool *minor, bool *major);

/* wc_engine_work for every family. */
extern WcStatus wc_engine_flush(WcEngine *engine, uint32_t table_id, const WcReadPoint *at, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_compact(WcEngine *engine, uint32_t table_id, bool major, const WcReadPoint *at, WcError *err) WC_WARN_UNUSED;

/*
 * Reads everything that is stored of a table, or (table_id 0) of the catalog, and checks each block's checksum, every
 * key and cell, their order, and the sizes of files.  Appends varint n, then n times varint family id (0: no
 * family), bytes: a sentence about the problem.  For a family at most WC_PROBLEMS_MAX problems, then the number of
 * the others; nothing after a block that cannot be read.  A table that does not exist, or is another database's,
 * has no problems.  Changes nothing.
 */
extern WcStatus wc_engine_inspect(WcEngine *engine, uint32_t database, uint32_t table_id, const atomic_bool *cancel,
								  WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* How the engine forgets by itself (engine/README, "Upkeep"). */
typedef struct WcUpkeep
{
	bool		makes_steps;	/* false, on a standby: upkeep only lets RocksDB compact files */
	uint32_t	busy_percent;	/* of one processor's time; 0: no upkeep */
	uint32_t	dead_percent;	/* a family is swept when about so many of its key-values could be forgotten */
	int64_t		delay_us;		/* > 0; cells are kept for so long after they could be forgotten */
	int64_t		history_us;		/* > 0; likewise markers with given timestamps, and expired cells at most */
} WcUpkeep;

/* Sets the settings of upkeep; before the first call there is no upkeep.  Always called by the same thread, which
 * must have all signals blocked: this function starts a thread, unless it runs, with every setting (engine/upkeep.h). */
extern WcStatus wc_engine_set_upkeep(WcEngine *engine, const WcUpkeep *settings, WcError *err) WC_WARN_UNUSED;

/* From now on changes of this table's rows that cannot be applied, since the rows are damaged, are void.  table_id 0: of no table. */
extern void wc_engine_accept_damage(WcEngine *engine, uint32_t table_id);

/* Approximate bytes and rows of a range; exact if it has few.  Cheap, except that memtables are walked over when they
 * have grown much since the last walk.  Only of these families; nfamilies 0: of all. */
extern WcStatus wc_engine_estimate(WcEngine *engine, uint32_t table_id, const WcRange *range,
								   const uint32_t *families, uint32_t nfamilies,
								   uint64_t *bytes, uint64_t *rows, WcError *err) WC_WARN_UNUSED;

/* A range to divide among several readers. */
typedef struct WcSplitRequest
{
	uint32_t	table_id;
	WcRange		range;			/* start taken as inclusive, stop as exclusive */
	uint32_t	nfamilies;		/* only the bytes of these families count; 0: of all */
	const uint32_t *families;
	uint32_t	nparts;			/* wanted, 1 .. WC_PARTS_MAX */
	uint64_t	bytes_min;		/* a range that has fewer than twice so many is one part */
} WcSplitRequest;

/*
 * Appends varint n, then n times bytes: keys inside the range, ascending, that divide it into at most nparts parts of
 * about the same size.  No keys if little is stored there, or nothing is committed.  Each key is the first of a
 * part; there need not be a row with it.  Takes a few seeks for each part.
 */
extern WcStatus wc_engine_split(WcEngine *engine, const WcSplitRequest *request, const atomic_bool *cancel,
								WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* A random sample of a table's rows, as ranges to read. */
typedef struct WcSampleRequest
{
	uint32_t	table_id;
	WcRange		range;			/* only rows of this range; start inclusive, stop exclusive */
	uint32_t	nranges;		/* wanted, 1 .. WC_RANGES_MAX - 2; a small table has fewer */
	uint64_t	range_rows;		/* rows that a range should have on average, > 0 */
	uint64_t	seed;			/* the same seed gives the same ranges, as long as nothing is written */
} WcSampleRequest;

/*
 * Appends varint n, then n times bytes start (inclusive), bytes stop (exclusive;
 * empty: unbounded), varint weight in 1/65536: ascending, disjoint.  Each row of a range stands for "weight"
 * rows of the table: sums that use the weights are not biased.  Two ranges, of weight 1, are before and after all
 * stored rows: for rows that are not committed.  The time depends on the number of ranges and on the size of the
 * memtables, not on the size of the table.
 */
extern WcStatus wc_engine_sample(WcEngine *engine, const WcSampleRequest *request, const atomic_bool *cancel,
								 WcBuf *out, WcError *err) WC_WARN_UNUSED;

#endif
