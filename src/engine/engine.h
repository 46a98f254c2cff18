/*
 * engine/engine.h: the storage engine, as everybody outside engine/ sees it.
 *
 * One WcEngine is open in one process at a time.  Every function may be called
 * from any thread and at once with others, except where it says otherwise; a
 * WcTxn and a WcReadPoint belong to one thread at a time.  Functions that can take long poll the cancel flag they are given.
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
	const char *path;			/* directory; made when the cluster has never had a store */
	const char *images;			/* directory of images, path is WC_LIVE_DIRECTORY in it; NULL: there are none */
	const char *record;			/* file of the cluster's, not in path, that says which store is its own */
	uint64_t	cluster;		/* the cluster's system identifier */
	const char *new_store;		/* id of a lost store in whose place a new one is made; NULL, "": none */
	const char *accept_store;	/* id of a store that is taken though it does not fit; NULL, "": none */
	bool		may_create;		/* may a new store be made at all? */
	unsigned	directory_mode; /* of path, if it is made */
	uint64_t	block_cache_bytes;	/* shared by every family */
	uint64_t	write_buffer_bytes; /* memtables of all families together flush at this */
	int			max_open_files;	/* -1: no limit */
	int			max_background_jobs;
	int64_t		(*clock_us) (void);	/* NULL: wc_clock_wall_us; tests set their own */
	size_t		packed_row_max; /* 0: WC_PACKED_ROW_MAX; tests set a smaller one */
	size_t		row_together_max;	/* 0: WC_ROW_TOGETHER_MAX; likewise */
	uint64_t	txn_memory;		/* of one transaction's operations; 0: WC_TXN_MEMORY; likewise */
	const char *statistics;		/* file that keeps counters while no engine is open; NULL: they are not kept */
} WcEngineOptions;

/*
 * Block every signal in the calling thread first: threads are made here.  Refuses a
 * directory that is not the cluster's store, or in which something is missing, and has
 * then changed nothing in it (engine/README, "Identity").
 */
extern WcStatus wc_engine_open(const WcEngineOptions *options, WcEngine **engine, WcError *err) WC_WARN_UNUSED;

/* Every snapshot, scanner and transaction must be gone; what was applied is synced. */
extern void wc_engine_close(WcEngine *engine);

/* What reads know of it (read/storage.h); it lives as long as the engine. */
extern WcStorage *wc_engine_storage(WcEngine *engine);

/* The store's id, which is not 0 and stays the same while it is open. */
extern uint32_t wc_engine_store_id(const WcEngine *engine);

/* Where large transactions keep what they do not keep in memory (wc_txn_spill_into): a directory beside the
 * store's, emptied when the store is opened.  Valid while it is open. */
extern const struct WcTxnSpill *wc_engine_spill(const WcEngine *engine);

/* Has writing ended for good, until the engine is closed and opened again?  (What the
 * operating system refuses, on a full disk say, does not end it.) */
extern bool wc_engine_must_restart(WcEngine *engine);

/* --- snapshots ------------------------------------------------------------
 * What had been applied when it was taken, all tables alike.  While it lives,
 * nothing that it can see is dropped.
 * What there is now; the same one for all who take it before something is written.
 * Any thread.  NULL: out of memory. */
extern WcSnapshot *wc_snapshot_take(WcEngine *engine);
extern void wc_snapshot_release(WcEngine *engine, WcSnapshot *snapshot);

/* Another reference to one that is held: it is to be released once more. */
extern void wc_snapshot_share(WcEngine *engine, WcSnapshot *snapshot);

/* It sees every commit with this timestamp or a smaller one; of the others, none or some. */
extern int64_t wc_snapshot_last_ts(const WcSnapshot *snapshot);

/* --- checking -------------------------------------------------------------
 * Before a commit that cannot be taken back: what is wrong with the transaction?  Names
 * that are taken (WC_EXISTS), tables that have changed (WC_STALE), rows that must be absent
 * and are not (WC_DUPLICATE_ROW), rows that become too large (WC_TOO_LARGE), and the like.
 * Looks at those tables and rows only where such is possible.  The rows that it has written
 * must be locked, and stay so until it is applied.  Changes nothing; any thread.  cancel: looked at
 * once in WC_CANCEL_CELLS rows (WC_CANCELLED), or NULL.
 */
extern WcStatus wc_engine_check(WcEngine *engine, WcTxn *txn, const atomic_bool *cancel, WcError *err) WC_WARN_UNUSED;

/*
 * May rows of the table that small changes (WC_UNCHECKED_BYTES_MAX) are made to become too large?
 * Then they have to be checked.  For a row that the caller has locked the answer holds as long as
 * it is locked.  Any thread.
 */
extern bool wc_engine_has_large_rows(WcEngine *engine, uint32_t table_id);

