/*
 * test/unit/test_steps.c: the effects of steps on a store: flush, compaction, expiry.
 */
#include "enginekit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rocks/cellkey.h"
#include "engine/store/files.h"
#include "engine/store/state.h"
#include "engine/write/step.h"
#include "rpc/lock/epochs.h"
#include "rpc/log/applier.h"

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

static const char *
raw(Kit *kit)
{
	WcScan		scan;

	wc_scan_init(&scan, kit->table);
	scan.raw = true;
	scan.versions = 1000;
	scan.want_ts = true;
	return kit_scan_as(kit, false, &scan);
}

static void
compact_files(Kit *kit)
{
	assert_ok(kit, wc_files_flush(kit_store(kit, 1), NULL, &kit->err));
	assert_ok(kit, wc_files_compact(kit_store(kit, 1), wc_slice(NULL, 0), wc_slice(NULL, 0), NULL, NULL, NULL, &kit->err));
}

/* --- positions ------------------------------------------------------------------*/

static WcStep
step_of(Kit *kit, uint8_t kind)
{
	WcStore    *store = kit_store(kit, 1);

	return (WcStep) {
		.kind = kind,.last = true,.table_id = kit->table,.family_id = 1,.generation = store->generation,
		.now_us = kit_now,.until_ts = INT64_MAX,.dated_until_ts = INT64_MAX,.earliest_put_ts = INT64_MIN
	};
}

static void
a_step_has_its_place_among_commits(void **state)
{
	Kit			kit;
	WcStep		step;
	uint64_t	applied;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_put(&kit, "r", 1, "a", 10, "1");
	kit_put(&kit, "r", 1, "a", 20, "2");
	kit_commit(&kit);
	applied = wc_engine_applied_position(kit.engine);
	step = step_of(&kit, WC_STEP_COMPACT);
	assert_int_equal(wc_engine_step(kit.engine, applied, &step, &kit.err), WC_INVALID);
	assert_string_equal(raw(&kit), "r{f:a@20=2 f:a@10=1}");
	assert_ok(&kit, wc_engine_step(kit.engine, applied + 7, &step, &kit.err));
	assert_string_equal(raw(&kit), "r{f:a@20=2}");
	assert_int_equal(wc_engine_applied_position(kit.engine), applied + 7);
	kit_reopen(&kit);
	assert_int_equal(wc_engine_applied_position(kit.engine), applied + 7);
	kit_close(&kit);
}

static void
a_step_of_what_is_not_there_is_void(void **state)
{
	Kit			kit;
	WcStep		step;
	uint64_t	applied;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_put(&kit, "r", 1, "a", 10, "1");
	kit_put(&kit, "r", 1, "a", 20, "2");
	kit_commit(&kit);
	applied = wc_engine_applied_position(kit.engine);
	for (int i = 0; i < 4; i++)
	{
		step = step_of(&kit, WC_STEP_MAJOR);
		step.table_id += i == 0;
		step.family_id += i == 1 ? 7 : 0;
		step.generation += i == 2;
		step.keep_deleted = i == 3 ? WC_KEEP_DELETED_TRUE : WC_KEEP_DELETED_FALSE;
		assert_ok(&kit, wc_engine_step(kit.engine, 0, &step, &kit.err));
		assert_int_equal(wc_engine_applied_position(kit.engine), ++applied);
	}
	assert_string_equal(raw(&kit), "r{f:a@20=2 f:a@10=1}");
	kit_close(&kit);
}

/* A step that continues in a row has the matcher's state; other bytes are refused. */
static void
a_damaged_state_is_refused(void **state)
{
	Kit			kit;
	WcStep		step;
	WcBuf		start = WC_BUF_INIT;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_put(&kit, "r", 1, "a", 10, "1");
	kit_commit(&kit);
	step = step_of(&kit, WC_STEP_COMPACT);
	step.state = kit_s("x");
	assert_int_equal(wc_engine_step(kit.engine, 0, &step, &kit.err), WC_CORRUPT);
	wc_cellkey_append_column(&start, kit_s("r"), kit_s("a"));
	step.start = wc_buf_slice(&start);
	assert_int_equal(wc_engine_step(kit.engine, 0, &step, &kit.err), WC_CORRUPT);
	assert_string_equal(raw(&kit), "r{f:a@10=1}");
	wc_buf_free(&start);
	kit_close(&kit);
}

