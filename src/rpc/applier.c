/*
 * rpc/applier.c: the one thread that applies commits.
 */
#include "rpc/applier.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "read/txn/txn.h"

/* What was applied without waiting for the disk is on it this much later; and epochs
 * that are read in are looked at as often. */
#define LAZY_MS 200

typedef struct Commit
{
	uint64_t	xid;
	WcTxn	   *txn;
	bool		sync;
	bool		done;			/* guarded by the applier's mutex */
	bool		unknown;
	WcStatus	status;
	WcError    *err;
	pthread_cond_t finished;
	struct Commit *next;
} Commit;

struct WcApplier
{
	WcEngine   *engine;
	WcEpochs   *epochs;
	_Atomic uint64_t *catalog_generation;
	_Atomic uint64_t *writes;
	uint64_t	generation_seen;	/* the engine's, when last looked at */
	pthread_t	thread;
	pthread_mutex_t mutex;
	pthread_cond_t work;		/* head is not NULL, or stop */
	Commit	   *head;
	Commit	  **tail;
	bool		stop;
	bool		unsynced;		/* these two: applier's thread only */
	bool		untidy;			/* epochs may be kept that nobody is in any more */
};

static void
publish_generation(WcApplier *a)
{
	uint64_t	now = wc_engine_catalog_generation(a->engine);

	if (now != a->generation_seen)
	{
		a->generation_seen = now;
		atomic_fetch_add(a->catalog_generation, 1);
	}
}

/* Hands a commit back to whoever waits; it may be gone afterwards. */
static void
finish(WcApplier *a, Commit *c)
{
	pthread_mutex_lock(&a->mutex);
	c->done = true;
	pthread_cond_signal(&c->finished);
	pthread_mutex_unlock(&a->mutex);
}

static void
apply_group(WcApplier *a, Commit *group)
{
	Commit	   *waiting = NULL;
	Commit	  **last = &waiting;
	Commit	   *next;

	for (Commit *c = group; c != NULL; c = next)
	{
		WcCommit	commit = {
			.xid = c->xid,.position = wc_engine_applied_position(a->engine) + 1,.time_us = wc_clock_wall_us()
		};
		int64_t		commit_ts;

		next = c->next;
		c->next = NULL;
		c->status = wc_engine_apply(a->engine, &commit, c->txn, &commit_ts, c->err);
		publish_generation(a);
		if (c->status == WC_OK)
			atomic_fetch_add(a->writes, wc_txn_count(c->txn));
		if (c->status == WC_OK && c->sync)
		{
			*last = c;
			last = &c->next;
			continue;
		}
		if (c->status == WC_OK)
			a->unsynced = true;
		finish(a, c);
	}

	if (waiting != NULL)
	{
		WcError		err;
		WcStatus	status = wc_engine_sync(a->engine, &err);

		if (status == WC_OK)
			a->unsynced = false;
		for (Commit *c = waiting; c != NULL; c = next)
		{
			next = c->next;
			if (status != WC_OK)
			{
				c->status = status;
				c->unknown = true;
				*c->err = err;
			}
			finish(a, c);
		}
	}
}

/* With the mutex held: waits for work, or until what is unsynced, or untidy, should not
 * be any longer.  False when it was the time that passed. */
static bool
wait_for_work(WcApplier *a)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += LAZY_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;

	while (a->head == NULL && !a->stop)
	{
		if (!a->unsynced && !a->untidy)
			pthread_cond_wait(&a->work, &a->mutex);
		else if (pthread_cond_timedwait(&a->work, &a->mutex, &until) == ETIMEDOUT)
			return a->head != NULL || a->stop;
	}
	return true;
}

static void
lazy_sync(WcApplier *a)
{
	WcError		err;

	if (wc_engine_sync(a->engine, &err) != WC_OK)
		wc_log(WC_LOG_ERROR, "could not make commits durable: %s", err.message);
	a->unsynced = false;
}

static void *
applier_main(void *arg)
{
	WcApplier  *a = arg;

	pthread_mutex_lock(&a->mutex);
	for (;;)
	{
		bool		work = wait_for_work(a);
		Commit	   *group = a->head;

		if (work && group == NULL)
			break;				/* stop, and nothing left to do */
		a->head = NULL;
		a->tail = &a->head;
		pthread_mutex_unlock(&a->mutex);
		if (group != NULL)
			apply_group(a, group);
		else if (a->unsynced)
			lazy_sync(a);
		a->untidy = wc_epochs_tidy(a->epochs);
		pthread_mutex_lock(&a->mutex);
	}
	pthread_mutex_unlock(&a->mutex);
	if (a->unsynced)
		lazy_sync(a);
	return NULL;
}

WcStatus
wc_applier_start(WcEngine *engine, WcEpochs *epochs, _Atomic uint64_t *catalog_generation,
				 _Atomic uint64_t *writes, WcApplier **applier, WcError *err)
{
	WcApplier  *a = calloc(1, sizeof(*a));
	pthread_condattr_t attr;
	int			rc;

	if (a == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	a->engine = engine;
	a->epochs = epochs;
	a->catalog_generation = catalog_generation;
	a->writes = writes;
	a->generation_seen = wc_engine_catalog_generation(engine);
	atomic_fetch_add(catalog_generation, 1);	/* what backends cached before is old */
	a->tail = &a->head;
	pthread_mutex_init(&a->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->work, &attr);
	pthread_condattr_destroy(&attr);

	rc = pthread_create(&a->thread, NULL, applier_main, a);
	if (rc != 0)
	{
		pthread_cond_destroy(&a->work);
		pthread_mutex_destroy(&a->mutex);
		free(a);
		return wc_error(err, WC_IO, "could not make the applier's thread: %s", strerror(rc));
	}
	*applier = a;
	return WC_OK;
}

void
wc_applier_stop(WcApplier *a)
{
	pthread_mutex_lock(&a->mutex);
	a->stop = true;
	pthread_cond_signal(&a->work);
	pthread_mutex_unlock(&a->mutex);
	pthread_join(a->thread, NULL);
	pthread_cond_destroy(&a->work);
	pthread_mutex_destroy(&a->mutex);
	free(a);
}

WcStatus
wc_applier_commit(WcApplier *a, uint64_t xid, WcTxn *txn, bool sync, bool *unknown, WcError *err)
{
	Commit		c = {.xid = xid,.txn = txn,.sync = sync,.err = err};

	pthread_cond_init(&c.finished, NULL);
	pthread_mutex_lock(&a->mutex);
	*a->tail = &c;
	a->tail = &c.next;
	pthread_cond_signal(&a->work);
	while (!c.done)
		pthread_cond_wait(&c.finished, &a->mutex);
	pthread_mutex_unlock(&a->mutex);
	pthread_cond_destroy(&c.finished);
	*unknown = c.unknown;
	return c.status;
}
