/*
 * test/unit/test_scancache.c: a store's key-values from the scan cache are those of RocksDB at the same snapshot.
 */
#include "enginekit.h"
#include "random.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/source/cellsource_store.h"
#include "engine/source/storeiter.h"
#include "engine/store/state.h"
#include "engine/upkeep.h"

#define ROWS		300
#define SNAPSHOTS	5

/* --- beside RocksDB's iterator ------------------------------------------------------------- */

/* A key of the store's, or between its keys; empty: none. */
static void
random_key(WcBuf *key)
{
	wc_buf_reset(key, SIZE_MAX);
	if (below(4) == 0)
		return;
	wc_buf_append_slice(key, kit_s(kit_key((int) below(ROWS))));
	if (below(2) == 0)
		wc_buf_append_u8(key, (uint8_t) below(3));
}

static void
assert_same(const WcStoreIter *iter, const rocksdb_iterator_t *rocks)
{
	WcError		err;

	assert_int_equal(iter->valid, rocksdb_iter_valid(rocks));
	assert_int_equal(wc_storeiter_status(iter, &err), WC_OK);
	if (!iter->valid)
		return;
	assert_true(wc_slice_eq(iter->key, wc_source_key(rocks)));
	assert_true(wc_slice_eq(iter->value, wc_source_value(rocks)));
}

/* Both iterators over the keys from lower to upper (empty: no bound). */
typedef struct Pair
{
	WcStoreIter iter;
	WcStoreIter rocks;			/* without the cache */
} Pair;

static void
pair_open(Pair *p, WcStore *store, WcSnapshot *snapshot, bool fill_cache, bool reversed, WcSlice lower, WcSlice upper)
{
	WcSourceOptions options = {.snapshot = snapshot,.fill_cache = fill_cache,.reversed = reversed};

	wc_storeiter_open(&p->iter, store, &options, false, false, lower, upper);
	options.point = true;
	wc_storeiter_open(&p->rocks, store, &options, false, false, lower, upper);
}

static void
pair_close(Pair *p)
{
	wc_storeiter_close(&p->iter);
	wc_storeiter_close(&p->rocks);
}

/* From a key on (empty: the first; of a reversed scan the last), at most so many steps. */
static void
pair_walk(Pair *p, WcSlice from, int steps)
{
	bool		reversed = p->iter.backward;

	(reversed ? wc_storeiter_seek_backward : wc_storeiter_seek) (&p->iter, from);
	(reversed ? wc_storeiter_seek_backward : wc_storeiter_seek) (&p->rocks, from);
	assert_same(&p->iter, p->rocks.it);
	for (int i = 0; i < steps && p->iter.valid; i++)
	{
		(reversed ? wc_storeiter_prev : wc_storeiter_next) (&p->iter);
		(reversed ? wc_storeiter_prev : wc_storeiter_next) (&p->rocks);
		assert_same(&p->iter, p->rocks.it);
	}
}

/* Walks through random places of the store at the snapshot. */
static void
compare(WcStore *store, WcSnapshot *snapshot)
{
	WcBuf		lower = WC_BUF_INIT;
	WcBuf		upper = WC_BUF_INIT;
	WcBuf		from = WC_BUF_INIT;
	Pair		pair;

	random_key(&lower);
	random_key(&upper);
	pair_open(&pair, store, snapshot, below(8) > 0, below(3) == 0, wc_buf_slice(&lower), wc_buf_slice(&upper));
	for (uint32_t i = below(3) + 1; i > 0; i--)
	{
		random_key(&from);
		pair_walk(&pair, wc_buf_slice(&from), below(2) == 0 ? ROWS * 4 : (int) below(40));
	}
	pair_close(&pair);
	wc_buf_free(&lower);
	wc_buf_free(&upper);
	wc_buf_free(&from);
}

static void
change_rows(Kit *kit)
{
	int			first = (int) below(ROWS);
	int			n = below(4) == 0 ? (int) below(100) : 1;
	char		value[200];

	for (int i = first; i < first + n && i < ROWS; i++)
	{
		memset(value, 'a' + (int) below(26), sizeof(value));
		value[below(20) == 0 ? sizeof(value) - 1 : below(30)] = '\0';
		if (below(4) == 0)
			kit_delete(kit, WC_DELETE_FAMILY, kit_key(i), 1, "", KIT_LATEST);
		else
			kit_put(kit, kit_key(i), 1, below(2) == 0 ? "a" : "b", KIT_LATEST, value);
	}
	kit_commit(kit);
}

