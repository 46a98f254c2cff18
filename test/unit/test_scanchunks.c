/*
 * test/unit/test_scanchunks.c: the chunks of a scan cache, without an engine: which one a scan finds, and their memory.
 */
#include "enginekit.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/store/internal.h"

typedef struct Alone
{
	WcRocksShared shared;
	WcScanMemory memory;
	WcScanCache cache;
	WcBuf		limit;
} Alone;

static void
alone_open(Alone *a, uint64_t bytes)
{
	memset(a, 0, sizeof(*a));
	wc_rocks_shared_init(&a->shared, bytes, 1 << 20);
	wc_scanmemory_init(&a->memory, &a->shared);
	wc_scancache_init(&a->cache, &a->memory);
}

static void
alone_close(Alone *a)
{
	wc_scancache_destroy(&a->cache);
	assert_int_equal(wc_rocks_shared_lent(&a->shared), 0);
	wc_rocks_shared_free(&a->shared);
	wc_buf_free(&a->limit);
}

static WcSnapshot
seen_at(int64_t last_ts, uint64_t seq)
{
	return (WcSnapshot) {.last_ts = last_ts,.seq = seq};
}

/* Adds a chunk with one key at its start; end NULL: to the end. */
static bool
add(Alone *a, const char *start, const char *end, const WcSnapshot *snapshot)
{
	WcScanCopy	copy = WC_SCAN_COPY_INIT;
	WcSlice		to = kit_s(end != NULL ? end : "");
	bool		room;

	wc_scancopy_begin(&copy, &a->cache, kit_s(start));
	assert_true(wc_scancopy_take(&copy, kit_s(start), kit_s("v")));
	room = wc_scancache_add(&a->cache, &copy, end != NULL ? &to : NULL, true, snapshot);
	wc_scancopy_free(&copy);
	return room;
}

/* The chunk's start; or, in brackets, the limit if there is none. */
static const char *
find(Alone *a, const char *key, int64_t last_ts, uint64_t seq)
{
	static char text[64];
	WcSnapshot	s = seen_at(last_ts, seq);
	WcScanChunk *chunk = wc_scancache_find(&a->cache, kit_s(key), &s, &a->limit);

	if (chunk != NULL)
		snprintf(text, sizeof(text), "%.*s", (int) chunk->start.len, (const char *) chunk->start.data);
	else
		snprintf(text, sizeof(text), "(%.*s)", (int) a->limit.len, (const char *) a->limit.data);
	wc_scanchunk_unref(chunk);
	return text;
}

static void
write_key(Alone *a, const char *from, const char *to, int64_t ts)
{
	if (wc_scancache_note(&a->cache, ts))
		wc_scancache_written(&a->cache, kit_s(from), kit_s(to));
}

static void
chunks_hold_for_newer_snapshots(void **state)
{
	WcSnapshot	at = seen_at(10, 5);
	WcSnapshot	unknown = seen_at(11, WC_SNAPSHOT_SEQ_UNKNOWN);
	Alone		a;

	(void) state;
	alone_open(&a, 8 << 20);
	assert_string_equal(find(&a, "b", 10, 5), "()");
	assert_true(add(&a, "b", "d", &at));
	assert_true(add(&a, "f", NULL, &at));
	assert_string_equal(find(&a, "a", 10, 5), "(b)");
	assert_string_equal(find(&a, "b", 10, 5), "b");
	assert_string_equal(find(&a, "c", 11, 3), "b");
	assert_string_equal(find(&a, "d", 10, 5), "(f)");
	assert_string_equal(find(&a, "zz", 10, 7), "f");
	assert_string_equal(find(&a, "c", 10, 4), "(f)");
	assert_string_equal(find(&a, "c", 9, 9), "(f)");
	assert_string_equal(find(&a, "c", 10, WC_SNAPSHOT_SEQ_UNKNOWN), "(f)");
	assert_string_equal(find(&a, "c", 11, WC_SNAPSHOT_SEQ_UNKNOWN), "b");

	/* not of a snapshot of which it is not known what it shows, nor over another */
	assert_true(add(&a, "d", "e", &unknown));
	assert_string_equal(find(&a, "d", 12, 9), "(f)");
	assert_true(add(&a, "c", "e", &at));
	assert_true(add(&a, "e", "g", &at));
	assert_true(add(&a, "e", NULL, &at));
	assert_string_equal(find(&a, "e", 12, 9), "(f)");
	assert_true(add(&a, "d", "f", &at));
	assert_string_equal(find(&a, "e", 12, 9), "d");
	alone_close(&a);
}

