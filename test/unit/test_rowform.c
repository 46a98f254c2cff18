/*
 * test/unit/test_rowform.c: rows of packing cell: together while they are small, apart when they are large.
 *
 * Reads do not depend on the form; RocksDB's key-values show it.
 */
#include "enginekit.h"

#include <stdio.h>
#include <string.h>

#include "engine/rocks/cellkey.h"
#include "engine/store/state.h"
#include "engine/source/storedrow.h"
#include "engine/write/step.h"

/* Bytes of a row that is together at most. */
#define TOGETHER_MAX 200

static void
begin_with_ttl(Kit *kit, uint32_t versions, int64_t ttl_us)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;

	kit_row_together_max = TOGETHER_MAX;
	kit_open(kit);
	kit_row_together_max = 0;
	attrs.packing = WC_PACKING_CELL;
	attrs.versions = versions;
	attrs.ttl_us = ttl_us;
	kit_create_attrs(kit, "t", &attrs);
	kit_commit(kit);
}

static void
begin(Kit *kit, uint32_t versions)
{
	begin_with_ttl(kit, versions, 0);
}

static const char *
scan(Kit *kit, bool raw, bool reversed)
{
	WcScan		s;

	wc_scan_init(&s, kit->table);
	s.reversed = reversed;
	s.raw = raw;
	s.versions = raw ? 1000 : 1;
	return kit_scan_as(kit, false, &s);
}

static const char *
get(Kit *kit, const char *row)
{
	WcRange		range = {.start = kit_s(row),.stop = kit_s(row),.start_inclusive = true,.stop_inclusive = true};
	WcScan		s;

	wc_scan_init(&s, kit->table);
	s.ranges = &range;
	s.nranges = 1;
	return kit_scan_as(kit, false, &s);
}

static void
assert_sound(Kit *kit)
{
	WcBuf		out = WC_BUF_INIT;

	assert_ok(kit, wc_engine_inspect(kit->engine, KIT_DATABASE, kit->table, NULL, &out, &kit->err));
	assert_int_equal(out.data[0], 0);
	wc_buf_free(&out);
}

/* Columns first .. last get a value of 10 bytes. */
static void
put_columns(Kit *kit, const char *row, int first, int last)
{
	char		qualifier[8];

	for (int i = first; i <= last; i++)
	{
		snprintf(qualifier, sizeof(qualifier), "q%02d", i);
		kit_put(kit, row, 1, qualifier, KIT_LATEST, "0123456789");
	}
	kit_commit(kit);
}

static void
delete_columns(Kit *kit, const char *row, int first, int last)
{
	char		qualifier[8];

	for (int i = first; i <= last; i++)
	{
		snprintf(qualifier, sizeof(qualifier), "q%02d", i);
		kit_delete(kit, WC_DELETE_COLUMN, row, 1, qualifier, KIT_LATEST);
	}
	kit_commit(kit);
}

/* What a row with these columns looks like. */
static const char *
columns(const char *row, int first, int last)
{
	static char text[4096];
	int			n = snprintf(text, sizeof(text), "%s{", row);

	for (int i = first; i <= last; i++)
		n += snprintf(text + n, sizeof(text) - (size_t) n, "%sf:q%02d=0123456789", i > first ? " " : "", i);
	snprintf(text + n, sizeof(text) - (size_t) n, "}");
	return text;
}

/* In both directions, by its key, and behind a crash. */
static void
assert_row(Kit *kit, const char *row, int first, int last)
{
	assert_string_equal(scan(kit, false, false), columns(row, first, last));
	assert_string_equal(scan(kit, false, true), columns(row, first, last));
	assert_string_equal(get(kit, row), columns(row, first, last));
	assert_sound(kit);
}

