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
	int64_t		now = engine->clock_us();
	int64_t		last = engine->last_ts;

	return now > last ? now : last;
}

int64_t
wc_engine_provisional_ts(WcEngine *engine)
{
	int64_t		now = engine->clock_us();
	int64_t		next = engine->last_ts + 1;

	return now > next ? now : next;
}
