/*
 * rpc/lock/rowstamps.c: when rows were written last.
 */
#include "rpc/lock/rowstamps.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/hash.h"

/* 512 KiB.  If about so many rows are written between a snapshot and a lock, every second lock must read its row. */
#define ROWS	65536
#define TABLES	1024

struct WcRowStamps
{
	_Atomic int64_t newest;		/* the greatest of all: mostly nothing has been written since a snapshot */
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
