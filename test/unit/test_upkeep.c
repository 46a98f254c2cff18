/*
 * test/unit/test_upkeep.c: upkeep: cells that the engine drops by itself, and cells that it keeps.
 *
 * The test makes rounds of upkeep one by one, without the thread, at times of its own.
 */
#include "enginekit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/store/files.h"
#include "engine/store/state.h"
#include "engine/upkeep.h"

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

#define DELAY	INT64_C(10000000)
#define HISTORY	INT64_C(3600000000)

static const WcUpkeep settings = {.makes_steps = true,.busy_percent = 100,.dead_percent = 20,.delay_us = DELAY,.history_us = HISTORY};

static bool
step(Kit *kit)
{
	int64_t		worked_us;

	return wc_upkeeper_step(kit->engine->upkeeper, &worked_us);
}

static void
one_round_at(Kit *kit, int64_t now)
{
	kit_now = now;
	wc_upkeeper_set(kit->engine->upkeeper, &settings);
	wc_upkeeper_round(kit->engine->upkeeper);
}

/* With the steps of what has begun in it, and the compaction after them. */
static void
round_at(Kit *kit, int64_t now)
{
	one_round_at(kit, now);
	while (step(kit))
		;
	wc_upkeeper_round(kit->engine->upkeeper);
}

/* Two rounds, the second as long behind the first as it takes, but for a microsecond. */
static void
upkeep_too_early(Kit *kit, int64_t delay)
{
	int64_t		now = kit_now;

	round_at(kit, now);
	round_at(kit, now + delay - 1);
}

static void
upkeep(Kit *kit, int64_t delay)
{
	upkeep_too_early(kit, delay);
	round_at(kit, kit_now + 1);
}

static void
open_with(Kit *kit, uint8_t packing)
{
	kit_now = INT64_C(1000000000000);
	kit_open(kit);
	kit_create(kit, "t", packing, 1);
	kit_commit(kit);
}

static const char *
row_name(char *buf, int i)
{
	snprintf(buf, 16, "%06d", i);
	return buf;
}

static void
put_rows(Kit *kit, int from, int to)
{
	char		row[16];

	for (int i = from; i < to; i++)
		kit_put(kit, row_name(row, i), 1, "a", KIT_LATEST, "x");
	kit_commit(kit);
}

static void
delete_rows(Kit *kit, int from, int to, int64_t ts)
{
	char		row[16];

	for (int i = from; i < to; i++)
		kit_delete(kit, WC_DELETE_FAMILY, row_name(row, i), 1, "", ts);
	kit_commit(kit);
}

/* What a reader of the first row goes through: key-values, and what RocksDB keeps of those that
 * were deleted. */
static uint64_t
looked_at_for_first_row(Kit *kit)
{
	WcReadPoint at = kit_point(kit, false);
	rocksdb_perfcontext_t *context = rocksdb_perfcontext_create();
	WcBuf		block = WC_BUF_INIT;
	WcScanner  *scanner;
	WcScanStats stats;
	WcScan		scan;
	WcStatus	status;
	uint64_t	looked;

	rocksdb_set_perf_level(rocksdb_enable_count);
	rocksdb_perfcontext_reset(context);
	wc_scan_init(&scan, kit->table);
	scan.row_limit = 1;
	assert_ok(kit, wc_scanner_open(wc_engine_storage(kit->engine), &scan, &at, &scanner, &kit->err));
	status = wc_scanner_next(scanner, &block, 1 << 20, 0, &kit->err);
	assert_true(status == WC_OK || status == WC_END);
	wc_scanner_stats(scanner, &stats);
	looked = stats.rows_examined + stats.cells_examined +
		rocksdb_perfcontext_metric(context, rocksdb_internal_delete_skipped_count);
	wc_scanner_close(scanner);
	rocksdb_set_perf_level(rocksdb_disable);
	rocksdb_perfcontext_destroy(context);
	wc_buf_free(&block);
	return looked;
}

#define ROWS 5000

