/*
 * test/model/test_steps_model.c: two stores that apply the same commits and steps have the same content, whatever RocksDB
 * does in each of them.
 *
 * The first store makes the steps, the second gets their bytes.  In between each store is flushed, compacted and
 * reopened at its own times, with its own clock, and compactions drop gone cells at any time.  Then both stores answer
 * reads alike, raw ones and reads as of any time, and have the same catalog, byte for byte.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/store/state.h"
#include "engine/write/step.h"
#include "modelscan.h"

#define MOMENTS		120
#define PAST_MAX	2000		/* how far back timestamps and times to read as of are */

typedef struct Pair
{
	Kit			a;
	Kit			b;
	WcFamilyAttrs attrs;
	uint64_t	nsteps;
	uint64_t	nwide;			/* markers steps among them */
} Pair;

static Pair pair;
static uint64_t steps_in_all;
static uint64_t wide_in_all;
static uint64_t seen_in_all;		/* reads as of a time that were not refused */

/* --- the same to both --------------------------------------------------------*/

/* Commits the operations that were collected for the first store to both. */
static void
commit(void)
{
	Kit		   *a = &pair.a;
	Kit		   *b = &pair.b;

	wc_buf_append_slice(&b->ops, wc_buf_slice(&a->ops));
	b->table = a->table;
	kit_commit(a);
	kit_commit(b);
	assert_int_equal(a->commit_ts, b->commit_ts);
}

static int64_t
random_ts(void)
{
	return below(2) == 0 ? WC_TS_LATEST : kit_now - below(PAST_MAX);
}

static void
random_item(WcBatchBuilder *b, uint32_t family, WcSlice qualifier)
{
	static const WcCellType markers[] = {WC_DELETE, WC_DELETE_COLUMN, WC_DELETE_FAMILY, WC_DELETE_FAMILY_VERSION};
	char		value[16];
	uint32_t	what = below(16);
	WcCellType	type = markers[what % 4];
	bool		of_family = type == WC_DELETE_FAMILY || type == WC_DELETE_FAMILY_VERSION;

	snprintf(value, sizeof(value), "%u", below(10000));
	if (what < 10)
		assert_ok(&pair.a, wc_batch_put(b, family, qualifier, random_ts(), below(4) == 0 ? 1 + below(PAST_MAX) : 0,
										wc_slice_cstr(value), &pair.a.err));
	else if (what == 10)
		assert_ok(&pair.a, wc_batch_clear_column(b, family, qualifier, &pair.a.err));
	else
		assert_ok(&pair.a, wc_batch_delete(b, type, family, of_family ? wc_slice(NULL, 0) : qualifier,
										   type == WC_DELETE_FAMILY_VERSION ? kit_now - below(PAST_MAX) : random_ts(), &pair.a.err));
}

static void
random_commit(void)
{
	Kit		   *a = &pair.a;

	for (uint32_t n = 1 + below(4); n > 0; n--)
	{
		assert_ok(a, wc_batch_row_begin(&a->builder, a->table, a->cid, model_rows[below(below(3) == 0 ? MODEL_ROWS : 4)], 0, NULL, 0, &a->err));
		for (uint32_t i = 1 + below(5); i > 0; i--)
			random_item(&a->builder, 1 + below(MODEL_FAMILIES), model_columns[below(MODEL_COLUMNS)]);
		assert_ok(a, wc_batch_row_end(&a->builder, &a->err));
	}
	commit();
	kit_now = a->commit_ts + 1 + below(100);
}

static void
random_alter(void)
{
	Kit		   *a = &pair.a;
	WcFamilyAttrs attrs = pair.attrs;
	WcFamilyDesc families[2];
	WcTableDesc desc = {
		.id = a->table,.database = KIT_DATABASE,.ns = wc_slice_cstr("default"),.name = wc_slice_cstr("t"),
		.nfamilies = 2,.families = families,.next_family_id = 3
	};

	attrs.versions = 1 + below(3);
	attrs.min_versions = below(3) == 0 ? below(attrs.versions + 1) : 0;
	attrs.keep_deleted = (uint8_t) below(3);
	attrs.ttl_us = below(2) == 0 ? 200 + below(1500) : 0;
	if (attrs.ttl_us == 0)
		attrs.min_versions = 0;
	if (attrs.keep_deleted == WC_KEEP_DELETED_TTL && attrs.ttl_us == 0)
		attrs.keep_deleted = WC_KEEP_DELETED_FALSE;
	pair.attrs = attrs;
	families[0] = (WcFamilyDesc) {.id = 1,.generation = 1,.name = wc_slice_cstr("f"),.attrs = attrs};
	families[1] = (WcFamilyDesc) {.id = 2,.generation = 1,.name = wc_slice_cstr("g"),.attrs = attrs};
	assert_ok(a, wc_batch_alter_table(&a->builder, a->cid, &desc, &a->err));
	commit();
}

