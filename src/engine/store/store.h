/*
 * engine/store/store.h: the storage of one family, and a table as its readers hold it.
 *
 * A WcTable never changes; a change of the catalog makes a new one.  Readers keep a reference to the WcTable as long
 * as they need it, and with it RocksDB's column families, also dropped ones.
 */
#ifndef WC_ENGINE_STORE_STORE_H
#define WC_ENGINE_STORE_STORE_H

#include <stdatomic.h>

#include <rocksdb/c.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/status.h"
#include "base/threads.h"
#include "engine/copies/memkeys.h"
#include "engine/store/counts.h"
#include "engine/store/deadruns.h"
#include "engine/store/gone.h"
#include "engine/store/marks.h"
#include "engine/store/scancache.h"
#include "model/descriptor.h"
#include "read/storage.h"

/* A range of a store in which steps have deleted much. */
typedef struct WcSwept
{
	bool		any;
	bool		whole;			/* the pass of steps has ended */
	bool		to_the_end;		/* the range has no stop */
	WcBuf		start;
	WcBuf		stop;
} WcSwept;

/* A count of key-values that could be forgotten, taken at one time. */
typedef struct WcCounted
{
	uint64_t	count;			/* 0: no count has been noted */
	int64_t		until_ts;		/* the counted ones were written up to this timestamp */
	int64_t		at_us;			/* time of the count */
} WcCounted;

/* State of upkeep for a store; used by upkeep's thread only (upkeep.c). */
typedef struct WcStoreUpkeep
{
	WcCounted	superseded;
	WcCounted	dated;
	int64_t		compacted_ts;	/* cells that were gone at this "expired" are not in the files any more */
	int64_t		retry_us;		/* monotonic; the range that steps have swept is not compacted before, since that failed */
	int64_t		sweep_again_us;	/* of the engine's clock; there is no sweep before, since the last one failed */
	WcSwept		compacting;		/* the range of which files are compacted, without the parts that are done */
	bool		flushed;		/* the memtables were flushed for this range */
	bool		failed;			/* the last attempt failed, and the failure was logged */
} WcStoreUpkeep;

struct WcStore
{
	atomic_uint refs;
	struct WcEngine *engine;
	uint32_t	table_id;
	uint32_t	family_id;
	uint32_t	generation;
	uint8_t		packing;		/* WC_PACKING_ROW or WC_PACKING_CELL; never changes */
	rocksdb_column_family_handle_t *cf;		/* NULL: not made yet (table of an open transaction): empty */
	struct WcStore *next;		/* in a list of the engine's WcFamilies, whose mutex guards it */
	struct WcStore *next_altered;	/* in the list of altered stores; same mutex */
	bool		altered;		/* the store is in that list */
	uint64_t	made_for;		/* the store waits for the commit of this transaction; same mutex */
	uint64_t	dropped_at;		/* position of the commit that dropped it; same mutex */
	atomic_bool dropped;		/* set by a commit, with the engine's write mutex locked: nothing may be written
								 * to the store, or about it, any more */
	atomic_bool large_rows;		/* rows beyond WC_PACKED_ROW_LARGE are stored, or were */
	atomic_bool ahead;			/* a cell or marker had a later timestamp than the commits so far; since then, or since the start */
	bool		counted;		/* counts as an open family, for shares of memory */
	uint8_t		built_filter;	/* WcBloomFilter with which cf was opened; ALTER's takes effect at the next opening */
	WcMutex		attrs_mutex;	/* guards attrs, which ALTER changes and others read */
	WcFamilyAttrs attrs WC_GUARDED_BY(&attrs_mutex);
	WcStoreMarks marks;			/* has a mutex of its own */
	_Atomic int64_t oldest_ts,	/* these three: wc_store_gone */
				oldest_until_ts,
				expired_ts;
	WcGoneFilter *filter;		/* decides which key-values its compactions drop */
	WcDeadRuns	dead;			/* has a mutex of its own */
	WcScanCache scancache;		/* likewise */
	struct WcRangeWatch *watches;	/* this and the next one are guarded by the engine's write mutex */
	WcSwept		swept;			/* until its files are compacted */
	_Atomic uint64_t flushed_superseded,	/* packing cell: the marks' two counts when the last requested flush began; 0 */
				flushed_dated;	/* after a start, and after a major compaction or upkeep's sweep has begun */
	WcStoreUpkeep upkeep;
	WcStoreCounts counts;
	WcMutex		memkeys_mutex;	/* guards the next two, which estimates use */
	WcMemKeys	memkeys WC_GUARDED_BY(&memkeys_mutex); /* sample of the memtables, when they had ... */
	uint64_t	memkeys_entries WC_GUARDED_BY(&memkeys_mutex); /* ... this number of entries; 0: there is no sample */
};

