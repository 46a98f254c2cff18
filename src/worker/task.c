/*
 * worker/task.c: long work on a thread.
 */
#include "worker/task.h"

#include <signal.h>

#include "miscadmin.h"

#include "base/threads.h"

static void *
task_main(void *arg)
{
	WcTask	   *task = arg;

	task->fn(task->arg);
	atomic_store(&task->done, true);
	SetLatch(task->latch);
	return NULL;
}

void
wc_task_begin(WcTask *task, void (*fn) (void *arg), void *arg)
{
	task->fn = fn;
	task->arg = arg;
	task->latch = MyLatch;
	atomic_store(&task->done, false);
	task->begun = true;
	task->threaded = wc_thread_start(&task->thread, 0, task_main, task) == 0;
	if (!task->threaded)
	{
		sigset_t	all,
					before;

		/* RocksDB makes threads, which inherit the mask: signals are for the main thread alone */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		(void) task_main(task);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
}

bool
wc_task_is_done(const WcTask *task)
{
	return atomic_load(&task->done);
}

void
wc_task_join(WcTask *task)
{
	if (!task->begun)
		return;
	if (task->threaded)
		pthread_join(task->thread, NULL);
	task->begun = false;
}
