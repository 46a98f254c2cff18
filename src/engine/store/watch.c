/*
 * engine/store/watch.c: notifications of writes; none before wc_engine_watch.
 */
#include "engine/store/watch.h"

void
wc_engine_watch(WcEngine *engine, const WcWriteWatch *watch)
{
	const WcWriteWatch none = {0};

	/* steps may be applied already, or still */
	pthread_mutex_lock(&engine->write_mutex);
	engine->watch = watch ? *watch : none;
	pthread_mutex_unlock(&engine->write_mutex);
}

void
wc_watch_row(WcEngine *engine, uint32_t table_id, WcSlice row, int64_t ts, uint64_t xid)
{
	if (engine->watch.row)
		engine->watch.row(engine->watch.arg, table_id, row, ts, xid);
}

void
wc_watch_table(WcEngine *engine, uint32_t table_id, int64_t ts)
{
	if (engine->watch.table)
		engine->watch.table(engine->watch.arg, table_id, ts);
}

bool
wc_watch_wants_rows(WcEngine *engine, uint32_t table_id, uint64_t nrows)
{
	return engine->watch.wants_rows && engine->watch.wants_rows(engine->watch.arg, table_id, nrows);
}

void
wc_watch_range(WcEngine *engine, uint32_t table_id, WcSlice first, WcSlice last, int64_t ts)
{
	if (engine->watch.range)
		engine->watch.range(engine->watch.arg, table_id, first, last, ts);
}

void
wc_watch_begin(WcEngine *engine)
{
	if (engine->watch.begin)
		engine->watch.begin(engine->watch.arg);
}

void
wc_watch_end(WcEngine *engine)
{
	if (engine->watch.end)
		engine->watch.end(engine->watch.arg);
}
