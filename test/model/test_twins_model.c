/*
 * test/model/test_twins_model.c: two stores that apply the same batches have the same content.
 *
 * Random batches, also with operations that a check would refuse, are applied to two stores at the same positions and
 * times.  In between each store is flushed, compacted by RocksDB, closed and reopened, crashes, gives out ids, is read,
 * and has snapshots, at random and with its own clock.  One of the stores treats small transactions as large ones
 * (wc_txn_spill_into): it keeps them in files and writes them as files.  Then the catalogs, the key-values of all
 * families, raw scans, and reads as of earlier times are equal, byte for byte.
 *
 * This test does not request flushes and compactions of the engine: test_steps_model.c does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/store/state.h"
#include "modelscan.h"

#define STORES		2
#define COMMITS		60
#define OPS_MAX		10
#define ITEMS_MAX	5
#define TABLES_MAX	16
#define TIMES_MAX	COMMITS
#define IDS_MAX		(COMMITS * OPS_MAX + 2)

typedef struct Store
{
	Kit			kit;
	WcSnapshot *snapshot;
} Store;

static Store stores[STORES];
static _Atomic int64_t clocks[STORES];

static uint64_t position;
static int64_t commit_time;
static uint32_t last_id;
static bool dropped[IDS_MAX];	/* by table id: a DROP has named it, so that no CREATE has it again */
static unsigned last_value;
static int64_t times[TIMES_MAX];	/* of the commits so far */
static int	ntimes;

/* What the batch under way may be about. */
static WcArena tables_arena;
static WcTableDesc tables[TABLES_MAX];
static int	ntables;
static int	nstored;			/* so many of them, the first ones, are there already */
static WcTableDesc old_table;	/* as it was some commits ago */
static WcArena old_arena;

static bool remembering;		/* nothing is forgotten, so that reads as of a time are answered */
static uint64_t nanswered;		/* reads as of a time by both */
static uint64_t nvoid;

static int64_t
first_clock(void)
{
	return clocks[0];
}

static int64_t
second_clock(void)
{
	return clocks[1];
}

/* --- batches --------------------------------------------------------------*/

static Kit *
kit_of(int i)
{
	return &stores[i].kit;
}

/* The tables that the first store has by now; the other has the same, or the test fails soon. */
static void
look_at_tables(void)
{
	Kit		   *kit = kit_of(0);
	WcBuf		list = WC_BUF_INIT;
	WcDecoder	d;

	wc_arena_reset(&tables_arena);
	ntables = 0;
	assert_ok(kit, wc_engine_list_tables(kit->engine, KIT_DATABASE, NULL, &list, &kit->err));
	d = wc_decoder(wc_buf_slice(&list));
	for (uint64_t n = wc_decode_varint(&d); n > 0 && ntables < TABLES_MAX; n--)
	{
		WcSlice		bytes = wc_decode_bytes(&d);

		if (below(30) == 0)
		{
			wc_arena_reset(&old_arena);
			assert_ok(kit, wc_table_desc_decode(wc_arena_copy(&old_arena, bytes), &old_arena, &old_table, &kit->err));
		}
		assert_ok(kit, wc_table_desc_decode(wc_arena_copy(&tables_arena, bytes), &tables_arena, &tables[ntables++], &kit->err));
	}
	nstored = ntables;
	wc_buf_free(&list);
}

static WcFamilyAttrs
random_attrs(uint8_t packing)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;

	attrs.bloomfilter = (uint8_t) below(3);
	attrs.packing = packing;
	if (remembering)
	{
		attrs.versions = WC_VERSIONS_MAX;
		attrs.keep_deleted = WC_KEEP_DELETED_TRUE;
		return attrs;
	}
	attrs.versions = below(3) == 0 ? WC_VERSIONS_MAX : 1 + below(3);
	attrs.keep_deleted = below(2) == 0 ? WC_KEEP_DELETED_TRUE : WC_KEEP_DELETED_FALSE;
	if (below(3) == 0)
	{
		attrs.ttl_us = 100 + below(5000);
		attrs.min_versions = below(2);
		attrs.keep_deleted = (uint8_t) below(3);
	}
	return attrs;
}

static WcFamilyAttrs
new_attrs(void)
{
	return random_attrs(!remembering && below(2) == 0 ? WC_PACKING_ROW : WC_PACKING_CELL);
}

static WcSlice
random_namespace(void)
{
	static const char *const names[] = {"default", "default", "default", "m", "n"};

	return wc_slice_cstr(names[below(5)]);
}

static uint32_t
random_table(void)
{
	return ntables == 0 || below(25) == 0 ? 1 + below(last_id + 2) : tables[below((uint32_t) ntables)].id;
}

