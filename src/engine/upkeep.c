/*
 * engine/upkeep.c: forgetting by itself.
 */
#include "engine/upkeep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/store/files.h"
#include "engine/store/state.h"
#include "engine/write/step.h"

/* Between two looks at the families. */
#define ROUND_MS 1000

/* Steps of upkeep are smaller than others: nobody waits for them, but others behind them. */
#define STEP_KEYS 4096

/* Where a step has changed this part of what it looked at, the files are worth compacting. */
#define WORTH_COMPACTING 8

/* An expire step comes when so large a part of the time by which it lags has passed. */
#define EXPIRE_PART 4

struct WcUpkeeper
{
	WcEngine   *engine;
	pthread_mutex_t mutex;		/* guards settings; nothing else is locked while it is held */
	pthread_cond_t ends;		/* stop */
	WcUpkeep	settings;
	atomic_bool stop;
	bool		running;		/* there is a thread: known to who makes and ends it */
	pthread_t	thread;
};

/* --- pauses -------------------------------------------------------------------*/

static bool
pause_us(WcUpkeeper *u, int64_t us)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t) (us / WC_USEC_PER_SEC);
	until.tv_nsec += (long) (us % WC_USEC_PER_SEC) * 1000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&u->mutex);
	while (!atomic_load(&u->stop) && pthread_cond_timedwait(&u->ends, &u->mutex, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&u->mutex);
	return !atomic_load(&u->stop);
}

static WcUpkeep
settings_of(WcUpkeeper *u)
{
	WcUpkeep	settings;

	pthread_mutex_lock(&u->mutex);
	settings = u->settings;
	pthread_mutex_unlock(&u->mutex);
	return settings;
}

/* Behind so much work, as long as makes it the share that it may be.  False: it is to end. */
static bool
rest(WcUpkeeper *u, int64_t worked_us)
{
	int64_t		busy = settings_of(u).busy_percent;

	if (busy > 0 && busy < 100)
		return pause_us(u, worked_us * (100 - busy) / busy);
	return busy > 0 && !atomic_load(&u->stop);
}

/* --- going through a family -----------------------------------------------------*/

/* Parts of the storage in which much has changed, as one range. */
typedef struct Changed
{
	bool		any;
	bool		to_the_end;
	WcBuf		start;
	WcBuf		stop;
} Changed;

static void
note_changed(Changed *c, const WcStep *step, const WcSifted *sifted)
{
	if (sifted->changed == 0 || sifted->changed * WORTH_COMPACTING < sifted->looked)
		return;
	if (!c->any || wc_slice_cmp(step->start, wc_buf_slice(&c->start)) < 0)
	{
		c->start.len = 0;
		wc_buf_append_slice(&c->start, step->start);
	}
	c->to_the_end |= step->stop.len == 0;
	if (!c->any || wc_slice_cmp(step->stop, wc_buf_slice(&c->stop)) > 0)
	{
		c->stop.len = 0;
		wc_buf_append_slice(&c->stop, step->stop);
	}
	c->any = true;
}

/* RocksDB keeps what was deleted, and reads step over it, until the files are compacted. */
static WcStatus
compact_changed(WcUpkeeper *u, WcStore *store, const Changed *c, WcError *err)
{
	WcSlice		start = c->start.failed ? wc_slice(NULL, 0) : wc_buf_slice(&c->start);
	WcSlice		stop = c->stop.failed || c->to_the_end ? wc_slice(NULL, 0) : wc_buf_slice(&c->stop);
	WcStatus	status;

	if (!c->any)
		return WC_OK;
	status = wc_files_flush(store, &u->stop, err);
	return status == WC_OK ? wc_files_compact(store, start, stop, &u->stop, err) : status;
}

/* The clock; but nothing goes by one that is ahead of all commits. */
static int64_t
safe_now(WcEngine *engine)
{
	int64_t		now = wc_engine_now(engine);
	int64_t		last_ts = engine->last_ts;

	return last_ts < now ? last_ts : now;
}

/* A major compaction of what was written up to then. */
static WcStatus
sweep(WcUpkeeper *u, WcStore *store, const WcCounted *superseded, const WcCounted *dated, WcError *err)
{
	WcPassOptions options = {
		.kind = WC_STEP_MAJOR,.until_ts = superseded->until_ts > dated->until_ts ? superseded->until_ts : dated->until_ts,
		.dated_until_ts = dated->until_ts,.now_us = safe_now(u->engine),
		.superseded = superseded->count,.dated = dated->count,.keys_max = STEP_KEYS,.cancel = &u->stop
	};
	Changed		changed = {.start = WC_BUF_INIT,.stop = WC_BUF_INIT};
	const WcStep *step;
	WcPass	   *pass;
	int64_t		since = wc_clock_monotonic_us();
	WcStatus	status = wc_pass_create(store, &options, &pass, err);

	while (status == WC_OK && (status = wc_pass_next(pass, &step, err)) == WC_OK)
	{
		status = wc_step_apply(u->engine, 0, step, wc_pass_work(pass), err);
		if (status != WC_OK)
			break;
		note_changed(&changed, step, &wc_pass_work(pass)->sifted);
		if (!rest(u, wc_clock_monotonic_us() - since))
			break;
		since = wc_clock_monotonic_us();
	}
	if (status == WC_END || status == WC_OK)
		status = compact_changed(u, store, &changed, err);
	wc_pass_free(pass);
	wc_buf_free(&changed.start);
	wc_buf_free(&changed.stop);
	return status;
}

