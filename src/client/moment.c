/*
 * client/moment.c: moments that are unique in the cluster.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/wait_event.h"

#include "base/clock.h"
#include "channel/shmem.h"
#include "client/client.h"

uint64
wc_client_unique_moment(void)
{
	WcShmem    *shmem = wc_shmem();
	uint64		last;

	wc_client_require_preload();
	last = atomic_load(&shmem->last_moment);
	for (;;)
	{
		uint64		us = (uint64) wc_clock_wall_us();
		uint64		second = us / WC_USEC_PER_SEC;
		uint64		next = Max(last + 1, second << WC_MOMENT_BITS);

		/* The numbers of this second are used up: wait for the next second.  If `next` is further
		 * ahead, the clock has gone back: continue from `next`. */
		if ((next >> WC_MOMENT_BITS) == second + 1)
		{
			(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
							 (long) ((WC_USEC_PER_SEC - us % WC_USEC_PER_SEC) / 1000 + 1), PG_WAIT_EXTENSION);
			ResetLatch(MyLatch);
			CHECK_FOR_INTERRUPTS();
			last = atomic_load(&shmem->last_moment);
		}
		else if (atomic_compare_exchange_weak(&shmem->last_moment, &last, next))
			return next;
	}
}