/* A queue of which everything was taken out: its front is found at once again. */
static void
a_queue_is_short_again(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		open_with(&kit, *p);
		put_rows(&kit, 0, ROWS);
		delete_rows(&kit, 0, ROWS, KIT_LATEST);
		put_rows(&kit, ROWS, ROWS + 1);
		assert_in_range(looked_at_for_first_row(&kit), ROWS, 10 * ROWS);
		upkeep(&kit, DELAY);
		assert_in_range(looked_at_for_first_row(&kit), 1, 4);
		assert_string_equal(kit_scan(&kit, false), "005000{f:a=x}");

		/* and the next time */
		put_rows(&kit, ROWS + 1, 2 * ROWS);
		delete_rows(&kit, ROWS, 2 * ROWS, KIT_LATEST);
		put_rows(&kit, 2 * ROWS, 2 * ROWS + 1);
		upkeep(&kit, DELAY);
		assert_in_range(looked_at_for_first_row(&kit), 1, 4);
		assert_int_equal(wc_marks(kit_store(&kit, 1)).superseded, 0);
		kit_close(&kit);
	}
}

static void
make_family(Kit *kit, const char *name, int64_t ttl_us)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;

	attrs.packing = WC_PACKING_ROW;
	attrs.ttl_us = ttl_us;
	kit_create_attrs(kit, name, &attrs);
	kit_commit(kit);
}

/* Makes a family that the next round at this time begins to sweep, in more than two steps. */
static void
make_much_to_sweep(Kit *kit, const char *name)
{
	make_family(kit, name, 0);
	put_rows(kit, 0, 3 * ROWS);
	delete_rows(kit, 0, 3 * ROWS, KIT_LATEST);
	one_round_at(kit, kit_now);
	kit_now += DELAY;
}

/* While a family is swept, the others are looked at, and swept in turn. */
static void
a_sweep_lets_others_come(void **state)
{
	Kit			kit;
	WcStore    *large;
	WcStore    *other;
	WcStore    *dated;

	open_with(&kit, WC_PACKING_ROW);
	make_much_to_sweep(&kit, "large");
	large = kit_store(&kit, 1);
	make_family(&kit, "dated", DELAY);
	put_rows(&kit, 0, 10);
	dated = kit_store(&kit, 1);
	one_round_at(&kit, kit_now);
	assert_true(step(&kit));
	assert_true(wc_marks(large).superseded > 0);

	/* cells expire */
	kit_now += 2 * DELAY;
	put_rows(&kit, 10, 11);
	one_round_at(&kit, kit_now);
	assert_true(wc_marks(large).superseded > 0);
	assert_in_range(wc_marks(dated).gone.expired_ts, kit_now - DELAY - 10, kit_now);

	/* a family that has less to sweep is done before, and its files are compacted */
	make_family(&kit, "other", 0);
	put_rows(&kit, 0, 2000);
	delete_rows(&kit, 0, 2000, KIT_LATEST);
	other = kit_store(&kit, 1);
	one_round_at(&kit, kit_now);
	one_round_at(&kit, kit_now + DELAY);
	while (wc_marks(other).superseded > 0)
		assert_true(step(&kit));
	assert_true(wc_marks(large).superseded > 0);
	one_round_at(&kit, kit_now);
	assert_true(wc_marks(large).superseded > 0);
	assert_in_range(looked_at_for_first_row(&kit), 0, 1);

	while (step(&kit))
		;
	assert_int_equal(wc_marks(large).superseded, 0);
	kit_close(&kit);
}

/* What a step reads is bounded, also where nothing changes. */
static void
steps_are_short(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		int			n = 0;

		open_with(&kit, *p);
		put_rows(&kit, 0, 8 * ROWS);
		delete_rows(&kit, 6 * ROWS, 8 * ROWS, KIT_LATEST);
		one_round_at(&kit, kit_now);
		one_round_at(&kit, kit_now + DELAY);
		while (step(&kit))
			n++;
		assert_in_range(n, 8 * ROWS / 4096, 8 * ROWS / 1024);
		assert_int_equal(wc_marks(kit_store(&kit, 1)).superseded, 0);
		kit_close(&kit);
	}
}

/* Sweeps end when there is to be no upkeep, the table is dropped, or the engine ends. */
static void
sweeps_end_early(void **state)
{
	Kit			kit;
	WcUpkeep	off = settings;

	open_with(&kit, WC_PACKING_ROW);
	make_much_to_sweep(&kit, "u");
	one_round_at(&kit, kit_now);
	assert_true(step(&kit));
	off.busy_percent = 0;
	wc_upkeeper_set(kit.engine->upkeeper, &off);
	wc_upkeeper_round(kit.engine->upkeeper);
	assert_false(step(&kit));

	make_much_to_sweep(&kit, "v");
	one_round_at(&kit, kit_now);
	assert_true(step(&kit));
	assert_ok(&kit, wc_batch_drop_table(&kit.builder, kit.cid, kit.table, &kit.err));
	kit_commit(&kit);
	while (step(&kit))
		;

	make_much_to_sweep(&kit, "w");
	one_round_at(&kit, kit_now);
	assert_true(step(&kit));
	assert_true(wc_marks(kit_store(&kit, 1)).superseded > 0);
	kit_close(&kit);
}