/* All chunks have what the newest snapshot shows. */
static void
check_chunks(Kit *kit)
{
	WcScanCache *cache = &kit_store(kit, 1)->scancache;
	WcSnapshot *snapshot = wc_snapshot_take(kit->engine);
	WcSourceOptions options = {.snapshot = snapshot,.point = true};
	WcStoreIter rocks;

	wc_storeiter_open(&rocks, kit_store(kit, 1), &options, false, false, wc_slice(NULL, 0), wc_slice(NULL, 0));
	for (uint32_t i = 0; i < cache->nchunks; i++)
	{
		const WcScanChunk *chunk = cache->chunks[i];
		WcSlice		key;
		WcSlice		value;

		wc_storeiter_seek(&rocks, chunk->start);
		for (uint32_t k = 0; k < chunk->n; k++)
		{
			wc_scanchunk_entry(chunk, k, &key, &value);
			assert_true(rocks.valid && wc_slice_eq(key, rocks.key) && wc_slice_eq(value, rocks.value));
			wc_storeiter_next(&rocks);
		}
		assert_true(!rocks.valid || (!chunk->to_the_end && wc_slice_cmp(rocks.key, chunk->end) >= 0));
	}
	wc_storeiter_close(&rocks);
	wc_snapshot_release(kit->engine, snapshot);
}

/* Rounds of upkeep forget what no reader can see any more. */
static void
keep_up(Kit *kit)
{
	static const WcUpkeep settings = {.makes_steps = true,.busy_percent = 100,.dead_percent = 1,.delay_us = 1,.history_us = 1};

	wc_upkeeper_set(kit->engine->upkeeper, &settings);
	for (int i = 0; i < 2; i++)
	{
		int64_t		worked_us;

		kit_now += 10;
		wc_upkeeper_round(kit->engine->upkeeper);
		while (wc_upkeeper_step(kit->engine->upkeeper, &worked_us))
			;
	}
}

/* Anything but a scan. */
static void
change(Kit *kit, uint32_t what)
{
	if (what == 0)
		kit_flush(kit);
	else if (what == 1)
		kit_compact(kit, below(2) == 0);
	else if (what == 2)
		keep_up(kit);
	else if (what == 3)
		wc_scancache_drop_idle(&kit_store(kit, 1)->scancache, wc_clock_monotonic_us() - 100);
	else
		change_rows(kit);
}

static void
random_history(uint8_t packing, int steps, uint64_t renewing_rows)
{
	WcSnapshot *snapshots[SNAPSHOTS] = {NULL};
	uint64_t	hits = wc_scancache_hits();
	Kit			kit;

	kit_open(&kit);
	kit.engine->scanmemory.chunk_bytes = 150;
	kit.engine->scanmemory.renewing_rows = renewing_rows;
	kit_create(&kit, "t", packing, 2);
	kit_commit(&kit);
	for (int i = 0; i < steps; i++)
	{
		WcSnapshot **snapshot = &snapshots[below(SNAPSHOTS)];
		uint32_t	what = below(50);

		if (what < 10)
			change(&kit, what);
		else if (what < 18 || *snapshot == NULL)
		{
			wc_snapshot_release(kit.engine, *snapshot);
			*snapshot = wc_snapshot_take(kit.engine);
		}
		else
			compare(kit_store(&kit, 1), *snapshot);
		check_chunks(&kit);
	}
	assert_true(wc_scancache_hits() > hits + (uint64_t) steps / 10);
	for (int i = 0; i < SNAPSHOTS; i++)
		wc_snapshot_release(kit.engine, snapshots[i]);
	kit_close(&kit);
}

