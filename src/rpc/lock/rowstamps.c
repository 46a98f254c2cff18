/*
 * rpc/lock/rowstamps.c: when rows were written last.
 */
#include "rpc/lock/rowstamps.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/threads.h"

/* 512 KiB.  If about so many rows are written between a snapshot and a lock, every second lock must read its row. */
#define ROWS	65536
#define TABLES	1024
#define RANGES	16				/* of the last commits with many rows; older ones count for their tables */

typedef struct Range
{
	uint32_t	table_id;
	int64_t		ts;				/* 0: none */
	WcSlice		first;			/* both in memory that begins at first.data */
	WcSlice		last;
} Range;

struct WcRowStamps
{
	WcMutex		mutex;
	Range		ranges[RANGES] WC_GUARDED_BY(&mutex); /* a ring */
	uint32_t	next WC_GUARDED_BY(&mutex);
	_Atomic int64_t newest_range;	/* the greatest timestamp of a range */
	_Atomic int64_t newest;		/* the greatest of all: often nothing has been written since a snapshot */
	_Atomic int64_t rows[ROWS];
	_Atomic int64_t tables[TABLES];
};

static uint32_t
row_place(uint32_t table_id, WcSlice row)
{
	return (uint32_t) (wc_hash_bytes(wc_hash_mix(table_id + UINT64_C(1)), row) >> 16) % ROWS;
}

static uint32_t
table_place(uint32_t table_id)
{
	return table_id % TABLES;
}

WcRowStamps *
wc_rowstamps_create(void)
{
	WcRowStamps *stamps = calloc(1, sizeof(WcRowStamps));

	if (stamps != NULL)
		pthread_mutex_init(&stamps->mutex, NULL);
	return stamps;
}

void
wc_rowstamps_free(WcRowStamps *stamps) WC_UNCHECKED
{
	if (stamps == NULL)
		return;
	for (int i = 0; i < RANGES; i++)
		free((void *) stamps->ranges[i].first.data);
	pthread_mutex_destroy(&stamps->mutex);
	free(stamps);
}

/* A thread reads a row's stamp after it has locked the row.  If another transaction had locked the row before, its lock
 * was released after its commit had raised the stamp: the lock's mutex orders the two, so relaxed accesses are enough. */
static void
raise_to(_Atomic int64_t *stamp, int64_t ts)
{
	if (atomic_load_explicit(stamp, memory_order_relaxed) < ts)
		atomic_store_explicit(stamp, ts, memory_order_relaxed);
}

void
wc_rowstamps_row(WcRowStamps *stamps, uint32_t table_id, WcSlice row, int64_t ts)
{
	raise_to(&stamps->newest, ts);
	raise_to(&stamps->rows[row_place(table_id, row)], ts);
}

void
wc_rowstamps_table(WcRowStamps *stamps, uint32_t table_id, int64_t ts)
{
	raise_to(&stamps->newest, ts);
	raise_to(&stamps->tables[table_place(table_id)], ts);
}

/* If there is no memory for the range, the commit counts for the whole table. */
void
wc_rowstamps_range(WcRowStamps *stamps, uint32_t table_id, WcSlice first, WcSlice last, int64_t ts)
{
	uint8_t    *rows = ts > 0 ? malloc(first.len + last.len) : NULL;
	Range	   *range;

	if (rows == NULL)
	{
		wc_rowstamps_table(stamps, table_id, ts);
		return;
	}
	memcpy(rows, first.data, first.len);
	memcpy(rows + first.len, last.data, last.len);
	pthread_mutex_lock(&stamps->mutex);
	range = &stamps->ranges[stamps->next++ % RANGES];
	wc_rowstamps_table(stamps, range->table_id, range->ts);
	free((void *) range->first.data);
	*range = (Range) {table_id, ts, wc_slice(rows, first.len), wc_slice(rows + first.len, last.len)};
	pthread_mutex_unlock(&stamps->mutex);
	raise_to(&stamps->newest, ts);
	raise_to(&stamps->newest_range, ts);
}

/* Is the row in the range of a commit with a greater timestamp? */
static bool
in_range_since(WcRowStamps *stamps, uint32_t table_id, WcSlice row, int64_t ts)
{
	bool		found = false;

	if (atomic_load_explicit(&stamps->newest_range, memory_order_relaxed) <= ts)
		return false;
	pthread_mutex_lock(&stamps->mutex);
	for (int i = 0; i < RANGES && !found; i++)
	{
		const Range *range = &stamps->ranges[i];

		found = range->ts > ts && range->table_id == table_id && wc_slice_cmp(range->first, row) <= 0 &&
			wc_slice_cmp(row, range->last) <= 0;
	}
	pthread_mutex_unlock(&stamps->mutex);
	return found;
}

bool
wc_rowstamps_perhaps_since(WcRowStamps *stamps, uint32_t table_id, WcSlice row, int64_t ts)
{
	if (atomic_load_explicit(&stamps->newest, memory_order_relaxed) <= ts)
		return false;
	/* ranges first: one that is replaced counts for its table before */
	return in_range_since(stamps, table_id, row, ts) ||
		atomic_load_explicit(&stamps->rows[row_place(table_id, row)], memory_order_relaxed) > ts ||
		atomic_load_explicit(&stamps->tables[table_place(table_id)], memory_order_relaxed) > ts;
}