/* A sweep that fails, at a damaged row, does not begin again at once. */
static void
a_sweep_that_fails_waits(void **state)
{
	Kit			kit;
	char	   *error = NULL;
	char		row[16];
	int64_t		failed;

	(void) state;
	open_with(&kit, WC_PACKING_ROW);
	make_much_to_sweep(&kit, "damaged");
	rocksdb_put_cf(kit.engine->db, kit.engine->write_options, kit_store(&kit, 1)->cf, row_name(row, ROWS), 6, "\1\7", 2, &error);
	assert_null(error);
	one_round_at(&kit, kit_now);
	assert_true(step(&kit));
	while (step(&kit))
		;
	failed = kit_now;
	for (int s = 10; s < 600; s += 10)
	{
		one_round_at(&kit, failed + s * INT64_C(1000000));
		assert_false(step(&kit));
	}
	one_round_at(&kit, failed + 600 * INT64_C(1000000));
	one_round_at(&kit, kit_now + DELAY);
	assert_true(step(&kit));
	kit_close(&kit);
}

typedef struct Log
{
	WcEngine   *engine;
	int64_t		waited_us;
} Log;

static WcStatus
log_slowly(void *arg, WcSlice bytes, const atomic_bool *cancel, WcError *err)
{
	Log		   *log = arg;
	int64_t		since = wc_clock_monotonic_us();
	WcStep		logged;
	WcStatus	status = wc_step_decode(bytes, &logged, err);

	(void) cancel;
	usleep(50000);
	log->waited_us += wc_clock_monotonic_us() - since;
	return status == WC_OK ? wc_engine_step(log->engine, wc_engine_applied_position(log->engine) + 1, &logged, err) : status;
}

/* Waiting for the log is no work, after which the thread would have to rest. */
static void
waiting_is_no_work(void **state)
{
	Kit			kit;
	Log			log = {0};
	int64_t		since;
	int64_t		worked_us;
	int64_t		all_us;

	open_with(&kit, WC_PACKING_ROW);
	make_much_to_sweep(&kit, "u");
	one_round_at(&kit, kit_now);
	log.engine = kit.engine;
	wc_engine_log_steps(kit.engine, log_slowly, &log);
	since = wc_clock_monotonic_us();
	assert_true(wc_upkeeper_step(kit.engine->upkeeper, &worked_us));
	all_us = wc_clock_monotonic_us() - since;
	assert_true(log.waited_us > 0);
	assert_in_range(worked_us, 1, all_us - log.waited_us);
	kit_close(&kit);
}

/* Recent writes and deletes stay, and those that come meanwhile. */
static void
what_is_young_stays(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		open_with(&kit, *p);
		put_rows(&kit, 0, ROWS);
		delete_rows(&kit, 0, ROWS, KIT_LATEST);
		upkeep_too_early(&kit, DELAY);
		assert_in_range(looked_at_for_first_row(&kit), ROWS, 10 * ROWS);
		put_rows(&kit, ROWS, ROWS + 50);
		delete_rows(&kit, ROWS, ROWS + 50, KIT_LATEST);
		round_at(&kit, kit_now + 1);
		assert_in_range(looked_at_for_first_row(&kit), 50, 300);
		assert_int_equal(wc_marks(kit_store(&kit, 1)).superseded, 50);
		kit_close(&kit);
	}
}

static void
little_is_let_be(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		uint64_t	applied;

		open_with(&kit, *p);
		put_rows(&kit, 0, WC_UPKEEP_DEAD_MIN - 1);
		delete_rows(&kit, 0, WC_UPKEEP_DEAD_MIN - 1, KIT_LATEST);
		applied = wc_engine_applied_position(kit.engine);
		upkeep(&kit, DELAY);
		assert_int_equal(wc_engine_applied_position(kit.engine), applied);

		/* nor is it enough of a large family */
		put_rows(&kit, 0, 20000);
		delete_rows(&kit, 0, 1, KIT_LATEST);
		applied = wc_engine_applied_position(kit.engine);
		upkeep(&kit, DELAY);
		assert_int_equal(wc_engine_applied_position(kit.engine), applied);
		kit_close(&kit);
	}
}