/* The same of all tables together; a table that was dropped counts until the engine is closed.  One load. */
extern bool wc_engine_has_any_large_rows(const WcEngine *engine);

/* --- applying -------------------------------------------------------------
 * The one entry for writes.  Called by one thread, in commit order.  Applies
 * the whole batch in one atomic write.  What it does depends on nothing but its arguments
 * and what the store holds: the same batches at the same positions and times give the same
 * store.  An operation that a check would refuse (since another commit came first) is void,
 * and counted.  An error (memory, disk, damaged bytes) means that nothing was applied: the
 * caller may try again.  Not synced: wc_engine_sync makes all that was applied so far durable.
 */
typedef struct WcCommit
{
	uint64_t	xid;			/* PostgreSQL's full transaction id, 0: none */
	uint64_t	position;		/* of the commit in the log, greater than any before (WC_INVALID) */
	int64_t		time_us;		/* commit time, by which TTLs go; the commit timestamp is max(last given + 1, time_us) */
} WcCommit;

/* A later commit time counts as this: timestamps never run out. */
#define WC_COMMIT_TIME_MAX (WC_TS_LATEST - (INT64_C(1) << 60))

/*
 * Makes what the commit of a transaction will need and takes long to make (storage of new
 * families), by the tables there are now.  Any thread, before the commit's turn, so that
 * other commits need not wait for it; wc_engine_apply makes what is still missing.  On failure
 * nothing was made.  wc_engine_forget: the transaction has ended; what was made for it, and
 * it did not need, goes.
 */
extern WcStatus wc_engine_prepare(WcEngine *engine, uint64_t xid, const WcTxn *txn, WcError *err) WC_WARN_UNUSED;
extern void wc_engine_forget(WcEngine *engine, uint64_t xid);

