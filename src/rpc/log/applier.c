/*
 * rpc/log/applier.c: the one thread that applies commits.
 */
#include "rpc/log/applier.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/threads.h"
#include "model/step.h"
#include "read/txn/txn.h"

/* The time from a failure to the next attempt. */
#define RETRY_MS 100

/* Kept snapshots of epochs are checked for readers so often. */
#define TIDY_MS 200

/* So many of a group's rows are answered in advance before sessions see its commits as applied. */
#define ANSWERS_FIRST 16

typedef enum Kind
{
	COMMIT,
	STEP,
	MARK
} Kind;

/* A commit, a step or a mark that was posted, and waits for the thread. */
typedef struct Entry
{
	Kind		kind;
	WcCommit	commit;			/* of a STEP and a MARK only the position */
	uint16_t	place;
	uint64_t	bytes;			/* of the batch, as counted in the backlog */
	WcPendingMark mark;			/* at commit.position; all in one piece of memory, at mark.put */
	WcSlice		step;			/* its bytes, in memory of its own */
	WcTxn	   *txn;			/* NULL: the applier makes it of the batch: */
	WcPendingBatch batch;
	struct Entry *next;
} Entry;

struct WcApplier
{
	WcApplierOptions o;
	uint64_t	generation_seen;	/* the engine's catalog generation, when last read */
	pthread_t	thread;
	WcMutex		mutex;
	pthread_cond_t work;		/* head is not NULL, or stop */
	Entry	   *head WC_GUARDED_BY(&mutex);
	Entry	  **tail WC_GUARDED_BY(&mutex);
	uint64_t	ncommits WC_GUARDED_BY(&mutex); /* the backlog */
	uint64_t	nbytes WC_GUARDED_BY(&mutex);
	int64_t		applying_us WC_GUARDED_BY(&mutex); /* commit time of the oldest commit that the thread has taken; 0: none */
	bool		stalled WC_GUARDED_BY(&mutex); /* applying fails, for the reason in `why` */
	WcError		why WC_GUARDED_BY(&mutex);
	pthread_cond_t step_done;	/* stepped has changed, or stop */
	uint64_t	stepped WC_GUARDED_BY(&mutex); /* position of the last step that was applied */
	bool		stop WC_GUARDED_BY(&mutex);
	bool		steps_end WC_GUARDED_BY(&mutex); /* no thread waits for a step any more */
	_Atomic uint64_t marked;
	bool		gave_up;		/* only the applier's thread uses this and the next one; it was stopped with commits left */
	bool		untidy;			/* snapshots of epochs are kept */
};

static void
publish_generation(WcApplier *a)
{
	uint64_t	now = wc_engine_catalog_generation(a->o.engine);

	if (now != a->generation_seen)
	{
		a->generation_seen = now;
		atomic_fetch_add(a->o.catalog_generation, 1);
	}
}

static WcStatus
apply(WcApplier *a, Entry *c, WcError *err)
{
	const WcCommit *commit = &c->commit;
	int64_t		commit_ts;
	WcStatus	status = WC_OK;

	if (c->kind == STEP)
	{
		WcStep		step;

		status = wc_step_decode(c->step, &step, err);
		return status == WC_OK ? wc_engine_step(a->o.engine, commit->position, &step, err) : status;
	}
	if (c->kind == MARK)
		return wc_engine_mark(a->o.engine, commit->position, &c->mark, err);
	if (c->txn == NULL)
		status = wc_pendingbatch_txn(&c->batch, a->o.engine, &c->txn, err);
	if (status == WC_OK && wc_txn_count(c->txn) == 0)
		return WC_OK;			/* it has only locked rows */
	if (status == WC_OK)
		status = wc_engine_apply(a->o.engine, commit, c->txn, &commit_ts, err);
	publish_generation(a);
	if (status == WC_OK)
		atomic_fetch_add(a->o.writes, wc_txn_count(c->txn));
	return status;
}

static void
note_stall(WcApplier *a, const WcError *why)
{
	pthread_mutex_lock(&a->mutex);
	if (why != NULL && !a->stalled)
		wc_log(WC_LOG_ERROR, "stored tables cannot follow the log: %s", why->message);
	if (why == NULL && a->stalled)
		wc_log(WC_LOG_INFO, "stored tables follow the log again");
	a->stalled = why != NULL;
	if (why != NULL)
		a->why = *why;
	pthread_mutex_unlock(&a->mutex);
}

