/*
 * test/unit/test_cellsource.c: cell sources over RocksDB, in memory, and merged.
 *
 * Random rows are written in the bytes of each packing.  Then every operation of a source must return what a
 * naive walk over the same rows returns, in both directions, with and without bounds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/rocks/cellkey.h"
#include "engine/source/cellsource_store.h"
#include "engine/store/state.h"
#include "enginekit.h"

#define ROWS_MAX	40
#define CELLS_MAX	40

/* The model: rows ascending, each with its cells in order. */
typedef struct Row
{
	uint8_t		bytes[4];
	WcSlice		row;
	size_t		ncells;
	WcCell		cells[CELLS_MAX];
} Row;

static Row	rows[ROWS_MAX];
static size_t nrows;

/* Qualifiers in order, some of them nasty. */
static const WcSlice qualifiers[] = {
	{(const uint8_t *) "", 0},
	{(const uint8_t *) "\0", 1},
	{(const uint8_t *) "\0\xff", 2},
	{(const uint8_t *) "\x01", 1},
	{(const uint8_t *) "a", 1},
	{(const uint8_t *) "a\0", 2},
	{(const uint8_t *) "ab", 2},
	{(const uint8_t *) "b", 1}
};

#define NQUALIFIERS (sizeof(qualifiers) / sizeof(qualifiers[0]))

static WcSlice
random_row_key(uint8_t *room)
{
	static const uint8_t bytes[] = {0x00, 0x01, 0xff, 'k'};
	size_t		len = 1 + (size_t) (rand() % 3);

	for (size_t i = 0; i < len; i++)
		room[i] = bytes[rand() % 4];
	return wc_slice(room, len);
}

static int
cmp_rows(const void *a, const void *b)
{
	return wc_slice_cmp(((const Row *) a)->row, ((const Row *) b)->row);
}

static void
make_cells(Row *r, size_t most)
{
	r->ncells = 0;
	for (size_t q = 0; q < NQUALIFIERS; q++)
	{
		int64_t		ts = 100;

		for (size_t n = (size_t) rand() % (most + 1); n > 0 && r->ncells < CELLS_MAX; n--)
		{
			WcCell	   *c = &r->cells[r->ncells++];

			memset(c, 0, sizeof(*c));
			c->qualifier = qualifiers[q];
			c->ts = c->seq = ts;
			c->type = rand() % 5 == 0 ? WC_DELETE_COLUMN : WC_PUT;
			c->value = c->type == WC_PUT ? wc_slice_cstr("value") : wc_slice(NULL, 0);
			if (rand() % 10 == 0)
				c->ttl_us = 77;
			if (rand() % 10 == 0)
				c->seq = 1000;
			ts -= 1 + rand() % 3;
		}
	}
	if (r->ncells == 0)
	{
		memset(&r->cells[0], 0, sizeof(WcCell));
		r->cells[0].type = WC_PUT;
		r->cells[0].qualifier = qualifiers[4];
		r->ncells = 1;
	}
}

static void
make_rows(size_t most_cells)
{
	size_t		n = 0;

	nrows = 5 + (size_t) (rand() % (ROWS_MAX - 5));
	for (size_t i = 0; i < nrows; i++)
	{
		rows[i].row = random_row_key(rows[i].bytes);
		make_cells(&rows[i], most_cells);
	}
	qsort(rows, nrows, sizeof(Row), cmp_rows);
	for (size_t i = 0; i < nrows; i++)
	{
		rows[i].row.data = rows[i].bytes;
		if (n > 0 && wc_slice_eq(rows[n - 1].row, rows[i].row))
			continue;
		rows[n] = rows[i];
		rows[n].row.data = rows[n].bytes;
		n++;
	}
	nrows = n;
}

/* --- stores ---------------------------------------------------------------*/