/* It is in the log, and cannot be left out unless the administrator says so. */
static void
a_step_over_damaged_rows_can_be_given_up(void **state)
{
	Kit			kit;
	WcStep		step;
	WcStore    *store;
	char	   *error = NULL;
	char		hint[64];
	uint64_t	applied;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_put(&kit, "a", 1, "a", 10, "1");
	kit_commit(&kit);
	store = kit_store(&kit, 1);
	rocksdb_put_cf(kit.engine->db, kit.engine->write_options, store->cf, "r\0\1", 3, "\1\7", 2, &error);
	assert_null(error);
	step = step_of(&kit, WC_STEP_COMPACT);
	applied = wc_engine_applied_position(kit.engine);
	assert_int_equal(wc_engine_step(kit.engine, applied + 1, &step, &kit.err), WC_CORRUPT);
	snprintf(hint, sizeof(hint), "widecol.accept_damage = %u.", kit.table);
	assert_non_null(strstr(kit.err.hint, hint));
	wc_engine_accept_damage(kit.engine, kit.table + 1);
	assert_int_equal(wc_engine_step(kit.engine, applied + 1, &step, &kit.err), WC_CORRUPT);
	assert_int_equal(wc_engine_applied_position(kit.engine), applied);
	wc_engine_accept_damage(kit.engine, kit.table);
	assert_ok(&kit, wc_engine_step(kit.engine, applied + 1, &step, &kit.err));
	assert_int_equal(wc_engine_applied_position(kit.engine), applied + 1);
	assert_int_equal(wc_engine_void_operations(kit.engine), 1);
	kit_put(&kit, "b", 1, "a", 10, "1");
	kit_commit(&kit);
	kit_close(&kit);
}

/* --- passes -----------------------------------------------------------------------*/

/* A row of n columns, each with a version too many, and a delete marker over every third. */
static void
put_wide_row(Kit *kit, const char *row, int n)
{
	char		qualifier[16];

	for (int i = 0; i < n; i++)
	{
		snprintf(qualifier, sizeof(qualifier), "q%05d", i);
		kit_put(kit, row, 1, qualifier, 10, "old");
		kit_put(kit, row, 1, qualifier, 20, "new");
		if (i % 3 == 0)
			kit_delete(kit, WC_DELETE_COLUMN, row, 1, qualifier, 30);
	}
	kit_delete(kit, WC_DELETE_FAMILY, row, 1, "", 5);
	kit_commit(kit);
}

static WcPass *
begin_pass(Kit *kit, uint8_t kind, size_t keys_max, const atomic_bool *cancel)
{
	WcPassOptions options = {
		.kind = kind,.until_ts = INT64_MAX,.dated_until_ts = INT64_MAX,.now_us = kit_now,.keys_max = keys_max,.cancel = cancel
	};
	WcPass	   *pass;

	assert_ok(kit, wc_pass_create(kit_store(kit, 1), &options, &pass, &kit->err));
	return pass;
}

/* No step looks at more than it should, however wide a row is, and what comes out is the same. */
static void
a_wide_row_takes_many_steps(void **state)
{
	static const uint8_t kinds[] = {WC_STEP_COMPACT, WC_STEP_MAJOR};

	kit_row_together_max = 100;
	for (int k = 0; k < 2; k++)
	{
		Kit			kit;
		WcPass	   *pass;
		const WcStep *step;
		char	   *whole;
		WcStatus	status;
		int			nsteps = 0;

		kit_open(&kit);
		kit_create(&kit, "t", WC_PACKING_CELL, 1);
		put_wide_row(&kit, "a", 3);
		put_wide_row(&kit, "wide", 300);
		put_wide_row(&kit, "z", 3);
		pass = begin_pass(&kit, kinds[k], 50, NULL);
		while ((status = wc_pass_next(pass, &step, &kit.err)) == WC_OK)
		{
			assert_ok(&kit, wc_step_apply(kit.engine, step, wc_pass_work(pass), NULL, &kit.err));
			assert_in_range(wc_pass_work(pass)->sifted.looked, 0, 2 * 50);

			/* nobody sees more or less meanwhile */
			assert_string_not_equal(kit_scan(&kit, false), "");
			assert_null(strstr(kit.text, "old"));
			assert_null(strstr(kit.text, "q00003"));
			nsteps++;
		}
		assert_int_equal(status, WC_END);
		wc_pass_free(pass);
		assert_in_range(nsteps, 300 * 2 / 50, 10000);
		whole = strdup(raw(&kit));
		kit_close(&kit);

		/* the same in one step each row */
		kit_open(&kit);
		kit_create(&kit, "t", WC_PACKING_CELL, 1);
		put_wide_row(&kit, "a", 3);
		put_wide_row(&kit, "wide", 300);
		put_wide_row(&kit, "z", 3);
		kit_flush(&kit);
		kit_compact(&kit, k == 1);
		assert_string_equal(raw(&kit), whole);
		assert_true((strstr(whole, "Delete") == NULL) == (k == 1));
		free(whole);
		kit_close(&kit);
	}
	kit_row_together_max = 0;
}