/* False: the applier is to stop. */
static bool
pause_before_retry(WcApplier *a)
{
	struct timespec until;
	bool		stop;

	until = wc_clock_monotonic_after(RETRY_MS * INT64_C(1000));
	pthread_mutex_lock(&a->mutex);
	while (!a->stop && pthread_cond_timedwait(&a->work, &a->mutex, &until) != ETIMEDOUT)
		;
	stop = a->stop;
	pthread_mutex_unlock(&a->mutex);
	return !stop;
}

/* The commit time of the first commit in a list; 0: there is none in it. */
static int64_t
first_commit_us(const Entry *list)
{
	while (list != NULL && list->kind != COMMIT)
		list = list->next;
	return list != NULL ? list->commit.time_us : 0;
}

/* Is a processor free, so that sessions' threads wait by yielding theirs? */
static bool
gives_way(const WcApplier *a)
{
	return a->o.busy != NULL && wc_busy_sessions(a->o.busy, wc_clock_monotonic_us()) < (uint32_t) a->o.cores;
}

/* Applies the commit, and those behind it that fit into the same write, unless it is to be alone. */
static WcStatus
apply_next(WcApplier *a, Entry *c, bool alone, size_t *applied, WcError *err)
{
	WcApplying	group[WC_GROUP_MAX];
	size_t		n = 0;
	WcStatus	status;

	for (Entry *next = c; next != NULL && n < (alone ? 1 : WC_GROUP_MAX); next = next->next)
	{
		if (next->kind != COMMIT || next->txn == NULL || wc_txn_count(next->txn) == 0)
			break;
		group[n++] = (WcApplying) {.commit = next->commit,.txn = next->txn};
	}
	*applied = 1;
	if (c->kind == COMMIT)
		a->o.applied.begin(a->o.applied.arg, c->commit.xid);
	if (n < 2)
		return apply(a, c, err);
	for (size_t i = 1; i < n; i++)
		a->o.applied.begin(a->o.applied.arg, group[i].commit.xid);
	status = wc_engine_apply_group(a->o.engine, group, n, gives_way(a), applied, err);
	publish_generation(a);
	for (size_t i = 0; status == WC_OK && i < *applied; i++)
		atomic_fetch_add(a->o.writes, wc_txn_count(group[i].txn));
	return status;
}

/* The commit, step or mark has been applied (done), or is to be read from the log again; frees it.  next: the rest of the
 * list that was taken from the queue. */
static void
finish(WcApplier *a, Entry *c, bool done, const Entry *next)
{
	if (done && c->kind == MARK)
		atomic_store(&a->marked, c->commit.position);
	if (done && c->kind == COMMIT)
		a->o.applied.fn(a->o.applied.arg, c->commit.xid, c->place, c->commit.position);
	pthread_mutex_lock(&a->mutex);
	assert(a->nbytes >= c->bytes && (c->kind != COMMIT || a->ncommits > 0));
	a->ncommits -= c->kind == COMMIT;
	a->nbytes -= c->bytes;
	a->applying_us = first_commit_us(next);
	if (c->kind == STEP)
	{
		a->stepped = done ? c->commit.position : a->stepped;
		pthread_cond_broadcast(&a->step_done);
	}
	pthread_mutex_unlock(&a->mutex);
	wc_txn_destroy(c->txn);
	wc_pendingbatch_free(&c->batch);
	free((void *) c->mark.put);
	free((void *) c->step.data);
	free(c);
}

/* Answers Gets of rows that were just written, of at most `max` rows, until something is posted. */
static void
make_answers(WcApplier *a, int max)
{
	bool		idle;

	do
	{
		pthread_mutex_lock(&a->mutex);
		idle = a->head == NULL && !a->stop;
		pthread_mutex_unlock(&a->mutex);
	} while (idle && max-- > 0 && wc_answers_make(wc_epochs_answers(a->o.epochs)));
}

/* Applies a commit, step or mark, and tries again until that succeeds: it is in the log, so it cannot fail any
 * more.  Returns the rest of the list that was taken from the queue. */