static void
random_histories(void **state)
{
	(void) state;
	random_history(WC_PACKING_ROW, 500, 1000);
	random_history(WC_PACKING_ROW, 500, 1);
	random_history(WC_PACKING_CELL, 300, 1000);
	random_history(WC_PACKING_CELL, 300, 10);
	kit_row_together_max = 24;	/* many rows are apart */
	random_history(WC_PACKING_CELL, 300, 1000);
	random_history(WC_PACKING_CELL, 300, 1);
	kit_txn_memory = 2000;		/* commits of many rows are files that RocksDB takes in */
	random_history(WC_PACKING_CELL, 400, 1);
	kit_row_together_max = 0;
	random_history(WC_PACKING_ROW, 400, 1);
	kit_txn_memory = 0;
}

static void
put_rows(Kit *kit, int from, int to, const char *more, const char *value)
{
	for (int i = from; i < to; i++)
	{
		char		row[16];

		snprintf(row, sizeof(row), "r%03d%s", i, more);
		kit_put(kit, row, 1, "a", KIT_LATEST, value);
	}
	kit_commit(kit);
}

/* Opens the kit, and makes a store with ROWS rows, of which none are in chunks. */
static void
open_with_rows(Kit *kit, size_t chunk_bytes)
{
	kit_open(kit);
	kit->engine->scanmemory.chunk_bytes = chunk_bytes;
	kit_create(kit, "t", WC_PACKING_ROW, 1);
	put_rows(kit, 0, ROWS, "", "value");
}

/* A scan from a row on, of at most so many rows behind it. */
static void
walk(WcStore *store, WcSnapshot *snapshot, const char *from, int steps)
{
	Pair		pair;

	pair_open(&pair, store, snapshot, true, false, wc_slice(NULL, 0), wc_slice(NULL, 0));
	pair_walk(&pair, kit_s(from), steps);
	pair_close(&pair);
}

static void
walk_all(WcStore *store, WcSnapshot *snapshot, const char *from)
{
	walk(store, snapshot, from, ROWS * 4);
}

static void
scan_now(Kit *kit)
{
	WcSnapshot *snapshot = wc_snapshot_take(kit->engine);

	walk_all(kit_store(kit, 1), snapshot, "");
	wc_snapshot_release(kit->engine, snapshot);
}

/* The number of key-values in the chunk that has the row; 0: no chunk has it. */
static uint32_t
cached(Kit *kit, const char *row)
{
	WcSnapshot *snapshot = wc_snapshot_take(kit->engine);
	WcBuf		limit = WC_BUF_INIT;
	WcScanChunk *chunk = wc_scancache_find(&kit_store(kit, 1)->scancache, kit_s(row), snapshot, &limit);
	uint32_t	n = chunk != NULL ? chunk->n : 0;

	wc_scanchunk_unref(chunk);
	wc_buf_free(&limit);
	wc_snapshot_release(kit->engine, snapshot);
	return n;
}

static void
fill(Kit *kit)
{
	put_rows(kit, 0, ROWS, "", "value");
	scan_now(kit);
}

/* A scan of the whole store leaves it in memory until a row is written, or storage is dropped. */
static void
a_scan_fills_the_cache(void **state)
{
	WcFamilyAttrs uncached = wc_family_attrs_default;
	Kit			kit;

	(void) state;
	kit_open(&kit);
	kit.engine->scanmemory.chunk_bytes = 1 << 16;
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	fill(&kit);
	assert_int_equal(cached(&kit, "r1"), ROWS);
	kit_put(&kit, kit_key(7), 1, "a", KIT_LATEST, "other");
	kit_commit(&kit);
	assert_int_equal(cached(&kit, "r1"), 0);
	assert_int_equal(wc_rocks_shared_lent(&kit.engine->shared), 0);

	fill(&kit);
	assert_int_equal(cached(&kit, "r1"), ROWS);
	assert_ok(&kit, wc_batch_truncate_table(&kit.builder, kit.cid, kit.table, &kit.err));
	kit_commit(&kit);
	assert_int_equal(wc_rocks_shared_lent(&kit.engine->shared), 0);
	assert_string_equal(kit_scan(&kit, false), "");

	/* a family whose blocks are not to be kept */
	uncached.packing = WC_PACKING_ROW;
	uncached.blockcache = false;
	kit_create_attrs(&kit, "u", &uncached);
	fill(&kit);
	assert_int_equal(cached(&kit, "r1"), 0);
	kit_close(&kit);
}

