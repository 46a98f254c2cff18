/*
 * engine/store/state.h: the open engine, as all folders of engine/ but rocks/ see it.
 *
 * rpc/README, "Mutexes", has the order in which its mutexes are locked.  The mutex of counts is locked by
 * RocksDB's threads, and by threads that flush, compact or ask for statistics: these have no other one locked.
 */
#ifndef WC_ENGINE_STORE_STATE_H
#define WC_ENGINE_STORE_STATE_H

#include "base/threads.h"
#include "engine/rocks/identity.h"
#include "engine/rocks/rocks.h"
#include "engine/store/counts.h"
#include "engine/store/families.h"
#include "engine/store/health.h"
#include "engine/store/internal.h"
#include "engine/store/tables.h"
#include "read/txn/txn.h"

struct WcEngine
{
	WcStorage	storage;		/* first: what reads know of it */
	WcIdentity	identity;
	char	   *images;			/* directory; NULL: none are made */
	WcTxnSpill	spill;			/* its directory is emptied when the store is opened */
	char	   *statistics;		/* file for counters; NULL: they are not kept */
	rocksdb_t  *db;
	rocksdb_column_family_handle_t *meta;	/* the catalog's column family */
	WcRocksShared shared;
	rocksdb_readoptions_t *read_options;	/* the newest, as RocksDB has it by default */
	rocksdb_writeoptions_t *write_options;	/* not synced */
	int64_t		(*clock_us) (void);
	uint32_t	format;			/* version of the store that was found */

	WcMutex		write_mutex;	/* held by whoever writes to the store */
	_Atomic int64_t last_ts;		/* last commit timestamp given; set after what carries it is written */
	_Atomic uint64_t applied;		/* position of the last commit or step */
	_Atomic uint64_t nvoid;			/* operations of commits that were void */
	size_t		packed_row_max;
	size_t		row_together_max;
	WcRwLock	step_lock;		/* before all others; held to read while step_log is called, to write while it changes */
	WcStepLog	step_log WC_GUARDED_BY(&step_lock); /* NULL: steps are applied where they are made, unless ... */
	void	   *step_log_arg WC_GUARDED_BY(&step_lock);
	bool		steps_end WC_GUARDED_BY(&step_lock); /* ... no more are made */
	WcMutex		offers_mutex;	/* guards offers; behind step_lock, before write_mutex */
	struct WcStepOffer *offers WC_GUARDED_BY(&offers_mutex); /* steps on their way through the log, and what is known of them (write/step.c) */
	atomic_bool gone_changed;	/* since the log was synced, what is gone of some store has been (wc_engine_sync) */
	WcWriteWatch watch;			/* its functions are all NULL, or none */

	WcMutex		snapshots_mutex;
	WcSnapshot *newest WC_GUARDED_BY(&snapshots_mutex); /* of the live ones; the only one that may have no reader */

	WcHealth	health;			/* with a mutex of its own, behind all others */
	WcFamilies	families;		/* with mutexes of its own */

	WcEngineCounts counts;		/* with a mutex of its own */

	struct WcUpkeeper *upkeeper;	/* upkeep.c; has a mutex of its own, in front of all others */
	struct WcWorkers *workers;	/* work.c; likewise */

	WcCatalog	catalog;
};

/* Packing row: only a row that is larger, or gets more changes at once, may become larger than
 * packed_row_max: what is kept of a row is at most 16 times as large as the row and its
 * changes were together (a change of one byte can become a marker of 20). */
#define WC_PACKED_ROW_LARGE(engine) ((engine)->packed_row_max / 32)

/* As wc_engine_sync, with the write mutex held. */
extern WcStatus wc_engine_sync_locked(WcEngine *engine, WcError *err) WC_REQUIRES(engine->write_mutex) WC_WARN_UNUSED;

/* Snapshots that anybody reads by, and when the oldest was taken (0: there is none). */
extern void wc_snapshots_count(WcEngine *engine, uint64_t *n, uint64_t *oldest_us);

/* Whoever has written rows calls it: an idle snapshot would keep what nobody reads. */
extern void wc_snapshot_drop_idle(WcEngine *engine);

#endif
