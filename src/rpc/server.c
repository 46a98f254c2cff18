/*
 * rpc/server.c: sessions begin and end.
 *
 * Lists: running and ended handlers, and transactions that go on without their sessions,
 * guarded by the mutex.  A handler's thread moves itself from the first to the second as its
 * last act.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "rpc/intake.h"
#include "rpc/handler.h"

/* A request's work needs a few dozen KiB. */
#define STACK_BYTES (512 * 1024)

struct WcServer
{
	WcServerOptions options;
	WcApplier  *applier;
	WcEpochs   *epochs;
	WcLockTable *locktable;
	WcIntake *intake;		/* NULL: no log is followed */
	pthread_mutex_t mutex;
	pthread_cond_t none_running;
	WcHandler  *running;
	WcHandler  *ended;
	WcOrphan   *orphans;
	int			nrunning;
	int			nsessions;		/* both lists; main thread only */
	char		why[WC_GONE_TEXT_MAX];	/* set before the handlers are stopped */
};

static void
block_signals(sigset_t *before)
{
	sigset_t	all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

WcStatus
wc_server_start(const WcServerOptions *options, WcServer **server, WcError *err)
{
	WcServer   *s = calloc(1, sizeof(*s));
	WcApplied	applied = {NULL, NULL};
	sigset_t	before;
	WcStatus	status;

	if (s == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	s->options = *options;
	pthread_mutex_init(&s->mutex, NULL);
	pthread_cond_init(&s->none_running, NULL);
	s->locktable = wc_locktable_create();
	if (s->locktable == NULL)
	{
		wc_server_free(s);
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	}
	status = wc_epochs_create(options->engine, options->getcache, &s->epochs, err);
	if (status != WC_OK)
	{
		wc_server_free(s);
		return status;
	}
	if (options->log != NULL)
		status = wc_intake_create(options->engine, s->locktable, options->log, &s->intake, err);
	if (status == WC_OK)
	{
		if (s->intake != NULL)
			applied = wc_intake_applied(s->intake);
		block_signals(&before);
		status = wc_applier_start(options->engine, s->epochs, options->catalog_generation, options->writes, applied,
								  &s->applier, err);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (status == WC_OK && s->intake != NULL)
	{
		wc_intake_begin(s->intake, s->applier);
		wc_engine_log_steps(options->engine, wc_intake_log_step, s->intake);
	}
	if (status != WC_OK)
	{
		wc_server_free(s);
		return status;
	}
	*server = s;
	return WC_OK;
}

/* The end of a session: its backend is told, then the main thread. */
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
	if (h->orphan->xid != 0)
	{
		h->orphan->next = s->orphans;
		s->orphans = h->orphan;
		h->orphan = NULL;
	}

	/* Before the lock is given up: once the main thread sees none running it may
	 * take the server away. */
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

	wc_handler_serve(h, &why);
	retire(h, &why);
	return NULL;
}

static WcStatus
start_thread(WcHandler *h, WcError *err)
{
	pthread_attr_t attr;
	sigset_t	before;
	int			rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	block_signals(&before);
	rc = pthread_create(&h->thread, &attr, handler_main, h);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (rc != 0)
		return wc_error(err, WC_IO, "could not make a session's thread: %s", strerror(rc));
	return WC_OK;
}

static WcStatus
make_handler(WcServer *s, void *memory, WcWake wake, void *owner, WcError *err)
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
	h->wake = wake;
	h->owner = owner;
	h->segment = memory;
	status = wc_dispatch_init(&h->dispatch, s->options.engine, s->applier, s->intake, s->epochs, s->locktable,
							  &h->segment->cancel, err);

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
wc_server_attach(WcServer *s, void *memory, size_t size, WcWake wake, void *owner, WcError *err)
{
	WcSegment  *segment = memory;
	WcStatus	status = wc_segment_check(memory, size, err);

	if (status == WC_CORRUPT)
		return status;			/* not a segment: nobody waits at it */
	if (status == WC_OK)
	{
		/* Before the thread is there: it may end at once. */
		atomic_store(&segment->state, WC_SEGMENT_SERVED);
		status = make_handler(s, memory, wake, owner, err);
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

int
wc_server_sessions(const WcServer *s)
{
	return s->nsessions;
}

void
wc_server_stop(WcServer *s, const char *why)
{
	snprintf(s->why, sizeof(s->why), "%s", why);
	if (s->intake != NULL)
	{
		wc_intake_stop(s->intake);
		wc_engine_log_steps(s->options.engine, NULL, NULL);
	}
	pthread_mutex_lock(&s->mutex);
	for (WcHandler *h = s->running; h != NULL; h = h->next)
		wc_handler_stop(h);
	while (s->nrunning > 0)
		pthread_cond_wait(&s->none_running, &s->mutex);
	pthread_mutex_unlock(&s->mutex);
	wc_applier_stop(s->applier);
	s->applier = NULL;
}

void
wc_server_free(WcServer *s)
{
	WcOrphan   *next;

	for (WcOrphan *o = s->orphans; o != NULL; o = next)
	{
		next = o->next;
		free(o);
	}
	pthread_cond_destroy(&s->none_running);
	pthread_mutex_destroy(&s->mutex);
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

void
wc_server_log_abort(WcServer *s, uint64_t xid)
{
	wc_intake_abort(s->intake, xid);
}

void
wc_server_log_running(WcServer *s, uint64_t oldest_xid)
{
	wc_intake_running(s->intake, oldest_xid);
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