/* Where deleted cells are kept, a major compaction drops a delete marker once no put of the family is that old. */
static void
markers_older_than_all_puts_go(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcFamilyAttrs attrs = wc_family_attrs_default;

		attrs.packing = *p;
		attrs.versions = 3;
		attrs.keep_deleted = WC_KEEP_DELETED_TRUE;
		kit_open(&kit);
		kit_create_attrs(&kit, "t", &attrs);
		kit_put(&kit, "r", 1, "a", 10, "1");
		kit_delete(&kit, WC_DELETE_COLUMN, "r", 1, "a", 5);
		kit_delete(&kit, WC_DELETE_FAMILY, "r", 1, "", 12);
		kit_delete(&kit, WC_DELETE_FAMILY, "s", 1, "", 7);
		kit_commit(&kit);
		kit_flush(&kit);
		kit_compact(&kit, true);
		assert_string_equal(raw(&kit), "r{f:@12/DeleteFamily f:a@10=1}");

		/* nothing masks what is written that late */
		kit_put(&kit, "s", 1, "a", 6, "2");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "s{f:a=2}");
		kit_close(&kit);
	}
}

static void
a_wide_row_can_be_left_in_its_midst(void **state)
{
	Kit			kit;
	WcPass	   *pass;
	const WcStep *step;
	atomic_bool cancel = false;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	put_wide_row(&kit, "wide", 5000);
	pass = begin_pass(&kit, WC_STEP_MAJOR, 2 * WC_CANCEL_CELLS, &cancel);
	assert_ok(&kit, wc_pass_next(pass, &step, &kit.err));
	assert_ok(&kit, wc_step_apply(kit.engine, step, wc_pass_work(pass), NULL, &kit.err));
	atomic_store(&cancel, true);
	assert_int_equal(wc_pass_next(pass, &step, &kit.err), WC_CANCELLED);
	wc_pass_free(pass);
	kit_close(&kit);
}

/* One write of a step is bounded, too. */
static void
steps_change_a_bounded_number(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcPass	   *pass;
		const WcStep *step;
		uint64_t	changed = 0;
		WcStatus	status;
		char		row[16];

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 0; i < 3 * WC_STEP_CHANGES_MAX; i++)
		{
			snprintf(row, sizeof(row), "%06d", i);
			kit_delete(&kit, WC_DELETE_FAMILY, row, 1, "", KIT_LATEST);
		}
		kit_commit(&kit);
		pass = begin_pass(&kit, WC_STEP_MAJOR, 0, NULL);
		while ((status = wc_pass_next(pass, &step, &kit.err)) == WC_OK)
		{
			assert_ok(&kit, wc_step_apply(kit.engine, step, wc_pass_work(pass), NULL, &kit.err));
			assert_in_range(wc_pass_work(pass)->sifted.changed, 1, WC_STEP_CHANGES_MAX);
			changed += wc_pass_work(pass)->sifted.changed;
		}
		assert_int_equal(changed, 3 * WC_STEP_CHANGES_MAX);
		assert_int_equal(kit_nstored(&kit, 1), 0);
		wc_pass_free(pass);
		kit_close(&kit);
	}
}

/* A computed step is valid only as long as no commit writes in its range. */
static void
a_commit_in_between_counts(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcPass	   *pass;
		const WcStep *step;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 2);
		kit_put(&kit, "r", 1, "a", 10, "1");
		kit_put(&kit, "r", 1, "a", 20, "2");
		kit_delete(&kit, WC_DELETE_COLUMN, "r", 1, "a", 15);
		kit_commit(&kit);
		pass = begin_pass(&kit, WC_STEP_MAJOR, 0, NULL);
		assert_ok(&kit, wc_pass_next(pass, &step, &kit.err));
		assert_true(wc_pass_work(pass)->worked_out);
		kit_put(&kit, "r", 1, "a", 30, "3");
		kit_put(&kit, "r", 1, "a", 12, "masked");
		kit_commit(&kit);
		assert_ok(&kit, wc_step_apply(kit.engine, step, wc_pass_work(pass), NULL, &kit.err));
		assert_string_equal(raw(&kit), "r{f:a@30=3 f:a@20=2}");
		wc_pass_free(pass);
		kit_close(&kit);
	}
}

