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
	return calloc(1, sizeof(WcRowStamps));
}

void
wc_rowstamps_free(WcRowStamps *stamps)
{
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

bool
wc_rowstamps_perhaps_since(const WcRowStamps *stamps, uint32_t table_id, WcSlice row, int64_t ts)
{
	if (atomic_load_explicit(&stamps->newest, memory_order_relaxed) <= ts)
		return false;
	return atomic_load_explicit(&stamps->rows[row_place(table_id, row)], memory_order_relaxed) > ts ||
		atomic_load_explicit(&stamps->tables[table_place(table_id)], memory_order_relaxed) > ts;
}