static WcStore *
make_store(WcEngine *engine, uint32_t id, uint8_t packing, uint8_t bloomfilter)
{
	WcFamilyDesc family = {.id = id, .attrs = wc_family_attrs_default};
	WcNewFamily wanted = {0};
	WcError		err;

	family.attrs.packing = packing;
	family.attrs.bloomfilter = bloomfilter;
	family.attrs.versions = 1000;
	wanted.store = wc_store_create(engine, 1, &family);
	assert_non_null(wanted.store);
	assert_int_equal(wc_families_create(&engine->families, &wanted, 1, &err), WC_OK);
	return wanted.store;
}

static void
put_bytes(WcStore *store, WcSlice key, WcSlice value)
{
	rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();
	char	   *error = NULL;

	rocksdb_put_cf(store->engine->db, options, store->cf, (const char *) key.data, key.len,
				   (const char *) value.data, value.len, &error);
	assert_null(error);
	rocksdb_writeoptions_destroy(options);
}

/* Packing cell: each row is together, apart, or apart without a head. */
static bool mixed;

static bool
write_head(WcStore *store, const Row *row)
{
	int			form = mixed ? rand() % 3 : 2;
	WcBuf		key = WC_BUF_INIT;
	WcBuf		value = WC_BUF_INIT;

	wc_cellkey_append_row(&key, row->row);
	if (form == 0)
		wc_packedrow_append(&value, row->cells, row->ncells);
	else
		wc_buf_append_u8(&value, WC_ROWHEAD_APART);
	if (form < 2)
		put_bytes(store, wc_buf_slice(&key), wc_buf_slice(&value));
	wc_buf_free(&key);
	wc_buf_free(&value);
	return form == 0;
}

static void
write_rows(WcStore *store)
{
	WcBuf		key = WC_BUF_INIT;
	WcBuf		value = WC_BUF_INIT;

	for (size_t i = 0; i < nrows; i++)
	{
		bool		apart = store->packing == WC_PACKING_CELL && !write_head(store, &rows[i]);

		for (size_t k = 0; k < rows[i].ncells && apart; k++)
		{
			WcCell		c = rows[i].cells[k];

			c.row = rows[i].row;
			key.len = value.len = 0;
			wc_cellkey_append_cell(&key, &c);
			wc_cellvalue_append(&value, &c);
			put_bytes(store, wc_buf_slice(&key), wc_buf_slice(&value));
		}
		if (store->packing == WC_PACKING_ROW)
		{
			value.len = 0;
			wc_packedrow_append(&value, rows[i].cells, rows[i].ncells);
			put_bytes(store, rows[i].row, wc_buf_slice(&value));
		}
	}
	wc_buf_free(&key);
	wc_buf_free(&value);
}

static void
flush_store(WcStore *store)
{
	rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
	char	   *error = NULL;

	rocksdb_flush_cf(store->engine->db, options, store->cf, &error);
	assert_null(error);
	rocksdb_flushoptions_destroy(options);
}

/* --- what must come out ----------------------------------------------------*/

static void
assert_slice(WcSlice got, WcSlice want)
{
	assert_int_equal(got.len, want.len);
	if (want.len > 0)
		assert_memory_equal(got.data, want.data, want.len);
}

/* The index in scan order of the row a seek must find, nrows when none. */
static size_t
model_seek(WcSlice row, bool inclusive, bool reversed)
{
	for (size_t i = 0; i < nrows; i++)
	{
		int			c = wc_slice_cmp(rows[reversed ? nrows - 1 - i : i].row, row);

		if (row.len == 0 || (reversed ? c < 0 : c > 0) || (c == 0 && inclusive))
			return i;
	}
	return nrows;
}

static const Row *
model_row(size_t i, bool reversed)
{
	return &rows[reversed ? nrows - 1 - i : i];
}

