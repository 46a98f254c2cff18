/*
 * test/unit/test_check.c: the check before a commit finds a transaction's errors; operations that an earlier commit has
 * made wrong are void.
 */
#include "enginekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

static WcStatus
check(Kit *kit)
{
	assert_ok(kit, kit_send(kit));
	return wc_engine_check(kit->engine, kit->txn, NULL, &kit->err);
}

/* Applies although others came first; how many operations were void. */
static uint64_t
apply(Kit *kit)
{
	uint64_t	before = wc_engine_void_operations(kit->engine);

	assert_ok(kit, kit_apply(kit));
	return wc_engine_void_operations(kit->engine) - before;
}

static void
put_absent(Kit *kit, const char *row, const char *value)
{
	const uint32_t families[] = {1};

	assert_ok(kit, wc_batch_row_begin(&kit->builder, kit->table, kit->cid, kit_s(row), WC_ROW_MUST_BE_ABSENT,
									  families, 1, &kit->err));
	assert_ok(kit, wc_batch_put(&kit->builder, 1, kit_s("a"), KIT_LATEST, 0, kit_s(value), &kit->err));
	assert_ok(kit, wc_batch_row_end(&kit->builder, &kit->err));
}

/* --- rows -----------------------------------------------------------------*/

static void
rows_that_must_be_absent(void **state)
{
	EACH_PACKING(p)
	{
		uint64_t	before;
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
		kit_commit(&kit);

		/* looking changes nothing, and may be repeated */
		put_absent(&kit, "q", "2");
		kit_put(&kit, "r", 1, "a", KIT_LATEST, "2");
		assert_int_equal(check(&kit), WC_OK);
		put_absent(&kit, "r", "3");
		assert_int_equal(check(&kit), WC_DUPLICATE_ROW);
		assert_int_equal(check(&kit), WC_DUPLICATE_ROW);
		assert_int_equal(kit.err.row_len, 1);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");

		/* the other one came first: the operation is void, the rest is not */
		assert_int_equal(apply(&kit), 1);
		assert_string_equal(kit_scan(&kit, false), "q{f:a=2} r{f:a=2}");

		/* own writes count, in their order */
		kit_delete(&kit, WC_DELETE_FAMILY, "r", 1, "", KIT_LATEST);
		put_absent(&kit, "r", "4");
		kit_put(&kit, "r", 1, "b", KIT_LATEST, "5");
		assert_int_equal(check(&kit), WC_OK);
		before = wc_txn_length(kit.txn);
		put_absent(&kit, "r", "6");
		assert_int_equal(check(&kit), WC_DUPLICATE_ROW);
		assert_ok(&kit, wc_txn_cut(kit.txn, before, &kit.err));
		assert_int_equal(check(&kit), WC_OK);
		assert_int_equal(apply(&kit), 0);
		assert_string_equal(kit_scan(&kit, false), "q{f:a=2} r{f:a=4 f:b=5}");
		kit_close(&kit);
	}
}

/* Truncated or made by the transaction itself, a table has no rows of before. */
static void
rows_of_new_storage(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		put_absent(&kit, "r", "1");
		assert_int_equal(check(&kit), WC_OK);
		assert_int_equal(apply(&kit), 0);
		put_absent(&kit, "r", "of before");
		assert_ok(&kit, wc_batch_truncate_table(&kit.builder, 1, kit.table, &kit.err));
		put_absent(&kit, "r", "2");
		assert_int_equal(check(&kit), WC_OK);
		assert_int_equal(apply(&kit), 0);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=2}");

		/* dropped, it has none to look at */
		put_absent(&kit, "r", "3");
		assert_ok(&kit, wc_batch_drop_table(&kit.builder, 1, kit.table, &kit.err));
		assert_int_equal(check(&kit), WC_OK);
		assert_int_equal(apply(&kit), 0);
		kit_close(&kit);
	}
}

