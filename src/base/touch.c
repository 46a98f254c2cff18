/*
 * base/touch.c: a thread that touches memory.
 */
#include "base/touch.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"

/* The smallest page that systems have. */
#define PAGE_BYTES 4096

/* It needs next to nothing. */
#define STACK_BYTES (64 * 1024)

struct WcToucher
{
	pthread_t	thread;
	uint8_t    *memory;
	size_t		len;
	atomic_bool stop;
};

static void *
touch(void *arg)
{
	WcToucher  *t = arg;

	/* while no other thread of the machine wants the processor; where the system does not know that, it competes with them */
	(void) sched_setscheduler(0, SCHED_IDLE, &(struct sched_param) {0});
	for (size_t at = 0; at < t->len && !atomic_load_explicit(&t->stop, memory_order_relaxed); at += PAGE_BYTES)
		atomic_fetch_or_explicit((_Atomic uint64_t *) (t->memory + at), 0, memory_order_relaxed);
	return NULL;
}

WcStatus
wc_toucher_start(void *memory, size_t len, WcToucher **toucher, WcError *err)
{
	WcToucher  *t = calloc(1, sizeof(*t));
	int			rc;

	*toucher = NULL;
	if (t == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	t->memory = memory;
	t->len = len - len % sizeof(uint64_t);
	rc = wc_thread_start(&t->thread, STACK_BYTES, touch, t);
	if (rc != 0)
	{
		free(t);
		return wc_error(err, WC_IO, "could not make a thread that touches memory: %s", strerror(rc));
	}
	*toucher = t;
	return WC_OK;
}

void
wc_toucher_stop(WcToucher *t)
{
	if (t == NULL)
		return;
	atomic_store(&t->stop, true);
	(void) pthread_setschedparam(t->thread, SCHED_OTHER, &(struct sched_param) {0});	/* so that it notices soon */
	pthread_join(t->thread, NULL);
	free(t);
}
