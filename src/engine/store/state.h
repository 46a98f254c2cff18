/*
 * engine/store/state.h: the open engine, as all folders of engine/ but rocks/ see it.
 *
 * Locks, in the order they are taken: write_mutex, catalog.lock, what the watch takes
 * (rpc/epochs.c), snapshots_mutex, a store's attrs_mutex, its marks'.
 */
#ifndef WC_ENGINE_STORE_STATE_H
#define WC_ENGINE_STORE_STATE_H

#include <pthread.h>

#include "engine/rocks/identity.h"
#include "engine/rocks/rocks.h"
#include "engine/store/health.h"
#include "engine/store/internal.h"
#include "engine/store/tables.h"

struct WcEngine
{
	WcStorage	storage;		/* first: what reads know of it */
	WcIdentity	identity;
	rocksdb_t  *db;
	rocksdb_column_family_handle_t *meta;	/* the catalog's column family */
	WcRocksShared shared;
	rocksdb_readoptions_t *read_options;	/* the newest, as RocksDB has it by default */
	rocksdb_writeoptions_t *write_options;	/* not synced */
	int64_t		(*clock_us) (void);
	uint32_t	format;			/* version of the store that was found */

	pthread_mutex_t write_mutex;	/* held by whoever writes to the store */
	_Atomic int64_t last_ts;		/* last commit timestamp given; set after what carries it is written */
	_Atomic uint64_t applied;		/* position of the last commit or step */
	WcWriteWatch watch;			/* its functions are all NULL, or none */

	pthread_mutex_t snapshots_mutex;
	WcSnapshot *newest;			/* of the live ones; the only one that may have no reader */

	WcHealth	health;			/* with a mutex of its own, behind all others */
	WcStore    *undropped;		/* dropped, but their column families could not be; guarded by write_mutex */

	struct WcUpkeeper *upkeeper;	/* upkeep.c; has a mutex of its own, in front of all others */

	WcCatalog	catalog;
};

/* Whoever has written rows calls it: an idle snapshot would keep what nobody reads. */
extern void wc_snapshot_drop_idle(WcEngine *engine);

#endif
