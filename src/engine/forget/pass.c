/*
 * engine/forget/pass.c: a flush or a compaction of a store, as steps.
 */
#include "engine/forget/pass.h"

#include <stdlib.h>

#include "engine/rocks/cellkey.h"
#include "engine/store/state.h"

/*
 * A major compaction takes rows whole: in one step go the puts that a marker masks, and the
 * marker.  A row that is too wide is gone through twice: first its puts go, as in a minor
 * compaction, in any number of steps, and then its markers.
 */
typedef enum Phase
{
	ROWS,
	WIDE_PUTS,
	WIDE_MARKERS
} Phase;

struct WcPass
{
	WcStore    *store;
	WcPassOptions options;
	uint8_t		keep_deleted;	/* of the family, when it began */
	int64_t		earliest_put_ts;
	Phase		phase;
	bool		over;
	bool		stands;			/* step has been computed, and `at` and `state` are still its start */
	size_t		keys_max;		/* of the next step */
	WcBuf		at;				/* where the next step begins */
	WcBuf		state;			/* the matcher's state for the row there */
	WcBuf		wide_row;		/* the wide row: the prefix of its keys, */
	WcBuf		wide_end;		/* and the first possible key after them */
	WcBuf		stop;			/* of the step that was given */
	WcStep		step;
	WcStepWork	work;
};

static WcStatus
pass_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for a compaction");
}

/* From its first row. */
static WcStatus
begin(WcPass *p, WcError *err)
{
	WcFamilyAttrs attrs = wc_store_attrs(p->store);

	p->keep_deleted = attrs.keep_deleted;
	p->phase = ROWS;
	p->stands = false;
	p->at.len = p->state.len = 0;
	p->earliest_put_ts = INT64_MIN;
	if (p->options.kind == WC_STEP_MAJOR && p->options.look_for_earliest_put &&
		attrs.keep_deleted != WC_KEEP_DELETED_FALSE)
		return wc_sift_earliest_put(p->store, p->options.until_ts, p->options.cancel, &p->earliest_put_ts, err);
	return WC_OK;
}

WcStatus
wc_pass_create(WcStore *store, const WcPassOptions *options, WcPass **pass, WcError *err)
{
	WcPass	   *p = calloc(1, sizeof(*p));
	WcStatus	status;

	*pass = NULL;
	if (p == NULL)
		return pass_memory(err);
	p->store = wc_store_ref(store);
	p->options = *options;
	if (p->options.keys_max == 0)
		p->options.keys_max = WC_STEP_KEYS_MAX;
	p->keys_max = p->options.keys_max;
	status = begin(p, err);
	if (status != WC_OK)
	{
		wc_pass_free(p);
		return status;
	}
	*pass = p;
	return WC_OK;
}

static void
end_watch(WcPass *p)
{
	pthread_mutex_lock(&p->store->engine->write_mutex);
	wc_rangewatch_end(&p->work.watch);
	pthread_mutex_unlock(&p->store->engine->write_mutex);
}

void
wc_pass_free(WcPass *p)
{
	if (p == NULL)
		return;
	end_watch(p);
	wc_stepwork_free(&p->work);
	wc_buf_free(&p->at);
	wc_buf_free(&p->state);
	wc_buf_free(&p->wide_row);
	wc_buf_free(&p->wide_end);
	wc_buf_free(&p->stop);
	wc_store_unref(p->store);
	free(p);
}

void
wc_stepwork_free(WcStepWork *work)
{
	wc_rangewatch_free(&work->watch);
	wc_sifted_free(&work->sifted);
	wc_buf_free(&work->first_row);
	wc_buf_free(&work->last_row);
}

WcStepWork *
wc_pass_work(WcPass *p)
{
	return &p->work;
}

/* --- planning ---------------------------------------------------------------*/

static void
set(WcBuf *buf, WcSlice bytes)
{
	wc_buf_reset(buf, SIZE_MAX);
	wc_buf_append_slice(buf, bytes);
}

static void
set_step(WcPass *p)
{
	static const uint8_t kinds[] = {[WIDE_PUTS] = WC_STEP_COMPACT,[WIDE_MARKERS] = WC_STEP_MARKERS};

	p->step = (WcStep) {
		.kind = p->phase == ROWS ? p->options.kind : kinds[p->phase],.keep_deleted = p->keep_deleted,
		.table_id = p->store->table_id,.family_id = p->store->family_id,.generation = p->store->generation,
		.now_us = p->options.now_us,.from_ts = p->options.from_ts,.until_ts = p->options.until_ts,
		.dated_until_ts = p->options.dated_until_ts,.earliest_put_ts = p->earliest_put_ts,
		.start = wc_buf_slice(&p->at),.stop = p->phase == ROWS ? wc_slice(NULL, 0) : wc_buf_slice(&p->wide_end),
		.state = wc_buf_slice(&p->state)
	};
}

/* Works out the next step from where the pass stands; p->step is it, but for what comes of
 * where it ends. */