/* Markers that mask by timestamps which were given may still have to: they stay for long. */
static void
dated_markers_stay_for_longer(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		open_with(&kit, *p);
		put_rows(&kit, 0, ROWS);
		delete_rows(&kit, 0, ROWS, kit.commit_ts + 5);
		put_rows(&kit, ROWS, 2 * ROWS);
		delete_rows(&kit, ROWS, 2 * ROWS, KIT_LATEST);
		upkeep(&kit, DELAY);
		assert_in_range(looked_at_for_first_row(&kit), ROWS, 3 * ROWS);
		kit_put(&kit, "000000", 1, "a", kit.commit_ts - 1000000, "late");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "");
		upkeep(&kit, HISTORY);
		assert_in_range(looked_at_for_first_row(&kit), 0, 5);
		kit_close(&kit);
	}
}

/* Packing cell keeps versions until they are swept; how many, it knows of samples. */
static void
superseded_versions_go(void **state)
{
	Kit			kit;

	open_with(&kit, WC_PACKING_CELL);
	for (int i = 0; i < 10; i++)
		put_rows(&kit, 0, 2000);
	assert_in_range(wc_marks(kit_store(&kit, 1)).superseded, 9000, 36000);
	upkeep(&kit, DELAY);
	assert_int_equal(wc_rocks_property(kit.engine->db, kit_store(&kit, 1)->cf, "rocksdb.estimate-num-keys"), 2000);
	assert_int_equal(wc_marks(kit_store(&kit, 1)).superseded, 0);

	/* new rows supersede nothing */
	put_rows(&kit, 2000, 20000);
	assert_int_equal(wc_marks(kit_store(&kit, 1)).superseded, 0);
	kit_close(&kit);
}

/* A flush and a major compaction on request leave upkeep nothing to do, but for what was not flushed. */
static void
a_compaction_on_request_is_enough(void **state)
{
	EACH_PACKING(p)
	{
		uint64_t	left = *p == WC_PACKING_CELL ? 500 : 0;
		Kit			kit;
		WcSwept		swept;
		uint64_t	steps;

		open_with(&kit, *p);
		put_rows(&kit, 0, ROWS);
		delete_rows(&kit, 0, ROWS, KIT_LATEST);
		kit_flush(&kit);
		put_rows(&kit, ROWS, 2 * ROWS);
		delete_rows(&kit, ROWS, ROWS + 500, KIT_LATEST);
		kit_compact(&kit, true);
		assert_int_equal(wc_marks(kit_store(&kit, 1)).superseded, left);
		assert_false(wc_store_take_swept(kit_store(&kit, 1), &swept));
		kit_compact(&kit, true);
		assert_int_equal(wc_marks(kit_store(&kit, 1)).superseded, left);
		steps = kit.engine->applied;
		upkeep(&kit, DELAY);
		assert_int_equal(kit.engine->applied, steps);
		kit_close(&kit);
	}
}

static void
compact_in_vain(Kit *kit)
{
	WcWork		work = {.kind = WC_WORK_MAJOR,.table_id = kit->table};
	WcReadPoint at = kit_point(kit, false);

	rocksdb_disable_manual_compaction(kit->engine->db);
	assert_int_not_equal(wc_engine_work(kit->engine, &work, &at, &kit->err), WC_OK);
	rocksdb_enable_manual_compaction(kit->engine->db);
}

static uint64_t
bytes_of_files(Kit *kit)
{
	return wc_rocks_property(kit->engine->db, kit_store(kit, 1)->cf, "rocksdb.total-sst-files-size");
}

/* When the files could not be compacted after the steps, on request or by upkeep, upkeep compacts them later. */
static void
a_compaction_that_fails_is_made_up_for(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		open_with(&kit, *p);
		put_rows(&kit, 0, ROWS);
		delete_rows(&kit, 0, ROWS, KIT_LATEST);
		kit_flush(&kit);
		compact_in_vain(&kit);
		assert_int_equal(wc_marks(kit_store(&kit, 1)).superseded, 0);
		assert_true(bytes_of_files(&kit) > 0);

		rocksdb_disable_manual_compaction(kit.engine->db);
		one_round_at(&kit, kit_now);
		rocksdb_enable_manual_compaction(kit.engine->db);
		assert_true(kit_store(&kit, 1)->upkeep.failed);
		assert_true(bytes_of_files(&kit) > 0);
		round_at(&kit, kit_now);
		assert_true(bytes_of_files(&kit) > 0);	/* not at once */

		kit_store(&kit, 1)->upkeep.retry_us = 0;
		round_at(&kit, kit_now);
		assert_int_equal(bytes_of_files(&kit), 0);
		kit_close(&kit);
	}
}

