/*
 * test/unit/test_recentrows.c: a key-value that is found as one that was written last is the one that RocksDB has.
 */
#include "enginekit.h"
#include "random.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/copies/recentrows.h"
#include "engine/rocks/cellkey.h"
#include "engine/store/state.h"

#define ROWS 40

/* --- alone ------------------------------------------------------------------------------------- */

/* Families are only compared. */
static rocksdb_column_family_handle_t *
family(int i)
{
	static char families[4];

	return (rocksdb_column_family_handle_t *) &families[i];
}

static int
set_up(void **state)
{
	static WcRecentRows recent;

	wc_recentrows_init(&recent);
	*state = &recent;
	return 0;
}

static int
tear_down(void **state)
{
	wc_recentrows_free(*state);
	return 0;
}

static void
put(WcRecentRows *recent, int cf, const char *key, const char *value)
{
	WcSlice		s = kit_s(value != NULL ? value : "");

	wc_recentrows_stage(recent, family(cf), kit_s(key), value != NULL ? &s : NULL);
}

/* The value that a reader of this sequence number finds; "-": none. */
static const char *
find(WcRecentRows *recent, int cf, const char *key, uint64_t seq)
{
	static char text[WC_RECENTROWS_BYTES + 1];
	WcBuf		value = WC_BUF_INIT;

	snprintf(text, sizeof(text), "-");
	if (wc_recentrows_find(recent, family(cf), kit_s(key), seq, &value))
		snprintf(text, sizeof(text), "%.*s", (int) value.len, (const char *) value.data);
	wc_buf_free(&value);
	return text;
}

static void
write_now(WcRecentRows *recent, bool written, uint64_t seq)
{
	wc_recentrows_begin(recent);
	wc_recentrows_end(recent, written, seq);
}

static void
readers_find_what_was_written(void **state)
{
	WcRecentRows *recent = *state;

	put(recent, 1, "a", "one");
	put(recent, 1, "b", "two");
	assert_string_equal(find(recent, 1, "a", UINT64_MAX), "-");
	write_now(recent, true, 10);
	assert_string_equal(find(recent, 1, "a", UINT64_MAX), "one");
	assert_string_equal(find(recent, 1, "b", 10), "two");
	assert_string_equal(find(recent, 1, "b", 9), "-");		/* a snapshot of before */
	assert_string_equal(find(recent, 2, "a", 10), "-");	/* another family */
	assert_string_equal(find(recent, 1, "c", 10), "-");

	/* the later change of a write counts; a key may be deleted */
	put(recent, 1, "a", "three");
	put(recent, 1, "a", "four");
	put(recent, 1, "b", NULL);
	write_now(recent, true, 12);
	assert_string_equal(find(recent, 1, "a", 12), "four");
	assert_string_equal(find(recent, 1, "a", 11), "-");
	assert_string_equal(find(recent, 1, "b", 12), "-");
}

static void
nothing_is_found_during_a_write(void **state)
{
	WcRecentRows *recent = *state;

	put(recent, 1, "a", "one");
	write_now(recent, true, 10);
	put(recent, 1, "b", "two");
	wc_recentrows_begin(recent);
	assert_string_equal(find(recent, 1, "a", UINT64_MAX), "-");
	wc_recentrows_end(recent, true, 11);
	assert_string_equal(find(recent, 1, "a", UINT64_MAX), "one");
}

static void
a_failed_write_forgets_everything(void **state)
{
	WcRecentRows *recent = *state;

	put(recent, 1, "a", "one");
	write_now(recent, true, 10);
	put(recent, 1, "b", "two");
	write_now(recent, false, 10);
	assert_string_equal(find(recent, 1, "a", UINT64_MAX), "-");
	assert_string_equal(find(recent, 1, "b", UINT64_MAX), "-");

	/* what was staged for a write that there is not is not staged for the next */
	put(recent, 1, "a", "three");
	wc_recentrows_unstage(recent);
	put(recent, 1, "b", "four");
	write_now(recent, true, 12);
	assert_string_equal(find(recent, 1, "a", UINT64_MAX), "-");
	assert_string_equal(find(recent, 1, "b", UINT64_MAX), "four");
	wc_recentrows_forget(recent);
	assert_string_equal(find(recent, 1, "b", UINT64_MAX), "-");
}

