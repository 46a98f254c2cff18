/*
 * engine/forget/history.h: since when a family remembers what it held.
 *
 * A read as of time t sees cells up to t.  It is right only if nothing that was
 * there at t has been forgotten since: superseded versions that storage dropped,
 * deleted cells that a later marker hides.  So each store knows the time up to
 * which it may have forgotten; earlier reads are refused (engine/README,
 * "Reading as of a time").  Any thread.
 */
#ifndef WC_ENGINE_FORGET_HISTORY_H
#define WC_ENGINE_FORGET_HISTORY_H

#include <pthread.h>
#include <stdatomic.h>

#include <rocksdb/c.h>

#include "base/status.h"
#include "model/cell.h"
#include "model/descriptor.h"

struct WcEngine;
struct WcSnapshot;
struct WcStore;
struct WcTable;

/* The times of one store; 0: everything is remembered. */
typedef struct WcHistory
{
	pthread_mutex_t mutex;		/* guards the rest */
	int64_t		from;			/* before it something may be forgotten */
	int64_t		filtered;		/* the same by compaction filters alone, which snapshots do not
								 * keep from forgetting; since the store was opened */
	int64_t		stored;			/* what the catalog says, at least `from` */
	int64_t		granted;		/* what it says for certain, even after a crash: compaction filters,
								 * which cannot write themselves, may forget up to there */
	int64_t		wanted;			/* they would like to forget up to there */
	uint64_t	ended;			/* a filter that had dropped something has ended, in this epoch of the
								 * engine's, and its files may not be in place yet; 0: none */
	bool		single;			/* single versions have been deleted: dropping versions may show */
	bool		single_granted; /* the catalog says so for certain */
} WcHistory;

extern void wc_history_init(WcHistory *history);
extern void wc_history_free(WcHistory *history);

/* What the catalog says when the store is opened, now. */
extern void wc_history_load(WcHistory *history, int64_t ts, bool single, int64_t now_us);

extern int64_t wc_history_from(struct WcStore *store);

/*
 * A delete of a single version shows an older one, which storage may have dropped
 * or may drop later.  So where there were such deletes, what a compaction drops may
 * have been seen until then: the time before which it is needed is at least
 * seen_until.
 */
extern int64_t wc_history_needed(WcHistory *history, int64_t ts, int64_t seen_until);

/* --- writing; the engine's write mutex is held ---------------------------------
 *
 * A batch that makes the store forget what was before ts: forget puts into it
 * what has to be stored and hides that time from readers at once; forgotten
 * follows when the batch has been written.
 */
extern void wc_history_forget(struct WcStore *store, int64_t ts, bool single, rocksdb_writebatch_t *batch);
extern void wc_history_forgotten(struct WcStore *store, int64_t ts);

/* The time to which writing this delete marker makes a family forget: 0 when
 * reads of earlier times still see what it deletes.  *single is set if it
 * deletes a single version. */
extern int64_t wc_history_of_marker(const WcFamilyAttrs *attrs, const WcCell *marker, int64_t commit_ts, bool *single);

/* --- compaction filters ----------------------------------------------------*/

/*
 * May a filter drop what is needed to see times before ts (seen_until as above)?
 * If not, *wanted is raised, for the next commit to grant.
 */
extern bool wc_history_may_drop(WcHistory *history, int64_t ts, int64_t seen_until, atomic_bool *wanted);

/*
 * A filter of the store that has dropped something has ended.  Where single versions were
 * deleted, before or meanwhile, what it dropped is seen until the files without it are in
 * place: whoever asks, and each commit, moves the time on until RocksDB says that they are.
 */
extern void wc_history_dropped(struct WcStore *store);
extern void wc_history_note_installed(struct WcEngine *engine);

/*
 * Has it granted at once, from a compaction's thread: waits for other writers for
 * some 20 ms at most, and not at all for compactions.  False: not now; the next
 * commit will.
 */
extern bool wc_history_ask(struct WcStore *store, int64_t ts);

/* Grants what filters want, in all stores, by a synced write.  Takes the write mutex. */
extern void wc_history_grant_wanted(struct WcEngine *engine);

/* While a compaction that a user asked for runs, its filters may forget what was
 * before ts; settle takes back what was not needed.  They take the write mutex. */
extern WcStatus wc_history_lend(struct WcStore *store, int64_t ts, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_history_settle(struct WcStore *store, WcError *err) WC_WARN_UNUSED;

/* --- reading as of a time --------------------------------------------------*/

/* Does the store, as the snapshot sees it, remember the time as_of?  WC_INVALID
 * if not. */
extern WcStatus wc_history_check(struct WcStore *store, const WcTableDesc *table, const WcFamilyDesc *family,
								 const struct WcSnapshot *snapshot, int64_t as_of, WcError *err) WC_WARN_UNUSED;

/* Have filters forgotten it since? To be asked when cells have been read. */
extern WcStatus wc_history_recheck(struct WcStore *store, const WcTableDesc *table, const WcFamilyDesc *family,
								   int64_t as_of, WcError *err) WC_WARN_UNUSED;

#endif