/* New, or that of a table which is there. */
static uint32_t
random_new_id(void)
{
	if (nstored > 0 && below(10) == 0)
	{
		uint32_t	id = tables[below((uint32_t) nstored)].id;

		if (!dropped[id])
			return id;
	}
	return ++last_id;
}

static void
random_drop(Kit *kit)
{
	uint32_t	id = random_table();

	if (id < IDS_MAX)
		dropped[id] = true;
	assert_ok(kit, wc_batch_drop_table(&kit->builder, kit->cid, id, &kit->err));
}

static void
random_drop_database(Kit *kit)
{
	memset(dropped, true, sizeof(dropped[0]) * (last_id + 1));
	assert_ok(kit, wc_batch_drop_database(&kit->builder, kit->cid, KIT_DATABASE + below(2), &kit->err));
}

/* Of few names, so that they are often taken. */
static void
random_create(Kit *kit)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	static const char *const family_names[] = {"f", "g", "h"};
	WcFamilyDesc families[3];
	WcTableDesc desc = {
		.id = random_new_id(),
		.database = below(20) == 0 ? KIT_DATABASE + 1 : KIT_DATABASE,.ns = random_namespace(),
		.name = wc_slice_cstr(names[below(4)]),.nfamilies = 1 + below(3),.families = families
	};

	for (uint32_t i = 0; i < desc.nfamilies; i++)
		families[i] = (WcFamilyDesc) {.id = i + 1,.generation = 1,.name = wc_slice_cstr(family_names[i]),.attrs = new_attrs()};
	desc.next_family_id = desc.nfamilies + 1;
	assert_ok(kit, wc_batch_create_table(&kit->builder, kit->cid, &desc, &kit->err));
	if (ntables < TABLES_MAX)
	{
		WcBuf		bytes = WC_BUF_INIT;

		wc_table_desc_encode(&bytes, &desc);
		assert_ok(kit, wc_table_desc_decode(wc_arena_copy(&tables_arena, wc_buf_slice(&bytes)), &tables_arena,
											&tables[ntables++], &kit->err));
		wc_buf_free(&bytes);
	}
}

/* A family comes, goes or gets other attributes, or the table gets another name; perhaps by a
 * descriptor that is old. */
static void
random_alter(Kit *kit)
{
	bool		old = old_table.nfamilies > 0 && below(4) == 0;
	WcTableDesc desc;
	WcFamilyDesc families[8];

	if (!old && ntables == 0)
		return;
	desc = old ? old_table : tables[below((uint32_t) ntables)];
	if (desc.nfamilies > 6)
		return;
	memcpy(families, desc.families, desc.nfamilies * sizeof(WcFamilyDesc));
	desc.families = families;
	if (below(2) == 0)
		families[0].attrs = random_attrs(families[0].attrs.packing);
	else if (below(2) == 0 && desc.nfamilies > 1)
		memmove(&families[0], &families[1], --desc.nfamilies * sizeof(WcFamilyDesc));
	else
	{
		char		name[2] = {(char) ('h' + desc.next_family_id), 0};

		if (name[0] > 'z')
			return;
		families[desc.nfamilies++] = (WcFamilyDesc) {
			.id = desc.next_family_id++,.generation = 1,.attrs = new_attrs(),
			.name = wc_arena_copy(&tables_arena, wc_slice_cstr(name))
		};
	}
	if (below(4) == 0)
		desc.ns = random_namespace();
	assert_ok(kit, wc_batch_alter_table(&kit->builder, kit->cid, &desc, &kit->err));
}

/* A family that the table has, or not. */
static uint32_t
random_family(uint32_t table_id)
{
	for (int i = 0; i < ntables; i++)
	{
		if (tables[i].id == table_id && below(15) > 0)
			return tables[i].families[below(tables[i].nfamilies)].id;
	}
	return 1 + below(4);
}

/* Most timestamps are the commit's. */
static int64_t
random_ts(void)
{
	switch (below(6))
	{
		case 0:
			return commit_time - 50 + below(100);
		case 1:
			return ntimes > 0 ? times[below((uint32_t) ntimes)] : 5;
		default:
			return WC_TS_LATEST;
	}
}