static Entry *
apply_until_done(WcApplier *a, Entry *c)
{
	WcError		err;
	bool		failed = false;
	bool		done = !a->gave_up;
	size_t		n = 1;
	WcLeft	   *left = wc_epochs_left(a->o.epochs);
	uint64_t	nvoid = wc_engine_void_operations(a->o.engine);

	/* after a failure each alone, so that those before the one that fails are applied */
	while (done && apply_next(a, c, failed, &n, &err) != WC_OK)
	{
		note_stall(a, &err);
		failed = true;
		if (left != NULL)
			wc_left_forget(left);
		if (!pause_before_retry(a))
		{
			done = false;		/* it, and all that follow, are read from the log again */
			a->gave_up = true;
		}
	}
	if (failed && done)
		note_stall(a, NULL);
	if (left != NULL && done && nvoid == wc_engine_void_operations(a->o.engine))
		wc_left_keep(left);
	else if (left != NULL)
		wc_left_forget(left);	/* what a session left may show a change that is void */
	for (int i = 0; done && i < ANSWERS_FIRST && wc_answers_make(wc_epochs_answers(a->o.epochs)); i++)
	{
		if (gives_way(a))
			wc_cpu_give_way();
	}
	for (n = done ? n : 1; n > 0; n--)
	{
		Entry	   *next = c->next;

		finish(a, c, done, next);
		c = next;
	}
	return c;
}

/* With the mutex locked: waits for work; or, if epochs are to be checked, at most TIDY_MS.  False: this time has passed
 * without work. */
static bool
wait_for_work(WcApplier *a) WC_REQUIRES(a->mutex)
{
	struct timespec until;

	until = wc_clock_monotonic_after(TIDY_MS * INT64_C(1000));
	while (a->head == NULL && !a->stop)
	{
		if (!a->untidy)
			pthread_cond_wait(&a->work, &a->mutex);
		else if (pthread_cond_timedwait(&a->work, &a->mutex, &until) == ETIMEDOUT)
			return a->head != NULL || a->stop;
	}
	return true;
}

static void *
applier_main(void *arg)
{
	WcApplier  *a = arg;

	pthread_mutex_lock(&a->mutex);
	for (;;)
	{
		bool		work = wait_for_work(a);
		Entry	   *group = a->head;

		if (work && group == NULL)
			break;				/* stop, and nothing left to do */
		a->head = NULL;
		a->tail = &a->head;
		a->applying_us = first_commit_us(group);
		pthread_mutex_unlock(&a->mutex);
		while (group != NULL)
			group = apply_until_done(a, group);
		make_answers(a, INT_MAX);
		a->untidy = wc_epochs_tidy(a->o.epochs);
		pthread_mutex_lock(&a->mutex);
	}
	pthread_mutex_unlock(&a->mutex);
	return NULL;
}

