/*
 * test/unit/test_apply.c: commits that are written together leave the same store as commits that are written
 * one by one.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "engine/catalog/catalog.h"
#include "engine/store/state.h"
#include "enginekit.h"
#include "random.h"

#define COMMITS 40
#define TABLES 2

/* Two stores that get the same commits. */
typedef struct Pair
{
	Kit			each;			/* gets them one by one */
	Kit			together;
	uint32_t	tables[TABLES];
	WcApplying	commits[COMMITS];
	size_t		n;
	uint64_t	position;
} Pair;

static void
create_tables(Kit *kit, uint32_t *tables, uint8_t packing)
{
	for (int i = 0; i < TABLES; i++)
	{
		char		name[8];

		snprintf(name, sizeof(name), "t%d", i);
		kit_create(kit, name, packing, 3);
		kit_commit(kit);
		tables[i] = kit->table;
	}
}

static void
open_pair(Pair *p, uint8_t packing)
{
	uint32_t	tables[TABLES];

	memset(p, 0, sizeof(*p));
	kit_now = 1000;
	kit_open(&p->each);
	kit_open(&p->together);
	create_tables(&p->each, p->tables, packing);
	create_tables(&p->together, tables, packing);
	assert_memory_equal(tables, p->tables, sizeof(tables));
	p->position = wc_engine_applied_position(p->each.engine);
	assert_int_equal(wc_engine_applied_position(p->together.engine), p->position);
}

static void
close_pair(Pair *p)
{
	for (size_t i = 0; i < p->n; i++)
		wc_txn_destroy(p->commits[i].txn);
	kit_close(&p->each);
	kit_close(&p->together);
}

/* What was collected in p->each is another commit. */
static void
add_commit(Pair *p)
{
	WcApplying *c = &p->commits[p->n++];

	assert_true(p->n <= COMMITS);
	*c = (WcApplying) {.commit = {.xid = p->position,.position = ++p->position,.time_us = kit_now}};
	assert_ok(&p->each, wc_txn_create(KIT_DATABASE, 1 << 20, &c->txn, &p->each.err));
	assert_ok(&p->each, wc_txn_append(c->txn, 0, wc_buf_slice(&p->each.ops), &p->each.err));
	wc_buf_reset(&p->each.ops, SIZE_MAX);
}

static void
put(Pair *p, int table, const char *row, const char *value)
{
	p->each.table = p->tables[table];
	kit_put(&p->each, row, 1, "q", KIT_LATEST, value);
}

/* Applies the commits to both; returns the number of writes to the second. */
static int
apply_both(Pair *p)
{
	WcApplying *c = p->commits;
	size_t		left = p->n;
	size_t		applied;
	int			writes = 0;

	for (size_t i = 0; i < p->n; i++)
		assert_ok(&p->each, wc_engine_apply(p->each.engine, &c[i].commit, c[i].txn, &c[i].ts, &p->each.err));
	for (; left > 0; left -= applied, c += applied, writes++)
	{
		int64_t		ts[COMMITS];

		for (size_t i = 0; i < left; i++)
			ts[i] = c[i].ts;
		assert_ok(&p->together, wc_engine_apply_group(p->together.engine, c, left, left % 2 == 0, &applied, &p->together.err));
		assert_true(applied > 0 && applied <= left && applied <= WC_GROUP_MAX);
		for (size_t i = 0; i < applied; i++)
			assert_int_equal(c[i].ts, ts[i]);
	}
	for (size_t i = 0; i < p->n; i++)
		wc_txn_destroy(p->commits[i].txn);
	p->n = 0;
	return writes;
}

static void
compare_families(Pair *p, rocksdb_column_family_handle_t *a, rocksdb_column_family_handle_t *b)
{
	rocksdb_readoptions_t *options = rocksdb_readoptions_create();
	rocksdb_iterator_t *x = rocksdb_create_iterator_cf(p->each.engine->db, options, a);
	rocksdb_iterator_t *y = rocksdb_create_iterator_cf(p->together.engine->db, options, b);

	rocksdb_iter_seek_to_first(x);
	rocksdb_iter_seek_to_first(y);
	for (; rocksdb_iter_valid(x); rocksdb_iter_next(x), rocksdb_iter_next(y))
	{
		size_t		xlen,
					ylen;
		const char *xs = rocksdb_iter_key(x, &xlen);
		const char *ys;

		assert_true(rocksdb_iter_valid(y));
		ys = rocksdb_iter_key(y, &ylen);
		assert_int_equal(xlen, ylen);
		assert_memory_equal(xs, ys, xlen);
		xs = rocksdb_iter_value(x, &xlen);
		ys = rocksdb_iter_value(y, &ylen);
		assert_int_equal(xlen, ylen);
		assert_memory_equal(xs, ys, xlen);
	}
	assert_false(rocksdb_iter_valid(y));
	rocksdb_iter_destroy(x);
	rocksdb_iter_destroy(y);
	rocksdb_readoptions_destroy(options);
}

