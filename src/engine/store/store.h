/*
 * engine/store/store.h: the storage of one family, and a table as its readers hold it.
 *
 * Readers keep their picture of a table (WcTable, counted references) as long as they
 * need it, and with it the RocksDB column families, even dropped ones.
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
#include "engine/store/counts.h"
#include "engine/store/gone.h"
#include "engine/store/marks.h"
#include "engine/store/memkeys.h"
#include "model/descriptor.h"
#include "read/storage.h"

/* A range of a store in which steps have deleted much. */
typedef struct WcSwept
{
	bool		any;
	bool		whole;			/* the flush or compaction that did it has ended */
	bool		to_the_end;		/* stop is not heeded */
	WcBuf		start;
	WcBuf		stop;
} WcSwept;

/* The count, at a moment, of key-values that could go. */
typedef struct WcCounted
{
	uint64_t	count;			/* 0: there was no such moment */
	int64_t		until_ts;		/* all of it was written up to then */
	int64_t		at_us;			/* when that was */
} WcCounted;

/* State of upkeep for a store; used by upkeep's thread only (upkeep.c). */
typedef struct WcStoreUpkeep
{
	WcCounted	superseded;
	WcCounted	dated;
	int64_t		compacted_ts;	/* cells that were gone at this mark have left the files */
	bool		failed;			/* the last time something was done, which was said */
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
	struct WcStore *next;		/* in a list of the engine's families; guarded by their mutex */
	struct WcStore *next_altered;	/* likewise */
	bool		altered;		/* it is in that list */
	uint64_t	made_for;		/* waits for the commit of this transaction; likewise */
	uint64_t	dropped_at;		/* position of the commit that did; likewise */
	atomic_bool dropped;		/* by a commit; set with the engine's write mutex held: nothing may be written
								 * to it, or about it, any more */
	atomic_bool large_rows;		/* rows beyond WC_PACKED_ROW_LARGE are stored, or were */
	bool		counted;		/* among the open families, for their shares of memory */
	uint8_t		built_filter;	/* WcBloomFilter that cf was opened with; ALTER's comes at the next opening */
	WcMutex		attrs_mutex;	/* guards attrs, which ALTER changes and others read */
	WcFamilyAttrs attrs WC_GUARDED_BY(&attrs_mutex);
	WcStoreMarks marks;			/* has a mutex of its own */
	_Atomic int64_t oldest_ts,	/* these two: wc_store_gone */
				expired_ts;
	WcGoneFilter *filter;		/* decides which key-values its compactions drop */
	struct WcRangeWatch *watches;	/* these two are guarded by the engine's write mutex */
	WcSwept		swept;			/* until its files are compacted */
	WcStoreUpkeep upkeep;
	WcStoreCounts counts;
	WcMutex		memkeys_mutex;	/* guards the following, which estimates keep */
	WcMemKeys	memkeys WC_GUARDED_BY(&memkeys_mutex); /* the memtables when they had ... */
	uint64_t	memkeys_entries WC_GUARDED_BY(&memkeys_mutex); /* ... so many entries; 0: not looked at */
};

extern WcTable *wc_table_ref(WcTable *table);
extern void wc_table_unref(WcTable *table);
extern WcStore *wc_store_ref(WcStore *store);

/* It has a row beyond WC_PACKED_ROW_LARGE. */
extern void wc_store_note_large(WcStore *store);
extern void wc_store_unref(WcStore *store);

/* A copy of desc, and room for its stores (all NULL); one reference.  NULL:
 * out of memory. */
extern WcTable *wc_table_create(const WcTableDesc *desc);

/* The table's store of a family, NULL when there is none; not counted. */
extern WcStore *wc_table_store(const WcTable *table, uint32_t family_id);

/* A store without a column family (cf NULL); one reference.  NULL: out of memory. */
extern WcStore *wc_store_create(struct WcEngine *engine, uint32_t table_id, const WcFamilyDesc *family);

/* The commit at this position has removed it from its table (0: it never belonged to one): its column family
 * is dropped when that commit is on disk (families.h), and its files with the last reference.  With the
 * engine's write mutex held. */
extern void wc_store_drop(WcStore *store, uint64_t position);

/* Was it dropped?  Readers may go on with it; a writer holds the engine's write mutex from this question to
 * the write. */
extern bool wc_store_is_dropped(const WcStore *store);

/* The options its column family is opened with; the caller destroys them.  One thread at a
 * time: with the families' mutex held, or while the store is being opened. */
extern rocksdb_options_t *wc_store_options(WcStore *store);

/* 'family "f" of stored table "t"', for messages; returns buf.  The second by the table's
 * descriptor (which may be NULL), not by the catalog; the third of a column family's name. */
#define WC_STORE_TEXT_MAX (3 * WC_NAME_MAX + 64)

extern char *wc_store_text(const WcStore *store, char *buf, size_t size);
extern char *wc_store_text_in(const WcStore *store, const WcTableDesc *table, char *buf, size_t size);
extern char *wc_store_cf_text(struct WcEngine *engine, const char *cf_name, char *buf, size_t size);

/* A reference to the committed store that has this column family, NULL when there is none. */
extern WcStore *wc_store_of_cf(struct WcEngine *engine, const char *cf_name);

/* As wc_rocks_status (rocks.h): the store could not be read, say (action: "read"). */
extern WcStatus wc_store_status(const WcStore *store, char *text, const char *action, WcError *err) WC_WARN_UNUSED;

/* "t<table>.f<family>.g<generation>"; returns buf. */
extern char *wc_store_cf_name(const WcStore *store, char *buf, size_t size);

/* Which of its cells are gone; any thread.  Set with its marks (marks.h).  RocksDB may drop these cells when
 * that is on disk: settle is called then (wc_engine_sync). */
extern WcGone wc_store_gone(const WcStore *store);
extern void wc_store_set_gone(WcStore *store, const WcGone *gone);
extern void wc_store_settle_gone(WcStore *store);

/* A copy of its attributes as they are now; any thread. */
extern WcFamilyAttrs wc_store_attrs(WcStore *store);
extern void wc_store_set_attrs(WcStore *store, const WcFamilyAttrs *attrs);

#endif
