/*
 * worker/task.h: long work on a thread of its own, while the engine's main thread goes on.
 *
 * Core only on that thread.  Main thread's functions.
 */
#ifndef WC_WORKER_TASK_H
#define WC_WORKER_TASK_H

#include "postgres.h"

#include <pthread.h>
#include <stdatomic.h>

#include "storage/latch.h"

typedef struct WcTask
{
	void		(*fn) (void *arg);
	void	   *arg;
	Latch	   *latch;			/* set when it is done */
	pthread_t	thread;
	bool		begun;			/* and not joined yet */
	bool		threaded;		/* it has a thread */
	atomic_bool done;
} WcTask;

/* Starts fn on a thread; if no thread can be started, calls fn.  The task must not be running. */
extern void wc_task_begin(WcTask *task, void (*fn) (void *arg), void *arg);

/* Has it ended? Never waits. */
extern bool wc_task_is_done(const WcTask *task);

/* Waits for its end, serving nothing; one that was not begun is at its end. */
extern void wc_task_join(WcTask *task);

#endif
