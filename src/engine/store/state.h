/*
 * engine/store/state.h: the open engine, as all folders of engine/ but rocks/ see it.
 *
 * rpc/README, "Mutexes", has the order in which its mutexes are locked.  The mutex of counts is locked by
 * RocksDB's threads, and by threads that flush, compact or ask for statistics: these have no other one locked.
 */
#ifndef WC_ENGINE_STORE_STATE_H
#define WC_ENGINE_STORE_STATE_H

#include "base/threads.h"
#include "engine/copies/recentrows.h"
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
	WcStorage	storage;		/* must be first; the interface for read/ */
	WcIdentity	identity;
	char	   *images;			/* directory; NULL: none are made */
	WcTxnSpill	spill;			/* its directory is emptied when the store is opened */
	char	   *statistics;		/* file for counters; NULL: they are not kept */
	rocksdb_t  *db;
	rocksdb_column_family_handle_t *meta;	/* the catalog's column family */
	WcRocksShared shared;
	WcScanMemory scanmemory;
	rocksdb_readoptions_t *read_options;	/* the newest, as RocksDB has it by default */
	rocksdb_writeoptions_t *write_options;	/* not synced */
	int64_t		(*clock_us) (void);
	uint32_t	format;			/* version of the store's format */

	WcMutex		write_mutex;	/* locked by a thread that writes to the store */
	_Atomic int64_t last_ts;		/* last commit timestamp that was used; set after the cells with it are written */
	_Atomic uint64_t applied;		/* position of the last commit or step */
	_Atomic uint32_t timeline;		/* of the server's log, as it was read last; 0: not known */
	_Atomic uint64_t nvoid;			/* operations of commits that were void */
	_Atomic uint32_t accepts_damage; /* a table's id: changes of its damaged rows are void; 0: no table */
	size_t		packed_row_max;
	_Atomic uint64_t nlarge;	/* how many stores have, or had, rows beyond WC_PACKED_ROW_LARGE */
	_Atomic uint64_t nahead;	/* how many stores are `ahead`, or were */
	size_t		row_together_max;
	WcRwLock	step_lock;		/* locked for reading while step_log is called, for writing while it changes */
	WcStepLog	step_log WC_GUARDED_BY(&step_lock); /* NULL: the thread that makes a step applies it; but see the next one */
	void	   *step_log_arg WC_GUARDED_BY(&step_lock);
	bool		steps_end WC_GUARDED_BY(&step_lock); /* no more steps are made */
	WcMutex		offers_mutex;	/* guards offers */
	struct WcStepOffer *offers WC_GUARDED_BY(&offers_mutex); /* steps that are on their way through the log, with their changes (write/step.c) */
	atomic_bool gone_changed;	/* cells of some store have become gone since the last sync of the log (wc_engine_sync) */
	WcWriteWatch watch;			/* its functions are all set, or all NULL */

	WcMutex		snapshots_mutex;
	WcSnapshot *newest WC_GUARDED_BY(&snapshots_mutex); /* the newest snapshot; only this one may have no reader */

	WcRecentRows recent;		/* has a mutex of its own */
	WcHealth	health;			/* has a mutex of its own */
	WcFamilies	families;		/* has mutexes of its own */

	WcEngineCounts counts;		/* has a mutex of its own */

	struct WcUpkeeper *upkeeper;	/* upkeep.c; has a mutex of its own */
	struct WcWorkers *workers;	/* work.c; likewise */

	WcCatalog	catalog;
};

/* Packing row: only a row that is larger, or gets more changes at once, may become larger than
 * packed_row_max: the row that is written has at most 16 times the bytes of the old row and its changes (a change of
 * one byte can become a marker of 20). */
#define WC_PACKED_ROW_LARGE(engine) ((engine)->packed_row_max / 32)

/* Are changes of the table's damaged rows given up (widecol.accept_damage)?  false: sets err's hint, which tells how to go on. */
extern bool wc_engine_accepts_damage(WcEngine *engine, uint32_t table_id, WcError *err);

/* As wc_engine_sync, with the write mutex locked. */
extern WcStatus wc_engine_sync_locked(WcEngine *engine, WcError *err) WC_REQUIRES(engine->write_mutex) WC_WARN_UNUSED;

/* The number of snapshots that have readers, and the time when the oldest was taken (0: there is none). */
extern void wc_snapshots_count(WcEngine *engine, uint64_t *n, uint64_t *oldest_us);

/* Called after a write of rows: an idle snapshot would keep cells that no reader can see any more. */
extern void wc_snapshot_drop_idle(WcEngine *engine);

#endif
