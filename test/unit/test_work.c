/*
 * test/unit/test_work.c: requested flushes and compactions, and the problems that an inspection of the store finds.
 */
#include "enginekit.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/coding.h"
#include "engine/catalog/catalog.h"
#include "engine/store/state.h"

static void
open_with_rows(Kit *kit, uint8_t packing)
{
	kit_open(kit);
	kit_create(kit, "t", packing, 1);
	kit_commit(kit);
	kit_put(kit, "r1", 1, "q", WC_TS_LATEST, "v");
	kit_put(kit, "r1", 2, "q", WC_TS_LATEST, "w");
	kit_put(kit, "r2", 1, "q", WC_TS_LATEST, "v");
	kit_commit(kit);
}

/* --- work -------------------------------------------------------------------------*/

static uint64_t
bytes_of_files(WcStore *store)
{
	return wc_rocks_property(store->engine->db, store->cf, "rocksdb.total-sst-files-size");
}

static void
one_family_is_flushed(void **state)
{
	Kit			kit = {0};
	WcWork		work = {.kind = WC_WORK_FLUSH};
	WcReadPoint at;

	(void) state;
	open_with_rows(&kit, WC_PACKING_CELL);
	at = kit_point(&kit, false);
	work.table_id = kit.table;
	work.family_id = 2;
	assert_ok(&kit, wc_engine_work(kit.engine, &work, &at, &kit.err));
	assert_true(bytes_of_files(kit_store(&kit, 1)) == 0);
	assert_true(bytes_of_files(kit_store(&kit, 2)) > 0);
	work.family_id = 0;
	assert_ok(&kit, wc_engine_work(kit.engine, &work, &at, &kit.err));
	assert_true(bytes_of_files(kit_store(&kit, 1)) > 0);
	kit_close(&kit);
}

static void
await_all(Kit *kit)
{
	bool		minor = true;
	bool		major = true;

	while (minor || major)
	{
		wc_engine_compacting(kit->engine, kit->table, &minor, &major);
		sched_yield();
	}
}

static void
work_is_done_later(void **state)
{
	Kit			kit = {0};
	WcWork		work = {.kind = WC_WORK_MAJOR};
	WcReadPoint at;
	bool		minor;
	bool		major;

	(void) state;
	open_with_rows(&kit, WC_PACKING_CELL);
	kit_delete(&kit, WC_DELETE_FAMILY, "r1", 1, "", WC_TS_LATEST);
	kit_commit(&kit);
	kit_flush(&kit);
	at = kit_point(&kit, false);
	work.table_id = kit.table;
	assert_int_equal(kit_nstored(&kit, 1), 2);	/* the marker, and r2's cell */
	assert_ok(&kit, wc_engine_work_later(kit.engine, &work, &at, &kit.err));
	await_all(&kit);
	assert_int_equal(kit_nstored(&kit, 1), 1);
	assert_string_equal(kit_scan(&kit, false), "r1{g:q=w} r2{f:q=v}");

	/* a table that is not there needs nothing */
	work.table_id = kit.table + 1;
	assert_ok(&kit, wc_engine_work_later(kit.engine, &work, &at, &kit.err));
	wc_engine_compacting(kit.engine, kit.table, &minor, &major);
	assert_false(minor || major);
	kit_close(&kit);
}

/* Different work waits, up to the limit; the same is there once.  The engine is closed with it. */
static void
what_waits_is_bounded(void **state)
{
	Kit			kit = {0};
	WcWork		work = {.kind = WC_WORK_COMPACT};
	WcReadPoint at;
	WcStatus	status = WC_OK;

	(void) state;
	open_with_rows(&kit, WC_PACKING_CELL);
	at = kit_point(&kit, false);

	/* the thread cannot continue its work, since its table cannot be looked up */
	pthread_rwlock_wrlock(&kit.engine->catalog.lock);
	work.table_id = kit.table;
	for (int i = 0; i < 5; i++)
		assert_ok(&kit, wc_engine_work_later(kit.engine, &work, &at, &kit.err));
	for (int i = 1; i < WC_WORKS_MAX + 10 && status == WC_OK; i++)
	{
		work.table_id = kit.table + (uint32_t) i;
		status = wc_engine_work_later(kit.engine, &work, &at, &kit.err);
	}
	assert_int_equal(status, WC_TOO_LARGE);
	assert_non_null(strstr(kit.err.message, "the limit is 1000"));
	pthread_rwlock_unlock(&kit.engine->catalog.lock);
	kit_close(&kit);
}

/* An engine that ends makes no more steps: the work is gone, and the server's log has no failure. */
static void
interrupted_work_is_no_failure(void **state)
{
	Kit			kit = {0};
	WcWork		work = {.kind = WC_WORK_MAJOR};
	WcReadPoint at;
	FILE	   *file = tmpfile();
	int			saved = dup(STDERR_FILENO);
	char		line[256] = "";

	(void) state;
	open_with_rows(&kit, WC_PACKING_CELL);
	kit_delete(&kit, WC_DELETE_FAMILY, "r1", 1, "", WC_TS_LATEST);
	kit_commit(&kit);
	kit_flush(&kit);
	wc_engine_log_steps(kit.engine, NULL, NULL);
	at = kit_point(&kit, false);
	work.table_id = kit.table;

	assert_true(file != NULL && saved >= 0);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	assert_ok(&kit, wc_engine_work_later(kit.engine, &work, &at, &kit.err));
	await_all(&kit);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	rewind(file);
	(void) fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	assert_string_equal(line, "");
	kit_close(&kit);
}

/* --- inspection ---------------------------------------------------------------------*/