/* A reversed scan of the whole store leaves it in memory, too, for scans in both directions. */
static void
a_reversed_scan_fills_the_cache(void **state)
{
	Kit			kit;
	WcSnapshot *snapshot;
	uint64_t	hits;

	(void) state;
	open_with_rows(&kit, 1 << 16);
	for (int i = 0; i < 2; i++)
	{
		Pair		pair;

		snapshot = wc_snapshot_take(kit.engine);
		hits = wc_scancache_hits();
		pair_open(&pair, kit_store(&kit, 1), snapshot, true, true, wc_slice(NULL, 0), wc_slice(NULL, 0));
		pair_walk(&pair, wc_slice(NULL, 0), ROWS * 4);
		pair_close(&pair);
		assert_int_equal(wc_scancache_hits() - hits, i);
		wc_snapshot_release(kit.engine, snapshot);
	}
	assert_int_equal(cached(&kit, "r1"), ROWS);
	hits = wc_scancache_hits();
	scan_now(&kit);
	assert_int_equal(wc_scancache_hits() - hits, 1);
	kit_close(&kit);
}

/* A commit of many rows leaves in memory what it has written, beside the other rows of the chunk. */
static void
a_commit_of_many_rows_renews_chunks(void **state)
{
	char		large[400];
	WcSnapshot *before;
	Kit			kit;

	(void) state;
	memset(large, 'v', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	kit_open(&kit);
	kit.engine->scanmemory.chunk_bytes = 1 << 15;
	kit.engine->scanmemory.renewing_rows = 20;
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	fill(&kit);
	before = wc_snapshot_take(kit.engine);
	put_rows(&kit, 10, 40, "", "other");
	assert_int_equal(cached(&kit, "r1"), ROWS);
	for (int i = 20; i < 60; i++)
		kit_delete(&kit, WC_DELETE_FAMILY, kit_key(i), 1, "", KIT_LATEST);
	kit_commit(&kit);
	assert_int_equal(cached(&kit, "r1"), ROWS);
	put_rows(&kit, 0, 20, "+", "new");
	put_rows(&kit, ROWS, ROWS + 20, "", "new");
	assert_int_equal(cached(&kit, "r1"), ROWS + 40);
	check_chunks(&kit);
	walk_all(kit_store(&kit, 1), before, "");
	wc_snapshot_release(kit.engine, before);

	/* it becomes too large */
	put_rows(&kit, 0, ROWS, "", large);
	put_rows(&kit, 0, ROWS, "-", large);
	assert_int_equal(cached(&kit, "r1"), 0);
	assert_int_equal(wc_rocks_shared_lent(&kit.engine->shared), 0);
	put_rows(&kit, 0, ROWS, "", "small");
	put_rows(&kit, 0, ROWS, "-", "small");
	fill(&kit);
	assert_int_equal(cached(&kit, "r1"), 2 * ROWS + 40);

	/* the commit has few rows, or few of the chunk */
	put_rows(&kit, 0, 19, "", "few");
	assert_int_equal(cached(&kit, "r1"), 0);
	fill(&kit);
	put_rows(&kit, 0, 20, "", "enough");
	assert_int_equal(cached(&kit, "r1"), 2 * ROWS + 40);
	kit.engine->scanmemory.renewing_rows = 5;
	put_rows(&kit, 0, 5, "", "few");
	assert_int_equal(cached(&kit, "r1"), 0);
	kit_close(&kit);
}

/* Rows of which a commit leaves no cells are not in the renewed chunk. */
static void
rows_without_cells_leave_renewed_chunks(void **state)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;
	Kit			kit;

	(void) state;
	attrs.packing = WC_PACKING_ROW;
	attrs.ttl_us = 1000;
	kit_open(&kit);
	kit.engine->scanmemory.chunk_bytes = 1 << 15;
	kit.engine->scanmemory.renewing_rows = 20;
	kit_create_attrs(&kit, "t", &attrs);
	fill(&kit);
	kit_now += 10000;			/* all cells have expired, and are still stored */
	for (int i = 0; i < 100; i++)
		kit_put(&kit, kit_key(i), 1, "a", 1, "expired");
	kit_commit(&kit);
	assert_int_equal(cached(&kit, "r150"), ROWS - 100);
	check_chunks(&kit);
	kit_close(&kit);
}