static void
ranges_without_garbage_get_no_step(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcPass	   *pass;
		const WcStep *step;
		char		row[16];
		uint64_t	applied;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 0; i < 1000; i++)
		{
			snprintf(row, sizeof(row), "%06d", i);
			kit_put(&kit, row, 1, "a", KIT_LATEST, "1");
		}
		kit_commit(&kit);
		applied = wc_engine_applied_position(kit.engine);
		pass = begin_pass(&kit, WC_STEP_MAJOR, 100, NULL);
		assert_int_equal(wc_pass_next(pass, &step, &kit.err), WC_END);
		wc_pass_free(pass);
		kit_compact(&kit, true);
		assert_int_equal(wc_engine_applied_position(kit.engine), applied);
		kit_close(&kit);
	}
}

/* --- the memstore ---------------------------------------------------------------*/

/* What counts as the memstore outlives the store's closing, and RocksDB's own flushes. */
static void
the_memstore_is_what_no_flush_has_seen(void **state)
{
	Kit			kit;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_put(&kit, "r", 1, "a", 10, "1");
	kit_put(&kit, "r", 1, "a", 20, "2");
	kit_commit(&kit);
	compact_files(&kit);
	kit_reopen(&kit);
	kit_compact(&kit, true);
	assert_string_equal(raw(&kit), "r{f:a@20=2 f:a@10=1}");
	kit_flush(&kit);
	assert_string_equal(raw(&kit), "r{f:a@20=2}");

	/* in two flushes, versions are cut off by a compaction only */
	kit_put(&kit, "r", 1, "a", 30, "3");
	kit_commit(&kit);
	compact_files(&kit);
	kit_crash(&kit);
	kit_flush(&kit);
	assert_string_equal(raw(&kit), "r{f:a@30=3 f:a@20=2}");
	kit_compact(&kit, false);
	assert_string_equal(raw(&kit), "r{f:a@30=3}");
	kit_close(&kit);
}

/* --- cells that are gone ----------------------------------------------------------*/

static void
expire(Kit *kit, int64_t expired_ts, int64_t oldest_ts)
{
	WcStep		step = step_of(kit, WC_STEP_EXPIRE);

	step.expired_ts = expired_ts;
	step.oldest_ts = oldest_ts;
	assert_ok(kit, wc_engine_step(kit->engine, 0, &step, &kit->err));
}

static void
put_with_ttl(Kit *kit, const char *row, const char *qualifier, int64_t ts, int64_t ttl_us)
{
	assert_ok(kit, wc_batch_row_begin(&kit->builder, kit->table, kit->cid, kit_s(row), 0, NULL, 0, &kit->err));
	assert_ok(kit, wc_batch_put(&kit->builder, 1, kit_s(qualifier), ts, ttl_us, kit_s("1"), &kit->err));
	assert_ok(kit, wc_batch_row_end(&kit->builder, &kit->err));
}

static void
create_with_ttl(Kit *kit, uint8_t packing, int64_t ttl_us)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;

	attrs.packing = packing;
	attrs.versions = 5;
	attrs.ttl_us = ttl_us;
	kit_create_attrs(kit, "t", &attrs);
}

static void
what_is_gone_is_gone_for_all(void **state)
{
	EACH_PACKING(p)
	{
		bool		apart = *p == WC_PACKING_CELL;
		Kit			kit;
		WcReadPoint before;

		kit_row_together_max = apart ? 1 : 0;
		kit_now = 100;			/* before any of it is over by the clock */
		kit_open(&kit);
		create_with_ttl(&kit, *p, 151 - 20);
		put_with_ttl(&kit, "r", "a", 100, 0);
		put_with_ttl(&kit, "r", "b", 100, 50);
		put_with_ttl(&kit, "r", "b", 90, 0);
		put_with_ttl(&kit, "r", "c", 100, 51);
		put_with_ttl(&kit, "s", "a", 10, 0);
		put_with_ttl(&kit, "s", "b", 100, 30);
		kit_delete(&kit, WC_DELETE_COLUMN, "s", 1, "c", 19);
		kit_commit(&kit);
		before = kit_point(&kit, false);
		before.snapshot = wc_snapshot_take(kit.engine);
		assert_string_equal(raw(&kit), "r{f:a@100=1 f:b@100=1 f:b@90=1 f:c@100=1} s{f:a@10=1 f:b@100=1 f:c@19/DeleteColumn}");

		/* a cell's end is the first moment at which it is over */
		expire(&kit, 151, 20);
		assert_string_equal(raw(&kit), "r{f:a@100=1 f:b@90=1 f:c@100=1}");
		assert_string_equal(kit_scan(&kit, false), "r{f:a=1 f:b=1 f:c=1}");
		{
			WcScan		scan;

			wc_scan_init(&scan, kit.table);
			assert_string_equal(kit_scan_with(&kit, &scan, &before), "r{f:a=1 f:b=1 f:c=1}");
			wc_snapshot_release(kit.engine, before.snapshot);
		}

		/* it is dropped from files when that is certain, and not before */
		compact_files(&kit);
		assert_int_equal(kit_nstored(&kit, 1), apart ? 7 + 2 : 2);
		assert_ok(&kit, wc_engine_sync(kit.engine, &kit.err));
		wc_store_settle_gone(kit_store(&kit, 1));
		compact_files(&kit);
		assert_int_equal(kit_nstored(&kit, 1), apart ? 3 + 2 : 1);
		assert_string_equal(raw(&kit), "r{f:a@100=1 f:b@90=1 f:c@100=1}");
		kit_close(&kit);
	}
	kit_row_together_max = 0;
}

