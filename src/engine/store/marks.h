/*
 * engine/store/marks.h: a family's marks: what the catalog stores about its cells.
 *
 * One key-value for each family, in the catalog's column family ("Y", engine/README).  Only commits and steps
 * change it, in the same write as their other effects.  A store has a copy in memory.
 */
#ifndef WC_ENGINE_STORE_MARKS_H
#define WC_ENGINE_STORE_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include <rocksdb/c.h>

#include "base/status.h"
#include "base/threads.h"
#include "engine/store/gone.h"
#include "read/storage.h"

/* First byte of the key; the table's id and the family's follow, 4 bytes each. */
#define WC_MARKS_KEY 'Y'

typedef struct WcMarks
{
	int64_t		history_from_us;	/* before it something may be forgotten; 0: nothing is */
	bool		single;			/* single versions have been deleted: dropping versions may show */
	bool		cell_ttl;		/* cells with a TTL of their own have been written */
	int64_t		flushed_ts;		/* packing cell: cells written up to then have been in a flush */
	int64_t		ahead_ts;		/* greatest timestamp of a cell or marker that was later than the commit; 0: none */
	WcGone		gone;			/* raised by expire steps */

	/* About how many key-values could be dropped.  Commits add to the counters, and steps subtract the key-values that they
	 * have dealt with. */
	uint64_t	superseded;		/* cells that others supersede, and delete markers */
	uint64_t	dated;			/* delete markers whose timestamps were given */
} WcMarks;

/* Not known: format 5 did not say. */
#define WC_AHEAD_UNKNOWN (WC_TS_LATEST - 1)

/* A store's copy. */
typedef struct WcStoreMarks
{
	WcMutex		mutex;			/* guards the rest */
	WcMarks		marks WC_GUARDED_BY(&mutex); /* as stored */
	int64_t		history_from_us WC_GUARDED_BY(&mutex); /* what readers get: at least the marks' value, and the value of a write that has begun */
} WcStoreMarks;

extern void wc_marks_init(WcStoreMarks *m);
extern void wc_marks_free(WcStoreMarks *m);

extern WcMarks wc_marks(WcStore *store);
extern int64_t wc_marks_history_from_us(WcStore *store);

/*
 * For a write, with the engine's write mutex locked.  wc_marks_put puts the new marks into the batch if they differ; from
 * then on reads as of times that the write forgets are refused.  wc_marks_done sets the store's copy: when the batch has been
 * written, or for the next commit of a group that makes one batch.  If a commit's batch could not be written, wc_marks_undo
 * sets the copy to the marks as they were before the commit.
 */
extern void wc_marks_put(WcStore *store, const WcMarks *marks, rocksdb_writebatch_t *batch);
extern void wc_marks_done(WcStore *store, const WcMarks *marks);
extern void wc_marks_undo(WcStore *store, const WcMarks *before);

/* The marks that tell which cells are gone; any thread.  settle: called when they are on disk (wc_engine_sync); from then
 * on RocksDB may drop the cells. */
extern WcGone wc_store_gone(const WcStore *store);
extern void wc_store_settle_gone(WcStore *store);

/* The store's storage goes. */
extern void wc_marks_delete(const WcStore *store, rocksdb_writebatch_t *batch);

/* The value, taken apart.  Of format 1 there is only history_from_us and single, of format 3 no gone.oldest_until_ts, of format 5 no
 * ahead_ts. */
extern WcStatus wc_marks_decode(WcSlice value, WcMarks *marks, WcError *err) WC_WARN_UNUSED;

/* As a snapshot sees them; all 0 when they were not set. */
extern WcStatus wc_marks_read(const WcStore *store, const WcSnapshot *snapshot, WcMarks *marks, WcError *err) WC_WARN_UNUSED;

#endif
