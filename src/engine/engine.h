/*
 * engine/engine.h: the storage engine, as everybody outside engine/ sees it.
 *
 * One WcEngine is open in one process at a time.  Every function may be called
 * from any thread and at once with others, except where it says otherwise; a
 * WcTxn, a WcScanner and a WcReadPoint belong to one thread at a time.
 * Functions that can take long poll the cancel flag they are given.
 */
#ifndef WC_ENGINE_ENGINE_H
#define WC_ENGINE_ENGINE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/status.h"
#include "model/batch.h"
#include "model/cellblock.h"
#include "model/descriptor.h"
#include "model/scan.h"

typedef struct WcEngine WcEngine;

typedef struct WcEngineOptions
{
	const char *path;			/* directory; made when missing */
	uint64_t	block_cache_bytes;	/* shared by every family */
	uint64_t	write_buffer_bytes; /* memtables of all families together flush at this */
	int			max_open_files;	/* -1: no limit */
	int			max_background_jobs;
	int64_t		(*clock_us) (void);	/* NULL: wc_clock_wall_us; tests set their own */
} WcEngineOptions;

/* Block every signal in the calling thread first: threads are made here. */
extern WcStatus wc_engine_open(const WcEngineOptions *options, WcEngine **engine, WcError *err) WC_WARN_UNUSED;

/* Every snapshot, scanner and transaction must be gone; what was applied is synced. */
extern void wc_engine_close(WcEngine *engine);

/* --- snapshots ------------------------------------------------------------
 * What had been applied when it was taken, all tables alike.  While it lives,
 * nothing that it can see is dropped.
 */
typedef struct WcSnapshot WcSnapshot;

/* What there is now; the same one for all who take it before something is written.
 * Any thread.  NULL: out of memory. */
extern WcSnapshot *wc_snapshot_take(WcEngine *engine);
extern void wc_snapshot_release(WcEngine *engine, WcSnapshot *snapshot);

/* Another reference to one that is held: it is to be released once more. */
extern void wc_snapshot_share(WcEngine *engine, WcSnapshot *snapshot);

/* --- transactions ---------------------------------------------------------
 * The batch of one open transaction, for its own reads and for its commit.
 */
typedef struct WcTxn WcTxn;

/* bytes_max: most bytes of operations it may hold (WC_TOO_LARGE beyond). */
extern WcStatus wc_txn_create(WcEngine *engine, uint32_t database, uint64_t bytes_max, WcTxn **txn, WcError *err) WC_WARN_UNUSED;
extern void wc_txn_destroy(WcTxn *txn);

/* Appends whole operations (model/batch.h), copying them; all or nothing. */
extern WcStatus wc_txn_append(WcTxn *txn, WcSlice ops, WcError *err) WC_WARN_UNUSED;

/* Keeps the first nops operations, drops the rest. */
extern WcStatus wc_txn_rollback_to(WcTxn *txn, uint64_t nops, WcError *err) WC_WARN_UNUSED;
extern uint64_t wc_txn_count(const WcTxn *txn);
extern void wc_txn_reset(WcTxn *txn);	/* empties it; open scanners must be closed before */

/* --- applying -------------------------------------------------------------
 * The one entry for writes.  Called by one thread, in commit order.  Applies
 * the whole batch in one atomic write or (on any error) nothing.  Depends on
 * nothing but its arguments and the store: the same batches in the same order
 * give the same store.  Not synced: wc_engine_sync makes all that was applied
 * so far durable.
 */
typedef struct WcCommit
{
	uint64_t	xid;			/* PostgreSQL's full transaction id, 0: none */
	uint64_t	position;		/* of the commit in the log, greater than any before; 0: engine counts itself */
	int64_t		time_us;		/* commit time; the commit timestamp is max(last given + 1, time_us) */
} WcCommit;

