/*
 * engine/store/state.c: functions on the open engine that every folder uses.
 */
#include <inttypes.h>

#include "engine/store/state.h"

rocksdb_t *
wc_engine_rocks(WcEngine *engine)
{
	return engine->db;
}

int64_t
wc_engine_now_us(WcEngine *engine)
{
	return engine->clock_us();
}

int64_t
wc_engine_provisional_ts(WcEngine *engine)
{
	int64_t		now = engine->clock_us();
	int64_t		next = engine->last_ts + 1;

	return now > next ? now : next;
}

/* Expire steps are on disk: RocksDB may drop the cells that they have removed. */
static void
settle_gone(WcEngine *engine)
{
	if (!atomic_exchange(&engine->gone_changed, false))
		return;
	pthread_rwlock_rdlock(&engine->catalog.lock);
	for (size_t t = 0; t < engine->catalog.ntables; t++)
	{
		for (uint32_t f = 0; f < engine->catalog.tables[t]->desc.nfamilies; f++)
			wc_store_settle_gone(engine->catalog.tables[t]->stores[f]);
	}
	pthread_rwlock_unlock(&engine->catalog.lock);
}

WcStatus
wc_engine_sync_locked(WcEngine *engine, WcError *err) WC_REQUIRES(engine->write_mutex)
{
	uint64_t	upto = engine->applied;
	char	   *error = NULL;

	/* RocksDB's assertions forbid to sync a log to which a write has failed */
	WcStatus	status = wc_health_begin_change(&engine->health, "sync its log", err);
	if (status == WC_OK)
	{
		rocksdb_flush_wal(engine->db, 1, &error);
		wc_health_end_change(&engine->health);
		status = wc_rocks_status(error, "sync its log", err);
	}
	if (status == WC_OK)
	{
		wc_identity_synced(&engine->identity, upto);
		wc_families_synced(&engine->families, upto);
		settle_gone(engine);
	}
	return status;
}

WcStatus
wc_engine_sync(WcEngine *engine, WcError *err)
{
	WcStatus	status;

	pthread_mutex_lock(&engine->write_mutex);
	status = wc_engine_sync_locked(engine, err);
	pthread_mutex_unlock(&engine->write_mutex);
	return status;
}

bool
wc_engine_accepts_damage(WcEngine *engine, uint32_t table_id, WcError *err)
{
	if (atomic_load(&engine->accepts_damage) == table_id)
		return true;
	wc_error_hint(err, "Put the file back from a copy.  To go on without changes of damaged rows of this stored table, and to drop it: "
				  "widecol.accept_damage = %" PRIu32 ".", table_id);
	return false;
}