static void
random_item(Kit *kit, uint32_t family, bool *cleared)
{
	static const WcCellType markers[] = {WC_DELETE_COLUMN, WC_DELETE_FAMILY, WC_DELETE, WC_DELETE_FAMILY_VERSION};
	WcBatchBuilder *b = &kit->builder;
	WcSlice		qualifier = model_columns[below(MODEL_COLUMNS)];
	WcCellType	type = markers[below(remembering ? 2 : 4)];
	bool		of_family = type == WC_DELETE_FAMILY || type == WC_DELETE_FAMILY_VERSION;
	char		value[16];

	switch (below(16))
	{
		case 0:
		case 1:
		case 2:
			assert_ok(kit, wc_batch_delete(b, type, family, of_family ? wc_slice(NULL, 0) : qualifier, random_ts(), &kit->err));
			break;
		case 3:
			assert_ok(kit, wc_batch_clear_column(b, family, qualifier, &kit->err));
			break;
		case 4:
			assert_ok(kit, wc_batch_clear_prefix(b, family, qualifier, &kit->err));
			break;
		case 5:
			if (!*cleared)
				assert_ok(kit, wc_batch_clear_family(b, family, &qualifier, 1, &kit->err));
			*cleared = true;
			break;
		default:
			snprintf(value, sizeof(value), "v%u", ++last_value);
			assert_ok(kit, wc_batch_put(b, family, qualifier, random_ts(), below(5) == 0 ? 1 + below(1000) : 0,
										wc_slice_cstr(value), &kit->err));
			break;
	}
}

static void
random_row(Kit *kit)
{
	uint32_t	table_id = random_table();
	uint32_t	families[1] = {random_family(table_id)};
	uint32_t	flags = below(6) == 0 ? WC_ROW_MUST_BE_ABSENT : 0;
	bool		cleared = false;

	assert_ok(kit, wc_batch_row_begin(&kit->builder, table_id, kit->cid, model_rows[below(MODEL_ROWS)], flags, families, 1,
									  &kit->err));
	for (uint32_t n = 1 + below(ITEMS_MAX); n > 0; n--)
		random_item(kit, random_family(table_id), &cleared);
	assert_ok(kit, wc_batch_row_end(&kit->builder, &kit->err));
}

static void
random_operation(Kit *kit)
{
	WcBatchBuilder *b = &kit->builder;
	uint32_t	what = below(100);

	kit->cid++;
	if (what < 2 || (ntables < 2 && what < 20))
		random_create(kit);
	else if (what < 5)
		random_alter(kit);
	else if (what == 12)
		random_drop(kit);
	else if (what == 13)
		assert_ok(kit, wc_batch_truncate_table(b, kit->cid, random_table(), &kit->err));
	else if (what < 17)
		assert_ok(kit, wc_batch_namespace(b, below(3) == 0 ? WC_OP_DROP_NAMESPACE : WC_OP_CREATE_NAMESPACE, kit->cid,
										  below(9) == 0 ? KIT_DATABASE + 1 : KIT_DATABASE, wc_slice_cstr(below(2) ? "m" : "n"),
										  &kit->err));
	else if (what == 17 && below(20) == 0)
		random_drop_database(kit);
	else
		random_row(kit);
}

/* --- commits --------------------------------------------------------------*/

/* Spilled operations come back into memory. */
static void
look_at_own_rows(Kit *kit)
{
	WcTxnView  *view;

	assert_ok(kit, wc_txnview_open(kit->txn, random_table(), kit->cid, NULL, false, &view, &kit->err));
	wc_txnview_close(view);
}

/* In pieces, each of which may begin before the end of the one before, and end amid an
 * operation. */
static void
send_pieces(Kit *kit, WcSlice ops)
{
	size_t		end = 0;

	while (end < ops.len)
	{
		size_t		at = below(3) == 0 ? below((uint32_t) end + 1) : end;
		size_t		n = 1 + below((uint32_t) (ops.len - at));

		assert_ok(kit, wc_txn_append(kit->txn, at, wc_slice(ops.data + at, n), &kit->err));
		end = at + n;
		if (below(10) == 0)
			look_at_own_rows(kit);
	}
	assert_true(wc_txn_is_whole(kit->txn));
}

static int64_t
apply_to(Store *store, WcSlice ops, const WcCommit *commit)
{
	Kit		   *kit = &store->kit;
	uint64_t	before = wc_engine_void_operations(kit->engine);
	int64_t		ts;
	WcError		err;

	send_pieces(kit, ops);
	if (below(3) == 0 && wc_engine_check(kit->engine, kit->txn, NULL, &err) == WC_OK && below(2) == 0)
		assert_int_equal(wc_engine_check(kit->engine, kit->txn, NULL, &err), WC_OK);
	assert_ok(kit, wc_engine_apply(kit->engine, commit, kit->txn, &ts, &kit->err));
	wc_txn_reset(kit->txn);
	nvoid += wc_engine_void_operations(kit->engine) - before;
	return ts;
}

