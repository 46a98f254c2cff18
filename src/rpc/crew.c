/*
 * rpc/crew.c: threads that help sessions' threads with long scans.
 *
 * A session's thread puts its job into a list; helpers that have nothing to do take the first job that may have
 * another helper.  Helpers are made when they are first wanted.
 */
#include "rpc/crew.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/threads.h"

/* Work on one part of a scan needs a few dozen KiB. */
#define STACK_BYTES (512 * 1024)

typedef struct Job
{
	struct Job *next;
	bool		(*work) (void *arg);
	void	   *arg;
	bool		open;			/* helpers may join */
	int			helpers;		/* that work on it */
	pthread_cond_t idle;		/* signalled when there are none any more */
} Job;

typedef struct Helper
{
	struct Helper *next;
	pthread_t	thread;
} Helper;

struct WcCrew
{
	int			cores;
	WcBusy	   *busy;
	atomic_int	limit;
	WcMutex		mutex;
	pthread_cond_t wanted;		/* signalled when a job may have another helper, and at the end */
	Job		   *jobs WC_GUARDED_BY(&mutex);
	Helper	   *helpers WC_GUARDED_BY(&mutex);
	int			nhelpers WC_GUARDED_BY(&mutex);
	int			nworking WC_GUARDED_BY(&mutex);
	bool		stop WC_GUARDED_BY(&mutex);
};

WcStatus
wc_crew_create(int cores, WcBusy *busy, WcCrew **crew, WcError *err)
{
	WcCrew	   *c = calloc(1, sizeof(*c));

	*crew = c;
	if (c == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	c->cores = cores;
	c->busy = busy;
	pthread_mutex_init(&c->mutex, NULL);
	pthread_cond_init(&c->wanted, NULL);
	return WC_OK;
}

void
wc_crew_limit(WcCrew *c, int helpers)
{
	atomic_store_explicit(&c->limit, helpers, memory_order_relaxed);
}

bool
wc_crew_helps(const WcCrew *c)
{
	return c->cores > 1 && atomic_load_explicit(&c->limit, memory_order_relaxed) > 0;
}

/* How many helpers may work now? */
static int
allowed(const WcCrew *c)
{
	int			limit = atomic_load_explicit(&c->limit, memory_order_relaxed);
	int			free = c->cores - (int) wc_busy_sessions(c->busy, wc_clock_monotonic_us());

	return free < limit ? free : limit;
}

/* The first job that helpers may join. */
static Job *
open_job(WcCrew *c) WC_REQUIRES(c->mutex)
{
	Job		   *job = c->jobs;

	while (job != NULL && !job->open)
		job = job->next;
	return job;
}

static void
help(WcCrew *c, Job *job) WC_REQUIRES(c->mutex)
{
	bool		more = true;

	job->helpers++;
	c->nworking++;
	while (more && job->open && c->nworking <= allowed(c))
	{
		pthread_mutex_unlock(&c->mutex);
		more = job->work(job->arg);
		pthread_mutex_lock(&c->mutex);
	}
	c->nworking--;
	if (--job->helpers == 0)
		pthread_cond_signal(&job->idle);
}

static void *
helper_main(void *arg)
{
	WcCrew	   *c = arg;

	pthread_mutex_lock(&c->mutex);
	while (!c->stop)
	{
		Job		   *job = open_job(c);

		if (job != NULL && c->nworking < allowed(c))
			help(c, job);
		if (!c->stop)
			pthread_cond_wait(&c->wanted, &c->mutex);
	}
	pthread_mutex_unlock(&c->mutex);
	return NULL;
}

/* Another helper thread; without memory for one there are fewer. */
static void
make_helper(WcCrew *c) WC_REQUIRES(c->mutex)
{
	Helper	   *helper = calloc(1, sizeof(*helper));

	if (helper == NULL)
		return;
	if (wc_thread_start(&helper->thread, STACK_BYTES, helper_main, c) != 0)
	{
		free(helper);
		return;
	}
	helper->next = c->helpers;
	c->helpers = helper;
	c->nhelpers++;
}

/* Wakes helpers if they may work. */
static void
call_helpers(WcCrew *c)
{
	int			n = allowed(c);

	pthread_mutex_lock(&c->mutex);
	if (c->nworking < n)
	{
		while (c->nhelpers < n)
		{
			int			before = c->nhelpers;

			make_helper(c);
			if (c->nhelpers == before)
				break;
		}
		for (int i = c->nworking; i < n; i++)
			pthread_cond_signal(&c->wanted);
	}
	pthread_mutex_unlock(&c->mutex);
}

void
wc_crew_run(WcCrew *c, uint32_t *window, bool (*work) (void *arg), void *arg)
{
	Job			job = {.work = work,.arg = arg,.open = true};
	Job		  **p;

	pthread_cond_init(&job.idle, NULL);
	pthread_mutex_lock(&c->mutex);
	job.next = c->jobs;
	c->jobs = &job;
	pthread_mutex_unlock(&c->mutex);
	do
	{
		wc_busy_note(c->busy, window, wc_clock_monotonic_us(), false);
		call_helpers(c);
	} while (work(arg));
	pthread_mutex_lock(&c->mutex);
	job.open = false;
	while (job.helpers > 0)
		pthread_cond_wait(&job.idle, &c->mutex);
	for (p = &c->jobs; *p != &job; p = &(*p)->next)
		;
	*p = job.next;
	pthread_mutex_unlock(&c->mutex);
	pthread_cond_destroy(&job.idle);
}

void
wc_crew_free(WcCrew *c) WC_UNCHECKED
{
	Helper	   *next;

	if (c == NULL)
		return;
	pthread_mutex_lock(&c->mutex);
	c->stop = true;
	pthread_cond_broadcast(&c->wanted);
	pthread_mutex_unlock(&c->mutex);
	for (Helper *h = c->helpers; h != NULL; h = next)
	{
		next = h->next;
		pthread_join(h->thread, NULL);
		free(h);
	}
	pthread_cond_destroy(&c->wanted);
	pthread_mutex_destroy(&c->mutex);
	free(c);
}
