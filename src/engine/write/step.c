/*
 * engine/write/step.c: a step becomes one atomic write.
 */
#include "engine/write/step.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/catalog/catalog.h"
#include "engine/forget/history.h"
#include "engine/store/state.h"
#include "engine/store/watch.h"

/* Its store, counted; NULL: the step is void, since the store is gone or its family has
 * other rules now. */
static WcStore *
find_store(WcEngine *engine, const WcStep *step)
{
	WcTable    *table = wc_catalog_table(engine, step->table_id);
	WcStore    *store = table ? wc_table_store(table, step->family_id) : NULL;
	bool		found = store != NULL && store->generation == step->generation &&
		wc_store_attrs(store).keep_deleted == step->keep_deleted;

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

/* What the family's marks are when the step has been applied. */
static WcMarks
marks_after(WcStore *store, const WcStep *step, const WcSifted *sifted)
{
	WcMarks		marks = wc_marks(store);
	int64_t		seen_until = store->engine->last_ts;

	if (step->kind == WC_STEP_EXPIRE)
	{
		raise_to(&marks.gone.expired_ts, step->expired_ts);
		raise_to(&marks.gone.oldest_ts, step->oldest_ts);
		raise_to(&marks.history_from, step->expired_ts);
		return marks;
	}
	raise_to(&seen_until, step->now_us);
	raise_to(&marks.history_from, wc_history_needed(marks.single, sifted->forgotten, seen_until + 1));
	if (step->last && step->kind == WC_STEP_FLUSH)
		raise_to(&marks.flushed_ts, step->until_ts);
	marks.superseded = less(marks.superseded, step->superseded);
	marks.dated = less(marks.dated, step->dated);
	return marks;
}

/* Writes batch and all that goes with it.  store is NULL when the step is void. */
static WcStatus
write_step(WcEngine *engine, uint64_t position, WcStore *store, const WcMarks *marks, bool shows,
		   rocksdb_writebatch_t *batch, WcError *err)
{
	char		name[WC_STORE_TEXT_MAX];
	char		what[WC_STORE_TEXT_MAX + 32] = "write to the catalog";
	WcMarks		before;
	WcStatus	status;

	if (store != NULL)
	{
		snprintf(what, sizeof(what), "compact %s", wc_store_text(store, name, sizeof(name)));
		before = wc_marks(store);
		wc_marks_put(store, marks, batch);
	}
	wc_engine_put_state(engine, batch, position, engine->last_ts);
	if (shows)
	{
		wc_watch_table(engine, store->table_id, 0);
		wc_watch_begin(engine);
	}
	status = wc_health_write(&engine->health, engine->write_options, batch, what, err);
	if (status == WC_OK)
		engine->applied = position;
	if (store != NULL)
		wc_marks_done(store, status == WC_OK ? marks : &before);
	if (shows)
	{
		wc_rangewatch_store(store);
		wc_watch_end(engine);
	}
	return status;
}

/* An expire step changes what is there without writing cells. */
static WcStatus
apply_expire(WcEngine *engine, uint64_t position, WcStore *store, const WcStep *step, WcError *err)
{
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	WcMarks		marks = marks_after(store, step, NULL);
	WcStatus	status = write_step(engine, position, store, &marks, true, batch, err);

	rocksdb_writebatch_destroy(batch);
	return status;
}

static WcStatus
apply_range(WcEngine *engine, uint64_t position, WcStore *store, const WcStep *step, WcStepWork *work, WcError *err)
{
	WcSift		sift = {.store = store,.step = step};
	WcSifted	now = WC_SIFTED_INIT;
	WcSifted   *sifted = &now;
	WcMarks		marks;
	WcStatus	status = WC_OK;

	if (work != NULL && work->worked_out && work->watch.store == store &&
		!wc_rangewatch_was_written(&work->watch, wc_buf_slice(&work->last_row)))
		sifted = &work->sifted;
	else
		status = wc_sift(&sift, sifted, err);
	if (status == WC_OK)
	{
		marks = marks_after(store, step, sifted);
		status = write_step(engine, position, store, &marks, sifted->changed > 0, sifted->batch, err);
	}
	if (work != NULL)
		work->sifted.changed = sifted->changed;
	wc_sifted_free(&now);
	return status;
}

static WcStatus
apply_void(WcEngine *engine, uint64_t position, WcError *err)
{
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	WcStatus	status = write_step(engine, position, NULL, NULL, false, batch, err);

	rocksdb_writebatch_destroy(batch);
	return status;
}

/* Hands a step that was made here to the log; *handed: that is how it is done. */
static WcStatus
log_step(WcEngine *engine, const WcStep *step, bool *handed, WcError *err)
{
	WcBuf		bytes = WC_BUF_INIT;
	WcStatus	status = WC_OK;

	pthread_rwlock_rdlock(&engine->step_lock);
	*handed = engine->step_log != NULL || engine->steps_end;
	if (engine->steps_end)
		status = wc_error(err, WC_SHUTDOWN, "the engine is stopping");
	else if (engine->step_log != NULL)
	{
		wc_step_encode(&bytes, step);
		status = wc_buf_status(&bytes, "step", err);
		if (status == WC_OK)
			status = engine->step_log(engine->step_log_arg, wc_buf_slice(&bytes), err);
	}
	pthread_rwlock_unlock(&engine->step_lock);
	wc_buf_free(&bytes);
	return status;
}

static void
end_watch(WcEngine *engine, WcStepWork *work)
{
	if (work == NULL)
		return;
	pthread_mutex_lock(&engine->write_mutex);
	wc_rangewatch_end(&work->watch);
	pthread_mutex_unlock(&engine->write_mutex);
}

WcStatus
wc_step_apply(WcEngine *engine, uint64_t position, const WcStep *step, WcStepWork *work, WcError *err)
{
	WcStore    *store;
	bool		handed = false;
	WcStatus	status = WC_OK;

	if (position == 0)
		status = log_step(engine, step, &handed, err);
	if (handed)
	{
		end_watch(engine, work);
		return status;
	}
	pthread_mutex_lock(&engine->write_mutex);
	if (position == 0)
		position = engine->applied + 1;
	store = find_store(engine, step);
	if (position <= engine->applied)
		status = wc_error(err, WC_INVALID, "step at position %" PRIu64 " comes after position %" PRIu64 " was applied",
						  position, (uint64_t) engine->applied);
	else if (store == NULL)
		status = apply_void(engine, position, err);
	else if (step->kind == WC_STEP_EXPIRE)
		status = apply_expire(engine, position, store, step, err);
	else
		status = apply_range(engine, position, store, step, work, err);
	if (work != NULL)
		wc_rangewatch_end(&work->watch);
	pthread_mutex_unlock(&engine->write_mutex);
	wc_snapshot_drop_idle(engine);
	wc_store_unref(store);
	return status;
}

WcStatus
wc_step_apply_all(WcEngine *engine, WcPass *pass, uint64_t *changed, WcError *err)
{
	const WcStep *step;
	WcStatus	status;

	*changed = 0;
	while ((status = wc_pass_next(pass, &step, err)) == WC_OK)
	{
		status = wc_step_apply(engine, 0, step, wc_pass_work(pass), err);
		if (status != WC_OK)
			return status;
		*changed += wc_pass_work(pass)->sifted.changed;
	}
	return status == WC_END ? WC_OK : status;
}

WcStatus
wc_engine_step(WcEngine *engine, uint64_t position, const WcStep *step, WcError *err)
{
	return wc_step_apply(engine, position, step, NULL, err);
}