/* No chunk has what a commit has failed to write. */
static void
a_commit_that_fails_renews_nothing(void **state)
{
	Kit			kit;

	(void) state;
	open_with_rows(&kit, 1 << 15);
	kit.engine->scanmemory.renewing_rows = 20;
	scan_now(&kit);
	for (int i = 0; i < 100; i++)
		kit_put(&kit, kit_key(i), 1, "a", KIT_LATEST, "other");
	kit_fail_to_commit(&kit);
	check_chunks(&kit);
	scan_now(&kit);
	kit_commit_after_failure(&kit);
	check_chunks(&kit);
	scan_now(&kit);
	kit_close(&kit);
}

/* Renewed chunks give back the memory of those before. */
static void
renewed_chunks_take_no_more_memory(void **state)
{
	uint64_t	lent;
	Kit			kit;

	(void) state;
	kit_open(&kit);
	kit.engine->scanmemory.chunk_bytes = 1000;
	kit.engine->scanmemory.renewing_rows = 20;
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	fill(&kit);
	lent = wc_rocks_shared_lent(&kit.engine->shared);
	for (int i = 0; i < 10; i++)
	{
		put_rows(&kit, 0, ROWS, "", i % 2 == 0 ? "eulav" : "value");
		assert_int_equal(wc_rocks_shared_lent(&kit.engine->shared), lent);
	}
	check_chunks(&kit);
	kit_close(&kit);
}

/* A scan that ends early, or begins where another has ended, leaves no gap that it has read. */
static void
parts_of_scans_meet(void **state)
{
	static const char *const froms[] = {"r250", "r1", "zz", "r03", "", "r2"};
	static const int steps[] = {20, 80, 1, 5, ROWS, 0};
	WcSnapshot *snapshot;
	Pair		pair;
	uint64_t	hits;
	Kit			kit;

	(void) state;
	open_with_rows(&kit, 1000);
	snapshot = wc_snapshot_take(kit.engine);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
	{
		walk(kit_store(&kit, 1), snapshot, froms[i], steps[i]);
	}
	hits = wc_scancache_hits();
	pair_open(&pair, kit_store(&kit, 1), snapshot, true, false, wc_slice(NULL, 0), wc_slice(NULL, 0));
	wc_storeiter_seek(&pair.iter, wc_slice(NULL, 0));
	for (int i = 0; i < ROWS; i++)
	{
		assert_true(pair.iter.valid && pair.iter.chunk != NULL);
		wc_storeiter_next(&pair.iter);
	}
	assert_false(pair.iter.valid);
	assert_true(wc_scancache_hits() > hits + 5);
	pair_close(&pair);
	wc_snapshot_release(kit.engine, snapshot);
	kit_close(&kit);
}

/* A scan that ends after few rows leaves a chunk, too: of a few more.  Between the bounds of the next scan all is in it. */
static void
a_short_scan_leaves_a_chunk(void **state)
{
	WcSnapshot *snapshot;
	Pair		pair;
	Kit			kit;

	(void) state;
	open_with_rows(&kit, 4000);	/* the least chunk has 250 */
	snapshot = wc_snapshot_take(kit.engine);
	for (int round = 0; round < 2; round++)
	{
		pair_open(&pair, kit_store(&kit, 1), snapshot, true, false, wc_slice(NULL, 0), wc_slice(NULL, 0));
		pair_walk(&pair, kit_s("r100"), 1);
		assert_true((pair.iter.it == NULL) == (round > 0));
		pair_close(&pair);
		assert_in_range(cached(&kit, "r100"), 4, 20);
		assert_int_equal(kit_store(&kit, 1)->scancache.nchunks, 1);
	}

	/* up to the next chunk, to the end of the store, and to a bound, behind which nothing is read */
	for (int i = 99; i >= 97; i--)
	{
		walk(kit_store(&kit, 1), snapshot, kit_key(i), 0);
		assert_int_equal(cached(&kit, kit_key(i)), 1);
	}
	walk(kit_store(&kit, 1), snapshot, kit_key(ROWS - 2), 0);
	assert_int_equal(cached(&kit, "zz"), 2);
	pair_open(&pair, kit_store(&kit, 1), snapshot, true, false, wc_slice(NULL, 0), kit_s("r203"));
	pair_walk(&pair, kit_s("r200"), 0);
	pair_close(&pair);
	assert_int_equal(cached(&kit, "r200"), 0);
	wc_snapshot_release(kit.engine, snapshot);
	kit_close(&kit);
}