extern WcStatus wc_engine_apply(WcEngine *engine, const WcCommit *commit, WcTxn *txn,
								int64_t *commit_ts, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_sync(WcEngine *engine, WcError *err) WC_WARN_UNUSED;

/*
 * Whoever keeps what was read is told of each write that may change what is visible, by
 * the thread that makes it and one write at a time: of its rows, or of whole tables
 * (when their rows are many, their families change, or flush or compaction are at work);
 * then begin, when no reader sees any of it yet, and end, when those that come see all of
 * it, or when it has failed.  They may take and release snapshots.  Not told, since
 * nobody knows when it happens, is what RocksDB's own compactions change in packing
 * cell (wc_scanner_holds_until).  last_ts: the clock of TTLs is never before it.
 */
typedef struct WcWriteWatch
{
	void	   *arg;
	void		(*row) (void *arg, uint32_t table_id, WcSlice row);
	void		(*table) (void *arg, uint32_t table_id);
	void		(*begin) (void *arg);
	void		(*end) (void *arg, int64_t last_ts);
} WcWriteWatch;

/* Before the first commit, or when none can come any more (NULL: no longer). */
extern void wc_engine_watch(WcEngine *engine, const WcWriteWatch *watch);
extern uint64_t wc_engine_applied_position(WcEngine *engine);

/* --- reading --------------------------------------------------------------*/
typedef struct WcReadPoint
{
	WcSnapshot *snapshot;		/* NULL: the newest, taken when the scanner is opened and held by it */
	WcTxn	   *txn;			/* own writes to merge in; NULL: none */
	uint32_t	cid;			/* own operations with a smaller cid are seen */
	uint32_t	database;
	int64_t		clock_offset_us;	/* added to the clock for TTLs */
	const atomic_bool *cancel;	/* raised by others; NULL: never */
} WcReadPoint;

typedef struct WcScanner WcScanner;

typedef struct WcScanStats
{
	uint64_t	rows_returned;
	uint64_t	rows_examined;	/* that are stored, whether or not they are there */
	uint64_t	rows_filtered;	/* there, but the scan's filter does not let them through */
	uint64_t	cells_returned;
	uint64_t	cells_examined;
	uint64_t	seeks;
	uint64_t	cache_hits;		/* of a measured scan: RocksDB's blocks that were in memory */
	uint64_t	blocks_read;	/* and those that were not */
} WcScanStats;

/* Copies the scan and the read point. WC_NO_TABLE, WC_NO_FAMILY (or WC_STALE)
 * when the table is not there (any more). */
extern WcStatus wc_scanner_open(WcEngine *engine, const WcScan *scan, const WcReadPoint *at,
								WcScanner **scanner, WcError *err) WC_WARN_UNUSED;

/*
 * Appends one cell block (model/cellblock.h) to out: about bytes_target bytes,
 * more when one cell is larger; at most rows_max rows (0: any).  WC_OK: there
 * may be more; WC_END: this block is the last (it says so itself as well).
 */
extern WcStatus wc_scanner_next(WcScanner *scanner, WcBuf *out, size_t bytes_target,
								uint64_t rows_max, WcError *err) WC_WARN_UNUSED;
extern void wc_scanner_stats(const WcScanner *scanner, WcScanStats *stats);

/* The time (the engine's clock, with the read point's offset) from which on what it has
 * given so far may be otherwise though nothing is written, because a cell will have
 * outlived its TTL.  INT64_MAX: it never will.  0: at any time, since it has read packing
 * cell, in which compactions change what is visible (a put that a marker masked, say). */
extern int64_t wc_scanner_holds_until(const WcScanner *scanner);
extern void wc_scanner_close(WcScanner *scanner);

/* --- catalog --------------------------------------------------------------
 * As the transaction txn (NULL: none) would see it.  Descriptors are appended
 * to out encoded (wc_table_desc_encode), lists as varint count, then each with
 * wc_buf_append_bytes.  Only the list of tables says since when families remember
 * what they held as it is now: writes change that, and no generation tells.
 */
extern WcStatus wc_engine_describe(WcEngine *engine, uint32_t database, WcTxn *txn, WcSlice ns, WcSlice name,
								   WcBuf *out, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_list_tables(WcEngine *engine, uint32_t database, WcTxn *txn, WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* Names only; "default" is always among them. */
extern WcStatus wc_engine_list_namespaces(WcEngine *engine, uint32_t database, WcTxn *txn, WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* A new table id; never given twice, also not after a restart once used. */
extern uint32_t wc_engine_new_table_id(WcEngine *engine);

/* Grows with every applied catalog change. */
extern uint64_t wc_engine_catalog_generation(WcEngine *engine);

/* Drops every table of a database that PostgreSQL no longer has; outside any
 * transaction, from the applying thread. */
extern WcStatus wc_engine_drop_database(WcEngine *engine, uint32_t database, WcError *err) WC_WARN_UNUSED;

/* --- administration -------------------------------------------------------*/
extern WcStatus wc_engine_flush(WcEngine *engine, uint32_t table_id, const WcReadPoint *at, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_engine_compact(WcEngine *engine, uint32_t table_id, bool major, const WcReadPoint *at, WcError *err) WC_WARN_UNUSED;

/* Approximate bytes and rows of a range; exact when it has few.  Cheap, but for one
 * walk over memtables that have grown much since the last.  Of these families only;
 * nfamilies 0: of all. */
extern WcStatus wc_engine_estimate(WcEngine *engine, uint32_t table_id, const WcRange *range,
								   const uint32_t *families, uint32_t nfamilies,
								   uint64_t *bytes, uint64_t *rows, WcError *err) WC_WARN_UNUSED;

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
