/*
 * engine/catalog/catalog.h: the catalog: tables and namespaces.
 *
 * The catalog is in RocksDB's default column family (keys: engine/README), and completely in memory (tables.h).  Only
 * the applying thread changes it.  The catalog with the changes of an open transaction, or of a commit that is being
 * applied, is an overlay: the same code serves a transaction's reads and checks a commit.
 */
#ifndef WC_ENGINE_CATALOG_CATALOG_H
#define WC_ENGINE_CATALOG_CATALOG_H

#include <rocksdb/c.h>

#include "base/arena.h"
#include "engine/store/state.h"
#include "model/batch.h"
#include "read/storage.h"

struct WcEngine;

/* Keys of the catalog's column family that others know: write/mark.c, inspect.c. */
#define WC_METAKEY_TABLE	'T'
#define WC_METAKEY_READ		'R'
#define WC_METAKEY_PENDING	'P'

/*
 * Reads the catalog (and the engine's applied position and last timestamp) from
 * the column family that holds it.  The stores it makes have no column family
 * yet.  *fresh: there was nothing.
 */
extern WcStatus wc_catalog_load(struct WcEngine *engine, rocksdb_t *db, rocksdb_column_family_handle_t *meta,
								bool *fresh, WcError *err) WC_WARN_UNUSED;

/* Writes the format version into a new store, synced. */
extern WcStatus wc_catalog_make(struct WcEngine *engine, WcError *err) WC_WARN_UNUSED;

/* Of a store that has just been opened: takes it to today's format, synced. */
extern WcStatus wc_catalog_convert(struct WcEngine *engine, WcError *err) WC_WARN_UNUSED;

/* Appends the key-value "position and last timestamp" to a batch. */
extern void wc_engine_put_state(WcEngine *engine, rocksdb_writebatch_t *batch, uint64_t position, int64_t last_ts);

/* The table as the read point sees it (own uncommitted DDL included); a counted
 * reference. *base_hidden is set when the transaction has truncated or created it,
 * so that nothing committed shows. */
extern WcStatus wc_catalog_open_table(WcEngine *engine, const WcReadPoint *at, uint32_t table_id,
									  WcTable **table, bool *base_hidden, WcError *err) WC_WARN_UNUSED;

/* Into a batch, behind wc_catalog_put: the store has rows beyond WC_PACKED_ROW_LARGE. */
extern void wc_catalog_put_large(const WcStore *store, rocksdb_writebatch_t *batch);

/* --- overlays -------------------------------------------------------------*/

/* A family that is in the table no longer. */
typedef struct WcGoneFamily
{
	struct WcGoneFamily *next;
	uint32_t	id;
	uint64_t	offset;			/* of the operation that dropped it */
} WcGoneFamily;

typedef struct WcTableState
{
	struct WcTableState *next;
	struct WcTableState *next_like; /* with an id that has the same remainder */
	uint32_t	id;
	WcTable    *base;			/* the committed picture, counted; NULL: made here */
	WcTableDesc *desc;			/* as it is now; NULL: dropped */
	bool		changed;
	bool		hidden;			/* made or truncated here: nothing committed shows */
	uint64_t	void_before;	/* row operations that begin before it are void */
	WcGoneFamily *gone;
} WcTableState;

typedef struct WcNamespaceState
{
	struct WcNamespaceState *next;
	uint32_t	database;
	WcSlice		name;
	bool		present;
	WcSlice		properties;
	WcNamespace owned;			/* malloc'ed copies, for the catalog (while committing) */
} WcNamespaceState;

/* Ids of tables are told apart by the remainder of this first. */
#define WC_OVERLAY_REMAINDERS 64

typedef struct WcOverlay
{
	struct WcEngine *engine;
	uint32_t	database;		/* only its tables may be changed */
	bool		strict;			/* a commit: an operation that does not fit is an error; else it is skipped */
	WcArena		arena;
	WcTableState *tables;		/* the tables that were looked up, newest first */
	WcTableState *by_id[WC_OVERLAY_REMAINDERS];	/* the same */
	uint32_t	next_table_id;	/* greater than any that a CREATE had; 0: there was none */
	WcNamespaceState *namespaces;
} WcOverlay;

extern void wc_overlay_init(WcOverlay *overlay, struct WcEngine *engine, uint32_t database, bool strict);
extern void wc_overlay_free(WcOverlay *overlay);

/* Adds one catalog operation, at this offset of the transaction.  ts: the new "history from", if the operation loses
 * history. */
extern WcStatus wc_overlay_op(WcOverlay *overlay, const WcOp *op, uint64_t offset, int64_t ts, WcError *err) WC_WARN_UNUSED;

/* The transaction's catalog operations with a smaller cid, as it sees them itself. */
extern WcStatus wc_overlay_txn(WcOverlay *overlay, const WcTxn *txn, uint64_t cid_end, WcError *err) WC_WARN_UNUSED;

/* The table as it is now; WC_NO_TABLE when it is not (or another database's). *state is set in that case too,
 * if an earlier operation has dropped the table. */
extern WcStatus wc_overlay_table(WcOverlay *overlay, uint32_t table_id, WcTableState **state, WcError *err) WC_WARN_UNUSED;

/* No database has this oid. */
#define WC_EVERY_DATABASE 0

/* Puts every committed table of a database, the transaction's, another or every one, among the states. */
extern WcStatus wc_overlay_database(WcOverlay *overlay, uint32_t database, WcError *err) WC_WARN_UNUSED;

/* Sets and returns WC_NO_TABLE. */
extern WcStatus wc_overlay_no_table(uint32_t table_id, WcError *err);

/* A picture of a table's state: stores of the committed picture where they
 * still fit, stores without column families where not.  One reference. */
extern WcStatus wc_overlay_picture(WcOverlay *overlay, const WcTableState *state, WcTable **table, WcError *err) WC_WARN_UNUSED;

/* --- committing an overlay (apply.c) --------------------------------------
 *
 * prepare makes the new WcTables, with the column families that were made before (families.h); put adds the catalog's
 * key-values to the batch.  If the batch was written, publish changes the catalog in memory and drops stores that are
 * not needed any more; if not, undo drops the WcTables that prepare has made.  Both get the commit's position; undo gets
 * 0 if no write was tried.
 */
typedef struct WcPicture
{
	const WcTableState *state;
	WcTable    *table;			/* NULL: dropped */
} WcPicture;

typedef struct WcCatalogChange
{
	WcOverlay  *overlay;
	WcPicture  *pictures;		/* of changed tables, in the overlay's arena */
	size_t		npictures;
} WcCatalogChange;

extern WcStatus wc_catalog_prepare(WcCatalogChange *change, WcOverlay *overlay, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_catalog_put(const WcCatalogChange *change, rocksdb_writebatch_t *batch, WcError *err) WC_WARN_UNUSED;
extern void wc_catalog_publish(WcCatalogChange *change, uint64_t position);
extern void wc_catalog_undo(WcCatalogChange *change, uint64_t position);

#endif
