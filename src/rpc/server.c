/*
 * rpc/server.c: sessions begin and end.
 *
 * Lists: running and ended handlers, and transactions that go on without their sessions,
 * guarded by the mutex.  A handler's thread moves itself from the first to the second as its
 * last act.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/log.h"
#include "base/threads.h"
#include "rpc/log/intake.h"
#include "rpc/handler.h"

/* A request's work needs a few dozen KiB. */
#define STACK_BYTES (512 * 1024)

struct WcServer
{
	WcServerOptions options;
	WcApplier  *applier;
	WcEpochs   *epochs;
	WcCrew	   *crew;
	WcLockTable *locktable;
	WcIntake   *intake;
	WcMutex		mutex;
	pthread_cond_t none_running;
	WcHandler  *running WC_GUARDED_BY(&mutex);
	WcHandler  *ended WC_GUARDED_BY(&mutex);
	WcOrphan   *orphans WC_GUARDED_BY(&mutex);
	int			nrunning WC_GUARDED_BY(&mutex);
	WcActivitySum past WC_GUARDED_BY(&mutex); /* of sessions that have ended */
	WcSlowLimit slow;			/* the limit from which sessions log requests */
	int			nsessions;		/* both lists; main thread only */
	char		why[WC_GONE_TEXT_MAX];	/* set before the handlers are stopped */
};

static WcStatus
start_applier(WcServer *s, const WcServerOptions *options, WcError *err)
{
	const WcApplierOptions applier = {
		.engine = options->engine,.epochs = s->epochs,.catalog_generation = options->catalog_generation,.writes = options->writes,
		.applied = wc_intake_applied(s->intake),.cores = options->cores,.busy = options->busy
	};

	return wc_applier_start(&applier, &s->applier, err);
}