static void
writes_drop_chunks(void **state)
{
	WcSnapshot	at = seen_at(10, 5);
	WcSnapshot	later = seen_at(11, 6);
	WcSnapshot	last = seen_at(11, 8);
	WcScanChunk *held;
	Alone		a;

	(void) state;
	alone_open(&a, 8 << 20);
	write_key(&a, "x", "y", 10);
	assert_true(add(&a, "b", "d", &at));
	assert_true(add(&a, "d", "f", &at));
	assert_true(add(&a, "f", NULL, &at));
	held = wc_scancache_find(&a.cache, kit_s("d"), &at, &a.limit);
	assert_non_null(held);
	write_key(&a, "a", "b", 11);
	assert_string_equal(find(&a, "b", 11, 6), "b");
	write_key(&a, "e", "f", 11);
	assert_string_equal(find(&a, "c", 11, 6), "b");
	assert_string_equal(find(&a, "d", 11, 6), "(f)");
	write_key(&a, "e1", "e2", 11);
	assert_string_equal(find(&a, "g", 11, 6), "f");
	assert_int_equal(held->n, 1);	/* a scan that holds it continues to read it */
	wc_scanchunk_unref(held);

	/* a snapshot that may not show the write makes no more chunks */
	assert_true(add(&a, "d", "f", &at));
	assert_string_equal(find(&a, "d", 11, 6), "(f)");
	assert_true(add(&a, "d", "f", &later));
	assert_string_equal(find(&a, "d", 11, 6), "d");
	write_key(&a, "c", "dd", 11);
	assert_string_equal(find(&a, "b", 11, 6), "(f)");
	write_key(&a, "z", "z1", 11);
	assert_string_equal(find(&a, "b", 11, 6), "()");

	/* steps */
	assert_true(add(&a, "b", "c", &later));
	wc_scancache_close(&a.cache);
	assert_string_equal(find(&a, "b", 11, 6), "()");
	assert_false(wc_scancache_takes(&a.cache, &last));
	wc_scancache_open(&a.cache, 8);
	assert_true(add(&a, "b", "c", &later));
	assert_string_equal(find(&a, "b", 11, 8), "()");
	assert_true(add(&a, "b", "c", &last));
	assert_string_equal(find(&a, "b", 11, 8), "b");
	alone_close(&a);
}

static void
memory_is_bounded(void **state)
{
	WcSnapshot	at = seen_at(10, 5);
	char		start[2] = "a";
	char		end[2] = "b";
	Alone		a;

	(void) state;
	alone_open(&a, 2000);
	while (add(&a, start, end, &at))
	{
		start[0]++;
		end[0]++;
		assert_in_range(wc_rocks_shared_lent(&a.shared), 1, 1000);
	}
	assert_true(start[0] > 'a');
	assert_string_equal(find(&a, "a", 10, 5), "a");
	assert_string_equal(find(&a, start, 10, 5), "()");

	/* those that are not read leave */
	wc_scancache_drop_idle(&a.cache, wc_clock_monotonic_us() - WC_SCAN_CHUNK_IDLE_US);
	assert_string_equal(find(&a, "a", 10, 5), "a");
	wc_scancache_drop_idle(&a.cache, wc_clock_monotonic_us() + 1);
	assert_string_equal(find(&a, "a", 10, 5), "()");
	assert_int_equal(wc_rocks_shared_lent(&a.shared), 0);
	assert_true(add(&a, start, end, &at));
	assert_string_equal(find(&a, start, 10, 5), start);
	alone_close(&a);
}

/* RocksDB's cache becomes smaller by the memory that it lends, and larger when that is given back. */
static void
the_block_cache_lends_its_memory(void **state)
{
	const uint64_t mb = 1 << 20;
	Alone		a;

	(void) state;
	alone_open(&a, 64 * mb);
	assert_true(wc_rocks_shared_lend(&a.shared, 20 * mb));
	assert_int_equal(rocksdb_cache_get_capacity(a.shared.cache), 44 * mb);
	assert_false(wc_rocks_shared_lend(&a.shared, 13 * mb));
	assert_true(wc_rocks_shared_lend(&a.shared, 12 * mb));
	assert_int_equal(rocksdb_cache_get_capacity(a.shared.cache), 32 * mb);
	wc_rocks_shared_give_back(&a.shared, 20 * mb);
	assert_int_equal(rocksdb_cache_get_capacity(a.shared.cache), 52 * mb);
	wc_rocks_shared_give_back(&a.shared, 12 * mb);
	assert_int_equal(rocksdb_cache_get_capacity(a.shared.cache), 64 * mb);
	alone_close(&a);
}

