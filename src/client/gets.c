/*
 * client/gets.c: a session's place among the readers of shared answers.
 */
#include "postgres.h"

#include "base/clock.h"
#include "channel/shmem.h"
#include "client/gets.h"

static WcGetCache *cache;		/* of the snapshot */
static uint32 reader;
static uint64 of_epoch;			/* the snapshot's number; 0: none is of an epoch */
static uint64 epoch;			/* its epoch */

bool
wc_gets_may_share(const WcDriverOpen *open)
{
	const WcScan *scan = open->scan;

	return open->snapshot != 0 && !open->own_writes && open->clock_offset_us == 0 &&
		scan->nranges == 1 && wc_range_is_point(&scan->ranges[0]) &&
		scan->as_of_ts == WC_TS_LATEST && scan->ts_min == 0 && scan->ts_max == WC_TS_LATEST &&
		!scan->raw && !scan->measured;
}

uint64
wc_gets_epoch(uint64 snapshot)
{
	return snapshot != 0 && snapshot == of_epoch ? epoch : 0;
}

bool
wc_gets_enter(uint64 snapshot)
{
	if (of_epoch == 0)
	{
		cache = wc_shmem_getcache();
		reader = wc_shmem_my_process();
		epoch = wc_getcache_enter(cache, reader);
		if (epoch != 0)
			of_epoch = snapshot;
	}
	return of_epoch == snapshot;
}

WcGetFound
wc_gets_find(const WcDriverOpen *open, WcSlice get, WcBuf *block)
{
	return wc_getcache_find(cache, epoch, open->scan->table_id, open->scan->ranges[0].start, get,
							wc_clock_wall_us(), block);
}

bool
wc_gets_in_use(void)
{
	return of_epoch != 0;
}

void
wc_gets_leave(void)
{
	if (of_epoch == 0)
		return;
	of_epoch = 0;
	wc_getcache_leave(cache, reader);
}