extern WcStatus wc_engine_apply(WcEngine *engine, const WcCommit *commit, WcTxn *txn,
								int64_t *commit_ts, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_sync(WcEngine *engine, WcError *err) WC_WARN_UNUSED;

/* --- following the server's log ---------------------------------------------
 * The server's log holds all commits; RocksDB's own is synced at marks only.  After a crash
 * the engine reads the log again, from the last mark that is on disk, and passes over what
 * wc_engine_applied_position says is applied.
 */

/* Beside the flags of BATCHes (model/logrecord.h): the transaction has been prepared. */
#define WC_PENDING_PREPARED		0x80

/* What the log has said so far of a transaction that is under way. */
typedef struct WcPendingBytes
{
	uint64_t	xid;
	uint32_t	database;
	uint16_t	place;			/* as its last BATCH said (model/logrecord.h) */
	uint8_t		flags;			/* of its BATCHes; WC_PENDING_PREPARED */
	uint64_t	at;				/* where in its stream the bytes begin */
	WcSlice		bytes;
} WcPendingBytes;

/* A piece of a transaction's stream that a mark has put into the store, by where it begins. */
typedef struct WcPendingKey
{
	uint64_t	xid;
	uint64_t	at;
} WcPendingKey;

/* What a mark changes of the pieces in the store. */
typedef struct WcPendingMark
{
	const WcPendingBytes *put;	/* those of more than WC_PENDING_PIECE bytes as several */
	size_t		nput;
	const WcPendingKey *gone;	/* before that */
	size_t		ngone;
} WcPendingMark;

/* The store is new, or had a log of its own: from now on it follows the server's, from this
 * position on.  Durable when it returns.  0: it follows none until this is called again. */
extern WcStatus wc_engine_begin_log(WcEngine *engine, uint64_t read_from, WcError *err) WC_WARN_UNUSED;

/* Called in order with wc_engine_apply, when all commits before read_from are applied; pending:
 * what has to be done so that the store has the streams of the transactions under way there.  Not synced. */
extern WcStatus wc_engine_mark(WcEngine *engine, uint64_t read_from, const WcPendingMark *pending, WcError *err) WC_WARN_UNUSED;

/* The bytes of a piece, in place of what bytes holds.  WC_CORRUPT: it is not there. */
extern WcStatus wc_engine_pending_piece(WcEngine *engine, uint64_t xid, uint64_t at, WcBuf *bytes, WcError *err) WC_WARN_UNUSED;

/* Where the last mark says that reading has to begin (0: there was none), and the pieces in the store:
 * take is called for each transaction, with one piece after the other.  A piece may begin before the
 * end of the one before, which ends there then. */
typedef WcStatus (*WcPendingTaker) (void *arg, const WcPendingBytes *piece, WcError *err);
extern WcStatus wc_engine_marked(WcEngine *engine, uint64_t *read_from, WcPendingTaker take, void *arg,
								 WcError *err) WC_WARN_UNUSED;

/*
 * From now on steps that are made here (by flush, compactions and upkeep) are not applied as
 * they are made: log has each written into the log and returns when wc_engine_step has applied it,
 * or fails.  Any thread calls it.  When cancel (may be NULL) is raised it returns WC_CANCELLED soon.  NULL: no more steps are made; returns when log is called no more.
 */
typedef WcStatus (*WcStepLog) (void *arg, WcSlice step, const atomic_bool *cancel, WcError *err);
extern void wc_engine_log_steps(WcEngine *engine, WcStepLog log, void *arg);

/*
 * Images (engine/README): built beside commits, installed with the position of a mark that
 * was synced before it was built.  One thread at a time.  `keep` images stay, and those younger
 * than min_age seconds.
 */
extern WcStatus wc_engine_image_build(WcEngine *engine, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_image_install(WcEngine *engine, uint64_t position, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_images_prune(WcEngine *engine, unsigned keep, int64_t min_age, WcError *err) WC_WARN_UNUSED;

/*
 * The other entry: a step (model/step.h), in order with commits, in one atomic write or (on
 * any error) nothing.  Like them it depends on nothing but its arguments and the store.
 * position as in WcCommit.  A step of a table, family or generation that is not there is
 * void: it takes its position and does nothing else.
 */
extern WcStatus wc_engine_step(WcEngine *engine, uint64_t position, const WcStep *step, WcError *err) WC_WARN_UNUSED;

/*
 * Whoever keeps what was read is told of each write that may change what is visible, by
 * the thread that makes it and one write at a time: of its rows, or of whole tables
 * (when their rows are many, their families change, or a step is applied);
 * then begin, when no reader sees any of it yet, and end, when those that come see all of
 * it, or when it has failed.  They may take and release snapshots.  ts: the commit's
 * timestamp; 0: it is no commit, but a step.
 */
typedef struct WcWriteWatch
{
	void	   *arg;
	void		(*row) (void *arg, uint32_t table_id, WcSlice row, int64_t ts);
	void		(*table) (void *arg, uint32_t table_id, int64_t ts);
	void		(*begin) (void *arg);
	void		(*end) (void *arg);
} WcWriteWatch;

/* Before the first commit, or when none can come any more (NULL: no longer). */
extern void wc_engine_watch(WcEngine *engine, const WcWriteWatch *watch);
extern uint64_t wc_engine_applied_position(WcEngine *engine);

/* Operations of commits that were void, as a whole or in part, since the engine was opened. */
extern uint64_t wc_engine_void_operations(WcEngine *engine);

/* --- statistics -----------------------------------------------------------
 * What is known here (model/statistics.h); nobody is held up by asking.  wc_engine_statistics
 * fills in what is the engine's, and leaves the rest; why: why nothing can be written to the
 * store, empty if it can.  Of tables: those of a database, as committed; of work: that of all
 * databases.  Any thread.
 */
extern WcStatus wc_engine_statistics(WcEngine *engine, WcEngineStatistics *to, WcError *why, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_table_statistics(WcEngine *engine, uint32_t database, WcBuf *out, WcError *err) WC_WARN_UNUSED;
/* What those who use an engine count themselves: the engine keeps it with its own counters when they
 * are at their end. */
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

/* Namespace and name of a committed table, which point into the buffer; empty: there is none. */
extern void wc_engine_table_name(WcEngine *engine, uint32_t table_id, WcBuf *buf, WcSlice names[2]);

/* When a snapshot was taken. */
extern int64_t wc_snapshot_taken_us(const WcSnapshot *snapshot);

/* --- catalog --------------------------------------------------------------
 * As the transaction txn (NULL: none) would see it.  Descriptors are appended
 * to out encoded (wc_table_desc_encode), lists as varint count, then each with
 * wc_buf_append_bytes.  Only the list of tables says since when families remember
 * what they held as it is now: writes change that, and no generation tells.
 */
extern WcStatus wc_engine_describe(WcEngine *engine, uint32_t database, WcTxn *txn, WcSlice ns, WcSlice name,
								   WcBuf *out, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_list_tables(WcEngine *engine, uint32_t database, WcTxn *txn, WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* Those of all databases; database: txn's. */
extern WcStatus wc_engine_list_all_tables(WcEngine *engine, uint32_t database, WcTxn *txn, WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* Of each its name, then its properties; "default" is always among them. */
extern WcStatus wc_engine_list_namespaces(WcEngine *engine, uint32_t database, WcTxn *txn, WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* A new table id; never given twice, also not after a restart once used. */
extern uint32_t wc_engine_new_table_id(WcEngine *engine);

/* A CREATE_TABLE with this id is in the log, whatever becomes of its transaction (which may be
 * prepared): no other table gets the id.  Any thread. */
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

/* In the calling thread; returns when it is done. */
extern WcStatus wc_engine_work(WcEngine *engine, const WcWork *work, const WcReadPoint *at, WcError *err) WC_WARN_UNUSED;

/*
 * By a thread of the engine's, one behind the other, with what is committed then; returns at
 * once.  Of `at` the database and the clock are heeded.  What goes wrong is said in the
 * server's log.  What waits already is not put there again; beyond WC_WORKS_MAX, WC_TOO_LARGE.
 * Every signal is blocked in the calling thread: another may be made here.
 */
extern WcStatus wc_engine_work_later(WcEngine *engine, const WcWork *work, const WcReadPoint *at, WcError *err) WC_WARN_UNUSED;

/* Are compactions of a table under way, or waiting, that were asked for so? */
extern void wc_engine_compacting(WcEngine *engine, uint32_t table_id, bool *minor, bool *major);

/* wc_engine_work for every family. */
extern WcStatus wc_engine_flush(WcEngine *engine, uint32_t table_id, const WcReadPoint *at, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_compact(WcEngine *engine, uint32_t table_id, bool major, const WcReadPoint *at, WcError *err) WC_WARN_UNUSED;

/*
 * Reads all that is stored of a table, or (table_id 0) the catalog: every block, by its checksum,
 * every key and cell, their order, the sizes of files.  Appends varint n, n times varint family id
 * (0: it is of none), bytes of a sentence that says what is wrong.  Of a family at most
 * WC_PROBLEMS_MAX and the number of the others; behind a block that cannot be read nothing of
 * it.  A table that is not there, or not this database's, has nothing wrong.  Changes nothing.
 */
extern WcStatus wc_engine_inspect(WcEngine *engine, uint32_t database, uint32_t table_id, const atomic_bool *cancel,
								  WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* What the engine does by itself about what could be forgotten (engine/README, "Upkeep"). */
typedef struct WcUpkeep
{
	bool		makes_steps;	/* else it only has RocksDB compact what steps have left: on a standby */
	uint32_t	busy_percent;	/* of one processor's time; 0: it does nothing */
	uint32_t	dead_percent;	/* of a family's key-values, about, that make it worth it */
	int64_t		delay_us;		/* what was written since stays for so long, > 0 ... */
	int64_t		history_us;		/* ... and markers with given timestamps; what has outlived its TTL, at most */
} WcUpkeep;

/* From now on; until it is called, nothing is done.  Always by the same thread, in which every
 * signal is blocked: another may be made here. */
extern WcStatus wc_engine_set_upkeep(WcEngine *engine, const WcUpkeep *settings, WcError *err) WC_WARN_UNUSED;

/* Approximate bytes and rows of a range; exact when it has few.  Cheap, but for one
 * walk over memtables that have grown much since the last.  Of these families only;
 * nfamilies 0: of all. */
extern WcStatus wc_engine_estimate(WcEngine *engine, uint32_t table_id, const WcRange *range,
								   const uint32_t *families, uint32_t nfamilies,
								   uint64_t *bytes, uint64_t *rows, WcError *err) WC_WARN_UNUSED;

/* A range that several readers share. */
typedef struct WcSplitRequest
{
	uint32_t	table_id;
	WcRange		range;			/* start taken as inclusive, stop as exclusive */
	uint32_t	nfamilies;		/* only the bytes of these families count; 0: of all */
	const uint32_t *families;
	uint32_t	nparts;			/* wanted, 1 .. WC_PARTS_MAX */
} WcSplitRequest;

/*
 * Appends varint n, then n times bytes: row keys inside the range, ascending, which part it into
 * at most nparts parts of about equal bytes.  None when little is stored there, or nothing is
 * committed.  A key begins a part; it need not be that of a row.  Takes a few seeks a part.
 */
extern WcStatus wc_engine_split(WcEngine *engine, const WcSplitRequest *request, const atomic_bool *cancel,
								WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* Ranges of a table's rows, drawn by chance, that a sample is to be read from. */
typedef struct WcSampleRequest
{
	uint32_t	table_id;
	WcRange		range;			/* only of this; start inclusive, stop exclusive */
	uint32_t	nranges;		/* wanted, 1 .. WC_RANGES_MAX - 2; a small table has fewer */
	uint64_t	range_rows;		/* rows a range should have on average, > 0 */
	uint64_t	seed;			/* the same gives the same, as long as nothing is written */
} WcSampleRequest;

/*
 * Appends varint n, then n times bytes start (inclusive), bytes stop (exclusive;
 * empty: unbounded), varint weight in 1/65536: ascending, disjoint.  A row
 * stands for as many rows of the table as its range's weight says: sums over the
 * ranges with it are not biased.  Two ranges, of weight 1, are before and behind all
 * rows that are there: for those that are not committed.  Takes time for the ranges, and for what is in memtables, not
 * for the table.
 */
extern WcStatus wc_engine_sample(WcEngine *engine, const WcSampleRequest *request, const atomic_bool *cancel,
								 WcBuf *out, WcError *err) WC_WARN_UNUSED;

#endif
