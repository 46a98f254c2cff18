/*
 * engine/write/step.c: a step becomes one atomic write.
 */
#include "engine/write/step.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/catalog/catalog.h"
#include "engine/forget/history.h"
#include "engine/store/state.h"
#include "engine/store/watch.h"

/* Has ALTER changed the family since the step was made, so that the step may remove what the family now keeps? */
static bool
has_other_rules(const WcFamilyAttrs *attrs, const WcStep *step)
{
	if (attrs->keep_deleted != step->keep_deleted)
		return true;
	return step->kind == WC_STEP_EXPIRE && step->oldest_ts > 0 &&
		(attrs->ttl_us == 0 || attrs->min_versions > 0 || step->oldest_ts > step->expired_ts - attrs->ttl_us);
}

/* Its store, counted; NULL: the step is void, since the store is gone or its family has
 * other rules now. */
static WcStore *
find_store(WcEngine *engine, const WcStep *step)
{
	WcTable    *table = wc_catalog_table(engine, step->table_id);
	WcStore    *store = table ? wc_table_store(table, step->family_id) : NULL;
	WcFamilyAttrs attrs = store ? wc_store_attrs(store) : wc_family_attrs_default;
	bool		found = store != NULL && store->generation == step->generation && !has_other_rules(&attrs, step);

	if (found)
		wc_store_ref(store);
	wc_table_unref(table);
	return found ? store : NULL;
}

static inline uint64_t
less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static inline void
raise_to(int64_t *value, int64_t ts)
{
	if (*value < ts)
		*value = ts;
}

/* The family's marks after the step has been applied. */
static WcMarks
marks_after(WcStore *store, const WcStep *step, const WcSifted *sifted)
{
	WcMarks		marks = wc_marks(store);
	int64_t		seen_until = store->engine->last_ts;

	if (step->kind == WC_STEP_EXPIRE)
	{
		raise_to(&marks.gone.expired_ts, step->expired_ts);
		if (marks.gone.oldest_ts < step->oldest_ts)
		{
			/* what was gone stays gone: it was written before */
			marks.gone.oldest_ts = step->oldest_ts;
			marks.gone.oldest_until_ts = store->engine->last_ts;
		}
		raise_to(&marks.history_from_us, step->expired_ts);
		return marks;
	}
	raise_to(&seen_until, step->now_us);
	raise_to(&marks.history_from_us, wc_history_needed(marks.single, sifted->forgotten, seen_until + 1));
	if (step->last && step->kind == WC_STEP_FLUSH)
		raise_to(&marks.flushed_ts, step->until_ts);
	marks.superseded = less(marks.superseded, step->superseded);
	marks.dated = less(marks.dated, step->dated);
	return marks;
}

/* Tells which rows the step may change: all of the table, if sifted is NULL. */
static void
watch_rows(WcEngine *engine, const WcStore *store, const WcSifted *sifted) WC_REQUIRES(engine->write_mutex)
{
	WcDecoder	rows;

	if (sifted == NULL || sifted->rows.failed || !wc_watch_wants_rows(engine, store->table_id, sifted->nrows))
	{
		wc_watch_table(engine, store->table_id, 0);
		return;
	}
	rows = wc_decoder(wc_buf_slice(&sifted->rows));
	for (uint64_t i = 0; i < sifted->nrows; i++)
		wc_watch_row(engine, store->table_id, wc_decode_bytes(&rows), 0, 0);
}

/* Writes batch and all that goes with it.  store is NULL when the step is void; sifted is NULL when it is no step of a range. */
static WcStatus
write_step(WcEngine *engine, uint64_t position, WcStore *store, const WcMarks *marks, const WcSifted *sifted,
		   rocksdb_writebatch_t *batch, WcError *err) WC_REQUIRES(engine->write_mutex)
{
	bool		shows = store != NULL && (sifted == NULL || sifted->changed > 0);
	char		name[WC_STORE_TEXT_MAX];
	char		what[WC_STORE_TEXT_MAX + 32] = "write to the catalog";
	WcMarks		before;
	WcStatus	status;

	if (store != NULL)
	{
		wc_scancache_close(&store->scancache);
		snprintf(what, sizeof(what), "compact %s", wc_store_text(store, name, sizeof(name)));
		before = wc_marks(store);
		wc_marks_put(store, marks, batch);
	}
	wc_engine_put_state(engine, batch, position, engine->last_ts);
	if (shows)
	{
		watch_rows(engine, store, sifted);
		wc_watch_begin(engine);
		wc_rangewatch_store(store);
	}
	wc_recentrows_forget(&engine->recent);
	status = wc_health_write(&engine->health, engine->write_options, batch, what, err);
	if (status == WC_OK)
	{
		engine->applied = position;
		wc_counts_step(&engine->counts);
	}
	if (store != NULL)
	{
		wc_marks_done(store, status == WC_OK ? marks : &before);
		wc_scancache_open(&store->scancache, rocksdb_get_latest_sequence_number(engine->db));
	}
	if (shows)
		wc_watch_end(engine);
	return status;
}

