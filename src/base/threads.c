/*
 * base/threads.c: starting threads.
 */
#include "base/threads.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>

#include "base/cpu.h"

static int
start(pthread_t *thread, size_t stack_bytes, bool anywhere, void *(*fn) (void *arg), void *arg)
{
	pthread_attr_t attr;
	int			rc = pthread_attr_init(&attr);

	if (rc != 0)
		return rc;
	if (stack_bytes > 0)
		pthread_attr_setstacksize(&attr, stack_bytes);
	if (anywhere)
		wc_cpu_let_begin_anywhere(&attr);
	rc = pthread_create(thread, &attr, fn, arg);
	pthread_attr_destroy(&attr);
	return rc;
}

int
wc_thread_start(pthread_t *thread, size_t stack_bytes, void *(*fn) (void *arg), void *arg)
{
	sigset_t	all;
	sigset_t	before;
	int			rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = start(thread, stack_bytes, true, fn, arg);
	if (rc == EINVAL)			/* the administrator has given the process other processors meanwhile */
		rc = start(thread, stack_bytes, false, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}
