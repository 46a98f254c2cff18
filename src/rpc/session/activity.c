/*
 * rpc/session/activity.c: what a session is doing, and how much it has done.
 */
#include "rpc/session/activity.h"

#include "base/clock.h"

#define PUT(field, value) atomic_store_explicit(&a->field, value, memory_order_relaxed)
#define GET(field) atomic_load_explicit(&a->field, memory_order_relaxed)
#define ADD(field, n) atomic_fetch_add_explicit(&a->field, n, memory_order_relaxed)

int64_t
wc_activity_begin(WcActivity *a, uint32_t request)
{
	int64_t		now = wc_clock_monotonic_us();

	PUT(table_id, 0);
	PUT(request, request);
	PUT(since_us, now);
	PUT(working, true);
	ADD(requests, 1);
	return now;
}

int64_t
wc_activity_end(WcActivity *a)
{
	int64_t		now = wc_clock_monotonic_us();

	PUT(since_us, now);
	PUT(working, false);
	return now;
}

void
wc_activity_read(WcActivity *a, const WcScanStats *news)
{
	ADD(rows_examined, news->rows_examined);
	ADD(rows_returned, news->rows_returned);
	ADD(blocks_hit, news->cache_hits);
	ADD(blocks_read, news->blocks_read);
}

void
wc_activity_get(const WcActivity *a, WcSessionStatistics *to)
{
	int64_t		since = GET(since_us);

	to->database = GET(database);
	to->request = GET(request);
	to->working = GET(working);
	to->since_us = since == 0 ? 0 : (uint64_t) (wc_clock_wall_us() - (wc_clock_monotonic_us() - since));
	to->scanners = GET(scanners);
	to->snapshots = GET(snapshots);
	to->snapshot_us = (uint64_t) GET(snapshot_us);
	to->transaction_bytes = GET(transaction_bytes);
	to->xid = GET(xid);
	to->requests = GET(requests);
	to->rows_examined = GET(rows_examined);
	to->rows_returned = GET(rows_returned);
	to->blocks_hit = GET(blocks_hit);
	to->blocks_read = GET(blocks_read);
}

void
wc_activity_add(const WcActivity *a, WcActivitySum *sum)
{
	sum->requests += GET(requests);
	sum->blocks_hit += GET(blocks_hit);
	sum->blocks_read += GET(blocks_read);
	sum->transaction_bytes += GET(transaction_bytes);
}

void
wc_activity_reset(WcActivity *a)
{
	PUT(requests, 0);
	PUT(rows_examined, 0);
	PUT(rows_returned, 0);
	PUT(blocks_hit, 0);
	PUT(blocks_read, 0);
}