static void
many_small_chunks_are_refused(void **state)
{
	WcSnapshot	at = seen_at(10, 5);
	WcScanCopy	copy = WC_SCAN_COPY_INIT;
	char		value[2000];
	WcSlice		end = kit_s("g");
	Alone		a;

	(void) state;
	memset(value, 'v', sizeof(value));
	alone_open(&a, 8 << 20);
	a.memory.chunk_bytes = 4000;
	a.memory.small_chunks = 2;
	assert_true(add(&a, "b", "c", &at));
	assert_true(add(&a, "d", "e", &at));
	assert_true(add(&a, "f", "g", &at));
	assert_string_equal(find(&a, "b", 10, 5), "b");
	assert_string_equal(find(&a, "d", 10, 5), "d");
	assert_string_equal(find(&a, "f", 10, 5), "()");
	wc_scancopy_begin(&copy, &a.cache, kit_s("f"));
	assert_true(wc_scancopy_take(&copy, kit_s("f"), wc_slice(value, sizeof(value))));
	assert_true(wc_scancache_add(&a.cache, &copy, &end, false, &at));
	assert_string_equal(find(&a, "f", 10, 5), "f");
	wc_scancopy_free(&copy);
	alone_close(&a);
}

/* The chunk with these keys, renewed with a key-value of so many bytes. */
static WcScanChunk *
renew(Alone *a, const char *from, const char *to, size_t bytes)
{
	WcScanCopy	copy = WC_SCAN_COPY_INIT;
	WcScanChunk *chunk = wc_scancache_take_out(&a->cache, kit_s(from), kit_s(to));
	char		value[2000] = "";

	assert_non_null(chunk);
	wc_scancopy_begin(&copy, &a->cache, chunk->start);
	assert_true(wc_scancopy_take(&copy, kit_s(from), wc_slice(value, bytes)));
	chunk = wc_scancopy_renew(&copy, &a->cache, chunk);
	wc_scancopy_free(&copy);
	return chunk;
}

static void
chunks_are_renewed(void **state)
{
	WcSnapshot	at = seen_at(10, 5);
	WcSnapshot	later = seen_at(11, 8);
	WcSnapshot	last = seen_at(12, 9);
	WcScanChunk *chunk;
	Alone		a;

	(void) state;
	alone_open(&a, 2000);
	assert_true(add(&a, "b", "d", &at));
	assert_true(add(&a, "d", "f", &at));
	assert_true(add(&a, "f", NULL, &at));
	assert_true(wc_scancache_note(&a.cache, 11));
	chunk = renew(&a, "d", "f", 100);
	assert_non_null(chunk);
	assert_string_equal(find(&a, "d", 11, 8), "(f)");
	wc_scancache_put_back(&a.cache, chunk, &later);
	assert_string_equal(find(&a, "d", 10, 5), "(f)");
	assert_string_equal(find(&a, "d", 11, 7), "(f)");
	assert_string_equal(find(&a, "d", 11, 8), "d");
	chunk = renew(&a, "x", "y", 1);
	wc_scancache_put_back(&a.cache, chunk, &later);
	assert_string_equal(find(&a, "zz", 11, 8), "f");

	/* keys of two chunks, or of no chunk, are of none: those that have some of them are dropped */
	assert_null(wc_scancache_take_out(&a.cache, kit_s("c"), kit_s("e")));
	assert_null(wc_scancache_take_out(&a.cache, kit_s("a"), kit_s("b")));
	assert_string_equal(find(&a, "c", 11, 8), "(f)");
	assert_string_equal(find(&a, "d", 11, 8), "(f)");

	/* there is no memory; a step comes between; another chunk is there by then */
	assert_null(renew(&a, "x", "y", 1900));
	assert_int_equal(wc_rocks_shared_lent(&a.shared), 0);
	assert_true(add(&a, "b", "d", &later));
	chunk = renew(&a, "b", "c", 1);
	wc_scancache_close(&a.cache);
	wc_scancache_put_back(&a.cache, chunk, &later);
	wc_scancache_open(&a.cache, 9);
	assert_string_equal(find(&a, "b", 12, 9), "()");
	assert_true(add(&a, "b", "d", &last));
	chunk = renew(&a, "b", "c", 1);
	assert_true(add(&a, "c", "d", &last));
	wc_scancache_put_back(&a.cache, chunk, &last);
	assert_string_equal(find(&a, "b", 12, 9), "(c)");
	alone_close(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_hold_for_newer_snapshots),
		cmocka_unit_test(writes_drop_chunks),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(the_block_cache_lends_its_memory),
		cmocka_unit_test(many_small_chunks_are_refused),
		cmocka_unit_test(chunks_are_renewed)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