WcStatus
wc_applier_start(const WcApplierOptions *options, WcApplier **applier, WcError *err) WC_UNCHECKED
{
	WcApplier  *a = calloc(1, sizeof(*a));
	int			rc;

	if (a == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	a->o = *options;
	a->generation_seen = wc_engine_catalog_generation(a->o.engine);
	atomic_fetch_add(a->o.catalog_generation, 1);	/* descriptors that backends cached before are outdated */
	a->tail = &a->head;
	pthread_mutex_init(&a->mutex, NULL);
	wc_clock_cond_init(&a->work);
	wc_clock_cond_init(&a->step_done);

	rc = wc_thread_start(&a->thread, 0, applier_main, a);
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
	pthread_cond_broadcast(&a->step_done);
	pthread_mutex_unlock(&a->mutex);
	pthread_join(a->thread, NULL);
	pthread_cond_destroy(&a->step_done);
	pthread_cond_destroy(&a->work);
	pthread_mutex_destroy(&a->mutex);
	free(a);
}

void
wc_applier_end_steps(WcApplier *a)
{
	pthread_mutex_lock(&a->mutex);
	a->steps_end = true;
	pthread_cond_broadcast(&a->step_done);
	pthread_mutex_unlock(&a->mutex);
}

/* With the mutex locked. */
static void
append(WcApplier *a, Entry *c) WC_REQUIRES(a->mutex)
{
	*a->tail = c;
	a->tail = &c->next;
	pthread_cond_signal(&a->work);
}

void
wc_applier_backlog(WcApplier *a, uint64_t *commits, uint64_t *bytes)
{
	pthread_mutex_lock(&a->mutex);
	*commits = a->ncommits;
	*bytes = a->nbytes;
	pthread_mutex_unlock(&a->mutex);
}

int64_t
wc_applier_waiting_us(WcApplier *a)
{
	int64_t		oldest;

	pthread_mutex_lock(&a->mutex);
	oldest = a->applying_us != 0 ? a->applying_us : first_commit_us(a->head);
	pthread_mutex_unlock(&a->mutex);
	return oldest;
}

bool
wc_applier_stalled(WcApplier *a, WcError *why)
{
	bool		stalled;

	pthread_mutex_lock(&a->mutex);
	stalled = a->stalled;
	if (stalled)
		*why = a->why;
	pthread_mutex_unlock(&a->mutex);
	return stalled;
}

static void
post(WcApplier *a, Entry *c)
{
	pthread_mutex_lock(&a->mutex);
	a->ncommits += c->kind == COMMIT;
	a->nbytes += c->bytes;
	append(a, c);
	pthread_mutex_unlock(&a->mutex);
}

WcStatus
wc_applier_post(WcApplier *a, const WcCommit *commit, WcTxn *txn, uint16_t place, WcError *err)
{
	Entry	   *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a commit");
	c->commit = *commit;
	c->txn = txn;
	c->place = place;
	c->bytes = wc_txn_length(txn);
	post(a, c);
	return WC_OK;
}

WcStatus
wc_applier_post_batch(WcApplier *a, const WcCommit *commit, WcPendingBatch *batch, WcError *err)
{
	Entry	   *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a commit");
	c->commit = *commit;
	c->place = batch->place;
	c->bytes = batch->bytes.len;
	c->batch = *batch;
	*batch = (WcPendingBatch) {.bytes = WC_BUF_INIT};
	post(a, c);
	return WC_OK;
}

/* A copy that is one piece of memory, which begins with copy->put; *size of it.  False: out of memory. */
static bool
copy_mark(const WcPendingMark *mark, WcPendingMark *copy, size_t *size)
{
	WcPendingBytes *put;
	WcPendingKey *gone;
	uint8_t    *to;

	*size = mark->nput * sizeof(*put) + mark->ngone * sizeof(*gone);
	for (size_t i = 0; i < mark->nput; i++)
		*size += mark->put[i].bytes.len;
	put = malloc(*size > 0 ? *size : 1);
	if (put == NULL)
		return false;
	gone = (WcPendingKey *) (put + mark->nput);
	to = (uint8_t *) (gone + mark->ngone);
	if (mark->ngone > 0)
		memcpy(gone, mark->gone, mark->ngone * sizeof(*gone));
	for (size_t i = 0; i < mark->nput; i++)
	{
		put[i] = mark->put[i];
		put[i].bytes.data = to;
		if (put[i].bytes.len > 0)
			memcpy(to, mark->put[i].bytes.data, put[i].bytes.len);
		to += put[i].bytes.len;
	}
	*copy = (WcPendingMark) {put, mark->nput, gone, mark->ngone};
	return true;
}

WcStatus
wc_applier_post_mark(WcApplier *a, uint64_t read_from, const WcPendingMark *pending, WcError *err)
{
	Entry	   *c = calloc(1, sizeof(*c));
	size_t		size;

	if (c == NULL || !copy_mark(pending, &c->mark, &size))
	{
		free(c);
		return wc_error(err, WC_NO_MEMORY, "out of memory for the batches of transactions under way");
	}
	c->kind = MARK;
	c->commit.position = read_from;
	c->bytes = size;
	post(a, c);
	return WC_OK;
}

WcStatus
wc_applier_post_step(WcApplier *a, WcSlice step, uint64_t position, WcError *err)
{
	Entry	   *c = calloc(1, sizeof(*c));
	uint8_t    *bytes = malloc(step.len > 0 ? step.len : 1);

	if (c == NULL || bytes == NULL)
	{
		free(c);
		free(bytes);
		return wc_error(err, WC_NO_MEMORY, "out of memory for a step");
	}
	memcpy(bytes, step.data, step.len);
	c->kind = STEP;
	c->commit.position = position;
	c->step = wc_slice(bytes, step.len);
	c->bytes = step.len;
	post(a, c);
	return WC_OK;
}

bool
wc_applier_await_step(WcApplier *a, uint64_t position, const atomic_bool *cancel)
{
	struct timespec until;
	bool		applied;

	pthread_mutex_lock(&a->mutex);
	while (a->stepped < position && !a->stop && !a->steps_end && !(cancel && atomic_load_explicit(cancel, memory_order_relaxed)))
	{
		until = wc_clock_monotonic_after(WC_CANCEL_LOOK_US);
		(void) pthread_cond_timedwait(&a->step_done, &a->mutex, &until);
	}
	applied = a->stepped >= position;
	pthread_mutex_unlock(&a->mutex);
	return applied;
}

uint64_t
wc_applier_marked(const WcApplier *a)
{
	return atomic_load(&a->marked);
}