/* Reads the current row in one of several ways. */
static void
read_row(WcCellSource *src, const Row *r)
{
	WcError		err;
	WcCell		c;
	size_t		next = 0;
	int			way = rand() % 4;

	assert_slice(src->row, r->row);
	if (way == 0)
		return;					/* leaves it at once */
	for (;;)
	{
		if (way >= 2 && rand() % 3 == 0)
		{
			WcSlice		qualifier = qualifiers[rand() % (int) NQUALIFIERS];
			bool		after = rand() % 2 == 0;

			assert_int_equal(src->ops->seek_column(src, qualifier, after, &err), WC_OK);
			while (next < r->ncells && wc_slice_cmp(r->cells[next].qualifier, qualifier) < (after ? 1 : 0))
				next++;
		}
		if (next == r->ncells)
			break;
		assert_int_equal(src->ops->next_cell(src, &c, &err), WC_OK);
		assert_slice(c.row, r->row);
		assert_slice(c.qualifier, r->cells[next].qualifier);
		assert_int_equal(c.ts, r->cells[next].ts);
		assert_int_equal(c.type, r->cells[next].type);
		assert_int_equal(c.ttl_us, r->cells[next].ttl_us);
		assert_int_equal(c.seq, r->cells[next].seq);
		assert_slice(c.value, r->cells[next].value);
		assert_int_equal(c.family, src->family);
		next++;
		if (way == 3 && rand() % 4 == 0)
			return;				/* leaves it in the middle */
	}
	assert_int_equal(src->ops->next_cell(src, &c, &err), WC_END);
}

static void
walk(WcCellSource *src, WcSlice from, bool inclusive, bool reversed)
{
	size_t		i = model_seek(from, inclusive, reversed);
	WcError		err;
	WcStatus	status = src->ops->seek_row(src, from, inclusive, &err);

	for (; i < nrows; i++)
	{
		assert_int_equal(status, WC_OK);
		read_row(src, model_row(i, reversed));
		if (rand() % 30 == 0)
			return;
		status = src->ops->next_row(src, &err);
	}
	assert_int_equal(status, WC_END);
}

static void
check_scans(WcStore *store)
{
	for (int reversed = 0; reversed <= 1; reversed++)
	{
		WcSourceOptions options = {.reversed = reversed == 1, .fill_cache = true};
		WcCellSource *src;
		WcError		err;

		assert_int_equal(wc_cellsource_store(store, &options, &src, &err), WC_OK);
		walk(src, wc_slice(NULL, 0), true, reversed == 1);
		for (int i = 0; i < 20; i++)
		{
			uint8_t		room[4];

			walk(src, random_row_key(room), rand() % 2 == 0, reversed == 1);
		}
		wc_cellsource_close(src);
	}
}

/* Inside its bounds a source gives all, outside it need not. */
static void
check_bounds(WcStore *store)
{
	for (int i = 0; i < 20; i++)
	{
		uint8_t		room[2][4];
		WcRange		range = {random_row_key(room[0]), random_row_key(room[1]), rand() % 2 == 0, rand() % 2 == 0};
		WcSourceOptions options = {.bounds = &range, .reversed = rand() % 2 == 0, .fill_cache = true};
		WcCellSource *src;
		WcError		err;
		WcStatus	status;

		if (wc_range_is_empty(&range))
			continue;
		assert_int_equal(wc_cellsource_store(store, &options, &src, &err), WC_OK);
		status = src->ops->seek_row(src, wc_slice(NULL, 0), true, &err);
		for (size_t k = 0; k < nrows; k++)
		{
			if (!wc_range_contains(&range, model_row(k, options.reversed)->row))
				continue;
			assert_int_equal(status, WC_OK);
			read_row(src, model_row(k, options.reversed));
			status = src->ops->next_row(src, &err);
		}
		assert_int_equal(status, WC_END);
		wc_cellsource_close(src);
	}
}

/* One source for many single rows, there and not there. */
static void
check_points(WcStore *store)
{
	WcSourceOptions options = {.point = true, .reversed = rand() % 2 == 0, .fill_cache = true};
	WcCellSource *src;
	WcError		err;

	assert_int_equal(wc_cellsource_store(store, &options, &src, &err), WC_OK);
	for (int i = 0; i < 50; i++)
	{
		uint8_t		room[4];
		WcSlice		row = random_row_key(room);
		size_t		at = model_seek(row, true, false);
		WcStatus	status = src->ops->seek_row(src, row, true, &err);

		if (at < nrows && wc_slice_eq(rows[at].row, row))
		{
			assert_int_equal(status, WC_OK);
			read_row(src, &rows[at]);
			/* and once more from the start */
			assert_int_equal(src->ops->seek_row(src, row, true, &err), WC_OK);
			read_row(src, &rows[at]);
		}
		else
			assert_int_equal(status, WC_END);
	}
	wc_cellsource_close(src);
}

