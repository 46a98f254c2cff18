/*
 * test/unit/test_rowfinder.c: the stored cells of rows in ascending order: neighbours and distant rows, existing and missing
 * ones.
 */
#include "enginekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/store/files.h"
#include "engine/store/state.h"
#include "engine/write/rowfinder.h"
#include "random.h"

#define ROWS 6000

static bool stored[ROWS];

static WcSlice
key_of(char key[8], uint32_t i)
{
	snprintf(key, 8, "r%05u", i);
	return kit_s(key);
}

static WcStore *
make_store(WcEngine *engine, uint32_t id, uint8_t packing)
{
	WcFamilyDesc family = {.id = id,.attrs = wc_family_attrs_default};
	WcNewFamily wanted = {0};
	WcError		err;

	family.attrs.packing = packing;
	wanted.store = wc_store_create(engine, 1, &family);
	assert_non_null(wanted.store);
	assert_int_equal(wc_families_create(&engine->families, &wanted, 1, &err), WC_OK);
	return wanted.store;
}

/* Each row's value is its key; some are in a file, some in memory, some deleted again. */
static void
write_rows(WcStore *store, uint32_t one_in)
{
	rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();
	rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
	char	   *error = NULL;
	char		key[8];

	for (uint32_t i = 0; i < ROWS; i++)
	{
		stored[i] = below(one_in) == 0;
		if (stored[i])
			rocksdb_put_cf(store->engine->db, options, store->cf, key, key_of(key, i).len, key, 6, &error);
		assert_null(error);
		if (i == ROWS / 2)
			rocksdb_flush_cf(store->engine->db, flush, store->cf, &error);
		assert_null(error);
	}
	for (uint32_t i = 0; i < ROWS; i += 1 + below(50))
	{
		(void) key_of(key, i);
		rocksdb_delete_cf(store->engine->db, options, store->cf, key, 6, &error);
		assert_null(error);
		stored[i] = false;
	}
	rocksdb_flushoptions_destroy(flush);
	rocksdb_writeoptions_destroy(options);
}

/* Asks for rows at distances up to `far`, which changes on the way. */
static void
check_rows(WcStore *store, uint32_t far)
{
	WcRowFinder finder;
	char		key[8];

	wc_rowfinder_init(&finder, store, false);
	for (uint32_t i = below(far); i < ROWS; i += 1 + below(far))
	{
		WcSlice		row = key_of(key, i);
		WcSlice		value = {NULL, 0};
		bool		found;
		WcError		err;

		if (below(200) == 0)
			far = 1 + below(2 * far);
		assert_int_equal(wc_rowfinder_find(&finder, row, &found, &value, &err), WC_OK);
		assert_int_equal(found, stored[i]);
		if (found)
			assert_true(wc_slice_eq(value, row));
		if (below(2) == 0)
			wc_rowfinder_let_go(&finder);
	}
	wc_rowfinder_free(&finder);
}

static void
rows_are_found_wherever_they_are(void **state)
{
	static const uint32_t one_in[] = {1, 2, 10, 500, ROWS};
	static const uint32_t distances[] = {1, 2, 4, 10, 300};
	Kit			kit;

	kit_open(&kit);
	for (uint32_t i = 0; i < 5; i++)
	{
		WcStore    *store = make_store(kit.engine, i + 1, WC_PACKING_ROW);

		write_rows(store, one_in[i]);
		for (int k = 0; k < 5; k++)
			check_rows(store, distances[k]);
		wc_store_drop(store, 0);
		wc_store_unref(store);
	}
	kit_close(&kit);
}

static void
of_an_empty_store_nothing_is_read(void **state)
{
	WcRowFinder finder;
	WcSlice		value;
	bool		found;
	WcError		err;

	wc_rowfinder_init(&finder, NULL, true);
	assert_true(wc_rowfinder_in_gap(&finder, kit_s("a")));
	assert_int_equal(wc_rowfinder_find(&finder, kit_s("b"), &found, &value, &err), WC_OK);
	assert_false(found);
	wc_rowfinder_free(&finder);
}