static void
tables_and_families_that_are_gone(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		uint32_t	table;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		table = kit.table;
		kit_create(&kit, "u", *p, 1);
		kit_commit(&kit);

		kit.table = table;
		kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
		kit_put(&kit, "s", 7, "a", KIT_LATEST, "no such family");
		kit.table = 100;
		kit_put(&kit, "r", 1, "a", KIT_LATEST, "no such table");
		kit.table = table + 1;
		kit_put(&kit, "r", 2, "a", KIT_LATEST, "2");
		assert_int_equal(check(&kit), WC_NO_TABLE);
		assert_int_equal(apply(&kit), 2);
		assert_string_equal(kit_scan(&kit, false), "r{g:a=2}");
		kit.table = table;
		assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");

		/* one operation on two families */
		assert_ok(&kit, wc_batch_row_begin(&kit.builder, kit.table, kit.cid, kit_s("v"), 0, NULL, 0, &kit.err));
		assert_ok(&kit, wc_batch_put(&kit.builder, 9, kit_s("a"), KIT_LATEST, 0, kit_s("no"), &kit.err));
		assert_ok(&kit, wc_batch_put(&kit.builder, 2, kit_s("a"), KIT_LATEST, 0, kit_s("3"), &kit.err));
		assert_ok(&kit, wc_batch_put(&kit.builder, 8, kit_s("a"), KIT_LATEST, 0, kit_s("no"), &kit.err));
		assert_ok(&kit, wc_batch_row_end(&kit.builder, &kit.err));
		assert_int_equal(apply(&kit), 1);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=1} v{g:a=3}");
		kit_close(&kit);
	}
}

/* --- the catalog ----------------------------------------------------------*/

static void
catalog_changes_that_come_too_late(void **state)
{
	Kit			kit;
	uint32_t	table;
	WcFamilyDesc family = {.id = 1,.name = kit_s("f"),.attrs = wc_family_attrs_default};
	WcTableDesc desc = {
		.database = KIT_DATABASE,.ns = kit_s("default"),.name = kit_s("t"),
		.nfamilies = 1,.families = &family,.next_family_id = 2
	};

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
	kit_commit(&kit);
	table = desc.id = kit.table;
	family.attrs.packing = WC_PACKING_ROW;

	/* another table has the name: writes to the second one are void too */
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_put(&kit, "s", 1, "a", KIT_LATEST, "2");
	assert_int_equal(check(&kit), WC_EXISTS);
	assert_int_equal(apply(&kit), 2);
	kit.table = table;
	assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");

	/* a descriptor from before the second family was added, and a missing table */
	assert_ok(&kit, wc_batch_alter_table(&kit.builder, 1, &desc, &kit.err));
	assert_ok(&kit, wc_batch_namespace(&kit.builder, WC_OP_DROP_NAMESPACE, 1, KIT_DATABASE, kit_s("n"), &kit.err));
	assert_ok(&kit, wc_batch_truncate_table(&kit.builder, 1, 77, &kit.err));
	kit_put(&kit, "s", 2, "a", KIT_LATEST, "3");
	assert_int_equal(check(&kit), WC_STALE);
	assert_int_equal(apply(&kit), 3);
	assert_string_equal(kit_scan(&kit, false), "r{f:a=1} s{g:a=3}");
	kit_reopen(&kit);
	assert_string_equal(kit_scan(&kit, false), "r{f:a=1} s{g:a=3}");
	kit_close(&kit);
}

/* --- packed rows that become too large ------------------------------------ */

#define ROW_MAX 64000

static void
open_with_small_rows(Kit *kit)
{
	WcEngineOptions options;

	wc_txn_destroy(kit->txn);
	wc_engine_close(kit->engine);
	options = kit_options(kit);
	options.packed_row_max = ROW_MAX;
	assert_ok(kit, wc_engine_open(&options, &kit->engine, &kit->err));
	assert_ok(kit, wc_txn_create(KIT_DATABASE, 1 << 30, &kit->txn, &kit->err));
}

static void
put_bytes(Kit *kit, const char *row, const char *qualifier, int n)
{
	static char value[ROW_MAX + 1];

	assert_true(n < (int) sizeof(value));
	memset(value, 'v', sizeof(value));
	value[n] = '\0';
	kit_put(kit, row, 1, qualifier, KIT_LATEST, value);
}