/* The tables' key-values, byte for byte, and their marks. */
static void
compare_stores(Pair *p)
{
	assert_int_equal(wc_engine_applied_position(p->each.engine), wc_engine_applied_position(p->together.engine));
	for (int t = 0; t < TABLES; t++)
	{
		WcTable    *a = wc_catalog_table(p->each.engine, p->tables[t]);
		WcTable    *b = wc_catalog_table(p->together.engine, p->tables[t]);

		for (uint32_t f = 0; f < a->desc.nfamilies; f++)
		{
			WcMarks		x = wc_marks(a->stores[f]);
			WcMarks		y = wc_marks(b->stores[f]);

			compare_families(p, a->stores[f]->cf, b->stores[f]->cf);
			assert_int_equal(x.single, y.single);
			assert_int_equal(x.cell_ttl, y.cell_ttl);
			assert_int_equal(x.superseded, y.superseded);
			assert_int_equal(x.dated, y.dated);
		}
		wc_table_unref(a);
		wc_table_unref(b);
	}
}

/* --- tests --------------------------------------------------------------------- */

static void
small_commits_of_different_rows_are_one_write(void **state)
{
	Pair		p;
	char		row[8];

	open_pair(&p, WC_PACKING_ROW);
	for (int i = 0; i < 10; i++)
	{
		snprintf(row, sizeof(row), "r%d", i);
		put(&p, i % TABLES, row, "1");
		add_commit(&p);
	}
	assert_int_equal(apply_both(&p), 1);
	compare_stores(&p);
	p.together.table = p.tables[0];
	assert_string_equal(kit_scan(&p.together, false), "r0{f:q=1} r2{f:q=1} r4{f:q=1} r6{f:q=1} r8{f:q=1}");
	close_pair(&p);
}

/* The second commit needs the row as the first has left it. */
static void
a_row_that_is_changed_again_begins_a_group(void **state)
{
	Pair		p;

	open_pair(&p, WC_PACKING_ROW);
	put(&p, 0, "a", "1");
	add_commit(&p);
	put(&p, 0, "b", "2");
	add_commit(&p);
	p.each.table = p.tables[0];
	kit_put(&p.each, "a", 1, "other", KIT_LATEST, "3");
	add_commit(&p);
	put(&p, 1, "a", "4");
	add_commit(&p);
	assert_int_equal(apply_both(&p), 2);
	compare_stores(&p);
	p.together.table = p.tables[0];
	assert_string_equal(kit_scan(&p.together, false), "a{f:other=3 f:q=1} b{f:q=2}");
	close_pair(&p);
}

static void
changes_of_the_catalog_and_large_commits_are_alone(void **state)
{
	Pair		p;
	char		large[10000];

	open_pair(&p, WC_PACKING_ROW);
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	put(&p, 0, "a", "1");
	add_commit(&p);
	put(&p, 0, "b", large);
	add_commit(&p);
	put(&p, 0, "c", "2");
	add_commit(&p);
	assert_ok(&p.each, wc_batch_truncate_table(&p.each.builder, p.each.cid, p.tables[0], &p.each.err));
	add_commit(&p);
	put(&p, 0, "d", "3");
	add_commit(&p);
	assert_int_equal(apply_both(&p), 5);
	compare_stores(&p);
	p.together.table = p.tables[0];
	assert_string_equal(kit_scan(&p.together, false), "d{f:q=3}");
	close_pair(&p);
}

static void
add_random_op(Pair *p)
{
	static const WcCellType types[] = {WC_DELETE_COLUMN, WC_DELETE_FAMILY, WC_DELETE};
	char		row[8];
	char		qualifier[4];
	char		value[8];
	int64_t		ts = below(4) == 0 ? 900 + below(300) : KIT_LATEST;
	uint32_t	family = 1 + below(2);

	p->each.table = p->tables[below(TABLES)];
	snprintf(row, sizeof(row), "r%u", (unsigned) below(60));
	snprintf(qualifier, sizeof(qualifier), "q%u", (unsigned) below(3));
	snprintf(value, sizeof(value), "%u", (unsigned) below(1000));
	switch (below(6))
	{
		case 0:
			{
				WcCellType	type = types[below(3)];

				kit_delete(&p->each, type, row, family, type == WC_DELETE_FAMILY ? "" : qualifier, ts);
				break;
			}
		case 1:
			{
				static const uint32_t families[] = {1, 2};
				WcError    *err = &p->each.err;

				/* void if the row is there */
				assert_ok(&p->each, wc_batch_row_begin(&p->each.builder, p->each.table, p->each.cid, kit_s(row),
													   WC_ROW_MUST_BE_ABSENT, families, 2, err));
				assert_ok(&p->each, wc_batch_put(&p->each.builder, family, kit_s(qualifier), ts, 500, kit_s(value), err));
				assert_ok(&p->each, wc_batch_row_end(&p->each.builder, err));
				break;
			}
		case 2:
			assert_ok(&p->each, wc_batch_row_begin(&p->each.builder, p->each.table, p->each.cid, kit_s(row), 0, NULL, 0,
												   &p->each.err));
			assert_ok(&p->each, wc_batch_clear_family(&p->each.builder, family, NULL, 0, &p->each.err));
			assert_ok(&p->each, wc_batch_put(&p->each.builder, family, kit_s(qualifier), KIT_LATEST, 0, kit_s(value),
											 &p->each.err));
			assert_ok(&p->each, wc_batch_row_end(&p->each.builder, &p->each.err));
			break;
		default:
			kit_put(&p->each, row, family, qualifier, ts, value);
			break;
	}
}