static WcStatus
work_out(WcPass *p, WcError *err)
{
	WcMutex    *mutex = &p->store->engine->write_mutex;
	WcSift		sift = {.store = p->store,.step = &p->step,.keys_max = p->keys_max,.cancel = p->options.cancel};
	WcStatus	status;

	end_watch(p);				/* commits read first_row as long as the watch is on */
	status = wc_sift_row(p->store, wc_buf_slice(&p->at), &p->work.first_row, err);
	if (status != WC_OK)
		return status;
	set_step(p);
	pthread_mutex_lock(mutex);
	wc_rangewatch_begin(&p->work.watch, p->store, wc_buf_slice(&p->work.first_row));
	pthread_mutex_unlock(mutex);
	status = wc_sift(&sift, &p->work.sifted, err);
	if (status != WC_OK)
		return status;
	set(&p->stop, p->work.sifted.cut ? wc_buf_slice(&p->work.sifted.stop) : p->step.stop);
	if (p->stop.failed)
		return pass_memory(err);
	p->step.stop = wc_buf_slice(&p->stop);
	status = wc_sift_row(p->store, p->step.stop, &p->work.last_row, err);
	pthread_mutex_lock(mutex);
	p->work.worked_out = !wc_rangewatch_was_written(&p->work.watch, wc_buf_slice(&p->work.last_row));
	pthread_mutex_unlock(mutex);
	return status;
}

/* The same, of a range that is not written to meanwhile; or a small one that is, to be
 * worked out with the write mutex held. */
static WcStatus
work_out_quietly(WcPass *p, WcError *err)
{
	WcStatus	status = work_out(p, err);

	while (status == WC_OK && !p->work.worked_out && p->keys_max > WC_STEP_KEYS_MIN)
	{
		p->keys_max = p->keys_max / 4 > WC_STEP_KEYS_MIN ? p->keys_max / 4 : WC_STEP_KEYS_MIN;
		status = work_out(p, err);
	}
	if (p->work.worked_out)
		p->keys_max = 2 * p->keys_max < p->options.keys_max ? 2 * p->keys_max : p->options.keys_max;
	return status;
}

/* --- from step to step --------------------------------------------------------*/

/* The row that the step came upon is for steps of its own. */
static WcStatus
begin_wide_row(WcPass *p, WcError *err)
{
	WcSlice		prefix = wc_buf_slice(&p->work.sifted.stop);

	set(&p->wide_row, prefix);
	set(&p->wide_end, prefix);
	set(&p->at, prefix);
	if (p->wide_row.failed || p->wide_end.failed || p->at.failed)
		return pass_memory(err);
	wc_cellkey_end_of_prefix(&p->wide_end);
	p->state.len = 0;
	p->phase = WIDE_PUTS;
	return WC_OK;
}

/* Behind the step. */
static WcStatus
advance(WcPass *p, WcError *err)
{
	const WcSifted *sifted = &p->work.sifted;

	set(&p->at, wc_buf_slice(&p->stop));
	set(&p->state, sifted->cut ? wc_buf_slice(&sifted->state) : wc_slice(NULL, 0));
	if (!sifted->cut && p->phase == ROWS)
		p->over = true;
	else if (!sifted->cut && p->phase == WIDE_PUTS)
	{
		set(&p->at, wc_buf_slice(&p->wide_row));
		p->phase = WIDE_MARKERS;
	}
	else if (!sifted->cut)
		p->phase = ROWS;
	return p->at.failed || p->state.failed ? pass_memory(err) : WC_OK;
}

/* Does the step change anything? */
static bool
does_something(const WcPass *p)
{
	return !p->work.worked_out || p->work.sifted.changed > 0 || p->step.superseded > 0 || p->step.dated > 0 ||
		(p->step.last && p->step.kind == WC_STEP_FLUSH);
}

/* Goes to the next step; WC_END: there is none. */
static WcStatus
go_on(WcPass *p, WcError *err)
{
	WcStatus	status = p->stands ? advance(p, err) : WC_OK;

	p->stands = false;
	if (status == WC_OK && (p->over || wc_store_is_dropped(p->store)))
		return WC_END;

	/* a pass that began under other rules is not continued */
	if (status == WC_OK && wc_store_attrs(p->store).keep_deleted != p->keep_deleted)
		status = begin(p, err);
	if (status == WC_OK)
		status = work_out_quietly(p, err);
	if (status != WC_OK)
		return status;
	wc_running_done(p->options.running, p->work.sifted.looked);
	if (p->work.sifted.wide)
	{
		status = begin_wide_row(p, err);
		return status == WC_OK ? go_on(p, err) : status;
	}
	p->stands = true;
	p->step.last = p->phase == ROWS && !p->work.sifted.cut;
	if (p->step.last)
	{
		p->step.superseded = p->options.superseded;
		p->step.dated = p->options.dated;
	}
	return WC_OK;
}

WcStatus
wc_pass_try(WcPass *p, const WcStep **step, WcError *err)
{
	WcStatus	status = go_on(p, err);

	*step = status == WC_OK && does_something(p) ? &p->step : NULL;
	return status;
}

WcStatus
wc_pass_next(WcPass *p, const WcStep **step, WcError *err)
{
	WcStatus	status;

	do
		status = wc_pass_try(p, step, err);
	while (status == WC_OK && *step == NULL);
	return status;
}
