/*
 * engine/upkeep.c: a thread that forgets what families need not keep, compacts files, and drops idle chunks of scan caches.
 */
#include "engine/upkeep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/store/files.h"
#include "engine/store/state.h"
#include "engine/write/step.h"

/* The pause between two rounds. */
#define ROUND_US WC_USEC_PER_SEC

/* Steps of upkeep are smaller than others: no session waits for them, but commits may wait behind them. */
#define STEP_KEYS 4096

/* An expire step is due when this part of the time by which "expired" stays behind has passed: a quarter. */
#define EXPIRE_PART 4

/* When files could not be compacted (for example, since the disk is full), they are tried again after so long. */
#define RETRY_US (60 * WC_USEC_PER_SEC)

/* A family of which a sweep has failed is swept again after so long: the sweep reads all that is before a damaged row once more. */
#define SWEEP_RETRY_US (600 * WC_USEC_PER_SEC)

/* So many families are swept at a time: the pass of a sweep keeps a few MiB. */
#define SWEEPS_MAX 16

/* The steps of a major compaction of a store, one after the other. */
typedef struct Sweep
{
	struct Sweep *next;
	WcStore    *store;			/* the pass has a reference */
	WcPass	   *pass;
	WcRunning	running;
} Sweep;

struct WcUpkeeper
{
	WcEngine   *engine;
	Sweep	   *sweeps;			/* those that go on; the first one makes the next step.  Only for the thread */
	size_t		nsweeps;
	WcMutex		mutex;			/* guards settings; nothing else is locked while it is held */
	pthread_cond_t ends;		/* stop */
	WcUpkeep	settings WC_GUARDED_BY(&mutex);
	atomic_bool stop;
	bool		running;		/* the thread runs; for the functions that start and end it */
	pthread_t	thread;
};

/* --- pauses -------------------------------------------------------------------*/