static void
alter_ttl(Kit *kit, uint8_t packing, int64_t ttl_us)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;
	WcFamilyDesc families[2] = {
		{.id = 1,.generation = 1,.name = kit_s("f")},
		{.id = 2,.generation = 1,.name = kit_s("g")}
	};
	WcTableDesc desc = {
		.id = kit->table,.database = KIT_DATABASE,.ns = kit_s("default"),.name = kit_s("t"),
		.nfamilies = 2,.families = families,.next_family_id = 3
	};

	attrs.packing = packing;
	attrs.versions = 5;
	attrs.ttl_us = ttl_us;
	families[0].attrs = families[1].attrs = attrs;
	assert_ok(kit, wc_batch_alter_table(&kit->builder, kit->cid, &desc, &kit->err));
	kit_commit(kit);
}

/* RocksDB may have dropped it or not: so neither may a longer TTL bring it back, nor a commit
 * make anything of it. */
static void
what_is_gone_does_not_come_back(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		kit_open(&kit);
		create_with_ttl(&kit, *p, 100);
		kit_put(&kit, "r", 1, "a", 1000, "gone");
		kit_put(&kit, "r", 1, "a", 2000, "there");
		kit_commit(&kit);
		expire(&kit, 1900, 1800);
		assert_int_equal(wc_marks_history_from_us(kit_store(&kit, 1)), 1900);
		alter_ttl(&kit, *p, 0);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=there}");
		kit_reopen(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=there}");

		/* the newest version, and then there is none: a marker of the commit's time */
		kit_delete(&kit, WC_DELETE, "r", 1, "a", KIT_LATEST);
		kit_commit(&kit);
		kit_delete(&kit, WC_DELETE, "r", 1, "a", KIT_LATEST);
		kit_commit(&kit);
		assert_null(strstr(raw(&kit), "1000"));
		assert_non_null(strstr(kit.text, "f:a@2000/Delete"));
		kit_put(&kit, "r", 1, "a", 1801, "new");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=new}");
		kit_close(&kit);
	}
}

/* Drops the cells from files that are gone. */
static void
drop_gone(Kit *kit)
{
	assert_ok(kit, wc_engine_sync(kit->engine, &kit->err));
	compact_files(kit);
}

/* Cells with old timestamps that are written after the step are not gone: a longer TTL shows them. */
static void
what_is_written_later_is_not_gone(void **state)
{
	const char *late = "r{f:a@1000=late f:b@1500=late}";

	for (int form = 0; form < 3; form++)
	{
		uint8_t		packing = form == 0 ? WC_PACKING_ROW : WC_PACKING_CELL;
		Kit			kit;

		kit_row_together_max = form == 2 ? 1 : 0;
		kit_open(&kit);
		create_with_ttl(&kit, packing, 100);
		kit_put(&kit, "r", 1, "a", 1000, "gone");
		kit_put(&kit, "r", 1, "c", 1000, "gone");
		kit_commit(&kit);
		expire(&kit, 1900, 1800);
		assert_string_equal(raw(&kit), "");

		/* also where a gone cell is or was */
		alter_ttl(&kit, packing, 0);
		kit_put(&kit, "r", 1, "a", 1000, "late");
		kit_put(&kit, "r", 1, "b", 1500, "late");
		kit_commit(&kit);
		assert_string_equal(raw(&kit), late);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=late f:b=late}");
		kit_crash(&kit);
		drop_gone(&kit);
		assert_string_equal(raw(&kit), late);
		assert_int_equal(kit_nstored(&kit, 1), form == 2 ? 3 : 1);
		kit_reopen(&kit);
		assert_string_equal(raw(&kit), late);

		/* a step of a shorter TTL, from before ALTER, is void */
		expire(&kit, 2000, 1900);
		assert_int_equal(wc_marks(kit_store(&kit, 1)).gone.expired_ts, 1900);
		assert_string_equal(raw(&kit), late);
		alter_ttl(&kit, packing, 200);
		expire(&kit, 2000, 1900);
		assert_string_equal(raw(&kit), late);

		/* a step that does not reach further than the one before takes nothing that came since */
		expire(&kit, 2000, 1800);
		assert_int_equal(wc_marks(kit_store(&kit, 1)).gone.expired_ts, 2000);
		assert_string_equal(raw(&kit), late);
		expire(&kit, 2001, 1801);
		assert_string_equal(raw(&kit), "");
		drop_gone(&kit);
		assert_int_equal(kit_nstored(&kit, 1), form == 2 ? 1 : 0);
		kit_close(&kit);
	}
	kit_row_together_max = 0;
}