WcStatus
wc_server_start(const WcServerOptions *options, WcServer **server, WcError *err)
{
	WcServer   *s = calloc(1, sizeof(*s));
	WcStatus	status;

	if (s == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	s->options = *options;
	atomic_init(&s->slow, -1);
	pthread_mutex_init(&s->mutex, NULL);
	pthread_cond_init(&s->none_running, NULL);
	wc_claims_reset(options->log->claims);
	s->locktable = wc_locktable_create(options->log->claims, options->log->flight);
	if (s->locktable == NULL)
	{
		wc_server_free(s);
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	}
	status = wc_crew_create(options->cores, options->busy, &s->crew, err);
	if (status == WC_OK)
		status = wc_epochs_create(options->engine, options->getcache, &s->epochs, err);
	if (status == WC_OK && options->log->unapplied != NULL &&
		!wc_epochs_use_left(s->epochs, options->log->claims, options->log->unapplied))
		status = wc_error(err, WC_NO_MEMORY, "out of memory");
	if (status == WC_OK && options->rangecache != NULL && !wc_epochs_use_ranges(s->epochs, options->rangecache))
		status = wc_error(err, WC_NO_MEMORY, "out of memory");
	if (status == WC_OK)
		status = wc_intake_create(options->engine, s->locktable, options->log, &s->intake, err);
	if (status == WC_OK)
		status = start_applier(s, options, err);
	if (status != WC_OK)
	{
		wc_server_free(s);
		return status;
	}
	wc_intake_begin(s->intake, s->applier);
	wc_engine_log_steps(options->engine, wc_intake_log_step, s->intake);
	*server = s;
	return WC_OK;
}

/* The end of a session: marks its segment for the backend, then wakes the main thread. */
static void
retire(WcHandler *h, const WcError *why)
{
	WcServer   *s = h->server;
	WcHandler **p;

	if (why->status != WC_OK)
	{
		wc_log(WC_LOG_ERROR, "a session was ended: %s", why->message);
		wc_segment_gone(h->segment, why->status, why->message);
	}
	else
		wc_segment_gone(h->segment, WC_SHUTDOWN, s->why);
	if (wc_segment_wake_backend(h->segment))
		h->wake.fn(h->wake.arg);

	pthread_mutex_lock(&s->mutex);
	for (p = &s->running; *p != h; p = &(*p)->next)
		;
	*p = h->next;
	h->next = s->ended;
	s->ended = h;
	wc_activity_add(&h->dispatch.session.activity, &s->past);
	if (h->orphan->xid != 0)
	{
		h->orphan->next = s->orphans;
		s->orphans = h->orphan;
		h->orphan = NULL;
	}

	/* before the mutex is unlocked: when the main thread sees no running session, it may free the server */
	s->options.finished.fn(s->options.finished.arg);
	if (--s->nrunning == 0)
		pthread_cond_signal(&s->none_running);
	pthread_mutex_unlock(&s->mutex);
}

static void *
handler_main(void *arg)
{
	WcHandler  *h = arg;
	WcError		why;

	wc_cpu_short_slices();
	wc_handler_serve(h, &why);
	retire(h, &why);
	return NULL;
}

static WcStatus
start_thread(WcHandler *h, WcError *err)
{
	int			rc = wc_thread_start(&h->thread, STACK_BYTES, handler_main, h);

	if (rc != 0)
		return wc_error(err, WC_IO, "could not make a session's thread: %s", strerror(rc));
	return WC_OK;
}

/* --- statistics ----------------------------------------------------------------
 *
 * Called by session threads.
 */

/* A session's resources, and the time of its oldest snapshot, kept epochs included. */
static WcSessionStatistics
session_of(WcServer *s, const WcHandler *h)
{
	WcSessionStatistics to = {.pid = h->peer.pid};
	uint64_t	held = (uint64_t) wc_epochs_held_us(s->epochs, h->peer.process);

	wc_activity_get(&h->dispatch.session.activity, &to);
	if (held != 0 && (to.snapshot_us == 0 || held < to.snapshot_us))
		to.snapshot_us = held;
	return to;
}

static WcStatus
session_rows(WcServer *s, WcBuf *out, WcError *err)
{
	WcBuf		name = WC_BUF_INIT;
	WcSlice		texts[WC_SESSION_TEXTS];

	pthread_mutex_lock(&s->mutex);
	for (const WcHandler *h = s->running; h != NULL; h = h->next)
	{
		WcSessionStatistics row = session_of(s, h);

		wc_engine_table_name(s->options.engine, h->dispatch.session.activity.table_id, &name, texts);
		wc_statistics_append(out, texts, WC_SESSION_TEXTS, (const uint64_t *) &row, WC_STATISTICS_NUMBERS(row));
	}
	pthread_mutex_unlock(&s->mutex);
	wc_buf_free(&name);
	return wc_buf_status(out, "statistics", err);
}

/* Counts of ended sessions, of the log and of the cache of Gets. */
static WcUseCounts
use_of(WcServer *s) WC_REQUIRES(s->mutex)
{
	WcUseCounts use = {.requests = s->past.requests,.blocks_hit = s->past.blocks_hit,.blocks_read = s->past.blocks_read};

	wc_intake_counts(s->intake, &use.batches, &use.logged_bytes);
	wc_getcache_counts(s->options.getcache, &use.get_hits, &use.get_misses);
	return use;
}

/* Hands the counts to the engine; no session runs. */
static void
hand_over_counts(WcServer *s)
{
	const WcActivitySum none = {0};
	WcUseCounts use;

	pthread_mutex_lock(&s->mutex);
	use = use_of(s);
	s->past = none;
	pthread_mutex_unlock(&s->mutex);
	wc_engine_add_use(s->options.engine, &use);
	wc_intake_reset_counts(s->intake);
	wc_getcache_reset_counts(s->options.getcache);
}

/* Sums over sessions, and which of them holds the oldest snapshot. */
static void
count_sessions(WcServer *s, WcEngineStatistics *to)
{
	WcActivitySum sum = {0};
	WcUseCounts use;

	pthread_mutex_lock(&s->mutex);
	use = use_of(s);
	for (const WcHandler *h = s->running; h != NULL; h = h->next)
	{
		WcSessionStatistics one = session_of(s, h);

		wc_activity_add(&h->dispatch.session.activity, &sum);
		to->sessions++;
		if (to->snapshot_us != 0 && one.snapshot_us == to->snapshot_us)
			to->snapshot_pid = one.pid;
	}
	pthread_mutex_unlock(&s->mutex);
	to->requests += use.requests + sum.requests;
	to->blocks_hit += use.blocks_hit + sum.blocks_hit;
	to->blocks_read += use.blocks_read + sum.blocks_read;
	to->batches += use.batches;
	to->logged_bytes += use.logged_bytes;
	to->get_hits += use.get_hits;
	to->get_misses += use.get_misses;
	to->transaction_bytes = sum.transaction_bytes;
}

static WcStatus
engine_row(WcServer *s, WcBuf *out, WcError *err)
{
	WcEngineStatistics row = {0};
	WcError		why;
	WcSlice		text;
	WcStatus	status = wc_engine_statistics(s->options.engine, &row, &why, err);

	if (status != WC_OK)
		return status;
	wc_applier_backlog(s->applier, &row.backlog_commits, &row.backlog_bytes);
	row.waiting_us = (uint64_t) wc_applier_waiting_us(s->applier);
	count_sessions(s, &row);
	text = wc_slice_cstr(why.message);
	wc_statistics_append(out, &text, WC_ENGINE_TEXTS, (const uint64_t *) &row, WC_STATISTICS_NUMBERS(row));
	return wc_buf_status(out, "statistics", err);
}

static WcStatus
reset_statistics(WcServer *s, WcError *err)
{
	const WcActivitySum none = {0};
	WcStatus	status = wc_engine_reset_statistics(s->options.engine, err);

	if (status != WC_OK)
		return status;
	wc_intake_reset_counts(s->intake);
	wc_getcache_reset_counts(s->options.getcache);
	pthread_mutex_lock(&s->mutex);
	s->past = none;
	for (WcHandler *h = s->running; h != NULL; h = h->next)
		wc_activity_reset(&h->dispatch.session.activity);
	pthread_mutex_unlock(&s->mutex);
	return WC_OK;
}

/* A WcStatisticsSource. */
static WcStatus
statistics_rows(void *arg, uint8_t view, uint32_t database, WcBuf *out, WcError *err)
{
	WcServer   *s = arg;

	switch (view)
	{
		case WC_STATISTICS_ENGINE:
			return engine_row(s, out, err);
		case WC_STATISTICS_TABLES:
			return wc_engine_table_statistics(s->options.engine, database, out, err);
		case WC_STATISTICS_SESSIONS:
			return session_rows(s, out, err);
		case WC_STATISTICS_PROGRESS:
			return wc_engine_progress(s->options.engine, out, err);
		default:
			return reset_statistics(s, err);
	}
}

static WcStatus
make_handler(WcServer *s, void *memory, WcPeer peer, WcWake wake, void *owner, WcError *err)
{
	WcHandler  *h;
	WcOrphan   *orphan;
	WcStatus	status;

	if (s->nsessions >= s->options.sessions_max)
		return wc_error(err, WC_TOO_LARGE, "too many sessions of the engine (limit %d)", s->options.sessions_max);
	h = calloc(1, sizeof(*h));
	orphan = calloc(1, sizeof(*orphan));
	if (h == NULL || orphan == NULL)
	{
		free(h);
		free(orphan);
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	}
	h->orphan = orphan;
	h->server = s;
	h->options = &s->options;
	h->peer = peer;
	h->wake = wake;
	h->owner = owner;
	h->segment = memory;
	status = wc_dispatch_init(&h->dispatch, s->options.engine, s->intake, s->epochs, s->locktable,
							  &h->segment->cancel, err);
	h->dispatch.statistics = (WcStatisticsSource) {statistics_rows, s};
	h->dispatch.crew = s->crew;
	h->dispatch.window = &h->window;
	h->dispatch.session.slow.limit = &s->slow;
	h->dispatch.session.slow.pid = peer.pid;

	pthread_mutex_lock(&s->mutex);
	if (status == WC_OK)
		status = start_thread(h, err);
	if (status == WC_OK)
	{
		h->next = s->running;
		s->running = h;
		s->nrunning++;
		s->nsessions++;
	}
	pthread_mutex_unlock(&s->mutex);

	if (status != WC_OK)
	{
		wc_dispatch_free(&h->dispatch);
		free(h->orphan);
		free(h);
	}
	return status;
}

WcStatus
wc_server_attach(WcServer *s, void *memory, size_t size, WcPeer peer, WcWake wake, void *owner, WcError *err)
{
	WcSegment  *segment = memory;
	WcStatus	status = wc_segment_check(memory, size, err);

	if (status == WC_CORRUPT)
		return status;			/* not a segment: no backend waits at it */
	if (status == WC_OK)
	{
		/* before the thread starts: it may end at once */
		atomic_store(&segment->state, WC_SEGMENT_SERVED);
		status = make_handler(s, memory, peer, wake, owner, err);
	}
	if (status != WC_OK)
		wc_segment_gone(segment, status, err->message);
	if (wc_segment_wake_backend(segment))
		wake.fn(wake.arg);
	return status;
}

void *
wc_server_reap(WcServer *s)
{
	WcHandler  *h;
	void	   *owner;

	pthread_mutex_lock(&s->mutex);
	h = s->ended;
	if (h != NULL)
		s->ended = h->next;
	pthread_mutex_unlock(&s->mutex);
	if (h == NULL)
		return NULL;

	pthread_join(h->thread, NULL);
	owner = h->owner;
	free(h->orphan);
	free(h);
	s->nsessions--;
	return owner;
}

int
wc_server_look_at_locks(WcServer *s, bool (*is_over) (uint64_t xid))
{
	WcOrphan   *orphans;
	WcOrphan   *next;
	int			left = 0;

	pthread_mutex_lock(&s->mutex);
	orphans = s->orphans;
	s->orphans = NULL;
	pthread_mutex_unlock(&s->mutex);
	for (WcOrphan *o = orphans; o != NULL; o = next)
	{
		next = o->next;
		if (is_over(o->xid) && wc_lock_release_of(s->locktable, o->xid, 0, false))
		{
			free(o);
			continue;
		}
		left++;
		pthread_mutex_lock(&s->mutex);
		o->next = s->orphans;
		s->orphans = o;
		pthread_mutex_unlock(&s->mutex);
	}
	return left;
}

void
wc_server_log_slow(WcServer *s, int64_t min_us)
{
	atomic_store_explicit(&s->slow, min_us, memory_order_relaxed);
}

void
wc_server_scan_helpers(WcServer *s, int n)
{
	wc_crew_limit(s->crew, n);
}

void
wc_server_stop(WcServer *s, const char *why)
{
	snprintf(s->why, sizeof(s->why), "%s", why);
	wc_intake_stop(s->intake);
	wc_applier_end_steps(s->applier);	/* the next line waits for threads that have logged a step */
	wc_engine_log_steps(s->options.engine, NULL, NULL);
	pthread_mutex_lock(&s->mutex);
	for (WcHandler *h = s->running; h != NULL; h = h->next)
		wc_handler_stop(h);
	while (s->nrunning > 0)
		pthread_cond_wait(&s->none_running, &s->mutex);
	pthread_mutex_unlock(&s->mutex);
	wc_applier_stop(s->applier);
	s->applier = NULL;
	hand_over_counts(s);
}

void
wc_server_free(WcServer *s) WC_UNCHECKED
{
	WcOrphan   *next;

	for (WcOrphan *o = s->orphans; o != NULL; o = next)
	{
		next = o->next;
		free(o);
	}
	pthread_cond_destroy(&s->none_running);
	pthread_mutex_destroy(&s->mutex);
	wc_crew_free(s->crew);
	wc_intake_free(s->intake);
	wc_locktable_free(s->locktable);
	wc_epochs_free(s->epochs);
	free(s);
}

/* --- the log -----------------------------------------------------------------*/

WcStatus
wc_server_log_load(WcServer *s, uint64_t *read_from, WcError *err)
{
	return wc_intake_load(s->intake, read_from, err);
}

WcStatus
wc_server_log_batch(WcServer *s, const WcLogRecord *batch, uint64_t position, WcError *err)
{
	return wc_intake_batch(s->intake, batch, position, err);
}

WcStatus
wc_server_log_commit(WcServer *s, uint64_t xid, uint64_t position, int64_t time_us, WcError *err)
{
	return wc_intake_commit(s->intake, xid, position, time_us, err);
}

bool
wc_server_log_has(const WcServer *s, uint64_t xid)
{
	return wc_intake_has(s->intake, xid);
}

void
wc_server_log_abort(WcServer *s, uint64_t xid)
{
	wc_intake_abort(s->intake, xid);
}

void
wc_server_log_prepare(WcServer *s, uint64_t xid)
{
	wc_intake_prepare(s->intake, xid);
}

void
wc_server_log_running(WcServer *s, uint64_t next, const uint64_t *xids, size_t n)
{
	wc_intake_running(s->intake, next, xids, n);
}

uint64_t
wc_server_nprepared(const WcServer *s)
{
	return wc_intake_nprepared(s->intake);
}

void
wc_server_take_places(WcServer *s, bool all)
{
	wc_intake_take_places(s->intake, all);
}

WcStatus
wc_server_restore_locks(WcServer *s, bool (*go_on) (void), WcError *err)
{
	return wc_intake_restore_locks(s->intake, go_on, err);
}

WcStatus
wc_server_log_mark(WcServer *s, uint64_t read_from, WcError *err)
{
	return wc_intake_mark(s->intake, read_from, err);
}

uint64_t
wc_server_marked(const WcServer *s)
{
	return wc_applier_marked(s->applier);
}

void
wc_server_backlog(const WcServer *s, uint64_t *commits, uint64_t *bytes)
{
	wc_applier_backlog(s->applier, commits, bytes);
}

bool
wc_server_stalled(const WcServer *s, WcError *why)
{
	return wc_applier_stalled(s->applier, why);
}

WcStatus
wc_server_log_step(WcServer *s, const WcLogRecord *step, uint64_t position, WcError *err)
{
	return wc_intake_step(s->intake, step, position, err);
}

bool
wc_server_next_step(WcServer *s, WcSlice *bytes)
{
	return wc_intake_next_step(s->intake, bytes);
}

void
wc_server_step_written(WcServer *s, uint64_t position)
{
	wc_intake_step_written(s->intake, position);
}