/* False: the thread is to end. */
static bool
pause_us(WcUpkeeper *u, int64_t us)
{
	struct timespec until = wc_clock_monotonic_after(us > 0 ? us : 0);

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

/* --- going through a family -----------------------------------------------------*/

/* Logs a failure, if it is the store's first one in a row. */
static void
tell_failure(WcStore *store, const WcError *err)
{
	if (!store->upkeep.failed)
		wc_log(WC_LOG_WARNING, "%s: %s", err->message, err->detail);
	store->upkeep.failed = true;
}

/* Is the status a failure, other than that the engine ends? */
static bool
is_failure(WcUpkeeper *u, WcStatus status)
{
	return status != WC_OK && status != WC_END && status != WC_SHUTDOWN && !atomic_load(&u->stop);
}

/* The clock; or the last commit's timestamp, if the clock is ahead of that. */
static int64_t
safe_now(WcEngine *engine)
{
	int64_t		now = wc_engine_now_us(engine);
	int64_t		last_ts = engine->last_ts;

	return last_ts < now ? last_ts : now;
}

static Sweep *
sweep_of(WcUpkeeper *u, const WcStore *store)
{
	Sweep	   *s = u->sweeps;

	while (s != NULL && s->store != store)
		s = s->next;
	return s;
}

static void
append_sweep(WcUpkeeper *u, Sweep *sweep)
{
	Sweep	  **end = &u->sweeps;

	while (*end != NULL)
		end = &(*end)->next;
	sweep->next = NULL;
	*end = sweep;
	u->nsweeps++;
}

static Sweep *
take_first_sweep(WcUpkeeper *u)
{
	Sweep	   *sweep = u->sweeps;

	u->sweeps = sweep->next;
	u->nsweeps--;
	return sweep;
}

static void
free_sweep(Sweep *sweep)
{
	wc_running_end(&sweep->running);
	wc_pass_free(sweep->pass);
	free(sweep);
}

static void
end_sweeps(WcUpkeeper *u)
{
	while (u->sweeps != NULL)
		free_sweep(take_first_sweep(u));
}

/* Begins the steps of a major compaction of the cells that were written up to the counts' times; keys: about so many
 * keys are in the store. */
static WcStatus
begin_sweep(WcUpkeeper *u, WcStore *store, const WcCounted *superseded, const WcCounted *dated, uint64_t keys, WcError *err)
{
	WcPassOptions options = {
		.kind = WC_STEP_MAJOR,.until_ts = superseded->until_ts > dated->until_ts ? superseded->until_ts : dated->until_ts,
		.dated_until_ts = dated->until_ts,.now_us = safe_now(u->engine),
		.superseded = superseded->count,.dated = dated->count,.keys_max = STEP_KEYS,.cancel = &u->stop
	};
	Sweep	   *sweep = calloc(1, sizeof(*sweep));
	WcStatus	status;

	if (sweep == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for upkeep");
	options.running = &sweep->running;
	status = wc_pass_create(store, &options, &sweep->pass, err);
	if (status != WC_OK)
	{
		free(sweep);
		return status;
	}
	sweep->store = store;
	atomic_store(&store->flushed_superseded, 0);
	atomic_store(&store->flushed_dated, 0);
	wc_running_begin(&sweep->running, store, WC_PROGRESS_UPKEEP, 0);
	wc_running_phase(&sweep->running, WC_PHASE_FORGET, keys);
	append_sweep(u, sweep);
	return WC_OK;
}

/* One step of a sweep; WC_END: the sweep is done. */
static WcStatus
step_on(WcUpkeeper *u, Sweep *sweep, int64_t *worked_us, WcError *err)
{
	int64_t		since = wc_clock_monotonic_us();
	const WcStep *step;
	WcStatus	status = wc_pass_try(sweep->pass, &step, err);

	*worked_us = wc_clock_monotonic_us() - since;
	if (status != WC_OK || step == NULL)
		return status;
	status = wc_step_apply(u->engine, step, wc_pass_work(sweep->pass), &u->stop, err);
	if (status == WC_OK)
		*worked_us += wc_pass_work(sweep->pass)->applied_us;
	return status;
}

bool
wc_upkeeper_step(WcUpkeeper *u, int64_t *worked_us)
{
	Sweep	   *sweep;
	WcError		err;
	WcStatus	status;

	if (u->sweeps == NULL)
		return false;
	sweep = take_first_sweep(u);
	status = step_on(u, sweep, worked_us, &err);
	if (is_failure(u, status))
	{
		tell_failure(sweep->store, &err);
		sweep->store->upkeep.sweep_again_us = u->engine->clock_us() + SWEEP_RETRY_US;
	}
	if (status == WC_OK)
		append_sweep(u, sweep);
	else
		free_sweep(sweep);
	return true;
}

/*
 * Notes a count that is enough for a compaction, with the time.  True when the noted count is delay_us old: *ripe is
 * that count, and counting begins again.
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

	if ((marks.superseded < WC_UPKEEP_DEAD_MIN && marks.dated < WC_UPKEEP_DEAD_MIN) || u->nsweeps == SWEEPS_MAX ||
		now < state->sweep_again_us || sweep_of(u, store) != NULL)
		return WC_OK;
	keys = wc_rocks_property(u->engine->db, store->cf, "rocksdb.estimate-num-keys");
	worth = ripen(&state->superseded, marks.superseded, is_enough(marks.superseded, keys, settings),
				  last_ts, now, settings->delay_us, &superseded);
	worth |= ripen(&state->dated, marks.dated, is_enough(marks.dated, keys, settings),
				   last_ts, now, settings->history_us, &dated);
	return worth ? begin_sweep(u, store, &superseded, &dated, keys, err) : WC_OK;
}

/* --- expired cells ----------------------------------------------------*/

/* By how much the mark "expired" stays behind the last timestamp; 0: the family has no TTLs. */
static int64_t
lag_of(const WcFamilyAttrs *attrs, const WcMarks *marks, const WcUpkeep *settings)
{
	bool		of_family = attrs->ttl_us > 0 && attrs->min_versions == 0;

	if (of_family && attrs->ttl_us < settings->history_us)
		return attrs->ttl_us;
	return of_family || marks->cell_ttl ? settings->history_us : 0;
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

	if (lag == 0 || upto - marks.gone.expired_ts < lag / EXPIRE_PART || upto <= 0 ||
		wc_rocks_property(u->engine->db, store->cf, "rocksdb.estimate-num-keys") == 0)
		return WC_OK;
	if (attrs.ttl_us > 0 && attrs.min_versions == 0 && upto > attrs.ttl_us)
		step.oldest_ts = upto - attrs.ttl_us;
	return wc_step_apply(u->engine, &step, NULL, &u->stop, err);
}

/* --- files --------------------------------------------------------------------------
 *
 * On every node: RocksDB would not compact by itself the files in which steps have deleted cells, or in which cells
 * are gone.
 */

/* Compacts the files of the next part of state->compacting.  The other parts follow in later rounds, so that the thread looks at other
 * families in between. */
static WcStatus
compact_part(WcUpkeeper *u, WcStore *store, WcError *err)
{
	WcStoreUpkeep *state = &store->upkeep;
	WcSwept    *range = &state->compacting;
	WcBuf		rest = WC_BUF_INIT;
	WcRunning	running;
	WcStatus	status = WC_OK;

	wc_running_begin(&running, store, WC_PROGRESS_UPKEEP, 0);
	if (!state->flushed)
	{
		wc_running_phase(&running, WC_PHASE_FLUSH, 0);
		status = wc_files_flush(store, &u->stop, err);
	}
	if (status == WC_OK)
		status = wc_files_compact(store, wc_buf_slice(&range->start), wc_swept_stop(range), &rest, &running, &u->stop, err);
	wc_running_end(&running);
	if (status == WC_OK && rest.len > 0)
	{
		wc_buf_free(&range->start);
		range->start = rest;
		state->flushed = true;
		return WC_OK;
	}
	if (status == WC_OK)
		wc_swept_free(range);
	else
	{
		state->retry_us = wc_clock_monotonic_us() + RETRY_US;
		wc_store_return_swept(store, range);
	}
	state->flushed = false;
	wc_buf_free(&rest);
	return status;
}

/* Notes all of the family in state->compacting when about half of the cells with a TTL are gone. */
static WcStatus
note_gone(WcUpkeeper *u, WcStore *store, const WcUpkeep *settings, WcError *err)
{
	WcFamilyAttrs attrs = wc_store_attrs(store);
	WcGone		gone = wc_store_gone(store);
	int64_t		every = gone.oldest_ts > 0 && attrs.ttl_us > 0 ? attrs.ttl_us / 2 : settings->history_us;
	WcStoreUpkeep *state = &store->upkeep;
	WcStatus	status;

	if (state->compacted_ts == 0)
		state->compacted_ts = gone.expired_ts;	/* no compaction at each start */
	if (gone.expired_ts - state->compacted_ts < every)
		return WC_OK;
	status = wc_engine_sync(u->engine, err);	/* cells whose step is not on disk are not dropped */
	if (status != WC_OK)
		return status;
	state->compacted_ts = gone.expired_ts;
	wc_swept_add(&state->compacting, wc_slice(NULL, 0), wc_slice(NULL, 0));
	return WC_OK;
}

/* Compacts one part of the range in which steps have deleted, or of all files when enough cells are gone; or nothing. */
static WcStatus
compact_when_due(WcUpkeeper *u, WcStore *store, const WcUpkeep *settings, WcError *err)
{
	WcStoreUpkeep *state = &store->upkeep;
	WcStatus	status = WC_OK;

	if (!state->compacting.any && wc_clock_monotonic_us() >= state->retry_us)
		(void) wc_store_take_swept(store, &state->compacting);
	if (!state->compacting.any)
		status = note_gone(u, store, settings, err);
	return status == WC_OK && state->compacting.any ? compact_part(u, store, err) : status;
}

/* --- rounds ------------------------------------------------------------------------*/

static void
look_at(WcUpkeeper *u, WcStore *store, const WcUpkeep *settings)
{
	WcError		err;
	WcStatus	status = wc_files_check(store, "compact", &err);

	if (status == WC_OK && settings->makes_steps)
		status = expire_when_due(u, store, settings, &err);
	if (status == WC_OK && settings->makes_steps)
		status = sweep_when_worth(u, store, settings, &err);
	if (status == WC_OK)
		status = compact_when_due(u, store, settings, &err);
	if (is_failure(u, status))
		tell_failure(store, &err);
	else if (u->engine->clock_us() >= store->upkeep.sweep_again_us)
		store->upkeep.failed = false;
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
	uint32_t   *ids = table_ids(&u->engine->catalog, &n);

	if (settings.busy_percent == 0)
		end_sweeps(u);
	for (size_t t = 0; t < n && !atomic_load(&u->stop); t++)
	{
		WcTable    *table = wc_catalog_table(u->engine, ids[t]);

		for (uint32_t f = 0; table != NULL && f < table->desc.nfamilies && !atomic_load(&u->stop); f++)
		{
			wc_scancache_drop_idle(&table->stores[f]->scancache, wc_clock_monotonic_us() - WC_SCAN_CHUNK_IDLE_US);
			if (settings.busy_percent > 0)
				look_at(u, table->stores[f], &settings);
		}
		wc_table_unref(table);
	}
	free(ids);
}

/* --- the thread -----------------------------------------------------------------------*/

/* When the next step is due, after one that has ended at this time: the rest before it makes the work the share that
 * it may be. */
static int64_t
next_step_us(WcUpkeeper *u, int64_t ended_us, int64_t worked_us)
{
	int64_t		busy = settings_of(u).busy_percent;

	if (u->sweeps == NULL || busy == 0)
		return INT64_MAX;
	return ended_us + worked_us * (100 - busy) / busy;
}

/* A round a second, and steps in between. */
static void *
upkeeper_main(void *arg)
{
	WcUpkeeper *u = arg;
	int64_t		now = wc_clock_monotonic_us();
	int64_t		round_us = now + ROUND_US;
	int64_t		ended_us = now;
	int64_t		worked_us = 0;

	for (;;)
	{
		int64_t		step_us = next_step_us(u, ended_us, worked_us);

		if (!pause_us(u, (step_us < round_us ? step_us : round_us) - now))
			return NULL;
		now = wc_clock_monotonic_us();
		if (now >= round_us)
		{
			wc_upkeeper_round(u);
			now = wc_clock_monotonic_us();
			round_us = now + ROUND_US;
		}
		else if (now >= step_us && wc_upkeeper_step(u, &worked_us))
			now = ended_us = wc_clock_monotonic_us();
	}
}

WcUpkeeper *
wc_upkeeper_create(WcEngine *engine)
{
	WcUpkeeper *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return NULL;
	u->engine = engine;
	pthread_mutex_init(&u->mutex, NULL);
	wc_clock_cond_init(&u->ends);
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
	end_sweeps(u);
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

/* Starts the thread, unless it runs. */
static WcStatus
start_thread(WcUpkeeper *u, WcError *err)
{
	int			rc;

	if (u->running)
		return WC_OK;
	rc = wc_thread_start(&u->thread, 0, upkeeper_main, u);
	if (rc != 0)
		return wc_error(err, WC_IO, "could not make the thread for upkeep: %s", strerror(rc));
	u->running = true;
	return WC_OK;
}

WcStatus
wc_engine_set_upkeep(WcEngine *engine, const WcUpkeep *settings, WcError *err)
{
	wc_upkeeper_set(engine->upkeeper, settings);
	return start_thread(engine->upkeeper, err);
}