/* Single rows that the source knows will come; some are asked for, and some others. */
static void
check_expected_points(WcStore *store)
{
	WcRange		points[ROWS_MAX];
	WcSourceOptions options = {.point = true,.fill_cache = true,.points = points,.npoints = (uint32_t) nrows};
	WcCellSource *src;
	WcError		err;

	for (size_t i = 0; i < nrows; i++)
		points[i] = (WcRange) {.start = rows[i].row,.start_inclusive = true,.stop = rows[i].row,.stop_inclusive = true};
	assert_int_equal(wc_cellsource_store(store, &options, &src, &err), WC_OK);
	for (size_t i = 0; i < nrows; i++)
	{
		if (rand() % 5 == 0)
			assert_int_equal(src->ops->seek_row(src, wc_slice_cstr("not there"), true, &err), WC_END);
		if (rand() % 4 == 0)
			continue;
		assert_int_equal(src->ops->seek_row(src, rows[i].row, true, &err), WC_OK);
		read_row(src, &rows[i]);
	}
	wc_cellsource_close(src);
}

static void
check_store(uint8_t packing, uint8_t bloomfilter)
{
	Kit			kit;

	kit_open(&kit);
	for (uint32_t round = 1; round <= 12; round++)
	{
		WcStore    *store = make_store(kit.engine, round, packing, bloomfilter);

		mixed = round % 4 != 0;
		make_rows(round % 3 == 0 ? 20 : round % 3);
		write_rows(store);
		if (round % 2 == 0)
			flush_store(store);
		check_scans(store);
		check_bounds(store);
		check_points(store);
		check_expected_points(store);
		wc_store_drop(store, 0);
		wc_store_unref(store);
	}
	mixed = false;
	kit_close(&kit);
}

static void
test_cell(void **state)
{
	srand(11);
	check_store(WC_PACKING_CELL, WC_BLOOM_NONE);
	check_store(WC_PACKING_CELL, WC_BLOOM_ROW);
	check_store(WC_PACKING_CELL, WC_BLOOM_ROWCOL);
}

static void
test_packed(void **state)
{
	srand(12);
	check_store(WC_PACKING_ROW, WC_BLOOM_NONE);
	check_store(WC_PACKING_ROW, WC_BLOOM_ROW);
}

/* A snapshot's source does not see what comes after it. */
static void
test_snapshot(void **state)
{
	for (uint8_t packing = WC_PACKING_ROW; packing <= WC_PACKING_CELL; packing++)
	{
		Kit			kit;
		WcStore    *store;
		WcSnapshot *snapshot;
		WcSourceOptions options = {.fill_cache = true};
		WcCellSource *src;
		WcError		err;

		kit_open(&kit);
		store = make_store(kit.engine, 1, packing, WC_BLOOM_ROW);
		snapshot = wc_snapshot_take(kit.engine);
		options.snapshot = snapshot;
		srand(13);
		make_rows(2);
		write_rows(store);
		assert_int_equal(wc_cellsource_store(store, &options, &src, &err), WC_OK);
		assert_int_equal(src->ops->seek_row(src, wc_slice(NULL, 0), true, &err), WC_END);
		wc_cellsource_close(src);
		wc_snapshot_release(kit.engine, snapshot);
		check_scans(store);
		wc_store_unref(store);
		kit_close(&kit);
	}
}

/* Each row of the model goes to one side or is dealt out to both; with equal
 * coordinates on both the upper one must be given. */
