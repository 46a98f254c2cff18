/*
 * engine/internal.h: what the files of engine/ share and nobody else sees.
 */
#ifndef WC_ENGINE_INTERNAL_H
#define WC_ENGINE_INTERNAL_H

#include <rocksdb/c.h>

#include "engine/engine.h"
#include "engine/store.h"
#include "engine/cellsource.h"

struct WcSnapshot
{
	const rocksdb_snapshot_t *rocks;
	int64_t		last_ts;		/* last commit timestamp given when it was taken */
	uint64_t	seq;			/* RocksDB's last sequence number then, if that is known */
	uint32_t	readers;		/* 0: idle, and the newest */
	WcSnapshot *prev,
			   *next;			/* the engine's list of live ones, oldest first */
};

/* engine.c */
extern rocksdb_t *wc_engine_rocks(WcEngine *engine);
extern int64_t wc_engine_now(WcEngine *engine);	/* clock, never before the last commit timestamp given */

/* The commit timestamp a transaction would get now: greater than that of every
 * cell in the store which came without one. */
extern int64_t wc_engine_provisional_ts(WcEngine *engine);

/* catalog.c: the table as the read point sees it (own uncommitted DDL
 * included); a counted reference. *base_hidden is set when the transaction has
 * truncated or created it, so that nothing committed shows. */
extern WcStatus wc_catalog_open_table(WcEngine *engine, const WcReadPoint *at, uint32_t table_id,
									  WcTable **table, bool *base_hidden, WcError *err) WC_WARN_UNUSED;

/* --- base cell sources (cellsource_cell.c, cellsource_packed.c) -------------
 * rocks_snapshot may be NULL (newest).  bounds are hints: the source need not
 * look outside them (it sets RocksDB's iterate bounds); NULL: none.  point is
 * set when exactly one row is wanted: bloom filters may then be used (a Get for
 * packing row).  The store is referenced while the source lives.
 */
typedef struct WcSourceOptions
{
	const rocksdb_snapshot_t *snapshot;
	const WcRange *bounds;
	bool		reversed;
	bool		point;
	bool		fill_cache;
	const WcRange *points;		/* with point: the rows that are likely to be wanted, in this order, each as a
								 * start (they outlive the source) */
	uint32_t	npoints;
	const WcColumn *columns;	/* nothing else need be there; none: everything (they outlive the source) */
	uint32_t	ncolumns;
} WcSourceOptions;

extern WcStatus wc_cellsource_store(WcStore *store, const WcSourceOptions *options,
									WcCellSource **src, WcError *err) WC_WARN_UNUSED;

/* Cells in memory, all of one row, already in order (resolved rows, tests);
 * neither the cells nor the row are copied. */
extern WcStatus wc_cellsource_memory(uint32_t family, WcSlice row, const WcCell *cells, size_t ncells,
									 bool reversed, WcCellSource **src, WcError *err) WC_WARN_UNUSED;

/* Merges two sources of the same family and direction (closing it closes both);
 * of equal coordinates upper's cell hides lower's. */
extern WcStatus wc_cellsource_merge(WcCellSource *lower, WcCellSource *upper,
									WcCellSource **src, WcError *err) WC_WARN_UNUSED;

/* txnsource.c: a transaction's own writes to one family of one table, with what
 * they resolve to over `store` at `snapshot`. */
extern WcStatus wc_cellsource_txn(WcStore *store, const WcReadPoint *at, bool base_hidden,
								  const WcRange *bounds, bool reversed,
								  WcCellSource **src, WcError *err) WC_WARN_UNUSED;

/* Does the read point's transaction have anything for this table?  (Cheap; lets
 * scanners skip the merge.) */
extern bool wc_txn_touches(WcTxn *txn, uint32_t table_id, uint32_t cid);

#endif
