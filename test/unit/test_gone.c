/*
 * test/unit/test_gone.c: a row that is too large for the memory is told from a damaged one.
 */
#include "enginekit.h"

#include <stdlib.h>

#include "base/coding.h"
#include "engine/source/storedrow.h"
#include "engine/store/state.h"
#include "read/cell/packedrow.h"

/* The sanitizers have malloc fail beyond 32 MiB, which is less than the cells of the large row take. */
#define NCELLS		500000
#define LIMITS		"allocator_may_return_null=1:max_allocation_size_mb=32"

const char *__asan_default_options(void);
const char *__tsan_default_options(void);

const char *
__asan_default_options(void)
{
	return LIMITS;
}

const char *
__tsan_default_options(void)
{
	return LIMITS;
}

/* The value of a row of n puts of timestamp 5. */
static void
make_row(WcBuf *value, uint32_t n)
{
	wc_buf_append_u8(value, WC_PACKED_VERSION);
	wc_buf_append_u8(value, WC_PACKED_SIMPLE | WC_PACKED_PLAIN | WC_PACKED_TS);
	wc_buf_append_varint(value, n);
	wc_buf_append_u64(value, 5);
	for (uint32_t i = 0; i < n; i++)
	{
		wc_buf_append_u8(value, 4);
		wc_buf_append_u32(value, i);
		wc_buf_append_u8(value, 0);
	}
	assert_false(value->failed);
}

/* The last cell is cut off. */
static WcSlice
cut_off(const WcBuf *value)
{
	return wc_slice(value->data, value->len - 1);
}

static void
memory_is_told_from_damage(void **state)
{
	static const WcGone gone = {.oldest_ts = 9,.oldest_until_ts = 9};
	WcBuf		small = WC_BUF_INIT;
	WcBuf		large = WC_BUF_INIT;
	WcCell	   *cells = NULL;
	size_t		cap = 0;
	size_t		n;
	WcStoredRow row;
	WcError		err;

	(void) state;
	make_row(&small, 3);
	make_row(&large, NCELLS);
	assert_int_equal(wc_gone_unpack(wc_buf_slice(&small), &gone, &cells, &cap, &n), WC_OK);
	assert_int_equal(n, 0);
	assert_int_equal(wc_gone_unpack(cut_off(&small), &gone, &cells, &cap, &n), WC_CORRUPT);
	assert_int_equal(wc_gone_unpack(wc_buf_slice(&large), &gone, &cells, &cap, &n), WC_NO_MEMORY);

	wc_storedrow_init(&row, gone);
	assert_int_equal(wc_storedrow_open(&row, wc_buf_slice(&small), kit_s("r"), &err), WC_OK);
	assert_int_equal(wc_storedrow_open(&row, cut_off(&small), kit_s("r"), &err), WC_CORRUPT);
	assert_string_equal(err.detail, "The row is \"r\".");
	assert_int_equal(wc_storedrow_open(&row, wc_buf_slice(&large), kit_s("r"), &err), WC_NO_MEMORY);
	assert_string_equal(err.message, "out of memory for a row of 500000 cells");
	wc_storedrow_free(&row);
	free(cells);
	wc_buf_free(&small);
	wc_buf_free(&large);
}

static WcStatus
compact_with(Kit *kit, WcStore *store, const char *key, size_t klen, WcSlice value)
{
	rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();
	WcWork		work = {.kind = WC_WORK_MAJOR,.table_id = kit->table};
	WcReadPoint at = kit_point(kit, false);
	char	   *error = NULL;

	rocksdb_put_cf(kit->engine->db, options, store->cf, key, klen, (const char *) value.data, value.len, &error);
	rocksdb_writeoptions_destroy(options);
	assert_null(error);
	return wc_engine_work(kit->engine, &work, &at, &kit->err);
}

/* So does a compaction; it names the row that is damaged. */
static void
a_compaction_tells_which_row(void **state)
{
	static const struct
	{
		uint8_t		packing;
		uint8_t		keep_deleted;	/* other than FALSE, it looks for the earliest put before */
		const char *key;
		size_t		klen;
	}			cases[] = {
		{WC_PACKING_ROW, WC_KEEP_DELETED_FALSE, "r", 1},
		{WC_PACKING_CELL, WC_KEEP_DELETED_FALSE, "r\0\1", 3},
		{WC_PACKING_CELL, WC_KEEP_DELETED_TRUE, "r\0\1", 3},
	};
	WcBuf		value = WC_BUF_INIT;

	(void) state;
	make_row(&value, NCELLS);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		WcFamilyAttrs attrs = wc_family_attrs_default;
		WcStore    *store;
		Kit			kit;

		kit_open(&kit);
		attrs.packing = cases[i].packing;
		attrs.keep_deleted = cases[i].keep_deleted;
		kit_create_attrs(&kit, "t", &attrs);
		kit_commit(&kit);
		store = kit_store(&kit, 1);
		assert_int_equal(compact_with(&kit, store, cases[i].key, cases[i].klen, wc_buf_slice(&value)), WC_NO_MEMORY);
		assert_string_equal(kit.err.message, "out of memory for a compaction");
		assert_int_equal(compact_with(&kit, store, cases[i].key, cases[i].klen, kit_s("\1\7")), WC_CORRUPT);
		assert_string_equal(kit.err.message, "the value of a row of family \"f\" of stored table \"t\" is damaged");
		assert_string_equal(kit.err.detail, "The row is \"r\".");
		kit_close(&kit);
	}
	wc_buf_free(&value);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_told_from_damage),
		cmocka_unit_test(a_compaction_tells_which_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
