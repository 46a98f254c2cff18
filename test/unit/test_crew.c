/*
 * test/unit/test_crew.c: threads that help sessions' threads (rpc/crew.h).
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "rpc/crew.h"

#define PIECES 2000
#define SESSIONS 4

/* A job of many pieces, each of which one thread does. */
typedef struct Job
{
	pthread_t	session;		/* the thread that has the job */
	uint32_t	window;			/* the session's, from one job to the next */
	atomic_int	taken;
	atomic_int	done[PIECES];
	atomic_int	helped;			/* pieces that other threads have done */
	atomic_bool wait;			/* the session's thread waits for a helper */
} Job;

static bool
do_piece(void *arg)
{
	Job		   *job = arg;
	bool		helper = !pthread_equal(pthread_self(), job->session);
	int			i;

	while (!helper && atomic_load(&job->wait) && atomic_load(&job->helped) == 0)
		sched_yield();
	i = atomic_fetch_add(&job->taken, 1);
	if (i >= PIECES)
		return false;
	atomic_fetch_add(&job->done[i], 1);
	if (helper)
		atomic_fetch_add(&job->helped, 1);
	return true;
}

static void
run(WcCrew *crew, Job *job, bool wait)
{
	uint32_t	window = job->window;

	memset(job, 0, sizeof(*job));
	job->session = pthread_self();
	job->wait = wait;
	wc_crew_run(crew, &window, do_piece, job);
	job->window = window;
	for (int i = 0; i < PIECES; i++)
		assert_int_equal(job->done[i], 1);
}

static WcCrew *
make(int cores, int helpers, WcBusy *busy)
{
	WcCrew	   *crew;
	WcError		err;

	assert_int_equal(wc_crew_create(cores, busy, &crew, &err), WC_OK);
	wc_crew_limit(crew, helpers);
	return crew;
}

static void
test_helpers_do_a_part(void **state)
{
	static Job	job;
	WcBusy		busy = 0;
	WcCrew	   *crew = make(4, 2, &busy);

	(void) state;
	assert_true(wc_crew_helps(crew));
	for (int i = 0; i < 10; i++)
		run(crew, &job, true);
	wc_crew_free(crew);
}

/* No helper without a processor that no session needs, and none if the setting says so. */
static void
test_no_helper_where_none_is_wanted(void **state)
{
	static Job	job;
	WcBusy		busy = 0;
	WcCrew	   *crew = make(4, 0, &busy);
	WcCrew	   *single = make(1, 2, &busy);
	uint32_t	windows[SESSIONS] = {0};

	(void) state;
	assert_false(wc_crew_helps(crew));
	assert_false(wc_crew_helps(single));
	run(crew, &job, false);
	assert_int_equal(job.helped, 0);
	run(single, &job, false);
	assert_int_equal(job.helped, 0);

	/* as many busy sessions as processors, and for so long that the test ends before */
	wc_crew_limit(crew, 2);
	for (int i = 0; i < SESSIONS; i++)
		wc_busy_note(&busy, &windows[i], wc_clock_monotonic_us() + 600 * INT64_C(1000000), false);
	run(crew, &job, false);
	assert_int_equal(job.helped, 0);
	wc_crew_free(crew);
	wc_crew_free(single);
}

typedef struct Session
{
	WcCrew	   *crew;
	Job			job;
} Session;

static void *
session_main(void *arg)
{
	Session    *session = arg;

	for (int i = 0; i < 20; i++)
		run(session->crew, &session->job, false);
	return NULL;
}

static void
test_sessions_share_the_helpers(void **state)
{
	static Session sessions[SESSIONS];
	WcBusy		busy = 0;
	WcCrew	   *crew = make(16, 3, &busy);
	pthread_t	threads[SESSIONS];

	(void) state;
	for (int i = 0; i < SESSIONS; i++)
	{
		sessions[i].crew = crew;
		assert_int_equal(pthread_create(&threads[i], NULL, session_main, &sessions[i]), 0);
	}
	for (int i = 0; i < SESSIONS; i++)
		pthread_join(threads[i], NULL);
	wc_crew_free(crew);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_helpers_do_a_part),
		cmocka_unit_test(test_no_helper_where_none_is_wanted),
		cmocka_unit_test(test_sessions_share_the_helpers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