/* The same backward: at most so many rows from this one, down to the bound (empty: to the first). */
static void
walk_back(Kit *kit, WcSnapshot *snapshot, const char *from, int steps, const char *lower)
{
	Pair		pair;

	pair_open(&pair, kit_store(kit, 1), snapshot, true, true, kit_s(lower), wc_slice(NULL, 0));
	pair_walk(&pair, kit_s(from), steps);
	pair_close(&pair);
}

static void
a_short_reversed_scan_leaves_a_chunk(void **state)
{
	WcSnapshot *snapshot;
	Pair		pair;
	Kit			kit;

	(void) state;
	open_with_rows(&kit, 4000);	/* the least chunk has 250 */
	snapshot = wc_snapshot_take(kit.engine);
	for (int round = 0; round < 2; round++)
	{
		pair_open(&pair, kit_store(&kit, 1), snapshot, true, true, wc_slice(NULL, 0), wc_slice(NULL, 0));
		pair_walk(&pair, kit_s("r200"), 1);
		assert_true((pair.iter.it == NULL) == (round > 0));
		pair_close(&pair);
		assert_in_range(cached(&kit, "r200"), 4, 20);
		assert_int_equal(kit_store(&kit, 1)->scancache.nchunks, 1);
	}

	/* down to the next chunk, to the first row of the store, and to a bound, behind which nothing is read */
	for (int i = 201; i <= 203; i++)
	{
		walk_back(&kit, snapshot, kit_key(i), 0, "");
		assert_int_equal(cached(&kit, kit_key(i)), 1);
	}
	walk_back(&kit, snapshot, kit_key(1), 0, "");
	assert_int_equal(cached(&kit, "a"), 2);
	walk_back(&kit, snapshot, kit_key(103), 0, "r100");
	assert_int_equal(cached(&kit, "r102"), 0);

	/* no memory is left for a key: the scan fails, and does not end as if there were no more rows */
	pair_open(&pair, kit_store(&kit, 1), snapshot, true, true, wc_slice(NULL, 0), wc_slice(NULL, 0));
	pair.iter.failed = true;
	wc_storeiter_seek_backward(&pair.iter, kit_s("r050"));
	assert_false(pair.iter.valid);
	assert_int_equal(wc_storeiter_status(&pair.iter, &kit.err), WC_NO_MEMORY);
	pair_close(&pair);
	wc_snapshot_release(kit.engine, snapshot);
	kit_close(&kit);
}

/* Chunks that short scans have left are joined by a scan that walks over them; not with one that a commit has dropped since.  A
 * joined chunk is not for snapshots older than one of those it was made of. */
static void
a_long_scan_joins_small_chunks(void **state)
{
	WcSnapshot *snapshot;
	WcScanCache *cache;
	Pair		pair;
	uint32_t	small;
	Kit			kit;

	(void) state;
	open_with_rows(&kit, 4000);
	cache = &kit_store(&kit, 1)->scancache;
	snapshot = wc_snapshot_take(kit.engine);
	for (int i = 0; i < ROWS; i++)
		walk(kit_store(&kit, 1), snapshot, kit_key(i), 0);
	small = cache->nchunks;
	assert_true(small > 20);

	/* a scan of few rows joins none */
	walk(kit_store(&kit, 1), snapshot, "r000", (int) cached(&kit, "r000"));
	assert_int_equal(cache->nchunks, small);

	pair_open(&pair, kit_store(&kit, 1), snapshot, true, false, wc_slice(NULL, 0), wc_slice(NULL, 0));
	pair_walk(&pair, kit_s("r000"), 60);
	put_rows(&kit, 20, 21, "", "other");
	while (pair.iter.valid)
	{
		wc_storeiter_next(&pair.iter);
		wc_storeiter_next(&pair.rocks);
		assert_same(&pair.iter, pair.rocks.it);
	}
	pair_close(&pair);
	assert_int_equal(cached(&kit, "r020"), 0);
	assert_in_range(cache->nchunks, 8, small - 1);
	check_chunks(&kit);
	for (int i = 0; i < 2; i++)
		scan_now(&kit);
	assert_in_range(cache->nchunks, 2, small / 4);
	assert_true(cached(&kit, "r150") > 50);
	check_chunks(&kit);
	walk_all(kit_store(&kit, 1), snapshot, "");
	wc_snapshot_release(kit.engine, snapshot);
	kit_close(&kit);
}

