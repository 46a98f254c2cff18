/*
 * client/local/gets.c: a session's places among the readers of shared answers.
 */
#include "postgres.h"

#include "base/clock.h"
#include "channel/flight.h"
#include "channel/shmem.h"
#include "client/local/gets.h"
#include "model/cellblock.h"
#include "wire/message/frame.h"

typedef struct Place
{
	uint64		snapshot;		/* the snapshot's number; 0: the place is free */
	uint64		epoch;
	uint64		mark;			/* by which other processes find the epoch; 0: none */
} Place;

static Place places[WC_GETCACHE_PLACES];
static int	ntaken;

/* So many rows may be expected of a range without a limit; and a limit may be so large. */
#define RANGE_ROWS 100
#define LIMIT_ROWS 1000

static inline bool
is_get(const WcScan *scan)
{
	return scan->nranges == 1 && wc_range_is_point(&scan->ranges[0]);
}

static bool
has_plain_options(const WcDriverOpen *open)
{
	const WcScan *scan = open->scan;

	return open->clock_offset_us == 0 && scan->as_of_ts == WC_TS_LATEST && scan->ts_min == 0 && scan->ts_max == WC_TS_LATEST &&
		!scan->raw && !scan->measured;
}

/* A page, or a range of a few rows. */
static bool
is_short_range(const WcDriverOpen *open)
{
	const WcScan *scan = open->scan;

	return scan->nranges == 1 && wc_scan_has_shape(scan) &&
		(scan->row_limit > 0 ? scan->row_limit <= LIMIT_ROWS : open->rows_hint > 0 && open->rows_hint <= RANGE_ROWS);
}

bool
wc_gets_may_share(const WcDriverOpen *open)
{
	if ((open->snapshot == 0 && !open->quiet) || open->own_writes || !has_plain_options(open))
		return false;
	return is_get(open->scan) || is_short_range(open);
}