static void
large_values_and_large_writes_are_not_kept(void **state)
{
	char		large[WC_RECENTROWS_BYTES + 1];
	WcRecentRows *recent = *state;

	memset(large, 'x', sizeof(large));
	large[WC_RECENTROWS_BYTES] = '\0';
	put(recent, 1, "a", "one");
	put(recent, 1, "b", "two");
	write_now(recent, true, 10);
	put(recent, 1, "a", large);	/* with its key too large by a byte */
	write_now(recent, true, 11);
	assert_string_equal(find(recent, 1, "a", UINT64_MAX), "-");
	assert_string_equal(find(recent, 1, "b", UINT64_MAX), "two");
	put(recent, 1, "a", large + 1);
	write_now(recent, true, 12);
	assert_string_equal(find(recent, 1, "a", UINT64_MAX), large + 1);

	for (size_t bytes = 0; bytes < WC_RECENTROWS_STAGED_MAX; bytes += WC_RECENTROWS_BYTES)
		put(recent, 1, "c", large + 1);
	write_now(recent, true, 13);
	assert_string_equal(find(recent, 1, "b", UINT64_MAX), "-");
	put(recent, 1, "b", "three");
	write_now(recent, true, 14);
	assert_string_equal(find(recent, 1, "b", UINT64_MAX), "three");
}

/* --- beside RocksDB --------------------------------------------------------------------------- */

/* Compares what is found with RocksDB's values, of all keys of rows.  Returns the number found. */
static int
check_rows(Kit *kit)
{
	int			nfound = 0;

	for (uint32_t f = 1; f <= 2; f++)
	{
		WcStore    *store = kit_store(kit, f);

		for (int i = 0; i < ROWS; i++)
		{
			WcBuf		key = WC_BUF_INIT;
			WcBuf		value = WC_BUF_INIT;

			if (store->packing == WC_PACKING_CELL)
				wc_cellkey_append_row(&key, kit_s(kit_key(i)));
			else
				wc_buf_append_slice(&key, kit_s(kit_key(i)));
			if (wc_recentrows_find(&kit->engine->recent, store->cf, wc_buf_slice(&key), UINT64_MAX, &value))
			{
				char	   *error = NULL;
				size_t		len = 0;
				char	   *stored = rocksdb_get_cf(kit->engine->db, kit->engine->read_options, store->cf, (const char *) key.data,
													key.len, &len, &error);

				assert_null(error);
				assert_non_null(stored);
				assert_true(wc_slice_eq(wc_slice(stored, len), wc_buf_slice(&value)));
				rocksdb_free(stored);
				nfound++;
			}
			wc_buf_free(&key);
			wc_buf_free(&value);
		}
	}
	return nfound;
}

static void
change_row(Kit *kit)
{
	static const char *const qualifiers[] = {"a", "b", "c"};
	static const WcCellType types[] = {WC_DELETE, WC_DELETE_COLUMN, WC_DELETE_FAMILY};
	const char *row = kit_key((int) below(ROWS));
	uint32_t	f = 1 + below(2);
	char		value[600];

	if (below(4) == 0)
	{
		WcCellType	type = types[below(3)];

		kit_delete(kit, type, row, f, type == WC_DELETE_FAMILY ? "" : qualifiers[below(3)], KIT_LATEST);
		return;
	}
	memset(value, 'v', sizeof(value));
	value[below(20) == 0 ? below(sizeof(value)) : below(10)] = '\0';
	value[sizeof(value) - 1] = '\0';
	kit_put(kit, row, f, qualifiers[below(3)], KIT_LATEST, value);
}

/* What a scan gives is the same once everything is forgotten. */
static void
check_scan(Kit *kit)
{
	char	   *before = strdup(kit_scan(kit, false));

	assert_non_null(before);
	wc_recentrows_forget(&kit->engine->recent);
	assert_string_equal(kit_scan(kit, false), before);
	free(before);
}

static void
random_history(uint8_t packing)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;
	int			nfound = 0;
	Kit			kit;

	attrs.packing = packing;
	attrs.versions = 2;
	attrs.ttl_us = 500;
	kit_row_together_max = 1000;
	kit_open(&kit);
	kit_row_together_max = 0;
	kit_create_attrs(&kit, "t", &attrs);
	kit_commit(&kit);
	for (int i = 0; i < 600; i++)
	{
		for (uint32_t n = 1 + below(4); n > 0; n--)
			change_row(&kit);
		kit_commit(&kit);
		kit_now += below(10);
		nfound += check_rows(&kit);
		switch (below(40))
		{
			case 0:
				kit_flush(&kit);
				break;
			case 1:
				kit_compact(&kit, below(2) == 0);
				break;
			case 2:
				check_scan(&kit);
				break;
			case 3:
				kit_reopen(&kit);
				break;
			default:
				continue;
		}
		nfound += check_rows(&kit);
	}
	assert_true(nfound > 1000);
	kit_close(&kit);
}

static void
random_histories(void **state)
{
	(void) state;
	random_history(WC_PACKING_ROW);
	random_history(WC_PACKING_CELL);
}

