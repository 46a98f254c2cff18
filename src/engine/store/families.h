/*
 * engine/store/families.h: column families that no table has yet, and that none has any more.
 *
 * RocksDB makes, drops and alters a column family by a synced write of its manifest, which
 * takes milliseconds, each.  None of it is done with the write mutex held.  What a commit
 * needs is made before its turn; what it drops leaves the catalog at once, and RocksDB later,
 * by a thread: when the commit is on disk.  RocksDB's drop is on disk at once; if the commit
 * were not, a catalog read after a crash would name what is gone.
 */
#ifndef WC_ENGINE_STORE_FAMILIES_H
#define WC_ENGINE_STORE_FAMILIES_H

#include "base/threads.h"
#include "engine/store/internal.h"

typedef struct WcFamilies
{
	WcEngine   *engine;
	WcMutex		making;			/* held by whoever makes some; the next one is behind it */
	WcMutex		mutex;			/* guards the rest; a store's attrs_mutex is behind it */
	pthread_cond_t changed;
	WcStore    *made WC_GUARDED_BY(&mutex); /* wait for the commit that gives them to a table; a reference each */
	atomic_uint nmade;			/* so many; set with the mutex held */
	WcStore    *dropped WC_GUARDED_BY(&mutex); /* no table has them any more; a reference each */
	uint64_t	synced WC_GUARDED_BY(&mutex); /* commits up to this position are on disk */
	WcStore    *altered WC_GUARDED_BY(&mutex); /* their attributes are newer than RocksDB's options; a reference each */
	pthread_t	thread;
	bool		running;		/* the thread is there: known to whoever makes and ends it */
	bool		stop WC_GUARDED_BY(&mutex); /* it is to end */
	bool		failing;		/* the last attempt to drop failed; the thread's alone */
	bool		hurry WC_GUARDED_BY(&mutex); /* somebody waits for the next one */
	bool		leftovers WC_GUARDED_BY(&mutex); /* what was dropped may have left files behind */
	uint64_t	attempts WC_GUARDED_BY(&mutex); /* to drop, that are over */
} WcFamilies;

extern void wc_families_init(WcFamilies *families, WcEngine *engine);

/* Before the database is closed, when no thread is at work in it.  What was not dropped
 * yet is dropped when the store is opened the next time. */
extern void wc_families_free(WcFamilies *families);

/* When the database is open: makes the thread; and ends it. */
extern WcStatus wc_families_start(WcFamilies *families, WcError *err) WC_WARN_UNUSED;
extern void wc_families_end(WcFamilies *families);

/* A store that is to get a column family. */
typedef struct WcNewFamily
{
	WcStore    *store;			/* its cf is set */
	const WcTableDesc *table;	/* that it belongs to, for messages; may be NULL */
} WcNewFamily;

/* Makes them in one call of RocksDB; if that fails, those with a cf were made all the
 * same.  Takes long; without the write mutex. */
extern WcStatus wc_families_create(WcFamilies *families, const WcNewFamily *wanted, size_t n, WcError *err) WC_WARN_UNUSED;

/*
 * The same for a transaction's commit, which takes them; those that are made already are
 * passed over, and their stores in wanted remain without a cf.  If it fails, nothing that was
 * made for the transaction is left.
 */
extern WcStatus wc_families_make(WcFamilies *families, const WcNewFamily *wanted, size_t n, uint64_t xid,
								 WcError *err) WC_WARN_UNUSED;

/* The store that was made under the name of this one (which has no column family), for the
 * table: the caller's reference.  NULL: there is none. */
extern WcStore *wc_families_take(WcFamilies *families, const WcStore *like);

/* The end of a transaction: drops what was made for it and not taken. */
extern void wc_families_give_back(WcFamilies *families, uint64_t xid);

/* No table has the store any more, and nothing is written to it: its column family is to
 * go, once the commit at this position is on disk (0: no catalog on disk names it).  What
 * fails is logged and tried again. */
extern void wc_families_drop(WcFamilies *families, WcStore *store, uint64_t position);

/* Commits up to this position are on disk. */
extern void wc_families_synced(WcFamilies *families, uint64_t position);

/* RocksDB is to take over what it can of the store's attributes while it is open. */
extern void wc_families_alter(WcFamilies *families, WcStore *store);

#endif