/* "1: what is wrong; ..." */
static const char *
inspect(Kit *kit, uint32_t table_id)
{
	WcBuf		out;
	WcDecoder	d;
	WcBuf		text;
	uint64_t	n;

	wc_buf_init(&out, SIZE_MAX);
	wc_buf_init(&text, SIZE_MAX);
	assert_ok(kit, wc_engine_inspect(kit->engine, KIT_DATABASE, table_id, NULL, &out, &kit->err));
	d = wc_decoder(wc_buf_slice(&out));
	n = wc_decode_varint(&d);
	for (uint64_t i = 0; i < n; i++)
	{
		wc_buf_append_u8(&text, (uint8_t) ('0' + wc_decode_varint(&d)));
		wc_buf_append_slice(&text, kit_s(": "));
		wc_buf_append_slice(&text, wc_decode_bytes(&d));
		wc_buf_append_slice(&text, kit_s("; "));
	}
	assert_true(wc_decoder_done(&d));
	assert_true(text.len < sizeof(kit->text));
	if (text.len > 0)
		memcpy(kit->text, text.data, text.len);
	kit->text[text.len] = '\0';
	wc_buf_free(&out);
	wc_buf_free(&text);
	return kit->text;
}

static void
put_raw(Kit *kit, rocksdb_column_family_handle_t *cf, const char *key, size_t klen, const char *value, size_t vlen)
{
	rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();
	char	   *error = NULL;

	rocksdb_put_cf(kit->engine->db, options, cf, key, klen, value, vlen, &error);
	assert_null(error);
	rocksdb_writeoptions_destroy(options);
}

static void
what_is_right_is_found_right(void **state)
{
	static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

	(void) state;
	for (const uint8_t *p = packings; p < packings + 2; p++)
	{
		Kit			kit = {0};

		open_with_rows(&kit, *p);
		assert_string_equal(inspect(&kit, kit.table), "");
		kit_flush(&kit);
		assert_string_equal(inspect(&kit, kit.table), "");
		assert_string_equal(inspect(&kit, 0), "");
		/* no table, or none of this database */
		assert_string_equal(inspect(&kit, kit.table + 1), "");
		kit_close(&kit);
	}
}

static void
damage_is_told_by_family(void **state)
{
	Kit			kit = {0};

	(void) state;
	open_with_rows(&kit, WC_PACKING_CELL);
	put_raw(&kit, kit_store(&kit, 2)->cf, "no key", 6, "", 1);
	assert_non_null(strstr(inspect(&kit, kit.table), "2: key \"no key\": "));
	assert_null(strstr(kit.text, "1: "));
	kit_close(&kit);

	memset(&kit, 0, sizeof(kit));
	open_with_rows(&kit, WC_PACKING_ROW);
	put_raw(&kit, kit_store(&kit, 1)->cf, "r3", 2, "\x09", 1);
	put_raw(&kit, kit_store(&kit, 1)->cf, "", 0, "\x01", 1);
	assert_non_null(strstr(inspect(&kit, kit.table), "1: key \"r3\": "));
	assert_non_null(strstr(kit.text, "1: key \"\": no row key is so long"));
	kit_close(&kit);
}

static void
so_many_problems_are_counted(void **state)
{
	Kit			kit = {0};

	(void) state;
	open_with_rows(&kit, WC_PACKING_CELL);
	for (int i = 0; i < WC_PROBLEMS_MAX + 7; i++)
		put_raw(&kit, kit_store(&kit, 1)->cf, (const char *) &i, sizeof(i), "", 0);
	assert_non_null(strstr(inspect(&kit, kit.table), "1: 7 problems more; "));
	kit_close(&kit);
}

static void
the_catalog_is_compared(void **state)
{
	Kit			kit = {0};

	(void) state;
	open_with_rows(&kit, WC_PACKING_CELL);
	put_raw(&kit, kit.engine->meta, "T\0\0\0\x63", 5, "damaged", 7);
	assert_string_equal(inspect(&kit, 0), "0: the catalog: table descriptor has an unknown format; "
						"0: the catalog and the engine have different numbers of stored tables; ");
	kit_close(&kit);
}

/* Commits wait meanwhile; so only the tables are read, not the pieces of transactions before them, which may be gigabytes. */
static void
pieces_of_transactions_are_not_inspected(void **state)
{
	rocksdb_perfcontext_t *context = rocksdb_perfcontext_create();
	Kit			kit = {0};

	(void) state;
	open_with_rows(&kit, WC_PACKING_ROW);
	for (uint32_t i = 0; i < 1000; i++)
	{
		char		key[17] = {WC_METAKEY_PENDING};

		wc_store_u32((uint8_t *) key + 13, i);
		put_raw(&kit, kit.engine->meta, key, sizeof(key), "piece", 5);
	}
	rocksdb_set_perf_level(rocksdb_enable_count);
	rocksdb_perfcontext_reset(context);
	assert_string_equal(inspect(&kit, 0), "");
	assert_in_range(rocksdb_perfcontext_metric(context, rocksdb_next_on_memtable_count), 1, 10);
	rocksdb_set_perf_level(rocksdb_disable);
	rocksdb_perfcontext_destroy(context);
	kit_close(&kit);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_family_is_flushed),
		cmocka_unit_test(work_is_done_later),
		cmocka_unit_test(what_waits_is_bounded),
		cmocka_unit_test(interrupted_work_is_no_failure),
		cmocka_unit_test(what_is_right_is_found_right),
		cmocka_unit_test(damage_is_told_by_family),
		cmocka_unit_test(so_many_problems_are_counted),
		cmocka_unit_test(the_catalog_is_compared),
		cmocka_unit_test(pieces_of_transactions_are_not_inspected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