extern WcTable *wc_table_ref(WcTable *table);
extern void wc_table_unref(WcTable *table);
extern WcStore *wc_store_ref(WcStore *store);

/* It has a row beyond WC_PACKED_ROW_LARGE. */
extern void wc_store_note_large(WcStore *store);

/* Sets `ahead` if the mark is later than last_ts. */
extern void wc_store_note_ahead(WcStore *store, int64_t ahead_ts, int64_t last_ts);
extern void wc_store_unref(WcStore *store);

/* Takes the range in which steps have deleted, when the steps of the whole range are done; false: no range.  The caller
 * frees it when the files are compacted; if they could not be, the caller returns it: the range is noted again, together
 * with what steps have noted meanwhile, and freed.  Both lock the engine's write mutex. */
extern bool wc_store_take_swept(WcStore *store, WcSwept *swept);
extern void wc_store_return_swept(WcStore *store, WcSwept *swept);
extern void wc_swept_free(WcSwept *swept);	/* it has no range then */

/* The range's stop; empty: to the end. */
extern WcSlice wc_swept_stop(const WcSwept *swept);

/* Extends the range to another one, whose stop may be empty: to the end. */
extern void wc_swept_add(WcSwept *swept, WcSlice start, WcSlice stop);

/* A table with a copy of desc, and room for its stores (all NULL); one reference.  NULL: out of memory. */
extern WcTable *wc_table_create(const WcTableDesc *desc);

/* The table's store of a family, without a reference; NULL: there is none. */
extern WcStore *wc_table_store(const WcTable *table, uint32_t family_id);

/* A store without a column family (cf NULL); one reference.  NULL: out of memory. */
extern WcStore *wc_store_create(struct WcEngine *engine, uint32_t table_id, const WcFamilyDesc *family);

/* Was the store dropped?  Readers may continue to read it; a writer keeps the engine's write mutex locked from this
 * check to the write. */
extern bool wc_store_is_dropped(const WcStore *store);

/* The options for opening its column family; the caller destroys them.  One thread at a time: with the mutex of
 * WcFamilies locked, or while the engine is being opened. */
extern rocksdb_options_t *wc_store_options(WcStore *store);

/* tables.c: 'family "f" of stored table "t"', for messages; returns buf.  wc_store_text_in takes the names from the table's
 * descriptor (which may be NULL), not from the catalog; wc_store_cf_text takes a column family's name. */
#define WC_STORE_TEXT_MAX (3 * WC_NAME_MAX + 64)

extern char *wc_store_text(const WcStore *store, char *buf, size_t size);
extern char *wc_store_text_in(const WcStore *store, const WcTableDesc *table, char *buf, size_t size);
extern char *wc_store_cf_text(struct WcEngine *engine, const char *cf_name, char *buf, size_t size);

/* A reference to the committed store that has this column family, NULL when there is none. */
extern WcStore *wc_store_of_cf(struct WcEngine *engine, const char *cf_name);

/* As wc_rocks_status (rocks.h); action: what failed on the store, for example "read". */
extern WcStatus wc_store_status(const WcStore *store, char *text, const char *action, WcError *err) WC_WARN_UNUSED;

/* "t<table>.f<family>.g<generation>"; returns buf. */
extern char *wc_store_cf_name(const WcStore *store, char *buf, size_t size);

/* A copy of the present attributes; any thread. */
extern WcFamilyAttrs wc_store_attrs(WcStore *store);
extern void wc_store_set_attrs(WcStore *store, const WcFamilyAttrs *attrs);

#endif