static void
rows_that_become_too_large(void **state)
{
	uint64_t	ninety = 0;
	Kit			kit;
	char		qualifier[16];
	char		before[64];

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_commit(&kit);
	open_with_small_rows(&kit);

	/* by one transaction, in one operation or in many */
	put_bytes(&kit, "r", "a", ROW_MAX);
	assert_int_equal(check(&kit), WC_TOO_LARGE);
	assert_non_null(strstr(kit.err.message, "the limit of packing \"row\" is 64000"));
	wc_txn_reset(kit.txn);
	for (int i = 0; i < 100; i++)
	{
		snprintf(qualifier, sizeof(qualifier), "q%d", i);
		if (i == 90)
		{
			assert_int_equal(check(&kit), WC_OK);
			ninety = wc_txn_length(kit.txn);
		}
		put_bytes(&kit, "r", qualifier, 650);
	}
	assert_int_equal(check(&kit), WC_TOO_LARGE);
	assert_ok(&kit, wc_txn_cut(kit.txn, ninety, &kit.err));
	assert_int_equal(kit_try_commit(&kit), WC_OK);

	/* by many, before and after a restart; each time to the last byte */
	open_with_small_rows(&kit);
	for (int i = 0; i < 200; i++)
	{
		snprintf(qualifier, sizeof(qualifier), "r%d", i);
		put_bytes(&kit, "r", qualifier, 50);
		if (kit_try_commit(&kit) != WC_OK)
		{
			assert_int_equal(kit.err.status, WC_TOO_LARGE);
			break;
		}
		assert_true(i < 100);
	}

	/* to put less is possible, and nothing of another row is in the way */
	put_bytes(&kit, "r", "q1", 10);
	put_bytes(&kit, "s", "q1", 700);
	assert_int_equal(kit_try_commit(&kit), WC_OK);

	/* without a check the row stays as it was */
	snprintf(before, sizeof(before), "%.60s", kit_scan(&kit, false));
	put_bytes(&kit, "r", "a", ROW_MAX - 1000);
	kit_put(&kit, "s", 2, "b", KIT_LATEST, "2");
	assert_int_equal(apply(&kit), 1);
	assert_int_equal(strncmp(before, kit_scan(&kit, false), 59), 0);
	assert_non_null(strstr(kit.text, "g:b=2"));

	/* after a delete there is room again */
	kit_delete(&kit, WC_DELETE_FAMILY, "r", 1, "", KIT_LATEST);
	put_bytes(&kit, "r", "a", ROW_MAX - 1000);
	assert_int_equal(kit_try_commit(&kit), WC_OK);
	kit_close(&kit);
}

/* Rows to check, and a session that cancels the check. */
static void
a_check_is_cancelled(void **state)
{
	atomic_bool cancel;
	Kit			kit;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_commit(&kit);
	for (int i = 0; i < 2 * WC_CANCEL_CELLS; i++)
	{
		char		row[16];

		snprintf(row, sizeof(row), "r%06d", i);
		put_absent(&kit, row, "1");
	}
	assert_ok(&kit, kit_send(&kit));
	atomic_init(&cancel, true);
	assert_int_equal(wc_engine_check(kit.engine, kit.txn, &cancel, &kit.err), WC_CANCELLED);
	atomic_store(&cancel, false);
	assert_ok(&kit, wc_engine_check(kit.engine, kit.txn, &cancel, &kit.err));
	assert_ok(&kit, wc_engine_check(kit.engine, kit.txn, NULL, &kit.err));
	kit_close(&kit);
}

/* Only where a large row is stored have small changes to be checked. */
static void
tables_with_large_rows(void **state)
{
	const size_t large = WC_PACKED_ROW_MAX / 32 + 1;
	char	   *value = malloc(large + 1);
	uint32_t	small;
	Kit			kit;

	assert_non_null(value);
	memset(value, 'v', large);
	value[large] = '\0';
	kit_open(&kit);
	kit_create(&kit, "small", WC_PACKING_ROW, 1);
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
	kit_commit(&kit);
	small = kit.table;
	assert_false(wc_engine_has_large_rows(kit.engine, small));
	assert_false(wc_engine_has_large_rows(kit.engine, small + 1));
	kit_create(&kit, "large", WC_PACKING_ROW, 1);
	kit_put(&kit, "r", 1, "a", KIT_LATEST, value);
	kit_commit(&kit);
	free(value);
	assert_true(wc_engine_has_large_rows(kit.engine, kit.table));
	assert_false(wc_engine_has_large_rows(kit.engine, small));
	kit_close(&kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_that_must_be_absent),
		cmocka_unit_test(rows_of_new_storage),
		cmocka_unit_test(tables_and_families_that_are_gone),
		cmocka_unit_test(catalog_changes_that_come_too_late),
		cmocka_unit_test(rows_that_become_too_large),
		cmocka_unit_test(a_check_is_cancelled),
		cmocka_unit_test(tables_with_large_rows)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
