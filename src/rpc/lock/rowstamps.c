/*
 * rpc/lock/rowstamps.c: when rows were written last.
 */
#include "rpc/lock/rowstamps.h"

#include <stdatomic.h>
#include <stdlib.h>

/* 512 KiB.  If about so many rows are written between a snapshot and a lock, every second lock must read its row. */
#define ROWS	65536
#define TABLES	1024

struct WcRowStamps
{
	_Atomic int64_t newest;		/* the greatest of all: mostly nothing has been written since a snapshot */
	_Atomic int64_t rows[ROWS];
	_Atomic int64_t tables[TABLES];
};

static uint64_t
mix(uint64_t h)
{
	h ^= h >> 33;
	h *= UINT64_C(0xff51afd7ed558ccd);
	h ^= h >> 33;
	return h;
}

static uint32_t
row_place(uint32_t table_id, WcSlice row)
{
	uint64_t	h = mix(table_id + UINT64_C(1));
	size_t		i = 0;

	for (; row.len - i >= 8; i += 8)
	{
		uint64_t	word;

		memcpy(&word, row.data + i, 8);
		h = mix(h ^ word);
	}
	for (; i < row.len; i++)
		h = (h ^ row.data[i]) * UINT64_C(0x100000001b3);
	return (uint32_t) (mix(h ^ row.len) >> 16) % ROWS;
}

static uint32_t
table_place(uint32_t table_id)
{
	return table_id % TABLES;
}

WcRowStamps *
wc_rowstamps_create(void)
{
	return calloc(1, sizeof(WcRowStamps));
}

void
wc_rowstamps_free(WcRowStamps *stamps)
{
	free(stamps);
}

/* A thread that needs the stamp has locked, after the commit, a lock that the commit's transaction held: so no memory
 * order is needed here. */
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

bool
wc_rowstamps_perhaps_since(const WcRowStamps *stamps, uint32_t table_id, WcSlice row, int64_t ts)
{
	if (atomic_load_explicit(&stamps->newest, memory_order_relaxed) <= ts)
		return false;
	return atomic_load_explicit(&stamps->rows[row_place(table_id, row)], memory_order_relaxed) > ts ||
		atomic_load_explicit(&stamps->tables[table_place(table_id)], memory_order_relaxed) > ts;
}