static void
a_row_grows_and_shrinks(void **state)
{
	Kit			kit;

	begin(&kit, 1);
	put_columns(&kit, "r", 1, 3);
	assert_int_equal(kit_nstored(&kit, 1), 1);
	put_columns(&kit, "r", 4, 8);
	assert_int_equal(kit_nstored(&kit, 1), 1);
	assert_row(&kit, "r", 1, 8);

	/* over the limit: its head, and its cells */
	put_columns(&kit, "r", 9, 20);
	assert_int_equal(kit_nstored(&kit, 1), 1 + 20);
	assert_row(&kit, "r", 1, 20);
	kit_crash(&kit);
	assert_row(&kit, "r", 1, 20);
	put_columns(&kit, "r", 21, 21);
	assert_int_equal(kit_nstored(&kit, 1), 1 + 21);

	/* a marker is a cell, too; the row shrinks when a flush drops the masked cells */
	delete_columns(&kit, "r", 4, 21);
	assert_int_equal(kit_nstored(&kit, 1), 1 + 21 + 18);
	assert_row(&kit, "r", 1, 3);
	kit_flush(&kit);
	assert_row(&kit, "r", 1, 3);
	kit_compact(&kit, true);
	assert_int_equal(kit_nstored(&kit, 1), 1);
	assert_row(&kit, "r", 1, 3);
	kit_crash(&kit);
	assert_row(&kit, "r", 1, 3);

	/* and over it again */
	put_columns(&kit, "r", 4, 30);
	assert_int_equal(kit_nstored(&kit, 1), 1 + 30);
	assert_row(&kit, "r", 1, 30);
	kit_close(&kit);
}

/* Half the limit has to be enough, so that a row does not change back and forth. */
static void
a_row_stays_as_it_is_between_the_limits(void **state)
{
	Kit			kit;

	begin(&kit, 1);
	put_columns(&kit, "r", 1, 13);
	assert_int_equal(kit_nstored(&kit, 1), 1 + 13);
	delete_columns(&kit, "r", 9, 13);
	kit_flush(&kit);
	kit_compact(&kit, true);
	assert_int_equal(kit_nstored(&kit, 1), 1 + 8);
	assert_row(&kit, "r", 1, 8);
	kit_close(&kit);
}

static void
a_row_that_is_deleted_leaves_nothing(void **state)
{
	Kit			kit;

	begin(&kit, 1);
	put_columns(&kit, "small", 1, 2);
	put_columns(&kit, "wide", 1, 30);
	kit_delete(&kit, WC_DELETE_FAMILY, "small", 1, "", KIT_LATEST);
	kit_delete(&kit, WC_DELETE_FAMILY, "wide", 1, "", KIT_LATEST);
	kit_commit(&kit);
	assert_string_equal(scan(&kit, false, false), "");
	kit_flush(&kit);
	kit_compact(&kit, true);
	assert_int_equal(kit_nstored(&kit, 1), 0);
	kit_close(&kit);
}

/* Superseded cells make a row grow until a flush drops them. */
static void
versions_count(void **state)
{
	Kit			kit;

	begin(&kit, 1);
	for (int i = 0; i < 30; i++)
		put_columns(&kit, "r", 1, 1);
	assert_int_equal(kit_nstored(&kit, 1), 1 + 30);
	assert_row(&kit, "r", 1, 1);
	kit_flush(&kit);
	assert_int_equal(kit_nstored(&kit, 1), 1);
	assert_row(&kit, "r", 1, 1);
	kit_close(&kit);
}

/* ... and not more than so many of them are kept together, however small they are. */
static void
what_is_written_again_and_again_is_apart(void **state)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;
	Kit			kit;

	kit_open(&kit);
	attrs.packing = WC_PACKING_CELL;
	attrs.versions = 3;
	kit_create_attrs(&kit, "t", &attrs);
	put_columns(&kit, "r", 1, 8);
	for (int i = 0; i < 2 + WC_SUPERSEDED_MAX; i++)
		put_columns(&kit, "r", 5, 5);
	assert_int_equal(kit_nstored(&kit, 1), 1);
	put_columns(&kit, "r", 5, 5);
	assert_int_equal(kit_nstored(&kit, 1), 1 + 8 + 3 + WC_SUPERSEDED_MAX);
	assert_row(&kit, "r", 1, 8);
	kit_flush(&kit);
	assert_int_equal(kit_nstored(&kit, 1), 1);
	assert_row(&kit, "r", 1, 8);
	kit_close(&kit);
}

