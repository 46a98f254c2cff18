/*
 * engine/store/snapshot.c: snapshots of the store; all readers share one as long as nothing is written.
 *
 * Taking a snapshot of RocksDB locks its mutex twice and allocates memory, which takes a tenth of the time of a point
 * read.  So a snapshot that is released while it is still the newest stays, idle, for the next reader, until something
 * is written.
 */
#include <assert.h>
#include <stdlib.h>

#include "engine/store/state.h"

static uint64_t
written(WcEngine *engine)
{
	return rocksdb_get_latest_sequence_number(engine->db);
}

/* Does it show the newest state? last_ts: the last timestamp, read before this question. */
static bool
is_up_to_date(WcEngine *engine, const WcSnapshot *snapshot, int64_t last_ts)
{
	return snapshot->last_ts == last_ts && snapshot->seq == written(engine);
}

static void
link_newest(WcEngine *engine, WcSnapshot *snapshot) WC_REQUIRES(engine->snapshots_mutex)
{
	snapshot->prev = engine->newest;
	if (engine->newest)
		engine->newest->next = snapshot;
	engine->newest = snapshot;
}

static void
unlink_it(WcEngine *engine, WcSnapshot *snapshot) WC_REQUIRES(engine->snapshots_mutex)
{
	if (snapshot->prev)
		snapshot->prev->next = snapshot->next;
	if (snapshot->next)
		snapshot->next->prev = snapshot->prev;
	else
		engine->newest = snapshot->prev;
}

/* Only the newest can be idle: it is removed before another one is made. */
static WcSnapshot *
unlink_idle(WcEngine *engine) WC_REQUIRES(engine->snapshots_mutex)
{
	WcSnapshot *snapshot = engine->newest;

	if (snapshot == NULL || snapshot->readers > 0)
		return NULL;
	unlink_it(engine, snapshot);
	return snapshot;
}

static void
give_back(WcEngine *engine, WcSnapshot *snapshot)
{
	if (snapshot == NULL)
		return;
	rocksdb_release_snapshot(engine->db, snapshot->rocks);
	free(snapshot);
}

/* NULL: out of memory. */
static WcSnapshot *
make(WcEngine *engine, int64_t last_ts)
{
	WcSnapshot *snapshot = calloc(1, sizeof(WcSnapshot));

	if (snapshot == NULL)
		return NULL;
	snapshot->last_ts = last_ts;
	snapshot->taken_us = engine->clock_us();
	snapshot->seq = written(engine);
	snapshot->rocks = rocksdb_create_snapshot(engine->db);
	if (snapshot->seq != written(engine))
		snapshot->seq = WC_SNAPSHOT_SEQ_UNKNOWN;
	return snapshot;
}

WcSnapshot *
wc_snapshot_take(WcEngine *engine)
{
	WcSnapshot *snapshot;
	WcSnapshot *idle = NULL;
	int64_t		last_ts;

	/* last_ts first: RocksDB's snapshot may see more than it says, never less */
	pthread_mutex_lock(&engine->snapshots_mutex);
	last_ts = engine->last_ts;
	snapshot = engine->newest;
	if (snapshot == NULL || !is_up_to_date(engine, snapshot, last_ts))
	{
		idle = unlink_idle(engine);
		snapshot = make(engine, last_ts);
		if (snapshot != NULL)
			link_newest(engine, snapshot);
	}
	if (snapshot != NULL)
		snapshot->readers++;
	pthread_mutex_unlock(&engine->snapshots_mutex);
	give_back(engine, idle);
	return snapshot;
}

void
wc_snapshot_share(WcEngine *engine, WcSnapshot *snapshot)
{
	pthread_mutex_lock(&engine->snapshots_mutex);
	assert(snapshot->readers > 0);	/* a caller that shares it holds it */
	snapshot->readers++;
	pthread_mutex_unlock(&engine->snapshots_mutex);
}

void
wc_snapshot_release(WcEngine *engine, WcSnapshot *snapshot)
{
	bool		over = false;

	if (snapshot == NULL)
		return;
	pthread_mutex_lock(&engine->snapshots_mutex);
	assert(snapshot->readers > 0);
	if (--snapshot->readers == 0)
	{
		over = snapshot != engine->newest || !is_up_to_date(engine, snapshot, engine->last_ts);
		if (over)
			unlink_it(engine, snapshot);
	}
	pthread_mutex_unlock(&engine->snapshots_mutex);
	if (over)
		give_back(engine, snapshot);
}

void
wc_snapshot_drop_idle(WcEngine *engine)
{
	WcSnapshot *idle;

	pthread_mutex_lock(&engine->snapshots_mutex);
	idle = unlink_idle(engine);
	pthread_mutex_unlock(&engine->snapshots_mutex);
	give_back(engine, idle);
}

int64_t
wc_snapshot_last_ts(const WcSnapshot *snapshot)
{
	return snapshot->last_ts;
}

int64_t
wc_snapshot_taken_us(const WcSnapshot *snapshot)
{
	return snapshot->taken_us;
}

void
wc_snapshots_count(WcEngine *engine, uint64_t *n, uint64_t *oldest_us)
{
	*n = 0;
	*oldest_us = 0;
	pthread_mutex_lock(&engine->snapshots_mutex);
	for (const WcSnapshot *s = engine->newest; s != NULL; s = s->prev)
	{
		if (s->readers == 0)
			continue;
		(*n)++;
		*oldest_us = (uint64_t) s->taken_us;
	}
	pthread_mutex_unlock(&engine->snapshots_mutex);
}