static void
random_commit(void)
{
	Kit		   *kit = kit_of(0);
	WcCommit	commit;
	int64_t		ts[STORES];

	position += 1 + below(50);
	commit_time += below(5) == 0 ? -(int64_t) below(30) : (int64_t) below(100);
	commit = (WcCommit) {.position = position,.time_us = commit_time};
	look_at_tables();
	for (uint32_t n = 1 + below(OPS_MAX); n > 0; n--)
		random_operation(kit);
	for (int i = 0; i < STORES; i++)
		ts[i] = apply_to(&stores[i], wc_buf_slice(&kit->ops), &commit);
	wc_buf_reset(&kit->ops, SIZE_MAX);
	assert_int_equal(ts[0], ts[1]);
	if (ntimes < TIMES_MAX)
		times[ntimes++] = ts[0];
}

/* --- what a store does by itself ------------------------------------------ */

static WcStore *
random_store(WcEngine *engine)
{
	WcCatalog  *catalog = &engine->catalog;
	WcTable    *table;

	if (catalog->ntables == 0)
		return NULL;
	table = catalog->tables[below((uint32_t) catalog->ntables)];
	return table->stores[below(table->desc.nfamilies)];
}

static void
flush(Kit *kit, rocksdb_column_family_handle_t *cf)
{
	rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
	char	   *error = NULL;

	rocksdb_flush_cf(kit->engine->db, options, cf, &error);
	rocksdb_flushoptions_destroy(options);
	assert_ok(kit, wc_rocks_status(error, "flush", &kit->err));
}

static void
compact(Kit *kit, rocksdb_column_family_handle_t *cf)
{
	rocksdb_compactoptions_t *options = rocksdb_compactoptions_create();

	/* the lowest level too, whose files it would leave alone */
	rocksdb_compactoptions_set_bottommost_level_compaction(options, 3);
	assert_ok(kit, wc_rocks_status(wc_rocksplus_compact_range(kit->engine->db, cf, options, NULL, 0, NULL, 0), "compact",
								   &kit->err));
	rocksdb_compactoptions_destroy(options);
}

static void
hold_snapshot(Store *store)
{
	if (store->snapshot)
		wc_snapshot_release(store->kit.engine, store->snapshot);
	store->snapshot = store->snapshot ? NULL : wc_snapshot_take(store->kit.engine);
}

static void
live(int i)
{
	Kit		   *kit = kit_of(i);
	WcStore    *store = random_store(kit->engine);
	uint32_t	what = below(100);

	clocks[i] += (int64_t) below(1000) - 300;
	if (what < 15 && store)
		flush(kit, store->cf);
	else if (what < 25 && store)
		compact(kit, store->cf);
	else if (what < 28)
		flush(kit, kit->engine->meta);
	else if (what < 36)
		hold_snapshot(&stores[i]);
	else if (what < 40)
	{
		for (uint32_t n = below(8); n > 0; n--)
			(void) wc_engine_new_table_id(kit->engine);
	}
	else if (what < 42)
	{
		if (stores[i].snapshot)
			hold_snapshot(&stores[i]);
		if (what == 40)
			kit_crash(kit);
		else
			kit_reopen(kit);
	}
}

/* --- comparing ------------------------------------------------------------*/

static void
append_family(Kit *kit, rocksdb_column_family_handle_t *cf, WcBuf *out)
{
	rocksdb_iterator_t *it = rocksdb_create_iterator_cf(kit->engine->db, kit->engine->read_options, cf);

	for (rocksdb_iter_seek_to_first(it); rocksdb_iter_valid(it); rocksdb_iter_next(it))
	{
		size_t		klen,
					vlen;
		const char *key = rocksdb_iter_key(it, &klen);
		const char *value = rocksdb_iter_value(it, &vlen);

		wc_buf_append_bytes(out, wc_slice(key, klen));
		wc_buf_append_bytes(out, wc_slice(value, vlen));
	}
	rocksdb_iter_destroy(it);
	assert_false(out->failed);
}

/* The catalog, then every family under its name. */
static void
append_store(Kit *kit, WcBuf *out)
{
	WcCatalog  *catalog = &kit->engine->catalog;
	char		name[WC_CF_NAME_MAX];

	append_family(kit, kit->engine->meta, out);
	for (size_t t = 0; t < catalog->ntables; t++)
	{
		for (uint32_t f = 0; f < catalog->tables[t]->desc.nfamilies; f++)
		{
			WcStore    *store = catalog->tables[t]->stores[f];

			wc_buf_append_bytes(out, wc_slice_cstr(wc_store_cf_name(store, name, sizeof(name))));
			append_family(kit, store->cf, out);
		}
	}
}