static void
put_bytes(Kit *kit, const char *qualifier, int64_t ts, const char *value)
{
	WcCell		cell = {.row = kit_s("r"),.qualifier = kit_s(qualifier),.ts = ts,.seq = ts,.type = WC_PUT,.value = kit_s(value)};
	WcBuf		key = WC_BUF_INIT;
	WcBuf		bytes = WC_BUF_INIT;
	char	   *error = NULL;

	wc_cellkey_append_cell(&key, &cell);
	wc_cellvalue_append(&bytes, &cell);
	rocksdb_put_cf(kit->engine->db, kit->engine->write_options, kit_store(kit, 1)->cf, (const char *) key.data, key.len,
				   (const char *) bytes.data, bytes.len, &error);
	assert_null(error);
	wc_buf_free(&key);
	wc_buf_free(&bytes);
}

/* Stores from before there were heads: a row gets one with the next write to it, or becomes together. */
static void
a_row_without_a_head(void **state)
{
	for (int written = 0; written < 2; written++)
	{
		Kit			kit;

		begin(&kit, 1);
		put_columns(&kit, "a", 1, 1);
		put_columns(&kit, "z", 1, 1);
		put_bytes(&kit, "a", 1, "1");
		put_bytes(&kit, "b", 1, "2");
		assert_string_equal(get(&kit, "r"), "r{f:a=1 f:b=2}");
		assert_string_equal(scan(&kit, false, true), "z{f:q01=0123456789} r{f:a=1 f:b=2} a{f:q01=0123456789}");
		assert_int_equal(kit_nstored(&kit, 1), 4);
		assert_sound(&kit);
		if (written)
		{
			kit_put(&kit, "r", 1, "b", KIT_LATEST, "3");
			kit_commit(&kit);
			assert_string_equal(get(&kit, "r"), "r{f:a=1 f:b=3}");
			assert_int_equal(kit_nstored(&kit, 1), 6);
		}
		kit_flush(&kit);
		kit_compact(&kit, false);
		assert_int_equal(kit_nstored(&kit, 1), 3);
		assert_string_equal(get(&kit, "r"), written ? "r{f:a=1 f:b=3}" : "r{f:a=1 f:b=2}");
		kit_close(&kit);
	}
}

/* A TTL that no cell's age has reached. */
#define TTL INT64_C(10000000)

static void
expire(Kit *kit, int64_t oldest_ts)
{
	WcStep		step = {
		.kind = WC_STEP_EXPIRE,.table_id = kit->table,.family_id = 1,.generation = kit_store(kit, 1)->generation,
		.expired_ts = oldest_ts + TTL,.oldest_ts = oldest_ts
	};

	assert_ok(kit, wc_engine_step(kit->engine, 0, &step, &kit->err));
}

/* Cells that are gone RocksDB may have still: then they are behind a row that is together. */
static void
what_is_left_from_before_is_not_seen(void **state)
{
	Kit			kit;

	begin_with_ttl(&kit, 1, TTL);
	put_bytes(&kit, "a", 1, "gone");
	put_bytes(&kit, "b", 2, "gone");
	expire(&kit, 10);
	assert_string_equal(get(&kit, "r"), "");
	kit_put(&kit, "r", 1, "c", KIT_LATEST, "new");
	kit_put(&kit, "s", 1, "c", KIT_LATEST, "new");
	kit_commit(&kit);
	assert_int_equal(kit_nstored(&kit, 1), 4);
	assert_string_equal(get(&kit, "r"), "r{f:c=new}");
	assert_string_equal(scan(&kit, true, false), "r{f:c=new} s{f:c=new}");
	assert_string_equal(scan(&kit, true, true), "s{f:c=new} r{f:c=new}");

	/* when the row is apart, they are among its cells */
	kit_delete(&kit, WC_DELETE_COLUMN, "r", 1, "c", KIT_LATEST);
	put_columns(&kit, "r", 1, 30);
	assert_int_equal(kit_nstored(&kit, 1), 2 + 1 + 1 + 32);
	assert_string_equal(get(&kit, "r"), columns("r", 1, 30));
	assert_sound(&kit);
	kit_close(&kit);
}