static size_t
files_of(Kit *kit)
{
	const rocksdb_livefiles_t *files = rocksdb_livefiles(kit->engine->db);
	char		name[WC_CF_NAME_MAX];
	size_t		n = 0;

	wc_store_cf_name(kit_store(kit, 1), name, sizeof(name));
	for (int i = 0; i < rocksdb_livefiles_count(files); i++)
		n += strcmp(rocksdb_livefiles_column_family_name(files, i), name) == 0;
	rocksdb_livefiles_destroy(files);
	return n;
}

/* Rows in files of their own, 1000 in each, at the lowest level. */
static void
put_files(Kit *kit, int nfiles)
{
	char		start[16];
	char		stop[16];

	for (int i = 0; i < nfiles; i++)
	{
		put_rows(kit, 1000 * i, 1000 * (i + 1));
		assert_ok(kit, wc_files_flush(kit_store(kit, 1), NULL, &kit->err));
		assert_ok(kit, wc_files_compact(kit_store(kit, 1), kit_s(row_name(start, 1000 * i)), kit_s(row_name(stop, 1000 * i + 999)),
										NULL, NULL, NULL, &kit->err));
	}
	assert_int_equal(files_of(kit), nfiles);
}

/* A round compacts a few files; so other families need not wait until all files of a large one are compacted. */
static void
large_families_are_compacted_in_parts(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcFamilyAttrs attrs = wc_family_attrs_default;

		open_with(&kit, *p);
		attrs.packing = *p;
		attrs.ttl_us = 60 * WC_USEC_PER_SEC;
		kit_create_attrs(&kit, "u", &attrs);
		kit_commit(&kit);
		put_files(&kit, 20);
		one_round_at(&kit, kit_now);
		kit_now += 10 * attrs.ttl_us;
		kit_put(&kit, "in the other family", 2, "a", KIT_LATEST, "x");
		kit_commit(&kit);
		one_round_at(&kit, kit_now);
		for (int left = 16; left >= 0; left -= 4)
		{
			assert_int_equal(files_of(&kit), left);
			one_round_at(&kit, kit_now);
		}
		kit_close(&kit);
	}
}

/* Expired cells are removed from the files, some time after their TTL's end. */
static void
expired_cells_go(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcFamilyAttrs attrs = wc_family_attrs_default;
		int64_t		start;

		open_with(&kit, *p);
		attrs.packing = *p;
		attrs.ttl_us = 60 * WC_USEC_PER_SEC;
		kit_create_attrs(&kit, "u", &attrs);
		kit_commit(&kit);
		put_rows(&kit, 0, 100);
		start = kit.commit_ts;
		for (int s = 10; s <= 180; s += 10)
		{
			round_at(&kit, start + s * WC_USEC_PER_SEC);
			put_rows(&kit, 100 + s, 101 + s);
		}
		assert_in_range(wc_rocks_property(kit.engine->db, kit_store(&kit, 1)->cf, "rocksdb.estimate-num-keys"), 1, 20);
		assert_in_range(wc_marks_history_from_us(kit_store(&kit, 1)), start + 60 * WC_USEC_PER_SEC, start + 120 * WC_USEC_PER_SEC);

		/* a clock that was ahead for a moment takes nothing with it */
		round_at(&kit, kit_now);
		kit_now += 1000 * HISTORY;
		put_rows(&kit, 900, 901);
		round_at(&kit, start + 180 * WC_USEC_PER_SEC);
		assert_in_range(wc_marks_history_from_us(kit_store(&kit, 1)), start, start + 180 * WC_USEC_PER_SEC);
		kit_close(&kit);
	}
}

static void
nothing_is_done_unless_it_is_to_be(void **state)
{
	Kit			kit;
	WcUpkeep	off = settings;
	uint64_t	applied;

	open_with(&kit, WC_PACKING_ROW);
	put_rows(&kit, 0, ROWS);
	delete_rows(&kit, 0, ROWS, KIT_LATEST);
	applied = wc_engine_applied_position(kit.engine);
	off.busy_percent = 0;
	for (int i = 0; i < 5; i++)
	{
		kit_now += DELAY;
		wc_upkeeper_set(kit.engine->upkeeper, &off);
		wc_upkeeper_round(kit.engine->upkeeper);
	}
	assert_int_equal(wc_engine_applied_position(kit.engine), applied);
	kit_close(&kit);
}

