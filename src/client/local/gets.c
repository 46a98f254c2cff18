/*
 * client/local/gets.c: a session's places among the readers of shared answers.
 */
#include "postgres.h"

#include "base/clock.h"
#include "channel/shmem.h"
#include "client/local/gets.h"

typedef struct Place
{
	uint64		snapshot;		/* the snapshot's number; 0: the place is free */
	uint64		epoch;
	uint64		mark;			/* by which other processes find the epoch; 0: none */
} Place;

static Place places[WC_GETCACHE_PLACES];
static int	ntaken;

bool
wc_gets_may_share(const WcDriverOpen *open)
{
	const WcScan *scan = open->scan;

	return open->snapshot != 0 && !open->own_writes && open->clock_offset_us == 0 &&
		scan->nranges == 1 && wc_range_is_point(&scan->ranges[0]) &&
		scan->as_of_ts == WC_TS_LATEST && scan->ts_min == 0 && scan->ts_max == WC_TS_LATEST &&
		!scan->raw && !scan->measured;
}

/* The snapshot's place; for snapshot 0: a free place.  -1: there is none. */
static int
find(uint64 snapshot)
{
	for (int i = 0; i < WC_GETCACHE_PLACES; i++)
	{
		if (places[i].snapshot == snapshot)
			return i;
	}
	return -1;
}

uint64
wc_gets_epoch(uint64 snapshot)
{
	int			i = snapshot != 0 && ntaken > 0 ? find(snapshot) : -1;

	return i < 0 ? 0 : places[i].epoch;
}

static bool
take(int i, uint64 snapshot, uint64 epoch)
{
	if (epoch == 0)
		return false;
	places[i] = (Place) {.snapshot = snapshot,.epoch = epoch};
	ntaken++;
	return true;
}

bool
wc_gets_enter(uint64 snapshot)
{
	int			i = find(0);

	return i >= 0 && take(i, snapshot, wc_getcache_enter(wc_shmem_getcache(), wc_shmem_my_process(), (uint32) i));
}

bool
wc_gets_full(void)
{
	return ntaken == WC_GETCACHE_PLACES;
}

bool
wc_gets_mark(uint64 snapshot, uint64 mark)
{
	int			found = find(snapshot);

	if (found < 0)
		return false;
	for (int i = 0; i < WC_GETCACHE_PLACES; i++)
	{
		if (i != found && places[i].mark == mark)
		{
			wc_getcache_mark(wc_shmem_getcache(), wc_shmem_my_process(), (uint32) i, 0);
			places[i].mark = 0;
		}
	}
	wc_getcache_mark(wc_shmem_getcache(), wc_shmem_my_process(), (uint32) found, mark);
	places[found].mark = mark;
	return true;
}

bool
wc_gets_enter_marked(uint64 snapshot, uint32 process, uint64 mark)
{
	int			i = find(0);

	return i >= 0 && take(i, snapshot,
						  wc_getcache_enter_marked(wc_shmem_getcache(), wc_shmem_my_process(), (uint32) i, process, mark));
}

WcGetFound
wc_gets_find(const WcDriverOpen *open, WcSlice get, WcBuf *block)
{
	WcGetCache *cache = wc_shmem_getcache();
	WcGetFound	found = wc_getcache_find(cache, wc_gets_epoch(open->snapshot), open->scan->table_id,
										 open->scan->ranges[0].start, get, wc_clock_wall_us(), block);

	wc_getcache_count(cache, wc_shmem_my_process(), found == WC_GET_FOUND);
	return found;
}

static void
leave(int i)
{
	wc_getcache_leave(wc_shmem_getcache(), wc_shmem_my_process(), (uint32) i);
	places[i] = (Place) {0};
	ntaken--;
}

void
wc_gets_leave(uint64 snapshot)
{
	int			i = ntaken > 0 ? find(snapshot) : -1;

	if (i >= 0)
		leave(i);
}

void
wc_gets_leave_all(void)
{
	for (int i = 0; ntaken > 0 && i < WC_GETCACHE_PLACES; i++)
	{
		if (places[i].snapshot != 0)
			leave(i);
	}
}