/* --- older formats ------------------------------------------------------------------------*/

static void
put_catalog(Kit *kit, const char *key, size_t key_len, const char *value, size_t value_len)
{
	char	   *error = NULL;

	rocksdb_put_cf(kit->engine->db, kit->engine->write_options, kit->engine->meta, key, key_len, value, value_len, &error);
	assert_null(error);
}

/* Format 1 had the first two of a family's marks, or none; all its cells count as flushed. */
static void
format_1_is_converted(void **state)
{
	Kit			kit;
	char		key[9] = {'Y', 0, 0, 0, 0, 0, 0, 0, 1};
	char		value[9] = {0, 0, 0, 0, 0, 0, 0, 77, 1};
	WcMarks		marks;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_put(&kit, "r", 1, "a", 10, "1");
	kit_put(&kit, "r", 1, "a", 20, "2");
	kit_commit(&kit);
	key[4] = (char) kit.table;
	put_catalog(&kit, key, sizeof(key), value, sizeof(value));
	put_catalog(&kit, "F", 1, "\0\0\0\1", 4);
	for (int i = 0; i < 2; i++)
	{
		kit_reopen(&kit);
		marks = wc_marks(kit_store(&kit, 1));
		assert_int_equal(marks.history_from_us, 77);
		assert_true(marks.single);
		assert_int_equal(marks.flushed_ts, kit.commit_ts);
		assert_int_equal(marks.gone.oldest_ts, 0);
	}
	kit_compact(&kit, true);
	assert_string_equal(raw(&kit), "r{f:a@20=2}");

	put_catalog(&kit, "F", 1, "\0\0\0\10", 4);
	{
		WcEngineOptions options = kit_options(&kit);
		WcEngine   *engine = NULL;

		wc_engine_close(kit.engine);
		assert_int_equal(wc_engine_open(&options, &engine, &kit.err), WC_UNSUPPORTED);
		assert_string_equal(kit.err.message, "store has format version 8, this engine reads versions up to 7");
	}
	kit.engine = NULL;
	kit_close(&kit);
}

static char *
get_catalog(Kit *kit, const char *key, size_t key_len, size_t *len)
{
	char	   *error = NULL;
	char	   *value = rocksdb_get_cf(kit->engine->db, kit->engine->read_options, kit->engine->meta, key, key_len, len, &error);

	assert_null(error);
	assert_non_null(value);
	return value;
}

/* The number alone changes: an engine that knows format 2, or 6, only must not read the store any more. */
static void
assert_number_changes(const char *number)
{
	Kit			kit;
	int64_t		flushed_ts;
	size_t		len;
	char	   *value;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_put(&kit, "r", 1, "a", 10, "1");
	kit_commit(&kit);
	kit_flush(&kit);
	flushed_ts = wc_marks(kit_store(&kit, 1)).flushed_ts;
	kit_put(&kit, "r", 1, "a", 20, "2");
	kit_commit(&kit);
	put_catalog(&kit, "F", 1, number, 4);
	kit_reopen(&kit);
	assert_int_equal(wc_marks(kit_store(&kit, 1)).flushed_ts, flushed_ts);
	assert_string_equal(raw(&kit), "r{f:a@20=2 f:a@10=1}");
	value = get_catalog(&kit, "F", 1, &len);
	assert_int_equal(len, 4);
	assert_memory_equal(value, "\0\0\0\7", 4);
	rocksdb_free(value);
	kit_close(&kit);
}

