/*
 * engine/store/families.h: column families that no table has yet, or no table has any more.
 *
 * RocksDB makes, drops or alters each column family with a synced write of its manifest, which takes
 * milliseconds; so no thread does this with the write mutex locked.  The column families that a commit needs are
 * made before its turn.  Those that it drops leave the catalog at once; a thread drops them in RocksDB when the
 * commit is on disk.  RocksDB's drop is on disk at once: if it came first, the catalog could name, after a crash, a
 * column family that does not exist.
 */
#ifndef WC_ENGINE_STORE_FAMILIES_H
#define WC_ENGINE_STORE_FAMILIES_H

#include "base/threads.h"
#include "engine/store/internal.h"

/* Syncs RocksDB's log, and reports it by wc_families_synced (wc_engine_sync). */
typedef WcStatus (*WcFamiliesSync) (WcEngine *engine, WcError *err);

typedef struct WcFamilies
{
	WcEngine   *engine;
	WcFamiliesSync sync;		/* set by wc_families_start */
	WcMutex		making;			/* locked while column families are made; before `mutex` */
	WcMutex		mutex;			/* guards the rest; before a store's attrs_mutex */
	pthread_cond_t changed;
	WcStore    *made WC_GUARDED_BY(&mutex); /* they wait for their commit; a reference each */
	atomic_uint nmade;			/* number of stores in `made`; set with the mutex locked */
	WcStore    *dropped WC_GUARDED_BY(&mutex); /* no table has them any more; a reference each */
	uint64_t	synced WC_GUARDED_BY(&mutex); /* commits up to this position are on disk */
	WcStore    *altered WC_GUARDED_BY(&mutex); /* their attributes are newer than RocksDB's options; a reference each */
	pthread_t	thread;
	bool		running;		/* the thread runs; for wc_families_start and wc_families_end */
	bool		stop WC_GUARDED_BY(&mutex); /* the thread must end */
	bool		failing;		/* the last attempt to drop failed; used by the thread only */
	bool		hurry WC_GUARDED_BY(&mutex); /* another thread waits for the next attempt to drop */
	bool		leftovers WC_GUARDED_BY(&mutex); /* dropped column families may have left files */
	uint64_t	attempts WC_GUARDED_BY(&mutex); /* to drop; finished ones */
} WcFamilies;

extern void wc_families_init(WcFamilies *families, WcEngine *engine);

/* Called before the database is closed, when no thread uses it.  Column families that are not dropped yet are
 * dropped when the store is opened the next time. */
extern void wc_families_free(WcFamilies *families);

/* Starts the thread, when the database is open; ends it. */
extern WcStatus wc_families_start(WcFamilies *families, WcFamiliesSync sync, WcError *err) WC_WARN_UNUSED;
extern void wc_families_end(WcFamilies *families);

/* A store for which a column family shall be made. */
typedef struct WcNewFamily
{
	WcStore    *store;			/* wc_families_create sets its cf */
	const WcTableDesc *table;	/* the table of the store, for messages; may be NULL */
} WcNewFamily;

/* Makes column families in one call of RocksDB; after an error the stores that have a cf have been made
 * nevertheless.  Takes long; called without the write mutex. */
extern WcStatus wc_families_create(WcFamilies *families, const WcNewFamily *wanted, size_t n, WcError *err) WC_WARN_UNUSED;

/*
 * The same for a transaction's commit, which will take them.  Stores that have been made already are skipped, and stay
 * without a cf in `wanted`.  After an error nothing that was made for the transaction is left.
 */
extern WcStatus wc_families_make(WcFamilies *families, const WcNewFamily *wanted, size_t n, uint64_t xid,
								 WcError *err) WC_WARN_UNUSED;

/* Takes the store that was made under the name of `like` (which has no column family), with its reference.  NULL:
 * there is none. */
extern WcStore *wc_families_take(WcFamilies *families, const WcStore *like);

/* At the end of a transaction: drops the column families that were made for it and not taken. */
extern void wc_families_give_back(WcFamilies *families, uint64_t xid);

/* The commit at this position has removed the store from its table (0: the store never belonged to one).  The thread
 * drops its column family when that commit is on disk (0: no catalog on disk names it); its files are deleted with the last
 * reference.  Errors are logged, and the drop is tried again.  With the engine's write mutex locked. */
extern void wc_store_drop(WcStore *store, uint64_t position);

/* Commits up to this position are on disk. */
extern void wc_families_synced(WcFamilies *families, uint64_t position);

/* The thread passes the store's attributes to RocksDB, as far as they can change in an open database. */
extern void wc_families_alter(WcFamilies *families, WcStore *store);

#endif
