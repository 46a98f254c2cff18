/*
 * read/storage.h: the interface of a storage of cells, as reads need it.
 *
 * A storage is a table of functions: the embedded engine has one (engine/storage.c), another store of cells
 * would have its own.  Nothing in read/ depends on more of a storage than this file declares.  Functions may
 * be called from any thread and at once with others; a WcReadPoint belongs to one thread at a time.
 */
#ifndef WC_READ_STORAGE_H
#define WC_READ_STORAGE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/status.h"
#include "model/descriptor.h"
#include "model/scan.h"
#include "read/cell/cellsource.h"

typedef struct WcStorage WcStorage;

/* The storage of one family of one table; the storage defines it. */
typedef struct WcStore WcStore;

/* The state that all commits up to some moment have made; the storage defines it. */
typedef struct WcSnapshot WcSnapshot;

/* The writes of one open transaction (read/txn/txn.h). */
typedef struct WcTxn WcTxn;

/*
 * An immutable picture of one stored table: the descriptor and a store for each family,
 * in the descriptor's order.  A catalog change makes a new picture; a reader keeps its
 * own, by a counted reference, for as long as it reads.
 */
typedef struct WcTable
{
	atomic_uint refs;
	WcArena		arena;			/* of desc and stores */
	WcTableDesc desc;
	WcStore   **stores;			/* desc.nfamilies of them */
} WcTable;

/* At which state a reader reads. */
typedef struct WcReadPoint
{
	WcSnapshot *snapshot;		/* NULL: the newest, taken when the scanner is opened and held by it */
	WcTxn	   *txn;			/* own writes to merge in; NULL: none */
	uint32_t	cid;			/* own operations with a smaller cid are seen */
	uint32_t	database;
	int64_t		clock_offset_us;	/* added to the clock for TTLs */
	int64_t		now_us;			/* of a part of a scan that has begun: the time by which its TTLs go; 0: the clock */
	uint32_t	pid;			/* of the process that it is done for, to tell others; 0: of none */
	uint32_t	ahead;			/* not 0: nobody waits for the rows.  The scan is not counted, and ends with an error when it has read so many
								 * times WC_CANCEL_CELLS cells and rows of a family, or has passed over WC_CANCEL_CELLS that it has no use for */
	const atomic_bool *cancel;	/* raised by others; NULL: never */
} WcReadPoint;

/*
 * How a store's cells are read.  bounds are hints: the source need not look outside
 * them.  point is set when exactly one row is wanted at a time: the source then gives
 * the row that is sought or nothing, and may use bloom filters.  The store is referenced
 * while the source lives.
 */
typedef struct WcSourceOptions
{
	WcSnapshot *snapshot;		/* NULL: the newest state */
	const WcRange *bounds;		/* NULL: none */
	bool		reversed;
	bool		point;
	bool		fill_cache;
	bool		skip_dead;		/* rows without puts are of no interest: they may be left out */
	bool		skip_masked;	/* nor are rows in which a DeleteFamily marker masks all puts */
	bool		brief;			/* an error is better than passing over many keys that are stored no more */
	const WcRange *points;		/* with point: the rows that are likely to be wanted, in this order, each as a
								 * start (they outlive the source) */
	uint32_t	npoints;
	const WcColumn *columns;	/* nothing else need be there; none: everything (they outlive the source) */
	uint32_t	ncolumns;
	const atomic_bool *cancel;	/* checked from time to time while cells are skipped; NULL: cannot be cancelled */
} WcSourceOptions;

/* Blocks that this thread has read so far. */
typedef struct WcReadMeter
{
	uint64_t	cache_hits;		/* in memory */
	uint64_t	blocks_read;	/* not in memory */
} WcReadMeter;

/* A reader's counts of one family since it last reported them to the storage. */
typedef struct WcReadCounts
{
	uint64_t	reads;			/* Scans and Gets that have begun */
	uint64_t	rows_examined;	/* by them, in whichever families */
	uint64_t	rows_returned;
	uint64_t	cells_examined;
	uint64_t	cells_returned;
} WcReadCounts;

typedef struct WcStorageOps
{
	/*
	 * The table as the read point sees it, own uncommitted DDL included: a counted
	 * reference, which close_table gives back.  *base_hidden is set when the transaction
	 * has truncated or created the table, so that nothing committed shows.  WC_NO_TABLE:
	 * it is not there; *table is NULL after each error.
	 */
	WcStatus	(*open_table) (WcStorage *storage, const WcReadPoint *at, uint32_t table_id,
							   WcTable **table, bool *base_hidden, WcError *err);
	void		(*close_table) (WcTable *table);	/* NULL is allowed */

	/* Does the table exist in the newest committed state? */
	bool		(*is_committed) (WcStorage *storage, uint32_t table_id);

	/* The newest state; NULL: out of memory. */
	WcSnapshot *(*take_snapshot) (WcStorage *storage);
	void		(*release_snapshot) (WcStorage *storage, WcSnapshot *snapshot);

	/* A number that two snapshots have in common only if they see the same; 0: it is not
	 * known. */
	uint64_t	(*moment) (const WcSnapshot *snapshot);

	/* The clock of TTLs, and a timestamp greater than that of every committed cell which
	 * was written without one; microseconds. */
	int64_t		(*now) (WcStorage *storage);
	int64_t		(*provisional_ts) (WcStorage *storage);

	WcStatus	(*open_source) (WcStore *store, const WcSourceOptions *options, WcCellSource **src, WcError *err);

	/*
	 * Does the table's family, as the snapshot sees it, remember the time as_of_ts?
	 * (family: its place in the table.)  WC_INVALID if not.  recheck is asked when
	 * cells have been read: has the storage forgotten that time meanwhile?
	 */
	WcStatus	(*check_history) (const WcTable *table, uint32_t family, const WcSnapshot *snapshot,
								  int64_t as_of_ts, WcError *err);
	WcStatus	(*recheck_history) (const WcTable *table, uint32_t family, int64_t as_of_ts, WcError *err);

	/* The thread's counts so far; costs next to nothing. */
	WcReadMeter (*meter) (void);

	/* Adds to the counts of a family (its place in the table); costs next to nothing. */
	void		(*count) (const WcTable *table, uint32_t family, const WcReadCounts *counts);
} WcStorageOps;

struct WcStorage
{
	const WcStorageOps *ops;
};

#endif