/* On a standby no steps are made; but what the log's have left leaves the files there as well. */
static void
a_standby_tidies_its_files(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcUpkeep	standby = settings;
		uint64_t	applied;
		WcStep		step = {
			.kind = WC_STEP_MAJOR,.last = true,.family_id = 1,.until_ts = INT64_MAX,.dated_until_ts = INT64_MAX,
			.earliest_put_ts = INT64_MIN
		};

		open_with(&kit, *p);
		put_rows(&kit, 0, ROWS);
		delete_rows(&kit, 0, ROWS, KIT_LATEST);
		applied = wc_engine_applied_position(kit.engine);
		standby.makes_steps = false;
		for (int i = 0; i < 3; i++)
		{
			kit_now += DELAY;
			wc_upkeeper_set(kit.engine->upkeeper, &standby);
			wc_upkeeper_round(kit.engine->upkeeper);
		}
		assert_int_equal(wc_engine_applied_position(kit.engine), applied);
		assert_in_range(looked_at_for_first_row(&kit), ROWS, 10 * ROWS);

		step.table_id = kit.table;
		step.generation = kit_store(&kit, 1)->generation;
		step.now_us = kit_now;
		assert_ok(&kit, wc_engine_step(kit.engine, applied + 1, &step, &kit.err));
		assert_in_range(looked_at_for_first_row(&kit), ROWS, 10 * ROWS);
		wc_upkeeper_round(kit.engine->upkeeper);
		assert_in_range(looked_at_for_first_row(&kit), 0, 1);
		kit_close(&kit);
	}
}

/* An engine that ends makes no more steps.  That is no failure of upkeep, of which the server's log would tell. */
static void
the_end_of_the_engine_is_no_failure(void **state)
{
	Kit			kit;

	open_with(&kit, WC_PACKING_ROW);
	put_rows(&kit, 0, ROWS);
	delete_rows(&kit, 0, ROWS, KIT_LATEST);
	wc_engine_log_steps(kit.engine, NULL, NULL);
	upkeep(&kit, DELAY);
	assert_true(wc_marks(kit_store(&kit, 1)).superseded > 0);
	assert_false(kit_store(&kit, 1)->upkeep.failed);
	kit_close(&kit);
}

/* The thread does as the rounds do, and ends with the engine. */
static void
the_thread_works(void **state)
{
	Kit			kit;
	WcUpkeep	quick = settings;

	open_with(&kit, WC_PACKING_ROW);
	quick.delay_us = 1;
	assert_ok(&kit, wc_engine_set_upkeep(kit.engine, &quick, &kit.err));
	for (int i = 0; i < 3; i++)
	{
		put_rows(&kit, 0, ROWS);
		delete_rows(&kit, 0, ROWS, KIT_LATEST);
		for (int tries = 0; tries < 600 && wc_marks(kit_store(&kit, 1)).superseded > 0; tries++)
		{
			kit_now += 2;
			usleep(50000);
		}
		assert_int_equal(wc_marks(kit_store(&kit, 1)).superseded, 0);
		assert_string_equal(kit_scan(&kit, false), "");
	}
	put_rows(&kit, 0, ROWS);
	kit_close(&kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_is_short_again),
		cmocka_unit_test(a_sweep_lets_others_come),
		cmocka_unit_test(steps_are_short),
		cmocka_unit_test(sweeps_end_early),
		cmocka_unit_test(a_sweep_that_fails_waits),
		cmocka_unit_test(waiting_is_no_work),
		cmocka_unit_test(what_is_young_stays),
		cmocka_unit_test(little_is_let_be),
		cmocka_unit_test(dated_markers_stay_for_longer),
		cmocka_unit_test(superseded_versions_go),
		cmocka_unit_test(a_compaction_on_request_is_enough),
		cmocka_unit_test(a_compaction_that_fails_is_made_up_for),
		cmocka_unit_test(large_families_are_compacted_in_parts),
		cmocka_unit_test(expired_cells_go),
		cmocka_unit_test(nothing_is_done_unless_it_is_to_be),
		cmocka_unit_test(a_standby_tidies_its_files),
		cmocka_unit_test(the_end_of_the_engine_is_no_failure),
		cmocka_unit_test(the_thread_works)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