static void
formats_2_and_6_are_converted(void **state)
{
	assert_number_changes("\0\0\0\2");
	assert_number_changes("\0\0\0\6");
}

/* Format 3 did not say until when the cells were written that are gone: those that are stored, when it is converted. */
static void
format_3_is_converted(void **state)
{
	Kit			kit;
	char		key[9] = {'Y', 0, 0, 0, 0, 0, 0, 0, 1};
	size_t		len;
	char	   *value;

	kit_open(&kit);
	create_with_ttl(&kit, WC_PACKING_CELL, 100);
	kit_put(&kit, "r", 1, "a", 1000, "gone");
	kit_put(&kit, "s", 1, "a", 2000, "there");
	kit_commit(&kit);
	expire(&kit, 1900, 1800);
	alter_ttl(&kit, WC_PACKING_CELL, 0);
	key[4] = (char) kit.table;
	value = get_catalog(&kit, key, sizeof(key), &len);
	assert_int_equal(len, 65);
	put_catalog(&kit, key, sizeof(key), value, 49);
	put_catalog(&kit, "F", 1, "\0\0\0\3", 4);
	rocksdb_free(value);
	for (int i = 0; i < 2; i++)
	{
		kit_reopen(&kit);
		assert_int_equal(wc_marks(kit_store(&kit, 1)).gone.oldest_ts, 1800);
		assert_int_equal(wc_marks(kit_store(&kit, 1)).gone.oldest_until_ts, kit.commit_ts);
		assert_string_equal(raw(&kit), "s{f:a@2000=there}");
	}
	kit_put(&kit, "r", 1, "a", 1000, "late");
	kit_commit(&kit);
	kit_reopen(&kit);
	drop_gone(&kit);
	assert_string_equal(raw(&kit), "r{f:a@1000=late} s{f:a@2000=there}");
	kit_close(&kit);
}

static int	found_ahead;

static void
note_ahead(void *arg, uint32_t table_id)
{
	assert_int_equal(table_id, *(uint32_t *) arg);
	found_ahead++;
}

/* Format 4 did not say on which timeline the applied position is. */
static void
format_4_is_converted(void **state)
{
	Kit			kit;
	uint64_t	applied;
	size_t		len;
	char	   *value;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	wc_engine_set_timeline(kit.engine, 7);
	kit_put(&kit, "r", 1, "a", 10, "1");
	kit_commit(&kit);
	kit_reopen(&kit);
	assert_int_equal(wc_engine_timeline(kit.engine), 7);
	applied = wc_engine_applied_position(kit.engine);
	value = get_catalog(&kit, "S", 1, &len);
	assert_int_equal(len, 20);
	put_catalog(&kit, "S", 1, value, 16);
	put_catalog(&kit, "F", 1, "\0\0\0\4", 4);
	rocksdb_free(value);
	for (int i = 0; i < 2; i++)
	{
		kit_reopen(&kit);
		assert_int_equal(wc_engine_timeline(kit.engine), 0);
		assert_int_equal(wc_engine_applied_position(kit.engine), applied);
		assert_string_equal(raw(&kit), "r{f:a@10=1}");
	}
	kit_close(&kit);
}

/* Format 5 did not say whether cells have later timestamps than their commits: any may have. */
static void
format_5_is_converted(void **state)
{
	Kit			kit;
	char		key[9] = {'Y', 0, 0, 0, 0, 0, 0, 0, 1};
	uint64_t	nahead = 0;
	uint32_t	old;
	size_t		len;
	char	   *value;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_put(&kit, "r", 1, "a", 10, "1");
	kit_commit(&kit);
	kit_flush(&kit);
	old = kit.table;
	key[4] = (char) kit.table;
	value = get_catalog(&kit, key, sizeof(key), &len);
	assert_int_equal(len, 65);
	put_catalog(&kit, key, sizeof(key), value, 57);
	put_catalog(&kit, "F", 1, "\0\0\0\5", 4);
	rocksdb_free(value);
	for (int i = 0; i < 2; i++)
	{
		kit_reopen(&kit);
		kit_create(&kit, i == 0 ? "new" : "newer", WC_PACKING_CELL, 1);
		kit_put(&kit, "r", 1, "a", WC_TS_LATEST, "1");
		kit_commit(&kit);
		nahead = found_ahead = 0;
		wc_engine_ahead_tables(kit.engine, &nahead, note_ahead, &old);
		assert_int_equal(nahead, 2);	/* families */
		assert_int_equal(found_ahead, 1);
	}
	kit_close(&kit);
}

/* --- waiting for a step -------------------------------------------------------------- */