/* Applies an expire step, which sets marks and writes no cells. */
static WcStatus
apply_expire(WcEngine *engine, uint64_t position, WcStore *store, const WcStep *step, WcError *err) WC_REQUIRES(engine->write_mutex)
{
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	WcMarks		marks = marks_after(store, step, NULL);
	WcStatus	status = write_step(engine, position, store, &marks, NULL, batch, err);

	rocksdb_writebatch_destroy(batch);
	return status;
}

/* --- ranges -------------------------------------------------------------------*/

/* If a step has changed this part (an eighth) of the key-values that it read, the files are worth compacting. */
#define WORTH_COMPACTING 8

/* Notes the deleted keys for the store's upkeep: RocksDB keeps them, and readers step over them, until upkeep compacts the
 * files. */
static void
note_swept(WcStore *store, const WcStep *step, const WcSifted *sifted)
{
	WcSwept    *s = &store->swept;

	if (sifted->changed > 0 && sifted->changed * WORTH_COMPACTING >= sifted->looked)
		wc_swept_add(s, step->start, step->stop);
	s->whole |= s->any && step->last;
}

/* With the write mutex held: is the worked-out result still valid? */
static bool
holds(const WcStepWork *work, const WcStore *store)
{
	return work->worked_out && work->watch.store == store &&
		!wc_rangewatch_was_written(&work->watch, wc_buf_slice(&work->last_row));
}

static WcStatus
apply_range(WcEngine *engine, uint64_t position, WcStore *store, const WcStep *step, WcStepWork *work, WcError *err) WC_REQUIRES(engine->write_mutex)
{
	WcSift		sift = {.store = store,.step = step};
	WcSifted	now = WC_SIFTED_INIT;
	WcSifted   *sifted = holds(work, store) ? &work->sifted : &now;
	WcMarks		marks;
	WcStatus	status = sifted == &now ? wc_sift(&sift, &now, err) : WC_OK;

	if (status == WC_OK)
	{
		marks = marks_after(store, step, sifted);
		status = write_step(engine, position, store, &marks, sifted, sifted->batch, err);
	}
	if (status == WC_OK)
		note_swept(store, step, sifted);
	work->sifted.changed = sifted->changed;
	wc_sifted_free(&now);
	return status;
}

/* --- steps --------------------------------------------------------------------*/

static WcStatus
apply_void(WcEngine *engine, uint64_t position, WcError *err) WC_REQUIRES(engine->write_mutex)
{
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	WcStatus	status = write_step(engine, position, NULL, NULL, NULL, batch, err);

	rocksdb_writebatch_destroy(batch);
	return status;
}

/* With the write mutex held.  position 0: the next.  work NULL: the step is void. */
static WcStatus
apply_locked(WcEngine *engine, uint64_t position, const WcStep *step, WcStepWork *work, WcError *err) WC_REQUIRES(engine->write_mutex)
{
	WcStore    *store = work != NULL ? find_store(engine, step) : NULL;
	WcStatus	status;

	if (position == 0)
		position = engine->applied + 1;
	if (position <= engine->applied)
		status = wc_error(err, WC_INVALID, "step at position %" PRIu64 " comes after position %" PRIu64 " was applied",
						  position, (uint64_t) engine->applied);
	else if (store == NULL)
		status = apply_void(engine, position, err);
	else if (step->kind == WC_STEP_EXPIRE)
		status = apply_expire(engine, position, store, step, err);
	else
		status = apply_range(engine, position, store, step, work, err);
	wc_store_unref(store);
	return status;
}

/* Reads what a step is about before the write mutex is held. */
static WcStatus
work_out(WcEngine *engine, const WcStep *step, WcStepWork *work, WcError *err)
{
	WcStore    *store = find_store(engine, step);
	WcSift		sift = {.store = store,.step = step};
	WcStatus	status = WC_OK;

	if (store != NULL && step->kind != WC_STEP_EXPIRE)
	{
		status = wc_sift_row(store, step->start, &work->first_row, err);
		if (status == WC_OK)
			status = wc_sift_row(store, step->stop, &work->last_row, err);
		pthread_mutex_lock(&engine->write_mutex);
		wc_rangewatch_begin(&work->watch, store, wc_buf_slice(&work->first_row));
		pthread_mutex_unlock(&engine->write_mutex);
		if (status == WC_OK)
			status = wc_sift(&sift, &work->sifted, err);
		work->worked_out = status == WC_OK;
	}
	wc_store_unref(store);
	return status;
}

/*
 * A step that reads a damaged row cannot be applied, and the applier applies nothing that follows this step in the log.  If
 * widecol.accept_damage names the step's table, the step is void, as a commit's change of a damaged row is: the step's position counts as
 * applied, and the step changes no cell.
 */
static bool
passes_damage(WcEngine *engine, const WcStep *step, WcStatus status, WcError *err)
{
	if (status != WC_CORRUPT || !wc_engine_accepts_damage(engine, step->table_id, err))
		return false;
	atomic_fetch_add(&engine->nvoid, 1);
	wc_log(WC_LOG_WARNING, "a step of a compaction is void: %s", err->message);
	return true;
}