static WcStore *
store_of(Kit *kit, uint32_t family, WcTable **table)
{
	*table = wc_catalog_table(kit->engine, kit->table);
	assert_non_null(*table);
	return wc_table_store(*table, family);
}

static void disturb(Kit *kit);

/* The log: it has both apply the step, the first perhaps as it was planned. */
static WcStatus
log_step(void *arg, WcSlice bytes, const atomic_bool *cancel, WcError *err)
{
	uint64_t	position;
	WcStep		step;

	assert_ok(&pair.b, wc_step_decode(bytes, &step, &pair.b.err));
	if (below(3) == 0)
		random_commit();		/* so that computed steps may be outdated */
	position = wc_engine_applied_position(pair.a.engine) + 1 + below(3);
	assert_ok(&pair.a, wc_engine_step(pair.a.engine, position, &step, &pair.a.err));
	if (below(8) == 0)
		disturb(&pair.b);
	assert_ok(&pair.b, wc_engine_step(pair.b.engine, position, &step, &pair.b.err));
	pair.nsteps++;
	pair.nwide += step.kind == WC_STEP_MARKERS;
	return WC_OK;
}

static void
apply_step(const WcStep *step, WcStepWork *work)
{
	wc_engine_log_steps(pair.a.engine, log_step, NULL);
	assert_ok(&pair.a, wc_step_apply(pair.a.engine, step, work, NULL, &pair.a.err));
}

static void
run_pass(void)
{
	Kit		   *a = &pair.a;
	WcTable    *table;
	WcStore    *store = store_of(a, 1 + below(MODEL_FAMILIES), &table);
	WcMarks		marks = wc_marks(store);
	bool		cells = store->packing == WC_PACKING_CELL;
	WcPassOptions options = {
		.kind = (uint8_t) (WC_STEP_FLUSH + below(3)),.until_ts = cells ? marks.flushed_ts : INT64_MAX,
		.dated_until_ts = below(2) == 0 ? INT64_MAX : a->engine->last_ts - below(PAST_MAX),
		.now_us = kit_now + below(100),.keys_max = 1 + below(12),.look_for_earliest_put = below(2) == 0
	};
	const WcStep *step;
	WcPass	   *pass;
	WcStatus	status;

	if (options.kind == WC_STEP_FLUSH && !cells)
		options.kind = WC_STEP_MAJOR;
	if (options.kind == WC_STEP_FLUSH || below(3) == 0)
		options.until_ts = a->engine->last_ts;
	if (options.kind == WC_STEP_FLUSH)
		options.from_ts = marks.flushed_ts;
	options.superseded = below((uint32_t) marks.superseded + 2);
	options.dated = marks.dated;
	assert_ok(a, wc_pass_create(store, &options, &pass, &a->err));
	while ((status = wc_pass_next(pass, &step, &a->err)) == WC_OK)
	{
		apply_step(step, below(4) == 0 ? NULL : wc_pass_work(pass));
		if (below(6) == 0)
			random_commit();
	}
	assert_int_equal(status, WC_END);
	wc_pass_free(pass);
	wc_table_unref(table);
}

static void
expire(void)
{
	WcTable    *table;
	WcStore    *store = store_of(&pair.a, 1 + below(MODEL_FAMILIES), &table);
	WcStep		step = {
		.kind = WC_STEP_EXPIRE,.keep_deleted = pair.attrs.keep_deleted,.table_id = store->table_id,
		.family_id = store->family_id,.generation = store->generation,
		.expired_ts = pair.a.engine->last_ts - below(below(2) == 0 ? PAST_MAX : 100)
	};

	if (pair.attrs.ttl_us > 0 && pair.attrs.min_versions == 0 && step.expired_ts > pair.attrs.ttl_us)
		step.oldest_ts = step.expired_ts - pair.attrs.ttl_us;
	apply_step(&step, NULL);
	wc_table_unref(table);
}

/* --- parts in which the stores may differ ---------------------------------------*/

static void
compact_files(Kit *kit, WcStore *store)
{
	rocksdb_compactoptions_t *options = rocksdb_compactoptions_create();

	/* cells on disk may be dropped */
	assert_ok(kit, wc_engine_sync(kit->engine, &kit->err));
	wc_store_settle_gone(store);
	rocksdb_compactoptions_set_bottommost_level_compaction(options, 2);
	rocksdb_compact_range_cf_opt(kit->engine->db, store->cf, options, NULL, 0, NULL, 0);
	rocksdb_compactoptions_destroy(options);
}