bool
wc_gets_may_find(const WcDriverOpen *open)
{
	return is_get(open->scan) && has_plain_options(open);
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

bool
wc_gets_is_unchanged(uint64 snapshot, uint32 table_id, WcSlice row)
{
	uint64		epoch = wc_gets_epoch(snapshot);

	return epoch != 0 && wc_getcache_is_unchanged(wc_shmem_getcache(), epoch, table_id, row);
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

/* What a search in stretches needs to look for rows that have been written since: as answers to Gets. */
typedef struct WrittenRows
{
	WcScan		get;			/* the scan, of one row */
	WcRange		range;			/* the row */
	uint64_t	epoch;			/* in which the session reads; UINT64_MAX: the newest state */
	int64_t		now_us;
	WcBuf	   *keys;			/* of the rows, each with its length in front */
} WrittenRows;

/* A WcRangeQuery's written_row; arg: the WrittenRows. */
static bool
find_written_row(void *arg, WcSlice key, WcBuf *out, uint32_t *n)
{
	static WcBuf bytes = WC_BUF_INIT;
	static WcBuf block = WC_BUF_INIT;
	WrittenRows *w = arg;
	WcSlice		row;

	wc_buf_reset(&bytes, WC_FRAME_KEEP);
	wc_buf_reset(&block, WC_FRAME_KEEP);
	w->range.start = w->range.stop = key;
	wc_scan_encode(&bytes, &w->get);
	wc_buf_append_bytes(w->keys, key);
	if (bytes.failed || w->keys->failed ||
		!wc_getcache_look(wc_shmem_getcache(), w->epoch, w->get.table_id, key, wc_buf_slice(&bytes), w->now_us, &block) ||
		!wc_block_whole_rows(wc_buf_slice(&block), &row))
		return false;
	wc_buf_append_slice(out, row);
	*n = row.len > 0 ? 1 : 0;
	return !out->failed;
}

/* Have these rows not been written since this epoch? */
static bool
are_unchanged(const WrittenRows *w, uint64_t epoch)
{
	WcDecoder	d = wc_decoder(wc_buf_slice(w->keys));

	while (d.p < d.end)
	{
		if (!wc_getcache_is_unchanged(wc_shmem_getcache(), epoch, w->get.table_id, wc_decode_bytes(&d)))
			return false;
	}
	return true;
}

/* The rows of a range, as a block. */
static bool
find_range(const WcScan *scan, WcSlice shape, uint64_t epoch, WcBuf *block)
{
	static WcBuf keys = WC_BUF_INIT;
	uint64_t	began = wc_getcache_epoch(wc_shmem_getcache());
	WrittenRows written = {
		.get = *scan,.range = {.start_inclusive = true,.stop_inclusive = true},.epoch = epoch,.now_us = wc_clock_wall_us(),.keys = &keys
	};
	WcRangeQuery query = {
		.table_id = scan->table_id,.shape = shape,.range = &scan->ranges[0],.reversed = scan->reversed,
		.row_limit = scan->row_limit,.epoch = epoch,.now_us = written.now_us,.written_row = find_written_row,.arg = &written
	};
	WcBlockWriter w;

	written.get.ranges = &written.range;
	written.get.reversed = false;
	written.get.row_limit = 0;
	wc_buf_reset(&keys, WC_FRAME_KEEP);
	wc_block_begin(&w, block, false);
	if (!block->failed && wc_rangecache_find(wc_shmem_rangecache(), &query, block) &&
		(epoch != UINT64_MAX || are_unchanged(&written, began)))
	{
		wc_block_finish(&w, false, true);
		return true;
	}
	wc_buf_reset(block, WC_FRAME_KEEP);
	return false;
}

/* The answer to a Get; one that is too large for the cache of Gets, as a range of one row. */
static WcGetFound
find_answer(const WcScan *scan, uint64 epoch, WcBuf *block)
{
	static WcBuf bytes = WC_BUF_INIT;
	WcGetFound	found = WC_GET_WANTED;

	wc_buf_reset(&bytes, WC_FRAME_KEEP);
	if (is_get(scan))
	{
		found = WC_GET_ABSENT;
		wc_scan_encode(&bytes, scan);
		if (!bytes.failed)
			found = wc_getcache_find(wc_shmem_getcache(), epoch, scan->table_id, scan->ranges[0].start, wc_buf_slice(&bytes),
									 wc_clock_wall_us(), block);
		if (found == WC_GET_FOUND || !wc_scan_has_shape(scan) || !wc_rangecache_uses(wc_shmem_rangecache(), scan->table_id))
			return found;
		wc_buf_reset(&bytes, WC_FRAME_KEEP);
	}
	wc_scan_shape_encode(&bytes, scan);
	if (!bytes.failed && find_range(scan, wc_buf_slice(&bytes), epoch, block))
		return WC_GET_FOUND;
	return found;
}

WcGetFound
wc_gets_find(const WcDriverOpen *open, WcBuf *block)
{
	WcGetFound	found = find_answer(open->scan, wc_gets_epoch(open->snapshot), block);

	wc_getcache_count(wc_shmem_getcache(), wc_shmem_my_process(), found == WC_GET_FOUND);
	return found;
}

/* A row's answer in the newest state is valid in each epoch since its last change. */
WcGetFound
wc_gets_find_now(const WcScan *scan, WcBuf *block)
{
	WcGetFound	found = find_answer(scan, UINT64_MAX, block);

	wc_getcache_count(wc_shmem_getcache(), wc_shmem_my_process(), found == WC_GET_FOUND);
	return found;
}

/* Is it a Get of the scan's row, without conditions?  (Its other options are those of wc_gets_may_find.) */
static bool
is_get_of_row(const WcScan *get, const WcScan *scan)
{
	return get->table_id == scan->table_id && get->nranges == 1 && wc_range_is_point(&get->ranges[0]) &&
		wc_slice_eq(get->ranges[0].start, scan->ranges[0].start) &&
		get->filter == NULL && get->filter_text.len == 0 && get->aggregation == NULL && get->column_offset == 0;
}

bool
wc_gets_find_any(const WcScan *scan, const WcDriverClaim *claim, WcBuf *block)
{
	static WcBuf bytes = WC_BUF_INIT;
	static WcArena arena;
	uint32		next = 0;
	WcScan		get;

	for (;;)
	{
		wc_buf_reset(&bytes, WC_FRAME_KEEP);
		wc_buf_reset(block, WC_FRAME_KEEP);
		wc_arena_reset(&arena);
		if (!wc_getcache_find_any(wc_shmem_getcache(), scan->table_id, scan->ranges[0].start, wc_clock_wall_us(), &next,
								  &bytes, block))
			return false;
		if (wc_scan_decode(wc_buf_slice(&bytes), &arena, &get, NULL) != WC_OK || !is_get_of_row(&get, scan) ||
			!claim->shows(claim->arg, &get, wc_buf_slice(block)))
			continue;
		wc_getcache_count(wc_shmem_getcache(), wc_shmem_my_process(), true);
		return true;
	}
}

bool
wc_gets_find_unapplied(const WcScan *scan, uint64 xid, WcDriverClaim *claim, WcBuf *block)
{
	static WcBuf bytes = WC_BUF_INIT;
	static WcArena arena;
	static WcScan get;
	uint64		hash = wc_claims_hash_row(wc_claims_hash_table(wc_claims(), scan->table_id), scan->ranges[0].start);
	uint32_t	follows;

	wc_buf_reset(&bytes, WC_FRAME_KEEP);
	wc_buf_reset(block, WC_FRAME_KEEP);
	wc_arena_reset(&arena);
	if (claim->takes_over == NULL || !wc_unapplied_find(wc_unapplied(), hash, xid, &follows, &bytes, block) ||
		wc_scan_decode(wc_buf_slice(&bytes), &arena, &get, NULL) != WC_OK || !is_get_of_row(&get, scan) ||
		!claim->takes_over(claim->arg, &get, wc_buf_slice(block)))
		return false;
	claim->taken_over = &get;
	claim->follows = follows;
	return true;
}

/* --- leaving epochs ------------------------------------------------------------------ */

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