/* Packing cell: a caller that finds no row a few times learns where the next one is. */
static void
a_gap_ends_at_the_next_row(void **state)
{
	WcRowFinder finder;
	rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();
	char	   *error = NULL;
	Kit			kit;
	WcStore    *store;
	WcError		err;

	kit_open(&kit);
	store = make_store(kit.engine, 1, WC_PACKING_CELL);
	rocksdb_put_cf(kit.engine->db, options, store->cf, "m\0\001", 3, "\002", 1, &error);
	assert_null(error);
	wc_rowfinder_init(&finder, store, false);
	for (char row[] = "a"; row[0] < 'h'; row[0]++)
	{
		if (!wc_rowfinder_in_gap(&finder, kit_s(row)))
			assert_int_equal(wc_rowfinder_missed(&finder, kit_s(row), &err), WC_OK);
	}
	assert_true(wc_rowfinder_in_gap(&finder, kit_s("l")));
	assert_false(wc_rowfinder_in_gap(&finder, kit_s("m")));
	for (char row[] = "n"; row[0] < 'u'; row[0]++)
	{
		if (!wc_rowfinder_in_gap(&finder, kit_s(row)))
			assert_int_equal(wc_rowfinder_missed(&finder, kit_s(row), &err), WC_OK);
	}
	assert_true(wc_rowfinder_in_gap(&finder, kit_s("z")));
	wc_rowfinder_free(&finder);
	rocksdb_writeoptions_destroy(options);
	wc_store_drop(store, 0);
	wc_store_unref(store);
	kit_close(&kit);
}

/* --- damage --------------------------------------------------------------- */

#define DAMAGED_ROWS 2000

static void
damage_tables(const char *dir)
{
	char		command[160];

	snprintf(command, sizeof(command), "sed -i s/marked/MARKED/ %s/*.sst", dir);
	assert_int_equal(system(command), 0);
}

/* Are rows stored in runs of this number, with as many missing ones between two runs? */
static bool
is_there(uint32_t i, uint32_t run)
{
	return run == 0 || i / run % 2 == 0;
}

/* What a finder says that is asked for this row only, by a Get. */
static WcStatus
status_of(WcStore *store, WcSlice row)
{
	WcRowFinder finder;
	WcSlice		value;
	bool		found;
	WcError		err;
	WcStatus	status;

	wc_rowfinder_init(&finder, store, false);
	status = wc_rowfinder_find(&finder, row, &found, &value, &err);
	wc_rowfinder_free(&finder);
	return status;
}

/* Only rows of the damaged block cannot be read: not those behind it, nor missing ones before it. */
static void
a_damaged_block_concerns_its_rows(void **state)
{
	static const uint32_t runs[] = {0, 4, 16};

	(void) state;
	for (int r = 0; r < 3; r++)
	{
		WcFamilyAttrs attrs = wc_family_attrs_default;
		WcRowFinder finder;
		char		value[100];
		char		key[8];
		int			ndamaged = 0;
		Kit			kit;

		kit_open(&kit);
		attrs.packing = WC_PACKING_ROW;
		attrs.compression = WC_COMPRESSION_NONE;
		kit_create_attrs(&kit, "t", &attrs);
		for (uint32_t i = 0; i < DAMAGED_ROWS; i++)
		{
			snprintf(value, sizeof(value), "%s%090u", i == DAMAGED_ROWS / 2 ? "marked" : "", i);
			(void) key_of(key, i);
			if (is_there(i, runs[r]))
				kit_put(&kit, key, 1, "a", 10, value);
		}
		kit_commit(&kit);
		assert_ok(&kit, wc_files_flush(kit_store(&kit, 1), NULL, &kit.err));
		kit_crash_with(&kit, damage_tables);
		wc_rowfinder_init(&finder, kit_store(&kit, 1), false);
		for (uint32_t i = 0; i < DAMAGED_ROWS; i++)
		{
			WcSlice		row = key_of(key, i);
			WcSlice		stored_value;
			bool		found;
			WcStatus	status = wc_rowfinder_find(&finder, row, &found, &stored_value, &kit.err);

			assert_int_equal(status, status_of(kit_store(&kit, 1), row));
			ndamaged += status == WC_CORRUPT;
			if (status == WC_OK)
				assert_int_equal(found, is_there(i, runs[r]));
		}
		assert_in_range(ndamaged, 1, DAMAGED_ROWS / 4);
		wc_rowfinder_free(&finder);
		kit_close(&kit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(rows_are_found_wherever_they_are, seed),
		cmocka_unit_test(of_an_empty_store_nothing_is_read),
		cmocka_unit_test(a_gap_ends_at_the_next_row),
		cmocka_unit_test(a_damaged_block_concerns_its_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