/* All that is in a row may be gone; it is together still, and what comes is put there. */
static void
a_row_of_which_all_is_gone(void **state)
{
	Kit			kit;

	begin_with_ttl(&kit, 1, TTL);
	kit_put(&kit, "r", 1, "a", 5, "gone");
	kit_commit(&kit);
	expire(&kit, 10);
	assert_string_equal(scan(&kit, true, false), "");
	assert_string_equal(get(&kit, "r"), "");
	kit_put(&kit, "r", 1, "b", 50, "new");
	kit_commit(&kit);
	assert_int_equal(kit_nstored(&kit, 1), 1);
	assert_string_equal(scan(&kit, true, false), "r{f:b=new}");
	kit_close(&kit);
}

/* A major compaction goes through rows that are apart in many steps, and through others whole. */
static void
small_steps(void **state)
{
	Kit			kit;
	WcPass	   *pass;
	WcPassOptions options = {.kind = WC_STEP_MAJOR,.until_ts = INT64_MAX,.dated_until_ts = INT64_MAX,.keys_max = 7};
	const WcStep *step;
	WcStatus	status;

	begin(&kit, 1);
	for (int i = 0; i < 3; i++)
	{
		char		row[8];

		snprintf(row, sizeof(row), "r%d", i);
		put_columns(&kit, row, 1, i == 1 ? 40 : 3);
		if (i != 0)
			delete_columns(&kit, row, 2, 40);
	}
	options.now_us = kit_now;
	assert_ok(&kit, wc_pass_create(kit_store(&kit, 1), &options, &pass, &kit.err));
	while ((status = wc_pass_next(pass, &step, &kit.err)) == WC_OK)
	{
		assert_ok(&kit, wc_step_apply(kit.engine, step, wc_pass_work(pass), NULL, &kit.err));
		assert_string_equal(get(&kit, "r1"), "r1{f:q01=0123456789}");
	}
	assert_int_equal(status, WC_END);
	wc_pass_free(pass);
	assert_string_equal(scan(&kit, true, false),
						"r0{f:q01=0123456789 f:q02=0123456789 f:q03=0123456789} r1{f:q01=0123456789} r2{f:q01=0123456789}");
	/* the wide row was never seen whole by one step: the next compaction puts it together */
	kit_flush(&kit);
	kit_compact(&kit, false);
	assert_int_equal(kit_nstored(&kit, 1), 3);
	assert_sound(&kit);
	kit_close(&kit);
}

/* Of two writes of a cell with the same timestamp the later one stays, in either form of the row. */
static void
a_cell_that_is_written_again_is_replaced(void **state)
{
	Kit			kit;

	(void) state;
	for (int apart = 0; apart < 2; apart++)
	{
		begin(&kit, 5);
		if (apart)
			put_columns(&kit, "r", 0, 30);
		for (int i = 0; i < 50; i++)
		{
			kit_put(&kit, "r", 1, "a", 5, "one");
			kit_commit(&kit);
		}
		assert_int_equal(kit_nstored(&kit, 1), apart ? 1 + 31 + 1 : 1);
		kit_put(&kit, "r", 1, "a", 5, "two");
		kit_put(&kit, "r", 1, "a", 6, "newer");
		kit_commit(&kit);
		if (apart)
			delete_columns(&kit, "r", 0, 30);
		assert_memory_equal(scan(&kit, true, false), "r{f:a=newer f:a=two", 19);
		assert_null(strstr(kit.text, "one"));
		assert_sound(&kit);
		kit_close(&kit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_grows_and_shrinks),
		cmocka_unit_test(a_row_stays_as_it_is_between_the_limits),
		cmocka_unit_test(a_row_that_is_deleted_leaves_nothing),
		cmocka_unit_test(versions_count),
		cmocka_unit_test(what_is_written_again_and_again_is_apart),
		cmocka_unit_test(a_row_without_a_head),
		cmocka_unit_test(what_is_left_from_before_is_not_seen),
		cmocka_unit_test(a_row_of_which_all_is_gone),
		cmocka_unit_test(a_cell_that_is_written_again_is_replaced),
		cmocka_unit_test(small_steps)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