/* A scan in chunks reads on in RocksDB at its snapshot, whatever was written, compacted and released meanwhile. */
static void
a_scan_leaves_its_chunk_later(void **state)
{
	WcSnapshot *snapshot;
	Pair		pair;
	Kit			kit;

	(void) state;
	open_with_rows(&kit, 4000);
	snapshot = wc_snapshot_take(kit.engine);
	walk(kit_store(&kit, 1), snapshot, "r100", 1);
	pair_open(&pair, kit_store(&kit, 1), snapshot, true, false, wc_slice(NULL, 0), wc_slice(NULL, 0));
	pair_walk(&pair, kit_s("r100"), 1);
	assert_null(pair.iter.it);
	wc_snapshot_release(kit.engine, snapshot);
	put_rows(&kit, 0, ROWS, "", "other");
	kit_flush(&kit);
	kit_compact(&kit, true);
	for (int i = 102; i < ROWS; i++)
	{
		wc_storeiter_next(&pair.iter);
		wc_storeiter_next(&pair.rocks);
		assert_same(&pair.iter, pair.rocks.it);
	}
	assert_non_null(pair.iter.it);
	pair_close(&pair);
	kit_close(&kit);
}

/* A round of upkeep drops the chunks that no scan has read for a minute, even if upkeep forgets nothing. */
static void
upkeep_drops_idle_chunks(void **state)
{
	static const WcUpkeep nothing = {.makes_steps = true};
	WcScanCache *cache;
	uint32_t	n;
	Kit			kit;

	(void) state;
	open_with_rows(&kit, 1000);
	scan_now(&kit);
	cache = &kit_store(&kit, 1)->scancache;
	n = cache->nchunks;
	assert_true(n > 1);
	wc_upkeeper_set(kit.engine->upkeeper, &nothing);
	wc_upkeeper_round(kit.engine->upkeeper);
	assert_int_equal(cache->nchunks, n);
	atomic_fetch_sub(&cache->chunks[0]->used_us, WC_SCAN_CHUNK_IDLE_US + 1);
	wc_upkeeper_round(kit.engine->upkeeper);
	assert_int_equal(cache->nchunks, n - 1);
	assert_int_equal(cached(&kit, "r000"), 0);
	kit_close(&kit);
}

static uint32_t
nchunks(WcScanCache *cache)
{
	uint32_t	n;

	pthread_mutex_lock(&cache->mutex);
	n = cache->nchunks;
	pthread_mutex_unlock(&cache->mutex);
	return n;
}

/* With widecol.upkeep = 0, too, there is a thread, and it drops idle chunks. */
static void
the_thread_of_upkeep_drops_idle_chunks(void **state)
{
	static const WcUpkeep nothing = {.makes_steps = true};
	WcScanCache *cache;
	uint32_t	n;
	Kit			kit;

	(void) state;
	open_with_rows(&kit, 1000);
	scan_now(&kit);
	cache = &kit_store(&kit, 1)->scancache;
	n = cache->nchunks;
	assert_true(n > 1);
	atomic_fetch_sub(&cache->chunks[0]->used_us, WC_SCAN_CHUNK_IDLE_US + 1);
	assert_ok(&kit, wc_engine_set_upkeep(kit.engine, &nothing, &kit.err));
	for (int tries = 0; tries < 600 && nchunks(cache) == n; tries++)
		usleep(50000);
	assert_int_equal(nchunks(cache), n - 1);
	kit_close(&kit);
}