/*
 * What was counted is looked at when it is old enough.  *ripe is then what it was; later
 * it is counted anew.
 */
static bool
ripen(WcCounted *counted, uint64_t count, bool enough, int64_t last_ts, int64_t now, int64_t delay_us, WcCounted *ripe)
{
	if (!enough)
		counted->count = 0;
	else if (counted->count == 0)
		*counted = (WcCounted) {.count = count,.until_ts = last_ts,.at_us = now};
	if (counted->count == 0 || now - counted->at_us < delay_us)
		return false;
	*ripe = *counted;
	counted->count = 0;
	return true;
}

static bool
is_enough(uint64_t count, uint64_t keys, const WcUpkeep *settings)
{
	return count >= WC_UPKEEP_DEAD_MIN && count / settings->dead_percent * 100 >= keys;
}

static WcStatus
sweep_when_worth(WcUpkeeper *u, WcStore *store, const WcUpkeep *settings, WcError *err)
{
	int64_t		last_ts = u->engine->last_ts;	/* before the marks, which may count more then */
	int64_t		now = u->engine->clock_us();
	WcMarks		marks = wc_marks(store);
	WcStoreUpkeep *state = &store->upkeep;
	WcCounted	superseded = {0};
	WcCounted	dated = {0};
	uint64_t	keys;
	bool		worth;

	if (marks.superseded < WC_UPKEEP_DEAD_MIN && marks.dated < WC_UPKEEP_DEAD_MIN)
		return WC_OK;
	keys = wc_rocks_property(u->engine->db, store->cf, "rocksdb.estimate-num-keys");
	worth = ripen(&state->superseded, marks.superseded, is_enough(marks.superseded, keys, settings),
				  last_ts, now, settings->delay_us, &superseded);
	worth |= ripen(&state->dated, marks.dated, is_enough(marks.dated, keys, settings),
				   last_ts, now, settings->history_us, &dated);
	return worth ? sweep(u, store, &superseded, &dated, err) : WC_OK;
}

/* --- what has outlived its TTL ----------------------------------------------------*/

/* By how much the mark "expired" stays behind the last timestamp; 0: the family has no TTLs. */
static int64_t
lag_of(const WcFamilyAttrs *attrs, const WcMarks *marks, const WcUpkeep *settings)
{
	bool		of_family = attrs->ttl_us > 0 && attrs->min_versions == 0;

	if (of_family && attrs->ttl_us < settings->history_us)
		return attrs->ttl_us;
	return of_family || marks->cell_ttl ? settings->history_us : 0;
}

/* Has RocksDB drop what is gone, from files that it would not compact by itself. */
static WcStatus
compact_gone(WcUpkeeper *u, WcStore *store, const WcStep *step, int64_t every_us, WcError *err)
{
	WcStoreUpkeep *state = &store->upkeep;
	WcStatus	status;

	if (state->compacted_ts == 0)
		state->compacted_ts = step->expired_ts;	/* not at each start */
	if (step->expired_ts - state->compacted_ts < every_us)
		return WC_OK;
	state->compacted_ts = step->expired_ts;
	status = wc_files_flush(store, &u->stop, err);
	if (status != WC_OK)
		return status;
	return wc_files_compact(store, wc_slice(NULL, 0), wc_slice(NULL, 0), &u->stop, err);
}

static WcStatus
expire_when_due(WcUpkeeper *u, WcStore *store, const WcUpkeep *settings, WcError *err)
{
	WcFamilyAttrs attrs = wc_store_attrs(store);
	WcMarks		marks = wc_marks(store);
	int64_t		lag = lag_of(&attrs, &marks, settings);
	int64_t		upto = safe_now(u->engine) - lag;
	WcStep		step = {
		.kind = WC_STEP_EXPIRE,.keep_deleted = attrs.keep_deleted,.table_id = store->table_id,
		.family_id = store->family_id,.generation = store->generation,.expired_ts = upto
	};
	WcStatus	status;

	if (lag == 0 || upto - marks.gone.expired_ts < lag / EXPIRE_PART || upto <= 0 ||
		wc_rocks_property(u->engine->db, store->cf, "rocksdb.estimate-num-keys") == 0)
		return WC_OK;
	if (attrs.ttl_us > 0 && attrs.min_versions == 0 && upto > attrs.ttl_us)
		step.oldest_ts = upto - attrs.ttl_us;
	status = wc_step_apply(u->engine, 0, &step, NULL, err);
	if (status == WC_OK)
		status = wc_engine_sync(u->engine, err);
	if (status != WC_OK)
		return status;
	wc_store_settle_gone(store);
	return compact_gone(u, store, &step, step.oldest_ts > 0 ? attrs.ttl_us / 2 : settings->history_us, err);
}