static void
random_commits_leave_the_same_store(void **state)
{
	static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

	for (int round = 0; round < 12; round++)
	{
		Pair		p;
		int			writes = 0;

		random_state = 77 + (uint64_t) round;
		open_pair(&p, packings[round % 2]);
		for (int i = 0; i < 12; i++)
		{
			for (int n = 1 + (int) below(COMMITS); n > 0; n--)
			{
				for (int ops = 1 + (int) below(3); ops > 0; ops--)
					add_random_op(&p);
				add_commit(&p);
				kit_now += below(3);
			}
			writes += apply_both(&p);
			if (below(4) == 0)
			{
				p.each.table = p.together.table = p.tables[below(TABLES)];
				kit_flush(&p.each);
				kit_flush(&p.together);
				p.position = wc_engine_applied_position(p.each.engine);	/* a flush has one */
			}
			compare_stores(&p);
		}
		assert_true(writes < 12 * COMMITS / 2);
		kit_reopen(&p.together);
		compare_stores(&p);
		close_pair(&p);
	}
}

/* Nothing is applied if the write fails, and all of it the next time. */
static void
a_group_that_fails_leaves_nothing(void **state)
{
	Pair		p;
	WcTable    *table;
	WcMarks		before;
	struct rlimit limit;
	struct rlimit none;
	size_t		applied;
	WcStatus	status;

	/* r0 has old versions, which the commits forget: that raises a mark */
	open_pair(&p, WC_PACKING_ROW);
	for (int i = 0; i < 3; i++)
	{
		put(&p, 0, "r0", "old");
		add_commit(&p);
	}
	(void) apply_both(&p);
	for (int i = 0; i < 3; i++)
	{
		char		row[8];

		snprintf(row, sizeof(row), "r%d", i);
		p.each.table = p.tables[0];
		assert_ok(&p.each, wc_batch_row_begin(&p.each.builder, p.tables[0], p.each.cid, kit_s(row), 0, NULL, 0, &p.each.err));
		assert_ok(&p.each, wc_batch_put(&p.each.builder, 1, kit_s("q"), KIT_LATEST, 500, kit_s("v"), &p.each.err));
		assert_ok(&p.each, wc_batch_row_end(&p.each.builder, &p.each.err));
		add_commit(&p);
	}
	p.together.table = p.tables[0];
	table = wc_catalog_table(p.together.engine, p.tables[0]);
	before = wc_marks(table->stores[0]);
	assert_false(before.cell_ttl);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	none = (struct rlimit) {.rlim_cur = 1,.rlim_max = limit.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	status = wc_engine_apply_group(p.together.engine, p.commits, p.n, true, &applied, &p.together.err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(status, WC_IO);
	assert_int_equal(applied, 0);
	assert_false(wc_marks(table->stores[0]).cell_ttl);
	assert_int_equal(wc_marks_history_from_us(table->stores[0]), before.history_from_us);
	assert_string_equal(kit_scan(&p.together, false), "r0{f:q=old}");
	do
		status = wc_engine_apply_group(p.together.engine, p.commits, p.n, true, &applied, &p.together.err);
	while (status == WC_IO);
	assert_int_equal(status, WC_OK);
	assert_int_equal(applied, 3);
	assert_true(wc_marks(table->stores[0]).cell_ttl);
	assert_true(wc_marks_history_from_us(table->stores[0]) > before.history_from_us);
	assert_string_equal(kit_scan(&p.together, false), "r0{f:q=v} r1{f:q=v} r2{f:q=v}");
	wc_table_unref(table);
	close_pair(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_commits_of_different_rows_are_one_write),
		cmocka_unit_test(a_row_that_is_changed_again_begins_a_group),
		cmocka_unit_test(changes_of_the_catalog_and_large_commits_are_alone),
		cmocka_unit_test(random_commits_leave_the_same_store),
		cmocka_unit_test(a_group_that_fails_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
