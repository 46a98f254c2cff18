/*
 * test/unit/test_estimate.c: the estimated number of rows of a range, in memtables and in files.
 */
#include "enginekit.h"

#include <stdio.h>

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

/* Rows "r00000" to "r09999", columns a and b, from `from` on every step-th. */
static void
fill(Kit *kit, int from, int step)
{
	for (int i = from; i < 10000; i += step)
	{
		char		row[16];

		snprintf(row, sizeof(row), "r%05d", i);
		kit_put(kit, row, 1, "a", KIT_LATEST, row + 1);
		kit_put(kit, row, 1, "b", KIT_LATEST, row + 2);
		if (i / step % 500 == 499)
			kit_commit(kit);
	}
	kit_commit(kit);
}

static uint64_t
estimate(Kit *kit, const char *start, const char *stop)
{
	WcRange		range = {.start = kit_s(start),.stop = kit_s(stop),.start_inclusive = true};
	uint64_t	bytes;
	uint64_t	rows;

	assert_ok(kit, wc_engine_estimate(kit->engine, kit->table, &range, NULL, 0, &bytes, &rows, &kit->err));
	assert_true(rows == 0 || bytes / rows < 1000);
	return rows;
}

/* Within a tenth of the truth, or of what the smallest unit of a file is. */
static void
check(Kit *kit, const char *start, const char *stop, uint64_t rows)
{
	uint64_t	estimated = estimate(kit, start, stop);
	uint64_t	room = rows / 10 + 400;

	if (estimated + room < rows || estimated > rows + room)
		fail_msg("%s to %s: estimated %d, not %d", start, stop, (int) estimated, (int) rows);
}

static void
check_ranges(Kit *kit)
{
	check(kit, "", "", 10000);
	check(kit, "r01000", "r09000", 8000);
	check(kit, "", "r02000", 2000);
	check(kit, "r07000", "", 3000);
	assert_int_equal(estimate(kit, "r03000", "r03050"), 50);
	assert_int_equal(estimate(kit, "s", ""), 0);
}

static void
test_places(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		kit_commit(&kit);
		assert_int_equal(estimate(&kit, "", ""), 0);
		fill(&kit, 0, 1);
		check_ranges(&kit);
		kit_flush(&kit);
		check_ranges(&kit);
		kit_close(&kit);
	}
}

/* A half in files, the other in memtables; asked in between. */
static void
test_growing(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		fill(&kit, 0, 4);
		check(&kit, "r01000", "r09000", 2000);
		kit_flush(&kit);
		fill(&kit, 2, 4);
		check(&kit, "r01000", "r09000", 4000);
		fill(&kit, 1, 2);
		check_ranges(&kit);
		kit_close(&kit);
	}
}

/* Keys that begin with more FF than the engine's idea of a last key has. */
static void
test_last_keys(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		char		row[32];

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 1; i < 1000; i++)
		{
			snprintf(row, sizeof(row), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff%04d", i);
			kit_put(&kit, row, 1, "a", KIT_LATEST, "v");
		}
		kit_commit(&kit);
		for (int flushed = 0; flushed <= 1; flushed++)
		{
			snprintf(row, 18, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
			assert_in_range(estimate(&kit, row, ""), 100, 2000);
			assert_in_range(estimate(&kit, "\xff\xff", ""), 100, 2000);
			kit_flush(&kit);
		}
		kit_close(&kit);
	}
}

/* Of the families that were asked for. */
static void
test_families(void **state)
{
	const uint32_t f = 1;
	const uint32_t g = 2;
	const WcRange everything = {.start_inclusive = true};

	EACH_PACKING(p)
	{
		Kit			kit;
		uint64_t	bytes;
		uint64_t	rows;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		fill(&kit, 0, 100);
		kit_put(&kit, "r00000", 2, "c", KIT_LATEST, "v");
		kit_commit(&kit);
		assert_ok(&kit, wc_engine_estimate(kit.engine, kit.table, &everything, &g, 1, &bytes, &rows, &kit.err));
		assert_int_equal(rows, 1);
		assert_ok(&kit, wc_engine_estimate(kit.engine, kit.table, &everything, &f, 1, &bytes, &rows, &kit.err));
		assert_int_equal(rows, 100);
		assert_int_equal(estimate(&kit, "", ""), 100);
		kit_close(&kit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_growing),
		cmocka_unit_test(test_last_keys),
		cmocka_unit_test(test_families),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