/* work: the changes that a pass has computed; NULL: none. */
static WcStatus
apply(WcEngine *engine, uint64_t position, const WcStep *step, WcStepWork *work, WcError *err)
{
	WcStepWork	here = {.sifted = WC_SIFTED_INIT};
	int64_t		since = wc_clock_monotonic_us();
	bool		done = false;
	bool		is_void = false;
	WcStatus	status = WC_OK;

	if (work != NULL)
	{
		pthread_mutex_lock(&engine->write_mutex);
		done = holds(work, work->watch.store);
		pthread_mutex_unlock(&engine->write_mutex);
	}
	if (!done)
		status = work_out(engine, step, &here, err);
	is_void = passes_damage(engine, step, status, err);
	pthread_mutex_lock(&engine->write_mutex);
	if (status == WC_OK || is_void)
		status = apply_locked(engine, position, step, is_void ? NULL : done ? work : &here, err);
	wc_rangewatch_end(&here.watch);
	if (work != NULL)
	{
		wc_rangewatch_end(&work->watch);
		if (!done)
			work->sifted.changed = here.sifted.changed;
		work->applied_us = wc_clock_monotonic_us() - since;
	}
	pthread_mutex_unlock(&engine->write_mutex);
	wc_stepwork_free(&here);
	wc_snapshot_drop_idle(engine);
	return status;
}

/* --- steps that are made here ---------------------------------------------------
 * 
 * They go through the log, and come back as bytes, to another thread.  The worked-out result is kept for them
 * meanwhile.
 *  */
typedef struct WcStepOffer
{
	struct WcStepOffer *next;
	WcSlice		bytes;
	WcStepWork *work;
} WcStepOffer;

static void
withdraw(WcEngine *engine, WcStepOffer *offer)
{
	WcStepOffer **link;

	pthread_mutex_lock(&engine->offers_mutex);
	for (link = &engine->offers; *link != offer; link = &(*link)->next)
		;
	*link = offer->next;
	pthread_mutex_unlock(&engine->offers_mutex);
	if (offer->work == NULL)
		return;
	pthread_mutex_lock(&engine->write_mutex);
	wc_rangewatch_end(&offer->work->watch);
	pthread_mutex_unlock(&engine->write_mutex);
}

/* With step_lock held. */
static WcStatus
log_step(WcEngine *engine, const WcStep *step, WcStepWork *work, const atomic_bool *cancel, WcError *err) WC_REQUIRES_SHARED(engine->step_lock)
{
	WcBuf		bytes = WC_BUF_INIT;
	WcStepOffer offer = {.work = work};
	WcStatus	status;

	wc_step_encode(&bytes, step);
	status = wc_buf_status(&bytes, "step", err);
	if (status == WC_OK)
	{
		offer.bytes = wc_buf_slice(&bytes);
		pthread_mutex_lock(&engine->offers_mutex);
		offer.next = engine->offers;
		engine->offers = &offer;
		pthread_mutex_unlock(&engine->offers_mutex);
		status = engine->step_log(engine->step_log_arg, offer.bytes, cancel, err);
		withdraw(engine, &offer);
	}
	wc_buf_free(&bytes);
	return status;
}

WcStatus
wc_step_apply(WcEngine *engine, const WcStep *step, WcStepWork *work, const atomic_bool *cancel, WcError *err)
{
	WcStatus	status;

	pthread_rwlock_rdlock(&engine->step_lock);
	if (engine->steps_end)
		status = wc_error(err, WC_SHUTDOWN, "the engine is stopping");
	else if (engine->step_log != NULL)
		status = log_step(engine, step, work, cancel, err);
	else
		status = apply(engine, 0, step, work, err);
	pthread_rwlock_unlock(&engine->step_lock);
	return status;
}

WcStatus
wc_step_apply_all(WcEngine *engine, WcPass *pass, const atomic_bool *cancel, WcError *err)
{
	const WcStep *step;
	WcStatus	status;

	while ((status = wc_pass_next(pass, &step, err)) == WC_OK)
	{
		status = wc_step_apply(engine, step, wc_pass_work(pass), cancel, err);
		if (status != WC_OK)
			return status;
	}
	return status == WC_END ? WC_OK : status;
}

WcStatus
wc_engine_step(WcEngine *engine, uint64_t position, const WcStep *step, WcError *err)
{
	WcBuf		bytes = WC_BUF_INIT;
	WcStepOffer *offer;
	WcStatus	status;

	wc_step_encode(&bytes, step);
	pthread_mutex_lock(&engine->offers_mutex);
	for (offer = engine->offers; offer != NULL; offer = offer->next)
	{
		if (!bytes.failed && wc_slice_eq(offer->bytes, wc_buf_slice(&bytes)))
			break;
	}
	status = apply(engine, position, step, offer ? offer->work : NULL, err);
	pthread_mutex_unlock(&engine->offers_mutex);
	wc_buf_free(&bytes);
	return status;
}
