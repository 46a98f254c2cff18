/*
 * test/unit/test_clock.c: TTLs depend on the clock, also when the clock was wrong for a while.
 */
#include "enginekit.h"

#include "engine/store/state.h"

#define SECOND WC_USEC_PER_SEC
#define DAY (86400 * SECOND)
#define START INT64_C(1790000000000000)

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

/* A table whose cells live a week. */
static void
open_week(Kit *kit, uint8_t packing)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;

	kit_now = START;
	attrs.packing = packing;
	attrs.ttl_us = 7 * DAY;
	kit_open(kit);
	kit_create_attrs(kit, "t", &attrs);
	kit_commit(kit);
}

static void
put(Kit *kit, const char *row, const char *qualifier, const char *value)
{
	kit_put(kit, row, 1, qualifier, KIT_LATEST, value);
	kit_commit(kit);
}

/* One commit under a clock that is a year ahead: timestamps go on from there, TTLs do not. */
static void
test_one_commit_ahead(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		open_week(&kit, *p);
		put(&kit, "old", "a", "1");
		kit_now = START + 365 * DAY;
		put(&kit, "wrong", "a", "2");
		kit_now = START + SECOND;
		put(&kit, "new", "a", "3");
		assert_true(kit.commit_ts > START + 365 * DAY);
		assert_string_equal(kit_scan(&kit, false), "new{f:a=3} old{f:a=1} wrong{f:a=2}");

		/* a commit keeps unexpired cells in the rows that it writes */
		put(&kit, "old", "b", "4");
		assert_string_equal(kit_scan(&kit, false), "new{f:a=3} old{f:a=1 f:b=4} wrong{f:a=2}");

		/* so do flush and compaction, and a restart */
		kit_flush(&kit);
		kit_compact(&kit, false);
		kit_compact(&kit, true);
		assert_string_equal(kit_scan(&kit, false), "new{f:a=3} old{f:a=1 f:b=4} wrong{f:a=2}");
		kit_reopen(&kit);
		assert_string_equal(kit_scan(&kit, false), "new{f:a=3} old{f:a=1 f:b=4} wrong{f:a=2}");

		/* a week after it was written by the right clock it is over, the rest by its timestamp */
		kit_now = START + 7 * DAY + SECOND;
		assert_string_equal(kit_scan(&kit, false), "new{f:a=3} old{f:b=4} wrong{f:a=2}");
		kit_compact(&kit, true);
		assert_string_equal(kit_scan(&kit, false), "new{f:a=3} old{f:b=4} wrong{f:a=2}");
		kit_now = START + 373 * DAY;
		assert_string_equal(kit_scan(&kit, false), "");
		kit_compact(&kit, true);
		kit_now = START;
		assert_string_equal(kit_scan(&kit, false), "");
		kit_close(&kit);
	}
}

/* A clock that only readers have seen changes nothing. */
static void
test_read_ahead(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		open_week(&kit, *p);
		put(&kit, "r", "a", "1");
		kit_now = START + 365 * DAY;
		assert_string_equal(kit_scan(&kit, false), "");
		kit_now = START;
		assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");
		kit_close(&kit);
	}
}

/* A transaction sees of its own rows what its commit leaves. */
static void
test_own_rows(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		open_week(&kit, *p);
		put(&kit, "r", "a", "1");
		kit_now = START + 365 * DAY;
		put(&kit, "wrong", "a", "2");
		kit_now = START + SECOND;
		kit_put(&kit, "r", 1, "b", KIT_LATEST, "3");
		assert_ok(&kit, kit_send(&kit));
		kit.cid++;
		assert_string_equal(kit_scan(&kit, true), "r{f:a=1 f:b=3} wrong{f:a=2}");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=1 f:b=3} wrong{f:a=2}");
		kit_close(&kit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_commit_ahead),
		cmocka_unit_test(test_read_ahead),
		cmocka_unit_test(test_own_rows)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