/* Packing cell: the cells of a row are in several chunks. */
static void
a_write_drops_all_chunks_of_its_row(void **state)
{
	static const char *const qualifiers[] = {"a", "b", "c", "d"};
	char		value[40];
	Kit			kit;

	(void) state;
	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	kit_row_together_max = 24;
	kit_open(&kit);
	kit.engine->scanmemory.chunk_bytes = 70;
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	for (int round = 0; round < 3; round++)
	{
		for (size_t i = 0; i < sizeof(qualifiers) / sizeof(qualifiers[0]); i++)
		{
			kit_put(&kit, "r", 1, qualifiers[i], KIT_LATEST, value);
			kit_commit(&kit);
			for (int twice = 0; twice < 2; twice++)
				scan_now(&kit);
		}
		assert_true(kit_store(&kit, 1)->scancache.nchunks > 1);
	}
	kit_close(&kit);
	kit_row_together_max = 0;
}

/* --- beside a writer ---------------------------------------------------------------------------- */

typedef struct Beside
{
	Kit			kit;
	WcStore    *store;
	atomic_bool stop;
} Beside;

typedef struct Reader
{
	Beside	   *beside;
	pthread_t	thread;
	atomic_int	passes;			/* completed */
} Reader;

static void *
read_all(void *arg)
{
	Reader	   *r = arg;
	Beside	   *b = r->beside;

	for (int i = 0; !atomic_load(&b->stop); i++)
	{
		WcSnapshot *snapshot = wc_snapshot_take(b->kit.engine);
		char		from[8];

		snprintf(from, sizeof(from), "r%03d", i * 37 % ROWS);
		walk_all(b->store, snapshot, from);
		walk_all(b->store, snapshot, "");
		wc_snapshot_release(b->kit.engine, snapshot);
		atomic_fetch_add(&r->passes, 1);
	}
	return NULL;
}

static void
await_pass(Reader *r)
{
	int			before = atomic_load(&r->passes);

	while (atomic_load(&r->passes) == before)
		sched_yield();
}

/*
 * The readers keep up with the writer: RocksDB orders their reads of a memtable with its writes by atomics that ThreadSanitizer does not
 * see, and only as long as it knows the stack of the write does it know that RocksDB has made it (tsan.supp).
 */
static void
scans_beside_a_writer(void **state)
{
	static Beside b;
	static Reader readers[2];

	(void) state;
	memset(&b, 0, sizeof(b));
	memset(readers, 0, sizeof(readers));
	kit_open(&b.kit);
	b.kit.engine->scanmemory.chunk_bytes = 500;
	b.kit.engine->scanmemory.renewing_rows = 2;
	kit_create(&b.kit, "t", WC_PACKING_ROW, 1);
	put_rows(&b.kit, 0, ROWS, "", "value");
	b.store = wc_store_ref(kit_store(&b.kit, 1));
	for (int i = 0; i < 2; i++)
	{
		readers[i].beside = &b;
		assert_int_equal(pthread_create(&readers[i].thread, NULL, read_all, &readers[i]), 0);
	}
	for (int i = 0; i < 600; i++)
	{
		change_rows(&b.kit);
		if (i % 10 == 9)
		{
			await_pass(&readers[0]);
			await_pass(&readers[1]);
		}
		if (i % 100 == 99)
			kit_compact(&b.kit, true);
	}
	atomic_store(&b.stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(readers[i].thread, NULL);
	wc_store_unref(b.store);
	kit_close(&b.kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scan_fills_the_cache),
		cmocka_unit_test(a_reversed_scan_fills_the_cache),
		cmocka_unit_test(a_commit_of_many_rows_renews_chunks),
		cmocka_unit_test(rows_without_cells_leave_renewed_chunks),
		cmocka_unit_test(a_commit_that_fails_renews_nothing),
		cmocka_unit_test(renewed_chunks_take_no_more_memory),
		cmocka_unit_test(parts_of_scans_meet),
		cmocka_unit_test(a_short_scan_leaves_a_chunk),
		cmocka_unit_test(a_short_reversed_scan_leaves_a_chunk),
		cmocka_unit_test(a_long_scan_joins_small_chunks),
		cmocka_unit_test(a_scan_leaves_its_chunk_later),
		cmocka_unit_test(upkeep_drops_idle_chunks),
		cmocka_unit_test(the_thread_of_upkeep_drops_idle_chunks),
		cmocka_unit_test(a_write_drops_all_chunks_of_its_row),
		cmocka_unit_test(random_histories),
		cmocka_unit_test(scans_beside_a_writer)
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
