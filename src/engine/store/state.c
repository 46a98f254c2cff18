/*
 * engine/store/state.c: what every folder asks of the open engine.
 */
#include "engine/store/state.h"

rocksdb_t *
wc_engine_rocks(WcEngine *engine)
{
	return engine->db;
}

int64_t
wc_engine_now(WcEngine *engine)
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

WcStatus
wc_engine_sync(WcEngine *engine, WcError *err)
{
	uint64_t	upto;
	char	   *error = NULL;
	WcStatus	status;

	/* RocksDB's assertions forbid to sync a log to which a write has failed */
	pthread_mutex_lock(&engine->write_mutex);
	upto = engine->applied;
	status = wc_health_check(&engine->health, "sync its log", err);
	if (status == WC_OK)
	{
		rocksdb_flush_wal(engine->db, 1, &error);
		status = wc_rocks_status(error, "sync its log", err);
	}
	if (status == WC_OK)
	{
		wc_identity_synced(&engine->identity, upto);
		wc_families_synced(&engine->families, upto);
	}
	pthread_mutex_unlock(&engine->write_mutex);
	return status;
}