static void
test_merge(void **state)
{
	Kit			kit;
	WcStore    *stores[2];
	Row			whole[ROWS_MAX];
	size_t		n;

	kit_open(&kit);
	for (uint32_t k = 0; k < 2; k++)
		stores[k] = make_store(kit.engine, k + 1, WC_PACKING_CELL, WC_BLOOM_ROW);
	srand(14);
	make_rows(3);
	n = nrows;
	memcpy(whole, rows, sizeof(rows));
	for (size_t i = 0; i < n; i++)
	{
		for (size_t k = 0; k < whole[i].ncells; k++)
		{
			int			where = rand() % 3;

			rows[0] = whole[i];
			rows[0].row.data = rows[0].bytes;
			rows[0].cells[0] = whole[i].cells[k];
			rows[0].ncells = 1;
			nrows = 1;
			if (where != 0)
				write_rows(stores[1]);
			if (where == 2)
				rows[0].cells[0].value = wc_slice_cstr("hidden");
			if (where != 1)
				write_rows(stores[0]);
		}
	}
	memcpy(rows, whole, sizeof(rows));
	for (size_t i = 0; i < n; i++)
		rows[i].row.data = rows[i].bytes;
	nrows = n;

	for (int i = 0; i < 60; i++)
	{
		WcSourceOptions options = {.reversed = i % 2 == 1, .fill_cache = true};
		WcCellSource *sides[2];
		WcCellSource *src;
		WcError		err;
		uint8_t		room[4];

		for (int k = 0; k < 2; k++)
			assert_int_equal(wc_cellsource_store(stores[k], &options, &sides[k], &err), WC_OK);
		sides[1]->family = 1;
		assert_int_equal(wc_cellsource_merge(sides[0], sides[1], NULL, NULL, &src, &err), WC_OK);
		walk(src, wc_slice(NULL, 0), true, options.reversed);
		walk(src, random_row_key(room), rand() % 2 == 0, options.reversed);
		wc_cellsource_close(src);
	}
	wc_store_unref(stores[0]);
	wc_store_unref(stores[1]);
	kit_close(&kit);
}

static void
test_memory(void **state)
{
	WcError		err;

	srand(15);
	for (int i = 0; i < 200; i++)
	{
		WcCellSource *src;
		uint8_t		room[4];
		bool		reversed = i % 2 == 1;

		make_rows(3);
		nrows = 1;
		assert_int_equal(wc_cellsource_memory(1, rows[0].row, rows[0].cells, rows[0].ncells, reversed, &src, &err), WC_OK);
		walk(src, wc_slice(NULL, 0), true, reversed);
		walk(src, random_row_key(room), rand() % 2 == 0, reversed);
		walk(src, rows[0].row, i % 3 == 0, reversed);
		wc_cellsource_close(src);
	}
}

/* Bytes that are no row give an error, not nonsense. */
static void
test_damage(void **state)
{
	Kit			kit;
	WcStore    *packed;
	WcStore    *cell;
	WcSourceOptions options = {.fill_cache = true};
	WcCellSource *src;
	WcCell		c;
	WcError		err;

	kit_open(&kit);
	packed = make_store(kit.engine, 1, WC_PACKING_ROW, WC_BLOOM_ROW);
	cell = make_store(kit.engine, 2, WC_PACKING_CELL, WC_BLOOM_ROW);
	put_bytes(packed, wc_slice_cstr("row"), wc_slice("\x01\x07\x02" "12345678\x01", 12));
	assert_int_equal(wc_cellsource_store(packed, &options, &src, &err), WC_OK);
	assert_int_equal(src->ops->seek_row(src, wc_slice(NULL, 0), true, &err), WC_OK);
	assert_int_equal(src->ops->next_cell(src, &c, &err), WC_CORRUPT);
	assert_non_null(strstr(err.detail, "row"));
	wc_cellsource_close(src);

	put_bytes(cell, wc_slice_cstr("no terminator"), wc_slice(NULL, 0));
	assert_int_equal(wc_cellsource_store(cell, &options, &src, &err), WC_OK);
	assert_int_equal(src->ops->seek_row(src, wc_slice(NULL, 0), true, &err), WC_CORRUPT);
	wc_cellsource_close(src);
	wc_store_unref(packed);
	wc_store_unref(cell);
	kit_close(&kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cell),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_damage)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