/* --- rounds ------------------------------------------------------------------------*/

static void
look_at(WcUpkeeper *u, WcStore *store, const WcUpkeep *settings)
{
	WcError		err;
	WcStatus	status = wc_files_check(store, "compact", &err);
	bool		failed;

	if (status == WC_OK)
		status = expire_when_due(u, store, settings, &err);
	if (status == WC_OK)
		status = sweep_when_worth(u, store, settings, &err);
	failed = status != WC_OK && !atomic_load(&u->stop);
	if (failed && !store->upkeep.failed)
		wc_log(WC_LOG_WARNING, "%s: %s", err.message, err.detail);
	store->upkeep.failed = failed;
}

/* The ids of all tables, n of them; NULL: out of memory. */
static uint32_t *
table_ids(WcCatalog *catalog, size_t *n)
{
	uint32_t   *ids;

	*n = 0;
	pthread_rwlock_rdlock(&catalog->lock);
	ids = malloc((catalog->ntables + 1) * sizeof(*ids));
	for (size_t i = 0; ids != NULL && i < catalog->ntables; i++)
		ids[(*n)++] = catalog->tables[i]->desc.id;
	pthread_rwlock_unlock(&catalog->lock);
	return ids;
}

void
wc_upkeeper_round(WcUpkeeper *u)
{
	WcUpkeep	settings = settings_of(u);
	size_t		n;
	uint32_t   *ids;

	if (settings.busy_percent == 0)
		return;
	ids = table_ids(&u->engine->catalog, &n);

	for (size_t t = 0; t < n && !atomic_load(&u->stop); t++)
	{
		WcTable    *table = wc_catalog_table(u->engine, ids[t]);

		for (uint32_t f = 0; table != NULL && f < table->desc.nfamilies && !atomic_load(&u->stop); f++)
			look_at(u, table->stores[f], &settings);
		wc_table_unref(table);
	}
	free(ids);
}

/* --- the thread -----------------------------------------------------------------------*/

static void *
upkeeper_main(void *arg)
{
	WcUpkeeper *u = arg;

	while (pause_us(u, ROUND_MS * 1000))
		wc_upkeeper_round(u);
	return NULL;
}

WcUpkeeper *
wc_upkeeper_create(WcEngine *engine)
{
	WcUpkeeper *u = calloc(1, sizeof(*u));
	pthread_condattr_t attr;

	if (u == NULL)
		return NULL;
	u->engine = engine;
	pthread_mutex_init(&u->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&u->ends, &attr);
	pthread_condattr_destroy(&attr);
	return u;
}

void
wc_upkeeper_free(WcUpkeeper *u)
{
	if (u == NULL)
		return;
	pthread_mutex_lock(&u->mutex);
	atomic_store(&u->stop, true);
	pthread_cond_signal(&u->ends);
	pthread_mutex_unlock(&u->mutex);
	if (u->running)
	{
		/* it may be waiting for RocksDB to compact */
		rocksdb_disable_manual_compaction(u->engine->db);
		pthread_join(u->thread, NULL);
	}
	pthread_cond_destroy(&u->ends);
	pthread_mutex_destroy(&u->mutex);
	free(u);
}

void
wc_upkeeper_set(WcUpkeeper *u, const WcUpkeep *settings)
{
	pthread_mutex_lock(&u->mutex);
	u->settings = *settings;
	pthread_mutex_unlock(&u->mutex);
}

WcStatus
wc_upkeeper_start(WcUpkeeper *u, WcError *err)
{
	int			rc;

	if (u->running)
		return WC_OK;
	rc = pthread_create(&u->thread, NULL, upkeeper_main, u);
	if (rc != 0)
		return wc_error(err, WC_IO, "could not make the thread for upkeep: %s", strerror(rc));
	u->running = true;
	return WC_OK;
}

WcStatus
wc_engine_set_upkeep(WcEngine *engine, const WcUpkeep *settings, WcError *err)
{
	wc_upkeeper_set(engine->upkeeper, settings);
	return settings->busy_percent > 0 ? wc_upkeeper_start(engine->upkeeper, err) : WC_OK;
}