/* A commit reads the row as the one before has left it, and not as one that failed would have. */
static void
a_commit_that_fails_is_not_read(void **state)
{
	Kit			kit;

	(void) state;
	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_put(&kit, "r000", 1, "a", KIT_LATEST, "1");
	kit_commit(&kit);
	assert_int_equal(check_rows(&kit), 1);
	kit_put(&kit, "r000", 1, "b", KIT_LATEST, "2");
	kit_fail_to_commit(&kit);
	assert_int_equal(check_rows(&kit), 0);
	kit_commit_after_failure(&kit);
	assert_int_equal(check_rows(&kit), 1);
	assert_string_equal(kit_scan(&kit, false), "r000{f:a=1 f:b=2}");
	kit_close(&kit);
}

/* The table that is emptied gets other families, and one of these may get the address of one that was freed. */
static void
a_change_of_the_catalog_forgets_everything(void **state)
{
	rocksdb_column_family_handle_t *emptied;
	WcBuf		value = WC_BUF_INIT;
	Kit			kit;

	(void) state;
	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_put(&kit, "r000", 1, "a", KIT_LATEST, "1");
	kit_commit(&kit);
	assert_int_equal(check_rows(&kit), 1);
	emptied = kit_store(&kit, 1)->cf;
	assert_ok(&kit, wc_batch_truncate_table(&kit.builder, kit.cid, kit.table, &kit.err));
	kit_put(&kit, "r001", 1, "a", KIT_LATEST, "2");
	kit_commit(&kit);
	assert_false(wc_recentrows_find(&kit.engine->recent, emptied, kit_s("r000"), UINT64_MAX, &value));
	assert_int_equal(check_rows(&kit), 1);
	kit_close(&kit);
}

/* Its key-values become files that RocksDB takes in. */
static void
a_large_commit_forgets_everything(void **state)
{
	char		large[101];
	Kit			kit;

	(void) state;
	memset(large, 'v', sizeof(large));
	large[100] = '\0';
	kit_txn_memory = 2000;
	kit_open(&kit);
	kit_txn_memory = 0;
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_put(&kit, "r000", 1, "a", KIT_LATEST, "1");
	kit_commit(&kit);
	assert_int_equal(check_rows(&kit), 1);
	for (int i = 0; i < ROWS; i++)
		kit_put(&kit, kit_key(i), 1, "a", KIT_LATEST, large);
	kit_commit(&kit);
	assert_int_equal(check_rows(&kit), 0);
	kit_put(&kit, "r001", 1, "a", KIT_LATEST, "2");
	kit_commit(&kit);
	assert_int_equal(check_rows(&kit), 1);
	kit_close(&kit);
}

/* --- beside a writer ---------------------------------------------------------------------------- */

typedef struct Shared
{
	WcRecentRows recent;
	_Atomic uint64_t seq;		/* of the last write: the value of "a" is this number */
	_Atomic uint64_t nfound;	/* by all readers */
	atomic_bool end;
} Shared;

/* A reader whose sequence number is that of the last write finds its value, or none. */
static void *
reader_main(void *arg)
{
	Shared	   *s = arg;

	while (!atomic_load(&s->end))
	{
		uint64_t	seq = atomic_load(&s->seq);
		WcBuf		value = WC_BUF_INIT;
		char		text[24];

		snprintf(text, sizeof(text), "%llu", (unsigned long long) seq);
		if (wc_recentrows_find(&s->recent, family(1), kit_s("a"), seq, &value))
		{
			if (!wc_slice_eq(wc_buf_slice(&value), kit_s(text)))
				abort();
			s->nfound++;
		}
		wc_buf_free(&value);
	}
	return NULL;
}

static void
readers_beside_a_writer(void **state)
{
	pthread_t	threads[2];
	Shared		s = {.seq = 0};

	(void) state;
	wc_recentrows_init(&s.recent);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, reader_main, &s), 0);
	for (uint64_t seq = 1; seq <= 3000; seq++)
	{
		char		text[24];

		snprintf(text, sizeof(text), "%llu", (unsigned long long) seq);
		put(&s.recent, 1, "a", text);
		wc_recentrows_begin(&s.recent);
		atomic_store(&s.seq, seq);	/* as RocksDB shows the write */
		wc_recentrows_end(&s.recent, true, seq);
		while (seq % 100 == 0 && s.nfound < seq)
			sched_yield();
	}
	atomic_store(&s.end, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	wc_recentrows_free(&s.recent);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(readers_find_what_was_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_is_found_during_a_write, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_failed_write_forgets_everything, set_up, tear_down),
		cmocka_unit_test_setup_teardown(large_values_and_large_writes_are_not_kept, set_up, tear_down),
		cmocka_unit_test(random_histories),
		cmocka_unit_test(a_commit_that_fails_is_not_read),
		cmocka_unit_test(a_change_of_the_catalog_forgets_everything),
		cmocka_unit_test(a_large_commit_forgets_everything),
		cmocka_unit_test(readers_beside_a_writer)
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