static WcStatus
append_scan(Kit *kit, const WcScan *scan, WcBuf *out)
{
	WcReadPoint at = kit_point(kit, false);
	WcScanner  *scanner = NULL;
	WcStatus	status = wc_scanner_open(wc_engine_storage(kit->engine), scan, &at, &scanner, &kit->err);

	while (status == WC_OK)
		status = wc_scanner_next(scanner, out, WC_BLOCK_FIRST, 0, &kit->err);
	wc_scanner_close(scanner);
	return status;
}

static void
compare_scan(const WcScan *scan)
{
	WcBuf		seen[STORES] = {WC_BUF_INIT, WC_BUF_INIT};
	WcStatus	status[STORES];

	for (int i = 0; i < STORES; i++)
		status[i] = append_scan(kit_of(i), scan, &seen[i]);
	assert_int_equal(status[0], status[1]);
	if (scan->as_of_ts == WC_TS_LATEST || status[0] != WC_INVALID)
		assert_int_equal(status[0], WC_END);
	if (status[0] == WC_END && !wc_slice_eq(wc_buf_slice(&seen[0]), wc_buf_slice(&seen[1])))
		fail_msg("a scan of table %" PRIu32 " as of %" PRId64 " differs", scan->table_id, scan->as_of_ts);
	nanswered += status[0] == WC_END && scan->as_of_ts != WC_TS_LATEST;
	for (int i = 0; i < STORES; i++)
		wc_buf_free(&seen[i]);
}

static void
compare_reads(void)
{
	int64_t		before[STORES] = {clocks[0], clocks[1]};

	/* reads go by the clock, for TTLs */
	clocks[0] = clocks[1] = commit_time + below(1000);
	look_at_tables();
	for (int t = 0; t < ntables; t++)
	{
		WcScan		scan;

		wc_scan_init(&scan, tables[t].id);
		compare_scan(&scan);
		scan.raw = true;
		scan.want_ts = true;
		scan.versions = WC_VERSIONS_MAX;
		compare_scan(&scan);
		scan.raw = false;
		for (int k = 0; k < 3 && ntimes > 0; k++)
		{
			scan.as_of_ts = times[below((uint32_t) ntimes)] + below(3) - 1;
			scan.versions = 1 + below(3);
			compare_scan(&scan);
		}
	}
	clocks[0] = before[0];
	clocks[1] = before[1];
}

static void
compare(uint64_t seed_used)
{
	WcBuf		held[STORES] = {WC_BUF_INIT, WC_BUF_INIT};

	for (int i = 0; i < STORES; i++)
		append_store(kit_of(i), &held[i]);
	if (!wc_slice_eq(wc_buf_slice(&held[0]), wc_buf_slice(&held[1])))
		fail_msg("the stores differ behind position %" PRIu64 ", seed %" PRIu64, position, seed_used);
	for (int i = 0; i < STORES; i++)
		wc_buf_free(&held[i]);
	assert_int_equal(wc_engine_applied_position(kit_of(0)->engine), wc_engine_applied_position(kit_of(1)->engine));
	compare_reads();
}

/* --- sequences ------------------------------------------------------------*/

static void
random_sequence(uint64_t seed_used)
{
	remembering = below(2) == 0;
	position = 0;
	commit_time = 1000000;
	last_id = 0;
	memset(dropped, false, sizeof(dropped));
	ntimes = 0;
	old_table.nfamilies = 0;
	clocks[0] = 1000000;
	clocks[1] = below(2) == 0 ? 5 : 900000000;
	kit_open_at(kit_of(0), first_clock);
	kit_txn_memory = 50 + below(400);
	kit_open_at(kit_of(1), second_clock);
	kit_txn_memory = 0;
	for (int k = 0; k < COMMITS; k++)
	{
		random_commit();
		for (int i = 0; i < STORES; i++)
		{
			for (uint32_t n = below(3); n > 0; n--)
				live(i);
		}
		if (k % 7 == 6)
			compare(seed_used);
	}
	compare(seed_used);
	for (int i = 0; i < STORES; i++)
	{
		if (stores[i].snapshot)
			hold_snapshot(&stores[i]);
		kit_close(kit_of(i));
	}
}

static void
test_twins(void **state)
{
	unsigned	n = model_sequences(12);

	for (unsigned i = 0; i < n; i++)
	{
		uint64_t	seed_used = model_sequence_seed(i);

		model_start_sequence(i);
		random_sequence(seed_used);
	}
	assert_true(nanswered > 10 * n && nvoid > 10 * n);
	wc_arena_free(&tables_arena);
	wc_arena_free(&old_arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twins)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