static void *
await_step(void *applier)
{
	return wc_applier_await_step(applier, UINT64_MAX, NULL) ? applier : NULL;
}

/* While nothing can be applied, a thread that waits for its step must not keep the engine from ending. */
static void
a_wait_for_a_step_can_be_ended(void **state)
{
	WcGetCache *cache = kit_getcache(1 << 16, 1);
	_Atomic uint64_t generation = 0;
	_Atomic uint64_t writes = 0;
	WcApplied	applied = {0};
	WcApplier  *applier;
	WcEpochs   *epochs;
	pthread_t	thread;
	void	   *step;
	Kit			kit;

	epochs = kit_open_with_epochs(&kit, cache);
	assert_ok(&kit, wc_applier_start(&(WcApplierOptions)
	{
		.engine = kit.engine,.epochs = epochs,
		.catalog_generation = &generation,.writes = &writes,.applied = applied
	}, &applier, &kit.err));
	assert_int_equal(pthread_create(&thread, NULL, await_step, applier), 0);
	wc_applier_end_steps(applier);
	assert_int_equal(pthread_join(thread, &step), 0);
	assert_null(step);
	wc_applier_stop(applier);
	wc_epochs_free(epochs);
	kit_close(&kit);
	free(cache);
}

/* --- a pass beside commits ------------------------------------------------------ */

static atomic_bool beside_over;
static atomic_int nbeside;		/* commits so far */

/* Commits to a row behind all others.  Its number orders nothing else: only mutexes of the engine's do. */
static void *
commit_beside(void *arg)
{
	Kit		   *kit = arg;

	while (!atomic_load_explicit(&beside_over, memory_order_relaxed))
	{
		kit_put(kit, "z", 1, "a", KIT_LATEST, "z");
		kit_commit(kit);
		atomic_fetch_add_explicit(&nbeside, 1, memory_order_relaxed);
	}
	return NULL;
}

/* Commits compare their rows with the first one of the range that the pass works on. */
static void
a_pass_goes_on_beside_commits(void **state)
{
	Kit			kit;
	WcPass	   *pass;
	const WcStep *step;
	pthread_t	thread;
	WcStatus	status;
	WcError		err;
	int			nsteps = 0;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	for (int i = 0; i < 200; i++)
	{
		kit_put(&kit, kit_key(i), 1, "a", 10, "old");
		kit_put(&kit, kit_key(i), 1, "a", 20, "new");
	}
	kit_commit(&kit);
	pass = begin_pass(&kit, WC_STEP_COMPACT, 16, NULL);
	atomic_store(&beside_over, false);
	assert_int_equal(pthread_create(&thread, NULL, commit_beside, &kit), 0);
	while ((status = wc_pass_next(pass, &step, &err)) == WC_OK)
	{
		int			before = atomic_load_explicit(&nbeside, memory_order_relaxed);

		while (atomic_load_explicit(&nbeside, memory_order_relaxed) < before + 2)
			sched_yield();
		nsteps++;
	}
	atomic_store_explicit(&beside_over, true, memory_order_relaxed);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(status, WC_END);
	assert_in_range(nsteps, 10, 400);
	wc_pass_free(pass);
	kit_close(&kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_has_its_place_among_commits),
		cmocka_unit_test(a_step_of_what_is_not_there_is_void),
		cmocka_unit_test(a_damaged_state_is_refused),
		cmocka_unit_test(a_step_over_damaged_rows_can_be_given_up),
		cmocka_unit_test(a_wide_row_takes_many_steps),
		cmocka_unit_test(markers_older_than_all_puts_go),
		cmocka_unit_test(a_wide_row_can_be_left_in_its_midst),
		cmocka_unit_test(steps_change_a_bounded_number),
		cmocka_unit_test(a_commit_in_between_counts),
		cmocka_unit_test(ranges_without_garbage_get_no_step),
		cmocka_unit_test(the_memstore_is_what_no_flush_has_seen),
		cmocka_unit_test(what_is_gone_is_gone_for_all),
		cmocka_unit_test(what_is_gone_does_not_come_back),
		cmocka_unit_test(what_is_written_later_is_not_gone),
		cmocka_unit_test(format_1_is_converted),
		cmocka_unit_test(formats_2_and_6_are_converted),
		cmocka_unit_test(format_3_is_converted),
		cmocka_unit_test(format_4_is_converted),
		cmocka_unit_test(format_5_is_converted),
		cmocka_unit_test(a_wait_for_a_step_can_be_ended),
		cmocka_unit_test(a_pass_goes_on_beside_commits)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