static void
flush_memtables(Kit *kit, WcStore *store)
{
	rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
	char	   *error = NULL;

	rocksdb_flush_cf(kit->engine->db, options, store->cf, &error);
	rocksdb_flushoptions_destroy(options);
	assert_null(error);
}

static void
disturb(Kit *kit)
{
	int64_t		now = kit_now;
	WcTable    *table;
	WcStore    *store = store_of(kit, 1 + below(MODEL_FAMILIES), &table);

	kit_now += below(2) == 0 ? below(1000000) : 0;
	switch (below(5))
	{
		case 0:
		case 1:
			flush_memtables(kit, store);
			break;
		case 2:
		case 3:
			compact_files(kit, store);
			break;
		default:
			wc_table_unref(table);
			table = NULL;
			kit_reopen(kit);
			break;
	}
	wc_table_unref(table);
	kit_now = now;
}

/* --- equal ---------------------------------------------------------------------*/

static const char *
answer(Kit *kit, const WcScan *scan)
{
	WcReadPoint at = kit_point(kit, false);

	return kit_scan_with(kit, scan, &at);
}

static void
assert_same_answer(const WcScan *scan)
{
	assert_string_equal(answer(&pair.a, scan), answer(&pair.b, scan));
}

static void
assert_same_catalog(void)
{
	rocksdb_iterator_t *a = rocksdb_create_iterator_cf(pair.a.engine->db, pair.a.engine->read_options, pair.a.engine->meta);
	rocksdb_iterator_t *b = rocksdb_create_iterator_cf(pair.b.engine->db, pair.b.engine->read_options, pair.b.engine->meta);

	rocksdb_iter_seek_to_first(a);
	rocksdb_iter_seek_to_first(b);
	for (; rocksdb_iter_valid(a) && rocksdb_iter_valid(b); rocksdb_iter_next(a), rocksdb_iter_next(b))
	{
		size_t		len[4];
		const char *ka = rocksdb_iter_key(a, &len[0]);
		const char *kb = rocksdb_iter_key(b, &len[1]);
		const char *va = rocksdb_iter_value(a, &len[2]);
		const char *vb = rocksdb_iter_value(b, &len[3]);

		assert_int_equal(len[0], len[1]);
		assert_memory_equal(ka, kb, len[0]);
		assert_int_equal(len[2], len[3]);
		assert_memory_equal(va, vb, len[2]);
	}
	assert_int_equal(rocksdb_iter_valid(a), rocksdb_iter_valid(b));
	rocksdb_iter_destroy(a);
	rocksdb_iter_destroy(b);
}

static void
assert_equal_stores(void)
{
	WcScan		scan;

	wc_scan_init(&scan, pair.a.table);
	scan.want_ts = true;
	scan.versions = 1 + below(4);
	assert_same_answer(&scan);
	scan.raw = true;
	scan.versions = 1000;
	assert_same_answer(&scan);
	for (int i = 0; i < 5; i++)
	{
		wc_scan_init(&scan, pair.a.table);
		scan.want_ts = true;
		scan.versions = 1 + below(4);
		scan.as_of_ts = kit_now - below(PAST_MAX);
		assert_same_answer(&scan);
		seen_in_all += strncmp(pair.a.text, "error", 5) != 0;
	}
	assert_same_catalog();
}

/* --- sequences -------------------------------------------------------------------*/

static void
sequence(void)
{
	pair = (Pair) {.attrs = wc_family_attrs_default};
	kit_now = 100000;
	kit_open(&pair.a);
	kit_open(&pair.b);
	pair.attrs.packing = below(2) == 0 ? WC_PACKING_ROW : WC_PACKING_CELL;
	pair.attrs.versions = 1 + below(3);
	kit_create_attrs(&pair.a, "t", &pair.attrs);
	commit();
	for (int i = 0; i < MOMENTS; i++)
	{
		uint32_t	what = below(20);

		if (what < 8)
			random_commit();
		else if (what < 11)
			run_pass();
		else if (what < 13)
			expire();
		else if (what < 14)
			random_alter();
		else if (what < 17)
			disturb(below(2) == 0 ? &pair.a : &pair.b);
		else
			assert_equal_stores();
	}
	assert_equal_stores();
	steps_in_all += pair.nsteps;
	wide_in_all += pair.nwide;
	kit_close(&pair.a);
	kit_close(&pair.b);
}

static void
test_two_stores_of_one_log(void **state)
{
	unsigned	n = model_sequences(40);

	for (unsigned i = 0; i < n; i++)
	{
		model_start_sequence(i);
		sequence();
	}
	assert_true(steps_in_all > 10 * n);
	assert_true(wide_in_all > n / 2);
	assert_true(seen_in_all > n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_stores_of_one_log)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
